/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit: windows and batches (docs/credit.md 2.9), leases (2.11), pools (2.12), letter mode (2.4). */
#include "test/support/unit.h"

#include "credit/credit_alive.h"
#include "credit/credit_letter.h"
#include "credit/credit_pace.h"
#include "credit/credit_plan.h"
#include "credit/credit_pool.h"

#define GBPS (1000000000ull / 8)

/* The figures of 2.9. */
static void windows(void **state)
{
	struct credit_load load = {.rate = 100 * GBPS,
		.rate_all = 100 * GBPS,
		.loop_ns = 20 * NSEC_PER_MSEC,
		.updates = 100000,
		.mtu = 4304};
	uint64_t c = credit_window(&load);

	(void)state;
	assert_in_range(c, 258000000, 258100000); /* 250 MB and 3 % */
	assert_int_equal(credit_batch(&load, c), c / 128);
	assert_int_equal(credit_batch(&load, 1000000), 125000); /* R_all / U */
	load.rate_all = 400 * GBPS;
	assert_int_equal(credit_batch(&load, 1100000), 500000);
	assert_int_equal(credit_batch(&load, 900000), 450000); /* half a small window */
	assert_int_equal(credit_batch(&load, 6000), 4304);     /* but never less than a packet */
	load.rate_all = GBPS;
	assert_int_equal(credit_batch(&load, 1000000), CREDIT_BATCH_LEAST);
}

/* A window of the rule is R * T_loop + 4 * N2 + 2 MTU, for whatever rate and loop. */
static void window_solves_its_equation(void **state)
{
	uint64_t random = 1;
	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct credit_load load = {.rate = (unit_random(&random) % 400 + 1) * GBPS,
			.loop_ns = unit_random(&random) % 100000000 + 1000,
			.updates = unit_random(&random) % 1000000 + 1000,
			.mtu = unit_random(&random) % 9000 + 64};
		uint64_t c, need;

		load.rate_all = load.rate * (unit_random(&random) % 4 + 1);
		c = credit_window(&load);
		need = (uint64_t)((double)load.rate * (double)load.loop_ns / 1e9) +
		       4 * MAX_OF(MAX_OF((uint64_t)65536, load.rate_all / load.updates), c / 128) + 2ull * load.mtu;
		check(c + 4 >= need && c <= need + 8, "rate %lu loop %lu: %lu, need %lu", load.rate, load.loop_ns, c,
			need);
		check(credit_utilisation(&load, c) >= 1, "rate %lu loop %lu", load.rate, load.loop_ns);
	}
}

static void utilisation(void **state)
{
	struct credit_load load = {.rate = 100 * GBPS,
		.rate_all = GBPS,
		.loop_ns = 10 * NSEC_PER_MSEC,
		.updates = 100000,
		.mtu = 4304};

	(void)state;
	assert_in_range((uint64_t)(credit_utilisation(&load, 125000000) * 10000), 9915,
		9930); /* C = BDP, N2 = C / 128 */
	assert_in_range((uint64_t)(credit_utilisation(&load, 62500000) * 10000), 4950, 5000);
}

/* 100 Gb/s over 1,000 km, by hand: a packet is 4,254 bytes on the wire and 3 units. */
static void plans(void **state)
{
	struct credit_question q = {.rate_bps = 100000000000,
		.one_way_ns = 5 * NSEC_PER_MSEC,
		.poll_ns = 0,
		.packet = 4176,
		.updates = 100000,
		.sessions = 1,
		.overhead = 128,
		.unit = 11};
	struct credit_answer a;

	(void)state;
	credit_plan(&q, &a);
	assert_int_equal(a.rate, 18053596614); /* 100e9 / 8 * 6144 / 4254 */
	assert_int_equal(a.loop_ns, 10000340);
	/* B = R * T_loop + 2 * 6144 = 180,554,392; B * 32 / 31 = 186,378,727; N2 is the larger of R / U and C / 128 */
	assert_in_range(a.window, 91005, 91007);
	assert_int_equal(a.batch, 710); /* C / 128 = 1,456,084 */
	assert_int_equal(a.share, a.window);
	assert_int_equal(a.pool, a.window);
	assert_int_equal(a.memory, a.window * 2304);
	assert_in_range(a.update_rate, 12399, 12420); /* R / N2 */
	assert_int_equal(a.sync_ns, NSEC_PER_MSEC);
	assert_int_equal(a.fence_ns, a.loop_ns);
	assert_true(a.utilisation >= 1);
	assert_in_range((uint64_t)(a.bdp * 1e5), 99220, 99230); /* C / (C + C / 128) */
	assert_true(a.idle_only >= 1);
}

