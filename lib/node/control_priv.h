/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_CONTROL_PRIV_H
#define NODE_CONTROL_PRIV_H

#include "node/node.h"
#include "pfc/pfc_state.h"

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
void control_neigh_snapshot(struct control_role *c);	    /* a new snapshot: limits, next hops to keep */
bool control_mailboxes_ready(const struct control_role *c); /* room for a batch of events */
unsigned int control_neigh_poll(struct control_role *c, uint64_t *next);
void control_neigh_packet(struct control_role *c, struct rte_mbuf *m); /* PUNT_ND, PUNT_ARP; consumes m */

/* control_mtu.c: a Packet Too Big to the node, `packet` of `size` bytes with ICMPv6 at `at` */
void control_mtu_heard(struct control_role *c, const uint8_t *packet, size_t at, size_t size);
void control_mtu_poll(struct control_role *c, uint64_t *next); /* after the others: lowers *next */

/* control_fragment.c */
void control_fragment(struct control_role *c, struct rte_mbuf *m); /* PUNT_FRAGMENT; consumes m */

/* control_icmp.c */
void control_icmp_local(struct control_role *c, struct rte_mbuf *m); /* PUNT_LOCAL; consumes m */

/* The upper layer of a packet to the node itself, behind whatever headers. */
struct control_upper {
	size_t at; /* may be behind the end */
	uint8_t type;
	uint32_t named; /* offset of the byte that says what it is */
};
struct control_upper control_upper_layer(const uint8_t *packet, size_t size);
void control_icmp_error(struct control_role *c, struct rte_mbuf *m); /* PUNT_ERROR; consumes m */

/* control_pfc.c: PFC out of tunnels, into tunnels and behind relays */
int control_pfc_init(struct control_role *c);
void control_pfc_fini(struct control_role *c);
unsigned int control_pfc_poll(struct control_role *c, uint64_t *next); /* after the others: lowers *next */
void control_pfc_relay(struct control_role *c, struct rte_mbuf *m);    /* PUNT_PFC_RELAY; consumes m */
void control_pfc_frame(struct control_role *c, struct rte_mbuf *m);    /* PUNT_PFC_TUNNEL; consumes m */

/* For control_carrier.c: PFC to the gateway behind a port; a state of it; may another message of that port be read? */
void control_say_to_gateway(struct control_role *c, uint16_t port, const struct pfc_request *request);
bool control_pfc_state(struct control_role *c, const struct snap_relay *r, const struct pfc_party *party,
	const struct pfc_state *state, struct pfc_request *out);
bool control_pfc_may_listen(struct control_role *c, uint16_t port);

/* control_carrier.c: state messages between PEs instead of frames */
bool control_carrier_take(struct control_role *c,
	struct rte_mbuf *m); /* PUNT_LOCAL; true: it was one, and is consumed */
void control_carrier_heard(struct control_role *c, const struct snap_relay *r, const struct pfc_request *request);
unsigned int control_carrier_poll(struct control_role *c, uint64_t *next); /* lowers *next */

#endif
