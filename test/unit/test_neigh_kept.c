/* SPDX-License-Identifier: BSD-3-Clause */
/* The neighbour table around its states: kept next hops, links that go down, polling. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/neigh_bench.h"

/* --- kept neighbours --- */

static void kept_is_resolved_ahead(void **state)
{
	struct bench *b = *state;

	bench_keep(b, 1, "fe80::5", true);
	bench_expect(b, "0 ask 1 fe80::5 all\n");
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
	bench_expect(b, "0 set 1 fe80::5 02:00:00:00:05:00\n");
	assert_true(bench_entry(b, 1, "fe80::5").info.keep);
	/* keeping twice is keeping */
	bench_keep(b, 1, "fe80::5", true);
	bench_expect(b, "");
}

/* It is confirmed ahead of use, without a moment of doubt. */
static void kept_is_probed_before_it_ages(void **state)
{
	struct bench *b = *state;
	unsigned int probes = 0;

	bench_keep(b, 1, "fe80::5", true);
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
	b->said[0] = '\0';
	for (uint64_t ms = 100; ms < 1000000; ms += 100) {
		bench_run_to(b, ms);
		if (!b->said[0])
			continue;
		probes++;
		check(strstr(b->said, " ask 1 fe80::5 02:00:00:00:05:00\n"), "at %llu", (unsigned long long)ms);
		bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
		assert_null(strstr(b->said, "tell"));
		b->said[0] = '\0';
	}
	assert_in_range(probes, 22, 66);
	bench_expect_state(b, 1, "fe80::5", NEIGH_REACHABLE);
}

static void kept_that_fails_is_asked_again(void **state)
{
	struct bench *b = *state;

	bench_keep(b, 1, "fe80::5", true);
	bench_run_to(b, 15500);
	bench_expect(b, "0 ask 1 fe80::5 all\n1000 ask 1 fe80::5 all\n2000 ask 1 fe80::5 all\n"
			"3000 tell 1 fe80::5 failed\n"
			"13000 ask 1 fe80::5 all\n14000 ask 1 fe80::5 all\n15000 ask 1 fe80::5 all\n");
	bench_run_to(b, 17000);
	bench_expect(b, "16000 tell 1 fe80::5 failed\n");
	bench_expect_state(b, 1, "fe80::5", NEIGH_FAILED);
	/* a packet for it does not wait for the pause to end */
	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	bench_expect(b, "17000 ask 1 fe80::5 all\n");
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
	bench_expect(b, "17000 set 1 fe80::5 02:00:00:00:05:00\n");
}

/* RFC 7048: the MAC stays in use for four questions by multicast, after 1, 3, 9 and 27 s. */
static void kept_that_stops_answering_keeps_its_mac(void **state)
{
	struct bench *b = *state;
	unsigned long long t;
	char want[512], *at;

	bench_make_reachable(b);
	bench_keep(b, 1, "fe80::5", true);
	while (!b->said[0])
		bench_run_to(b, b->now / MS + 1);
	bench_expect_state(b, 1, "fe80::5", NEIGH_PROBE);
	b->said[0] = '\0';
	while (!(at = strstr(b->said, " tell 1 fe80::5 unreachable\n")) && b->now < 100000 * MS)
		bench_run_to(b, b->now / MS + 1);
	assert_non_null(at);
	while (at > b->said && at[-1] != '\n')
		at--;
	t = strtoull(at, NULL, 10);
	bench_run_to(b, t + 39000);
	snprintf(want, sizeof(want),
		"%llu tell 1 fe80::5 unreachable\n%llu ask 1 fe80::5 all\n%llu ask 1 fe80::5 all\n"
		"%llu ask 1 fe80::5 all\n%llu ask 1 fe80::5 all\n",
		t, t, t + 1000, t + 4000, t + 13000);
	check_text("said", at, want);
	b->said[0] = '\0';
	bench_expect_state(b, 1, "fe80::5", NEIGH_UNREACHABLE);
	/* an answer without a MAC confirms the one that was kept */
	bench_heard(b, 1, "fe80::5", NULL, SOLICITED);
	assert_non_null(strstr(b->said, " set 1 fe80::5 02:00:00:00:05:00\n"));
	bench_expect_state(b, 1, "fe80::5", NEIGH_REACHABLE);
	/* and one that is really gone fails in the end */
	while (!(at = strstr(b->said, " tell 1 fe80::5 failed\n")) && b->now < 300000 * MS)
		bench_run_to(b, b->now / MS + 1);
	assert_non_null(at);
	bench_expect_state(b, 1, "fe80::5", NEIGH_FAILED);
}

