/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the scheduler (sched_dp.c) and the egress (egress_dp.c). The owner of the egress. */
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

static inline void queue_trace(struct egress_context *c, struct rte_mbuf *m, enum trace_kind kind, uint16_t port,
	uint32_t value)
{
	if (unlikely(c->stats->tap && pkt_tap_tracing(c->stats->tap)))
		pkt_tap_trace(c->stats->tap, m, kind, port, value);
}

/* What a packet holds of the pool, while it does. */
static inline void queue_charge(struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	account_charge(&c->accounts->total[m->port][x->priority], m->pkt_len, m->nb_segs);
	account_charge(&c->accounts->slice[x->slice][m->port][x->priority], m->pkt_len, m->nb_segs);
}

static inline void queue_release(struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	account_release(&c->accounts->total[m->port][x->priority], m->pkt_len, m->nb_segs);
	account_release(&c->accounts->slice[x->slice][m->port][x->priority], m->pkt_len, m->nb_segs);
}

/*
 * The same for packets one after the other, as long as they are alike: they are booked at once, held or unheld and
 * charged or released. All zero is empty. Whoever adds to a tally books what is in it before anybody else looks.
 */
struct queue_tally {
	uint64_t kind; /* port(16) generation(16) slice(8) priority(8) */
	uint32_t packets, buffers, bytes;
};

static inline uint64_t queue_kind(const struct pkt *x, const struct rte_mbuf *m)
{
	return m->port | (uint64_t)x->generation << 16 | (uint64_t)x->slice << 32 | (uint64_t)x->priority << 40;
}

static inline void queue_book_charges(struct egress_context *c, struct queue_tally *t)
{
	unsigned int port = t->kind & 0xffff, priority = t->kind >> 40 & 7;

	account_charge(&c->accounts->total[port][priority], t->bytes, t->buffers);
	account_charge(&c->accounts->slice[t->kind >> 32 & 0xff][port][priority], t->bytes, t->buffers);
	stat_add(&c->held[(t->kind >> 16) % EGRESS_GENERATIONS], t->packets);
}

static inline void queue_book_releases(struct egress_context *c, struct queue_tally *t)
{
	unsigned int port = t->kind & 0xffff, priority = t->kind >> 40 & 7;

	account_release(&c->accounts->total[port][priority], t->bytes, t->buffers);
	account_release(&c->accounts->slice[t->kind >> 32 & 0xff][port][priority], t->bytes, t->buffers);
	stat_sub(&c->held[(t->kind >> 16) % EGRESS_GENERATIONS], t->packets);
}

/* One more; what the tally has of another kind is given to `book`. */
static inline void queue_add(struct egress_context *c, struct queue_tally *t, const struct pkt *x, const struct rte_mbuf *m,
	void (*book)(struct egress_context *c, struct queue_tally *t))
{
	uint64_t kind = queue_kind(x, m);

	if (unlikely(t->kind != kind)) {
		if (t->packets)
			book(c, t);
		*t = (struct queue_tally){.kind = kind};
	}
	t->packets++;
	t->buffers += m->nb_segs;
	t->bytes += m->pkt_len;
}

/* Does the packet belong to a class that is never dropped for want of room? */
static inline bool queue_is_lossless(const struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	return x->tclass != PKT_CLASS_CONTROL && __atomic_load_n(&c->lossless[m->port], __ATOMIC_RELAXED) >> x->priority & 1;
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

/*
 * The turn of a queue: sched_begin, when some slice may send (e->n_listed); then for one packet after the other
 * sched_dequeue, and sched_account with the bytes that were sent of it (0: it waits elsewhere or was dropped), as long
 * as sched_goes_on; then sched_end. The packets come in the order that a new turn for each would have given.
 */
struct sched_turn {
	struct egress_slice *s;
	struct egress_queue *q;
	uint8_t class;
	uint32_t packets, lossy;
	uint64_t bytes, sent;
	struct queue_tally released;
};

void sched_begin(struct egress *e, struct sched_turn *t);
void sched_end(struct egress *e, struct egress_context *c, struct sched_turn *t);

static inline struct rte_mbuf *sched_dequeue(struct egress_context *c, struct sched_turn *t)
{
	struct rte_mbuf *m = fifo_pop(&t->q->packets);
	const struct pkt *x = pkt_of(m);

	queue_add(c, &t->released, x, m, queue_book_releases);
	t->lossy += x->lossless ? 0 : m->nb_segs;
	t->bytes += m->pkt_len;
	t->packets++;
	if (!t->q->packets.n)
		t->q->deficit = MIN_OF(t->q->deficit, 0);
	return m;
}

static inline void sched_account(struct sched_turn *t, uint32_t bytes)
{
	int32_t line = bytes ? (int32_t)(bytes + EGRESS_LINE_BYTES) : 0;

	t->s->deficit -= line;
	t->q->deficit -= line;
	t->sent += bytes;
}

static inline bool sched_goes_on(const struct sched_turn *t)
{
	return t->q->packets.n && t->s->deficit > 0 && t->q->deficit > 0 && !t->s->max_rate_bps;
}

/* The oldest control packet; there must be one. */
struct rte_mbuf *sched_dequeue_control(struct egress *e, struct egress_context *c);

/* --- watch_dp.c --- */

static inline bool watch_is_on(const struct egress *e, const struct egress_context *c)
{
	return c->s->port[e->index].watchdog.detect_ns;
}

/* A request of a party, before its hold is set. */
void watch_heard(struct egress *e, struct egress_context *c, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause);

/* The holds of a queue close its gate until then. */
void watch_gate(struct egress *e, const struct egress_context *c, uint32_t slice, unsigned int class, uint64_t until);

/* Alarms, storms and restorations that are due; called when now >= e->watch_ns, before a gate opens for its time is over. */
void watch_poll(struct egress *e, struct egress_context *c);

/* A new configuration: a watchdog may be on that was off, or the reverse. */
void watch_configure(struct egress *e, const struct egress_context *c, uint32_t n_slices_before);

/* --- sched_dp.c --- */

/* A queue's gate, as holds and watchdog say now. */
void sched_set_gate(struct egress *e, struct egress_context *c, uint32_t slice, unsigned int class);

/* Gates whose time has come open; called when now >= e->wake_ns. */
void sched_wake(struct egress *e, struct egress_context *c);

/* Is the queue of this packet closed? */
static inline bool sched_is_closed(const struct egress *e, const struct pkt *x)
{
	return x->tclass != PKT_CLASS_CONTROL && e->slice[x->slice].closed >> x->tclass & 1;
}

#endif
