/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of RSVP sessions (docs/credit.md 2.8): one node, two, and whole networks. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/rsvp_net.h"

#define L_NS (3150 * NET_S / 20) /* 157.5 s */

static struct net net;

/* Node 0, one transit node, node 1. */
static void line(uint64_t random)
{
	unsigned int through;

	net_init(&net, random);
	through = net_add(&net);
	net_path(&net, 1, &through);
}

static void check_up(const char *row, unsigned int sessions)
{
	check(!net_wrong(&net), "%s: %s", row, net_wrong(&net));
	check(net_users(&net, 0, RSVP_U_COMMITTED) == sessions, "%s: headend has %u", row,
		net_users(&net, 0, RSVP_U_COMMITTED));
	check(net_grantors(&net, 1, RSVP_G_COMMITTED) == sessions, "%s: far gateway has %u", row,
		net_grantors(&net, 1, RSVP_G_COMMITTED));
}

static void test_comes_up(void **state)
{
	struct rsvp_path_view v;
	struct rsvp_instance *s;

	(void)state;
	line(1);
	s = net_open(&net, 1);
	assert_non_null(s);
	net_run(&net, 150 * NET_MS);
	/* offers, and no data: T_sel runs */
	assert_int_equal(1, net_users(&net, 0, RSVP_U_OFFER));
	assert_int_equal(1, net_grantors(&net, 2, RSVP_G_OFFERED));
	assert_null(rsvp_current(s));
	assert_int_equal(2, net.kinds[RSVP_INIT]);
	assert_int_equal(2, net.kinds[RSVP_RESERVE]);
	net_run(&net, 150 * NET_MS);
	check_up("line", 1);
	assert_int_equal(4, net.kinds[RSVP_RESERVE]);
	assert_non_null(rsvp_current(s));
	rsvp_path_show(rsvp_current(s), &v);
	assert_int_equal(8192, v.fccl);
	assert_int_equal(8192, v.credit_units);
	assert_true(ip_addr_equal(&v.nhop, &net.node[2].addr));
	assert_int_equal(1, net.node[0].changes);
	/* nothing is repeated: all was acknowledged */
	net_run(&net, 10 * NET_S);
	assert_int_equal(2, net.kinds[RSVP_INIT]);
	assert_int_equal(4, net.kinds[RSVP_RESERVE]);
	net_free(&net);
}

static void test_ends(void **state)
{
	struct rsvp_instance *s;

	(void)state;
	line(2);
	s = net_open(&net, 1);
	net_run(&net, NET_S);
	net_close(&net, s);
	net_run(&net, 100 * NET_MS);
	assert_int_equal(2, net.kinds[RSVP_END]);
	assert_int_equal(2, net.kinds[RSVP_END_ACK]);
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_TOMB));
	assert_int_equal(0, rsvp_node_stats_of(net.node[1].rsvp)->promised);
	assert_int_equal(0, rsvp_node_stats_of(net.node[0].rsvp)->paths);
	net_run(&net, L_NS);
	assert_true(net_is_empty(&net));
	net_free(&net);
}

/* An End is about the session that it names, not about its source (E40). */
static void test_ends_one(void **state)
{
	struct rsvp_instance *s, *other;

	(void)state;
	line(2);
	s = net_open(&net, 1);
	other = net_open(&net, 2);
	net_run(&net, NET_S);
	assert_int_equal(2, net_users(&net, 0, RSVP_U_COMMITTED));
	net_close(&net, s);
	net_run(&net, 100 * NET_MS);
	assert_int_equal(1, net_users(&net, 0, RSVP_U_COMMITTED));
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_TOMB));
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_COMMITTED));
	assert_non_null(rsvp_current(other));
	net_free(&net);
}

