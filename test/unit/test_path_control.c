/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control of paths: what it decides for a score, and controls against each other on links that they share. Links are queues:
 * the delay of a path is that of its links, and what a control sees is an interval old, as reports are.
 */
#include "test/support/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "steer/path_control.h"

#define INTERVAL 100000u /* ns */

static const struct path_control_rules usual =
	{.interval_ns = INTERVAL, .hold_ns = 2 * INTERVAL, .floor = 10000, .margin = 20, .share = 50, .jitter = 25};

static void sample_all(struct path_control *c, uint64_t now, const struct path_sample *s)
{
	for (uint32_t i = 0; i < c->n; i++)
		path_control_sample(c, i, &s[i], now);
}

/* Sample the same for so many intervals, and decide. */
static unsigned int decide_after(struct path_control *c, uint64_t *now, unsigned int intervals,
	const struct path_sample *s, struct path_move *out)
{
	for (unsigned int i = 0; i < intervals * 8; i++) {
		*now += INTERVAL / 8;
		sample_all(c, *now, s);
	}
	c->next = *now;
	return path_control_decide(c, *now, out);
}

static uint32_t total(const struct path_move *m, unsigned int n, uint32_t from)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += m[i].from == from ? m[i].flows : 0;
	return sum;
}

/* Half of the flows of a congested path goes, to the least loaded ones alike; then it is left alone for the hold. */
static void congested(void **state)
{
	struct path_move m[PATH_CONTROL_MOVES];
	struct path_control c;
	struct path_sample s[4] = {{.cost = 200000, .flows = 8, .load = 800}, {.flows = 8, .load = 800},
		{.flows = 8, .load = 800}, {.flows = 8, .load = 1200}};
	uint64_t now = 1000000;
	unsigned int n;

	(void)state;
	path_control_init(&c, &usual, 4, 1, now);
	n = decide_after(&c, &now, 4, s, m);
	assert_int_equal(n, 2);
	assert_true(m[0].flows == 2 && m[1].flows == 2);
	assert_true(m[0].to != m[1].to && m[0].to != 3 && m[1].to != 3);
	assert_int_equal(m[0].reason, PATH_REASON_CONGESTED);
	assert_int_equal(c.path[0].reason, PATH_REASON_CONGESTED);
	assert_true(c.path[0].reason_score > 190000 && c.path[0].reason_other == 0);
	assert_int_equal(decide_after(&c, &now, 1, s, m), 0);
	assert_int_equal(total(m, decide_after(&c, &now, 1, s, m), 0), 4);
	/* nothing happens below the floor, nor without a path that is better by the margin */
	for (unsigned int i = 0; i < 4; i++)
		s[i].cost = i ? 0 : 9000;
	path_control_init(&c, &usual, 4, 1, now);
	assert_int_equal(decide_after(&c, &now, 4, s, m), 0);
	for (unsigned int i = 0; i < 4; i++)
		s[i].cost = i ? 85000 : 100000;
	path_control_init(&c, &usual, 4, 1, now);
	assert_int_equal(decide_after(&c, &now, 4, s, m), 0);
	s[2].cost = 80000;
	assert_int_equal(decide_after(&c, &now, 4, s, m), 1);
	assert_int_equal(m[0].to, 2);
}

