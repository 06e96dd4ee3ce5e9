/* SPDX-License-Identifier: BSD-3-Clause */
/* The neighbour state machine in virtual time (RFC 4861 section 7.3, appendix C). */
#include "test/support/unit.h"

#include <errno.h>

#include "test/support/neigh_bench.h"

/* --- resolution (section 7.2) --- */

static void resolves(void **state)
{
	struct bench *b = *state;
	struct bench_entry l;

	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	bench_expect(b, "0 ask 1 fe80::5 all\n");
	/* more packets for it ask nothing more */
	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	bench_used(b, 1, "fe80::5");
	bench_expect(b, "");
	bench_run_to(b, 250);
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
	bench_expect(b, "250 set 1 fe80::5 02:00:00:00:05:00\n");
	l = bench_entry(b, 1, "fe80::5");
	assert_int_equal(l.info.state, NEIGH_REACHABLE);
	assert_true(eth_equal(&l.info.mac, &bench_mac5));
	assert_false(l.info.keep);
	/* section 6.3.2: between 0.5 and 1.5 times ReachableTime */
	assert_in_range(l.info.until_ns, 250 * MS + 15000 * MS, 250 * MS + 45000 * MS);
	assert_int_equal(neigh_cache_count(b->t), 1);
	bench_run_to(b, 14000);
	bench_expect(b, "");
}

static void resolves_ipv4(void **state)
{
	struct bench *b = *state;

	assert_int_equal(bench_ask(b, 3, "10.1.0.254"), 0);
	bench_heard(b, 3, "10.1.0.254", &bench_mac6, SOLICITED | OVERRIDE);
	bench_expect(b, "0 ask 3 10.1.0.254 all\n0 set 3 10.1.0.254 02:00:00:00:06:00\n");
}

/* Section 7.2.2: MAX_MULTICAST_SOLICIT, a RetransTimer apart; then the waiting workers are notified. */
static void retries_and_fails(void **state)
{
	struct bench *b = *state;

	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	bench_run_to(b, 2999);
	bench_expect(b, "0 ask 1 fe80::5 all\n1000 ask 1 fe80::5 all\n2000 ask 1 fe80::5 all\n");
	bench_expect_state(b, 1, "fe80::5", NEIGH_INCOMPLETE);
	bench_run_to(b, 3000);
	bench_expect(b, "3000 tell 1 fe80::5 failed\n");
	assert_int_equal(neigh_cache_count(b->t), 0);
	assert_true(b->next == TIME_NEVER);
	bench_run_to(b, 100000);
	bench_expect(b, "");
	/* the next packet starts again */
	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	bench_expect(b, "100000 ask 1 fe80::5 all\n");
}

static void answered_late(void **state)
{
	struct bench *b = *state;

	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	bench_run_to(b, 2500);
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
	bench_run_to(b, 10000);
	bench_expect(b, "0 ask 1 fe80::5 all\n1000 ask 1 fe80::5 all\n2000 ask 1 fe80::5 all\n"
			"2500 set 1 fe80::5 02:00:00:00:05:00\n");
	bench_expect_state(b, 1, "fe80::5", NEIGH_REACHABLE);
}

/* Section 7.2.5: an unsolicited answer resolves, but confirms nothing; one without a MAC says nothing. */
static void resolved_without_confirmation(void **state)
{
	struct bench *b = *state;

	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	b->said[0] = '\0';
	bench_heard(b, 1, "fe80::5", NULL, SOLICITED | OVERRIDE);
	bench_expect(b, "");
	bench_expect_state(b, 1, "fe80::5", NEIGH_INCOMPLETE);
	bench_heard(b, 1, "fe80::5", &bench_mac5, OVERRIDE);
	bench_expect(b, "0 set 1 fe80::5 02:00:00:00:05:00\n0 tell 1 fe80::5 stale\n");
	bench_expect_state(b, 1, "fe80::5", NEIGH_STALE);
}

/* --- reachability (section 7.3.3) --- */

