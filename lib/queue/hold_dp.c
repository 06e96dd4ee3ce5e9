/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that wait for their neighbour: held, sent once it answers, given another way or ended if it does not. Worker
 * lcores; the owner of the egress.
 */
#include "queue/turn.h"

#include "queue/rebind.h"
#include "wire/icmp.h"

/*
 * Make room for a packet of a lossy class. Learnt neighbours that have not answered yet give way, those first that have
 * been asked for the longest (RFC 6583 section 6.2): a scan of a subnet has only them, and an answer takes a moment.
 */
static bool egress_neigh_make_room(struct egress_context *c, uint32_t id)
{
	struct neigh_table *t = c->neighs;
	uint32_t oldest;

	if (t->neigh[id].waiting.n >= t->hold)
		return false;
	if (neigh_table_may_hold(t, id))
		return true;
	oldest = neigh_table_oldest(t, id);
	if (oldest == NEIGH_NONE || oldest == id || pkt_of(t->neigh[oldest].waiting.head)->lossless)
		return false;
	queue_end(c, egress_neigh_pop(c, &t->neigh[oldest]), DROP_neighbor_hold);
	return neigh_table_may_hold(t, id);
}

/* Ask the control lcore about a neighbour, at its first packet. False: it is overloaded, and nobody will answer. */
static bool egress_neigh_ask(struct egress_context *c, struct neigh_entry *n)
{
	struct neigh_message question = {.addr = n->addr, .interface = n->interface, .what = NEIGH_ASK};

	if (n->state != NEIGH_ENTRY_UNKNOWN)
		return true;
	if (!c->ask(c->ask_arg, &question))
		return n->waiting.n > 0;
	neigh_entry_set_state(n, NEIGH_ASKED);
	return true;
}

void egress_neigh_wait(struct egress *e, struct egress_context *c, uint32_t id, struct rte_mbuf *m)
{
	struct neigh_entry *n = &c->neighs->neigh[id];
	bool asked = egress_neigh_ask(c, n);
	struct pkt *x = pkt_of(m);

	x->lossless = queue_is_lossless(c, x, m);
	if (!x->lossless && (!asked || !egress_neigh_make_room(c, id))) {
		queue_end(c, m, DROP_neighbor_hold);
		if (!asked && id >= SNAP_NEIGH_MAX)
			neigh_table_release(c->neighs, id);
		return;
	}
	if (unlikely(x->lossless)) {
		/* lossless packets are limited by the buffer of their class, as in any queue */
		if (queue_is_exhausted(c, x, m)) {
			queue_end(c, m, DROP_headroom_exceeded);
			return;
		}
		queue_charge(c, x, m);
	}
	x->ops &= (uint8_t)~PKT_OP_GUEST; /* its home need not wait for it */
	queue_trace(c, m, TRACE_WAITS, e->index, n->waiting.n);
	queue_hold(c, m);
	neigh_table_hold(c->neighs, id, m);
}

struct rte_mbuf *egress_neigh_pop(struct egress_context *c, struct neigh_entry *n)
{
	struct rte_mbuf *m = queue_unhold(c, neigh_table_unhold(c->neighs, (uint32_t)(n - c->neighs->neigh)));

	if (unlikely(pkt_of(m)->lossless))
		queue_release(c, pkt_of(m), m);
	return m;
}

/* Buffers held by the port's queues, including packets that are about to return to them. */
struct returned {
	uint32_t lossy, control; /* buffers of lossy classes; buffers of control traffic */
};

/*
 * Is there room in the port's queues for a packet that returns from a neighbour? While it was held, its buffer counted
 * against the limit of held packets, which the next held packet may use now. A lossless packet always returns: it stayed
 * charged to its class.
 */
static bool egress_may_return(const struct egress *e, struct egress_context *c, struct rte_mbuf *m,
	struct returned *sum)
{
	const struct pkt *x = pkt_of(m);
	bool control = x->tclass == PKT_CLASS_CONTROL;
	uint32_t *held = control ? &sum->control : &sum->lossy;
	uint32_t limit = control ? c->s->port[e->index].control_limit : e->buffer_limit;

