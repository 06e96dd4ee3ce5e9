/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues, gates and the scheduler of an egress. Its owner. */
#include "queue/queue_priv.h"

#include "wire/ipv4.h"

/* The class a packet is queued in; not its own when it would go back where it came from (DESIGN.md section 4). */
static inline uint8_t queue_class(const struct egress *e, const struct egress_context *c, struct rte_mbuf *m)
{
	uint8_t class = pkt_of(m)->tclass;

	if (unlikely(m->port == e->index) && c->lossless[m->port] >> class & 1)
		return c->s->port[e->index].bounce_class;
	return class;
}

static inline uint8_t ready(const struct egress_slice *s)
{
	return s->shaped ? 0 : (uint8_t)(s->busy & ~s->closed);
}

/* Slices that may send form a ring; a new one comes last. */
static void list(struct egress *e, uint8_t id)
{
	struct egress_slice *s = &e->slice[id];

	if (s->listed || !ready(s))
		return;
	s->listed = true;
	if (!e->n_listed++) {
		e->first = s->next = s->prev = id;
		return;
	}
	s->next = e->first;
	s->prev = e->slice[e->first].prev;
	e->slice[s->prev].next = id;
	e->slice[s->next].prev = id;
}

static void unlist(struct egress *e, uint8_t id)
{
	struct egress_slice *s = &e->slice[id];

	if (!s->listed || ready(s))
		return;
	s->listed = false;
	e->n_listed--;
	e->slice[s->prev].next = s->next;
	e->slice[s->next].prev = s->prev;
	if (e->first == id)
		e->first = s->next;
	/* what it did not use is lost, what it owes is not */
	s->deficit = MIN_OF(s->deficit, 0);
}

/*
 * Room for a packet of a lossy class: in its queue, in the port's buffers, and so much left that other slices keep
 * some whatever this one does (dynamic threshold after Choudhury and Hahne, alpha 1).
 */
static inline bool has_room(const struct egress *e, const struct egress_slice *s, const struct egress_queue *q,
	uint32_t buffers)
{
	if (q->packets.n >= e->queue_limit || e->lossy + buffers > e->buffer_limit)
		return false;
	return e->n_slices == 1 || s->lossy + buffers <= e->buffer_limit - e->lossy;
}

/* xorshift; any sequence will do */
static uint32_t next_random(struct egress *e)
{
	e->random ^= e->random << 13;
	e->random ^= e->random >> 17;
	e->random ^= e->random << 5;
	return e->random;
}

