/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include "pfc/pfc_history.h"
#include "pfc/pfc_hold.h"

#define GOLD 1
#define SILVER 2
#define RATE 100000000000ull
#define LONG 335540ull /* ns of 65535 quanta at that rate */

static const struct pfc_heed all; /* everybody's words count */

static struct pfc_party party(uint32_t sid, uint8_t source)
{
	return (struct pfc_party){.sid = sid, .source = {.b = {0xfd, [15] = source}}};
}

static bool say_late(struct pfc_holds *h, uint32_t sid, uint8_t source, uint8_t slice, unsigned int priority,
	uint16_t quanta, uint64_t jitter, uint64_t now)
{
	struct pfc_request r = {.enable = (uint8_t)(1u << priority)};
	struct pfc_party p = party(sid, source);
	struct pfc_pause pause;

	r.time[priority] = quanta;
	pause = pfc_pause_of(&r, RATE, jitter);
	return pfc_holds_apply(h, &p, slice, &pause, now);
}

static bool say(struct pfc_holds *h, uint32_t sid, uint8_t source, uint8_t slice, unsigned int priority,
	uint16_t quanta, uint64_t now)
{
	return say_late(h, sid, source, slice, priority, quanta, 0, now);
}

/* D42: two downstream PEs behind one SID whose XON and XOFF cross. */
static void crossing(void **state)
{
	struct pfc_holds h = {0};

	assert_true(say(&h, 7, 1, GOLD, 3, 65535, 1000));
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 1000 + LONG);
	assert_true(say(&h, 7, 2, GOLD, 3, 65535, 51000));
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 51000 + LONG);
	/* the second one's XON overtakes the refresh of the first one: the first one's hold stands */
	assert_true(say(&h, 7, 2, GOLD, 3, 0, 60000));
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 1000 + LONG);
	assert_int_equal(pfc_holds_count(&h, GOLD, 3, 60000), 1);
	assert_true(say(&h, 7, 1, GOLD, 3, 65535, 100000));
	/* an XON that arrives twice, and one from a party that never paused */
	assert_true(say(&h, 7, 2, GOLD, 3, 0, 110000));
	assert_true(say(&h, 7, 3, GOLD, 3, 0, 110000));
	assert_true(say(&h, 8, 1, GOLD, 3, 0, 110000));
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 100000 + LONG);
	assert_true(say(&h, 7, 1, GOLD, 3, 0, 120000));
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 0);
}

/* A new request of a party replaces the remaining time; it does not add to it, and it may be shorter. */
static void replaces(void **state)
{
	struct pfc_holds h = {0};

	say(&h, 7, 1, GOLD, 3, 65535, 0);
	say(&h, 7, 1, GOLD, 3, 65535, 10);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 10 + LONG);
	say(&h, 7, 1, GOLD, 3, 100, 20);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 20 + 512); /* 100 quanta at 100 Gb/s */
	/* held for longer than it says where its way has jitter; a resume is one at once */
	say_late(&h, 7, 1, GOLD, 3, 100, 2000, 30);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 30 + 512 + 2000);
	say_late(&h, 7, 1, GOLD, 3, 0, 2000, 40);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 0);
}

/* Time stops for all holds and goes on: each keeps its remaining time, and new requests count from the stop. */
static void stands_still(void **state)
{
	struct pfc_holds h = {0};

	say(&h, 7, 1, GOLD, 3, 65535, 100);
	say(&h, 7, 1, SILVER, 3, 1, 100);
	pfc_holds_stand_still(&h, 1100);
	pfc_holds_stand_still(&h, 2000); /* stands already */
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), TIME_NEVER);
	assert_true(pfc_holds_until(&h, SILVER, 3, all) < 1100);
	assert_int_equal(pfc_holds_count(&h, GOLD, 3, 100 * LONG), 1);
	say(&h, 7, 2, SILVER, 3, 100, 50000);
	assert_int_equal(pfc_holds_until(&h, SILVER, 3, all), TIME_NEVER);
	say(&h, 7, 1, GOLD, 4, 100, 50000);
	say(&h, 7, 1, GOLD, 4, 0, 50001);
	assert_int_equal(pfc_holds_until(&h, GOLD, 4, all), 0);
	pfc_holds_go_on(&h, 901100);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 100 + LONG + 900000);
	assert_int_equal(pfc_holds_until(&h, SILVER, 3, all), 901100 + 512);
	pfc_holds_go_on(&h, 1000000); /* goes on already */
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 100 + LONG + 900000);
}

