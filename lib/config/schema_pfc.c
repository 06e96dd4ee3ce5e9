/* SPDX-License-Identifier: BSD-3-Clause */
/* The declared configuration of PFC across the WAN. Pure. */
#include "config/schema_priv.h"

static const char *const words_watchdog[] = CFG_WORDS(CFG_WATCHDOG_ACTIONS);
static const char *const words_carrier[] = CFG_WORDS(CFG_CARRIERS);
static const char *const words_relay[] = CFG_WORDS(CFG_RELAY_MODES);

/* clang-format off */

static const struct cfg_key watchdog_keys[] = {
	{"action", CFG_WORD, .offset = AT(struct cfg_watchdog, action), .words = words_watchdog, .fallback = "release",
		.help = "What is done about a storm. release: what tunnels say is set aside, the neighbour on the link is obeyed. drop: "
			"what the queue holds and what comes for it is dropped, and if the neighbour is the cause, what it sends in "
			"that priority. forward: sent as if there were no PFC. alert: only reported. off: storms are not looked for."},
	{"alarm", CFG_SCALE, .unit = UNIT_MS, .offset = AT(struct cfg_watchdog, alarm_ms), .max = 60000, .word = "auto",
		.word_value = CFG_NONE, .fallback = "auto",
		.help = "Unbroken pause after which it is reported, 0: never; auto: half of detect."},
	{"detect", CFG_SCALE, .unit = UNIT_MS, .offset = AT(struct cfg_watchdog, detect_ms), .min = 1, .max = 60000,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto",
		.help = "Unbroken pause that is a storm, of an empty queue too; less than at the neighbour is wise. auto: 200, on slow "
			"ports twice the longest pause of one frame."},
	{"restore", CFG_SCALE, .unit = UNIT_MS, .offset = AT(struct cfg_watchdog, restore_ms), .min = 1, .max = 60000,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto",
		.help = "The storm is over when no frame has asked for a pause for so long. auto: as for detect."},
};
const struct cfg_map cfg_watchdog_map = MAP_OF(watchdog_keys, "a PFC watchdog", struct cfg_watchdog);

static const struct cfg_key adjacency_keys[] = {
	{"port", CFG_NAME, .offset = AT(struct cfg_adjacency, port), .refs = "ports or interfaces", .flags = CFG_REQUIRED,
		.example = "wan0", .help = "Port or interface of the adjacency."},
	{"nexthop", CFG_IP, .offset = AT(struct cfg_adjacency, nexthop), .flags = CFG_REQUIRED, .example = "\"fe80::5\"",
		.help = "Neighbour of the adjacency."},
};
const struct cfg_map cfg_adjacency_map = MAP_OF(adjacency_keys, "an adjacency", struct cfg_adjacency);

#define RATE_MAX 3200000000000ull

