/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions for all services on the control lcore: they originate packets, and find the ingress interface of received
 * ones. Caller: the control lcore.
 */
#ifndef NODE_CONTROL_SEND_H
#define NODE_CONTROL_SEND_H

#include "node/node.h"

#define CONTROL_BURST 32 /* limit of packets, messages or timers of one kind in a pass */

/* Copy `size` bytes into a new buffer chain, counted as originated. Returns NULL when the pool is empty. */
struct rte_mbuf *control_packet(struct control_role *c, const void *data, uint32_t size);

/*
 * Return the ingress interface of a received packet. NULL: the interface was removed, or the node originated the
 * packet.
 */
const struct snap_interface *control_came_in_by(const struct control_role *c, const struct rte_mbuf *m);

/*
 * Send an IP packet that the node originates, by the table of `vrf`. Consumes m. Returns whether it was passed to an egress;
 * otherwise it is counted as dropped. This holds for all functions below that return bool.
 */
bool control_send_routed(struct control_role *c, struct rte_mbuf *m, uint16_t vrf);
/* Send a fragment m of the received packet `of`, in the class and by the table of `of`. Consumes m. */
void control_send_again(struct control_role *c, struct rte_mbuf *m, const struct pkt *of);

/* Send an IP packet that the node originates to a station on the link of `interface`; family: 4 or 6. Consumes m. */
void control_send_on_link(struct control_role *c, struct rte_mbuf *m, uint8_t family, uint16_t interface);

/* Send an IP packet that the node originates to a configured next hop by its neighbour id. Consumes m. */
bool control_send_to_next_hop(struct control_role *c, struct rte_mbuf *m, uint8_t family, uint32_t neigh);

/* What the node originates to go along a path of a policy. */
struct control_tunnelled {
	uint32_t path; /* id */
	uint32_t flow; /* any number: selects one of several equal next hops */
	uint8_t type;  /* IP protocol number of the payload */
	uint8_t traffic_class;
	uint8_t hop_limit;		/* of the outer header; 0: that of the policy */
	const struct ipv6_addr *source; /* of the outer header; NULL: that of the path */
};

/*
 * Send a payload of `bytes` behind the outer headers of a path, which are written into the SNAP_ENCAP_BYTES_MAX bytes
 * before it, and by the way out of the path. Nothing is sent if there is no such path. The caller knows that the packet
 * is not too long for it.
 */
bool control_send_on_path(struct control_role *c, const struct control_tunnelled *t, uint8_t *payload, size_t bytes);

/* Send a complete Ethernet frame that the node originates, on a port. Consumes m. */
void control_send_frame(struct control_role *c, struct rte_mbuf *m, uint16_t port);

/*
 * Return whether the mailboxes of the services have room for a batch of CONTROL_BURST events. takes: one bit per enum
 * pkt_punt; only services that take such packets are asked.
 */
bool control_has_room(const struct control_role *c, uint32_t takes);

/*
 * Find the upper layer of a packet to the node itself, after its extension headers. `packet` has `size` readable bytes.
 */
struct control_upper {
	size_t at;	/* offset; may be after the end */
	uint8_t type;	/* IP protocol number */
	uint32_t named; /* offset of the byte that contains `type` */
};
struct control_upper control_upper_layer(const uint8_t *packet, size_t size);

#endif
