/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credit of data: follows the machines of sessions, hears what the data path tells, and runs the engine at each tick of T_sync
 * for those sessions at which something happens (docs/credit.md 2.5 to 2.11). Control lcore.
 */
#include "node/service.h"
#include "service/rsvp/service_credit.h"
#include "snapshot/liveness.h"

#define QUIET_TICKS 4			   /* without anything to do, until a grant or line is not looked at any more */
#define PROBE_NS NSEC_PER_SEC		   /* a marker with ASK in this time keeps T_loop measured */
#define UPDATES_PER_S 10000		   /* messages with updates: half of what a neighbour hears by default */
#define UPDATES_SHARED 24		   /* updates of a message */
#define LATE_GRANTS 240			   /* then so many updates share a message that the tick comes sooner */
#define TELLS 256			   /* taken from a mailbox at a time */
#define SYNC_NS NSEC_PER_MSEC		   /* T_sync */
#define SYNC_SHORT_NS CREDIT_SYNC_SHORT_NS /* for loops of up to 1 ms */

/* --- neighbours --- */

static uint64_t loop_of(const struct control_role *c, const struct credit_neighbor *n)
{
	uint64_t loop = credit_loop_quantile(&n->loop, 999);

	return loop ? loop : c->s->credit.config.idle_ms * NSEC_PER_MSEC / 2;
}

static uint64_t sync_of(uint64_t loop_ns)
{
	return loop_ns <= NSEC_PER_MSEC ? SYNC_SHORT_NS : SYNC_NS;
}

/* --- the machines ask --- */

static uint32_t reserved(void *arg)
{
	struct credit_control *k = credit_of(((struct control_role *)arg)->node);
	uint32_t number = k->free_grants ? k->free_grant[--k->free_grants] : 0;

	if (!number)
		return 0;
	k->grant[number] = (struct credit_grant){.used = true,
		.active = k->grant[number].active,
		.slot = CREDIT_NO_SLOT,
		.beyond = credit_beyond(k->data, number),
		.row = UINT8_MAX};
	return number;
}

static void set_on(struct control_role *c, uint32_t number, const struct rsvp_path_view *v, bool on)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_grant *g = &k->grant[number];
	struct credit_neighbor *n = v ? credit_neighbor_of(k, v->zone_up, &v->phop) : g->neighbor;

	if (g->on == on)
		return;
	g->on = on;
	g->neighbor = n;
	if (n)
		n->granted += on ? 1u : UINT32_MAX;
	if (n && on)
		n->beat = number;
}

static void set_epoch(struct credit_data *d, uint32_t number, uint32_t epoch, uint32_t lih)
{
	for (uint32_t i = 0; i < d->n_rx; i++) {
		struct credit_intake *in = &d->intake[(size_t)i * d->numbers + number];

		__atomic_store_n(&in->lih, lih, __ATOMIC_RELAXED);
		__atomic_store_n(&in->epoch, epoch, __ATOMIC_RELAXED);
	}
}

static void released(void *arg, uint32_t number)
{
	struct control_role *c = arg;
	struct credit_control *k = credit_of(c->node);

	set_on(c, number, NULL, false);
	set_epoch(k->data, number, 0, 0);
	credit_grant_show(c, number, true);
	credit_grant_hide(k, number);
	k->grant[number].used = false;
	k->free_grant[k->free_grants++] = number;
}

static void opened(void *arg, uint32_t number, uint32_t epoch, uint32_t buffer)
{
	struct control_role *c = arg;
	struct credit_control *k = credit_of(c->node);
	struct credit_grant *g = &k->grant[number];

	credit_grantor_open(&g->g, NULL, epoch, buffer, credit_totals_of(k->data, number));
	g->g.want = 0;
	set_epoch(k->data, number, epoch, g->lih);
	g->row = UINT8_MAX;
	credit_set_batch(c, number, buffer);
}

static void resized(void *arg, uint32_t number, uint32_t buffer)
{
	struct control_role *c = arg;

	credit_grantor_resize(&credit_of(c->node)->grant[number].g, buffer);
	credit_set_batch(c, number, buffer);
	credit_activate_grant(credit_of(c->node), number);
}

