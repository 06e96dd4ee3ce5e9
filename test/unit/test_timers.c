/* SPDX-License-Identifier: BSD-3-Clause */
/* The timing wheel against a list that is searched, its order, its budget and what it costs. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "base/timers.h"

#define ALL UINT32_MAX

struct item {
	struct timer timer;
	uint64_t turn; /* when it was set, among all; for the order of those of the same time */
};

static struct item *item_of(struct timer *x)
{
	return TIMER_OWNER(x, struct item, timer);
}

static struct timer *pop(struct timers *t, uint64_t now)
{
	unsigned int budget = ALL;

	return timers_pop(t, now, &budget);
}

static struct timers *wheel(void)
{
	struct timers *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	return t;
}

static uint64_t xorshift(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* --- a model: the same timers, searched from the first to the last --- */

#define N 200

struct model {
	struct timers *t;
	struct item item[N];
	uint64_t at[N]; /* TIME_NEVER: not set */
	uint64_t turn, now, random;
	uint64_t expired, early;
};

static int first_of(const struct model *m)
{
	int best = -1;

	for (int i = 0; i < N; i++)
		if (m->at[i] != TIME_NEVER &&
			(best < 0 || m->at[i] < m->at[best] ||
				(m->at[i] == m->at[best] && m->item[i].turn < m->item[best].turn)))
			best = i;
	return best;
}

static void model_set(struct model *m, unsigned int i, uint64_t at)
{
	timers_set(m->t, &m->item[i].timer, at);
	if (at != TIME_NEVER)
		at = MAX_OF(at, m->t->position);
	if (m->at[i] != at)
		m->item[i].turn = ++m->turn;
	m->at[i] = at;
	assert_int_equal(timer_is_set(&m->item[i].timer), at != TIME_NEVER);
}

static void model_cancel(struct model *m, unsigned int i)
{
	timers_cancel(m->t, &m->item[i].timer);
	m->at[i] = TIME_NEVER;
	assert_false(timer_is_set(&m->item[i].timer));
}

/* A time that may be near, far, in the past, at a digit's end, or that of another timer. */
static uint64_t some_time(struct model *m)
{
	uint64_t r = xorshift(&m->random), ahead = xorshift(&m->random) >> (r >> 8) % 64;

	switch (r % 8) {
	case 0:
		return m->now - MIN_OF(m->now, ahead);
	case 1:
		return TIME_NEVER - 1;
	case 2:
		return m->at[(r >> 16) % N];
	case 3:
		return (m->now | ((1ull << (r >> 16) % 64) - 1)) + (r >> 32) % 2;
	case 4:
		return m->now + (r >> 16) % 70;
	default:
		return ahead < TIME_NEVER - m->now ? m->now + ahead : TIME_NEVER;
	}
}

/* All that is due, by passes of some budget. The last one ends with nothing due. */
static void model_poll(struct model *m, unsigned int budget)
{
	for (bool more = true; more;) {
		unsigned int left = budget;
		struct timer *x;

		while ((x = timers_pop(m->t, m->now, &left))) {
			int i = first_of(m);

			assert_ptr_equal(item_of(x), &m->item[i]);
			assert_true(m->at[i] <= m->now);
			m->at[i] = TIME_NEVER;
			m->expired++;
			/* what a user does: set it again, move another one */
			if (xorshift(&m->random) % 4 == 0)
				model_set(m, (unsigned int)i, m->now + xorshift(&m->random) % 1000);
			if (xorshift(&m->random) % 8 == 0)
				model_set(m, (unsigned int)(xorshift(&m->random) % N), some_time(m));
		}
		more = left == 0;
		if (more && timers_next(m->t) <= m->now)
			continue;
		assert_true(first_of(m) < 0 || m->at[first_of(m)] > m->now);
	}
}

static void model_check_next(struct model *m)
{
	uint64_t next = timers_next(m->t);
	int i = first_of(m);

	if (i < 0) {
		assert_int_equal(next, TIME_NEVER);
		return;
	}
	check(next <= m->at[i], "next %llu, the first timer %llu", (unsigned long long)next,
		(unsigned long long)m->at[i]);
	m->early += next != m->at[i];
}

/* Time goes on by little, by much, or to where something is due. */
static void model_step(struct model *m)
{
	uint64_t r = xorshift(&m->random), next = timers_next(m->t),
		 jump = xorshift(&m->random) >> (16 + (r >> 8) % 48);

	if (r % 4 == 0 && next != TIME_NEVER)
		m->now = MAX_OF(m->now, next);
	else if (r % 4 == 1 && next != TIME_NEVER && next > m->now)
		m->now = next - 1;
	else if (r % 4 != 3)
		m->now = jump < TIME_NEVER - 1 - m->now ? m->now + jump : m->now;
}

static void run_model(uint64_t seed, uint64_t start, unsigned int operations)
{
	struct model *m = calloc(1, sizeof(*m));

	m->t = wheel();
	m->random = seed;
	m->now = start;
	for (unsigned int i = 0; i < N; i++)
		m->at[i] = TIME_NEVER;
	for (unsigned int n = 0; n < operations; n++) {
		uint64_t r = xorshift(&m->random);
		unsigned int i = (unsigned int)(r >> 8) % N;

		if (r % 16 < 9)
			model_set(m, i, some_time(m));
		else if (r % 16 < 12)
			model_cancel(m, i);
		else
			model_step(m);
		if (r % 16 >= 12)
			model_poll(m, r >> 20 & 1 ? ALL : (unsigned int)(r >> 24) % 7 + 1);
		if (n % 8 == 0)
			model_check_next(m);
	}
	check(m->expired > operations / 50, "only %llu expired", (unsigned long long)m->expired);
	/* the first slot seldom has more than TIMERS_SCAN of 200 */
	check(m->early * 1000 < operations, "%llu times too early", (unsigned long long)m->early);
	free(m->t);
	free(m);
}

static void as_a_list(void **state)
{
	run_model(1, 0, 40000);
	run_model(2, 1700000000ull * NSEC_PER_SEC, 40000);
	/* up to the end of all times */
	run_model(3, UINT64_MAX - (1ull << 36), 20000);
	for (uint64_t seed = 4; seed < 24; seed++)
		run_model(seed, (1ull << seed * 2) - 50, 1000);
}

/* --- single rules --- */

static void same_time(void **state)
{
	struct timers *t = wheel();
	struct item x[6] = {0};

	/* set from far, from near, and while the slot they stood in is moved */
	for (unsigned int i = 0; i < 3; i++)
		timers_set(t, &x[i].timer, 100000);
	timers_set(t, &x[5].timer, 99990);
	assert_ptr_equal(pop(t, 99990), &x[5].timer);
	timers_set(t, &x[3].timer, 100000);
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int budget = 1;

		while (!timers_pop(t, 99999, &budget) && !budget)
			budget = 1;
	}
	timers_set(t, &x[4].timer, 100000);
	/* set to the time that it has: it keeps its turn; moved and back: it is the last */
	timers_set(t, &x[0].timer, 100000);
	timers_set(t, &x[1].timer, 100001);
	timers_set(t, &x[1].timer, 100000);
	for (unsigned int i = 0, order[] = {0, 2, 3, 4, 1}; i < 5; i++)
		assert_ptr_equal(pop(t, 100000), &x[order[i]].timer);
	assert_null(pop(t, UINT64_MAX));
	free(t);
}

