/* SPDX-License-Identifier: BSD-3-Clause */
/* Effects of a Packet Too Big on a path: duration, readers, reloads, counters. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "pkt/flow_hash.h"
#include "snapshot/path_mtu.h"
#include "test/support/conf.h"
#include "test/support/packet.h"
#include "test/support/testbed.h"
#include "wire/icmp.h"

#define BASE(list) BASE_OF("{name: a, segments: [" list "]}, {name: b, segments: [\"5f00:0:7::\"]}", list)
#define BASE_OF(paths_of_p, list) \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"  - {name: red, device: net_null2, side: dc, vrf: red, addresses: [\"2001:db8:c::2/64\"]}\n" \
		"vrfs: [{name: red, routes: [{prefix: \"2001:db8:99::/48\", policy: p}]}]\n" \
		"neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}]\n" \
		"routes: [{prefix: \"5f00::/16\", port: out, nexthop: \"2001:db8:b::3\"}]\n" \
		"policies:\n" \
		"  - {name: p, paths: [" paths_of_p "]}\n" \
		"  - {name: q, paths: [{name: a, segments: [" list "]}]}\n" \
		"  - {name: r, paths: [{name: a, segments: [\"5f00:0:7::\"]}]}\n"
#define LIST "\"5f00:0:5::\", \"5f00:0:6::\""
#define OUR_DA "5f00:0:5:6::"

enum { IN, OUT, RED };

/* A Packet Too Big: where it arrives, from whom, and with which flow label in the quote. */
struct teller {
	unsigned int port;
	const char *source, *destination;
	uint32_t label; /* 0: the label that the node gives to the inner packet */
};

static const struct teller router = {IN, "fd00:0:77::1", "fd00::d", 0};

/* About a packet of `bytes` from the loopback to `da`. */
static void tell_as(struct testbed *t, const struct teller *from, const char *da, uint32_t mtu, uint16_t bytes)
{
	uint8_t frame[sizeof(struct eth_hdr) + 40 + 8 + 40 + 28] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(eth + 1), *quote;
	struct icmp_hdr *icmp = (struct icmp_hdr *)(ip + 1);
	struct ipv4_hdr *inner;
	struct ip_addr a;

	*eth = (struct eth_hdr){.dst = t->port[from->port]->port.mac,
		.src = {{2, 0, 0, 0, 0xa0, 3}},
		.type = be16(ETH_TYPE_IPV6)};
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0), .next_header = IP_PROTO_ICMP6, .hop_limit = 60};
	assert_int_equal(ip_addr_parse(from->source, &a), 0);
	ip->src = a.v6;
	assert_int_equal(ip_addr_parse(from->destination, &a), 0);
	ip->dst = a.v6;
	assert_int_equal(ip_addr_parse("fd00::d", &a), 0);
	*icmp = (struct icmp_hdr){.type = ICMP6_TOO_BIG, .rest = be32(mtu)};
	quote = (struct ipv6_hdr *)(icmp + 1);
	inner = (struct ipv4_hdr *)(quote + 1);
	*inner = (struct ipv4_hdr){.version_ihl = 0x45, .ttl = 9, .protocol = IP_PROTO_UDP, .src = {{192, 0, 2, 1}}};
	*quote = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, from->label
									? from->label
									: hash_flow_label(hash_flow4((uint8_t *)quote,
										  40 + 28, sizeof(*quote)))),
		.next_header = IP_PROTO_IPV4,
		.src = a.v6,
		.payload_length = be16((uint16_t)(bytes - 40))};
	assert_int_equal(ip_addr_parse(da, &a), 0);
	quote->dst = a.v6;
	packet_seal6(ip, sizeof(*ip), sizeof(frame) - sizeof(*eth));
	fake_port_receive(t->port[from->port], 0, frame, sizeof(frame), 0);
	testbed_settle(t, 50);
}

static void tell(struct testbed *t, const char *da, uint32_t mtu, uint16_t bytes)
{
	tell_as(t, &router, da, mtu, bytes);
}

static void expect_mtus(struct testbed *t, unsigned int p, unsigned int q, unsigned int r)
{
	unsigned int is[3];

	for (unsigned int i = 0; i < 3; i++)
		is[i] = path_mtu_of_policy(&t->node->snapshot->policy[i]);
	check(is[0] == p && is[1] == q && is[2] == r, "%u %u %u instead of %u %u %u", is[0], is[1], is[2], p, q, r);
}