/* Dead is not congested: all flows leave at once, without an interval or a hold; without a way out they stay, with an alarm. */
static void dead(void **state)
{
	struct path_move m[PATH_CONTROL_MOVES];
	struct path_control c;
	struct path_sample s[3] = {{.flows = 9, .load = 900}, {.flows = 1, .load = 100}, {.flows = 1, .load = 100}};
	uint64_t now = 1000000;
	unsigned int n;

	(void)state;
	path_control_init(&c, &usual, 3, 1, now);
	sample_all(&c, now, s);
	s[0].dead = true;
	now++;
	sample_all(&c, now, s);
	assert_true(now < c.next);
	n = path_control_decide(&c, now, m);
	assert_int_equal(n, 2);
	assert_int_equal(total(m, n, 0), 9);
	assert_true(m[0].flows == 4 || m[0].flows == 5);
	assert_int_equal(m[0].reason, PATH_REASON_DEAD);
	assert_false(c.none_left);
	s[0].flows = 0;
	s[1] = (struct path_sample){.flows = 6, .load = 600, .dead = true};
	sample_all(&c, ++now, s);
	n = path_control_decide(&c, now, m);
	assert_int_equal(n, 1);
	assert_true(m[0].to == 2 && m[0].flows == 6);
	s[2].dead = true;
	sample_all(&c, ++now, s);
	assert_int_equal(path_control_decide(&c, now, m), 0);
	assert_true(c.none_left);
	/* that a path was full is no reason to stay on a dead one */
	s[2].dead = false;
	c.path[2].full = 1;
	c.path[2].full_at = now;
	c.path[2].full_for = 1000000000;
	sample_all(&c, ++now, s);
	assert_int_equal(path_control_decide(&c, now, m), 1);
	/* it returns without the score that it had before */
	s[1] = (struct path_sample){0};
	sample_all(&c, ++now, s);
	path_control_decide(&c, now, m);
	assert_false(c.none_left);
}

/* Barred: whatever the score says, nobody comes and flows leave. */
static void barred(void **state)
{
	struct path_move m[PATH_CONTROL_MOVES];
	struct path_control c;
	struct path_sample s[3] = {{.flows = 8, .load = 800, .barred = true}, {.flows = 8, .load = 800, .cost = 90000},
		{.flows = 20, .load = 2000}};
	uint64_t now = 1000000;
	unsigned int n;

	(void)state;
	path_control_init(&c, &usual, 3, 1, now);
	n = decide_after(&c, &now, 2, s, m);
	assert_true(total(m, n, 0) == 4 && total(m, n, 1) == 4);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_not_equal(m[i].to, 0);
		assert_int_equal(m[i].reason, m[i].from ? PATH_REASON_CONGESTED : PATH_REASON_BARRED);
	}
}

/* The score follows a step with the time constant that path_control.h states; spacing of samples does not matter much. */
static void mean(void **state)
{
	struct path_sample s = {.cost = 0};
	uint64_t score[2];

	(void)state;
	for (unsigned int fine = 0; fine < 2; fine++) {
		struct path_control c;
		uint64_t now = 1;

		path_control_init(&c, &usual, 1, 1, now);
		s.cost = 0;
		path_control_sample(&c, 0, &s, now);
		s.cost = 100000;
		for (unsigned int i = 0; i < (fine ? 64 : 8); i++)
			path_control_sample(&c, 0, &s, now += INTERVAL / (fine ? 64 : 8));
		score[fine] = c.path[0].score;
	}
	/* 1 - (1 / (1 + dt / tau))^n */
	check(score[0] > 96000 && score[0] < 96200, "%u", (unsigned int)score[0]);
	check(score[1] > 97800 && score[1] < 98100, "%u", (unsigned int)score[1]);
}

/* Turns are random, those who moved recently come first, and each round has another order. */
static void turns(void **state)
{
	unsigned int other = 0, low = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t old = path_control_turn(i, 7, 1000, 1000), recent = path_control_turn(i, 7, 999, 1000);

		assert_true(recent < old);
		low += recent < 1u << 30;
		other += (path_control_turn(i, 8, 999, 1000) < 1u << 30) != (recent < 1u << 30);
	}
	check(low > 450 && low < 550, "%u of 1000 in the lower half", low);
	check(other > 400 && other < 600, "%u of 1000 changed sides", other);
}

/* --- controls against each other --- */

#define LINKS_MAX 16
#define CONTROLS_MAX 8
#define FLOWS_MAX 32
#define REPORTS 8 /* samples of an interval */

struct world {
	uint64_t random, now;
	uint32_t links, controls, paths, flows;
	double rate[LINKS_MAX], queue[LINKS_MAX]; /* flows that fit; ns */
	uint32_t way[CONTROLS_MAX][PATH_CONTROL_PATHS][2];
	uint32_t at[CONTROLS_MAX][FLOWS_MAX];
	struct path_control control[CONTROLS_MAX];
	double seen[REPORTS][CONTROLS_MAX][PATH_CONTROL_PATHS];
	uint32_t steps;
	uint32_t moved; /* flows */
};

