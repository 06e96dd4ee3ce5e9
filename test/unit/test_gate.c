/* SPDX-License-Identifier: BSD-3-Clause */
/* Gates by cause: each cause opens its own gate and leaves those of the others closed. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "queue/gate.h"
#include "queue/turn.h"

#define MS NSEC_PER_MSEC
#define S1 1 /* a slice with a max-rate */
#define S2 2 /* one without */

static struct port port;
static struct snapshot snapshot;
static struct egress_context ctx = {.s = &snapshot};

/* An egress with packets, as far as gates can see, in classes 0 and 3 of both slices. Every test begins at 1 s. */
static struct egress *egress(void)
{
	struct egress *e = aligned_alloc(CACHE_LINE_BYTES, sizeof(*e));

	memset(e, 0, sizeof(*e));
	memset(&snapshot, 0, sizeof(snapshot));
	snapshot.n_slices = 3;
	snapshot.slice[S1].weight = snapshot.slice[S2].weight = 1;
	snapshot.slice[S1].max_rate_bps = 1000000000;
	ctx.now = NSEC_PER_SEC;
	egress_init(e, &port);
	egress_configure(e, &ctx);
	gate_wake(e, &ctx);
	for (uint8_t i = S1; i <= S2; i++) {
		e->slice[i].busy = 0x09;
		sched_list(e, &e->slice[i], i);
	}
	return e;
}

static void hold(struct egress *e, uint8_t slice, uint8_t classes, uint64_t ns)
{
	struct pfc_party party = {.sid = PFC_SID_LINK};
	struct pfc_pause pause = {.enable = classes};

	FOR_EACH_BIT(i, classes)
		pause.ns[i] = ns;
	assert_true(egress_pause(e, &ctx, &party, slice, &pause));
}

/* Bytes of S1 are sent: at 1 Gb/s a byte takes 8 ns. */
static void send_bytes(struct egress *e, uint64_t bytes)
{
	struct egress_slice *s = &e->slice[S1];

	gate_pay(e, &ctx, s, s->paid_part + bytes * s->byte_time);
}

static void at(struct egress *e, uint64_t now)
{
	ctx.now = now;
	if (now >= e->wake_ns)
		gate_wake(e, &ctx);
}

/* Classes that may send, of both slices. */
static void check_ready(const char *row, const struct egress *e, uint8_t s1, uint8_t s2)
{
	check(sched_ready(&e->slice[S1]) == s1, "%s: %02x of S1", row, sched_ready(&e->slice[S1]));
	check(sched_ready(&e->slice[S2]) == s2, "%s: %02x of S2", row, sched_ready(&e->slice[S2]));
	check((e->may[0] >> S1 & 1) == !!s1 && (e->may[0] >> S2 & 1) == !!s2, "%s: may send %llx", row,
		(unsigned long long)e->may[0]);
	check((e->barred[0] >> S1 & 1) == !!e->slice[S1].barred && (e->barred[0] >> S2 & 1) == !!e->slice[S2].barred,
		"%s: barred %llx", row, (unsigned long long)e->barred[0]);
}

static void single_causes(void **state)
{
	struct egress *e = egress();

	check_ready("open", e, 0x09, 0x09);
	assert_int_equal(e->wake_ns, TIME_NEVER);
	hold(e, S2, 0x08, 5 * MS);
	check_ready("a class of a slice is paused", e, 0x09, 0x01);
	assert_int_equal(e->gates & EGRESS_GATE_PAUSE, EGRESS_GATE_PAUSE);
	assert_int_equal(e->wake_ns, NSEC_PER_SEC + 5 * MS);
	at(e, NSEC_PER_SEC + 5 * MS - 1);
	check_ready("still", e, 0x09, 0x01);
	at(e, NSEC_PER_SEC + 5 * MS);
	check_ready("the pause is over", e, 0x09, 0x09);
	assert_int_equal(e->gates & EGRESS_GATE_PAUSE, 0);
	assert_int_equal(e->slice[S2].queue[3].paused_ns, 5 * MS);

	/* 2 ms worth of bytes; the burst is 262144 ns ahead */
	send_bytes(e, 250000);
	check_ready("a slice is ahead of its rate", e, 0, 0x09);
	assert_int_equal(e->wake_ns, ctx.now + 2 * MS - 262144);
	at(e, e->wake_ns - 1);
	check_ready("still ahead", e, 0, 0x09);
	at(e, e->wake_ns);
	check_ready("within the burst", e, 0x09, 0x09);
	assert_int_equal(e->wake_ns, TIME_NEVER);

	gate_device(e, false);
	assert_int_equal(e->gates & EGRESS_GATE_DEVICE, EGRESS_GATE_DEVICE);
	check_ready("a full device is not a matter of classes", e, 0x09, 0x09);
	gate_device(e, true);
	assert_int_equal(e->gates & EGRESS_GATE_DEVICE, 0);
	free(e);
}

