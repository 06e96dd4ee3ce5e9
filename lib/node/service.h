/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Services: what a node does besides forwarding. Each protocol is one (neighbors, ICMP, PFC); lib/node knows none of them.
 *
 * A service is a folder below lib/service and a row in the table of service/services.h. The row names the functions through
 * which the node reaches it, on the control lcore and, where it needs them, on rx lcores and workers. A member that is NULL is
 * not called. Within a pass the services are called in the order of the table.
 *
 * The state of a service hangs on node.state[], at the index of its row. It says itself who may touch which part.
 */
#ifndef NODE_SERVICE_H
#define NODE_SERVICE_H

#include "node/node.h"

/* On rx lcores. */
struct rx_hooks {
	uint32_t takes; /* a bit per enum pkt_punt: packets that `take` sees before they go to the control lcore */
	/* True: the packet is consumed. False: it goes on to the control lcore, as pkt.punt says now. */
	bool (*take)(struct rx_role *rx, struct rte_mbuf *m);
	/*
	 * Packets received on a port, after classification, where snap_port.examined or node.storming says so. May end some and
	 * moves the others together, in order; returns how many are left.
	 */
	unsigned int (*examine)(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port);
};

/* On workers, in the order of a pass. */
struct worker_hooks {
	void (*snapshot)(struct worker_role *w); /* w->ctx.s is new, and the egresses have taken it over */
	unsigned int (*read)(
		struct worker_role *w);	     /* read mailboxes, before packets are; returns the number of messages */
	void (*look)(struct worker_role *w); /* packets have come in, the egresses are served next */
	/* When the next pass is due though nothing arrives, or TIME_NEVER; `worked`: this one has read something. */
	uint64_t (*next)(const struct worker_role *w, bool worked);
};

struct control_service {
	const char *name;

	/* --- management thread --- */

	/*
	 * Make the state and open the mailboxes; roles and lcores are there, ports and snapshot are not. socket: NUMA node of the
	 * memory, or -1. Returns 0 or -errno.
	 */
	int (*init)(struct control_role *c, int socket);
	/* Free the state; the mailboxes are closed. No lcore runs. Also called when init has failed or did not run. */
	void (*fini)(struct control_role *c);
	void (*tick)(struct node *n);  /* every few milliseconds while lcores run */
	void (*clear)(struct node *n); /* counters shown to users start from here (clear stats) */

	/* --- control lcore, in the order of a pass --- */

	void (*snapshot)(struct control_role *c); /* in every pass: c->s may be new */
	/* Do its mailboxes have room for what CONTROL_BURST events may send? If not, punts stay where they are. */
	bool (*has_room)(const struct control_role *c);
	uint32_t takes; /* a bit per enum pkt_punt: packets that `take` sees */
	/* True: the packet is consumed. False: it is the next service's that takes such packets. */
	bool (*take)(struct control_role *c, struct rte_mbuf *m);
	/* Messages and timers; returns the work done and lowers *next to the time it must run again. */
	unsigned int (*poll)(struct control_role *c, uint64_t *next);
	/* Has it something to do besides its mailboxes? Part of node_lcore_has_input. */
	bool (*has_input)(const struct control_role *c);

	/* --- other lcores; NULL: nothing to do there --- */

	const struct rx_hooks *rx;
	const struct worker_hooks *worker;
};

#define SERVICE_TAKES(punt) (1u << (punt))

/* Ends of the mailboxes that a service opens. */
static inline struct mailbox_end rx_end(const struct rx_role *rx)
{
	return (struct mailbox_end){.lcore = rx->lcore, .role = MAILBOX_RX};
}

static inline struct mailbox_end worker_end(const struct worker_role *w)
{
	return (struct mailbox_end){.lcore = w->lcore, .role = MAILBOX_WORKER};
}

static inline struct mailbox_end control_end(const struct control_role *c)
{
	return (struct mailbox_end){.lcore = c->lcore, .role = MAILBOX_CONTROL};
}

#endif
