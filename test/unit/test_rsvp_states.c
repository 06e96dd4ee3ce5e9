/* SPDX-License-Identifier: BSD-3-Clause */
/* Edges of the state tables (docs/credit.md 2.8) that time and refusals take: leases, drains, copies, blockades. */
#include "test/support/unit.h"

#include "test/support/rsvp_net.h"

#define L_NS (3150 * NET_S / 20) /* 157.5 s */

static struct net net;
static struct rsvp_message m;
static struct rsvp_instance *session;

/* Two paths, over nodes 2 and 3. The session is on one of them; `path` is its number, `transit` its node. */
static unsigned int transit;

static void up(void)
{
	struct rsvp_path_view v;

	net_init(&net, 5);
	for (unsigned int i = 0; i < 2; i++)
		net_path(&net, 1, (unsigned int[]){net_add(&net)});
	session = net_open(&net, 1);
	net_run(&net, 10 * NET_S);
	assert_non_null(rsvp_current(session));
	rsvp_path_show(rsvp_current(session), &v);
	transit = 1u + v.path;
}

static uint64_t committed(unsigned int node)
{
	return rsvp_node_stats_of(net.node[node].rsvp)->committed;
}

/* A message about the path of a node, as its previous hop 0 or its next hop 1 sends it. */
static void make(enum rsvp_kind kind, unsigned int node, bool from_above)
{
	struct rsvp_path_view v;

	rsvp_path_show(rsvp_path_next(net.node[node].rsvp, NULL), &v);
	rsvp_clear(&m, kind);
	m.session = v.session;
	m.sender = v.sender;
	m.hop.addr = from_above ? v.phop : v.nhop;
	m.hop.lih = from_above ? v.phop_lih : v.lih;
	m.refresh_ms = 30000;
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TEMPLATE] = 1;
}

static void receive(unsigned int node, unsigned int from)
{
	rsvp_receive(net.node[node].rsvp, net.now, &m, &net.node[from].addr, 1);
}

static void end(bool counted, uint64_t sent, bool final)
{
	make(RSVP_END, transit, true);
	m.count[RSVP_O_CBFC_HOP] = counted;
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.fctbs = sent, .flags = final ? RSVP_HOP_FINAL : 0};
	receive(transit, 0);
}

/* The previous hop is gone: the buffer waits for the lease, then it is free here and behind. */
static void test_lease(void **state)
{
	(void)state;
	up();
	net.cut[0][transit] = net.cut[transit][0] = true;
	rsvp_neighbor(net.node[transit].rsvp, net.now, 0, &net.node[0].addr, false);
	assert_int_equal(1, net_grantors(&net, transit, RSVP_G_LEASE));
	net_run(&net, 999 * NET_MS);
	assert_int_equal(8192, committed(transit));
	assert_int_equal(8192, committed(1));
	net_run(&net, 2 * NET_MS);
	assert_int_equal(0, committed(transit));
	assert_int_equal(1, net_grantors(&net, transit, RSVP_G_STORED));
	net_run(&net, 200 * NET_MS);
	/* the far gateway has taken the other path */
	assert_int_equal(0, net_users(&net, transit, RSVP_U_COMMITTED));
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_COMMITTED));
	assert_int_equal(1, net_grantors(&net, 5 - transit, RSVP_G_COMMITTED));
	net_free(&net);
}

/* RESYNC during the lease: the session goes on with a new epoch. */
static void test_lease_resync(void **state)
{
	struct rsvp_path_view before, after;

	(void)state;
	up();
	rsvp_path_show(rsvp_path_next(net.node[transit].rsvp, NULL), &before);
	rsvp_neighbor(net.node[transit].rsvp, net.now, 0, &net.node[0].addr, false);
	net_run(&net, 500 * NET_MS);
	make(RSVP_INIT, transit, true);
	m.count[RSVP_O_TIME] = m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_HOP] = m.count[RSVP_O_CBFC_PATH] = 1;
	m.path = (struct rsvp_cbfc_path){.nonce = before.nonce,
		.path = before.path,
		.hops = 1,
		.addrs = &net.node[0].addr.v6};
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.flags = RSVP_HOP_IDLE | RSVP_HOP_ASK,
		.traffic_class = 3,
		.unit = 11,
		.sequence = 1000};
	receive(transit, 0);
	assert_int_equal(1, net_grantors(&net, transit, RSVP_G_COMMITTED));
	rsvp_path_show(rsvp_path_next(net.node[transit].rsvp, NULL), &after);
	assert_int_equal(before.grant_epoch + 1, after.grant_epoch);
	net_run(&net, 5 * NET_S);
	assert_int_equal(8192, committed(transit));
	net_free(&net);
}

