/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the queue of an egress that sends next, and accounts for the packets of its turn. Worker lcores; the owner
 * of the egress.
 *
 * Slices that are behind their min-rates are served first, in turn. Then:
 * deficit round robin (Shreedhar and Varghese) over the slices that may send, one bit of egress.may each, then over
 * their classes. Shares are shares of the line: preamble, FCS and gap of each frame count.
 *
 * A turn begins with sched_begin, when a slice may send (egress_may_send). sched_dequeue returns the first packet, and
 * another one as long as sched_goes_on is true. After each packet, sched_account takes the number of bytes sent; 0 if
 * the packet was held for a neighbour or dropped. sched_end ends the turn. The order of packets is the same as with
 * one packet per turn.
 *
 * There are two levels, slice and class, and a class has one FIFO. A third level, sessions with a FIFO and a gate
 * each, would go between a class and its FIFO: struct egress_queue gets a ring of the sessions that may send, beside
 * its own FIFO; sched_begin_at selects the FIFO of the turn; sched_end clears the class in `busy` when neither its
 * FIFO nor a session may send; sched_dp.c appends to the FIFO of the packet's session. All other code deals with
 * classes: order of slices and classes, gates by pause and rate, limits, counters. A class without sessions would cost
 * one more test.
 */
#ifndef QUEUE_TURN_H
#define QUEUE_TURN_H

#include "queue/gate.h"

struct sched_turn {
	struct egress_slice *s; /* slice of the turn */
	struct egress_queue *q; /* its queue */
	struct fifo *fifo;	/* FIFO of q from which packets are taken */
	/* Bytes of the line that slice and class may send in this turn, and the part not used yet. */
	int32_t may, left;
	uint8_t slice, class;	 /* ids of s and q */
	bool promised;		 /* the slice is behind its min-rate: the turn costs nothing of its share by weight */
	uint32_t packets, lossy; /* booked so far: packets, and buffers of lossy classes */
	uint64_t bytes, sent;	 /* bytes booked as received; bytes sent */
	uint64_t slack_ns;	 /* ns that the slice may send before it exceeds its max-rate */
	struct queue_tally released; /* packets dequeued but not booked yet */
};

/* Classes that may send: queued packets and an open gate. A bit each. */
static inline uint8_t sched_ready(const struct egress_slice *s)
{
	return (uint8_t)(s->busy & ~s->barred);
}

static inline void sched_list(struct egress *e, const struct egress_slice *s, uint8_t id)
{
	if (likely(sched_ready(s)))
		e->may[id / 64] |= 1ull << id % 64;
}

static inline void sched_unlist(struct egress *e, struct egress_slice *s, uint8_t id)
{
	if (sched_ready(s))
		return;
	e->may[id / 64] &= ~(1ull << id % 64);
	/* an unused deficit is lost, a debt remains */
	s->deficit = MIN_OF(s->deficit, 0);
}

/* Packets were removed from a queue outside a turn. */
static inline void sched_settle(struct egress *e, uint8_t slice, uint8_t class)
{
	struct egress_slice *s = &e->slice[slice];

	if (s->queue[class].packets.n)
		return;
	s->busy = (uint8_t)(s->busy & ~(1u << class));
	s->queue[class].deficit = MIN_OF(s->queue[class].deficit, 0);
	sched_unlist(e, s, slice);
}

/* The next slice after `id` that may send, cyclically. At least one must exist. */
static inline uint8_t sched_next_listed(const struct egress *e, uint8_t id)
{
	unsigned int word = id / 64;
	uint64_t later = e->may[word] & ~1ull << id % 64;

	if (!later) {
		word = e->may[!word] ? !word : word;
		later = e->may[word];
	}
	return (uint8_t)(word * 64 + (unsigned int)__builtin_ctzll(later));
}

static inline struct egress_slice *sched_next_slice(struct egress *e)
{
	struct egress_slice *s = &e->slice[e->first];

	while (s->deficit <= 0) {
		e->first = sched_next_listed(e, e->first);
		s = &e->slice[e->first];
		s->deficit += (int32_t)s->quantum;
	}
	return s;
}

static inline uint8_t sched_next_class(struct egress_slice *s)
{
	uint8_t class = s->turn, may = sched_ready(s), later;

	if ((may >> class & 1) && s->queue[class].deficit > 0)
		return class;
	do {
		/* cyclically over the classes that may send */
		later = (uint8_t)(may & 0xfeu << class);
		class = (uint8_t)__builtin_ctz(later ? later : may);
		s->queue[class].deficit += EGRESS_QUANTUM;
	} while (s->queue[class].deficit <= 0);
	s->turn = class;
	return class;
}

/*
 * Is there room for packets of a lossy class? They need room in their queue and in the port's buffers, and other
 * slices must keep some room regardless of this slice (dynamic threshold of Choudhury and Hahne, alpha 1). The number
 * of steps is the same with one slice and with many.
 */
