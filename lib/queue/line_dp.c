/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of credit sessions (line.h). Worker lcores; the owner of the line. */
#include "queue/line.h"

#include "queue/rebind.h"

static bool is_mine(const struct egress_context *c, const struct credit_line *l)
{
	return l->owner == c->self + 1u;
}

/* --- rings of lines that may send --- */

static struct line_ring *ring_of(struct egress *e, const struct credit_line *l)
{
	return &e->lines[l->ring_slice][l->ring_class];
}

static void list(struct egress *e, const struct egress_context *c, struct credit_line *l)
{
	const struct pkt *x = pkt_of(l->fifo.head);
	struct line_ring *r;

	if (l->listed)
		return;
	l->listed = true;
	l->ring_slice = x->slice;
	l->ring_class = x->tclass;
	l->next = 0;
	r = ring_of(e, l);
	if (r->first)
		line_of(c, r->last)->next = number_of(c, l);
	else
		r->first = number_of(c, l);
	r->last = number_of(c, l);
	e->lines_listed[l->ring_slice] = (uint8_t)(e->lines_listed[l->ring_slice] | 1u << l->ring_class);
	e->lines_may[l->ring_slice / 64] |= 1ull << l->ring_slice % 64;
}

static void settle_ring(struct egress *e, uint8_t slice, uint8_t class)
{
	if (e->lines[slice][class].first)
		return;
	e->lines_listed[slice] = (uint8_t)(e->lines_listed[slice] & ~(1u << class));
	if (!e->lines_listed[slice])
		e->lines_may[slice / 64] &= ~(1ull << slice % 64);
}

/* Take the first line out of its ring. */
static void unlist_first(struct egress *e, struct credit_line *l)
{
	struct line_ring *r = ring_of(e, l);

	r->first = l->next;
	l->listed = false;
	settle_ring(e, l->ring_slice, l->ring_class);
}

static void unlist(struct egress *e, const struct egress_context *c, struct credit_line *l)
{
	struct line_ring *r = ring_of(e, l);
	uint32_t number = number_of(c, l), before = 0;

	if (!l->listed)
		return;
	for (uint32_t i = r->first; i != number; i = line_of(c, i)->next)
		before = i;
	if (!before) {
		unlist_first(e, l);
		return;
	}
	line_of(c, before)->next = l->next;
	if (r->last == number)
		r->last = before;
	l->listed = false;
}

/* --- the gate --- */

static bool passes(const struct egress_context *c, const struct credit_line *l, uint32_t units)
{
	return l->mode == LINE_FREE ||
	       (l->mode == LINE_GATED &&
		       credit_gate_passes(&l->gate, __atomic_load_n(&c->credit->alive[l->alive], __ATOMIC_RELAXED),
			       c->now, units));
}

/* Traffic class of a packet, as its fences shall have it. */
static uint8_t tos_of(const struct rte_mbuf *m, const struct pkt *x)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, x->strip);

	if (x->ops & PKT_OP_TOS)
		return x->tos;
	if (x->strip + 2u > m->data_len || x->family == PKT_FRAME)
		return 0;
	return x->family == 4 ? ip[1] : (uint8_t)(ip[0] << 4 | ip[1] >> 4);
}

/* Through the gate, and bound to the way that its session has now. */
static void pass(struct egress_context *c, struct credit_line *l, struct rte_mbuf *m)
{
	struct pkt_credit *k = pkt_credit_of(m);
	struct pkt *x = pkt_of(m);

	x->neigh = l->neigh;
	x->egress = l->port;
	__atomic_store_n(&l->slice, x->slice, __ATOMIC_RELAXED);
	__atomic_store_n(&l->tos, tos_of(m, x), __ATOMIC_RELAXED);
	if (x->ops & PKT_OP_ENCAP)
		x->path = l->path;
	if (unlikely(l->mode == LINE_FREE)) {
		x->verdict = PKT_FORWARD;
		stat_add(&l->uncredited, 1);
		return;
	}
	if (x->ops & PKT_OP_ENCAP)
		x->hash = (x->hash & ~(uint32_t)IPV6_FLOW_MASK) | l->label;
	k->passed = 1;
	credit_gate_pass(&l->gate, k->units);
	stat_add(&l->packets, 1);
}