/* Soft state: an hour of refreshes, with loss, doubling and reordering. */
static void test_lives(void **state)
{
	(void)state;
	for (unsigned int bad = 0; bad < 2; bad++) {
		struct rsvp_instance *s;

		line(3);
		net.whole = true;
		net.loss = net.twice = bad * 100;
		net.spread_ns = bad * 20 * NET_MS;
		s = net_open(&net, 1);
		net_run(&net, 20 * NET_S);
		for (unsigned int i = 0; i < 360; i++) {
			check_up(bad ? "bad" : "good", 1);
			net_run(&net, 10 * NET_S);
		}
		/* a 28 and an S of each hop every 30 s */
		if (!bad)
			assert_in_range(net.kinds[RSVP_INIT] + net.kinds[RSVP_RESERVE], 400, 580);
		assert_int_equal(0, rsvp_node_stats_of(net.node[0].rsvp)->lost);
		net_close(&net, s);
		net_run(&net, 3 * L_NS);
		assert_true(net_is_empty(&net));
		net_free(&net);
	}
}

/* Who falls silent is forgotten by all others. */
static void test_silence(void **state)
{
	(void)state;
	for (unsigned int dead = 0; dead < 3; dead++) {
		line(4);
		net_open(&net, 1);
		net_run(&net, NET_S);
		for (unsigned int i = 0; i < 3; i++)
			net.cut[dead][i] = net.cut[i][dead] = true;
		net_run(&net, 4 * L_NS);
		check(!rsvp_node_stats_of(net.node[1].rsvp)->promised, "node %u is dead, the far gateway has units",
			dead);
		check(!rsvp_node_stats_of(net.node[2].rsvp)->committed, "node %u is dead, transit has units", dead);
		check(!net_users(&net, 0, RSVP_U_COMMITTED), "node %u is dead, the headend sends", dead);
		net_free(&net);
	}
}

/* Every message of a session's life, lost, doubled or late, changes nothing in the end. */
static void test_each_message(void **state)
{
	(void)state;
	for (unsigned int how = 0; how < 3; how++) {
		for (int number = 0; number < 40; number++) {
			struct rsvp_instance *s;
			unsigned int sent;
			char row[40];

			snprintf(row, sizeof(row), "way %u, message %d", how, number);
			line(5);
			*(how == 0 ? &net.lose : how == 1 ? &net.twice_at : &net.late_at) = number;
			net.late_ns = 700 * NET_MS;
			s = net_open(&net, 1);
			net_run(&net, 40 * NET_S); /* with a refresh */
			check_up(row, 1);
			net_close(&net, s);
			net_run(&net, 3 * NET_S);
			check(!rsvp_node_stats_of(net.node[1].rsvp)->committed, "%s: not released", row);
			check(!rsvp_node_stats_of(net.node[0].rsvp)->paths, "%s: not ended", row);
			sent = net.sent;
			net_run(&net, 2 * L_NS);
			check(net_is_empty(&net), "%s: something is left", row);
			net_free(&net);
			if (number >= (int)sent)
				break;
		}
	}
}

/* A session is closed at any instant of its start. */
static void test_crossed(void **state)
{
	(void)state;
	for (unsigned int ms = 0; ms < 300; ms++) {
		struct rsvp_instance *s;

		line(6);
		s = net_open(&net, 1);
		net_run(&net, ms * NET_MS);
		net_close(&net, s);
		net_run(&net, 10 * NET_S);
		check(!rsvp_node_stats_of(net.node[1].rsvp)->promised, "after %u ms", ms);
		check(!rsvp_node_stats_of(net.node[2].rsvp)->promised, "after %u ms", ms);
		net_run(&net, 2 * L_NS);
		check(net_is_empty(&net), "after %u ms", ms);
		net_free(&net);
	}
}

/* Figure 3 of the draft: paths through two leaves, four spines each. */
static void figure(uint64_t random)
{
	unsigned int leaf[2], spine[4];

	net_init(&net, random);
	for (unsigned int i = 0; i < 2; i++)
		leaf[i] = net_add(&net);
	for (unsigned int i = 0; i < 4; i++)
		spine[i] = net_add(&net);
	for (unsigned int i = 0; i < 8; i++)
		net_path(&net, 2, (unsigned int[]){leaf[i / 4], spine[i % 4]});
}

