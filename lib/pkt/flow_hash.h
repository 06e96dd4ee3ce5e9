/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash of a flow. It selects paths and next hops, and becomes the outer flow label (RFC 6437, RFC 8754 section 5.5).
 * The input is the 5-tuple. For a tunnel it is the addresses and the flow label, which carries the entropy of the inner
 * flow (RFC 8986 section 7).
 */
#ifndef PKT_FLOW_HASH_H
#define PKT_FLOW_HASH_H

#include <rte_hash_crc.h>

#include "wire/cursor.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

/* Mix the bits of a CRC. Similar inputs have similar CRCs, and the result must differ in all bits. */
static inline uint32_t hash_finish(uint32_t h)
{
	h ^= h >> 16;
	h *= 0x9e3779b1u;
	return h ^ h >> 15;
}

static inline bool hash_has_ports(uint8_t proto)
{
	return proto == IP_PROTO_UDP || proto == IP_PROTO_TCP;
}

/* Both ports as one word if they are readable at `at`; else 0. */
static inline uint32_t hash_ports(const uint8_t *frame, uint32_t readable, uint32_t at)
{
	uint32_t ports;

	if (at + sizeof(ports) > readable)
		return 0;
	memcpy(&ports, frame + at, sizeof(ports));
	return ports;
}

static inline uint32_t hash_flow6(const uint8_t *frame, uint32_t readable, uint32_t at)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(frame + at);
	uint8_t proto = ip->next_header;
	uint64_t w[4], last;
	uint32_t h;

	memcpy(w, &ip->src, sizeof(w));
	if (likely(hash_has_ports(proto)))
		last = (uint64_t)proto << 32 | hash_ports(frame, readable, at + sizeof(*ip));
	else if (proto == IP_PROTO_IPV6 || proto == IP_PROTO_IPV4 || proto == IP_PROTO_ROUTING ||
		 proto == IP_PROTO_ETHERNET)
		last = ipv6_flow_label(ip);
	else
		last = (uint64_t)proto << 32;
	h = rte_hash_crc_8byte(w[0], 0x5c1ce);
	h = rte_hash_crc_8byte(w[1], h);
	h = rte_hash_crc_8byte(w[2], h);
	h = rte_hash_crc_8byte(w[3], h);
	return hash_finish(rte_hash_crc_8byte(last, h));
}

static inline uint32_t hash_flow4(const uint8_t *frame, uint32_t readable, uint32_t at)
{
	const struct ipv4_hdr *ip = (const struct ipv4_hdr *)(frame + at);
	/* all fragments of a datagram must take the same path, and only the first one has ports */
	bool ports = hash_has_ports(ip->protocol) && !(be16_get(ip->fragment) & (IPV4_MF | IPV4_OFFSET_MASK));
	uint64_t addresses;
	uint32_t h;

	memcpy(&addresses, &ip->src, sizeof(addresses));
	h = rte_hash_crc_8byte(addresses, 0x5c1ce);
	return hash_finish(
		rte_hash_crc_8byte((uint64_t)ip->protocol << 32 |
					   (ports ? hash_ports(frame, readable, at + ipv4_header_bytes(ip)) : 0),
			h));
}

/* 20 bits, never 0 (docs/protocol.md 3.4). */
static inline uint32_t hash_flow_label(uint32_t hash)
{
	uint32_t label = hash & IPV6_FLOW_MASK;

	return label ? label : 1;
}

#endif
