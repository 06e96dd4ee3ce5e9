/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices, classes and gates of an egress, through a node whose port the test slows down. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/testbed.h"
#include "wire/icmp.h"

#define HEAD \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [0], worker: [0]}\n" \
	"memory: {buffers: 64K}\n"

/* One SID for each slice: s0 has no slice, s1 to s16 are slices with the weights in %s. */
static char *yaml(const char *slices, const char *out_port)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	fprintf(f,
		HEAD
		"ports:\n"
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n"
		"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"], queue-limit: 16K, "
		"buffer-limit: 32K, %s}\n"
		"neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"},\n"
		"  {port: in, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:01\"}]\n"
		"routes:\n"
		"  - {prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"}\n"
		"  - {prefix: \"5f00:0:600::/48\", port: in, nexthop: \"2001:db8:a::3\"}\n"
		"slices: [%s]\nsids:\n  - {sid: \"5f00:0:100::/48\", behavior: uN}\n",
		out_port, slices);
	for (unsigned int i = 1; i <= 64; i++) {
		char name[32];

		char *at;

		snprintf(name, sizeof(name), "name: s%u", i);
		at = strstr(slices, name);
		if (at && strspn(at + strlen(name), ",}"))
			fprintf(f,
				"  - {sid: \"5f00:0:%x::/48\", behavior: uA, port: out, nexthop: \"2001:db8:b::3\", "
				"slice: s%u}\n",
				0xe100 + i, i);
	}
	fclose(f);
	return text;
}

enum { IN, OUT };

static struct testbed *bed(const char *slices, const char *out_port)
{
	char *text = yaml(slices, out_port);
	struct testbed *t = testbed_new(text);

	free(text);
	testbed_settle(t, 1000);
	t->port[OUT]->tx_allowed = 0;
	return t;
}

/* A packet of a slice and a class; flow says both afterwards. */
static void receive(struct testbed *t, unsigned int slice, unsigned int class, uint32_t sequence, uint32_t size)
{
	uint8_t frame[4096];
	char da[64] = "5f00:0:100:500:300::";
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));
	uint16_t flow = (uint16_t)(slice * 8 + class);
	uint32_t n;

	if (slice)
		snprintf(da, sizeof(da), "5f00:0:%x:300::", 0xe100 + slice);
	n = testbed_frame(frame, &t->port[IN]->port.mac, da, flow, sequence, size);
	ip->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5), flow);
	fake_port_receive(t->port[IN], 0, frame, n, 0);
}

struct tally {
	uint64_t packets[65 * 8], bytes[65 * 8], ce[65 * 8];
	uint32_t next[65 * 8];
};

/* Packets sent since, by flow; order within a flow is checked. */
static uint32_t take(struct testbed *t, struct tally *y)
{
	struct sent_frame *f;
	uint32_t n = 0;

	while ((f = fake_port_take(t->port[OUT]))) {
		uint16_t flow;
		uint32_t sequence;

		if (f->bytes[20] == IP_PROTO_IPV6) {
			testbed_frame_read(f, &flow, &sequence);
			check(sequence >= y->next[flow], "flow %u: %u came after %u", flow, sequence, y->next[flow]);
			y->next[flow] = sequence + 1;
			y->packets[flow]++;
			y->bytes[flow] += f->size;
			y->ce[flow] += (f->bytes[15] >> 4 & 3) == 3;
			n++;
		}
		free(f);
	}
	return n;
}

/* Of the line: preamble, FCS and gap besides. */
static uint64_t slice_bytes(const struct tally *y, unsigned int slice)
{
	uint64_t sum = 0;

	for (unsigned int k = 0; k < 8; k++)
		sum += y->bytes[slice * 8 + k] + 24 * y->packets[slice * 8 + k];
	return sum;
}

/* Packets that were in the device's burst before the scheduler had a choice. */
static void fill_burst(struct testbed *t, struct tally *y)
{
	for (uint32_t i = 0; i < NODE_BURST; i++)
		receive(t, 0, 5, i, 100);
	testbed_settle(t, 20);
	assert_int_equal(t->node->egress[OUT].tx.n, NODE_BURST);
	(void)y;
}

