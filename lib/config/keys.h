/* SPDX-License-Identifier: BSD-3-Clause */
/* Secret keys, in a file of their own: lines of a number and the key in hexadecimal; # begins a comment. No DPDK. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stdint.h>

#include "config/diag.h"
#include "config/model.h"

#define CFG_KEYS_MAX	  256
#define CFG_KEY_BYTES_MAX 64
#define CFG_KEY_BYTES_MIN 16

struct cfg_key_secret {
	uint32_t id; /* not 0 */
	uint32_t bytes;
	uint8_t key[CFG_KEY_BYTES_MAX];
};

struct cfg_secrets {
	uint32_t n;
	struct cfg_key_secret key[CFG_KEYS_MAX];
};

/*
 * Read the file that hmac.keys of `c` names, relative to the directory of the file `beside`. 0, also when it names
 * none; -EINVAL with messages: it cannot be read, others may read it (mode 0600 is asked for), a line is wrong.
 */
int cfg_load_secrets(struct config *c, const char *beside, struct cfg_diags *d);

/* NULL when there is no such key. */
const struct cfg_key_secret *cfg_secret(const struct config *c, uint32_t id);

void cfg_free_secrets(struct config *c); /* wiped first */

#endif