/* RFC 3168: a packet that says it understands is told that its queue is long. */
static __attribute__((noinline)) void mark(struct egress *e, struct egress_context *c, struct egress_queue *q, struct rte_mbuf *m)
{
	const struct snap_port *p = &c->s->port[e->index];
	struct pkt *x = pkt_of(m);
	const uint8_t *ip;
	uint8_t ecn;

	if (q->bytes < p->ecn_max && (q->bytes - p->ecn_min) << 32 < (uint64_t)next_random(e) * (p->ecn_max - p->ecn_min))
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

/* A data packet waits: at the end of its queue, or at its front. */
static inline void put(struct egress *e, struct egress_context *c, struct rte_mbuf *m, struct queue_tally *charged, bool front)
{
	const struct pkt *x = pkt_of(m);
	struct egress_slice *s = &e->slice[x->slice];
	struct egress_queue *q = &s->queue[x->tclass];

	if (!q->packets.n) {
		s->busy = (uint8_t)(s->busy | 1u << x->tclass);
		list(e, x->slice);
	}
	if (front)
		fifo_push_front(&q->packets, m);
	else
		fifo_push(&q->packets, m);
	queue_add(c, charged, x, m, queue_book_charges);
	if (!x->lossless) {
		e->lossy += m->nb_segs;
		s->lossy += m->nb_segs;
	}
	e->backlog++;
	stat_add(&q->bytes, m->pkt_len);
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

/* Is a packet of this buffer to be dropped? Then for *reason. */
static inline bool refused(const struct egress *e, const struct egress_context *c, const struct egress_slice *s,
	const struct egress_queue *q, struct rte_mbuf *m, enum reason *reason)
{
	const struct pkt *x = pkt_of(m);

	if (x->lossless) {
		*reason = DROP_headroom_exceeded;
		return queue_is_exhausted(c, x, m);
	}
	*reason = DROP_queue_full;
	return !has_room(e, s, q, m->nb_segs);
}

static void storm_drop(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pfc_watchdog *w = &e->watchdog[pkt_of(m)->slice][pkt_of(m)->tclass];

	stat_add(&w->dropped, 1);
	stat_add(&w->last_dropped, 1);
	pkt_end(m, DROP_pfc_storm, c->stats);
}

static inline void enqueue(struct egress *e, struct egress_context *c, struct rte_mbuf *m, struct queue_tally *charged)
{
	struct pkt *x = pkt_of(m);
	struct egress_slice *s = &e->slice[x->slice];
	struct egress_queue *q;
	enum reason reason;
	uint8_t class;

	if (unlikely(x->tclass == PKT_CLASS_CONTROL)) {
		enqueue_control(e, c, m);
		return;
	}
	class = queue_class(e, c, m);
	if (unlikely(class != x->tclass)) {
		stat_add(&c->stats->class_bounced, 1);
		x->tclass = class;
	}
	q = &s->queue[class];
	if (unlikely(e->gates & EGRESS_GATE_STORM) && pfc_watchdog_drops(&e->watchdog[x->slice][class])) {
		stat_add(&q->dropped, 1);
		storm_drop(e, c, m);
		return;
	}
	x->lossless = queue_is_lossless(c, x, m);
	if (unlikely(refused(e, c, s, q, m, &reason))) {
		stat_add(&q->dropped, 1);
		pkt_end(m, reason, c->stats);
		return;
	}
	queue_trace(c, m, TRACE_QUEUED, e->index, q->packets.n);
	stat_add(&q->entered, 1);
	put(e, c, m, charged, false);
	if (unlikely(e->ecn_classes >> class & 1 && q->bytes > c->s->port[e->index].ecn_min))
		mark(e, c, q, m);
}

void sched_enqueue(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n)
{
	struct queue_tally charged = {0};

	for (unsigned int i = 0; i < n; i++)
		enqueue(e, c, pkts[i], &charged);
	queue_book_charges(c, &charged);
	stat_add(&e->queued_packets, n);
	stat_max(&e->queued_most, e->backlog);
}

void sched_give_back(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct queue_tally charged = {0};
	struct pkt *x = pkt_of(m);

	if (x->tclass == PKT_CLASS_CONTROL) {
		queue_hold(c, m);
		fifo_push_front(&e->control, m);
		e->control_buffers += m->nb_segs;
		e->backlog++;
		return;
	}
	x->tclass = queue_class(e, c, m);
	x->lossless = queue_is_lossless(c, x, m);
	put(e, c, m, &charged, true);
	queue_book_charges(c, &charged);
	if (unlikely(e->gates & EGRESS_GATE_STORM))
		e->wake_ns = c->now; /* its queue may be one that is to be empty */
}

/* Deficit round robin (Shreedhar and Varghese), by bytes: the slice whose turn it is. */
static struct egress_slice *next_slice(struct egress *e)
{
	struct egress_slice *s = &e->slice[e->first];

	while (s->deficit <= 0) {
		e->first = s->next;
		s = &e->slice[e->first];
		s->deficit += (int32_t)s->quantum;
	}
	return s;
}

static uint8_t next_class(struct egress_slice *s)
{
	uint8_t class = s->turn, may = ready(s), later;

	if ((may >> class & 1) && s->queue[class].deficit > 0)
		return class;
	do {
		/* round and round, from one that may send to the next */
		later = (uint8_t)(may & 0xfeu << class);
		class = (uint8_t)__builtin_ctz(later ? later : may);
		s->queue[class].deficit += EGRESS_QUANTUM;
	} while (s->queue[class].deficit <= 0);
	s->turn = class;
	return class;
}

void sched_begin(struct egress *e, struct sched_turn *t)
{
	struct egress_slice *s = next_slice(e);
	uint8_t class = next_class(s);

	*t = (struct sched_turn){.s = s, .q = &s->queue[class], .class = class};
}

static uint64_t shape_burst_ns(const struct egress_slice *s)
{
	return EGRESS_SHAPE_BURST * 8 * NSEC_PER_SEC / s->max_rate_bps;
}

/* A slice that was ahead of its rate may go on when it is no longer; one without a rate at once. */
static void unshape(struct egress *e, const struct egress_context *c, struct egress_slice *s)
{
	uint64_t next = s->max_rate_bps ? s->paid_ns - MIN_OF(s->paid_ns, shape_burst_ns(s)) : 0;

	s->shaped = next > c->now;
	if (s->shaped)
		e->wake_ns = MIN_OF(e->wake_ns, next);
}

void sched_end(struct egress *e, struct egress_context *c, struct sched_turn *t)
{
	struct egress_slice *s = t->s;

	queue_book_releases(c, &t->released);
	e->lossy -= t->lossy;
	s->lossy -= t->lossy;
	e->backlog -= t->packets;
	stat_sub(&t->q->bytes, t->bytes);
	if (!t->q->packets.n)
		s->busy = (uint8_t)(s->busy & ~(1u << t->class));
	if (unlikely(e->gates & EGRESS_GATE_STORM) && t->sent && e->watchdog[s - e->slice][t->class].stormed) {
		stat_add(&e->watchdog[s - e->slice][t->class].sent, t->packets);
		stat_add(&e->watchdog[s - e->slice][t->class].last_sent, t->packets);
	}
	if (unlikely(s->max_rate_bps)) {
		uint64_t due = t->sent * 8 * NSEC_PER_SEC + s->paid_rest;

		s->paid_ns = MAX_OF(s->paid_ns, c->now) + due / s->max_rate_bps;
		s->paid_rest = due % s->max_rate_bps;
		unshape(e, c, s);
	}
	unlist(e, (uint8_t)(s - e->slice));
}

struct rte_mbuf *sched_dequeue_control(struct egress *e, struct egress_context *c)
{
	struct rte_mbuf *m = queue_unhold(c, fifo_pop(&e->control));

	e->control_buffers -= m->nb_segs;
	e->backlog--;
	return m;
}

/* Is some gate closed, and when does the next one open or the next slice go on? */
static void look_ahead(struct egress *e, struct egress_context *c)
{
	e->gates &= (uint8_t)~EGRESS_GATE_CLOSED;
	e->wake_ns = TIME_NEVER;
	for (uint32_t id = 0; id < e->n_slices; id++) {
		struct egress_slice *s = &e->slice[id];

		for (unsigned int k = 0; s->closed >> k; k++)
			if (s->closed >> k & 1)
				e->wake_ns = MIN_OF(e->wake_ns, s->queue[k].pause_until);
		if (s->closed)
			e->gates |= EGRESS_GATE_CLOSED;
		if (s->shaped)
			unshape(e, c, s);
		list(e, (uint8_t)id);
		unlist(e, (uint8_t)id);
	}
	e->wake_ns = MIN_OF(e->wake_ns, e->watch_ns);
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
}

void egress_set_gates(struct egress *e, struct egress_context *c, uint8_t slice, unsigned int class)
{
	uint32_t first = slice == EGRESS_ALL_SLICES ? 0 : slice;
	uint32_t end = slice == EGRESS_ALL_SLICES ? e->n_slices : slice + 1u;

	for (uint32_t id = first; id < end; id++)
		sched_set_gate(e, c, id, class);
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
			struct sched_turn turn = {.s = s, .q = &s->queue[k], .class = (uint8_t)k};

			if (!pfc_watchdog_drops(&e->watchdog[id][k]))
				continue;
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
	if (c->now >= e->watch_ns)
		watch_poll(e, c);
	for (uint32_t id = 0; id < e->n_slices; id++)
		for (unsigned int k = 0; e->slice[id].closed >> k; k++)
			if (e->slice[id].closed >> k & 1 && e->slice[id].queue[k].pause_until <= c->now)
				sched_set_gate(e, c, id, k);
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
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (pause->enable >> i & 1)
			egress_set_gates(e, c, slice, i);
	if (e->gates & EGRESS_GATE_CLOSED && e->tx.n)
		take_back(e, c);
	return true;
}

void egress_configure(struct egress *e, const struct egress_context *c)
{
	uint64_t bps = c->s->port[e->index].speed_bps;
	uint32_t before = e->n_slices;

	e->n_slices = c->s->n_slices;
	e->retry_ns = EGRESS_RETRY_NS;
	if (bps)
		e->retry_ns = MAX_OF(e->retry_ns, EGRESS_RETRY_FRAMES * (ETH_MIN_LEN + EGRESS_LINE_BYTES) * 8 * NSEC_PER_SEC / bps);
	watch_configure(e, c, before);
	e->queue_limit = c->s->port[e->index].queue_limit;
	e->buffer_limit = c->s->port[e->index].buffer_limit;
	e->ecn_classes = c->s->port[e->index].ecn_classes;
	e->gates &= (uint8_t)~EGRESS_GATE_SHAPED;
	for (uint32_t i = 0; i < e->n_slices; i++) {
		e->slice[i].quantum = c->s->slice[i].weight * EGRESS_WEIGHT_BYTES;
		e->slice[i].max_rate_bps = c->s->slice[i].max_rate_bps;
		if (e->slice[i].max_rate_bps)
			e->gates |= EGRESS_GATE_SHAPED;
	}
	e->wake_ns = c->now; /* rates may have changed */
}

void egress_clear_watermarks(struct egress *e)
{
	for (uint32_t i = 0; i < e->n_slices; i++)
		for (unsigned int k = 0; k < 8; k++)
			__atomic_store_n(&e->slice[i].queue[k].user_bytes, e->slice[i].queue[k].bytes, __ATOMIC_RELAXED);
}
