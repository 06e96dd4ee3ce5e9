/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port whose device does not work any more is restarted while the node runs: no lcore uses the device meanwhile, what
 * is queued takes the other port or waits, nothing is lost, and the port works as before afterwards.
 */
#include "test/support/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "test/support/testbed.h"

#define CONFIG(lcores, pfc) \
	TESTBED_NODE \
	"lcores: " lcores "\nmemory: {buffers: 64K}\n" \
	"failover: {hold: 10}\n" \
	"ports:\n" \
	"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]" pfc "}\n" \
	"  - {name: one, device: net_null1, side: wan, queue-limit: 2K, addresses: [\"2001:db8:b::2/64\"]" pfc "}\n" \
	"  - {name: two, device: net_null2, side: wan, queue-limit: 2K, addresses: [\"2001:db8:c::2/64\"]}\n" \
	"neighbors:\n" \
	"  - {port: one, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
	"  - {port: two, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:03\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: one, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: two, nexthop: \"2001:db8:c::3\"}\n" \
	"  - {prefix: \"5f00:0:600::/48\", port: one, nexthop: \"2001:db8:b::3\"}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"
#define LOSSLESS \
	", speed: 10G, pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: b, length: 100, outage: 500}"
#define PROFILE "buffer-profiles: [{name: b, xoff: 20K, xon: 8K, headroom: 400K, forced: true, min-frame: 100}]\n"
#define ONE_LCORE "{control: 0, rx: [0], worker: [0]}"

enum { IN, ONE, TWO };
#define FLOWS 16
#define BOTH "5f00:0:100:500:300::"
#define ONLY_ONE "5f00:0:100:600:300::"

static char logged[4096];

static void keep_log(enum log_level level, enum log_module module, const char *line)
{
	size_t n = strlen(logged);

	(void)level;
	if (module == LOG_port)
		snprintf(logged + n, sizeof(logged) - n, "%s\n", line);
}

static struct testbed *bed(const char *yaml)
{
	struct testbed *t = testbed_new(yaml);

	logged[0] = '\0';
	log_set_sink(keep_log);
	testbed_settle(t, 200);
	return t;
}

static void receive(struct testbed *t, const char *da, uint32_t sequence)
{
	/* class 3, which is lossless where the configuration says so */
	for (uint16_t flow = 0; flow < FLOWS; flow++)
		testbed_receive(t, IN, da, flow, sequence, 3);
	testbed_settle(t, 4);
}

/* Packets of flows that a port has sent; in order. */
static unsigned int sent(struct testbed *t, unsigned int port, uint32_t *next)
{
	struct sent_frame *f;
	unsigned int n = 0;

	while ((f = fake_port_take(t->port[port]))) {
		uint32_t sequence;
		uint16_t flow;

		if (f->bytes[20] == IP_PROTO_IPV6) {
			testbed_frame_read(f, &flow, &sequence);
			check(sequence == next[flow], "flow %u: %u instead of %u", flow, sequence, next[flow]);
			next[flow]++;
			n++;
		}
		free(f);
	}
	return n;
}

static void manage(struct testbed *t)
{
	node_restart_ports(t->node, t->now);
}

static void device_returns(struct testbed *t, unsigned int port)
{
	port_set_link(&t->port[port]->port, true);
	testbed_pass(t, 20 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
}

/* What is queued, and what arrives meanwhile, leaves by the other port, in order; later all flows are at home again. */
static void traffic_goes_elsewhere(void **state)
{
	struct testbed *t = bed(CONFIG(ONE_LCORE, ""));
	uint32_t next[FLOWS] = {0};
	uint64_t calls;

	(void)state;
	t->port[ONE]->tx_limit = 0; /* the device has stopped taking frames before it is known why */
	for (uint32_t k = 0; k < 20; k++)
		receive(t, BOTH, k);
	t->port[ONE]->fails = "the device was reset";
	t->port[ONE]->restart_result = -EAGAIN;
	manage(t);
	assert_false(port_is_up(&t->port[ONE]->port));
	calls = t->port[ONE]->tx_calls;
	for (uint32_t k = 20; k < 40; k++)
		receive(t, BOTH, k);
	manage(t);
	assert_int_equal(t->port[ONE]->tx_calls, calls);
	assert_int_equal(sent(t, TWO, next), FLOWS * 40);
	t->port[ONE]->restart_result = 0;
	t->port[ONE]->tx_limit = UINT32_MAX;
	manage(t);
	device_returns(t, ONE);
	testbed_pass(t, 150 * NSEC_PER_MSEC, 1 * NSEC_PER_MSEC);
	receive(t, BOTH, 40);
	assert_true(sent(t, ONE, next) > 0);
	assert_true(sent(t, TWO, next) > 0);
	for (unsigned int flow = 0; flow < FLOWS; flow++)
		assert_int_equal(next[flow], 41);
	testbed_free(t);
}

/* Nothing else lives: lossless packets wait in the node, and leave when the device is back. */
static void lossless_waits(void **state)
{
	struct testbed *t = bed(CONFIG(ONE_LCORE, LOSSLESS) PROFILE);
	uint32_t next[FLOWS] = {0};

	(void)state;
	t->port[ONE]->fails = "the device was removed";
	t->port[ONE]->restart_result = -EAGAIN;
	manage(t);
	for (uint32_t k = 0; k < 10; k++)
		receive(t, ONLY_ONE, k);
	assert_int_equal(sent(t, ONE, next), 0);
	t->port[ONE]->restart_result = 0;
	manage(t);
	device_returns(t, ONE);
	assert_int_equal(sent(t, ONE, next), FLOWS * 10);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), 0);
	testbed_free(t);
}

