/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classification: each packet is parsed and looked up once, and its struct pkt says what becomes of it. The
 * frame is only read.
 */
#ifndef CLASSIFY_CLASSIFY_H
#define CLASSIFY_CLASSIFY_H

#include "base/bucket.h"
#include "pkt/pkt.h"
#include "snapshot/snapshot.h"

#define SID_COUNTERS(X) \
	X(counter, packets, "packets", "packets", "sluice_sid_packets", "packets processed by this local SID") \
	X(counter, bytes, "bytes", "bytes", "sluice_sid_bytes", "bytes of the frames processed by this local SID")

struct sid_counter {
	SID_COUNTERS(STAT_DECLARE)
};

/* What an lcore classifies with: set up for each pass, written by that lcore alone. */
struct classifier {
	const struct snapshot *s;
	struct lcore_stats *stats;
	struct sid_counter *sids;	  /* by SID id; SNAP_SID_MAX entries */
	uint64_t now;			  /* of the pass */
	struct bucket control[MAX_PORTS]; /* control traffic in transit, by the port it came in by */
};

/* Received frames of one port. */
void classify_burst(struct classifier *c, uint16_t port, struct rte_mbuf **pkts, unsigned int n);

/*
 * An IP packet the node made itself (no Ethernet header), routed in `vrf`, as control traffic. Its m->port
 * must be PORT_LOCAL. Hop limit and TTL are sent as they are.
 */
void classify_originated(struct classifier *c, struct rte_mbuf *m, uint16_t vrf);

/* The same for a part of a received packet, which keeps the class that the whole one `of` had. */
void classify_part(struct classifier *c, struct rte_mbuf *m, const struct pkt *of);

/* The same for a packet to a neighbour on a given interface, which no table is asked about. */
void classify_to_neighbor(struct classifier *c, struct rte_mbuf *m, uint8_t family, uint16_t interface);

#endif
