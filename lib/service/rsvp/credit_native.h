/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of sessions with servers (docs/credit.md 2.3): it has no outer header. What a server sends is known by its link, its
 * addresses and its UDP source port or flow label; what is sent to one, by its link, its address and the class. Both are entries
 * of one table, whose keys have a secret part, so that no server can choose one that belongs to another.
 */
#ifndef SERVICE_RSVP_CREDIT_NATIVE_H
#define SERVICE_RSVP_CREDIT_NATIVE_H

#include "queue/line.h"
#include "rsvp/rsvp_message.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

/* A RoCEv2 packet. */
struct native_flow {
	struct ip_addr src, dst;
	uint16_t port;	/* UDP source */
	uint32_t label; /* 0: none, or IPv4 */
	uint32_t bytes; /* IP packet (D56) */
};

/* The packet whose IP header is at `at`. False: it is none, or its headers cannot be read. */
static inline bool native_read(const uint8_t *frame, uint32_t readable, uint32_t at, struct native_flow *f)
{
	const struct ipv6_hdr *six = (const struct ipv6_hdr *)(frame + at);
	const struct ipv4_hdr *four = (const struct ipv4_hdr *)(frame + at);
	const struct udp_hdr *udp;

	if (at + sizeof(*four) + sizeof(*udp) > readable)
		return false;
	if (frame[at] >> 4 == 4) {
		if (four->protocol != IP_PROTO_UDP || ipv4_header_bytes(four) != sizeof(*four) ||
			be16_get(four->fragment) & IPV4_OFFSET_MASK)
			return false;
		f->src = ip_addr_from4(be32_get(four->src));
		f->dst = ip_addr_from4(be32_get(four->dst));
		f->label = 0;
		f->bytes = be16_get(four->total_length);
		udp = (const struct udp_hdr *)(four + 1);
	} else {
		if (frame[at] >> 4 != 6 || at + sizeof(*six) + sizeof(*udp) > readable ||
			six->next_header != IP_PROTO_UDP)
			return false;
		f->src = ip_addr_from6(&six->src);
		f->dst = ip_addr_from6(&six->dst);
		f->label = ipv6_flow_label(six);
		f->bytes = (uint32_t)sizeof(*six) + be16_get(six->payload_length);
		udp = (const struct udp_hdr *)(six + 1);
	}
	f->port = be16_get(udp->src_port);
	return be16_get(udp->dst_port) == UDP_PORT_ROCEV2;
}

static inline uint64_t native_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xbf58476d1ce4e5b9ull;
	return h ^ h >> 29;
}

static inline uint64_t native_hi(const struct ip_addr *a)
{
	return a->family == 4 ? 4 : ipv6_hi(&a->v6);
}

static inline uint64_t native_lo(const struct ip_addr *a)
{
	return a->family == 4 ? ip_addr_v4(a) : ipv6_lo(&a->v6);
}

static inline uint32_t native_folded(uint64_t h)
{
	uint32_t label = (uint32_t)(h >> 32);

	return label == UINT32_MAX ? 0 : label; /* which no entry has */
}

/* Data of a server: `labelled` says whether `number` is its flow label or its UDP source port. */
static inline struct credit_entry native_from(const struct credit_data *d, uint32_t zone, const struct ip_addr *src,
	const struct ip_addr *dst, bool labelled, uint32_t number)
{
	uint64_t h = native_mix(d->salt, (uint64_t)zone << 32 | number);

	h = native_mix(native_mix(native_mix(h, native_hi(dst)), native_lo(dst)), 1u + labelled);
	return (struct credit_entry){.hi = native_hi(src), .lo = native_lo(src), .label = native_folded(h)};
}

/* Data for a server. */
static inline struct credit_entry native_to(const struct credit_data *d, uint32_t zone, const struct ip_addr *dst,
	uint8_t class)
{
	return (struct credit_entry){.hi = native_hi(dst),
		.lo = native_lo(dst),
		.label = native_folded(native_mix(native_mix(d->salt, (uint64_t)zone << 32 | class), 3))};
}

/* The session of what a server has sent; NULL: none. */
static inline const struct credit_entry *native_find_from(const struct credit_data *d, uint32_t zone,
	const struct native_flow *f)
{
	struct credit_entry key = native_from(d, zone, &f->src, &f->dst, false, f->port);
	const struct credit_entry *e = credit_table_find(&d->native, key.hi, key.lo, key.label);

	if (e || !f->label)
		return e;
	key = native_from(d, zone, &f->src, &f->dst, true, f->label);
	return credit_table_find(&d->native, key.hi, key.lo, key.label);
}

#endif
