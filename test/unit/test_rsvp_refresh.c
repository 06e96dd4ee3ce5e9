/* SPDX-License-Identifier: BSD-3-Clause */
/* Refreshes by id (RFC 2961 section 5): what they keep up, what needs the whole message, and what they cost. */
#include "test/support/rsvp_net.h"
#include "test/support/unit.h"

static struct net t;

/* A headend, two devices and the far gateway, with sessions that are up. */
static void begin(uint64_t random, unsigned int sessions, struct rsvp_instance **first)
{
	net_init(&t, random);
	net_path(&t, 2, (unsigned int[]){net_add(&t), net_add(&t)});
	for (unsigned int i = 0; i < sessions; i++) {
		struct rsvp_instance *s = net_open(&t, i);

		if (i == 0)
			*first = s;
	}
	net_run(&t, 10 * NET_S);
	assert_int_equal(sessions, net_users(&t, 0, RSVP_U_COMMITTED));
	assert_int_equal(sessions, net_grantors(&t, 1, RSVP_G_COMMITTED));
}

static unsigned int whole(void)
{
	return t.kinds[RSVP_INIT] + t.kinds[RSVP_RESERVE];
}

/* A session that is up is kept up for 100 R by ids alone; a neighbour that does not set the flag gets whole messages. */
static void test_by_id(void **state)
{
	struct rsvp_instance *s;
	unsigned int before;

	(void)state;
	begin(1, 1, &s);
	before = whole();
	net_run(&t, 3000 * NET_S);
	assert_int_equal(before, whole());
	assert_in_range(t.kinds[RSVP_SREFRESH], 6 * 60, 6 * 210);
	assert_int_equal(0, t.kinds[RSVP_ACK] > 40); /* nothing was asked for again */
	assert_int_equal(1, net_users(&t, 0, RSVP_U_COMMITTED));
	assert_null(net_wrong(&t));
	t.whole = true;
	before = t.kinds[RSVP_SREFRESH];
	net_run(&t, 300 * NET_S);
	assert_int_equal(before, t.kinds[RSVP_SREFRESH]);
	assert_true(whole() > before / 200);
	net_close(&t, s);
	net_run(&t, 400 * NET_S);
	assert_true(net_is_empty(&t));
	net_free(&t);
}

/* A tenth of all messages is lost, some are doubled: sessions stay, and nothing is left after their end. */
static void test_loss(void **state)
{
	struct rsvp_instance *s[8];
	unsigned int before;

	(void)state;
	for (uint64_t random = 1; random <= 5; random++) {
		begin(random, 0, NULL);
		for (unsigned int i = 0; i < 8; i++)
			s[i] = net_open(&t, i);
		t.loss = 100;
		t.twice = 50;
		t.spread_ns = 20 * NET_MS;
		net_run(&t, 60 * NET_S);
		before = whole();
		net_run(&t, 3000 * NET_S);
		check(net_users(&t, 0, RSVP_U_COMMITTED) == 8, "%llu: %u are up", (unsigned long long)random,
			net_users(&t, 0, RSVP_U_COMMITTED));
		check(!net_wrong(&t), "%s", net_wrong(&t));
		/* 3 hops, 8 sessions, both directions, 100 refreshes: few of them were sent whole */
		assert_in_range(whole() - before, 0, 3 * 8 * 2 * 100 / 10);
		t.loss = t.twice = 0;
		for (unsigned int i = 0; i < 8; i++)
			net_close(&t, s[i]);
		net_run(&t, 400 * NET_S);
		assert_true(net_is_empty(&t));
		net_free(&t);
	}
}

/* A device that has lost its state does not know the ids: it asks for the whole messages, and the session goes on. */
static void test_unknown(void **state)
{
	struct rsvp_instance *s;
	unsigned int acks;

	(void)state;
	for (unsigned int node = 1; node < 4; node++) {
		begin(2 + node, 1, &s);
		acks = t.kinds[RSVP_ACK];
		net_restart(&t, node);
		net_run(&t, 200 * NET_S);
		assert_true(t.kinds[RSVP_ACK] > acks);
		assert_int_equal(1, net_users(&t, 0, RSVP_U_COMMITTED));
		assert_int_equal(1, net_grantors(&t, 1, RSVP_G_COMMITTED));
		check(!net_wrong(&t), "node %u: %s", node, net_wrong(&t));
		net_close(&t, s);
		net_run(&t, 400 * NET_S);
		assert_true(net_is_empty(&t));
		net_free(&t);
	}
}

/* What is told has changed: the whole message, once. */
static void test_changed(void **state)
{
	struct rsvp_instance *s;
	unsigned int inits, reserves;

	(void)state;
	begin(9, 1, &s);
	inits = t.kinds[RSVP_INIT];
	reserves = t.kinds[RSVP_RESERVE];
	t.node[2].config.refresh_ms = 20000; /* TIME_VALUES of its 28 and of its S */
	net_config(&t, 2);
	net_run(&t, 500 * NET_S);
	assert_in_range(t.kinds[RSVP_INIT] - inits, 1, 2);
	assert_in_range(t.kinds[RSVP_RESERVE] - reserves, 1, 2);
	net_free(&t);
}

/* An id counts only from the neighbour that has given it. */
static void test_strangers(void **state)
{
	static struct rsvp_message m;
	struct rsvp_instance *s;
	be32_t id;

	(void)state;
	begin(11, 1, &s);
	do
		assert_true(net_step(&t, t.now + 100 * NET_S));
	while (t.received.to != 3 || t.message.kind != RSVP_SREFRESH ||
		!ip_addr_equal(&t.received.from, &t.node[2].addr));
	rsvp_clear(&m, RSVP_SREFRESH);
	id = t.message.id_list[0].ids[0];
	m.count[RSVP_O_ID_LIST] = 1;
	m.id_list[0] = (struct rsvp_id_list){.epoch = t.message.id_list[0].epoch, .ids = &id, .count = 1};
	t.cut[2][3] = t.cut[3][2] = true;
	for (unsigned int k = 0; k < 20; k++) {
		rsvp_receive(t.node[3].rsvp, t.now, &m, &t.node[0].addr, 0);
		net_run(&t, 30 * NET_S);
	}
	assert_int_equal(0, net_grantors(&t, 3, RSVP_G_COMMITTED)); /* L is over */
	net_free(&t);
}

/* Many sessions between two nodes: a message has many ids. */
static void test_together(void **state)
{
	struct rsvp_instance *s;
	const struct rsvp_node_stats *stats;
	unsigned int before;
	uint64_t refreshed;

	(void)state;
	begin(13, 60, &s);
	t.budget = 32;
	net_run(&t, 60 * NET_S);
	before = t.kinds[RSVP_SREFRESH];
	stats = rsvp_node_stats_of(t.node[0].rsvp);
	refreshed = stats->refreshed;
	net_run(&t, 600 * NET_S);
	refreshed = stats->refreshed - refreshed;
	assert_in_range(refreshed, 60 * 15, 60 * 30);
	/* six directions send alike */
	check(2 * (t.kinds[RSVP_SREFRESH] - before) < 6 * refreshed, "%u messages for %llu refreshes",
		t.kinds[RSVP_SREFRESH] - before, (unsigned long long)refreshed * 6);
	net_free(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_id), cmocka_unit_test(test_loss),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_changed), cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_together)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
