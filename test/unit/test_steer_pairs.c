/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole nodes that count what receivers of RoCEv2 send back, for the pair of hosts; forged, cut, unknown and idle ones. */
#include "test/support/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "node/node_ctl.h"
#include "service/steer/service_steer.h"
#include "test/support/shown.h"
#include "test/support/testbed.h"
#include "wire/checksum.h"
#include "wire/udp.h"

#define NODE(lcores, keys) \
	TESTBED_NODE lcores "ports:\n" \
			    "  - {name: dc, device: net_null0, side: dc, addresses: [192.0.2.9/24]}\n" \
			    "  - {name: wan, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
			    "interfaces: [{name: dc.7, port: dc, vlan: 7, vrf: ai, addresses: [\"2001:db8:1::1/64\", " \
			    "10.1.0.1/24]}]\n" \
			    "vrfs: [{name: ai, routes: [{prefix: \"2001:db8:3::/64\", policy: p}, {prefix: " \
			    "10.3.0.0/24, policy: p}]}]\n" \
			    "sids: [{sid: \"5f00:0:e101::/48\", behavior: uDT46, vrf: ai}]\n" \
			    "neighbors: [{port: wan, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"},\n" \
			    "  {port: dc.7, address: \"2001:db8:1::11\", mac: \"02:00:00:00:a0:01\"},\n" \
			    "  {port: dc.7, address: 10.1.0.10, mac: \"02:00:00:00:a0:02\"}]\n" \
			    "routes: [{prefix: \"5f00::/16\", port: wan, nexthop: \"2001:db8:b::3\"}]\n" \
			    "policies: [{name: p, " keys \
			    ", paths: [{name: a, segments: [\"5f00:0:500::\", \"5f00:0:300::\"]}]}]\n"
#define ONE NODE(TESTBED_ONE_LCORE, "flows: 1K, roce: yes")

enum { DC, WAN };
enum form { SIX, FOUR, OPTIONS, FRAGMENT };
static const uint8_t host1[] = {10, 1, 0, 10}, host3[] = {10, 3, 0, 11};

/* A BTH with `more` bytes behind it. Returns its bytes. */
static uint32_t put_bth(uint8_t *at, uint8_t opcode, uint32_t qp, uint32_t psn, uint8_t syndrome, uint32_t more)
{
	const uint8_t bth[13] = {opcode, 0, 0xff, 0xff, 0, (uint8_t)(qp >> 16), (uint8_t)(qp >> 8), (uint8_t)qp, 0,
		(uint8_t)(psn >> 16), (uint8_t)(psn >> 8), (uint8_t)psn, syndrome};

	memset(at, 0, 12 + more);
	memcpy(at, bth, more ? sizeof(bth) : 12);
	return 12 + more;
}

/* An IP packet from one host to the other one. Returns its bytes. */
static uint32_t put_ip(uint8_t *out, enum form form, bool back, const uint8_t *transport, uint32_t bytes)
{
	uint16_t length = (uint16_t)(sizeof(struct udp_hdr) + bytes);
	uint32_t at = form == SIX ? 40 : form == OPTIONS ? 24 : 20;
	struct udp_hdr *udp = (struct udp_hdr *)(out + at);
	struct ip_addr a;

	memset(out, 0, at);
	if (form == SIX) {
		struct ipv6_hdr *six = (struct ipv6_hdr *)out;

		*six = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0),
			.payload_length = be16(length),
			.next_header = IP_PROTO_UDP,
			.hop_limit = 64};
		assert_int_equal(ip_addr_parse(back ? "2001:db8:3::33" : "2001:db8:1::11", &a), 0);
		six->src = a.v6;
		assert_int_equal(ip_addr_parse(back ? "2001:db8:1::11" : "2001:db8:3::33", &a), 0);
		six->dst = a.v6;
	} else {
		struct ipv4_hdr *four = (struct ipv4_hdr *)out;

		four->version_ihl = (uint8_t)(0x40 | at / 4);
		four->total_length = be16((uint16_t)(at + length));
		four->fragment = be16(form == FRAGMENT ? IPV4_MF : 0);
		four->ttl = 64;
		four->protocol = IP_PROTO_UDP;
		memcpy(&four->src, back ? host3 : host1, 4);
		memcpy(&four->dst, back ? host1 : host3, 4);
		memset(out + 20, 1, at - 20); /* no operation */
		four->checksum = checksum_ipv4(four);
	}
	*udp = (struct udp_hdr){.src_port = be16(back ? 0xc001 : 0xc000),
		.dst_port = be16(UDP_PORT_ROCEV2),
		.length = be16(length)};
	memcpy(udp + 1, transport, bytes);
	return at + length;
}

