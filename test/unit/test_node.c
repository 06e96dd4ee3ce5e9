/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several lcores, stepped one by one in many different orders: rings, parks, ownership, order of flows. The same with
 * real threads: test_threads.c.
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/config.h"
#include "test/support/conf.h"
#include "test/support/flows.h"
#include "test/support/testbed.h"

static void poll_one(struct testbed *t, unsigned int lcore)
{
	uint64_t next;

	t->now += 1000;
	node_lcore_poll(t->node->lcore[lcore], t->now, &next);
}

/* Any order of polls, with bursts of any size in between: nothing lost, nothing reordered, two owners. */
static void random_interleavings(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (unsigned int run = 0; run < 20; run++) {
		struct testbed *t = testbed_new(TWO_BY_TWO);
		uint32_t sent[FLOWS] = {0}, next[FLOWS] = {0}, total = 0, got = 0;

		assert_int_equal(t->node->n_lcores, 5);
		assert_int_not_equal(t->node->owner[0], t->node->owner[1]);
		for (unsigned int step = 0; step < 600; step++) {
			for (unsigned int k = unit_random(&seed) % 40; k; k--) {
				uint16_t flow = (uint16_t)(unit_random(&seed) % FLOWS);

				receive(t, flow, sent[flow]++);
				total++;
			}
			for (unsigned int k = 0; k < 6; k++)
				poll_one(t, unit_random(&seed) % t->node->n_lcores);
			got += take_all(t, next);
		}
		testbed_settle(t, 1000);
		got += take_all(t, next);
		check(got == total, "run %u: %u of %u arrived", run, got, total);
		testbed_free(t);
	}
}

/* A worker that stands still fills its ring, and a burst is parked; then rx stops receiving from that queue, and nothing is lost. */
static void a_stalled_worker_loses_nothing(void **state)
{
	struct testbed *t = testbed_new(TWO_BY_TWO);
	uint32_t next[FLOWS] = {0}, got, received = 0;

	(void)state;
	for (uint16_t w = 0; w < 2; w++)
		t->node->worker[w].stalled = t->node->owner[1] == w;
	/* flow 2: queue 0, leaves by p1 whose owner stands still */
	for (uint32_t i = 0; i < 1500; i++)
		receive(t, 2, i);
	for (unsigned int i = 0; i < 200; i++)
		testbed_round(t);
	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		received += (uint32_t)t->node->lcore[i]->stats.port[0].rx_packets;
	check(received > 255 && received <= 255 + NODE_BURST, "%u were received", received);
	assert_int_equal(t->port[0]->rx[0].n, 1500 - received);
	assert_int_equal(node_held(t->node), received);
	/* the other rx lcore goes on for the worker that runs */
	for (uint32_t i = 0; i < 300; i++)
		receive(t, 1, i);
	for (unsigned int i = 0; i < 50; i++)
		testbed_round(t);
	got = take_all(t, next);
	assert_int_equal(got, 300);
	t->node->worker[t->node->owner[1]].stalled = false;
	testbed_settle(t, 1000);
	got += take_all(t, next);
	assert_int_equal(got, 1800);
	for (unsigned int r = 0; r < DROP_COUNT; r++)
		assert_int_equal(testbed_reason(t, 0, (enum reason)r), 0);
	testbed_free(t);
}