/* Sessions that share a hop need the loop once and slack each; what is lost is missing for two loops. */
static void plans_for_many(void **state)
{
	struct credit_question q = {.rate_bps = 10000000000,
		.one_way_ns = NSEC_PER_MSEC / 2,
		.packet = 4176,
		.updates = 100000,
		.sessions = 64,
		.overhead = 128,
		.unit = 11};
	struct credit_answer a;

	(void)state;
	credit_plan(&q, &a);
	/* each: 28,209 bytes of the loop, 12,288 of two packets, and 4 * 64 KiB */
	assert_int_equal(a.share, (28219 + 12288 + 4 * 65536 + 2047) / 2048);
	assert_int_equal(a.pool, 64 * a.share);
	assert_true(a.window < a.pool);
	q.sessions = 1;
	q.loss = 1e-2;
	credit_plan(&q, &a);
	assert_in_range((uint64_t)(a.utilisation * 1e4), 9899, 9900); /* the slack covers it: only the loss itself */
	assert_in_range((uint64_t)(a.idle_only * 1e4), 1400, 1500);   /* 0.99 / (1 + ln 338) */
	q.loss = 0.2;
	credit_plan(&q, &a);
	assert_true(a.utilisation < 0.8 * 0.7);
}

static void times(void **state)
{
	struct credit_load load = {.rate = GBPS,
		.rate_all = GBPS,
		.loop_ns = NSEC_PER_MSEC,
		.updates = 100000,
		.mtu = 64};

	(void)state;
	assert_int_equal(credit_sync_time(&load, 1), 250000);
	load.loop_ns++;
	assert_int_equal(credit_sync_time(&load, 1), NSEC_PER_MSEC);
	assert_int_equal(credit_sync_time(&load, 1000), 10 * NSEC_PER_MSEC);
	assert_int_equal(credit_heartbeat_time(250000), NSEC_PER_MSEC);
	assert_int_equal(credit_heartbeat_time(NSEC_PER_MSEC), 3 * NSEC_PER_MSEC);
	assert_int_equal(credit_fence_time(1000, 1), NSEC_PER_MSEC);
	assert_int_equal(credit_fence_time(1000, 100000), 12500 * NSEC_PER_MSEC);
	assert_int_equal(credit_fence_time(50 * NSEC_PER_MSEC, 1), 50 * NSEC_PER_MSEC);
	assert_int_equal(credit_stall_time(10 * NSEC_PER_MSEC, NSEC_PER_MSEC), 13 * NSEC_PER_MSEC);
}

static void loops_are_measured(void **state)
{
	static struct credit_loop l;

	(void)state;
	assert_int_equal(credit_loop_quantile(&l, 999), 0);
	for (int i = 0; i < 998; i++)
		credit_loop_add(&l, 10 * NSEC_PER_MSEC);
	credit_loop_add(&l, 40 * NSEC_PER_MSEC);
	credit_loop_add(&l, 90 * NSEC_PER_SEC);
	assert_in_range(credit_loop_quantile(&l, 500), 10 * NSEC_PER_MSEC, 10625000);
	assert_in_range(credit_loop_quantile(&l, 999), 40 * NSEC_PER_MSEC, 42500000);
	assert_in_range(credit_loop_quantile(&l, 1000), 60 * NSEC_PER_SEC, 90 * NSEC_PER_SEC);
	for (int i = 0; i < 20 * CREDIT_LOOP_SAMPLES; i++) /* old samples fade */
		credit_loop_add(&l, 3 * NSEC_PER_USEC);
	assert_int_equal(credit_loop_quantile(&l, 999), 4 * NSEC_PER_USEC);
	for (uint64_t us = 1; us < 60000000; us = us * 5 / 4 + 1) {
		struct credit_loop one = {0};

		credit_loop_add(&one, us * NSEC_PER_USEC);
		assert_in_range(credit_loop_quantile(&one, 1000), us * NSEC_PER_USEC + 1,
			(us + us / 16 + 1) * NSEC_PER_USEC);
	}
}

