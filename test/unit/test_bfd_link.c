/* SPDX-License-Identifier: BSD-3-Clause */
/* BFD between two nodes: timers, Poll Sequences, bad links, AdminDown, own gaps, the echo function. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/bfd_net.h"

/* --- two nodes --- */

static void test_comes_up(void **state)
{
	uint64_t began = net.now;

	(void)state;
	bfd_net_bring_up(&bfd_net_usual, &bfd_net_usual);
	for (unsigned int i = 0; i < 2; i++) {
		struct bfd_session *s = net.end[i].session;

		/* Down to Init to Up, or at once: no other changes */
		assert_in_range(net.end[i].changes, 1, 2);
		assert_int_equal(10000, bfd_transmit_us(s));
		assert_int_equal(30000, bfd_detect_us(s));
		assert_false(s->polling);
		assert_in_range(s->stats.polls, 1, 2);
		assert_in_range(net.end[i].last.at - began, 0, 2000 * MS);
		assert_int_equal(net.end[!i].session->local_discr, s->remote_discr);
		assert_int_equal(1, s->stats.ups);
		assert_int_equal(BFD_DIAG_NONE, s->diag);
	}
	/* slow before, as fast as configured after */
	bfd_net_reset_gaps(0);
	bfd_net_run_for(1000 * MS);
	assert_in_range(net.end[0].gap_min, 7500000, 8000000);
	assert_in_range(net.end[0].gap_max, 9500000, 10000000);
}

/* While a session is down it sends not more than a packet in 750 ms. */
static void test_slow_start(void **state)
{
	(void)state;
	bfd_net_start(0, &bfd_net_usual);
	bfd_net_run_for(20000 * MS);
	assert_in_range(net.end[0].session->stats.sent, 20, 27);
	assert_in_range(net.end[0].gap_min, 750 * MS, 800 * MS);
	assert_int_equal(BFD_SLOW_US, net.end[0].sent.desired_tx_us);
}

/* Section 6.8.2: each direction at the slower of what the sender wants and the receiver bears. */
static void test_negotiation(void **state)
{
	const struct bfd_config a = {.tx_us = 20000, .rx_us = 50000, .multiplier = 4};
	const struct bfd_config b = {.tx_us = 10000, .rx_us = 5000, .multiplier = 2};

	(void)state;
	bfd_net_bring_up(&a, &b);
	assert_int_equal(20000, bfd_transmit_us(net.end[0].session));
	assert_int_equal(50000, bfd_transmit_us(net.end[1].session));
	assert_int_equal(2 * 50000, bfd_detect_us(net.end[0].session));
	assert_int_equal(4 * 20000, bfd_detect_us(net.end[1].session));
}

/* 3 x 3.3 ms, and a multiplier of 1, whose jitter leaves a tenth of the interval (6.8.7). */
static void test_fast(void **state)
{
	const struct bfd_config fast = {.tx_us = 3300, .rx_us = 3300, .multiplier = 3};
	const struct bfd_config one = {.tx_us = 10000, .rx_us = 10000, .multiplier = 1};

	bfd_net_bring_up(&fast, &fast);
	net.end[0].cut = true;
	bfd_net_run_for(11 * MS);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(1));
	assert_true(net.end[1].last.at - net.end[1].last.heard_ns == 9900000);
	bfd_net_tear_down(state);
	bfd_net_set_up(state);
	bfd_net_bring_up(&one, &one);
	bfd_net_reset_gaps(0);
	bfd_net_run_for(5000 * MS);
	assert_in_range(net.end[0].gap_max, 8900000, 9000000);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	assert_int_equal(BFD_UP, bfd_net_state_of(1));
}

/* One direction fails: the end that hears nothing notices in a detection time, and tells the other. */
static void test_one_direction(void **state)
{
	uint64_t cut;

	(void)state;
	bfd_net_bring_up(&bfd_net_usual, &bfd_net_usual);
	cut = net.now;
	net.end[0].cut = true;
	bfd_net_run_for(60 * MS);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(1));
	assert_int_equal(BFD_DIAG_EXPIRED, net.end[1].last.diag);
	assert_in_range(net.end[1].last.at - cut, 20 * MS, 30 * MS + 50000);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_int_equal(BFD_DIAG_NEIGHBOR, net.end[0].last.diag);
	assert_int_equal(BFD_DIAG_EXPIRED, net.end[0].last.remote_diag);
	assert_in_range(net.end[0].last.at - net.end[1].last.at, 50000, 50000);
	net.end[0].cut = false;
	bfd_net_run_for(4000 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	assert_int_equal(BFD_UP, bfd_net_state_of(1));
	assert_int_equal(BFD_DIAG_NONE, net.end[0].session->diag);
}