/* Exactly the queues of that slice and priority; a priority that is not enabled keeps its hold. */
static void exact(void **state)
{
	struct pfc_party link = {.sid = PFC_SID_LINK};
	struct pfc_pause pause = {.enable = 0x30, .ns = {[4] = 500, [5] = 0}};
	struct pfc_holds h = {0};

	say(&h, 7, 1, GOLD, 3, 65535, 0);
	for (unsigned int slice = 0; slice < 4; slice++)
		for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
			check((pfc_holds_until(&h, (uint8_t)slice, i, all) != 0) == (slice == GOLD && i == 3),
				"slice %u priority %u", slice, i);
	/* one source may speak by one SID about two slices: two holds */
	say(&h, 7, 1, SILVER, 3, 65535, 0);
	say(&h, 7, 1, SILVER, 3, 0, 0);
	assert_int_equal(pfc_holds_until(&h, SILVER, 3, all), 0);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), LONG);
	say(&h, 7, 1, GOLD, 4, 1, 0);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), LONG);
	/* the peer on the link stops the priority of every slice, and only its own XON ends that */
	assert_true(pfc_holds_apply(&h, &link, PFC_ALL_SLICES, &pause, 100));
	assert_int_equal(pfc_holds_until(&h, GOLD, 4, all), 600);
	assert_int_equal(pfc_holds_until(&h, SILVER, 4, all), 600);
	assert_int_equal(pfc_holds_until(&h, SILVER, 5, all), 0);
	say(&h, 7, 1, SILVER, 4, 0, 200);
	assert_int_equal(pfc_holds_until(&h, SILVER, 4, all), 600);
}

/* Holds that a watchdog has discarded never count again, of tunnels and of the link separately; later requests do. */
static void heeded(void **state)
{
	struct pfc_party link = {.sid = PFC_SID_LINK};
	struct pfc_pause pause = {.enable = 0x08, .ns = {[3] = 1000}};
	struct pfc_holds h = {0};

	say(&h, 7, 1, GOLD, 3, 65535, 100);
	assert_true(pfc_holds_apply(&h, &link, PFC_ALL_SLICES, &pause, 200));
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, (struct pfc_heed){.tunnels = 100}), 100 + LONG);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, (struct pfc_heed){.tunnels = 101}), 1200);
	assert_int_equal(pfc_holds_until(&h, SILVER, 3, (struct pfc_heed){.tunnels = TIME_NEVER}), 1200);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, (struct pfc_heed){.link = 201}), 100 + LONG);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, (struct pfc_heed){TIME_NEVER, TIME_NEVER}), 0);
	say(&h, 7, 1, GOLD, 3, 65535, 300);
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, (struct pfc_heed){.link = 201, .tunnels = 101}), 300 + LONG);
}

/* The table is bounded; places of ended holds are used again, unexpired ones never. */
static void bounded(void **state)
{
	struct pfc_holds h = {0};

	for (unsigned int i = 0; i < PFC_PARTIES_MAX; i++)
		assert_true(say(&h, i, 1, GOLD, 3, i == 40 ? 1 : 65535, 0));
	assert_false(say(&h, 1000, 1, GOLD, 3, 65535, 5));
	assert_true(say(&h, 1000, 1, GOLD, 3, 0, 5)); /* to resume needs no place */
	assert_int_equal(pfc_holds_count(&h, GOLD, 3, 5), PFC_PARTIES_MAX);
	assert_true(say(&h, 1000, 1, GOLD, 3, 65535, 6)); /* 1 quantum is 5.12 ns */
	assert_int_equal(pfc_holds_count(&h, GOLD, 3, 6), PFC_PARTIES_MAX);
	assert_false(say(&h, 40, 1, GOLD, 3, 65535, 7));
	assert_true(say(&h, 39, 1, GOLD, 3, 65535, 7));
	assert_int_equal(pfc_holds_until(&h, GOLD, 3, all), 7 + LONG);
}

