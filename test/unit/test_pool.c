/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffer pool cannot run dry: a node that has exactly as many buffers as --check demands, with jumbo frames in every
 * place that is counted in packets at once. What other places are promised is taken out of the pool beforehand.
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/budget.h"
#include "test/support/conf.h"
#include "test/support/packet.h"
#include "service/services.h"
#include "test/support/testbed.h"
#include "wire/icmp.h"

#define MTU "9216"
#define FRAME (9216 + sizeof(struct eth_hdr))

#define YAML \
	"node: {name: t, loopback: \"fd00::d\", usid: {block: \"5f00:0::/32\", node: 0x100},\n" \
	"  infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {ring: 128, buffers: %llu, buffer-size: %s}\n" \
	"icmp: {echo: 1000000}\n" \
	"neighbor-discovery: {hold: 64, hold-total: 64}\n" \
	"ports:\n" \
	"  - {name: in, device: net_null0, side: wan, mtu: " MTU ", addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: out, device: net_null1, side: wan, mtu: " MTU \
	", buffer-limit: 64, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"neighbors:\n" \
	"  - {port: in, address: \"2001:db8:a::9\", mac: \"02:00:00:00:a0:00\"}\n" \
	"  - {port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:600::/48\", port: out, nexthop: \"2001:db8:b::6\"}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

#define VIA_KNOWN "5f00:0:100:500:300::"
#define VIA_UNKNOWN "5f00:0:100:600:300::"

enum { IN, OUT };

struct fill {
	struct testbed *t;
	struct cfg_budget promised;
	struct rte_mbuf *others[65536]; /* of places that the test does not fill */
	unsigned int n_others;
	uint8_t frame[FRAME];
	uint32_t bytes; /* of it */
};

static uint64_t line(const struct cfg_budget *b, const char *what)
{
	for (unsigned int i = 0; i < b->n; i++)
		if (strcmp(b->line[i].what, what) == 0)
			return b->line[i].buffers;
	fail_msg("no line %s", what);
	return 0;
}

/* Slots of the rings to the control lcore that pings do not use: as if they were in use. */
#define OTHER_PUNTS (LIMIT_PUNT_RINGS - punt_ring_slots(PUNT_RING_REST, 128))

static unsigned int left(const struct fill *f)
{
	return rte_mempool_avail_count(f->t->node->pool);
}

/* A node with what a configuration with buffers of this size promises, to the buffer; the rest is as if it were in use. */
static struct fill *fill_new(const char *size)
{
	static const char *const filled[] = {"rings between lcores", "packets parked while a ring is full",
		"packets waiting for a neighbour"};
	struct fill *f = calloc(1, sizeof(*f));
	char yaml[4096];
	struct config *c;
	uint64_t free_lines;

	assert_non_null(f);
	snprintf(yaml, sizeof(yaml), YAML, 1ull << 20, size);
	c = conf_load(CONF_CHECK, yaml);
	cfg_budget(c, &f->promised);
	cfg_free(c);
	snprintf(yaml, sizeof(yaml), YAML, (unsigned long long)f->promised.total, size);
	f->t = testbed_new(yaml);
	/* what one lcore has in its hands; data for one of two ports in its queues, and rewritten */
	free_lines = (line(&f->promised, "pool caches and bursts of lcores") / 3 - LIMIT_POOL_CACHE) + 64 +
		     line(&f->promised, "rewritten frames that the device has not accepted yet") / 4;
	for (unsigned int i = 0; i < ARRAY_LEN(filled); i++)
		free_lines += line(&f->promised, filled[i]);
	free_lines -= OTHER_PUNTS * f->promised.frame;
	while (left(f) > free_lines) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(f->t->node->pool);

		assert_non_null(m);
		f->others[f->n_others++] = m;
	}
	return f;
}

static void fill_free(struct fill *f)
{
	rte_pktmbuf_free_bulk(f->others, f->n_others);
	testbed_free(f->t);
	free(f);
}

static void poll_lcore(struct fill *f, struct node_lcore *l)
{
	uint64_t next;

	f->t->now += NSEC_PER_USEC;
	node_lcore_poll(l, f->t->now, &next);
}

static void make_data(struct fill *f, const char *da)
{
	f->bytes = testbed_frame(f->frame, &f->t->port[IN]->port.mac, da, 1, 1, FRAME);
}

static void make_ping(struct fill *f)
{
	struct eth_hdr *eth = (struct eth_hdr *)f->frame;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(eth + 1);
	struct icmp_hdr *icmp = (struct icmp_hdr *)(ip + 1);
	struct ip_addr a;

	memset(f->frame, 0, FRAME);
	eth->dst = f->t->port[IN]->port.mac;
	eth->src = (struct eth_addr){{0x02, 0, 0, 0, 0xa0, 0}};
	eth->type = be16(ETH_TYPE_IPV6);
	ip->vtc_flow = ipv6_vtc_flow(0, 0);
	ip->next_header = IP_PROTO_ICMP6;
	ip->hop_limit = 64;
	assert_int_equal(ip_addr_parse("2001:db8:a::9", &a), 0);
	ip->src = a.v6;
	assert_int_equal(ip_addr_parse("2001:db8:a::2", &a), 0);
	ip->dst = a.v6;
	icmp->type = ICMP6_ECHO_REQUEST;
	packet_seal6(ip, sizeof(*ip), FRAME - sizeof(*eth));
	f->bytes = FRAME;
}