/* A station that was exchanged while its link was down is not sent to. */
static void a_link_that_was_down_costs_the_mac(void **state)
{
	struct bench *b = *state;

	bench_make_reachable(b);
	bench_keep(b, 1, "fe80::5", true);
	neigh_cache_link_down(b->t, b->now, 1, UINT16_MAX);
	bench_run_to(b, b->now / MS);
	assert_non_null(strstr(b->said, " tell 1 fe80::5 failed\n"));
	bench_expect_state(b, 1, "fe80::5", NEIGH_FAILED);
}

/* What was asked while nobody could hear it does not count: packets are waiting for the answer. */
static void a_link_that_comes_up_asks_at_once(void **state)
{
	struct bench *b = *state;

	bench_keep(b, 1, "fe80::5", true);
	assert_int_equal(bench_ask(b, 1, "fe80::1"), 0);
	bench_keep(b, 2, "fe80::2", true);
	bench_run_to(b, 2400);
	b->said[0] = '\0';
	neigh_cache_link_up(b->t, b->now, 1, UINT16_MAX);
	bench_run_to(b, 2400);
	bench_expect(b, "2400 ask 1 fe80::1 all\n2400 ask 1 fe80::5 all\n");
	bench_run_to(b, 4400);
	bench_expect(b, "3000 tell 2 fe80::2 failed\n3400 ask 1 fe80::1 all\n3400 ask 1 fe80::5 all\n"
			"4400 ask 1 fe80::1 all\n4400 ask 1 fe80::5 all\n");
	bench_run_to(b, 5500);
	bench_expect(b, "5400 tell 1 fe80::1 failed\n5400 tell 1 fe80::5 failed\n");
	neigh_cache_link_up(b->t, b->now, 1, UINT16_MAX);
	bench_run_to(b, 5500);
	bench_expect(b, "5500 ask 1 fe80::5 all\n");
	/* it was heard before its link was seen to be up, so it is confirmed */
	bench_heard(b, 1, "fe80::5", &bench_mac5, OVERRIDE);
	bench_run_to(b, 5600);
	b->said[0] = '\0';
	neigh_cache_link_up(b->t, b->now, 1, UINT16_MAX);
	bench_run_to(b, 5600);
	bench_expect(b, "5600 ask 1 fe80::5 02:00:00:00:05:00\n");
}

static void failed_hears_of_itself(void **state)
{
	struct bench *b = *state;

	bench_keep(b, 1, "fe80::5", true);
	bench_run_to(b, 4000);
	bench_expect_state(b, 1, "fe80::5", NEIGH_FAILED);
	b->said[0] = '\0';
	bench_heard(b, 1, "fe80::5", &bench_mac5, OVERRIDE);
	bench_expect(b, "4000 set 1 fe80::5 02:00:00:00:05:00\n4000 tell 1 fe80::5 stale\n");
	/* stale and kept: probed in time, not forgotten */
	bench_run_to(b, 4000 + 600000);
	bench_expect(b, "604000 ask 1 fe80::5 02:00:00:00:05:00\n");
}

static void learnt_becomes_kept(void **state)
{
	struct bench *b = *state;

	bench_make_state(b, NEIGH_STALE);
	bench_keep(b, 1, "fe80::5", true);
	bench_expect_state(b, 1, "fe80::5", NEIGH_PROBE);
	assert_non_null(strstr(b->said, " ask 1 fe80::5 02:00:00:00:05:00\n"));
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED);
	bench_expect_state(b, 1, "fe80::5", NEIGH_REACHABLE);
}

static void no_longer_kept(void **state)
{
	struct bench *b = *state;

	/* reachable: lives on as a learnt one */
	bench_keep(b, 1, "fe80::5", true);
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
	bench_keep(b, 1, "fe80::5", false);
	bench_keep(b, 1, "fe80::5", false);
	b->said[0] = '\0';
	bench_run_to(b, 45000);
	assert_non_null(strstr(b->said, " tell 1 fe80::5 stale\n"));
	assert_null(strstr(b->said, "ask"));
	bench_run_to(b, 700000);
	assert_int_equal(neigh_cache_count(b->t), 0);

	/* failed: gone once its pause is over */
	bench_keep(b, 1, "fe80::6", true);
	bench_run_to(b, 704000);
	bench_keep(b, 1, "fe80::6", false);
	b->said[0] = '\0';
	bench_run_to(b, 714000);
	bench_expect(b, "713000 tell 1 fe80::6 forget\n");
	assert_int_equal(neigh_cache_count(b->t), 0);
	/* one that never was */
	bench_keep(b, 1, "fe80::7", false);
	assert_int_equal(neigh_cache_count(b->t), 0);
}

