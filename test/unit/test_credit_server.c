/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of servers that speak RSVP natively, at a gateway whose neighbours are the test (docs/credit.md 2.3, 2.5): what a server
 * sends occupies the credit that the gateway gives to it, and what a server receives waits for its credit.
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/rsvp_packets.h"
#include "test/support/shown.h"
#include "wire/udp.h"

/* Servers of the tenant red on d0 and d1. fd00::2 is behind p1; its sources are fd00:9::/64. */
#define SERVERS \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"vrfs: [{name: red, routes: [{prefix: \"2001:db8:3::/48\", policy: far}]}]\n" \
		"ports:\n" \
		"  - {name: p1, device: net_null1, side: wan, speed: 40G, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"  - {name: d0, device: net_null2, side: dc, vrf: red, addresses: [\"2001:db8:c::2/64\"]}\n" \
		"  - {name: d1, device: net_null3, side: dc, vrf: red, addresses: [\"2001:db8:e::2/64\"]}\n" \
		"neighbors:\n" \
		"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
		"  - {port: d0, address: \"2001:db8:c::9\", mac: \"02:00:00:00:c0:09\"}\n" \
		"  - {port: d1, address: \"2001:db8:e::9\", mac: \"02:00:00:00:e0:09\"}\n" \
		"routes:\n" \
		"  - {prefix: \"fd00::2/128\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
		"  - {prefix: \"5f00:0:200::/48\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
		"sids: [{sid: \"5f00:0:e103::/48\", behavior: uDT46, vrf: red}]\n" \
		"policies: [{name: far, source: \"fd00:1::9\", paths: [{name: only, segments: " \
		"[\"5f00:0:200::\"]}]}]\n" \
		"credit:\n  mode: ext\n  integrity: off\n  pool: 64\n  buffer: 16\n  paths: 64\n" \
		"  idle: 20\n  lease: 200\n  wait: 100\n" \
		"  neighbors:\n" \
		"    - {address: \"fd00::2\"}\n" \
		"    - {address: \"2001:db8:c::9\", port: d0, buffer: 4}\n" \
		"    - {address: \"2001:db8:e::9\", port: d1}\n"
#define OUTER "  sessions: [{name: a, policy: far, to: \"fd00::2\", class: 3}]\n"
#define TO_SERVER "  sessions: [{name: b, port: d0, to: \"2001:db8:c::9\", class: 3}]\n"

enum { P1, D0, D1 };

#define SOURCE_PORT 50000
#define BYTES 1000 /* of a packet of data: one unit */
#define EPOCH 5

static struct rsvp_message init;
static const struct sending from_outer = {P1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP};

/* A RoCEv2 packet of class 3 from one server to another, from its IP header on. */
static void put_data(uint8_t *at, const char *from, const char *to, uint16_t port)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)at;
	struct udp_hdr *udp = (struct udp_hdr *)(ip + 1);

	memset(at, 0, BYTES);
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(3 << 5, 0),
		.payload_length = be16(BYTES - sizeof(*ip)),
		.next_header = IP_PROTO_UDP,
		.hop_limit = 64,
		.src = address(from).v6,
		.dst = address(to).v6};
	*udp = (struct udp_hdr){.src_port = be16(port),
		.dst_port = be16(UDP_PORT_ROCEV2),
		.length = be16(BYTES - sizeof(*ip))};
}

static void put_eth(struct testbed *t, unsigned int port, uint8_t *frame)
{
	struct eth_hdr *eth = (struct eth_hdr *)frame;

	eth->dst = t->port[port]->port.mac;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0xc0, 9}};
	eth->type = be16(ETH_TYPE_IPV6);
}

/* Packets of the server on d0. */
static void sends_data(struct testbed *t, const char *to, uint16_t port, unsigned int n)
{
	uint8_t frame[14 + BYTES];

	put_eth(t, D0, frame);
	put_data(frame + 14, "2001:db8:c::9", to, port);
	for (unsigned int i = 0; i < n; i++)
		fake_port_receive(t->port[D0], 0, frame, sizeof(frame), 0);
	testbed_settle(t, 50);
}

