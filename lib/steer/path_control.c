/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which paths flows leave (path_control.h). Pure. */
#include "steer/path_control.h"

#include <string.h>

#include "base/compiler.h"

static uint64_t draw(struct path_control *c)
{
	c->random = c->random * 6364136223846793005ull + 1442695040888963407ull;
	return c->random >> 33;
}

/* The time until the next decision. */
static uint64_t interval(struct path_control *c)
{
	uint64_t part = c->rules.interval_ns / 100 * c->rules.jitter;

	return c->rules.interval_ns - part + (part ? (uint64_t)((double)draw(c) / (1u << 31) * 2 * (double)part) : 0);
}

void path_control_init(struct path_control *c, const struct path_control_rules *rules, uint32_t n, uint64_t seed,
	uint64_t now)
{
	memset(c, 0, sizeof(*c));
	c->rules = *rules;
	c->n = n;
	c->random = (seed + 1) * 0x9e3779b97f4a7c15ull;
	draw(c);
	c->next = now + interval(c);
}

void path_control_sample(struct path_control *c, uint32_t i, const struct path_sample *s, uint64_t now)
{
	struct path_score *p = &c->path[i];
	double dt = p->sampled && now > p->sampled ? (double)(now - p->sampled) : 0;
	double weight = dt / (dt + PATH_CONTROL_MEMORY * (double)c->rules.interval_ns);
	double change = ((double)s->cost - (double)p->score) * weight;

	/* what was measured before a failure says nothing about the path after it */
	if (!p->sampled || p->last.dead)
		p->score = s->cost;
	else
		p->score = (uint64_t)((double)p->score + change);
	p->last = *s;
	p->sampled = now;
}

static bool in_hold(const struct path_score *p, uint64_t now)
{
	return p->hold && now < p->changed + p->hold;
}

/* Flows leave a path, or come to it. */
static void change(struct path_control *c, struct path_score *p, bool left, uint64_t now)
{
	bool turns = p->changed && p->left != left;

	if (p->changed == now && p->left == left)
		return;
	/* a path that has been quiet for long begins anew */
	if (!p->changed || now >= p->changed + 4 * p->hold)
		p->hold = c->rules.hold_ns;
	else if (turns)
		p->hold = MIN_OF(2 * p->hold, PATH_CONTROL_HOLDS * c->rules.hold_ns);
	p->changed = now;
	p->left = left;
}

/* In the decision in which it receives flows, a path may receive more. */
static bool may_receive(const struct path_score *p, uint64_t now)
{
	return !p->last.dead && !p->last.barred && !p->last.closed &&
	       (!in_hold(p, now) || (p->changed == now && !p->left));
}

/*
 * What a flow of `from` adds to another path: the mean of the flows there, or that of all flows if it is more, for a congested path
 * starves its flows.
 */
static uint64_t load_of_flow(const struct path_control *c, const struct path_score *from)
{
	uint64_t load = 0, flows = 0, own = from->last.flows ? from->last.load / from->last.flows : 0;

	for (uint32_t i = 0; i < c->n; i++) {
		load += c->path[i].last.load;
		flows += c->path[i].last.flows;
	}
	return MAX_OF(MAX_OF(own, flows ? load / flows : 0), 1);
}

/* With one flow more, a path would carry what it was congested with not long ago. */
static bool is_full(const struct path_score *p, uint64_t each, uint64_t now)
{
	return p->full && now < p->full_at + p->full_for && p->last.load + each >= p->full;
}

static void note_full(const struct path_control *c, struct path_score *p, uint64_t load, uint64_t now)
{
	uint64_t first = PATH_CONTROL_FULL * c->rules.interval_ns;
	bool expired = p->full && now >= p->full_at + p->full_for, soon = p->full && now < p->full_at + 2 * p->full_for;

	if (!soon)
		p->full_for = first;
	else if (expired)
		p->full_for = MIN_OF(2 * p->full_for, PATH_CONTROL_FULLS * first);
	p->full = load;
	p->full_at = now;
}

/* The path with the least load of those that `from` may go to; UINT32_MAX: none. Equal ones: any of them, at random. */
static uint32_t least_loaded(struct path_control *c, const bool *may, uint64_t each, enum path_reason why, uint64_t now)
{
	uint32_t best = UINT32_MAX, equal = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		if (!may[i] || (why != PATH_REASON_DEAD && is_full(&c->path[i], each, now)))
			continue;
		if (best == UINT32_MAX || c->path[i].last.load < c->path[best].last.load) {
			best = i;
			equal = 1;
		} else if (c->path[i].last.load == c->path[best].last.load && draw(c) % ++equal == 0) {
			best = i;
		}
	}
	return best;
}

struct decision {
	struct path_move *out;
	unsigned int n;
	uint64_t now;
};

static struct path_move *move_of(struct decision *d, uint32_t from, uint32_t to)
{
	for (unsigned int i = 0; i < d->n; i++)
		if (d->out[i].from == from && d->out[i].to == to)
			return &d->out[i];
	return NULL;
}

static void note(struct path_control *c, uint32_t from, uint32_t to, enum path_reason why)
{
	struct path_score *a = &c->path[from], *b = &c->path[to];

	a->reason = b->reason = (uint8_t)why;
	a->reason_path = to;
	b->reason_path = from;
	a->reason_score = b->reason_other = a->score;
	b->reason_score = a->reason_other = b->score;
}

