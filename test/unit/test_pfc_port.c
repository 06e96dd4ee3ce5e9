/* SPDX-License-Identifier: BSD-3-Clause */
/* PFC on Ethernet ports in both directions, and its buffers, through whole nodes. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/budget.h"
#include "service/pfc/service_pfc.h"
#include "test/support/conf.h"
#include "test/support/testbed.h"

#define NODE \
	TESTBED_NODE \
	"memory: {buffers: 36K, lossless: 4K}\n"

/* Ports in, out, out2, out3; everything for 5f00:0:50N:: leaves by the N-th. */
#define PORTS(pfc) PORTS2("pfc: {" pfc "}", "pfc: {priorities: [3, 4], peers: [\"02:00:00:00:b0:01\"], buffer: b}")
#define PORTS2(in, out) \
	"ports:\n" \
	"  - {name: in, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     descriptors: {tx: 64}, " in "}\n" \
	"  - {name: out, device: net_null1, side: wan, speed: 10G, addresses: [\"2001:db8:b::2/64\"],\n" \
	"     " out "}\n" \
	"  - {name: out2, device: net_null2, side: wan, addresses: [\"2001:db8:c::2/64\"]}\n" \
	"  - {name: out3, device: net_null3, side: wan, addresses: [\"2001:db8:d::2/64\"]}\n" \
	"buffer-profiles:\n" \
	"  - {name: b, xoff: 20K, xon: 8K, headroom: 40K, forced: true, min-frame: 100}\n" \
	"  - {name: small, xoff: 20K, xon: 8K, headroom: 2K, forced: true, min-frame: 100}\n" \
	"  - {name: low, xoff: 5K, xon: 2K, headroom: 40K, forced: true, min-frame: 100}\n" \
	"  - {name: auto, xoff: 20K, xon: 8K, min-frame: 1000}\n" \
	"  - {name: shared, xoff: 4M, headroom: 20K, forced: true, alpha: 1/128, min-frame: 1000}\n" \
	"  - {name: half, xoff: 4M, headroom: 20K, forced: true, alpha: 1/2, min-frame: 1000}\n" \
	"neighbors:\n" \
	"  - {port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}\n" \
	"  - {port: out2, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:01\"}\n" \
	"  - {port: out3, address: \"2001:db8:d::3\", mac: \"02:00:00:00:d0:01\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:501::/48\", port: out, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:502::/48\", port: out2, nexthop: \"2001:db8:c::3\"}\n" \
	"  - {prefix: \"5f00:0:503::/48\", port: out3, nexthop: \"2001:db8:d::3\"}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

#define ONE_LCORE "lcores: {control: 0, rx: [0], worker: [0]}\n"
#define MANY_LCORES "lcores: {control: 0, rx: [1], worker: [1, 2, 3, 4]}\n"
#define HALF "pfc: {priorities: [3], learn: true, buffer: half}"
#define PEER "priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: b"

enum { IN, OUT, OUT2, OUT3 };

static const struct eth_addr in_peer = {{0x02, 0, 0, 0, 0xa0, 0}}, out_peer = {{0x02, 0, 0, 0, 0xb0, 1}};

static struct testbed *bed(const char *lcores, const char *ports)
{
	char text[8192];
	struct testbed *t;

	snprintf(text, sizeof(text), NODE "%s%s", lcores, ports);
	t = testbed_new(text);
	testbed_settle(t, 1000);
	return t;
}

static void empty(struct testbed *t, unsigned int port)
{
	struct sent_frame *f;

	while ((f = fake_port_take(t->port[port])))
		free(f);
}

static void data_at(struct testbed *t, unsigned int at, unsigned int to, uint8_t class, uint32_t sequence,
	uint32_t size)
{
	uint8_t frame[4096];
	char da[64];
	uint32_t n;

	snprintf(da, sizeof(da), "5f00:0:100:%x:300::", 0x500 + to);
	n = testbed_frame(frame, &t->port[at]->port.mac, da, 1, sequence, size);
	((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5), 1);
	fake_port_receive(t->port[at], 0, frame, n, 0);
}

static void data(struct testbed *t, unsigned int to, uint8_t class, uint32_t sequence, uint32_t size)
{
	data_at(t, IN, to, class, sequence, size);
}

static void request_from(struct testbed *t, unsigned int port, const struct eth_addr *from, const struct pfc_request *r)
{
	struct pfc_frame frame;

	pfc_write(&frame, from, r);
	fake_port_receive(t->port[port], 0, &frame, sizeof(frame), 0);
}

