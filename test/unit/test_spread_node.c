/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tunnels spread by software: a device leaves all packets on queue 0, and the rx lcore of that queue hands them by flow label
 * to those of the other queues.
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/budget.h"
#include "config/config.h"
#include "service/pfc/service_pfc.h"
#include "test/support/conf.h"
#include "test/support/testbed.h"

#define FLOWS 64
#define NODE(keys) \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [1, 2, 3], worker: [4]}\n" \
	"memory: {buffers: 96K}\n" \
	"ports:\n" \
	"  - {name: in, device: \"0000:17:00.0\", side: wan, speed: 100G, rx-queues: 3" keys \
	",\n     addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: out, device: \"0000:17:00.1\", side: wan, speed: 100G, rx-queues: 3, queue-limit: 8K,\n" \
	"     buffer-limit: 16K, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:a0:03\"}]\n" \
	"routes: [{prefix: \"5f00:0:400::/48\", port: out, nexthop: \"2001:db8:b::3\"}]\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"
#define PFC ", pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: b}"
#define PROFILE "buffer-profiles: [{name: b, xoff: 512K, xon: 256K, headroom: 1M, forced: true, min-frame: 100}]\n"
#define LOSSLESS 3
#define THROUGH "5f00:0:100:400::"

static struct testbed *bed(const char *yaml)
{
	struct testbed *t = testbed_new(yaml);

	t->port[0]->port.abilities.spread = PORT_SPREAD_SOFTWARE;
	return t;
}

static void arrives(struct testbed *t, uint16_t flow, uint32_t sequence)
{
	testbed_receive(t, 0, THROUGH, flow, sequence, LOSSLESS);
}

/* Frames that rx role 0, which polls queue 0, has handed to another one. */
static uint64_t handed(const struct testbed *t, unsigned int to)
{
	return t->node->rx[0].to_rx[to].box.pushed;
}

static uint32_t sent_in_order(struct testbed *t, uint32_t *next)
{
	struct sent_frame *f;
	uint32_t n = 0, sequence;
	uint16_t flow;

	for (; (f = fake_port_take(t->port[1])); n++) {
		testbed_frame_read(f, &flow, &sequence);
		check(sequence == next[flow], "flow %u: %u came instead of %u", flow, sequence, next[flow]);
		next[flow]++;
		free(f);
	}
	return n;
}

static void poll_one(struct testbed *t, unsigned int lcore)
{
	uint64_t next;

	t->now += 1000;
	node_lcore_poll(t->node->lcore[lcore], t->now, &next);
}

/* All rx lcores get their part of the flows, and whatever the order in which lcores run, a flow keeps its own. */
static void flows_reach_all_lcores(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (unsigned int run = 0; run < 10; run++) {
		struct testbed *t = bed(NODE(""));
		uint32_t sent[FLOWS] = {0}, next[FLOWS] = {0}, total = 0, got = 0;

		for (unsigned int step = 0; step < 400; step++) {
			for (unsigned int k = unit_random(&seed) % 60; k; k--, total++) {
				uint16_t flow = (uint16_t)(unit_random(&seed) % FLOWS);

				arrives(t, flow, sent[flow]++);
			}
			for (unsigned int k = 0; k < 6; k++)
				poll_one(t, unit_random(&seed) % t->node->n_lcores);
			got += sent_in_order(t, next);
		}
		testbed_settle(t, 1000);
		got += sent_in_order(t, next);
		check(got == total, "run %u: %u of %u", run, got, total);
		for (unsigned int i = 1; i < 3; i++)
			check(handed(t, i) > total / 5 && handed(t, i) < total / 2, "rx role %u got %lu of %u", i,
				(unsigned long)handed(t, i), total);
		testbed_check_balance(t);
		testbed_free(t);
	}
}

