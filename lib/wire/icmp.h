/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP (RFC 792), ICMPv6 (RFC 4443) and Neighbor Discovery (RFC 4861). */
#ifndef WIRE_ICMP_H
#define WIRE_ICMP_H

#include "wire/eth.h"
#include "wire/ipv6.h"

struct icmp_hdr {
	uint8_t type;
	uint8_t code;
	be16_t checksum;
	be32_t rest; /* pointer, MTU, or identifier and sequence */
};
WIRE_SIZE(struct icmp_hdr, 8);
WIRE_AT(struct icmp_hdr, checksum, 2);
WIRE_AT(struct icmp_hdr, rest, 4);

enum icmp4_type {
	ICMP4_ECHO_REPLY = 0,
	ICMP4_UNREACHABLE = 3,
	ICMP4_REDIRECT = 5,
	ICMP4_ECHO_REQUEST = 8,
	ICMP4_TIME_EXCEEDED = 11,
	ICMP4_PARAM_PROBLEM = 12,
};
#define ICMP4_UNREACH_NET 0
#define ICMP4_UNREACH_HOST 1
#define ICMP4_UNREACH_PROTO 2
#define ICMP4_UNREACH_PORT 3
#define ICMP4_UNREACH_FRAG_NEED 4

enum icmp6_type {
	ICMP6_UNREACHABLE = 1,
	ICMP6_TOO_BIG = 2,
	ICMP6_TIME_EXCEEDED = 3,
	ICMP6_PARAM_PROBLEM = 4,
	ICMP6_ECHO_REQUEST = 128,
	ICMP6_ECHO_REPLY = 129,
	ICMP6_ROUTER_SOLICIT = 133,
	ICMP6_ROUTER_ADVERT = 134,
	ICMP6_NEIGHBOR_SOLICIT = 135,
	ICMP6_NEIGHBOR_ADVERT = 136,
	ICMP6_REDIRECT = 137,
};
#define ICMP6_UNREACH_NO_ROUTE 0
#define ICMP6_UNREACH_ADDRESS 3
#define ICMP6_UNREACH_PORT 4
#define ICMP6_PARAM_HEADER_FIELD 0
#define ICMP6_PARAM_NEXT_HEADER 1
#define ICMP6_PARAM_OPTION 2
#define ICMP6_PARAM_SR_UPPER_LAYER 4 /* SR Upper-layer Header Error, RFC 8986 section 10.2 */

/* Errors are below 128 (RFC 4443 section 2.1). */
static inline bool icmp6_is_error(uint8_t type)
{
	return type < 128;
}

/* Neighbor Solicitation and Advertisement share a layout (RFC 4861 sections 4.3 and 4.4). */
struct nd_neighbor {
	uint8_t type;
	uint8_t code;
	be16_t checksum;
	be32_t flags; /* advertisement: R(31) S(30) O(29); solicitation: 0 */
	struct ipv6_addr target;
};
WIRE_SIZE(struct nd_neighbor, 24);
WIRE_AT(struct nd_neighbor, target, 8);

#define ND_FLAG_ROUTER 0x80000000u
#define ND_FLAG_SOLICITED 0x40000000u
#define ND_FLAG_OVERRIDE 0x20000000u

#define ND_OPT_SOURCE_LINK 1
#define ND_OPT_TARGET_LINK 2

struct nd_opt_link {
	uint8_t type;
	uint8_t length; /* 8-byte units */
	struct eth_addr mac;
};
WIRE_SIZE(struct nd_opt_link, 8);
WIRE_AT(struct nd_opt_link, mac, 2);

/* Solicited-node address ff02::1:ffXX:XXXX of an address (RFC 4291 section 2.7.1). */
static inline struct ipv6_addr nd_solicited_node(const struct ipv6_addr *a)
{
	return ipv6_from(0xff02000000000000ull, 0x00000001ff000000ull | (ipv6_lo(a) & 0xffffff));
}

/* Multicast MAC: 33:33 and the low 32 bits (RFC 2464 section 7). */
static inline struct eth_addr nd_multicast_mac(const struct ipv6_addr *a)
{
	return (struct eth_addr){{0x33, 0x33, a->b[12], a->b[13], a->b[14], a->b[15]}};
}

#endif