static void pfc_from(struct testbed *t, unsigned int port, const struct eth_addr *from, uint8_t enable, uint16_t time)
{
	struct pfc_request r = {.enable = enable};

	for (unsigned int i = 0; i < 8; i++)
		r.time[i] = time;
	request_from(t, port, from, &r);
}

/* Data frames, and what PFC frames among them say, that a port has sent since. */
struct sent {
	uint32_t packets, pfc;
	uint8_t enable;
	uint16_t time[8]; /* of the last one */
	uint32_t others;
};

static struct sent take(struct testbed *t, unsigned int port)
{
	struct sent s = {0};
	struct sent_frame *f;

	while ((f = fake_port_take(t->port[port]))) {
		struct pfc_request r;

		if (pfc_read(f->bytes, f->size, 0, &r) == PFC_LEGAL) {
			assert_true(eth_equal(&((struct eth_hdr *)f->bytes)->src, &t->port[port]->port.mac));
			s.pfc++;
			s.enable = r.enable;
			memcpy(s.time, r.time, sizeof(s.time));
		} else if (f->bytes[20] == IP_PROTO_IPV6) {
			s.packets++;
		} else {
			s.others++;
		}
		free(f);
	}
	return s;
}

/* docs/protocol.md 5.2, row by row: what pauses, and by which name the rest is dropped. */
static void legality(void **state)
{
	static const struct {
		const char *what;
		unsigned int at;
		uint8_t byte;
		uint32_t size;
		int reason;
	} rows[] = {
		{"legal", 0, 0x01, 60, CONSUME_pfc},
		{"padded further", 0, 0x01, 90, CONSUME_pfc},
		{"short", 0, 0x01, 59, DROP_pfc_short},
		{"short by far", 0, 0x01, 20, DROP_pfc_short},
		{"other destination", 5, 0x02, 60, DROP_pfc_bad_da},
		{"802.3x PAUSE", 14, 0x00, 60, DROP_pause_frame},
		{"other opcode", 15, 0x02, 60, DROP_pfc_bad_opcode},
		{"high enable octet", 16, 0x01, 60, DROP_pfc_bad_cev},
		{"other source", 11, 0x02, 60, DROP_pfc_bad_peer},
		{"VLAN tag", 12, 0x81, 60, DROP_vlan},
	};
	struct testbed *t = bed(ONE_LCORE, PORTS(PEER));

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t frame[128] = {0};
		struct pfc_request r = {.enable = 0x08, .time = {[3] = 100}};
		uint64_t before = testbed_reason(t, OUT, (enum reason)rows[i].reason);
		bool paused;

		pfc_write((struct pfc_frame *)frame, &out_peer, &r);
		frame[rows[i].at] = rows[i].byte;
		if (rows[i].byte == 0x81)
			frame[13] = 0;
		if (rows[i].reason == DROP_pause_frame)
			frame[15] = 1;
		fake_port_receive(t->port[OUT], 0, frame, rows[i].size, 0);
		testbed_settle(t, 3);
		check(testbed_reason(t, OUT, (enum reason)rows[i].reason) == before + 1, "%s", rows[i].what);
		paused = t->node->egress[OUT].slice[0].closed[EGRESS_PAUSE] & 0x08;
		check(paused == (rows[i].reason == CONSUME_pfc), "%s", rows[i].what);
		t->now += NSEC_PER_MSEC;
		testbed_settle(t, 3);
	}
	testbed_free(t);
}

