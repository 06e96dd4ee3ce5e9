/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sharing of the pool by demand (docs/credit.md 2.12, D52): users whose packets wait ask for more, idle ones give their credit
 * back, and the grantor serves who waits, the smallest first. Control lcore.
 */
#include "node/service.h"
#include "service/rsvp/service_credit.h"

/* --- the grantor --- */

void credit_grant_wants(struct credit_control *k, uint32_t grant)
{
	k->asked = true;
	if (k->grant[grant].wants)
		return;
	k->grant[grant].wants = true;
	k->wanting[k->n_wanting++] = grant;
}

static struct rsvp_path *path_of(const struct control_role *c, const struct credit_grant *g)
{
	return g->used && g->on && g->slot != CREDIT_NO_SLOT ? rsvp_path_at(rsvp_of(c)->machines, g->slot) : NULL;
}

/* Those that have what they want, or want nothing any more, wait no longer. */
static void forget_served(struct control_role *c)
{
	struct credit_control *k = credit_of(c->node);

	for (uint32_t i = 0; i < k->n_wanting;) {
		struct credit_grant *g = &k->grant[k->wanting[i]];

		if (path_of(c, g) && g->g.want > g->g.buf) {
			i++;
			continue;
		}
		g->wants = false;
		k->wanting[i] = k->wanting[--k->n_wanting];
	}
}

/* A session that has got less than it may, because it may have no more, does not wait for the pool. */
static void grow(struct control_role *c, uint32_t number, uint32_t to)
{
	struct credit_grant *g = &credit_of(c->node)->grant[number];
	uint32_t want = to - g->g.buf;

	if (rsvp_grow(rsvp_of(c)->machines, path_of(c, g), to) < want)
		g->g.want = 0;
	credit_update_due(c, number);
}

/* When somebody has asked, or units have come back to the pool. */
void credit_serve(struct control_role *c)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_pool pool = {0};
	uint64_t free;

	if (!k->n_wanting)
		return;
	free = rsvp_pool_free(rsvp_of(c)->machines);
	if (!free || (!k->asked && free == k->pool_free))
		return;
	forget_served(c);
	for (uint32_t i = 0; i < k->n_wanting; i++) {
		const struct credit_grantor *g = &k->grant[k->wanting[i]].g;

		k->demand[i] = (struct credit_demand){.buf = g->buf,
			.want = MIN_OF(g->want, c->s->credit.config.buffer)};
		k->demands[i] = &k->demand[i];
	}
	pool.size = free;
	credit_pool_serve(&pool, k->demands, k->n_wanting);
	for (uint32_t i = 0; i < k->n_wanting; i++)
		if (k->demand[i].buf > k->grant[k->wanting[i]].g.buf)
			grow(c, k->wanting[i], k->demand[i].buf);
	for (uint32_t i = 0; i < k->n_wanting; i++)
		if (k->demand[i].buf >= k->demand[i].want)
			k->grant[k->wanting[i]].g.want = 0;
	forget_served(c);
	k->asked = false;
	k->pool_free = rsvp_pool_free(rsvp_of(c)->machines);
}

/* --- the user --- */

/* Units that keep the port of a session busy with packets as those that wait (2.9). */
static uint32_t usable(const struct control_role *c, const struct credit_use *u, const struct credit_line *l,
	uint64_t loop_ns)
{
	uint64_t waits = MAX_OF(stat_read(&l->waits), 1), unit = c->s->credit.config.unit;
	uint64_t bytes = MAX_OF(stat_read(&l->waits_bytes) / waits, 64);
	uint64_t charged = (uint64_t)credit_units((uint32_t)bytes, c->s->credit.overhead, (uint8_t)unit) << unit;
	uint64_t rate = (uint64_t)((double)c->s->port[u->binding.port].speed_bps / 8 * (double)charged / (double)bytes);
	struct credit_load load = {.rate = rate,
		.rate_all = rate,
		.loop_ns = loop_ns,
		.updates = CREDIT_UPDATES_PER_S,
		.mtu = (uint32_t)charged};

	return (uint32_t)MIN_OF((credit_window(&load) >> unit) + 1, (uint64_t)UINT32_MAX);
}

/* Does the session hold credit that it would give back when it sends nothing? */
bool credit_holds_more(const struct control_role *c, const struct credit_use *u)
{
	return c->s->credit.floor && !u->keeps && u->slot != CREDIT_NO_SLOT && u->u.state == CREDIT_OPEN &&
	       u->u.buf_now > c->s->credit.floor;
}

/* A session that has no more than its floor asks at once: nothing that it has on its way could be enough. */
static void ask_for_more(struct control_role *c, uint32_t line, uint64_t loop_ns, uint64_t pause_ns)
{
	struct credit_use *u = &credit_of(c->node)->use[line];
	const struct credit_line *l = &credit_of(c->node)->data->line[line];
	uint32_t floor = c->s->credit.config.floor;
	uint32_t want = credit_user_want(&u->u, usable(c, u, l, loop_ns), u->u.buf_now > floor ? loop_ns : 0, c->now);

	if (!floor || !want || (u->wanted_ns && c->now - u->wanted_ns < pause_ns))
		return;
	u->wanted_ns = c->now;
	u->want = want;
	credit_marker_send(c, line, true, false);
}

void credit_look_at_share(struct control_role *c, uint32_t line, uint64_t loop_ns, uint64_t pause_ns)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	const struct credit_line *l = &k->data->line[line];
	uint64_t idle_ns = c->s->credit.config.idle_ms * NSEC_PER_MSEC;
	uint64_t after_ns = MAX_OF(idle_ns, c->s->credit.return_ns ? c->s->credit.return_ns : 2 * loop_ns);

	ask_for_more(c, line, loop_ns, pause_ns);
	if (!credit_holds_more(c, u) || c->now - u->returned_ns < after_ns || c->now - u->u.heard_ns > NSEC_PER_SEC ||
		!credit_user_returns(&u->u, &l->gate, stat_read(&l->waits), c->s->credit.floor, after_ns, c->now))
		return;
	u->returns = u->slot;
	u->returned_ns = c->now;
	u->wanted = CREDIT_NO_SLOT;
	credit_line_step(c, line);
}

/* The worker holds the line. False: it is needed after all, or the path has no credit any more. */
bool credit_give_back(struct control_role *c, uint32_t line)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	const struct credit_line *l = &k->data->line[line];
	struct rsvp_path *p = rsvp_path_at(rsvp_of(c)->machines, u->returns);
	uint64_t idle_ns = c->s->credit.config.idle_ms * NSEC_PER_MSEC;

	u->returns = CREDIT_NO_SLOT;
	if (!p || stat_read(&l->waits) || !credit_user_idle(&l->gate, idle_ns, c->now))
		return false;
	u->gave = u->u.buf_now;
	if (!rsvp_user_return(rsvp_of(c)->machines, c->now, p)) {
		u->gave = 0;
		return false;
	}
	u->counts.returned++;
	return true;
}