	if (x->lossless)
		return true;
	if (*held + m->nb_segs > limit) {
		queue_end(c, m, control ? DROP_control_full : DROP_queue_full);
		return false;
	}
	*held += m->nb_segs;
	return true;
}

/*
 * Packets held for a neighbour become the oldest packets of their queues: all queued packets for that neighbour
 * arrived later.
 */
void egress_neigh_resolved(struct egress *e, struct egress_context *c, uint32_t id)
{
	struct neigh_entry *n = &c->neighs->neigh[id];
	struct returned sum = {.lossy = e->lossy, .control = e->control_buffers};
	struct fifo newest_first = {0};

	c->touched |= 1u << e->index;
	neigh_entry_set_state(n, NEIGH_ENTRY_RESOLVED);
	while (n->waiting.n) {
		struct rte_mbuf *m = egress_neigh_pop(c, n);

		if (egress_may_return(e, c, m, &sum))
			fifo_push_front(&newest_first, m);
	}
	while (newest_first.n)
		sched_give_back(e, c, fifo_pop(&newest_first));
}

/* Send an ICMP error to the sender (RFC 4861 section 7.2.2), unless the sender is the node itself. */
static void egress_unreachable(struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);

	if (m->port == PORT_LOCAL || x->family == PKT_FRAME) {
		queue_end(c, m, DROP_neighbor_failed);
		return;
	}
	if (unlikely(pkt_has_credit(x)))
		lines_ended(c, m);
	x->priority = 0;
	x->verdict = PKT_PUNT;
	x->punt = PUNT_ERROR;
	x->reason = DROP_neighbor_failed;
	x->icmp_type = ICMP6_UNREACHABLE;
	x->icmp_code = ICMP6_UNREACH_ADDRESS;
	x->icmp_arg = 0;
	if (!c->punt(c->ask_arg, m)) {
		stat_add(&c->stats->icmp_suppressed, 1);
		queue_end(c, m, DROP_neighbor_failed);
	}
}

/* The neighbour does not answer: packets that wait for it take another way, if one is alive. */
static void egress_fail_waiting(struct egress *e, struct egress_context *c, struct neigh_entry *n)
{
	if (rebind_has_changed(e, c))
		rebind_look(e, c);
	for (uint32_t left = n->waiting.n; left; left--) {
		struct rte_mbuf *m = egress_neigh_pop(c, n);
		enum rebind_result result = rebind_packet(e, c, m, false);

		if (result == REBIND_FULL)
			sched_enqueue(e, c, &m, 1);
		else if (result != REBIND_MOVED)
			egress_unreachable(c, m);
	}
}

void egress_neigh_update(struct egress *e, struct egress_context *c, const struct neigh_message *message)
{
	uint32_t id = neigh_table_find(c->neighs, message->interface, &message->addr);
	struct neigh_entry *n;

	if (id == UINT32_MAX || c->neighs->neigh[id].is_static)
		return;
	n = &c->neighs->neigh[id];
	switch ((enum neigh_update)message->what) {
	case NEIGH_SET:
		n->mac.dst = message->mac;
		n->confirm = false;
		egress_neigh_resolved(e, c, id);
		break;
	case NEIGH_AGED:
		if (n->state == NEIGH_ENTRY_RESOLVED)
			neigh_entry_set_state(n, NEIGH_ENTRY_STALE);
		break;
	case NEIGH_FAIL:
		neigh_entry_set_state(n, NEIGH_ENTRY_UNKNOWN);
		egress_fail_waiting(e, c, n);
		break;
	case NEIGH_REFUSE:
		while (n->waiting.n)
			queue_end(c, egress_neigh_pop(c, n), DROP_neighbor_hold);
		/* fall through */
	case NEIGH_FORGET:
		egress_fail_waiting(e, c, n);
		neigh_entry_set_state(n, NEIGH_ENTRY_UNKNOWN);
		if (id >= SNAP_NEIGH_MAX)
			neigh_table_release(c->neighs, id);
		break;
	}
}