/* Shares follow the weights within 2 %, whatever the packet sizes and the number of classes a slice uses. */
static void weights(void **state)
{
	struct testbed *t = bed("{name: s1, weight: 1}, {name: s2, weight: 2}, {name: s3, weight: 5}", "mtu: 1500");
	static const uint64_t weight[] = {1, 1, 2, 5};
	struct tally y = {0};
	uint64_t total = 0;

	(void)state;
	fill_burst(t, &y);
	for (uint32_t i = 0; i < 4000; i++) {
		receive(t, 1, 0, i, 1400);
		receive(t, 2, i & 3, i / 4, 100);
		receive(t, 3, 0, i, 900);
		receive(t, 0, 0, i, 1300);
		testbed_settle(t, 3);
	}
	t->port[OUT]->tx_allowed = NODE_BURST;
	testbed_settle(t, 3);
	take(t, &y);
	memset(&y, 0, sizeof(y));
	t->port[OUT]->tx_allowed = 5000;
	testbed_settle(t, 100);
	assert_int_equal(take(t, &y), 5000);
	for (unsigned int s = 0; s < 4; s++)
		total += slice_bytes(&y, s);
	for (unsigned int s = 0; s < 4; s++) {
		double share = (double)slice_bytes(&y, s) / (double)total, due = (double)weight[s] / 9;

		check(share > due * 0.98 && share < due * 1.02, "slice %u: %.4f of the rate, due %.4f", s, share, due);
	}
	testbed_free(t);
}

/* Promises first, then weights; what is not used of a promise goes to the others. */
static void min_rate(void **state)
{
	static const struct {
		bool three; /* slice 3 has packets */
	} rows[] = {{true}, {false}};

	(void)state;
	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		/* 4.096 and 2.048 Gb/s of 8.192 */
		struct testbed *t = bed("{name: s1, weight: 1, min-rate: 4096M}, {name: s2, weight: 7}, "
					"{name: s3, weight: 8, min-rate: 2048M}",
			"mtu: 1500");
		struct tally y = {0};
		double rest = 1024 - 512 - (rows[r].three ? 256 : 0), weights = 8 + (rows[r].three ? 8 : 0);

		fill_burst(t, &y);
		for (uint32_t i = 0; i < 4000; i++) {
			receive(t, 1, 0, i, 1000);
			receive(t, 2, 0, i, 1000);
			if (rows[r].three)
				receive(t, 3, i & 1, i / 2, 1000);
			testbed_settle(t, 3);
		}
		t->port[OUT]->tx_allowed = NODE_BURST;
		testbed_settle(t, 3);
		take(t, &y);
		for (unsigned int us = 0; us < 3000; us++) { /* a frame takes 1 us with its line overhead */
			if (us == 500) { /* from here on what was owed at the beginning does not count */
				take(t, &y);
				memset(y.packets, 0, sizeof(y.packets));
				memset(y.bytes, 0, sizeof(y.bytes));
			}
			t->port[OUT]->tx_allowed = 2;
			testbed_pass(t, 1000, 1000); /* and settles for 1 us more */
		}
		take(t, &y);
		for (unsigned int s = 1; s < 4; s++) {
			static const double weight[] = {0, 1, 7, 8}, promise[] = {0, 512, 0, 256};
			double rate = (double)slice_bytes(&y, s) / 5000,
			       due = s == 3 && !rows[r].three ? 0 : promise[s] + rest * weight[s] / weights;

			check(rate > due * 0.97 - 1 && rate < due * 1.03 + 1,
				"row %zu, slice %u: %.1f bytes a us, due %.1f", r, s, rate, due);
		}
		testbed_free(t);
	}
}

/* A slice with a maximum rate gets that, to the packet; the others what is left. */
static void max_rate(void **state)
{
	struct testbed *t = bed("{name: s1, max-rate: 1G}", "mtu: 1500");
	struct tally y = {0};
	double seconds = 5e-3, rate;
	uint64_t end;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		receive(t, 1, 0, i, 1000);
		if (i % 4 == 0)
			receive(t, 0, 0, i / 4, 1000);
	}
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 1000);
	end = t->now + (uint64_t)(seconds * 1e9);
	take(t, &y);
	check(y.packets[0] == 500, "%u packets of the slice without limit were held back",
		(unsigned int)(500 - y.packets[0]));
	memset(y.bytes, 0, sizeof(y.bytes));
	/* the node says itself when it wants to run next; nothing arrives */
	while (t->now < end) {
		uint64_t next;

		worker_poll(&t->node->worker[0], t->now, &next);
		check(next > t->now && next < t->now + 100000, "next poll in %lld ns", (long long)(next - t->now));
		t->now = next;
	}
	take(t, &y);
	rate = (double)y.bytes[8] * 8 / seconds;
	check(rate > 0.99e9 && rate < 1.01e9, "%.0f bit/s", rate);
	testbed_free(t);
}

