/* SPDX-License-Identifier: BSD-3-Clause */
/* What a Packet Too Big did to a path: how long it lasts, what a reload makes of it, and what is counted. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/conf.h"
#include "test/support/packet.h"
#include "test/support/testbed.h"
#include "wire/icmp.h"

#define BASE(list) \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}]\n" \
		"routes: [{prefix: \"5f00::/16\", port: out, nexthop: \"2001:db8:b::3\"}]\n" \
		"policies:\n" \
		"  - {name: p, paths: [{name: a, segments: [" list "]}, {name: b, segments: [\"5f00:0:7::\"]}]}\n" \
		"  - {name: q, paths: [{name: a, segments: [" list "]}]}\n" \
		"  - {name: r, paths: [{name: a, segments: [\"5f00:0:7::\"]}]}\n"
#define LIST "\"5f00:0:5::\", \"5f00:0:6::\""
#define OUR_DA "5f00:0:5:6::"

enum { IN, OUT };

/* About a packet of `bytes` from the loopback to `da`. */
static void tell(struct testbed *t, const char *da, uint32_t mtu, uint16_t bytes)
{
	uint8_t frame[sizeof(struct eth_hdr) + 40 + 8 + 60] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(eth + 1), *quote;
	struct icmp_hdr *icmp = (struct icmp_hdr *)(ip + 1);
	struct ip_addr a;

	*eth = (struct eth_hdr){.dst = t->port[IN]->port.mac,
		.src = {{2, 0, 0, 0, 0xa0, 3}},
		.type = be16(ETH_TYPE_IPV6)};
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0), .next_header = IP_PROTO_ICMP6, .hop_limit = 60};
	assert_int_equal(ip_addr_parse("2001:db8:77::1", &a), 0);
	ip->src = a.v6;
	assert_int_equal(ip_addr_parse("fd00::d", &a), 0);
	ip->dst = a.v6;
	*icmp = (struct icmp_hdr){.type = ICMP6_TOO_BIG, .rest = be32(mtu)};
	quote = (struct ipv6_hdr *)(icmp + 1);
	*quote = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0x777),
		.next_header = IP_PROTO_IPV4,
		.src = a.v6,
		.payload_length = be16((uint16_t)(bytes - 40))};
	assert_int_equal(ip_addr_parse(da, &a), 0);
	quote->dst = a.v6;
	packet_seal6(ip, sizeof(*ip), sizeof(frame) - sizeof(*eth));
	fake_port_receive(t->port[IN], 0, frame, sizeof(frame), 0);
	testbed_settle(t, 50);
}

static void expect_mtus(struct testbed *t, unsigned int p, unsigned int q, unsigned int r)
{
	const struct snapshot *s = t->node->snapshot;

	check(s->policy[0].inner_mtu == p && s->policy[1].inner_mtu == q && s->policy[2].inner_mtu == r,
		"%u %u %u instead of %u %u %u", s->policy[0].inner_mtu, s->policy[1].inner_mtu, s->policy[2].inner_mtu,
		p, q, r);
}

static void expect_counted(struct testbed *t, uint64_t taken, uint64_t ignored)
{
	struct lcore_stats *sum = aligned_alloc(CACHE_LINE_BYTES, sizeof(*sum));

	assert_non_null(sum);
	node_stats(t->node, sum);
	check(sum->ptb_taken == taken && sum->ptb_ignored == ignored, "%llu taken, %llu ignored",
		(unsigned long long)sum->ptb_taken, (unsigned long long)sum->ptb_ignored);
	free(sum);
}

/* All paths over that list, and their policies; not the others. After ten minutes they are what they were. */
static void learns_and_forgets(void **state)
{
	struct testbed *t = testbed_new(BASE(LIST));

	expect_mtus(t, 1460, 1460, 1460);
	tell(t, OUR_DA, 1400, 1500);
	expect_mtus(t, 1360, 1360, 1460);
	tell(t, "5f00:0:6::", 1350, 1400);
	expect_mtus(t, 1310, 1310, 1460);
	tell(t, OUR_DA, 1400, 1500); /* more than is known already */
	tell(t, OUR_DA, 1350, 1400);
	tell(t, "5f00:0:8::", 1300, 1400);
	expect_mtus(t, 1310, 1310, 1460);
	expect_counted(t, 2, 3);
	testbed_pass(t, 599 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1310, 1310, 1460);
	testbed_pass(t, 2 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1460, 1460, 1460);
	testbed_free(t);
}

static void survives_reloads(void **state)
{
	struct testbed *t = testbed_new(BASE(LIST));
	char err[256] = "";

	tell(t, OUR_DA, 1400, 1500);
	assert_int_equal(node_apply(t->node, conf_load(CONF_CHECK, BASE(LIST)), err, sizeof(err)), 0);
	testbed_settle(t, 100);
	expect_mtus(t, 1360, 1360, 1460);
	/* another list by the same name is another path */
	assert_int_equal(node_apply(t->node, conf_load(CONF_CHECK, BASE("\"5f00:0:9::\"")), err, sizeof(err)), 0);
	testbed_settle(t, 100);
	expect_mtus(t, 1460, 1460, 1460);
	testbed_pass(t, 700 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1460, 1460, 1460);
	testbed_free(t);
}

/* Whoever sends many is not looked at any more; what is true is heard a moment later. */
static void a_flood(void **state)
{
	struct testbed *t = testbed_new(BASE(LIST));

	for (int i = 0; i < 200; i++)
		tell(t, "5f00:0:8::", 1400, 1500);
	tell(t, OUR_DA, 1400, 1500);
	expect_mtus(t, 1460, 1460, 1460);
	expect_counted(t, 0, 201);
	testbed_pass(t, NSEC_PER_SEC, NSEC_PER_MSEC);
	tell(t, OUR_DA, 1400, 1500);
	expect_mtus(t, 1360, 1360, 1460);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(learns_and_forgets),
		cmocka_unit_test(survives_reloads),
		cmocka_unit_test(a_flood),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("path_mtu", tests, NULL, NULL);
}
