/* SPDX-License-Identifier: BSD-3-Clause */
/* Closes the gates of an egress whose link is down, and of one that has come up (link.h). Worker lcores; its owner. */
#include "queue/link.h"

static void link_schedule(struct egress *e)
{
	struct egress_link *l = &e->link;

	l->next_ns = MIN_OF(MIN_OF(l->give_up_ns, l->go_on_ns), l->unheard ? l->unheard_ns : TIME_NEVER);
}

/* Lossless classes for which the neighbour's word counts. Where the device obeys PFC itself, it sees the frames. */
static uint8_t link_obeyed(const struct egress *e, const struct snap_interface *p)
{
	if (e->port->abilities.pfc != PORT_PFC_SOFTWARE || (p->pfc_relayed && !p->pfc_obeyed) || !p->speed_bps)
		return 0;
	return p->lossless;
}

static void link_apply(struct egress *e, const struct egress_context *c)
{
	const struct egress_link *l = &e->link;

	gate_link(e, c, l->ready == EGRESS_LINK_NOT_READY ? UINT8_MAX : l->unheard);
}

void link_begin_outage(struct egress *e, const struct egress_context *c)
{
	e->link.give_up_ns = c->now + c->s->port[e->index].outage_ns;
	e->link.given_up = false;
	link_schedule(e);
	link_apply(e, c);
}

static void link_down(struct egress *e, const struct egress_context *c)
{
	struct egress_link *l = &e->link;

	l->ready = EGRESS_LINK_NOT_READY;
	l->unheard = 0;
	l->go_on_ns = TIME_NEVER;
	pfc_holds_stand_still(&e->holds, c->now);
	link_begin_outage(e, c);
}

static void link_up(struct egress *e, const struct egress_context *c)
{
	const struct snap_interface *p = &c->s->port[e->index];
	struct egress_link *l = &e->link;

	l->ready = l->seen;
	l->give_up_ns = TIME_NEVER;
	l->given_up = false;
	l->go_on_ns = c->now + p->loop_ns;
	l->unheard = link_obeyed(e, p);
	l->unheard_ns = l->go_on_ns + (p->speed_bps ? pfc_quanta_ns(PFC_QUANTA_MAX, p->speed_bps) : 0);
	pfc_holds_stand_still(&e->holds, c->now); /* the link may have failed and returned between two passes */
	link_schedule(e);
	link_apply(e, c);
}

bool link_look(struct egress *e, const struct egress_context *c)
{
	uint32_t now = port_link(e->port);

	if (e->link.seen == now)
		return false;
	e->link.seen = now;
	if (now & 1)
		link_up(e, c);
	else
		link_down(e, c);
	return true;
}

void link_heard(struct egress *e, const struct egress_context *c, uint8_t classes)
{
	struct egress_link *l = &e->link;

	if (likely(!(l->unheard & classes)))
		return;
	l->unheard &= (uint8_t)~classes;
	link_schedule(e);
	link_apply(e, c);
}

void link_wake(struct egress *e, const struct egress_context *c)
{
	struct egress_link *l = &e->link;

	if (likely(c->now < l->next_ns))
		return;
	if (c->now >= l->give_up_ns) {
		l->give_up_ns = TIME_NEVER;
		l->given_up = true;
	}
	if (c->now >= l->go_on_ns) {
		l->go_on_ns = TIME_NEVER;
		pfc_holds_go_on(&e->holds, c->now);
	}
	if (l->unheard && c->now >= l->unheard_ns)
		l->unheard = 0;
	link_schedule(e);
	link_apply(e, c);
}

void link_configure(struct egress *e, const struct egress_context *c)
{
	struct egress_link *l = &e->link;

	if (l->seen == EGRESS_LINK_NOT_READY)
		return; /* the first snapshot */
	l->unheard &= link_obeyed(e, &c->s->port[e->index]);
	link_schedule(e);
	link_apply(e, c);
}

void link_forget(struct egress *e, const struct egress_context *c)
{
	e->link = (struct egress_link){.seen = port_link(e->port),
		.ready = port_link(e->port),
		.give_up_ns = TIME_NEVER,
		.go_on_ns = TIME_NEVER,
		.next_ns = TIME_NEVER};
	pfc_holds_go_on(&e->holds, c->now);
	e->rebind.waits = false;
	gate_link(e, c, 0);
}