/* To one percent also where a frame takes a few ns, and one or two for each would be much. */
static void max_rate_of_short_frames(void **state)
{
	static const struct {
		const char *rate;
		double bps;
		uint32_t size;
	} rows[] = {{"7G", 7e9, 110}, {"40G", 40e9, 110}, {"100G", 100e9, 110}, {"400G", 400e9, 110},
		{"333G", 333e9, 1500}};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char slices[64];
		struct testbed *t;
		struct tally y = {0};
		uint64_t begin;
		double rate;

		snprintf(slices, sizeof(slices), "{name: s1, max-rate: %s}", rows[i].rate);
		t = bed(slices, "mtu: 1500");
		for (uint32_t k = 0; k < 4000; k++)
			receive(t, 1, 0, k, rows[i].size);
		testbed_settle(t, 1000);
		t->port[OUT]->tx_allowed = UINT64_MAX;
		begin = t->now;
		while (t->node->egress[OUT].backlog) {
			uint64_t next;

			worker_poll(&t->node->worker[0], t->now, &next);
			check(next > t->now, "%s: next poll in %lld ns", rows[i].rate, (long long)(next - t->now));
			if (next != TIME_NEVER)
				t->now = next;
		}
		take(t, &y);
		/* it may have been ahead by so much, and the last one is not due yet */
		rate = ((double)y.bytes[8] - EGRESS_SHAPE_BURST - rows[i].size) * 8e9 / (double)(t->now - begin);
		check(rate > 0.99 * rows[i].bps && rate < 1.01 * rows[i].bps, "%s, %u bytes: %.0f bit/s", rows[i].rate,
			rows[i].size, rate);
		testbed_free(t);
	}
}

/* A party holds classes for some time. */
static void pause(struct testbed *t, uint32_t sid, uint8_t slice, uint8_t classes, uint64_t ns)
{
	struct pfc_party party = {.sid = sid};
	struct pfc_pause pause = {.enable = classes};

	for (unsigned int i = 0; i < 8; i++)
		pause.ns[i] = ns;
	assert_true(egress_pause(&t->node->egress[OUT], &t->node->worker[0].ctx, &party, slice, &pause));
}

#define LONG_TIME (1000 * NSEC_PER_SEC)

/* A closed gate stops its queue at the next packet, and nothing else; it opens at its time, to the nanosecond. */
static void a_gate_stops_its_queue_only(void **state)
{
	struct testbed *t = bed("{name: s1}, {name: s2}", "mtu: 1500");
	struct tally y = {0};
	uint64_t next, until = t->now + 50 * NSEC_PER_USEC;

	(void)state;
	t->port[OUT]->tx_allowed = UINT64_MAX;
	t->node->worker[0].ctx.now = t->now;
	pause(t, 7, 1, 1u << 3, until - t->now);
	for (uint32_t i = 0; i < 100; i++)
		for (unsigned int s = 0; s < 3; s++)
			for (unsigned int k = 2; k < 5; k++)
				receive(t, s, k, i, 200);
	testbed_settle(t, 40);
	assert_int_equal(take(t, &y), 800);
	assert_int_equal(y.packets[8 + 3], 0);
	assert_int_equal(t->node->egress[OUT].slice[1].queue[3].packets.n, 100);
	t->now = until - 1;
	worker_poll(&t->node->worker[0], t->now, &next);
	assert_int_equal(take(t, &y), 0);
	assert_int_equal(next, until);
	t->now = until;
	worker_poll(&t->node->worker[0], t->now, &next);
	assert_int_equal(take(t, &y), 100);
	assert_int_equal(t->node->egress[OUT].gates, 0);
	testbed_free(t);
}