static const struct cfg_key relay_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_relay, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "gw1",
		.help = "Name in counters and messages."},
	{"port", CFG_NAME, .offset = AT(struct cfg_relay, port), .refs = "ports", .flags = CFG_REQUIRED, .example = "dc0",
		.help = "Port to the gateway; its pfc says whose PFC is believed."},
	{"sid", CFG_PREFIX6, .offset = AT(struct cfg_relay, sid), .example = "\"5f00:1:1:d2::/64\"",
		.help = "Own DX2 SID of that port whose PFC frames are handed to the gateway, with this port's source MAC. Default: "
			"none are."},
	{"mode", CFG_WORD, .offset = AT(struct cfg_relay, mode), .words = words_relay, .fallback = "regenerate",
		.help = "transparent: frames as they come (draft-he-rtgwg-wan-pfc). scaled: pause times converted from from-speed to "
			"the port's. regenerate: the gateway is kept paused by fresh frames until XON, or until nothing was heard "
			"for the time of the last frame and jitter."},
	{"from-speed", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_relay, from_bps), .min = 1000000, .max = RATE_MAX,
		.fallback = "100G", .help = "Rate of the port where the frames are born, at the far PE."},
	{"jitter", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_relay, jitter_us), .max = 1000000, .fallback = "1000",
		.help = "regenerate: delay variation of the tunnel, and the time that as many lost frames cost as are to be survived."},
	{"hold-min", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_relay, hold_min_us), .min = 100, .max = 100000,
		.fallback = "1000",
		.help = "regenerate: shortest time that one frame keeps the gateway paused. The sending PE leaves out refreshes that "
			"come sooner than a third of it."},
	{"segments", CFG_LIST_OF, .item = CFG_IPV6, .offset = AT(struct cfg_relay, segments), .max = 32,
		.example = "[\"5f00:1:2:1::\", \"5f00:1:3:d2::\"]",
		.help = "SIDs in travel order, the last one the far PE's DX2: where PFC of this gateway goes. With carrier: state the "
			"last one is an own address of the far PE. Default: nowhere."},
	{"flow-label", CFG_UINT, .offset = AT(struct cfg_relay, flow_label), .max = 0xfffff, .fallback = "0",
		.help = "Flow label of the tunnel; always the same, so that frames stay in order."},
	{"hmac-key", CFG_UINT, .offset = AT(struct cfg_relay, hmac_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of the HMAC TLV in the SRH of the tunnel; 0: none."},
	{"honour-local", CFG_BOOL, .offset = AT(struct cfg_relay, honour_local), .fallback = "false",
		.help = "Pause the own port to the gateway as well, and buffer."},
	{"carrier", CFG_WORD, .offset = AT(struct cfg_relay, carrier), .words = words_carrier, .fallback = "frames",
		.help = "What crosses the WAN. frames: PFC frames, the drafts' format. state: messages that say what is stopped and for how "
			"long that holds, a hundredth as many; between two sluice nodes only, mode regenerate."},
	{"udp-port", CFG_UINT, .offset = AT(struct cfg_relay, udp_port), .min = 1, .max = 65535, .example = "4794",
		.help = "carrier: state: UDP port of the messages, here and at the far PE. A relay of its own needs one of its own."},
	{"lease", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_relay, lease_us), .min = 1000, .max = 100000,
		.fallback = "50000",
		.help = "carrier: state: how long a message holds. It is renewed every third of that; what is not renewed ends."},
	{"allowed-sources", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_relay, allowed_sources), .max = 64,
		.example = "[\"fd00:0:3::1/128\"]",
		.help = "carrier: state: whose messages are believed. Default: those of all of node.infrastructure."},
	{"watchdog", CFG_MAP, .offset = AT(struct cfg_relay, watchdog), .map = &cfg_watchdog_map,
		.help = "What tunnels may ask of the gateway without a break: release, alert or off."},
};
const struct cfg_map cfg_relay_map = MAP_OF(relay_keys, "a PFC relay", struct cfg_relay);

