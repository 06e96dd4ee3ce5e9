/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of rx roles about data that fills lossless buffers, for PFC tunnels:
 *
 *   sightings   sources and their segment lists: sent to the control role once and again at intervals; it learns
 *		 tunnels from them (docs/protocol.md 4.6)
 *   shares      recent bytes from each ingress node, by port, slice and class (docs/protocol.md 5.7)
 *
 * Both are made after classification, from packets for which a local SID was executed, and only on ports that need
 * them.
 */
#ifndef SERVICE_PFC_NODE_LEARN_H
#define SERVICE_PFC_NODE_LEARN_H

#include "base/bucket.h"
#include "pfc/pfc_frame.h"
#include "pfc/pfc_remote.h"
#include "pkt/pkt.h"

struct rx_role;

/* Addresses in network order, the rest in host order. */
struct node_sighting {
	struct ipv6_addr source; /* of the outer header */
	uint32_t sid;		 /* last local SID that was executed */
	uint8_t port, slice;
	uint16_t n;			     /* entries of the SRH; 0: there is none */
	struct ipv6_addr list[PFC_LIST_MAX]; /* the first entries, in travel order */
};
_Static_assert(sizeof(struct node_sighting) % 4 == 0, "node_sighting must fit its ring");

#define NODE_SIGHTINGS 64 /* slots from each rx role */
#define NODE_SIGHTED 1024 /* sightings an rx role remembers */
#define NODE_SHARES 256	  /* (port, slice, source) entries with byte counts */
#define NODE_SHARE_PROBES 8
#define NODE_SHARE_NS (10 * NSEC_PER_MSEC) /* recent bytes: of one to two such periods */

struct node_sighted {
	uint64_t hash; /* of all fields of a sighting; 0: free */
	uint64_t at;
	uint32_t epoch;
};

/* The rx role writes, the control role reads; relaxed. A wrong share affects fairness, never loss. */
struct node_share {
	uint64_t hi, lo;		   /* source */
	uint64_t began;			   /* start of the period of bytes[0]; 0: free */
	uint64_t bytes[2][PFC_PRIORITIES]; /* [0]: current period, [1]: last period */
	uint8_t port, slice;
};

#define LEARNER_COUNTERS(X) \
	X(counter, shown, "lists_seen", "lists", "sluice_pfc_learning_lists", \
		"segment lists of data reported to the control lcore") \
	X(counter, left_out, "lists_left_out", "lists", "sluice_pfc_learning_left_out", \
		"segment lists of data not reported because of the rate limit or a full ring") \
	X(counter, uncounted, "packets_of_too_many_sources", "packets", "sluice_pfc_learning_uncounted_packets", \
		"packets not counted for their source because the table of sources is full")

struct service_learner {
	struct bucket bucket;
	LEARNER_COUNTERS(STAT_DECLARE)
	struct node_sighted sighted[NODE_SIGHTED];
	struct node_share share[NODE_SHARES];
};

/* rx role: classified packets of a port that learns tunnels or counts shares. */
void service_learn(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port);

/* Return the recent bytes from a source, by ingress port, class and slice. Caller: the control role. */
uint64_t node_share_of(const struct service_learner *l, uint16_t port, uint8_t slice, const struct ipv6_addr *source,
	unsigned int class, uint64_t now);

#endif
