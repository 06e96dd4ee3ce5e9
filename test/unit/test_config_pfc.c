/* SPDX-License-Identifier: BSD-3-Clause */
/* Semantic checks of relays and PFC tunnels: what they need of ports and SIDs, and E37. '^' stands where the complaint must point to. */
#include "test/support/unit.h"

#include "test/support/conf.h"

#define WAN_NODE \
	"node: {name: t, loopback: \"fd00::d\", infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"memory: {buffers: 64K}\n" \
	"slices: [{name: gold}]\n" \
	"buffer-profiles: [{name: small, xoff: 8K, headroom: 8K}]\n" \
	"ports:\n" \
	"  - {name: dc0, device: net_null0, side: dc, speed: 1G, slice: gold,\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:0a:01\"], buffer: small}}\n" \
	"  - {name: dc1, device: net_null1, side: dc, speed: 1G}\n" \
	"  - {name: dc2, device: net_null3, side: dc}\n" \
	"  - {name: wan0, device: net_null2, side: wan, speed: 1G,\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:0a:02\"], buffer: small}}\n" \
	"sids:\n" \
	"  - {sid: \"5f00:1:1:d2::/64\", behavior: End.DX2, port: dc0}\n" \
	"  - {sid: \"5f00:1:1:1::/64\", behavior: End}\n"
#define FAR "segments: [\"5f00:1:3:d2::\"]"

static void pfc_wan(void **state)
{
	static const struct {
		const char *row, *text, *messages;
	} rows[] = {
		{"both directions",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, sid: \"5f00:1:1:d2::/64\", " FAR "}\n", NULL},
		{"no direction", WAN_NODE "pfc-relays:\n  - ^{name: a, port: dc0}\n",
			"a PFC relay needs a sid to receive by, or segments to send over"},
		{"no DX2", WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, sid: ^\"5f00:1:1:1::/64\"}\n",
			"sid: is no DX2 SID of this node"},
		{"unknown SID", WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, sid: ^\"5f00:1:1:2::/64\"}\n",
			"sid: is no DX2 SID of this node"},
		{"another port's SID", WAN_NODE "pfc-relays:\n  - {name: a, port: ^dc2, sid: ^\"5f00:1:1:d2::/64\"}\n",
			"port: pauses of 'dc2', a virtual device, go by its speed; give it one\n"
			"sid: hands frames to 'dc0', not to 'dc2'"},
		{"deaf port", WAN_NODE "pfc-relays:\n  - {name: a, port: ^dc1, " FAR "}\n",
			"port: 'dc1' has no pfc priorities, so its PFC is not listened to"},
		{"inside the domain", WAN_NODE "pfc-relays:\n  - {name: a, port: ^wan0, " FAR "}\n",
			"port: 'wan0' is inside the domain (side: wan); gateways are outside"},
		{"tunnel", WAN_NODE "pfc-tunnels:\n  - {name: a, port: wan0, slice: gold, priorities: [3], " FAR "}\n",
			NULL},
		{"tunnel of a lossy class",
			WAN_NODE "pfc-tunnels:\n  - {name: a, port: wan0, priorities: [3, ^4, ^8], " FAR "}\n",
			"priorities: 4 is none of the pfc priorities of 'wan0', so nothing is known about its buffer\n"
			"priorities: expected classes from 0 to 7, found 8"},
		{"tunnel outside", WAN_NODE "pfc-tunnels:\n  - {name: a, port: ^dc0, priorities: [3], " FAR "}\n",
			"port: 'dc0' is outside the domain (side: dc); tunnels lead through it"},
		{"tunnel to itself",
			WAN_NODE
			"pfc-tunnels:\n  - {name: a, port: wan0, priorities: [3], segments: ^[\"5f00:1:1:1::\"]}\n",
			"segments: it leads nowhere but to this node itself"},
		{"E37",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, " FAR "}\n"
				 "pfc-tunnels:\n  - {name: b, port: wan0, slice: gold, priorities: [^3], " FAR "}\n",
			"priorities: 3 of this slice is held back by relay 'a' already, which would stall it twice; "
			"one of the two, or "
			"honour-local"},
		{"E37, other slice",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, " FAR "}\n"
				 "pfc-tunnels:\n  - {name: b, port: wan0, priorities: [3], " FAR "}\n",
			NULL},
		{"a relay's watchdog",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, " FAR ", watchdog: {action: ^drop}}\n"
				 "  - {name: b, port: dc0, sid: \"5f00:1:1:d2::/64\", watchdog: {action: ^forward}}\n",
			"action: a relay has no queue to empty or to serve: release, alert or off\n"
			"action: a relay has no queue to empty or to serve: release, alert or off"},
		{"states",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, carrier: state, udp-port: 4794, segments: "
				 "[\"fd00::9\"]}\n"
				 "  - {name: b, port: dc1, carrier: state, udp-port: 4795}\n",
			NULL},
		{"states of another mode, to a SID, without a port, with a short lease",
			WAN_NODE
			"pfc-relays:\n  - {name: a, port: dc0, carrier: ^state, mode: scaled, udp-port: 4794}\n"
			"  - {name: b, port: dc0, carrier: state, udp-port: ^4794, sid: ^\"5f00:1:1:d2::/64\"}\n"
			"  - {name: c, port: dc0, carrier: ^state}\n"
			"  - {name: d, port: dc0, carrier: state, udp-port: 9, jitter: 2001, lease: ^6000}\n",
			"carrier: a state holds no pause times to hand on: mode: regenerate\n"
			"udp-port: 4794 is already that of relay 'a'\n"
			"sid: state messages come to udp-port of an own address, not to a SID\n"
			"carrier: state messages need a udp-port\n"
			"lease: 6000 us are too short: renewed every third of that, and late by jitter, 2001 us, it "
			"would end meanwhile"},
		{"keys of states with frames",
			WAN_NODE
			"pfc-relays:\n  - {name: a, port: dc0, udp-port: ^1, allowed-sources: ^[\"fd00::/64\"], " FAR
			"}\n",
			"udp-port: frames have none; carrier: state does\n"
			"allowed-sources: for frames they stand at the SID"},
		{"a late alarm",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, " FAR ", watchdog: {alarm: ^50, detect: 50}}\n",
			"alarm: after 50 ms it would come no earlier than the storm, after 50"},
		{"no alarm",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, " FAR ", watchdog: {alarm: 0, detect: 1}}\n",
			NULL},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		conf_expect(rows[i].row, CONF_CHECK, rows[i].text, rows[i].messages);
}