/* One reservation for each (session, previous hop), however many paths run through it. */
static void test_one_reservation(void **state)
{
	(void)state;
	figure(7);
	net_open(&net, 1);
	net_run(&net, 100 * NET_MS);
	/* a leaf has one previous hop and four paths; a spine two previous hops; the far gateway four */
	assert_int_equal(4, net_grantors(&net, 2, RSVP_G_OFFERED));
	assert_int_equal(8192, rsvp_node_stats_of(net.node[2].rsvp)->promised);
	assert_int_equal(2 * 8192, rsvp_node_stats_of(net.node[4].rsvp)->promised);
	assert_int_equal(8, net_grantors(&net, 1, RSVP_G_OFFERED));
	assert_int_equal(4 * 8192, rsvp_node_stats_of(net.node[1].rsvp)->promised);
	net_run(&net, 10 * NET_S);
	/* one is committed; the others are kept without buffer */
	check_up("figure", 1);
	assert_int_equal(7, net_grantors(&net, 1, RSVP_G_STORED));
	assert_int_equal(7, net_users(&net, 0, RSVP_U_OFFER));
	assert_int_equal(8192, rsvp_node_stats_of(net.node[1].rsvp)->promised);
	net_free(&net);
}

/* The path with the largest least BUF is chosen, in random figures (D13). */
static void test_largest(void **state)
{
	uint64_t random = 4711;

	(void)state;
	for (unsigned int round = 0; round < 1000; round++) {
		unsigned int best = 0, nodes = 2 + unit_random(&random) % 8;
		uint64_t best_buffer = 0;
		struct rsvp_path_view v;
		struct rsvp_instance *s;

		net_init(&net, round);
		for (unsigned int i = 0; i < nodes; i++) {
			unsigned int x = net_add(&net);

			net.node[x].config.buffer = 1 + unit_random(&random) % 1000;
			net_config(&net, x);
		}
		for (unsigned int i = 0; i < 1 + round % NET_PATHS; i++) {
			unsigned int through[4], n = 1 + unit_random(&random) % 4;
			uint64_t least = 600;

			for (unsigned int k = 0; k < n; k++) {
				do
					through[k] = 2 + unit_random(&random) % nodes;
				while (k && through[k] == through[k - 1]);
				for (unsigned int j = 0; j < k; j++)
					if (through[j] == through[k])
						n = k; /* no device twice */
				if (k < n)
					least = MIN_OF(least, net.node[through[k]].config.buffer);
			}
			net_path(&net, n, through);
			/* ties: the smallest delay, then the fewest hops; both are those of the shortest */
			if (least > best_buffer || (least == best_buffer && n + 2 < net.length[best])) {
				best = i;
				best_buffer = least;
			}
		}
		net.node[1].config.buffer = 600;
		net_config(&net, 1);
		s = net_open(&net, 1);
		net_run(&net, NET_S);
		check(rsvp_current(s), "round %u: no path", round);
		rsvp_path_show(rsvp_current(s), &v);
		check(v.path == best + 1, "round %u: path %u, best is %u", round, v.path, best + 1);
		net_free(&net);
	}
}

/* Offers may promise more than the pool has; commits may not. */
static void test_admission(void **state)
{
	struct rsvp_instance *s[12];

	(void)state;
	line(8);
	net.node[2].config.pool = 5 * 8192;
	net.node[2].config.oversubscription = 2;
	net_config(&net, 2);
	for (unsigned int i = 0; i < 12; i++)
		s[i] = net_open(&net, i);
	net_run(&net, 100 * NET_MS);
	assert_int_equal(10, net_grantors(&net, 2, RSVP_G_OFFERED));
	assert_int_equal(2, rsvp_node_stats_of(net.node[2].rsvp)->refused);
	assert_int_equal(2, net_users(&net, 0, RSVP_U_OUT));
	net_run(&net, 20 * NET_S);
	check_up("pool", 5);
	assert_int_equal(5 * 8192, rsvp_node_stats_of(net.node[2].rsvp)->committed);
	/* the advertised credit is below what is reserved, by the margin */
	for (unsigned int i = 0; i < 12; i++)
		net_close(&net, s[i]);
	net_run(&net, NET_S);
	assert_int_equal(0, rsvp_node_stats_of(net.node[2].rsvp)->promised);
	net.node[2].config.margin = 100;
	net_config(&net, 2);
	s[0] = net_open(&net, 20);
	net_run(&net, NET_S);
	assert_int_equal(8292, rsvp_node_stats_of(net.node[2].rsvp)->committed);
	net_close(&net, s[0]);
	net_run(&net, 20 * NET_S);
	net_run(&net, 2 * L_NS);
	assert_true(net_is_empty(&net));
	net_free(&net);
}

