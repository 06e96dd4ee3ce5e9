/* SPDX-License-Identifier: BSD-3-Clause */
/* The declared keys of PFC across the WAN. Pure. */
#include "config/schema_priv.h"

static const char *const words_watchdog[] = CFG_WORDS(CFG_WATCHDOG_ACTIONS);
static const char *const words_carrier[] = CFG_WORDS(CFG_CARRIERS);
static const char *const words_relay[] = CFG_WORDS(CFG_RELAY_MODES);

/* clang-format off */

static const struct cfg_key watchdog_keys[] = {
	{"action", CFG_WORD, .offset = AT(struct cfg_watchdog, action), .words = words_watchdog, .fallback = "release",
		.help = "Action in a storm. release: discard pauses that tunnels request for the time `release`, and "
			"again whenever they have lasted for `detect`; the neighbour on the link is still obeyed. drop: drop the packets in the queue and all new ones; if the neighbour "
			"causes the storm, also drop what it sends in that priority. forward: send as if there were "
			"no PFC. alert: only report the storm. off: do not detect storms."},
	{"alarm", CFG_SCALE, .unit = UNIT_MS, .offset = AT(struct cfg_watchdog, alarm_ms), .max = 60000, .word = "auto",
		.word_value = CFG_NONE, .fallback = "auto",
		.help = "Unbroken pause after which it is reported. 0: never. auto: half of detect."},
	{"detect", CFG_SCALE, .unit = UNIT_MS, .offset = AT(struct cfg_watchdog, detect_ms), .min = 1, .max = 60000,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto",
		.help = "Unbroken pause that counts as a storm, even if the queue is empty. Use less than the "
			"neighbour does. auto: 200 ms, or on slow ports twice the longest pause of one frame."},
	{"release", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_watchdog, release_us), .min = 1, .max = 60000000,
		.fallback = "1000",
		.help = "action: release: time for which data goes on although tunnels pause it, so that a pause that has "
			"got stuck is found out. If the receiver really stands still, so much data is lost."},
	{"restore", CFG_SCALE, .unit = UNIT_MS, .offset = AT(struct cfg_watchdog, restore_ms), .min = 1, .max = 60000,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto",
		.help = "Time without a frame that requests a pause, after which the storm is over. auto: as for "
			"detect."},
};
const struct cfg_map cfg_watchdog_map = MAP_OF(watchdog_keys, "a PFC watchdog", struct cfg_watchdog);

static const struct cfg_key adjacency_keys[] = {
	{"port", CFG_NAME, .offset = AT(struct cfg_adjacency, port), .refs = "ports or interfaces", .flags = CFG_REQUIRED,
		.example = "wan0", .help = "Port or interface of the adjacency."},
	{"nexthop", CFG_IP, .offset = AT(struct cfg_adjacency, nexthop), .flags = CFG_REQUIRED, .example = "\"fe80::5\"",
		.help = "Next hop of the adjacency."},
	{"bfd", CFG_NAME, .offset = AT(struct cfg_adjacency, bfd), .refs = "bfd-profiles", .example = "fast",
		.help = "BFD profile of a session with the next hop. Default: that of its port or interface."},
};
const struct cfg_map cfg_adjacency_map = MAP_OF(adjacency_keys, "an adjacency", struct cfg_adjacency);

#define RATE_MAX 3200000000000ull

