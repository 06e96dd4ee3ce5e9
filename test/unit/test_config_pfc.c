/* SPDX-License-Identifier: BSD-3-Clause */
/* Semantic checks of relays and PFC tunnels: what they need of ports and SIDs, and E37. '^' stands where the complaint must point to. */
#include "test/support/unit.h"

#include "test/support/conf.h"

#define WAN_NODE \
	"node: {name: t, loopback: \"fd00::d\", infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"memory: {buffers: 64K}\n" \
	"slices: [{name: gold}]\n" \
	"buffer-profiles: [{name: small, xoff: 8K, headroom: 8K, forced: true}]\n" \
	"ports:\n" \
	"  - {name: dc0, device: net_null0, side: dc, speed: 1G, slice: gold,\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:0a:01\"], buffer: small}}\n" \
	"  - {name: dc1, device: net_null1, side: dc, speed: 1G}\n" \
	"  - {name: dc2, device: net_null3, side: dc}\n" \
	"  - {name: wan0, device: net_null2, side: wan, speed: 1G,\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:0a:02\"], buffer: small}}\n" \
	"routes: [{prefix: \"::/0\", port: wan0, nexthop: \"fe80::9\"}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:1:1:d2::/64\", behavior: End.DX2, port: dc0}\n" \
	"  - {sid: \"5f00:1:1:1::/64\", behavior: End}\n"
#define FAR "segments: [\"5f00:1:3:d2::\"]"

/* The warning of state messages without keys. */
#define FORGED(port, lease) \
	"warning: carrier: state messages without message-keys are not authenticated: a forged one from an allowed " \
	"source " \
	"pauses the gateway at '" port "' for " lease " us, and shuts out the far PE until it starts again"

static void pfc_wan(void **state)
{
	static const struct {
		const char *row, *text, *messages;
	} rows[] = {
		{"both directions",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, sid: \"5f00:1:1:d2::/64\", " FAR "}\n", NULL},
		{"no direction", WAN_NODE "pfc-relays:\n  - ^{name: a, port: dc0}\n",
			"a PFC relay needs a sid to receive PFC, or segments to send it"},
		{"no DX2", WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, sid: ^\"5f00:1:1:1::/64\"}\n",
			"sid: expected a DX2 SID of this node"},
		{"unknown SID", WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, sid: ^\"5f00:1:1:2::/64\"}\n",
			"sid: expected a DX2 SID of this node"},
		{"another port's SID", WAN_NODE "pfc-relays:\n  - {name: a, port: ^dc2, sid: ^\"5f00:1:1:d2::/64\"}\n",
			"port: 'dc2' is a virtual device, and its pause times depend on its speed; set speed\n"
			"sid: it sends frames to port 'dc0', not to 'dc2'"},
		{"deaf port", WAN_NODE "pfc-relays:\n  - {name: a, port: ^dc1, " FAR "}\n",
			"port: 'dc1' has no pfc priorities, so PFC received on it is ignored"},
		{"inside the domain", WAN_NODE "pfc-relays:\n  - {name: a, port: ^wan0, " FAR "}\n",
			"port: 'wan0' is inside the domain (side: wan); a gateway is outside"},
		{"tunnel", WAN_NODE "pfc-tunnels:\n  - {name: a, port: wan0, slice: gold, priorities: [3], " FAR "}\n",
			NULL},
		{"tunnel of a lossy class",
			WAN_NODE "pfc-tunnels:\n  - {name: a, port: wan0, priorities: [3, ^4, ^8], " FAR "}\n",
			"priorities: 4 is not one of the pfc priorities of 'wan0', so it has no buffer there\n"
			"priorities: expected classes from 0 to 7, found 8"},
		{"tunnel outside", WAN_NODE "pfc-tunnels:\n  - {name: a, port: ^dc0, priorities: [3], " FAR "}\n",
			"port: 'dc0' is outside the domain; PFC tunnels need a port with side: wan"},
		{"tunnel to itself",
			WAN_NODE
			"pfc-tunnels:\n  - {name: a, port: wan0, priorities: [3], segments: ^[\"5f00:1:1:1::\"]}\n",
			"segments: the list contains only SIDs of this node"},
		{"E37",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, " FAR "}\n"
				 "pfc-tunnels:\n  - {name: b, port: wan0, slice: gold, priorities: [^3], " FAR "}\n",
			"priorities: 3 of this slice is already paused through relay 'a' and would be paused twice; "
			"remove one, or set honour-local: true on the relay"},
		{"E37, other slice",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, " FAR "}\n"
				 "pfc-tunnels:\n  - {name: b, port: wan0, priorities: [3], " FAR "}\n",
			NULL},
		{"a relay's watchdog",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, " FAR ", watchdog: {action: ^drop}}\n"
				 "  - {name: b, port: dc0, sid: \"5f00:1:1:d2::/64\", watchdog: {action: ^forward}}\n",
			"action: a relay has no queue to drop from or to send; use release, alert or off\n"
			"action: a relay has no queue to drop from or to send; use release, alert or off"},
		{"states",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, carrier: ^state, udp-port: 4794, segments: "
				 "[\"fd00::9\"]}\n"
				 "  - {name: b, port: dc1, carrier: ^state, udp-port: 4795}\n",
			FORGED("dc0", "50000") "\n" FORGED("dc1", "50000")},
		{"keys of states and frames that are in no file",
			WAN_NODE
			"pfc-relays:\n  - {name: a, port: dc0, carrier: state, udp-port: 4794, message-keys: [^7]}\n"
			"  - {name: b, port: dc0, message-keys: [^7, ^0], " FAR "}\n",
			"message-keys: there is no key file; set hmac.keys\n"
			"message-keys: there is no key file; set hmac.keys\n"
			"message-keys: no key has the id 0"},
		{"states of another mode, to a SID, without a port, with a short lease",
			WAN_NODE
			"pfc-relays:\n  - {name: a, port: dc0, carrier: ^^state, mode: scaled, udp-port: 4794}\n"
			"  - {name: b, port: dc0, carrier: ^state, udp-port: ^4794, sid: ^\"5f00:1:1:d2::/64\"}\n"
			"  - {name: c, port: dc0, carrier: ^^state}\n"
			"  - {name: d, port: dc0, carrier: ^state, udp-port: 9, jitter: 2001, lease: ^6000}\n",
			"carrier: state messages carry no pause times; set mode: regenerate\n" FORGED("dc0",
				"50000") "\n" FORGED("dc0",
				"50000") "\n"
					 "udp-port: 4794 is already used by relay 'a'\n"
					 "sid: state messages are sent to udp-port of an address of this node, not to "
					 "a SID; remove "
					 "sid\n"
					 "carrier: state messages need a UDP port; set udp-port\n" FORGED("dc0",
						 "50000") "\n" FORGED("dc0",
						 "6000") "\n"
							 "lease: 6000 us is too short: it is renewed every third of "
							 "that time, and with a jitter of "
							 "2001 us it could expire before the renewal arrives"},
		{"keys of states with frames",
			WAN_NODE
			"pfc-relays:\n  - {name: a, port: dc0, udp-port: ^1, allowed-sources: ^[\"fd00::/64\"], " FAR
			"}\n",
			"udp-port: carrier: frames does not use it; remove it, or set carrier: state\n"
			"allowed-sources: carrier: frames does not use it; set allowed-sources of the SID"},
		{"a late alarm",
			WAN_NODE "pfc-relays:\n  - {name: a, port: dc0, " FAR ", watchdog: {alarm: ^50, detect: 50}}\n",
			"alarm: 50 ms is not shorter than detect, 50 ms"},
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
	"buffer-profiles: [{name: small, xoff: 8K, headroom: 8K, forced: true}]\n" \
	"ports:\n" \
	"  - {name: dc0, device: net_null0, side: dc, speed: 1G, pfc: {" dc "}}\n" \
	"  - {name: wan0, device: net_null2, side: wan, speed: 1G, pfc: {" wan "}}\n" \
	"routes: [{prefix: \"::/0\", port: wan0, nexthop: \"fe80::9\"}]\n"
