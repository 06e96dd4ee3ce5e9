/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbor Discovery (RFC 4861) and ARP (RFC 826) messages: reading, with every check the RFCs ask for, and
 * writing. Bytes only; no DPDK.
 */
#ifndef NEIGH_ND_H
#define NEIGH_ND_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/addr.h"

enum nd_kind { ND_SOLICIT, ND_ADVERT, ND_OTHER };

/* What a received message says. */
struct nd_message {
	enum nd_kind kind;
	struct ip_addr sender; /* family 0: unspecified (duplicate address detection) */
	struct ip_addr target;
	struct eth_addr mac; /* link-layer address option, or ARP's sender hardware address */
	bool has_mac;
	bool solicited, override; /* advertisement flags */
};

/* From the IPv6 header on, `size` readable bytes. 0; -EINVAL when RFC 4861 section 7.1 says to discard it. */
int nd_parse(const void *ip, size_t size, struct nd_message *out);

/* From behind the Ethernet header on. 0, or -EINVAL. */
int arp_parse(const void *arp, size_t size, struct nd_message *out);

#define ND_MESSAGE_MAX 72 /* room for any message written here */

/* IPv6 packets, from the IP header on; return their size. */
size_t nd_write_solicit(void *out, const struct ipv6_addr *src, const struct ipv6_addr *dst,
	const struct ipv6_addr *target, const struct eth_addr *mac);
size_t nd_write_advert(void *out, const struct ipv6_addr *src, const struct ipv6_addr *dst,
	const struct ipv6_addr *target, const struct eth_addr *mac, bool solicited);

/* ARP payload, from behind the Ethernet header on; returns its size. */
size_t arp_write(void *out, uint16_t op, const struct eth_addr *sender_mac, uint32_t sender_ip,
	const struct eth_addr *target_mac, uint32_t target_ip);

#endif