/* One rx lcore, two workers: what goes to the one that stands still stops its queue, and the other queue goes on. */
static void one_direction_stops(void **state)
{
	struct testbed *t = testbed_new(NODE_OF("{control: 0, rx: [1], worker: [2, 3]}"));
	uint32_t next[FLOWS] = {0}, got = 0;

	(void)state;
	t->node->worker[t->node->owner[1]].stalled = true;
	for (uint32_t i = 0; i < 1500; i++)
		receive(t, 2, i); /* queue 0, to p1 */
	for (unsigned int i = 0; i < 100; i++)
		testbed_round(t);
	for (uint32_t i = 0; i < 1500; i++)
		receive(t, 1, i); /* queue 1, to p0 */
	for (unsigned int i = 0; i < 1000; i++)
		testbed_round(t);
	got = take_all(t, next);
	check(got == 1500, "%u of 1500 of the other direction", got);
	assert_in_range(t->port[0]->rx[0].n, 1500 - 255 - NODE_BURST, 1500 - 256);
	/* it stops as well once its packets are parked */
	for (uint32_t i = 0; i < 100; i++)
		receive(t, 3, i); /* queue 1, to p1 */
	for (unsigned int i = 0; i < 100; i++)
		testbed_round(t);
	assert_in_range(t->port[0]->rx[1].n, 100 - NODE_BURST, 99);
	t->node->worker[t->node->owner[1]].stalled = false;
	testbed_settle(t, 3000);
	got += take_all(t, next);
	assert_int_equal(got, 3100);
	testbed_free(t);
}

#define MANY_PORT(n) \
	"  - {name: p" #n ", device: net_null" #n \
	", side: wan, rx-queues: 4, queue-limit: 1K, addresses: [\"2001:db8:" #n "::2/64\"]}\n"

/*
 * So many queues that the parks have no room for all of them: the less there is, the fewer packets each parks; then nothing is
 * received any more, and nothing is lost.
 */
static void many_queues_share_the_parks(void **state)
{
	struct testbed *t = testbed_new(TESTBED_NODE
		"lcores: {control: 0, rx: [1], worker: [2]}\n"
		"memory: {buffers: 128K, ring: 256}\n"
		"ports:\n" MANY_PORT(0) MANY_PORT(1) MANY_PORT(2) MANY_PORT(3) MANY_PORT(4) MANY_PORT(5) MANY_PORT(6)
			MANY_PORT(7) MANY_PORT(8) MANY_PORT(9) MANY_PORT(10) MANY_PORT(
				11) "neighbors: [{port: p0, address: \"2001:db8:0::3\", mac: \"02:00:00:00:a0:03\"}]\n"
				    "routes: [{prefix: \"5f00:0:400::/48\", port: p0, nexthop: \"2001:db8:0::3\"}]\n"
				    "sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n");
	uint32_t received = 0, got = 0;
	struct sent_frame *f;

	(void)state;
	t->node->worker[0].stalled = true;
	for (unsigned int i = 0; i < 48 * 50; i++) {
		struct fake_port *p = t->port[i % 12];
		uint8_t frame[256];

		fake_port_receive(p, (uint16_t)(i / 12 % 4), frame,
			testbed_frame(frame, &p->port.mac, "5f00:0:100:400::", (uint16_t)(i % 48), i, 100), 0);
	}
	for (unsigned int i = 0; i < 200; i++)
		testbed_round(t);
	for (unsigned int i = 0; i < 12; i++)
		received += (uint32_t)t->node->lcore[1]->stats.port[i].rx_packets;
	check(received == 255 + NODE_PARK - NODE_BURST + 1, "%u were received", received);
	t->node->worker[0].stalled = false;
	testbed_settle(t, 3000);
	for (; (f = fake_port_take(t->port[0])); got++)
		free(f);
	assert_int_equal(got, 48 * 50);
	testbed_free(t);
}