/* Move up to `most` flows from a path to those in `may`. Returns how many move. */
static uint32_t spread_flows(struct path_control *c, struct decision *d, uint32_t from, const bool *may, uint32_t most,
	enum path_reason why)
{
	uint64_t each = load_of_flow(c, &c->path[from]);
	uint32_t done = 0;

	for (; done < most && c->path[from].last.flows; done++) {
		uint32_t to = least_loaded(c, may, each, why, d->now);
		struct path_move *m = to == UINT32_MAX ? NULL : move_of(d, from, to);

		if (to == UINT32_MAX || (!m && d->n == PATH_CONTROL_MOVES))
			break;
		if (!m) {
			m = &d->out[d->n++];
			*m = (struct path_move){.from = from, .to = to, .reason = (uint8_t)why};
			note(c, from, to, why);
			change(c, &c->path[from], true, d->now);
			change(c, &c->path[to], false, d->now);
		}
		m->flows++;
		c->path[from].last.flows--;
		c->path[from].last.load -= MIN_OF(c->path[from].last.load, each);
		c->path[to].last.flows++;
		c->path[to].last.load += each;
	}
	return done;
}

/* Flows of dead paths go to whatever is alive, if possible to what may receive. */
static void leave_dead(struct path_control *c, struct decision *d, uint64_t now)
{
	bool good[PATH_CONTROL_PATHS], alive[PATH_CONTROL_PATHS], any = false;
	bool some = false, stuck = false;

	for (uint32_t i = 0; i < c->n; i++) {
		good[i] = may_receive(&c->path[i], now);
		alive[i] = !c->path[i].last.dead;
		any |= good[i];
		some |= alive[i];
	}
	for (uint32_t i = 0; i < c->n; i++) {
		if (!c->path[i].last.dead || !c->path[i].last.flows)
			continue;
		stuck |= !some;
		spread_flows(c, d, i, any ? good : alive, UINT32_MAX, PATH_REASON_DEAD);
	}
	c->none_left = stuck;
}

/* The delay is falling: enough flows have left, and the queue drains. */
static bool is_relieved(const struct path_score *p)
{
	return p->last.cost < p->score - p->score / 16;
}

/* The most congested path that flows may leave and that was not looked at; UINT32_MAX: none. */
static uint32_t worst(const struct path_control *c, const bool *done, uint64_t now)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct path_score *p = &c->path[i];

		if (done[i] || p->last.dead || !p->last.flows || in_hold(p, now))
			continue;
		if (!p->last.barred && (p->score < MAX_OF(c->rules.floor, 1) || is_relieved(p)))
			continue;
		if (best == UINT32_MAX || p->last.barred > c->path[best].last.barred ||
			(p->last.barred == c->path[best].last.barred && p->score > c->path[best].score))
			best = i;
	}
	return best;
}

static bool is_better(const struct path_control *c, const struct path_score *a, uint64_t than)
{
	double margin = 1 + (double)c->rules.margin / 100;

	return (double)a->score * margin <= (double)than && a->score + c->rules.floor / 2 <= than;
}

/* A barred path is as bad as any, and worse than a path that is not congested. */
static uint64_t effective_score(const struct path_control *c, const struct path_score *p)
{
	uint64_t score = p->score;

	for (uint32_t i = 0; p->last.barred && i < c->n; i++)
		score = MAX_OF(score, MAX_OF(c->path[i].score, 2 * c->rules.floor));
	return score;
}

static void leave_congested(struct path_control *c, struct decision *d, uint64_t now)
{
	bool done[PATH_CONTROL_PATHS] = {false}, may[PATH_CONTROL_PATHS];
	uint64_t all = 0, left;

	for (uint32_t i = 0; i < c->n; i++)
		all += c->path[i].last.flows;
	left = MAX_OF(all * c->rules.share / 100, 1);
	for (uint32_t from; left && (from = worst(c, done, now)) != UINT32_MAX;) {
		struct path_score *p = &c->path[from];
		uint32_t most = MAX_OF(p->last.flows * c->rules.share / 100, 1), moved;
		uint64_t score = effective_score(c, p), load;
		bool free = false;

		done[from] = true;
		for (uint32_t i = 0; i < c->n; i++) {
			may[i] = i != from && may_receive(&c->path[i], now) && is_better(c, &c->path[i], score);
			free |= may[i] && c->path[i].score < c->rules.floor;
		}
		/* a path that is congested, too, is better than nothing, for one flow */
		for (uint32_t i = 0; free && i < c->n; i++)
			may[i] &= c->path[i].score < c->rules.floor;
		most = free ? most : 1;
		load = p->last.load;
		moved = spread_flows(c, d, from, may, (uint32_t)MIN_OF(left, most),
			p->last.barred ? PATH_REASON_BARRED : PATH_REASON_CONGESTED);
		left -= moved;
		if (moved && !p->last.barred)
			note_full(c, p, load, now);
	}
}

unsigned int path_control_decide(struct path_control *c, uint64_t now, struct path_move *out)
{
	struct decision d = {.out = out, .now = now};

	leave_dead(c, &d, now);
	if (now >= c->next) {
		leave_congested(c, &d, now);
		c->next = now + interval(c);
		c->round++;
	}
	return d.n;
}
