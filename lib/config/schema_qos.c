/* SPDX-License-Identifier: BSD-3-Clause */
/* The declared keys of the egress: slices, classes, queues. Pure. */
#include "config/schema_priv.h"

static const char *const words_alpha[] = {"static", "1/128", "1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "2", "4",
	"8", NULL};
static const char *const words_hardware[] = CFG_WORDS(CFG_PFC_HARDWARE);
static const char *const words_blind[] = CFG_WORDS(CFG_PFC_BLINDS);
_Static_assert(ARRAY_LEN(words_alpha) == ALPHA_LAST + 2, "a word for each value of enum cfg_alpha, and the end");

/* clang-format off */

static const struct cfg_key slice_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_slice, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "gold", .help = "Name of the slice, used by ports, VRFs and SIDs."},
	{"id", CFG_UINT, .offset = AT(struct cfg_slice, id), .max = 0xffffffff, .fallback = "0",
		.help = "Number of the slice in the whole network, as packets carry it (slice-by). 0: none."},
	{"weight", CFG_UINT, .offset = AT(struct cfg_slice, weight), .min = 1, .max = 100, .fallback = "1",
		.help = "Share of a port's rate when slices compete for it, relative to the others. Traffic of no "
			"slice has weight 1."},
	{"min-rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_slice, min_rate_bps), .min = 1000000,
		.max = 3200000000000ull, .example = "10G",
		.help = "Rate that the slice gets on each port before the others share the rest by weight, line overhead "
			"of frames included. What it does not use the others get. The sum over all slices must fit each "
			"wan port. Default: none."},
	{"max-rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_slice, max_rate_bps), .min = 1000000,
		.max = 3200000000000ull, .example = "40G",
		.help = "Largest rate of the slice on each port, Ethernet headers included. Default: no limit."},
};
const struct cfg_map cfg_slice_map = MAP_OF(slice_keys, "a slice", struct cfg_slice);

static const struct cfg_key dscp_range_keys[] = {
	{"from", CFG_UINT, .offset = AT(struct cfg_range, from), .max = 63, .flags = CFG_REQUIRED, .example = "24",
		.help = "First DSCP."},
	{"to", CFG_UINT, .offset = AT(struct cfg_range, to), .max = 63, .example = "31",
		.help = "Last DSCP. Default: the value of from."},
	{"class", CFG_UINT, .offset = AT(struct cfg_range, value), .max = 7, .flags = CFG_REQUIRED, .example = "3",
		.help = "Traffic class of these packets."},
};
static const struct cfg_map dscp_range_map = MAP_OF(dscp_range_keys, "a DSCP range", struct cfg_range);

static const struct cfg_key pcp_range_keys[] = {
	{"from", CFG_UINT, .offset = AT(struct cfg_range, from), .max = 7, .flags = CFG_REQUIRED, .example = "3",
		.help = "First priority code point."},
	{"to", CFG_UINT, .offset = AT(struct cfg_range, to), .max = 7,
		.help = "Last priority code point. Default: the value of from."},
	{"class", CFG_UINT, .offset = AT(struct cfg_range, value), .max = 7, .flags = CFG_REQUIRED, .example = "3",
		.help = "Traffic class of these frames."},
};
static const struct cfg_map pcp_range_map = MAP_OF(pcp_range_keys, "a PCP range", struct cfg_range);

static const struct cfg_key class_range_keys[] = {
	{"from", CFG_UINT, .offset = AT(struct cfg_range, from), .max = 7, .flags = CFG_REQUIRED, .example = "3",
		.help = "First class."},
	{"to", CFG_UINT, .offset = AT(struct cfg_range, to), .max = 7,
		.help = "Last class. Default: the value of from."},
	{"class", CFG_UINT, .offset = AT(struct cfg_range, value), .max = 7, .flags = CFG_REQUIRED, .example = "4",
		.help = "Class of these packets after they enter or leave the tunnel."},
};
static const struct cfg_map class_range_map = MAP_OF(class_range_keys, "a class range", struct cfg_range);

static const struct cfg_key class_map_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_class_map, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "roce", .help = "Name of the class map, used by ports, policies and SIDs."},
	{"dscp", CFG_LIST_OF, .item = CFG_MAP, .map = &dscp_range_map, .offset = AT(struct cfg_class_map, dscp), .max = 64,
		.help = "Ports: class by DSCP. A DSCP that is not listed has the class of its class selector, DSCP / "
			"8."},
	{"pcp", CFG_LIST_OF, .item = CFG_MAP, .map = &pcp_range_map, .offset = AT(struct cfg_class_map, pcp), .max = 8,
		.help = "Ports: class of VLAN-tagged frames by PCP. A PCP that is not listed has the class with the "
			"same number."},
	{"classes", CFG_LIST_OF, .item = CFG_MAP, .map = &class_range_map, .offset = AT(struct cfg_class_map, classes),
		.max = 8,
		.help = "Policies and SIDs: class of a packet that enters or leaves the tunnel, by the class it has "
			"before. A class that is not listed stays the same."},
};
const struct cfg_map cfg_class_map_map = MAP_OF(class_map_keys, "a class map", struct cfg_class_map);