/* The device has frames for the rx lcore: as long as it takes them there must be buffers for what comes next. */
static void receive(struct fill *f, unsigned int frames)
{
	for (; frames && !f->t->port[IN]->rx[0].n; frames -= MIN_OF(frames, NODE_BURST)) {
		for (unsigned int i = 0; i < MIN_OF(frames, NODE_BURST); i++) {
			check(left(f) >= f->promised.frame, "the pool has run dry: %u buffers are left", left(f));
			fake_port_receive(f->t->port[IN], 0, f->frame, f->bytes, 0);
		}
		poll_lcore(f, f->t->node->rx[0].lcore);
	}
}

static unsigned int in_ring(const struct mailbox *r)
{
	return rte_ring_count(r->ring);
}

/* Waiting, queued, in both rings to the worker and in the one to the control lcore, and parked: all at once. */
static void fill_up(struct fill *f)
{
	struct node *n = f->t->node;

	make_data(f, VIA_UNKNOWN);
	receive(f, 64);
	poll_lcore(f, n->worker[0].lcore);
	f->t->port[OUT]->tx_allowed = 0;
	make_data(f, VIA_KNOWN);
	for (unsigned int i = 0; i < 2; i++) {
		receive(f, 127);
		poll_lcore(f, n->worker[0].lcore);
	}
	/* from here on the worker does nothing */
	make_ping(f);
	for (unsigned int i = 0; i < 12; i++) {
		receive(f, 63);
		for (unsigned int k = 0; k < 63; k++)
			poll_lcore(f, n->control->lcore);
		f->t->now += 50 * NSEC_PER_MSEC; /* pings are limited */
	}
	receive(f, 63);
	f->t->now += 50 * NSEC_PER_MSEC;
	receive(f, 63);
	make_data(f, VIA_KNOWN);
	receive(f, 1024);
}

static void a_pool_of_what_is_promised_is_enough(void **state)
{
	static const char *const sizes[] = {"2K", "4K", "5K", "10K"};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(sizes); i++) {
		struct fill *f = fill_new(sizes[i]);
		unsigned int frame = f->promised.frame;
		struct node *n = f->t->node;
		uint64_t rings;

		fill_up(f);
		rings = in_ring(&n->rx[0].to_worker[0]) + in_ring(&n->rx[0].to_control[PUNT_RING_REST]) +
			in_ring(&n->control->to_worker[0]);
		/* a ring keeps one slot empty */
		assert_int_equal(rings, 127 + punt_ring_slots(PUNT_RING_REST, 128) - 1 + 127);
		assert_int_equal((rings + 3 + OTHER_PUNTS) * frame, line(&f->promised, "rings between lcores"));
		/* one port has half of them at most */
		assert_int_equal(2 * n->worker[0].neighs.held * frame,
			line(&f->promised, "packets waiting for a neighbour"));
		/* of one queue; many queues fill it: test_node.c */
		assert_in_range(n->rx[0].park[0].n, 1, LIMIT_BURST);
		assert_true(n->egress[OUT].lossy > 64 - frame && n->egress[OUT].lossy <= 64);
		assert_true(n->egress[OUT].tx.n >= 127);
		/* the device has its next burst, and nothing takes it */
		assert_int_equal(f->t->port[IN]->rx[0].n, LIMIT_BURST);
		/* and there was not much to spare: of a ring each a slot, the park, which one queue hardly fills, one in tx, what other
		   ports may hold for neighbours */
		check(left(f) <= (3 + LIMIT_PARK + 1 + 1 + n->worker[0].neighs.held) * frame,
			"buffers of %s: %u are left", sizes[i], left(f));
		testbed_check_balance(f->t);
		fill_free(f);
	}
}

/* The negative control: had every frame been counted as one buffer, the same packets would not have found room. */
static void one_buffer_a_packet_is_too_few(void **state)
{
	struct fill *f = fill_new("2K"), *whole = fill_new("10K");
	unsigned int used;

	(void)state;
	fill_up(f);
	used = rte_mempool_in_use_count(f->t->node->pool) - f->n_others;
	check(used > 3 * (uint64_t)left(whole), "%u are in use, %u would have been promised", used, left(whole));
	fill_free(f);
	fill_free(whole);
}

/* Two NUMA nodes: a pool of memory.buffers buffers on each; ports of one node share theirs. */
static void pool_of_each_node(void **state)
{
	struct config *c = conf_load(CONF_LOAD, TESTBED_NODE TESTBED_ONE_LCORE
		"ports:\n  - {name: a, device: net_null0, side: dc}\n  - {name: b, device: net_null1, side: dc}\n"
		"  - {name: c, device: net_null2, side: dc}\n");
	uint64_t buffers = c->memory.buffers;
	struct cfg_places places;
	struct node_options options = {.services = node_services, .socket = -1, .places = &places};
	char err[256] = "";
	struct node *n;

	testbed_eal();
	cfg_places_init(&places);
	places.port[0] = places.port[2] = 1;
	places.port[1] = 0;
	n = node_new(c, &options, err, sizeof(err));
	check(n, "%s", err);
	assert_int_equal(n->n_pools, 2);
	assert_true(n->pool_of_port[0] == n->pool_of_port[2] && n->pool_of_port[0] != n->pool_of_port[1]);
	assert_ptr_equal(n->pool, n->pool_of_port[0]);
	assert_true(node_buffers(n) == 2 * buffers && node_buffers_free(n) == 2 * buffers && !node_buffers_used(n));
	node_free(n);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pool_of_each_node),
		cmocka_unit_test(a_pool_of_what_is_promised_is_enough),
		cmocka_unit_test(one_buffer_a_packet_is_too_few),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
