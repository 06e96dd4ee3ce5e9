/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Appends packets to the queues of an egress, and removes packets outside a turn (turns: turn.h). Worker lcores; the
 * owner of the egress.
 */
#include "queue/park.h"
#include "queue/rebind.h"

#include "wire/ipv4.h"

/*
 * The class in which a packet is queued: its own, or the bounce class if it would leave by its ingress port in a
 * lossless class (docs/design.md section 4).
 */
static inline uint8_t sched_queue_class(const struct egress *e, const struct egress_context *c, struct rte_mbuf *m)
{
	uint8_t class = pkt_of(m)->tclass;

	if (unlikely(m->port == e->index) && c->lossless[m->port] >> class & 1)
		return c->s->port[e->index].bounce_class;
	return class;
}

/* --- min-rate --- */

void sched_promise(struct egress *e, uint8_t slice, uint64_t bps)
{
	struct egress_slice *s = &e->slice[slice];

	s->promise_time = bps ? MAX_OF((8 * NSEC_PER_SEC << EGRESS_TIME_SHIFT) / bps, 1) : 0;
	if (bps)
		e->promised[slice / 64] |= 1ull << slice % 64;
}

struct egress_slice *sched_next_promised(struct egress *e, uint64_t now)
{
	struct egress_slice *first = NULL;
	uint64_t earliest = now - MIN_OF(now, e->late_ns);

	for (unsigned int word = 0; word < ARRAY_LEN(e->promised); word++)
		FOR_EACH_BIT64(i, e->promised[word] & e->may[word])
		{
			struct egress_slice *s = &e->slice[word * 64 + i];

			s->kept_ns = MAX_OF(s->kept_ns, earliest);
			if (s->kept_ns >= now || (first && s <= &e->slice[e->last_promised]))
				continue;
			first = s;
			if (s > &e->slice[e->last_promised])
				goto found;
		}
found:
	if (first)
		e->last_promised = (uint8_t)(first - e->slice);
	return first;
}

/* xorshift; the quality of the sequence is not critical */
static uint32_t sched_next_random(struct egress *e)
{
	e->random ^= e->random << 13;
	e->random ^= e->random >> 17;
	e->random ^= e->random << 5;
	return e->random;
}

/*
 * Mark an ECN-capable packet CE (RFC 3168), with a probability that grows with `level`, the bytes in the queue
 * including the packet.
 */
static void sched_mark(struct egress *e, struct egress_context *c, struct egress_queue *q, struct rte_mbuf *m,
	uint64_t level)
{
	const struct snap_interface *p = &c->s->port[e->index];

	if (level < p->ecn_max &&
		(level - p->ecn_min) << 32 < (uint64_t)sched_next_random(e) * (p->ecn_max - p->ecn_min))
		return;
	if (!queue_mark(m, pkt_of(m)))
		return;
	stat_add(&q->marked, 1);
	stat_add(&c->stats->ecn_marked, 1);
}

/* Mark the newest packets of a queue, beginning with m. `bytes`: their sum. */
static __attribute__((noinline)) void mark_last(struct egress *e, struct egress_context *c, struct egress_queue *q,
	struct rte_mbuf *m, uint64_t bytes)
{
	uint64_t level = q->bytes - bytes;

	for (; m; m = pkt_of(m)->next) {
		level += m->pkt_len;
		if (level > c->s->port[e->index].ecn_min)
			sched_mark(e, c, q, m, level);
	}
}

/* Account for data packets just added to their queue: busy bit, charges, levels, watermarks. */
static inline void sched_put(struct egress *e, struct egress_slice *s, struct egress_queue *q, const struct pkt *x,
	const struct queue_tally *t)
{
	s->busy = (uint8_t)(s->busy | 1u << x->tclass);
	sched_list(e, s, x->slice);
	queue_book_charges(t);
	if (!x->lossless) {
		stat_level(e->lossy, e->lossy + t->buffers);
		s->lossy += t->buffers;
	}
	stat_level(e->backlog, e->backlog + t->packets);
	stat_add(&q->bytes, t->bytes);
	if (unlikely(q->bytes > q->user_bytes)) {
		stat_max(&q->user_bytes, q->bytes);
		stat_max(&q->most_bytes, q->bytes);
	}
}

