/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes HMACs on rx lcores, starting from the state in a prepared key. */
#include "hmac/hmac.h"

#include <openssl/crypto.h>

void hmac_of_srh(const struct hmac_key *k, const struct ipv6_addr *src, const struct srh *srh,
	const struct srh_hmac *tlv, uint8_t out[HMAC_BYTES])
{
	uint8_t fixed[8] = {srh->last_entry, srh->flags}, inner[HMAC_BYTES];
	unsigned int n = 2;
	SHA256_CTX c = k->secret.inner.sha256;

	if (!k->as_linux) {
		memcpy(fixed + n, &tlv->flags, 2);
		n += 2;
	}
	memcpy(fixed + n, &tlv->key_id, 4);
	n += 4;
	SHA256_Update(&c, src, sizeof(*src));
	SHA256_Update(&c, fixed, n);
	SHA256_Update(&c, srh->segment, 16u * (srh->last_entry + 1u));
	SHA256_Final(inner, &c);
	c = k->secret.outer.sha256;
	SHA256_Update(&c, inner, sizeof(inner));
	SHA256_Final(out, &c);
}

bool hmac_equal(const uint8_t *a, const uint8_t *b, size_t bytes)
{
	return CRYPTO_memcmp(a, b, bytes) == 0;
}
