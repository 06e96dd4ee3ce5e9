/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit of one hop: the worked example of docs/credit.md 2.15, and the rules of 2.5, 2.6, 2.9 and 2.10. */
#include "test/support/credit_hop.h"

#define ROW(h, fctbs_, fccl_, abr_, rcvd_, lost_, freed_, seq_, sent_fccl, sent_abr) \
	do { \
		assert_int_equal(credit_fctbs(&(h)->user, &(h)->gate), fctbs_); \
		assert_int_equal((h)->user.fccl, fccl_); \
		assert_int_equal((h)->user.abr, abr_); \
		assert_int_equal(credit_rcvd(&(h)->grantor, hop_totals(h)), rcvd_); \
		assert_int_equal((h)->grantor.lost, lost_); \
		assert_int_equal(credit_freed(&(h)->grantor, hop_totals(h)), freed_); \
		assert_int_equal((h)->last.sequence, seq_); \
		assert_int_equal((h)->last.fccl, sent_fccl); \
		assert_int_equal((h)->last.abr, sent_abr); \
		assert_in_range(credit_rcvd(&(h)->grantor, hop_totals(h)) - (uint64_t)freed_, 0, 4); \
	} while (0)

/* Rows 1 to 5; lose4: update 2 is lost. */
static void first_rows(struct hop *h, bool lose4)
{
	hop_start(h, 4);
	ROW(h, 0, 4, 0, 0, 0, 0, 1, 4, 0);
	hop_send(h, 4);
	assert_false(hop_may(h, 1));
	ROW(h, 4, 4, 0, 0, 0, 0, 1, 4, 0);
	hop_arrive(h, 3);
	ROW(h, 4, 4, 0, 3, 0, 0, 1, 4, 0);
	hop_forward(h, 2);
	hop_update(h);
	if (!lose4)
		hop_hear(h, &h->last);
	else
		ROW(h, 4, 4, 0, 3, 0, 2, 2, 6, 3);
	hop_forward(h, 1);
	hop_hear(h, hop_update(h));
	ROW(h, 4, 7, 3, 3, 0, 3, 3, 7, 3);
}

static void worked_example_with(bool lose4)
{
	struct hop h;
	struct credit_update old;

	first_rows(&h, lose4);
	hop_send(&h, 3);
	assert_false(hop_may(&h, 1));
	ROW(&h, 7, 7, 3, 3, 0, 3, 3, 7, 3);
	assert_true(credit_user_fence_due(&h.user, &h.gate, false, 0, h.now));
	hop_fence(&h, 0x5eed0000000000f1);
	hop_arrive(&h, 3);
	assert_true(credit_intake_fence(&h.intake, h.samples, 0x5eed0000000000f1, 7, LIH));
	assert_int_equal(credit_grantor_sampled(&h.grantor, h.samples), 0);
	ROW(&h, 7, 7, 3, 6, 0, 3, 3, 7, 3);
	hop_forward(&h, 3);
	hop_hear(&h, hop_update(&h));
	ROW(&h, 7, 10, 6, 6, 0, 6, 4, 10, 6);
	assert_int_equal(hop_state(&h), CREDIT_ANSWER | CREDIT_HEALED);
	hop_hear(&h, hop_update(&h));
	ROW(&h, 7, 11, 7, 6, 1, 6, 5, 11, 7);
	hop_send(&h, 1);
	hop_arrive(&h, 2);
	hop_forward(&h, 2);
	hop_hear(&h, hop_update(&h));
	ROW(&h, 8, 13, 9, 8, 1, 8, 6, 13, 9);
	assert_true(credit_user_fence_due(&h.user, &h.gate, false, 0, h.now));
	hop_fence(&h, 0x5eed0000000000f2);
	assert_true(credit_intake_fence(&h.intake, h.samples, 0x5eed0000000000f2, 7, LIH));
	assert_int_equal(hop_state(&h), CREDIT_ANSWER | CREDIT_LOWERED);
	hop_hear(&h, hop_update(&h));
	ROW(&h, 8, 13, 9, 8, 0, 8, 7, 13, 9);
	assert_false(credit_user_fence_due(&h.user, &h.gate, false, 0, h.now)); /* ABR > FCTBS, but no data since */
	hop_send(&h, 1);
	hop_arrive(&h, 1);
	hop_forward(&h, 1);
	hop_hear(&h, hop_update(&h));
	ROW(&h, 9, 13, 9, 9, 0, 9, 8, 13, 9);
	old = h.last;
	hop_send(&h, 2);
	hop_arrive(&h, 1);
	hop_hear(&h, hop_update(&h));
	ROW(&h, 11, 13, 10, 10, 0, 9, 9, 13, 10);
	assert_int_equal(hop_hear(&h, &old), CREDIT_REPEATED);
	ROW(&h, 11, 13, 10, 10, 0, 9, 9, 13, 10);
}