/* End whose last count never comes true: the buffer is free D_drain after the last 30. */
static void test_drain(void **state)
{
	(void)state;
	up();
	end(true, 50, true);
	assert_int_equal(1, net_grantors(&net, transit, RSVP_G_CLOSING));
	net_run(&net, 900 * NET_MS);
	end(true, 60, true); /* again: the newest counts, and time starts again */
	net_run(&net, 900 * NET_MS);
	assert_int_equal(1, net_grantors(&net, transit, RSVP_G_CLOSING));
	net_run(&net, 200 * NET_MS);
	assert_int_equal(1, net_grantors(&net, transit, RSVP_G_TOMB));
	assert_int_equal(0, committed(transit));
	net_free(&net);
	/* without a count, the same time */
	up();
	end(false, 0, false);
	net_run(&net, 900 * NET_MS);
	assert_int_equal(8192, committed(transit));
	net_run(&net, 200 * NET_MS);
	assert_int_equal(0, committed(transit));
	net_free(&net);
	/* with its count there already, at once */
	up();
	end(true, 0, true);
	assert_int_equal(1, net_grantors(&net, transit, RSVP_G_TOMB));
	net_free(&net);
}

/* Nobody answers End: copies with back-off, the longest interval 30 s, until L. */
static void test_end_unanswered(void **state)
{
	unsigned int ends;

	(void)state;
	up();
	net.cut[0][2] = net.cut[0][3] = true;
	net_close(&net, session);
	ends = net.kinds[RSVP_END];
	net_run(&net, 16 * NET_S);
	/* 0.5, 1.5, 3.5, 7.5, 15.5 s, for two paths */
	assert_in_range(net.kinds[RSVP_END] - ends, 10, 12);
	net_run(&net, L_NS - 20 * NET_S);
	assert_in_range(net.kinds[RSVP_END] - ends, 16, 30); /* with those of the transit nodes, which hear nothing */
	assert_int_equal(2, net_users(&net, 0, RSVP_U_ENDING));
	net_run(&net, 10 * NET_S);
	assert_int_equal(0, rsvp_node_stats_of(net.node[0].rsvp)->paths);
	net_free(&net);
}

/* A transit device has no room for the S that comes: ResvErr 1 down, and the far gateway takes the other path. */
static void test_no_room_upstream(void **state)
{
	struct rsvp_path_view v;

	(void)state;
	net_init(&net, 5);
	for (unsigned int i = 0; i < 2; i++)
		net_path(&net, 1, (unsigned int[]){net_add(&net)});
	session = net_open(&net, 1);
	net_run(&net, 100 * NET_MS);
	net.node[2].config.pool = 100; /* after its offer: BUF changes while it runs */
	net_config(&net, 2);
	net.node[2].config.oversubscription = 1000;
	net_run(&net, 2 * NET_S);
	assert_int_equal(1, net.kinds[RSVP_RESV_ERR]);
	rsvp_path_show(rsvp_current(session), &v);
	assert_int_equal(2, v.path);
	assert_int_equal(8192, committed(1));
	assert_int_equal(0, committed(2));
	assert_null(net_wrong(&net));
	net_free(&net);
}

/* An S that nobody acknowledges may not have arrived: it is taken back (2.8), and the next path gets one. */
static void test_unacknowledged(void **state)
{
	(void)state;
	net_init(&net, 5);
	net_path(&net, 0, NULL);
	session = net_open(&net, 1);
	net_run(&net, 100 * NET_MS);
	net.cut[0][1] = net.cut[1][0] = true;
	net_run(&net, 6 * NET_S);
	assert_int_equal(8192, committed(1));
	net_run(&net, 3 * NET_S);
	assert_int_equal(1, rsvp_node_stats_of(net.node[1].rsvp)->unacknowledged);
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_STORED));
	assert_int_equal(0, committed(1));
	net_free(&net);
}