static inline bool sched_has_room(const struct egress *e, const struct egress_slice *s, const struct egress_queue *q,
	uint32_t packets, uint32_t buffers)
{
	return q->packets.n + packets <= e->queue_limit &&
	       e->lossy + (s->lossy & e->shared) + buffers <= e->buffer_limit;
}

/* Begin a turn of a given queue, which must have packets, regardless of gates and order. */
static inline void sched_begin_at(struct sched_turn *t, struct egress *e, struct egress_context *c, uint8_t slice,
	uint8_t class)
{
	struct rte_mbuf *m;

	t->s = &e->slice[slice];
	t->q = &t->s->queue[class];
	t->slice = slice;
	t->class = class;
	t->promised = false;
	t->may = t->left = 0;
	t->packets = t->lossy = 0;
	t->bytes = t->sent = t->slack_ns = 0;
	t->fifo = &t->q->packets;
	m = t->fifo->head;
	queue_tally_begin(&t->released, c, pkt_of(m), m);
}

static inline void sched_begin(struct egress *e, struct egress_context *c, struct sched_turn *t)
{
	struct egress_slice *s = unlikely(e->promises) ? sched_next_promised(e, c->now) : NULL;

	if (unlikely(s != NULL)) {
		sched_begin_at(t, e, c, (uint8_t)(s - e->slice), sched_next_class(s));
		t->promised = true;
		t->may = t->left = MIN_OF(EGRESS_QUANTUM, t->q->deficit);
	} else {
		s = sched_next_slice(e);
		sched_begin_at(t, e, c, e->first, sched_next_class(s));
		t->may = t->left = MIN_OF(s->deficit, t->q->deficit);
	}
	if (unlikely(s->byte_time))
		/* the slice may send, so it is at most burst_ns ahead */
		t->slack_ns = s->burst_ns + c->now - MAX_OF(s->paid_ns, c->now);
}

static inline void sched_book(struct sched_turn *t)
{
	queue_book_releases(&t->released);
	t->packets += t->released.packets;
	t->lossy += t->released.lossless ? 0 : t->released.buffers;
	t->bytes += t->released.bytes;
}

static inline struct rte_mbuf *sched_dequeue(struct egress_context *c, struct sched_turn *t)
{
	struct rte_mbuf *m = fifo_pop(t->fifo);
	const struct pkt *x = pkt_of(m);

	if (unlikely(!queue_tally_fits(&t->released, x, m))) {
		sched_book(t);
		queue_tally_begin(&t->released, c, x, m);
	}
	queue_tally_add(&t->released, m);
	return m;
}

static inline void sched_account(struct sched_turn *t, uint32_t bytes)
{
	int32_t line = bytes ? (int32_t)(bytes + EGRESS_LINE_BYTES) : 0;

	t->left -= line;
	t->sent += bytes;
}

/* Time of the turn's bytes at the slice's max-rate, in 2^-EGRESS_TIME_SHIFT ns; includes paid_part. */
static inline uint64_t sched_time(const struct sched_turn *t)
{
	return t->s->paid_part + t->sent * t->s->byte_time;
}

static inline bool sched_goes_on(const struct sched_turn *t)
{
	return t->fifo->n && t->left > 0 &&
	       (likely(!t->s->byte_time) || sched_time(t) >> EGRESS_TIME_SHIFT <= t->slack_ns);
}

/* The turn has kept the promise of the min-rate for the time of its bytes. */
static inline void sched_keep(struct sched_turn *t, uint32_t line)
{
	uint64_t time = t->s->kept_part + line * t->s->promise_time;

	t->s->kept_ns += time >> EGRESS_TIME_SHIFT;
	t->s->kept_part = time & ((1ull << EGRESS_TIME_SHIFT) - 1);
	stat_add(&t->q->promised, t->sent);
}

static inline void sched_end(struct egress *e, struct egress_context *c, struct sched_turn *t)
{
	struct egress_slice *s = t->s;
	struct egress_queue *q = t->q;
	int32_t line = t->may - t->left;

	sched_book(t);
	stat_level(e->lossy, e->lossy - t->lossy);
	s->lossy -= t->lossy;
	stat_level(e->backlog, e->backlog - t->packets);
	stat_sub(&q->bytes, t->bytes);
	if (unlikely(t->promised))
		sched_keep(t, (uint32_t)line);
	else
		s->deficit -= line;
	q->deficit -= line;
	if (!q->packets.n) {
		s->busy = (uint8_t)(s->busy & ~(1u << t->class));
		q->deficit = MIN_OF(q->deficit, 0);
	}
	if (unlikely(e->gates & EGRESS_GATE_STORM) && t->sent && e->watchdog[t->slice][t->class].stormed) {
		stat_add(&e->watchdog[t->slice][t->class].sent, t->packets);
		stat_add(&e->watchdog[t->slice][t->class].last_sent, t->packets);
	}
	if (unlikely(s->byte_time))
		gate_pay(e, c, s, sched_time(t));
	sched_unlist(e, s, t->slice);
}

#endif
