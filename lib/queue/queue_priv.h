/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the egress. Calls go in one direction: egress_dp.c, hold_dp.c (packets that wait for a neighbour),
 * sched_dp.c (packets and turns), gate_dp.c (which classes may send), watch_dp.c (which pauses count). Worker lcores;
 * the owner of the egress.
 */
#ifndef QUEUE_QUEUE_PRIV_H
#define QUEUE_QUEUE_PRIV_H

#include "queue/egress.h"

/* hold_dp.c: hold a packet until its neighbour answers, or end it when there is no room. */
void egress_neigh_wait(struct egress *e, struct egress_context *c, uint32_t id, struct rte_mbuf *m);

/* line_dp.c: the credit of a packet that ends without having been sent. */
void lines_ended(struct egress_context *c, struct rte_mbuf *m);

/* End a packet for a reason. */
static inline void queue_end(struct egress_context *c, struct rte_mbuf *m, enum reason reason)
{
	if (unlikely(pkt_has_credit(pkt_of(m))))
		lines_ended(c, m);
	pkt_end(m, reason, c->stats);
}

/* A queued packet keeps the ids of its snapshot's epoch in use. */
static inline void queue_hold(struct egress_context *c, struct rte_mbuf *m)
{
	stat_add(&c->held[pkt_of(m)->epoch % EGRESS_EPOCHS], 1);
}

static inline struct rte_mbuf *queue_unhold(struct egress_context *c, struct rte_mbuf *m)
{
	stat_sub(&c->held[pkt_of(m)->epoch % EGRESS_EPOCHS], 1);
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

/* Charge the bytes and buffers of a packet to its accounts; queue_release undoes it. */
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
 * Sum over consecutive packets of the same kind, so that they are booked in one step. All zero: empty. The function
 * that adds packets books the tally before any other code reads the accounts.
 */
struct queue_tally {
	uint64_t kind;		       /* struct pkt.kind of all its packets */
	struct account *total, *slice; /* accounts that are charged or released */
	uint64_t *held;		       /* counter of the epoch, in egress_context.held */
	uint16_t port;		       /* ingress port */
	bool lossless;		       /* class is lossless on the ingress port */
	uint32_t packets, buffers;     /* sums */
	uint64_t bytes;		       /* sum */
};

static inline void queue_tally_begin(struct queue_tally *t, struct egress_context *c, const struct pkt *x,
	const struct rte_mbuf *m)
{
	unsigned int port = m->port, slice = x->slice, priority = x->priority, epoch = x->epoch;

	t->kind = x->kind;
	t->port = m->port;
	t->lossless = x->lossless;
	t->total = &c->accounts->total[port][priority];
	t->slice = &c->accounts->slice[port][slice][priority];
	t->held = &c->held[epoch % EGRESS_EPOCHS];
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

/* Is the packet's class lossless on its ingress port? Then it is never dropped for lack of room. */
static inline bool queue_is_lossless(const struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	return x->tclass != PKT_CLASS_CONTROL &&
	       __atomic_load_n(&c->lossless[m->port], __ATOMIC_RELAXED) >> x->priority & 1;
}

/* Is the buffer of the packet's class used up, headroom included? */
static inline bool queue_is_exhausted(const struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	return __atomic_load_n(&c->exhausted[m->port], __ATOMIC_RELAXED) >> x->priority & 1;
}

/* Mark a packet CE (RFC 3168). False: it is not ECN-capable, or marked already. */
static inline bool queue_mark(const struct rte_mbuf *m, struct pkt *x)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, x->strip);
	uint8_t tos;

	if (x->family != 4 && x->family != 6)
		return false;
	tos = x->ops & PKT_OP_TOS ? x->tos : x->family == 4 ? ip[1] : ipv6_tc((const struct ipv6_hdr *)ip);
	if (!(tos & 3) || (tos & 3) == 3)
		return false;
	x->ops |= PKT_OP_TOS;
	x->tos = tos | 3;
	return true;
}

/* Take a change of the link into account. */
void egress_look_at_link(struct egress *e, struct egress_context *c);

/* Append packets to their queues, or drop them with a reason. */
void sched_enqueue(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n);

/* Set the min-rate of a slice in bits per second; 0: none. */
void sched_promise(struct egress *e, uint8_t slice, uint64_t bps);

/*
 * The next slice, in turn, that is behind its min-rate and may send; NULL: none. The number of steps is that of the
 * slices with a min-rate that may send.
 */
struct egress_slice *sched_next_promised(struct egress *e, uint64_t now);

/* Append a packet of a line to its queue. It is always taken: it was accepted when it began to wait. */
void sched_admit(struct egress *e, struct egress_context *c, struct rte_mbuf *m);

/*
 * A rewritten frame becomes a packet again that can be bound to another way: the headers in front of it will be
 * stripped, and the changes to the packet itself are made. Where that cannot be told, the frame is sent as it is.
 */
void sched_unwrite(struct rte_mbuf *m);

/* Put a packet back as the oldest one of its queue, or of those beside it. */
void sched_give_back(struct egress *e, struct egress_context *c, struct rte_mbuf *m);

/* Put a packet that has come home beside its queue, while the egress waits (park.h). It is always taken. */
void sched_come_home(struct egress *e, struct egress_context *c, struct rte_mbuf *m);

/* Remove and return the oldest control packet. The control queue must not be empty. */
struct rte_mbuf *sched_dequeue_control(struct egress *e, struct egress_context *c);

/* Move frames of paused classes from the device's burst back to the front of their queues, in order. */
void sched_take_back(struct egress *e, struct egress_context *c);

/*
 * Drop a limited number of packets from queues in a storm with action drop, and from all queues of an egress whose link
 * has been down for too long. Sets e->wake_ns to c->now when the limit was reached.
 */
void sched_flush(struct egress *e, struct egress_context *c);

#endif