/* Its queue empty, its gate open, a device with room: no queue has anything to do with it, and so again afterwards. */
static void straight_through(void **state)
{
	struct testbed *t = bed("{name: s1}", "mtu: 1500");
	const struct egress *e = &t->node->egress[OUT];
	struct tally y = {0};

	(void)state;
	t->port[OUT]->tx_allowed = UINT64_MAX;
	for (uint32_t i = 0; i < 200; i++)
		receive(t, i & 1, i / 2 & 7, i, 100);
	testbed_settle(t, 20);
	assert_int_equal(take(t, &y), 200);
	assert_int_equal(e->queued_packets, 0);
	pause(t, 7, 1, 1u << 3, LONG_TIME);
	receive(t, 0, 4, 1000, 100);
	receive(t, 1, 3, 1000, 100);
	testbed_settle(t, 5);
	assert_int_equal(take(t, &y), 1);
	assert_int_equal(e->queued_packets, 1);
	pause(t, 7, 1, 1u << 3, 0);
	testbed_settle(t, 5);
	assert_int_equal(take(t, &y), 1);
	for (uint32_t i = 1001; i < 1100; i++)
		receive(t, i & 1, 3, i, 100);
	testbed_settle(t, 20);
	assert_int_equal(take(t, &y), 99);
	assert_int_equal(e->queued_packets, 1);
	testbed_free(t);
}

/* Only what has to waits: behind its own gate, for its own rate, and all when the device does not take what it is offered. */
static void others_pass_what_waits(void **state)
{
	struct testbed *t = bed("{name: s1}, {name: s2, max-rate: 1G}", "mtu: 1500");
	const struct egress *e = &t->node->egress[OUT];
	struct tally y = {0};

	(void)state;
	t->port[OUT]->tx_allowed = UINT64_MAX;
	t->node->worker[0].ctx.now = t->now;
	pause(t, 7, 1, 1u << 3, LONG_TIME);
	for (uint32_t i = 0; i < 300; i++)
		for (unsigned int s = 0; s < 3; s++)
			for (unsigned int k = 3; k < 5; k++)
				receive(t, s, k, i, 200);
	testbed_settle(t, 40);
	take(t, &y);
	assert_int_equal(y.packets[3] + y.packets[4] + y.packets[8 + 4], 900);
	assert_int_equal(e->slice[0].queue[3].entered + e->slice[0].queue[4].entered + e->slice[1].queue[4].entered, 0);
	assert_int_equal(e->slice[1].queue[3].packets.n, 300);
	assert_int_equal(e->slice[2].queue[3].entered + e->slice[2].queue[4].entered, 600);
	assert_true(e->slice[2].queue[3].packets.n && e->slice[2].queue[4].packets.n);
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t i = 300; i < 600; i++)
		receive(t, 0, 3, i, 200);
	testbed_settle(t, 10);
	assert_true(e->slice[0].queue[3].entered > 100);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 40);
	take(t, &y);
	assert_int_equal(y.packets[3], 600);
	pause(t, 7, 1, 1u << 3, 0);
	testbed_settle(t, 1000);
	take(t, &y);
	assert_int_equal(y.packets[8 + 3], 300);
	testbed_free(t);
}

/* The gate is the latest end of all holds: one source's XON cancels no other source's XOFF (D42). */
static void holds_of_several_sources(void **state)
{
	struct testbed *t = bed("{name: s1}", "mtu: 1500");
	uint64_t far = NSEC_PER_SEC, now = t->node->worker[0].ctx.now;
	struct egress *e = &t->node->egress[OUT];
	struct tally y = {0};

	(void)state;
	t->port[OUT]->tx_allowed = UINT64_MAX;
	pause(t, 7, 1, 0x08, far);
	pause(t, 8, 1, 0x08, far + 1);
	pause(t, PKT_SID_NONE, EGRESS_ALL_SLICES, 0x08, far + 2);
	assert_int_equal(e->slice[1].queue[3].pause_until, now + far + 2);
	assert_int_equal(e->slice[0].queue[3].pause_until, now + far + 2);
	pause(t, PKT_SID_NONE, EGRESS_ALL_SLICES, 0x08, 0);
	assert_int_equal(e->slice[0].closed[EGRESS_PAUSE], 0);
	assert_int_equal(e->slice[1].queue[3].pause_until, now + far + 1);
	receive(t, 1, 3, 0, 100);
	receive(t, 0, 3, 0, 100);
	testbed_settle(t, 20);
	assert_int_equal(take(t, &y), 1);
	pause(t, 8, 1, 0x08, 0);
	testbed_settle(t, 20);
	assert_int_equal(take(t, &y), 0);
	assert_int_equal(e->slice[1].closed[EGRESS_PAUSE], 0x08);
	/* a shorter pause of the same source replaces what was left of the longer one */
	pause(t, 7, 1, 0x08, 3000);
	assert_int_equal(e->slice[1].queue[3].pause_until, t->now + 3000);
	pause(t, 7, 1, 0x18, 0);
	testbed_settle(t, 20);
	assert_int_equal(take(t, &y), 1);
	assert_int_equal(e->gates, 0);
	testbed_free(t);
}

