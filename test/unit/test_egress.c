/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues, scheduler and device burst of an egress, through a node whose port the test slows down. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/testbed.h"
#include "wire/icmp.h"

#define YAML \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: out, device: net_null1, side: wan, queue-limit: 512, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}]\n" \
		"routes:\n" \
		"  - {prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"}\n" \
		"  - {prefix: \"5f00:0:600::/48\", port: out, nexthop: \"2001:db8:b::6\"}\n" \
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

enum { IN, OUT };

/* The solicitation for the next hop that is not static is out of the way. */
static struct testbed *bed(void)
{
	struct testbed *t = testbed_new(YAML);
	struct sent_frame *f;

	testbed_settle(t, 1000);
	while ((f = fake_port_take(t->port[OUT])))
		free(f);
	return t;
}

static void receive(struct testbed *t, const char *da, uint8_t dscp, uint16_t flow, uint32_t sequence, uint32_t size)
{
	uint8_t frame[4096];
	uint32_t n = testbed_frame(frame, &t->port[IN]->port.mac, da, flow, sequence, size);
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));

	ip->vtc_flow = ipv6_vtc_flow((uint8_t)(dscp << 2), flow);
	fake_port_receive(t->port[IN], 0, frame, n, 0);
}

#define VIA_KNOWN "5f00:0:100:500:300::"
#define VIA_UNKNOWN "5f00:0:100:600:300::"

/* Sent frames of flow `flow`, in order from `first`; returns how many in a row came next. */
static uint32_t take_all(struct testbed *t, uint32_t *next_of_flow)
{
	struct sent_frame *f;
	uint32_t n = 0;

	while ((f = fake_port_take(t->port[OUT]))) {
		uint16_t flow;
		uint32_t sequence;

		if (f->bytes[20] == IP_PROTO_IPV6) {
			testbed_frame_read(f, &flow, &sequence);
			check(sequence == next_of_flow[flow], "flow %u: %u came, %u was due", flow, sequence,
				next_of_flow[flow]);
			next_of_flow[flow] = sequence + 1;
			n++;
		}
		free(f);
	}
	return n;
}

/* A device that takes one frame a call, or none for a while, neither loses nor reorders. */
static void a_slow_device_keeps_order(void **state)
{
	struct testbed *t = bed();
	uint32_t next[4] = {0};

	(void)state;
	t->port[OUT]->tx_limit = 1;
	for (uint32_t i = 0; i < 400; i++)
		receive(t, VIA_KNOWN, 0, (uint16_t)(i % 4), i / 4, 100);
	testbed_settle(t, 3);
	t->port[OUT]->tx_allowed = 10;
	testbed_settle(t, 50);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 1000);
	assert_int_equal(take_all(t, next), 400);
	assert_int_equal(t->node->egress[OUT].backlog, 0);
	testbed_free(t);
}

/* tx never spins: a device that takes nothing costs a bounded number of calls a pass, and the pass returns. */
static void a_dead_device_does_not_hold_the_worker(void **state)
{
	struct testbed *t = bed();
	uint64_t calls, next;

	(void)state;
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t i = 0; i < 300; i++)
		receive(t, VIA_KNOWN, 0, 1, i, 100);
	testbed_settle(t, 20);
	calls = t->port[OUT]->tx_calls;
	assert_int_equal(worker_poll(&t->node->worker[0], t->now, &next), 0);
	assert_true(t->port[OUT]->tx_calls - calls <= 2);
	assert_true(next > t->now && next < t->now + NSEC_PER_MSEC);
	assert_int_equal(node_held(t->node), 300);
	testbed_free(t);
}

/* Tail drop at the limit of the class, counted; another class still has its room. */
static void the_limit_is_per_class(void **state)
{
	struct testbed *t = bed();
	uint32_t next[4] = {0};

	(void)state;
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t i = 0; i < NODE_BURST + 512 + 30; i++)
		receive(t, VIA_KNOWN, 0, 1, i, 100);
	testbed_settle(t, 50);
	assert_int_equal(testbed_reason(t, IN, DROP_queue_full), 30);
	for (uint32_t i = 0; i < 5; i++)
		receive(t, VIA_KNOWN, 26, 2, i, 100);
	testbed_settle(t, 50);
	assert_int_equal(testbed_reason(t, IN, DROP_queue_full), 30);
	assert_int_equal(t->node->egress[OUT].slice[0].queue[3].packets.n, 5);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 50);
	assert_int_equal(take_all(t, next), NODE_BURST + 512 + 5);
	testbed_free(t);
}

