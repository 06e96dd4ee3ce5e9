/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <stdlib.h>

#include "pfc/pfc_fanout.h"
#include "pfc/pfc_tunnel.h"

#define IDLE_NS (180 * NSEC_PER_SEC)
#define G100 100000000000ull
#define HALF 167770ull
#define MS NSEC_PER_MSEC
#define KB 1024ull

static struct {
	unsigned int n;
	uint32_t tunnel;
	struct pfc_request request;
} sent;

static void record(void *arg, uint32_t i, const struct pfc_request *request)
{
	sent.n++;
	sent.tunnel = i;
	sent.request = *request;
}

static void check_sent(const char *row, unsigned int n, uint32_t tunnel, uint8_t enable, uint8_t stops)
{
	check(sent.n == n, "%s: %u frames", row, sent.n);
	check(!n || (sent.tunnel == tunnel && sent.request.enable == enable && pfc_stops(&sent.request) == stops),
		"%s: tunnel %u, enables %02x, stops %02x", row, sent.tunnel, sent.request.enable,
		pfc_stops(&sent.request));
	sent.n = 0;
}

static struct pfc_tunnels *tunnels(void)
{
	struct pfc_tunnels *t = calloc(1, sizeof(*t));

	t->send = record;
	t->config = (struct pfc_tunnels_config){.idle_ns = IDLE_NS,
		.max_rtt_ns = 100 * MS,
		.learnt_max = PFC_TUNNELS_MAX};
	sent.n = 0;
	return t;
}

static struct pfc_list list_to(uint8_t node)
{
	return (struct pfc_list){.n = 1, .sid = {{.b = {0x5f, 0, 0, 1, 0, node, 0, 0xe1}}}};
}

static uint32_t poll(struct pfc_tunnels *t, uint64_t now)
{
	uint64_t next;

	pfc_tunnels_poll(t, now, &next);
	return sent.n;
}

static void configured(void **state)
{
	struct pfc_tunnels *t = tunnels();
	struct pfc_list r1 = list_to(1), r2 = list_to(2);
	uint32_t a = pfc_tunnel_configure(t, "a", 1, 0x18, &r1, G100, 0);
	uint64_t next;

	assert_int_equal(a, 0);
	assert_int_equal(pfc_tunnel_configure(t, "b", 1, 0x08, &r2, G100, 0), 1);
	check_sent("nothing to say", 0, 0, 0, 0);
	pfc_tunnel_want(t, a, 0x28, 1000);
	check_sent("only its priorities", 1, a, 0x08, 0x08);
	pfc_tunnel_want(t, a, 0x08, 1001);
	check_sent("no change", 0, 0, 0, 0);
	pfc_tunnels_poll(t, 1001, &next);
	assert_int_equal(next, 1000 + HALF);
	poll(t, 999 + HALF);
	check_sent("before it is due", 0, 0, 0, 0);
	poll(t, 1000 + HALF);
	check_sent("refresh before it runs out", 1, a, 0x08, 0x08);
	pfc_tunnel_want(t, a, 0x18, 200000);
	check_sent("second priority", 1, a, 0x18, 0x18);
	pfc_tunnel_want(t, a, 0x10, 200001);
	check_sent("one resumes, the other one is refreshed", 1, a, 0x18, 0x10);

	/* a reload: same thing, other list, fewer priorities, other slice */
	assert_int_equal(pfc_tunnel_configure(t, "a", 1, 0x18, &r1, G100, 200002), a);
	check_sent("same", 0, 0, 0, 0);
	assert_int_equal(pfc_tunnel_configure(t, "a", 1, 0x18, &r2, G100, 200003), a);
	check_sent("the new list is told", 1, a, 0x10, 0x10);
	pfc_tunnel_configure(t, "a", 1, 0x08, &r2, G100, 200004);
	check_sent("priority is gone", 1, a, 0x10, 0);
	pfc_tunnel_want(t, a, 0x08, 200005);
	check_sent("again", 1, a, 0x08, 0x08);
	pfc_tunnel_configure(t, "a", 2, 0x08, &r2, G100, 200006);
	check_sent("slice is gone", 1, a, 0x08, 0);
	pfc_tunnel_want(t, a, 0x08, 200007);
	check_sent("again", 1, a, 0x08, 0x08);
	pfc_tunnel_remove(t, a, 200008);
	check_sent("removed", 1, a, 0x08, 0);
	assert_int_equal(t->bound, 2);
	poll(t, NSEC_PER_SEC);
	check_sent("silence", 0, 0, 0, 0);
	/* a configured tunnel does not age */
	poll(t, 10 * IDLE_NS);
	assert_int_equal(t->tunnel[1].origin, PFC_TUNNEL_CONFIGURED);
	pfc_tunnel_remove(t, 1, 200009);
	assert_int_equal(t->bound, 0);
	free(t);
}