/* Frames that the device had not taken when their gate closed are not sent before it opens, and stay in order. */
static void the_burst_is_taken_back(void **state)
{
	struct testbed *t = bed("{name: s1}", "mtu: 1500");
	struct tally y = {0};

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		receive(t, 1, 3, i, 100);
		receive(t, 1, 4, i, 100);
	}
	testbed_settle(t, 20);
	assert_int_equal(t->node->egress[OUT].tx.n, NODE_BURST);
	pause(t, 7, 1, 0x08, 30 * NSEC_PER_USEC);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 5);
	take(t, &y);
	assert_int_equal(y.packets[8 + 3], 0);
	assert_int_equal(y.packets[8 + 4], 100);
	t->now += 30 * NSEC_PER_USEC;
	testbed_settle(t, 5);
	take(t, &y);
	assert_int_equal(y.packets[8 + 3], 100);
	testbed_free(t);
}

/* Packets that waited for their neighbour obey a gate that closed meanwhile, and keep their place. */
static void waiting_packets_obey_gates(void **state)
{
	struct testbed *t = bed("{name: s1}", "mtu: 1500");
	struct neigh_message m = {.what = NEIGH_FAIL, .interface = OUT, .mac = {{2, 0, 0, 0, 0xb0, 1}}};
	struct tally y = {0};

	(void)state;
	assert_int_equal(ip_addr_parse("2001:db8:b::3", &m.addr), 0);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	t->node->worker[0].neighs.neigh[neigh_table_find(&t->node->worker[0].neighs, OUT, &m.addr)].is_static = false;
	egress_neigh_update(&t->node->egress[OUT], &t->node->worker[0].ctx, &m);
	for (uint32_t i = 0; i < 10; i++)
		receive(t, 1, 3, i, 100);
	testbed_settle(t, 5);
	pause(t, 7, 1, 0x08, NSEC_PER_MSEC);
	for (uint32_t i = 10; i < 20; i++)
		receive(t, 1, 3, i, 100);
	m.what = NEIGH_SET;
	egress_neigh_update(&t->node->egress[OUT], &t->node->worker[0].ctx, &m);
	testbed_settle(t, 5);
	assert_int_equal(take(t, &y), 0);
	t->now += NSEC_PER_MSEC;
	testbed_settle(t, 5);
	assert_int_equal(take(t, &y), 20);
	testbed_free(t);
}

/* With every gate of every port closed, the node still answers ND, forwards the domain's control and sends it first. */
static void control_is_never_held_up(void **state)
{
	struct testbed *t = bed("{name: s1}", "mtu: 1500");
	struct sent_frame *f;
	uint8_t frame[256];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));
	struct tally y = {0};
	uint32_t n;

	(void)state;
	pause(t, PKT_SID_NONE, EGRESS_ALL_SLICES, 0xff, LONG_TIME);
	for (uint32_t i = 0; i < 2000; i++)
		receive(t, i & 1, i % 6, i, 100);
	testbed_settle(t, 50);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 50);
	assert_int_equal(take(t, &y), 0);
	/* DSCP 56 from inside the domain, from a source that is not inside, and on a port that is not */
	n = testbed_frame(frame, &t->port[IN]->port.mac, "5f00:0:100:500:300::", 1, 0, 100);
	ip->vtc_flow = ipv6_vtc_flow(56 << 2, 1);
	fake_port_receive(t->port[IN], 0, frame, n, 0);
	testbed_settle(t, 50);
	f = fake_port_take(t->port[OUT]);
	assert_non_null(f);
	free(f);
	n = testbed_frame(frame, &t->port[IN]->port.mac, "5f00:0:500:300::", 1, 0, 100);
	ip->vtc_flow = ipv6_vtc_flow(56 << 2, 1);
	ip->src.b[0] = 0x20;
	fake_port_receive(t->port[IN], 0, frame, n, 0);
	testbed_settle(t, 50);
	assert_null(fake_port_take(t->port[OUT]));
	assert_int_equal(t->node->egress[OUT].slice[0].queue[7].packets.n, 1);
	testbed_free(t);
}

