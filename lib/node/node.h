/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node: one whole appliance. Everything sluice knows hangs on this struct; a process may hold many (the lab
 * does).
 *
 *   rx role       receives from its queues, classifies, hands packets to the owner of their egress
 *   worker role   owns the egress of its ports
 *   control role  packets for the node itself and protocols, by services (node/service.h)
 *   management    everything else, in whatever thread calls the functions of node_ctl.h
 *
 * A role is polled: one bounded pass over what there is, at a time the caller gives. An lcore plays one role or
 * several; it runs them one after the other and then reports quiescence.
 */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include <rte_rcu_qsbr.h>

#include "base/bucket.h"
#include "base/limits.h"
#include "classify/classify.h"
#include "node/mailbox.h"
#include "pkt/filter.h"
#include "queue/egress.h"
#include "snapshot/build.h"

#define NODE_MAX_ROLES 32 /* rx roles, worker roles */
#define NODE_BURST LIMIT_BURST
#define NODE_PARK LIMIT_PARK
#define NODE_WORKER_PUNTS LIMIT_WORKER_PUNTS
#define NODE_SERVICES_MAX 16

struct node;
struct node_lcore;

struct rx_queue {
	struct port *port;
	uint16_t queue;
};

/* Packets that found the ring to their worker full. As long as there are any, nothing more is received. */
struct rx_park {
	uint16_t n;
	struct rte_mbuf *pkts[NODE_PARK];
};

struct rx_role {
	struct node *node;
	struct node_lcore *lcore;
	uint16_t index;
	uint16_t n_queues;
	struct rx_queue queue[MAX_PORTS * 4];
	struct classifier classifier;
	struct rx_park park[NODE_MAX_ROLES];	  /* by worker */
	struct mailbox to_worker[NODE_MAX_ROLES]; /* packets, by worker; not open: same lcore */
	struct mailbox to_control;		  /* packets */
	bool crowded; /* some ring to a worker was full; written by this role, relaxed readers */
	bool stopped; /* written by management: receive nothing more; relaxed */
} CACHE_ALIGNED;

struct worker_role {
	struct node *node;
	struct node_lcore *lcore;
	uint16_t index;
	struct egress_context ctx;
	struct accounts *accounts;
	uint32_t watermark_epoch, persistent_epoch; /* that the user's and the persistent watermarks are of */
	struct nbr_table nbrs;
	uint16_t n_egress;
	struct egress *egress[MAX_PORTS]; /* those it owns */
	struct mailbox to_control;	  /* packets whose neighbour did not answer */
	bool stalled;			  /* written by tests: the worker does nothing; relaxed */
} CACHE_ALIGNED;

struct control_role {
	struct node *node;
	struct node_lcore *lcore;
	struct classifier classifier;
	const struct snapshot *s;		  /* of this pass */
	struct mailbox to_worker[NODE_MAX_ROLES]; /* packets, by worker */
	uint64_t now; /* of the pass under way, for callbacks; management reads it too (relaxed), to show ages */
	uint8_t scratch[17408]; /* for services: one whole IP packet, and an error about it */
} CACHE_ALIGNED;

/* One lcore of the node and what it plays. */
struct node_lcore {
	struct node *node;
	unsigned int id; /* EAL lcore */
	unsigned int cpu;
	unsigned int qsbr; /* thread id */
	struct control_role *control;
	struct rx_role *rx;
	struct worker_role *worker;
	uint64_t last_pass_ns; /* 0: none, or it slept since */
	bool was_busy;	       /* the last pass found work */
	struct pkt_tap tap;
	struct lcore_stats stats;
};

/* Packets and bits a second of each port over the last full second or so. */
struct port_rate {
	uint64_t rx_pps, rx_bps, tx_pps, tx_bps;
};

struct node_rates {
	uint64_t since_ns; /* 0: not yet measured */
	struct {
		uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	} last[MAX_PORTS];
	struct port_rate port[MAX_PORTS];
};

struct control_service;
struct node_traces;
struct rx_hooks;
struct worker_hooks;

