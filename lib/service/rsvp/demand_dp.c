/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows the control role the data of sessions on demand: RoCEv2 packets that a policy takes, of the class of a session along
 * it (docs/credit.md 2.3). Each session is shown once, and then every second. Rx lcores; ports are examined only while there
 * are such sessions.
 */
#include "node/service.h"
#include "service/rsvp/credit_native.h"
#include "service/rsvp/service_credit.h"

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
	struct native_flow f;

	if (!i || !native_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, x->strip, &f))
		return;
	for (; i; i = s->demand[i - 1].next)
		if (s->demand[i - 1].traffic_class == x->tclass && rsvp_matches(&s->demand[i - 1].sources, &f.src) &&
			rsvp_matches(&s->demand[i - 1].destinations, &f.dst))
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