/* --- links --- */

static void port_goes_down(void **state)
{
	struct bench *b = *state;

	bench_make_reachable(b);			 /* fe80::5, port 1 */
	assert_int_equal(bench_ask(b, 1, "fe80::1"), 0); /* still unresolved */
	assert_int_equal(bench_ask(b, 2, "fe80::2"), 0);
	bench_heard(b, 2, "fe80::2", &bench_mac6, SOLICITED | OVERRIDE);
	bench_keep(b, 1, "fe80::9", true);
	bench_heard(b, 1, "fe80::9", &bench_mac6, SOLICITED | OVERRIDE);
	bench_keep(b, 1, "fe80::a", true);
	bench_run_to(b, 100);
	b->said[0] = '\0';
	neigh_cache_link_down(b->t, b->now, 1, UINT16_MAX);
	bench_expect(b, "");
	bench_run_to(b, 100);
	/* workers that wait for an answer are notified as well */
	bench_expect(b, "100 tell 1 fe80::1 failed\n100 tell 1 fe80::5 failed\n100 tell 1 fe80::9 failed\n"
			"100 tell 1 fe80::a failed\n");
	assert_int_equal(neigh_cache_count(b->t), 3);
	bench_expect_state(b, 2, "fe80::2", NEIGH_REACHABLE);
	bench_expect_state(b, 1, "fe80::9", NEIGH_FAILED);
	bench_expect_state(b, 1, "fe80::a", NEIGH_FAILED);
	/* a repetition changes nothing */
	neigh_cache_link_down(b->t, b->now, 1, UINT16_MAX);
	neigh_cache_link_down(b->t, b->now, 7, UINT16_MAX);
	bench_run_to(b, 200);
	bench_expect(b, "");
	/* the kept ones are solicited again */
	bench_run_to(b, 10100);
	bench_expect(b, "10100 ask 1 fe80::9 all\n10100 ask 1 fe80::a all\n");
}

/* --- polling --- */

static void poll_has_a_budget(void **state)
{
	struct bench *b = *state;
	uint64_t next = 0;

	assert_int_equal(neigh_cache_poll(b->t, 0, 10, &next), 0);
	assert_true(next == TIME_NEVER);
	for (unsigned int i = 1; i <= 4; i++) {
		char text[IP_ADDR_TEXT];

		snprintf(text, sizeof(text), "fe80::%u", i);
		assert_int_equal(bench_ask(b, 1, text), 0);
		b->now += 10 * MS;
	}
	assert_int_equal(neigh_cache_poll(b->t, 999 * MS, 10, &next), 0);
	assert_int_equal(next, 1000 * MS);
	b->now = 2000 * MS;
	b->said[0] = '\0';
	assert_int_equal(neigh_cache_poll(b->t, b->now, 3, &next), 3);
	bench_expect(b, "2000 ask 1 fe80::1 all\n2000 ask 1 fe80::2 all\n2000 ask 1 fe80::3 all\n");
	assert_true(next <= b->now); /* one is still due */
	assert_int_equal(neigh_cache_poll(b->t, b->now, 0, &next), 0);
	assert_true(next <= b->now);
	assert_int_equal(neigh_cache_poll(b->t, b->now, 3, &next), 1);
	bench_expect(b, "2000 ask 1 fe80::4 all\n");
	assert_int_equal(next, 3000 * MS);
}

static void collect(void *arg, const struct neigh_info *info)
{
	char text[IP_ADDR_TEXT], *out = arg;

	sprintf(out + strlen(out), "%u %s\n", info->port, ip_addr_format(&info->addr, text));
}