/* Control traffic in transit is policed: what is beyond the rate goes with the data. */
static void control_in_transit_is_policed(void **state)
{
	struct testbed *t = bed("{name: s1}", "mtu: 1500");
	uint8_t frame[256];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));
	uint32_t n = testbed_frame(frame, &t->port[IN]->port.mac, "5f00:0:100:500:300::", 1, 0, 100);

	(void)state;
	ip->vtc_flow = ipv6_vtc_flow(48 << 2, 1);
	for (unsigned int i = 0; i < 1500; i++)
		fake_port_receive(t->port[IN], 0, frame, n, 0);
	pause(t, PKT_SID_NONE, EGRESS_ALL_SLICES, 0xff, LONG_TIME);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 200);
	/* 100 K a second: a burst of a hundredth of a second */
	n = t->node->egress[OUT].slice[0].queue[6].packets.n;
	check(n > 480 && n <= 499, "%u packets were queued with the data", n);
	assert_int_equal(t->node->lcore[0]->stats.control_policed, n);
	testbed_free(t);
}

/* CE on ECN-capable packets only, none below the lower threshold, all above the upper one, some between. */
static void marking(void **state)
{
	struct testbed *t = bed("{name: s1}", "ecn: {classes: [3], min: 20K, max: 60K}");
	struct tally y = {0};
	uint8_t frame[4096];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));
	struct egress_queue *q = &t->node->egress[OUT].slice[0].queue[3];
	uint64_t between = 0;

	(void)state;
	fill_burst(t, &y);
	for (uint32_t i = 0; i < 100; i++) { /* 1000 bytes each: 20 K after 21, 60 K after 62 */
		uint32_t n = testbed_frame(frame, &t->port[IN]->port.mac, "5f00:0:100:500:300::", 3, i, 1000);

		ip->vtc_flow = ipv6_vtc_flow(24 << 2 | 2, 3);
		fake_port_receive(t->port[IN], 0, frame, n, 0);
		testbed_settle(t, 2);
		if (i == 19)
			assert_int_equal(q->marked, 0);
		if (i == 60)
			between = q->marked;
	}
	check(between > 8 && between < 33, "%u of 41 marked between the thresholds", (unsigned int)between);
	check(q->marked - between >= 38, "%u of 39 marked above", (unsigned int)(q->marked - between));
	between = q->marked;
	for (uint32_t i = 0; i < 50; i++)
		receive(t, 0, 3, 100 + i, 1000); /* not ECN-capable */
	testbed_settle(t, 10);
	assert_int_equal(q->marked, between);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 50);
	take(t, &y);
	assert_int_equal(y.packets[3], 150);
	assert_int_equal(y.ce[3], q->marked);
	testbed_free(t);
}

