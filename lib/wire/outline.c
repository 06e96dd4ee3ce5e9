/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The outline of an RSVP message (RFC 2205 section 3.1, RFC 2961 section 3): a hash (FNV-1a) of its form. For captures of tests;
 * nothing depends on it in operation. Pure.
 */
#include "wire/outline.h"

#include <string.h>

#include "wire/checksum.h"
#include "wire/cursor.h"
#include "wire/eth.h"

#define HEADER_BYTES 8
#define OBJECT_BYTES 4 /* its header: length, class, C-Type */
#define TYPE_BUNDLE 12 /* RFC 2961 section 3 */
#define FNV_START 0xcbf29ce484222325
#define FNV_PRIME 0x100000001b3

static void mix(uint64_t *hash, const void *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		*hash = (*hash ^ ((const uint8_t *)data)[i]) * FNV_PRIME;
}

static void mix_number(uint64_t *hash, unsigned int n)
{
	be32_t word = be32(n);

	mix(hash, &word, sizeof(word));
}

/* Move over IPv6, IPv4 and options. False: they lead to no RSVP. */
static bool skip_headers(struct wire_cursor *c, uint8_t protocol, uint64_t *hash)
{
	while (protocol != IP_PROTO_RSVP) {
		const struct ipv4_hdr *four;
		const struct ipv6_hdr *six;
		const uint8_t *options;

		mix_number(hash, protocol);
		switch (protocol) {
		case IP_PROTO_IPV6:
			six = wire_pull(c, sizeof(*six));
			if (!six)
				return false;
			protocol = six->next_header;
			break;
		case IP_PROTO_IPV4:
			four = wire_peek(c, sizeof(*four));
			if (!four || !wire_pull(c, ipv4_header_bytes(four)))
				return false;
			protocol = four->protocol;
			break;
		case IP_PROTO_HOPOPTS:
		case IP_PROTO_ROUTING:
			options = wire_peek(c, 8);
			if (!options || !wire_pull(c, 8u * (options[1] + 1u)))
				return false;
			protocol = options[0];
			break;
		default:
			return false;
		}
	}
	return true;
}

static uint16_t number_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void mix_objects(uint64_t *hash, struct wire_cursor c)
{
	const uint8_t *last = NULL, *object;

	while ((object = wire_peek(&c, OBJECT_BYTES))) {
		if (number_at(object) < OBJECT_BYTES || !wire_pull(&c, number_at(object)))
			break;
		if (!last || memcmp(last, object, OBJECT_BYTES))
			mix(hash, object, OBJECT_BYTES);
		last = object;
	}
	mix_number(hash, wire_left(&c) != 0);
}

static bool add(struct wire_outlines *o, uint64_t outline)
{
	for (unsigned int i = 0; i < WIRE_OUTLINES_MAX; i++) {
		uint64_t *slot = &o->seen[(outline + i) % WIRE_OUTLINES_MAX];

		if (*slot == outline)
			return false;
		if (!*slot) {
			*slot = outline;
			return true;
		}
	}
	return false;
}

/* A message, with the hash of what is in front of it: version and flags, type, checksum (2), TTL, 0, length (2). */
static bool is_new(struct wire_outlines *o, uint64_t hash, struct wire_cursor c)
{
	const uint8_t *h = wire_peek(&c, HEADER_BYTES);
	size_t bytes = wire_left(&c), inner;
	bool found = false, bundle;

	if (!h)
		return add(o, hash | 1);
	bundle = h[1] == TYPE_BUNDLE;
	mix(&hash, h, 2);
	mix_number(&hash, number_at(h + 6) == bytes);
	mix_number(&hash, number_at(h + 2) == 0);
	mix_number(&hash, be16_get(checksum_finish(checksum_add(0, h, bytes))) == 0);
	wire_pull(&c, HEADER_BYTES);
	if (!bundle) {
		mix_objects(&hash, c);
		return add(o, hash | 1);
	}
	while ((h = wire_peek(&c, HEADER_BYTES)) && (inner = number_at(h + 6)) >= HEADER_BYTES && wire_pull(&c, inner))
		found |= h[1] != TYPE_BUNDLE && is_new(o, hash, wire_cursor(h, inner));
	mix_number(&hash, wire_left(&c) != 0);
	return add(o, hash | 1) || found;
}

bool wire_outline_is_new(struct wire_outlines *o, const void *frame, size_t size)
{
	uint64_t hash = FNV_START;
	const uint8_t *bytes = frame;
	struct wire_cursor c;
	unsigned int front;
	uint16_t type;

	if (size < sizeof(struct eth_hdr))
		return false;
	front = eth_header_bytes(bytes, size);
	type = number_at(bytes + front - 2);
	if (type != ETH_TYPE_IPV6 && type != ETH_TYPE_IPV4)
		return false;
	c = wire_cursor(bytes + front, size - front);
	return skip_headers(&c, type == ETH_TYPE_IPV6 ? IP_PROTO_IPV6 : IP_PROTO_IPV4, &hash) && is_new(o, hash, c);
}
