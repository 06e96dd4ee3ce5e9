/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues, gates and the scheduler of an egress. Its owner. */
#include "queue/turn.h"

#include "wire/ipv4.h"

/* The class a packet is queued in; not its own when it would go back where it came from (docs/design.md section 4). */
static inline uint8_t queue_class(const struct egress *e, const struct egress_context *c, struct rte_mbuf *m)
{
	uint8_t class = pkt_of(m)->tclass;

	if (unlikely(m->port == e->index) && c->lossless[m->port] >> class & 1)
		return c->s->port[e->index].bounce_class;
	return class;
}

/*
 * Room for packets of a lossy class: in their queue, in the port's buffers, and so much left that other slices keep
 * some whatever this one does (dynamic threshold after Choudhury and Hahne, alpha 1). It takes the same number of steps
 * with one slice and with many.
 */
static inline bool has_room(const struct egress *e, const struct egress_slice *s, const struct egress_queue *q,
	uint32_t packets, uint32_t buffers)
{
	return q->packets.n + packets <= e->queue_limit &&
	       e->lossy + (s->lossy & e->shared) + buffers <= e->buffer_limit;
}

/* xorshift; any sequence will do */
static uint32_t next_random(struct egress *e)
{
	e->random ^= e->random << 13;
	e->random ^= e->random >> 17;
	e->random ^= e->random << 5;
	return e->random;
}

/* RFC 3168: a packet that says it understands is told that its queue is long, which had `level` bytes with it. */
static void mark(struct egress *e, struct egress_context *c, struct egress_queue *q, struct rte_mbuf *m, uint64_t level)
{
	const struct snap_port *p = &c->s->port[e->index];
	struct pkt *x = pkt_of(m);
	const uint8_t *ip;
	uint8_t ecn;

	if (level < p->ecn_max && (level - p->ecn_min) << 32 < (uint64_t)next_random(e) * (p->ecn_max - p->ecn_min))
		return;
	if (x->family != 4 && x->family != 6)
		return;
	ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, x->strip);
	ecn = (x->ops & PKT_OP_ECN) ? x->ecn : x->family == 4 ? ip[1] & 3 : ip[1] >> 4 & 3;
	if (!ecn || ecn == 3)
		return;
	x->ops |= PKT_OP_ECN;
	x->ecn = 3;
	stat_add(&q->marked, 1);
	stat_add(&c->stats->ecn_marked, 1);
}

/* The packets that came last to a queue, beginning with m. */
static __attribute__((noinline)) void mark_last(struct egress *e, struct egress_context *c, struct egress_queue *q,
	struct rte_mbuf *m, uint64_t bytes)
{
	uint64_t level = q->bytes - bytes;

	for (; m; m = pkt_of(m)->next) {
		level += m->pkt_len;
		if (level > c->s->port[e->index].ecn_min)
			mark(e, c, q, m, level);
	}
}

/* Data packets wait: they are in their queue now, as nothing else is known of them. */
static inline void put(struct egress *e, struct egress_slice *s, struct egress_queue *q, const struct pkt *x,
	const struct queue_tally *t)
{
	s->busy = (uint8_t)(s->busy | 1u << x->tclass);
	sched_list(e, s, x->slice);
	queue_book_charges(t);
	if (!x->lossless) {
		e->lossy += t->buffers;
		s->lossy += t->buffers;
	}
	e->backlog += t->packets;
	stat_add(&q->bytes, t->bytes);
	if (unlikely(q->bytes > q->user_bytes)) {
		stat_max(&q->user_bytes, q->bytes);
		stat_max(&q->most_bytes, q->bytes);
	}
}

static void enqueue_control(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	if (e->control_buffers + m->nb_segs > c->s->port[e->index].control_limit) {
		pkt_end(m, DROP_control_full, c->stats);
		return;
	}
	queue_trace(c, m, TRACE_QUEUED, e->index, e->control.n);
	queue_hold(c, m);
	fifo_push(&e->control, m);
	e->control_buffers += m->nb_segs;
	e->backlog++;
}

/* Are such packets to be dropped? Then for *reason. */
static inline bool refused(const struct egress *e, const struct egress_context *c, const struct pkt *x,
	const struct rte_mbuf *m, const struct queue_tally *t, enum reason *reason)
{
	const struct egress_slice *s = &e->slice[x->slice];

	if (x->lossless) {
		*reason = DROP_headroom_exceeded;
		return queue_is_exhausted(c, x, m);
	}
	*reason = DROP_queue_full;
	return !has_room(e, s, &s->queue[x->tclass], t->packets, t->buffers);
}