/* A pause lasts as long as its quanta at the rate of the port; XON ends it, a new one replaces it. */
static void pause_times(void **state)
{
	struct testbed *t = bed(ONE_LCORE, PORTS(PEER));
	const struct egress_queue *q = &t->node->egress[OUT].slice[0].queue[3];

	(void)state;
	pfc_from(t, OUT, &out_peer, 0x08, 65535);
	testbed_round(t);
	/* 65535 * 512 / 10^10 s */
	assert_int_equal(q->pause_until, t->now + 3355392);
	for (uint32_t i = 0; i < 10; i++) {
		data(t, OUT, 3, i, 200);
		data(t, OUT, 4, i, 200);
	}
	testbed_settle(t, 5);
	assert_int_equal(take(t, OUT).packets, 10);
	assert_int_equal(q->packets.n, 10);
	pfc_from(t, OUT, &out_peer, 0x08, 1000);
	testbed_round(t);
	assert_int_equal(q->pause_until, t->now + 51200);
	pfc_from(t, OUT, &out_peer, 0x10, 0); /* about another priority */
	testbed_settle(t, 5);
	assert_int_equal(take(t, OUT).packets, 0);
	pfc_from(t, OUT, &out_peer, 0x08, 0);
	testbed_settle(t, 5);
	assert_int_equal(take(t, OUT).packets, 10);
	assert_int_equal(service_pfc(t->node)->port[OUT].xoff[3], 2);
	assert_int_equal(service_pfc(t->node)->port[OUT].xon[3], 1);
	assert_int_equal(service_pfc(t->node)->port[OUT].xon[4], 1);
	/* priorities that are not the port's do nothing */
	pfc_from(t, OUT, &out_peer, 0xe7, 65535);
	testbed_settle(t, 5);
	assert_int_equal(t->node->egress[OUT].gates, 0);
	assert_int_equal(service_pfc(t->node)->port[OUT].ignored, 1);
	/* nor anything on a port without PFC */
	pfc_from(t, OUT2, &out_peer, 0x08, 65535);
	testbed_settle(t, 5);
	assert_int_equal(testbed_reason(t, OUT2, DROP_mac_control), 1);
	testbed_free(t);
}

/* The chain: the way out is paused, its queue fills, and the data centre is paused; refreshed; then resumed. */
static void the_chain(void **state)
{
	struct testbed *t = bed(ONE_LCORE, PORTS(PEER));
	struct sent s;
	uint32_t i, told_at = 0;

	(void)state;
	empty(t, IN);
	pfc_from(t, OUT, &out_peer, 0x08, 65535);
	testbed_settle(t, 3);
	for (i = 0; i < 60; i++) {
		data(t, OUT, 3, i, 1000);
		testbed_settle(t, 3);
		s = take(t, IN);
		if (s.pfc) {
			assert_int_equal(s.pfc, 1);
			assert_int_equal(s.enable, 0x08);
			assert_int_equal(s.time[3], 65535);
			told_at = i + 1;
		}
	}
	assert_int_equal(told_at, 21); /* 21000 bytes are more than 20 K */
	assert_true(service_pfc(t->node)->port[IN].buffer[3].stopped);
	/* half of 3.355 ms later it is sent again; the egress stays paused meanwhile */
	pfc_from(t, OUT, &out_peer, 0x08, 65535);
	testbed_settle(t, 3);
	t->now = service_pfc(t->node)->port[IN].speaker.said_ns + 1677696 - 2000; /* half of 65535 * 512 / 10^10 s */
	testbed_round(t);
	assert_int_equal(take(t, IN).pfc, 0);
	testbed_round(t);
	s = take(t, IN);
	assert_int_equal(s.pfc, 1);
	assert_int_equal(s.time[3], 65535);
	/* it opens; half way no frame is sent yet, below 8 K the neighbour is resumed */
	t->port[OUT]->tx_allowed = 10;
	pfc_from(t, OUT, &out_peer, 0x08, 0);
	testbed_settle(t, 5);
	assert_int_equal(take(t, IN).pfc, 0);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 5);
	s = take(t, IN);
	assert_int_equal(s.pfc, 1);
	assert_int_equal(s.enable, 0x08);
	assert_int_equal(s.time[3], 0);
	assert_int_equal(take(t, OUT).packets, 60);
	assert_int_equal(service_pfc(t->node)->port[IN].speaker.xoff[3], 2);
	assert_int_equal(service_pfc(t->node)->port[IN].speaker.xon[3], 1);
	assert_int_equal(testbed_reason(t, IN, DROP_headroom_exceeded), 0);
	assert_int_equal(service_pfc(t->node)->port[IN].buffer[3].most.bytes, 60000);
	assert_int_equal(service_pfc(t->node)->port[IN].buffer[3].most_headroom.bytes, 60000 - 20 * 1024);
	testbed_free(t);
}

/* Small packets hold whole buffers: the threshold in buffers stops them long before the one in bytes. */
static void buffers_count_too(void **state)
{
	struct testbed *t = bed(ONE_LCORE, PORTS("priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: shared"));
	uint32_t i = 0;

	(void)state;
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t k = 0; k < NODE_BURST; k++)
		data(t, OUT, 3, k, 110);
	testbed_settle(t, 5);
	empty(t, IN);
	while (!take(t, IN).pfc && i++ < 100) {
		data(t, OUT, 3, i, 110);
		testbed_settle(t, 3);
	}
	/* alpha 1/128 of the 4096 less 30 that are left when the 31st comes */
	check(i == 31, "told to stop after %u packets", i);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 5);
	assert_int_equal(take(t, IN).pfc, 1);
	testbed_free(t);
}

