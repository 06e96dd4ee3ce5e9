/* SPDX-License-Identifier: BSD-3-Clause */
/* DSCP maps over time: frames that come back from the device, marks of queues, reloads. The maps themselves: pcap cases. */
#include "test/support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "queue/gate.h"
#include "test/support/conf.h"
#include "test/support/packet.h"
#include "test/support/testbed.h"
#include "wire/ipv4.h"

/* The maps `up` and `double` are chains: who applies one twice is seen. %s: more keys of `in` and of `out`. */
#define NODE \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"dscp-maps:\n" \
		"  - {name: up, map: [{from: 10, dscp: 11}, {from: 11, dscp: 12}, {from: 12, dscp: 13}, {from: 13, " \
		"dscp: 14}]}\n" \
		"  - {name: down, map: [{from: 11, dscp: 10}, {from: 10, dscp: 9}, {from: 9, dscp: 8}]}\n" \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: dc, vrf: red, addresses: [10.1.0.1/24, " \
		"\"2001:db8:a::2/64\"]%s}\n" \
		"  - {name: out, device: net_null1, side: wan, queue-limit: 512, addresses: [\"2001:db8:b::2/64\", " \
		"10.9.0.2/24]%s}\n" \
		"  - {name: lan, device: net_null2, side: dc, vrf: red, addresses: [10.2.0.1/24, " \
		"\"2001:db8:c::2/64\"]%s}\n" \
		"neighbors:\n" \
		"  - {port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}\n" \
		"  - {port: lan, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:01\"}\n" \
		"  - {port: lan, address: 10.2.0.3, mac: \"02:00:00:00:c0:01\"}\n" \
		"routes: [{prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"}]\n" \
		"vrfs: [{name: red, routes: [{prefix: 10.3.0.0/16, port: lan, nexthop: 10.2.0.3},\n" \
		"  {prefix: \"2001:db8:3::/48\", port: lan, nexthop: \"2001:db8:c::3\"}, {prefix: " \
		"\"2001:db8:4::/48\", policy: p}]}]\n" \
		"policies: [{name: p, paths: [{name: a, segments: [\"5f00:0:500:e102::\"]}]}]\n" \
		"sids: [{sid: \"5f00:0:e101::/48\", behavior: uDT46, vrf: red, dscp: copy}]\n"

enum { IN, OUT, LAN, PORTS };

static char *yaml(const char *in, const char *out, const char *lan)
{
	char *text;

	assert_true(asprintf(&text, NODE, in, out, lan) > 0);
	return text;
}

static struct testbed *bed(const char *in, const char *out, const char *lan)
{
	char *text = yaml(in, out, lan);
	struct testbed *t = testbed_new(text);

	free(text);
	testbed_settle(t, 1000);
	return t;
}

static void reload(struct testbed *t, const char *in, const char *out, const char *lan)
{
	char err[256] = "", *text = yaml(in, out, lan);

	check(node_apply(t->node, conf_load(CONF_CHECK, text), err, sizeof(err)) == 0, "%s", err);
	free(text);
	testbed_settle(t, 1000);
}

static struct ip_addr address(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

/* A packet of 100 bytes arrives at `in`. */
static void receive(struct testbed *t, const char *dst, uint8_t tos)
{
	struct ip_addr to = address(dst), from4 = address("10.1.0.9"), from6 = address("2001:db8:a::9");
	uint8_t frame[114] = {0}, *ip = frame + sizeof(struct eth_hdr);

	*(struct eth_hdr *)frame = (struct eth_hdr){.dst = t->port[IN]->port.mac,
		.src = {{2, 0, 0, 0, 0xee, 1}},
		.type = be16(to.family == 6 ? ETH_TYPE_IPV6 : ETH_TYPE_IPV4)};
	if (to.family == 6) {
		*(struct ipv6_hdr *)ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(tos, 7),
			.payload_length = be16(60),
			.next_header = IP_PROTO_NONE,
			.hop_limit = 64,
			.src = from6.v6,
			.dst = to.v6};
	} else {
		*(struct ipv4_hdr *)ip = (struct ipv4_hdr){.version_ihl = 0x45,
			.tos = tos,
			.total_length = be16(100),
			.ttl = 64,
			.protocol = 253,
			.src = be32(ip_addr_v4(&from4)),
			.dst = be32(ip_addr_v4(&to))};
		packet_seal4_header(ip);
	}
	fake_port_receive(t->port[IN], 0, frame, sizeof(frame), 0);
}

static unsigned int tos_of(const uint8_t *ip)
{
	return *ip >> 4 == 6 ? ipv6_tc((const struct ipv6_hdr *)ip) : ((const struct ipv4_hdr *)ip)->tos;
}

/* `n` data frames have left by `port`, each with `tos` in its outermost header, and right checksums. */
static void expect(struct testbed *t, unsigned int port, unsigned int n, unsigned int tos, const char *what)
{
	struct sent_frame *f;
	unsigned int found = 0;

	while ((f = fake_port_take(t->port[port]))) {
		const uint8_t *ip = f->bytes + sizeof(struct eth_hdr);

		if (f->bytes[0] & 1) { /* a solicitation */
			free(f);
			continue;
		}
		check(tos_of(ip) == tos, "%s: frame %u has TOS %u", what, found, tos_of(ip));
		check(*ip >> 4 == 6 || packet_sum(ip, 20) == 0, "%s: checksum of frame %u", what, found);
		found++;
		free(f);
	}
	check(found == n, "%s: %u frames", what, found);
}

#define TOS(dscp, ecn) ((dscp) << 2 | (ecn))

/* What the device refused goes back to its queue when a gate closes. It is mapped once, whichever way it takes then. */
static void taken_back_and_mapped_once(void **state)
{
	static const struct {
		const char *dst;
		unsigned int port;
	} rows[] = {{"10.3.0.1", LAN}, {"2001:db8:3::1", LAN}, {"2001:db8:4::1", OUT}};
	struct pfc_party party = {.sid = 7};
	struct pfc_pause pause = {.enable = 0xff};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct testbed *t = bed("", ", dscp-out: up", ", dscp-out: up");
		struct egress *e = &t->node->egress[rows[i].port];

		t->port[rows[i].port]->tx_allowed = 0;
		for (unsigned int k = 0; k < 5; k++)
			receive(t, rows[i].dst, TOS(10, 2));
		testbed_settle(t, 5);
		assert_int_equal(e->tx.n, 5);
		for (unsigned int round = 0; round < 3; round++) {
			for (unsigned int c = 0; c < 8; c++)
				pause.ns[c] = 30 * NSEC_PER_USEC;
			assert_true(egress_pause(e, &t->node->worker[0].ctx, &party, PFC_ALL_SLICES, &pause));
			testbed_settle(t, 5);
			assert_int_equal(e->tx.n, 0);
			t->now += 40 * NSEC_PER_USEC;
			testbed_settle(t, 5);
			assert_int_equal(e->tx.n, 5);
		}
		t->port[rows[i].port]->tx_allowed = UINT64_MAX;
		testbed_settle(t, 20);
		expect(t, rows[i].port, 5, TOS(11, 2), rows[i].dst);
		testbed_free(t);
	}
}

/* A queue marks CE, and the DSCP stays the mapped one. */
static void marks_and_maps(void **state)
{
	static const char *const dst[] = {"10.3.0.1", "2001:db8:3::1", "2001:db8:4::1"};
	static const unsigned int port[] = {LAN, LAN, OUT};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(dst); i++) {
		struct testbed *t = bed(", dscp-in: down", ", ecn: {classes: [1], min: 0, max: 1}",
			", ecn: {classes: [1], min: 0, max: 1}, dscp-out: up");
		struct egress *e = &t->node->egress[port[i]];
		struct pfc_party party = {.sid = 7};
		struct pfc_pause pause = {.enable = 0xff};

		for (unsigned int c = 0; c < 8; c++)
			pause.ns[c] = 30 * NSEC_PER_USEC;
		assert_true(egress_pause(e, &t->node->worker[0].ctx, &party, PFC_ALL_SLICES, &pause));
		receive(t, dst[i], TOS(10, 1));
		testbed_settle(t, 5);
		assert_int_equal(e->slice[0].queue[1].packets.n, 1);
		t->now += 40 * NSEC_PER_USEC;
		testbed_settle(t, 20);
		/* down: 10 becomes 9; up leaves 9 */
		expect(t, port[i], 1, TOS(9, 3), dst[i]);
		assert_int_equal(t->node->lcore[0]->stats.dscp_mapped_in, 1);
		testbed_free(t);
	}
}

/* Neighbours that are known before a reload, static and learnt, follow the ports' maps after it. */
static void reloads(void **state)
{
	struct neigh_message m = {.what = NEIGH_SET, .interface = LAN, .mac = {{2, 0, 0, 0, 0xc0, 9}}};
	struct testbed *t = bed("", "", "");

	(void)state;
	/* a host on the link, asked for and known */
	receive(t, "10.2.0.77", TOS(10, 1));
	testbed_settle(t, 20);
	m.addr = address("10.2.0.77");
	assert_int_not_equal(neigh_table_find(&t->node->worker[0].neighs, LAN, &m.addr), UINT32_MAX);
	egress_neigh_update(&t->node->egress[LAN], &t->node->worker[0].ctx, &m);
	testbed_settle(t, 20);
	for (struct sent_frame *f; (f = fake_port_take(t->port[LAN]));)
		free(f);
	for (unsigned int round = 0; round < 3; round++) {
		static const char *const keys[] = {", dscp-out: up", "", ", dscp-out: down"};
		static const unsigned int dscp[] = {11, 10, 9};

		reload(t, "", keys[round], keys[round]);
		receive(t, "10.3.0.1", TOS(10, 1));
		receive(t, "10.2.0.77", TOS(10, 1));
		receive(t, "2001:db8:3::1", TOS(10, 1));
		testbed_settle(t, 20);
		expect(t, LAN, 3, TOS(dscp[round], 1), *keys[round] ? keys[round] : "none");
		receive(t, "2001:db8:4::1", TOS(10, 1));
		testbed_settle(t, 20);
		expect(t, OUT, 1, TOS(dscp[round], 1), *keys[round] ? keys[round] : "none");
		reload(t, keys[round][0] ? ", dscp-in: up" : "", "", "");
		receive(t, "10.3.0.1", TOS(10, 1));
		receive(t, "2001:db8:3::1", TOS(10, 1));
		testbed_settle(t, 20);
		expect(t, LAN, 2, TOS(keys[round][0] ? 11 : 10, 1), "in");
	}
	assert_int_equal(t->node->lcore[0]->stats.dscp_mapped_out, 2 * 4);
	assert_int_equal(t->node->lcore[0]->stats.dscp_mapped_in, 2 * 2);
	testbed_free(t);
}

/* Bursts of the most common packets: a port with dscp-in, and a SID with dscp: copy, have no express lane around the maps. */
static void bursts(void **state)
{
	struct testbed *t = bed(", dscp-in: up", "", "");
	uint8_t frame[154], *ip = frame + sizeof(struct eth_hdr);

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		receive(t, "10.3.0.1", TOS(10, 1));
		receive(t, "2001:db8:3::1", TOS(10, 1));
	}
	testbed_settle(t, 20);
	expect(t, LAN, 16, TOS(11, 1), "dscp-in");
	testbed_free(t);

	t = bed("", "", "");
	for (unsigned int i = 0; i < 8; i++) {
		struct sent_frame *f;

		/* the node's own policy makes the tunnel */
		receive(t, "2001:db8:4::1", TOS(10, 1));
		testbed_settle(t, 20);
		f = fake_port_take(t->port[OUT]);
		assert_non_null(f);
		assert_int_equal(f->size, sizeof(frame));
		memcpy(frame, f->bytes, sizeof(frame));
		free(f);
		*(struct eth_hdr *)frame = (struct eth_hdr){.dst = t->port[OUT]->port.mac,
			.src = {{2, 0, 0, 0, 0xb0, 1}},
			.type = be16(ETH_TYPE_IPV6)};
		((struct ipv6_hdr *)ip)->vtc_flow = ipv6_vtc_flow(TOS(20, 1), 7);
		((struct ipv6_hdr *)ip)->src = address("fd00::77").v6;
		((struct ipv6_hdr *)ip)->dst = address("5f00:0:e101::").v6;
		((struct ipv6_hdr *)(ip + 40))->dst = address("2001:db8:3::1").v6;
		fake_port_receive(t->port[OUT], 0, frame, sizeof(frame), 0);
	}
	testbed_settle(t, 20);
	expect(t, LAN, 8, TOS(20, 1), "dscp: copy");
	assert_int_equal(t->node->lcore[0]->stats.dscp_mapped_decap, 8);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_back_and_mapped_once),
		cmocka_unit_test(marks_and_maps),
		cmocka_unit_test(reloads),
		cmocka_unit_test(bursts),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("dscp", tests, NULL, NULL);
}