static void filled(void *arg, uint32_t number, struct rsvp_credit *out)
{
	struct credit_control *k = credit_of(((struct control_role *)arg)->node);
	struct credit_update u;

	credit_grantor_update(&k->grant[number].g, credit_totals_of(k->data, number), &u);
	credit_limit(k, number);
	out->fccl = u.fccl;
	out->abr = u.abr;
	out->sequence = u.sequence;
}

static void counted(void *arg, uint32_t number, uint64_t *received, int64_t *lost, int64_t *freed)
{
	struct credit_control *k = credit_of(((struct control_role *)arg)->node);
	struct credit_totals t = credit_totals_of(k->data, number);
	const struct credit_grantor *g = &k->grant[number].g;

	*received = credit_rcvd(g, t);
	*lost = g->lost;
	*freed = credit_freed(g, t);
}

static struct rsvp_carrier *carrier_of(const struct rsvp_path *p)
{
	return (struct rsvp_carrier *)(uintptr_t)rsvp_path_carrier(p);
}

/* The line that has the credit of a path now; 0: none. */
static uint32_t line_with(const struct credit_control *k, const struct rsvp_path *p)
{
	const struct rsvp_carrier *x = carrier_of(p);

	return x && x->line && k->use[x->line].slot == rsvp_path_slot(p) ? x->line : 0;
}

static void hear_neighbor(struct control_role *c, const struct rsvp_path_view *v, uint32_t hb_us)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_neighbor *n = credit_neighbor_of(k, v->zone_down, &v->nhop);

	if (!n || !hb_us)
		return;
	credit_alive_hear(&n->alive, hb_us, c->now);
	if (n->silent)
		n->again_ns = c->now;
	n->silent = false;
	__atomic_store_n(&k->data->alive[n - k->neighbor], n->alive.until_ns, __ATOMIC_RELAXED);
}

static void hear_update(struct control_role *c, uint32_t line, const struct rsvp_path_view *v,
	const struct rsvp_credit *m)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	struct credit_gate *gate = &k->data->line[line].gate;
	struct credit_neighbor *n = credit_neighbor_of(k, v->zone_down, &v->nhop);
	struct credit_update x = {.epoch = m->epoch,
		.sequence = m->sequence,
		.buf = m->buffer,
		.has_echo = m->form == RSVP_CREDIT_OF_CONTEXT,
		.echo = m->echo,
		.fccl = m->fccl,
		.abr = m->abr};
	uint64_t limit = gate->limit, loop;

	if (u->u.state != CREDIT_OPEN || m->epoch != u->u.epoch)
		return;
	u->u.sequence = m->sequence - 1;
	if (credit_ahead(m->fccl, m->abr) > (int64_t)MAX_OF(u->u.buf, m->buffer))
		credit_promises_beyond(c, line, v);
	u->heard++;
	credit_user_hear(&u->u, gate, &x, 2 * MAX_OF(u->u.buf, m->buffer), c->now);
	credit_use_answered(u, x.echo);
	if (n && credit_user_loop(&u->u, &x, c->now, &loop))
		credit_loop_add(&n->loop, loop);
	if (gate->limit != limit && stat_read(&k->data->line[line].waits))
		credit_line_kick(c, line);
}

static void heard(void *arg, const struct rsvp_path *p, const struct rsvp_credit *m)
{
	struct control_role *c = arg;
	struct credit_control *k = credit_of(c->node);
	struct rsvp_carrier *x = carrier_of(p);
	struct rsvp_path_view v;
	uint32_t line;

	rsvp_path_show(p, &v);
	if (x)
		x->updated = m->heartbeat_us;
	hear_neighbor(c, &v, m->heartbeat_us);
	line = line_with(k, p);
	if (line)
		hear_update(c, line, &v, m);
}

static bool used(void *arg, const struct rsvp_path *p, uint64_t *sent, uint64_t *pending, uint64_t *queued)
{
	struct credit_control *k = credit_of(((struct control_role *)arg)->node);
	uint32_t line = line_with(k, p);

	if (!line)
		return false;
	*sent = credit_fctbs(&k->use[line].u, &k->data->line[line].gate);
	*pending = __atomic_load_n(&k->data->line[line].gate.pending, __ATOMIC_ACQUIRE);
	*queued = stat_read(&k->data->line[line].waits);
	return true;
}

/* --- grants --- */

/*
 * The samples of fences, as of all that has arrived. A session whose data comes through several rx lcores has none: one counter
 * alone says nothing there (2.6 b).
 */