static void worked_example(void **state)
{
	(void)state;
	worked_example_with(true);
}

static void worked_example_without_loss_of_an_update(void **state)
{
	(void)state;
	worked_example_with(false);
}

/* Without the fences one unit stays leaked. */
static void leak_stays_without_fences(void **state)
{
	struct hop h;

	(void)state;
	first_rows(&h, true);
	for (int i = 0; i < 10; i++) {
		hop_send(&h, 3);
		assert_false(hop_may(&h, 1));
		hop_arrive(&h, 3);
		hop_forward(&h, 3);
		hop_hear(&h, hop_update(&h));
	}
	assert_false(hop_may(&h, 4));
	assert_true(hop_may(&h, 3));
}

/* No counter's start matters: 2^32 and 2^64 pass like any other number. */
static void counters_wrap(void **state)
{
	static const uint64_t starts[] = {0, UINT32_MAX - 3ull, UINT64_MAX - 5, INT64_MAX - 4ull};

	(void)state;
	for (size_t s = 0; s < ARRAY_LEN(starts); s++)
		for (size_t r = 0; r < ARRAY_LEN(starts); r++) {
			struct hop h;

			hop_start_at(&h, 4, 1, starts[s], starts[r]);
			for (int i = 0; i < 20; i++) {
				hop_send(&h, 4);
				assert_false(hop_may(&h, 1));
				hop_arrive(&h, 4);
				hop_forward(&h, 4);
				assert_int_equal(hop_hear(&h, hop_update(&h)), CREDIT_TAKEN);
			}
			assert_int_equal(h.user.fccl, 84);
			assert_int_equal(h.user.abr, 80);
		}
}

/* Sequence numbers are compared as serial numbers, and epoch 0 is none. */
static void sequences_wrap(void **state)
{
	struct hop h;

	(void)state;
	hop_start(&h, 4);
	h.grantor.sequence = h.user.sequence = UINT32_MAX - 1;
	for (int i = 0; i < 5; i++)
		assert_int_equal(hop_hear(&h, hop_update(&h)), CREDIT_TAKEN);
	assert_int_equal(h.user.sequence, 3);
	assert_int_equal(credit_next_epoch(UINT32_MAX), 1);
	assert_int_equal(credit_next_epoch(7), 8);
	hop_start_at(&h, 4, UINT32_MAX, 0, 0);
	credit_user_stop(&h.user, &h.gate);
	hop_open_epoch(&h);
	assert_int_equal(h.user.epoch, 1);
}

static void units_of_lengths(void **state)
{
	(void)state;
	assert_int_equal(credit_units(64, CREDIT_OVERHEAD, CREDIT_UNIT_EXPONENT), 1);
	assert_int_equal(credit_units(1920, CREDIT_OVERHEAD, CREDIT_UNIT_EXPONENT), 1);
	assert_int_equal(credit_units(1921, CREDIT_OVERHEAD, CREDIT_UNIT_EXPONENT), 2);
	assert_int_equal(credit_units(4176, CREDIT_OVERHEAD, 11), 3);
	assert_int_equal(credit_units(4176, CREDIT_OVERHEAD, 9), 9);
	assert_int_equal(credit_units(4176, CREDIT_OVERHEAD, 6), 68);
	assert_int_equal(credit_units(64, CREDIT_OVERHEAD, 6), 3);
	assert_int_equal(credit_units(UINT32_MAX, CREDIT_OVERHEAD, 0),
		127); /* more than a packet can be; no overflow */
}