static void sched_enqueue_control(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	if (e->control_buffers + m->nb_segs > c->s->port[e->index].control_limit) {
		queue_end(c, m, DROP_control_full);
		return;
	}
	queue_trace(c, m, TRACE_QUEUED, e->index, e->control.n);
	queue_hold(c, m);
	fifo_push(&e->control, m);
	e->control_buffers += m->nb_segs;
	stat_level(e->backlog, e->backlog + 1);
}

/* Must the packets of a tally be dropped? *reason is the drop reason. */
static inline bool sched_refused(const struct egress *e, const struct egress_context *c, const struct pkt *x,
	struct rte_mbuf *m, const struct queue_tally *t, enum reason *reason)
{
	const struct egress_slice *s = &e->slice[x->slice];

	if (x->lossless) {
		*reason = DROP_headroom_exceeded;
		return queue_is_exhausted(c, x, m);
	}
	*reason = DROP_queue_full;
	if (likely(sched_has_room(e, s, &s->queue[x->tclass], t->packets, t->buffers)))
		return false;
	/* a session has one fence in a queue, and needs it when the queue is full of its packets */
	return !pkt_is_fence(m);
}

static void sched_storm_drop(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pfc_watchdog *w = &e->watchdog[pkt_of(m)->slice][pkt_of(m)->tclass];

	stat_add(&w->dropped, 1);
	stat_add(&w->last_dropped, 1);
	queue_end(c, m, DROP_pfc_storm);
}

/* Link the leading packets of the same kind to a list and sum them in the tally. */
static inline void sched_gather(struct egress_context *c, struct rte_mbuf **pkts, unsigned int n, bool lossless,
	struct queue_tally *t)
{
	struct pkt *x = pkt_of(pkts[0]);

	queue_tally_begin(t, c, x, pkts[0]);
	t->lossless = lossless;
	for (unsigned int i = 0;;) {
		struct rte_mbuf *m = pkts[i];
		struct pkt *before = x;

		x->lossless = lossless;
		queue_tally_add(t, m);
		if (++i == n)
			return;
		x = pkt_of(pkts[i]);
		if (!queue_tally_fits(t, x, pkts[i]))
			return;
		before->next = pkts[i];
	}
}

static __attribute__((noinline)) void trace(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts,
	unsigned int n, uint32_t waiting)
{
	for (unsigned int i = 0; i < n; i++)
		queue_trace(c, pkts[i], TRACE_QUEUED, e->index, waiting + i);
}

static void sched_enqueue_each(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n,
	bool traced);

/* Queue or drop the first packet together with the following packets of the same kind. Returns their number. */
static inline __attribute__((always_inline)) unsigned int enqueue(struct egress *e, struct egress_context *c,
	struct rte_mbuf **pkts, unsigned int n, bool traced)
{
	struct rte_mbuf *m = pkts[0];
	struct pkt *x = pkt_of(m);
	struct egress_slice *s = &e->slice[x->slice];
	struct egress_queue *q;
	struct queue_tally t;
	enum reason reason;
	uint8_t class;