static const struct cfg_key relay_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_relay, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "gw1",
		.help = "Name in counters and messages."},
	{"port", CFG_NAME, .offset = AT(struct cfg_relay, port), .refs = "ports", .flags = CFG_REQUIRED, .example = "dc0",
		.help = "Port to the gateway. Its pfc keys give the sources from which PFC is accepted."},
	{"sid", CFG_PREFIX6, .offset = AT(struct cfg_relay, sid), .example = "\"5f00:1:1:d2::/64\"",
		.help = "Own DX2 SID of that port. PFC frames to this SID are sent to the gateway, with the source "
			"MAC of the port. Default: none."},
	{"mode", CFG_WORD, .offset = AT(struct cfg_relay, mode), .words = words_relay, .fallback = "regenerate",
		.help = "transparent: send frames to the gateway unchanged (draft-he-rtgwg-wan-pfc). scaled: convert "
			"pause times from from-speed to the speed of the port. regenerate: keep the gateway paused "
			"with new frames until XON, or until no frame has been received for the time of the last "
			"frame plus jitter."},
	{"from-speed", CFG_SCALE, .unit = UNIT_BPS, .offset = AT(struct cfg_relay, from_bps), .min = 1000000, .max = RATE_MAX,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto",
		.help = "Rate of the port at the far PE on which the frames originate. auto: the rate of port."},
	{"jitter", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_relay, jitter_us), .max = 1000000, .fallback = "1000",
		.help = "Delay variation of the tunnel, plus time for the number of lost frames to be tolerated. "
			"regenerate holds each pause that much longer; the other modes cannot, and --check says what "
			"that costs."},
	{"hold-min", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_relay, hold_min_us), .min = 100, .max = 100000,
		.fallback = "1000",
		.help = "regenerate: shortest time for which one frame keeps the gateway paused. The sending PE omits "
			"refreshes that come sooner than a third of this time."},
	{"outage", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_relay, outage_ms), .max = 1000, .fallback = "50",
		.help = "regenerate: interruption of the way back that a pause outlives: the gateway stays paused for so "
			"much longer than frames or messages say, until XON. Use the same value at both PEs. The default "
			"is the time of protection switching."},
	{"segments", CFG_LIST_OF, .item = CFG_IPV6, .offset = AT(struct cfg_relay, segments), .max = 32,
		.example = "[\"5f00:1:2:1::\", \"5f00:1:3:d2::\"]",
		.help = "Path of this gateway's PFC: SIDs in travel order, the last one the DX2 SID of the far PE. "
			"With carrier: state the last one is an address of the far PE. Default: PFC is not sent."},
	{"flow-label", CFG_UINT, .offset = AT(struct cfg_relay, flow_label), .max = 0xfffff, .fallback = "0",
		.help = "Flow label of the tunnel. It is constant, so that frames stay in order."},
	{"hmac-key", CFG_UINT, .offset = AT(struct cfg_relay, hmac_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of the HMAC TLV in the SRH of the tunnel. 0: none."},
	{"honour-local", CFG_BOOL, .offset = AT(struct cfg_relay, honour_local), .fallback = "false",
		.help = "Also pause this node's port to the gateway, and buffer its packets."},
	{"carrier", CFG_WORD, .offset = AT(struct cfg_relay, carrier), .words = words_carrier, .fallback = "frames",
		.help = "Format on the WAN. frames: PFC frames, the format of the drafts. state: messages with the "
			"pauses and how long they are valid, a hundredth as many; between two sluice nodes only, with "
			"mode: regenerate."},
	{"udp-port", CFG_UINT, .offset = AT(struct cfg_relay, udp_port), .min = 1, .max = 65535, .example = "4794",
		.help = "carrier: state: UDP port of the messages, here and at the far PE. Every relay needs a port "
			"of its own."},
	{"lease", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_relay, lease_us), .min = 1000, .max = 100000,
		.fallback = "50000",
		.help = "carrier: state: time for which a message is valid. Messages are renewed every third of this "
			"time; a pause that is not renewed ends."},
	{"message-keys", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_relay, message_keys), .max = 8,
		.example = "[7]",
		.help = "Ids of keys in hmac.keys. Frames or messages are sent with a digest by the first one, and "
			"accepted only with a digest by one of them, once. To change the key, add the new id at the end "
			"at both PEs, then move it to the front, then remove the old one. Default: no digest, and whoever "
			"can send from an allowed source can pause the gateway; carrier: frames then has the format of "
			"the draft."},
	{"allowed-sources", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_relay, allowed_sources), .max = 64,
		.example = "[\"fd00:0:3::1/128\"]",
		.help = "carrier: state: sources from which messages are accepted. Default: node.infrastructure."},
	{"watchdog", CFG_MAP, .offset = AT(struct cfg_relay, watchdog), .map = &cfg_watchdog_map,
		.help = "Limit of the unbroken pauses that tunnels may request of the gateway. The action is release, "
			"alert or off."},
};
const struct cfg_map cfg_relay_map = MAP_OF(relay_keys, "a PFC relay", struct cfg_relay);