/* A device that permits nothing, one in the list twice, and more devices than may be. */
static void test_refused(void **state)
{
	unsigned int x;

	(void)state;
	line(9);
	net.node[1].refuses = true;
	net_open(&net, 1);
	net_run(&net, NET_S);
	assert_int_equal(1, net_users(&net, 0, RSVP_U_OUT));
	assert_int_equal(1, net_users(&net, 2, RSVP_U_OUT));
	assert_int_equal(0, rsvp_node_stats_of(net.node[2].rsvp)->committed);
	net_run(&net, 119 * NET_S); /* Tb = 4 R; then it is tried again */
	net.node[1].refuses = false;
	net_run(&net, 40 * NET_S);
	check_up("permitted later", 1);
	net_free(&net);

	net_init(&net, 10);
	x = net_add(&net);
	net_path(&net, 3, (unsigned int[]){x, net_add(&net), x});
	net_open(&net, 1);
	net_run(&net, NET_S);
	assert_int_not_equal(0, rsvp_node_stats_of(net.node[x].rsvp)->loop);
	assert_int_equal(0, net_grantors(&net, 1, RSVP_G_OFFERED));
	net_free(&net);

	line(11);
	net.node[1].config.hops_max = 2;
	net_config(&net, 1);
	net_open(&net, 1);
	net_run(&net, NET_S);
	assert_int_equal(1, rsvp_node_stats_of(net.node[1].rsvp)->refused);
	assert_int_equal(0, rsvp_node_stats_of(net.node[1].rsvp)->paths);
	net_free(&net);
}

/* A link of the path fails: the session moves to the best of its backups, and a repaired path is one again. */
static void test_failover(void **state)
{
	(void)state;
	for (unsigned int where = 0; where < 2; where++) {
		struct rsvp_path_view before, after;
		struct rsvp_instance *s;

		figure(12);
		s = net_open(&net, 1);
		net_run(&net, 10 * NET_S);
		rsvp_path_show(rsvp_current(s), &before);
		if (where)
			net_neighbor(&net, 2 + (before.path - 1u) / 4, 4 + (before.path - 1u) % 4, false);
		else
			net_neighbor(&net, 0, 2 + (before.path - 1u) / 4, false);
		net_run(&net, 200 * NET_MS);
		check(!net_wrong(&net), "cut %u: %s", where, net_wrong(&net));
		check(rsvp_current(s), "cut %u: no backup", where);
		rsvp_path_show(rsvp_current(s), &after);
		check(after.path != before.path, "cut %u: still path %u", where, after.path);
		check(where || (after.path - 1) / 4 != (before.path - 1) / 4, "cut %u: leaf of path %u", where,
			after.path);
		net_run(&net, 60 * NET_S);
		check(net_users(&net, 0, RSVP_U_COMMITTED) == 1, "cut %u: %u paths", where,
			net_users(&net, 0, RSVP_U_COMMITTED));
		if (where)
			net_neighbor(&net, 2 + (before.path - 1u) / 4, 4 + (before.path - 1u) % 4, true);
		else
			net_neighbor(&net, 0, 2 + (before.path - 1u) / 4, true);
		net_run(&net, 300 * NET_S);
		check(!net_wrong(&net), "repaired %u: %s", where, net_wrong(&net));
		/* one path carries data, all others are backups again, and reserve nothing */
		check(net_users(&net, 0, RSVP_U_COMMITTED) == 1 && net_users(&net, 0, RSVP_U_OFFER) == 7,
			"repaired %u: %u committed, %u offered", where, net_users(&net, 0, RSVP_U_COMMITTED),
			net_users(&net, 0, RSVP_U_OFFER));
		for (unsigned int i = 1; i < net.nodes; i++)
			check(net_grantors(&net, i, RSVP_G_COMMITTED) <= 1, "repaired %u: %u committed at node %u",
				where, net_grantors(&net, i, RSVP_G_COMMITTED), i);
		net_close(&net, s);
		net_run(&net, 4 * L_NS);
		check(net_is_empty(&net), "cut %u: something is left", where);
		net_free(&net);
	}
}