struct node {
	char name[32];
	uint64_t born_ns; /* what lcore time was short of the time of day at the start; set once */
	/* What lcores read. Written by the management thread (release), read by every role (acquire). */
	const struct snapshot *snapshot;

	struct rte_mempool *pool;
	struct rte_rcu_qsbr *qsbr;
	struct port *port[MAX_PORTS];
	uint32_t n_ports;
	struct egress *egress; /* by port */
	/* By ingress port, a bit per class; see struct egress_context. */
	uint8_t lossless[PORT_SLOTS], exhausted[PORT_SLOTS];
	uint8_t storming[PORT_SLOTS];
	uint32_t rx_of_port[MAX_PORTS]; /* bit per rx role that serves it */
	/* Written by management, read by workers. Who clears the persistent ones counts them first, the user's behind it in any case. */
	uint32_t watermark_epoch, persistent_epoch;
	uint16_t owner[MAX_PORTS]; /* worker index by port */

	struct rx_role *rx;
	struct worker_role *worker;
	struct control_role *control;
	uint16_t n_rx, n_workers;
	struct mailbox_list mailboxes; /* all between roles; constant while lcores run */
	/* Services, and what they do where; constant once the node is made. */
	const struct control_service *const *services; /* NULL behind the last */
	const struct rx_hooks *rx_hooks[NODE_SERVICES_MAX];
	const struct worker_hooks *worker_hooks[NODE_SERVICES_MAX];
	uint16_t n_rx_hooks, n_worker_hooks;
	uint32_t rx_takes;		/* a bit per enum pkt_punt that some rx hook takes */
	void *state[NODE_SERVICES_MAX]; /* of services, by row */
	struct node_lcore *lcore[2 * NODE_MAX_ROLES + 1];
	uint16_t n_lcores;

	/* management thread only */
	struct lcore_stats *cleared; /* base line of clear stats */
	struct sid_counter *cleared_sids;
	struct node_rates rates;
	struct trace_filter trace;  /* what lcores choose packets by */
	struct node_traces *traces; /* events collected so far */
	struct snapshot_registry registry;
	struct config *config; /* running */
	struct capture_set *captures;
	struct node_retired *retired; /* snapshots waiting for their grace period */
};

/* Newest snapshot. Any role; at least as new as any packet the caller has taken out of a ring before. */
static inline const struct snapshot *node_snapshot(const struct node *n)
{
	return __atomic_load_n(&n->snapshot, __ATOMIC_ACQUIRE);
}

/*
 * One pass of a role. `now`: ns on a clock that never goes back. Returns the work done (packets, messages,
 * timers); *next: the earliest time it must be polled again if nothing arrives, TIME_NEVER for "never".
 */
unsigned int rx_poll(struct rx_role *rx, uint64_t now, uint64_t *next);
unsigned int worker_poll(struct worker_role *w, uint64_t now, uint64_t *next);
unsigned int control_poll(struct control_role *c, uint64_t now, uint64_t *next);

/* One pass of all roles of an lcore, in the order control, rx, worker; then quiescence and bookkeeping. */
unsigned int node_lcore_poll(struct node_lcore *l, uint64_t now, uint64_t *next);

/*
 * Is there anything in a mailbox for a role of this lcore? Device queues are not looked at. Exact only while
 * no lcore of the node runs: the lab, which wakes an lcore when something has arrived for it.
 */
bool node_lcore_has_input(const struct node_lcore *l);

/* The caller slept for `ns` because the last pass found no work. */
void node_lcore_slept(struct node_lcore *l, uint64_t ns);

/*
 * Packets for one egress from a role on the same lcore as its worker, in order. For rings, rx roles and the
 * control role use mailbox_push_packets.
 */
void worker_submit(struct worker_role *w, uint16_t port, struct rte_mbuf **pkts, unsigned int n);

/* Take over a newer snapshot if there is one: after a ring was read, for what came out of it may be that new. */
void worker_refresh(struct worker_role *w);

#endif
