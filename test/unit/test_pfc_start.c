/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pauses by End.X.PFC over interruptions: of the way back, and of the node itself, which has forgotten them when it is back
 * (docs/pfc.md, Restarts).
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "pfc/pfc_frame.h"
#include "test/support/testbed.h"

#define LONG 335540ull /* ns of 65535 quanta at 100 Gb/s */
#define VIA_P1 "5f00:0:100:400::"
#define VIA_GOLD "5f00:0:e100:400::"

#define STARTS \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 32K}\n" \
	"slices: [{name: gold}]\n" \
	"buffer-profiles: [{name: small, xoff: 4096, xon: 2048, headroom: 64K, forced: true}]\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, speed: 100G, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: small}}\n" \
	"  - {name: p1, device: net_null1, side: wan, speed: 100G, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"neighbors: [{port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}]\n" \
	"routes: [{prefix: \"5f00:0:400::/48\", port: p1, nexthop: \"2001:db8:b::3\"}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e100::/48\", behavior: uA, port: p1, nexthop: \"2001:db8:b::3\", slice: gold}\n" \
	"  - {sid: \"5f00:1:1:e4::/64\", behavior: End.X.PFC, port: p1, nexthop: \"2001:db8:b::3\", slice: gold%s}\n"

static struct testbed *starts(bool now, const char *keys)
{
	char yaml[4096];

	snprintf(yaml, sizeof(yaml), STARTS, keys);
	return now ? testbed_started(yaml) : testbed_new(yaml);
}

static void drain(struct testbed *t)
{
	struct sent_frame *f;

	testbed_pass(t, 60 * NSEC_PER_MSEC, 100000);
	while ((f = fake_port_take(t->port[1])))
		free(f);
}

/* A pause outlives an interruption of the way back of 50 ms, and no longer one; XON ends it at once. */
static void way_back_cut(void **state)
{
	const uint64_t hold = LONG + 50 * NSEC_PER_MSEC;
	struct testbed *t = starts(false, "");

	testbed_pfc_stop(t, "5f00:1:1:e4::", "fd00::3", 3, 65535);
	assert_false(testbed_passes(t, VIA_GOLD, 3, 1));
	testbed_pass(t, hold - 50000, 10000);
	assert_int_equal(t->port[1]->n_sent, 0);
	testbed_pass(t, 60000, 1000);
	assert_true(testbed_passes(t, VIA_GOLD, 3, 1));
	testbed_pfc_stop(t, "5f00:1:1:e4::", "fd00::3", 3, 65535);
	assert_false(testbed_passes(t, VIA_GOLD, 3, 1));
	testbed_pfc_stop(t, "5f00:1:1:e4::", "fd00::3", 3, 0);
	assert_true(testbed_passes(t, VIA_GOLD, 3, 1));
	drain(t);
	testbed_free(t);
}

/*
 * A node that starts does not know what far nodes have asked for: its lossless classes wait behind End.X.PFC until one is
 * heard, or for as long as a pause can last without a word. Other classes and slices do not wait.
 */
static void start_waits(void **state)
{
	static const struct {
		bool now;
		const char *keys;
		bool waits;
	} rows[] = {{true, "", true}, {false, "", false}, {true, ", outage: 0, jitter: 9", false}};
	struct testbed *t;

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		t = starts(rows[i].now, rows[i].keys);
		testbed_settle(t, 100);
		check(testbed_passes(t, VIA_GOLD, 3, 1) != rows[i].waits, "row %u", i);
		drain(t);
		testbed_free(t);
	}
	/* until it hears that it may go on, about this priority */
	t = starts(true, "");
	testbed_pfc_stop(t, "5f00:1:1:e4::", "fd00::3", 5, 0);
	assert_false(testbed_passes(t, VIA_GOLD, 3, 1));
	assert_true(testbed_passes(t, VIA_P1, 3, 1));
	assert_true(testbed_passes(t, VIA_GOLD, 2, 1));
	testbed_pfc_stop(t, "5f00:1:1:e4::", "fd00::3", 3, 0);
	assert_true(testbed_passes(t, VIA_GOLD, 3, 1));
	drain(t);
	testbed_free(t);
	/* or that it may not: then as long as it is told */
	t = starts(true, "");
	testbed_pfc_stop(t, "5f00:1:1:e4::", "fd00::3", 3, 65535);
	assert_false(testbed_passes(t, VIA_GOLD, 3, 1));
	testbed_pfc_stop(t, "5f00:1:1:e4::", "fd00::3", 3, 0);
	assert_true(testbed_passes(t, VIA_GOLD, 3, 1));
	drain(t);
	testbed_free(t);
	/* or until nobody can have said anything */
	t = starts(true, "");
	testbed_pass(t, 49 * NSEC_PER_MSEC, 100000);
	assert_false(testbed_passes(t, VIA_GOLD, 3, 1));
	testbed_pass(t, 2 * NSEC_PER_MSEC, 100000);
	assert_true(testbed_passes(t, VIA_GOLD, 3, 1));
	drain(t);
	testbed_free(t);
}

#define SPEEDS \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 32K}\n" \
	"slices: [{name: gold}]\n" \
	"buffer-profiles: [{name: far, min-frame: 1024}]\n" \
	"ports:\n" \
	"  - {name: p0, device: \"0000:01:00.0\", side: wan, speed: 100G, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: far}}\n" \
	"  - {name: p1, device: \"0000:01:00.1\", side: wan, speed: 100G, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"  - {name: p2, device: \"0000:01:00.2\", side: wan, addresses: [\"2001:db8:c::2/64\"]}\n" \
	"neighbors: [{port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}]\n" \
	"routes: [{prefix: \"5f00:0:400::/48\", port: p1, nexthop: \"2001:db8:b::3\"}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e100::/48\", behavior: uA, port: p1, nexthop: \"2001:db8:b::3\", slice: gold}\n" \
	"  - {sid: \"5f00:1:1:e4::/64\", behavior: End.X.PFC, port: p1, nexthop: \"2001:db8:b::3\", slice: gold,\n" \
	"     outage: 0, jitter: 1}\n"

#define G 1000000000ull

static void flap(struct testbed *t, unsigned int port, uint32_t mbps)
{
	port_set_link(&t->port[port]->port, false);
	testbed_pass(t, 100000, 10000);
	t->port[port]->link_mbps = mbps;
	port_set_link(&t->port[port]->port, true);
	testbed_pass(t, 2 * NSEC_PER_MSEC, 10000);
}

/*
 * The speed of a NIC is read when its link comes up, and everything that counts bit times follows: pauses, headroom. A device
 * that says nothing keeps the configured speed, and a link that is down the last one.
 */
static void speed_of_the_link(void **state)
{
	struct testbed *t = testbed_new(SPEEDS);
	struct pfc_buffer_config planned;
	char err[256] = "";

	(void)state;
	assert_int_equal(node_read_speeds(t->node, err, sizeof(err)), 0);
	assert_int_equal(t->node->snapshot->port[0].speed_bps, 100 * G);
	assert_int_equal(t->node->snapshot->port[2].speed_bps, 0);
	planned = t->node->snapshot->port[0].buffer;
	for (unsigned int i = 0; i < 3; i++)
		flap(t, i, 25000);
	assert_int_equal(node_read_speeds(t->node, err, sizeof(err)), 1);
	assert_int_equal(node_read_speeds(t->node, err, sizeof(err)), 0);
	for (unsigned int i = 0; i < 3; i++)
		check(t->node->snapshot->port[i].speed_bps == 25 * G, "port %u", i);
	/* slower, so less is on its way when a pause is sent */
	assert_true(t->node->snapshot->port[0].buffer.full.bytes - t->node->snapshot->port[0].buffer.urgent.bytes <
		    planned.full.bytes - planned.urgent.bytes);
	testbed_settle(t, 100);
	/* the same quanta last four times as long */
	testbed_pfc_stop(t, "5f00:1:1:e4::", "fd00::3", 3, 65535);
	testbed_pass(t, 4 * LONG - 20000, 10000);
	assert_false(testbed_passes(t, VIA_GOLD, 3, 1));
	testbed_pass(t, 40000, 10000);
	assert_true(testbed_passes(t, VIA_GOLD, 3, 1));
	/* down: as before; up at another speed: that one */
	port_set_link(&t->port[2]->port, false);
	assert_int_equal(node_read_speeds(t->node, err, sizeof(err)), 0);
	assert_int_equal(t->node->snapshot->port[2].speed_bps, 25 * G);
	flap(t, 2, 400000);
	assert_int_equal(node_read_speeds(t->node, err, sizeof(err)), 1);
	assert_int_equal(t->node->snapshot->port[2].speed_bps, 400 * G);
	/* there are no more buffers than for the configured speed */
	flap(t, 0, 400000);
	assert_int_equal(node_read_speeds(t->node, err, sizeof(err)), 1);
	assert_int_equal(t->node->snapshot->port[0].buffer.full.bytes, planned.full.bytes);
	drain(t);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(way_back_cut),
		cmocka_unit_test(start_waits),
		cmocka_unit_test(speed_of_the_link),
	};

	return cmocka_run_group_tests_name("pfc_start", tests, NULL, NULL);
}