static const struct cfg_key remark_keys[] = {
	{"from", CFG_UINT, .offset = AT(struct cfg_range, from), .max = 63, .flags = CFG_REQUIRED, .example = "24",
		.help = "First DSCP."},
	{"to", CFG_UINT, .offset = AT(struct cfg_range, to), .max = 63, .example = "31",
		.help = "Last DSCP. Default: the value of from."},
	{"dscp", CFG_UINT, .offset = AT(struct cfg_range, value), .max = 63, .flags = CFG_REQUIRED, .example = "18",
		.help = "DSCP that they become."},
};
static const struct cfg_map remark_map = MAP_OF(remark_keys, "a DSCP range", struct cfg_range);

static const struct cfg_key dscp_map_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_dscp_map, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "to-wan", .help = "Name of the DSCP map, used by ports, policies and SIDs."},
	{"map", CFG_LIST_OF, .item = CFG_MAP, .map = &remark_map, .offset = AT(struct cfg_dscp_map, map), .min = 1,
		.max = 64, .flags = CFG_REQUIRED, .help = "DSCP by DSCP. One that is not listed stays the same."},
};
const struct cfg_map cfg_dscp_map_map = MAP_OF(dscp_map_keys, "a DSCP map", struct cfg_dscp_map);

static const struct cfg_key ecn_keys[] = {
	{"classes", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_ecn, classes), .max = 8, .example = "[3]",
		.help = "Traffic classes in whose queues ECN-capable packets are marked CE. Default: none."},
	{"min", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_ecn, min), .max = 1u << 30, .fallback = "150K",
		.help = "Bytes in the queue above which packets are marked, with growing probability."},
	{"max", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_ecn, max), .max = 1u << 30, .fallback = "1500K",
		.help = "Bytes in the queue above which every packet is marked."},
};
const struct cfg_map cfg_ecn_map = MAP_OF(ecn_keys, "ecn", struct cfg_ecn);

static const struct cfg_key profile_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_buffer_profile, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "near", .help = "Name of the profile, used by ports under pfc."},
	{"alpha", CFG_WORD, .offset = AT(struct cfg_buffer_profile, alpha), .words = words_alpha, .fallback = "static",
		.help = "static: XOFF at xoff. Any other value: also XOFF when the class holds alpha times the "
			"buffers that are left of memory.lossless."},
	{"xoff", CFG_SCALE, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, xoff), .min = 2048,
		.max = 1ull << 40, .word = "auto", .word_value = CFG_NONE, .fallback = "auto",
		.help = "Bytes that a class may hold in egress queues before its sender is paused. auto: 64 KB, or 32 "
			"KB more than xon if that is more."},
	{"xon", CFG_SCALE, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, xon), .max = 1ull << 40, .word = "auto",
		.word_value = CFG_NONE, .fallback = "auto",
		.help = "Bytes below which the sender is resumed. auto: 32 KB or half of xoff, or the bytes that are "
			"sent in a round trip over the length of the port if those are more, so that the link does not "
			"run idle after a pause. A given xoff limits it."},
	{"headroom", CFG_SCALE, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, headroom), .max = 1ull << 40,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto",
		.help = "Bytes that may still arrive after XOFF is decided. auto: calculated from speed, length and "
			"MTU of the port (sluice plan headroom). Less than that is an error unless forced."},
	{"forced", CFG_BOOL, .offset = AT(struct cfg_buffer_profile, forced), .fallback = "false",
		.help = "Use headroom as given, although it is less than calculated: lossless packets may be dropped "
			"as headroom_exceeded."},
	{"min-frame", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, min_frame), .min = 60, .max = 1024,
		.fallback = "60", .example = "256",
		.help = "Shortest frame of the class, without FCS. A frame holds a whole buffer however short it is, "
			"so this value determines how many buffers are reserved."},
	{"response", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_buffer_profile, response_us), .min = 1, .max = 10000,
		.fallback = "20",
		.help = "For headroom: auto: time that this node may take from receiving a frame to deciding on XOFF."},
	{"jitter", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_buffer_profile, jitter_us), .max = 1000000, .fallback = "0",
		.help = "For headroom: auto: delay variation of the path."},
	{"losses", CFG_UINT, .offset = AT(struct cfg_buffer_profile, losses), .max = 1000, .fallback = "0",
		.help = "For headroom: auto: PFC frames in a row that may be lost; each costs half of the longest "
			"pause. 0 is right for a link; a WAN can lose one."},
	{"selective", CFG_SCALE, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, selective), .max = 1ull << 40,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto",
		.help = "For ports with PFC tunnels: bytes above xoff within which the slices that fill the buffer are "
			"paused one by one, and the others go on. Above them all are paused. They are reserved in "
			"addition to headroom. auto: enough for all slices but one to stand still, each with a headroom "
			"of its own, as far as memory.buffers allows; with one slice an eighth of the headroom."},
};
const struct cfg_map cfg_buffer_profile_map = MAP_OF(profile_keys, "a buffer profile", struct cfg_buffer_profile);