static void storm_drop(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pfc_watchdog *w = &e->watchdog[pkt_of(m)->slice][pkt_of(m)->tclass];

	stat_add(&w->dropped, 1);
	stat_add(&w->last_dropped, 1);
	pkt_end(m, DROP_pfc_storm, c->stats);
}

/* How many of the packets are alike: they are linked, and what they hold is in the tally. */
static inline void gather(struct egress_context *c, struct rte_mbuf **pkts, unsigned int n, bool lossless,
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

static void enqueue_each(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n,
	bool traced);

/* The first packet, and those after it that are like it, wait or are dropped. Returns how many. */
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
		enqueue_control(e, c, m);
		return 1;
	}
	class = queue_class(e, c, m);
	if (unlikely(class != x->tclass)) {
		stat_add(&c->stats->class_bounced, 1);
		x->tclass = class;
		n = 1;
	}
	q = &s->queue[class];
	if (unlikely(e->gates & EGRESS_GATE_STORM) && pfc_watchdog_drops(&e->watchdog[x->slice][class])) {
		stat_add(&q->dropped, 1);
		storm_drop(e, c, m);
		return 1;
	}
	gather(c, pkts, n, queue_is_lossless(c, x, m), &t);
	if (unlikely(refused(e, c, x, m, &t, &reason))) {
		if (t.packets > 1) {
			enqueue_each(e, c, pkts, t.packets, traced);
			return t.packets;
		}
		stat_add(&q->dropped, 1);
		pkt_end(m, reason, c->stats);
		return 1;
	}
	if (unlikely(traced))
		trace(e, c, pkts, t.packets, q->packets.n);
	fifo_append(&q->packets, m, pkts[t.packets - 1], t.packets);
	stat_add(&q->entered, t.packets);
	put(e, s, q, x, &t);
	if (unlikely(e->ecn_classes >> class & 1 && q->bytes > c->s->port[e->index].ecn_min))
		mark_last(e, c, q, m, t.bytes);
	return t.packets;
}

/* As many as there is room for. */
static __attribute__((noinline)) void enqueue_each(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts,
	unsigned int n, bool traced)
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

void sched_give_back(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);
	struct egress_slice *s = &e->slice[x->slice];
	struct queue_tally t;

	if (x->tclass == PKT_CLASS_CONTROL) {
		queue_hold(c, m);
		fifo_push_front(&e->control, m);
		e->control_buffers += m->nb_segs;
		e->backlog++;
		return;
	}
	x->tclass = queue_class(e, c, m);
	gather(c, &m, 1, queue_is_lossless(c, x, m), &t);
	fifo_push_front(&s->queue[x->tclass].packets, m);
	put(e, s, &s->queue[x->tclass], x, &t);
	if (unlikely(e->gates & EGRESS_GATE_STORM))
		e->wake_ns = c->now; /* its queue may be one that is to be empty */
}

/* A gate or the rate of a slice has changed. */
static void bar(struct egress *e, struct egress_slice *s)
{
	uint8_t id = (uint8_t)(s - e->slice);
	uint64_t bit = 1ull << id % 64;

	s->barred = s->shaped ? UINT8_MAX : s->closed;
	e->barred[id / 64] = s->barred ? e->barred[id / 64] | bit : e->barred[id / 64] & ~bit;
	sched_list(e, s, id);
	sched_unlist(e, s, id);
}

/* A slice that was ahead of its rate may go on when it is no longer; one without a rate at once. */
static void unshape(struct egress *e, const struct egress_context *c, struct egress_slice *s)
{
	uint64_t next = s->byte_time ? s->paid_ns - MIN_OF(s->paid_ns, s->burst_ns) : 0;
	bool shaped = next > c->now;

	if (shaped)
		e->wake_ns = MIN_OF(e->wake_ns, next);
	if (shaped == s->shaped)
		return;
	s->shaped = shaped;
	bar(e, s);
}

