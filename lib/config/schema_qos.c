/* SPDX-License-Identifier: BSD-3-Clause */
/* The declared configuration of the egress: slices, classes, queues. Pure. */
#include "config/schema_priv.h"

static const char *const words_alpha[] = {"static", "1/128", "1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "2", "4",
	"8", NULL};
static const char *const words_hardware[] = CFG_WORDS(CFG_PFC_HARDWARE);
_Static_assert(ARRAY_LEN(words_alpha) == ALPHA_LAST + 2, "a word for each value of enum cfg_alpha, and the end");

/* clang-format off */

static const struct cfg_key slice_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_slice, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "gold", .help = "Name used by ports, VRFs and SIDs."},
	{"id", CFG_UINT, .offset = AT(struct cfg_slice, id), .max = 0xffffffff, .fallback = "0",
		.help = "The slice's number in the whole network, where packets carry it (slice-by); 0: none."},
	{"weight", CFG_UINT, .offset = AT(struct cfg_slice, weight), .min = 1, .max = 100, .fallback = "1",
		.help = "Share of a port's rate when slices compete for it, relative to the others. What belongs to no slice "
			"has weight 1."},
	{"max-rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_slice, max_rate_bps), .min = 1000000,
		.max = 3200000000000ull, .example = "40G",
		.help = "Most that the slice may send on each port, Ethernet headers included. Default: no limit."},
};
const struct cfg_map cfg_slice_map = MAP_OF(slice_keys, "a slice", struct cfg_slice);

static const struct cfg_key dscp_range_keys[] = {
	{"from", CFG_UINT, .offset = AT(struct cfg_class_range, from), .max = 63, .flags = CFG_REQUIRED, .example = "24",
		.help = "First DSCP."},
	{"to", CFG_UINT, .offset = AT(struct cfg_class_range, to), .max = 63, .example = "31",
		.help = "Last DSCP. Default: only the first."},
	{"class", CFG_UINT, .offset = AT(struct cfg_class_range, class), .max = 7, .flags = CFG_REQUIRED, .example = "3",
		.help = "Traffic class of these packets."},
};
static const struct cfg_map dscp_range_map = MAP_OF(dscp_range_keys, "a DSCP range", struct cfg_class_range);

static const struct cfg_key pcp_range_keys[] = {
	{"from", CFG_UINT, .offset = AT(struct cfg_class_range, from), .max = 7, .flags = CFG_REQUIRED, .example = "3",
		.help = "First priority code point."},
	{"to", CFG_UINT, .offset = AT(struct cfg_class_range, to), .max = 7, .help = "Last one. Default: only the first."},
	{"class", CFG_UINT, .offset = AT(struct cfg_class_range, class), .max = 7, .flags = CFG_REQUIRED, .example = "3",
		.help = "Traffic class of these frames."},
};
static const struct cfg_map pcp_range_map = MAP_OF(pcp_range_keys, "a PCP range", struct cfg_class_range);

static const struct cfg_key class_range_keys[] = {
	{"from", CFG_UINT, .offset = AT(struct cfg_class_range, from), .max = 7, .flags = CFG_REQUIRED, .example = "3",
		.help = "First class."},
	{"to", CFG_UINT, .offset = AT(struct cfg_class_range, to), .max = 7, .help = "Last one. Default: only the first."},
	{"class", CFG_UINT, .offset = AT(struct cfg_class_range, class), .max = 7, .flags = CFG_REQUIRED, .example = "4",
		.help = "The class they are queued in behind the tunnel's end."},
};
static const struct cfg_map class_range_map = MAP_OF(class_range_keys, "a class range", struct cfg_class_range);

static const struct cfg_key class_map_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_class_map, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "roce", .help = "Name used by ports, policies and SIDs."},
	{"dscp", CFG_LIST_OF, .item = CFG_MAP, .map = &dscp_range_map, .offset = AT(struct cfg_class_map, dscp), .max = 64,
		.help = "Ports: class by DSCP. A DSCP that is not listed belongs to its class selector, DSCP / 8."},
	{"pcp", CFG_LIST_OF, .item = CFG_MAP, .map = &pcp_range_map, .offset = AT(struct cfg_class_map, pcp), .max = 8,
		.help = "Ports: class of VLAN-tagged frames by PCP. A PCP that is not listed is its own class."},
	{"classes", CFG_LIST_OF, .item = CFG_MAP, .map = &class_range_map, .offset = AT(struct cfg_class_map, classes),
		.max = 8,
		.help = "Policies and SIDs: class of a packet that enters or leaves the tunnel, by the class it came in. A "
			"class that is not listed stays."},
};
const struct cfg_map cfg_class_map_map = MAP_OF(class_map_keys, "a class map", struct cfg_class_map);

static const struct cfg_key ecn_keys[] = {
	{"classes", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_ecn, classes), .max = 8, .example = "[3]",
		.help = "Traffic classes in whose queues ECN-capable packets are marked CE. Default: none."},
	{"min", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_ecn, min), .max = 1u << 30, .fallback = "150K",
		.help = "Bytes waiting in the queue from which on packets are marked, with growing probability."},
	{"max", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_ecn, max), .max = 1u << 30, .fallback = "1500K",
		.help = "Bytes waiting from which on every packet is marked."},
};
const struct cfg_map cfg_ecn_map = MAP_OF(ecn_keys, "ecn", struct cfg_ecn);

