/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BFD on the control lcore: sessions with next hops (RFC 5880, 5881), S-BFD along paths, and the S-BFD reflector
 * (RFC 7880, 7881). lib/bfd is the state machine; this service sends and receives its packets, follows the
 * configuration, and tells the rest of the node.
 */
#ifndef SERVICE_BFD_SERVICE_BFD_H
#define SERVICE_BFD_SERVICE_BFD_H

#include "base/bucket.h"
#include "bfd/bfd.h"
#include "node/node.h"
#include "service/services.h"

#define BFD_EVENTS 256 /* changes of sessions that wait for the management thread; a power of two */

/* A change of a session, for the log. */
struct bfd_event {
	struct bfd_change change;
	struct bfd_peer peer;
	uint32_t id; /* neighbour id, or path id */
};

/* Written by the control lcore, read by the management thread. */
struct bfd_events {
	uint32_t head;	 /* events written; release */
	uint32_t tail;	 /* events read; written by the management thread, release */
	uint64_t missed; /* events for which there was no room; relaxed */
	struct bfd_event event[BFD_EVENTS];
};

/* Sessions by the stable ids of what they watch. The control lcore sets them (release); management reads (acquire). */
struct bfd_sessions {
	struct bfd_session *of_neigh[SNAP_NEIGH_MAX];
	struct bfd_session *of_path[SNAP_PATH_MAX];
	uint64_t wanted_neigh[SNAP_NEIGH_MAX], wanted_path[SNAP_PATH_MAX]; /* generation that last had it */
};

/* Limits of what is passed to the control lcore; each rx role has its own. */
struct bfd_rx {
	struct bucket port[MAX_PORTS], far[MAX_PORTS];
};

struct node_bfd {
	/* NULL until a snapshot needs it; written by the control lcore (release), then constant. */
	struct bfd_table *table;
	/* control lcore only: */
	struct bfd_sessions *sessions;
	uint64_t generation; /* of the snapshot that the sessions follow */
	uint32_t at;	     /* sessions of it that were looked at */
	struct bucket reflected;
	uint32_t ended; /* sessions that were looked at since `stopping` */
	/* any lcore: */
	bool stopping; /* the node is about to stop; set by the management thread, relaxed */
	struct bfd_events events;
	struct bfd_rx rx[NODE_MAX_ROLES]; /* by rx role, which alone uses it */
	uint64_t missed_said;		  /* management thread */
};

static inline struct node_bfd *node_bfd(const struct node *n)
{
	return n->state[SERVICE_BFD];
}

static inline bool bfd_is_stopping(const struct node_bfd *b)
{
	return __atomic_load_n(&b->stopping, __ATOMIC_RELAXED);
}

/* packets_cp.c: bfd_ops.send, and a received packet (PUNT_BFD), whose reason for the end is returned. Control lcore. */
void bfd_send(void *arg, const struct bfd_session *s, uint16_t port, const void *message, size_t bytes);
enum reason bfd_take(struct control_role *c, struct rte_mbuf *m);

/* bfd_dp.c */
extern const struct rx_hooks bfd_rx_hooks;

/* bfd_ctl.c: log the changes of sessions; the node is about to stop (control_service.stopping). Management thread. */
void bfd_tick(struct node *n);
uint64_t bfd_stopping(struct node *n);

/* Counters of a session of the running snapshot; NULL: it has not started. Management thread. */
const struct bfd_session_stats *bfd_session_shown(const struct node *n, const struct snap_bfd *s);
/* Last round trip that BFD Echo has measured to a next hop, ns; 0: none. Control lcore. */
static inline uint64_t bfd_echo_rtt_ns(const struct node *n, uint32_t neigh)
{
	const struct node_bfd *b = node_bfd(n);
	const struct bfd_session *s = b->table && neigh < SNAP_NEIGH_MAX ? b->sessions->of_neigh[neigh] : NULL;

	return s ? stat_read(&bfd_stats_of(s)->echo_rtt_ns) : 0;
}

/* Counters of the node; NULL: no BFD is or was configured. Management thread. */
const struct bfd_stats *bfd_shown(const struct node *n);

#endif
