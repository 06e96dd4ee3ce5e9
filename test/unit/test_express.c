/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The express lane of classification against the general way: packets drawn at random, most of them nearly of the lane's
 * form, get the same verdict and the same counts by both. What the lane does not take it does not touch.
 */
#include "test/support/unit.h"

#include "classify/classify_priv.h"
#include "test/support/packet.h"
#include "test/support/testbed.h"
#include "test/support/verdict.h"
#include "wire/checksum.h"
#include "wire/eth.h"

#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 40000
#else
#define ROUNDS 640000
#endif
#define BURST 16

#define NODE \
	"node: {name: t, loopback: \"fd00::d\", usid: {block: \"5f00:0::/32\", node: 0x100},\n" \
	"  infrastructure: [\"fd00::/16\", \"fc00:1::/32\"]}\n"

#define CONFIG \
	NODE TESTBED_ONE_LCORE \
		"slices: [{name: gold, id: 7}, {name: grey, id: 9}]\n" \
		"class-maps:\n" \
		"  - {name: into, classes: [{from: 0, class: 3}]}\n" \
		"  - {name: out-of, classes: [{from: 0, to: 1, class: 5}, {from: 4, to: 5, class: 2}]}\n" \
		"vrfs:\n" \
		"  - name: red\n" \
		"    routes:\n" \
		"      - {prefix: \"fd01::/32\", policy: one}\n" \
		"      - {prefix: \"fd01:0:1::/48\", policy: more}\n" \
		"      - {prefix: \"fd01:0:2::/48\", port: tenant, nexthop: \"2001:db8:e::3\"}\n" \
		"      - {prefix: \"5f00::/16\", policy: one}\n" \
		"      - {prefix: \"10.1.0.0/16\", policy: one}\n" \
		"      - {prefix: \"10.1.1.0/24\", policy: more}\n" \
		"      - {prefix: \"10.1.2.0/24\", port: tenant, nexthop: \"10.0.4.3\"}\n" \
		"      - {prefix: \"224.0.0.0/4\", policy: one}\n" \
		"      - {prefix: \"169.254.0.0/16\", policy: one}\n" \
		"ports:\n" \
		"  - {name: wan, device: net_null0, side: wan, speed: 10G, mtu: 1600, addresses: " \
		"[\"2001:db8:a::2/64\"]}\n" \
		"  - {name: sliced, device: net_null1, side: wan, slice: gold, mtu: 1500, addresses: " \
		"[\"2001:db8:b::2/64\"]}\n" \
		"  - {name: open, device: net_null2, side: dc, boundary-off: [sids, sources], addresses: " \
		"[\"2001:db8:c::2/64\"]}\n" \
		"  - {name: shut, device: net_null3, side: dc, addresses: [\"2001:db8:d::2/64\"]}\n" \
		"  - {name: tenant, device: net_null4, side: dc, vrf: red, slice: grey, addresses: " \
		"[\"2001:db8:e::2/64\", " \
		"\"10.0.4.2/24\"]}\n" \
		"policies:\n" \
		"  - {name: one, paths: [{name: a, segments: [\"5f00:0:500::\"]}]}\n" \
		"  - {name: more, class-map: into, dscp: set, dscp-value: 26, paths: [{name: a, segments: " \
		"[\"5f00:0:500::\", " \
		"\"5f00:0:777:1::\"]}, " \
		"{name: b, segments: [\"5f00:0:600::\"]}, {name: c, segments: [\"5f00:0:800::\"]}, " \
		"{name: d, segments: [\"5f00:0:999::\"]}]}\n" \
		"routes:\n" \
		"  - {prefix: \"5f00:0:800::/48\", port: wan, nexthop: \"2001:db8:a::3\"}\n" \
		"  - {prefix: \"5f00:0:800::/48\", port: sliced, nexthop: \"2001:db8:b::3\"}\n" \
		"  - {prefix: \"5f00:0:500::/48\", port: wan, nexthop: \"2001:db8:a::3\"}\n" \
		"  - {prefix: \"5f00:0:600::/48\", port: sliced, nexthop: \"2001:db8:b::3\"}\n" \
		"  - {prefix: \"5f00:0:700::/48\", port: wan, nexthop: \"2001:db8:a::3\"}\n" \
		"  - {prefix: \"5f00:0:700:8000::/49\", port: open, nexthop: \"2001:db8:c::3\"}\n" \
		"  - {prefix: \"2001:db8:f::/48\", port: sliced, nexthop: \"2001:db8:b::3\"}\n" \
		"sids:\n" \
		"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
		"  - {sid: \"5f00:0:200::/48\", behavior: uN, slice: grey}\n" \
		"  - {sid: \"5f00:0:e000::/48\", behavior: uA, port: sliced, nexthop: \"2001:db8:b::3\"}\n" \
		"  - {sid: \"5f00:0:e001::/48\", behavior: uA, port: open, nexthop: \"2001:db8:c::3\", slice: gold}\n" \
		"  - {sid: \"5f00:0:300:e002::/64\", behavior: uA, port: wan, nexthop: \"2001:db8:a::3\"}\n" \
		"  - {sid: \"5f00:0:e003::/48\", behavior: uDT46, vrf: red, class-map: out-of}\n" \
		"  - {sid: \"5f00:0:300:e004::/64\", behavior: uDT6, vrf: red, slice: gold}\n" \
		"  - {sid: \"5f00:0:e005::/48\", behavior: uDT4, vrf: red}\n" \
		"  - {sid: \"5f00:0:e006::/48\", behavior: uDX6, port: tenant, nexthop: \"2001:db8:e::3\"}\n"