/* Does the way that the session has now take a packet of that length? */
static bool fits(const struct egress_context *c, const struct credit_line *l, const struct pkt *x)
{
	return !(x->ops & PKT_OP_ENCAP) || (l->path < c->s->n_paths && x->l3_bytes <= c->s->path[l->path].inner_mtu);
}

/* A fence goes where the data of its session goes, without credit. */
static bool lets_fence_pass(const struct egress *e, const struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt_credit *k = pkt_credit_of(m);
	struct credit_line *l = line_of(c, k->line);

	if (!is_mine(c, l) || l->port != e->index || l->mode != LINE_GATED)
		return false;
	k->passed = 1;
	__atomic_add_fetch(&l->fences, 1, __ATOMIC_RELAXED);
	return true;
}

bool line_lets_pass(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt_credit *k = pkt_credit_of(m);
	struct credit_line *l = line_of(c, k->line);

	if (unlikely(k->fence))
		return lets_fence_pass(e, c, m);
	if (l->fifo.n || !is_mine(c, l) || l->port != e->index || e->link.ready == EGRESS_LINK_NOT_READY ||
		!passes(c, l, k->units) || unlikely(!fits(c, l, pkt_of(m))))
		return false;
	line_tell(c, l);
	pass(c, l, m);
	return true;
}

/* --- waiting --- */

static void count_waits(struct egress *e, struct credit_line *l, const struct rte_mbuf *m, int32_t packets)
{
	stat_level(l->waits, l->fifo.n);
	stat_level(l->waits_bytes, l->waits_bytes + (uint64_t)(packets * (int64_t)m->pkt_len));
	stat_level(e->waiting, e->waiting + (uint32_t)packets);
}

static void count_lossy(struct egress *e, const struct pkt *x, int32_t buffers)
{
	if (x->lossless)
		return;
	stat_level(e->lossy, e->lossy + (uint32_t)buffers);
	e->slice[x->slice].lossy += (uint32_t)buffers;
}

static void charge(struct egress *e, struct egress_context *c, struct credit_line *l, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);

	x->lossless = queue_is_lossless(c, x, m);
	queue_charge(c, x, m);
	queue_hold(c, m);
	count_lossy(e, x, m->nb_segs);
	count_waits(e, l, m, 1);
}

static struct rte_mbuf *pop(struct egress *e, struct egress_context *c, struct credit_line *l)
{
	struct rte_mbuf *m = fifo_pop(&l->fifo);

	queue_release(c, pkt_of(m), m);
	queue_unhold(c, m);
	count_lossy(e, pkt_of(m), -(int32_t)m->nb_segs);
	count_waits(e, l, m, -1);
	return m;
}

/* The oldest packet has no credit, or has it again: then the line has a turn. */
static void look(struct egress *e, struct egress_context *c, struct credit_line *l)
{
	bool may = l->fifo.n && (l->mode == LINE_ENDS || passes(c, l, pkt_credit_of(l->fifo.head)->units));

	stat_level(l->blocked, l->fifo.n && !may);
	if (may)
		list(e, c, l);
	else
		unlist(e, c, l);
}

/* --- shares at the data-centre edge --- */

/* Bytes that a session may hold of the buffer by which the packet came: alpha times what is free, and two packets at least. */
static uint64_t share_of(const struct egress_context *c, const struct pkt *x, const struct rte_mbuf *m)
{
	const struct snap_interface *p = &c->s->port[m->port];
	struct account_level held = {0};

	for (uint16_t i = 0; i < c->credit->n_workers; i++)
		account_add(&c->credit->accounts[i]->total[m->port][x->priority], &held);
	held.bytes = p->buffer.xoff.bytes - MIN_OF(held.bytes, p->buffer.xoff.bytes);
	return MAX_OF(c->s->credit.alpha * held.bytes, 2ull * p->mtu);
}

