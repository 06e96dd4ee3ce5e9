/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HMAC keys, in a separate file: one line per key, with key id and key in hexadecimal; # begins a comment. Management
 * thread.
 */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stdint.h>

#include "config/diag.h"
#include "config/model.h"

#define CFG_KEYS_MAX 256
#define CFG_KEY_BYTES_MAX 64
#define CFG_KEY_BYTES_MIN 16
#define CFG_KEYS_FILE_MAX (256u * 1024) /* bytes; larger files are rejected */

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
 * Read the key file hmac.keys of `c`, relative to the directory of the file `beside`, into c->secrets, which cfg_free
 * frees. Returns 0, also if there is no hmac.keys; or -EINVAL with messages if the file cannot be read, is not a regular
 * file, belongs to neither root nor the user of this process, is accessible to others (mode 0600 is required), or has a
 * wrong line. A symbolic link is followed, and its target must meet these conditions. The function never blocks, and no
 * message contains text of the file.
 */
int cfg_load_secrets(struct config *c, const char *beside, struct cfg_diags *d);

/* The key with this id; NULL if there is none. The configuration owns it. */
const struct cfg_key_secret *cfg_secret(const struct config *c, uint32_t id);

void cfg_free_secrets(struct config *c); /* wipes them first */

#endif