/* D10: a packet as large as the credit goes, a larger one does not. */
static void gate_compares_with_the_packet(void **state)
{
	struct hop h;

	(void)state;
	hop_start(&h, 4);
	assert_true(hop_may(&h, 4));
	assert_false(hop_may(&h, 5));
	credit_gate_pass(&h.gate, 3); /* pending counts */
	assert_true(hop_may(&h, 1));
	assert_false(hop_may(&h, 2));
	credit_gate_refused(&h.gate, 3);
	assert_true(hop_may(&h, 4));
	assert_false(credit_gate_passes(&h.gate, h.now, h.now, 1)); /* the lease ends at that instant */
	assert_true(credit_gate_passes(&h.gate, h.now + 1, h.now, 1));
	credit_user_stop(&h.user, &h.gate);
	assert_false(hop_may(&h, 1));
}

/* A grantor may promise too much; it is believed up to the neighbour's bound. */
static void promises_are_bounded(void **state)
{
	struct hop h;
	struct credit_update m;

	(void)state;
	hop_start(&h, 4);
	m = *hop_update(&h);
	m.fccl = 1000000;
	assert_int_equal(hop_hear(&h, &m), CREDIT_TAKEN);
	assert_true(hop_may(&h, MOST));
	assert_false(hop_may(&h, MOST + 1));
	hop_send(&h, 10);
	m.sequence++;
	assert_int_equal(hop_hear(&h, &m), CREDIT_TAKEN);
	assert_true(hop_may(&h, MOST));
	m.sequence++;
	m.fccl = 3; /* falls: nothing is taken back */
	m.abr = 0;
	assert_int_equal(hop_hear(&h, &m), CREDIT_TAKEN);
	assert_true(hop_may(&h, MOST));
	m.epoch = 0;
	assert_int_equal(hop_hear(&h, &m), CREDIT_IGNORED);
}

/* FCCL and ABR on the wire never fall, whatever BUF and LOST do. */
static void sent_values_never_fall(void **state)
{
	struct hop h;

	(void)state;
	hop_start(&h, 4);
	credit_grantor_resize(&h.grantor, 2);
	assert_int_equal(hop_update(&h)->fccl, 4);
	assert_int_equal(h.last.buf, 2);
	assert_int_equal(credit_grantor_held(&h.grantor, hop_totals(&h), true), 4);
	hop_arrive(&h, 1);
	hop_forward(&h, 1);
	assert_int_equal(hop_update(&h)->fccl, 4);
	assert_int_equal(credit_grantor_held(&h.grantor, hop_totals(&h), true), 3);
	hop_arrive(&h, 2);
	hop_forward(&h, 2);
	assert_int_equal(hop_update(&h)->fccl, 5);
	assert_int_equal(credit_grantor_held(&h.grantor, hop_totals(&h), true), 2);
	hop_arrive(&h, 2);
	assert_int_equal(credit_grantor_held(&h.grantor, hop_totals(&h), false), 2); /* the promise has ended */
	credit_grantor_resize(&h.grantor, 6);
	assert_int_equal(hop_update(&h)->fccl, 9);
}

/* Fence and statement come in either order; each is used once, and strangers' fences not at all. */
static void fences_and_statements(void **state)
{
	struct hop h;
	struct credit_hop marker;

	(void)state;
	hop_start(&h, 4);
	hop_send(&h, 4);
	hop_arrive(&h, 2);
	hop_fence(&h, 11);
	assert_int_equal(hop_state(&h), CREDIT_ANSWER); /* the statement first */
	assert_int_equal(h.grantor.lost, 0);
	assert_false(credit_intake_fence(&h.intake, h.samples, 11, 6, LIH));
	assert_false(credit_intake_fence(&h.intake, h.samples, 11, 7, LIH + 1));
	assert_false(credit_intake_fence(&h.intake, h.samples, 0, 7, LIH));
	assert_int_equal(h.intake.stale, 3);
	assert_true(credit_intake_fence(&h.intake, h.samples, 99, 7, LIH)); /* a stranger's */
	assert_int_equal(credit_grantor_sampled(&h.grantor, h.samples), 0);
	assert_true(credit_intake_fence(&h.intake, h.samples, 11, 7, LIH));
	assert_int_equal(credit_grantor_sampled(&h.grantor, h.samples), CREDIT_ANSWER | CREDIT_HEALED);
	assert_int_equal(h.grantor.lost, 2);
	hop_arrive(&h, 1);
	assert_false(credit_intake_fence(&h.intake, h.samples, 11, 7, LIH)); /* the first sample stands */
	assert_int_equal(credit_grantor_sampled(&h.grantor, h.samples), 0);
	assert_int_equal(h.grantor.lost, 2);
	/* a statement of a fence that never comes, of another epoch, of more than was granted */
	hop_fence(&h, 12);
	assert_int_equal(hop_state(&h), CREDIT_ANSWER);
	credit_user_marker(&h.user, &h.gate, &marker);
	marker.fence = 99;
	marker.epoch = 3;
	assert_int_equal(hop_heard(&h, &marker), CREDIT_STALE);
	marker.epoch = 7;
	marker.fctbs = 1000;
	assert_int_equal(hop_heard(&h, &marker), CREDIT_BAD);
	assert_int_equal(h.grantor.lost, 2);
}