static void ages_and_is_probed(void **state)
{
	struct bench *b = *state;
	uint64_t until;
	char want[256];

	bench_make_reachable(b);
	until = bench_entry(b, 1, "fe80::5").info.until_ns / MS + 1;
	bench_run_to(b, until - 2);
	bench_expect(b, "");
	bench_run_to(b, until);
	snprintf(want, sizeof(want), "%llu tell 1 fe80::5 stale\n", (unsigned long long)until - 1);
	bench_expect(b, want);
	/* nothing is asked while nothing is sent */
	bench_run_to(b, 100000);
	bench_expect(b, "");
	bench_expect_state(b, 1, "fe80::5", NEIGH_STALE);
	bench_used(b, 1, "fe80::5");
	bench_expect_state(b, 1, "fe80::5", NEIGH_DELAY);
	bench_used(b, 1, "fe80::5"); /* more use changes nothing */
	bench_run_to(b, 104999);
	bench_expect(b, ""); /* DELAY_FIRST_PROBE_TIME, 5 s */
	bench_run_to(b, 105000);
	bench_expect(b, "105000 ask 1 fe80::5 02:00:00:00:05:00\n");
	bench_expect_state(b, 1, "fe80::5", NEIGH_PROBE);
	bench_used(b, 1, "fe80::5");
	bench_run_to(b, 106500);
	bench_expect(b, "106000 ask 1 fe80::5 02:00:00:00:05:00\n");
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
	bench_expect(b, "");
	bench_expect_state(b, 1, "fe80::5", NEIGH_REACHABLE);
	/* and the next round has all its probes again */
	bench_run_to(b, 200000);
	b->said[0] = '\0';
	bench_used(b, 1, "fe80::5");
	bench_run_to(b, 210000);
	bench_expect(b, "205000 ask 1 fe80::5 02:00:00:00:05:00\n206000 ask 1 fe80::5 02:00:00:00:05:00\n"
			"207000 ask 1 fe80::5 02:00:00:00:05:00\n208000 tell 1 fe80::5 failed\n");
	assert_int_equal(neigh_cache_count(b->t), 0);
}

/* Neighbours confirmed at the same time are not probed at the same time (section 6.3.2). */
static void reachable_times_spread(void **state)
{
	struct bench *b = *state;
	struct neigh_limits many = bench_limits;
	uint64_t lowest = UINT64_MAX, highest = 0;
	char text[IP_ADDR_TEXT];

	many.max = 1000;
	neigh_cache_set_limits(b->t, &many);
	for (unsigned int i = 1; i <= 500; i++) {
		uint64_t until;

		snprintf(text, sizeof(text), "fe80::%x", i);
		assert_int_equal(bench_ask(b, 1, text), 0);
		bench_heard(b, 1, text, &bench_mac5, SOLICITED | OVERRIDE);
		until = bench_entry(b, 1, text).info.until_ns;
		check(until >= 15000 * MS && until < 45000 * MS, "%s", text);
		lowest = MIN_OF(lowest, until);
		highest = MAX_OF(highest, until);
	}
	assert_true(lowest < 17000 * MS);
	assert_true(highest > 43000 * MS);
}

static void delay_is_not_longer_than_reachable(void **state)
{
	struct bench *b = *state;
	struct neigh_limits quick = bench_limits;

	quick.reachable_ns = 100 * MS;
	neigh_cache_set_limits(b->t, &quick);
	bench_make_reachable(b);
	bench_run_to(b, 1000);
	b->said[0] = '\0';
	bench_used(b, 1, "fe80::5");
	bench_run_to(b, 1100);
	bench_expect(b, "1100 ask 1 fe80::5 02:00:00:00:05:00\n");
}

static void stale_is_forgotten(void **state)
{
	struct bench *b = *state;
	uint64_t until;

	bench_make_state(b, NEIGH_STALE);
	until = bench_entry(b, 1, "fe80::5").info.until_ns;
	bench_run_to(b, until / MS);
	bench_expect(b, "");
	bench_run_to(b, until / MS + 1);
	assert_int_equal(neigh_cache_count(b->t), 0);
	assert_non_null(strstr(b->said, " tell 1 fe80::5 forget\n"));
}

