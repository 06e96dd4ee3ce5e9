/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC frames with a trailer (docs/protocol.md 5.8, D65): a node whose gateway pauses sends them, by each way of writing the
 * segment list; another takes them at a SID that demands a digest.
 */
#include "test/support/unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pfc/pfc_trailer.h"
#include "config/program.h"
#include "service/pfc/pfc_cp.h"
#include "snapshot/pfc_outer.h"
#include "test/support/testbed.h"
#include "wire/srh.h"

#define KEYS_FILE "test_pfc_seal.keys"
#define MS NSEC_PER_MSEC

/* p0 is inside the domain, the gateway of a and the paused queues of b are behind p1. */
#define NODE(own, id) \
	"node: {name: " own ", loopback: \"fd00::" own "\", usid: {block: \"5f00:0::/32\", node: " id "},\n" \
	"  infrastructure: [\"fd00::/16\"], slice-option: 0x1e}\n" \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 17K}\n" \
	"hmac: {keys: " KEYS_FILE "}\n" \
	"slices: [{name: gold, id: 5}, {name: silver, id: 6}]\n" \
	"buffer-profiles: [{name: small, xoff: 4096, headroom: 4096, forced: true}]\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: p1, device: net_null1, side: dc, speed: 100G, addresses: [\"2001:db8:b::2/64\"],\n" \
	"     pfc: {priorities: [3, 4], peers: [\"02:00:00:00:b0:03\"], buffer: small}}\n" \
	"neighbors: [{port: p0, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:03\"}]\n" \
	"routes:\n" \
	"  - {prefix: \"fd00::/16\", port: p0, nexthop: \"2001:db8:a::3\"}\n" \
	"  - {prefix: \"5f00::/16\", port: p0, nexthop: \"2001:db8:a::3\"}\n"
#define A(list, keys) \
	NODE("a", "0x100") \
	"pfc-relays: [{name: gw, port: p1, mode: transparent, segments: [" list "], message-keys: [" keys "]}]\n"
#define PAUSES(sid, behavior, more) \
	"  - {sid: \"" sid "\", behavior: " behavior ", port: p1, nexthop: \"2001:db8:b::5\", outage: 0, " \
	"message-keys: [8, 7]" more "}\n"
#define B \
	NODE("b", "0x300") \
	"sids:\n" PAUSES("5f00:1:1:e1::/64", "End.X.PFC", "") PAUSES("5f00:1:1:e2::/64", "End.X.PFC", "") \
		PAUSES("5f00:0:e0e1::/48", "End.X.PFC", "") \
			PAUSES("5f00:1:1:e5::/64", "End.X.PFC", ", slice: gold, slice-by: argument") \
				PAUSES("5f00:1:1:e6::/64", "End.X.PFC", ", slice: gold, slice-by: option")

enum { WAN, DC };

static struct testbed *node(const char *yaml)
{
	FILE *f;

	unlink(KEYS_FILE);
	f = fopen(KEYS_FILE, "w");
	assert_non_null(f);
	fchmod(fileno(f), 0600);
	fprintf(f, "7 000102030405060708090a0b0c0d0e0f\n8 101112131415161718191a1b1c1d1e1f\n9 2021222324252627"
		   "28292a2b2c2d2e2f\n");
	fclose(f);
	return testbed_new(yaml);
}

/* A packet as it arrives at its last SID: without its SRH. */
struct packet {
	struct eth_hdr eth;
	struct ipv6_hdr ip;
	struct pfc_sealed pfc;
} __attribute__((packed));

static struct packet says(struct testbed *t, uint8_t enable, uint16_t time, const char *sid)
{
	const struct eth_addr gateway = {{0x02, 0, 0, 0, 0xb0, 3}};
	struct pfc_request r = {.enable = enable};
	struct sent_frame *f;
	struct pfc_frame frame;
	struct packet p;
	struct ip_addr a;

	FOR_EACH_BIT(i, enable)
		r.time[i] = time;
	pfc_write(&frame, &gateway, &r);
	fake_port_receive(t->port[DC], 0, &frame, sizeof(frame), 0);
	testbed_settle(t, 10);
	f = fake_port_take(t->port[WAN]);
	assert_non_null(f);
	assert_true(f->size >= sizeof(p));
	memcpy(&p, f->bytes, sizeof(p) - sizeof(p.pfc));
	assert_int_equal(be16_get(p.ip.payload_length), f->size - 14 - 40);
	memcpy(&p.pfc, f->bytes + f->size - sizeof(p.pfc), sizeof(p.pfc));
	free(f);
	assert_int_equal(ip_addr_parse(sid, &a), 0);
	p.ip.dst = a.v6;
	p.ip.next_header = IP_PROTO_ETHERNET;
	p.ip.payload_length = be16(sizeof(p.pfc));
	return p;
}

/* The reason for which a packet of `size` bytes behind the outer header ended. */
static enum reason ends_of(struct testbed *t, const struct packet *packet, size_t size)
{
	static const enum reason all[] = {CONSUME_pfc, DROP_pfc_frame_forged, DROP_pfc_frame_stale, DROP_pfc_bad_da,
		DROP_pfc_bad_opcode, DROP_pfc_bad_cev, DROP_pfc_bad_peer, DROP_pfc_bad_slice};
	uint64_t before[ARRAY_LEN(all)];
	struct packet p = *packet;

	for (unsigned int i = 0; i < ARRAY_LEN(all); i++)
		before[i] = testbed_reason(t, WAN, all[i]);
	p.eth.dst = t->port[WAN]->port.mac;
	p.eth.src = (struct eth_addr){{2, 0, 0, 0, 0xa0, 3}};
	p.ip.payload_length = be16((uint16_t)size);
	fake_port_receive(t->port[WAN], 0, &p, (uint32_t)(sizeof(p) - sizeof(p.pfc) + size), 0);
	testbed_settle(t, 10);
	for (unsigned int i = 0; i < ARRAY_LEN(all); i++)
		if (testbed_reason(t, WAN, all[i]) != before[i])
			return all[i];
	return DROP_not_served;
}

static enum reason ends(struct testbed *t, const struct packet *p)
{
	return ends_of(t, p, sizeof(p->pfc));
}

/* Priorities of slice 0 or `slice` that pauses hold on p1. */
static unsigned int held(const struct testbed *t, unsigned int slice)
{
	return t->node->egress[DC].slice[slice].closed[EGRESS_PAUSE];
}

static struct ipv6_addr sid(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a.v6;
}

#define ONE "5f00:1:1:e1::"

static void forged(void **state)
{
	struct testbed *a = node(A("\"" ONE "\"", "7, 8")), *b = node(B);
	struct packet good = says(a, 0x08, 65535, ONE), p;

	(void)state;
	assert_int_equal(be32_get(good.pfc.trailer.key_id), 7);
	/* the format of the draft, and what is not quite the other one */
	assert_int_equal(ends_of(b, &good, sizeof(struct pfc_frame)), DROP_pfc_frame_forged);
	assert_int_equal(ends_of(b, &good, sizeof(good.pfc) - 1), DROP_pfc_frame_forged);
	/* each bit counts, of frame, trailer and digest */
	for (unsigned int i = 0; i < 8 * sizeof(p.pfc); i++) {
		p = good;
		((uint8_t *)&p.pfc)[i / 8] ^= (uint8_t)(1u << i % 8);
		check(ends(b, &p) != CONSUME_pfc, "bit %u", i);
	}
	p = good;
	p.ip.src = sid("fd00::c");
	assert_int_equal(ends(b, &p), DROP_pfc_frame_forged);
	p = good;
	p.ip.dst = sid("5f00:1:1:e2::");
	assert_int_equal(ends(b, &p), DROP_pfc_frame_forged);
	assert_int_equal(held(b, 0), 0);
	/* the true one is heard after all of them, once */
	assert_int_equal(ends(b, &good), CONSUME_pfc);
	assert_int_equal(held(b, 0), 0x08);
	assert_int_equal(ends(b, &good), DROP_pfc_frame_stale);
	testbed_free(a);
	/* by a key that the SID does not have */
	a = node(A("\"" ONE "\"", "9"));
	a->now += 10 * MS;
	p = says(a, 0x10, 65535, ONE);
	assert_int_equal(ends(b, &p), DROP_pfc_frame_forged);
	testbed_free(a);
	/* by one that it has, when the keys are changed */
	a = node(A("\"" ONE "\"", "8"));
	a->now += 10 * MS;
	p = says(a, 0x10, 65535, ONE);
	assert_int_equal(be32_get(p.pfc.trailer.key_id), 8);
	assert_int_equal(ends(b, &p), CONSUME_pfc);
	assert_int_equal(held(b, 0), 0x18);
	testbed_free(a);
	testbed_free(b);
	unlink(KEYS_FILE);
}

/* What was heard counts once; what is overtaken by a frame about other priorities counts. */
static void replayed(void **state)
{
	struct testbed *a = node(A("\"" ONE "\"", "7")), *b = node(B), *again = node(B);
	struct packet first = says(a, 0x08, 65535, ONE), second = says(a, 0x10, 65535, ONE), xon, both;

	(void)state;
	a->now += MS;
	xon = says(a, 0x08, 0, ONE);
	both = says(a, 0x18, 65535, ONE);
	assert_int_equal(ends(b, &second), CONSUME_pfc);
	assert_int_equal(ends(b, &first), CONSUME_pfc);
	assert_int_equal(held(b, 0), 0x18);
	assert_int_equal(ends(b, &xon), CONSUME_pfc);
	assert_int_equal(held(b, 0), 0x10);
	assert_int_equal(ends(b, &first), DROP_pfc_frame_stale);
	assert_int_equal(ends(b, &second), DROP_pfc_frame_stale);
	assert_int_equal(held(b, 0), 0x10);
	assert_int_equal(ends(b, &both), CONSUME_pfc);
	assert_int_equal(held(b, 0), 0x18);
	assert_int_equal(ends(b, &xon), DROP_pfc_frame_stale);
	assert_int_equal(held(b, 0), 0x18);
	/* a node that starts later knows nothing of them, and refuses what was sent more than a second before */
	again->now = a->now + NSEC_PER_SEC + MS;
	assert_int_equal(ends(again, &both), DROP_pfc_frame_stale);
	assert_int_equal(held(again, 0), 0);
	a->now = again->now;
	xon = says(a, 0x08, 65535, ONE);
	assert_int_equal(ends(again, &xon), CONSUME_pfc);
	assert_int_equal(held(again, 0), 0x08);
	testbed_free(a);
	testbed_free(b);
	testbed_free(again);
	unlink(KEYS_FILE);
}

/* The destination in the digest is the one at the end of the list, however that is written. */
static void lists(void **state)
{
	static const struct {
		const char *yaml, *end;
	} rows[] = {
		{A("\"5f00:1:2:1::\", \"" ONE "\"", "7"), ONE},
		{A("\"5f00:0:e0e1::\"", "7"), "5f00:0:e0e1::"},
		{A("\"5f00:0:200::\", \"5f00:0:e0e1::\"", "7"), "5f00:0:e0e1::"},
		{A("\"5f00:0:200:e0e1::\"", "7"), "5f00:0:e0e1::"},
		{A("\"5f00:1:2:1::\", \"5f00:0:200:201::\", \"5f00:0:202:e0e1::\"", "7"), "5f00:0:e0e1::"},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct testbed *a = node(rows[i].yaml), *b = node(B);
		struct packet p = says(a, 0x08, 65535, rows[i].end);

		check(ends(b, &p) == CONSUME_pfc, "list %u", i);
		check(held(b, 0) == 0x08, "list %u: not held", i);
		testbed_free(a);
		testbed_free(b);
	}
	unlink(KEYS_FILE);
}

/* A frame pauses the slice for which it was sent: who changes the id in the packet is found out. */
static void slices(void **state)
{
	struct testbed *b = node(B), *c = testbed_new(NODE("a", "0x100"));
	struct snap_pfc_outer outer = {.message_key = 7, .slice = 6, .end = sid("5f00:1:1:e5:6::")};
	const struct eth_addr mac = {{2, 0, 0, 0, 1, 1}};
	struct pfc_request r = {.enable = 0x08, .time[3] = 65535};
	struct packet p = {.eth.type = be16(ETH_TYPE_IPV6)};

	(void)state;
	testbed_settle(c, 10);
	p.ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0xe0, 0),
		.next_header = IP_PROTO_ETHERNET,
		.hop_limit = 60,
		.src = sid("fd00::a"),
		.dst = outer.end};
	memcpy(outer.header, &p.ip, sizeof(p.ip));
	pfc_write(&p.pfc.frame, &mac, &r);
	assert_true(control_seal(c->node->control, &outer, &p.pfc));
	p.ip.dst = sid("5f00:1:1:e5:5::");
	assert_int_equal(ends(b, &p), DROP_pfc_frame_forged);
	p.ip.dst = sid("5f00:1:1:e5::");
	assert_int_equal(ends(b, &p), DROP_pfc_frame_forged);
	p.ip.dst = outer.end;
	assert_int_equal(ends(b, &p), CONSUME_pfc);
	assert_int_equal(held(b, 2), 0x08);
	assert_int_equal(held(b, 0) | held(b, 1), 0);
	/* without the key nothing is sent */
	outer.message_key = 77;
	assert_false(control_seal(c->node->control, &outer, &p.pfc));
	testbed_free(c);
	testbed_free(b);
	unlink(KEYS_FILE);
}

