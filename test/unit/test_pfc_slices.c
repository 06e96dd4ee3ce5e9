/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of slices in a lossless buffer: who stops, who goes on, and how much all of them can hold at most. */
#include "test/support/unit.h"

#include "pfc/pfc_slices.h"

#define N 16
#define FLOOR 100
#define ROOM 500 /* may still arrive of a slice that was stopped */

static const struct pfc_buffer_config config = {.xoff = {1000, 1000},
	.xon = {800, 800},
	.floor = {FLOOR, FLOOR},
	.choice = {300, 300}};

struct bed {
	struct pfc_slices s;
	struct pfc_threshold level[N], rest;
};

static bool look(struct bed *b)
{
	return pfc_slices_look(&b->s, &config, b->level, N, &b->rest);
}

static void hold(struct bed *b, unsigned int slice, uint64_t bytes)
{
	b->level[slice] = (struct pfc_threshold){bytes, bytes ? 1 : 0};
}

/* The first takes all that is shared; then each of the others has its floor. */
static void shares(void **state)
{
	struct bed b = {0};

	(void)state;
	hold(&b, 0, 999);
	assert_false(look(&b));
	hold(&b, 0, 1000);
	assert_true(look(&b));
	assert_int_equal(b.s.stopped[0], 1);
	hold(&b, 1, 99);
	hold(&b, 2, 100);
	assert_true(look(&b));
	assert_int_equal(b.s.stopped[0], 5);
	/* what arrives after the stop takes nothing from the others */
	hold(&b, 0, 1000 + ROOM);
	hold(&b, 2, 100 + ROOM);
	look(&b);
	assert_int_equal(b.s.stopped[0], 5);
	assert_int_equal(b.s.full[0], 5);
	/* the first one drains: it leaves to the others what it held, and resumes 200 below its limit, like the class */
	hold(&b, 1, 0);
	hold(&b, 0, 801);
	look(&b);
	assert_int_equal(b.s.stopped[0], 5);
	hold(&b, 2, 0);
	look(&b);
	assert_int_equal(b.s.stopped[0], 1);
	hold(&b, 0, 800);
	assert_true(look(&b));
	assert_false(pfc_slices_any(&b.s));
}

/* What arrives of a slice after it was stopped leaves the others' shares as they are. */
static void late_arrivals(void **state)
{
	struct bed b = {0};

	(void)state;
	hold(&b, 1, 700);
	look(&b);
	hold(&b, 0, 300);
	look(&b);
	assert_int_equal(b.s.stopped[0], 3);
	hold(&b, 1, 700 + ROOM);
	hold(&b, 0, 0);
	look(&b);
	assert_int_equal(b.s.stopped[0], 2);
	hold(&b, 0, 299);
	look(&b);
	assert_int_equal(b.s.stopped[0], 2);
	hold(&b, 0, 300);
	look(&b);
	assert_int_equal(b.s.stopped[0], 3);
}

/* A limit below XOFF: half of it is low enough. Both bytes and buffers count. */
static void small(void **state)
{
	struct bed b = {0};

	(void)state;
	b.level[0] = (struct pfc_threshold){1000, 1000};
	look(&b);
	b.level[1] = (struct pfc_threshold){1, 100};
	look(&b);
	assert_int_equal(b.s.stopped[0], 3);
	b.level[1] = (struct pfc_threshold){1, 51};
	look(&b);
	assert_int_equal(b.s.stopped[0], 3);
	b.level[1] = (struct pfc_threshold){51, 50};
	look(&b);
	assert_int_equal(b.s.stopped[0], 3);
	b.level[1] = (struct pfc_threshold){50, 50};
	look(&b);
	assert_int_equal(b.s.stopped[0], 1);
}

/* What waits for the CPU counts as shared, and stops all when it alone is too much. */
static void unclassified(void **state)
{
	struct bed b = {.rest = {900, 9}};

	(void)state;
	hold(&b, 3, 99);
	assert_false(look(&b));
	hold(&b, 3, 100);
	assert_true(look(&b));
	assert_int_equal(b.s.stopped[0], 8);
	b.rest.bytes = 1000;
	assert_true(look(&b));
	assert_true(b.s.all);
	b.rest.bytes = 801;
	assert_false(look(&b));
	b.rest.bytes = 800;
	assert_true(look(&b));
	assert_false(b.s.all);
}

/* A slice that is gone stops nobody, nor does a class without tunnels. */
static void gone(void **state)
{
	struct bed b = {0};

	(void)state;
	hold(&b, 9, 1100);
	hold(&b, 2, 100);
	look(&b);
	assert_int_equal(b.s.stopped[0], 0x204);
	assert_true(pfc_slices_look(&b.s, &config, b.level, 9, &b.rest));
	assert_int_equal(b.s.stopped[0], 0);
	hold(&b, 9, 0);
	hold(&b, 2, 1100);
	look(&b);
	assert_int_equal(b.s.stopped[0], 4);
	pfc_slices_forget(&b.s);
	assert_false(pfc_slices_any(&b.s));
}

/*
 * Slices fill and drain in any order, and each may still receive ROOM after it was stopped. Together they never hold more
 * than what is reserved for them, and none that is below its floor is ever stopped.
 */
static void bounded(void **state)
{
	struct bed b = {0};
	uint64_t after[N] = {0}, random = 1, most = 0, drains = 0;

	(void)state;
	for (unsigned int step = 0; step < 200000; step++) {
		unsigned int i;
		uint64_t sum = 0;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		i = random >> 33 & (N - 1);
		if (step % 20000 == 0)
			drains = random >> 20;
		if (random >> 40 & 7) {
			bool stopped = b.s.stopped[0] >> i & 1;

			if (!stopped || after[i] < ROOM) {
				hold(&b, i, b.level[i].bytes + 1);
				after[i] = stopped ? after[i] + 1 : 0;
			}
		} else if (drains >> i & 1) {
			hold(&b, i, b.level[i].bytes / 2);
		}
		look(&b);
		for (unsigned int k = 0; k < N; k++) {
			sum += b.level[k].bytes;
			check(b.level[k].bytes >= FLOOR / 2 || !(b.s.stopped[0] >> k & 1),
				"step %u: slice %u is stopped at %llu", step, k, (unsigned long long)b.level[k].bytes);
		}
		most = MAX_OF(most, sum);
	}
	check(most <= 1000 + N * (FLOOR + ROOM), "%llu bytes", (unsigned long long)most);
	check(most > 1000, "only %llu bytes", (unsigned long long)most);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		cmocka_unit_test(late_arrivals),
		cmocka_unit_test(small),
		cmocka_unit_test(unclassified),
		cmocka_unit_test(gone),
		cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests_name("pfc_slices", tests, NULL, NULL);
}