/* Traffic of one port spread over three owners: none of them alone holds enough, together they do. */
static void several_owners(void **state)
{
	struct testbed *t = bed(MANY_LCORES, PORTS(PEER));
	struct sent s = {0};
	uint32_t n = 0;

	(void)state;
	assert_true(t->node->owner[OUT] != t->node->owner[OUT2] && t->node->owner[OUT2] != t->node->owner[OUT3]);
	for (unsigned int p = OUT; p <= OUT3; p++) {
		t->port[p]->tx_allowed = 0;
		for (uint32_t i = 0; i < NODE_BURST; i++)
			data(t, p, 3, i, 110);
	}
	testbed_settle(t, 20);
	empty(t, IN);
	while (!s.pfc && n < 60) {
		data(t, OUT + n % 3, 3, NODE_BURST + n / 3, 1000);
		n++;
		testbed_settle(t, 5);
		s = take(t, IN);
	}
	assert_int_equal(s.enable, 0x08);
	check(n == 21, "told to stop after %u packets", n);
	for (unsigned int p = OUT; p <= OUT3; p++)
		t->port[p]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 20);
	s = take(t, IN);
	assert_int_equal(s.pfc, 1);
	assert_int_equal(s.time[3], 0);
	testbed_free(t);
}

/*
 * Line rate from one port over three owners that send nothing, the port's own owner looking only every `period_us`. After the
 * XOFF frame was given to the device the sender goes on for as long as it may: the frames in front of XOFF in the device, the
 * way, its reaction. Returns packets that found the headroom used up; *used: of it, in bytes.
 */
static uint64_t at_line_rate(unsigned int period_us, uint64_t *used, uint64_t *headroom)
{
	struct testbed *t = bed(MANY_LCORES, PORTS("priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: auto"));
	const struct pfc_buffer_config *b = &t->node->snapshot->port[IN].buffer;
	struct worker_role *owner = &t->node->worker[t->node->owner[IN]];
	/* 64 descriptors of 1518 bytes, 100 m there and back, 67 quanta, and two frames that were under way, at 1250 bytes a us */
	unsigned int left = 64 * 1518 / 1250 + 1 + 3 + 2;
	uint64_t lost;
	bool told = false;

	*headroom = b->full.bytes - b->xoff.bytes -
		    cfg_packets_in_rings(t->node->config) * cfg_longest_frame(t->node->config);
	for (unsigned int p = OUT; p <= OUT3; p++) {
		t->port[p]->tx_allowed = 0;
		for (uint32_t i = 0; i < 3 * NODE_BURST; i++)
			data(t, p, 2, i, 110);
	}
	testbed_settle(t, 100);
	empty(t, IN);
	for (uint32_t i = 0; i < 1000 && left; i++) {
		data(t, OUT + i % 3, 3, i / 3, 1250);
		__atomic_store_n(&owner->stalled, i % period_us != 0, __ATOMIC_RELAXED);
		testbed_round(t);
		told |= take(t, IN).enable == 0x08;
		left -= told;
	}
	__atomic_store_n(&owner->stalled, false, __ATOMIC_RELAXED);
	testbed_settle(t, 20);
	assert_true(told);
	*used = service_pfc(t->node)->port[IN].buffer[3].most_headroom.bytes;
	lost = testbed_reason(t, IN, DROP_headroom_exceeded);
	t->overruns = true; /* the caller has an opinion on that */
	for (unsigned int p = OUT; p <= OUT3; p++)
		t->port[p]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 100);
	testbed_free(t);
	return lost;
}

/* headroom: auto covers line rate into three owners, and the 20 us until the fourth adds them up; not 100 us. */
static void headroom_has_the_decision_period(void **state)
{
	uint64_t used, headroom;

	(void)state;
	assert_int_equal(at_line_rate(1, &used, &headroom), 0);
	check(used < headroom - 20000, "%llu of %llu bytes", (unsigned long long)used, (unsigned long long)headroom);
	assert_int_equal(at_line_rate(20, &used, &headroom), 0);
	check(used > headroom * 2 / 3, "%llu of %llu bytes", (unsigned long long)used, (unsigned long long)headroom);
	/* an owner that looks so seldom finds out about the end of the headroom late as well */
	check(at_line_rate(100, &used, &headroom) > 0 || used > headroom, "%llu of %llu bytes",
		(unsigned long long)used, (unsigned long long)headroom);
}

