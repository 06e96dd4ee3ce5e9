/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What RoCEv2 tells of pairs of hosts, of policies with `roce` (docs/path-placement.md):
 *
 *   rx role         shows the control lcore pairs that it does not know, counts losses of their data, and what their receivers
 *                   send back through this node (pair_dp.c)
 *   control lcore   keeps the table of pairs, and forgets those that are idle (pair_cp.c)
 *   management      makes the state, which then stays until the end; reads counters; names the pair whose queue pairs are
 *                   counted one by one (pair_ctl.c)
 */
#ifndef SERVICE_STEER_PAIRS_H
#define SERVICE_STEER_PAIRS_H

#include "node/mailbox.h"
#include "node/node.h"
#include "steer/pair_table.h"
#include "wire/roce.h"

/* Of a pair, by one rx role. X(kind, member, name, unit, metric, help) */
#define PAIR_COUNTERS(X) \
	X(counter, acks, "acks", "packets", "sluice_roce_acks", "RoCEv2 ACKs that receivers sent back") \
	X(counter, nak_sequence, "nak_sequence", "packets", "sluice_roce_nak_sequence", \
		"RoCEv2 NAKs of a PSN sequence error: the receiver misses packets") \
	X(counter, rnr, "rnr", "packets", "sluice_roce_rnr", "RoCEv2 NAKs of a receiver that is not ready") \
	X(counter, naks, "other_naks", "packets", "sluice_roce_other_naks", "RoCEv2 NAKs for other reasons") \
	X(counter, cnps, "cnps", "packets", "sluice_roce_cnps", "RoCEv2 congestion notification packets")

/* Of data, by its flow. */
#define PSN_COUNTERS(X) \
	X(counter, gaps, "psn_gaps", "packets", "sluice_roce_psn_gaps", \
		"RoCEv2 PSNs that were left out before the packet came to this node") \
	X(counter, repeated, "psn_duplicates", "packets", "sluice_roce_psn_duplicates", \
		"RoCEv2 packets that a sender sent again: their PSN had passed this node before")

struct pair_count {
	PAIR_COUNTERS(STAT_DECLARE)
	uint64_t seen; /* time of the last answer, or of data that refreshed the pair, ns */
};
#define PAIR_COUNTS (offsetof(struct pair_count, seen) / sizeof(uint64_t))

/* What is shown of a pair: of its data, what the flows have that are in the flow tables now. */
#define PAIR_SHOWN_COUNTERS(X) \
	PAIR_COUNTERS(X) \
	PSN_COUNTERS(X)

struct pair_shown {
	PAIR_SHOWN_COUNTERS(STAT_DECLARE)
	uint64_t seen;
};

/* Of a node: the sum of all pairs, and what belongs to none. */
#define ROCE_COUNTERS(X) \
	PAIR_COUNTERS(X) \
	PSN_COUNTERS(X) \
	X(counter, unknown, "unknown_pair", "packets", "sluice_roce_unknown_pair", \
		"RoCEv2 ACKs, NAKs and CNPs of hosts between which no data is known to go, which count for nothing " \
		"else") \
	X(gauge, pairs, "pairs", "pairs", "sluice_roce_pairs", "pairs of hosts in the table of pairs") \
	X(counter, full, "pairs_full", "sightings", "sluice_roce_pairs_full", \
		"sightings of a pair of hosts for which the table of pairs had no room")

struct roce_counters {
	ROCE_COUNTERS(STAT_DECLARE)
};

/* The queue pairs of the pair that is watched, by one rx role: those that receivers name, which are the senders'. */
#define PAIR_QPS 64 /* a power of two */
struct pair_qp {
	uint32_t qp; /* with PAIR_QP_USED */
	uint32_t acks, nak_sequence, rnr, naks, cnps;
};
#define PAIR_QP_USED 0x80000000u

struct pair_rx {
	struct pair_count count[PAIR_PLACES];
	struct roce_counters sum;
	uint64_t watched; /* node_pairs.watched that `qp` belongs to */
	uint64_t others;  /* packets of queue pairs that found no place */
	struct pair_qp qp[PAIR_QPS];
};

struct pair_sighting {
	struct steer_key pair;
};
#define PAIR_SIGHTINGS 256 /* that wait for the control lcore; a power of two */
/* Packets of a flow after which its pair is shown again, also one that was forgotten while the flow was silent; a power of two. */
#define PAIR_REFRESH 64

struct node_pairs {
	struct pair_table table;	     /* the control lcore's */
	struct pair_count base[PAIR_PLACES]; /* counters when a pair got its place; the control lcore's, relaxed */
	uint64_t full;			     /* likewise */
	uint64_t look_at;		     /* when a bucket is looked at next; the control lcore */
	uint32_t hand;			     /* that bucket */
	uint64_t watched;		     /* number of the order(32) place + 1(32); 0: none. Management; relaxed */
	struct steer_key watch;		     /* the pair; management */
	struct pair_rx *rx[NODE_MAX_ROLES];  /* by rx role, which writes it; constant */
};

struct node_steer;

/* pair_dp.c. Data of a flow has come: its pair is in use. Rx lcores. */
void pair_data(struct rx_role *rx, const struct node_pairs *p, const struct steer_key *flow);
/* A packet that no policy takes: something that a receiver of RoCEv2 sends back. Rx lcores. */
void pair_answer(struct rx_role *rx, struct node_pairs *p, const struct steer_key *key, const struct roce *r);

/* pair_cp.c: take sightings, forget pairs. Control lcore. */
unsigned int pair_poll(struct control_role *c, uint64_t *next);

/* --- pair_ctl.c, management thread --- */

int pair_init(struct control_role *c, int socket);
void pair_free(struct node_pairs *p);
/* A new snapshot: make the state if a policy needs it. 0 or -ENOMEM. */
int pair_published(struct node *n);

/* Counters of the pairs that match, since each got its place: rows in the order of places. NULL: out of memory. */
struct pair_row {
	struct steer_key key;
	struct pair_shown count;
	uint32_t place;
};
struct pair_row *pair_show(const struct node *n, const struct steer_filter *filter, uint32_t *rows);
struct roce_counters roce_counters(const struct node *n);

/* Watch the pair at a place, PAIR_NONE: none. Call fn for each queue pair of it. */
void pair_watch(struct node *n, uint32_t place);
/* False: no pair is watched. others: packets of more queue pairs than are counted one by one. */
bool pair_watched(const struct node *n, struct steer_key *pair, uint64_t *others,
	void (*fn)(void *arg, const struct pair_qp *q), void *arg);

#endif
