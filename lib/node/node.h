/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node is one whole appliance. struct node holds all of its state. A process can hold many nodes, as the lab does.
 *
 *   rx role       receives from its queues, classifies, hands packets to the owner of their egress
 *   worker role   owns the egress of its ports
 *   control role  runs the services (node/service.h): packets for the node itself, and protocols
 *   management    everything else, in the thread that calls the functions of node_ctl.h
 *
 * A role is polled: each call is one bounded pass over its input, at a time that the caller passes. An lcore has one
 * role or several. It runs them one after the other and then reports quiescence.
 */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include <rte_rcu_qsbr.h>

#include "base/bucket.h"
#include "base/limits.h"
#include "classify/classify.h"
#include "config/deal.h"
#include "node/backlog.h"
#include "node/batch.h"
#include "node/mailbox.h"
#include "node/punt_share.h"
#include "node/spread.h"
#include "pkt/filter.h"
#include "queue/egress.h"
#include "snapshot/build.h"

#define NODE_MAX_ROLES 32 /* limit for rx roles, and for worker roles */
#define NODE_BURST LIMIT_BURST
_Static_assert(SPREAD_ROLES == NODE_MAX_ROLES, "a port can be spread over all rx roles");
#define NODE_PARK LIMIT_PARK
/*
 * Packets in the mailbox to a worker above which a port with lossless classes hands on no more, and parks them: what is in
 * mailboxes is not charged to the buffer of its class until the worker queues it.
 */
#define NODE_LOSSLESS_MAIL LIMIT_LOSSLESS_MAIL
#define NODE_WORKER_PUNTS LIMIT_WORKER_PUNTS
#define NODE_SERVICES_MAX 16
#define NODE_POOLS_MAX 8	       /* NUMA nodes in use */
#define NODE_RX_QUEUES (MAX_PORTS * 4) /* limit for the receive queues of an rx role */

struct node;
struct node_lcore;

struct rx_queue {
	struct port *port;
	uint16_t queue;
	uint32_t parked_at; /* a bit for each worker for which packets of this queue were parked; rx_dp.c */
	const struct spread_lanes *lanes; /* NULL: its frames are never spread in software */
	struct backlog backlog;
};

/*
 * Packets that did not fit into the mailbox to their worker. The rx role receives only while a whole burst can still be
 * parked: all parks of a role hold NODE_PARK packets together.
 */
struct rx_park {
	uint16_t n, charged; /* packets, and those of them that are charged to their class (rx_role.waiting) */
	bool is_charged[NODE_PARK];
	struct rte_mbuf *pkts[NODE_PARK];
};

/*
 * The receive queues in which frames have arrived, if the caller of the lcore says so (node_options.told): the others are
 * not polled. A bit per index in rx_role.queue.
 */
struct rx_told {
	bool on;
	uint64_t arrived[NODE_RX_QUEUES / 64]; /* set by the caller; cleared when nothing is left */
	uint64_t polled[NODE_RX_QUEUES / 64];  /* in the last pass */
};

struct rx_role {
	struct node *node;
	struct node_lcore *lcore;
	uint16_t index;
	uint16_t n_queues;
	uint16_t place; /* of its NUMA node among those with tables (snapshot_places) */
	struct rx_queue queue[NODE_RX_QUEUES];
	struct classifier classifier;
	uint32_t parked;		     /* packets in all parks */
	uint32_t parked_at;		     /* a bit for each worker for which packets of this burst were parked */
	uint32_t park_limit;		     /* of `parked`, for packets that are not lossless */
	uint32_t lossless_mail;		     /* NODE_LOSSLESS_MAIL, or less if mailboxes are small; constant */
	struct rx_park park[NODE_MAX_ROLES]; /* by worker */
	struct mailbox to_worker[NODE_MAX_ROLES]; /* packets, by worker; not open for a worker on the same lcore */
	struct mailbox to_control[PUNT_RINGS];	  /* packets */
	/* By rx role; NULL: no port is spread in software. */
	struct spread_mail *to_rx;
	struct rx_queue *from_rx; /* what was parked of the frames that another one handed on */
	/* Packets to the control lcore, by ingress port and kind; written by this role, relaxed readers. */
	struct punt_stats punt[MAX_PORTS][PUNT_KIND_COUNT];
	struct bucket punt_bucket[MAX_PORTS][PUNT_KIND_COUNT];
	struct punt_shares punt_shares;
	/* Frames in the backlogs and parks, by ingress port and class; written by this role, readers as of any account. */
	struct account waiting[MAX_PORTS][PKT_CLASSES];
	bool stopped; /* stop receiving; written by management, relaxed */
	struct rx_told told;
} CACHE_ALIGNED;

/* A packet in the mailbox to another worker: it stays charged until that worker has taken it. */
struct peer_charge {
	uint32_t bytes;
	uint16_t buffers, port, epoch;
	uint8_t slice, priority;
};