/* Packets for the server on d0, from across the domain. */
static void comes_across(struct testbed *t, uint32_t label, unsigned int n)
{
	uint8_t frame[14 + 40 + BYTES];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + 14);

	put_eth(t, P1, frame);
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(3 << 5, label),
		.payload_length = be16(BYTES),
		.next_header = IP_PROTO_IPV6,
		.hop_limit = 60,
		.src = address("fd00:9::5").v6,
		.dst = address("5f00:0:e103::").v6};
	put_data((uint8_t *)(ip + 1), "2001:db8:3::33", "2001:db8:c::9", SOURCE_PORT);
	for (unsigned int i = 0; i < n; i++)
		fake_port_receive(t->port[P1], 0, frame, sizeof(frame), 0);
	testbed_settle(t, 50);
}

/* Data that has left by a port since the last call. */
static unsigned int left_by(struct testbed *t, unsigned int port)
{
	struct sent_frame *f;
	unsigned int n = 0;

	while ((f = fake_port_take(t->port[port]))) {
		n += f->size >= 14 + BYTES;
		free(f);
	}
	return n;
}

/* A 28 of the server on d0. */
static void make_server_init(const char *to)
{
	static struct ipv6_addr itself;

	itself = address("2001:db8:c::9").v6;
	rsvp_clear(&m, RSVP_INIT);
	m.send_ttl = 64;
	m.session = (struct rsvp_session){.dst = address(to), .protocol = IP_PROTO_UDP, .port = UDP_PORT_ROCEV2};
	m.hop = (struct rsvp_hop){.addr = address("2001:db8:c::9"), .lih = 7};
	m.refresh_ms = 30000;
	m.sender = (struct rsvp_sender){.src = address("2001:db8:c::9"), .port = SOURCE_PORT};
	m.path = (struct rsvp_cbfc_path){.nonce = 5, .path = 1, .hops = 1, .hops_max = 16, .addrs = &itself};
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.traffic_class = 3, .unit = 11, .sequence = 1};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TIME] = m.count[RSVP_O_TEMPLATE] = 1;
	m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = m.count[RSVP_O_CBFC_HOP] = 1;
}

static void give_server_init(struct testbed *t, const char *to)
{
	make_server_init(to);
	give(t, &(struct sending){D0, "2001:db8:c::9", "", 0xc0, 64, ALERTING});
}

/* The next hop whose 28 is in `init` commits 16 units; it is heard for 10 s. */
static void commit(struct testbed *t, const struct sending *s)
{
	rsvp_clear(&m, RSVP_RESERVE);
	m.session = init.session;
	m.hop = (struct rsvp_hop){.addr = address(s->from), .lih = init.hop.lih};
	m.refresh_ms = 30000;
	m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_TOTALS,
		.flags = RSVP_CREDIT_COMMIT,
		.traffic_class = 3,
		.unit = 11,
		.epoch = EPOCH,
		.fccl = 16,
		.buffer = 16,
		.heartbeat_us = 3000000,
		.sequence = 1};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_CREDIT] = 1;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_STYLE] = m.flows = 1;
	m.style = RSVP_STYLE_FF;
	m.flow[0] = (struct rsvp_flow){.has_spec = true, .has_filter = true, .filter = init.sender};
	give(t, s);
}

static void update(struct testbed *t, const struct sending *s, uint64_t fccl, uint64_t abr, uint32_t sequence)
{
	rsvp_clear(&m, RSVP_UPDATE);
	m.session = init.session;
	m.hop = (struct rsvp_hop){.addr = address(s->from)};
	m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_OF_CONTEXT,
		.flags = RSVP_CREDIT_UPDATE,
		.traffic_class = 3,
		.unit = 11,
		.epoch = EPOCH,
		.fccl = fccl,
		.abr = abr,
		.buffer = 16,
		.heartbeat_us = 3000000,
		.sequence = sequence,
		.lih = init.hop.lih};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_CREDIT] = 1;
	give(t, s);
}