static void settle(struct testbed *t)
{
	testbed_settle(t, 30);
	for (unsigned int i = DC; i <= WAN; i++)
		for (struct sent_frame *f; (f = fake_port_take(t->port[i]));)
			free(f);
}

/* Data from host 1, tagged, into the policy. */
static void data(struct testbed *t, enum form form, uint32_t qp, uint32_t psn)
{
	uint8_t frame[256] = {0}, bth[64];
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	uint32_t n = put_bth(bth, 0x07, qp, psn, 0, 16);

	eth->dst = t->port[DC]->port.mac;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0xa0, 1}};
	eth->type = be16(ETH_TYPE_VLAN);
	frame[15] = 7;
	frame[16] = form == SIX ? 0x86 : 0x08;
	frame[17] = form == SIX ? 0xdd : 0x00;
	n = put_ip(frame + 18, form, false, bth, n);
	fake_port_receive(t->port[DC], 0, frame, n + 18, 0);
	settle(t);
}

/* What host 3 sends back comes out of a tunnel that ends here. `cut`: bytes less. */
static void answer(struct testbed *t, enum form form, uint8_t opcode, uint32_t qp, uint8_t syndrome, uint32_t cut)
{
	uint8_t frame[256] = {0}, bth[64];
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *outer = (struct ipv6_hdr *)(eth + 1);
	uint32_t n = put_bth(bth, opcode, qp, 0, syndrome, opcode == 0x81 ? 16 : 4) - cut;
	struct ip_addr a;

	n = put_ip(frame + sizeof(*eth) + sizeof(*outer), form, true, bth, n);
	eth->dst = t->port[WAN]->port.mac;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0xb0, 1}};
	eth->type = be16(ETH_TYPE_IPV6);
	*outer = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 5),
		.payload_length = be16((uint16_t)n),
		.next_header = form == SIX ? IP_PROTO_IPV6 : IP_PROTO_IPV4,
		.hop_limit = 64};
	assert_int_equal(ip_addr_parse("fd00::3", &a), 0);
	outer->src = a.v6;
	assert_int_equal(ip_addr_parse("5f00:0:e101::", &a), 0);
	outer->dst = a.v6;
	fake_port_receive(t->port[WAN], 0, frame, sizeof(*eth) + sizeof(*outer) + n, 0);
	settle(t);
}

static void run(struct testbed *t, const char *line, bool works)
{
	struct command_host host = {.node = t->node};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	check((command_run(&host, line, f) == 0) == works, "%s", line);
	fclose(f);
	free(text);
}

static struct testbed *begin(const char *yaml)
{
	struct testbed *t = testbed_new(yaml);

	testbed_settle(t, 100);
	return t;
}

static uint64_t number(struct testbed *t, const char *line, const char *name)
{
	json_t *all = shown_json(t, line), *o = json_is_array(all) ? json_array_get(all, 0) : all;
	uint64_t n;

	check(json_is_integer(json_object_get(o, name)), "%s: no %s", line, name);
	n = (uint64_t)json_integer_value(json_object_get(o, name));
	json_decref(all);
	return n;
}

/* Each kind of answer counts for the pair of its data, in IPv6 and IPv4, with options, on one lcore and on several. */
static void answers(void **state)
{
	static const struct {
		uint8_t opcode, syndrome;
		const char *name;
	} rows[] = {{0x11, 0x1f, "acks"}, {0x12, 0x00, "acks"}, {0x11, 0x60, "nak_sequence"}, {0x11, 0x2a, "rnr"},
		{0x11, 0x62, "other_naks"}, {0x81, 0, "cnps"}};
	static const char *const nodes[] = {ONE,
		NODE("lcores: {control: 0, rx: [1, 2], worker: [3]}\nmemory: {buffers: 24K}\n",
			"flows: 1K, roce: yes")};
	static const char *const pairs[] = {"show roce pairs dst=2001:db8:3::33 -j",
		"show roce pairs vrf=ai,src=10.1.0.10 -j"};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(nodes); i++) {
		struct testbed *t = begin(nodes[i]);

		for (enum form form = SIX; form <= OPTIONS; form++) {
			const char *line = pairs[form != SIX];

			data(t, form, 7, 0);
			for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
				uint64_t was = number(t, line, rows[k].name),
					 all = number(t, "show roce counters -j", rows[k].name);

				answer(t, form, rows[k].opcode, 9, rows[k].syndrome, 0);
				check(number(t, line, rows[k].name) == was + 1, "form %u, row %zu", form, k);
				check(number(t, "show roce counters -j", rows[k].name) == all + 1, "form %u, row %zu",
					form, k);
			}
		}
		check(number(t, "show roce counters -j", "pairs") == 2, "pairs");
		check(number(t, "show roce counters -j", "unknown_pair") == 0, "unknown");
		check_metrics(t, "sluice_roce_cnps_total{node=\"t\"} 3\n");
		testbed_free(t);
	}
}