/*
 * A session that waits has filled its share of the buffer of its port (D61). It is marked, and, if it stops the others else,
 * dropped: then true. What another node has granted is in the pool and in nobody's buffer.
 */
static bool overruns(struct egress_context *c, struct credit_line *l, struct rte_mbuf *m)
{
	const struct snap_credit *s = &c->s->credit;
	struct pkt *x = pkt_of(m);
	uint64_t holds = l->waits_bytes + m->pkt_len, share;

	if (!s->alpha || !x->lossless || x->priority & PKT_GRANTED || m->port >= c->s->n_ports)
		return false;
	share = share_of(c, x, m);
	if (likely(holds <= share))
		return false;
	if (s->overrun_drops && holds > 2 * share) {
		stat_add(&l->overrun, 1);
		return true;
	}
	if (queue_mark(m, x)) {
		stat_add(&l->marked, 1);
		stat_add(&c->stats->ecn_marked, 1);
	}
	return false;
}

static void join_line(struct egress *e, struct egress_context *c, struct credit_line *l, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);

	x->lossless = queue_is_lossless(c, x, m);
	if (x->lossless ? queue_is_exhausted(c, x, m)
			: l->fifo.n >= e->queue_limit || e->lossy + m->nb_segs > e->buffer_limit) {
		stat_add(&e->slice[x->slice].queue[x->tclass].dropped, 1);
		queue_end(c, m, x->lossless ? DROP_headroom_exceeded : DROP_queue_full);
		return;
	}
	if (unlikely(overruns(c, l, m))) {
		stat_add(&e->slice[x->slice].queue[x->tclass].dropped, 1);
		queue_end(c, m, DROP_session_overrun);
		return;
	}
	queue_trace(c, m, TRACE_CREDIT, e->index, l->fifo.n);
	fifo_push(&l->fifo, m);
	charge(e, c, l, m);
	stat_add(&l->waited, 1);
	look(e, c, l);
	line_tell(c, l);
}

void line_join(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt_credit *k = pkt_credit_of(m);
	struct credit_line *l = line_of(c, k->line);

	if (!is_mine(c, l))
		c->credit_orders(c->ask_arg); /* the control lcore has ordered before it told rx */
	if (!is_mine(c, l)) {
		queue_end(c, m, DROP_credit_moved);
	} else if (unlikely(k->fence) || l->mode == LINE_ENDS) {
		stat_add(&l->ended, !k->fence);
		queue_end(c, m, DROP_credit_ended);
	} else {
		c->touched |= 1u << l->port;
		join_line(l->port == e->index ? e : &c->peers->egress[l->port], c, l, m);
	}
}

/* --- turns --- */

static void send_first(struct egress *e, struct egress_context *c, struct credit_line *l)
{
	struct rte_mbuf *m = pop(e, c, l);

	l->deficit -= (int32_t)(m->pkt_len + EGRESS_LINE_BYTES);
	if (l->mode == LINE_ENDS) {
		stat_add(&l->ended, 1);
		queue_end(c, m, DROP_credit_ended);
	} else if (!fits(c, l, pkt_of(m))) {
		queue_end(c, m, DROP_too_big);
	} else {
		pass(c, l, m);
		sched_admit(e, c, m);
	}
}

/* The turn of the first line of a ring. False: the queue is long enough. */
static bool serve(struct egress *e, struct egress_context *c, struct line_ring *r)
{
	struct credit_line *l = line_of(c, r->first);
	const struct egress_queue *q = &e->slice[l->ring_slice].queue[l->ring_class];
	bool room = true;

	if (l->deficit <= 0)
		l->deficit += LINE_QUANTUM;
	while (l->deficit > 0 && (room = q->packets.n < LINE_AHEAD || l->mode == LINE_ENDS) && l->fifo.n &&
		(l->mode == LINE_ENDS || passes(c, l, pkt_credit_of(l->fifo.head)->units)))
		send_first(e, c, l);
	if (!room && l->fifo.n)
		return false;
	unlist_first(e, l);
	if (!l->fifo.n)
		l->deficit = 0;
	look(e, c, l);
	line_tell(c, l);
	return room;
}