/*
 * D49 with messages and data at every age: a 29 leaves at 0 and arrives after d29; data leaves until the user's credit
 * ends, stays in the device and on the way, and must be here before the lease ends.
 */
static void lease_outlasts_the_user(void **state)
{
	uint64_t random = 2;
	const uint64_t hb = 3 * NSEC_PER_MSEC;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t rtt = unit_random(&random) % 100000000, d29 = rtt ? unit_random(&random) % rtt : 0;
		struct credit_way way = {.rtt_ns = rtt,
			.jitter_ns = unit_random(&random) % 1000000,
			.hold_ns = unit_random(&random) % 1000000,
			.polls_ns = unit_random(&random) % 100000};
		struct credit_alive alive = {0};
		struct credit_lease lease = {0};
		uint64_t arrived = d29 + way.jitter_ns, last;

		credit_lease_sent(&lease, hb, &way, 0);
		assert_int_equal(credit_alive_hear(&alive, (uint32_t)(hb / NSEC_PER_USEC), arrived), CREDIT_BEAT);
		assert_int_equal(alive.until_ns, arrived + 3 * hb);
		last = arrived + (alive.until_ns - arrived) * 10002 / 10000 + way.polls_ns + way.hold_ns + (rtt - d29) +
		       way.jitter_ns;
		check(last <= lease.ends_ns, "data at %lu, lease ends at %lu", last, lease.ends_ns);
	}
}

static void leases(void **state)
{
	const struct credit_way way = {.rtt_ns = 1000}, unbounded = {.hold_ns = TIME_NEVER};
	struct credit_alive a = {0};
	struct credit_lease l = {0};

	(void)state;
	assert_false(credit_alive_ended(&a, 5)); /* never heard is not down */
	assert_int_equal(credit_alive_hear(&a, 0, 100), CREDIT_BEAT);
	assert_int_equal(a.until_ns, 100 + credit_user_time(0));
	assert_int_equal(credit_user_time(0), 3 * NSEC_PER_MSEC);
	assert_false(credit_alive_ended(&a, a.until_ns - 1));
	assert_true(credit_alive_ended(&a, a.until_ns));
	assert_int_equal(credit_alive_hear(&a, 3000, a.until_ns - 1), CREDIT_BEAT);
	assert_int_equal(credit_alive_hear(&a, 3000, a.until_ns), CREDIT_BEAT_LATE);
	credit_lease_sent(&l, 30 * NSEC_PER_MSEC, &way, 1000000);
	assert_int_equal(l.ends_ns, 1000000 + credit_lease_time(30 * NSEC_PER_MSEC, &way));
	credit_lease_sent(&l, 3 * NSEC_PER_MSEC, &way, 2000000); /* the longer promise still runs */
	assert_int_equal(l.ends_ns, 1000000 + credit_lease_time(30 * NSEC_PER_MSEC, &way));
	assert_false(credit_lease_beat_due(&l, 3 * NSEC_PER_MSEC, 4999999));
	assert_true(credit_lease_beat_due(&l, 3 * NSEC_PER_MSEC, 5000000));
	credit_lease_sent(&l, 3 * NSEC_PER_MSEC, &unbounded, 3000000);
	assert_true(l.ends_ns == TIME_NEVER);
}

