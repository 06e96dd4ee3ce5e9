/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classification: parse and look up each packet once, and write the verdict to its struct pkt. The frame is only read.
 * rx lcores for received packets; the control lcore for packets that the node creates.
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

/* State of one lcore for classification: set up for each pass, written by that lcore only. */
struct classifier {
	const struct snapshot *s;
	struct lcore_stats *stats;
	struct sid_counter *sids;	  /* by SID id; SNAP_SID_MAX entries */
	uint64_t now;			  /* ns, start of the pass */
	struct bucket control[MAX_PORTS]; /* rate limit of control traffic in transit, by ingress port */
	bool no_express[MAX_PORTS];	  /* of the last burst from the port nothing was for the express lane */
};

/* Classify a burst of n frames, at most LIMIT_BURST, received on one port. Returns their bytes. */
uint64_t classify_burst(struct classifier *c, uint16_t port, struct rte_mbuf **pkts, unsigned int n);

/*
 * The class of a received frame on arrival, from its first bytes. PKT_CLASS_CONTROL: MAC control, ND, ARP, and on the
 * side of the domain IPv6 with DSCP 48 to 63; whether it is accepted as such is decided when it is classified.
 */
uint8_t classify_class(const struct snap_interface *in, const struct rte_mbuf *m);

/*
 * Classify an IP packet that the node created (no Ethernet header): route it in `vrf` as control traffic. m->port must
 * be PORT_LOCAL. Hop limit and TTL are sent unchanged.
 */
void classify_originated(struct classifier *c, struct rte_mbuf *m, uint16_t vrf);

/* Classify a fragment of the received packet `of`: VRF, class and slice are those of `of`. */
void classify_part(struct classifier *c, struct rte_mbuf *m, const struct pkt *of);

/* Classify a packet that the node created for a neighbour on a given interface, without a lookup. */
void classify_to_neighbor(struct classifier *c, struct rte_mbuf *m, uint8_t family, uint16_t interface);

/* The same, to a configured next hop by its neighbour id, whatever the destination of the packet is. */
void classify_to_next_hop(struct classifier *c, struct rte_mbuf *m, uint8_t family, uint32_t neigh);

#endif