/* The same with the id in an option of the packet, which no digest covers: the frame names its slice itself. */
static void slice_options(void **state)
{
	struct testbed *b = node(B), *c = testbed_new(NODE("a", "0x100"));
	struct snap_pfc_outer outer = {.message_key = 7, .slice = 6, .end = sid("5f00:1:1:e6::")};
	const struct eth_addr mac = {{2, 0, 0, 0, 1, 1}};
	struct pfc_request r = {.enable = 0x08, .time[3] = 65535};
	struct {
		struct eth_hdr eth;
		struct ipv6_hdr ip;
		uint8_t option[CFG_SLICE_OPTION_BYTES];
		struct pfc_sealed pfc;
	} __attribute__((packed))
	p = {.eth = {.dst = b->port[WAN]->port.mac, .src = {{2, 0, 0, 0, 0xa0, 3}}, .type = be16(ETH_TYPE_IPV6)},
		.ip = {.vtc_flow = ipv6_vtc_flow(0xe0, 0),
			.payload_length = be16(CFG_SLICE_OPTION_BYTES + sizeof(struct pfc_sealed)),
			.next_header = IP_PROTO_HOPOPTS,
			.hop_limit = 60,
			.src = sid("fd00::a"),
			.dst = outer.end}};

	(void)state;
	testbed_settle(c, 10);
	memcpy(outer.header, &p.ip, sizeof(p.ip));
	pfc_write(&p.pfc.frame, &mac, &r);
	assert_true(control_seal(c->node->control, &outer, &p.pfc));
	snap_write_slice(p.option, IP_PROTO_ETHERNET, 0x1e, 5);
	fake_port_receive(b->port[WAN], 0, &p, sizeof(p), 0);
	testbed_settle(b, 10);
	assert_int_equal(testbed_reason(b, WAN, DROP_pfc_frame_forged), 1);
	assert_int_equal(held(b, 1) | held(b, 2), 0);
	snap_write_slice(p.option, IP_PROTO_ETHERNET, 0x1e, 6);
	fake_port_receive(b->port[WAN], 0, &p, sizeof(p), 0);
	testbed_settle(b, 10);
	assert_int_equal(testbed_reason(b, WAN, CONSUME_pfc), 1);
	assert_int_equal(held(b, 2), 0x08);
	testbed_free(c);
	testbed_free(b);
	unlink(KEYS_FILE);
}

/* However many senders there are: memory is bounded, and nothing counts twice. */
static void many(void **state)
{
	static struct pfc_seen_table t;
	const unsigned int senders = 3 * PFC_SEEN_SETS * PFC_SEEN_WAYS;
	const struct ipv6_addr to = sid(ONE);
	unsigned int taken = 0;

	(void)state;
	pfc_seen_start(&t, 1000);
	assert_int_equal(pfc_seen_take(&t, &to, &to, 1000, 8), 0);
	for (unsigned int i = 0; i < senders; i++) {
		const struct ipv6_addr from = ipv6_from(0xfd00ull << 48, i);

		taken += pfc_seen_take(&t, &from, &to, 2000 + i, 8) != 0;
	}
	assert_int_equal(taken, senders);
	for (unsigned int i = 0; i < senders; i++) {
		const struct ipv6_addr from = ipv6_from(0xfd00ull << 48, i);

		check(!pfc_seen_take(&t, &from, &to, 2000 + i, 8), "sender %u counts twice", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forged),
		cmocka_unit_test(replayed),
		cmocka_unit_test(lists),
		cmocka_unit_test(slices),
		cmocka_unit_test(slice_options),
		cmocka_unit_test(many),
	};

	testbed_eal();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
