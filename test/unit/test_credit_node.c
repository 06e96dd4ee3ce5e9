/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credit of data in a whole node whose neighbours are the test (docs/credit.md 2.5, 2.6, 2.10): what passes the gate and what
 * waits, what is counted and told to the previous hop, fences, silence, and the end of a session.
 */
#include "test/support/credit_peer.h"

/* As many units as there is credit for pass; the others wait, and leave when more comes. */
static void gate(void **state)
{
	struct testbed *t = committed("");

	(void)state;
	data(t, LABEL, 10);
	assert_int_equal(10, data_passed(t));
	data(t, LABEL, 10);
	assert_int_equal(6, data_passed(t));
	assert_int_equal(4, node_held(t->node));
	update(t, 19, 3, 100);
	assert_int_equal(3, data_passed(t));
	update(t, 19, 3, 100); /* a copy */
	update(t, 30, 3, 99);  /* overtaken by a newer one */
	assert_int_equal(0, data_passed(t));
	update(t, 40, 20, 101);
	assert_int_equal(1, data_passed(t));
	testbed_check_balance(t);
	testbed_free(t);
}

/* What arrived and what ended is told to the previous hop: what waits here has not ended. */
static void told_to_previous(void **state)
{
	struct testbed *t = committed("");
	struct rsvp_credit c = {0};

	(void)state;
	data(t, LABEL, 20);
	assert_int_equal(16, data_passed(t));
	testbed_pass(t, 5 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_true(told_up(t, &c));
	assert_int_equal(20, c.abr);
	assert_int_equal(32, c.fccl); /* 16 freed, and the buffer */
	update(t, 32, 16, 100);
	testbed_pass(t, 5 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_true(told_up(t, &c));
	assert_int_equal(36, c.fccl);
	testbed_free(t);
}

/* A packet that is dropped here has ended: it does not keep its units (D47). */
static void drops_are_freed(void **state)
{
	struct testbed *t = committed("");
	struct rsvp_credit c = {0};

	(void)state;
	t->port[1]->tx_allowed = 0;
	data(t, LABEL, 16);
	testbed_pass(t, 5 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_true(told_up(t, &c));
	assert_int_equal(16, c.fccl); /* the device has taken nothing */
	assert_int_equal(16, c.abr);
	t->port[1]->tx_allowed = UINT64_MAX;
	testbed_pass(t, 5 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_true(told_up(t, &c));
	assert_int_equal(32, c.fccl);
	assert_int_equal(16, data_passed(t));
	testbed_free(t);
}

/* A neighbour that falls silent takes its credit with it. What waits too long ends by name, and does not stay for ever. */
static void silence(void **state)
{
	struct testbed *t = committed("");
	struct rsvp_credit c = {0};

	(void)state;
	data(t, LABEL, 4);
	assert_int_equal(4, data_passed(t));
	testbed_pass(t, 160 * NSEC_PER_MSEC, NSEC_PER_MSEC); /* 3 T_hb */
	data(t, LABEL, 3);
	assert_int_equal(0, data_passed(t));
	assert_int_equal(3, node_held(t->node));
	testbed_pass(t, 150 * NSEC_PER_MSEC, NSEC_PER_MSEC); /* wait */
	assert_int_equal(0, node_held(t->node));
	assert_int_equal(3, testbed_reason(t, 0, DROP_credit_ended));
	assert_true(told_up(t, &c));
	assert_int_equal(4 + 3 + 16, c.fccl); /* an end of any kind frees (D47) */
	testbed_check_balance(t);
	testbed_free(t);
}

/* Units that a user has not seen arrive bring a fence into the stream, without credit, and a statement about it. */
static void fence_sent(void **state)
{
	struct testbed *t = committed("");
	unsigned int fences = 0, n = 0, more;

	(void)state;
	data(t, LABEL, 20);
	for (unsigned int i = 0; i < 60 && !fences; i++) {
		testbed_pass(t, NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
		n += passed(t, &more);
		fences += more;
	}
	assert_int_equal(16, n);
	assert_int_equal(1, fences);
	assert_int_equal(4, node_held(t->node));
	testbed_free(t);
}

/* A port that takes nothing holds one fence of a session, not one for each loop. */
static void fences_do_not_pile_up(void **state)
{
	struct testbed *t = committed("");
	unsigned int fences;

	(void)state;
	data(t, LABEL, 6);
	assert_int_equal(6, data_passed(t));
	t->port[1]->tx_allowed = 0;
	for (unsigned int i = 0; i < 10; i++) {
		update(t, 16, 3, 100 + i);
		testbed_pass(t, 40 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	}
	t->port[1]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 50);
	passed(t, &fences);
	assert_int_equal(1, fences);
	testbed_pass(t, 40 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	passed(t, &fences);
	assert_int_not_equal(0, fences);
	testbed_check_balance(t);
	testbed_free(t);
}

/* A fence of the previous hop is consumed. With its statement, what is missing counts as lost, and the window is whole again. */
static void fence_heals(void **state)
{
	struct testbed *t = committed("");
	struct rsvp_credit c = {0};

	(void)state;
	data(t, LABEL, 6);
	testbed_pass(t, 5 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_true(told_up(t, &c));
	assert_int_equal(6, c.abr);
	fence(t, 0, "fd00::1", 0xf1, c.epoch, 0x101);
	assert_int_equal(1, testbed_reason(t, 0, CONSUME_credit));
	data_passed(t);
	mark(t, c.epoch, 9, &(struct rsvp_cbfc_hop){.fctbs = 8, .fence = 0xf1}); /* two were lost */
	assert_true(told_up(t, &c));
	assert_int_equal(8, c.abr);
	assert_int_equal(24, c.fccl); /* 6 freed, 2 lost, 16 */
	assert_int_equal(9, c.echo);
	testbed_free(t);
}

/* The label of a session that has ended is dropped by name; a label that was never one is data as any other (D51). */
static void without_session(void **state)
{
	struct testbed *t = committed("");

	(void)state;
	data(t, LABEL + 1, 5);
	assert_int_equal(5, data_passed(t));
	rsvp_clear(&m, RSVP_END);
	m.send_ttl = 254;
	m.session = init.session;
	m.hop = (struct rsvp_hop){.addr = address("fd00::1"), .lih = 0x101};
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.flags = RSVP_HOP_FINAL, .traffic_class = 3, .unit = 11, .sequence = 5};
	m.sender = (struct rsvp_sender){.src = address("fd00:1::5"), .labelled = true, .port = LABEL};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TEMPLATE] = m.count[RSVP_O_CBFC_HOP] = 1;
	give(t, &in_tunnel);
	testbed_pass(t, 20 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	data_passed(t);
	data(t, LABEL, 5);
	assert_int_equal(0, data_passed(t));
	assert_int_equal(5, testbed_reason(t, 0, DROP_credit_no_session));
	testbed_free(t);
}

/* Data of sessions that this node does not know, as after its restart, is not sent on without credit (D51). */
static void unknown_session(void **state)
{
	struct testbed *t = committed("  data-of: [{sources: \"fd00:1::/64\"}]\n");

	(void)state;
	data(t, LABEL + 1, 5);
	assert_int_equal(0, data_passed(t));
	assert_int_equal(5, testbed_reason(t, 0, DROP_credit_no_session));
	data(t, LABEL, 5);
	assert_int_equal(5, data_passed(t));
	data(t, 0, 5); /* it has no label, so it is of no session */
	assert_int_equal(5, data_passed(t));
	testbed_check_balance(t);
	testbed_free(t);
	t = committed("  data-of: [{sources: \"fd00:1::/64\", class: 4}]\n");
	data(t, LABEL + 1, 5);
	assert_int_equal(5, data_passed(t));
	testbed_free(t);
	t = committed("  data-of: [{sources: \"fd00:2::/64\"}]\n");
	data(t, LABEL + 1, 5);
	assert_int_equal(5, data_passed(t));
	testbed_free(t);
}

/* A neighbour that sends no updates is not waited for. */
static void without_updates(void **state)
{
	struct testbed *t;

	(void)state;
	t = start(NODE CREDIT(GATED));
	make_init("fd00::2");
	give(t, &in_tunnel);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	init = got;
	make_offer(&init, RSVP_CREDIT_COMMIT);
	to_node(t);
	data_passed(t);
	data(t, LABEL, 40);
	assert_int_equal(40, data_passed(t));
	testbed_free(t);
}

/* The same node, whose port d0 is in VRF v. */
static const char *tenants(const char *yaml)
{
	static const char before[] = "side: dc, ";
	static char text[8192];
	const char *at = strstr(yaml, before) + strlen(before);

	snprintf(text, sizeof(text), "%.*svrf: v, %s", (int)(at - yaml), yaml, at);
	return text;
}

/* The headend waits for credit, and labels its data; before the session has credit, and long after, it goes without. */
static void headend(void **state)
{
	uint8_t frame[14 + DATA] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *in = (struct ipv6_hdr *)(eth + 1);
	struct testbed *t;
	struct sent_frame *f;

	(void)state;
	t = start(tenants(NODE "vrfs: [{name: v, routes: [{prefix: \"2001:db8:2::/64\", policy: far}]}]\n" CREDIT(
		GATED SESSION("s"))));
	testbed_pass(t, 5 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	init = got;
	make_offer(&init, RSVP_CREDIT_COMMIT);
	m.credit[0].heartbeat_us = 50000;
	m.credit[0].fccl = m.credit[0].buffer = 4;
	to_node(t);
	data_passed(t);
	eth->dst = t->port[2]->port.mac;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0xc0, 3}};
	eth->type = be16(ETH_TYPE_IPV6);
	*in = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(3 << 5, 0),
		.payload_length = be16(DATA - 40),
		.next_header = IP_PROTO_UDP,
		.hop_limit = 64,
		.src = address("2001:db8:1::11").v6,
		.dst = address("2001:db8:2::22").v6};
	for (unsigned int i = 0; i < 6; i++)
		fake_port_receive(t->port[2], 0, frame, sizeof(frame), 0);
	testbed_settle(t, 50);
	f = fake_port_take(t->port[1]);
	assert_non_null(f);
	assert_int_equal(init.sender.port, ipv6_flow_label((const struct ipv6_hdr *)(f->bytes + 14)));
	free(f);
	assert_int_equal(3, data_passed(t));
	assert_int_equal(2, node_held(t->node));
	testbed_pass(t, 160 * NSEC_PER_MSEC, NSEC_PER_MSEC); /* the next hop is silent */
	assert_int_equal(2, node_held(t->node));
	testbed_pass(t, 150 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(2, data_passed(t));
	assert_int_equal(0, node_held(t->node));
	testbed_free(t);
}

/* A neighbour that is heard again in time gets what waited: a new epoch, after the quarantine. */
static void comes_back(void **state)
{
	struct testbed *t = committed("");
	uint32_t hello;

	(void)state;
	data(t, LABEL, 18);
	assert_int_equal(16, data_passed(t));
	make_update(16, 1)->epoch = 77;
	to_node(t);
	for (unsigned int i = 0; i < 40; i++) { /* idle */
		testbed_pass(t, NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
		if (next_sent(t, 1, IN_TUNNEL) && got.kind == RSVP_INIT && !got.cbfc_hop[0].epoch)
			break;
	}
	assert_int_equal(RSVP_INIT, got.kind);
	assert_int_equal(0, got.cbfc_hop[0].epoch);
	assert_int_equal(2, node_held(t->node));
	hello = got.cbfc_hop[0].sequence;
	make_offer(&init, RSVP_CREDIT_COMMIT);
	m.credit[0].form = RSVP_CREDIT_OF_CONTEXT;
	m.credit[0].lih = init.hop.lih;
	m.credit[0].echo = hello;
	m.credit[0].epoch = 78;
	m.credit[0].fccl = 16;
	m.credit[0].abr = 0;
	m.credit[0].heartbeat_us = 50000;
	to_node(t);
	testbed_settle(t, 50);
	assert_int_equal(2, data_passed(t));
	data(t, LABEL, 20);
	assert_int_equal(14, data_passed(t)); /* of the new epoch's 16 */
	testbed_free(t);
}

/* A node that stops drops what waits, and misses nothing. */
static void stops(void **state)
{
	struct testbed *t = committed("");

	(void)state;
	data(t, LABEL, 30);
	assert_int_equal(14, node_held(t->node));
	testbed_free(t);
}

/* What users see: the window, what of it is in use, what waits and why, and what the previous hop has. */
static void shown(void **state)
{
	struct testbed *t = committed("");
	char line[64];

	(void)state;
	snprintf(line, sizeof(line), "show credit 0x%05x", LABEL);
	check_shown(t, line, "sends");
	data(t, LABEL, 20);
	data_passed(t);
	testbed_pass(t, 15 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	check_shown(t, "show credit", "waits for credit");
	assert_int_equal(16, value_of(t, "show credit -j", "granted"));
	assert_int_equal(16, value_of(t, "show credit -j", "used"));
	assert_int_equal(16, value_of(t, "show credit -j", "in_flight"));
	assert_int_equal(4, value_of(t, "show credit -j", "queued"));
	assert_int_equal(16, value_of(t, "show credit -j", "given"));
	assert_int_equal(4, value_of(t, "show credit -j", "buffered"));
	check_metrics(t, "sluice_credit_queued_packets{node=\"t\"} 4\n");
	update(t, 19, 13, 100);
	testbed_pass(t, 15 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_int_equal(1, value_of(t, "show credit -j", "queued"));
	assert_int_equal(6, value_of(t, "show credit -j", "in_flight"));
	check_shown(t, "show credit pools", "node");
	assert_int_equal(64, value_of(t, "show credit pools -j", "units"));
	assert_int_equal(16, value_of(t, "show credit pools -j", "committed"));
	assert_int_equal(1, value_of(t, "show credit pools -j", "buffered"));
	testbed_free(t);
}

/* The next hop has all markers that were sent to it. */
static void hear_markers(struct testbed *t)
{
	static struct rsvp_message marker;
	struct sent_frame *f;

	while ((f = fake_port_take(t->port[1]))) {
		const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(f->bytes + 14);

		if (ip->next_header == RSVP_PROTOCOL &&
			rsvp_read(&rsvp_ext, f->bytes + 54, f->size - 54, &marker) == RSVP_ACCEPTED &&
			marker.kind == RSVP_MARKER)
			echo = marker.cbfc_hop[0].sequence;
		free(f);
	}
}

/* The next hop is heard, and says no more than before. */
static void heartbeats(struct testbed *t, uint64_t fccl, uint64_t abr, unsigned int n)
{
	static uint32_t sequence = 1000;

	for (unsigned int i = 0; i < n; i++) {
		hear_markers(t);
		update(t, fccl, abr, sequence++);
		testbed_pass(t, 40 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	}
}

/* A session that stands still is an alarm after a second, and its end is told as well. */
static void stall_is_told(void **state)
{
	struct testbed *t = committed("");

	(void)state;
	data(t, LABEL, 20);
	heartbeats(t, 16, 16, 20);
	listen_to(t);
	assert_null(strstr(told, "gives no credit"));
	heartbeats(t, 16, 16, 10);
	check_told(t, "session of fd00:1::5, label 0x12345: packets wait, and fd00::2 gives no credit");
	check_shown(t, "show credit", "no credit comes");
	check_metrics(t, "sluice_credit_stalled{node=\"t\"} 1\n");
	assert_in_range(value_of(t, "show credit -j", "stalled_ms"), 900, 1300);
	heartbeats(t, 32, 20, 1);
	check_told(t, "fd00::2 gives credit again");
	check_metrics(t, "sluice_credit_stalled{node=\"t\"} 0\n");
	testbed_free(t);
}

/* Units that do not come back although fences were answered are an alarm. */
static void leak_is_told(void **state)
{
	struct testbed *t = committed("");

	(void)state;
	data(t, LABEL, 10);
	heartbeats(t, 20, 10, 5);
	assert_int_equal(0, value_of(t, "show credit -j", "leaked"));
	data(t, LABEL, 6);
	heartbeats(t, 20, 13, 35);
	assert_int_equal(3, value_of(t, "show credit -j", "leaked"));
	check_told(t, "3 units lost on the way to fd00::2 are not given back");
	heartbeats(t, 32, 16, 2);
	assert_int_equal(0, value_of(t, "show credit -j", "leaked"));
	check_told(t, "the units lost on the way to fd00::2 are given back");
	testbed_free(t);
}

/* A neighbour that grants more than it said is counted and named, once. */
static void promise_is_told(void **state)
{
	struct testbed *t = committed("");

	(void)state;
	update(t, 40, 0, 100);
	check_told(t, "neighbor fd00::2: it grants more than it has announced");
	update(t, 41, 0, 101);
	listen_to(t);
	assert_null(strstr(told, "grants more"));
	testbed_pass(t, 15 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(2, value_of(t, "show credit 0x12345 -j", "beyond"));
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(gate), cmocka_unit_test(told_to_previous),
		cmocka_unit_test(drops_are_freed), cmocka_unit_test(silence), cmocka_unit_test(fence_sent),
		cmocka_unit_test(fences_do_not_pile_up), cmocka_unit_test(fence_heals),
		cmocka_unit_test(without_session), cmocka_unit_test(unknown_session), cmocka_unit_test(without_updates),
		cmocka_unit_test(headend), cmocka_unit_test(comes_back), cmocka_unit_test(stops),
		cmocka_unit_test(shown), cmocka_unit_test(stall_is_told), cmocka_unit_test(leak_is_told),
		cmocka_unit_test(promise_is_told)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