void lines_release(struct egress *e, struct egress_context *c)
{
	if (e->link.ready == EGRESS_LINK_NOT_READY)
		return;
	for (unsigned int word = 0; word < ARRAY_LEN(e->lines_may); word++)
		FOR_EACH_BIT64(i, e->lines_may[word])
		{
			uint8_t slice = (uint8_t)(word * 64 + i);

			FOR_EACH_BIT(k, e->lines_listed[slice]) {
				struct line_ring *r = &e->lines[slice][k];

				if (e->slice[slice].barred >> k & 1)
					continue;
				while (r->first && serve(e, c, r))
					;
			}
		}
}

/* --- orders --- */

static void come_back(struct credit_line *l, struct rte_mbuf *m, struct fifo *back)
{
	struct pkt_credit *k = pkt_credit_of(m);

	k->passed = 0;
	credit_gate_refused(&l->gate, k->units);
	fifo_push(back, m);
}

static bool is_of(struct rte_mbuf *m, uint32_t number)
{
	const struct pkt_credit *k = pkt_credit_of(m);

	return pkt_of(m)->verdict == PKT_GATED && k->passed && k->line == number && !k->fence;
}

/* Frames of the line that the device has not taken. */
static void take_from_burst(struct egress *e, struct credit_line *l, uint32_t number, struct fifo *back)
{
	struct egress_burst *b = &e->tx;
	uint16_t kept = 0, copied = b->n_copied, traced = b->n_traced;

	for (uint16_t i = 0; i < b->n; i++) {
		if (!is_of(b->pkts[i], number)) {
			b->pkts[kept++] = b->pkts[i];
			continue;
		}
		b->n_copied = (uint16_t)(b->n_copied - (i < copied));
		b->n_traced = (uint16_t)(b->n_traced - (i < traced));
		sched_unwrite(b->pkts[i]);
		come_back(l, b->pkts[i], back);
	}
	stat_level(b->n, kept);
}

static void take_from_queue(struct egress *e, struct egress_context *c, struct credit_line *l, uint8_t slice,
	uint8_t class, struct fifo *back)
{
	struct sched_turn t = {.s = &e->slice[slice],
		.q = &e->slice[slice].queue[class],
		.slice = slice,
		.class = class};
	struct rte_mbuf *before = NULL, *m = t.q->packets.head, *next;
	uint32_t number = number_of(c, l);

	t.fifo = &t.q->packets;
	for (uint32_t left = t.fifo->n; left; left--, m = next) {
		next = pkt_of(m)->next;
		if (!is_of(m, number)) {
			before = m;
			continue;
		}
		fifo_remove(t.fifo, before, m);
		queue_tally_begin(&t.released, c, pkt_of(m), m);
		queue_tally_add(&t.released, m);
		t.packets = t.lossy = 0;
		t.bytes = 0;
		sched_end(e, c, &t);
		come_back(l, m, back);
	}
}

/* What was pending waits again, in front of the rest. */
static void take_back(struct egress *e, struct egress_context *c, struct credit_line *l)
{
	struct fifo back = {0}, newest_first = {0};

	if (!l->gate.pending)
		return;
	take_from_burst(e, l, number_of(c, l), &back);
	for (uint32_t id = 0; id < e->n_slices; id++)
		FOR_EACH_BIT(k, e->slice[id].busy)
			take_from_queue(e, c, l, (uint8_t)id, (uint8_t)k, &back);
	e->rebind.before = NULL; /* a search for packets of dead ways begins anew */
	e->rebind.slice = e->rebind.class = 0;
	while (back.n)
		fifo_push_front(&newest_first, fifo_pop(&back));
	while (newest_first.n) {
		struct rte_mbuf *m = fifo_pop(&newest_first);

		fifo_push_front(&l->fifo, m);
		charge(e, c, l, m);
	}
}