static void shown_in_order(void **state)
{
	static const struct {
		uint16_t port;
		const char *addr;
	} keeps[] = {{2, "10.0.0.1"}, {1, "fe80::2"}, {1, "10.0.0.9"}, {1, "fe80::10"}, {0, "fe80::9"},
		{1, "10.0.0.10"}};
	struct bench *b = *state;
	char shown[256] = "";

	for (unsigned int i = 0; i < ARRAY_LEN(keeps); i++)
		bench_keep(b, keeps[i].port, keeps[i].addr, true);
	neigh_cache_each(b->t, collect, shown);
	assert_string_equal(shown, "0 fe80::9\n1 10.0.0.9\n1 10.0.0.10\n1 fe80::2\n1 fe80::10\n2 10.0.0.1\n");
	assert_string_equal(neigh_state_name(NEIGH_INCOMPLETE), "incomplete");
	assert_string_equal(neigh_state_name(NEIGH_REACHABLE), "reachable");
	assert_string_equal(neigh_state_name(NEIGH_STALE), "stale");
	assert_string_equal(neigh_state_name(NEIGH_DELAY), "delay");
	assert_string_equal(neigh_state_name(NEIGH_PROBE), "probe");
	assert_string_equal(neigh_state_name(NEIGH_FAILED), "failed");
	assert_string_equal(neigh_state_name(NEIGH_UNREACHABLE), "unreachable");
}

static void count_entry(void *arg, const struct neigh_info *info)
{
	unsigned int *n = arg;

	assert_true(info->state <= NEIGH_UNREACHABLE);
	/* what may carry packets has a MAC to carry them to */
	if (info->state != NEIGH_INCOMPLETE && info->state != NEIGH_FAILED)
		assert_false(eth_is_zero(&info->mac));
	(*n)++;
}

/* For every order of events, the table's counts are right, and without events it becomes idle. */
static void any_order_of_events(void **state)
{
	struct bench *b = *state;
	uint64_t random = 29;
	char text[IP_ADDR_TEXT];

	for (unsigned int i = 0; i < 100000; i++) {
		uint16_t port = (uint16_t)(unit_random(&random) % 2);
		const struct eth_addr *mac = unit_random(&random) % 4 ? &bench_mac5 : &bench_mac6;
		unsigned int n = 0, count;

		snprintf(text, sizeof(text), "fe80::%u", 1 + unit_random(&random) % 8);
		switch (unit_random(&random) % 8) {
		case 0:
			count = neigh_cache_count(b->t);
			assert_true(bench_ask(b, port, text) == 0 || count >= 4);
			break;
		case 1:
			bench_used(b, port, text);
			break;
		case 2:
			bench_heard(b, port, text, mac, unit_random(&random) % 8);
			break;
		case 3:
			bench_heard(b, port, text, NULL, unit_random(&random) % 8);
			break;
		case 4:
			bench_keep(b, port, text, unit_random(&random) % 4 == 0);
			break;
		case 5:
			if (unit_random(&random) % 50 == 0)
				neigh_cache_link_down(b->t, b->now, port, UINT16_MAX);
			break;
		default:
			bench_run_to(b, b->now / MS + unit_random(&random) % 5000);
		}
		neigh_cache_each(b->t, count_entry, &n);
		assert_int_equal(n, neigh_cache_count(b->t));
		assert_true(n <= 16);
		b->said[0] = '\0';
	}
	for (unsigned int i = 1; i <= 8; i++) {
		snprintf(text, sizeof(text), "fe80::%u", i);
		bench_keep(b, 0, text, false);
		bench_keep(b, 1, text, false);
	}
	bench_run_to(b, b->now / MS + 1000000);
	assert_int_equal(neigh_cache_count(b->t), 0);
	assert_true(b->next == TIME_NEVER);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		BENCH_TEST(kept_is_resolved_ahead),
		BENCH_TEST(kept_is_probed_before_it_ages),
		BENCH_TEST(kept_that_fails_is_asked_again),
		BENCH_TEST(kept_that_stops_answering_keeps_its_mac),
		BENCH_TEST(a_link_that_was_down_costs_the_mac),
		BENCH_TEST(a_link_that_comes_up_asks_at_once),
		BENCH_TEST(failed_hears_of_itself),
		BENCH_TEST(learnt_becomes_kept),
		BENCH_TEST(no_longer_kept),
		BENCH_TEST(port_goes_down),
		BENCH_TEST(poll_has_a_budget),
		BENCH_TEST(shown_in_order),
		BENCH_TEST(any_order_of_events),
	};

	return cmocka_run_group_tests_name("neigh_kept", tests, NULL, NULL);
}
