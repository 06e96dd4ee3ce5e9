/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads, writes and authenticates BFD control packets (RFC 5880 sections 4, 6.7.4 and the first half of 6.8.6). */
#include "bfd/bfd_packet.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "base/compiler.h"

#define AUTH_HEADER 2 /* type and length, of every authentication section */

static bool is_sha1(uint8_t type)
{
	return type == BFD_AUTH_SHA1 || type == BFD_AUTH_METICULOUS_SHA1;
}

/* The authentication section of types that this node does not know is read no further than its length. */
static enum bfd_refusal read_auth(const uint8_t *at, size_t left, struct bfd_packet *p)
{
	const struct bfd_auth_sha1 *a = (const struct bfd_auth_sha1 *)at;

	p->auth_type = at[0];
	if (at[1] < AUTH_HEADER || at[1] > left)
		return BFD_REFUSED_auth_length;
	if (!is_sha1(p->auth_type))
		return BFD_ACCEPTED;
	if (at[1] != sizeof(*a) || left != sizeof(*a))
		return BFD_REFUSED_auth_length;
	p->key_id = a->key_id;
	p->sequence = be32_get(a->sequence);
	return BFD_ACCEPTED;
}

enum bfd_refusal bfd_packet_read(const void *data, size_t size, struct bfd_packet *out)
{
	const struct bfd_hdr *h = data;
	uint8_t flags;

	*out = (struct bfd_packet){0};
	if (size < sizeof(*h))
		return BFD_REFUSED_length;
	if (h->version_diag >> 5 != BFD_VERSION)
		return BFD_REFUSED_version;
	flags = h->state_flags;
	out->has_auth = flags & BFD_FLAG_AUTH;
	if (h->length < sizeof(*h) + (out->has_auth ? AUTH_HEADER : 0) || h->length > size)
		return BFD_REFUSED_length;
	if (!h->multiplier)
		return BFD_REFUSED_multiplier;
	if (flags & BFD_FLAG_MULTIPOINT)
		return BFD_REFUSED_multipoint;
	out->bytes = h->length;
	out->diag = h->version_diag & 0x1f;
	out->state = flags >> 6;
	out->multiplier = h->multiplier;
	out->poll = flags & BFD_FLAG_POLL;
	out->final = flags & BFD_FLAG_FINAL;
	out->independent = flags & BFD_FLAG_INDEPENDENT;
	out->demand = flags & BFD_FLAG_DEMAND;
	out->my_discr = be32_get(h->my_discr);
	out->your_discr = be32_get(h->your_discr);
	out->desired_tx_us = be32_get(h->desired_tx);
	out->required_rx_us = be32_get(h->required_rx);
	out->required_echo_us = be32_get(h->required_echo);
	if (!out->my_discr)
		return BFD_REFUSED_my_discriminator;
	if (!out->your_discr && out->state > BFD_DOWN)
		return BFD_REFUSED_state;
	return out->has_auth ? read_auth((const uint8_t *)(h + 1), h->length - sizeof(*h), out) : BFD_ACCEPTED;
}

size_t bfd_packet_write(void *out, const struct bfd_packet *p)
{
	struct bfd_hdr *h = out;
	struct bfd_auth_sha1 *a = (struct bfd_auth_sha1 *)(h + 1);
	bool auth = p->has_auth && is_sha1(p->auth_type);
	size_t bytes = sizeof(*h) + (auth ? sizeof(*a) : 0);

	*h = (struct bfd_hdr){.version_diag = (uint8_t)(BFD_VERSION << 5 | (p->diag & 0x1f)),
		.state_flags = (uint8_t)((p->state & 3) << 6 | (p->poll ? BFD_FLAG_POLL : 0) |
					 (p->final ? BFD_FLAG_FINAL : 0) | (p->independent ? BFD_FLAG_INDEPENDENT : 0) |
					 (auth ? BFD_FLAG_AUTH : 0) | (p->demand ? BFD_FLAG_DEMAND : 0)),
		.multiplier = p->multiplier,
		.length = (uint8_t)bytes,
		.my_discr = be32(p->my_discr),
		.your_discr = be32(p->your_discr),
		.desired_tx = be32(p->desired_tx_us),
		.required_rx = be32(p->required_rx_us),
		.required_echo = be32(p->required_echo_us)};
	if (auth)
		*a = (struct bfd_auth_sha1){.type = p->auth_type,
			.length = sizeof(*a),
			.key_id = p->key_id,
			.sequence = be32(p->sequence)};
	return bytes;
}

/* SHA-1 over the message, with the key in the place of the hash. */
static void hash_of(const uint8_t *message, size_t bytes, const struct bfd_key *key, uint8_t out[BFD_SHA1_BYTES])
{
	SHA_CTX c;

	SHA1_Init(&c);
	SHA1_Update(&c, message, bytes - BFD_SHA1_BYTES);
	SHA1_Update(&c, key->key, sizeof(key->key));
	SHA1_Final(out, &c);
}

void bfd_packet_sign(void *message, size_t bytes, const struct bfd_key *key)
{
	uint8_t hash[BFD_SHA1_BYTES];

	hash_of(message, bytes, key, hash);
	memcpy((uint8_t *)message + bytes - sizeof(hash), hash, sizeof(hash));
}

bool bfd_packet_is_signed(const void *message, size_t bytes, const struct bfd_key *key)
{
	uint8_t hash[BFD_SHA1_BYTES];

	hash_of(message, bytes, key, hash);
	return CRYPTO_memcmp((const uint8_t *)message + bytes - sizeof(hash), hash, sizeof(hash)) == 0;
}

const char *bfd_state_name(unsigned int state)
{
	static const char *const names[] = {"AdminDown", "Down", "Init", "Up"};

	return state < ARRAY_LEN(names) ? names[state] : "?";
}

const char *bfd_diag_text(unsigned int diag)
{
	static const char *const texts[] = {
#define X(id, value, text) [value] = text,
		BFD_DIAGS(X)
#undef X
	};

	return diag < ARRAY_LEN(texts) ? texts[diag] : "reserved";
}

const char *bfd_refusal_name(enum bfd_refusal refusal)
{
	static const char *const names[] = {"accepted",
#define X(kind, name, shown, unit, metric, help) #name,
		BFD_REFUSALS(X)
#undef X
	};

	return refusal < BFD_REFUSAL_COUNT ? names[refusal] : "?";
}