static void pool_is_shared(void **state)
{
	struct credit_pool p = {.size = 100};
	struct credit_demand a = {.buf = 10, .want = 60}, b = {.buf = 20, .want = 25}, c = {.buf = 5, .want = 100};
	struct credit_demand *waiting[] = {&a, &b, &c};
	uint64_t held = 40;

	(void)state;
	assert_int_equal(credit_pool_take(&p, 10, 10) + credit_pool_take(&p, 5, 20) + credit_pool_take(&p, 5, 5), 35);
	assert_int_equal(credit_pool_take(&p, 66, 70), 0);
	assert_int_equal(p.held, 35);
	assert_false(credit_pool_serve(&p, waiting, 3));
	assert_int_equal(p.held, 100);
	assert_int_equal(b.buf, 25); /* all it wants */
	assert_int_equal(a.buf + c.buf, 75);
	assert_in_range(a.buf, 37, 38);
	assert_false(credit_pool_serve(&p, waiting, 3));
	assert_int_equal(a.buf + c.buf, 75);
	p.held -= a.buf;
	credit_pool_settle(&p, &held, 10);
	assert_int_equal(credit_pool_free(&p), a.buf + 30);
	p.size = 5; /* a smaller pool takes nothing back */
	assert_int_equal(credit_pool_free(&p), 0);
	assert_false(credit_pool_serve(&p, waiting, 3));
	p.size = 1000;
	assert_true(credit_pool_serve(&p, waiting, 3));
	assert_int_equal(c.buf, 100);
}

/* Nobody gets more than it wants, nobody loses, nothing is left while somebody waits, and the smallest grow first. */
static void pool_serves_max_min(void **state)
{
	uint64_t random = 3;
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct credit_demand d[8], *waiting[8], before[8];
		size_t n = unit_random(&random) % 8 + 1;
		struct credit_pool p = {0};
		uint64_t sum = 0;
		bool all;

		for (size_t i = 0; i < n; i++) {
			d[i] = (struct credit_demand){.buf = unit_random(&random) % 50,
				.want = unit_random(&random) % 80};
			before[i] = d[i];
			waiting[i] = &d[i];
			p.held += d[i].buf;
		}
		p.size = p.held + unit_random(&random) % 200;
		all = credit_pool_serve(&p, waiting, n);
		for (size_t i = 0; i < n; i++) {
			sum += d[i].buf;
			assert_true(d[i].buf >= before[i].buf);
			assert_true(d[i].buf <= MAX_OF(before[i].buf, d[i].want));
			if (d[i].buf < d[i].want) {
				assert_false(all);
				assert_int_equal(p.held, p.size);
			}
			for (size_t j = 0; j < n; j++) /* who grew is not more than 1 above who waits */
				assert_false(
					d[i].buf > before[i].buf && d[j].buf < d[j].want && d[j].buf + 1 < d[i].buf);
		}
		assert_int_equal(sum, p.held);
		assert_true(p.held <= p.size);
	}
}

static void letter_ids(void **state)
{
	struct credit_letter_ids ids = {0};

	(void)state;
	assert_true(credit_letter_accept(&ids, 1, UINT32_MAX - 1));
	assert_false(credit_letter_accept(&ids, 1, UINT32_MAX - 1));
	assert_true(credit_letter_accept(&ids, 1, 3)); /* past the wrap */
	assert_true(credit_letter_accept(&ids, 1, UINT32_MAX));
	assert_true(credit_letter_accept(&ids, 1, 0));
	assert_false(credit_letter_accept(&ids, 1, UINT32_MAX));
	assert_true(credit_letter_accept(&ids, 1, 3 + CREDIT_LETTER_IDS - 1));
	assert_false(credit_letter_accept(&ids, 1, 3)); /* seen, and still in the window */
	assert_true(credit_letter_accept(&ids, 1, 4));
	assert_true(credit_letter_accept(&ids, 1, 3 + CREDIT_LETTER_IDS));
	assert_false(credit_letter_accept(&ids, 1, 1)); /* too old to tell */
	assert_true(credit_letter_accept(&ids, 1, 5000000));
	assert_true(credit_letter_accept(&ids, 1, 5000000 - CREDIT_LETTER_IDS + 1));
	assert_true(credit_letter_accept(&ids, 2, 3));
	assert_false(credit_letter_accept(&ids, 2, 3));
}

