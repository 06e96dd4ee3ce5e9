/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the egress. One file calls the next, never back: egress_dp.c, sched_dp.c (packets and turns), gate_dp.c (what
 * may send), watch_dp.c (which pauses count). The owner of the egress.
 */
#ifndef QUEUE_QUEUE_PRIV_H
#define QUEUE_QUEUE_PRIV_H

#include "queue/egress.h"

/* A packet that waits keeps the ids of its snapshot's generation in use. */
static inline void queue_hold(struct egress_context *c, struct rte_mbuf *m)
{
	stat_add(&c->held[pkt_of(m)->generation % EGRESS_GENERATIONS], 1);
}

static inline struct rte_mbuf *queue_unhold(struct egress_context *c, struct rte_mbuf *m)
{
	stat_sub(&c->held[pkt_of(m)->generation % EGRESS_GENERATIONS], 1);
	return m;
}

static inline bool queue_traces(const struct egress_context *c)
{
	return c->stats->tap && pkt_tap_tracing(c->stats->tap);
}

static inline void queue_trace(struct egress_context *c, struct rte_mbuf *m, enum trace_kind kind, uint16_t port,
	uint32_t value)
{
	if (unlikely(queue_traces(c)))
		pkt_tap_trace(c->stats->tap, m, kind, port, value);
}

/* What a packet holds of the pool, while it does. */
static inline void queue_charge(struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	account_charge(&c->accounts->total[m->port][x->priority], m->pkt_len, m->nb_segs);
	account_charge(&c->accounts->slice[m->port][x->slice][x->priority], m->pkt_len, m->nb_segs);
}

static inline void queue_release(struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	account_release(&c->accounts->total[m->port][x->priority], m->pkt_len, m->nb_segs);
	account_release(&c->accounts->slice[m->port][x->slice][x->priority], m->pkt_len, m->nb_segs);
}

/*
 * The same for packets one after the other, as long as they are alike: they are booked at once. All zero is empty.
 * Whoever adds to a tally books what is in it before anybody else looks.
 */
struct queue_tally {
	uint64_t kind; /* struct pkt.kind */
	struct account *total, *slice;
	uint64_t *held;
	uint16_t port;
	bool lossless;
	uint32_t packets, buffers;
	uint64_t bytes;
};

static inline void queue_tally_begin(struct queue_tally *t, struct egress_context *c, const struct pkt *x,
	const struct rte_mbuf *m)
{
	unsigned int port = m->port, slice = x->slice, priority = x->priority, generation = x->generation;

	t->kind = x->kind;
	t->port = m->port;
	t->lossless = x->lossless;
	t->total = &c->accounts->total[port][priority];
	t->slice = &c->accounts->slice[port][slice][priority];
	t->held = &c->held[generation % EGRESS_GENERATIONS];
	t->packets = 0;
	t->buffers = 0;
	t->bytes = 0;
}

static inline bool queue_tally_fits(const struct queue_tally *t, const struct pkt *x, const struct rte_mbuf *m)
{
	return t->kind == x->kind && t->port == m->port;
}

static inline void queue_tally_add(struct queue_tally *t, const struct rte_mbuf *m)
{
	t->packets++;
	t->buffers += m->nb_segs;
	t->bytes += m->pkt_len;
}

static inline void queue_book_charges(const struct queue_tally *t)
{
	account_charge(t->total, t->bytes, t->buffers);
	account_charge(t->slice, t->bytes, t->buffers);
	stat_add(t->held, t->packets);
}

static inline void queue_book_releases(const struct queue_tally *t)
{
	account_release(t->total, t->bytes, t->buffers);
	account_release(t->slice, t->bytes, t->buffers);
	stat_sub(t->held, t->packets);
}

/* Does the packet belong to a class that is never dropped for want of room? */
static inline bool queue_is_lossless(const struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	return x->tclass != PKT_CLASS_CONTROL &&
	       __atomic_load_n(&c->lossless[m->port], __ATOMIC_RELAXED) >> x->priority & 1;
}

/* Is the buffer of its class used up, headroom and all? */
static inline bool queue_is_exhausted(const struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	return __atomic_load_n(&c->exhausted[m->port], __ATOMIC_RELAXED) >> x->priority & 1;
}

/* Let packets wait in their queues, or drop them. */
void sched_enqueue(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n);

/* Put a rewritten frame back to the front of its queue. */
void sched_give_back(struct egress *e, struct egress_context *c, struct rte_mbuf *m);

/* The oldest control packet; there must be one. */
struct rte_mbuf *sched_dequeue_control(struct egress *e, struct egress_context *c);

/* Frames that the device has not taken though their gate has closed become the oldest packets of their queues again. */
void sched_take_back(struct egress *e, struct egress_context *c);

/* Drop packets of queues in a storm that drops, so many in one pass; e->wake_ns is c->now when some are left. */
void sched_flush(struct egress *e, struct egress_context *c);

#endif
