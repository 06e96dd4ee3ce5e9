/* SPDX-License-Identifier: BSD-3-Clause */
/* The declared configuration of the egress: slices, classes, queues. */
#include "config/schema_priv.h"

/* clang-format off */

static const struct cfg_key slice_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_slice, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "gold", .help = "Name used by ports, VRFs and SIDs."},
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
