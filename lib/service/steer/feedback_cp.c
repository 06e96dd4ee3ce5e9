/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of what the egresses of each path show, and the orders that follow (feedback.h): bytes in queues, pauses by PFC, lines
 * without credit, and what is alive. All of it is read from counters that others write. A failure is acted on in the pass
 * that sees it. Control lcore.
 */
#include "node/service.h"
#include "queue/line.h"
#include "service/nexthop/nexthop.h"
#include "service/steer/service_steer.h"

/* An order is not written again for so long after its end, in ns: a role may be in the burst in which it read it. */
#define ORDER_GRACE_NS NSEC_PER_MSEC
#define RESCUE_NS NSEC_PER_SEC /* how long an order for the flows of a failed path is in force at most */
#define LOAD_MEMORY 4.0	       /* intervals */
#define LEAST_BYTES 64	       /* taken to be sent where nothing was: a queue that stands still is long */

static uint16_t port_of(const struct snapshot *s, target_t t)
{
	return target_kind(t) == TARGET_NEIGH ? s->neigh[target_index(t)].port : snap_interface_of(target_index(t));
}

/* The line of a path and class (queue/line.h), or NULL. */
static const struct credit_line *line_of_path(const struct control_role *c, uint32_t path, unsigned int class)
{
	const struct credit_data *k = c->node->worker[0].ctx.credit;
	uint32_t line = k ? __atomic_load_n(&k->line_of_path[path * PKT_CLASSES + class], __ATOMIC_RELAXED) : LINE_NONE;

	return line == LINE_NONE ? NULL : &k->line[line];
}

/* --- egresses --- */

static void note_way(const struct control_role *c, struct feedback *f, target_t t, unsigned int class)
{
	f->waits[port_of(c->s, t)] |= (uint8_t)(1u << class);
}

/* Packets that wait for credit come to their queue later than to this node. */
static void note_waits(struct control_role *c, struct feedback *f)
{
	memset(f->waits, 0, sizeof(f->waits));
	for (uint32_t i = 0; c->node->worker[0].ctx.credit && i < f->n_policies; i++)
		for (uint32_t j = 0; j < f->policy[i].n; j++)
			for (unsigned int k = 0; k < FLOW_CLASSES; k++) {
				const struct credit_line *l = line_of_path(c, f->policy[i].path[j], k);
				target_t via = c->s->path[f->policy[i].path[j]].via;

				if (!l || !stat_read(&l->waits) || !via)
					continue;
				if (target_kind(via) != TARGET_GROUP)
					note_way(c, f, via, k);
				for (unsigned int m = 0;
					target_kind(via) == TARGET_GROUP && m < c->s->group[target_index(via)].n; m++)
					note_way(c, f, c->s->group[target_index(via)].member[m], k);
			}
}

/* Packets of a queue that may not have gone to the device yet: those in it, and all that the device has not accepted. */
static uint64_t waiting(const struct egress *e, uint32_t slice, unsigned int class)
{
	return __atomic_load_n(&e->slice[slice].queue[class].packets.n, __ATOMIC_RELAXED) +
	       __atomic_load_n(&e->tx.n, __ATOMIC_RELAXED);
}

/* The time before which everything that came to this queue has gone to the device. */
static uint64_t left_before(struct feedback_mark *m, const struct egress *e, uint32_t slice, unsigned int class,
	uint64_t now, bool waits)
{
	uint64_t left = waiting(e, slice, class), entered = stat_read(&e->slice[slice].queue[class].entered),
		 before = m->at;

	if (waits)
		return m->before;
	if (left && entered < m->entered + left)
		return m->before;
	before = left ? before : now;
	*m = (struct feedback_mark){.at = now, .before = before, .entered = entered};
	return before;
}

/* Time without leave to send since the last sample, the present pause included. */
static uint64_t paused_ns(const struct egress_queue *q, uint64_t now)
{
	uint64_t until = __atomic_load_n(&q->pause_until, __ATOMIC_RELAXED),
		 since = __atomic_load_n(&q->paused_since, __ATOMIC_RELAXED);

	return stat_read(&q->paused_ns) + (until > now && now > since ? now - since : 0);
}

/*
 * What had gone to the device at some sample is out of it when it has sent all that it had then; until then the next such time is
 * not looked for.
 */
static void out_before(struct feedback_signal *g, const struct egress *e, uint64_t left, uint64_t now)
{
	uint64_t drained = __atomic_load_n(&e->drained_ns, __ATOMIC_RELAXED);

	if (now < g->out_ns)
		return;
	g->out = g->left;
	g->left = left;
	g->out_ns = drained;
	if (now >= drained)
		g->out = left;
}

