/* SPDX-License-Identifier: BSD-3-Clause */
/* Sharing of the pool by demand, and of the buffer of a port, in a whole node (docs/credit.md 2.12 and 2.14: D52, D61). */
#include "test/support/credit_peer.h"

/* A marker of the previous hop: it would use `want` units. */
static void ask_for(struct testbed *t, uint32_t want, uint32_t epoch, uint32_t sequence)
{
	mark(t, epoch, sequence, &(struct rsvp_cbfc_hop){.want = want});
}

/* The 28 by which the previous hop gives its credit back but for `keep` units. */
static void give_back(struct testbed *t, uint32_t keep, uint32_t sequence)
{
	make_init("fd00::2");
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.of_context = true,
		.flags = RSVP_HOP_IDLE | RSVP_HOP_ASK,
		.traffic_class = 3,
		.unit = 11,
		.sequence = sequence,
		.lih = 0x101,
		.want = keep};
	give(t, &in_tunnel);
}

#define SHARED "  share: yes\n  return-after: 30\n"

/* Credit that the previous hop gives back is the pool's again, in a new epoch, and what it asks for it gets (D52). */
static void shares_pool(void **state)
{
	struct testbed *t = committed(SHARED);
	struct rsvp_credit c = {0};
	uint32_t epoch;

	(void)state;
	assert_int_equal(16, value_of(t, "show credit pools -j", "committed"));
	give_back(t, 2, 50);
	assert_true(told_up(t, &c));
	assert_int_equal(2, c.buffer);
	assert_int_equal(2, c.fccl);
	assert_int_equal(0, c.abr);
	assert_int_equal(50, c.echo);
	assert_int_equal(2, value_of(t, "show credit pools -j", "committed"));
	epoch = c.epoch;
	give_back(t, 2, 50); /* a copy opens no other epoch */
	assert_true(told_up(t, &c));
	assert_int_equal(epoch, c.epoch);
	ask_for(t, 9, epoch, 51);
	assert_true(told_up(t, &c));
	assert_int_equal(epoch, c.epoch);
	assert_int_equal(9, c.buffer);
	assert_int_equal(9, c.fccl);
	ask_for(t, 900, epoch, 52);
	assert_true(told_up(t, &c));
	assert_int_equal(16, c.buffer); /* credit.buffer */
	assert_int_equal(16, value_of(t, "show credit pools -j", "committed"));
	ask_for(t, 900, epoch, 53);
	assert_true(told_up(t, &c));
	assert_int_equal(16, c.fccl);
	testbed_free(t);
}

/* What is still buffered here stays reserved when the previous hop gives its credit back. */
static void keeps_backlog_reserved(void **state)
{
	struct testbed *t = committed(SHARED);
	struct rsvp_credit c = {0};

	(void)state;
	update(t, 0, 0, 100);
	data(t, LABEL, 16);
	data(t, LABEL, 5);
	data_passed(t);
	assert_int_equal(5, node_held(t->node));
	give_back(t, 2, 50);
	assert_true(told_up(t, &c));
	assert_int_equal(5, c.buffer);
	assert_int_equal(0, c.fccl);
	assert_int_equal(5, value_of(t, "show credit pools -j", "committed"));
	testbed_free(t);
}

/* Without `share` a session has what it was granted, whatever it wants or gives back. */
static void shares_nothing(void **state)
{
	struct testbed *t = committed("");
	struct rsvp_credit c = {0};

	(void)state;
	give_back(t, 2, 50);
	assert_true(told_up(t, &c));
	assert_int_equal(16, c.buffer);
	ask_for(t, 20, c.epoch, 51);
	assert_true(told_up(t, &c));
	assert_int_equal(16, c.buffer);
	assert_int_equal(16, value_of(t, "show credit pools -j", "committed"));
	testbed_free(t);
}

/* The next message of that kind to the next hop, of all that leaves there; in `got`. */
static bool next_of(struct testbed *t, enum rsvp_kind kind)
{
	static uint8_t bytes[2048];
	struct sent_frame *f;
	bool found = false;

	while (!found && (f = fake_port_take(t->port[1]))) {
		const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(f->bytes + 14);
		size_t front = 14 + (ip->next_header == IP_PROTO_IPV6 ? (size_t)IN_TUNNEL : (size_t)UNICAST);
		bool fence = ip->next_header == IP_PROTO_IPV6 && (ip + 1)->next_header == IP_PROTO_NONE;

		memcpy(bytes, f->bytes, f->size);
		found = !fence && f->size > front &&
			rsvp_read(&rsvp_ext, bytes + front, f->size - front, &got) == RSVP_ACCEPTED && got.kind == kind;
		free(f);
	}
	return found;
}

