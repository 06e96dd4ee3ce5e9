/* SPDX-License-Identifier: BSD-3-Clause */
/* How messages and data of a session that goes through this node leave it (docs/credit.md 2.3). Control lcore. */
#include "service/rsvp/rsvp_packet.h"

/* Own address on the link by which a packet leaves: of the next hop's subnet, or any but the link-local one. */
static struct ip_addr address_on_link(const struct snapshot *s, const struct pkt *x, const struct ip_addr *to)
{
	bool on_link = x->neigh >= PKT_NEIGH_LINK;
	const struct snap_interface *in = snap_interface(s,
		on_link ? x->neigh - PKT_NEIGH_LINK : s->neigh[x->neigh].interface);
	const struct ip_addr *next = on_link ? to : &s->neigh[x->neigh].addr;
	struct ip_addr found = ip_addr_from6(&s->loopback);

	for (unsigned int i = in->n_own; i-- > 1;) {
		if (ip_prefix_contains(&in->own[i], next))
			return in->own[i].addr;
		if (in->own[i].addr.family == 6)
			found = in->own[i].addr;
	}
	return found;
}

/*
 * How does a packet leave that comes as this one did? False: in no way, or to a tenant's station who is not permitted. Fills
 * the port and what follows from it.
 */
bool rsvp_egress_of(struct control_role *c, struct rsvp_carrier *x, const struct rsvp_sender *sender,
	const struct ip_addr *to, struct rsvp_way *way)
{
	uint8_t packet[SNAP_ENCAP_BYTES_MAX + INNER_BYTES];
	uint32_t bytes = x->bytes + put_packet(packet + x->bytes, &sender->src, to, UINT8_MAX, true, "", 0);
	const struct pkt *pkt;
	struct rte_mbuf *mbuf;
	bool good;

	if (x->bytes)
		put_outer(packet, x, sender->port, bytes - x->bytes);
	mbuf = control_packet(c, packet, bytes);
	if (!mbuf)
		return false;
	classify_originated(&c->classifier, mbuf, VRF_UNDERLAY);
	pkt = pkt_of(mbuf);
	good = pkt->verdict == PKT_FORWARD && (x->bytes || c->s->port[pkt->egress].side == SIDE_WAN);
	if (good) {
		x->next = pkt->neigh;
		way->port = pkt->egress;
		way->rate_bps = c->s->port[way->port].speed_bps ? c->s->port[way->port].speed_bps : UINT64_MAX;
		if (!x->bytes)
			way->here = address_on_link(c->s, pkt, to);
	}
	pkt_end(mbuf, CONSUME_rsvp, &c->lcore->stats);
	return good;
}
