/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the interface of a tagged frame (IEEE 802.1Q, 802.1ad). Any lcore. */
#ifndef CLASSIFY_VLAN_H
#define CLASSIFY_VLAN_H

#include "snapshot/snapshot.h"
#include "wire/eth.h"

#define VLAN_ID_MASK 0x0fff

struct vlan_place {
	const struct snap_interface *in; /* NULL: the tags match no interface */
	uint32_t at;			 /* offset of the payload */
	bool truncated;			 /* the frame ends inside its tags */
};

/* Row of a VLAN interface in tables by interface. */
static inline uint32_t vlan_row(const struct snap_interface *interface)
{
	return interface->interface / SNAP_INTERFACE_ROW;
}

/*
 * Find the interface of a frame received on `port`. `size` bytes are readable and begin with a complete Ethernet
 * header. The interface is the port itself for a frame without a tag or with VLAN 0 (a priority tag). The TPIDs must
 * match the interface.
 */
static inline struct vlan_place vlan_find(const struct snapshot *s, const struct snap_interface *port,
	const uint8_t *frame, size_t size)
{
	const struct vlan_tag *tag = (const struct vlan_tag *)(frame + sizeof(struct eth_hdr));
	struct vlan_place place = {.at = sizeof(struct eth_hdr)};
	uint16_t type = be16_get(((const struct eth_hdr *)frame)->type), id, number;

	if (type != ETH_TYPE_VLAN && type != ETH_TYPE_QINQ) {
		place.in = port;
		return place;
	}
	place.at += sizeof(*tag);
	place.truncated = place.at > size;
	if (place.truncated)
		return place;
	id = be16_get(tag->tci) & VLAN_ID_MASK;
	if (id == 0) {
		place.in = port;
		return place;
	}
	if (!port->vlan)
		return place;
	number = port->vlan[id];
	if (be16_get(tag->type) == ETH_TYPE_VLAN) {
		place.at += sizeof(*tag);
		place.truncated = place.at > size;
		if (place.truncated)
			return place;
		number = port->inner_vlan[id] ? port->inner_vlan[id][be16_get(tag[1].tci) & VLAN_ID_MASK] : 0;
	}
	if (number && snap_interface(s, number)->tag[0].type == type)
		place.in = snap_interface(s, number);
	return place;
}

#endif
