/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what users see of the credit of data (credit_shown.h), and raises alarms. Control lcore. */
#include "node/service.h"
#include "service/rsvp/service_credit.h"

#define ROW_NS (10 * NSEC_PER_MSEC) /* a row is written that often while data moves */
#define TROUBLE_NS NSEC_PER_SEC	    /* how long a stall or a leak lasts before it is an alarm */

enum { TROUBLE_STALL, TROUBLE_LEAK };

static void write_begin(uint32_t *version)
{
	__atomic_store_n(version, *version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void write_end(uint32_t *version)
{
	__atomic_store_n(version, *version + 1, __ATOMIC_RELEASE);
}

static uint64_t rate_of(struct credit_rate *r, uint64_t count, uint64_t now)
{
	uint64_t time = now - r->since_ns;

	if (!r->since_ns || time >= 2 * NSEC_PER_SEC)
		*r = (struct credit_rate){.since_ns = now, .count = count};
	else if (time >= NSEC_PER_SEC)
		*r = (struct credit_rate){.since_ns = now,
			.count = count,
			.rate = (count - r->count) * NSEC_PER_SEC / time};
	return r->rate;
}

struct credit_line_counts credit_line_counts(const struct credit_line *l)
{
	return (struct credit_line_counts){.packets = stat_read(&l->packets),
		.waited = stat_read(&l->waited),
		.uncredited = stat_read(&l->uncredited),
		.ended = stat_read(&l->ended),
		.marked = stat_read(&l->marked),
		.overrun = stat_read(&l->overrun)};
}

/* --- uses --- */

static bool has_credit(const struct credit_use *u)
{
	return u->slot != CREDIT_NO_SLOT && u->u.state == CREDIT_OPEN;
}

/* A marker states what was sent in front of a fence: what its answer still misses has leaked. */
void credit_use_stated(struct credit_use *u, const struct credit_hop *hop)
{
	u->stated = hop->fctbs;
	u->stated_sequence = hop->sequence;
	u->unanswered = true;
}

/* An update was heard that has seen the marker `echo`. */
void credit_use_answered(struct credit_use *u, uint32_t echo)
{
	int64_t missing = credit_ahead(u->stated, u->u.abr);
	uint64_t leaked = missing > 0 ? (uint64_t)missing : 0;

	if (u->unanswered && credit_newer(u->stated_sequence, echo))
		return;
	u->leaked = u->unanswered ? leaked : MIN_OF(u->leaked, leaked);
	u->unanswered = false;
}

static enum credit_why why_of(const struct control_role *c, const struct credit_line *l, const struct credit_use *u)
{
	uint64_t waits = stat_read(&l->waits);

	if (!has_credit(u)) {
		if (u->bound && u->mode == LINE_FREE)
			return CREDIT_WHY_UNCREDITED;
		return u->bound && u->mode == LINE_ENDS ? CREDIT_WHY_ENDED : CREDIT_WHY_NO_CREDIT;
	}
	if (credit_of(c->node)->data->alive[u->binding.alive] <= c->now)
		return CREDIT_WHY_SILENT;
	if (u->health == CREDIT_STALLED)
		return CREDIT_WHY_STALLED;
	if (__atomic_load_n(&l->blocked, __ATOMIC_RELAXED))
		return CREDIT_WHY_WAITS;
	return waits ? CREDIT_WHY_QUEUE : CREDIT_WHY_SENDS;
}

static struct credit_sent sent_of(const struct credit_line *l, struct credit_use *u, uint64_t now)
{
	struct credit_line_counts counts = credit_line_counts(l);
	struct credit_sent s = {.pending = __atomic_load_n(&l->gate.pending, __ATOMIC_ACQUIRE),
		.queued = stat_read(&l->waits),
		.queued_bytes = stat_read(&l->waits_bytes),
		.heard_rate = rate_of(&u->rate, u->heard, now),
		.packets = counts.packets - u->base.packets,
		.waited = counts.waited - u->base.waited,
		.uncredited = counts.uncredited - u->base.uncredited,
		.ended = counts.ended - u->base.ended,
		.marked = counts.marked - u->base.marked,
		.overrun = counts.overrun - u->base.overrun,
		.stalls = u->counts.stalls,
		.stalled_ns = u->counts.stalled_ns,
		.fences = u->counts.fences,
		.markers = u->counts.markers,
		.resyncs = u->counts.resyncs,
		.returned = u->counts.returned,
		.beyond = u->counts.beyond};
	uint64_t sent = credit_fctbs(&u->u, &l->gate);
	int64_t free, way;

	if (!has_credit(u))
		return s;
	free = credit_ahead(u->u.fccl, sent + s.pending);
	way = credit_ahead(sent, u->u.abr);
	s.granted = u->u.buf_now;
	s.used = free < (int64_t)s.granted ? (uint64_t)((int64_t)s.granted - free) : 0;
	s.in_flight = way > 0 ? (uint64_t)way : 0;
	s.leaked = u->leaked;
	s.stalled = u->health == CREDIT_STALLED;
	return s;
}

static void name_use(struct control_role *c, const struct credit_use *u, struct credit_use_row *row)
{
	const struct rsvp_path *p = rsvp_path_at(rsvp_of(c)->machines, u->slot);
	const struct rsvp_carrier *x;
	struct rsvp_path_view v;

	if (!p)
		return;
	x = (const struct rsvp_carrier *)(uintptr_t)rsvp_path_carrier(p);
	rsvp_path_show(p, &v);
	row->slot = u->slot;
	memcpy(row->session, x ? x->session : "", x ? sizeof(row->session) : 1);
	row->sender = v.sender;
	row->next_hop = v.nhop;
	row->traffic_class = v.traffic_class;
	row->port = u->binding.port;
}

void credit_use_show(struct control_role *c, uint32_t line, bool now)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	struct credit_use_row *row = &k->use_row[line];
	const struct credit_loop *loop = &k->neighbor[u->binding.alive].loop;

	if (!u->used || (!now && c->now - u->shown_ns < ROW_NS))
		return;
	u->shown_ns = c->now;
	write_begin(&row->version);
	if (!row->used)
		row->slot = CREDIT_NO_SLOT;
	if (u->slot != CREDIT_NO_SLOT && (!row->used || row->slot != u->slot))
		name_use(c, u, row);
	row->used = row->slot != CREDIT_NO_SLOT;
	row->why = (uint8_t)why_of(c, &k->data->line[line], u);
	row->sent = sent_of(&k->data->line[line], u, c->now);
	row->loop_ns[0] = credit_loop_quantile(loop, 500);
	row->loop_ns[1] = credit_loop_quantile(loop, 999);
	row->at_ns = c->now;
	write_end(&row->version);
}

#define KEEP_gauge(member)
#define KEEP_counter(member) past->member += row->member;
#define KEEP(kind, member, ...) KEEP_##kind(member)

static void keep_sent(struct credit_sent *past, const struct credit_sent *row)
{
	CREDIT_SENT_COUNTERS(KEEP)
}

static void keep_given(struct credit_given *past, const struct credit_given *row)
{
	CREDIT_GIVEN_COUNTERS(KEEP)
}

void credit_use_hide(struct credit_control *k, uint32_t line)
{
	struct credit_use_row *row = &k->use_row[line];

	if (!row->used)
		return;
	write_begin(&k->past.version);
	write_begin(&row->version);
	keep_sent(&k->past.sent, &row->sent);
	*row = (struct credit_use_row){.version = row->version};
	write_end(&row->version);
	write_end(&k->past.version);
}

/* --- grants --- */

void credit_grant_show(struct control_role *c, uint32_t number, bool now)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_grant *g = &k->grant[number];
	struct credit_grant_row *row = &k->grant_row[number];
	const struct rsvp_path *p = g->slot != CREDIT_NO_SLOT ? rsvp_path_at(rsvp_of(c)->machines, g->slot) : NULL;
	struct rsvp_path_view v;

	if (!g->used || (!now && c->now - g->shown_ns < ROW_NS))
		return;
	g->shown_ns = c->now;
	write_begin(&row->version);
	if (p && (!row->used || row->slot != g->slot)) {
		rsvp_path_show(p, &v);
		row->slot = g->slot;
		row->sender = v.sender;
		row->previous_hop = v.phop;
		row->traffic_class = v.traffic_class;
		row->used = true;
	}
	row->given = (struct credit_given){.given = g->on ? g->g.buf : 0,
		.buffered = credit_backlog(credit_totals_of(k->data, number)),
		.update_rate = rate_of(&g->rate, g->counts.updates, c->now),
		.updates = g->counts.updates,
		.healed = g->counts.healed,
		.doubled = g->counts.doubled,
		.stale = g->counts.stale,
		.bad = g->counts.bad,
		.ungranted = credit_beyond(k->data, number) - g->beyond};
	row->at_ns = c->now;
	write_end(&row->version);
}

