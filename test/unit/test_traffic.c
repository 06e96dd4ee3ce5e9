/* SPDX-License-Identifier: BSD-3-Clause */
/* What a SID and a path of a policy have carried: counted for them, since `clear stats`, and not for who had their ids before. */
#include "test/support/unit.h"

#include "node/node_ctl.h"
#include "test/support/conf.h"
#include "test/support/testbed.h"

#define PORTS \
	"lcores: {control: 0, rx: [0], worker: [0]}\n" \
	"ports:\n" \
	"  - {name: wan, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: dc, device: net_null1, side: dc, vrf: a, addresses: [\"2001:db8:d::2/64\"]}\n" \
	"neighbors: [{port: wan, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:03\"}]\n" \
	"routes: [{prefix: \"5f00::/32\", port: wan, nexthop: \"2001:db8:a::3\"}]\n"
#define ROUTE(policy) "vrfs: [{name: a, routes: [{prefix: \"2001:db8:99::/64\", policy: " policy "}]}]\n"
#define SID(sid) "sids: [{sid: \"" sid "/48\", behavior: uN}]\n"
#define FIRST \
	TESTBED_NODE PORTS ROUTE("p") SID("5f00:0:100::") "policies: [{name: p, paths: [{name: one, segments: " \
							  "[\"5f00:0:600::\", \"5f00:0:900::\"]},\n" \
							  "                             {name: two, segments: " \
							  "[\"5f00:0:700::\", \"5f00:0:900::\"]}]}]\n"
#define NOTHING TESTBED_NODE PORTS "vrfs: [{name: a}]\n"
#define SECOND \
	TESTBED_NODE PORTS ROUTE("q") SID("5f00:0:101::") "policies: [{name: q, paths: [{name: three, segments: " \
							  "[\"5f00:0:800::\", \"5f00:0:900::\"]},\n" \
							  "                             {name: four, segments: " \
							  "[\"5f00:0:801::\", \"5f00:0:900::\"]}]}]\n"

enum { WAN, DC };
#define FLOWS 64
#define INNER (120 - 14) /* bytes of a packet without Ethernet header */

static void receive(struct testbed *t, unsigned int port, const char *da)
{
	struct sent_frame *f;
	uint8_t frame[256];

	for (uint16_t flow = 0; flow < FLOWS; flow++) {
		struct fake_port *p = t->port[port];

		fake_port_receive(p, 0, frame, testbed_frame(frame, &p->port.mac, da, flow, 0, 120), 0);
	}
	testbed_settle(t, 20);
	while ((f = fake_port_take(t->port[WAN])))
		free(f);
}

static void reload(struct testbed *t, const char *yaml)
{
	char err[256] = "";

	check(node_apply(t->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
	testbed_settle(t, 50);
	while (node_reclaim(t->node))
		testbed_settle(t, 1);
}

/* The id of the only SID. */
static uint32_t sid_of(const struct testbed *t)
{
	uint32_t id = 0;

	while (!t->node->snapshot->sid[id].used)
		id++;
	return id;
}

static void check_carried(struct testbed *t, uint64_t packets)
{
	const struct snap_policy *p = &t->node->snapshot->policy[0];
	struct path_traffic one = node_path_shown(t->node, p->path[0]), two = node_path_shown(t->node, p->path[1]);
	struct sid_counter sid = node_sid_shown(t->node, sid_of(t));

	assert_int_equal(one.packets + two.packets, packets);
	assert_int_equal(one.bytes + two.bytes, packets * (INNER + sizeof(struct ipv6_hdr)));
	assert_int_equal(sid.packets, packets);
	if (packets)
		assert_true(one.packets && two.packets);
}

static void counted(void **state)
{
	struct testbed *t = testbed_new(FIRST);

	(void)state;
	testbed_settle(t, 200);
	check_carried(t, 0);
	receive(t, DC, "2001:db8:99::1");
	receive(t, WAN, "5f00:0:100:900::");
	check_carried(t, FLOWS);
	reload(t, FIRST);
	check_carried(t, FLOWS);
	node_clear_stats(t->node);
	check_carried(t, 0);
	assert_int_equal(node_path(t->node, t->node->snapshot->policy[0].path[0]).packets +
				 node_path(t->node, t->node->snapshot->policy[0].path[1]).packets,
		FLOWS);
	receive(t, DC, "2001:db8:99::1");
	receive(t, WAN, "5f00:0:100:900::");
	check_carried(t, FLOWS);
	testbed_free(t);
}

/* Another SID, and paths of another policy, get the ids. */
static void begins_again(void **state)
{
	(void)state;
	for (unsigned int cleared = 0; cleared < 2; cleared++) {
		struct testbed *t = testbed_new(FIRST);
		uint32_t sid, path;

		testbed_settle(t, 200);
		receive(t, DC, "2001:db8:99::1");
		receive(t, WAN, "5f00:0:100:900::");
		sid = sid_of(t);
		path = t->node->snapshot->policy[0].path[0];
		if (cleared)
			node_clear_stats(t->node);
		reload(t, NOTHING);
		reload(t, SECOND);
		assert_int_equal(sid_of(t), sid);
		assert_int_equal(t->node->snapshot->policy[0].path[0], path);
		check_carried(t, 0);
		receive(t, DC, "2001:db8:99::1");
		receive(t, WAN, "5f00:0:101:900::");
		check_carried(t, FLOWS);
		testbed_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted),
		cmocka_unit_test(begins_again),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("traffic", tests, NULL, NULL);
}