/*
 * Appendix C, and section 7.2.5 for the flags: what a message does to an entry that holds bench_mac5.
 *
 * The state before, the owner of the message's MAC, its flags; the state after, and the message to the egress.
 */
static void advert_rules(void **state)
{
	static const struct {
		enum neigh_state before;
		const struct eth_addr *mac;
		unsigned int flags;
		enum neigh_state after;
		const char *says; /* without time, port and address */
	} rows[] = {
		/* confirmed, with the same address or none */
		{NEIGH_REACHABLE, &bench_mac5, SOLICITED | OVERRIDE, NEIGH_REACHABLE, ""},
		{NEIGH_STALE, &bench_mac5, SOLICITED | OVERRIDE, NEIGH_REACHABLE, ""},
		{NEIGH_DELAY, &bench_mac5, SOLICITED | OVERRIDE, NEIGH_REACHABLE, ""},
		{NEIGH_PROBE, &bench_mac5, SOLICITED | OVERRIDE, NEIGH_REACHABLE, ""},
		{NEIGH_STALE, &bench_mac5, SOLICITED, NEIGH_REACHABLE, ""},
		{NEIGH_DELAY, &bench_mac5, SOLICITED, NEIGH_REACHABLE, ""},
		{NEIGH_PROBE, &bench_mac5, SOLICITED, NEIGH_REACHABLE, ""},
		{NEIGH_REACHABLE, NULL, SOLICITED, NEIGH_REACHABLE, ""},
		{NEIGH_STALE, NULL, SOLICITED, NEIGH_REACHABLE, ""},
		{NEIGH_PROBE, NULL, SOLICITED, NEIGH_REACHABLE, ""},

		/* confirmed by another station, which may take over */
		{NEIGH_REACHABLE, &bench_mac6, SOLICITED | OVERRIDE, NEIGH_REACHABLE, "set 02:00:00:00:06:00"},
		{NEIGH_STALE, &bench_mac6, SOLICITED | OVERRIDE, NEIGH_REACHABLE, "set 02:00:00:00:06:00"},
		{NEIGH_PROBE, &bench_mac6, SOLICITED | OVERRIDE, NEIGH_REACHABLE, "set 02:00:00:00:06:00"},

		/* another station that may not take over casts doubt on a reachable one and else says nothing */
		{NEIGH_REACHABLE, &bench_mac6, SOLICITED, NEIGH_STALE, "tell stale"},
		{NEIGH_REACHABLE, &bench_mac6, 0, NEIGH_STALE, "tell stale"},
		{NEIGH_STALE, &bench_mac6, SOLICITED, NEIGH_STALE, ""},
		{NEIGH_DELAY, &bench_mac6, SOLICITED, NEIGH_DELAY, ""},
		{NEIGH_PROBE, &bench_mac6, SOLICITED, NEIGH_PROBE, ""},
		{NEIGH_PROBE, &bench_mac6, 0, NEIGH_PROBE, ""},

		/* unsolicited (or beside a question of its own): a new address is used and doubted */
		{NEIGH_REACHABLE, &bench_mac6, OVERRIDE, NEIGH_STALE, "set 02:00:00:00:06:00 tell stale"},
		{NEIGH_STALE, &bench_mac6, OVERRIDE, NEIGH_STALE, "set 02:00:00:00:06:00 tell stale"},
		{NEIGH_DELAY, &bench_mac6, OVERRIDE, NEIGH_STALE, "set 02:00:00:00:06:00 tell stale"},
		{NEIGH_PROBE, &bench_mac6, OVERRIDE, NEIGH_STALE, "set 02:00:00:00:06:00 tell stale"},

		/* unsolicited, nothing new: neither proof nor doubt */
		{NEIGH_REACHABLE, &bench_mac5, OVERRIDE, NEIGH_REACHABLE, ""},
		{NEIGH_STALE, &bench_mac5, OVERRIDE, NEIGH_STALE, ""},
		{NEIGH_DELAY, &bench_mac5, OVERRIDE, NEIGH_DELAY, ""},
		{NEIGH_PROBE, &bench_mac5, OVERRIDE, NEIGH_PROBE, ""},
		{NEIGH_PROBE, &bench_mac5, 0, NEIGH_PROBE, ""},
		{NEIGH_STALE, NULL, OVERRIDE, NEIGH_STALE, ""},
		{NEIGH_DELAY, NULL, 0, NEIGH_DELAY, ""},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct bench *b;
		struct bench_entry l;
		char says[256] = "", row[32];
		void *own = NULL;
		const struct eth_addr *mac = strstr(rows[i].says, "set") ? rows[i].mac : &bench_mac5;

		snprintf(row, sizeof(row), "row %u", i);
		assert_int_equal(bench_setup(&own), 0);
		b = own;
		bench_make_state(b, rows[i].before);
		bench_heard(b, 1, "fe80::5", rows[i].mac, rows[i].flags | CREATE);
		l = bench_entry(b, 1, "fe80::5");
		check_text(row, neigh_state_name(l.info.state), neigh_state_name(rows[i].after));
		check(eth_equal(&l.info.mac, mac), "%s", row);
		for (char *line = strtok(b->said, "\n"); line; line = strtok(NULL, "\n")) {
			char what[8], value[24];

			check(sscanf(line, "%*u %7s 1 fe80::5 %23s", what, value) == 2, "%s: %s", row, line);
			snprintf(says + strlen(says), sizeof(says) - strlen(says), "%s%s %s", *says ? " " : "", what,
				value);
		}
		check_text(row, says, rows[i].says);
		bench_teardown(&own);
	}
}

