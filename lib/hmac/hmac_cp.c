/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes HMACs of messages in pieces, starting from the states in a prepared key. Control lcore. */
#include "hmac/hmac.h"

static size_t md5_of(const struct hmac_secret *s, const struct hmac_chunk *chunk, unsigned int n, uint8_t *out)
{
	uint8_t inner[HMAC_MD5_BYTES];
	MD5_CTX c = s->inner.md5;

	for (unsigned int i = 0; i < n; i++)
		MD5_Update(&c, chunk[i].data, chunk[i].bytes);
	MD5_Final(inner, &c);
	c = s->outer.md5;
	MD5_Update(&c, inner, sizeof(inner));
	MD5_Final(out, &c);
	return sizeof(inner);
}

static size_t sha256_of(const struct hmac_secret *s, const struct hmac_chunk *chunk, unsigned int n, uint8_t *out)
{
	uint8_t inner[HMAC_BYTES];
	SHA256_CTX c = s->inner.sha256;

	for (unsigned int i = 0; i < n; i++)
		SHA256_Update(&c, chunk[i].data, chunk[i].bytes);
	SHA256_Final(inner, &c);
	c = s->outer.sha256;
	SHA256_Update(&c, inner, sizeof(inner));
	SHA256_Final(out, &c);
	return sizeof(inner);
}

size_t hmac_of_chunks(const struct hmac_secret *s, const struct hmac_chunk *chunk, unsigned int n,
	uint8_t out[HMAC_BYTES])
{
	return s->digest == HMAC_MD5 ? md5_of(s, chunk, n, out) : sha256_of(s, chunk, n, out);
}