/*
 * sent: bytes of the port since the last sample. While there is a queue, that is all that the port can send. frame: bytes of one.
 * What the device has not accepted counts, too.
 */
static void sample_queue(struct feedback_signal *g, const struct egress *e, unsigned int class, uint64_t now,
	uint64_t dt, struct feedback_mark (*mark)[FLOW_CLASSES], bool waits, uint64_t sent, uint64_t frame)
{
	uint64_t bytes = 0, paused = 0, left = now;

	g->is_paused = false;
	for (uint32_t i = 0; i < e->n_slices; i++) {
		const struct egress_queue *q = &e->slice[i].queue[class];

		bytes += stat_read(&q->bytes);
		paused = MAX_OF(paused, paused_ns(q, now));
		g->is_paused |= __atomic_load_n(&q->pause_until, __ATOMIC_RELAXED) > now;
		left = MIN_OF(left, left_before(&mark[i][class], e, i, class, now, waits));
	}
	out_before(g, e, left, now);
	bytes += __atomic_load_n(&e->tx.n, __ATOMIC_RELAXED) * frame;
	g->queue_ns = MAX_OF(bytes * e->line_time >> EGRESS_TIME_SHIFT, g->queued && bytes ? bytes * dt / sent : 0);
	g->queued = bytes;
	/* a queue of another slice may have been paused for longest before */
	paused = MAX_OF(paused, g->paused_ns);
	g->paused = dt ? (uint32_t)MIN_OF((paused - g->paused_ns) * 1000 / dt, 1000) : 0;
	g->paused_ns = paused;
}

static void sample_ports(struct control_role *c, struct feedback *f, uint64_t dt)
{
	struct node_steer *st = node_steer(c->node);

	for (uint32_t i = 0; i < c->s->n_ports; i++) {
		uint64_t now = stat_read(&c->node->worker[c->node->owner[i]].lcore->stats.port[i].tx_bytes),
			 sent = MAX_OF(now - f->sent[i], LEAST_BYTES),
			 packets = stat_read(&c->node->worker[c->node->owner[i]].lcore->stats.port[i].tx_packets),
			 frame = packets > f->packets[i] ? sent / (packets - f->packets[i]) : LEAST_BYTES;

		f->sent[i] = now;
		f->packets[i] = packets;
		for (unsigned int k = 0; k < FLOW_CLASSES; k++) {
			struct feedback_signal *g = &f->signal[i][k];

			sample_queue(g, &c->node->egress[i], k, c->now, dt, f->mark[i], f->waits[i] >> k & 1, sent,
				frame);
			__atomic_store_n(&st->left_before[i][k], g->out, __ATOMIC_RELAXED);
		}
	}
}

/* --- paths --- */

/* The worst that a port shows, in permille of the limits. */
static uint64_t cost_of_port(const struct feedback *f, const struct feedback_signal *g)
{
	uint64_t queue = f->queue_limit_ns ? g->queue_ns * FEEDBACK_AT_LIMIT / f->queue_limit_ns : 0;
	uint64_t pause = f->pause_limit ? (uint64_t)g->paused * FEEDBACK_AT_LIMIT / f->pause_limit : 0;

	return MAX_OF(queue, pause);
}

static void look_at_way(const struct control_role *c, const struct feedback *f, target_t t, unsigned int class,
	struct path_sample *out)
{
	const struct feedback_signal *g = &f->signal[port_of(c->s, t)][class];

	out->cost = MAX_OF(out->cost, cost_of_port(f, g));
	out->closed |= f->pause_limit && g->is_paused;
}

/* How long the credit of a path has been used up while packets wait for it. */
static uint64_t blocked_ns(struct control_role *c, uint32_t path, unsigned int class, uint64_t *since)
{
	const struct credit_line *l = line_of_path(c, path, class);

	if (!l || !__atomic_load_n(&l->blocked, __ATOMIC_RELAXED)) {
		*since = 0;
		return 0;
	}
	*since = *since ? *since : c->now;
	return c->now - *since;
}

static void count_flows(const struct control_role *c, uint32_t path, unsigned int class, uint32_t *flows,
	uint64_t *bytes)
{
	const struct node_steer *st = node_steer(c->node);

	*flows = 0;
	*bytes = 0;
	for (uint16_t i = 0; i < c->node->n_rx; i++) {
		const struct flow_table *t = __atomic_load_n(&st->rx[i].table, __ATOMIC_ACQUIRE);

		if (!t || !t->by_class)
			continue;
		*flows += __atomic_load_n(&flow_class(t, path, class)->flows, __ATOMIC_RELAXED);
		*bytes += stat_read(&flow_class(t, path, class)->bytes);
	}
}