/* A message that changes nothing must not put the timer off: a peer could keep itself from being probed. */
static void unsolicited_keeps_the_timer(void **state)
{
	struct bench *b = *state;
	uint64_t until;

	bench_make_reachable(b);
	until = bench_entry(b, 1, "fe80::5").info.until_ns;
	bench_run_to(b, 10000);
	bench_heard(b, 1, "fe80::5", &bench_mac5, OVERRIDE);
	bench_heard(b, 1, "fe80::5", NULL, 0);
	assert_true(bench_entry(b, 1, "fe80::5").info.until_ns == until);
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED);
	assert_true(bench_entry(b, 1, "fe80::5").info.until_ns >= 25000 * MS);
}

/* --- learning (sections 7.2.3 and 7.2.5) --- */

static void learns_only_with_the_create_flag(void **state)
{
	struct bench *b = *state;

	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
	bench_heard(b, 1, "fe80::5", &bench_mac5, OVERRIDE);
	bench_heard(b, 1, "fe80::5", NULL, OVERRIDE | CREATE);
	assert_int_equal(neigh_cache_count(b->t), 0);
	bench_heard(b, 1, "fe80::5", &bench_mac5, OVERRIDE | CREATE);
	bench_expect_state(b, 1, "fe80::5", NEIGH_STALE);
	/* no worker has asked for it yet, so none is notified */
	bench_expect(b, "");
	bench_run_to(b, 10);
	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	bench_expect(b, "10 set 1 fe80::5 02:00:00:00:05:00\n");
	bench_expect_state(b, 1, "fe80::5", NEIGH_DELAY);
	bench_run_to(b, 5010);
	bench_expect(b, "5010 ask 1 fe80::5 02:00:00:00:05:00\n");
}