/* Deficit round robin: two backlogged classes share the line by time, whatever their packet sizes. */
static void classes_share_the_line(void **state)
{
	struct testbed *t = bed();
	uint64_t bytes[2] = {0};
	struct sent_frame *f;

	(void)state;
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t i = 0; i < NODE_BURST; i++)
		receive(t, VIA_KNOWN, 0, 0, i, 100);
	testbed_settle(t, 50);
	for (uint32_t i = 0; i < 500; i++) {
		receive(t, VIA_KNOWN, 8, 1, i, 1400);
		receive(t, VIA_KNOWN, 16, 2, i, 200);
	}
	testbed_settle(t, 50);
	t->port[OUT]->tx_allowed = NODE_BURST;
	testbed_settle(t, 5);
	while ((f = fake_port_take(t->port[OUT])))
		free(f);
	t->port[OUT]->tx_allowed = 400;
	testbed_settle(t, 20);
	while ((f = fake_port_take(t->port[OUT]))) {
		uint16_t flow;
		uint32_t sequence;

		testbed_frame_read(f, &flow, &sequence);
		if (flow)
			bytes[flow - 1] += f->size + EGRESS_LINE_BYTES;
		free(f);
	}
	check(bytes[0] + EGRESS_QUANTUM >= bytes[1] && bytes[1] + EGRESS_QUANTUM >= bytes[0],
		"class 1 sent %llu bytes, class 2 %llu", (unsigned long long)bytes[0], (unsigned long long)bytes[1]);
	testbed_free(t);
}

/* Control traffic (here: the node's own time exceeded) overtakes everything that is queued. */
static void control_goes_first(void **state)
{
	struct testbed *t = bed();
	struct sent_frame *f;
	uint8_t frame[256];
	unsigned int before = 0;
	bool seen = false;

	(void)state;
	t->port[IN]->tx_allowed = 0;
	for (uint32_t i = 0; i < NODE_BURST + 200; i++) {
		uint32_t n = testbed_frame(frame, &t->port[OUT]->port.mac, "2001:db8:a::9", 0, i, 100);

		/* plain IPv6 back out of port "in", behind its neighbour 2001:db8:a::9 */
		fake_port_receive(t->port[OUT], 0, frame, n, 0);
	}
	/* that neighbour, and the one the error goes to, are known */
	struct neigh_message m = {.what = NEIGH_SET, .interface = IN, .mac = {{2, 0, 0, 0, 0xa0, 9}}};
	assert_int_equal(ip_addr_parse("2001:db8:a::9", &m.addr), 0);
	testbed_settle(t, 50);
	egress_neigh_update(&t->node->egress[IN], &t->node->worker[0].ctx, &m);
	testbed_settle(t, 50);
	for (uint32_t i = 0; i < NODE_BURST + 100; i++)
		fake_port_receive(t->port[OUT], 0, frame,
			testbed_frame(frame, &t->port[OUT]->port.mac, "2001:db8:a::9", 0, i, 100), 0);
	testbed_settle(t, 50);
	assert_true(t->node->egress[IN].backlog > 50);
	/* from 2001:db8:a::9 with hop limit 1: the error goes back to it, through the full port */
	uint32_t n = testbed_frame(frame, &t->port[IN]->port.mac, "2001:db8:b::9", 0, 0, 100);
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));

	ip->hop_limit = 1;
	ip->src = m.addr.v6;
	fake_port_receive(t->port[IN], 0, frame, n, 0);
	testbed_settle(t, 50);
	t->port[IN]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 50);
	while ((f = fake_port_take(t->port[IN]))) {
		if (f->bytes[20] == IP_PROTO_ICMP6 && f->bytes[54] == ICMP6_TIME_EXCEEDED)
			seen = true;
		else if (!seen && f->bytes[20] == IP_PROTO_IPV6)
			before++;
		free(f);
	}
	assert_true(seen);
	/* only what had been rewritten and offered to the device before */
	check(before <= NODE_BURST, "%u packets went before the control packet", before);
	testbed_free(t);
}

