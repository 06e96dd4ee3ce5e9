/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include "pfc/pfc_watchdog.h"

#define MS NSEC_PER_MSEC

static const struct pfc_watchdog_config drop = {PFC_WATCHDOG_DROP, 100 * MS, 200 * MS, 300 * MS};
static const struct pfc_watchdog_config forward = {PFC_WATCHDOG_FORWARD, 0, 200 * MS, 300 * MS};
static const struct pfc_watchdog_config alert = {PFC_WATCHDOG_ALERT, 0, 200 * MS, 300 * MS};

static enum pfc_watchdog_event poll(struct pfc_watchdog *w, const struct pfc_watchdog_config *config, uint64_t ms,
	uint64_t next_ms)
{
	enum pfc_watchdog_event event;
	uint64_t next;

	event = pfc_watchdog_poll(w, config, ms * MS, &next);
	check(next == (next_ms == TIME_NEVER ? TIME_NEVER : next_ms * MS), "at %u ms: next is %llu", (unsigned int)ms,
		(unsigned long long)next);
	return event;
}

/* A frame of the only party, its gate included; true when it was obeyed. */
static bool stop(struct pfc_watchdog *w, uint64_t now_ms, uint64_t until_ms)
{
	if (!pfc_watchdog_frame(w, false, until_ms * MS, now_ms * MS))
		return false;
	pfc_watchdog_gate(w, until_ms * MS, now_ms * MS);
	return true;
}

static void storm_and_restoration(void **state)
{
	struct pfc_watchdog w = {0};

	assert_int_equal(poll(&w, &drop, 0, TIME_NEVER), PFC_WATCHDOG_NOTHING);
	for (uint64_t t = 10; t < 110; t += 20)
		assert_true(stop(&w, t, t + 30));
	/* the last pause ends at 120: an alarm is certain, a storm not yet */
	assert_int_equal(poll(&w, &drop, 95, 110), PFC_WATCHDOG_NOTHING);
	assert_int_equal(poll(&w, &drop, 110, 110), PFC_WATCHDOG_ALARM);
	assert_int_equal(poll(&w, &drop, 110, TIME_NEVER), PFC_WATCHDOG_NOTHING);
	for (uint64_t t = 110; t < 200; t += 20)
		assert_true(stop(&w, t, t + 30));
	assert_int_equal(poll(&w, &drop, 195, 210), PFC_WATCHDOG_NOTHING);
	assert_true(stop(&w, 209, 240));
	assert_false(pfc_watchdog_drops(&w));
	assert_int_equal(poll(&w, &drop, 210, 210), PFC_WATCHDOG_STORM);
	assert_true(pfc_watchdog_drops(&w));
	assert_int_equal(w.detected_at, 210 * MS);

	/* frames are not obeyed, and as long as they come the storm lasts */
	for (uint64_t t = 230; t < 800; t += 100) {
		assert_int_equal(poll(&w, &drop, t, t == 230 ? 510 : t + 200), PFC_WATCHDOG_NOTHING);
		assert_false(stop(&w, t, t + 30));
	}
	assert_int_equal(w.ignored, 6);
	/* an XON is not obeyed either, but does not prolong the storm */
	assert_false(stop(&w, 900, 0));
	assert_int_equal(w.ignored, 6);
	assert_int_equal(poll(&w, &drop, 1029, 1030), PFC_WATCHDOG_NOTHING);
	assert_int_equal(pfc_watchdog_storm_ns(&w, 1029 * MS), 819 * MS);
	assert_int_equal(poll(&w, &drop, 1030, 1030), PFC_WATCHDOG_RESTORED);
	assert_int_equal(poll(&w, &drop, 1030, TIME_NEVER), PFC_WATCHDOG_NOTHING);
	assert_false(pfc_watchdog_drops(&w));
	assert_int_equal(w.storm_ns, 820 * MS);
	assert_int_equal(w.detections, 1);
	assert_int_equal(w.restorations, 1);
	assert_true(stop(&w, 1040, 1050));
}

/* Pauses with breaks between them are no storm, however often anyone looks. */
static void breaks(void **state)
{
	struct pfc_watchdog w = {0};

	/* gaps of 1 ms between pauses of 30 ms; polled only while paused */
	for (uint64_t t = 0; t < 2000; t += 31) {
		assert_true(stop(&w, t, t + 30));
		assert_int_equal(poll(&w, &drop, t + 15, TIME_NEVER), PFC_WATCHDOG_NOTHING);
	}
	/* XON, and XOFF at the same moment: an edge */
	for (uint64_t t = 3000; t < 5000; t += 20) {
		assert_true(stop(&w, t, 0));
		assert_true(stop(&w, t, t + 30));
		assert_int_equal(poll(&w, &drop, t + 10, TIME_NEVER), PFC_WATCHDOG_NOTHING);
	}
	assert_int_equal(w.detections, 0);
	assert_int_equal(w.alarms, 0);
	/* a stream of XONs is not a storm */
	for (uint64_t t = 6000; t < 8000; t += 10)
		assert_true(stop(&w, t, 0));
	assert_int_equal(poll(&w, &drop, 8000, TIME_NEVER), PFC_WATCHDOG_NOTHING);
	/* a pause that ends just when the next one begins was never broken */
	for (uint64_t t = 9000; t < 9200; t += 20)
		assert_true(stop(&w, t, t + 20));
	assert_int_equal(poll(&w, &forward, 9200, 9200), PFC_WATCHDOG_STORM);
}