static bool samples_of(const struct credit_control *k, struct credit_grant *g, uint32_t number,
	struct credit_sample out[CREDIT_SAMPLES])
{
	const struct credit_data *d = k->data;
	uint32_t row = UINT32_MAX;
	uint64_t others = 0;

	for (uint32_t i = 0; i < d->n_rx; i++) {
		const struct credit_sample *s = &d->sample[((size_t)i * d->numbers + number) * CREDIT_SAMPLES];

		for (unsigned int j = 0; j < CREDIT_SAMPLES && row == UINT32_MAX; j++)
			if (credit_sample_read(&s[j], &out[j]) && out[j].epoch == g->g.epoch)
				row = i;
	}
	if (row == UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < d->n_rx; i++)
		if (i != row)
			others += __atomic_load_n(&d->intake[(size_t)i * d->numbers + number].rcvd, __ATOMIC_RELAXED);
	if (g->row == UINT8_MAX) {
		g->row = (uint8_t)row;
		g->others = others;
	}
	if (g->row != row || g->others != others)
		return false;
	for (unsigned int j = 0; j < CREDIT_SAMPLES; j++) {
		if (!credit_sample_read(&d->sample[((size_t)row * d->numbers + number) * CREDIT_SAMPLES + j], &out[j]))
			out[j].number = 0;
		out[j].rcvd += others;
	}
	return true;
}

/* lost: units that were declared lost before. */
static void act_on(struct control_role *c, uint32_t number, unsigned int bits, int64_t lost)
{
	struct credit_grant *g = &credit_of(c->node)->grant[number];

	g->counts.healed += bits & CREDIT_HEALED ? (uint64_t)(g->g.lost - lost) : 0;
	g->counts.doubled += bits & CREDIT_LOWERED ? (uint64_t)(lost - g->g.lost) : 0;
	g->counts.stale += bits & CREDIT_STALE ? 1 : 0;
	g->counts.bad += bits & CREDIT_BAD ? 1 : 0;
	if (bits & CREDIT_ANSWER)
		credit_update_due(c, number);
}

static void marked(void *arg, const struct rsvp_path *p, uint32_t number, const struct rsvp_cbfc_hop *h)
{
	struct control_role *c = arg;
	struct credit_control *k = credit_of(c->node);
	struct credit_grant *g = &k->grant[number];
	struct credit_sample samples[CREDIT_SAMPLES] = {0};
	struct credit_hop hop = {.idle = h->flags & RSVP_HOP_IDLE,
		.ask = h->flags & RSVP_HOP_ASK,
		.epoch = h->epoch,
		.sequence = h->sequence,
		.want = h->want,
		.fctbs = h->fctbs,
		.fence = h->fence};

	int64_t lost = g->g.lost;

	(void)p;
	if (!samples_of(k, g, number, samples))
		memset(samples, 0, sizeof(samples));
	act_on(c, number,
		credit_grantor_hear(&g->g, &hop, credit_totals_of(k->data, number), samples,
			c->s->credit.config.idle_ms * NSEC_PER_MSEC, c->now),
		lost);
	credit_activate_grant(k, number);
	if (c->s->credit.config.floor && g->g.want > g->g.buf)
		credit_grant_wants(k, number);
}

const struct rsvp_data_ops credit_data_ops = {.reserved = reserved,
	.released = released,
	.opened = opened,
	.resized = resized,
	.filled = filled,
	.counted = counted,
	.heard = heard,
	.used = used,
	.marked = marked};

static void tick_grant(struct control_role *c, uint32_t number)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_grant *g = &k->grant[number];
	struct credit_totals t = credit_totals_of(k->data, number);
	struct credit_pace pace = {.batch = g->batch, .mtu = credit_mtu_units(c), .tick = true};
	struct rsvp_path *p = g->slot != CREDIT_NO_SLOT ? rsvp_path_at(rsvp_of(c)->machines, g->slot) : NULL;

	credit_grantor_watch(&g->g, t, c->now);
	if (g->on && credit_grantor_due(&g->g, t, pace)) {
		g->quiet = 0;
		credit_update_due(c, number);
	} else if (credit_backlog(t) == 0) {
		g->quiet++;
	}
	if (g->closing && p)
		rsvp_grantor_count(rsvp_of(c)->machines, c->now, p, credit_rcvd(&g->g, t), g->g.lost,
			credit_freed(&g->g, t));
}

