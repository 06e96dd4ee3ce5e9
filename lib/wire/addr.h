/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and prefixes of either family, and their text forms. */
#ifndef WIRE_ADDR_H
#define WIRE_ADDR_H

#include <stdbool.h>

#include "wire/eth.h"
#include "wire/ipv6.h"

/* 4 or 6; 0 means "no address". IPv4 uses the first four bytes, in network order. */
struct ip_addr {
	uint8_t family;
	union {
		uint8_t b[16];
		struct ipv6_addr v6;
	};
};

/*
 * An address with a prefix length in bits. A prefix has 0 in all bits after its length; an interface address need not.
 */
struct ip_prefix {
	struct ip_addr addr;
	uint8_t len;
};

#define IP_ADDR_TEXT 46 /* longest text of an address, NUL included */
#define IP_PREFIX_TEXT 50
#define ETH_ADDR_TEXT 18

/* Parse text. Returns 0, or -EINVAL when the text is not exactly one such value. */
int ip_addr_parse(const char *text, struct ip_addr *out);
int ip_prefix_parse(const char *text, struct ip_prefix *out); /* /32 or /128 when the text has no length */
int eth_addr_parse(const char *text, struct eth_addr *out);

/* Format a value into buf of at least the size named above. Returns buf. */
const char *ip_addr_format(const struct ip_addr *a, char *buf);
const char *ip_prefix_format(const struct ip_prefix *p, char *buf);
const char *ipv6_addr_format(const struct ipv6_addr *a, char *buf);
const char *eth_addr_format(const struct eth_addr *a, char *buf);

static inline struct ip_addr ip_addr_from6(const struct ipv6_addr *a)
{
	return (struct ip_addr){.family = 6, .v6 = *a};
}

static inline struct ip_addr ip_addr_from4(uint32_t host_order)
{
	struct ip_addr a = {.family = 4};
	be32_t v = be32(host_order);

	memcpy(a.b, &v, sizeof(v));
	return a;
}

/* Convert an IPv4 address to host order. */
static inline uint32_t ip_addr_v4(const struct ip_addr *a)
{
	be32_t v;

	memcpy(&v, a->b, sizeof(v));
	return be32_get(v);
}

static inline unsigned int ip_addr_bits(const struct ip_addr *a)
{
	return a->family == 4 ? 32 : 128;
}

bool ip_addr_equal(const struct ip_addr *a, const struct ip_addr *b);
bool ip_prefix_equal(const struct ip_prefix *a, const struct ip_prefix *b);

/* Does the prefix, or the subnet of an interface address, contain the address? */
bool ip_prefix_contains(const struct ip_prefix *p, const struct ip_addr *a);

/* Does `outer` contain every address of `inner`? */
bool ip_prefix_covers(const struct ip_prefix *outer, const struct ip_prefix *inner);

/* The prefix with all bits after its length cleared. */
struct ip_prefix ip_prefix_network(const struct ip_prefix *p);

/* Order by family, then address bytes, then length. A covering prefix precedes the prefixes that it covers. */
int ip_prefix_compare(const struct ip_prefix *a, const struct ip_prefix *b);

/* fe80::/64 with the modified EUI-64 of the MAC (RFC 4291 appendix A). */
struct ipv6_addr ipv6_link_local_of(const struct eth_addr *mac);

#endif