static void repeated(void **state)
{
	struct pfc_tunnels *t = tunnels();
	struct pfc_list r1 = list_to(1);

	t->config.repeat = true;
	pfc_tunnel_configure(t, "a", 1, 0x08, &r1, 1000000, 0); /* so slow that no refresh is due */
	pfc_tunnel_want(t, 0, 0x08, 0);
	check_sent("XOFF", 1, 0, 0x08, 0x08);
	poll(t, MS - 1);
	check_sent("not yet", 0, 0, 0, 0);
	poll(t, MS);
	check_sent("once more", 1, 0, 0x08, 0x08);
	poll(t, 2 * MS);
	check_sent("no third time", 0, 0, 0, 0);
	pfc_tunnel_want(t, 0, 0, 3 * MS);
	check_sent("XON", 1, 0, 0x08, 0);
	/* a change overtakes the repetition of the one before it */
	pfc_tunnel_want(t, 0, 0x08, 3 * MS + 1);
	check_sent("XOFF", 1, 0, 0x08, 0x08);
	poll(t, 4 * MS + 1);
	check_sent("the newer one", 1, 0, 0x08, 0x08);
	free(t);
}

static struct pfc_remotes remotes(void)
{
	static struct pfc_remote rows[6];
	static const struct {
		const char *prefix;
		uint16_t behavior;
		const char *owner;
	} known[] = {{"5f00:1:1:e1::/64", SRV6_END_X_PFC, "r1"}, {"5f00:1:1:1::/64", 1, "r1"},
		{"5f00:1:2:1::/64", 1, "r2"}, {"5f00:1:4:1::/64", 1, "r4"}, {"5f00:1:3:d46::/64", 20, "r3"}};
	struct pfc_remotes t = {.sid = rows};

	for (unsigned int i = 0; i < ARRAY_LEN(known); i++) {
		struct pfc_remote *r = &rows[t.n++];

		*r = (struct pfc_remote){.behavior = known[i].behavior,
			.block_bits = 32,
			.node_bits = 16,
			.function_bits = 16};
		ip_prefix_parse(known[i].prefix, &r->prefix);
		snprintf(r->owner, sizeof(r->owner), "%s", known[i].owner);
	}
	assert_int_equal(pfc_remotes_seal(&t, rows, t.n), 0);
	return t;
}

static struct ipv6_addr address(const char *text)
{
	struct ip_addr a;

	check(ip_addr_parse(text, &a) == 0, "%s", text);
	return a.v6;
}

static struct pfc_sighting sighting(struct ipv6_addr *list, uint8_t slice, const char *source, const char *via)
{
	struct pfc_sighting d =
		{.slice = slice, .priorities = 0x08, .source = address(source), .list = list, .n = 3, .far_bps = G100};

	ip_prefix_parse("5f00:1:3:d46::/64", &d.own);
	list[0] = address("5f00:1:1:e1::");
	list[1] = address(via);
	list[2] = address("5f00:1:3:d46::");
	return d;
}

static void learnt(void **state)
{
	struct pfc_tunnels *t = tunnels();
	struct pfc_remotes r = remotes();
	struct ipv6_addr list[3];
	struct pfc_sighting d = sighting(list, 1, "fd00::1", "5f00:1:2:1::");
	struct ipv6_addr want = address("5f00:1:2:1::");
	uint32_t id, again;

	assert_int_equal(pfc_tunnel_learn(t, &r, &d, 0, &id), PFC_REFUSED_none);
	assert_int_equal(t->tunnel[id].list.n, 2);
	assert_memory_equal(&t->tunnel[id].list.sid[0], &want, sizeof(want));
	assert_memory_equal(&t->tunnel[id].list.sid[1], &list[0], sizeof(want));
	assert_int_equal(pfc_tunnel_learn(t, &r, &d, MS, &again), PFC_REFUSED_none);
	assert_int_equal(again, id);
	assert_int_equal(t->learnt, 1);
	/* another slice and another ingress node have tunnels of their own */
	d.slice = 2;
	assert_int_equal(pfc_tunnel_learn(t, &r, &d, MS, &again), PFC_REFUSED_none);
	assert_int_not_equal(again, id);
	d.slice = 1;
	d.source.b[15] = 9;
	assert_int_equal(pfc_tunnel_learn(t, &r, &d, MS, &again), PFC_REFUSED_none);
	assert_int_equal(t->learnt, 3);
	assert_int_equal(t->tunnel[id].superseded, 0);

	/* ages out 3 min after the last data; not while it holds a stop */
	pfc_tunnel_want(t, id, 0x08, 2 * MS);
	check_sent("XOFF", 1, id, 0x08, 0x08);
	poll(t, IDLE_NS + MS - 1);
	assert_int_equal(t->tunnel[2].origin, PFC_TUNNEL_LEARNT);
	poll(t, IDLE_NS + MS);
	assert_int_equal(t->aged, 2);
	assert_int_equal(t->bound, 1);
	sent.n = 0;
	pfc_tunnel_want(t, id, 0, IDLE_NS + 2 * MS);
	check_sent("XON", 1, id, 0x08, 0);
	poll(t, IDLE_NS + 2 * MS);
	assert_int_equal(t->bound, 0);
	free(t);
}

