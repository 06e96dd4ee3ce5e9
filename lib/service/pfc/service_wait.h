/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wait-for edges of a node, for the search for deadlocks across nodes. Read only; exact while no lcore of
 * the node is in a pass.
 *
 *   a queue whose gate is closed waits for the parties of its holds
 *   a buffer above XOFF waits for the queues that contain its packets
 */
#ifndef SERVICE_PFC_NODE_WAIT_H
#define SERVICE_PFC_NODE_WAIT_H

#include "node/node.h"

struct node_queue {
	uint16_t port;
	uint8_t slice, class;
};

struct service_wait_visitor {
	void *arg;
	/* A queue with packets whose gate is closed at `now`; those below are called about it next. */
	void (*closed)(void *arg, const struct node_queue *q);
	/* The neighbour on the link holds the queue. */
	void (*held_by_link)(void *arg);
	/* The node with this loopback holds the queue, through a tunnel that ends at this SID. */
	void (*held_by_tunnel)(void *arg, const struct ip_prefix *sid, const struct ipv6_addr *source);
	/* So much of what waits in it stands in the buffer of a port and class. */
	void (*charges)(void *arg, uint16_t port, uint8_t class, uint64_t bytes, uint64_t buffers);
	/* A packet that waits in it occupies so many units of a credit session's reservation. */
	void (*granted)(void *arg, uint32_t grant, uint32_t units);
};

void service_wait_visit(const struct node *n, uint64_t now, const struct service_wait_visitor *v);

/*
 * Does the buffer of a port and class say XOFF, and would it still if it held only `level`, and all classes that share
 * buffers (alpha) only `shared` of them together? NULL: whatever it holds.
 */
bool node_buffer_stops(const struct node *n, uint16_t port, uint8_t class, const struct pfc_threshold *level,
	uint64_t shared);

/* Return whether a class of the port uses the shared buffers. */
bool node_buffer_shares(const struct node *n, uint16_t port, uint8_t class);

/* Ports, a bit each, whose buffers of a class say XOFF through a tunnel of this node that ends at `sid`. */
uint32_t node_tunnels_stop(const struct node *n, const struct ip_prefix *sid, uint8_t class);

/*
 * Far ends that hold a class of the gateway behind a relay's port stopped: calls fn for each, with the SID it spoke to.
 */
void node_relay_holds(const struct node *n, uint16_t port, uint8_t class, uint64_t now,
	void (*fn)(void *arg, const struct ip_prefix *sid, const struct ipv6_addr *source), void *arg);

/* Pauses of the gateways behind all relays that ended because the far PE was not heard any more. */
uint64_t node_relays_expired(const struct node *n);

/* Ports, a bit each, whose gateway's PFC goes to `sid`. */
uint32_t node_relays_to(const struct node *n, const struct ip_prefix *sid);

#endif