/* Packets for an unresolved neighbour wait in order and go out ahead of those that come later. */
static void waiting_packets_keep_order(void **state)
{
	struct testbed *t = bed();
	struct neigh_message m = {.what = NEIGH_SET, .interface = OUT, .mac = {{2, 0, 0, 0, 0xb0, 6}}};
	uint32_t next[4] = {0};

	(void)state;
	assert_int_equal(ip_addr_parse("2001:db8:b::6", &m.addr), 0);
	for (uint32_t i = 0; i < 10; i++)
		receive(t, VIA_UNKNOWN, 0, 1, i, 100);
	testbed_settle(t, 20);
	assert_int_equal(t->node->worker[0].neighs.held, 10);
	/* the device is stuck when the answer comes, and more packets arrive meanwhile */
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t i = 0; i < NODE_BURST; i++)
		receive(t, VIA_KNOWN, 0, 2, i, 100);
	testbed_settle(t, 20);
	egress_neigh_update(&t->node->egress[OUT], &t->node->worker[0].ctx, &m);
	for (uint32_t i = 10; i < 60; i++)
		receive(t, VIA_UNKNOWN, 0, 1, i, 100);
	testbed_settle(t, 20);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 50);
	assert_int_equal(take_all(t, next), NODE_BURST + 60);
	testbed_free(t);
}

/*
 * Packets that wait for a neighbour may not exceed the promise to the port: the next ones to wait take the place of those
 * that come back. The oldest find the room there is.
 */
static void waiting_packets_come_back_to_a_full_port(void **state)
{
	struct testbed *t = bed();
	struct neigh_message m = {.what = NEIGH_SET, .interface = OUT, .mac = {{2, 0, 0, 0, 0xb0, 6}}};
	struct egress *e = &t->node->egress[OUT];
	uint32_t next[4] = {0};
	uint64_t full;

	(void)state;
	assert_int_equal(ip_addr_parse("2001:db8:b::6", &m.addr), 0);
	for (uint32_t i = 0; i < 16; i++)
		receive(t, VIA_UNKNOWN, 0, 1, i, 100);
	testbed_settle(t, 20);
	t->port[OUT]->tx_allowed = 0;
	for (uint8_t class = 0; class < 4; ++class) {
		for (uint32_t i = 0; i < 512; i++)
			receive(t, VIA_KNOWN, (uint8_t)(8 * class), 2, i, 100);
		testbed_settle(t, 20);
	}
	assert_int_equal(e->lossy, 1792);
	t->port[OUT]->tx_allowed = e->tx.n - 27u;
	testbed_settle(t, 20);
	assert_int_equal(e->lossy, 1787);
	full = testbed_reason(t, IN, DROP_queue_full);
	egress_neigh_update(e, &t->node->worker[0].ctx, &m);
	assert_int_equal(t->node->worker[0].neighs.held, 0);
	assert_int_equal(e->lossy, 1792);
	assert_int_equal(testbed_reason(t, IN, DROP_queue_full), full + 11);
	testbed_check_balance(t);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 100);
	for (struct sent_frame *f; (f = fake_port_take(t->port[OUT])); free(f)) {
		uint16_t flow;
		uint32_t sequence;

		testbed_frame_read(f, &flow, &sequence);
		if (flow == 1)
			assert_int_equal(sequence, next[flow]++);
	}
	assert_int_equal(next[1], 5);
	testbed_free(t);
}

#define SCANNED \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"  - {name: beside, device: net_null2, side: wan, addresses: [\"2001:db8:c::2/64\"]}\n" \
		"neighbor-discovery: {max: 4K}\n" \
		"routes: [{prefix: \"2001:db8:9::/48\", port: out, nexthop: \"2001:db8:b::6\"}]\n"