static const struct cfg_key profile_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_buffer_profile, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "near", .help = "Name used by ports under pfc."},
	{"alpha", CFG_WORD, .offset = AT(struct cfg_buffer_profile, alpha), .words = words_alpha, .fallback = "static",
		.help = "static: XOFF at xoff. Otherwise also when the class holds so many times the buffers that are left of "
			"memory.lossless."},
	{"xoff", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, xoff), .min = 2048,
		.max = 1ull << 40, .fallback = "64K",
		.help = "Bytes that a class may hold in egress queues before its sender is told to stop."},
	{"xon", CFG_SCALE, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, xon), .max = 1ull << 40, .word = "half",
		.word_value = CFG_NONE, .fallback = "half",
		.help = "Bytes below which it is told to go on; half: of xoff. Over a long way, at least what leaves in a round "
			"trip, or the line runs dry."},
	{"headroom", CFG_SCALE, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, headroom), .max = 1ull << 40,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto", .example = "48K",
		.help = "Bytes that may still arrive once XOFF has been decided. auto: computed from speed, length and MTU of "
			"the port (sluice plan headroom)."},
	{"min-frame", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, min_frame), .min = 60, .max = 1024,
		.fallback = "60",
		.help = "Shortest frames of the class, without FCS. A frame holds a whole buffer however short it is, so this "
			"decides how many are set aside."},
	{"response", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_buffer_profile, response_us), .min = 1, .max = 10000,
		.fallback = "20", .help = "Time this node may take from receiving a frame to deciding about XOFF, for headroom: auto."},
	{"jitter", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_buffer_profile, jitter_us), .max = 1000000, .fallback = "0",
		.help = "For headroom: auto: delay variation of the way, and the time that as many lost PFC frames cost as are to be "
			"survived."},
	{"selective", CFG_SCALE, .unit = UNIT_BYTES, .offset = AT(struct cfg_buffer_profile, selective), .max = 1ull << 40,
		.word = "eighth", .word_value = CFG_NONE, .fallback = "eighth",
		.help = "Where PFC tunnels leave a choice of whom to stop: bytes above xoff within which those are stopped that hold most, and "
			"above which all are; set aside besides headroom. eighth: of the headroom. What a slice that must never stop "
			"others has under way in a round trip should fit."},
};
const struct cfg_map cfg_buffer_profile_map = MAP_OF(profile_keys, "a buffer profile", struct cfg_buffer_profile);

static const struct cfg_key pfc_keys[] = {
	{"priorities", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_pfc, priorities), .max = 8, .example = "[3]",
		.help = "Lossless classes: what arrives here in one of them is never dropped for want of room, and its "
			"priority is paused and may pause (IEEE 802.1Qbb). Default: none, PFC is not listened to."},
	{"peers", CFG_LIST_OF, .item = CFG_MAC, .offset = AT(struct cfg_pfc, peers), .max = 8,
		.example = "[\"02:00:00:00:0a:01\"]",
		.help = "Source addresses PFC is believed from: the neighbour's port and system MAC. Where there are "
			"priorities, peers or learn is required."},
	{"learn", CFG_BOOL, .offset = AT(struct cfg_pfc, learn), .fallback = "false",
		.help = "Believe the MAC addresses that ND and ARP found on the port, too."},
	{"learn-tunnels", CFG_BOOL, .offset = AT(struct cfg_pfc, learn_tunnels), .fallback = "false",
		.help = "side: wan: learn PFC tunnels from the segment lists of data that arrives here (pfc-learning, remote-sids). "
			"The neighbour itself is told nothing then."},
	{"lenient-cev", CFG_BOOL, .offset = AT(struct cfg_pfc, lenient_cev), .fallback = "false",
		.help = "Ignore the high octet of the class enable vector instead of refusing a frame where it is not 0."},
	{"lenient-pad", CFG_BOOL, .offset = AT(struct cfg_pfc, lenient_pad), .fallback = "false",
		.help = "Take frames that end behind the last pause time, as some captures have them."},
	{"hardware", CFG_WORD, .offset = AT(struct cfg_pfc, hardware), .words = words_hardware, .fallback = "auto",
		.flags = CFG_START_ONLY,
		.help = "auto: let the device react to PFC where its driver can. off: software only."},
	{"buffer", CFG_NAME, .offset = AT(struct cfg_pfc, buffer), .refs = "buffer-profiles",
		.example = "near",
		.help = "Thresholds. Default: those of a profile that says nothing."},
	{"length", CFG_UINT, .offset = AT(struct cfg_pfc, length_m), .max = 50000000, .fallback = "100",
		.help = "Way to the neighbour in metres, for headroom: auto."},
	{"peer-descriptors", CFG_UINT, .offset = AT(struct cfg_pfc, peer_descriptors), .min = 2, .max = 16384, .fallback = "2",
		.help = "Frames that still come although the neighbour has heard PFC, for headroom: auto. 2: a switch or NIC, "
			"which ends the frame it is at, and one it has made ready. Software sends all that its device has been "
			"given: the transmit descriptors of the neighbour's port."},
	{"watchdog", CFG_MAP, .offset = AT(struct cfg_pfc, watchdog), .map = &cfg_watchdog_map,
		.help = "PFC storms: queues of this port that are paused without a break, by the neighbour or by tunnels."},
};
const struct cfg_map cfg_pfc_map = MAP_OF(pfc_keys, "pfc", struct cfg_pfc);