static void expect_counted(struct testbed *t, uint64_t taken, uint64_t ignored, uint64_t refused, uint64_t limited)
{
	struct lcore_stats *sum = aligned_alloc(CACHE_LINE_BYTES, sizeof(*sum));

	assert_non_null(sum);
	node_stats(t->node, sum);
	check(sum->ptb_taken == taken && sum->ptb_ignored == ignored && sum->ptb_refused == refused &&
			sum->ptb_limited == limited,
		"%llu taken, %llu ignored, %llu refused, %llu limited", (unsigned long long)sum->ptb_taken,
		(unsigned long long)sum->ptb_ignored, (unsigned long long)sum->ptb_refused,
		(unsigned long long)sum->ptb_limited);
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
	expect_counted(t, 2, 3, 0, 0);
	testbed_pass(t, 599 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1310, 1310, 1460);
	testbed_pass(t, 2 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1460, 1460, 1460);
	testbed_free(t);
}

/* An IPv6 packet of `bytes` into policy p. */
static void send_into_p(struct testbed *t, uint16_t bytes)
{
	uint8_t frame[sizeof(struct eth_hdr) + 1500] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(eth + 1);
	struct ip_addr a;

	*eth = (struct eth_hdr){.dst = t->port[RED]->port.mac,
		.src = {{2, 0, 0, 0, 0xa0, 3}},
		.type = be16(ETH_TYPE_IPV6)};
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0),
		.payload_length = be16((uint16_t)(bytes - sizeof(*ip))),
		.next_header = 59,
		.hop_limit = 60};
	assert_int_equal(ip_addr_parse("2001:db8:77::1", &a), 0);
	ip->src = a.v6;
	assert_int_equal(ip_addr_parse("2001:db8:99::1", &a), 0);
	ip->dst = a.v6;
	fake_port_receive(t->port[RED], 0, frame, sizeof(*eth) + bytes, 0);
	testbed_settle(t, 50);
}

/* Packets are refused as soon as the MTU is learnt, and the snapshot is the same to the byte. */
static void readers_see_it(void **state)
{
	struct testbed *t = testbed_new(BASE(LIST));
	const struct snapshot *s = t->node->snapshot;
	const size_t paths = s->n_paths * sizeof(*s->path), policies = s->n_policies * sizeof(*s->policy);
	void *copy = malloc(paths + policies);

	assert_non_null(copy);
	memcpy(copy, s->path, paths);
	memcpy((char *)copy + paths, s->policy, policies);
	send_into_p(t, 1400);
	assert_int_equal(testbed_reason(t, RED, DROP_too_big), 0);
	tell(t, OUR_DA, 1400, 1500);
	send_into_p(t, 1361);
	assert_int_equal(testbed_reason(t, RED, DROP_too_big), 1);
	send_into_p(t, 1360);
	assert_int_equal(testbed_reason(t, RED, DROP_too_big), 1);
	assert_ptr_equal(t->node->snapshot, s);
	assert_memory_equal(copy, s->path, paths);
	assert_memory_equal((char *)copy + paths, s->policy, policies);
	free(copy);
	testbed_free(t);
}

/* The paths of p are forgotten at different times: its MTU is always the least of both. */
static void least_of_several(void **state)
{
	struct testbed *t = testbed_new(BASE(LIST));

	tell(t, OUR_DA, 1350, 1500);
	testbed_pass(t, 300 * NSEC_PER_SEC, NSEC_PER_SEC);
	tell(t, "5f00:0:7::", 1400, 1500);
	expect_mtus(t, 1310, 1310, 1360);
	testbed_pass(t, 301 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1360, 1460, 1360);
	tell(t, OUR_DA, 1380, 1500);
	expect_mtus(t, 1340, 1340, 1360);
	testbed_pass(t, 301 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1340, 1340, 1460);
	testbed_pass(t, 301 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1460, 1460, 1460);
	testbed_free(t);
}