/* The same traffic through one lcore that plays all roles, and through every mixture: the same comes out. */
static void every_mixture_of_roles(void **state)
{
	static const char *const mixtures[] = {
		NODE_OF("{control: 0, rx: [0], worker: [0]}"),
		NODE_OF("{control: 0, rx: [1], worker: [1]}"),
		NODE_OF("{control: 0, rx: [1], worker: [2]}"),
		NODE_OF("{control: 1, rx: [1, 2], worker: [2, 3]}"),
		NODE_OF("{control: 0, rx: [1, 2], worker: [1, 2]}"),
		NODE_OF("{control: 0, rx: [1], worker: [1, 2, 3]}"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(mixtures); i++) {
		struct testbed *t = testbed_new(mixtures[i]);
		uint32_t next[FLOWS] = {0};

		for (uint32_t k = 0; k < 20 * FLOWS; k++)
			receive(t, (uint16_t)(k % FLOWS), k / FLOWS);
		testbed_settle(t, 1000);
		check(take_all(t, next) == 20 * FLOWS, "mixture %zu", i);
		testbed_free(t);
	}
}

/* The division of a frame into buffers must not matter, as long as the headers are in the first one. */
static void chained_frames(void **state)
{
	struct testbed *t = testbed_new(NODE_OF("{control: 0, rx: [0], worker: [0]}"));
	static uint8_t frame[9000];
	struct sent_frame *f;
	uint32_t n;

	(void)state;
	for (uint32_t size = 1200; size <= 1510; size += 31) {
		for (uint32_t first = 120; first < 600; first += 97) {
			n = testbed_frame(frame, &t->port[0]->port.mac, out_of[1], 2, 7, size);
			fake_port_receive(t->port[0], 0, frame, n, first);
			testbed_settle(t, 20);
			f = fake_port_take(t->port[1]);
			check(f && f->size == n, "%u bytes, %u in the first buffer", size, first);
			assert_memory_equal(f->bytes + 54, frame + 54, n - 54);
			free(f);
		}
	}
	/* a header that the first buffer ends in */
	n = testbed_frame(frame, &t->port[0]->port.mac, out_of[1], 2, 8, 200);
	fake_port_receive(t->port[0], 0, frame, n, 50);
	testbed_settle(t, 20);
	assert_int_equal(testbed_reason(t, 0, DROP_headers_split), 1);
	testbed_free(t);
}

/* A bit for each lcore that has input. */
static unsigned int with_input(const struct testbed *t)
{
	unsigned int got = 0;

	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		got |= (unsigned int)node_lcore_has_input(t->node->lcore[i]) << i;
	return got;
}

/*
 * A caller that polls lcores only when they have work learns of every ring. A packet to an unknown neighbour goes to its
 * worker; the worker asks the control lcore, which solicits by way of that worker; when no answer comes, it notifies the worker,
 * which gives the packet back, and the error goes out by a worker again.
 */
static void input_is_reported(void **state)
{
	enum { CONTROL, RX, WORKER };
	struct testbed *t = testbed_new(
		NODE_OF("{control: 0, rx: [1], worker: [2]}") "neighbor-discovery: {retransmit: 100, probes: 1}\n");
	uint8_t frame[256];

	(void)state;
	testbed_settle(t, 1000);
	assert_int_equal(with_input(t), 0);
	fake_port_receive(t->port[0], 0, frame, testbed_frame(frame, &t->port[0]->port.mac, "2001:db8:b::9", 0, 0, 100),
		0);
	poll_one(t, RX);
	assert_int_equal(with_input(t), 1u << WORKER); /* the packet */
	poll_one(t, WORKER);
	assert_int_equal(with_input(t), 1u << CONTROL); /* a question */
	poll_one(t, CONTROL);
	assert_int_equal(with_input(t), 1u << WORKER); /* a solicitation */
	poll_one(t, WORKER);
	assert_int_equal(with_input(t), 0);
	t->now += NSEC_PER_SEC;
	poll_one(t, CONTROL);
	assert_int_equal(with_input(t), 1u << WORKER); /* the answer: no such neighbour */
	poll_one(t, WORKER);
	assert_int_equal(with_input(t), 1u << CONTROL); /* the packet, on its way back */
	poll_one(t, CONTROL);
	poll_one(t, WORKER);
	assert_int_equal(with_input(t), 0);
	/* and packets to the node itself */
	fake_port_receive(t->port[0], 0, frame, testbed_frame(frame, &t->port[0]->port.mac, "2001:db8:a::2", 0, 0, 100),
		0);
	poll_one(t, RX);
	assert_int_equal(with_input(t), 1u << CONTROL);
	testbed_settle(t, 100);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_interleavings),
		cmocka_unit_test(a_stalled_worker_loses_nothing),
		cmocka_unit_test(one_direction_stops),
		cmocka_unit_test(many_queues_share_the_parks),
		cmocka_unit_test(every_mixture_of_roles),
		cmocka_unit_test(chained_frames),
		cmocka_unit_test(input_is_reported),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