/* With a device that does it, or on behalf of the configuration, nothing is handed on. */
static void devices_that_spread(void **state)
{
	static const enum port_spread not_software[] = {PORT_SPREAD_INNER, PORT_SPREAD_RULE, PORT_SPREAD_OUTER};
	uint32_t next[FLOWS] = {0};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(not_software); i++) {
		struct testbed *t = bed(NODE(""));

		t->port[0]->port.abilities.spread = (uint8_t)not_software[i];
		for (uint16_t flow = 0; flow < FLOWS; flow++)
			arrives(t, flow, i);
		testbed_settle(t, 100);
		assert_int_equal(sent_in_order(t, next), FLOWS);
		assert_int_equal(handed(t, 1) + handed(t, 2), 0);
		testbed_free(t);
	}
}

/* A frame of one lane or another; returns the rx role that got it, 0 if it stayed. */
static unsigned int role_of(struct testbed *t, const uint8_t *frame, uint32_t n)
{
	uint64_t one = handed(t, 1), two = handed(t, 2);

	fake_port_receive(t->port[0], 0, frame, n, 0);
	testbed_settle(t, 100);
	return handed(t, 1) > one ? 1 : handed(t, 2) > two ? 2 : 0;
}

static void forget_sent(struct testbed *t)
{
	struct sent_frame *f;

	while ((f = fake_port_take(t->port[1])))
		free(f);
}

/* Control traffic, and what is in no tunnel, stays; without a label the inner packet says where. */
static void what_is_handed_on(void **state)
{
	struct testbed *t = bed(NODE(""));
	unsigned int by_label = 0, by_inner = 0;

	(void)state;
	for (uint16_t flow = 0; flow < FLOWS; flow++) {
		uint8_t frame[256];
		uint32_t n = testbed_frame(frame, &t->port[0]->port.mac, THROUGH, flow, 0, 120);
		struct ipv6_hdr *outer = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));

		by_label += role_of(t, frame, n) != 0;
		outer->vtc_flow = ipv6_vtc_flow(DSCP_NETWORK_CONTROL << 2, 0x10000u + flow);
		assert_int_equal(role_of(t, frame, n), 0);
		outer->vtc_flow = ipv6_vtc_flow(0, 0);
		by_inner += role_of(t, frame, n) != 0;
		outer->vtc_flow = ipv6_vtc_flow(0, 0x10000u + flow);
		outer->next_header = IP_PROTO_UDP;
		assert_int_equal(role_of(t, frame, n), 0);
		/* cut off in the middle of the outer header: nothing behind it is read */
		assert_int_equal(role_of(t, frame, 40), 0);
	}
	assert_in_range(by_label, FLOWS / 2, FLOWS * 5 / 6);
	assert_in_range(by_inner, FLOWS / 2, FLOWS * 5 / 6);
	forget_sent(t);
	testbed_free(t);
}

/* rss-symmetric: both directions of a flow go to the same lcore, whatever their labels are. */
static void symmetric(void **state)
{
	struct testbed *t = bed(NODE(", rss-symmetric: yes"));
	unsigned int others = 0;

	(void)state;
	for (uint16_t flow = 0; flow < FLOWS; flow++) {
		uint8_t frame[256];
		uint32_t n = testbed_frame(frame, &t->port[0]->port.mac, THROUGH, flow, 0, 120);
		struct ipv6_hdr *outer = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)), *inner = outer + 1;
		be16_t *ports = (be16_t *)(inner + 1), port = ports[0];
		struct ipv6_addr a = inner->src;
		unsigned int role = role_of(t, frame, n);

		others += role != 0;
		outer->vtc_flow = ipv6_vtc_flow(0, 0x777u * flow + 5);
		inner->src = inner->dst;
		inner->dst = a;
		ports[0] = ports[1];
		ports[1] = port;
		check(role_of(t, frame, n) == role, "flow %u", flow);
	}
	assert_in_range(others, FLOWS / 2, FLOWS * 5 / 6);
	forget_sent(t);
	testbed_free(t);
}