/* CNPs and NAKs of hosts between which no data goes, of the wrong direction, cut, and in fragments: nothing is counted for a pair. */
static void strangers(void **state)
{
	struct testbed *t = begin(ONE);

	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		answer(t, SIX, 0x81, i, 0, 0);
	check(number(t, "show roce counters -j", "unknown_pair") == 100, "unknown");
	check(number(t, "show roce counters -j", "pairs") == 0, "pairs");
	data(t, FOUR, 7, 0);
	answer(t, SIX, 0x81, 7, 0, 0);
	check(number(t, "show roce counters -j", "unknown_pair") == 101, "unknown");
	for (uint32_t cut = 1; cut < 28; cut++)
		answer(t, FOUR, 0x81, 7, 0, cut);
	for (uint32_t cut = 1; cut < 16; cut++)
		answer(t, FOUR, 0x11, 7, 0x60, cut);
	answer(t, FRAGMENT, 0x81, 7, 0, 0);
	answer(t, FOUR, 0x64, 7, 0, 0);
	check(number(t, "show roce counters -j", "cnps") == 0, "cnps");
	check(number(t, "show roce pairs -j", "cnps") == 0, "cnps");
	check(number(t, "show roce pairs -j", "nak_sequence") == 0, "naks");
	answer(t, FOUR, 0x81, 7, 0, 0);
	check(number(t, "show roce pairs -j", "cnps") == 1, "cnps");
	testbed_free(t);
}

/* PSNs that were left out and that came again count for the pair, whatever the queue pair; without `roce` nothing is counted. */
static void losses(void **state)
{
	struct testbed *t = begin(NODE(TESTBED_ONE_LCORE, "flows: 1K, flow-key: queue-pair, roce: yes"));

	(void)state;
	for (uint32_t qp = 0; qp < 4; qp++) {
		data(t, SIX, qp, 0xffffff);
		data(t, SIX, qp, 3); /* 0 to 2 were left out */
		data(t, SIX, qp, 4);
		data(t, SIX, qp, 2);
	}
	check(number(t, "show roce pairs -j", "psn_gaps") == 12, "gaps");
	check(number(t, "show roce pairs -j", "psn_duplicates") == 4, "duplicates");
	check(number(t, "show roce counters -j", "psn_gaps") == 12, "gaps");
	testbed_free(t);
	t = begin(NODE(TESTBED_ONE_LCORE, "flows: 1K"));
	data(t, SIX, 0, 0);
	answer(t, SIX, 0x81, 0, 0, 0);
	check(number(t, "show roce counters -j", "pairs") == 0, "pairs");
	check(number(t, "show roce counters -j", "unknown_pair") == 0, "unknown");
	testbed_free(t);
}

/* An idle pair is forgotten, and what comes in its place begins with 0. A pair whose data goes on stays, though nothing is answered. */
static void idle(void **state)
{
	struct testbed *t = begin(NODE(TESTBED_ONE_LCORE, "flows: 1K, roce: yes") "steering: {idle: 4}\n");

	(void)state;
	data(t, SIX, 7, 0);
	answer(t, SIX, 0x81, 7, 0, 0);
	for (uint32_t i = 0; i < 4; i++) {
		testbed_pass(t, 2 * NSEC_PER_SEC, 5 * NSEC_PER_MSEC);
		for (uint32_t k = 0; k < PAIR_REFRESH; k++)
			data(t, SIX, 7, i * PAIR_REFRESH + k + 1);
	}
	check(number(t, "show roce pairs -j", "cnps") == 1, "cnps");
	testbed_pass(t, 10 * NSEC_PER_SEC, 5 * NSEC_PER_MSEC);
	check(number(t, "show roce counters -j", "pairs") == 0, "pairs");
	answer(t, SIX, 0x81, 7, 0, 0);
	check(number(t, "show roce counters -j", "unknown_pair") == 1, "unknown");
	for (uint32_t k = 0; k < PAIR_REFRESH; k++)
		data(t, SIX, 7, k);
	check(number(t, "show roce pairs -j", "cnps") == 0, "cnps");
	check(number(t, "show roce counters -j", "cnps") == 1, "cnps");
	testbed_free(t);
}