/* A full ring pauses the senders of its ports before a packet is lost. */
static void a_full_ring_stops_the_sender(void **state)
{
	struct testbed *t = bed(MANY_LCORES, PORTS(PEER));
	struct worker_role *slow = &t->node->worker[t->node->owner[OUT2]];
	uint64_t next;
	struct sent s;

	(void)state;
	empty(t, IN);
	slow->stalled = true;
	for (uint32_t i = 0; i < 3000; i++)
		data(t, OUT2, 3, i, 110);
	for (unsigned int i = 0; i < 100; i++)
		testbed_round(t);
	s = take(t, IN);
	assert_int_equal(s.enable, 0x08);
	assert_int_equal(s.time[3], 65535);
	slow->stalled = false;
	(void)next;
	testbed_settle(t, 1000);
	assert_int_equal(take(t, OUT2).packets, 3000);
	s = take(t, IN);
	assert_int_equal(s.time[3], 0);
	testbed_free(t);
}

/* Negative control: headroom that is too small is used up, and by no other name than its own. */
static void too_little_headroom_is_seen(void **state)
{
	struct testbed *t = bed(ONE_LCORE, PORTS("priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: small"));

	(void)state;
	pfc_from(t, OUT, &out_peer, 0x08, 65535);
	testbed_settle(t, 3);
	for (uint32_t i = 0; i < 40; i++) {
		data(t, OUT, 3, i, 1000);
		testbed_settle(t, 3);
	}
	/* full at 22528 bytes, so 23 packets are in */
	t->overruns = true;
	assert_int_equal(testbed_reason(t, IN, DROP_headroom_exceeded), 17);
	assert_int_equal(testbed_reason(t, IN, DROP_queue_full), 0);
	assert_int_equal(service_pfc(t->node)->port[IN].buffer[3].exhausted_times, 1);
	testbed_free(t);
}

/* Packets that wait for a neighbour are held as in any queue: no hold limit drops them, XOFF is sent, and none is left over. */
static void waiting_for_a_neighbour(void **state)
{
	struct testbed *t = bed(ONE_LCORE, PORTS(PEER));
	struct neigh_message m = {.what = NEIGH_SET, .interface = OUT, .mac = out_peer};
	struct account_level level = {0};
	struct neigh_entry *n;

	(void)state;
	assert_int_equal(ip_addr_parse("2001:db8:b::3", &m.addr), 0);
	n = &t->node->worker[0].neighs.neigh[neigh_table_find(&t->node->worker[0].neighs, OUT, &m.addr)];
	n->is_static = false;
	neigh_entry_set_state(n, NEIGH_ENTRY_UNKNOWN);
	empty(t, IN);
	for (uint32_t i = 0; i < 40; i++) {
		data(t, OUT, 3, i, 1000);
		data(t, OUT, 2, i, 1000);
		testbed_settle(t, 3);
	}
	assert_int_equal(testbed_reason(t, IN, DROP_neighbor_hold), 32); /* eight of each fill the hold of 16 */
	assert_int_equal(take(t, IN).enable, 0x08);
	empty(t, OUT);
	egress_neigh_update(&t->node->egress[OUT], &t->node->worker[0].ctx, &m);
	testbed_settle(t, 10);
	check(take(t, OUT).packets >= 40, "lossless packets were lost");
	account_add(&t->node->worker[0].accounts->total[IN][3], &level);
	assert_int_equal(level.buffers, 0);
	assert_int_equal(take(t, IN).time[3], 0);
	testbed_free(t);
}

/* A neighbour that does not answer: what waited for it is dropped, and the buffer it was charged to is free again. */
static void a_neighbour_that_fails(void **state)
{
	struct testbed *t = bed(ONE_LCORE, PORTS(PEER));
	struct neigh_message m = {.what = NEIGH_FAIL, .interface = OUT};
	struct neigh_entry *n;

	(void)state;
	assert_int_equal(ip_addr_parse("2001:db8:b::3", &m.addr), 0);
	n = &t->node->worker[0].neighs.neigh[neigh_table_find(&t->node->worker[0].neighs, OUT, &m.addr)];
	n->is_static = false;
	neigh_entry_set_state(n, NEIGH_ENTRY_UNKNOWN);
	empty(t, IN);
	for (uint32_t i = 0; i < 30; i++)
		data(t, OUT, 3, i, 1000);
	testbed_settle(t, 10);
	assert_int_equal(take(t, IN).time[3], 65535);
	egress_neigh_update(&t->node->egress[OUT], &t->node->worker[0].ctx, &m);
	testbed_settle(t, 10);
	assert_int_equal(testbed_reason(t, IN, DROP_neighbor_failed), 30);
	assert_int_equal(service_pfc(t->node)->port[IN].buffer[3].level.bytes, 0);
	assert_int_equal(service_pfc(t->node)->port[IN].speaker.xon[3], 1); /* the sender may go on */
	empty(t, IN);
	testbed_free(t);
}

