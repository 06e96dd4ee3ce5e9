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
		"vrfs: [{name: red}]\n" \
		"ports:\n" \
		"  - {name: wan, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: sliced, device: net_null1, side: wan, slice: gold, mtu: 1500, addresses: " \
		"[\"2001:db8:b::2/64\"]}\n" \
		"  - {name: open, device: net_null2, side: dc, boundary-off: [sids, sources], addresses: " \
		"[\"2001:db8:c::2/64\"]}\n" \
		"  - {name: shut, device: net_null3, side: dc, addresses: [\"2001:db8:d::2/64\"]}\n" \
		"  - {name: tenant, device: net_null4, side: dc, vrf: red, addresses: [\"2001:db8:e::2/64\"]}\n" \
		"routes:\n" \
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
		"  - {sid: \"5f00:0:e003::/48\", behavior: uDT46, vrf: red}\n"

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

/* Returns the length of a frame. */
static uint32_t draw(uint8_t *frame, const struct port *port, uint64_t *state)
{
	static const uint8_t limits[] = {64, 255, 2, 1, 0};
	static const uint16_t lengths[] = {0, 8, 100, 1400, 1460, 1461};
	uint16_t length = lengths[of(state, ARRAY_LEN(lengths))];
	uint32_t bytes = 54u + length + of(state, 3);

	memset(frame, 0, bytes);
	memcpy(frame, port->mac.b, 6);
	unit_bytes("02000000a003 86dd 60000000", frame + 6, 12);
	frame[14] |= (uint8_t)of(state, 16);
	frame[15] = (uint8_t)unit_random(state);
	frame[18] = (uint8_t)(length >> 8);
	frame[19] = (uint8_t)length;
	frame[20] = 59;
	frame[21] = limits[of(state, 4) ? 0 : of(state, ARRAY_LEN(limits))];
	put_source(frame + 22, state);
	put_container(frame + 38, state);
	if (!of(state, 8))
		memcpy(frame + 6 * of(state, 2), port->mac.b, 6); /* its own MAC */
	for (uint32_t i = of(state, 3) ? 0 : 1 + of(state, 2); i; i--)
		frame[of(state, 54)] ^= (uint8_t)(1u << of(state, 8));
	return bytes;
}

struct both {
	struct lcore_stats stats;
	struct sid_counter sids[SNAP_SID_MAX];
	struct classifier c;
};

static struct both lane, general;

static void compare(struct testbed *t, uint16_t port, uint64_t *state, uint32_t *taken)
{
	const struct snap_interface *in = &t->node->snapshot->port[port];
	struct rte_mbuf *pkts[BURST];
	struct pkt by_lane;
	unsigned int done;

	assert_int_equal(rte_pktmbuf_alloc_bulk(t->node->pool, pkts, BURST), 0);
	for (unsigned int i = 0; i < BURST; i++) {
		uint32_t bytes = draw(rte_pktmbuf_mtod(pkts[i], uint8_t *), &t->port[port]->port, state);

		pkts[i]->pkt_len = bytes;
		pkts[i]->data_len = (uint16_t)(of(state, 20) ? bytes : of(state, bytes + 1));
		pkts[i]->port = port;
		memset(pkt_of(pkts[i]), 0xee, sizeof(struct pkt));
	}
	for (unsigned int i = 0; i < BURST; i += done + 1) {
		done = classify_express(&lane.c, in, &pkts[i], BURST - i);
		*taken += done;
		if (i + done < BURST) {
			for (unsigned int k = 0; k < sizeof(struct pkt); k++)
				assert_int_equal(((const uint8_t *)pkt_of(pkts[i + done]))[k], 0xee);
			classify_frames(&lane.c, in, &pkts[i + done], 1);
		}
	}
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
	uint32_t taken[PORTS] = {0};
	uint64_t seed = 1;

	(void)state;
	lane.c = (struct classifier){.s = t->node->snapshot, .stats = &lane.stats, .sids = lane.sids, .now = t->now};
	general.c = (struct classifier){.s = t->node->snapshot,
		.stats = &general.stats,
		.sids = general.sids,
		.now = t->now};
	for (unsigned int i = 0; i < ROUNDS; i++)
		compare(t, (uint16_t)(i % PORTS), &seed, &taken[i % PORTS]);
	assert_memory_equal(&lane.stats, &general.stats, sizeof(lane.stats));
	assert_memory_equal(lane.sids, general.sids, sizeof(lane.sids));
	/* of enough packets the lane has said something, and of none from outside the domain or from a tenant */
	for (unsigned int i = 0; i < PORTS; i++)
		check(i < 3 ? taken[i] > ROUNDS / PORTS * BURST / 20 : !taken[i], "port %u: %u packets by the lane", i,
			taken[i]);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(lane_is_the_general_way)};

	return cmocka_run_group_tests_name("express", tests, NULL, NULL);
}
