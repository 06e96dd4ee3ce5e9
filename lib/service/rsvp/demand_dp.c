/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows the control role the data of sessions on demand: RoCEv2 packets that a policy takes, of the class of a session along
 * it (docs/credit.md 2.3). Each session is shown once, and then every second. Rx lcores; ports are examined only while there
 * are such sessions.
 */
#include "node/service.h"
#include "service/rsvp/service_credit.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

/* The addresses of a RoCEv2 packet. False: it is none, or its headers are not in the first segment. */
static bool rsvp_is_roce(const struct rte_mbuf *m, const struct pkt *x, struct ip_addr *src, struct ip_addr *dst)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *) + x->strip;
	const struct ipv6_hdr *six = (const struct ipv6_hdr *)at;
	const struct ipv4_hdr *four = (const struct ipv4_hdr *)at;
	uint32_t header = x->family == 6 ? sizeof(*six) : sizeof(*four);

	if ((x->family != 4 && x->family != 6) || x->strip + header + sizeof(struct udp_hdr) > m->data_len)
		return false;
	if (x->family == 6) {
		if (six->next_header != IP_PROTO_UDP)
			return false;
		*src = ip_addr_from6(&six->src);
		*dst = ip_addr_from6(&six->dst);
	} else {
		if (four->protocol != IP_PROTO_UDP || ipv4_header_bytes(four) != header ||
			be16_get(four->fragment) & IPV4_OFFSET_MASK)
			return false;
		*src = ip_addr_from4(be32_get(four->src));
		*dst = ip_addr_from4(be32_get(four->dst));
	}
	return be16_get(((const struct udp_hdr *)(at + header))->dst_port) == UDP_PORT_ROCEV2;
}

static bool rsvp_matches(const struct ip_prefix *p, const struct ip_addr *a)
{
	return !p->addr.family || (p->addr.family == a->family && ip_prefix_contains(p, a));
}

static void rsvp_show(struct rx_role *rx, uint32_t demand)
{
	struct rsvp_rx *r = node_rsvp(rx->node)->rx[rx->index];
	struct rsvp_sighting x = {.generation = rx->classifier.s->generation, .demand = demand};
	uint64_t now = rx->classifier.now;

	if (likely(r->shown[demand].generation == x.generation && now - r->shown[demand].at < RSVP_SHOWN_NS))
		return;
	if (!mailbox_push(&r->sightings, &x, sizeof(x))) {
		stat_add(&r->left_out, 1);
		return;
	}
	r->shown[demand].generation = x.generation;
	r->shown[demand].at = now;
}

/* Every session that waits for such a packet. */
static void rsvp_look_at(struct rx_role *rx, const struct rte_mbuf *m, const struct pkt *x)
{
	const struct snap_credit *s = &rx->classifier.s->credit;
	uint32_t i = s->demand_of[x->path];
	struct ip_addr src, dst;

	if (!i || !rsvp_is_roce(m, x, &src, &dst))
		return;
	for (; i; i = s->demand[i - 1].next)
		if (s->demand[i - 1].traffic_class == x->tclass && rsvp_matches(&s->demand[i - 1].sources, &src) &&
			rsvp_matches(&s->demand[i - 1].destinations, &dst))
			rsvp_show(rx, i - 1);
}

static unsigned int rsvp_examine(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port)
{
	for (unsigned int i = 0; rx->classifier.s->credit.demand_of && i < n; i++) {
		const struct pkt *x = pkt_of(pkts[i]);

		if (x->verdict == PKT_FORWARD && x->ops & PKT_OP_ENCAP)
			rsvp_look_at(rx, pkts[i], x);
	}
	return credit_examine(rx, pkts, n, port);
}

const struct rx_hooks rsvp_rx_hooks = {.examine = rsvp_examine, .granted = credit_granted};
