/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one place where a frame is changed: at the egress, after its turn has come, as struct pkt says. What
 * is written is the newest there is (late binding): path headers and neighbour come from the snapshot of now.
 *
 * Worker lcores, and only by the owner of the packet.
 */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include "pkt/pkt.h"
#include "snapshot/snapshot.h"
#include "wire/eth.h"

/*
 * Turn the received frame into the frame that leaves. `mac` is the header of the neighbour: destination and
 * source filled in, the type is set here. 0, or the reason why the packet must be dropped (it is unchanged or
 * half changed then, and still owned by the caller).
 */
int rewrite_packet(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac, struct lcore_stats *stats);

/* The same with the VLAN tags of the interface `in`, whose priority is the packet's class. */
int rewrite_packet_tagged(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac,
	const struct snap_port *in, struct lcore_stats *stats);

/* A PKT_FRAME without encapsulation: what is in front of and behind it goes, nothing else changes. */
void rewrite_frame(struct rte_mbuf *m);

/* The address that the neighbour of a PKT_NBR_LINK packet has: the destination it will leave with. */
struct ip_addr rewrite_destination(struct rte_mbuf *m, const struct snapshot *s);

#endif