enum { PORTS = 5 };

static uint32_t of(uint64_t *state, uint32_t n)
{
	return unit_random(state) % n;
}

static void put_source(uint8_t *at, uint64_t *state)
{
	static const char *const sources[] = {"fd000000000000000000000000000001", "fd000000000000000000000000000002",
		"fc000001000000000000000000000009", "fd00000000000000000000000000000d",
		"fe800000000000000000000000000001", "20010db8000a00000000000000000002",
		"00000000000000000000000000000000", "ff020000000000000000000000000001",
		"00000000000000000000000000000001", "20010db8000f00000000000000000005"};

	/* half of them are of the domain */
	unit_bytes(sources[of(state, 2) ? of(state, 3) : of(state, ARRAY_LEN(sources))], at, 16);
}

static void put_container(uint8_t *at, uint64_t *state)
{
	static const uint16_t ids[] = {0x100, 0x200, 0xe000, 0xe001, 0x300, 0xe002, 0xe003, 0x500, 0x600, 0x700, 0x8001,
		0x900};
	uint32_t n = 1 + of(state, 6);

	memset(at, 0, 16);
	memcpy(at, "\x5f\0\0\0", 4);
	for (uint32_t i = 0; i < n; i++) {
		/* the first one is often a SID that shifts, the others often have a route */
		uint16_t id = ids[of(state, 3) ? (i ? 7 : 0) + of(state, i ? 3 : 4) : of(state, ARRAY_LEN(ids))];

		at[4 + 2 * i] = (uint8_t)(id >> 8);
		at[5 + 2 * i] = (uint8_t)id;
	}
}

static uint16_t draw_length(uint64_t *state)
{
	static const uint16_t lengths[] = {0, 8, 100, 1400, 1420, 1421, 1460, 1461};

	return lengths[of(state, ARRAY_LEN(lengths))];
}

static uint8_t draw_limit(uint64_t *state)
{
	static const uint8_t limits[] = {64, 255, 2, 1, 0};

	return limits[of(state, 4) ? 0 : of(state, ARRAY_LEN(limits))];
}

/* An IPv6 header before `length` bytes of `protocol`. Addresses are not set. */
static void put_ipv6(uint8_t *ip, uint16_t length, uint8_t protocol, uint64_t *state)
{
	ip[0] = (uint8_t)(0x60 | of(state, 16));
	ip[1] = (uint8_t)unit_random(state);
	ip[4] = (uint8_t)(length >> 8);
	ip[5] = (uint8_t)length;
	ip[6] = protocol;
	ip[7] = draw_limit(state);
}

static uint8_t draw_protocol(uint64_t *state)
{
	static const uint8_t protocols[] = {IP_PROTO_UDP, IP_PROTO_TCP, 59, IP_PROTO_IPV6};

	return protocols[of(state, ARRAY_LEN(protocols))];
}