/* Data flows for ever by whole MB, and every byte comes back: no remainder is lost. */
static void letter_window_does_not_shrink(void **state)
{
	struct credit_letter_gate gate = {0};
	struct credit_letter_grantor grantor = {0};
	uint64_t now = NSEC_PER_SEC, freed = 0;
	uint32_t value = 0;

	(void)state;
	assert_false(credit_letter_passes(&gate, 1));
	assert_false(credit_letter_grant(&gate, 1, false, 100, now));
	assert_true(credit_letter_grant(&gate, CREDIT_LETTER_LEAST_MB, false, 100, now));
	for (int i = 0; i < 100000; i++, now += NSEC_PER_MSEC) {
		assert_true(credit_letter_passes(&gate, 4200));
		credit_letter_taken(&gate, 4200, now);
		freed += 4200;
		if (credit_letter_due(&grantor, freed, CREDIT_LETTER_UNIT_MB, 10000, now, &value))
			credit_letter_return(&gate, value, CREDIT_LETTER_UNIT_MB);
	}
	assert_int_equal(gate.limit - gate.sent, 2000000 - freed % 1000000);
	assert_false(credit_letter_grant(&gate, 2, false, 100, gate.given_ns + 99));
	assert_false(credit_letter_grant(&gate, 2, true, 100, gate.given_ns + 100));
	assert_true(credit_letter_grant(&gate, 2, false, 100, gate.given_ns + 100));
	credit_letter_granted(&grantor, freed);
	assert_int_equal(gate.limit - gate.sent, 2000000);
	assert_false(credit_letter_due(&grantor, freed + 999999, CREDIT_LETTER_UNIT_MB, 10000, now, &value));
	assert_true(credit_letter_due(&grantor, freed + 1000000, CREDIT_LETTER_UNIT_MB, 10000, now, &value));
	assert_int_equal(value, 1);
}

/* The bucket delays 29s, and the next one carries what they would have. */
static void letter_bucket(void **state)
{
	struct credit_letter_grantor g = {0};
	uint64_t now = NSEC_PER_SEC, freed = 0, returned = 0;
	uint32_t value = 0, messages = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		freed += 1500;
		if (credit_letter_due(&g, freed, CREDIT_LETTER_UNIT_BYTES, 10000, now, &value)) {
			returned += value;
			messages++;
		}
	}
	assert_int_equal(messages, 32);
	now += NSEC_PER_SEC;
	assert_true(credit_letter_due(&g, freed, CREDIT_LETTER_UNIT_BYTES, 10000, now, &value));
	assert_int_equal(returned + value, freed);
	freed += 5ull << 32;
	assert_true(credit_letter_due(&g, freed, CREDIT_LETTER_UNIT_BYTES, 10000, now, &value));
	assert_int_equal(value, UINT32_MAX);
}

static void letter_comparison(void **state)
{
	struct credit_letter_gate gate = {0};

	(void)state;
	assert_true(credit_letter_grant(&gate, 2, false, 100, 1));
	assert_true(credit_letter_passes(&gate, 2000000));
	assert_false(credit_letter_passes(&gate, 2000001));
	gate.strict = true;
	assert_false(credit_letter_passes(&gate, 2000000));
	assert_true(credit_letter_passes(&gate, 1999999));
	credit_letter_return(&gate, 1, CREDIT_LETTER_UNIT_BYTES);
	assert_true(credit_letter_passes(&gate, 2000000));
	assert_false(credit_letter_grantable(1, 1ull << 40));
	assert_false(credit_letter_grantable(2, 2000000));
	assert_true(credit_letter_grantable(2, 2097152));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows),
		cmocka_unit_test(window_solves_its_equation),
		cmocka_unit_test(utilisation),
		cmocka_unit_test(plans),
		cmocka_unit_test(plans_for_many),
		cmocka_unit_test(times),
		cmocka_unit_test(loops_are_measured),
		cmocka_unit_test(lease_outlasts_the_user),
		cmocka_unit_test(leases),
		cmocka_unit_test(pool_is_shared),
		cmocka_unit_test(pool_serves_max_min),
		cmocka_unit_test(letter_ids),
		cmocka_unit_test(letter_window_does_not_shrink),
		cmocka_unit_test(letter_bucket),
		cmocka_unit_test(letter_comparison),
	};

	return cmocka_run_group_tests_name("credit_pace", tests, NULL, NULL);
}