/* The list changes while there is congestion: the new tunnel pauses before the old one resumes. */
static void make_before_break(void **state)
{
	struct pfc_tunnels *t = tunnels();
	struct pfc_remotes r = remotes();
	struct ipv6_addr list[3];
	struct pfc_sighting d = sighting(list, 1, "fd00::1", "5f00:1:2:1::");
	uint32_t old, new;

	pfc_tunnel_learn(t, &r, &d, 0, &old);
	pfc_tunnel_want(t, old, 0x08, MS);
	sent.n = 0;
	list[1] = address("5f00:1:4:1::");
	assert_int_equal(pfc_tunnel_learn(t, &r, &d, 2 * MS, &new), PFC_REFUSED_none);
	check_sent("new one is told", 1, new, 0x08, 0x08);
	assert_int_equal(t->tunnel[old].stopped, 0x08);
	for (uint64_t now = 2 * MS; now < 102 * MS; now += HALF)
		poll(t, now);
	assert_int_equal(t->tunnel[old].origin, PFC_TUNNEL_LEARNT);
	sent.n = 0;
	poll(t, 102 * MS);
	assert_int_equal(t->tunnel[old].origin, PFC_TUNNEL_FREE);
	assert_int_equal(t->replaced, 1);
	assert_int_equal(t->tunnel[new].stopped, 0x08);

	/* flows over both lists: neither is old */
	list[1] = address("5f00:1:2:1::");
	pfc_tunnel_learn(t, &r, &d, 110 * MS, &old);
	for (uint64_t now = 110 * MS; now < 1000 * MS; now += 10 * MS) {
		list[1] = address((now / MS) % 20 ? "5f00:1:4:1::" : "5f00:1:2:1::");
		pfc_tunnel_learn(t, &r, &d, now, &new);
		poll(t, now);
	}
	assert_int_equal(t->replaced, 1);
	assert_int_equal(t->bound, 2);
	free(t);
}