static const struct cfg_key pfc_keys[] = {
	{"priorities", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_pfc, priorities), .max = 8, .example = "[3]",
		.help = "Lossless classes. Packets that are received here in one of them are never dropped for lack "
			"of room; PFC is sent and obeyed for its priority (IEEE 802.1Qbb). Default: none, received "
			"PFC is ignored."},
	{"peers", CFG_LIST_OF, .item = CFG_MAC, .offset = AT(struct cfg_pfc, peers), .max = 8,
		.example = "[\"02:00:00:00:0a:01\"]",
		.help = "Source addresses from which PFC is accepted: the port MAC and the system MAC of the "
			"neighbour. With priorities, peers or learn is required."},
	{"learn", CFG_BOOL, .offset = AT(struct cfg_pfc, learn), .fallback = "false",
		.help = "Also accept PFC from the MAC addresses that ND and ARP find on the port."},
	{"learn-tunnels", CFG_BOOL, .offset = AT(struct cfg_pfc, learn_tunnels), .fallback = "false",
		.help = "side: wan: learn PFC tunnels from the segment lists of data that is received here "
			"(pfc-learning, remote-sids). No PFC is then sent to the neighbour on the link."},
	{"lenient-cev", CFG_BOOL, .offset = AT(struct cfg_pfc, lenient_cev), .fallback = "false",
		.help = "Ignore the high octet of the class enable vector instead of rejecting a frame in which it is "
			"not 0."},
	{"lenient-pad", CFG_BOOL, .offset = AT(struct cfg_pfc, lenient_pad), .fallback = "false",
		.help = "Accept frames that end after the last pause time, as in some captures."},
	{"hardware", CFG_WORD, .offset = AT(struct cfg_pfc, hardware), .words = words_hardware, .fallback = "auto",
		.flags = CFG_START_ONLY,
		.help = "auto: let the device obey PFC if its driver can. off: obey PFC in software only."},
	{"buffer", CFG_NAME, .offset = AT(struct cfg_pfc, buffer), .refs = "buffer-profiles",
		.example = "near",
		.help = "Buffer profile. Default: the built-in profile."},
	{"blind", CFG_WORD, .offset = AT(struct cfg_pfc, blind), .words = words_blind, .fallback = "refuse",
		.flags = CFG_START_ONLY,
		.help = "What a start does if the device neither passes PFC frames to software nor obeys them, or "
			"drops those that software sends. refuse: the node does not start. accept: it starts, and "
			"lossless packets can be lost on this port."},
	{"length", CFG_SCALE, .offset = AT(struct cfg_pfc, length_m), .max = 50000000, .word = "auto",
		.word_value = CFG_NONE, .fallback = "auto",
		.help = "Distance in metres to the paused node, for headroom and xon: the neighbour, or with PFC "
			"tunnels the farthest node that they lead to. auto: 100, for a link in a building; a port "
			"with PFC tunnels needs a value, or round-trip."},
	{"round-trip", CFG_SCALE, .unit = UNIT_US, .offset = AT(struct cfg_pfc, round_trip_us), .min = 1, .max = 1000000,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto",
		.help = "Round-trip time to the paused node, as ping measures it, instead of length. auto: 5 ns a "
			"metre each way."},
	{"peer-descriptors", CFG_UINT, .offset = AT(struct cfg_pfc, peer_descriptors), .min = 2, .max = 16384, .fallback = "2",
		.help = "For headroom: auto: frames that the neighbour still sends after it has received PFC. 2: a "
			"switch or NIC, which finishes the current frame and one that is ready. Software sends all "
			"frames that it has given to its device: use the transmit descriptors of the neighbour's port."},
	{"outage", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_pfc, outage_ms), .max = 10000, .fallback = "100",
		.help = "Time for which lossless packets that leave by this port wait while its link is down. Their "
			"senders are paused meanwhile. After it they are dropped (port_down). Use less than the "
			"watchdogs of the senders. 0: drop at once."},
	{"watchdog", CFG_MAP, .offset = AT(struct cfg_pfc, watchdog), .map = &cfg_watchdog_map,
		.help = "PFC storms: unbroken pauses of queues of this port by the neighbour or by tunnels."},
};
const struct cfg_map cfg_pfc_map = MAP_OF(pfc_keys, "pfc", struct cfg_pfc);
