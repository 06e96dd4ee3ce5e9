/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet (IEEE 802.3) and VLAN tags (IEEE 802.1Q). */
#ifndef WIRE_ETH_H
#define WIRE_ETH_H

#include <stdbool.h>

#include "wire/bytes.h"

#define ETH_TYPE_IPV4 0x0800
#define ETH_TYPE_ARP 0x0806
#define ETH_TYPE_VLAN 0x8100
#define ETH_TYPE_IPV6 0x86dd
#define ETH_TYPE_QINQ 0x88a8
#define ETH_TYPE_MAC_CONTROL 0x8808

#define ETH_MIN_LEN 60 /* shortest frame without FCS */

struct eth_addr {
	uint8_t b[6];
};

struct eth_hdr {
	struct eth_addr dst;
	struct eth_addr src;
	be16_t type;
};
WIRE_SIZE(struct eth_hdr, 14);
WIRE_AT(struct eth_hdr, src, 6);
WIRE_AT(struct eth_hdr, type, 12);

struct vlan_tag {
	be16_t tci; /* PCP(3) DEI(1) VID(12) */
	be16_t type;
};
WIRE_SIZE(struct vlan_tag, 4);
WIRE_AT(struct vlan_tag, type, 2);

/* Bytes before the payload: MAC addresses, up to two VLAN tags and the type. `size` readable bytes, at least 14. */
static inline unsigned int eth_header_bytes(const uint8_t *frame, size_t size)
{
	unsigned int n = sizeof(struct eth_hdr);

	for (int tags = 0; tags < 2 && n + sizeof(struct vlan_tag) <= size; tags++) {
		uint16_t type = (uint16_t)(frame[n - 2] << 8 | frame[n - 1]);

		if (type != ETH_TYPE_VLAN && type != ETH_TYPE_QINQ)
			break;
		n += (unsigned int)sizeof(struct vlan_tag);
	}
	return n;
}

/*
 * Write tags after the MAC addresses of a frame, then `type`. The outer tag has VLAN `id` and type `outer`. Unless
 * `inner` is 0, a second tag has that VLAN. Both have `priority` (0 to 7). Returns the number of bytes before the
 * payload.
 */
static inline unsigned int eth_put_tags(uint8_t *frame, uint16_t outer, uint16_t id, uint16_t inner, uint8_t priority,
	uint16_t type)
{
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct vlan_tag *tag = (struct vlan_tag *)(eth + 1);

	eth->type = be16(outer);
	*tag = (struct vlan_tag){be16((uint16_t)(priority << 13 | id)), be16(inner ? ETH_TYPE_VLAN : type)};
	if (inner)
		*++tag = (struct vlan_tag){be16((uint16_t)(priority << 13 | inner)), be16(type)};
	return (unsigned int)((uint8_t *)(tag + 1) - frame);
}

static inline bool eth_is_multicast(const struct eth_addr *a)
{
	return a->b[0] & 1;
}

static inline bool eth_is_zero(const struct eth_addr *a)
{
	static const struct eth_addr zero;

	return memcmp(a, &zero, sizeof(zero)) == 0;
}

static inline bool eth_equal(const struct eth_addr *a, const struct eth_addr *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

#endif