static void nobody_is_watched(struct testbed *t)
{
	json_t *all = shown_json(t, "show roce watched -j");

	assert_int_equal(json_array_size(all), 0);
	json_decref(all);
}

/* Queue pairs of the pair that is watched are told apart; of others nothing is kept. More of them than there is room for count as one. */
static void watched(void **state)
{
	struct testbed *t = begin(ONE);
	unsigned int found = 0;
	json_t *all, *o, *row;
	size_t i;

	(void)state;
	run(t, "roce watch src=10.1.0.10", false);
	data(t, FOUR, 7, 0);
	data(t, SIX, 7, 0);
	nobody_is_watched(t);
	run(t, "roce watch vrf=ai", false); /* two match */
	run(t, "roce watch src=10.1.0.10", true);
	for (uint32_t k = 0; k < PAIR_QPS + 6; k++) {
		answer(t, FOUR, 0x81, (0xfffff0 + k * 64) & 0xffffff, 0, 0);
		answer(t, SIX, 0x81, 1, 0, 0);
	}
	answer(t, FOUR, 0x11, 0xfffff0, 0x60, 0);
	answer(t, FOUR, 0x11, 0xfffff0, 0x21, 0);
	all = shown_json(t, "show roce watched -j");
	assert_int_equal(json_array_size(all), 1);
	o = json_array_get(all, 0);
	assert_int_equal(json_array_size(json_object_get(o, "queue_pairs")), PAIR_QPS);
	assert_int_equal(json_integer_value(json_object_get(o, "packets_of_others")), 6);
	json_array_foreach(json_object_get(o, "queue_pairs"), i, row) {
		bool naks = json_integer_value(json_object_get(row, "qp")) == 0xfffff0;

		assert_int_equal(json_integer_value(json_object_get(row, "nak_sequence")), naks);
		assert_int_equal(json_integer_value(json_object_get(row, "rnr")), naks);
		assert_int_equal(json_integer_value(json_object_get(row, "cnps")), 1);
		found += naks;
	}
	assert_int_equal(found, 1);
	json_decref(all);
	run(t, "roce unwatch", true);
	nobody_is_watched(t);
	testbed_free(t);
}

/* More pairs than there is room for: those that are known stay, and a place that was freed is not given away at once. */
static void many(void **state)
{
	struct pair_table *t = calloc(1, sizeof(*t));
	struct steer_key k = {.kind = 4, .proto = IP_PROTO_UDP};
	uint32_t place, refused = 0;

	(void)state;
	t->secret = (struct steer_secret){0x0123456789abcdefull, 0xfedcba9876543210ull};
	for (uint32_t i = 0; i < PAIR_MAX + 100; i++) {
		memcpy(k.src.b, &i, sizeof(i));
		assert_int_equal(pair_find(t, &k), PAIR_NONE);
		place = pair_insert(t, &k, 1);
		refused += place == PAIR_NONE;
		check(place == PAIR_NONE || pair_find(t, &k) == place, "pair %u", i);
	}
	check(refused >= 100 && refused < 200, "%u refused", refused);
	assert_int_equal(t->n, PAIR_MAX + 100 - refused);
	memset(k.src.b, 0, 4);
	place = pair_find(t, &k);
	pair_remove(t, place, 1000);
	assert_int_equal(pair_find(t, &k), PAIR_NONE);
	assert_false(pair_read(t, place, &k));
	for (uint64_t now = 2000; now < 2000 + PAIR_GRACE_NS; now += PAIR_GRACE_NS / 4)
		assert_int_not_equal(pair_insert(t, &k, now), place);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(strangers),
		cmocka_unit_test(losses),
		cmocka_unit_test(idle),
		cmocka_unit_test(watched),
		cmocka_unit_test(many),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("steer_pairs", tests, NULL, NULL);
}
