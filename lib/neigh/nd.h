/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbor Discovery (RFC 4861) and ARP (RFC 826) messages: reading, with every check that the RFCs require, and
 * writing. Bytes only; no DPDK.
 */
#ifndef NEIGH_ND_H
#define NEIGH_ND_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/addr.h"

enum nd_kind { ND_SOLICIT, ND_ADVERT, ND_OTHER };

/* The contents of a received message. */
struct nd_message {
	enum nd_kind kind;
	struct ip_addr sender; /* family 0: unspecified (duplicate address detection) */
	struct ip_addr target;
	struct eth_addr mac; /* link-layer address option, or ARP's sender hardware address */
	bool has_mac;
	bool solicited, override; /* advertisement flags */
};

/*
 * Parse `size` readable bytes from the IPv6 header on. Returns 0, or -EINVAL when RFC 4861 section 7.1 requires to
 * discard the message.
 */
int nd_parse(const void *ip, size_t size, struct nd_message *out);

/* Parse the bytes after the Ethernet header. Returns 0 or -EINVAL. */
int arp_parse(const void *arp, size_t size, struct nd_message *out);

#define ND_MESSAGE_MAX 72 /* room for any message written here */

/* Write IPv6 packets, from the IP header on. Each returns the packet's size in bytes. */
size_t nd_write_solicit(void *out, const struct ipv6_addr *src, const struct ipv6_addr *dst,
	const struct ipv6_addr *target, const struct eth_addr *mac);
size_t nd_write_advert(void *out, const struct ipv6_addr *src, const struct ipv6_addr *dst,
	const struct ipv6_addr *target, const struct eth_addr *mac, bool solicited);

/* Write an ARP payload, which follows the Ethernet header. Returns its size in bytes. */
size_t arp_write(void *out, uint16_t op, const struct eth_addr *sender_mac, uint32_t sender_ip,
	const struct eth_addr *target_mac, uint32_t target_ip);

#endif