/* An lcore that is in a pass may use the device: it is restarted when every lcore has ended one. */
static void no_lcore_uses_it(void **state)
{
	struct testbed *t = bed(CONFIG("{control: 0, rx: [1], worker: [2]}", ""));
	uint64_t next = 0;

	(void)state;
	assert_int_equal(t->node->n_lcores, 3);
	t->port[ONE]->fails = "its kernel interface was deleted";
	manage(t);
	for (unsigned int lcore = 0; lcore < 3; lcore++) {
		manage(t);
		check(!t->port[ONE]->restarts, "restarted while lcores %u to 2 may use it", lcore);
		node_lcore_poll(t->node->lcore[lcore], t->now += 1000, &next);
	}
	manage(t);
	assert_int_equal(t->port[ONE]->restarts, 1);
	testbed_free(t);
}

/* What is not there yet is tried in every call, in silence; errors are logged, and tried again later and later. */
static void tries_again(void **state)
{
	struct testbed *t = bed(CONFIG(ONE_LCORE, ""));
	unsigned int n;

	(void)state;
	t->port[ONE]->fails = "its kernel interface was deleted";
	t->port[ONE]->restart_result = -EAGAIN;
	manage(t);
	testbed_settle(t, 4);
	for (unsigned int i = 0; i < 5; i++)
		manage(t);
	assert_int_equal(t->port[ONE]->restarts, 5);
	check_text("silent", logged,
		"one: out of use: its kernel interface was deleted; it is restarted as soon as that is possible\n");
	t->port[ONE]->restart_result = -EIO;
	logged[0] = '\0';
	manage(t);
	check_text("error", logged, "one: cannot be restarted: out of order; next attempt in 100 ms\n");
	for (unsigned int ms = 0; ms < 1500; ms++, t->now += NSEC_PER_MSEC)
		manage(t);
	n = t->port[ONE]->restarts - 6;
	check(n == 3, "%u attempts in 1.5 s: not after 100, 200, 400, 800 ms", n);
	t->port[ONE]->restart_result = 0;
	logged[0] = '\0';
	t->now += NSEC_PER_SEC;
	manage(t);
	check(strstr(logged, "one: restarted after 25") && strstr(logged, " ms (its kernel interface was deleted)"),
		"%s", logged);
	testbed_free(t);
}

/* A device that comes back with another MAC address: the node uses it from then on. */
static void another_address(void **state)
{
	struct testbed *t = bed(CONFIG(ONE_LCORE, ""));
	const struct eth_addr mac = {{2, 0, 0, 0, 0xee, 1}};

	(void)state;
	t->port[ONE]->fails = "the device was reset";
	t->port[ONE]->mac_after = mac;
	manage(t);
	testbed_settle(t, 4);
	manage(t);
	assert_memory_equal(&t->node->snapshot->port[ONE].mac, &mac, sizeof(mac));
	assert_memory_equal(&t->node->snapshot->port[TWO].mac, &t->port[TWO]->port.mac, sizeof(mac));
	testbed_settle(t, 4);
	node_reclaim(t->node);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traffic_goes_elsewhere),
		cmocka_unit_test(lossless_waits),
		cmocka_unit_test(no_lcore_uses_it),
		cmocka_unit_test(tries_again),
		cmocka_unit_test(another_address),
	};

	return cmocka_run_group_tests_name("port_restart", tests, NULL, NULL);
}