void credit_grant_hide(struct credit_control *k, uint32_t number)
{
	struct credit_grant_row *row = &k->grant_row[number];

	if (!row->used)
		return;
	write_begin(&k->past.version);
	write_begin(&row->version);
	keep_given(&k->past.given, &row->given);
	*row = (struct credit_grant_row){.version = row->version};
	write_end(&row->version);
	write_end(&k->past.version);
}

/* --- alarms --- */

static void post(struct control_role *c, uint32_t line, enum rsvp_event_kind kind, uint64_t count)
{
	const struct credit_use *u = &credit_of(c->node)->use[line];
	const struct rsvp_path *p = rsvp_path_at(rsvp_of(c)->machines, u->slot);
	const struct rsvp_carrier *x = p ? (const struct rsvp_carrier *)(uintptr_t)rsvp_path_carrier(p) : NULL;
	struct rsvp_event e = {.kind = (uint8_t)kind, .count = count};

	if (!p)
		return;
	memcpy(e.session, x ? x->session : "", x ? sizeof(e.session) : 1);
	rsvp_path_show(p, &e.view);
	rsvp_post(c, &e);
}

/* One alarm for each trouble that lasts, and one when it is over. */
static void watch(struct control_role *c, uint32_t line, unsigned int trouble, bool there, uint64_t count)
{
	static const enum rsvp_event_kind begins[] = {RSVP_EVENT_STALLED, RSVP_EVENT_LEAKS},
					  ends[] = {RSVP_EVENT_FLOWS, RSVP_EVENT_HEALED};
	struct credit_use *u = &credit_of(c->node)->use[line];

	if (!there) {
		if (u->told[trouble])
			post(c, line, ends[trouble], 0);
		u->trouble_ns[trouble] = 0;
		u->told[trouble] = false;
	} else if (!u->trouble_ns[trouble]) {
		u->trouble_ns[trouble] = c->now;
	} else if (!u->told[trouble] && c->now - u->trouble_ns[trouble] >= TROUBLE_NS) {
		u->told[trouble] = true;
		post(c, line, begins[trouble], count);
	}
}

/* At each tick, of a use that has credit. */
void credit_use_watch(struct control_role *c, uint32_t line)
{
	struct credit_use *u = &credit_of(c->node)->use[line];

	if (u->health == CREDIT_STALLED && u->looked_ns)
		u->counts.stalled_ns += c->now - u->looked_ns;
	u->looked_ns = c->now;
	watch(c, line, TROUBLE_STALL, u->health == CREDIT_STALLED, 0);
	watch(c, line, TROUBLE_LEAK, u->leaked > 0, u->leaked);
}

void credit_promises_beyond(struct control_role *c, uint32_t line, const struct rsvp_path_view *v)
{
	struct credit_use *u = &credit_of(c->node)->use[line];
	struct rsvp_event e = {.kind = RSVP_EVENT_BEYOND, .view = *v};

	u->counts.beyond++;
	if (u->beyond_told)
		return;
	u->beyond_told = true;
	rsvp_post(c, &e);
}