/* Every order in which pause, rate and device end. */
static void combined(void **state)
{
	static const struct {
		const char *row;
		uint64_t pause_ns;
		uint64_t bytes; /* 8 ns each, less 262144 ns */
	} cases[] = {
		{"the pause ends first", 1 * MS, 1000000},
		{"the rate ends first", 20 * MS, 250000},
		{"both end at once", 7737856, 1000000},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		struct egress *e = egress();
		uint64_t pause_end = ctx.now + cases[i].pause_ns, rate_end = ctx.now + cases[i].bytes * 8 - 262144;

		hold(e, S1, 0x08, cases[i].pause_ns);
		check_ready(cases[i].row, e, 0x01, 0x09);
		send_bytes(e, cases[i].bytes);
		gate_device(e, false);
		check_ready(cases[i].row, e, 0, 0x09);
		assert_int_equal(e->slice[S1].closed[EGRESS_PAUSE], 0x08);
		assert_int_equal(e->slice[S1].closed[EGRESS_RATE], 0xff);
		assert_int_equal(e->wake_ns, MIN_OF(pause_end, rate_end));
		at(e, e->wake_ns);
		/* what ended opened its own gate alone */
		check(e->slice[S1].closed[EGRESS_PAUSE] == (pause_end > ctx.now ? 0x08 : 0), "%s: pause", cases[i].row);
		check(e->slice[S1].closed[EGRESS_RATE] == (rate_end > ctx.now ? 0xff : 0), "%s: rate", cases[i].row);
		check_ready(cases[i].row, e, rate_end > ctx.now ? 0 : pause_end > ctx.now ? 0x01 : 0x09, 0x09);
		assert_int_equal(e->gates & EGRESS_GATE_DEVICE, EGRESS_GATE_DEVICE);
		gate_device(e, true);
		assert_int_equal(!!(e->gates & EGRESS_GATE_PAUSE), pause_end > ctx.now);
		at(e, MAX_OF(pause_end, rate_end));
		check_ready(cases[i].row, e, 0x09, 0x09);
		assert_int_equal(e->wake_ns, TIME_NEVER);
		free(e);
	}
}

/* A resume, and a new configuration without the rate, while the other cause goes on. */
static void ended_by_others(void **state)
{
	struct egress *e = egress();

	hold(e, EGRESS_ALL_SLICES, 0x09, 50 * MS);
	check_ready("all are paused", e, 0, 0);
	send_bytes(e, 1000000);
	hold(e, EGRESS_ALL_SLICES, 0x01, 0);
	check_ready("a class resumes; S1 is ahead of its rate", e, 0, 0x01);
	snapshot.slice[S1].max_rate_bps = 0;
	egress_configure(e, &ctx);
	check_ready("until the next wake-up", e, 0, 0x01);
	at(e, ctx.now);
	check_ready("there is no rate any more", e, 0x01, 0x01);
	assert_int_equal(e->wake_ns, NSEC_PER_SEC + 50 * MS);
	hold(e, S1, 0x08, 60 * MS);
	at(e, NSEC_PER_SEC + 50 * MS);
	check_ready("another hold on the same gate goes on", e, 0x01, 0x09);
	at(e, NSEC_PER_SEC + 60 * MS);
	check_ready("open", e, 0x09, 0x09);
	free(e);
}

/* A storm that drops keeps the gate closed whatever the holds say, and tells rx lcores; then the holds count again. */
static void storm(void **state)
{
	struct egress *e = egress();
	uint8_t storming[MAX_PORTS] = {0};

	ctx.storming = storming;
	snapshot.port[0].watchdog = (struct pfc_watchdog_config){.action = PFC_WATCHDOG_DROP,
		.detect_ns = 10 * MS,
		.restore_ns = 20 * MS};
	egress_configure(e, &ctx);
	gate_wake(e, &ctx);
	hold(e, S2, 0x08, 15 * MS);
	assert_int_equal(e->wake_ns, NSEC_PER_SEC + 10 * MS);
	at(e, NSEC_PER_SEC + 10 * MS);
	assert_int_equal(e->gates & EGRESS_GATE_STORM, EGRESS_GATE_STORM);
	assert_int_equal(storming[0], 0x08);
	assert_int_equal(e->slice[S2].queue[3].pause_until, TIME_NEVER);
	at(e, NSEC_PER_SEC + 15 * MS);
	check_ready("the hold is over, the storm is not", e, 0x09, 0x01);
	at(e, NSEC_PER_SEC + 30 * MS);
	check_ready("restored", e, 0x09, 0x09);
	assert_int_equal(e->gates & EGRESS_GATE_STORM, 0);
	assert_int_equal(storming[0], 0);
	ctx.storming = NULL;
	free(e);
}

/* The link closes the gates of all slices that there are; those of slices that are gone open, and only by its own cause. */
static void slices_that_go(void **state)
{
	struct egress *e = egress();

	gate_link(e, &ctx, 0x08);
	check_ready("the link closes a class of all slices", e, 0x01, 0x01);
	assert_int_equal(e->slice[0].closed[EGRESS_LINK], 0x08);
	assert_int_equal(e->slice[3].closed[EGRESS_LINK], 0);
	hold(e, S1, 0x01, 5 * MS);
	snapshot.n_slices = S1;
	egress_configure(e, &ctx);
	gate_link(e, &ctx, 0x09);
	assert_int_equal(e->slice[0].closed[EGRESS_LINK], 0x09);
	check_ready("they are gone, a pause is not", e, 0x08, 0x09);
	free(e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_causes),
		cmocka_unit_test(combined),
		cmocka_unit_test(ended_by_others),
		cmocka_unit_test(storm),
		cmocka_unit_test(slices_that_go),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