static uint32_t draw(struct world *w, uint32_t below)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((w->random >> 33) % below);
}

/*
 * All flows begin on the first paths of their controls, and fit on the links together with a fifth to spare. Each path takes two
 * links: one of those behind its gateway, which are as many as it has paths, and one of the others' as well.
 */
static void make_world(struct world *w, uint32_t seed, const struct path_control_rules *rules)
{
	memset(w, 0, sizeof(*w));
	w->random = seed * 2654435761u + 1;
	w->now = 1;
	w->controls = 2 + draw(w, CONTROLS_MAX - 1);
	w->links = 4 + draw(w, LINKS_MAX - 3);
	w->paths = 3 + draw(w, w->links - 2);
	w->flows = 8 + draw(w, FLOWS_MAX - 7);
	for (uint32_t i = 0; i < w->links; i++)
		w->rate[i] = (double)(1 + draw(w, 4));
	for (uint32_t k = 0; k < w->controls; k++) {
		path_control_init(&w->control[k], rules, w->paths, seed * 16 + k, w->now);
		for (uint32_t i = 0; i < w->paths; i++) {
			w->way[k][i][0] = (i + k) % w->links;
			w->way[k][i][1] = draw(w, 2) ? draw(w, w->links) : w->way[k][i][0];
		}
		for (uint32_t f = 0; f < w->flows; f++)
			w->at[k][f] = draw(w, 1 + w->paths / 3);
	}
}

static void loads(const struct world *w, double *load)
{
	for (uint32_t i = 0; i < w->links; i++)
		load[i] = 0;
	for (uint32_t k = 0; k < w->controls; k++)
		for (uint32_t f = 0; f < w->flows; f++) {
			const uint32_t *way = w->way[k][w->at[k][f]];

			load[way[0]]++;
			if (way[1] != way[0])
				load[way[1]]++;
		}
}

/* Queues grow and drain for a time; a link that is nearly full has some delay, one that is overloaded up to 500 us. */
static void run_links(struct world *w, const double *scale, uint64_t ns)
{
	double load[LINKS_MAX];

	loads(w, load);
	for (uint32_t i = 0; i < w->links; i++) {
		double use = load[i] / (w->rate[i] * *scale);

		w->queue[i] += (use - 1) * (double)ns;
		w->queue[i] = MIN_OF(MAX_OF(w->queue[i], use < 0.95 ? 2000 * use : 8000), 2 * INTERVAL);
	}
}

static double delay(const struct world *w, uint32_t k, uint32_t path)
{
	const uint32_t *way = w->way[k][path];

	return w->queue[way[0]] + (way[1] != way[0] ? w->queue[way[1]] : 0);
}

static void move(struct world *w, uint32_t k, const struct path_move *m)
{
	uint32_t left = m->flows;

	for (uint32_t f = 0; f < w->flows && left; f++)
		if (w->at[k][f] == m->from) {
			w->at[k][f] = m->to;
			left--;
			w->moved++;
		}
}

static void run_controls(struct world *w, double seen[CONTROLS_MAX][PATH_CONTROL_PATHS])
{
	for (uint32_t k = 0; k < w->controls; k++) {
		struct path_move m[PATH_CONTROL_MOVES];
		unsigned int n;

		for (uint32_t i = 0; i < w->paths; i++) {
			struct path_sample s = {.cost = (uint64_t)seen[k][i]};

			for (uint32_t f = 0; f < w->flows; f++)
				s.flows += w->at[k][f] == i;
			s.load = s.flows;
			path_control_sample(&w->control[k], i, &s, w->now);
		}
		n = path_control_decide(&w->control[k], w->now, m);
		for (unsigned int i = 0; i < n; i++)
			move(w, k, &m[i]);
	}
}