/* A pass is interrupted while a slot is moved; what is set meanwhile for the same times comes after. */
static void interrupted(void **state)
{
	struct timers *t = wheel();
	struct item x[100] = {0};
	unsigned int budget = 10, n = 0;
	struct timer *got;

	for (unsigned int i = 0; i < 90; i++)
		timers_set(t, &x[i].timer, 1000000 + i / 30 * 1000);
	assert_null(timers_pop(t, 1000000, &budget));
	assert_int_equal(budget, 0);
	assert_true(timers_next(t) <= 1000000);
	for (unsigned int i = 90; i < 100; i++)
		timers_set(t, &x[i].timer, 1000000);
	timers_cancel(t, &x[0].timer);
	timers_cancel(t, &x[89].timer);
	while ((got = pop(t, 1000000)))
		assert_ptr_equal(got, &x[n < 29 ? ++n : ++n + 60].timer);
	assert_int_equal(n, 39);
	assert_int_equal(timers_next(t), 1001000);
	/* all that are left go while the slot is moved */
	budget = 3;
	assert_null(timers_pop(t, 1001000, &budget));
	for (unsigned int i = 30; i < 90; i++)
		timers_cancel(t, &x[i].timer);
	assert_int_equal(timers_next(t), TIME_NEVER);
	assert_null(pop(t, UINT64_MAX));
	free(t);
}