#define KNOWN "remote-sids: [{sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, owner: r1}]\n"
#define THREE "priorities: [3], learn: true, buffer: small"

static void learning(void **state)
{
	static const struct {
		const char *row, *text, *messages;
	} rows[] = {
		{"learns", LEARNER("", THREE ", learn-tunnels: true") KNOWN, NULL},
		{"outside", LEARNER(THREE ", learn-tunnels: ^true", "") KNOWN,
			"learn-tunnels: 'dc0' is outside the domain, where data has no segment lists to learn from; it "
			"needs side: wan"},
		{"nothing to tell", LEARNER("", "learn-tunnels: ^true") KNOWN,
			"learn-tunnels: 'wan0' has no pfc priorities, so its tunnels would never send a pause"},
		{"nothing known", LEARNER("", THREE ", learn-tunnels: ^true"),
			"learn-tunnels: without remote-sids no way back can be derived from a segment list"},
		{"E37",
			LEARNER(THREE, THREE ", learn-tunnels: ^true") KNOWN "pfc-relays: [{name: a, port: dc0, " FAR
									     "}]\n",
			"learn-tunnels: priority 3 is already paused through relay 'a' and would be paused twice; "
			"remove one, or set honour-local: true on the relay"},
		{"E37, honoured",
			LEARNER(THREE, THREE ", learn-tunnels: true") KNOWN
			"pfc-relays: [{name: a, port: dc0, honour-local: true, " FAR "}]\n",
			NULL},
		{"no keys",
			LEARNER("", THREE ", learn-tunnels: true") KNOWN
			"pfc-learning: {hmac-key: ^7, message-key: ^7}\n"
			"pfc-tunnels: [{name: a, port: wan0, priorities: [3], hmac-key: ^8, message-key: ^8, " FAR
			"}]\n",
			"hmac-key: there is no key file; set hmac.keys\n"
			"message-key: there is no key file; set hmac.keys\n"
			"hmac-key: there is no key file; set hmac.keys\n"
			"message-key: there is no key file; set hmac.keys"},
		{"no keys to verify",
			LEARNER("", THREE) "sids:\n  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: wan0, "
					   "nexthop: \"fe80::1\", jitter: 1, pfc-hmac: ^required}\n",
			"pfc-hmac: there is no key file; set hmac.keys"},
		{"nothing to verify",
			LEARNER("", THREE) "hmac: {keys: k}\nsids:\n"
					   "  - {sid: \"5f00:1:1:1::/64\", behavior: End, pfc-hmac: ^required}\n",
			"pfc-hmac: an End does not terminate PFC frames"},
		{"digests of frames at SIDs that pause nothing",
			LEARNER("", THREE) "hmac: {keys: k}\nsids:\n"
					   "  - {sid: \"5f00:1:1:1::/64\", behavior: End, message-keys: ^[7]}\n"
					   "  - {sid: \"5f00:1:1:2::/64\", behavior: End.DX2, port: dc0, message-keys: "
					   "^[7]}\n",
			"message-keys: an End does not pause queues\n"
			"message-keys: an End.DX2 does not pause queues; for a gateway, set message-keys of the PFC "
			"relay"},
		{"no option", LEARNER("", THREE) "slices: [{name: gold, id: 5}]\npfc-learning: {slice-by: ^option}\n",
			"slice-by: option needs node.slice-option"},
		{"no ids", LEARNER("", THREE) "slices: [{name: gold}]\npfc-learning: {slice-by: ^argument}\n",
			"slice-by: no slice has an id; set id in slices"},
		{"this one has none",
			LEARNER("", THREE) "slices: [{name: gold}, {name: silver, id: 5}]\n"
					   "pfc-tunnels: [{name: a, port: wan0, slice: gold, priorities: [3], "
					   "slice-by: ^argument, " FAR "}]\n",
			"slice-by: the tunnel's slice has no id"},
		{"too large",
			LEARNER("", THREE) "slices: [{name: gold, id: 65536}]\n"
					   "pfc-tunnels: [{name: a, port: wan0, slice: gold, priorities: [3], "
					   "slice-by: ^argument, " FAR "}]\n",
			"slice-by: id 65536 of slice 'gold' needs more than 16 bits"},
		{"ids", LEARNER("", "") "slices: [{name: gold, id: 5}, {name: silver, id: ^5}]\n",
			"id: 5 is already used by slice 'gold'"},
		{"mistyped", LEARNER("", "") "pfc-learning: {slice-by: ^argumnet}\n",
			"slice-by: expected one of sid, argument, option, found 'argumnet'; did you mean 'argument'?"},
		{"no room",
			LEARNER("", "") "slices: [{name: gold, id: 5}]\nsids:\n"
					"  - {sid: \"5f00:1:1:1::/113\", behavior: End, slice-by: ^argument}\n",
			"slice-by: argument needs a SID outside node.usid.block, a whole number of bytes long and at "
			"most a /112, followed by 16 bits"},
		{"of a policy",
			LEARNER("", "") "slices: [{name: gold, id: 5}]\npolicies:\n"
					"  - {name: a, slice-by: ^argument, paths: [{name: a, segments: "
					"[\"5f00:1:2:1::\"]}]}\n",
			"slice-by: expected sid or option; arguments are written in the segments"},
		{"of a policy without type",
			LEARNER("", "") "slices: [{name: gold, id: 5}]\npolicies:\n"
					"  - {name: a, slice-by: ^option, paths: [{name: a, segments: "
					"[\"5f00:1:2:1::\"]}]}\n",
			"slice-by: option needs node.slice-option"},
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