/* A packet to an address waits, its neighbour answers, and the packet is sent. */
static void is_resolved(struct testbed *t, uint16_t port, const char *to, const char *neighbour)
{
	struct neigh_message m = {.what = NEIGH_SET, .interface = port, .mac = {{2, 0, 0, 0, 0xb0, 7}}};
	struct sent_frame *f;
	unsigned int n = 0;

	while ((f = fake_port_take(t->port[port])))
		free(f);
	assert_int_equal(ip_addr_parse(neighbour, &m.addr), 0);
	receive(t, to, 0, 2, 0, 100);
	testbed_settle(t, 20);
	egress_neigh_update(&t->node->egress[port], &t->node->worker[0].ctx, &m);
	testbed_settle(t, 20);
	for (; (f = fake_port_take(t->port[port])); free(f))
		n += f->bytes[5] == 7;
	check(n == 1, "%s: %u packets went to it", to, n);
}

/* RFC 6583: a scan of a subnet of one port costs neither other ports, nor a next hop, nor a host of the subnet itself. */
static void a_scan_stops_nobody(void **state)
{
	struct testbed *t = testbed_new(SCANNED);
	const struct neigh_table *neighs = &t->node->worker[0].neighs;

	(void)state;
	for (uint32_t i = 0; i < 1100; i++) {
		char to[40];

		snprintf(to, sizeof(to), "2001:db8:b::1:%x", i);
		receive(t, to, 0, 1, i, 100);
		testbed_settle(t, 3);
	}
	/* half of the slots, the last that were asked for */
	assert_int_equal(neighs->held, 256);
	assert_int_equal(testbed_reason(t, IN, DROP_neighbor_hold), 1100 - 256);
	is_resolved(t, 2, "2001:db8:c::77", "2001:db8:c::77");
	is_resolved(t, OUT, "2001:db8:b::77", "2001:db8:b::77");
	is_resolved(t, OUT, "2001:db8:9::1", "2001:db8:b::6");
	assert_int_equal(testbed_reason(t, IN, DROP_neighbor_hold), 1100 - 256 + 1);
	testbed_pass(t, 4 * NSEC_PER_SEC, 100 * NSEC_PER_MSEC);
	assert_int_equal(neighs->held, 0);
	testbed_check_balance(t);
	for (struct sent_frame *f; (f = fake_port_take(t->port[OUT]));)
		free(f);
	testbed_free(t);
}

/* Packets beyond the hold limit of a neighbour are dropped for a named reason; failure drops the waiting packets. */
static void waiting_is_bounded(void **state)
{
	struct testbed *t = bed();
	uint32_t next[4] = {0};

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		receive(t, VIA_UNKNOWN, 0, 1, i, 100);
	testbed_settle(t, 20);
	assert_int_equal(t->node->worker[0].neighs.held, 16);
	assert_int_equal(testbed_reason(t, IN, DROP_neighbor_hold), 24);
	/* no answer: three solicitations a second apart, then failure */
	testbed_pass(t, 4 * NSEC_PER_SEC, 100 * NSEC_PER_MSEC);
	assert_int_equal(testbed_reason(t, IN, DROP_neighbor_failed), 16);
	assert_int_equal(t->node->worker[0].neighs.held, 0);
	assert_int_equal(take_all(t, next), 0);
	testbed_free(t);
}

static void a_port_without_link_drops_by_name(void **state)
{
	struct testbed *t = bed();

	(void)state;
	port_set_link(&t->port[OUT]->port, false);
	for (uint32_t i = 0; i < 7; i++)
		receive(t, VIA_KNOWN, 0, 1, i, 100);
	testbed_settle(t, 20);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), 7);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_device_keeps_order),
		cmocka_unit_test(a_dead_device_does_not_hold_the_worker),
		cmocka_unit_test(the_limit_is_per_class),
		cmocka_unit_test(classes_share_the_line),
		cmocka_unit_test(control_goes_first),
		cmocka_unit_test(waiting_packets_keep_order),
		cmocka_unit_test(waiting_packets_come_back_to_a_full_port),
		cmocka_unit_test(a_scan_stops_nobody),
		cmocka_unit_test(waiting_is_bounded),
		cmocka_unit_test(a_port_without_link_drops_by_name),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("egress", tests, NULL, NULL);
}
