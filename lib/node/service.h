/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Services: the functions of a node besides forwarding. Each protocol (neighbours, ICMP, PFC) is a service. lib/node
 * depends on none of them.
 *
 * A service is a folder below lib/service and a row in the table of service/services.h. The row contains the functions
 * that the node calls: on the control lcore, and optionally on rx lcores and workers. A member that is NULL is not
 * called. Within a pass the services are called in the order of the table.
 *
 * The state of a service is node.state[], at the index of its row. The header of the service documents who may access
 * which part.
 */
#ifndef NODE_SERVICE_H
#define NODE_SERVICE_H

#include "node/node.h"

/* Functions that rx lcores call. */
struct rx_hooks {
	/* One bit per enum pkt_punt: packets that are passed to `take` before they go to the control lcore. */
	uint32_t takes;
	/* Returns true when the packet is consumed; false: it goes to the control lcore, with the current pkt.punt. */
	bool (*take)(struct rx_role *rx, struct rte_mbuf *m);
	/*
	 * Examine packets received on a port, after classification, if snap_interface.examined or node.storming is set. May
	 * end some packets, and moves the others together, in order. Returns the number of packets left.
	 */
	unsigned int (*examine)(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port);
	/* Has this node granted room to a frame that was just received and is not classified? If snap_interface.credited. */
	bool (*granted)(const struct rx_role *rx, const struct rte_mbuf *m);
};

/* Functions that workers call, in the order of a pass. */
struct worker_hooks {
	void (*snapshot)(struct worker_role *w); /* w->ctx.s is new; the egresses have adopted it */
	/* Read mailboxes of messages, before packets are read. Returns the number of messages. */
	unsigned int (*read)(struct worker_role *w);
	void (*look)(struct worker_role *w); /* after packets were read, before the egresses are served */
	/* Returns when the next pass is due if nothing arrives (ns), or TIME_NEVER; worked: this pass has done work. */
	uint64_t (*next)(const struct worker_role *w, bool worked);
};

struct control_service {
	const char *name;

	/* --- management thread --- */

	/*
	 * Make the state and open the mailboxes. Roles and lcores exist; ports and snapshot do not. socket: NUMA node
	 * of the memory, or -1. Returns 0 or -errno.
	 */
	int (*init)(struct control_role *c, int socket);
	/*
	 * Free the state. The mailboxes are closed and no lcore runs. Also called when init has failed or has not run.
	 */
	void (*fini)(struct control_role *c);
	void (*tick)(struct node *n);	   /* every few milliseconds while lcores run */
	void (*published)(struct node *n); /* n->snapshot is new; lcores may use it already */
	/*
	 * The node is about to stop. Tell others on the control lcore, and return for how long (ns) the node must go on
	 * forwarding, so that they can send elsewhere first.
	 */
	uint64_t (*stopping)(struct node *n);
	void (*clear)(struct node *n); /* set the base of the counters shown to users (clear stats) */
	/*
	 * Call `say` with a text for everything in force that `next` would take away in place of n->snapshot, so that
	 * lossless packets could be lost. Lcores may run.
	 */
	void (*held)(const struct node *n, const struct snapshot *next, void (*say)(void *arg, const char *text),
		void *arg);

	/* --- control lcore, in the order of a pass --- */

	void (*snapshot)(struct control_role *c); /* in every pass; c->s may be new */
	/*
	 * Returns whether the mailboxes have room for the messages of CONTROL_BURST events. If not, punts stay in their
	 * mailboxes.
	 */
	bool (*has_room)(const struct control_role *c);
	uint32_t takes; /* one bit per enum pkt_punt: packets that are passed to `take` */
	/* Returns true when the packet is consumed; false: it is passed to the next service that takes such packets. */
	bool (*take)(struct control_role *c, struct rte_mbuf *m);
	/* Handle messages and timers. Returns the work done and lowers *next to the time of the next call (ns). */
	unsigned int (*poll)(struct control_role *c, uint64_t *next);
	/* Returns whether there is work besides the mailboxes. Part of node_lcore_has_input. */
	bool (*has_input)(const struct control_role *c);

	/* --- other lcores; NULL: no functions there --- */

	const struct rx_hooks *rx;
	const struct worker_hooks *worker;
};

/* End a packet in rx_hooks.take that exceeds the rate limit of its port and kind, for `reason`. Rx lcores. */
void rx_punt_limited(struct rx_role *rx, struct rte_mbuf *m, enum reason reason);

/*
 * Return whether a packet above the rate limit of its port and kind, `rate` packets/s, is within the share of its station
 * or VLAN (node/punt_share.h). Rx lcores.
 */
bool rx_punt_spared(struct rx_role *rx, struct rte_mbuf *m, uint64_t rate);

#define SERVICE_TAKES(punt) (1u << (punt))

/* Ends for the mailboxes that a service opens. */
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
