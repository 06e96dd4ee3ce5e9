/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local repair of sessions (RFC 2205 section 3.6): the route of the receiver changes at a node on the way, and the nodes
 * behind it hear a path from another previous hop.
 *
 *   headend 0 -- 2 -- 3 -- 5 -- far gateway 1, or over 4 in place of 3
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/rsvp_net.h"

#define L_NS (158 * NET_S)

static struct net net;
static struct rsvp_instance *session;

static bool always(void *arg, const struct rsvp_path *p, struct rsvp_way *way)
{
	(void)arg;
	(void)p;
	way->port = 9;
	return true;
}

static bool never(void *arg, const struct rsvp_path *p, struct rsvp_way *way)
{
	(void)arg;
	(void)p;
	(void)way;
	return false;
}

static void up(uint64_t random)
{
	const unsigned int through[] = {2, 3, 5};

	net_init(&net, random);
	net.routed = true;
	for (unsigned int i = 2; i <= 5; i++)
		assert_int_equal(i, net_add(&net));
	net_path(&net, 3, through);
	session = net_open(&net, 1);
	net_run(&net, 10 * NET_S);
	assert_non_null(rsvp_current(session));
	assert_int_equal(1, net_grantors(&net, 3, RSVP_G_COMMITTED));
}

/* Node 2 sends to node `by` from now on, and notices it. */
static void route_by(unsigned int by)
{
	net.path[0][2] = by;
	assert_true(rsvp_routes(net.node[2].rsvp, net.now, 0, 1000, always) == net.node[2].config.paths_max);
}

static struct rsvp_node_stats stats(unsigned int node)
{
	return *rsvp_node_stats_of(net.node[node].rsvp);
}

/* The session has credit over node `by`, and over that one only. */
static void check_over(unsigned int by, const char *when)
{
	check(rsvp_current(session), "%s: no path", when);
	check(!net_wrong(&net), "%s: %s", when, net_wrong(&net));
	check(net_grantors(&net, by, RSVP_G_COMMITTED) == 1, "%s: node %u has not committed", when, by);
	check(net_grantors(&net, 7 - by, RSVP_G_COMMITTED) == 0, "%s: node %u is committed as well", when, 7 - by);
	for (unsigned int i = 1; i <= 5; i++)
		check(stats(i).committed == (i == 7 - by ? 0 : 8192), "%s: %llu units at node %u", when,
			(unsigned long long)stats(i).committed, i);
}

static void ends(void)
{
	net_close(&net, session);
	net_run(&net, 4 * L_NS);
	assert_true(net_is_empty(&net));
	net_free(&net);
}

/* The session goes on over the new next hop, the old one gives back what it had, and it works the other way as well. */
static void test_route(void **state)
{
	(void)state;
	up(1);
	rsvp_routes(net.node[2].rsvp, net.now, 0, 1000, never);
	net_run(&net, NET_S);
	assert_int_equal(0, stats(2).moved);
	route_by(4);
	assert_true(net_users(&net, 2, RSVP_U_WAIT));
	net_run(&net, 10 * NET_MS);
	check(net_users(&net, 0, RSVP_U_DOWN), "the headend is not told");
	net_run(&net, 2 * NET_S);
	check_over(4, "over 4");
	assert_true(stats(2).moved == 1 && stats(5).moved == 1);
	net_run(&net, 2 * L_NS);
	check_over(4, "later");
	route_by(3);
	net_run(&net, 10 * NET_S);
	check_over(3, "back");
	route_by(4); /* and soon again */
	net_run(&net, 40 * NET_S);
	check_over(4, "again");
	ends();
}

/* The old next hop is not told that its path is no more: its refreshes are copies, until it has forgotten the path. */
static void test_untold(void **state)
{
	(void)state;
	up(2);
	net.cut[2][3] = true;
	route_by(4);
	net_run(&net, 2 * NET_S);
	check(rsvp_current(session), "no path");
	check(net_grantors(&net, 3, RSVP_G_COMMITTED) == 1, "node 3 has noticed");
	net_run(&net, 100 * NET_S);
	check(rsvp_current(session), "lost again");
	assert_true(stats(5).duplicate > 0);
	assert_int_equal(1, stats(5).moved);
	net_run(&net, 3 * L_NS);
	check_over(4, "after L");
	ends();
}

/* Along a list of segments a path has one previous hop: what comes by another one is a copy. */
static void test_pinned(void **state)
{
	(void)state;
	up(3);
	net.routed = false;
	route_by(4);
	net_run(&net, 2 * NET_S);
	assert_int_equal(0, stats(5).moved);
	assert_true(stats(5).duplicate > 0);
	net_run(&net, 3 * L_NS);
	ends();
}

/* Routes change at any time, also in the middle of a repair; messages are lost, doubled and late. */
static void test_at_random(void **state)
{
	uint64_t random = 77;

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		unsigned int by = 3;

		up(i + 10);
		net.loss = unit_random(&random) % 100;
		net.twice = unit_random(&random) % 50;
		net.late_ns = unit_random(&random) % NET_S;
		net.spread_ns = 1 + unit_random(&random) % (20 * NET_MS);
		for (unsigned int k = 0; k < 5; k++) {
			by = 7 - by;
			route_by(by);
			net_run(&net, unit_random(&random) % (1ull << (20 + unit_random(&random) % 16)));
		}
		net.loss = net.twice = 0;
		net_run(&net, 6 * L_NS);
		check(rsvp_current(session), "schedule %u: no path", i);
		check(!net_wrong(&net), "schedule %u: %s", i, net_wrong(&net));
		check(net_grantors(&net, by, RSVP_G_COMMITTED) == 1, "schedule %u: not over node %u", i, by);
		ends();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_route), cmocka_unit_test(test_untold),
		cmocka_unit_test(test_pinned), cmocka_unit_test(test_at_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
