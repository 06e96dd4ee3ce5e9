/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that the lab's report keeps in bounded memory: the intervals of a track, and percentiles of times. */
#include "test/support/unit.h"

#include "base/compiler.h"
#include "lab/histogram.h"
#include "lab/lab_track.h"

static const struct track_id gate = {TRACK_GATE, 1, 2, 3};

static void ends_move(void **state)
{
	struct tracks t = {0};

	track_set(&t, &gate, 5, 5); /* ends what has not begun */
	assert_int_equal(t.n, 0);
	track_set(&t, &gate, 10, 20);
	track_set(&t, &gate, 15, 30);	      /* a refresh */
	track_set(&t, &gate, 18, 18);	      /* XON */
	track_set(&t, &gate, 19, TIME_NEVER); /* the next pause */
	track_set(&t, &(struct track_id){TRACK_GATE, 1, 2, 4}, 19, TIME_NEVER);
	tracks_end(&t, 25);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.item[0].n, 2);
	assert_int_equal(t.item[0].interval[0].from, 10);
	assert_int_equal(t.item[0].interval[0].to, 18);
	assert_int_equal(t.item[0].interval[0].on_ns, 8);
	assert_int_equal(t.item[0].interval[1].from, 19);
	assert_int_equal(t.item[0].interval[1].to, 25);
	assert_int_equal(t.item[1].interval[0].to, 25);
	tracks_fini(&t);
}

/* Any number of intervals fits; their number, their time and their outer ends are kept. */
static void joins_the_closest(void **state)
{
	struct tracks t = {0};
	const struct track *k;
	uint64_t at = 0, n = 0, on = 0, widest = 0;

	for (uint64_t i = 0; i < 10000; i++) {
		track_set(&t, &gate, at, at + 3);
		at += 3 + (i % 100 == 99 ? 1000 : 1 + i % 7);
	}
	k = &t.item[0];
	assert_in_range(k->n, TRACK_INTERVALS / 2, TRACK_INTERVALS);
	for (uint32_t i = 0; i < k->n; i++) {
		n += k->interval[i].n;
		on += k->interval[i].on_ns;
		widest = MAX_OF(widest, k->interval[i].to - k->interval[i].from);
		assert_true(i == 0 || k->interval[i].from > k->interval[i - 1].to);
	}
	assert_int_equal(n, 10000);
	assert_int_equal(on, 30000);
	assert_true(widest < 1000); /* the wide gaps are kept */
	assert_int_equal(k->interval[0].from, 0);
	track_join(&t.item[0], 1);
	assert_int_equal(k->n, 1);
	assert_int_equal(k->interval[0].on_ns, 30000);
	tracks_fini(&t);
}

static void too_many_tracks(void **state)
{
	struct tracks t = {0};

	for (unsigned int i = 0; i < TRACKS_MAX + 10; i++)
		track_set(&t, &(struct track_id){TRACK_XOFF, (uint8_t)(i / 8), TRACK_NO_INDEX, (uint8_t)(i % 8)}, 1, 2);
	assert_int_equal(t.n, TRACKS_MAX);
	assert_int_equal(t.left_out, 10);
	tracks_fini(&t);
}

static void percentiles(void **state)
{
	static struct histogram h;

	assert_true(histogram_quantile(&h, 0.5) == 0);
	for (uint64_t i = 1; i <= 100000; i++)
		histogram_add(&h, i * 37);
	for (double share = 0.01; share < 1; share += 0.01) {
		double value = histogram_quantile(&h, share), exact = share * 100000 * 37;

		assert_true(value > exact * 0.984 - 37 && value < exact * 1.016 + 37);
	}
	assert_true(histogram_quantile(&h, 0) == 37);
	assert_true(histogram_quantile(&h, 1) == 3700000);
}

static void extreme_times(void **state)
{
	static struct histogram h;

	histogram_add(&h, 0);
	histogram_add(&h, 63);
	histogram_add(&h, 64);
	histogram_add(&h, 1ull << 50);
	assert_true(histogram_quantile(&h, 0) == 0);
	assert_true(histogram_quantile(&h, 0.3) == 63);
	assert_true(histogram_quantile(&h, 1) == (double)(1ull << 50));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_move),
		cmocka_unit_test(joins_the_closest),
		cmocka_unit_test(too_many_tracks),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(extreme_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
