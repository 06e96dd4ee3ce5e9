/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC frames out of tunnels act on the queues of a whole node: exactly those of the SID's ports, slice and priority, for
 * exactly as long as the party that asked says (docs/protocol.md 4.4, D42).
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/budget.h"

#include "config/config.h"
#include "pfc/pfc_frame.h"
#include "test/support/conf.h"
#include "service/pfc/service_pfc.h"
#include "test/support/shown.h"
#include "test/support/testbed.h"

/* p0 receives; data leaves by p1 and p2, the set J of SID e1; SID e2 is p1's for slice gold. */
#define NODE \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [1], worker: [2, 3]}\n" \
	"memory: {buffers: 32K}\n" \
	"slices: [{name: gold}, {name: silver}]\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, worker: 2, addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: p1, device: net_null1, side: wan, worker: 2, speed: 100G, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"  - {name: p2, device: net_null2, side: wan, worker: 3, speed: 10G, addresses: [\"2001:db8:c::2/64\"]}\n" \
	"neighbors:\n" \
	"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
	"  - {port: p2, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:03\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:400::/48\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: p2, nexthop: \"2001:db8:c::3\"}\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e100::/48\", behavior: uA, port: p1, nexthop: \"2001:db8:b::3\", slice: gold}\n" \
	"  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, outage: 0, port: p1, nexthop: \"2001:db8:b::3\",\n" \
	"     adjacencies: [{port: p2, nexthop: \"2001:db8:c::3\"}]}\n" \
	"  - {sid: \"5f00:1:1:e2::/64\", behavior: End.X.PFC, outage: 0, flavors: [psp, usp], port: p1, nexthop: " \
	"\"2001:db8:b::3\",\n" \
	"     slice: gold}\n" \
	"  - {sid: \"5f00:1:1:e3::/64\", behavior: End.X.PFC, outage: 0, port: p1, nexthop: \"2001:db8:b::3\", " \
	"jitter: 500}\n"

#define LONG 335540ull /* ns of 65535 quanta at 100 Gb/s; ten times that at 10 Gb/s */

#define VIA_P1 "5f00:0:100:400::"
#define VIA_P2 "5f00:0:100:500::"
#define VIA_GOLD "5f00:0:e100:400::"

static void drain(struct testbed *t)
{
	struct sent_frame *f;

	testbed_pass(t, 20 * NSEC_PER_MSEC, 100000);
	for (unsigned int i = 1; i < 3; i++) {
		while ((f = fake_port_take(t->port[i])))
			free(f);
	}
}

/* All ports of J, by the rate of each; no other slice, no other priority. */
static void exactly_those_queues(void **state)
{
	struct testbed *t = testbed_new(NODE);
	uint64_t began;

	assert_true(testbed_passes(t, VIA_P1, 3, 1));
	testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::3", 3, 65535);
	began = t->now;
	assert_int_equal(testbed_reason(t, 0, CONSUME_pfc), 1);
	for (unsigned int class = 0; class < 6; ++class) {
		check(testbed_passes(t, VIA_P1, class, 1) == (class != 3), "p1, class %u", class);
		check(testbed_passes(t, VIA_P2, class, 2) == (class != 3), "p2, class %u", class);
		check(testbed_passes(t, VIA_GOLD, class, 1), "gold, class %u", class);
	}
	/* p1 resumes after 335 us, p2 after 3.35 ms, each by itself */
	testbed_pass(t, began + LONG - 5000 - t->now, 1000);
	assert_int_equal(t->port[1]->n_sent, 0);
	testbed_pass(t, 10000, 1000);
	assert_true(t->port[1]->n_sent > 0);
	assert_true(testbed_passes(t, VIA_P1, 3, 1));
	assert_false(testbed_passes(t, VIA_P2, 3, 2));
	testbed_pass(t, began + 10 * LONG - 20000 - t->now, 10000);
	assert_false(testbed_passes(t, VIA_P2, 3, 2));
	testbed_pass(t, 30000, 1000);
	assert_true(testbed_passes(t, VIA_P2, 3, 2));
	drain(t);
	/* the gold SID pauses gold alone */
	testbed_pfc_stop(t, "5f00:1:1:e2::", "fd00::3", 3, 65535);
	assert_false(testbed_passes(t, VIA_GOLD, 3, 1));
	assert_true(testbed_passes(t, VIA_P1, 3, 1));
	assert_true(testbed_passes(t, VIA_P2, 3, 2));
	testbed_pfc_stop(t, "5f00:1:1:e2::", "fd00::3", 3, 0);
	assert_true(testbed_passes(t, VIA_GOLD, 3, 1));
	drain(t);
	testbed_free(t);
}

/* D42: two downstream PEs; the XON of one never cancels the XOFF of the other, nor that by another SID. */
static void two_parties(void **state)
{
	struct testbed *t = testbed_new(NODE);

	testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::3", 3, 65535);
	testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::4", 3, 65535);
	testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::3", 3, 0);
	assert_false(testbed_passes(t, VIA_P1, 3, 1));
	testbed_pfc_stop(t, "5f00:1:1:e2::", "fd00::4", 3, 0);
	assert_false(testbed_passes(t, VIA_P1, 3, 1));
	testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::4", 3, 0);
	assert_true(testbed_passes(t, VIA_P1, 3, 1));
	assert_int_equal(t->node->egress[1].backlog, 0);
	drain(t);
	testbed_free(t);
}

/* A SID with jitter holds a pause longer by as much, each party's by itself; a resume is one at once. */
static void late_refreshes(void **state)
{
	const uint64_t hold = LONG + 500 * NSEC_PER_USEC;
	struct testbed *t = testbed_new(NODE);
	uint64_t began;

	testbed_pfc_stop(t, "5f00:1:1:e3::", "fd00::3", 3, 65535);
	began = t->now;
	assert_false(testbed_passes(t, VIA_P1, 3, 1));
	testbed_pass(t, began + hold - 5000 - t->now, 1000);
	assert_int_equal(t->port[1]->n_sent, 0);
	testbed_pass(t, 10000, 1000);
	assert_true(t->port[1]->n_sent > 0);
	assert_true(testbed_passes(t, VIA_P1, 3, 1));
	drain(t);
	/* by another SID the letter counts, and no pause is a short one */
	testbed_pfc_stop(t, "5f00:1:1:e3::", "fd00::3", 3, 1);
	testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::4", 3, 65535);
	testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::4", 3, 0);
	assert_false(testbed_passes(t, VIA_P1, 3, 1));
	testbed_pfc_stop(t, "5f00:1:1:e3::", "fd00::3", 3, 0);
	assert_true(testbed_passes(t, VIA_P1, 3, 1));
	drain(t);
	testbed_free(t);
}

/* A frame with nothing enabled is legal and does nothing; several priorities in one frame act apart. */
static void one_frame_many_priorities(void **state)
{
	struct pfc_request nothing = {0}, many = {.enable = 0xff, .time = {0, 10000, 0, 20000, 0, 30000}};
	struct testbed *t = testbed_new(NODE);

	testbed_pfc_pause(t, "5f00:1:1:e1::", "fd00::3", &nothing);
	assert_true(testbed_passes(t, VIA_P1, 0, 1));
	testbed_pfc_pause(t, "5f00:1:1:e1::", "fd00::3", &many);
	for (unsigned int class = 0; class < 6; ++class)
		check(testbed_passes(t, VIA_P2, class, 2) == !(class & 1), "class %u", class);
	assert_int_equal(testbed_reason(t, 0, CONSUME_pfc), 2);
	drain(t);
	testbed_free(t);
}

/* More frames than anybody has reason to send: the surplus is dropped under its name. */
static void flood(void **state)
{
	struct testbed *t = testbed_new(NODE);

	for (unsigned int i = 0; i < 1000; i++)
		testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::3", 3, 1);
	assert_true(testbed_reason(t, 0, DROP_pfc_limited) > 300);
	assert_int_equal(testbed_reason(t, 0, DROP_pfc_limited) + testbed_reason(t, 0, CONSUME_pfc), 1000);
	drain(t);
	testbed_free(t);
}

/* Of 64 parties and more, one too many is refused and counted; those that were there keep their holds. */
static void too_many_parties(void **state)
{
	struct testbed *t = testbed_new(NODE);
	struct lcore_stats sum;
	char source[32];

	for (unsigned int i = 0; i < PFC_PARTIES_MAX + 5; i++) {
		snprintf(source, sizeof(source), "fd00::%x", 0x100 + i);
		testbed_pfc_stop(t, "5f00:1:1:e1::", source, 3, 65535);
	}
	node_stats(t->node, &sum);
	assert_int_equal(sum.pfc_refused, 2 * 5);
	assert_false(testbed_passes(t, VIA_P1, 3, 1));
	drain(t);
	testbed_free(t);
}

/* R3 of draft-ruan figure 3: data enters by p0 and leaves by p1; tunnels to the upstream nodes leave by p2. */
#define CONGESTED_NODE \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 32K}\n" \
	"slices: [{name: gold}]\n" \
	"buffer-profiles: [{name: small, xoff: 4096, xon: 2048, headroom: 64K, selective: 8K, forced: true}]\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, speed: 100G, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: small}}\n" \
	"  - {name: p1, device: net_null1, side: wan, speed: 100G, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"  - {name: p2, device: net_null2, side: wan, addresses: [\"2001:db8:c::2/64\"]}\n" \
	"neighbors:\n" \
	"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
	"  - {port: p2, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:03\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:400::/48\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:1::/32\", port: p2, nexthop: \"2001:db8:c::3\"}\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e100::/48\", behavior: uA, port: p1, nexthop: \"2001:db8:b::3\", slice: gold}\n" \
	"  - {sid: \"5f00:1:3:e1::/64\", behavior: End.X.PFC, outage: 0, port: p1, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {sid: \"5f00:1:3:e2::/64\", behavior: End.X.PFC, outage: 0, port: p1, nexthop: \"2001:db8:b::3\", " \
	"slice: gold}\n"
#define PLAIN_TUNNEL \
	"  - {name: plain, port: p0, outage: 0, priorities: [3], segments: [\"5f00:1:2:1::\", \"5f00:1:1:e1::\"]}\n"
#define GOLD_TUNNEL \
	"  - {name: gold, port: p0, outage: 0, slice: gold, priorities: [3], segments: [\"5f00:1:2:1::\", " \
	"\"5f00:1:1:e2::\"]}\n"
#define CONGESTED CONGESTED_NODE "pfc-tunnels:\n" PLAIN_TUNNEL GOLD_TUNNEL

/* Frames sent into tunnels since the last call: bit 0 XOFF and bit 1 XON of plain, bit 2 and 3 of gold. */
static unsigned int said(struct testbed *t)
{
	struct sent_frame *f;
	unsigned int bits = 0;

	while ((f = fake_port_take(t->port[2]))) {
		const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(f->bytes + sizeof(struct eth_hdr));
		const uint8_t *last = f->bytes + 14 + 40 + 8; /* the only segment of the reduced SRH */
		struct pfc_request r;

		assert_int_equal(f->size, 14 + 40 + 24 + 60);
		assert_int_equal(ipv6_tc(ip), 0xe0);
		assert_int_equal(ip->next_header, IP_PROTO_ROUTING);
		assert_int_equal(f->bytes[14 + 40], IP_PROTO_ETHERNET);
		assert_int_equal(pfc_read(last + 16, 60, 0, &r), PFC_LEGAL);
		assert_int_equal(r.enable, 0x08);
		assert_memory_equal(last + 16 + 6, &t->port[0]->port.mac, 6);
		bits |= (r.time[3] ? 1u : 2u) << (last[7] == 0xe2 ? 2 : 0);
		free(f);
	}
	return bits;
}

static void burst(struct testbed *t, const char *via, unsigned int n)
{
	while (n--)
		testbed_passes(t, via, 3, 1);
}

/* Scenario 1: congestion behind a slice stops the upstream queue of that slice, refreshed, until it is over. */
static void own_congestion(void **state)
{
	struct testbed *t = testbed_new(CONGESTED);
	struct pfc_request r = {.enable = 8, .time = {[3] = 65535}}, go = {.enable = 8};

	burst(t, VIA_GOLD, 100);
	assert_int_equal(said(t), 0);
	testbed_pfc_pause(t, "5f00:1:3:e2::", "fd00::9", &r);
	burst(t, VIA_GOLD, 20);
	/* step d of figure 1: a pause propagates only when the own buffer crosses its threshold */
	assert_int_equal(said(t), 0);
	burst(t, VIA_GOLD, 30);
	testbed_pass(t, 20000, 1000);
	assert_int_equal(said(t), 4);
	assert_int_equal(t->port[0]->n_sent, 0); /* no frame on the link, whose other end has no PFC */
	burst(t, VIA_P1, 5);			 /* another slice goes on */
	assert_int_equal(said(t) & 3, 0);
	for (unsigned int i = 0; i < 6; i++) {
		testbed_pfc_pause(t, "5f00:1:3:e2::", "fd00::9", &r);
		testbed_pass(t, 170000, 10000);
		check(said(t) == 4, "refresh %u", i);
	}
	testbed_pfc_pause(t, "5f00:1:3:e2::", "fd00::9", &go);
	testbed_pass(t, 20000, 1000);
	assert_int_equal(said(t), 8);
	testbed_pass(t, NSEC_PER_MSEC, 10000);
	assert_int_equal(said(t), 0);
	assert_int_equal(testbed_reason(t, 0, DROP_headroom_exceeded), 0);
	drain(t);
	testbed_free(t);
}

/* Both slices are held by p1's neighbour for another 335 us. */
static void hold_both(struct testbed *t)
{
	struct pfc_request r = {.enable = 8, .time = {[3] = 65535}};

	testbed_pfc_pause(t, "5f00:1:3:e1::", "fd00::9", &r);
	testbed_pfc_pause(t, "5f00:1:3:e2::", "fd00::9", &r);
}

/*
 * docs/protocol.md 5.7: first the slice that fills the buffer is paused, at a second threshold all; and from there on all of the
 * headroom is left, so that whom to spare is a question of fairness and never of loss.
 */
static void headroom_for_all(void **state)
{
	struct testbed *t = testbed_new(CONGESTED);
	const struct pfc_buffer *b = &service_pfc(t->node)->port[0].buffer[3];
	unsigned int bits = 0;
	uint64_t at;

	hold_both(t);
	for (unsigned int i = 0; !(bits & 1) && i < 200; bits |= said(t)) {
		check((bits != 0) == (b->level.bytes >= 4096), "said %u at %llu bytes", bits,
			(unsigned long long)b->level.bytes);
		if (i++ % 50 == 49)
			hold_both(t);
		burst(t, VIA_GOLD, 1);
	}
	assert_int_equal(bits, 4 | 1);
	at = b->level.bytes;
	check(at >= 4096 + 8192 && at < 4096 + 8192 + 120, "all were told at %llu bytes", (unsigned long long)at);
	for (unsigned int i = 0; i < 65536 / 120; i++) {
		if (i % 50 == 0)
			hold_both(t);
		burst(t, VIA_P1, 1);
	}
	assert_int_equal(testbed_reason(t, 0, DROP_headroom_exceeded), 0);
	/* what may be on the way between lcores is not reserved in vain either */
	for (unsigned int i = 0; i < cfg_packets_in_rings(t->node->config) * cfg_longest_frame(t->node->config) / 120;
		i++) {
		if (i % 50 == 0)
			hold_both(t);
		burst(t, VIA_P1, 1);
	}
	burst(t, VIA_P1, 4);
	assert_true(testbed_reason(t, 0, DROP_headroom_exceeded) > 0);
	t->overruns = true;
	drain(t);
	said(t);
	testbed_free(t);
}

/* Tunnels that have nothing to say cost the control lcore nothing: it is not to be called until a buffer turns. */
static void idle_control(void **state)
{
	struct testbed *t = testbed_new(CONGESTED);
	struct node_lcore *l = t->node->control->lcore;
	struct pfc_request r = {.enable = 8, .time = {[3] = 65535}};
	uint64_t next;

	testbed_pass(t, NSEC_PER_MSEC, 1000); /* next hops are gone through a few a pass */
	node_lcore_poll(l, t->now, &next);
	check(next > t->now + 100 * NSEC_PER_MSEC, "idle: next in %llu ns", (unsigned long long)(next - t->now));
	assert_false(node_lcore_has_input(l));
	testbed_pfc_pause(t, "5f00:1:3:e2::", "fd00::9", &r);
	for (unsigned int i = 0; i < 34; i++) { /* 4080 bytes */
		burst(t, VIA_GOLD, 1);
		assert_false(node_lcore_has_input(l));
	}
	node_lcore_poll(l, t->now, &next);
	check(next > t->now + 100 * NSEC_PER_MSEC, "below: next in %llu ns", (unsigned long long)(next - t->now));
	burst(t, VIA_GOLD, 1);
	assert_int_equal(said(t), 4);
	node_lcore_poll(l, t->now, &next);
	/* whether enough were stopped, after a control loop; else the refresh, after half of 65535 quanta */
	check(next >= t->now + 90000 && next <= t->now + LONG / 2, "stopped: next in %llu ns",
		(unsigned long long)(next - t->now));
	drain(t);
	said(t);
	testbed_free(t);
}

/* The output for users while a tunnel holds a pause, and afterwards. */
static void shown(void **state)
{
	struct testbed *t = testbed_new(CONGESTED);
	struct pfc_request r = {.enable = 8, .time = {[3] = 65535}};

	testbed_round(t);
	check_shown(t, "show pfc tunnels", "plain");
	testbed_pfc_pause(t, "5f00:1:3:e2::", "fd00::9", &r);
	burst(t, VIA_GOLD, 50);
	testbed_pass(t, 20000, 1000);
	assert_int_equal(said(t), 4);
	check_shown(t, "show pfc tunnels", "5f00:1:1:e2::");
	check_shown(t, "show pfc history", "gold");
	testbed_pass(t, 2 * NSEC_PER_MSEC, 10000);
	assert_int_equal(said(t), 0xc); /* refreshes, then XON: the pause has ended by itself */
	drain(t);
	check_shown(t, "show pfc history", ">=");
	testbed_free(t);
}

static json_int_t number_in(const json_t *list, const char *key, const char *value, const char *wanted)
{
	size_t i;
	json_t *row;

	json_array_foreach(list, i, row)
		if (strcmp(json_string_value(json_object_get(row, key)), value) == 0)
			return json_integer_value(json_object_get(row, wanted));
	return -1;
}

static void heard(struct testbed *t, const struct pfc_request *r)
{
	const struct eth_addr peer = {{2, 0, 0, 0, 0xa0, 0}};
	struct pfc_frame frame;

	pfc_write(&frame, &peer, r);
	fake_port_receive(t->port[0], 0, &frame, sizeof(frame), 0);
}

/* clear stats in the middle of a pause: the output counts from there, and so does its histogram. */
static void cleared(void **state)
{
	struct testbed *t = testbed_new(CONGESTED);
	struct pfc_request stop = {.enable = 8, .time = {[3] = 65535}}, go = {.enable = 8};
	json_t *json;

	for (unsigned int i = 0; i < 3; i++) {
		heard(t, &stop);
		testbed_pass(t, 100000, 1000);
		heard(t, &go);
		testbed_pass(t, 50000, 1000);
	}
	heard(t, &stop);
	testbed_pass(t, 100000, 1000);
	json = shown_json(t, "show pfc history -j");
	assert_int_equal(number_in(json, "name", "p0", "pauses"), 4);
	assert_in_range(number_in(json, "name", "p0", "total_us"), 396, 404);
	json_decref(json);
	check_shown(t, "clear stats", "");
	json = shown_json(t, "show pfc history -j");
	assert_int_equal(json_array_size(json), 0); /* the rest of the current pause has only begun */
	json_decref(json);
	testbed_pass(t, 50000, 1000);
	json = shown_json(t, "show pfc history -j");
	assert_int_equal(number_in(json, "name", "p0", "pauses"), 0);
	assert_in_range(number_in(json, "name", "p0", "total_us"), 48, 52);
	json_decref(json);
	heard(t, &go);
	heard(t, &stop);
	testbed_pass(t, 20000, 1000);
	json = shown_json(t, "show pfc counters -j");
	assert_int_equal(number_in(json_object_get(json, "ports"), "port", "p0", "rx"), 2);
	assert_int_equal(number_in(json_object_get(json, "pauses"), "port", "p0", "rx_pauses"), 1);
	assert_in_range(number_in(json_object_get(json, "pauses"), "port", "p0", "rx_paused_us"), 66, 74);
	json_decref(json);
	check_shown(t, "show pfc history", "128");
	drain(t);
	testbed_free(t);
}

/*
 * A node that has just started holds nothing, so it resumes the far ends of its tunnels, which the one before it may have
 * paused, and says so again for as long as the way may be cut. One in a network that is up has no reason to.
 */
static void tunnels_begin(void **state)
{
	struct testbed *t = testbed_started(CONGESTED);

	testbed_pass(t, 100000, 1000);
	assert_int_equal(said(t), 2 | 8);
	testbed_pass(t, 10 * NSEC_PER_MSEC, 10000);
	assert_int_equal(said(t), 0); /* outage is 0 here */
	drain(t);
	testbed_free(t);
	t = testbed_new(CONGESTED);
	testbed_pass(t, 100000, 1000);
	assert_int_equal(said(t), 0);
	drain(t);
	testbed_free(t);
}

/* A reload that takes the tunnel away resumes what it had stopped. */
static void tunnel_removed(void **state)
{
	struct testbed *t = testbed_new(CONGESTED);
	struct pfc_request r = {.enable = 8, .time = {[3] = 65535}};
	char err[256];

	testbed_pfc_pause(t, "5f00:1:3:e2::", "fd00::9", &r);
	burst(t, VIA_GOLD, 50);
	testbed_pass(t, 20000, 1000);
	assert_int_equal(said(t), 4);
	check(node_apply(t->node, conf_load(CONF_CHECK, CONGESTED_NODE "pfc-tunnels:\n" PLAIN_TUNNEL), err,
		      sizeof(err)) == 0,
		"%s", err);
	testbed_pass(t, 20000, 1000);
	assert_int_equal(said(t) & 12, 8);
	drain(t);
	testbed_free(t);
}

/* regenerate: new frames keep the gateway paused, and it is resumed when no more frames arrive. */
static void regenerated(void **state)
{
	static const char yaml[] =
		"node: {name: t, loopback: \"fd00::d\", infrastructure: [\"fd00::/16\"]}\n"
		"lcores: {control: 0, rx: [1], worker: [2]}\n"
		"memory: {buffers: 32K}\n"
		"ports:\n"
		"  - {name: p0, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n"
		"  - {name: p1, device: net_null1, side: dc, speed: 100G, addresses: [\"2001:db8:b::2/64\"]}\n"
		"sids: [{sid: \"5f00:1:1:d2::/64\", behavior: End.DX2, port: p1}]\n"
		"pfc-relays: [{name: gw, port: p1, sid: \"5f00:1:1:d2::/64\", jitter: 0, hold-min: 5000, outage: 0}]\n";
	struct testbed *t = testbed_new(yaml);
	struct pfc_request r = {.enable = 0};
	uint64_t last = 0, first;
	struct sent_frame *f;
	unsigned int n = 0;

	testbed_pfc_stop(t, "5f00:1:1:d2::", "fd00::3", 3, 65535);
	first = t->now;
	for (; t->now < first + 6 * NSEC_PER_MSEC; testbed_round(t)) {
		while ((f = fake_port_take(t->port[1]))) {
			assert_int_equal(f->size, 60);
			assert_int_equal(pfc_read(f->bytes, f->size, 0, &r), PFC_LEGAL);
			assert_memory_equal(f->bytes + 6, &t->port[1]->port.mac, 6);
			check(n == 0 || t->now < last + LONG, "a gap before frame %u", n);
			last = t->now;
			n++;
			free(f);
		}
	}
	assert_int_equal(pfc_stops(&r), 0); /* the last one is XON, 5 ms after the last frame received */
	assert_true(last >= first + 5 * NSEC_PER_MSEC - 10000 && last < first + 5 * NSEC_PER_MSEC + 10000);
	assert_true(n > 29 && n < 33); /* every 168 us */
	testbed_free(t);
}

/* A PE between the WAN (p0, p2) and its gateway (p1). */
#define RELAY_NODE \
	"node: {name: t, loopback: \"fd00::d\", infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 32K}\n" \
	"buffer-profiles: [{name: small, xoff: 4096, xon: 2048, headroom: 64K, selective: 8K, forced: true}]\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: p1, device: net_null1, side: dc, speed: 100G, addresses: [\"2001:db8:b::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:b0:00\"], buffer: small}}\n" \
	"  - {name: p2, device: net_null2, side: wan, speed: 100G, addresses: [\"2001:db8:c::2/64\"]}\n" \
	"neighbors: [{port: p2, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:03\"}]\n" \
	"routes: [{prefix: \"2001:db8:99::/48\", port: p2, nexthop: \"2001:db8:c::3\"}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:1:1:d2::/64\", behavior: End.DX2, port: p1}\n" \
	"  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: p2, nexthop: \"2001:db8:c::3\"}\n" \
	"pfc-relays: [{name: gw, port: p1, sid: \"5f00:1:1:d2::/64\", mode: "

/* The last state of class 3 sent to the gateway since the last call; -1: none. */
static int told(struct testbed *t)
{
	struct pfc_request r = {.enable = 0};
	struct sent_frame *f;
	int last = -1;

	testbed_pass(t, 20000, 1000);
	while ((f = fake_port_take(t->port[1]))) {
		assert_int_equal(pfc_read(f->bytes, f->size, 0, &r), PFC_LEGAL);
		assert_int_equal(r.enable, 8);
		last = r.time[3];
		free(f);
	}
	return last;
}

static void from_gateway(struct testbed *t, unsigned int n)
{
	while (n--) {
		uint8_t frame[1024];
		uint32_t size = testbed_frame(frame, &t->port[1]->port.mac, "2001:db8:99::1", 7, 0, 1000);
		struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));

		ip->vtc_flow = ipv6_vtc_flow(3 << 5, 0);
		ip->src.b[0] = 0x20; /* not from inside */
		fake_port_receive(t->port[1], 0, frame, size, 0);
		for (unsigned int i = 0; i < 3; i++)
			testbed_round(t);
	}
}

/* The pauses of the own buffers and of the relay are combined: neither ends the other's. */
static void one_voice(void **state)
{
	static const char *const modes[] = {RELAY_NODE "transparent}]\n", RELAY_NODE "regenerate, hold-min: 5000}]\n"};

	for (unsigned int i = 0; i < ARRAY_LEN(modes); i++) {
		struct testbed *t = testbed_new(modes[i]);
		int left;

		testbed_pfc_stop(t, "5f00:1:1:d2::", "fd00::3", 3, 65535);
		assert_int_equal(told(t), 65535);
		testbed_pfc_stop(t, "5f00:1:1:d2::", "fd00::3", 3, 0);
		assert_int_equal(told(t), 0);
		/* the own buffer fills: the relay, which has requested a pause meanwhile, sends no XON to the gateway */
		testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::9", 3, 65535);
		from_gateway(t, 8);
		assert_int_equal(told(t), 65535);
		testbed_pfc_stop(t, "5f00:1:1:d2::", "fd00::3", 3, 65535);
		testbed_pfc_stop(t, "5f00:1:1:d2::", "fd00::3", 3, 0);
		assert_int_equal(told(t), -1);
		/* it empties while the relay holds a pause: the rest of that pause is sent */
		testbed_pfc_stop(t, "5f00:1:1:d2::", "fd00::3", 3, 65535);
		testbed_pass(t, 20000, 1000);
		testbed_pfc_stop(t, "5f00:1:1:e1::", "fd00::9", 3, 0);
		left = told(t);
		assert_true(left > 50000 && left < 65535);
		testbed_pfc_stop(t, "5f00:1:1:d2::", "fd00::3", 3, 0);
		assert_int_equal(told(t), 0);
		assert_int_equal(testbed_reason(t, 1, DROP_headroom_exceeded), 0);
		drain(t);
		testbed_free(t);
	}
}

/* E34: the gateway's PFC goes into the tunnel in any case; with honour-local the PE also stops its own port and buffers. */
static void honour_local(void **state)
{
	static const char yaml[] =
		"node: {name: t, loopback: \"fd00::d\", infrastructure: [\"fd00::/16\"], usid: {block: "
		"\"5f00:0::/32\", node: 0x100}}\n"
		"lcores: {control: 0, rx: [1], worker: [2]}\n"
		"memory: {buffers: 32K}\n"
		"buffer-profiles: [{name: small, xoff: 4096, xon: 2048, headroom: 64K, forced: true}]\n"
		"ports:\n"
		"  - {name: p0, device: net_null0, side: wan, speed: 100G, addresses: [\"2001:db8:a::2/64\"],\n"
		"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: small}}\n"
		"  - {name: p1, device: net_null1, side: dc, speed: 100G, addresses: [\"2001:db8:b::2/64\"],\n"
		"     pfc: {priorities: [3], peers: [\"02:00:00:00:b0:03\"], buffer: small}}\n"
		"  - {name: p2, device: net_null2, side: dc}\n"
		"neighbors:\n"
		"  - {port: p0, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:00\"}\n"
		"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n"
		"routes:\n"
		"  - {prefix: \"5f00:0:400::/48\", port: p1, nexthop: \"2001:db8:b::3\"}\n"
		"  - {prefix: \"5f00:1::/32\", port: p0, nexthop: \"2001:db8:a::3\"}\n"
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"
		"pfc-relays: [{name: gw, port: p1, segments: [\"5f00:1:1:d2::\"], honour-local: %s}]\n";
	const struct eth_addr gateway = {{2, 0, 0, 0, 0xb0, 3}};
	struct pfc_request stop_it = {.enable = 8, .time = {[3] = 65535}}, go = {.enable = 8};
	struct pfc_frame frame;

	(void)state;
	for (unsigned int honour = 0; honour < 2; honour++) {
		unsigned int inside = 0, xoff = 0, passed = 0;
		struct sent_frame *f;
		struct testbed *t;
		char *text;

		assert_true(asprintf(&text, yaml, honour ? "true" : "false") > 0);
		t = testbed_new(text);
		free(text);
		pfc_write(&frame, &gateway, &stop_it);
		fake_port_receive(t->port[1], 0, &frame, sizeof(frame), 0);
		for (unsigned int i = 0; i < 3; i++)
			testbed_round(t);
		for (unsigned int i = 0; i < 60; i++)
			passed += testbed_passes(t, VIA_P1, 3, 1);
		check(passed == (honour ? 0 : 60), "honour-local %u: %u packets passed", honour, passed);
		assert_true(testbed_passes(t, VIA_P1, 2, 1)); /* another class does in any case */
		while ((f = fake_port_take(t->port[0]))) {
			struct pfc_request r;

			inside += f->size == 14 + 40 + 60 && f->bytes[14 + 6] == IP_PROTO_ETHERNET;
			xoff += pfc_read(f->bytes, f->size, 0, &r) == PFC_LEGAL && pfc_stops(&r) == 8;
			free(f);
		}
		check(inside == 1, "honour-local %u: %u frames into the tunnel", honour, inside);
		/* what it holds back fills its own buffer, and then it stops its own upstream */
		check(honour ? xoff >= 1 : xoff == 0, "honour-local %u: %u times XOFF upstream", honour, xoff);
		pfc_write(&frame, &gateway, &go);
		fake_port_receive(t->port[1], 0, &frame, sizeof(frame), 0);
		testbed_settle(t, 20);
		for (passed = 0; (f = fake_port_take(t->port[1])); passed++)
			free(f);
		check(passed == (honour ? 60 : 0), "honour-local %u: %u packets after XON", honour, passed);
		assert_int_equal(testbed_reason(t, 0, DROP_headroom_exceeded), 0);
		drain(t);
		testbed_free(t);
	}
}

/* Owners of ports hear that they have something to do when the control lcore has a pause for them, and it when a frame came. */
static void owners_are_notified(void **state)
{
	const struct pfc_request stop = {.enable = 8, .time = {[3] = 65535}};
	struct testbed *t = testbed_new(NODE);
	struct node *n = t->node;
	uint64_t next;

	testbed_settle(t, 1000);
	testbed_pfc_arrives(t, "5f00:1:1:e1::", "fd00::3", &stop);
	node_lcore_poll(n->rx[0].lcore, t->now, &next);
	assert_true(node_lcore_has_input(n->control->lcore));
	node_lcore_poll(n->control->lcore, t->now, &next);
	assert_false(node_lcore_has_input(n->control->lcore));
	for (unsigned int i = 0; i < n->n_workers; i++) {
		assert_true(node_lcore_has_input(n->worker[i].lcore));
		node_lcore_poll(n->worker[i].lcore, t->now, &next);
		assert_false(node_lcore_has_input(n->worker[i].lcore));
	}
	drain(t);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_are_notified),
		cmocka_unit_test(exactly_those_queues),
		cmocka_unit_test(two_parties),
		cmocka_unit_test(late_refreshes),
		cmocka_unit_test(one_frame_many_priorities),
		cmocka_unit_test(flood),
		cmocka_unit_test(too_many_parties),
		cmocka_unit_test(own_congestion),
		cmocka_unit_test(headroom_for_all),
		cmocka_unit_test(idle_control),
		cmocka_unit_test(shown),
		cmocka_unit_test(cleared),
		cmocka_unit_test(tunnel_removed),
		cmocka_unit_test(tunnels_begin),
		cmocka_unit_test(regenerated),
		cmocka_unit_test(honour_local),
		cmocka_unit_test(one_voice),
	};

	return cmocka_run_group_tests_name("pfc_node", tests, NULL, NULL);
}