/* Nothing happens any more, unless a packet has come just now. */
static bool rests(struct credit_data *d, struct credit_grant *g, uint32_t number)
{
	struct credit_totals before = credit_totals_of(d, number), after;

	if (g->used && (g->quiet < QUIET_TICKS || g->closing || g->wants))
		return false;
	__atomic_store_n(&d->origin[number].told, false, __ATOMIC_SEQ_CST);
	after = credit_totals_of(d, number);
	return before.rcvd == after.rcvd && before.freed == after.freed;
}

static void tick_grants(struct control_role *c)
{
	struct credit_control *k = credit_of(c->node);

	for (uint32_t i = 0; i < k->active_grants;) {
		uint32_t number = k->active_grant[i];

		if (k->grant[number].used)
			tick_grant(c, number);
		credit_grant_show(c, number, false);
		if (!rests(k->data, &k->grant[number], number)) {
			i++;
			continue;
		}
		credit_grant_show(c, number, true);
		k->grant[number].active = false;
		k->active_grant[i] = k->active_grant[--k->active_grants];
	}
}

/* --- uses --- */

static void look_at_credit(struct control_role *c, uint32_t line)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	struct credit_line *l = &k->data->line[line];
	struct credit_neighbor *n = &k->neighbor[u->binding.alive];
	uint64_t loop = loop_of(c, n), stall = credit_stall_time(loop, sync_of(loop));
	uint64_t idle = c->s->credit.config.idle_ms * NSEC_PER_MSEC;
	uint8_t health = (uint8_t)credit_user_health(&u->u, &l->gate, stat_read(&l->waits), credit_mtu_units(c), stall,
		c->now);
	struct rsvp_path *p = rsvp_path_at(rsvp_of(c)->machines, u->slot);

	u->counts.stalls += health == CREDIT_STALLED && u->health != CREDIT_STALLED;
	u->health = health;
	credit_use_watch(c, line);
	if (credit_user_out_of_step(&u->u, MAX_OF(n->alive.hb_ns, loop), c->now)) {
		u->counts.resyncs++;
		rsvp_user_resync(rsvp_of(c)->machines, c->now, p);
		return;
	}
	if (credit_user_has_statement(&u->u, &l->gate)) {
		credit_marker_send(c, line, true, false);
	} else if (credit_fctbs(&u->u, &l->gate) != u->u.abr && credit_user_idle(&l->gate, idle, c->now) &&
		   c->now - u->idle_ns >= idle) {
		u->idle_ns = c->now;
		credit_marker_send(c, line, true, true);
	} else if (credit_user_ask_due(&u->u, &l->gate, stall, c->now) || c->now - n->probed_ns >= PROBE_NS) {
		n->probed_ns = c->now;
		credit_marker_send(c, line, true, false);
	}
	/* behind a port that is paused the next one would only wait as well */
	if (!__atomic_load_n(&l->fences, __ATOMIC_RELAXED) &&
		credit_user_fence_due(&u->u, &l->gate, health == CREDIT_STALLED,
			credit_fence_time(loop, k->active_lines), c->now))
		credit_fence_send(c, line);
	credit_look_at_share(c, line, loop, MAX_OF(stall, loop));
	if (__atomic_load_n(&l->blocked, __ATOMIC_RELAXED) &&
		credit_gate_passes(&l->gate, k->data->alive[u->binding.alive], c->now, 1))
		credit_line_kick(c, line);
}

static bool is_quiet(const struct control_role *c, const struct credit_line *l, const struct credit_use *u)
{
	if (u->ordered || u->ending || u->returns != CREDIT_NO_SLOT || credit_holds_more(c, u) ||
		stat_read(&l->waits) || __atomic_load_n(&l->gate.pending, __ATOMIC_ACQUIRE))
		return false;
	if (u->slot == CREDIT_NO_SLOT)
		return u->wanted == CREDIT_NO_SLOT && !u->closing && (!u->bound || u->mode != LINE_HELD);
	return u->slot == u->wanted && credit_fctbs(&u->u, &l->gate) == u->u.abr && !u->u.fence_open;
}

static void follow_use(struct control_role *c, const struct rsvp_path *p, const struct rsvp_path_view *v);