/* learn: true believes the stations that ND has found, and no other. */
static void learnt_peers(void **state)
{
	struct testbed *t = bed(ONE_LCORE, PORTS("priorities: [3], learn: true, buffer: b"));

	(void)state;
	pfc_from(t, IN, &in_peer, 0x08, 65535);
	testbed_settle(t, 5);
	assert_int_equal(testbed_reason(t, IN, DROP_pfc_bad_peer), 1);
	service_pfc_learn(t->node, IN, &in_peer);
	pfc_from(t, IN, &in_peer, 0x08, 65535);
	testbed_settle(t, 5);
	assert_int_equal(testbed_reason(t, IN, DROP_pfc_bad_peer), 1);
	assert_int_equal(service_pfc(t->node)->port[IN].xoff[3], 1);
	testbed_free(t);
}

/* The owner of a port is notified of work when another lcore receives on it. */
static void owner_is_notified(void **state)
{
	struct testbed *t = bed(MANY_LCORES, PORTS(PEER));
	struct worker_role *owner = &t->node->worker[t->node->owner[OUT]];
	uint64_t next;

	(void)state;
	assert_ptr_not_equal(owner->lcore, t->node->rx[0].lcore);
	assert_false(node_lcore_has_input(owner->lcore));
	pfc_from(t, OUT, &out_peer, 8, 65535);
	node_lcore_poll(t->node->rx[0].lcore, t->now, &next);
	assert_true(node_lcore_has_input(owner->lcore));
	node_lcore_poll(owner->lcore, t->now, &next);
	assert_false(node_lcore_has_input(owner->lcore));
	data(t, 1, 3, 0, 100);
	testbed_settle(t, 100);
	assert_int_equal(take(t, OUT).packets, 0);
	pfc_from(t, OUT, &out_peer, 8, 0);
	testbed_settle(t, 100);
	assert_int_equal(take(t, OUT).packets, 1);
	testbed_free(t);
}

/* Classes of one frame are paused for different times, and one may be resumed by it: each has its own. */
static void times_of_several_classes(void **state)
{
	const struct pfc_request r = {.enable = 0x18, .time = {[3] = 1000, [4] = 40000, [5] = 65535}};
	const struct pfc_request back = {.enable = 0x18, .time = {[3] = 40000, [4] = 0}};
	struct testbed *t = bed(ONE_LCORE, PORTS(PEER));
	const struct egress_queue *q = t->node->egress[OUT].slice[0].queue;

	(void)state;
	request_from(t, OUT, &out_peer, &r);
	testbed_round(t);
	/* quanta * 512 / 10^10 s */
	assert_int_equal(q[3].pause_until, t->now + 51200);
	assert_int_equal(q[4].pause_until, t->now + 2048000);
	assert_true(q[5].pause_until <= t->now);
	data(t, OUT, 3, 0, 200);
	data(t, OUT, 4, 0, 200);
	testbed_pass(t, 100000, 1000);
	assert_int_equal(take(t, OUT).packets, 1);
	request_from(t, OUT, &out_peer, &back);
	testbed_round(t);
	assert_int_equal(q[3].pause_until, t->now + 2048000);
	assert_int_equal(take(t, OUT).packets, 1);
	assert_int_equal(service_pfc(t->node)->port[OUT].xon[4], 1);
	testbed_free(t);
}

/*
 * Classes with alpha share buffers, whichever workers own their ports: what the class of one port holds is not left for
 * that of another.
 */
