/* SPDX-License-Identifier: BSD-3-Clause */
/* Secret keys, in a file of their own: lines of a number and the key in hexadecimal; # begins a comment. Control code. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stdint.h>

#include "config/diag.h"
#include "config/model.h"

#define CFG_KEYS_MAX 256
#define CFG_KEY_BYTES_MAX 64
#define CFG_KEY_BYTES_MIN 16
#define CFG_KEYS_FILE_MAX (256u * 1024) /* bytes; larger files are refused */

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
 * Read the file that hmac.keys of `c` names, relative to the directory of the file `beside`, into c->secrets, which
 * cfg_free frees. 0, also when it names none; -EINVAL with messages: it cannot be read, is no regular file, is not root's
 * or this process's user's, others may read it (mode 0600 is asked for), a line is wrong. Symbolic links are followed; what
 * is asked of the file is asked of the one they lead to. Never waits. No message contains anything of the file.
 */
int cfg_load_secrets(struct config *c, const char *beside, struct cfg_diags *d);

/* NULL when there is no such key. */
const struct cfg_key_secret *cfg_secret(const struct config *c, uint32_t id);

void cfg_free_secrets(struct config *c); /* wiped first */

#endif