/* The next hop is away during RESYNC: go on asking. Another error ends the path. */
static void test_resync_refused(void **state)
{
	(void)state;
	up();
	net_neighbor(&net, 0, transit, false);
	net_run(&net, 500 * NET_MS);
	net.cut[0][transit] = true;
	rsvp_neighbor(net.node[0].rsvp, net.now, 0, &net.node[transit].addr, true);
	assert_int_equal(1, net_users(&net, 0, RSVP_U_RESYNC));
	for (unsigned int i = 0; i < 3; i++) {
		static const uint16_t values[] = {RSVP_REFUSE_ROUTE, RSVP_REFUSE_OPERATOR, RSVP_REFUSE_POOL};
		struct rsvp_path *p = rsvp_path_next(net.node[0].rsvp, NULL);
		struct rsvp_path_view v;

		for (rsvp_path_show(p, &v); v.user != RSVP_U_RESYNC; rsvp_path_show(p, &v))
			p = rsvp_path_next(net.node[0].rsvp, p);
		rsvp_clear(&m, RSVP_PATH_ERR);
		m.session = v.session;
		m.sender = v.sender;
		m.error = (struct rsvp_error){.node = net.node[1].addr, .code = 1, .value = values[i]};
		m.count[RSVP_O_SESSION] = m.count[RSVP_O_TEMPLATE] = m.count[RSVP_O_ERROR] = 1;
		receive(0, transit);
		assert_int_equal(i < 2, net_users(&net, 0, RSVP_U_RESYNC));
	}
	assert_int_equal(1, net_users(&net, 0, RSVP_U_OUT));
	net_free(&net);
}

/* A path that was ended comes back within L: its End stops only what is older. */
static void test_begins_again(void **state)
{
	(void)state;
	net_init(&net, 5);
	net_path(&net, 0, NULL);
	session = net_open(&net, 1);
	net_run(&net, 5 * NET_S);
	net_neighbor(&net, 0, 1, false);
	net_run(&net, 2 * L_NS); /* both have given it up */
	assert_int_equal(0, committed(1));
	net_neighbor(&net, 0, 1, true);
	net_run(&net, L_NS);
	assert_non_null(rsvp_current(session));
	assert_int_equal(8192, committed(1));
	net_free(&net);
}

/* No message came for L, and no one has refused the path: it begins again at once, not after a blockade. */
static void test_life_over(void **state)
{
	(void)state;
	net_init(&net, 5);
	net_path(&net, 0, NULL);
	session = net_open(&net, 1);
	net_run(&net, 5 * NET_S);
	net.cut[0][1] = net.cut[1][0] = true; /* nobody notices */
	net_run(&net, L_NS + 5 * NET_S);
	assert_null(rsvp_current(session));
	net.cut[0][1] = net.cut[1][0] = false;
	net_run(&net, 60 * NET_S); /* a refresh, and some copies */
	assert_non_null(rsvp_current(session));
	net_free(&net);
}

/* A PathErr comes after the S that was sent when its cause was over: the refresh of that S is refused by a NACK, and S comes again. */
static void test_crossed(void **state)
{
	(void)state;
	net_init(&net, 5);
	net_path(&net, 0, NULL);
	session = net_open(&net, 1);
	net_run(&net, 100 * NET_S); /* refreshes are by id */
	make(RSVP_PATH_ERR, 0, false);
	m.count[RSVP_O_HOP] = 0;
	m.error = (struct rsvp_error){.node = net.node[1].addr, .code = 1, .value = RSVP_REFUSE_ROUTE};
	m.count[RSVP_O_ERROR] = 1;
	receive(0, 1);
	assert_int_equal(1, net_users(&net, 0, RSVP_U_DOWN));
	net_run(&net, 60 * NET_S);
	assert_int_equal(1, net_users(&net, 0, RSVP_U_COMMITTED));
	assert_non_null(rsvp_current(session));
	net_free(&net);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_lease), cmocka_unit_test(test_lease_resync),
		cmocka_unit_test(test_drain), cmocka_unit_test(test_end_unanswered),
		cmocka_unit_test(test_no_room_upstream), cmocka_unit_test(test_unacknowledged),
		cmocka_unit_test(test_resync_refused), cmocka_unit_test(test_begins_again),
		cmocka_unit_test(test_life_over), cmocka_unit_test(test_crossed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
