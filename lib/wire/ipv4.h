/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 (RFC 791). */
#ifndef WIRE_IPV4_H
#define WIRE_IPV4_H

#include "wire/bytes.h"

struct ipv4_hdr {
	uint8_t version_ihl;
	uint8_t tos; /* DSCP(6) ECN(2) */
	be16_t total_length;
	be16_t id;
	be16_t fragment; /* flags(3) offset(13) */
	uint8_t ttl;
	uint8_t protocol;
	be16_t checksum;
	be32_t src;
	be32_t dst;
};
WIRE_SIZE(struct ipv4_hdr, 20);
WIRE_AT(struct ipv4_hdr, total_length, 2);
WIRE_AT(struct ipv4_hdr, fragment, 6);
WIRE_AT(struct ipv4_hdr, ttl, 8);
WIRE_AT(struct ipv4_hdr, checksum, 10);
WIRE_AT(struct ipv4_hdr, dst, 16);

#define IPV4_DF 0x4000
#define IPV4_MF 0x2000
#define IPV4_OFFSET_MASK 0x1fff
#define IPV4_OPTION_RALERT 0x94 /* Router Alert, RFC 2113 */

static inline unsigned int ipv4_header_bytes(const struct ipv4_hdr *h)
{
	return (h->version_ihl & 0x0f) * 4u;
}

/* Source addresses that no host may have, in host order (RFC 1812 section 5.3.7, RFC 6890). */
static inline int ipv4_bad_source(uint32_t a)
{
	return a == 0 || a == 0xffffffff || (a >> 28) == 0xe || (a >> 24) == 127;
}

static inline int ipv4_is_multicast(uint32_t a)
{
	return (a >> 28) == 0xe;
}

/* Link-local (RFC 3927 section 2.7), "this network" and loopback (RFC 1122 section 3.2.1.3): never forwarded. */
static inline int ipv4_stays_on_link(uint32_t a)
{
	return (a >> 16) == 0xa9fe || (a >> 24) == 0 || (a >> 24) == 127;
}

/* Decrement the TTL and update the checksum in place (RFC 1624). The TTL must be above 0. */
static inline void ipv4_decrement_ttl(struct ipv4_hdr *h)
{
	uint32_t sum = be16_get(h->checksum) + 0x0100u;

	/* The folded sum of a header that is not all zero is 0xffff, never 0. So the checksum is 0, never 0xffff. */
	h->checksum = be16((uint16_t)(sum + (sum >= 0xffff)));
	h->ttl--;
}

#endif