static void apply(struct testbed *t, const char *yaml)
{
	char err[256] = "";

	check(node_apply(t->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
}

/* The first path of a policy goes away, comes back, changes places: the MTU learnt for the other one stays. */
static void follows_reloads(void **state)
{
	struct testbed *t = testbed_new(BASE(LIST));
	const char *const b_alone = BASE_OF("{name: b, segments: [\"5f00:0:7::\"]}", LIST);
	const char *const b_first = BASE_OF("{name: b, segments: [\"5f00:0:7::\"]}, {name: a, segments: [" LIST "]}",
		LIST);

	tell(t, "5f00:0:7::", 1400, 1500);
	expect_mtus(t, 1360, 1460, 1360);
	apply(t, b_alone);
	testbed_settle(t, 100);
	expect_mtus(t, 1360, 1460, 1360);
	apply(t, b_first);
	testbed_settle(t, 100);
	expect_mtus(t, 1360, 1460, 1360);
	tell(t, OUR_DA, 1350, 1500);
	expect_mtus(t, 1310, 1310, 1360);
	apply(t, b_alone);
	testbed_settle(t, 100);
	expect_mtus(t, 1360, 1310, 1360);
	apply(t, BASE(LIST));
	testbed_settle(t, 100);
	expect_mtus(t, 1360, 1310, 1360);
	testbed_pass(t, 601 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1460, 1460, 1460);
	testbed_free(t);
}

/* Other headers under the same name: a reader that is ahead of the control lcore does not apply the learnt MTU. */
static void ahead_of_control(void **state)
{
	struct testbed *t = testbed_new(BASE(LIST));

	tell(t, OUR_DA, 1400, 1500);
	apply(t, BASE(LIST));
	expect_mtus(t, 1360, 1360, 1460);
	apply(t, BASE("\"5f00:0:9::\""));
	expect_mtus(t, 1460, 1460, 1460);
	testbed_settle(t, 100);
	expect_mtus(t, 1460, 1460, 1460);
	testbed_free(t);
}

static void survives_reloads(void **state)
{
	struct testbed *t = testbed_new(BASE(LIST));

	tell(t, OUR_DA, 1400, 1500);
	apply(t, BASE(LIST));
	testbed_settle(t, 100);
	expect_mtus(t, 1360, 1360, 1460);
	/* another list by the same name is another path */
	apply(t, BASE("\"5f00:0:9::\""));
	testbed_settle(t, 100);
	expect_mtus(t, 1460, 1460, 1460);
	testbed_pass(t, 700 * NSEC_PER_SEC, NSEC_PER_SEC);
	expect_mtus(t, 1460, 1460, 1460);
	testbed_free(t);
}

/* A flood from one source costs that source its own messages; another source is heard meanwhile. */
static void a_flood(void **state)
{
	static const struct teller other = {IN, "fd00:0:78::1", "fd00::d", 0};
	struct testbed *t = testbed_new(BASE(LIST));

	for (int i = 0; i < 200; i++)
		tell(t, "5f00:0:8::", 1400, 1500);
	tell(t, OUR_DA, 1400, 1500);
	expect_mtus(t, 1460, 1460, 1460);
	expect_counted(t, 0, 50, 0, 151);
	tell_as(t, &other, OUR_DA, 1420, 1500);
	expect_mtus(t, 1380, 1380, 1460);
	testbed_pass(t, NSEC_PER_SEC, NSEC_PER_MSEC);
	tell(t, OUR_DA, 1400, 1500);
	expect_mtus(t, 1360, 1360, 1460);
	testbed_free(t);
}

/* A tenant, a stranger on the WAN, and a message about a packet that the node cannot have sent lower nothing. */
static void a_forger(void **state)
{
	static const struct {
		struct teller from;
		const char *da;
		bool refused;
	} forged[] = {
		{{RED, "fd00:0:77::1", "2001:db8:c::2", 0}, OUR_DA, true}, /* from the port of a tenant */
		{{IN, "2001:db8:77::1", "fd00::d", 0}, OUR_DA, true},	   /* from outside the domain */
		{{IN, "fd00:0:77::1", "fd00::d", 0}, "5f00::", false},	   /* no segment left */
		{{IN, "fd00:0:77::1", "fd00::d", 0x777}, OUR_DA, false},   /* the label of another flow */
	};
	struct testbed *t = testbed_new(BASE(LIST));
	uint64_t refused = 0, ignored = 0;

	for (unsigned int i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		tell_as(t, &forged[i].from, forged[i].da, 1400, 1500);
		refused += forged[i].refused;
		ignored += !forged[i].refused;
		expect_mtus(t, 1460, 1460, 1460);
		expect_counted(t, 0, ignored, refused, 0);
	}
	tell(t, OUR_DA, 1400, 1500);
	expect_mtus(t, 1360, 1360, 1460);
	testbed_free(t);
}

/* icmp.path-mtu: fixed. */
static void nobody_is_asked(void **state)
{
	struct testbed *t = testbed_new(BASE(LIST) "icmp: {path-mtu: fixed}\n");

	tell(t, OUR_DA, 1400, 1500);
	expect_mtus(t, 1460, 1460, 1460);
	expect_counted(t, 0, 0, 1, 0);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(learns_and_forgets),
		cmocka_unit_test(readers_see_it),
		cmocka_unit_test(least_of_several),
		cmocka_unit_test(survives_reloads),
		cmocka_unit_test(follows_reloads),
		cmocka_unit_test(ahead_of_control),
		cmocka_unit_test(a_flood),
		cmocka_unit_test(a_forger),
		cmocka_unit_test(nobody_is_asked),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("path_mtu", tests, NULL, NULL);
}