static void shared_by_several_owners(void **state)
{
	struct testbed *t = bed(MANY_LCORES, PORTS2(HALF, HALF));
	const struct pfc_buffer *in = &service_pfc(t->node)->port[IN].buffer[3];
	uint32_t n = 0;

	(void)state;
	assert_true(t->node->owner[IN] != t->node->owner[OUT]);
	for (unsigned int p = OUT2; p <= OUT3; p++) {
		t->port[p]->tx_allowed = 0;
		for (uint32_t i = 0; i < NODE_BURST; i++)
			data(t, p, 2, i, 110);
	}
	testbed_settle(t, 20);
	for (uint32_t i = 0; i < 1000; i++) {
		data_at(t, OUT, OUT2, 3, i, 110);
		testbed_settle(t, 4);
	}
	assert_false(service_pfc(t->node)->port[OUT].buffer[3].stopped);
	for (; !in->stopped && n < 2000; n++) {
		data(t, OUT3, 3, n, 110);
		testbed_settle(t, 4);
	}
	/* half of what is left of 4096, which are 1000 less and its own: a third of 3096 */
	check(n == 1032, "stopped after %u packets", n);
	t->port[OUT2]->tx_allowed = t->port[OUT3]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 200);
	assert_false(in->stopped);
	empty(t, IN);
	empty(t, OUT);
	testbed_free(t);
}

/*
 * While a sender is paused, other workers may release what it waits for without a word: the owner of its port asks to be
 * called again within 2 us, and then the sender goes on.
 */
static void the_owner_looks_again_soon(void **state)
{
	struct testbed *t = bed(MANY_LCORES, PORTS(PEER));
	struct node_lcore *owner = t->node->worker[t->node->owner[IN]].lcore;
	uint64_t next = 0, other;

	(void)state;
	assert_true(t->node->owner[IN] != t->node->owner[OUT2]);
	t->port[OUT2]->tx_allowed = 0;
	for (uint32_t i = 0; i < NODE_BURST; i++)
		data(t, OUT2, 2, i, 110);
	for (uint32_t i = 0; i < 30; i++)
		data(t, OUT2, 3, i, 1000);
	testbed_settle(t, 100);
	assert_int_equal(take(t, IN).time[3], 65535);
	node_lcore_poll(owner, t->now, &next);
	node_lcore_poll(owner, t->now, &next);
	check(next <= t->now + 2000, "paused: next in %llu ns", (unsigned long long)(next - t->now));
	t->port[OUT2]->tx_allowed = UINT64_MAX;
	for (unsigned int i = 0; i < 3; i++)
		for (uint16_t k = 0; k < t->node->n_lcores; k++)
			if (t->node->lcore[k] != owner)
				node_lcore_poll(t->node->lcore[k], t->now, &other);
	t->now = next;
	node_lcore_poll(owner, t->now, &next);
	assert_int_equal(take(t, IN).pfc, 1);
	assert_false(service_pfc(t->node)->port[IN].speaker.stopped);
	check(next > t->now + NSEC_PER_MSEC, "not paused: next in %llu ns", (unsigned long long)(next - t->now));
	testbed_settle(t, 100);
	testbed_free(t);
}

/* A reload takes PFC away from a port whose sender is paused, and no other port has any: the last word is XON. */
static void the_last_word_is_xon(void **state)
{
	static const char *const after[] = {PORTS2("pfc: {}", "pfc: {}"),
		PORTS2("pfc: {}", "pfc: {priorities: [3, 4], peers: [\"02:00:00:00:b0:01\"], buffer: b}"),
		PORTS2("pfc: {priorities: [4], peers: [\"02:00:00:00:a0:00\"], buffer: b}", "pfc: {}")};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(after); i++) {
		struct testbed *t = bed(MANY_LCORES, PORTS(PEER));
		char text[8192], err[256];
		struct sent s;

		t->port[OUT2]->tx_allowed = 0;
		for (uint32_t k = 0; k < NODE_BURST; k++)
			data(t, OUT2, 2, k, 110);
		for (uint32_t k = 0; k < 30; k++)
			data(t, OUT2, 3, k, 1000);
		testbed_settle(t, 100);
		assert_int_equal(take(t, IN).time[3], 65535);
		snprintf(text, sizeof(text), NODE "%s%s", MANY_LCORES, after[i]);
		check(node_apply(t->node, conf_load(CONF_CHECK, text), err, sizeof(err)) == 0, "row %u: %s", i, err);
		testbed_settle(t, 100);
		s = take(t, IN);
		check(s.pfc == 1 && s.enable & 0x08 && s.time[3] == 0, "row %u: %u frames, %x", i, s.pfc, s.enable);
		t->port[OUT2]->tx_allowed = UINT64_MAX;
		testbed_settle(t, 100);
		testbed_free(t);
	}
}