/* An IPv6 packet of a tenant, with `length` bytes of payload; two in three are in order. */
static void put_tenant6(uint8_t *ip, uint16_t length, uint64_t *state)
{
	static const char *const addresses[] = {"fd010000000100000000000000000001", "fd010000000200000000000000000002",
		"fd010000000300000000000000000003", "20010db8000e00000000000000000009",
		"20010db8000e00000000000000000002", "5f000000010000000000000000000001",
		"5f0000000000000000000000000000e1", "fd00000000000000000000000000000d",
		"fe800000000000000000000000000001", "00000000000000000000000000000001",
		"ff020000000000000000000000000001", "fc000001000000000000000000000009",
		"20020db8000e00000000000000000001"};

	put_ipv6(ip, length, draw_protocol(state), state);
	unit_bytes(of(state, 3) ? "20010db8000e000000000000000000c7" : addresses[of(state, ARRAY_LEN(addresses))],
		ip + 8, 16);
	unit_bytes(addresses[of(state, of(state, 3) ? 4 : ARRAY_LEN(addresses))], ip + 24, 16);
	for (unsigned int i = 0; i < 8; i++)
		ip[40 + i] = (uint8_t)unit_random(state);
}

/* The same of IPv4. */
static void put_tenant4(uint8_t *ip, uint16_t length, uint64_t *state)
{
	static const uint32_t addresses[] = {0x0a010101, 0x0a010203, 0x0a010304, 0x0a000409, 0x0a000402, 0x0a0004ff,
		0xe0000101, 0xa9fe0101, 0x7f000001, 0, 0xffffffff, 0x0a990101};
	struct ipv4_hdr *h = (struct ipv4_hdr *)ip;

	memset(ip, 0, sizeof(*h) + 8);
	ip[0] = of(state, 12) ? 0x45 : 0x46;
	h->tos = (uint8_t)unit_random(state);
	h->total_length = be16((uint16_t)(length + sizeof(*h)));
	if (!of(state, 4))
		h->fragment = be16((uint16_t)of(state, 65536));
	h->ttl = draw_limit(state);
	h->protocol = draw_protocol(state);
	h->src = be32(of(state, 3) ? 0x0a0004c7 : addresses[of(state, ARRAY_LEN(addresses))]);
	h->dst = be32(addresses[of(state, of(state, 3) ? 4 : ARRAY_LEN(addresses))]);
	for (unsigned int i = 0; i < 8; i++)
		ip[20 + i] = (uint8_t)unit_random(state);
	h->checksum = checksum_ipv4(h);
	if (!of(state, 12))
		h->checksum = be16((uint16_t)of(state, 65536));
}

/* Bytes from the IP header on; of a family in three in five of which the lane says something. */
static uint32_t put_tenant(uint8_t *ip, bool six, uint64_t *state)
{
	uint16_t length = draw_length(state);

	if (six)
		put_tenant6(ip, length, state);
	else
		put_tenant4(ip, length, state);
	return (six ? 40u : 20u) + length;
}

static uint32_t put_tunnel(uint8_t *ip, uint64_t *state)
{
	static const char *const sids[] = {"5f000000e00300000000000000000000", "5f0000000300e0040000000000000000",
		"5f000000e00500000000000000000000", "5f000000e00600000000000000000000"};
	bool six = of(state, 2);
	uint32_t inner = put_tenant(ip + 40, six, state),
		 sid = of(state, 3) ? of(state, 2) : of(state, ARRAY_LEN(sids));

	put_ipv6(ip, (uint16_t)(inner - (of(state, 8) ? 0 : 1)), six ? IP_PROTO_IPV6 : IP_PROTO_IPV4, state);
	unit_bytes(sids[sid], ip + 24, 16);
	if (of(state, 3)) /* the same ECN */
		ip[41] = six ? (uint8_t)((ip[41] & ~0x30) | (ip[1] & 0x30)) : ip[41];
	return 40 + inner;
}

/* Returns the length of a frame. */
static uint32_t draw(uint8_t *frame, const struct port *port, uint64_t *state)
{
	bool six = true, tenant = port->index == 4 ? of(state, 8) : of(state, 3) == 0;
	uint32_t bytes = 54, headers = 54;

	memset(frame, 0, 2048);
	memcpy(frame, port->mac.b, 6);
	if (tenant && port->index == 4) {
		six = of(state, 2);
		bytes = 14 + put_tenant(frame + 14, six, state);
	} else if (tenant) {
		bytes = 14 + put_tunnel(frame + 14, state);
		headers = 94;
		put_source(frame + 22, state);
	} else {
		bytes += draw_length(state);
		put_ipv6(frame + 14, (uint16_t)(bytes - 54), 59, state);
		put_source(frame + 22, state);
		put_container(frame + 38, state);
	}
	unit_bytes(six ? "02000000a003 86dd" : "02000000a003 0800", frame + 6, 8);
	if (!of(state, 8))
		memcpy(frame + 6 * of(state, 2), port->mac.b, 6); /* its own MAC */
	for (uint32_t i = of(state, 3) ? 0 : 1 + of(state, 2); i; i--)
		frame[of(state, headers)] ^= (uint8_t)(1u << of(state, 8));
	return bytes + of(state, 3);
}

