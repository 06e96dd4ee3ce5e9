/* SPDX-License-Identifier: BSD-3-Clause */
/* A configuration in which a lossless class can lose is refused, or warned of with the figure. '^' stands where the message must point to. */
#include "test/support/unit.h"

#include "config/headroom.h"
#include "test/support/conf.h"

struct row {
	const char *row, *text, *messages;
};

static void expect_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		conf_expect(rows[i].row, CONF_CHECK, rows[i].text, rows[i].messages);
}

#define NODE(idle, buffers, profiles, ports) \
	"node: {name: t, loopback: \"fd00::d\", infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1], worker: [1]}\n" idle "memory: {buffers: " buffers "}\n" \
	"buffer-profiles: [{name: b, min-frame: 1024" profiles "}]\n" \
	"ports:\n" ports
#define PORT(name, number, side, keys, pfc) \
	"  - {name: " name ", device: net_null" number ", side: " side keys ", pfc: {" pfc "}}\n"
#define LOSSLESS "priorities: [3], learn: true, buffer: b"
#define MARKED "priorities: ^[3], learn: true, buffer: b"
#define ROUTE "routes: [{prefix: \"5f00:1::/32\", port: wan0, nexthop: \"fe80::2\"}]\n"
#define TUNNEL ROUTE "pfc-tunnels: [{name: a, port: wan0, priorities: [3], segments: [\"5f00:1:3:e1::\"]}]\n"
#define KNOWN "remote-sids: [{sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, owner: r1}]\n"

/* 10 Gb/s, mtu 1500: 512 + 2 frames of 1518; 20 us and 67 quanta of 64 bytes; 5 ns a metre each way */
static void headroom(void **state)
{
	static const struct row rows[] = {
		{"auto", NODE("", "64K", "", PORT("dc0", "0", "dc", ", speed: 10G", LOSSLESS)), NULL},
		/* 780252 + 29287 + 1250 */
		{"exactly enough",
			NODE("", "64K", ", headroom: 810790", PORT("dc0", "0", "dc", ", speed: 10G", LOSSLESS)), NULL},
		{"a byte too few",
			NODE("", "64K", ", headroom: ^810789", PORT("dc0", "0", "dc", ", speed: 10G", LOSSLESS)),
			"headroom: 810789 bytes are too few for port 'dc0': 810790 can arrive after XOFF at 10Gbit/s "
			"over 100 "
			"m; set headroom: auto, or forced: true if packets may be lost"},
		{"forced",
			NODE("", "64K", ", headroom: 8K, forced: true",
				PORT("dc0", "0", "dc", ", speed: 10G", LOSSLESS)),
			NULL},
		{"nothing to force",
			NODE("", "64K", ", forced: ^true", PORT("dc0", "0", "dc", ", speed: 10G", LOSSLESS)),
			"forced: headroom: auto is never too small; remove it, or set headroom to a number of bytes"},
		{"a lossy port does not need it",
			NODE("", "64K", ", headroom: 8K", PORT("dc0", "0", "dc", "", "buffer: b")), NULL},
		{"without a speed", NODE("", "64K", ", headroom: 8M", PORT("dc0", "0", "dc", "", MARKED)),
			"pfc: whether the headroom of profile 'b' is enough depends on the speed of the port; set "
			"speed"},
		{"auto without a speed", NODE("", "64K", "", PORT("dc0", "0", "dc", "", MARKED)),
			"pfc: headroom: auto needs the speed of the port; set speed"},
		/* 70 us more at 10 Gb/s */
		{"lcores that sleep",
			NODE("idle: {policy: sleep, max-sleep: 70}\n", "64K", ", headroom: ^810790",
				PORT("dc0", "0", "dc", ", speed: 10G", LOSSLESS)),
			"headroom: 810790 bytes are too few for port 'dc0': 898290 can arrive after XOFF at 10Gbit/s "
			"over 100 "
			"m; set headroom: auto, or forced: true if packets may be lost"},
	};

	(void)state;
	expect_rows(rows, ARRAY_LEN(rows));
}