void sched_pay(struct egress *e, const struct egress_context *c, const struct sched_turn *t)
{
	struct egress_slice *s = t->s;
	uint64_t time = sched_time(t);

	s->paid_ns = MAX_OF(s->paid_ns, c->now) + (time >> EGRESS_TIME_SHIFT);
	s->paid_part = time & ((1ull << EGRESS_TIME_SHIFT) - 1);
	unshape(e, c, s);
}

struct rte_mbuf *sched_dequeue_control(struct egress *e, struct egress_context *c)
{
	struct rte_mbuf *m = queue_unhold(c, fifo_pop(&e->control));

	e->control_buffers -= m->nb_segs;
	e->backlog--;
	return m;
}

/* The slices of which some class may not send, one after the other; what there is to do does not grow with the others. */
static struct egress_slice *next_barred(struct egress *e, uint64_t left[static SNAP_SLICE_MAX / 64])
{
	unsigned int word = left[0] ? 0 : 1, id;

	if (!left[word])
		return NULL;
	id = (unsigned int)__builtin_ctzll(left[word]);
	left[word] &= left[word] - 1;
	return &e->slice[word * 64 + id];
}

/* Is some gate closed, and when does the next one open or the next slice go on? */
static void look_ahead(struct egress *e, struct egress_context *c)
{
	uint64_t left[] = {e->barred[0], e->barred[1]};
	struct egress_slice *s;

	e->gates &= (uint8_t)~EGRESS_GATE_CLOSED;
	e->wake_ns = e->watch_ns;
	while ((s = next_barred(e, left))) {
		FOR_EACH_BIT(k, s->closed)
			e->wake_ns = MIN_OF(e->wake_ns, s->queue[k].pause_until);
		if (s->closed)
			e->gates |= EGRESS_GATE_CLOSED;
		if (s->shaped)
			unshape(e, c, s);
	}
}

void sched_set_gate(struct egress *e, struct egress_context *c, uint32_t id, unsigned int class)
{
	struct egress_slice *s = &e->slice[id];
	struct egress_queue *q = &s->queue[class];
	struct pfc_watchdog *w = &e->watchdog[id][class];
	uint64_t until = pfc_holds_until(&e->holds, (uint8_t)id, class, pfc_watchdog_heed(w)), now = c->now;
	bool was = s->closed >> class & 1, is;

	watch_gate(e, c, id, class, until);
	if (unlikely(pfc_watchdog_drops(w)))
		until = TIME_NEVER;
	is = until > now;
	__atomic_store_n(&q->pause_until, until, __ATOMIC_RELAXED);
	if (is && !was) {
		q->paused_since = now;
		stat_add(&q->pauses, 1);
		s->closed = (uint8_t)(s->closed | 1u << class);
	} else if (was && !is) {
		stat_add(&q->paused_ns, now - q->paused_since);
		s->closed = (uint8_t)(s->closed & ~(1u << class));
	}
	bar(e, s);
}

void egress_set_gates(struct egress *e, struct egress_context *c, uint8_t slice, uint8_t classes)
{
	uint32_t first = slice == EGRESS_ALL_SLICES ? 0 : slice;
	uint32_t end = slice == EGRESS_ALL_SLICES ? e->n_slices : slice + 1u;

	for (uint32_t id = first; id < end; id++)
		FOR_EACH_BIT(k, classes)
			sched_set_gate(e, c, id, k);
	look_ahead(e, c);
}

#define FLUSH_BATCH 256 /* packets a pass */

/* Queues in a storm that drops are emptied, bit by bit. */
static void flush(struct egress *e, struct egress_context *c)
{
	unsigned int left = FLUSH_BATCH;

	for (uint32_t id = 0; id < e->n_slices; id++) {
		struct egress_slice *s = &e->slice[id];

		for (unsigned int k = 0; s->busy >> k; k++) {
			struct sched_turn turn;

			if (!(s->busy >> k & 1) || !pfc_watchdog_drops(&e->watchdog[id][k]))
				continue;
			sched_begin_at(&turn, e, c, (uint8_t)id, (uint8_t)k);
			for (; turn.q->packets.n && left; left--)
				storm_drop(e, c, sched_dequeue(c, &turn));
			sched_end(e, c, &turn);
		}
	}
	if (!left)
		e->wake_ns = c->now;
}