static void refused(void **state)
{
	struct pfc_tunnels *t = tunnels();
	struct pfc_remotes r = remotes();
	struct ipv6_addr list[3];
	struct pfc_sighting d = sighting(list, 1, "fd00::1", "5f00:1:2:1::");
	uint32_t id;

	d.n = 0;
	assert_int_equal(pfc_tunnel_learn(t, &r, &d, 0, &id), PFC_REFUSED_no_srh);
	d.n = 2; /* ends before the own SID */
	assert_int_equal(pfc_tunnel_learn(t, &r, &d, 0, &id), PFC_REFUSED_not_in_list);
	d.list = list + 1; /* reduced */
	assert_int_equal(pfc_tunnel_learn(t, &r, &d, 0, &id), PFC_REFUSED_no_upstream);
	d.list = list;
	d.n = 3;
	list[1] = address("5f00:1:7:1::");
	assert_int_equal(pfc_tunnel_learn(t, &r, &d, 0, &id), PFC_REFUSED_unknown_sid);
	assert_int_equal(t->bound, 0);
	list[1] = address("5f00:1:2:1::");
	for (unsigned int i = 0; i < PFC_TUNNELS_MAX; i++) {
		d.source.b[2] = (uint8_t)i;
		d.source.b[3] = (uint8_t)(i >> 8);
		assert_int_equal(pfc_tunnel_learn(t, &r, &d, 0, &id), PFC_REFUSED_none);
	}
	d.source.b[4] = 1;
	assert_int_equal(pfc_tunnel_learn(t, &r, &d, 0, &id), PFC_REFUSED_table_full);
	for (unsigned int i = PFC_REFUSED_none + 1; i < PFC_REFUSAL_COUNT; i++)
		assert_int_equal(t->refused[i], i != PFC_REFUSED_no_end_sid && i != PFC_REFUSED_too_long &&
							i != PFC_REFUSED_no_slice_id && i != PFC_REFUSED_no_argument);
	/* another slice has none yet: the idlest tunnel of the one with the most goes, but none that holds a stop */
	pfc_tunnel_want(t, 0, 8, 0);
	d.slice = 2;
	for (unsigned int i = 0; i < PFC_TUNNELS_MAX; i++) {
		enum pfc_refusal want = i < PFC_TUNNELS_MAX / 2 ? PFC_REFUSED_none : PFC_REFUSED_table_full;

		d.source.b[5] = (uint8_t)i;
		d.source.b[6] = (uint8_t)(i >> 8);
		check(pfc_tunnel_learn(t, &r, &d, 1, &id) == want, "tunnel %u of the second slice", i);
	}
	assert_int_equal(t->evicted, PFC_TUNNELS_MAX / 2);
	assert_int_equal(t->n_learnt, PFC_TUNNELS_MAX);
	assert_int_equal(t->tunnel[0].stopped, 8);
	pfc_tunnel_want(t, 0, 0, 1);
	poll(t, IDLE_NS + NSEC_PER_SEC);
	assert_int_equal(t->bound, 0);
	free(t);
}

/* docs/protocol.md 5.7: largest first until the rest drains, the next ones a loop later, all at the second threshold. */
static void fanout(void **state)
{
	const uint64_t rate[5] = {100, 500, 0, 300, 200};
	struct pfc_fanout f = {.loop_ns = 10 * MS};

	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_FINE, rate, 0x1f, 0, 900, 0), 0);
	/* 1100 come, 400 drain: without the 500 it is 600, without the 300 it fits */
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 400, 100 * KB, 0), 0x0a);
	assert_int_equal(pfc_fanout_next(&f, 0), 10 * MS);
	/* what was under way arrives for a loop, and tells nothing */
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 400, 900 * KB, 10 * MS - 1), 0x0a);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 400, 950 * KB, 10 * MS), 0x0a);
	assert_int_equal(pfc_fanout_next(&f, 10 * MS), 11 * MS + MS / 4);
	/* it must fall to count as less; then growth counts from there */
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 400, 981 * KB, 11 * MS), 0x0a);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 400, 940 * KB, 12 * MS), 0x0a);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 400, 972 * KB, 13 * MS), 0x1a);
	/* the same for the next one */
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 400, 1500 * KB, 23 * MS - 1), 0x1a);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 400, 1500 * KB, 23 * MS), 0x1a);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 400, 1532 * KB, 24 * MS), 0x1b);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_FULL, rate, 0x1f, 400, 9000 * KB, 31 * MS), 0x1f);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_FINE, rate, 0x1f, 400, 500, 32 * MS), 0x1f);
	/* it goes to exactly those that hold a stop, and none is left */
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_LOW, rate, 0x1f, 400, 10, 33 * MS), 0);
	/* one that sends more than it should is enough; at least one is paused */
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 600, 1000, 34 * MS), 0x02);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_LOW, rate, 0x1f, 600, 10, 35 * MS), 0);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, rate, 0x1f, 5000, 1000, 36 * MS), 0x02);
	/* no sender is known */
	f = (struct pfc_fanout){0};
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_HIGH, (uint64_t[64]){0}, 0x07, 0, 1000, 0), 0x07);
	assert_int_equal(pfc_fanout_decide(&f, PFC_LEVEL_FULL, (uint64_t[64]){0}, UINT64_MAX, 0, 1000, 0), UINT64_MAX);
}