static void begin(struct egress_context *c, struct credit_line *l, const struct line_order *o)
{
	struct egress *e = &c->peers->egress[o->port];

	l->owner = (uint16_t)(c->self + 1u);
	l->port = o->port;
	l->path = o->path;
	l->neigh = o->neigh;
	l->label = o->label;
	l->alive = o->alive;
	l->mode = o->mode;
	l->deficit = 0;
	stat_level(e->waiting, e->waiting + l->fifo.n);
	__atomic_sub_fetch(&c->credit->homeless, l->fifo.n, __ATOMIC_RELAXED);
	for (struct rte_mbuf *m = l->fifo.n ? l->fifo.head : NULL; m; m = pkt_of(m)->next)
		count_lossy(e, pkt_of(m), m->nb_segs);
	look(e, c, l);
}

/* False: something of the line is still on its way to the device. */
static bool leave(struct egress *e, struct egress_context *c, struct credit_line *l)
{
	l->mode = LINE_HELD;
	take_back(e, c, l);
	look(e, c, l);
	if (l->gate.pending)
		return false;
	for (struct rte_mbuf *m = l->fifo.n ? l->fifo.head : NULL; m; m = pkt_of(m)->next)
		count_lossy(e, pkt_of(m), -(int32_t)m->nb_segs);
	stat_level(e->waiting, e->waiting - l->fifo.n);
	__atomic_add_fetch(&c->credit->homeless, l->fifo.n, __ATOMIC_RELAXED);
	l->owner = 0;
	return true;
}

static bool set(struct egress *e, struct egress_context *c, struct credit_line *l, uint8_t mode)
{
	l->mode = mode;
	if (mode == LINE_HELD)
		take_back(e, c, l);
	look(e, c, l);
	return mode != LINE_HELD || !l->gate.pending;
}

void line_obey(struct egress_context *c, const struct line_order *o)
{
	struct credit_line *l = line_of(c, o->line);
	struct egress *e;
	bool done = true;

	if (o->op == LINE_BEGIN && is_mine(c, l) && !leave(&c->peers->egress[l->port], c, l))
		return; /* it is ordered again */
	if (o->op == LINE_BEGIN && !l->owner)
		begin(c, l, o);
	if (!is_mine(c, l))
		return;
	e = &c->peers->egress[l->port];
	c->touched |= 1u << l->port;
	if (o->op == LINE_LEAVE)
		done = leave(e, c, l);
	else if (o->op == LINE_SET)
		done = set(e, c, l, o->mode);
	else
		look(e, c, l);
	if (!done)
		return;
	if (o->op != LINE_KICK)
		__atomic_store_n(&l->ack, o->number, __ATOMIC_RELEASE);
	if (o->op != LINE_KICK)
		c->credit_told(c->ask_arg, LINE_TELLS_LINE | o->line);
}

void lines_drain(struct egress *e, struct egress_context *c, enum reason reason)
{
	for (uint32_t i = 1; i < c->credit->numbers; i++) {
		struct credit_line *l = line_of(c, i);
		bool homeless = !l->owner && l->fifo.n;

		if (!l->fifo.n || (!homeless && (!is_mine(c, l) || l->port != e->index)))
			continue;
		if (homeless) {
			__atomic_sub_fetch(&c->credit->homeless, l->fifo.n, __ATOMIC_RELAXED);
			stat_level(e->waiting, e->waiting + l->fifo.n);
			for (struct rte_mbuf *m = l->fifo.head; m; m = pkt_of(m)->next)
				count_lossy(e, pkt_of(m), m->nb_segs);
			l->owner = (uint16_t)(c->self + 1u);
			l->port = (uint8_t)e->index;
		}
		unlist(e, c, l);
		while (l->fifo.n)
			queue_end(c, pop(e, c, l), reason);
	}
}