/* Between the thresholds the share of marked packets is that of the way from one to the other. */
static void marking_grows(void **state)
{
	static const uint32_t level[] = {25, 30, 40, 50, 58};

	(void)state;
	for (unsigned int k = 0; k < ARRAY_LEN(level); k++) {
		struct testbed *t = bed("{name: s1}", "ecn: {classes: [3], min: 20K, max: 60K}");
		struct egress_queue *q = &t->node->egress[OUT].slice[0].queue[3];
		double due = 0;
		struct tally y = {0};
		uint8_t frame[4096];
		uint64_t before = 0;

		fill_burst(t, &y);
		for (uint32_t i = 0; i < level[k] + 2200; i++) {
			uint32_t n = testbed_frame(frame, &t->port[IN]->port.mac, "5f00:0:100:500:300::", 3, i, 1000);

			((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow =
				ipv6_vtc_flow(24 << 2 | 1 << (i & 1), 3);
			if (i == level[k] + 200)
				before = q->marked;
			fake_port_receive(t->port[IN], 0, frame, n, 0);
			testbed_settle(t, 2);
			if (i >= level[k] + 200)
				due += ((double)q->bytes - 20480) / 40960 / 2000;
			t->port[OUT]->tx_allowed = q->packets.n > level[k] ? 2 : 0;
			testbed_settle(t, 2);
			take(t, &y);
		}
		check(due > 0.05 && due < 0.99 && (double)(q->marked - before) / 2000 > due - 0.05 &&
				(double)(q->marked - before) / 2000 < due + 0.05,
			"%u KB: %.3f marked, due %.3f", level[k], (double)(q->marked - before) / 2000, due);
		testbed_free(t);
	}
}

/* One slice that floods all its queues leaves room for the others; the drops are its own. */
static void a_flood_keeps_to_its_share(void **state)
{
	struct testbed *t = bed("{name: s1}, {name: s2}", "mtu: 1500");
	const struct egress *e = &t->node->egress[OUT];

	(void)state;
	for (uint32_t i = 0; i < 30000; i++)
		receive(t, 1, i % 6, i / 6, 100);
	testbed_settle(t, 1000);
	assert_int_equal(e->slice[1].lossy, 16 * 1024);
	for (uint32_t i = 0; i < 5000; i++)
		receive(t, 2, i % 6, i / 6, 100);
	testbed_settle(t, 1000);
	assert_int_equal(e->slice[2].lossy, 5000);
	for (unsigned int k = 0; k < 8; k++)
		assert_int_equal(e->slice[2].queue[k].dropped, 0);
	testbed_free(t);
}

/* Classes by the port's map: listed DSCPs, and class selectors for the rest; an own map in a tunnel. */
static void class_maps(void **state)
{
	struct testbed *t = testbed_new(HEAD
		"ports:\n"
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"], class-map: m}\n"
		"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n"
		"neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}]\n"
		"class-maps:\n"
		"  - {name: m, dscp: [{from: 0, to: 2, class: 5}, {from: 26, class: 4}], pcp: [{from: 1, to: 2, class: "
		"6}]}\n"
		"  - {name: tunnel, classes: [{from: 4, class: 1}]}\n"
		"vrfs: [{name: red, routes: [{prefix: \"2001:db8:3::/48\", port: out, nexthop: \"2001:db8:b::3\"}]}]\n"
		"routes: [{prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"}]\n"
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN},\n"
		"  {sid: \"5f00:0:e101::/48\", behavior: uDT6, vrf: red, class-map: tunnel}]\n");
	static const struct {
		const char *da;
		uint8_t dscp, class;
	} rows[] = {{"5f00:0:100:500::", 0, 5}, {"5f00:0:100:500::", 2, 5}, {"5f00:0:100:500::", 3, 0},
		{"5f00:0:100:500::", 26, 4}, {"5f00:0:100:500::", 27, 3}, {"5f00:0:e101::", 26, 1},
		{"5f00:0:e101::", 27, 3}, {"5f00:0:e101::", 56, 7}};
	uint8_t frame[256];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));

	(void)state;
	testbed_settle(t, 1000);
	t->port[OUT]->tx_allowed = 0;
	pause(t, PKT_SID_NONE, EGRESS_ALL_SLICES, 0xff, LONG_TIME);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t n = testbed_frame(frame, &t->port[IN]->port.mac, rows[i].da, 1, 0, 100);
		struct egress_queue *q = &t->node->egress[OUT].slice[0].queue[rows[i].class];
		uint32_t before = q->packets.n;

		ip->vtc_flow = ipv6_vtc_flow((uint8_t)(rows[i].dscp << 2), 1);
		fake_port_receive(t->port[IN], 0, frame, n, 0);
		testbed_settle(t, 10);
		check(q->packets.n == before + 1, "row %u", i);
	}
	testbed_free(t);
}