struct both {
	struct lcore_stats stats;
	struct sid_counter sids[SNAP_SID_MAX];
	struct classifier c;
};

static struct both lane, general;

/* What the lane did: shifted; or sent a packet of a VRF, IPv6 or IPv4, received or decapsulated, as it is or by a policy. */
enum { SHIFTED = 8, FORMS };

static unsigned int form_of(const struct pkt *x)
{
	if (x->ops & PKT_OP_DA)
		return SHIFTED;
	return (x->family == 4 ? 1 : 0) | (x->sid != PKT_SID_NONE ? 2 : 0) | (x->ops & PKT_OP_ENCAP ? 4 : 0);
}

static void compare(struct testbed *t, uint16_t port, uint64_t *state, uint32_t *taken, uint32_t *forms)
{
	const struct snap_interface *in = &t->node->snapshot->port[port];
	struct rte_mbuf *pkts[BURST], *others[BURST];
	unsigned int left, looks = of(state, 2) ? BURST : 1 + of(state, 4), k = 0;
	struct pkt by_lane;

	assert_int_equal(rte_pktmbuf_alloc_bulk(t->node->pool, pkts, BURST), 0);
	for (unsigned int i = 0; i < BURST; i++) {
		uint32_t bytes = draw(rte_pktmbuf_mtod(pkts[i], uint8_t *), &t->port[port]->port, state);

		pkts[i]->pkt_len = bytes;
		pkts[i]->data_len = (uint16_t)(of(state, 20) ? bytes : of(state, bytes + 1));
		pkts[i]->port = port;
		memset(pkt_of(pkts[i]), 0xee, sizeof(struct pkt));
	}
	left = classify_express(&lane.c, in, pkts, BURST, others, looks);
	*taken += BURST - left;
	/* each packet is either classified, or untouched and among the others, in their order */
	for (unsigned int i = 0; i < BURST; i++) {
		if (k < left && others[k] == pkts[i]) {
			for (unsigned int b = 0; b < sizeof(struct pkt); b++)
				assert_int_equal(((const uint8_t *)pkt_of(pkts[i]))[b], 0xee);
			k++;
		} else {
			forms[form_of(pkt_of(pkts[i]))]++;
		}
	}
	assert_int_equal(k, left);
	classify_frames(&lane.c, in, others, left);
	for (unsigned int i = 0; i < BURST; i++) {
		const char *differs;

		by_lane = *pkt_of(pkts[i]);
		memset(pkt_of(pkts[i]), 0x11, sizeof(struct pkt));
		classify_frames(&general.c, in, &pkts[i], 1);
		differs = verdict_differs(&by_lane, pkt_of(pkts[i]));
		check(!differs, "port %u: %s is another", port, differs);
		pkt_free(pkts[i]);
	}
}

static void lane_is_the_general_way(void **state)
{
	struct testbed *t = testbed_new(CONFIG);
	uint32_t taken[PORTS] = {0}, forms[FORMS] = {0};
	uint64_t seed = 1;

	(void)state;
	lane.c = (struct classifier){.s = t->node->snapshot, .stats = &lane.stats, .sids = lane.sids, .now = t->now};
	general.c = (struct classifier){.s = t->node->snapshot,
		.stats = &general.stats,
		.sids = general.sids,
		.now = t->now};
	for (unsigned int i = 0; i < ROUNDS; i++)
		compare(t, (uint16_t)(i % PORTS), &seed, &taken[i % PORTS], forms);
	assert_memory_equal(&lane.stats, &general.stats, sizeof(lane.stats));
	assert_memory_equal(lane.sids, general.sids, sizeof(lane.sids));
	/* of enough packets the lane has said something, and of none from outside the domain */
	for (unsigned int i = 0; i < PORTS; i++)
		check(i != 3 ? taken[i] > ROUNDS / PORTS * BURST / 20 : !taken[i], "port %u: %u packets by the lane", i,
			taken[i]);
	for (unsigned int i = 0; i < FORMS; i++)
		check(forms[i] > ROUNDS / 200, "form %u: %u packets by the lane", i, forms[i]);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(lane_is_the_general_way)};

	return cmocka_run_group_tests_name("express", tests, NULL, NULL);
}