/* Pauses of a port with tunnels cross the WAN. */
static void distance(void **state)
{
	static const struct row rows[] = {
		{"a tunnel over no distance",
			NODE("", "64K", ", losses: 1", PORT("wan0", "0", "wan", ", speed: 10G", MARKED)) TUNNEL,
			"pfc: PFC tunnels carry the pauses of 'wan0' across the WAN, so headroom depends on how far; "
			"set length "
			"to the metres of fibre to the farthest node that they lead to, or round-trip to what ping "
			"measures"},
		{"learnt tunnels over no distance",
			NODE("", "64K", ", losses: 1",
				PORT("wan0", "0", "wan", ", speed: 10G", MARKED ", learn-tunnels: true")) KNOWN,
			"pfc: PFC tunnels carry the pauses of 'wan0' across the WAN, so headroom depends on how far; "
			"set length "
			"to the metres of fibre to the farthest node that they lead to, or round-trip to what ping "
			"measures"},
		{"a length, though it is the one of a link",
			NODE("", "64K", ", losses: 1",
				PORT("wan0", "0", "wan", ", speed: 10G", LOSSLESS ", length: 100")) TUNNEL,
			NULL},
		{"a round trip",
			NODE("", "64K", ", losses: 1",
				PORT("wan0", "0", "wan", ", speed: 10G", LOSSLESS ", round-trip: 2000")) TUNNEL,
			NULL},
		{"both",
			NODE("", "64K", ", losses: 1",
				PORT("wan0", "0", "wan", ", speed: 10G", LOSSLESS ", length: 100, round-trip: ^2000"))
				TUNNEL,
			"round-trip: length says the same; give one of them"},
		/* 400 km: 4 ms at 10 Gb/s, and one lost frame of the tunnel: half of 65535 quanta */
		{"for a link, used for a tunnel",
			NODE("", "64K", ", headroom: ^810790, losses: 1",
				PORT("wan0", "0", "wan", ", speed: 10G", LOSSLESS ", length: 400000")) TUNNEL,
			"headroom: 810790 bytes are too few for port 'wan0': 7906660 can arrive after XOFF at 10Gbit/s "
			"over 400 "
			"km; set headroom: auto, or forced: true if packets may be lost"},
		{"no losses",
			NODE("", "64K", ", headroom: 5809540",
				PORT("wan0", "0", "wan", ", speed: 10G", MARKED ", length: 400000")) TUNNEL,
			"warning: pfc: if the WAN loses one PFC frame of the tunnels, 2097120 bytes more arrive at "
			"'wan0' than its headroom holds; set losses: 1 in its buffer profile"},
	};

	(void)state;
	expect_rows(rows, ARRAY_LEN(rows));
}