/* Bytes and buffers charged to one ingress port, by class and by slice; zero again at the end. */
static void accounting(void **state)
{
	struct testbed *t = bed("{name: s1}", "mtu: 1500");
	struct account_level level = {0}, of_slice = {0};
	const struct accounts *a = t->node->worker[0].accounts;
	struct tally y = {0};

	(void)state;
	fill_burst(t, &y);
	for (uint32_t i = 0; i < 10; i++) {
		receive(t, 0, 3, i, 1000);
		receive(t, 1, 3, i, 500);
	}
	testbed_settle(t, 10);
	account_add(&a->total[IN][3], &level);
	assert_int_equal(level.bytes, 15000);
	assert_int_equal(level.buffers, 20);
	account_add(&a->slice[IN][1][3], &of_slice);
	assert_int_equal(of_slice.bytes, 5000);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 50);
	take(t, &y);
	for (unsigned int k = 0; k < 8; k++) {
		level = (struct account_level){0};
		account_add(&a->total[IN][k], &level);
		check(level.bytes == 0 && level.buffers == 0, "class %u: %u buffers", k, (unsigned int)level.buffers);
	}
	assert_int_equal(t->node->egress[OUT].lossy, 0);
	testbed_free(t);
}

/* Lossless packets that go back where they came from wait in another queue than their own. */
static void lossless_traffic_does_not_bounce_into_its_class(void **state)
{
	struct testbed *t = bed("{name: s1}", "mtu: 1500");
	uint8_t frame[256];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));
	uint32_t n = testbed_frame(frame, &t->port[IN]->port.mac, "5f00:0:600:300::", 1, 0, 100);

	(void)state;
	t->node->lossless[IN] = 0x08;
	t->port[IN]->tx_allowed = 0;
	ip->vtc_flow = ipv6_vtc_flow(26 << 2, 1);
	for (unsigned int i = 0; i < NODE_BURST + 5; i++)
		fake_port_receive(t->port[IN], 0, frame, n, 0);
	testbed_settle(t, 10);
	assert_int_equal(t->node->egress[IN].slice[0].queue[3].entered, 0);
	assert_int_equal(t->node->egress[IN].slice[0].queue[0].packets.n, 5);
	assert_int_equal(t->node->lcore[0]->stats.class_bounced, 5);
	testbed_free(t);
}

/* A lossless class is not dropped at any queue's limit, and by name when its buffer is used up. */
static void lossless_is_dropped_only_by_name(void **state)
{
	struct testbed *t = testbed_new(HEAD
		"ports:\n"
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n"
		"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"], queue-limit: 32}\n"
		"neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}]\n"
		"routes: [{prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"}]\n"
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n");

	(void)state;
	testbed_settle(t, 100);
	t->port[OUT]->tx_allowed = 0;
	t->node->lossless[IN] = 0x08;
	for (uint32_t i = 0; i < NODE_BURST + 500; i++)
		receive(t, 0, 3, i, 100);
	testbed_settle(t, 100);
	assert_int_equal(t->node->egress[OUT].slice[0].queue[3].packets.n, 500);
	assert_int_equal(testbed_reason(t, IN, DROP_queue_full), 0);
	t->node->exhausted[IN] = 0x08;
	t->overruns = true;
	receive(t, 0, 3, 1000, 100);
	receive(t, 0, 2, 0, 100);
	testbed_settle(t, 100);
	assert_int_equal(testbed_reason(t, IN, DROP_headroom_exceeded), 1);
	assert_int_equal(t->node->egress[OUT].slice[0].queue[2].packets.n, 1);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights),
		cmocka_unit_test(min_rate),
		cmocka_unit_test(max_rate),
		cmocka_unit_test(max_rate_of_short_frames),
		cmocka_unit_test(a_gate_stops_its_queue_only),
		cmocka_unit_test(straight_through),
		cmocka_unit_test(others_pass_what_waits),
		cmocka_unit_test(holds_of_several_sources),
		cmocka_unit_test(the_burst_is_taken_back),
		cmocka_unit_test(waiting_packets_obey_gates),
		cmocka_unit_test(control_is_never_held_up),
		cmocka_unit_test(control_in_transit_is_policed),
		cmocka_unit_test(marking),
		cmocka_unit_test(marking_grows),
		cmocka_unit_test(a_flood_keeps_to_its_share),
		cmocka_unit_test(class_maps),
		cmocka_unit_test(accounting),
		cmocka_unit_test(lossless_traffic_does_not_bounce_into_its_class),
		cmocka_unit_test(lossless_is_dropped_only_by_name),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