/* The worker holds a line whose credit is given back; if packets have come meanwhile, it stays. */
static void give_back(struct control_role *c, uint32_t line)
{
	struct credit_use *u = &credit_of(c->node)->use[line];
	const struct rsvp_path *p;
	uint32_t slot = u->returns;
	struct rsvp_path_view v;

	if (slot == CREDIT_NO_SLOT || u->ordered || u->slot != CREDIT_NO_SLOT || credit_give_back(c, line))
		return;
	p = rsvp_path_at(rsvp_of(c)->machines, slot);
	if (!p)
		return;
	rsvp_path_show(p, &v);
	follow_use(c, p, &v);
}

static void tick_line(struct control_role *c, uint32_t line)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	struct credit_line *l = &k->data->line[line];

	credit_line_step(c, line);
	give_back(c, line);
	if (u->slot != CREDIT_NO_SLOT && u->slot == u->wanted && !u->ordered && u->u.state == CREDIT_OPEN)
		look_at_credit(c, line);
	if (u->used && u->ending && u->slot != CREDIT_NO_SLOT) {
		struct rsvp_path *p = rsvp_path_at(rsvp_of(c)->machines, u->slot);

		rsvp_user_count(rsvp_of(c)->machines, c->now, p, credit_fctbs(&u->u, &l->gate),
			__atomic_load_n(&l->gate.pending, __ATOMIC_ACQUIRE), stat_read(&l->waits));
	}
	u->quiet = is_quiet(c, l, u) ? (uint8_t)(u->quiet + 1) : 0;
}

static bool line_rests(struct credit_data *d, struct credit_use *u, uint32_t line)
{
	struct credit_line *l = &d->line[line];
	uint64_t before = __atomic_load_n(&l->gate.sent, __ATOMIC_RELAXED);

	if (u->used && u->quiet < QUIET_TICKS)
		return false;
	__atomic_store_n(&l->told, false, __ATOMIC_SEQ_CST);
	return before == __atomic_load_n(&l->gate.sent, __ATOMIC_RELAXED) && !stat_read(&l->waits) &&
	       !__atomic_load_n(&l->gate.pending, __ATOMIC_ACQUIRE);
}

static void tick_lines(struct control_role *c)
{
	struct credit_control *k = credit_of(c->node);

	for (uint32_t i = 0; i < k->active_lines;) {
		uint32_t line = k->active_line[i];

		if (k->use[line].used)
			tick_line(c, line);
		credit_use_show(c, line, false);
		if (!line_rests(k->data, &k->use[line], line)) {
			i++;
			continue;
		}
		credit_use_show(c, line, true);
		k->use[line].active = false;
		k->active_line[i] = k->active_line[--k->active_lines];
	}
}

/* --- batches --- */

/*
 * A batch of a session was freed. With small packets that is often: so many updates share a message that neighbours are not sent
 * more than UPDATES_PER_S of them, unless the user can do nothing before it hears this one.
 */
static void batch_freed(struct control_role *c, uint32_t number)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_grant *g = &k->grant[number];
	struct credit_pace pace = {.batch = g->batch, .mtu = credit_mtu_units(c)};
	struct credit_totals t = credit_totals_of(k->data, number);
	uint64_t apart = NSEC_PER_SEC / UPDATES_PER_S * (1 + k->active_grants / UPDATES_SHARED);

	if (!g->used || !g->on)
		return;
	if (c->now - g->updated_ns < apart) {
		pace.batch = UINT32_MAX; /* late_batches, the tick, or a user that is blocked */
		k->late_ns = MIN_OF(k->late_ns, g->updated_ns + apart);
	}
	if (credit_grantor_due(&g->g, t, pace))
		credit_update_due(c, number);
}

/* Batches that were freed too soon after an update. With so many sessions that the tick comes sooner, it is left to that. */
static void late_batches(struct control_role *c)
{
	struct credit_control *k = credit_of(c->node);
	uint32_t n = k->active_grants;

	k->late_ns = TIME_NEVER;
	for (uint32_t i = 0; i < n && n < LATE_GRANTS; i++)
		batch_freed(c, k->active_grant[i]);
}

/* --- what the data path tells --- */