/* Lost, doubled and overtaken packets do not end a session while fewer than three in a row are lost. */
static void test_bad_link(void **state)
{
	struct bfd_config patient = bfd_net_usual;

	(void)state;
	patient.multiplier = 12;
	for (unsigned int i = 0; i < 2; i++) {
		net.end[i].drop = 200;
		net.end[i].doubled = 300;
		net.end[i].spread = 15 * MS;
	}
	bfd_net_start(0, &patient);
	bfd_net_start(1, &patient);
	bfd_net_run_for(20000 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	net.end[0].changes = net.end[1].changes = 0;
	bfd_net_run_for(60000 * MS);
	assert_int_equal(0, net.end[0].changes + net.end[1].changes);
	assert_true(net.end[0].lost > 1000);
}

/* A longer transmit interval and a shorter detection time wait for the Final bit (6.8.3); a lost Poll is repeated. */
static void test_change_while_up(void **state)
{
	struct bfd_config slower = bfd_net_usual, faster = bfd_net_usual;
	struct bfd_session *a = NULL, *b = NULL;

	(void)state;
	bfd_net_bring_up(&bfd_net_usual, &bfd_net_usual);
	a = net.end[0].session;
	b = net.end[1].session;
	slower.tx_us = 40000;
	net.end[1].cut = true; /* no Final arrives */
	bfd_set(net.end[0].table, net.now, a, &slower);
	bfd_net_run_for(15 * MS);
	assert_true(a->polling);
	assert_int_equal(10000, bfd_transmit_us(a));
	net.end[1].cut = false;
	bfd_net_run_for(100 * MS);
	assert_false(a->polling);
	assert_int_equal(40000, bfd_transmit_us(a));
	assert_int_equal(120000, bfd_detect_us(b));
	faster.tx_us = faster.rx_us = 3300;
	bfd_set(net.end[1].table, net.now, b, &faster);
	/* twice before the first is confirmed: a second Poll Sequence follows */
	faster.rx_us = 5000;
	bfd_set(net.end[1].table, net.now, b, &faster);
	assert_true(b->poll_again);
	assert_int_equal(10000, b->rx_in_use);
	bfd_net_run_for(200 * MS);
	assert_false(b->polling);
	assert_int_equal(5000, b->rx_in_use);
	assert_int_equal(10000, bfd_transmit_us(b));
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	assert_int_equal(BFD_UP, bfd_net_state_of(1));
	assert_int_equal(1, a->stats.ups);
}

/* AdminDown is said, obeyed and ended; a session that is removed says it for a while, or comes back. */
static void test_admin_down(void **state)
{
	struct bfd_config off = bfd_net_usual;

	(void)state;
	bfd_net_bring_up(&bfd_net_usual, &bfd_net_usual);
	off.shutdown = true;
	bfd_set(net.end[0].table, net.now, net.end[0].session, &off);
	bfd_net_run_for(1 * MS);
	assert_int_equal(BFD_ADMIN_DOWN, bfd_net_state_of(0));
	assert_int_equal(BFD_DOWN, bfd_net_state_of(1));
	assert_int_equal(BFD_DIAG_NEIGHBOR, net.end[1].last.diag);
	assert_int_equal(BFD_DIAG_ADMIN, net.end[1].last.remote_diag);
	assert_int_equal(BFD_ADMIN_DOWN, net.end[1].last.remote_state);
	bfd_net_run_for(10000 * MS);
	assert_int_equal(0, net.end[1].admin_downs); /* it was the cause of the change */
	assert_int_equal(BFD_ADMIN_DOWN, bfd_net_state_of(0));
	assert_int_equal(BFD_DOWN, bfd_net_state_of(1));
	bfd_set(net.end[0].table, net.now, net.end[0].session, &bfd_net_usual);
	bfd_net_run_for(4000 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));

	bfd_remove(net.end[0].table, net.now, net.end[0].session);
	bfd_net_run_for(500 * MS);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(1));
	assert_int_equal(1, net.end[0].table->stats.sessions);
	bfd_net_start(0, &bfd_net_usual); /* back before it is gone */
	bfd_net_run_for(4000 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	bfd_remove(net.end[0].table, net.now, net.end[0].session);
	bfd_net_run_for(4000 * MS);
	assert_int_equal(0, net.end[0].table->stats.sessions);
	assert_int_equal(0, net.end[0].table->stats.up);
	assert_int_equal(TIME_NEVER, timers_next(&net.end[0].table->wheel));
}

/* --- own gaps --- */

/* The node is not run for a while: its neighbour, which goes on, is not declared down. */
static void test_own_gap(void **state)
{
	struct bfd_session *a;

	(void)state;
	bfd_net_bring_up(&bfd_net_usual, &bfd_net_usual);
	a = net.end[0].session;
	/* what arrives meanwhile is lost, which is the worst case */
	net.end[0].stopped = true;
	net.end[1].stopped = true;
	bfd_net_run_for(25 * MS);
	net.end[1].stopped = false;
	bfd_net_run_for(2 * MS);
	net.end[0].stopped = false;
	bfd_net_run_for(1000 * MS);
	assert_int_equal(0, a->stats.downs);
	assert_in_range(net.end[0].table->stats.gaps, 1, 2);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	/* without a gap, as always */
	net.end[1].cut = true;
	bfd_net_run_for(31 * MS);
	assert_int_equal(1, a->stats.downs);
}