/* The next hop is heard for a while; true: the node has given credit back meanwhile. */
static bool returns(struct testbed *t, unsigned int ms)
{
	for (unsigned int i = 0; i < ms; i++) {
		if (i % 30 == 0)
			update(t, 17, 1, 100 + i);
		testbed_pass(t, NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
		if (next_of(t, RSVP_INIT) && !got.cbfc_hop[0].epoch)
			return true;
	}
	return false;
}

/* A session that sends nothing gives its credit back, but for two packets; what comes meanwhile waits, and then more is asked for. */
static void idle_returns(void **state)
{
	struct testbed *t = committed(SHARED);
	bool wants = false;
	uint32_t hello;

	(void)state;
	data(t, LABEL, 1);
	assert_int_equal(1, data_passed(t));
	assert_true(returns(t, 60));
	assert_true(got.cbfc_hop[0].of_context);
	assert_int_equal(2, got.cbfc_hop[0].want);
	assert_int_equal(RSVP_HOP_IDLE, got.cbfc_hop[0].flags & RSVP_HOP_IDLE);
	hello = got.cbfc_hop[0].sequence;
	data(t, LABEL, 3);
	assert_int_equal(0, data_passed(t));
	assert_int_equal(3, node_held(t->node));
	make_offer(&init, RSVP_CREDIT_COMMIT);
	m.credit[0].form = RSVP_CREDIT_OF_CONTEXT;
	m.credit[0].lih = init.hop.lih;
	m.credit[0].echo = hello;
	m.credit[0].epoch = 6;
	m.credit[0].fccl = m.credit[0].buffer = 2;
	m.credit[0].heartbeat_us = 50000;
	to_node(t);
	testbed_settle(t, 50);
	assert_int_equal(2, data_passed(t));
	for (unsigned int i = 0; i < 10 && !wants; i++) {
		testbed_pass(t, NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
		while (next_of(t, RSVP_MARKER))
			wants |= got.cbfc_hop[0].want > 2;
	}
	assert_true(wants);
	testbed_pass(t, 15 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(1, value_of(t, "show credit 0x12345 -j", "returned"));
	testbed_check_balance(t);
	testbed_free(t);
}

/* A session whose packets wait gives nothing back, and one that may keep what it has neither. */
static void busy_keeps(void **state)
{
	struct testbed *t = committed(SHARED);

	(void)state;
	data(t, LABEL, 18);
	assert_int_equal(16, data_passed(t));
	assert_false(returns(t, 90) && got.cbfc_hop[0].want);
	testbed_free(t);
	t = committed("  share: yes\n  return-after: never\n");
	data(t, LABEL, 1);
	assert_false(returns(t, 90));
	testbed_free(t);
}

/* A gateway with a data centre behind d0, whose class 3 has 20 KiB until XOFF, and a session that has four units. */
static struct testbed *edge(const char *keys)
{
	static const char before[] = "side: dc, ";
	char yaml[8192], text[8192];
	struct testbed *t;
	const char *at;

	snprintf(yaml, sizeof(yaml),
		NODE "vrfs: [{name: v, routes: [{prefix: \"2001:db8:2::/64\", policy: far}]}]\n"
		     "buffer-profiles: [{name: b, xoff: 20K, xon: 8K, headroom: 40K, forced: true, min-frame: "
		     "100}]\n" CREDIT(GATED SESSION("s")) "%s",
		keys);
	at = strstr(yaml, before) + strlen(before);
	snprintf(text, sizeof(text),
		"%.*svrf: v, mtu: 1500, speed: 10G, pfc: {priorities: [3], peers: [\"02:00:00:00:c0:03\"], buffer: b}, "
		"%s",
		(int)(at - yaml), yaml, at);
	t = start(text);
	testbed_pass(t, 5 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_true(next_of(t, RSVP_INIT));
	init = got;
	make_offer(&init, RSVP_CREDIT_COMMIT);
	m.credit[0].heartbeat_us = 50000;
	m.credit[0].fccl = m.credit[0].buffer = 4;
	to_node(t);
	data_passed(t);
	return t;
}

static void from_server(struct testbed *t, unsigned int n)
{
	uint8_t frame[14 + DATA] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *in = (struct ipv6_hdr *)(eth + 1);

	eth->dst = t->port[2]->port.mac;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0xc0, 3}};
	eth->type = be16(ETH_TYPE_IPV6);
	*in = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(3 << 5 | 1, 0),
		.payload_length = be16(DATA - 40),
		.next_header = IP_PROTO_UDP,
		.hop_limit = 64,
		.src = address("2001:db8:1::11").v6,
		.dst = address("2001:db8:2::22").v6};
	for (unsigned int i = 0; i < n; i++) {
		fake_port_receive(t->port[2], 0, frame, sizeof(frame), 0);
		testbed_settle(t, 10);
	}
}

/*
 * Packets of 1,014 bytes that wait: the 11th is the first beyond what is free of 20 KiB, and is marked CE; the 15th is beyond
 * twice that, and dropped (D61).
 */
static void share_of_a_port(void **state)
{
	static const struct {
		const char *keys;
		unsigned int held, dropped, marked;
	} row[] = {{"  overrun: drop\n", 14, 16, 4}, {"", 30, 0, 20}, {"  overrun: drop\n  alpha: 0\n", 30, 0, 0},
		{"  overrun: drop\n  alpha: 2\n", 16, 14, 2}};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(row); i++) {
		struct testbed *t = edge(row[i].keys);

		from_server(t, 34);
		assert_int_equal(4, data_passed(t));
		assert_int_equal(row[i].held, node_held(t->node));
		assert_int_equal(row[i].dropped, testbed_reason(t, 2, DROP_session_overrun));
		testbed_pass(t, 15 * NSEC_PER_MSEC, NSEC_PER_MSEC);
		assert_int_equal(row[i].marked, value_of(t, "show credit s -j", "marked"));
		assert_int_equal(row[i].dropped, value_of(t, "show credit s -j", "overrun"));
		update(t, 44, 4, 100);
		assert_int_equal(row[i].held, data_passed(t));
		from_server(t, 1); /* and there is room again */
		assert_int_equal(1, data_passed(t));
		testbed_check_balance(t);
		testbed_free(t);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(shares_pool),
		cmocka_unit_test(keeps_backlog_reserved), cmocka_unit_test(shares_nothing),
		cmocka_unit_test(idle_returns), cmocka_unit_test(busy_keeps), cmocka_unit_test(share_of_a_port)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
