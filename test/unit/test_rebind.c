/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets are bound to a living way when their turn comes: what is queued moves with its link, in order and without
 * loss, backups carry traffic only while nothing else does, flows of living ways stay, and what returns waits for what
 * is elsewhere. With one worker, and with two that own one egress each.
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "service/nexthop/nexthop.h"
#include "test/support/conf.h"
#include "test/support/testbed.h"
#include "wire/udp.h"

#define LCORES(workers) "lcores: {control: 0, rx: [0], worker: " workers "}\nmemory: {buffers: 64K}\n"
#define PORTS(w0, w1, w2) \
	"failover: {hold: 10, hold-max: 50}\n" \
	"ports:\n" \
	"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]" w0 "}\n" \
	"  - {name: one, device: net_null1, side: wan, queue-limit: 2K, buffer-limit: 8K, addresses: " \
	"[\"2001:db8:b::2/64\"]" w1 "}\n" \
	"  - {name: two, device: net_null2, side: wan, queue-limit: 2K, buffer-limit: 8K, addresses: " \
	"[\"2001:db8:c::2/64\"]" w2 "}\n" \
	"  - {name: dc, device: net_null3, side: dc, vrf: a, addresses: [\"2001:db8:d::2/64\"]" w0 "}\n"
#define WAYS \
	"neighbors:\n" \
	"  - {port: one, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
	"  - {port: two, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:03\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: one, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: two, nexthop: \"2001:db8:c::3\"}\n" \
	"  - {prefix: \"5f00:0:600::/48\", port: one, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:700::/48\", port: two, nexthop: \"2001:db8:c::3\"}\n" \
	"vrfs: [{name: a, routes: [{prefix: \"2001:db8:99::/64\", policy: p}]}]\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n" \
	"policies:\n" \
	"  - {name: p, paths: [{name: main, segments: [\"5f00:0:600::\", \"5f00:0:900::\"]},\n" \
	"      {name: spare, backup: true, segments: [\"5f00:0:700::\", \"5f00:0:901::\"]}]}\n"
#define ONE_WORKER TESTBED_NODE LCORES("[0]") PORTS("", "", "") WAYS
#define TWO_WORKERS TESTBED_NODE LCORES("[0, 1]") PORTS(", worker: 0", ", worker: 0", ", worker: 1") WAYS

enum { IN, ONE, TWO, DC };
#define FLOWS 64
#define ECMP "5f00:0:100:500:300::"
#define ONLY_ONE "5f00:0:100:600:300::"

static uint32_t next_sent[FLOWS]; /* sequence of the next packet of a flow that is sent */

static struct testbed *bed(const char *yaml)
{
	struct testbed *t = testbed_new(yaml);

	testbed_settle(t, 200);
	memset(next_sent, 0, sizeof(next_sent));
	return t;
}

static void receive(struct testbed *t, const char *da, uint16_t flow, uint32_t sequence)
{
	struct fake_port *p = t->port[strncmp(da, "5f00", 4) == 0 ? IN : DC];
	uint8_t frame[256];

	fake_port_receive(p, 0, frame, testbed_frame(frame, &p->port.mac, da, flow, sequence, 120), 0);
}

/* Receive packet `from` to `to` of each flow. */
static void receive_all(struct testbed *t, const char *da, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++) {
		for (uint16_t flow = 0; flow < FLOWS; flow++)
			receive(t, da, flow, k);
		testbed_settle(t, 4);
	}
}

/* Flow and sequence of a frame, and the first destination of its outermost header. */
static struct ipv6_addr read_frame(const struct sent_frame *f, uint16_t *flow, uint32_t *sequence)
{
	const uint8_t *at = f->bytes + sizeof(struct eth_hdr);
	struct ipv6_addr da = ((const struct ipv6_hdr *)at)->dst;
	uint8_t type = IP_PROTO_IPV6;
	be32_t mark;

	while (type == IP_PROTO_IPV6 || type == IP_PROTO_ROUTING) {
		uint8_t next = type == IP_PROTO_IPV6 ? ((const struct ipv6_hdr *)at)->next_header : at[0];

		at += type == IP_PROTO_IPV6 ? sizeof(struct ipv6_hdr) : 8u * (at[1] + 1u);
		type = next;
	}
	assert_int_equal(type, IP_PROTO_UDP);
	memcpy(&mark, (const struct udp_hdr *)at + 1, sizeof(mark));
	*flow = be16_get(((const struct udp_hdr *)at)->src_port);
	*sequence = be32_get(mark);
	return da;
}