/* Against a plain model: the gate is the latest end over all parties. */
static void many(void **state)
{
	enum { SIDS = 5, SOURCES = 4 };
	uint64_t until[SIDS][SOURCES][PFC_PRIORITIES] = {0}, random = 5, now = 1;
	struct pfc_holds h = {0};

	for (unsigned int step = 0; step < 20000; step++) {
		unsigned int sid = unit_random(&random) % SIDS, source = unit_random(&random) % SOURCES;
		unsigned int priority = unit_random(&random) % PFC_PRIORITIES;
		uint16_t quanta = unit_random(&random) % 3 ? (uint16_t)unit_random(&random) : 0;

		now += unit_random(&random) % 20000;
		assert_true(say(&h, sid, (uint8_t)source, (uint8_t)(sid % 2), priority, quanta, now));
		until[sid][source][priority] = quanta ? now + pfc_quanta_ns(quanta, RATE) : 0;
		for (unsigned int slice = 0; slice < 2; slice++) {
			for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
				uint64_t want = 0, got = pfc_holds_until(&h, (uint8_t)slice, i, all);

				for (unsigned int s = slice; s < SIDS; s += 2)
					for (unsigned int k = 0; k < SOURCES; k++)
						want = MAX_OF(want, until[s][k][i]);
				/* ended holds may have made place for others */
				check(got == want || (got <= now && want <= now), "step %u, slice %u, priority %u",
					step, slice, i);
			}
		}
	}
}

static void history(void **state)
{
	struct pfc_history h = {0};

	pfc_history_set(&h, 5000, 1000);
	assert_true(pfc_history_is_paused(&h, 4999));
	assert_false(pfc_history_is_paused(&h, 5000));
	pfc_history_set(&h, 9000, 4000); /* a refresh is not a transition */
	assert_int_equal(h.transitions, 1);
	pfc_history_set(&h, 12000, 9000); /* nor is one at the very end */
	assert_int_equal(h.transitions, 1);
	assert_int_equal(pfc_history_total(&h, 10000), 9000);
	pfc_history_set(&h, 0, 11000);
	assert_int_equal(h.last_ns, 10000);
	assert_int_equal(h.total_ns, 10000);
	assert_int_equal(h.length[3], 1); /* 8 to 15 us */
	pfc_history_set(&h, 0, 12000);	  /* XON without XOFF */
	assert_int_equal(h.transitions, 1);

	/* ran out unseen: it ended when it ended */
	pfc_history_set(&h, 20500, 20000);
	pfc_history_set(&h, 40000, 30000);
	assert_int_equal(h.transitions, 3);
	assert_int_equal(h.total_ns, 10500);
	assert_int_equal(h.length[0], 1);
	assert_int_equal(pfc_history_total(&h, 50000), 20500);
	assert_int_equal(pfc_history_total(&h, 29000), 10500); /* by a clock that was read before the last word */
	assert_int_equal(pfc_history_at(&h, 39999).total_ns, 10500);
	assert_int_equal(pfc_history_at(&h, 50000).total_ns, 20500); /* and the writer's copy is unchanged */
	assert_int_equal(pfc_history_at(&h, 50000).last_ns, 10000);
	assert_int_equal(h.total_ns, 10500);
	pfc_history_settle(&h, 40000);
	assert_int_equal(h.until, 40000);
	pfc_history_settle(&h, 40001);
	assert_int_equal(h.until, 0);
	assert_int_equal(h.last_ns, 10000);
	assert_int_equal(h.last_began, 30000);

	pfc_history_set(&h, 1000000000000000ull, 50000);
	pfc_history_settle(&h, UINT64_MAX);
	assert_int_equal(h.length[PFC_HISTOGRAM - 1], 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(crossing),
		cmocka_unit_test(replaces),
		cmocka_unit_test(stands_still),
		cmocka_unit_test(exact),
		cmocka_unit_test(heeded),
		cmocka_unit_test(bounded),
		cmocka_unit_test(many),
		cmocka_unit_test(history),
	};

	return cmocka_run_group_tests_name("pfc_hold", tests, NULL, NULL);
}
