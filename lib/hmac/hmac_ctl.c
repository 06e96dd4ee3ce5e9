/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prepares HMAC keys for the data path: the two states of SHA-256 after the padded key (RFC 2104 section 4). Management
 * thread.
 */
#include "hmac/hmac.h"

#include <bsd/string.h>

static void start(SHA256_CTX *c, const uint8_t *key, size_t bytes, uint8_t mask)
{
	uint8_t block[64] = {0};

	memcpy(block, key, bytes);
	for (unsigned int i = 0; i < sizeof(block); i++)
		block[i] ^= mask;
	SHA256_Init(c);
	SHA256_Update(c, block, sizeof(block));
	explicit_bzero(block, sizeof(block));
}

void hmac_prepare(struct hmac_key *k, uint32_t id, const uint8_t *key, size_t bytes, bool as_linux)
{
	k->id = id;
	k->as_linux = as_linux;
	start(&k->inner, key, bytes, 0x36);
	start(&k->outer, key, bytes, 0x5c);
}