/* A node whose ports learn tunnels: `dc` and `wan` end the pfc mappings of these ports. */
#define LEARNER(dc, wan) \
	"node: {name: t, loopback: \"fd00::d\", infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"memory: {buffers: 64K}\n" \
	"buffer-profiles: [{name: small, xoff: 8K, headroom: 8K}]\n" \
	"ports:\n" \
	"  - {name: dc0, device: net_null0, side: dc, speed: 1G, pfc: {" dc "}}\n" \
	"  - {name: wan0, device: net_null2, side: wan, speed: 1G, pfc: {" wan "}}\n"
#define KNOWN "remote-sids: [{sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, owner: r1}]\n"
#define THREE "priorities: [3], learn: true, buffer: small"

static void learning(void **state)
{
	static const struct {
		const char *row, *text, *messages;
	} rows[] = {
		{"learns", LEARNER("", THREE ", learn-tunnels: true") KNOWN, NULL},
		{"outside", LEARNER(THREE ", learn-tunnels: ^true", "") KNOWN,
			"learn-tunnels: 'dc0' is outside the domain; segment lists of data are seen inside"},
		{"nothing to tell", LEARNER("", "learn-tunnels: ^true") KNOWN,
			"learn-tunnels: 'wan0' has no pfc priorities, so there is nothing to tell a tunnel"},
		{"nothing known", LEARNER("", THREE ", learn-tunnels: ^true"),
			"learn-tunnels: without remote-sids no segment list tells its way back"},
		{"E37",
			LEARNER(THREE, THREE ", learn-tunnels: ^true") KNOWN "pfc-relays: [{name: a, port: dc0, " FAR
									     "}]\n",
			"learn-tunnels: priority 3 is held back by relay 'a' already, which would stall it twice; one "
			"of the two, or "
			"honour-local"},
		{"E37, honoured",
			LEARNER(THREE, THREE ", learn-tunnels: true") KNOWN
			"pfc-relays: [{name: a, port: dc0, honour-local: true, " FAR "}]\n",
			NULL},
		{"no keys",
			LEARNER("", THREE ", learn-tunnels: true") KNOWN
			"pfc-learning: {hmac-key: ^7}\n"
			"pfc-tunnels: [{name: a, port: wan0, priorities: [3], hmac-key: ^8, " FAR "}]\n",
			"hmac-key: there is no hmac.keys to take it from\nhmac-key: there is no hmac.keys to take it "
			"from"},
		{"no keys to verify",
			LEARNER("", THREE) "sids:\n  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: wan0, "
					   "nexthop: \"fe80::1\", pfc-hmac: ^required}\n",
			"pfc-hmac: there is no hmac.keys to verify with"},
		{"nothing to verify",
			LEARNER("", THREE) "hmac: {keys: k}\nsids:\n"
					   "  - {sid: \"5f00:1:1:1::/64\", behavior: End, pfc-hmac: ^required}\n",
			"pfc-hmac: an End ends no PFC frames"},
		{"no option", LEARNER("", THREE) "slices: [{name: gold, id: 5}]\npfc-learning: {slice-by: ^option}\n",
			"slice-by: there is no node.slice-option"},
		{"no ids", LEARNER("", THREE) "slices: [{name: gold}]\npfc-learning: {slice-by: ^argument}\n",
			"slice-by: no slice has an id"},
		{"this one has none",
			LEARNER("", THREE) "slices: [{name: gold}, {name: silver, id: 5}]\n"
					   "pfc-tunnels: [{name: a, port: wan0, slice: gold, priorities: [3], "
					   "slice-by: ^argument, " FAR "}]\n",
			"slice-by: the tunnel's slice has no id"},
		{"too large",
			LEARNER("", THREE) "slices: [{name: gold, id: 65536}]\n"
					   "pfc-tunnels: [{name: a, port: wan0, slice: gold, priorities: [3], "
					   "slice-by: ^argument, " FAR "}]\n",
			"slice-by: id 65536 of slice 'gold' takes more than 16 bits"},
		{"ids", LEARNER("", "") "slices: [{name: gold, id: 5}, {name: silver, id: ^5}]\n",
			"id: 5 is already that of slice 'gold'"},
		{"mistyped", LEARNER("", "") "pfc-learning: {slice-by: ^argumnet}\n",
			"slice-by: expected one of sid, argument, option, found 'argumnet'; did you mean 'argument'?"},
		{"no room",
			LEARNER("", "") "slices: [{name: gold, id: 5}]\nsids:\n"
					"  - {sid: \"5f00:1:1:1::/113\", behavior: End, slice-by: ^argument}\n",
			"slice-by: an argument of 16 bits needs a SID of whole bytes, a /112 at most, outside "
			"node.usid.block"},
		{"of a policy",
			LEARNER("", "") "slices: [{name: gold, id: 5}]\npolicies:\n"
					"  - {name: a, slice-by: ^argument, paths: [{name: a, segments: "
					"[\"5f00:1:2:1::\"]}]}\n",
			"slice-by: segments are written with their arguments; expected sid or option"},
		{"of a policy without type",
			LEARNER("", "") "slices: [{name: gold, id: 5}]\npolicies:\n"
					"  - {name: a, slice-by: ^option, paths: [{name: a, segments: "
					"[\"5f00:1:2:1::\"]}]}\n",
			"slice-by: there is no node.slice-option"},
		{"limits", LEARNER("", "") "pfc-learning: {tunnels: ^0, idle: ^0, max-rtt: ^20000}\n",
			"tunnels: expected a whole number from 1 to 512, found '0'\n"
			"idle: expected a whole number from 1 to 86400 s, found '0'\n"
			"max-rtt: expected a whole number from 1 to 10000 ms, found '20000'"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		conf_expect(rows[i].row, CONF_CHECK, rows[i].text, rows[i].messages);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pfc_wan),
		cmocka_unit_test(learning),
	};

	return cmocka_run_group_tests_name("config_pfc", tests, NULL, NULL);
}
