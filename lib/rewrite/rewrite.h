/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rewriting of frames at the egress, after the scheduler has chosen them. No other code changes a frame. struct pkt
 * describes the changes. Path headers and neighbour come from the current snapshot, not from the one that classified
 * the packet (late binding).
 *
 * Worker lcores; only the owner of the packet may call.
 */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include "pkt/pkt.h"
#include "snapshot/snapshot.h"
#include "wire/eth.h"

/*
 * Turn a received frame into the frame to send. `mac` has the destination and source; this function sets the type.
 * Returns 0, or the reason for which the caller must drop the packet. The caller owns the packet in both cases; a
 * packet that must be dropped may be partly changed.
 */
int rewrite_packet(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac, struct lcore_stats *stats);

/* Like rewrite_packet, with the VLAN tags of the interface `in`; their PCP is the class of the packet. */
int rewrite_packet_tagged(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac,
	const struct snap_interface *in, struct lcore_stats *stats);

/* Rewrite a PKT_FRAME that is not encapsulated: remove the bytes before and after the frame. */
void rewrite_frame(struct rte_mbuf *m);

/* Neighbour address of a PKT_NEIGH_LINK packet: the destination address after rewriting. */
struct ip_addr rewrite_destination(struct rte_mbuf *m, const struct snapshot *s);

#endif