static const struct cfg_key tunnel_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_pfc_tunnel, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "to-r1",
		.help = "Name in counters and messages."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_pfc_tunnel, slice), .refs = "slices", .example = "gold",
		.help = "Slice whose congestion is told. Default: what belongs to none."},
	{"port", CFG_NAME, .offset = AT(struct cfg_pfc_tunnel, port), .refs = "ports", .flags = CFG_REQUIRED, .example = "wan0",
		.help = "Port the data comes in by; the buffers of its pfc priorities decide about XOFF and XON."},
	{"priorities", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_pfc_tunnel, priorities), .min = 1, .max = 8,
		.flags = CFG_REQUIRED, .example = "[3]", .help = "Priorities it speaks about."},
	{"segments", CFG_LIST_OF, .item = CFG_IPV6, .offset = AT(struct cfg_pfc_tunnel, segments), .min = 1, .max = 32,
		.flags = CFG_REQUIRED, .example = "[\"5f00:1:2:1::\", \"5f00:1:1:e1::\"]",
		.help = "SIDs in travel order, the last one the End.X.PFC of the upstream node. Own SIDs at its head are left out."},
	{"far-speed", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_pfc_tunnel, far_bps), .min = 1000000, .max = RATE_MAX,
		.example = "100G", .help = "Rate of the interface that pauses, which its pause times are reckoned by. Default: that of port."},
	{"flow-label", CFG_UINT, .offset = AT(struct cfg_pfc_tunnel, flow_label), .max = 0xfffff, .fallback = "0",
		.help = "Flow label of the tunnel; always the same, so that frames stay in order."},
	{"hmac-key", CFG_UINT, .offset = AT(struct cfg_pfc_tunnel, hmac_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of the HMAC TLV in the SRH (RFC 8754 section 2.1.2), which is there then even for a single address; "
			"0: none. No node on the way may take the SRH off (PSP)."},
	{"slice-by", CFG_WORD, .offset = AT(struct cfg_pfc_tunnel, slice_by), .words = cfg_words_slice_by, .fallback = "sid",
		.help = "How the slice is told at the far end: sid: by the SID. argument: its id in the 16 bits behind the last SID, whose "
			"structure is in remote-sids. option: in a hop-by-hop option of type node.slice-option."},
	{"source", CFG_IPV6, .offset = AT(struct cfg_pfc_tunnel, source), .example = "fd00:0:1::1",
		.help = "Outer source of the data that comes from the tunnel's end, so that of several ingress nodes of a slice those "
			"that send most are told to stop first. Default: all data of the slice."},
	{"repeat", CFG_BOOL, .offset = AT(struct cfg_pfc_tunnel, repeat), .fallback = "false",
		.help = "Say every change twice, a millisecond apart, for a WAN that loses packets."},
};
const struct cfg_map cfg_pfc_tunnel_map = MAP_OF(tunnel_keys, "a PFC tunnel", struct cfg_pfc_tunnel);

static const struct cfg_key learning_keys[] = {
	{"tunnels", CFG_UINT, .offset = AT(struct cfg_pfc_learning, tunnels), .min = 1, .max = 512, .fallback = "256",
		.help = "Tunnels that may be learnt; more of them are refused, and shown as refused."},
	{"idle", CFG_UINT, .unit = UNIT_SECONDS, .offset = AT(struct cfg_pfc_learning, idle_s), .min = 1, .max = 86400,
		.fallback = "180", .help = "A tunnel goes when no data was seen for so long, but never while it holds a stop."},
	{"max-rtt", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_pfc_learning, max_rtt_ms), .min = 1, .max = 10000,
		.fallback = "200",
		.help = "Longest round trip: for how long a tunnel is kept beside its successor when data changes its segment list."},
	{"far-speed", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_pfc_learning, far_bps), .min = 1000000, .max = RATE_MAX,
		.example = "100G", .help = "Rate of the interfaces that pause. Default: that of the port the data comes in by."},
	{"flow-label", CFG_UINT, .offset = AT(struct cfg_pfc_learning, flow_label), .max = 0xfffff, .fallback = "0",
		.help = "Flow label of the tunnels."},
	{"hmac-key", CFG_UINT, .offset = AT(struct cfg_pfc_learning, hmac_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of the HMAC TLV in their SRH; 0: none."},
	{"slice-by", CFG_WORD, .offset = AT(struct cfg_pfc_learning, slice_by), .words = cfg_words_slice_by, .fallback = "sid",
		.help = "How the slice is told at the far end: sid: by the SID. argument: its id in the 16 bits behind the last SID, whose "
			"structure is in remote-sids. option: in a hop-by-hop option of type node.slice-option."},
	{"repeat", CFG_BOOL, .offset = AT(struct cfg_pfc_learning, repeat), .fallback = "false",
		.help = "Say every change twice, a millisecond apart."},
};
const struct cfg_map cfg_pfc_learning_map = MAP_OF(learning_keys, "pfc-learning", struct cfg_pfc_learning);
