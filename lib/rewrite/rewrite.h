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
#include "wire/ipv6.h"

/*
 * Turn a received frame into the frame to send. `mac` has the destination and source; this function sets the type.
 * Returns 0, or the reason for which the caller must drop the packet. The caller owns the packet in both cases; a
 * packet that must be dropped may be partly changed.
 */
int rewrite_packet(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac, struct lcore_stats *stats);

/* Does the frame keep its length: IPv6 as received, untagged, with a new destination? */
static inline bool rewrite_is_in_place(struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);

	return x->ops == PKT_OP_DA && x->family == 6 && x->strip == sizeof(struct eth_hdr) &&
	       m->pkt_len == (uint32_t)sizeof(struct eth_hdr) + x->l3_bytes;
}

/* rewrite_packet of such a frame. */
static inline void rewrite_in_place(struct rte_mbuf *m, const struct eth_hdr *mac)
{
	const struct pkt *x = pkt_of(m);
	struct ipv6_hdr *ip;
	uint8_t *frame;

	pkt_unpoison(m);
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	ip = (struct ipv6_hdr *)(frame + sizeof(*mac));
	ip->hop_limit = (uint8_t)(ip->hop_limit - x->hops);
	ip->dst = x->da;
	*(struct eth_hdr *)frame = *mac;
	((struct eth_hdr *)frame)->type = be16(ETH_TYPE_IPV6);
}

/* Like rewrite_packet, with the VLAN tags of the interface `in`; their PCP is the class of the packet. */
int rewrite_packet_tagged(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac,
	const struct snap_interface *in, struct lcore_stats *stats);

/*
 * Map the DSCP of the outermost IP header of a rewritten frame that leaves by the interface `in`, which has dscp_out.
 * Control traffic keeps its DSCP.
 */
void rewrite_map_dscp(struct rte_mbuf *m, const struct snap_interface *in, struct lcore_stats *stats);

/* Rewrite a PKT_FRAME that is not encapsulated: remove the bytes before and after the frame. */
void rewrite_frame(struct rte_mbuf *m);

/* Neighbour address of a PKT_NEIGH_LINK packet: the destination address after rewriting. */
struct ip_addr rewrite_destination(struct rte_mbuf *m, const struct snapshot *s);

#endif
