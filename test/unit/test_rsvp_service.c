/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RSVP in a whole node whose neighbours are the test (docs/credit.md 2.3): a transit device on a path, a far gateway, a
 * headend; what is intercepted and what is not; whom the node hears; reloads and orders.
 */
#include "test/support/rsvp_peer.h"

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rsvp/rsvp_wire.h"
#include "test/support/conf.h"

/* A transit device offers to the previous hop and sends the 28 on, as its SID leaves the tunnel. */
static void transit(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));
	static struct rsvp_message init;

	(void)state;
	make_init("fd00::2");
	give(t, &in_tunnel);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_RESERVE, got.kind);
	assert_int_equal(RSVP_CREDIT_OFFER, got.credit[0].flags);
	assert_int_equal(16, got.credit[0].buffer);
	assert_int_equal(0x101, got.hop.lih);
	assert_int_equal(255, outer()->hop_limit);
	assert_int_equal(255, got.send_ttl);
	assert_int_equal(0xc0, ipv6_tc(outer()));
	assert_true(is(&outer()->dst, "fd00::1") && is(&outer()->src, "fd00::d"));
	assert_true(next_sent(t, 1, IN_TUNNEL));
	init = got;
	assert_int_equal(RSVP_INIT, got.kind);
	assert_true(is(&outer()->dst, "5f00:0:200::")); /* shifted */
	assert_true(is(&outer()->src, "fd00:1::5"));
	assert_int_equal(59, outer()->hop_limit);
	assert_int_equal(LABEL, be32_get(outer()->vtc_flow) & 0xfffff);
	assert_int_equal(254, outer()[1].hop_limit);
	assert_int_equal(254, got.send_ttl);
	assert_int_equal(2, got.path.hops);
	assert_true(is(&got.hop.addr.v6, "fd00::d"));
	assert_int_equal(2, got.hop.lih & 0xff); /* port 1 */
	assert_int_equal(16 << 11, got.offer[0].buffer);
	assert_int_equal(40000000000, got.offer[0].rate);
	assert_false(next_sent(t, 0, UNICAST));
	/* S of the next hop commits here, too */
	make_offer(&init, RSVP_CREDIT_COMMIT);
	give(t, &(struct sending){1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	check_shown(t, "show rsvp paths", "committed");
	check_shown(t, "show rsvp neighbors", "fd00::2");
	check_metrics(t, "sluice_rsvp_committed_units{node=\"t\"} 16\n");
	assert_int_equal(2, testbed_reason(t, 0, CONSUME_rsvp) + testbed_reason(t, 1, CONSUME_rsvp));
	testbed_free(t);
}

/* The far gateway offers as much as it permits, and selects after T_sel. */
static void far_gateway(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));

	(void)state;
	make_init("fd00::d");
	give(t, &in_tunnel);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(4, got.credit[0].buffer);
	assert_false(next_sent(t, 1, IN_TUNNEL));
	testbed_pass(t, 190 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_false(next_sent(t, 0, UNICAST));
	testbed_pass(t, 20 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	assert_int_equal(1, got.count[RSVP_O_CBFC_OFFER]);
	testbed_free(t);
}

/* The next session of fd00:1::/64: a path of its own, from fd00::1. */
static void give_session(struct testbed *t, unsigned int number)
{
	make_init("fd00::d");
	m.hop.lih = 0x101 + (number << 8);
	m.path.nonce = 100 + number;
	m.sender.port = LABEL + number;
	give(t, &in_tunnel);
	testbed_pass(t, 210 * NSEC_PER_MSEC, NSEC_PER_MSEC); /* T_sel */
}

#define TOTAL(units) "  accept: [{sources: \"fd00:1::/64\", buffer: 4, total: " units "}, {sources: \"fd00:3::/64\"}]\n"

/* What all sessions of a permission are granted is bounded, and stays counted over reloads. */
static void permission_total(void **state)
{
	struct testbed *t = start(NODE CREDIT(TOTAL("10")));

	(void)state;
	give_session(t, 1);
	give_session(t, 2);
	check_metrics(t, "sluice_rsvp_committed_units{node=\"t\"} 8\n");
	give_session(t, 3); /* 12 units */
	check_metrics(t, "sluice_rsvp_committed_units{node=\"t\"} 8\n");
	apply(t, NODE CREDIT(""));
	apply(t, NODE CREDIT(TOTAL("12")));
	give_session(t, 4);
	give_session(t, 5);
	check_metrics(t, "sluice_rsvp_committed_units{node=\"t\"} 12\n");
	make_init("fd00::d"); /* of another permission, which has no total */
	m.sender.src = address("fd00:3::5");
	m.hop.lih = 0x901;
	m.path.nonce = 900;
	give(t, &(struct sending){0, "fd00:3::5", "5f00:0:100:200::", 0xc0, 60, TUNNELLED});
	testbed_pass(t, 210 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	check_metrics(t, "sluice_rsvp_committed_units{node=\"t\"} 28\n");
	while (next_sent(t, 0, UNICAST))
		;
	testbed_free(t);
}

/* To a neighbour that sets the flag, the messages of one pass go in one packet; a single one goes alone. */
static void bundles(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));
	struct rsvp_raw rest, one;
	unsigned int n = 0;

	(void)state;
	make_init("fd00::d");
	m.flags = RSVP_FLAG_REFRESH_REDUCTION;
	give(t, &in_tunnel);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_RESERVE, got.kind);
	for (unsigned int i = 1; i < 13; i++) {
		m.hop.lih = 0x101 + (i << 8);
		m.path.nonce = 100 + i;
		m.sender.port = LABEL + i;
		arrive(t, &in_tunnel);
	}
	testbed_settle(t, 50);
	while (next_sent(t, 0, UNICAST)) {
		assert_int_equal(RSVP_BUNDLE, got.kind);
		assert_int_equal(255, got.send_ttl);
		assert_in_range(be16_get(outer()->payload_length), 200, 1460);
		for (rest = got.body; rsvp_bundle_next(&rest, &one); n++) {
			static struct rsvp_message in;

			assert_int_equal(RSVP_ACCEPTED, rsvp_read(&rsvp_ext, one.at, one.bytes, &in));
			assert_int_equal(RSVP_RESERVE, in.kind);
			assert_int_equal(LABEL + 1 + n, in.flow[0].filter.port);
		}
	}
	assert_int_equal(12, n);
	check_metrics(t, "sluice_rsvp_bundles_total{node=\"t\"} 2\n");
	make_init("fd00::d"); /* the flag is not set any more */
	for (unsigned int i = 20; i < 22; i++) {
		m.hop.lih = 0x101 + (i << 8);
		m.path.nonce = 100 + i;
		m.sender.port = LABEL + i;
		arrive(t, &in_tunnel);
	}
	testbed_settle(t, 50);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_RESERVE, got.kind);
	assert_true(next_sent(t, 0, UNICAST));
	testbed_free(t);
}