static unsigned int leaf_of(const struct rsvp_instance *s, const char *when)
{
	struct rsvp_path_view v;

	check(rsvp_current(s), "%s: no path carries data", when);
	rsvp_path_show(rsvp_current(s), &v);
	return 2 + (v.path - 1u) / 4;
}

static void cut_leaf(unsigned int leaf, bool up)
{
	for (unsigned int spine = 4; spine < 8; spine++)
		net_neighbor(&net, leaf, spine, up);
}

/*
 * A link fails for less than a lease, so that its path works again with what it had. For a while both paths are committed, and
 * the one takes over from the other at once; then only one is.
 */
static void test_short_failure(void **state)
{
	unsigned int first, second;
	struct rsvp_instance *s;

	(void)state;
	figure(14);
	s = net_open(&net, 1);
	net_run(&net, 10 * NET_S);
	first = leaf_of(s, "begin");
	net_neighbor(&net, 0, first, false);
	net_run(&net, 200 * NET_MS);
	second = leaf_of(s, "cut");
	net_neighbor(&net, 0, first, true);
	net_run(&net, 500 * NET_MS);
	assert_int_equal(2, net_users(&net, 0, RSVP_U_COMMITTED));
	assert_int_equal(first, leaf_of(s, "repaired"));
	net_neighbor(&net, 0, first, false);
	assert_int_equal(second, leaf_of(s, "cut again"));
	net_run(&net, 200 * NET_MS);
	net_neighbor(&net, 0, first, true);
	net_run(&net, 10 * NET_S);
	assert_int_equal(1, net_users(&net, 0, RSVP_U_COMMITTED));
	assert_int_equal(8192, rsvp_node_stats_of(net.node[1].rsvp)->committed);
	check(!net_wrong(&net), "%s", net_wrong(&net));
	net_run(&net, 300 * NET_S);
	assert_int_equal(1, net_users(&net, 0, RSVP_U_COMMITTED));
	assert_int_equal(7, net_users(&net, 0, RSVP_U_OFFER)); /* those of the leaf that failed rest for Tb */
	net_close(&net, s);
	net_run(&net, 4 * L_NS);
	assert_true(net_is_empty(&net));
	net_free(&net);
}

/* All paths of a leaf fail at once, so that the backup that is asked has failed as well: the next one is asked at once. */
static void test_failover_of_backups(void **state)
{
	struct rsvp_instance *s;

	(void)state;
	figure(14);
	s = net_open(&net, 1);
	net_run(&net, 10 * NET_S);
	for (unsigned int round = 0; round < 10; round++) {
		unsigned int leaf = leaf_of(s, "before the cut");

		cut_leaf(leaf, false);
		net_run(&net, 200 * NET_MS);
		check(!net_wrong(&net), "round %u: %s", round, net_wrong(&net));
		check(leaf_of(s, "after the cut") != leaf, "round %u: still over leaf %u", round, leaf);
		cut_leaf(leaf, true);
		net_run(&net, 300 * NET_S);
	}
	net_close(&net, s);
	net_run(&net, 4 * L_NS);
	check(net_is_empty(&net), "something is left");
	net_free(&net);
}

/* A node loses its state. The others find out, and the session is there again. */
static void test_restart(void **state)
{
	(void)state;
	for (unsigned int node = 0; node < 3; node++) {
		struct rsvp_instance *s;

		line(13 + node);
		s = net_open(&net, 1);
		net_run(&net, 10 * NET_S);
		net_restart(&net, node);
		net_run(&net, NET_S);
		if (!node)
			s = net_open(&net, 2);
		net_run(&net, 3 * L_NS);
		check(!net_wrong(&net), "node %u: %s", node, net_wrong(&net));
		check(rsvp_current(s), "node %u: no session", node);
		check(rsvp_node_stats_of(net.node[1].rsvp)->committed == 8192, "node %u: the far gateway has %u", node,
			(unsigned int)rsvp_node_stats_of(net.node[1].rsvp)->committed);
		net_close(&net, s);
		net_run(&net, 4 * L_NS);
		check(net_is_empty(&net), "node %u: something is left", node);
		net_free(&net);
	}
}