/* The newest word to a server or a node; false: there was none. */
static bool told(struct testbed *t, unsigned int port, struct rsvp_credit *c)
{
	bool any = false;

	testbed_pass(t, 3 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	while (next_sent(t, port, UNICAST))
		if (got.kind == RSVP_UPDATE || got.kind == RSVP_RESERVE) {
			*c = got.credit[0];
			any = true;
		}
	return any;
}

static json_int_t shown(struct testbed *t, const char *line, const char *key)
{
	json_t *rows, *v;
	json_int_t value;

	testbed_pass(t, 15 * NSEC_PER_MSEC, NSEC_PER_MSEC); /* rows are written every 10 ms */
	rows = shown_json(t, line);
	v = json_object_get(json_array_get(rows, 0), key);
	check(json_is_integer(v), "%s: no '%s'", line, key);
	value = json_integer_value(v);
	json_decref(rows);
	return value;
}

#define OF_SERVER "show credit 0x0c350 -j"

/* The server on d0 has credit for 4 units, and the session across the domain for 16. */
static struct testbed *sending_server(void)
{
	struct testbed *t = start(SERVERS OUTER);
	struct rsvp_credit c = {0};

	assert_true(next_sent(t, P1, IN_TUNNEL));
	init = got;
	commit(t, &from_outer);
	give_server_init(t, "2001:db8:3::33");
	testbed_pass(t, 300 * NSEC_PER_MSEC, NSEC_PER_MSEC); /* T_sel */
	assert_true(told(t, D0, &c));
	assert_int_equal(4, c.fccl);
	assert_int_equal(0, c.abr);
	left_by(t, P1);
	return t;
}

/* What a server sends occupies its credit until it has gone on; then the server is told. */
static void sender_is_granted(void **state)
{
	struct testbed *t = sending_server();
	struct rsvp_credit c = {0};

	(void)state;
	sends_data(t, "2001:db8:3::33", SOURCE_PORT, 4);
	assert_int_equal(4, left_by(t, P1));
	assert_true(told(t, D0, &c));
	assert_int_equal(4, c.abr);
	assert_int_equal(8, c.fccl);
	for (unsigned int i = 0; i < 3; i++) {
		sends_data(t, "2001:db8:3::33", SOURCE_PORT, 4);
		assert_true(told(t, D0, &c));
	}
	left_by(t, P1);
	assert_int_equal(16, c.abr); /* all that the next hop has granted is used */
	assert_int_equal(20, c.fccl);
	sends_data(t, "2001:db8:3::33", SOURCE_PORT, 4);
	assert_int_equal(0, left_by(t, P1));
	assert_int_equal(4, node_held(t->node));
	assert_true(told(t, D0, &c));
	assert_int_equal(20, c.abr);
	assert_int_equal(20, c.fccl); /* what waits here has not gone on: a standstill reaches the server */
	assert_int_equal(4, shown(t, OF_SERVER, "buffered"));
	update(t, &from_outer, 32, 16, 10);
	assert_int_equal(4, left_by(t, P1));
	assert_true(told(t, D0, &c));
	assert_int_equal(24, c.fccl);
	testbed_check_balance(t);
	testbed_free(t);
}

/* What a server sends beyond its credit is counted and takes nothing of the pool; other flows of it are data as any other. */
static void overrun_takes_nothing(void **state)
{
	struct testbed *t = sending_server();
	struct rsvp_credit c = {0};

	(void)state;
	t->port[P1]->tx_allowed = 0;
	sends_data(t, "2001:db8:3::33", SOURCE_PORT, 9);
	assert_true(told(t, D0, &c));
	assert_int_equal(4, c.abr);
	assert_int_equal(4, c.fccl);
	assert_int_equal(5, shown(t, OF_SERVER, "ungranted"));
	assert_int_equal(4, shown(t, OF_SERVER, "buffered"));
	t->port[P1]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 50);
	assert_int_equal(9, left_by(t, P1));
	assert_true(told(t, D0, &c));
	assert_int_equal(8, c.fccl);
	sends_data(t, "2001:db8:3::33", SOURCE_PORT + 1, 2);
	sends_data(t, "2001:db8:3::34", SOURCE_PORT, 2);
	assert_int_equal(4, left_by(t, P1));
	told(t, D0, &c);
	assert_int_equal(8, c.fccl);
	assert_int_equal(4, c.abr);
	testbed_free(t);
}

