/* SPDX-License-Identifier: BSD-3-Clause */
/* XOFF and XON of a class, the frames sent for them, and the headroom. */
#include "test/support/unit.h"

#include "config/headroom.h"
#include "pfc/pfc_buffer.h"

#define US NSEC_PER_USEC

static const struct pfc_buffer_config config = {.xoff = {1000, 10}, .xon = {400, 4}, .full = {3000, 30}};

static bool look(struct pfc_buffer *b, const struct pfc_buffer_config *c, uint64_t bytes, uint64_t buffers,
	uint64_t left)
{
	return pfc_buffer_look(b, c, &(struct pfc_threshold){bytes, buffers}, left);
}

/* Whichever threshold is reached first stops; both must be below to go on; between them nothing changes. */
static void thresholds(void **state)
{
	struct pfc_buffer b = {0};

	(void)state;
	assert_false(look(&b, &config, 999, 9, 0));
	assert_false(b.stopped);
	assert_true(look(&b, &config, 1000, 9, 0));
	assert_true(b.stopped);
	assert_false(look(&b, &config, 401, 4, 0));
	assert_false(look(&b, &config, 400, 5, 0));
	assert_true(b.stopped);
	assert_true(look(&b, &config, 400, 4, 0));
	assert_false(b.stopped);
	assert_true(look(&b, &config, 100, 10, 0));
	assert_false(b.exhausted);
	assert_false(look(&b, &config, 3000, 10, 0));
	assert_true(b.exhausted);
	look(&b, &config, 2999, 29, 0);
	assert_false(b.exhausted);
	look(&b, &config, 0, 30, 0);
	assert_true(b.exhausted);
	assert_int_equal(b.exhausted_times, 2);
	assert_int_equal(b.xoffs, 2);
	assert_int_equal(b.xons, 1);
	assert_int_equal(b.most.bytes, 3000);
	assert_int_equal(b.most_headroom.bytes, 2000);
	assert_int_equal(b.most_headroom.buffers, 20);
	pfc_buffer_clear(&b, false);
	look(&b, &config, 5, 1, 0);
	assert_int_equal(b.user.bytes, 5);
	assert_int_equal(b.user_headroom.buffers, 0);
	assert_int_equal(b.most.bytes, 3000);
}

/* alpha 1/2 of the free buffer; it resumes when empty even if none is free. */
static void dynamic_thresholds(void **state)
{
	struct pfc_buffer_config c = config;
	struct pfc_buffer b = {0};

	(void)state;
	c.alpha = 64;
	assert_false(look(&b, &c, 0, 5, 12));
	assert_true(look(&b, &c, 0, 5, 10));
	assert_false(look(&b, &c, 0, 3, 10)); /* not yet half of the limit */
	assert_true(look(&b, &c, 0, 2, 10));
	assert_true(look(&b, &c, 0, 1, 0));
	assert_true(look(&b, &c, 0, 0, 0));
	assert_false(b.stopped);
}