/* A reload lowers XOFF below what a buffer holds, or raises XON above it, and nothing arrives or leaves meanwhile. */
static void other_thresholds(void **state)
{
	static const char *const profiles[] = {"b", "low", "b"};
	struct testbed *t = bed(ONE_LCORE, PORTS(PEER));
	char text[8192], pfc[128], err[256];

	(void)state;
	pfc_from(t, OUT, &out_peer, 0x08, 65535);
	for (uint32_t k = 0; k < 7; k++)
		data(t, OUT, 3, k, 1000);
	testbed_settle(t, 10);
	for (unsigned int i = 0; i < ARRAY_LEN(profiles); i++) {
		bool stops = i == 1;

		snprintf(pfc, sizeof(pfc), "priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: %s", profiles[i]);
		snprintf(text, sizeof(text), NODE ONE_LCORE PORTS("%s"), pfc);
		check(node_apply(t->node, conf_load(CONF_CHECK, text), err, sizeof(err)) == 0, "row %u: %s", i, err);
		testbed_settle(t, 10);
		check(service_pfc(t->node)->port[IN].buffer[3].stopped == stops, "row %u", i);
	}
	pfc_from(t, OUT, &out_peer, 0x08, 0);
	testbed_settle(t, 100);
	testbed_free(t);
}

/*
 * Packets that come back from the wait for a neighbour find the port's lossy buffers used up: only those of lossy classes
 * are dropped.
 */
static void back_from_a_neighbour(void **state)
{
	struct testbed *t = bed(ONE_LCORE, PORTS(PEER));
	struct neigh_message m = {.what = NEIGH_SET, .interface = OUT, .mac = out_peer};
	struct neigh_entry *n;

	(void)state;
	assert_int_equal(ip_addr_parse("2001:db8:b::3", &m.addr), 0);
	n = &t->node->worker[0].neighs.neigh[neigh_table_find(&t->node->worker[0].neighs, OUT, &m.addr)];
	n->is_static = false;
	neigh_entry_set_state(n, NEIGH_ENTRY_UNKNOWN);
	for (uint32_t i = 0; i < 8; i++) {
		data(t, OUT, 3, i, 1000);
		data(t, OUT, 2, i, 1000);
	}
	testbed_settle(t, 10);
	empty(t, OUT);
	t->node->egress[OUT].buffer_limit = 3;
	egress_neigh_update(&t->node->egress[OUT], &t->node->worker[0].ctx, &m);
	testbed_settle(t, 10);
	assert_int_equal(testbed_reason(t, IN, DROP_queue_full), 5);
	assert_int_equal(take(t, OUT).packets, 8 + 3);
	empty(t, IN);
	testbed_free(t);
}

/* Frames that a pause takes back from the device's burst are what they were: they use no lossy buffer. */
static void taken_back(void **state)
{
	struct testbed *t = bed(ONE_LCORE, PORTS(PEER));

	(void)state;
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t i = 0; i < 10; i++)
		data(t, OUT, 3, i, 1000);
	testbed_settle(t, 10);
	assert_int_equal(t->node->egress[OUT].tx.n, 10);
	pfc_from(t, OUT, &out_peer, 0x08, 65535);
	testbed_settle(t, 10);
	assert_int_equal(t->node->egress[OUT].slice[0].queue[3].packets.n, 10);
	assert_int_equal(t->node->egress[OUT].lossy, 0);
	assert_int_equal(service_pfc(t->node)->port[IN].buffer[3].level.bytes, 10000);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	pfc_from(t, OUT, &out_peer, 0x08, 0);
	testbed_settle(t, 10);
	assert_int_equal(take(t, OUT).packets, 10);
	empty(t, IN);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owner_is_notified),
		cmocka_unit_test(legality),
		cmocka_unit_test(pause_times),
		cmocka_unit_test(times_of_several_classes),
		cmocka_unit_test(the_chain),
		cmocka_unit_test(buffers_count_too),
		cmocka_unit_test(several_owners),
		cmocka_unit_test(headroom_has_the_decision_period),
		cmocka_unit_test(a_full_ring_stops_the_sender),
		cmocka_unit_test(too_little_headroom_is_seen),
		cmocka_unit_test(waiting_for_a_neighbour),
		cmocka_unit_test(a_neighbour_that_fails),
		cmocka_unit_test(learnt_peers),
		cmocka_unit_test(shared_by_several_owners),
		cmocka_unit_test(the_owner_looks_again_soon),
		cmocka_unit_test(the_last_word_is_xon),
		cmocka_unit_test(other_thresholds),
		cmocka_unit_test(back_from_a_neighbour),
		cmocka_unit_test(taken_back),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("pfc_port", tests, NULL, NULL);
}