/* A session of a server that has ended counts nothing any more. */
static void sender_ends(void **state)
{
	struct testbed *t = sending_server();
	struct rsvp_credit c = {0};

	(void)state;
	sends_data(t, "2001:db8:3::33", SOURCE_PORT, 2);
	make_server_init("2001:db8:3::33");
	m.kind = RSVP_END;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = 0;
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.flags = RSVP_HOP_FINAL,
		.traffic_class = 3,
		.unit = 11,
		.fctbs = 2,
		.sequence = 9};
	give(t, &(struct sending){D0, "2001:db8:c::9", "", 0xc0, 64, ALERTING});
	testbed_pass(t, 20 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(0, shown(t, "show credit pools -j", "committed"));
	left_by(t, P1);
	sends_data(t, "2001:db8:3::33", SOURCE_PORT, 3);
	assert_int_equal(3, left_by(t, P1));
	assert_int_equal(0, shown(t, "show credit pools -j", "buffered"));
	/* nor does it count for the next session, of another source port */
	make_server_init("2001:db8:3::33");
	m.hop.lih = 8;
	m.path.nonce = 6;
	m.sender.port = SOURCE_PORT + 1;
	give(t, &(struct sending){D0, "2001:db8:c::9", "", 0xc0, 64, ALERTING});
	testbed_pass(t, 300 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	told(t, D0, &c);
	sends_data(t, "2001:db8:3::33", SOURCE_PORT, 3);
	sends_data(t, "2001:db8:3::33", SOURCE_PORT + 1, 1);
	assert_true(told(t, D0, &c));
	assert_int_equal(1, c.abr);
	testbed_free(t);
}

static const struct sending from_server = {D0, "2001:db8:c::9", "2001:db8:c::2", 0xc0, 255, FOR_ONE_HOP};

/* Data for a server waits for the server's credit, and goes on with it. */
static void receiver_gates(void **state)
{
	struct testbed *t = start(SERVERS TO_SERVER);

	(void)state;
	assert_true(next_sent(t, D0, NATIVE));
	init = got;
	comes_across(t, LABEL, 2); /* no credit yet: it need not wait */
	assert_int_equal(2, left_by(t, D0));
	commit(t, &from_server);
	comes_across(t, LABEL, 20);
	assert_int_equal(16, left_by(t, D0));
	assert_int_equal(4, node_held(t->node));
	update(t, &from_server, 19, 16, 10);
	assert_int_equal(3, left_by(t, D0));
	testbed_pass(t, 200 * NSEC_PER_MSEC, NSEC_PER_MSEC); /* credit.wait: the credit is there, and used */
	assert_int_equal(19, shown(t, "show credit b -j", "packets"));
	assert_int_equal(1, node_held(t->node));
	assert_int_equal(0, shown(t, "show credit b -j", "fences")); /* no outer header to put one behind */
	update(t, &from_server, 40, 19, 11);
	assert_int_equal(1, left_by(t, D0));
	testbed_check_balance(t);
	testbed_free(t);
}

/* Two servers of one gateway: what the one sends waits for the credit of the other. */
static void between_servers(void **state)
{
	static const struct sending from_d1 = {D1, "2001:db8:e::9", "2001:db8:e::2", 0xc0, 255, FOR_ONE_HOP};
	struct testbed *t = start(SERVERS);
	struct rsvp_credit c = {0};

	(void)state;
	give_server_init(t, "2001:db8:e::9");
	assert_true(next_sent(t, D1, NATIVE));
	init = got;
	commit(t, &from_d1);
	assert_true(told(t, D0, &c));
	assert_int_equal(4, c.fccl);
	for (unsigned int i = 0; i < 5; i++) {
		sends_data(t, "2001:db8:e::9", SOURCE_PORT, 4);
		assert_true(told(t, D0, &c));
	}
	assert_int_equal(16, left_by(t, D1));
	assert_int_equal(4, node_held(t->node));
	assert_int_equal(20, c.abr);
	assert_int_equal(20, c.fccl);
	update(t, &from_d1, 40, 16, 10);
	assert_int_equal(4, left_by(t, D1));
	assert_true(told(t, D0, &c));
	assert_int_equal(24, c.fccl);
	testbed_check_balance(t);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(sender_is_granted),
		cmocka_unit_test(overrun_takes_nothing), cmocka_unit_test(sender_ends),
		cmocka_unit_test(receiver_gates), cmocka_unit_test(between_servers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