/* What End waits for: data that is queued here, and data that has not arrived there (D60). */
static void test_end_with_data(void **state)
{
	struct rsvp_path *headend, *transit, *far;
	struct rsvp_instance *s;

	(void)state;
	line(16);
	s = net_open(&net, 1);
	net_run(&net, NET_S);
	headend = rsvp_path_next(net.node[0].rsvp, NULL);
	transit = rsvp_path_next(net.node[2].rsvp, NULL);
	far = rsvp_path_next(net.node[1].rsvp, NULL);
	rsvp_user_count(net.node[0].rsvp, net.now, headend, 100, 0, 7);
	rsvp_grantor_count(net.node[2].rsvp, net.now, transit, 90, 0, 80);
	rsvp_user_count(net.node[2].rsvp, net.now, transit, 80, 0, 10);
	net_close(&net, s);
	net_run(&net, 100 * NET_MS);
	/* neither End is final; the credit stays */
	assert_int_equal(1, net_users(&net, 0, RSVP_U_ENDING));
	assert_int_equal(1, net_users(&net, 2, RSVP_U_ENDING));
	assert_int_equal(1, net_grantors(&net, 2, RSVP_G_CLOSING));
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_CLOSING));
	assert_int_equal(8192, rsvp_node_stats_of(net.node[1].rsvp)->committed);
	rsvp_user_count(net.node[0].rsvp, net.now, headend, 107, 0, 0);
	net_run(&net, 100 * NET_MS);
	assert_int_equal(0, rsvp_node_stats_of(net.node[0].rsvp)->paths);
	assert_int_equal(1, net_grantors(&net, 2, RSVP_G_CLOSING));
	rsvp_grantor_count(net.node[2].rsvp, net.now, transit, 107, 0, 107);
	net_run(&net, 100 * NET_MS);
	/* the transit device has it all, and still queues */
	assert_int_equal(1, net_grantors(&net, 2, RSVP_G_TOMB));
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_CLOSING));
	rsvp_user_count(net.node[2].rsvp, net.now, transit, 107, 0, 0);
	net_run(&net, 100 * NET_MS);
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_CLOSING));
	rsvp_grantor_count(net.node[1].rsvp, net.now, far, 107, 0, 107);
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_TOMB));
	assert_int_equal(0, rsvp_node_stats_of(net.node[1].rsvp)->promised);
	net_run(&net, 2 * L_NS);
	assert_true(net_is_empty(&net));
	net_free(&net);
}

static unsigned int number_of(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 10) : otherwise;
}

static unsigned int sessions_up(struct rsvp_instance *const *s, unsigned int n)
{
	unsigned int is_up = 0;

	for (unsigned int i = 0; i < n; i++)
		is_up += rsvp_current(s[i]) != NULL;
	return is_up;
}

/*
 * Figure 3 of the draft, whose messages are lost, doubled and reordered (1 of 10 each): all sessions are up within 5 s and
 * live; the far gateway, a leaf and a spine restart; afterwards nothing is left. RSVP_SESSIONS and RSVP_MINUTES make it
 * longer.
 */
static void test_figure(void **state)
{
	unsigned int n = number_of("RSVP_SESSIONS", 30), minutes = number_of("RSVP_MINUTES", 3);
	static struct rsvp_instance *s[1000];

	(void)state;
	n = MIN_OF(n, (unsigned int)ARRAY_LEN(s));
	figure(17);
	for (unsigned int i = 0; i < net.nodes; i++) {
		net.node[i].config.paths_max = 8 * n;
		net.node[i].config.pool = 8192ull * n * 4;
		net_restart(&net, i);
	}
	net.loss = net.twice = 100;
	net.spread_ns = 20 * NET_MS;
	for (unsigned int i = 0; i < n; i++)
		s[i] = net_open(&net, i);
	net_run(&net, 5 * NET_S);
	check(sessions_up(s, n) == n, "%u of %u are up after 5 s", sessions_up(s, n), n);
	for (unsigned int i = 0; i < minutes; i++) {
		net_run(&net, 60 * NET_S);
		check(sessions_up(s, n) == n, "%u of %u live in minute %u", sessions_up(s, n), n, i);
	}
	for (unsigned int i = 0; i < 3; i++) {
		net_restart(&net, (unsigned int[]){1, 2, 5}[i]);
		net_run(&net, 3 * L_NS);
		check(sessions_up(s, n) == n, "restart %u: %u of %u are up again", i, sessions_up(s, n), n);
	}
	net.loss = net.twice = 0;
	for (unsigned int i = 0; i < n; i++)
		net_close(&net, s[i]);
	net_run(&net, 4 * L_NS);
	assert_true(net_is_empty(&net));
	net_free(&net);
}

