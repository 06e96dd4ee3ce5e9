/* SPDX-License-Identifier: BSD-3-Clause */
/* What all services on the control lcore call: packets of the node's own, and where a received one came from. */
#ifndef NODE_CONTROL_SEND_H
#define NODE_CONTROL_SEND_H

#include "node/node.h"

#define CONTROL_BURST 32 /* packets, messages or timers of one kind in a pass */

/* A buffer chain holding `size` bytes, counted as originated; NULL when the pool is empty. */
struct rte_mbuf *control_packet(struct control_role *c, const void *data, uint32_t size);

/* The interface a received packet came in by; NULL: it was removed since, or the packet is the node's own. */
const struct snap_port *control_came_in_by(const struct control_role *c, const struct rte_mbuf *m);

/* An IP packet of the node's own: by the table of `vrf`, or to a station on the link of `interface`. Consumes m. */
void control_send_routed(struct control_role *c, struct rte_mbuf *m, uint16_t vrf);
/* A part of a received packet `of`, in the class and by the table of that. Consumes m. */
void control_send_again(struct control_role *c, struct rte_mbuf *m, const struct pkt *of);

void control_send_on_link(struct control_role *c, struct rte_mbuf *m, uint8_t family, uint16_t interface);

/* A finished Ethernet frame of the node's own, out of a port. Consumes m. */
void control_send_frame(struct control_role *c, struct rte_mbuf *m, uint16_t port);

/* Have the mailboxes of all services room for a batch of events? */
bool control_has_room(const struct control_role *c);

/* The upper layer of a packet to the node itself, after its extension headers. */
struct control_upper {
	size_t at; /* may be behind the end */
	uint8_t type;
	uint32_t named; /* offset of the byte that says what it is */
};
struct control_upper control_upper_layer(const uint8_t *packet, size_t size);

#endif