/* A change is sent at once with all paused priorities; then a refresh at half the time; XON ends it. */
static void speaker(void **state)
{
	struct pfc_speaker s = {0};
	struct pfc_request r;
	uint64_t bps = 100000000000, t = 1000 * US; /* 335.5392 us at most */

	(void)state;
	assert_false(pfc_speaker_want(&s, 0, bps, t, &r));
	assert_true(pfc_speaker_next(&s, bps) == TIME_NEVER);
	assert_true(pfc_speaker_want(&s, 0x08, bps, t, &r));
	assert_int_equal(r.enable, 0x08);
	assert_int_equal(r.time[3], 65535);
	/* not on its way yet: asked again */
	assert_true(pfc_speaker_want(&s, 0x08, bps, t, &r));
	pfc_speaker_said(&s, &r, bps, t);
	assert_false(pfc_speaker_want(&s, 0x08, bps, t + 167 * US, &r));
	assert_int_equal(pfc_speaker_next(&s, bps), t + 167770);
	assert_true(pfc_speaker_want(&s, 0x08, bps, t + 167770, &r));
	pfc_speaker_said(&s, &r, bps, t + 167770);
	/* another priority: both are said, for one frame says all */
	assert_true(pfc_speaker_want(&s, 0x18, bps, t + 200 * US, &r));
	assert_int_equal(r.enable, 0x18);
	pfc_speaker_said(&s, &r, bps, t + 200 * US);
	assert_true(pfc_speaker_want(&s, 0x10, bps, t + 210 * US, &r));
	assert_int_equal(r.enable, 0x18);
	assert_int_equal(r.time[3], 0);
	assert_int_equal(r.time[4], 65535);
	pfc_speaker_said(&s, &r, bps, t + 210 * US);
	assert_true(pfc_speaker_want(&s, 0, bps, t + 220 * US, &r));
	assert_int_equal(r.enable, 0x10);
	assert_int_equal(r.time[4], 0);
	pfc_speaker_said(&s, &r, bps, t + 220 * US);
	assert_false(pfc_speaker_want(&s, 0, bps, t + NSEC_PER_SEC, &r));
	assert_int_equal(s.xoff[3], 3);
	assert_int_equal(s.xon[3], 1);
	assert_int_equal(s.history[3].transitions, 1);
	assert_int_equal(s.history[3].total_ns, 210 * US);
	assert_int_equal(s.history[4].total_ns, 20 * US);
}

/* docs/protocol.md 5.4: 1000 km, 100 Gb/s, no drain: 62.5 MB by draft-he, twice that and a little by D37. */
static void headroom(void **state)
{
	struct headroom_question q = {.in_bps = 100000000000,
		.drain_bps = 100000000000,
		.pfc_ns = 5000000,
		.data_ns = 5000000,
		.source_bytes = 9234,
		.own_bytes = 9234,
		.response_ns = 2018,
		.pe_ns = 0};
	struct headroom_answer a;

	(void)state;
	headroom_compute(&q, &a);
	assert_int_equal(a.draft_he, 62500000);
	assert_int_equal(a.round_trip, 125000000);
	assert_int_equal(a.reaction, 25225);
	assert_int_equal(a.full, 125000000 + 25225 + 2 * 9234);
	assert_int_equal(a.xon, 125000000);
	/* what surely leaves is taken off both; jitter is not */
	q.out_bps = 40000000000;
	q.jitter_ns = 1000;
	headroom_compute(&q, &a);
	assert_int_equal(a.draft_he, 37500000);
	assert_int_equal(a.round_trip, 75000000);
	assert_int_equal(a.jitter, 12500);
	/* a fill level above the limit does not make the headroom negative */
	q.out_bps = 400000000000;
	headroom_compute(&q, &a);
	assert_int_equal(a.draft_he, 0);
	assert_int_equal(a.round_trip, 0);
	assert_int_equal(headroom_response_ns(100000000000), 2017);
	assert_int_equal(headroom_response_ns(400000000000), 905 * 512 * 10 / 4000);
	/* odd rates and lengths round up, never down */
	q = (struct headroom_question){.in_bps = 1, .pfc_ns = 1};
	headroom_compute(&q, &a);
	assert_int_equal(a.draft_he, 1);
	q = (struct headroom_question){.in_bps = UINT64_MAX, .pfc_ns = UINT64_MAX, .data_ns = 0};
	headroom_compute(&q, &a);
	assert_true(a.full == INT64_MAX);
}