/* An rx lcore that stands still: its ring fills, and the queue is not polled; nothing is lost, and it is charged. */
static void a_stalled_lcore(void **state)
{
	struct testbed *t = bed(NODE(PFC) PROFILE);
	uint32_t next[FLOWS] = {0}, waiting;

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		for (uint16_t flow = 0; flow < FLOWS; flow++)
			arrives(t, flow, i);
	for (unsigned int k = 0; k < 300; k++)
		for (unsigned int lcore = 0; lcore < t->node->n_lcores; lcore++)
			if (t->node->lcore[lcore]->rx != &t->node->rx[1])
				poll_one(t, lcore);
	waiting = mailbox_used(&t->node->rx[0].to_rx[1].box);
	assert_in_range(waiting, LIMIT_SPREAD_RING - 2 * NODE_BURST, LIMIT_SPREAD_RING - 1);
	/* what is in the ring and the backlog is known to the buffer of its class */
	assert_true(service_pfc_level(t->node, 0, LOSSLESS).buffers >= waiting);
	assert_true(sent_in_order(t, next) < 20 * FLOWS);
	testbed_settle(t, 3000);
	sent_in_order(t, next);
	for (uint16_t flow = 0; flow < FLOWS; flow++)
		assert_int_equal(next[flow], 20);
	assert_int_equal(service_pfc_level(t->node, 0, LOSSLESS).buffers, 0);
	testbed_free(t);
}

/* What is on the way when the node stops is counted. */
static void stopped_on_the_way(void **state)
{
	struct testbed *t = bed(NODE(PFC) PROFILE);

	(void)state;
	for (uint16_t flow = 0; flow < FLOWS; flow++)
		arrives(t, flow, 0);
	for (unsigned int lcore = 0; lcore < t->node->n_lcores; lcore++)
		if (t->node->lcore[lcore]->rx == &t->node->rx[0])
			poll_one(t, lcore);
	assert_true(mailbox_used(&t->node->rx[0].to_rx[1].box) > 0);
	node_drain(t->node);
	assert_true(testbed_reason(t, 0, DROP_stopped) > 0);
	testbed_check_balance(t);
	testbed_free(t);
}

/* What the rings promise is in the budget, and only where there are such rings. */
static void rings(void **state)
{
	static const struct {
		const char *keys;
		unsigned int rings;
	} rows[] = {
		{", device: \"0000:17:00.0\", rx-queues: 4", 12},
		{", device: \"0000:17:00.0\", rx-queues: 2", 2},
		{", device: \"0000:17:00.0\", rx-queues: 16", 12},
		{", device: \"0000:17:00.0\", rx-queues: 4, rx-spread: device", 0},
		{", device: \"0000:17:00.0\"", 0},
		{", device: net_null0, rx-queues: 4", 0},
		{", device: net_null0, rx-queues: 4, rx-spread: software", 12},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char yaml[512];
		struct config *c;
		struct cfg_budget b;
		bool there = false;

		snprintf(yaml, sizeof(yaml),
			TESTBED_NODE "lcores: {control: 0, rx: [1, 2, 3, 4], worker: [5]}\n"
				     "memory: {buffers: 96K}\nports: [{name: p, side: wan%s}]\n",
			rows[i].keys);
		c = conf_load(CONF_CHECK, yaml);
		assert_int_equal(cfg_spread_rings(c), rows[i].rings);
		cfg_budget(c, &b);
		for (unsigned int k = 0; k < b.n; k++)
			if (strcmp(b.line[k].what, "frames spread over rx lcores by software") == 0) {
				assert_int_equal(b.line[k].buffers, rows[i].rings * (LIMIT_SPREAD_RING - 1));
				there = true;
			}
		check(there == (rows[i].rings > 0), "row %u", i);
		cfg_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_reach_all_lcores),
		cmocka_unit_test(devices_that_spread),
		cmocka_unit_test(what_is_handed_on),
		cmocka_unit_test(symmetric),
		cmocka_unit_test(a_stalled_lcore),
		cmocka_unit_test(stopped_on_the_way),
		cmocka_unit_test(rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