/* The rest of the buffer when XON is sent lasts for a round trip. */
static void thresholds(void **state)
{
	static const struct {
		const char *profile, *length;
		uint64_t xoff, xon;
		const char *messages;
	} rows[] = {
		{"", "100", 65536, 32768, NULL},
		{"", "100000", 1250000 + 32768, 1250000, NULL},
		{", xoff: 256K", "100", 262144, 131072, NULL},
		{", xoff: 2M", "100000", 2097152, 1250000, NULL},
		{", xoff: 4M", "100000", 4194304, 2097152, NULL},
		{", xoff: ^1000000", "100000", 1000000, 967232,
			"warning: xon: 967232 bytes are less than the 1250000 that port 'wan0' receives in a round "
			"trip over "
			"100 km: after a pause a receiver can wait up to 226 us; use xon: auto"},
		{", xon: 2M", "100", 2097152 + 32768, 2097152, NULL},
		{", xon: 8K", "100", 65536, 8192, NULL},
		{", xon: ^8K", "2000", 65536, 8192,
			"warning: xon: 8192 bytes are less than the 25000 that port 'wan0' receives in a round trip "
			"over 2 km: "
			"after a pause a receiver can wait up to 13 us; use xon: auto"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char marked[1024], text[1024], *out = text;
		struct cfg_lossless l;
		struct config *c;

		snprintf(marked, sizeof(marked),
			NODE("", "64K", "%s", PORT("wan0", "0", "wan", ", speed: 10G", LOSSLESS ", length: %s")),
			rows[i].profile, rows[i].length);
		conf_expect(rows[i].profile, CONF_CHECK, marked, rows[i].messages);
		for (const char *p = marked; *p; p++)
			if (*p != '^')
				*out++ = *p;
		*out = '\0';
		c = conf_load(CONF_CHECK, text);
		cfg_port_lossless(c, &c->ports.items[0], c->ports.items[0].speed_bps, &l);
		check(l.xoff_bytes == rows[i].xoff && l.xon_bytes == rows[i].xon, "row %zu: XOFF %llu, XON %llu", i,
			(unsigned long long)l.xoff_bytes, (unsigned long long)l.xon_bytes);
		cfg_free(c);
	}
}

/* selective: how much of the buffer is between the first slice that stops and all of them; 0: from the headroom. */
static void choice(void **state)
{
	static const struct {
		const char *profile;
		uint64_t part;
	} rows[] = {{"", 0}, {", selective: 123456", 123456}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[1024];
		struct cfg_lossless l;
		struct config *c;

		snprintf(text, sizeof(text),
			NODE("", "64K", "%s", PORT("wan0", "0", "wan", ", speed: 10G", LOSSLESS ", length: 100"))
				TUNNEL,
			rows[i].profile);
		c = conf_load(CONF_CHECK, text);
		cfg_port_lossless(c, &c->ports.items[0], c->ports.items[0].speed_bps, &l);
		check(l.part_bytes == (rows[i].part ? rows[i].part : l.headroom_bytes / 8), "row %zu: %llu of %llu", i,
			(unsigned long long)l.part_bytes, (unsigned long long)l.headroom_bytes);
		cfg_free(c);
	}
}

/* Relays that hand pause times on, and SIDs that hold a pause no longer than its frame says. */
#define RELAY(speed, keys) \
	NODE("", "64K", "", PORT("dc0", "0", "dc", ", speed: " speed, LOSSLESS)) \
	"sids: [{sid: \"5f00:1:1:d2::/64\", behavior: End.DX2, port: dc0}]\n" \
	"pfc-relays: [{name: a, port: dc0, sid: \"5f00:1:1:d2::/64\", " keys "}]\n"
#define PAUSING(keys) \
	NODE("", "64K", "", "  - {name: wan0, device: net_null0, side: wan, speed: 100G}\n") \
	"sids: [{sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: wan0, nexthop: \"fe80::2\"" keys "}]\n"

static void modes(void **state)
{
	static const struct row rows[] = {
		{"regenerate joins any two speeds", RELAY("400G", "from-speed: 100G"), NULL},
		{"transparent between equal speeds", RELAY("10G", "mode: transparent"), NULL},
		{"transparent to a faster port", RELAY("400G", "mode: ^transparent, from-speed: 100G, jitter: 100"),
			"mode: transparent leaves pause times as they are, but they count bit times: what a port of "
			"100Gbit/s "
			"asks for lasts too short at 'dc0', which has 400Gbit/s; set mode: regenerate or scaled"},
		{"transparent to a slower port", RELAY("10G", "mode: ^transparent, from-speed: 25G, jitter: 100"),
			"mode: transparent leaves pause times as they are, but they count bit times: what a port of "
			"25Gbit/s asks "
			"for lasts too long at 'dc0', which has 10Gbit/s; set mode: regenerate or scaled"},
		{"scaled over a quiet WAN", RELAY("400G", "mode: scaled, from-speed: 100G, jitter: 167"), NULL},
		{"transparent at 100 Gb/s over any other", RELAY("100G", "mode: ^transparent, jitter: 168"),
			"warning: mode: at 100Gbit/s one frame pauses for at most 335 us and is renewed every 167 us: "
			"if one is "
			"lost, or later by more than that (jitter says 168 us), the gateway sends meanwhile; use mode: "
			"regenerate, or set jitter if the WAN delays and loses less"},
		{"a SID that bridges nothing", PAUSING(", outage: ^0"),
			"warning: outage: at 100Gbit/s one frame pauses for at most 335 us and is renewed every 167 "
			"us: if the WAN "
			"loses one, or delays it by more than that, the queues send meanwhile; leave outage at its "
			"default, or set jitter to the delay variation and the time of the frames that may be lost"},
		{"a SID that bridges what the WAN varies by", PAUSING(", outage: 0, jitter: 300"), NULL},
		{"a SID by default", PAUSING(""), NULL},
	};

	(void)state;
	expect_rows(rows, ARRAY_LEN(rows));
}

#define WAY "routes: [{prefix: \"5f00:1:2::/48\", port: wan0, nexthop: \"fe80::2\"}]\n"
#define OUT(port) NODE("", "64K", ", losses: 1", PORT("dc0", "0", "dc", ", speed: 10G", LOSSLESS) port)
#define LOSSY_WAN "  - {name: wan0, device: net_null1, side: wan, speed: 10G, addresses: [\"2001:db8::1/64\"]}\n"
#define LOSSLESS_WAN PORT("wan0", "1", "wan", ", speed: 10G", LOSSLESS ", length: 1000")
#define LEARNING_WAN PORT("wan0", "1", "wan", ", speed: 10G", LOSSLESS ", length: 1000, learn-tunnels: ^true")

/* Every path, tunnel and relay has a way out. */
static void ways(void **state)
{
	static const struct row rows[] = {
		{"a route",
			OUT(LOSSY_WAN) WAY "policies: [{name: p, paths: [{name: a, segments: [\"5f00:1:2:e1::\"]}]}]\n",
			NULL},
		{"a path without one",
			OUT(LOSSY_WAN) WAY "policies: [{name: p, paths: [{name: a, segments: [\"5f00:1:2:e1::\"]}, "
					   "{name: b, backup: true, segments: ^[\"5f00:1:3:e1::\"]}]}]\n",
			"warning: segments: no route leads to the first hop, 5f00:1:3:e1::, so no packet leaves by "
			"this "
			"path; the other paths of the policy carry its share until there is one"},
		{"no path with one",
			OUT(LOSSY_WAN) WAY "policies: [{name: p, paths: [{name: a, segments: ^[\"5f00:1:4:e1::\"]}, "
					   "{name: b, backup: true, segments: ^[\"5f00:1:3:e1::\"]}]}]\n",
			"segments: no route leads to the first hop, 5f00:1:4:e1::, so no packet would leave by this "
			"path; add a route for it, or begin with an adjacency SID of this node\n"
			"segments: no route leads to the first hop, 5f00:1:3:e1::, so no packet would leave by this "
			"path; add a route for it, or begin with an adjacency SID of this node"},
		{"an own adjacency SID",
			OUT(LOSSY_WAN) "sids: [{sid: \"5f00:1:1:1::/64\", behavior: End.X, port: wan0, nexthop: "
				       "\"fe80::2\"}]\n"
				       "policies: [{name: p, paths: [{name: a, segments: [\"5f00:1:1:1::\", "
				       "\"5f00:1:3:e1::\"]}]}]\n",
			NULL},
		{"a subnet",
			OUT(LOSSY_WAN) "policies: [{name: p, paths: [{name: a, segments: [\"2001:db8::2\", "
				       "\"5f00:1:3:e1::\"]}]}]\n",
			NULL},
		{"this node itself is no way",
			OUT(LOSSY_WAN) "policies: [{name: p, paths: [{name: a, segments: ^[\"2001:db8::1\"]}]}]\n",
			"segments: no route leads to the first hop, 2001:db8::1, so no packet would leave by this "
			"path; add a "
			"route for it, or begin with an adjacency SID of this node"},
		{"back through this node",
			OUT(LOSSY_WAN) WAY "sids: [{sid: \"5f00:1:1:1::/64\", behavior: End}]\n"
					   "policies: [{name: p, paths: [{name: a, segments: ^[\"5f00:1:2:1::\", "
					   "\"5f00:1:1:1::\", \"5f00:1:2:e1::\"]}]}]\n",
			"warning: segments: 5f00:1:1:1::/64 is a SID of this node, so packets that have left it come "
			"back, and with node.loopback as their source they are dropped there (own_source); leave it "
			"out"},
		{"it begins here",
			OUT(LOSSY_WAN) WAY "sids: [{sid: \"5f00:1:1:1::/64\", behavior: End}]\n"
					   "policies: [{name: p, paths: [{name: a, segments: [\"5f00:1:1:1::\", "
					   "\"5f00:1:2:e1::\"]}]}]\n",
			NULL},
		{"a table without routes",
			OUT(LOSSY_WAN) "vrfs: [{name: red}]\nsids: [{sid: \"5f00:1:1:46::/64\", behavior: End.DT46, "
				       "vrf: ^red}]\n",
			"warning: vrf: 'red' has no route and no link, so packets that leave this tunnel are dropped "
			"as "
			"no_route; add routes to it"},
		{"a table without routes of the family",
			OUT(LOSSY_WAN) "vrfs: [{name: red, routes: [{prefix: \"2001:db8:9::/64\", port: wan0, nexthop: "
				       "\"fe80::2\"}]}]\n"
				       "sids: [{sid: \"5f00:1:1:4::/64\", behavior: End.DT4, vrf: ^red}, {sid: "
				       "\"5f00:1:1:46::/64\", behavior: End.DT46, vrf: red}]\n",
			"warning: vrf: 'red' has no IPv4 route and no link, so packets that leave this tunnel are "
			"dropped as "
			"no_route; add routes to it"},
		{"learnt tunnels",
			OUT(LEARNING_WAN) WAY "remote-sids:\n"
					      "  - {sid: \"5f00:1:2:1::/64\", behavior: End, owner: r2}\n"
					      "  - {sid: \"5f00:1:3:1::/64\", behavior: End, owner: r3}\n"
					      "  - {sid: \"5f00:1:3:e1::/64\", behavior: End.X.PFC, owner: r3}\n",
			"warning: learn-tunnels: no route leads to 2 of the 3 SIDs of other nodes with which a tunnel "
			"can begin; "
			"the first is 5f00:1:3:1::/64 of r3; no pause would reach nodes behind them: add routes"},
		{"a tunnel",
			OUT(LOSSLESS_WAN) WAY
			"pfc-tunnels: [{name: a, port: wan0, priorities: [3], segments: ^[\"5f00:1:3:e1::\"]}]\n",
			"segments: no route leads to the first hop, 5f00:1:3:e1::, so no pause would reach the far "
			"end; add a "
			"route for it, or begin with an adjacency SID of this node"},
		{"a relay", OUT(LOSSY_WAN) WAY "pfc-relays: [{name: a, port: dc0, segments: ^[\"5f00:1:3:e1::\"]}]\n",
			"segments: no route leads to the first hop, 5f00:1:3:e1::, so no pause would reach the far "
			"gateway; add a "
			"route for it, or begin with an adjacency SID of this node"},
	};

	(void)state;
	expect_rows(rows, ARRAY_LEN(rows));
}

/* A node that obeys its gateway holds packets of the WAN, which must be lossless there. */
static void honoured(void **state)
{
	static const struct row rows[] = {
		{"a lossless WAN port",
			OUT(LOSSLESS_WAN) WAY
			"pfc-relays: [{name: a, port: dc0, honour-local: true, segments: [\"5f00:1:2:e1::\"]}]\n",
			NULL},
		{"a lossy one",
			OUT(LOSSY_WAN) WAY
			"pfc-relays: [{name: a, port: dc0, honour-local: ^true, segments: [\"5f00:1:2:e1::\"]}]\n",
			"honour-local: while the gateway pauses priority 3, its packets from 'wan0' would be dropped "
			"as "
			"queue_full, because the class is lossy there; add it to pfc.priorities of 'wan0', or remove "
			"honour-local"},
		{"another class of the WAN",
			OUT(PORT("wan0", "1", "wan", ", speed: 10G", "priorities: [4], learn: true, buffer: b")) WAY
			"class-maps: [{name: m, classes: [{from: 4, class: 3}]}]\nvrfs: [{name: v, routes: [{prefix: "
			"\"192.0.2.0/24\", port: dc0, nexthop: \"fe80::9\"}, {prefix: \"2001:db8:9::/48\", port: dc0, "
			"nexthop: \"fe80::9\"}]}]\n"
			"sids: [{sid: \"5f00:1:1:d4::/64\", behavior: End.DT46, vrf: v, class-map: m}]\n"
			"pfc-relays: [{name: a, port: dc0, honour-local: true, segments: [\"5f00:1:2:e1::\"]}]\n",
			NULL},
	};

	(void)state;
	expect_rows(rows, ARRAY_LEN(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headroom),
		cmocka_unit_test(distance),
		cmocka_unit_test(thresholds),
		cmocka_unit_test(choice),
		cmocka_unit_test(modes),
		cmocka_unit_test(ways),
		cmocka_unit_test(honoured),
	};

	return cmocka_run_group_tests_name("config_lossless", tests, NULL, NULL);
}