static void hear_tell(struct control_role *c, uint32_t what)
{
	struct credit_control *k = credit_of(c->node);
	uint32_t number = what & LINE_TELLS_NUMBER;
	struct credit_grant *g = &k->grant[number];
	struct credit_sample samples[CREDIT_SAMPLES];
	int64_t lost = g->g.lost;

	switch (what & ~LINE_TELLS_NUMBER) {
	case LINE_TELLS_LINE:
		credit_activate_line(c, number);
		credit_line_step(c, number);
		give_back(c, number);
		if (c->s->credit.config.floor) /* it may need more at once */
			k->tick_ns = MIN_OF(k->tick_ns, c->now + SYNC_SHORT_NS);
		if (k->use[number].slot != CREDIT_NO_SLOT &&
			credit_user_has_statement(&k->use[number].u, &k->data->line[number].gate))
			credit_marker_send(c, number, true, false);
		break;
	case LINE_TELLS_GRANT:
		credit_activate_grant(k, number);
		if (g->used && samples_of(k, g, number, samples))
			act_on(c, number, credit_grantor_sampled(&g->g, samples), lost);
		break;
	default:
		credit_activate_grant(k, number);
		batch_freed(c, number);
	}
}

static unsigned int hear_mailbox(struct control_role *c, struct mailbox *b)
{
	uint32_t what[TELLS];
	unsigned int n = mailbox_pop(b, what, sizeof(what[0]), TELLS);

	for (unsigned int i = 0; i < n; i++)
		hear_tell(c, what[i]);
	return n;
}

unsigned int credit_poll(struct control_role *c, uint64_t *due)
{
	struct credit_control *k = credit_of(c->node);
	unsigned int work = 0;

	for (uint16_t i = 0; i < c->node->n_rx; i++)
		work += hear_mailbox(c, &k->rx_tells[i]);
	for (uint16_t i = 0; i < c->node->n_workers; i++)
		work += hear_mailbox(c, &k->worker_tells[i]);
	if (k->generation != c->s->generation || k->live_epoch != liveness_epoch(c->s)) {
		k->generation = c->s->generation;
		k->live_epoch = liveness_epoch(c->s);
		credit_rebind_all(c);
	}
	if (c->now >= k->tick_ns && (k->active_grants || k->active_lines)) {
		tick_grants(c);
		tick_lines(c);
		k->tick_ns = c->now + SYNC_NS;
		for (uint32_t i = 0; i < k->neighbors; i++)
			if (k->neighbor[i].loop.samples && loop_of(c, &k->neighbor[i]) <= NSEC_PER_MSEC)
				k->tick_ns = c->now + SYNC_SHORT_NS;
	}
	if (c->now >= k->late_ns)
		late_batches(c);
	credit_neighbors_poll(c, due);
	credit_serve(c);
	credit_updates_send(c);
	if (k->active_grants || k->active_lines)
		*due = MIN_OF(*due, MAX_OF(k->tick_ns, c->now));
	*due = MIN_OF(*due, k->late_ns);
	return work;
}

/* --- follows the machines --- */

static void follow_grant(struct control_role *c, const struct rsvp_path *p, const struct rsvp_path_view *v)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_grant *g = &k->grant[v->number];
	uint32_t slot = rsvp_path_slot(p);
	bool on = v->grantor == RSVP_G_COMMITTED || v->grantor == RSVP_G_CLOSING;

	if (!v->number || (!on && g->slot != slot))
		return;
	if (on && g->slot != slot) {
		set_on(c, v->number, NULL, false);
		g->slot = slot;
		g->lih = v->phop_lih;
		k->data->origin[v->number].user = v->phop.v6;
		k->data->origin[v->number].own = rsvp_own_towards(c, v->zone_up, &v->phop).v6;
		set_epoch(k->data, v->number, v->grant_epoch, v->phop_lih);
	}
	set_on(c, v->number, v, on);
	g->closing = v->grantor == RSVP_G_CLOSING;
	if (on && g->g.dirty)
		credit_activate_grant(k, v->number);
	if (!on)
		g->slot = CREDIT_NO_SLOT;
}

