/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 (RFC 8200) and the extension headers that sluice walks. */
#ifndef WIRE_IPV6_H
#define WIRE_IPV6_H

#include <stdbool.h>

#include "wire/bytes.h"

struct ipv6_addr {
	uint8_t b[16];
};

struct ipv6_hdr {
	be32_t vtc_flow; /* version(4) traffic class(8) flow label(20) */
	be16_t payload_length;
	uint8_t next_header;
	uint8_t hop_limit;
	struct ipv6_addr src;
	struct ipv6_addr dst;
};
WIRE_SIZE(struct ipv6_hdr, 40);
WIRE_AT(struct ipv6_hdr, payload_length, 4);
WIRE_AT(struct ipv6_hdr, next_header, 6);
WIRE_AT(struct ipv6_hdr, hop_limit, 7);
WIRE_AT(struct ipv6_hdr, src, 8);
WIRE_AT(struct ipv6_hdr, dst, 24);

/* Common first two bytes of hop-by-hop options, destination options and routing headers. */
struct ipv6_ext {
	uint8_t next_header;
	uint8_t length; /* 8-byte units after the first 8 bytes */
};
WIRE_SIZE(struct ipv6_ext, 2);

struct ipv6_fragment {
	uint8_t next_header;
	uint8_t reserved;
	be16_t offset; /* offset(13) reserved(2) more(1) */
	be32_t id;
};
WIRE_SIZE(struct ipv6_fragment, 8);

enum ip_proto {
	IP_PROTO_HOPOPTS = 0,
	IP_PROTO_ICMP = 1,
	IP_PROTO_IPV4 = 4,
	IP_PROTO_TCP = 6,
	IP_PROTO_UDP = 17,
	IP_PROTO_IPV6 = 41,
	IP_PROTO_ROUTING = 43,
	IP_PROTO_FRAGMENT = 44,
	IP_PROTO_RSVP = 46,
	IP_PROTO_ESP = 50,
	IP_PROTO_AH = 51,
	IP_PROTO_ICMP6 = 58,
	IP_PROTO_NONE = 59,
	IP_PROTO_DSTOPTS = 60,
	IP_PROTO_ETHERNET = 143, /* RFC 8986 section 9 */
};

#define IPV6_MIN_MTU 1280
#define IPV6_FLOW_MASK 0x000fffffu
#define DSCP_NETWORK_CONTROL 48 /* CS6; this and higher DSCPs mark network control (RFC 4594 section 3.1) */
#define IPV6_VERSION_BIT 0x60000000u

/* The address as two halves in host order, high half first. */
static inline uint64_t ipv6_hi(const struct ipv6_addr *a)
{
	be64_t v;

	memcpy(&v, a->b, 8);
	return be64_get(v);
}

static inline uint64_t ipv6_lo(const struct ipv6_addr *a)
{
	be64_t v;

	memcpy(&v, a->b + 8, 8);
	return be64_get(v);
}

static inline struct ipv6_addr ipv6_from(uint64_t hi, uint64_t lo)
{
	struct ipv6_addr a;
	be64_t h = be64(hi), l = be64(lo);

	memcpy(a.b, &h, 8);
	memcpy(a.b + 8, &l, 8);
	return a;
}

static inline bool ipv6_equal(const struct ipv6_addr *a, const struct ipv6_addr *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static inline bool ipv6_is_multicast(const struct ipv6_addr *a)
{
	return a->b[0] == 0xff;
}

static inline bool ipv6_is_unspecified(const struct ipv6_addr *a)
{
	return (ipv6_hi(a) | ipv6_lo(a)) == 0;
}

static inline bool ipv6_is_loopback(const struct ipv6_addr *a)
{
	return ipv6_hi(a) == 0 && ipv6_lo(a) == 1;
}

static inline bool ipv6_is_link_local(const struct ipv6_addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

/* Traffic class of the header: DSCP(6) ECN(2). */
static inline uint8_t ipv6_tc(const struct ipv6_hdr *h)
{
	return (uint8_t)(be32_get(h->vtc_flow) >> 20);
}

static inline uint32_t ipv6_flow_label(const struct ipv6_hdr *h)
{
	return be32_get(h->vtc_flow) & IPV6_FLOW_MASK;
}

static inline be32_t ipv6_vtc_flow(uint8_t tc, uint32_t flow_label)
{
	return be32(IPV6_VERSION_BIT | (uint32_t)tc << 20 | (flow_label & IPV6_FLOW_MASK));
}

#endif
