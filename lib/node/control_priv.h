/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_CONTROL_PRIV_H
#define NODE_CONTROL_PRIV_H

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

/* control_neigh.c: ND and ARP */
int control_neigh_init(struct control_role *c);
void control_neigh_fini(struct control_role *c);
void control_neigh_snapshot(struct control_role *c); /* a new snapshot: limits, next hops to keep */
bool control_mailboxes_ready(const struct control_role *c); /* room for a batch of events */
unsigned int control_neigh_poll(struct control_role *c, uint64_t *next);
void control_neigh_packet(struct control_role *c, struct rte_mbuf *m); /* PUNT_ND, PUNT_ARP; consumes m */

/* control_fragment.c */
void control_fragment(struct control_role *c, struct rte_mbuf *m); /* PUNT_FRAGMENT; consumes m */

/* control_icmp.c */
void control_icmp_local(struct control_role *c, struct rte_mbuf *m); /* PUNT_LOCAL; consumes m */
void control_icmp_error(struct control_role *c, struct rte_mbuf *m); /* PUNT_ERROR; consumes m */


/* control_pfc.c: PFC out of tunnels, into tunnels and behind relays */
int control_pfc_init(struct control_role *c);
void control_pfc_fini(struct control_role *c);
unsigned int control_pfc_poll(struct control_role *c, uint64_t *next); /* after the others: lowers *next */
void control_pfc_relay(struct control_role *c, struct rte_mbuf *m); /* PUNT_PFC_RELAY; consumes m */
void control_pfc_frame(struct control_role *c, struct rte_mbuf *m); /* PUNT_PFC_TUNNEL; consumes m */

#endif