void sched_wake(struct egress *e, struct egress_context *c)
{
	uint64_t left[SNAP_SLICE_MAX / 64];
	struct egress_slice *s;

	if (c->now >= e->watch_ns)
		watch_poll(e, c);
	memcpy(left, e->barred, sizeof(left));
	while ((s = next_barred(e, left)))
		FOR_EACH_BIT(k, s->closed)
			if (s->queue[k].pause_until <= c->now)
				sched_set_gate(e, c, (uint32_t)(s - e->slice), k);
	look_ahead(e, c);
	if (unlikely(e->gates & EGRESS_GATE_STORM))
		flush(e, c);
}

/* Frames that wait for the device though their gate has closed become the oldest of their queues again. */
static void take_back(struct egress *e, struct egress_context *c)
{
	struct egress_burst *b = &e->tx;
	uint16_t kept = 0, copied = b->n_copied, traced = b->n_traced;
	struct rte_mbuf *closed[EGRESS_TX_ROOM];
	unsigned int n = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct pkt *x = pkt_of(b->pkts[i]);

		if (!(e->slice[x->slice].closed >> queue_class(e, c, b->pkts[i]) & 1)) {
			b->pkts[kept++] = b->pkts[i];
			continue;
		}
		closed[n++] = b->pkts[i];
		b->n_copied = (uint16_t)(b->n_copied - (i < copied));
		b->n_traced = (uint16_t)(b->n_traced - (i < traced));
		/* it is finished */
		x->family = PKT_FRAME;
		x->ops = 0;
		x->strip = 0;
		x->l3_bytes = (uint16_t)b->pkts[i]->pkt_len;
	}
	b->n = kept;
	while (n)
		sched_give_back(e, c, closed[--n]);
}

bool egress_pause(struct egress *e, struct egress_context *c, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause)
{
	if (c->now >= e->watch_ns)
		watch_poll(e, c);
	watch_heard(e, c, party, slice, pause);
	if (!pfc_holds_apply(&e->holds, party, slice, pause, c->now))
		return false;
	egress_set_gates(e, c, slice, pause->enable);
	if (e->gates & EGRESS_GATE_CLOSED && e->tx.n)
		take_back(e, c);
	return true;
}

/* Divided once, not for every packet. */
static void set_rate(struct egress_slice *s, uint64_t bps)
{
	s->byte_time = bps ? MAX_OF((8 * NSEC_PER_SEC << EGRESS_TIME_SHIFT) / bps, 1) : 0;
	s->burst_ns = bps ? EGRESS_SHAPE_BURST * 8 * NSEC_PER_SEC / bps : 0;
}

void egress_configure(struct egress *e, const struct egress_context *c)
{
	uint64_t bps = c->s->port[e->index].speed_bps;
	uint32_t before = e->n_slices;

	e->n_slices = c->s->n_slices;
	e->retry_ns = EGRESS_RETRY_NS;
	if (bps)
		e->retry_ns = MAX_OF(e->retry_ns,
			EGRESS_RETRY_FRAMES * (ETH_MIN_LEN + EGRESS_LINE_BYTES) * 8 * NSEC_PER_SEC / bps);
	watch_configure(e, c, before);
	e->queue_limit = c->s->port[e->index].queue_limit;
	e->buffer_limit = c->s->port[e->index].buffer_limit;
	e->ecn_classes = c->s->port[e->index].ecn_classes;
	e->shared = e->n_slices > 1 ? UINT32_MAX : 0;
	e->gates &= (uint8_t)~EGRESS_GATE_SHAPED;
	for (uint32_t i = 0; i < e->n_slices; i++) {
		e->slice[i].quantum = c->s->slice[i].weight * EGRESS_WEIGHT_BYTES;
		set_rate(&e->slice[i], c->s->slice[i].max_rate_bps);
		if (e->slice[i].byte_time)
			e->gates |= EGRESS_GATE_SHAPED;
	}
	e->wake_ns = c->now; /* rates may have changed */
}

void egress_clear_watermarks(struct egress *e, bool persistent)
{
	for (uint32_t i = 0; i < e->n_slices; i++)
		for (unsigned int k = 0; k < PKT_CLASSES; k++) {
			struct egress_queue *q = &e->slice[i].queue[k];

			__atomic_store_n(&q->user_bytes, q->bytes, __ATOMIC_RELAXED);
			if (persistent)
				__atomic_store_n(&q->most_bytes, q->bytes, __ATOMIC_RELAXED);
		}
}