/*
 * Random schedules: two machines, or three; messages are lost, doubled and reordered; sessions come and go, neighbours as
 * well. When it is over, the views are equal or nothing is left.
 */
static void schedule(uint64_t seed)
{
	uint64_t random = seed * 2 + 1;
	struct rsvp_instance *s[3] = {NULL};
	bool scarce = seed % 3 == 0; /* pools without room for all */
	unsigned int through, steps = 4 + unit_random(&random) % 12;

	net_init(&net, seed);
	through = seed % 2 ? net_add(&net) : 0;
	net_path(&net, seed % 2, &through);
	if (seed % 4 > 1)
		net_path(&net, 1, (unsigned int[]){net_add(&net)});
	for (unsigned int i = 0; scarce && i < net.nodes; i++) {
		net.node[i].config.pool = 8192 * (1 + unit_random(&random) % 3);
		net_config(&net, i);
	}
	net.loss = unit_random(&random) % 300;
	net.twice = unit_random(&random) % 300;
	net.spread_ns = unit_random(&random) % (400 * NET_MS) + 1;
	for (unsigned int i = 0; i < steps; i++) {
		unsigned int k = unit_random(&random) % ARRAY_LEN(s), a = unit_random(&random) % net.nodes;
		unsigned int b = (a + 1) % net.nodes;

		if (unit_random(&random) % 8 == 0) {
			net_neighbor(&net, a, b, net.cut[a][b]);
		} else if (unit_random(&random) % 8 == 0) {
			net_restart(&net, a);
			for (k = 0; !a && k < ARRAY_LEN(s); k++)
				s[k] = NULL;
		} else if (!s[k]) {
			s[k] = net_open(&net, k + 10 * i);
		} else if (unit_random(&random) % 2) {
			net_close(&net, s[k]);
			s[k] = NULL;
		}
		net_run(&net, unit_random(&random) % (3 * NET_S));
	}
	for (unsigned int a = 0; a < net.nodes; a++)
		for (unsigned int b = 0; b < net.nodes; b++)
			if (a < b && net.cut[a][b])
				net_neighbor(&net, a, b, true);
	net.loss = net.twice = 0;
	net.spread_ns = 1;
	net_run(&net, 500 * NET_S);
	check(!net_wrong(&net), "seed %u: %s", (unsigned int)seed, net_wrong(&net));
	for (unsigned int k = 0; k < ARRAY_LEN(s); k++)
		check(!s[k] || scarce || rsvp_current(s[k]), "seed %u: session %u did not come up again",
			(unsigned int)seed, k);
	for (unsigned int k = 0; k < ARRAY_LEN(s); k++)
		if (s[k])
			net_close(&net, s[k]);
	net_run(&net, 400 * NET_S);
	check(net_is_empty(&net), "seed %u: something is left", (unsigned int)seed);
	net_free(&net);
}

static void test_schedules(void **state)
{
	uint64_t one = number_of("RSVP_SCHEDULE", 0), last = one ? one : number_of("RSVP_SCHEDULES", 500);

	(void)state;
	for (uint64_t seed = one ? one : 1; seed <= last; seed++)
		schedule(seed);
	if (!one)
		schedule(61828); /* a late offer of an old epoch before the S of a new one */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_comes_up), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_ends_one), cmocka_unit_test(test_lives), cmocka_unit_test(test_silence),
		cmocka_unit_test(test_each_message), cmocka_unit_test(test_crossed),
		cmocka_unit_test(test_one_reservation), cmocka_unit_test(test_largest),
		cmocka_unit_test(test_admission), cmocka_unit_test(test_refused), cmocka_unit_test(test_failover),
		cmocka_unit_test(test_short_failure), cmocka_unit_test(test_failover_of_backups),
		cmocka_unit_test(test_restart), cmocka_unit_test(test_end_with_data), cmocka_unit_test(test_figure),
		cmocka_unit_test(test_schedules)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