/* XON is repeated for as long as the way may be cut: soon twice, then every 5 ms. XOFF is refreshed anyway. */
static void resumed_again(void **state)
{
	static const uint64_t at[] = {1, 2, 7, 12};
	struct pfc_tunnels *t = tunnels();
	struct pfc_list r1 = list_to(1);
	uint64_t begin = MS, next;
	uint32_t a;

	(void)state;
	t->config.outage_ns = 12 * MS;
	a = pfc_tunnel_configure(t, "a", 1, 0x18, &r1, G100, 0);
	pfc_tunnel_want(t, a, 0x18, 0);
	check_sent("XOFF", 1, a, 0x18, 0x18);
	pfc_tunnel_want(t, a, 0, begin);
	check_sent("XON", 1, a, 0x18, 0);
	for (unsigned int i = 0; i < ARRAY_LEN(at); i++) {
		poll(t, begin + at[i] * MS - 1);
		check_sent("not yet", 0, 0, 0, 0);
		poll(t, begin + at[i] * MS);
		check_sent("again", 1, a, 0x18, 0);
	}
	pfc_tunnels_poll(t, begin + 12 * MS, &next);
	assert_true(next == TIME_NEVER);
	/* a new pause ends the repeats of its priority, and of no other */
	pfc_tunnel_want(t, a, 0x18, 100 * MS);
	pfc_tunnel_want(t, a, 0, 100 * MS + 1);
	pfc_tunnel_want(t, a, 0x08, 100 * MS + 2);
	sent.n = 0;
	for (uint64_t now = 100 * MS + 3; now < 120 * MS; now += HALF / 4)
		if (poll(t, now)) {
			check(!(sent.request.enable & 0x08) || pfc_stops(&sent.request) == 0x08,
				"XON of what is stopped");
			sent.n = 0;
		}
	assert_int_equal(t->tunnel[a].repeats, ARRAY_LEN(at) + ARRAY_LEN(at));
	free(t);
}

/* Two tunnels lead to one SID, where they are one party (D42): what both hold is resumed by the last of them. */
static void one_end(void **state)
{
	struct pfc_tunnels *t = tunnels();
	struct pfc_list r1 = list_to(1), r2 = list_to(2);
	uint32_t a, b, other;

	(void)state;
	a = pfc_tunnel_configure(t, "a", 1, 0x18, &r1, G100, 0);
	b = pfc_tunnel_configure(t, "b", 1, 0x18, &r1, G100, 0);
	other = pfc_tunnel_configure(t, "c", 1, 0x18, &r2, G100, 0);
	pfc_tunnel_want(t, a, 0x18, 0);
	pfc_tunnel_want(t, b, 0x08, 0);
	pfc_tunnel_want(t, other, 0x18, 0);
	sent.n = 0;
	pfc_tunnel_want(t, a, 0, 1);
	check_sent("what b does not hold", 1, a, 0x10, 0);
	pfc_tunnel_want(t, b, 0, 2);
	check_sent("the rest", 1, b, 0x08, 0);
	pfc_tunnel_want(t, other, 0, 3);
	check_sent("another SID", 1, other, 0x18, 0);
	free(t);
}

/* A node that starts resumes what the one before it may have stopped, as often as any XON; but not what it has stopped itself. */
static void begun(void **state)
{
	static const uint64_t at[] = {1, 2, 7, 12};
	struct pfc_tunnels *t = tunnels();
	struct pfc_list r1 = list_to(1), r2 = list_to(2);
	uint32_t a, b;

	(void)state;
	t->config.outage_ns = 12 * MS;
	a = pfc_tunnel_configure(t, "a", 1, 0x18, &r1, G100, 0);
	pfc_tunnel_begin(t, a, 0);
	check_sent("start", 1, a, 0x18, 0);
	for (unsigned int i = 0; i < ARRAY_LEN(at); i++) {
		poll(t, at[i] * MS - 1);
		check_sent("not yet", 0, 0, 0, 0);
		poll(t, at[i] * MS);
		check_sent("again", 1, a, 0x18, 0);
	}
	poll(t, 100 * MS);
	check_sent("no more", 0, 0, 0, 0);
	t->config.outage_ns = 0;
	b = pfc_tunnel_configure(t, "b", 1, 0x18, &r2, G100, 0);
	pfc_tunnel_want(t, b, 0x08, 100 * MS);
	sent.n = 0;
	pfc_tunnel_begin(t, b, 100 * MS);
	check_sent("the other priority", 1, b, 0x10, 0);
	pfc_tunnel_want(t, b, 0x18, 100 * MS);
	sent.n = 0;
	pfc_tunnel_begin(t, b, 100 * MS);
	check_sent("none is left", 0, 0, 0, 0);
	free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(configured),
		cmocka_unit_test(repeated),
		cmocka_unit_test(learnt),
		cmocka_unit_test(make_before_break),
		cmocka_unit_test(refused),
		cmocka_unit_test(resumed_again),
		cmocka_unit_test(begun),
		cmocka_unit_test(one_end),
		cmocka_unit_test(fanout),
	};

	return cmocka_run_group_tests_name("pfc_tunnel", tests, NULL, NULL);
}
