/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prepares HMAC keys: the two states of the digest after the padded key (RFC 2104 section 4). Management thread, or the
 * control lcore when it starts.
 */
#include "hmac/hmac.h"

#include <bsd/string.h>

static void start(union hmac_state *c, enum hmac_digest digest, const uint8_t *key, size_t bytes, uint8_t mask)
{
	uint8_t block[HMAC_BLOCK_BYTES] = {0};

	memcpy(block, key, bytes);
	for (unsigned int i = 0; i < sizeof(block); i++)
		block[i] ^= mask;
	if (digest == HMAC_MD5) {
		MD5_Init(&c->md5);
		MD5_Update(&c->md5, block, sizeof(block));
	} else {
		SHA256_Init(&c->sha256);
		SHA256_Update(&c->sha256, block, sizeof(block));
	}
	explicit_bzero(block, sizeof(block));
}

void hmac_secret_prepare(struct hmac_secret *s, enum hmac_digest digest, const uint8_t *key, size_t bytes)
{
	s->digest = (uint8_t)digest;
	start(&s->inner, digest, key, bytes, 0x36);
	start(&s->outer, digest, key, bytes, 0x5c);
}

void hmac_prepare(struct hmac_key *k, uint32_t id, const uint8_t *key, size_t bytes, bool as_linux)
{
	k->id = id;
	k->as_linux = as_linux;
	hmac_secret_prepare(&k->secret, HMAC_SHA256, key, bytes);
}
