/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rx roles find out about data that fills lossless buffers, for PFC tunnels:
 *
 *   sightings   who sends by which segment list: shown to the control role once, and now and then again, which learns
 *		 tunnels from them (docs/protocol.md 4.6)
 *   shares      how many bytes come from each ingress node of late, by port, slice and class (docs/protocol.md 5.7)
 *
 * Both are made of packets that a local SID was executed for, behind their classification, and only on ports that ask
 * for them.
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
	uint32_t sid;		 /* last own SID that was executed */
	uint8_t port, slice;
	uint16_t n;			     /* entries of the SRH; 0: there is none */
	struct ipv6_addr list[PFC_LIST_MAX]; /* the first of them, in travel order */
};
_Static_assert(sizeof(struct node_sighting) % 4 == 0, "node_sighting must fit its ring");

#define NODE_SIGHTINGS 64 /* slots from each rx role */
#define NODE_SIGHTED 1024 /* sightings an rx role remembers */
#define NODE_SHARES 256	  /* (port, slice, source) it counts bytes of */
#define NODE_SHARE_PROBES 8
#define NODE_SHARE_NS (10 * NSEC_PER_MSEC) /* bytes of late are those of one to two such times */

struct node_sighted {
	uint64_t hash; /* of all that a sighting says; 0: free */
	uint64_t at;
	uint32_t epoch;
};

/* The rx role writes, the control role reads; relaxed. A wrong share affects fairness, never loss. */
struct node_share {
	uint64_t hi, lo;		   /* source */
	uint64_t began;			   /* of the time that bytes[0] is about; 0: a free place */
	uint64_t bytes[2][PFC_PRIORITIES]; /* [0] goes on, [1] is the time before */
	uint8_t port, slice;
};

#define LEARNER_COUNTERS(X) \
	X(counter, shown, "lists_seen", "lists", "sluice_pfc_learning_lists", \
		"segment lists of data reported to the control lcore") \
	X(counter, left_out, "lists_left_out", "lists", "sluice_pfc_learning_left_out", \
		"segment lists of data not reported: the rate limit, or a full ring") \
	X(counter, uncounted, "packets_of_too_many_sources", "packets", "sluice_pfc_learning_uncounted_packets", \
		"whose source found no place, so that their share of a buffer is not known")

struct node_learner {
	struct bucket bucket;
	LEARNER_COUNTERS(STAT_DECLARE)
	struct node_sighted sighted[NODE_SIGHTED];
	struct node_share share[NODE_SHARES];
};

/* rx role: classified packets of a port that learns tunnels or counts shares. */
void node_learn(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port);

/* Control role: bytes of late that came in by a port in a class and a slice from a source. */
uint64_t node_share_of(const struct node_learner *l, uint16_t port, uint8_t slice, const struct ipv6_addr *source,
	unsigned int class, uint64_t now);

#endif