/* The label of a path leads to what it has here. */
static void follow_label(struct control_role *c, const struct rsvp_path *p, const struct rsvp_path_view *v)
{
	struct credit_control *k = credit_of(c->node);
	const struct rsvp_carrier *x = carrier_of(p);
	bool has = v->grantor == RSVP_G_COMMITTED || v->grantor == RSVP_G_CLOSING || v->grantor == RSVP_G_LEASE;
	struct credit_entry e = {.hi = ipv6_hi(&v->sender.src.v6),
		.lo = ipv6_lo(&v->sender.src.v6),
		.label = v->sender.port};

	if (v->zone_up && v->role != RSVP_HEADEND) {
		if (has)
			credit_native_from(k, rsvp_path_slot(p), v, x && v->role == RSVP_TRANSIT ? x->line : LINE_NONE);
		else
			credit_native_from_ends(k, rsvp_path_slot(p), v->zone_up);
		return;
	}
	if (!v->sender.labelled || v->role == RSVP_HEADEND)
		return;
	e.grant = has ? (uint16_t)v->number : LINE_NONE;
	e.line = x && v->role == RSVP_TRANSIT ? x->line : LINE_NONE;
	credit_table_set(&k->data->table, rsvp_path_slot(p) + 1, &e);
}

static void follow_use(struct control_role *c, const struct rsvp_path *p, const struct rsvp_path_view *v)
{
	struct credit_control *k = credit_of(c->node);
	struct rsvp_carrier *x = carrier_of(p);
	uint32_t slot = rsvp_path_slot(p);
	struct credit_use *u;
	bool on;

	/* what goes on natively is known by the server that it is for, or from which it comes */
	if (!x || (!x->bytes && (!v->zone_down || (v->role == RSVP_TRANSIT && !v->zone_up))))
		return;
	on = v->user == RSVP_U_COMMITTED && x->updated && v->credit_epoch && (v->role != RSVP_HEADEND || v->current);
	if (!x->line && on && v->role == RSVP_TRANSIT)
		x->line = (uint16_t)credit_line_new(c, false);
	if (!x->line)
		return;
	u = &k->use[x->line];
	u->ending = v->user == RSVP_U_ENDING && u->slot == slot && v->role == RSVP_TRANSIT;
	if (on && u->returns == slot)
		return; /* until the worker holds the line */
	if (on)
		u->wanted = slot;
	else if (u->wanted == slot && !u->ending)
		u->wanted = CREDIT_NO_SLOT;
	else
		return;
	if (on && u->slot == slot && u->u.epoch != v->credit_epoch && u->u.state == CREDIT_OPEN)
		u->slot = CREDIT_NO_SLOT;
	credit_activate_line(c, x->line);
	credit_line_step(c, x->line);
}

void credit_shown(struct control_role *c, const struct rsvp_path *p, const struct rsvp_path_view *v)
{
	follow_use(c, p, v);
	follow_grant(c, p, v);
	follow_label(c, p, v);
}

void credit_gone(struct control_role *c, const struct rsvp_path *p)
{
	struct credit_control *k = credit_of(c->node);
	struct rsvp_carrier *x = carrier_of(p);
	uint32_t slot = rsvp_path_slot(p);
	struct rsvp_path_view v;
	struct credit_use *u;

	if (k->over)
		return;
	credit_table_remove(&k->data->table, slot + 1);
	rsvp_path_show(p, &v);
	credit_native_from_ends(k, slot, v.zone_up);
	if (!x || !x->line)
		return;
	u = &k->use[x->line];
	if (u->wanted == slot)
		u->wanted = CREDIT_NO_SLOT;
	if (u->left == slot)
		u->left = CREDIT_NO_SLOT;
	if (u->returns == slot)
		u->returns = CREDIT_NO_SLOT;
	u->ending = false;
	credit_activate_line(c, x->line);
	credit_line_step(c, x->line);
	if (!x->own)
		credit_line_close(c, x->line);
}

uint32_t credit_line_new(struct control_role *c, bool headend)
{
	struct credit_control *k = credit_of(c->node);
	uint32_t line = k && k->free_lines ? k->free_line[--k->free_lines] : 0;

	if (!line)
		return 0;
	k->use[line] = (struct credit_use){.used = true,
		.base = credit_line_counts(&k->data->line[line]),
		.headend = headend,
		.active = k->use[line].active,
		.slot = CREDIT_NO_SLOT,
		.wanted = CREDIT_NO_SLOT,
		.left = CREDIT_NO_SLOT,
		.returns = CREDIT_NO_SLOT};
	return line;
}

void credit_line_close(struct control_role *c, uint32_t line)
{
	struct credit_control *k = credit_of(c->node);

	if (!line || !k)
		return;
	k->use[line].closing = true;
	credit_activate_line(c, line);
	credit_line_step(c, line);
}