/* A mean over a longer time than that of scores: messages come in bursts. */
static double mean(double was, double is, uint64_t dt, uint64_t interval)
{
	return was + (is - was) * (double)dt / ((double)dt + LOAD_MEMORY * (double)interval);
}

/*
 * The load of the flows that are on a path now, in bytes per second: those that have just come count as the others do.
 */
static uint64_t load_of(struct feedback_load *l, uint32_t flows, uint64_t bytes, uint64_t dt, uint64_t interval)
{
	double was = l->bytes && bytes > l->bytes ? (double)(bytes - l->bytes) : 0;

	l->bytes = bytes;
	if (dt) {
		l->rate = mean(l->rate, was * 1e9 / (double)dt, dt, interval);
		l->flows = mean(l->flows, flows, dt, interval);
	}
	return (uint64_t)(l->flows > 0.1 ? l->rate * flows / l->flows : l->rate);
}

static void sample_path(struct control_role *c, struct feedback *f, struct feedback_policy *p, unsigned int class,
	uint32_t i, uint64_t dt)
{
	uint32_t id = p->path[i];
	const struct snap_path *path = &c->s->path[id];
	enum liveness_grade grade = nexthop_path_grade(c->s, id);
	struct path_sample s = {.dead = grade == LIVENESS_IS_DEAD,
		.closed = grade != LIVENESS_IS_ALIVE || p->bucket[i] == FLOW_BY_HASH};
	uint64_t bytes, blocked = blocked_ns(c, id, class, &p->of[class].blocked_since[i]);

	count_flows(c, id, class, &s.flows, &bytes);
	/* flows of a failed path leave as their packets come: that they have not all gone is no reason for another order */
	if (s.dead && s.flows <= p->of[class].rescued[i])
		s.flows = 0;
	s.load = load_of(&p->of[class].load[i], s.flows, bytes, dt, f->interval_ns);
	if (path->via && target_kind(path->via) == TARGET_GROUP) {
		const struct snap_group *g = &c->s->group[target_index(path->via)];

		for (unsigned int k = 0; k < g->n; k++)
			look_at_way(c, f, g->member[k], class, &s);
	} else if (path->via) {
		look_at_way(c, f, path->via, class, &s);
	}
	s.barred = f->credit_limit_ns && blocked >= f->credit_limit_ns;
	path_control_sample(&p->of[class].control, i, &s, c->now);
}

/* --- orders --- */

static struct feedback_order *free_order(struct feedback_rx *r, uint64_t now, uint32_t *number)
{
	struct feedback_order *o = &r->order[r->next_order];

	if (o->until && now < o->until + ORDER_GRACE_NS)
		return NULL;
	*number = r->next_order;
	r->next_order = (r->next_order + 1) % FEEDBACK_ORDERS;
	return o;
}

/* The part of `flows` that a role orders: as its part of the flows of the path, which it has `done` of already. */
static uint32_t part_of(uint32_t flows, uint64_t mine, uint64_t before, uint64_t all)
{
	return (uint32_t)((before + mine) * flows / all - before * flows / all);
}

static uint64_t time_of(const struct path_control *c, uint8_t reason)
{
	return reason == PATH_REASON_DEAD ? RESCUE_NS : FEEDBACK_PATH_HOLD * c->rules.interval_ns;
}

/* Order all moves from a path. `before`: flows of the path in the roles before this one, of `all`. */
static void order_role(struct control_role *c, struct feedback_policy *p, unsigned int class, uint16_t rx,
	const struct path_move *m, unsigned int n, uint64_t before, uint64_t all)
{
	struct steer_rx *r = &node_steer(c->node)->rx[rx];
	const struct path_control *control = &p->of[class].control;
	struct flow_class *on = flow_class(r->table, p->path[m->from], class);
	uint64_t mine = __atomic_load_n(&on->flows, __ATOMIC_RELAXED);
	struct feedback_order *o;
	uint32_t number;

	o = mine ? free_order(r->feedback, c->now, &number) : NULL;
	if (!o)
		return;
	*o = (struct feedback_order){.at = c->now,
		.until = c->now + time_of(control, m->reason),
		.path = p->path[m->from],
		.round = control->round,
		.score = (uint32_t)MIN_OF(control->path[m->from].score, UINT32_MAX),
		.class = (uint8_t) class,
		.reason = m->reason};
	for (unsigned int i = 0; i < n && o->n < FEEDBACK_DESTINATIONS; i++) {
		uint32_t flows = part_of(m[i].flows, mine, before, all);

		if (m[i].from != m->from || !flows)
			continue;
		o->to[o->n].path = p->path[m[i].to];
		o->to[o->n].score = (uint32_t)MIN_OF(control->path[m[i].to].score, UINT32_MAX);
		o->to[o->n].flows = flows;
		o->to[o->n++].bucket = p->bucket[m[i].to];
	}
	__atomic_store_n(&on->leaving, number + 1, __ATOMIC_RELEASE);
}

