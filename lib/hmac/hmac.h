/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HMAC (RFC 2104) by libcrypto: of SRHs on rx lcores, and of messages of any length on the control lcore. Its EVP functions allocate whenever a digest starts, even when the context is
 * reused (OpenSSL 3.0), and the data path must not allocate. The deprecated SHA256_Update family does not allocate. A
 * prepared key holds the state of the digest after the padded key. That saves half of the work, and the key is
 * read-only.
 */
#ifndef HMAC_HMAC_H
#define HMAC_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/md5.h>
#include <openssl/sha.h>

#include "wire/srh.h"

#define HMAC_BYTES 32 /* of HMAC-SHA-256, the longest */
#define HMAC_MD5_BYTES 16
#define HMAC_BLOCK_BYTES 64 /* of both digests: the longest key */

enum hmac_digest { HMAC_SHA256, HMAC_MD5 };

union hmac_state {
	SHA256_CTX sha256;
	MD5_CTX md5;
};

/* A prepared key. */
struct hmac_secret {
	uint8_t digest;		       /* enum hmac_digest */
	union hmac_state inner, outer; /* after the key, padded and masked */
};

/* Prepare a key of at most HMAC_BLOCK_BYTES bytes. Management thread or control lcore. */
void hmac_secret_prepare(struct hmac_secret *s, enum hmac_digest digest, const uint8_t *key, size_t bytes);

struct hmac_chunk {
	const void *data;
	size_t bytes;
};

/*
 * The HMAC of the chunks one after the other, which need not be copied together for that. Returns its bytes:
 * HMAC_BYTES or HMAC_MD5_BYTES. Control lcore.
 */
size_t hmac_of_chunks(const struct hmac_secret *s, const struct hmac_chunk *chunk, unsigned int n,
	uint8_t out[HMAC_BYTES]);

static inline size_t hmac_digest_bytes(const struct hmac_secret *s)
{
	return s->digest == HMAC_MD5 ? HMAC_MD5_BYTES : HMAC_BYTES;
}

/* A key for the HMAC TLVs of SRHs. */
struct hmac_key {
	uint32_t id; /* host order */
	/*
	 * Text and flags as in Linux 6.18: a flag of the SRH, older than RFC 8754, shows that there is an HMAC TLV. The
	 * text omits D and the reserved bits.
	 */
	bool as_linux;
	struct hmac_secret secret; /* HMAC_SHA256 */
};

void hmac_prepare(struct hmac_key *k, uint32_t id, const uint8_t *key, size_t bytes,
	bool as_linux); /* at most 64 bytes */

/* HMAC TLV of an SRH (RFC 8754 section 2.1.2). */
struct srh_hmac {
	uint8_t type;
	uint8_t length;
	be16_t flags; /* D(1) reserved(15) */
	be32_t key_id;
	uint8_t hmac[HMAC_BYTES];
};
WIRE_SIZE(struct srh_hmac, 40);
WIRE_AT(struct srh_hmac, key_id, 4);
#define SRH_TLV_PAD1 0
#define SRH_TLV_HMAC 5
#define SRH_HMAC_LENGTH 38
#define SRH_HMAC_D 0x8000
#define SRH_FLAG_HMAC 0x08 /* Linux: there is an HMAC TLV */

/*
 * The HMAC over source, Last Entry, flags, the TLV's flags and key id, and the whole segment list (RFC 8754 section
 * 2.1.2.1). The whole list must be readable. Any lcore.
 */
void hmac_of_srh(const struct hmac_key *k, const struct ipv6_addr *src, const struct srh *srh,
	const struct srh_hmac *tlv, uint8_t out[HMAC_BYTES]);

/* Compare in constant time, so that the time does not reveal the position of a difference. */
bool hmac_equal(const uint8_t *a, const uint8_t *b, size_t bytes);

#endif