#define PEER_LANES 2 /* packets that leave elsewhere, and those that come home */
/* A way of packets from a worker to another one, whose port they leave by (queue/rebind.h). */
struct peer_mail {
	struct mailbox box;	    /* packets; not open to a worker on the same lcore that is the same */
	uint32_t charged, released; /* packets pushed, and those of them that were seen popped; the producer's */
	struct peer_charge *charge; /* of the last LIMIT_PEER_MAIL ones; the producer's */
	struct rte_mbuf *stalled;   /* popped, and there is no room for it yet; the consumer's. Relaxed readers */
};

struct worker_role {
	struct node *node;
	struct node_lcore *lcore;
	uint16_t index;
	/* Not in the line of the constants above, which the control lcore reads in each pass. */
	struct egress_context ctx CACHE_ALIGNED;
	struct accounts *accounts;
	uint32_t watermark_epoch,
		persistent_epoch; /* of the user's and of the persistent watermarks: epoch of the last clear */
	struct neigh_table neighs;
	uint16_t n_egress;
	struct egress *egress[MAX_PORTS]; /* the egresses that this worker owns */
	uint32_t owns;			  /* the same as a bit per port */
	bool told;			  /* an egress is served only after ctx.touched, or at its time in `wake` */
	uint64_t wake[MAX_PORTS];	  /* ns, by port */
	struct mailbox to_control;	  /* packets of neighbours that did not answer */
	uint32_t epoch;			  /* of struct liveness in the last pass */
	struct peer_mail *to_peer;	  /* by worker, and again by worker for packets that come home there */
	bool stalled;			  /* the worker does nothing; written by tests, relaxed */
} CACHE_ALIGNED;

struct control_role {
	struct node *node;
	struct node_lcore *lcore;
	struct classifier classifier;
	const struct snapshot *s;		  /* snapshot of the current pass */
	struct mailbox to_worker[NODE_MAX_ROLES]; /* packets, by worker */
	uint64_t now;	/* ns, time of the current pass, for callbacks; management reads it (relaxed) to show ages */
	uint16_t trace; /* packets that are sent now belong to this trace, as their cause does; 0: to none */
	uint8_t scratch[17408]; /* for services: one whole IP packet and an ICMP error about it */
} CACHE_ALIGNED;

/* One lcore of the node, with its roles. */
struct node_lcore {
	struct node *node;
	unsigned int id; /* EAL lcore */
	unsigned int cpu;
	int socket;	   /* NUMA node of its memory; -1: any */
	unsigned int qsbr; /* thread id */
	struct control_role *control;
	struct rx_role *rx;
	struct worker_role *worker;
	uint64_t last_pass_ns; /* start of the last pass; 0: none, or the lcore slept after it */
	bool was_busy;	       /* the last pass found work */
	bool told, mail;       /* mailboxes are read only if there may be mail (node_options.told) */
	struct batch batch;
	struct pkt_tap tap;
	struct lcore_stats stats;
};

/* Packets and bits per second of a port, over the last measured interval of at least 1 s. */
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

/* A port that is being restarted. */
struct node_restart {
	const char *cause; /* NULL: it works */
	uint64_t token;	   /* of the grace period after which no lcore uses its device */
	uint64_t since;	   /* time in ns at which it was noticed */
	uint64_t retry_at; /* time in ns of the next attempt, at the earliest */
	uint64_t wait_ns;  /* time that was waited before it; 0: no attempt has failed */
};

struct node {
	char name[32];
	bool steady;	   /* node_options.steady */
	uint64_t seed;	   /* of numbers that nobody must guess; set once */
	uint64_t counters; /* where those that never restart begin */
	uint64_t born_ns;  /* time of day minus lcore time at the start, ns; set once */
	/* Written by the management thread (release), read by every role (acquire); see publish_ctl.c. */
	const struct snapshot *snapshot;

	struct rte_mempool *pool; /* the first of pools, for the node's own packets */
	struct rte_rcu_qsbr *qsbr;
	struct port *port[MAX_PORTS];
	uint32_t speed_read[MAX_PORTS]; /* management: port.link when the speed was last read */
	uint32_t n_ports;
	struct egress *egress; /* by port */
	void *egress_memory;
	/* By ingress port, a bit per class; see struct egress_context. */
	uint16_t lossless[PORT_SLOTS];
	uint8_t exhausted[PORT_SLOTS];
	uint8_t storming[PORT_SLOTS];
	uint32_t rx_of_port[MAX_PORTS]; /* one bit per rx role that serves the port */
	struct spread_lanes spread[MAX_PORTS];
	/*
	 * Incremented by management to clear watermarks, read by workers. Each clear increments watermark_epoch. A
	 * clear of the persistent watermarks increments persistent_epoch before that.
	 */
	uint32_t watermark_epoch, persistent_epoch;
	uint16_t owner[MAX_PORTS]; /* worker index by port */
	struct egress_peers peers; /* of the egresses of all workers */