/* A node that is late all the time finds out all the same: in twice the detection time, and one late pass. */
static void test_always_late(void **state)
{
	uint64_t cut, next;

	(void)state;
	bfd_net_bring_up(&bfd_net_usual, &bfd_net_usual);
	cut = net.now;
	net.end[1].stopped = true;
	while (bfd_net_state_of(0) == BFD_UP && net.now < cut + 1000 * MS) {
		net.now += 20 * MS;
		bfd_poll(net.end[0].table, net.now, 32, &next);
	}
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_in_range(net.now - cut, 30 * MS, 80 * MS);
}

/* A long gap, in which the neighbour dies: down after one more detection time, not later. */
static void test_gap_and_dead(void **state)
{
	uint64_t back;

	(void)state;
	bfd_net_bring_up(&bfd_net_usual, &bfd_net_usual);
	net.end[0].stopped = net.end[1].stopped = true;
	bfd_net_run_for(200 * MS);
	net.end[0].stopped = false;
	back = net.now;
	bfd_net_run_for(29 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	assert_int_equal(1, net.end[0].session->stats.own_gaps);
	bfd_net_run_for(2 * MS);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_int_equal(back + 30 * MS, net.end[0].last.at);
}

/* --- echo --- */

static void test_echo(void **state)
{
	struct bfd_config a = bfd_net_usual, b = bfd_net_usual;

	(void)state;
	a.echo_us = 5000;
	b.echo_rx_us = 4000;
	bfd_net_bring_up(&a, &b);
	assert_true(net.end[0].session->echoing);
	assert_false(net.end[1].session->echoing);
	assert_in_range(net.end[0].session->stats.echo_received, 500, 1000);
	assert_int_equal(50000, net.end[0].session->stats.echo_rtt_ns);
	/* control packets towards the end that watches by echo are slow now */
	assert_int_equal(1000000, bfd_transmit_us(net.end[1].session));
	/* the forwarding plane of the neighbour fails, its BFD does not */
	net.end[0].cut_echo = true;
	bfd_net_run_for(16 * MS);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_int_equal(BFD_DIAG_ECHO_FAILED, net.end[0].last.diag);
	assert_int_not_equal(BFD_UP, bfd_net_state_of(1));
	assert_int_equal(BFD_DIAG_ECHO_FAILED, net.end[1].session->remote_diag);
	/* not up and down all the time while only control packets pass */
	net.end[0].changes = 0;
	bfd_net_run_for(10000 * MS);
	assert_in_range(net.end[0].changes, 2, 30);
	net.end[0].cut_echo = false;
	bfd_net_run_for(5000 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	/* the neighbour bears no echo packets any more */
	b.echo_rx_us = 0;
	bfd_set(net.end[1].table, net.now, net.end[1].session, &b);
	bfd_net_run_for(3000 * MS);
	assert_false(net.end[0].session->echoing);
	assert_int_equal(10000, bfd_transmit_us(net.end[1].session));
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
}

static void test_echo_refused(void **state)
{
	struct bfd_config a = bfd_net_usual, b = bfd_net_usual;
	struct bfd_received how = bfd_net_as_usual();
	struct bfd_session *s;
	struct bfd_echo e;
	uint8_t answer[BFD_MESSAGE_MAX];
	size_t bytes;

	(void)state;
	a.echo_us = b.echo_rx_us = 5000;
	bfd_net_bring_up(&a, &b);
	s = net.end[0].session;
	how.port = BFD_PORT_ECHO;
	how.hop_limit = 254;
	how.data = &e;
	how.size = sizeof(e);
	for (unsigned int i = 0; i < 7; i++) {
		e = (struct bfd_echo){.discr = be32(s->local_discr + (i == 1)),
			.sequence = be32(s->echo_sequence + (i == 2 ? 1 : 0) - (i == 3 ? 16 : 0)),
			.cookie = be64(s->echo_cookie ^ (i == 4)),
			.sent = be64(net.now - 1)};
		how.size = sizeof(e) - (i == 5);
		how.hop_limit = i == 6 ? 253 : 254;
		check(bfd_receive(net.end[0].table, net.now, &how, answer, &bytes) ==
				(i == 0		 ? BFD_ACCEPTED
					: i == 6 ? BFD_REFUSED_hop_limit
						 : BFD_REFUSED_echo),
			"row %u", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BFD_NET_TEST(test_comes_up),
		BFD_NET_TEST(test_slow_start),
		BFD_NET_TEST(test_negotiation),
		BFD_NET_TEST(test_fast),
		BFD_NET_TEST(test_one_direction),
		BFD_NET_TEST(test_bad_link),
		BFD_NET_TEST(test_change_while_up),
		BFD_NET_TEST(test_admin_down),
		BFD_NET_TEST(test_own_gap),
		BFD_NET_TEST(test_always_late),
		BFD_NET_TEST(test_gap_and_dead),
		BFD_NET_TEST(test_echo),
		BFD_NET_TEST(test_echo_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