/* A statement that is older than the last correction changes nothing. */
static void old_statements(void **state)
{
	struct hop h;
	struct credit_hop first;

	(void)state;
	hop_start(&h, 4);
	hop_send(&h, 2);
	hop_fence(&h, 1);
	credit_user_marker(&h.user, &h.gate, &first);
	assert_true(credit_intake_fence(&h.intake, h.samples, 1, 7, LIH)); /* both are lost */
	hop_send(&h, 1);
	hop_arrive(&h, 1);
	hop_fence(&h, 2);
	assert_true(credit_intake_fence(&h.intake, h.samples, 2, 7, LIH));
	assert_int_equal(hop_state(&h), CREDIT_ANSWER | CREDIT_HEALED);
	assert_int_equal(h.grantor.lost, 2);
	hop_arrive(&h, 1); /* one was late */
	hop_forward(&h, 2);
	hop_send(&h, 1);
	hop_arrive(&h, 1);
	hop_fence(&h, 3);
	assert_true(credit_intake_fence(&h.intake, h.samples, 3, 7, LIH));
	assert_int_equal(hop_state(&h), CREDIT_ANSWER | CREDIT_LOWERED);
	assert_int_equal(h.grantor.lost, 1);
	assert_int_equal(hop_heard(&h, &first), 0);
	assert_int_equal(h.grantor.lost, 1);
}

/* The sample of a fence that was pushed out is gone, and the session heals with the next. */
static void samples_are_bounded(void **state)
{
	struct hop h;

	(void)state;
	hop_start(&h, 4);
	hop_send(&h, 1);
	hop_fence(&h, 100);
	assert_true(credit_intake_fence(&h.intake, h.samples, 100, 7, LIH));
	for (uint64_t n = 1; n <= CREDIT_SAMPLES; n++)
		assert_true(credit_intake_fence(&h.intake, h.samples, n, 7, LIH));
	assert_int_equal(hop_state(&h), CREDIT_ANSWER);
	hop_fence(&h, 101);
	assert_true(credit_intake_fence(&h.intake, h.samples, 101, 7, LIH));
	assert_int_equal(hop_state(&h), CREDIT_ANSWER | CREDIT_HEALED);
}

/* IDLE: what is missing is lost; what came twice counts only after a quiet time. */
static void idle_heals(void **state)
{
	struct hop h;
	struct credit_hop marker;

	(void)state;
	hop_start(&h, 4);
	hop_send(&h, 3);
	hop_arrive(&h, 1);
	assert_false(credit_user_idle(&h.gate, IDLE_NS, h.now + IDLE_NS - 1));
	h.now += IDLE_NS;
	assert_true(credit_user_idle(&h.gate, IDLE_NS, h.now));
	credit_user_marker(&h.user, &h.gate, &marker);
	marker.idle = true;
	assert_int_equal(hop_heard(&h, &marker), CREDIT_ANSWER | CREDIT_HEALED);
	assert_int_equal(h.grantor.lost, 2);
	hop_arrive(&h, 1); /* a copy */
	hop_forward(&h, 2);
	credit_user_marker(&h.user, &h.gate, &marker);
	marker.idle = true;
	assert_int_equal(hop_heard(&h, &marker), 0);
	assert_int_equal(h.grantor.lost, 2);
	credit_grantor_watch(&h.grantor, hop_totals(&h), h.now);
	h.now += IDLE_NS;
	credit_user_marker(&h.user, &h.gate, &marker);
	marker.idle = true;
	assert_int_equal(hop_heard(&h, &marker), CREDIT_ANSWER | CREDIT_LOWERED);
	assert_int_equal(h.grantor.lost, 1);
	credit_gate_pass(&h.gate, 1);
	assert_false(credit_user_idle(&h.gate, IDLE_NS, h.now + TIME_NEVER / 2));
}