static struct ipv6_addr last_da;

/* Packets that a port has sent; each flow must be in order over all ports. *flows: bit per flow that was seen. */
static unsigned int sent(struct testbed *t, unsigned int port, uint64_t *flows)
{
	struct sent_frame *f;
	unsigned int n = 0;

	*flows = 0;
	while ((f = fake_port_take(t->port[port]))) {
		uint32_t sequence;
		uint16_t flow;

		if (f->bytes[20] != IP_PROTO_IPV6 && f->bytes[20] != IP_PROTO_ROUTING) {
			free(f); /* ND */
			continue;
		}
		last_da = read_frame(f, &flow, &sequence);
		check(sequence == next_sent[flow], "flow %u: packet %u instead of %u", flow, sequence, next_sent[flow]);
		next_sent[flow]++;
		*flows |= 1ull << flow;
		n++;
		free(f);
	}
	return n;
}

static void link_is(struct testbed *t, unsigned int port, bool up)
{
	port_set_link(&t->port[port]->port, up);
}

static void device_takes(struct testbed *t, unsigned int port, bool on)
{
	t->port[port]->tx_limit = on ? UINT32_MAX : 0;
}

#define LOSSLESS \
	", speed: 10G, pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: b, length: 100, outage: 20}"
#define PROFILE "buffer-profiles: [{name: b, xoff: 20K, xon: 8K, headroom: 400K, forced: true, min-frame: 100}]\n"
#define LOSSLESS_BED TESTBED_NODE LCORES("[0]") PORTS(LOSSLESS, LOSSLESS, LOSSLESS) WAYS PROFILE
#define SHORT_QUEUE \
	TESTBED_NODE LCORES( \
		"[0]") "failover: {hold: 10, hold-max: 50}\n" \
		       "ports:\n" \
		       "  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		       "  - {name: one, device: net_null1, side: wan, queue-limit: 64, buffer-limit: 8K, addresses: " \
		       "[\"2001:db8:b::2/64\"]}\n" \
		       "  - {name: two, device: net_null2, side: wan, queue-limit: 2K, buffer-limit: 8K, addresses: " \
		       "[\"2001:db8:c::2/64\"]}\n" \
		       "  - {name: dc, device: net_null3, side: dc, vrf: a, addresses: [\"2001:db8:d::2/64\"]}\n" WAYS

static const char *const beds[] = {ONE_WORKER, TWO_WORKERS};

static void pass_hold_down(struct testbed *t)
{
	testbed_pass(t, 15 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
}

/* So many packets of each flow have left. */
static void check_sent(uint32_t n)
{
	for (unsigned int i = 0; i < FLOWS; i++)
		check(next_sent[i] == n, "flow %u: %u packets of %u", i, next_sent[i], n);
}

/* ECMP: what is queued behind a device that takes nothing moves with the link, in order; flows that live stay. */
static void queue_moves(void **state)
{
	(void)state;
	for (unsigned int b = 0; b < ARRAY_LEN(beds); b++) {
		struct testbed *t = bed(beds[b]);
		uint64_t on_one, on_two, flows;

		receive_all(t, ECMP, 0, 1);
		assert_int_equal(sent(t, ONE, &on_one) + sent(t, TWO, &on_two), FLOWS);
		check(on_one && on_two && !(on_one & on_two), "both next hops carry flows of their own");
		device_takes(t, ONE, false);
		receive_all(t, ECMP, 1, 20);
		check(sent(t, ONE, &flows) == 0, "the device takes nothing");
		sent(t, TWO, &flows);
		assert_int_equal(flows, on_two);
		link_is(t, ONE, false);
		testbed_settle(t, 2000);
		receive_all(t, ECMP, 20, 30);
		testbed_settle(t, 2000);
		sent(t, TWO, &flows);
		assert_int_equal(flows, UINT64_MAX);
		check_sent(30);
		/* it returns after its hold-down, and each flow to its home */
		device_takes(t, ONE, true);
		link_is(t, ONE, true);
		testbed_settle(t, 20);
		receive_all(t, ECMP, 30, 31);
		sent(t, TWO, &flows);
		assert_int_equal(flows, UINT64_MAX);
		pass_hold_down(t);
		receive_all(t, ECMP, 31, 33);
		sent(t, ONE, &flows);
		assert_int_equal(flows, on_one);
		sent(t, TWO, &flows);
		assert_int_equal(flows, on_two);
		testbed_check_balance(t);
		assert_int_equal(testbed_reason(t, IN, DROP_port_down), 0);
		testbed_free(t);
	}
}

/* Packets 0 to 9 of each flow wait at the other port; the home of half of the flows is back, and 10 to 14 have arrived. */
static struct testbed *with_guests(const char *yaml)
{
	struct testbed *t = bed(yaml);

	link_is(t, ONE, false);
	testbed_settle(t, 20);
	device_takes(t, TWO, false);
	receive_all(t, ECMP, 0, 10);
	link_is(t, ONE, true);
	pass_hold_down(t);
	receive_all(t, ECMP, 10, 15);
	return t;
}

/* While the queue of the other way is long, what returns waits for its own packets there: order, and nothing lost. */
static void return_waits(void **state)
{
	(void)state;
	for (unsigned int b = 0; b < ARRAY_LEN(beds); b++) {
		struct testbed *t = with_guests(beds[b]);
		uint64_t flows;

		check(sent(t, ONE, &flows) == 0, "later packets overtake those that wait at the other port");
		device_takes(t, TWO, true);
		testbed_settle(t, 2000);
		sent(t, TWO, &flows);
		sent(t, ONE, &flows);
		receive_all(t, ECMP, 15, 16);
		testbed_settle(t, 200);
		sent(t, TWO, &flows);
		sent(t, ONE, &flows);
		check(flows, "traffic is back");
		check_sent(16);
		testbed_free(t);
	}
}

/* The other way fails while packets of the home wait there: they come home, before all later ones. */
static void guests_come_home(void **state)
{
	(void)state;
	for (unsigned int b = 0; b < ARRAY_LEN(beds); b++) {
		struct testbed *t = with_guests(beds[b]);
		uint64_t flows;

		link_is(t, TWO, false);
		testbed_settle(t, 2000);
		sent(t, ONE, &flows);
		receive_all(t, ECMP, 15, 16);
		testbed_settle(t, 200);
		sent(t, ONE, &flows);
		check_sent(16);
		testbed_free(t);
	}
}

/* A policy: the backup carries traffic as long as the main path is dead, with its own outer headers, and no longer. */
static void backup_carries(void **state)
{
	(void)state;
	for (unsigned int b = 0; b < ARRAY_LEN(beds); b++) {
		struct testbed *t = bed(beds[b]);
		struct ip_addr main_da, spare_da;
		uint64_t flows;

		ip_addr_parse("5f00:0:600::", &main_da);
		ip_addr_parse("5f00:0:700::", &spare_da);
		device_takes(t, ONE, false);
		receive_all(t, "2001:db8:99::1", 0, 10);
		link_is(t, ONE, false);
		testbed_settle(t, 2000);
		receive_all(t, "2001:db8:99::1", 10, 12);
		assert_int_equal(sent(t, TWO, &flows), 12 * FLOWS);
		assert_memory_equal(&last_da, &spare_da.v6, 6);
		device_takes(t, ONE, true);
		link_is(t, ONE, true);
		pass_hold_down(t);
		receive_all(t, "2001:db8:99::1", 12, 13);
		assert_int_equal(sent(t, ONE, &flows), FLOWS);
		assert_memory_equal(&last_da, &main_da.v6, 6);
		/* the path itself is dead, by what S-BFD says */
		nexthop_report_path(t->node->control, t->node->snapshot->policy[0].path[0], LIVENESS_BFD, false);
		testbed_settle(t, 20);
		receive_all(t, "2001:db8:99::1", 13, 14);
		assert_int_equal(sent(t, TWO, &flows), FLOWS);
		/* and in hold-down it is better than nothing */
		nexthop_report_path(t->node->control, t->node->snapshot->policy[0].path[0], LIVENESS_BFD, true);
		link_is(t, TWO, false);
		testbed_settle(t, 20);
		receive_all(t, "2001:db8:99::1", 14, 15);
		assert_int_equal(sent(t, ONE, &flows), FLOWS);
		testbed_free(t);
	}
}

/* Without another way: as without failover. With BFD alone, by a name of its own. */
static void nothing_lives(void **state)
{
	(void)state;
	for (unsigned int b = 0; b < ARRAY_LEN(beds); b++) {
		struct testbed *t = bed(beds[b]);
		uint64_t flows;

		nexthop_report(t->node->control, 0, LIVENESS_BFD, false);
		testbed_settle(t, 20);
		receive_all(t, ONLY_ONE, 0, 1);
		assert_int_equal(testbed_reason(t, IN, DROP_path_down), FLOWS);
		link_is(t, ONE, false);
		testbed_settle(t, 20);
		receive_all(t, ONLY_ONE, 1, 2);
		assert_int_equal(testbed_reason(t, IN, DROP_port_down), FLOWS);
		link_is(t, TWO, false);
		testbed_settle(t, 20);
		receive_all(t, ECMP, 2, 3);
		assert_int_equal(testbed_reason(t, IN, DROP_port_down), 2 * FLOWS);
		assert_int_equal(sent(t, ONE, &flows) + sent(t, TWO, &flows), 0);
		testbed_free(t);
	}
}

/* A next hop that is dead while its link lives (BFD): queued packets leave elsewhere when their turn comes. */
static void dead_nexthop(void **state)
{
	(void)state;
	for (unsigned int b = 0; b < ARRAY_LEN(beds); b++) {
		struct testbed *t = bed(beds[b]);
		uint64_t flows;

		device_takes(t, ONE, false);
		receive_all(t, ECMP, 0, 20);
		sent(t, TWO, &flows);
		for (uint32_t i = 0; i < t->node->snapshot->n_neighs; i++)
			if (t->node->snapshot->neigh[i].used && t->node->snapshot->neigh[i].port == ONE)
				nexthop_report(t->node->control, i, LIVENESS_BFD, false);
		device_takes(t, ONE, true);
		testbed_settle(t, 2000);
		/* rewritten frames that the device had refused are sent as they are */
		check(sent(t, ONE, &flows) <= LIMIT_TX_ROOM, "only frames of the device's burst");
		receive_all(t, ECMP, 20, 22);
		sent(t, TWO, &flows);
		assert_int_equal(flows, UINT64_MAX);
		check_sent(22);
		testbed_free(t);
	}
}

/* Packet `sequence` of each flow, in class 3. */
static void receive_lossless(struct testbed *t, uint32_t sequence)
{
	for (uint16_t flow = 0; flow < FLOWS; flow++)
		testbed_receive(t, IN, ECMP, flow, sequence, 3);
	testbed_settle(t, 50);
}

/*
 * Lossless packets wait for pfc.outage from the failure of their last way, though their home has failed long before; then
 * they are dropped by name.
 */
static void outage_of_the_last_way(void **state)
{
	struct testbed *t = bed(LOSSLESS_BED);
	uint64_t flows;

	(void)state;
	link_is(t, ONE, false);
	testbed_pass(t, 50 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	receive_lossless(t, 0);
	assert_int_equal(sent(t, TWO, &flows), FLOWS);
	link_is(t, TWO, false);
	receive_lossless(t, 1);
	testbed_pass(t, 15 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	receive_lossless(t, 2);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), 0);
	link_is(t, TWO, true);
	testbed_pass(t, 200 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(sent(t, TWO, &flows), 2 * FLOWS);
	link_is(t, TWO, false);
	receive_lossless(t, 3);
	testbed_pass(t, 25 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), FLOWS);
	testbed_free(t);
}

/* Lossless packets that wait only for those before them, at a port that takes them, are not dropped after pfc.outage. */
static void wait_outlives_outage(void **state)
{
	struct testbed *t = bed(LOSSLESS_BED);
	uint64_t flows;

	(void)state;
	link_is(t, ONE, false);
	testbed_settle(t, 20);
	device_takes(t, TWO, false);
	receive_lossless(t, 0);
	link_is(t, DC, false); /* what is alive has changed: later packets wait until the first ones have left */
	receive_lossless(t, 1);
	testbed_pass(t, 25 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	receive_lossless(t, 2);
	device_takes(t, TWO, true);
	testbed_pass(t, 5 * NSEC_PER_MSEC, 10000);
	assert_int_equal(sent(t, TWO, &flows), 3 * FLOWS);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), 0);
	/* the wait ends without a way: then they are dropped */
	device_takes(t, TWO, false);
	receive_lossless(t, 3);
	link_is(t, DC, true);
	receive_lossless(t, 4);
	link_is(t, TWO, false);
	testbed_pass(t, 150 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), 2 * FLOWS);
	testbed_free(t);
}

/* What arrives while a port waits for packets elsewhere may fill its buffers, however short its queues are. */
static void return_to_short_queue(void **state)
{
	struct testbed *t = bed(SHORT_QUEUE);
	uint64_t flows;

	(void)state;
	link_is(t, ONE, false);
	testbed_settle(t, 20);
	device_takes(t, TWO, false);
	receive_all(t, ECMP, 0, 4);
	link_is(t, ONE, true);
	pass_hold_down(t);
	receive_all(t, ECMP, 4, 9); /* some 160 packets for one, whose queue holds 64 */
	link_is(t, ONE, false);
	receive_all(t, ECMP, 9, 14);
	assert_int_equal(testbed_reason(t, IN, DROP_queue_full), 0);
	assert_int_equal(sent(t, ONE, &flows), 0);
	device_takes(t, TWO, true);
	testbed_settle(t, 2000);
	testbed_pass(t, 20 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	sent(t, TWO, &flows);
	sent(t, ONE, &flows);
	check_sent(14);
	link_is(t, ONE, true);
	testbed_pass(t, 60 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	device_takes(t, ONE, false);
	receive_all(t, ECMP, 14, 24);
	assert_true(testbed_reason(t, IN, DROP_queue_full) > 0); /* the limit counts again */
	testbed_free(t);
}

/* Receive packet `sequence` of the flows in a set. */
static void receive_some(struct testbed *t, uint64_t flows, uint32_t sequence)
{
	for (uint16_t flow = 0; flow < FLOWS; flow++)
		if (flows >> flow & 1)
			receive(t, ECMP, flow, sequence);
	testbed_settle(t, 20);
}

static uint64_t first_flows(uint64_t flows, unsigned int n)
{
	while ((unsigned int)__builtin_popcountll(flows) > n)
		flows &= flows - 1;
	return flows;
}

/*
 * Two ports fail in turn. One has returned, and waits for a few packets in the burst of the other, whose device has no room;
 * meanwhile it sends what that one hands on, and nothing else.
 */
static void guests_go_on(void **state)
{
	(void)state;
	for (unsigned int b = 0; b < ARRAY_LEN(beds); b++) {
		struct testbed *t = bed(beds[b]);
		uint64_t on_one, on_two, few, flows;

		receive_all(t, ECMP, 0, 1);
		sent(t, ONE, &on_one);
		sent(t, TWO, &on_two);
		few = first_flows(on_one, 8);
		link_is(t, ONE, false);
		testbed_settle(t, 20);
		device_takes(t, TWO, false);
		receive_some(t, few, 1);
		link_is(t, ONE, true);
		pass_hold_down(t);
		for (uint32_t i = 0; i < t->node->snapshot->n_neighs; i++)
			if (t->node->snapshot->neigh[i].used && t->node->snapshot->neigh[i].port == TWO)
				nexthop_report(t->node->control, i, LIVENESS_BFD, false);
		testbed_settle(t, 20);
		receive_some(t, few, 2);
		receive_some(t, on_two, 1);
		sent(t, ONE, &flows);
		assert_int_equal(flows, on_two);
		device_takes(t, TWO, true);
		testbed_settle(t, 20);
		testbed_pass(t, 5 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
		sent(t, TWO, &flows);
		assert_int_equal(flows, few);
		sent(t, ONE, &flows);
		assert_int_equal(flows, few);
		testbed_check_balance(t);
		testbed_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_moves),
		cmocka_unit_test(return_waits),
		cmocka_unit_test(guests_come_home),
		cmocka_unit_test(backup_carries),
		cmocka_unit_test(nothing_lives),
		cmocka_unit_test(dead_nexthop),
		cmocka_unit_test(outage_of_the_last_way),
		cmocka_unit_test(wait_outlives_outage),
		cmocka_unit_test(return_to_short_queue),
		cmocka_unit_test(guests_go_on),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("rebind", tests, NULL, NULL);
}