	struct rx_role *rx;
	struct worker_role *worker;
	struct control_role *control;
	uint16_t n_rx, n_workers;
	struct mailbox_list mailboxes; /* all mailboxes of the node; constant while lcores run */
	/* Services and their hooks; constant after node_new. */
	const struct control_service *const *services; /* NULL after the last */
	const struct rx_hooks *rx_hooks[NODE_SERVICES_MAX];
	const struct worker_hooks *worker_hooks[NODE_SERVICES_MAX];
	uint16_t n_rx_hooks, n_worker_hooks;
	uint32_t rx_takes;		/* one bit per enum pkt_punt that an rx hook takes */
	void *state[NODE_SERVICES_MAX]; /* state of services, by row (enum service_id) */
	struct node_lcore *lcore[2 * NODE_MAX_ROLES + 1];
	uint16_t n_lcores;

	/* management thread only */
	struct rte_mempool *pools[NODE_POOLS_MAX],
		*pool_of_port[MAX_PORTS]; /* one on each NUMA node in use (pools_ctl.c) */
	uint16_t n_pools;
	uint64_t (*clock)(void);     /* node_options.clock */
	struct cfg_places places;    /* constant after node_new */
	struct cfg_deal deal;	     /* of queues to rx lcores, and of ports to workers; likewise */
	struct lcore_stats *cleared; /* counters at the last `clear stats` */
	struct sid_counter *cleared_sids;
	struct path_traffic *cleared_paths;
	struct {
		struct sid_counter *sid;
		struct path_traffic *path;
	} before; /* by id: what was counted for those that had the id before */
	struct punt_stats (*cleared_punts)[PUNT_KIND_COUNT]; /* by port */
	struct node_rates rates;
	struct trace_filter trace;  /* lcores select packets by it */
	struct node_traces *traces; /* collected events */
	struct snapshot_registry registry;
	struct config *config; /* running */
	struct capture_set *captures;
	struct node_restart restart[MAX_PORTS]; /* restart_ctl.c */
	uint64_t oldest_epoch;			/* no packet of an earlier one is left; publish_ctl.c */
	struct node_retired *retired;		/* old snapshots and ids that are not free yet; see publish_ctl.c */
};

/*
 * Return the newest snapshot. Caller: any role. It is at least as new as every packet that the caller has popped
 * before.
 */
static inline const struct snapshot *node_snapshot(const struct node *n)
{
	return __atomic_load_n(&n->snapshot, __ATOMIC_ACQUIRE);
}

/*
 * Run one pass of a role. now: ns of a clock that never goes back. Returns the work done (packets, messages, timers).
 * *next is set to the latest time of the next pass if nothing arrives (ns); TIME_NEVER: none is needed. Caller: the
 * lcore of the role.
 */
unsigned int rx_poll(struct rx_role *rx, uint64_t now, uint64_t *next);
unsigned int worker_poll(struct worker_role *w, uint64_t now, uint64_t *next);
unsigned int control_poll(struct control_role *c, uint64_t now, uint64_t *next);

/*
 * Run one pass of all roles of an lcore, in the order control, rx, worker. Then report quiescence and update the
 * counters of the lcore. Arguments and result as above.
 */
unsigned int node_lcore_poll(struct node_lcore *l, uint64_t now, uint64_t *next);

/*
 * Return whether a mailbox to a role of this lcore has contents, or a service has other input. Device queues are not
 * checked. Exact only while no lcore of the node runs. Caller: the lab, which wakes an lcore when input has arrived.
 */
bool node_lcore_has_input(struct node_lcore *l);

/*
 * With node_options.told: a frame has arrived in a receive queue, the index-th of the rx role; the link of a port has
 * changed. Caller: whoever calls the lcores.
 */
static inline void node_tell_frame(struct rx_role *rx, unsigned int index)
{
	rx->told.arrived[index / 64] |= 1ull << index % 64;
}

static inline void node_tell_link(struct node *n, uint16_t port)
{
	n->worker[n->owner[port]].ctx.touched |= 1u << port;
}

/* Account a sleep of `ns` after a pass that found no work. Caller: the lcore. */
void node_lcore_slept(struct node_lcore *l, uint64_t ns);

/*
 * Submit n packets to one egress of the worker, in order. Takes the packets over. Caller: a role on the same lcore as
 * the worker. Roles on other lcores, and the control role, use mailbox_push_packets.
 */
void worker_submit(struct worker_role *w, uint16_t port, struct rte_mbuf **pkts, unsigned int n);

/*
 * Adopt the newest snapshot. Required after packets were popped from a mailbox, because a newer snapshot may have
 * resolved them. Caller: the lcore of the worker.
 */
void worker_refresh(struct worker_role *w);

#endif