/* A worker that missed a message may ask again, in every state. */
static void asked_again(void **state)
{
	static const enum neigh_state states[] = {NEIGH_REACHABLE, NEIGH_STALE, NEIGH_DELAY, NEIGH_PROBE};

	for (unsigned int i = 0; i < ARRAY_LEN(states); i++) {
		struct bench *b;
		void *own = NULL;

		assert_int_equal(bench_setup(&own), 0);
		b = own;
		bench_make_state(b, states[i]);
		assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
		check(strstr(b->said, " set 1 fe80::5 02:00:00:00:05:00\n"), "state %s", neigh_state_name(states[i]));
		bench_expect_state(b, 1, "fe80::5", states[i] == NEIGH_STALE ? NEIGH_DELAY : states[i]);
		bench_teardown(&own);
	}
}

static void limit_of_learnt_ones(void **state)
{
	struct bench *b = *state;

	bench_keep(b, 1, "fe80::aa", true);
	for (unsigned int i = 1; i <= 4; i++) {
		char text[IP_ADDR_TEXT];

		snprintf(text, sizeof(text), "fe80::%u", i);
		assert_int_equal(bench_ask(b, 1, text), 0);
	}
	b->said[0] = '\0';
	assert_int_equal(bench_ask(b, 1, "fe80::5"), -ENOSPC);
	bench_heard(b, 1, "fe80::5", &bench_mac5, OVERRIDE | CREATE);
	assert_int_equal(neigh_cache_count(b->t), 5);
	bench_expect(b, "");
	/* known ones and kept ones are not in question */
	assert_int_equal(bench_ask(b, 1, "fe80::4"), 0);
	bench_keep(b, 1, "fe80::bb", true);
	assert_int_equal(neigh_cache_count(b->t), 6);
	/* a learnt one that becomes kept makes room */
	bench_keep(b, 1, "fe80::4", true);
	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	assert_int_equal(bench_ask(b, 1, "fe80::6"), -ENOSPC);
	/* one that is not kept any more counts again */
	bench_keep(b, 1, "fe80::4", false);
	assert_int_equal(bench_ask(b, 1, "fe80::7"), -ENOSPC);
	bench_run_to(b, 3000);
	assert_int_equal(bench_ask(b, 1, "fe80::7"), 0);
}

static void fill(struct bench *b, uint16_t port, unsigned int first, unsigned int n, unsigned int flags)
{
	for (unsigned int i = first; i < first + n; i++) {
		char text[IP_ADDR_TEXT];

		snprintf(text, sizeof(text), "2001:db8::%x", i);
		bench_heard(b, port, text, &bench_mac5, flags);
	}
}

struct tally {
	unsigned int of_port[8];
};

static void count_entry(void *arg, const struct neigh_info *info)
{
	((struct tally *)arg)->of_port[info->port]++;
}

static struct tally tally(const struct bench *b)
{
	struct tally t = {{0}};

	neigh_cache_each(b->t, count_entry, &t);
	return t;
}

/* One port sends 2,499 solicitations with forged sources: every other port still learns and resolves its share. */
static void one_port_fills_the_table(void **state)
{
	struct bench *b = *state;
	struct neigh_limits many = bench_limits;
	struct bench_entry used;

	many.max = 100;
	neigh_cache_set_limits(b->t, &many);
	/* a neighbour of port 2 that is in use, and one that nobody uses */
	assert_int_equal(bench_ask(b, 2, "fe80::5"), 0);
	bench_heard(b, 2, "fe80::5", &bench_mac6, SOLICITED | OVERRIDE);
	bench_heard(b, 2, "fe80::6", &bench_mac6, OVERRIDE | CREATE);
	b->said[0] = '\0';
	fill(b, 1, 0, 2499, OVERRIDE | CREATE);
	b->said[0] = '\0';
	assert_int_equal(neigh_cache_count(b->t), 100);
	used = bench_entry(b, 2, "fe80::5");
	assert_true(used.found && eth_equal(&used.info.mac, &bench_mac6));
	assert_true(bench_entry(b, 2, "fe80::6").found);
	assert_int_equal(tally(b).of_port[1], 98);
	/* the newest of the flood are there: its port recycles its own */
	assert_true(bench_entry(b, 1, "2001:db8::9c2").found);
	assert_false(bench_entry(b, 1, "2001:db8::1").found);
	/* others get up to their share, and no more than it */
	for (unsigned int i = 0; i < 200; i++) {
		char text[IP_ADDR_TEXT];

		snprintf(text, sizeof(text), "2001:db8:3::%x", i);
		check(bench_ask(b, 3, text) == (i < 49 ? 0 : -ENOSPC), "%u", i);
	}
	assert_int_equal(neigh_cache_count(b->t), 100);
	assert_int_equal(tally(b).of_port[3], 49);
	assert_int_equal(tally(b).of_port[2], 2);
	assert_true(neigh_cache_stats(b->t)->evicted >= 2499 - 98 + 49);
	assert_int_equal(neigh_cache_stats(b->t)->refused, 200 - 49);
}