	if (unlikely(x->tclass == PKT_CLASS_CONTROL)) {
		sched_enqueue_control(e, c, m);
		return 1;
	}
	class = sched_queue_class(e, c, m);
	if (unlikely(class != x->tclass)) {
		stat_add(&c->stats->class_bounced, 1);
		x->tclass = class;
		n = 1;
	}
	q = &s->queue[class];
	if (unlikely(e->gates & EGRESS_GATE_STORM) && pfc_watchdog_drops(&e->watchdog[x->slice][class])) {
		stat_add(&q->dropped, 1);
		sched_storm_drop(e, c, m);
		return 1;
	}
	sched_gather(c, pkts, n, queue_is_lossless(c, x, m), &t);
	if (unlikely(sched_refused(e, c, x, m, &t, &reason))) {
		if (t.packets > 1) {
			sched_enqueue_each(e, c, pkts, t.packets, traced);
			return t.packets;
		}
		stat_add(&q->dropped, 1);
		queue_end(c, m, reason);
		return 1;
	}
	if (unlikely(traced))
		trace(e, c, pkts, t.packets, q->packets.n);
	fifo_append(&q->packets, m, pkts[t.packets - 1], t.packets);
	stat_add(&q->entered, t.packets);
	sched_put(e, s, q, x, &t);
	if (unlikely(e->ecn_classes >> class & 1 && q->bytes > c->s->port[e->index].ecn_min))
		mark_last(e, c, q, m, t.bytes);
	return t.packets;
}

/* Queue packets one by one, so that as many as possible find room. */
static __attribute__((noinline)) void sched_enqueue_each(struct egress *e, struct egress_context *c,
	struct rte_mbuf **pkts, unsigned int n, bool traced)
{
	for (unsigned int i = 0; i < n; i++)
		enqueue(e, c, &pkts[i], 1, traced);
}

void sched_enqueue(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n)
{
	bool traced = unlikely(queue_traces(c));

	for (unsigned int i = 0; i < n;)
		i += enqueue(e, c, &pkts[i], n - i, traced);
	stat_add(&e->queued_packets, n);
	stat_max(&e->queued_most, e->backlog);
}

/* Account for a packet just added beside its queue. */
static void put_beside(struct egress *e, const struct pkt *x, const struct queue_tally *t)
{
	struct egress_slice *s = &e->slice[x->slice];

	sched_put(e, s, &s->queue[x->tclass], x, t);
	sched_settle(e, x->slice, x->tclass);
	e->rebind.parked++;
}

void sched_come_home(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);
	struct queue_tally t;

	x->tclass = sched_queue_class(e, c, m);
	sched_gather(c, &m, 1, queue_is_lossless(c, x, m), &t);
	fifo_push(&e->parked[x->slice][x->tclass].home, m);
	put_beside(e, x, &t);
}

void sched_admit(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);
	struct egress_slice *s = &e->slice[x->slice];
	struct egress_queue *q;
	struct queue_tally t;

	x->tclass = sched_queue_class(e, c, m);
	q = &s->queue[x->tclass];
	sched_gather(c, &m, 1, queue_is_lossless(c, x, m), &t);
	fifo_push(&q->packets, m);
	stat_add(&q->entered, 1);
	sched_put(e, s, q, x, &t);
	stat_add(&e->queued_packets, 1);
	stat_max(&e->queued_most, e->backlog);
	if (unlikely(e->ecn_classes >> x->tclass & 1 && q->bytes > c->s->port[e->index].ecn_min))
		mark_last(e, c, q, m, t.bytes);
	if (unlikely(e->gates & EGRESS_GATE_STORM))
		e->wake_ns = c->now;
}

void sched_give_back(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);
	struct egress_slice *s = &e->slice[x->slice];
	struct queue_tally t;

	if (x->tclass == PKT_CLASS_CONTROL) {
		queue_hold(c, m);
		fifo_push_front(&e->control, m);
		e->control_buffers += m->nb_segs;
		stat_level(e->backlog, e->backlog + 1);
		return;
	}
	x->tclass = sched_queue_class(e, c, m);
	sched_gather(c, &m, 1, queue_is_lossless(c, x, m), &t);
	if (unlikely(park_is_due(e, m))) {
		fifo_push_front(&e->parked[x->slice][x->tclass].later, m);
		put_beside(e, x, &t);
		return;
	}
	fifo_push_front(&s->queue[x->tclass].packets, m);
	sched_put(e, s, &s->queue[x->tclass], x, &t);
	e->rebind.again |= e->rebind.scan; /* the search has passed it */
	if (unlikely(e->gates & EGRESS_GATE_STORM))
		e->wake_ns = c->now; /* the queue may be in a storm with action drop, and must then be emptied */
}