/* H of docs/protocol.md 5.4, of rates, ways and drains, computed otherwise; the parts add up, nothing is rounded down. */
static void headroom_by_hand(void **state)
{
	static const double gbps[] = {10, 25, 40, 100, 200, 400, 800}, km[] = {0.1, 2, 80, 1000, 5000},
			    drain[] = {0, 0.25, 1, 2};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(gbps) * ARRAY_LEN(km) * ARRAY_LEN(drain) * 4; i++) {
		double rate = gbps[i % 7] * 1e9, way = km[i / 7 % 5] * 5e-6, out = drain[i / 35 % 4] * rate;
		unsigned int losses = i / 140;
		double lost = losses * 65535 * 512 / rate / 2, jitter = 30e-6, pe = 20e-6,
		       response = 1e-6 * (1 + losses);
		struct headroom_question q = {.in_bps = (uint64_t)rate,
			.out_bps = (uint64_t)out,
			.drain_bps = (uint64_t)rate,
			.pfc_ns = (uint64_t)(way * 1e9 + 0.5),
			.data_ns = (uint64_t)(way * 1e9 + 0.5),
			.pe_ns = (uint64_t)(pe * 1e9 + 0.5),
			.response_ns = (uint64_t)(response * 1e9 + 0.5),
			.jitter_ns = (uint64_t)((jitter + lost) * 1e9 + 0.5),
			.own_bytes = 9118,
			.source_bytes = 3 * 1518};
		double net = out < rate ? rate - out : 0;
		double h = (net * 2 * way + rate * (pe + response)) / 8 + 9118 + 3 * 1518 + rate * (jitter + lost) / 8;
		struct headroom_answer a;

		headroom_compute(&q, &a);
		check((double)a.full > h - rate / 8e9 && (double)a.full < h + rate / 8e9 + 3,
			"row %u: %llu bytes, %.1f by hand", i, (unsigned long long)a.full, h);
		assert_int_equal(a.full, a.round_trip + a.reaction + a.jitter + a.frames);
		check((double)a.draft_he >= net * way / 8 - 1 && (double)a.draft_he < net * way / 8 + 2,
			"row %u: draft-he", i);
		check((double)a.xon >= rate * 2 * way / 8 - 1 && (double)a.xon < rate * 2 * way / 8 + 2, "row %u: XON",
			i);
	}
	/* response times of IEEE 802.3 by speed, in quanta of 64 bytes; between two speeds the slower reaction counts */
	for (unsigned int i = 0; i < 7; i++) {
		static const unsigned int quanta[] = {67, 80, 118, 394, 453, 905, 905};

		assert_int_equal(headroom_response_ns((uint64_t)(gbps[i] * 1e9)),
			(uint64_t)(quanta[i] * 512 / gbps[i]));
	}
	assert_int_equal(headroom_response_ns(50000000000), 147 * 512 / 50);
	assert_int_equal(headroom_response_ns(0), 0);
}

/* Software cannot take back what its device has been given: that comes too. */
static void headroom_for_a_software_neighbour(void **state)
{
	struct config c = {0};
	struct cfg_port port = {.mtu = 4400,
		.descriptors = {.tx = 64},
		.pfc = {.length_m = 100, .round_trip_us = CFG_NONE, .peer_descriptors = 2}};
	struct cfg_buffer_profile profile = {.response_us = 5};
	struct headroom_question q;
	struct headroom_answer a, software;

	(void)state;
	headroom_of_port(&c, &port, &profile, 10000000000, &q);
	headroom_compute(&q, &a);
	port.pfc.peer_descriptors = 64;
	headroom_of_port(&c, &port, &profile, 10000000000, &q);
	headroom_compute(&q, &software);
	assert_int_equal(software.full - a.full, 62 * 4418);
	/* and the data that arrives until lost and late frames of the tunnel are replaced */
	profile.jitter_us = 1000;
	headroom_of_port(&c, &port, &profile, 10000000000, &q);
	headroom_compute(&q, &a);
	assert_int_equal(a.full - software.full, 1250000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thresholds),
		cmocka_unit_test(dynamic_thresholds),
		cmocka_unit_test(speaker),
		cmocka_unit_test(headroom),
		cmocka_unit_test(headroom_by_hand),
		cmocka_unit_test(headroom_for_a_software_neighbour),
	};

	return cmocka_run_group_tests_name("pfc_buffer", tests, NULL, NULL);
}