#define MANY 1000
#define SOFT_STATE_MAX 640 /* bytes of a session; what many sessions have in common is not counted for each of them */
#define UPDATED_MAX 64	   /* bytes of what updates touch, besides */
#define ROOMY \
	"credit: {mode: ext, integrity: off, pool: 2000, buffer: 1, paths: 1000, neighbors: [{address: \"fd00::1\"}, " \
	"{address: \"fd00::2\"}]}\n"

/* What a session takes is what --check says, in a device on the way and with one device before it. */
static void memory(void **state)
{
	size_t said = rsvp_bytes_of_session() + rsvp_bytes_of_path() + sizeof(struct rsvp_carrier) + 64, before, used;
	struct testbed *t = start(NODE ROOMY);

	(void)state;
	before = mallinfo2().uordblks;
	for (unsigned int i = 0; i < MANY; i++) {
		make_init("fd00::2");
		m.hop.lih = 0x101 + (i << 8);
		m.path.nonce = 100 + i;
		m.sender.port = LABEL + i;
		arrive(t, &in_tunnel);
		if (i % 8 == 7)
			testbed_pass(t, 10 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	}
	while (next_sent(t, 0, UNICAST) || next_sent(t, 1, IN_TUNNEL))
		;
	used = (mallinfo2().uordblks - before) / MANY;
	assert_int_equal(MANY, rsvp_node_stats_of(rsvp_shown(t->node)->machines)->paths);
	if (before) /* not with a sanitizer's allocator */
		check(used <= said && used > said * 8 / 10, "%zu bytes a session, and %zu are said", used, said);
	assert_true(said <= rsvp_session_memory());
	check(rsvp_soft_state() <= SOFT_STATE_MAX, "%zu bytes of soft state", rsvp_soft_state());
	check(rsvp_updated_state() <= UPDATED_MAX, "%zu bytes are touched by updates", rsvp_updated_state());
	testbed_free(t);
}

/* The delay that a transit device tells after one of 100 us before it. */
static uint32_t delay_told(const char *yaml)
{
	struct testbed *t = start(yaml);
	uint32_t delay;

	make_init("fd00::2");
	m.offer[0].delay_us = 100;
	give(t, &in_tunnel);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	delay = got.offer[0].delay_us;
	testbed_free(t);
	return delay;
}

/* The delay of the link that a Path init leaves by: as configured, or by its length; otherwise unknown, for good. */
static void link_delay(void **state)
{
	(void)state;
	assert_int_equal(UINT32_MAX, delay_told(NODE_WITH("") CREDIT("")));
	assert_int_equal(350, delay_told(NODE_WITH(", link-delay: 250") CREDIT("")));
	assert_int_equal(100, delay_told(NODE_WITH(", link-delay: 0") CREDIT("")));
	assert_int_equal(500, delay_told(NODE_WITH(", pfc: {length: 80000}") CREDIT("")));
	assert_int_equal(140, delay_told(NODE_WITH(", pfc: {round-trip: 80}") CREDIT("")));
	assert_int_equal(350, delay_told(NODE_WITH(", link-delay: 250, pfc: {round-trip: 80}") CREDIT("")));
}

/* Who is not permitted is told so, or not heard. */
static void refused(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));
	static struct rsvp_message init;

	(void)state;
	make_init("fd00::d");
	m.sender.src = address("fd00:2::5"); /* not in accept */
	give(t, &in_tunnel);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_PATH_ERR, got.kind);
	assert_int_equal(RSVP_ERROR_POLICY, got.error.code);
	make_init("fd00::77"); /* no way there */
	give(t, &(struct sending){0, "fd00:1::5", "5f00:0:100:900::", 0xc0, 60, TUNNELLED});
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_REFUSE_ROUTE, got.error.value);
	make_init("fd00::2");
	m.hop.addr = address("fd00::66"); /* no neighbour */
	give(t, &in_tunnel);
	assert_int_equal(1, stats(t)->stranger);
	/* a message for one hop: from somebody else, from too far away, in a tunnel */
	make_init("fd00::2");
	init = m;
	make_offer(&init, RSVP_CREDIT_OFFER);
	give(t, &(struct sending){1, "fd00::1", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
	assert_int_equal(1, stats(t)->source);
	give(t, &(struct sending){1, "fd00::2", "fd00::d", 0xc0, 254, FOR_ONE_HOP});
	assert_int_equal(1, stats(t)->hop_limit);
	give(t, &in_tunnel);
	assert_int_equal(1, stats(t)->tunnel);
	assert_int_equal(0, rsvp_node_stats_of(rsvp_shown(t->node)->machines)->paths);
	/* more than the rate of the neighbour, whose burst is 32 */
	for (unsigned int i = 0; i < 60; i++)
		give(t, &(struct sending){1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
	assert_in_range(stats(t)->above_rate, 25, 30);
	assert_int_equal(stats(t)->above_rate, testbed_reason(t, 1, DROP_rsvp_limited));
	check_shown(t, "show rsvp counters", "refused_stranger");
	while (next_sent(t, 1, UNICAST))
		assert_int_equal(RSVP_RESV_ERR, got.kind); /* no such LIH */
	testbed_free(t);
}

/* What is not of the control class, of a tenant, or at a node that takes no part is a packet like any other. */
static void passes(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));
	struct sending data = in_tunnel;

	(void)state;
	data.tc = 0;
	make_init("fd00::2");
	give(t, &data);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	assert_int_equal(1, got.path.hops);
	assert_int_equal(255, outer()[1].hop_limit);
	give(t, &(struct sending){2, "2001:db8:c::9", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
	assert_int_equal(0, stats(t)->rx);
	testbed_free(t);
	t = start(NODE);
	give(t, &in_tunnel);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	assert_int_equal(1, got.path.hops);
	assert_null(rsvp_shown(t->node));
	testbed_free(t);
}

/* A headend opens its sessions; a reload leaves alone what it does not change; orders of users. */
static void headend(void **state)
{
	struct testbed *t = start(NODE CREDIT(SESSION("a")));
	static struct rsvp_message init;

	(void)state;
	assert_true(next_sent(t, 1, IN_TUNNEL));
	assert_int_equal(RSVP_INIT, got.kind);
	init = got;
	assert_true(is(&outer()->src, "fd00:1::9"));
	assert_int_equal(init.sender.port, be32_get(outer()->vtc_flow) & 0xfffff);
	assert_int_equal(1, got.path.hops);
	assert_true(got.tspec.depth > 32767 && got.tspec.depth < 32769);
	make_offer(&init, RSVP_CREDIT_COMMIT);
	give(t, &(struct sending){1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
	check_shown(t, "show rsvp sessions", "committed");
	rsvp_tick(t->node);
	apply(t, NODE CREDIT(ACCEPT SESSION("a"))); /* something else has changed */
	assert_false(next_sent(t, 1, IN_TUNNEL));
	check_shown(t, "show rsvp sessions a", "committed");
	check_shown(t, "session stop a", "stop");
	testbed_settle(t, 100);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	assert_int_equal(RSVP_END, got.kind);
	check_shown(t, "session start a", "start");
	testbed_settle(t, 100);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	assert_int_equal(RSVP_INIT, got.kind);
	assert_int_not_equal(init.sender.port, got.sender.port); /* the label is another one */
	apply(t, NODE CREDIT(SESSION("b")));			 /* a has gone, b is new */
	assert_true(next_sent(t, 1, IN_TUNNEL));
	assert_int_equal(RSVP_END, got.kind);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	assert_int_equal(RSVP_INIT, got.kind);
	check_shown(t, "show rsvp sessions", "b");
	assert_true(rsvp_stopping(t->node) > 0);
	testbed_settle(t, 300);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	assert_int_equal(RSVP_END, got.kind);
	testbed_free(t);
}

/* Sessions begin at a pace: nodes on the way pass only so many messages in a burst. */
static void begin_at_a_pace(void **state)
{
	unsigned int begun = 0, in_10_ms = 0, most = 0;
	char *yaml = NULL;
	size_t size;
	FILE *f = open_memstream(&yaml, &size);
	struct testbed *t;

	(void)state;
	assert_non_null(f);
	fputs(NODE CREDIT("  sessions:\n"), f);
	for (unsigned int i = 0; i < 500; i++)
		fprintf(f, "    - {name: s%u, policy: far, to: \"fd00::2\", class: 3, buffer: 32K}\n", i);
	fclose(f);
	t = start(NODE CREDIT(""));
	apply(t, yaml);
	for (unsigned int ms = 0; ms < 150; ms++) {
		while (next_sent(t, 1, IN_TUNNEL))
			in_10_ms += got.kind == RSVP_INIT;
		if (ms % 10 == 9) {
			begun += in_10_ms;
			most = MAX_OF(most, in_10_ms);
			in_10_ms = 0;
		}
		testbed_pass(t, NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	}
	check(begun == 500, "%u sessions have begun", begun);
	check(most < 32 + 60, "%u sessions began in 10 ms", most); /* a burst, and 5,000 a second */
	testbed_free(t);
	free(yaml);
}

/* A session that finds no room, because an old one has not ended yet, begins when it has; without a reload. */
static void room_later(void **state)
{
	struct testbed *t = start(NODE CREDIT("  paths: 1\n" SESSION("a")));
	unsigned int seconds = 0, begun = 0;

	(void)state;
	assert_true(next_sent(t, 1, IN_TUNNEL));
	assert_int_equal(RSVP_INIT, got.kind);
	apply(t, NODE CREDIT("  paths: 1\n" SESSION("b")));
	while (!begun && seconds++ < 300) {
		while (next_sent(t, 1, IN_TUNNEL))
			begun += got.kind == RSVP_INIT;
		check(begun == 0 || seconds > 1, "begun after %u s", seconds);
		testbed_pass(t, NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	}
	check(begun == 1, "%u sessions", begun);
	check_shown(t, "show rsvp sessions", "b");
	testbed_free(t);
}

/* --- the vector v48 --- */

#define VECTOR_NODE VECTOR_NODE_BY("2001:db8:b::1")
#define VECTOR_NODE_BY(hop) \
	"node: {name: t, loopback: \"2001:db8:f::d\", usid: {block: \"5f00:0::/32\", node: 0x100},\n" \
	"  infrastructure: [\"2001:db8::/32\"]}\n" TESTBED_ONE_LCORE "ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, speed: 400G, addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: p1, device: net_null1, side: wan, speed: 100G, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"neighbors:\n" \
	"  - {port: p0, address: \"2001:db8:a::1\", mac: \"02:00:00:00:a0:00\"}\n" \
	"  - {port: p1, address: \"2001:db8:b::1\", mac: \"02:00:00:00:b0:01\"}\n" \
	"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}\n" \
	"routes:\n" \
	"  - {prefix: \"2001:db8:f::1/128\", port: p0, nexthop: \"2001:db8:a::1\"}\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: p1, nexthop: \"2001:db8:b::1\"}\n" \
	"  - {prefix: \"2001:db8:3::/64\", port: p1, nexthop: \"" hop "\"}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n" \
	"credit: {mode: ext, data: free, integrity: off, unit: 6, pool: 64, buffer: 16, neighbors: [{address: " \
	"\"2001:db8:f::1\"}, {address: \"2001:db8:a::1\"}, {address: \"2001:db8:b::3\"}]}\n"

/* Frame `number` of a capture. Returns its bytes. */
static uint32_t vector_frame(const char *name, unsigned int number, uint8_t frame[2048])
{
	char path[256];
	uint32_t record[4] = {0};
	FILE *f;

	snprintf(path, sizeof(path), VECTORS "/%s.pcap", name);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(0, fseek(f, 24, SEEK_SET));
	for (unsigned int i = 0; i <= number; i++) {
		assert_int_equal(sizeof(record), fread(record, 1, sizeof(record), f));
		assert_true(record[2] <= 2048);
		assert_int_equal(record[2], fread(frame, 1, record[2], f));
	}
	fclose(f);
	return record[2];
}

/* What leaves a port is the frame of the vector, apart from what the vectors' page masks, BUF, delay and MESSAGE_ID. */
static void same_message(struct testbed *t, unsigned int port, unsigned int number, size_t front)
{
	static struct rsvp_message want;
	uint8_t frame[2048];
	uint32_t n = vector_frame("v48_rsvp28_outer_transit.out", number, frame);
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));

	assert_true(next_sent(t, port, front));
	assert_int_equal(RSVP_ACCEPTED, rsvp_read(&rsvp_ext, frame + sizeof(struct eth_hdr) + front,
						n - sizeof(struct eth_hdr) - front, &want));
	for (unsigned int i = 0; i < (front == IN_TUNNEL ? 2 : 1); i++) {
		assert_memory_equal(&ip[i].vtc_flow, &outer()[i].vtc_flow, sizeof(ip->vtc_flow));
		assert_memory_equal(&ip[i].next_header, &outer()[i].next_header, sizeof(*ip) - 6);
	}
	assert_int_equal(want.kind, got.kind);
	assert_int_equal(want.send_ttl, got.send_ttl);
	assert_memory_equal(&want.session, &got.session, sizeof(want.session));
	assert_true(ip_addr_equal(&want.hop.addr, &got.hop.addr));
	assert_int_equal(want.hop.lih, got.hop.lih);
	assert_int_equal(want.refresh_ms, got.refresh_ms);
	if (want.kind == RSVP_INIT) {
		assert_memory_equal(&want.sender, &got.sender, sizeof(want.sender));
		assert_memory_equal(&want.tspec, &got.tspec, sizeof(want.tspec));
		assert_int_equal(want.path.nonce, got.path.nonce);
		assert_int_equal(want.path.hops, got.path.hops);
		assert_memory_equal(want.path.addrs, got.path.addrs, want.path.hops * sizeof(struct ipv6_addr));
		assert_int_equal(want.offer[0].rate, got.offer[0].rate);
		assert_int_equal(want.offer[0].hops, got.offer[0].hops);
		assert_int_equal(want.cbfc_hop[0].unit, got.cbfc_hop[0].unit);
	} else {
		assert_memory_equal(&want.flow[0].filter, &got.flow[0].filter, sizeof(want.flow[0].filter));
		assert_int_equal(want.credit[0].flags, got.credit[0].flags);
		assert_int_equal(want.credit[0].traffic_class, got.credit[0].traffic_class);
		assert_int_equal(want.credit[0].abr, got.credit[0].abr);
		assert_int_equal(want.credit[0].sequence, got.credit[0].sequence);
		assert_int_equal(want.style, got.style);
	}
}

static void vector48(void **state)
{
	struct testbed *t = start(VECTOR_NODE);
	uint8_t frame[2048];
	uint32_t n = vector_frame("v48_rsvp28_outer_transit.in", 0, frame);

	(void)state;
	fake_port_receive(t->port[0], 0, frame, n, 0);
	testbed_settle(t, 50);
	same_message(t, 0, 0, UNICAST);
	same_message(t, 1, 1, IN_TUNNEL);
	testbed_free(t);
}

/*
 * v33, without a tunnel: neighbours on a link know this node by its address there, and the hop limit goes down by one.
 * The bytes are those of test/pcap.
 */
static void native(void **state)
{
	struct testbed *t = start(VECTOR_NODE);
	uint8_t frame[2048];
	uint32_t n = vector_frame("v33_rsvp28_path.in", 0, frame);
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));
	static struct rsvp_message init;

	(void)state;
	ip->hop_limit = 1;
	fake_port_receive(t->port[0], 0, frame, n, 0);
	testbed_settle(t, 50);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_PATH_ERR, got.kind);
	assert_int_equal(RSVP_REFUSE_HOPS, got.error.value);
	assert_true(is(&outer()->src, "2001:db8:a::2"));
	ip->hop_limit = 20; /* nodes without the function have lowered it, but not Send_TTL */
	fake_port_receive(t->port[0], 0, frame, n, 0);
	testbed_settle(t, 50);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_RESERVE, got.kind);
	assert_true(is(&outer()->src, "2001:db8:a::2") && is(&got.hop.addr.v6, "2001:db8:a::2"));
	assert_true(next_sent(t, 1, NATIVE));
	assert_int_equal(RSVP_INIT, got.kind);
	assert_int_equal(19, outer()->hop_limit);
	assert_int_equal(19, got.send_ttl);
	assert_true(is(&outer()->src, "2001:db8:1::11") && is(&outer()->dst, "2001:db8:3::33"));
	assert_true(is(&got.hop.addr.v6, "2001:db8:b::2") && is(&got.path.addrs[1], "2001:db8:b::2"));
	init = got;
	/* an S of the next hop, to the address that it knows: acknowledged from there */
	make_offer(&init, RSVP_CREDIT_COMMIT);
	m.hop.addr = address("2001:db8:b::3");
	m.credit[0].unit = 6;
	m.id = (struct rsvp_message_id){.ack_desired = true, .epoch = 1, .id = 1};
	m.count[RSVP_O_ID] = 1;
	give(t, &(struct sending){1, "2001:db8:b::3", "2001:db8:b::2", 0xc0, 255, FOR_ONE_HOP});
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	assert_true(next_sent(t, 1, UNICAST));
	assert_int_equal(RSVP_ACK, got.kind);
	assert_true(is(&outer()->src, "2001:db8:b::2") && is(&outer()->dst, "2001:db8:b::3"));
	testbed_free(t);
}

/* The route of the receiver changes: after W the path goes along the new one, and both its neighbours are told. */
static void repair(void **state)
{
	struct testbed *t = start(VECTOR_NODE);
	uint8_t frame[2048];
	uint32_t n = vector_frame("v33_rsvp28_path.in", 0, frame);
	static struct rsvp_message init;

	(void)state;
	fake_port_receive(t->port[0], 0, frame, n, 0);
	testbed_settle(t, 50);
	assert_true(next_sent(t, 0, UNICAST) && next_sent(t, 1, NATIVE));
	init = got;
	make_offer(&init, RSVP_CREDIT_COMMIT);
	m.hop.addr = address("2001:db8:b::3");
	m.credit[0].unit = 6;
	give(t, &(struct sending){1, "2001:db8:b::3", "2001:db8:b::2", 0xc0, 255, FOR_ONE_HOP});
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	apply(t, VECTOR_NODE_BY("2001:db8:b::3"));
	testbed_pass(t, 1900 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	while (next_sent(t, 0, UNICAST))
		assert_int_equal(RSVP_RESERVE, got.kind); /* nobody has acknowledged it */
	assert_false(next_sent(t, 1, NATIVE));
	testbed_pass(t, 200 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_true(next_sent(t, 1, NATIVE));
	assert_int_equal(RSVP_INIT, got.kind);
	assert_int_equal(RSVP_HOP_ASK, got.cbfc_hop[0].flags);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_PATH_ERR, got.kind);
	assert_int_equal(RSVP_REFUSE_ROUTE, got.error.value);
	testbed_free(t);
}

/* v41: a wrong checksum is dropped in silence. */
static void vector41(void **state)
{
	struct testbed *t = start(VECTOR_NODE);
	uint8_t frame[2048];
	uint32_t n = vector_frame("v41_rsvp28_bad_checksum.in", 0, frame);

	(void)state;
	fake_port_receive(t->port[0], 0, frame, n, 0);
	testbed_settle(t, 50);
	assert_false(next_sent(t, 0, UNICAST));
	assert_int_equal(1, stats(t)->bad_checksum);
	testbed_free(t);
}

/* Rewrites the first object of that class in a message, and its checksum. */
static void make_unknown(uint8_t *message, uint32_t bytes, uint8_t class_num, uint8_t as_class, uint8_t as_c_type)
{
	uint8_t *at = message + sizeof(struct rsvp_hdr);

	while (at < message + bytes && at[2] != class_num)
		at += be16_get(((const struct rsvp_obj *)at)->length);
	assert_true(at < message + bytes);
	at[2] = as_class;
	at[3] = as_c_type;
	rsvp_checksum(message, bytes);
}

/* An unknown class or C-Type: a 28 is answered by PathErr, a 29 by ResvErr, with both numbers (RFC 2205 sections 3.10, A.5). */
static void reported(void **state)
{
	static const struct {
		const char *vector;
		uint32_t front, port;
		uint8_t class_num, as_class, as_c_type, kind, code;
	} row[] = {{"v33_rsvp28_path.in", NATIVE, 0, 188, 119, 1, RSVP_PATH_ERR, RSVP_ERROR_CLASS},
		{"v33_rsvp28_path.in", NATIVE, 0, 12, 12, 9, RSVP_PATH_ERR, RSVP_ERROR_C_TYPE},
		{"v33_rsvp28_path.in", NATIVE, 0, 11, 11, 9, RSVP_PATH_ERR, RSVP_ERROR_C_TYPE},
		{"v34_rsvp29_commit.in", UNICAST, 1, 9, 9, 1, RSVP_RESV_ERR, RSVP_ERROR_C_TYPE},
		{"v34_rsvp29_commit.in", UNICAST, 1, 10, 10, 9, RSVP_RESV_ERR, RSVP_ERROR_C_TYPE},
		{"v34_rsvp29_commit.in", UNICAST, 1, 124, 118, 3, RSVP_RESV_ERR, RSVP_ERROR_CLASS},
		{"v34_rsvp29_commit.in", UNICAST, 1, 124, 124, 9, RSVP_RESV_ERR, RSVP_ERROR_C_TYPE}};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(row); i++) {
		struct testbed *t = start(VECTOR_NODE);
		uint8_t frame[2048];
		uint32_t n = vector_frame(row[i].vector, 0, frame), front = sizeof(struct eth_hdr) + row[i].front;

		make_unknown(frame + front, n - front, row[i].class_num, row[i].as_class, row[i].as_c_type);
		fake_port_receive(t->port[row[i].port], 0, frame, n, 0);
		testbed_settle(t, 50);
		check(next_sent(t, row[i].port, UNICAST), "%u", i);
		assert_int_equal(row[i].kind, got.kind);
		assert_int_equal(row[i].code, got.error.code);
		assert_int_equal(row[i].as_class << 8 | row[i].as_c_type, got.error.value);
		assert_int_equal(1, stats(t)->unknown_class + stats(t)->unknown_c_type);
		assert_int_equal(0, rsvp_node_stats_of(rsvp_shown(t->node)->machines)->paths);
		testbed_free(t);
	}
}

/* --- INTEGRITY --- */

#define KEYS "test_rsvp_service.keys"
#define SIGNED \
	"hmac: {keys: " KEYS "}\n" \
	"credit:\n  mode: ext\n  pool: 64\n  buffer: 16\n  keys: [{id: 5}]\n" \
	"  neighbors: [{address: \"fd00::1\"}, {address: \"fd00::2\"}]\n" ACCEPT
#define SECRET "000102030405060708090a0b0c0d0e0f"

static void write_key(void)
{
	FILE *f;

	unlink(KEYS);
	f = fopen(KEYS, "w");
	assert_non_null(f);
	fprintf(f, "5 %s\n", SECRET);
	assert_int_equal(0, fchmod(fileno(f), 0600));
	assert_int_equal(0, fclose(f));
}

/* A neighbour with a key 5, whose secret begins with `first`. */
static struct rsvp_auth *with_key(uint8_t first)
{
	static const uint8_t seed[16] = {3};
	uint8_t secret[16];
	struct rsvp_key k = {.id = 5, .until_s = UINT64_MAX};
	struct rsvp_auth *a = rsvp_auth_new(16, 32, seed, 1000);

	assert_non_null(a);
	for (unsigned int i = 0; i < sizeof(secret); i++)
		secret[i] = (uint8_t)(i ? i : first);
	hmac_secret_prepare(&k.secret, HMAC_SHA256, secret, sizeof(secret));
	rsvp_auth_set_keys(a, &k, 1, 0);
	return a;
}

/* Sign `m`; `handshake`: the sender answers challenges. */
static void sign(bool handshake)
{
	assert_true(rsvp_auth_prepare(neighbor, 1000, &m));
	m.integrity.handshake = handshake;
}

static enum rsvp_refusal verify(size_t front, struct rsvp_challenge *challenge)
{
	struct rsvp_received r = {.m = &got, .data = out_bytes + front, .source = address("fd00::d")};

	return rsvp_auth_check(neighbor, NSEC_PER_SEC, 1000, &r, challenge);
}

static const struct sending direct = {0, "fd00::1", "fd00::d", 0xc0, 255, FOR_ONE_HOP};

/* What is not signed, or with another secret, is not heard and not answered; nor is the same message twice. */
static void integrity_refuses(struct testbed *t)
{
	struct rsvp_auth *right = neighbor;

	make_init("fd00::d");
	give(t, &in_tunnel);
	assert_int_equal(1, stats(t)->integrity_missing);
	neighbor = with_key(99);
	sign(false);
	give(t, &in_tunnel);
	assert_int_equal(1, stats(t)->integrity_digest);
	rsvp_auth_free(neighbor);
	neighbor = right;
	assert_false(next_sent(t, 0, UNICAST));
	sign(false);
	give(t, &in_tunnel);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_RESERVE, got.kind);
	give(t, &in_tunnel);
	assert_int_equal(1, stats(t)->integrity_replayed);
	check_told(t, "neighbor fd00::1: 1 messages replayed, or older than credit.window");
	give(t, &in_tunnel);
	listen_to(t);
	check(!strstr(told, "replayed"), "told at once again: %s", told);
	check_metrics(t, "sluice_rsvp_neighbor_replayed_total{node=\"t\",neighbor=\"fd00::1\"} 2\n");
	assert_false(next_sent(t, 0, UNICAST));
	assert_int_equal(1, rsvp_node_stats_of(rsvp_shown(t->node)->machines)->paths);
}

/* RFC 2747 section 4.3, both ways: the node challenges a sender that it does not know, and answers one that challenges it. */
static void integrity_handshake(struct testbed *t)
{
	struct rsvp_challenge challenge;

	assert_int_equal(RSVP_REFUSED_integrity_handshake, verify(UNICAST, &challenge)); /* the 29 from above */
	rsvp_clear(&m, RSVP_CHALLENGE);
	m.challenge = challenge;
	m.count[RSVP_O_CHALLENGE] = 1;
	give(t, &direct);
	assert_true(next_sent(t, 0, UNICAST));
	assert_int_equal(RSVP_RESPONSE, got.kind);
	assert_int_equal(RSVP_ACCEPTED, verify(UNICAST, &challenge));
}

static void integrity_challenges(struct testbed *t)
{
	make_init("fd00::d");
	m.hop = (struct rsvp_hop){.addr = address("fd00::2"),
		.lih = 0x102}; /* of whom the node has heard nothing yet */
	m.sender.port++;
	m.path.nonce++;
	sign(true);
	give(t, &in_tunnel);
	assert_true(next_sent(t, 1, UNICAST));
	assert_int_equal(RSVP_CHALLENGE, got.kind);
	assert_false(next_sent(t, 1, UNICAST)); /* no offer */
	assert_int_equal(RSVP_ACCEPTED, rsvp_auth_answer(neighbor, 1000, &got, &m));
	give(t, &(struct sending){1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
	make_init("fd00::d");
	m.hop = (struct rsvp_hop){.addr = address("fd00::2"), .lih = 0x102};
	m.sender.port++;
	m.path.nonce++;
	sign(true);
	give(t, &in_tunnel);
	assert_true(next_sent(t, 1, UNICAST));
	assert_int_equal(RSVP_RESERVE, got.kind);
	assert_int_equal(1, got.count[RSVP_O_INTEGRITY]);
	assert_int_equal(1, stats(t)->challenges);
}

static void integrity(void **state)
{
	struct testbed *t;

	(void)state;
	write_key();
	neighbor = with_key(0);
	t = start(NODE SIGNED);
	integrity_refuses(t);
	integrity_handshake(t);
	integrity_challenges(t);
	testbed_free(t);
	rsvp_auth_free(neighbor);
	neighbor = NULL;
	unlink(KEYS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(transit), cmocka_unit_test(far_gateway),
		cmocka_unit_test(refused), cmocka_unit_test(permission_total), cmocka_unit_test(link_delay),
		cmocka_unit_test(bundles), cmocka_unit_test(memory), cmocka_unit_test(passes),
		cmocka_unit_test(vector48), cmocka_unit_test(vector41), cmocka_unit_test(reported),
		cmocka_unit_test(native), cmocka_unit_test(repair), cmocka_unit_test(integrity),
		cmocka_unit_test(headend), cmocka_unit_test(room_later), cmocka_unit_test(begin_at_a_pace)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