/* Even entries that their port keeps in use go when another port has fewer; those that are used least go first. */
static void the_least_used_goes_first(void **state)
{
	struct bench *b = *state;

	bench_make_reachable(b);
	bench_heard(b, 1, "fe80::6", &bench_mac6, OVERRIDE | CREATE);
	assert_int_equal(bench_ask(b, 1, "fe80::7"), 0);
	bench_heard(b, 1, "fe80::8", &bench_mac6, OVERRIDE | CREATE);
	b->said[0] = '\0';
	assert_int_equal(bench_ask(b, 2, "fe80::1"), 0);
	bench_expect(b, "0 tell 1 fe80::6 forget\n0 ask 2 fe80::1 all\n");
	assert_int_equal(bench_ask(b, 2, "fe80::2"), 0);
	bench_expect(b, "0 tell 1 fe80::8 forget\n0 ask 2 fe80::2 all\n");
	/* two each: equal shares */
	assert_int_equal(bench_ask(b, 2, "fe80::3"), -ENOSPC);
	assert_int_equal(bench_ask(b, 3, "fe80::1"), 0);
	assert_int_equal(neigh_cache_count(b->t), 4);
}

/* The same address on two ports is two neighbours; families do not mix. */
static void ports_and_families_apart(void **state)
{
	struct bench *b = *state;
	struct bench_entry one, two;

	bench_make_reachable(b);
	assert_int_equal(bench_ask(b, 2, "fe80::5"), 0);
	bench_expect(b, "0 ask 2 fe80::5 all\n");
	bench_heard(b, 2, "fe80::5", &bench_mac6, SOLICITED | OVERRIDE);
	b->said[0] = '\0';
	one = bench_entry(b, 1, "fe80::5");
	two = bench_entry(b, 2, "fe80::5");
	assert_true(eth_equal(&one.info.mac, &bench_mac5));
	assert_true(eth_equal(&two.info.mac, &bench_mac6));
	assert_int_equal(bench_ask(b, 1, "10.0.0.1"), 0);
	assert_int_equal(bench_ask(b, 1, "a00:1::"), 0); /* the same first four bytes */
	assert_int_equal(neigh_cache_count(b->t), 4);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		BENCH_TEST(resolves),
		BENCH_TEST(resolves_ipv4),
		BENCH_TEST(retries_and_fails),
		BENCH_TEST(answered_late),
		BENCH_TEST(resolved_without_confirmation),
		BENCH_TEST(ages_and_is_probed),
		BENCH_TEST(reachable_times_spread),
		BENCH_TEST(delay_is_not_longer_than_reachable),
		BENCH_TEST(stale_is_forgotten),
		cmocka_unit_test(advert_rules),
		BENCH_TEST(unsolicited_keeps_the_timer),
		BENCH_TEST(learns_only_with_the_create_flag),
		cmocka_unit_test(asked_again),
		BENCH_TEST(limit_of_learnt_ones),
		BENCH_TEST(one_port_fills_the_table),
		BENCH_TEST(the_least_used_goes_first),
		BENCH_TEST(ports_and_families_apart),
	};

	return cmocka_run_group_tests_name("neigh", tests, NULL, NULL);
}
