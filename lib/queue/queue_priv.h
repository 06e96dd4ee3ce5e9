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

/* Let a packet wait in its queue, or drop it. */
void sched_enqueue(struct egress *e, struct egress_context *c, struct rte_mbuf *m);

/* Put a rewritten frame back to the front of its queue. */
void sched_give_back(struct egress *e, struct egress_context *c, struct rte_mbuf *m);

/*
 * The data packet whose turn it is; there must be one: e->n_listed. Its slice is *s and its queue *q. When it has
 * been handed on, sched_account says how many bytes it sent; 0: it waits elsewhere or was dropped.
 */
struct rte_mbuf *sched_dequeue(struct egress *e, struct egress_context *c, struct egress_slice **s,
	struct egress_queue **q);
void sched_account(struct egress *e, struct egress_context *c, struct egress_slice *s, struct egress_queue *q,
	uint32_t bytes);

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