/* Run for so many intervals. Returns the flows that moved. */
static uint32_t run_world(struct world *w, unsigned int intervals, double scale)
{
	w->moved = 0;
	for (unsigned int i = 0; i < intervals * REPORTS; i++) {
		uint32_t at = w->steps++ % REPORTS;

		run_links(w, &scale, INTERVAL / REPORTS);
		w->now += INTERVAL / REPORTS;
		/* the oldest report; then it is replaced */
		run_controls(w, w->seen[at]);
		for (uint32_t k = 0; k < w->controls; k++)
			for (uint32_t p = 0; p < w->paths; p++)
				w->seen[at][k][p] = delay(w, k, p);
	}
	return w->moved;
}

/* The load of the most loaded link if a flow more takes a path. */
static double use_with(const struct world *w, const double *load, uint32_t k, uint32_t path)
{
	const uint32_t *way = w->way[k][path];
	double a = (load[way[0]] + 1) / w->rate[way[0]], b = (load[way[1]] + 1) / w->rate[way[1]];

	return MAX_OF(a, b);
}

/* The scale of rates with which all flows fit, each in turn on the path where it disturbs least, and fill no link beyond `use`. */
static double scale_of(const struct world *w, double use)
{
	double load[LINKS_MAX] = {0}, most = 0;

	for (uint32_t f = 0; f < w->flows; f++)
		for (uint32_t k = 0; k < w->controls; k++) {
			uint32_t best = 0;

			for (uint32_t i = 1; i < w->paths; i++)
				if (use_with(w, load, k, i) < use_with(w, load, k, best))
					best = i;
			most = MAX_OF(most, use_with(w, load, k, best));
			load[w->way[k][best][0]]++;
			if (w->way[k][best][1] != w->way[k][best][0])
				load[w->way[k][best][1]]++;
		}
	return most / use;
}

/*
 * Topologies of `n` in which no link is overloaded after 20 intervals, and no flow moves in the 20 after these. moves: of flows, all
 * together.
 */
static unsigned int settled(unsigned int n, const struct path_control_rules *rules, double use, uint64_t *moves)
{
	struct world *w = malloc(sizeof(*w));
	unsigned int good = 0;

	assert_non_null(w);
	*moves = 0;
	for (uint32_t seed = 0; seed < n; seed++) {
		double load[LINKS_MAX], most = 0, scale;
		uint32_t later;

		make_world(w, seed, rules);
		scale = scale_of(w, use);
		*moves += run_world(w, 20, scale);
		loads(w, load);
		for (uint32_t i = 0; i < w->links; i++)
			most = MAX_OF(most, load[i] / (w->rate[i] * scale));
		later = run_world(w, 20, scale);
		*moves += later;
		good += most <= 1 && !later;
	}
	free(w);
	return good;
}

/*
 * Two to eight controls settle within 20 intervals. Without hold and jitter they chase each other, which shows where there is
 * little room: then most do not settle, and flows move much more often.
 */
static void against_each_other(void **state)
{
	unsigned int n = 1000, good[3];
	struct path_control_rules bad = usual;
	uint64_t moves[3];

	(void)state;
	bad.hold_ns = bad.jitter = 0;
	good[0] = settled(n, &usual, 0.5, &moves[0]);
	good[1] = settled(n, &usual, 0.75, &moves[1]);
	good[2] = settled(n, &bad, 0.75, &moves[2]);
	print_message("of %u topologies %u settle; with little room %u, and without hold and jitter %u; moves %llu, "
		      "%llu, %llu\n",
		n, good[0], good[1], good[2], (unsigned long long)moves[0], (unsigned long long)moves[1],
		(unsigned long long)moves[2]);
	assert_int_equal(good[0], n);
	assert_true(good[2] < good[1] && good[2] < n / 2);
	assert_true(moves[2] > 2 * moves[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(congested),
		cmocka_unit_test(dead),
		cmocka_unit_test(barred),
		cmocka_unit_test(mean),
		cmocka_unit_test(turns),
		cmocka_unit_test(against_each_other),
	};

	return cmocka_run_group_tests_name("path_control", tests, NULL, NULL);
}