static const struct cfg_key tunnel_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_pfc_tunnel, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "to-r1",
		.help = "Name in counters and messages."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_pfc_tunnel, slice), .refs = "slices", .example = "gold",
		.help = "Slice whose congestion the tunnel reports. Default: traffic of no slice."},
	{"port", CFG_NAME, .offset = AT(struct cfg_pfc_tunnel, port), .refs = "ports", .flags = CFG_REQUIRED, .example = "wan0",
		.help = "Port on which the data is received. The buffers of its pfc priorities decide on XOFF and XON."},
	{"priorities", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_pfc_tunnel, priorities), .min = 1, .max = 8,
		.flags = CFG_REQUIRED, .example = "[3]", .help = "Priorities that the tunnel pauses."},
	{"segments", CFG_LIST_OF, .item = CFG_IPV6, .offset = AT(struct cfg_pfc_tunnel, segments), .min = 1, .max = 32,
		.flags = CFG_REQUIRED, .example = "[\"5f00:1:2:1::\", \"5f00:1:1:e1::\"]",
		.help = "SIDs in travel order, the last one the End.X.PFC SID of the upstream node. Own SIDs at the "
			"head of the list are left out."},
	{"far-speed", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_pfc_tunnel, far_bps), .min = 1000000, .max = RATE_MAX,
		.example = "100G",
		.help = "Rate of the interface that is paused; pause times are calculated for it. Default: the rate "
			"of port."},
	{"flow-label", CFG_UINT, .offset = AT(struct cfg_pfc_tunnel, flow_label), .max = 0xfffff, .fallback = "0",
		.help = "Flow label of the tunnel. It is constant, so that frames stay in order."},
	{"hmac-key", CFG_UINT, .offset = AT(struct cfg_pfc_tunnel, hmac_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of the HMAC TLV in the SRH (RFC 8754 section 2.1.2). With a key, even a list of a "
			"single address has an SRH, and no node on the path may remove it (PSP). 0: none."},
	{"message-key", CFG_UINT, .offset = AT(struct cfg_pfc_tunnel, message_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of a digest behind each PFC frame, with which the far end knows that it is genuine and new "
			"(message-keys of its SID). 0: none, the format of the draft."},
	{"slice-by", CFG_WORD, .offset = AT(struct cfg_pfc_tunnel, slice_by), .words = cfg_words_slice_by, .fallback = "sid",
		.help = "How the far end identifies the slice. sid: by the SID. argument: by the slice id in the 16 "
			"bits after the last SID, whose structure is in remote-sids. option: by the slice id in a "
			"hop-by-hop option of type node.slice-option."},
	{"source", CFG_IPV6, .offset = AT(struct cfg_pfc_tunnel, source), .example = "fd00:0:1::1",
		.help = "Outer source of the data from the ingress node at the end of the tunnel. Among several "
			"ingress nodes of a slice, those that send most are then paused first. Default: all data of "
			"the slice."},
	{"outage", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_pfc_tunnel, outage_ms), .max = 1000, .fallback = "50",
		.help = "Time for which XON is repeated, as far apart as 5 ms: the interruption of the way that the far "
			"end's pause outlives (outage of its SID)."},
	{"repeat", CFG_BOOL, .offset = AT(struct cfg_pfc_tunnel, repeat), .fallback = "false",
		.help = "Send every change twice, 1 ms apart, for a WAN that loses packets."},
};
const struct cfg_map cfg_pfc_tunnel_map = MAP_OF(tunnel_keys, "a PFC tunnel", struct cfg_pfc_tunnel);

static const struct cfg_key learning_keys[] = {
	{"tunnels", CFG_UINT, .offset = AT(struct cfg_pfc_learning, tunnels), .min = 1, .max = 512, .fallback = "256",
		.help = "Largest number of learnt tunnels. Further tunnels are refused, and shown as refused."},
	{"idle", CFG_UINT, .unit = UNIT_SECONDS, .offset = AT(struct cfg_pfc_learning, idle_s), .min = 1, .max = 86400,
		.fallback = "180",
		.help = "Time without data after which a tunnel is removed. A tunnel that holds a pause is kept."},
	{"max-rtt", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_pfc_learning, max_rtt_ms), .min = 1, .max = 10000,
		.fallback = "200",
		.help = "Longest round-trip time. When data changes its segment list, the old tunnel is kept beside "
			"the new one for this time."},
	{"far-speed", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_pfc_learning, far_bps), .min = 1000000, .max = RATE_MAX,
		.example = "100G",
		.help = "Rate of the interfaces that are paused. Default: the rate of the port on which the data is "
			"received."},
	{"flow-label", CFG_UINT, .offset = AT(struct cfg_pfc_learning, flow_label), .max = 0xfffff, .fallback = "0",
		.help = "Flow label of the tunnels."},
	{"hmac-key", CFG_UINT, .offset = AT(struct cfg_pfc_learning, hmac_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of the HMAC TLV in the SRH of the tunnels. 0: none."},
	{"message-key", CFG_UINT, .offset = AT(struct cfg_pfc_learning, message_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of a digest behind each PFC frame of the tunnels. 0: none."},
	{"slice-by", CFG_WORD, .offset = AT(struct cfg_pfc_learning, slice_by), .words = cfg_words_slice_by, .fallback = "sid",
		.help = "How the far end identifies the slice. sid: by the SID. argument: by the slice id in the 16 "
			"bits after the last SID, whose structure is in remote-sids. option: by the slice id in a "
			"hop-by-hop option of type node.slice-option."},
	{"outage", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_pfc_learning, outage_ms), .max = 1000, .fallback = "50",
		.help = "Time for which XON is repeated, as far apart as 5 ms: the interruption of the way that the far "
			"end's pause outlives (outage of its SID)."},
	{"repeat", CFG_BOOL, .offset = AT(struct cfg_pfc_learning, repeat), .fallback = "false",
		.help = "Send every change twice, 1 ms apart."},
};
const struct cfg_map cfg_pfc_learning_map = MAP_OF(learning_keys, "pfc-learning", struct cfg_pfc_learning);