struct rte_mbuf *sched_dequeue_control(struct egress *e, struct egress_context *c)
{
	struct rte_mbuf *m = queue_unhold(c, fifo_pop(&e->control));

	e->control_buffers -= m->nb_segs;
	stat_level(e->backlog, e->backlog - 1);
	return m;
}

#define FLUSH_BATCH 256 /* packets dropped in one pass */

/* Must the packets of a queue be dropped, and as what? */
static bool sched_drops(const struct egress *e, uint32_t slice, unsigned int class)
{
	return rebind_gave_up(e) || pfc_watchdog_drops(&e->watchdog[slice][class]);
}

static void sched_drop(struct egress *e, struct egress_context *c, struct sched_turn *turn)
{
	struct rte_mbuf *m = sched_dequeue(c, turn);

	if (pkt_of(m)->ops & PKT_OP_GUEST)
		rebind_guest_left(e, c, m->vlan_tci, 0);
	if (!rebind_gave_up(e)) {
		sched_storm_drop(e, c, m);
		return;
	}
	stat_add(&turn->q->dropped, 1);
	queue_end(c, m, DROP_port_down);
}

void sched_flush(struct egress *e, struct egress_context *c)
{
	unsigned int left = FLUSH_BATCH;

	for (uint32_t id = 0; id < e->n_slices; id++) {
		struct egress_slice *s = &e->slice[id];

		for (unsigned int k = 0; s->busy >> k; k++) {
			struct sched_turn turn;

			if (!(s->busy >> k & 1) || !sched_drops(e, id, k))
				continue;
			e->rebind.before = NULL; /* the search begins anew */
			e->rebind.slice = e->rebind.class = 0;
			sched_begin_at(&turn, e, c, (uint8_t)id, (uint8_t)k);
			for (; turn.fifo->n && left; left--)
				sched_drop(e, c, &turn);
			sched_end(e, c, &turn);
		}
	}
	if (!left)
		e->wake_ns = c->now;
}

void sched_unwrite(struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);
	bool whole = x->family == PKT_FRAME && !(x->ops & PKT_OP_ENCAP);
	uint32_t front = m->pkt_len - MIN_OF(m->pkt_len, (uint32_t)x->l3_bytes);

	if (!whole && !(x->ops & (PKT_OP_POP_SRH | PKT_OP_POP_SPENT)) && front < m->data_len &&
		m->pkt_len > x->l3_bytes) {
		x->strip = (uint16_t)front;
		x->ops &= PKT_OP_ENCAP | PKT_OP_GUEST |
			  PKT_OP_TOS; /* a DSCP that the port has mapped is undone by TOS */
		x->hops = 0;
		return;
	}
	x->family = PKT_FRAME;
	x->ops &= PKT_OP_GUEST;
	x->strip = 0;
	x->l3_bytes = (uint16_t)m->pkt_len;
}

void sched_take_back(struct egress *e, struct egress_context *c)
{
	struct egress_burst *b = &e->tx;
	uint16_t kept = 0, copied = b->n_copied, traced = b->n_traced;
	struct rte_mbuf *closed[EGRESS_TX_ROOM];
	unsigned int n = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct pkt *x = pkt_of(b->pkts[i]);

		const struct egress_slice *s = &e->slice[x->slice];

		if (!((s->closed[EGRESS_PAUSE] | s->closed[EGRESS_LINK]) >> sched_queue_class(e, c, b->pkts[i]) & 1)) {
			b->pkts[kept++] = b->pkts[i];
			continue;
		}
		closed[n++] = b->pkts[i];
		b->n_copied = (uint16_t)(b->n_copied - (i < copied));
		b->n_traced = (uint16_t)(b->n_traced - (i < traced));
		sched_unwrite(b->pkts[i]);
	}
	stat_level(b->n, kept);
	while (n)
		sched_give_back(e, c, closed[--n]);
}