/* One frame whose pause is longer than everything: found at the right moment, restored by frames, not by time left. */
static void one_long_pause(void **state)
{
	struct pfc_watchdog w = {0};

	assert_true(stop(&w, 0, 3355));
	assert_int_equal(poll(&w, &forward, 0, 200), PFC_WATCHDOG_NOTHING);
	assert_int_equal(poll(&w, &forward, 200, 200), PFC_WATCHDOG_STORM);
	assert_true(pfc_watchdog_heed(&w).link == TIME_NEVER);
	pfc_watchdog_gate(&w, 0, 200 * MS);
	assert_false(pfc_watchdog_drops(&w));
	assert_int_equal(poll(&w, &forward, 499, 500), PFC_WATCHDOG_NOTHING);
	assert_int_equal(poll(&w, &forward, 500, 500), PFC_WATCHDOG_RESTORED);
	assert_int_equal(poll(&w, &forward, 500, TIME_NEVER), PFC_WATCHDOG_NOTHING);
}

/* Alert changes nothing; the pause that goes on is reported again only after another detection time. */
static void only_alert(void **state)
{
	struct pfc_watchdog w = {0};

	assert_true(stop(&w, 0, 250));
	assert_int_equal(poll(&w, &alert, 200, 200), PFC_WATCHDOG_STORM);
	assert_int_equal(pfc_watchdog_heed(&w).link, 0);
	assert_int_equal(pfc_watchdog_heed(&w).tunnels, 0);
	assert_true(stop(&w, 240, 1000));
	assert_int_equal(w.ignored, 0);
	assert_int_equal(poll(&w, &alert, 540, 540), PFC_WATCHDOG_RESTORED);
	assert_int_equal(poll(&w, &alert, 540, 740), PFC_WATCHDOG_NOTHING);
	assert_int_equal(poll(&w, &alert, 740, 740), PFC_WATCHDOG_STORM);
}

/* A reload while a storm lasts: its action stays, and a watchdog switched off lets go. */
static void reload(void **state)
{
	static const struct pfc_watchdog_config off = {PFC_WATCHDOG_ALERT, 0, 0, 0};
	struct pfc_watchdog w = {0};

	assert_true(stop(&w, 0, 1000));
	assert_int_equal(poll(&w, &off, 500, TIME_NEVER), PFC_WATCHDOG_NOTHING);
	assert_int_equal(poll(&w, &drop, 500, 500), PFC_WATCHDOG_ALARM);
	assert_int_equal(poll(&w, &drop, 500, 500), PFC_WATCHDOG_STORM);
	assert_int_equal(poll(&w, &alert, 600, 800), PFC_WATCHDOG_NOTHING);
	assert_true(pfc_watchdog_drops(&w));
	assert_int_equal(poll(&w, &off, 601, 601), PFC_WATCHDOG_RESTORED);
	assert_false(pfc_watchdog_drops(&w));
}

/* A storm with action release: requests are ignored for the release time, then count, and so on. */
static void releases_in_turns(void **state)
{
	struct pfc_watchdog_config c = {.action = PFC_WATCHDOG_RELEASE,
		.detect_ns = 100 * NSEC_PER_MSEC,
		.restore_ns = 100 * NSEC_PER_MSEC,
		.release_ns = NSEC_PER_MSEC};
	struct pfc_watchdog w = {0};
	uint64_t ignored = 0, next;

	for (uint64_t now = NSEC_PER_MSEC / 10; now < 550 * NSEC_PER_MSEC; now += NSEC_PER_MSEC / 10) {
		uint64_t until = now + NSEC_PER_MSEC;

		pfc_watchdog_frame(&w, true, until, now);
		while (pfc_watchdog_poll(&w, &c, now, &next) != PFC_WATCHDOG_NOTHING)
			pfc_watchdog_gate(&w, pfc_watchdog_heed(&w).tunnels == TIME_NEVER ? 0 : until, now);
		pfc_watchdog_gate(&w, pfc_watchdog_heed(&w).tunnels == TIME_NEVER ? 0 : until, now);
		ignored += pfc_watchdog_heed(&w).tunnels == TIME_NEVER;
	}
	assert_int_equal(w.detections, 1);
	assert_int_equal(w.releases, 5); /* every 101 ms */
	assert_true(ignored >= 49 && ignored <= 51);
	assert_int_equal(w.restorations, 0);
	/* nobody asks any more */
	while (pfc_watchdog_poll(&w, &c, 700 * NSEC_PER_MSEC, &next) != PFC_WATCHDOG_NOTHING)
		pfc_watchdog_gate(&w, 0, 700 * NSEC_PER_MSEC);
	assert_int_equal(w.restorations, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases_in_turns),
		cmocka_unit_test(storm_and_restoration),
		cmocka_unit_test(breaks),
		cmocka_unit_test(one_long_pause),
		cmocka_unit_test(only_alert),
		cmocka_unit_test(reload),
	};

	return cmocka_run_group_tests_name("pfc_watchdog", tests, NULL, NULL);
}