static void order(struct control_role *c, struct feedback_policy *p, unsigned int class, const struct path_move *m,
	unsigned int n)
{
	const struct node_steer *st = node_steer(c->node);
	uint32_t path = p->path[m->from], all, flows;
	uint64_t bytes, before = 0;

	count_flows(c, path, class, &all, &bytes);
	for (uint16_t i = 0; i < c->node->n_rx && all; i++) {
		if (!st->rx[i].table || !st->rx[i].table->by_class)
			continue;
		flows = __atomic_load_n(&flow_class(st->rx[i].table, path, class)->flows, __ATOMIC_RELAXED);
		order_role(c, p, class, i, m, n, before, all);
		before += flows;
	}
	p->of[class].until[m->from] = c->now + time_of(&p->of[class].control, m->reason);
	p->of[class].rescued[m->from] = m->reason == PATH_REASON_DEAD ? all : 0;
}

/* Orders that have ended cost packets nothing more. A failed path that is alive again is no reason to leave it. */
static void end_orders(struct control_role *c, struct feedback_policy *p, unsigned int class)
{
	const struct node_steer *st = node_steer(c->node);

	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t *until = &p->of[class].until[i];
		bool alive = nexthop_path_grade(c->s, p->path[i]) != LIVENESS_IS_DEAD;

		if (!*until || (c->now < *until && !(p->of[class].rescued[i] && alive)))
			continue;
		*until = 0;
		p->of[class].rescued[i] = 0;
		for (uint16_t k = 0; k < c->node->n_rx; k++)
			if (st->rx[k].table && st->rx[k].table->by_class)
				__atomic_store_n(&flow_class(st->rx[k].table, p->path[i], class)->leaving, 0,
					__ATOMIC_RELAXED);
	}
}

static bool has_flows(const struct control_role *c, const struct feedback_policy *p, unsigned int class)
{
	uint32_t flows;
	uint64_t bytes;

	for (uint32_t i = 0; i < p->n; i++) {
		count_flows(c, p->path[i], class, &flows, &bytes);
		if (flows)
			return true;
	}
	return false;
}

static void decide(struct control_role *c, struct feedback *f, struct feedback_policy *p, unsigned int class,
	uint64_t dt)
{
	struct path_move m[PATH_CONTROL_MOVES];
	unsigned int n;

	p->of[class].used |= has_flows(c, p, class);
	if (!p->of[class].used)
		return;
	end_orders(c, p, class);
	for (uint32_t i = 0; i < p->n; i++)
		sample_path(c, f, p, class, i, dt);
	n = path_control_decide(&p->of[class].control, c->now, m);
	/* moves from one path follow each other */
	for (unsigned int i = 0; i < n; i++)
		if (!i || m[i].from != m[i - 1].from)
			order(c, p, class, &m[i], n - i);
	__atomic_store_n(&p->of[class].none_left, p->of[class].control.none_left, __ATOMIC_RELAXED);
}

unsigned int feedback_poll(struct control_role *c, uint64_t *next)
{
	struct feedback *f = __atomic_load_n(&node_steer(c->node)->feedback, __ATOMIC_ACQUIRE);
	uint64_t dt;

	if (!f || f->generation != c->s->generation)
		return 0;
	if (c->now < f->next && f->epoch == liveness_epoch(c->s)) {
		*next = MIN_OF(*next, f->next);
		return 0;
	}
	dt = f->last ? c->now - f->last : 0;
	f->epoch = liveness_epoch(c->s);
	f->last = c->now;
	note_waits(c, f);
	sample_ports(c, f, dt);
	for (uint32_t i = 0; i < f->n_policies; i++)
		for (unsigned int k = 0; k < FLOW_CLASSES; k++)
			decide(c, f, &f->policy[i], k, dt);
	f->next = c->now + f->interval_ns / FEEDBACK_SAMPLES;
	*next = MIN_OF(*next, f->next);
	return 1;
}
