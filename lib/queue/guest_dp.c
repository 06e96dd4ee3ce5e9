/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes over packets that other egresses hand on, and those that come home (rebind.h). Worker lcores; the owner of the
 * egress.
 */
#include "queue/rebind.h"

/* Is a packet that was just submitted the last one of a burst? */
static bool is_in_burst(const struct egress *e, const struct rte_mbuf *m)
{
	return (e->tx.n && e->tx.pkts[e->tx.n - 1] == m) ||
	       (e->control_tx.n && e->control_tx.pkts[e->control_tx.n - 1] == m);
}

/* A packet comes home, and goes before all that has arrived since. */
static void comes_home(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);

	c->touched |= 1u << e->index;
	x->ops &= (uint8_t)~PKT_OP_GUEST;
	if (x->tclass == PKT_CLASS_CONTROL) {
		rebind_leaves(c, e->index, 0);
		egress_submit(e, c, &m, 1);
		return;
	}
	if (!e->rebind.waits)
		rebind_look(e, c); /* waits: the packet counts as elsewhere until now */
	sched_come_home(e, c, m);
	rebind_leaves(c, e->index, 0);
}

void egress_take(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	uint16_t home = m->vlan_tci;
	uint64_t given = c->given;
	uint32_t before;

	if (port_link(e->port) != e->link.seen)
		egress_look_at_link(e, c);
	before = e->backlog;
	if (home == e->index) {
		comes_home(e, c, m);
		return;
	}
	egress_submit(e, c, &m, 1);
	if (e->backlog > before || is_in_burst(e, m)) {
		e->rebind.guests++;
		e->gates |= EGRESS_GATE_REBIND;
	} else if (c->given == given) {
		rebind_leaves(c, home, 0); /* dropped, or held for its neighbour */
	}
}