/* Rule 1, 2 and 3 of 2.9. */
static void updates_are_paced(void **state)
{
	struct hop h;
	struct credit_pace pace = {.batch = 3, .mtu = 2}, tick = {.batch = 3, .mtu = 2, .tick = true};

	(void)state;
	hop_start(&h, 8);
	for (int i = 0; i < CREDIT_DIRTY_TICKS; i++)
		assert_true(credit_grantor_due(&h.grantor, hop_totals(&h), tick));
	assert_false(credit_grantor_due(&h.grantor, hop_totals(&h), tick));
	hop_arrive(&h, 4);
	assert_false(credit_grantor_due(&h.grantor, hop_totals(&h), pace));
	hop_forward(&h, 2);
	assert_false(credit_grantor_due(&h.grantor, hop_totals(&h), pace));
	assert_true(credit_grantor_due(&h.grantor, hop_totals(&h), tick)); /* outstanding */
	hop_forward(&h, 1);
	assert_true(credit_grantor_due(&h.grantor, hop_totals(&h), pace)); /* a batch */
	hop_update(&h);
	assert_false(credit_grantor_due(&h.grantor, hop_totals(&h), pace));
	hop_forward(&h, 1);
	for (int i = 0; i < CREDIT_DIRTY_TICKS; i++)
		assert_true(credit_grantor_due(&h.grantor, hop_totals(&h), tick));
	hop_update(&h);
	for (int i = 0; i < CREDIT_DIRTY_TICKS; i++)
		credit_grantor_due(&h.grantor, hop_totals(&h), tick);
	assert_false(credit_grantor_due(&h.grantor, hop_totals(&h), tick));
	hop_arrive(&h, 7); /* FCCL - ABR is 1 in what was sent: blocked */
	hop_update(&h);
	hop_forward(&h, 6);
	h.grantor.returned += 5;
	assert_false(credit_grantor_due(&h.grantor, hop_totals(&h), pace));
	hop_forward(&h, 1);
	assert_true(credit_grantor_due(&h.grantor, hop_totals(&h), pace)); /* the queue is empty */
}

/* CONGESTED and STALLED are told apart by whether credit comes. */
static void health(void **state)
{
	struct hop h;
	const uint64_t stall = 5 * NSEC_PER_MSEC;

	(void)state;
	hop_start(&h, 4);
	assert_int_equal(credit_user_health(&h.user, &h.gate, true, 1, stall, h.now), CREDIT_FLOWING);
	hop_send(&h, 4);
	assert_int_equal(credit_user_health(&h.user, &h.gate, false, 1, stall, h.now), CREDIT_FLOWING);
	assert_int_equal(credit_user_health(&h.user, &h.gate, true, 1, stall, h.now), CREDIT_CONGESTED);
	assert_int_equal(credit_user_want(&h.user, 9, stall, h.now + stall - 1), 0);
	assert_int_equal(credit_user_want(&h.user, 9, stall, h.now + stall), 9);
	assert_int_equal(credit_user_want(&h.user, 4, stall, h.now + stall), 0);
	h.now += stall - 1;
	assert_int_equal(credit_user_health(&h.user, &h.gate, true, 1, stall, h.now), CREDIT_CONGESTED);
	h.now++;
	assert_int_equal(credit_user_health(&h.user, &h.gate, true, 1, stall, h.now), CREDIT_STALLED);
	assert_true(credit_user_fence_due(&h.user, &h.gate, true, stall, h.now));
	assert_true(credit_user_ask_due(&h.user, &h.gate, stall, h.now));
	hop_arrive(&h, 1);
	hop_forward(&h, 1);
	hop_hear(&h, hop_update(&h));
	assert_int_equal(credit_user_health(&h.user, &h.gate, true, 1, stall, h.now), CREDIT_FLOWING);
	hop_send(&h, 1);
	assert_int_equal(credit_user_health(&h.user, &h.gate, true, 1, stall, h.now), CREDIT_CONGESTED);
}