static void limits(void **state)
{
	struct timers *t = wheel();
	struct item x = {0}, y = {0};

	assert_int_equal(timers_next(t), TIME_NEVER);
	assert_null(pop(t, TIME_NEVER));
	timers_cancel(t, &x.timer);
	timers_set(t, &x.timer, TIME_NEVER);
	assert_false(timer_is_set(&x.timer));
	timers_set(t, &x.timer, 5);
	timers_set(t, &x.timer, TIME_NEVER);
	assert_int_equal(timers_next(t), TIME_NEVER);

	timers_set(t, &x.timer, TIME_NEVER - 1);
	timers_set(t, &y.timer, 0);
	assert_int_equal(timers_next(t), 0);
	assert_ptr_equal(pop(t, 0), &y.timer);
	assert_int_equal(timers_next(t), TIME_NEVER - 1);
	assert_null(pop(t, TIME_NEVER - 2));
	/* time stands still, or goes back */
	assert_null(pop(t, 17));
	assert_ptr_equal(pop(t, TIME_NEVER - 1), &x.timer);
	/* in the past: at once */
	timers_set(t, &x.timer, 1000);
	timers_set(t, &y.timer, 999);
	assert_int_equal(timers_next(t), TIME_NEVER - 1);
	assert_ptr_equal(pop(t, TIME_NEVER - 1), &x.timer);
	assert_ptr_equal(pop(t, TIME_NEVER - 1), &y.timer);
	free(t);
}

/* Whichever timer goes, the time of the first one that is left is known, and no earlier one. */
static void next_is_exact(void **state)
{
	struct timers *t = wheel();
	struct item x[4] = {0};

	for (unsigned int i = 0; i < 4; i++)
		timers_set(t, &x[i].timer, 5000000 + i * 100);
	timers_cancel(t, &x[0].timer);
	assert_int_equal(timers_next(t), 5000100);
	timers_set(t, &x[1].timer, 5000250);
	assert_int_equal(timers_next(t), 5000200);
	timers_cancel(t, &x[3].timer);
	timers_set(t, &x[2].timer, NSEC_PER_SEC);
	assert_int_equal(timers_next(t), 5000250);
	timers_set(t, &x[0].timer, 5000001);
	assert_int_equal(timers_next(t), 5000001);
	free(t);
}

/* No pass looks at more timers than its budget, and none is wasted. */
static void budget(void **state)
{
	enum { MANY = 10000 };
	struct timers *t = wheel();
	struct item *x = calloc(MANY, sizeof(*x));
	unsigned int expired = 0, passes = 0;

	for (unsigned int i = 0; i < MANY; i++)
		timers_set(t, &x[i].timer, NSEC_PER_SEC + i * 7919ull % 100000);
	while (expired < MANY) {
		uint64_t before = t->visited;
		unsigned int left = 64;

		assert_true(timers_next(t) <= 2 * NSEC_PER_SEC);
		while (timers_pop(t, 2 * NSEC_PER_SEC, &left))
			expired++;
		assert_true(t->visited - before <= 64);
		passes++;
	}
	/* each is moved a few times: TIMERS_LEVELS at most */
	check(passes <= MANY * (TIMERS_LEVELS + 1) / 64, "%u passes", passes);
	assert_int_equal(timers_next(t), TIME_NEVER);
	free(x);
	free(t);
}

/* 64 K timers cost nothing while none expires. Moving one of them, as a refresh does, takes one step. */
static void idle(void **state)
{
	enum { MANY = 65536 };
	struct timers *t = wheel();
	struct item *x = calloc(MANY, sizeof(*x));
	uint64_t now = 12345 * NSEC_PER_SEC, next = TIME_NEVER, visited;
	unsigned int left = 64;

	for (unsigned int i = 0; i < MANY; i++)
		timers_set(t, &x[i].timer, now + 30 * NSEC_PER_SEC + i * NSEC_PER_USEC);
	assert_int_equal(t->visited, 0);
	for (unsigned int i = 0; i < 100000; i++, now += 100 * NSEC_PER_USEC) {
		assert_null(timers_pop(t, now, &left));
		next = timers_next(t);
		assert_int_equal(next, 12375 * NSEC_PER_SEC);
	}
	assert_int_equal(left, 64);
	assert_int_equal(t->visited, 0);

	/* always the first to expire is refreshed: now and then a bounded look for the new first one */
	for (unsigned int i = 0; i < MANY; i++) {
		timers_set(t, &x[i].timer, now + 30 * NSEC_PER_SEC + i);
		timers_next(t);
	}
	visited = t->visited;
	check(visited <= MANY / 100, "%llu timers looked at", (unsigned long long)visited);
	/* then passes with nothing due cost nothing again, and wake-ups that find nothing are few */
	for (unsigned int i = 0; i < 100; i++) {
		left = UINT32_MAX;
		now = MAX_OF(timers_next(t), now + 1);
		if (timers_pop(t, now, &left))
			break;
		assert_true(i < 2 * TIMERS_LEVELS);
	}
	free(x);
	free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_a_list),
		cmocka_unit_test(same_time),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(limits),
		cmocka_unit_test(next_is_exact),
		cmocka_unit_test(budget),
		cmocka_unit_test(idle),
	};

	return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