/* The loop is measured by ask and answer, and a session without answers is out of step. */
static void asks_and_answers(void **state)
{
	struct hop h;
	struct credit_hop marker;
	uint64_t loop = 0;

	(void)state;
	hop_start(&h, 4);
	hop_send(&h, 1);
	assert_false(credit_user_ask_due(&h.user, &h.gate, 1000, h.now + 900));
	h.now += 1000;
	assert_true(credit_user_ask_due(&h.user, &h.gate, 1000, h.now));
	credit_user_marker(&h.user, &h.gate, &marker);
	marker.ask = true;
	credit_user_asked(&h.user, &marker, h.now);
	assert_false(credit_user_ask_due(&h.user, &h.gate, 1000, h.now + 999));
	assert_false(credit_user_loop(&h.user, hop_update(&h), h.now, &loop));
	assert_true(hop_heard(&h, &marker) & CREDIT_ANSWER);
	h.now += 777;
	assert_true(credit_user_loop(&h.user, hop_update(&h), h.now, &loop));
	assert_int_equal(loop, 777);
	assert_false(credit_user_loop(&h.user, hop_update(&h), h.now, &loop));
	assert_false(credit_user_out_of_step(&h.user, 3 * NSEC_PER_MSEC, h.now));
	assert_true(credit_user_out_of_step(&h.user, 3 * NSEC_PER_MSEC, h.now + 9 * NSEC_PER_MSEC));
	hop_hear(&h, &h.last);
	assert_false(credit_user_out_of_step(&h.user, 3 * NSEC_PER_MSEC, h.now + 9 * NSEC_PER_MSEC));
	h.now += NSEC_PER_SEC; /* quiet: the time counts from the first question */
	credit_user_asked(&h.user, &marker, h.now);
	assert_false(credit_user_out_of_step(&h.user, 3 * NSEC_PER_MSEC, h.now + 8 * NSEC_PER_MSEC));
	credit_user_asked(&h.user, &marker, h.now + 8 * NSEC_PER_MSEC);
	assert_true(credit_user_out_of_step(&h.user, 3 * NSEC_PER_MSEC, h.now + 9 * NSEC_PER_MSEC));
	h.now += 9 * NSEC_PER_MSEC;
	hop_update(&h);
	hop_hear(&h, &h.last);
	assert_false(credit_user_out_of_step(&h.user, 3 * NSEC_PER_MSEC, h.now + 9 * NSEC_PER_MSEC));
}

/* A worker tells control once for each batch. */
static void release_tells(void **state)
{
	struct credit_release r = {.batch = 3};

	(void)state;
	assert_false(credit_release_count(&r, 2));
	assert_true(credit_release_count(&r, 1));
	assert_false(credit_release_count(&r, 2));
	assert_true(credit_release_count(&r, 5));
	assert_int_equal(r.freed, 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_example),
		cmocka_unit_test(worked_example_without_loss_of_an_update),
		cmocka_unit_test(leak_stays_without_fences),
		cmocka_unit_test(counters_wrap),
		cmocka_unit_test(sequences_wrap),
		cmocka_unit_test(units_of_lengths),
		cmocka_unit_test(gate_compares_with_the_packet),
		cmocka_unit_test(promises_are_bounded),
		cmocka_unit_test(sent_values_never_fall),
		cmocka_unit_test(fences_and_statements),
		cmocka_unit_test(old_statements),
		cmocka_unit_test(samples_are_bounded),
		cmocka_unit_test(idle_heals),
		cmocka_unit_test(updates_are_paced),
		cmocka_unit_test(health),
		cmocka_unit_test(asks_and_answers),
		cmocka_unit_test(release_tells),
	};

	return cmocka_run_group_tests_name("credit", tests, NULL, NULL);
}
