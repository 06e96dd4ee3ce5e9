/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of the placement of flows on paths. Constant; any thread. */
#include "config/schema_priv.h"

/* clang-format off */
static const struct cfg_key steering_keys[] = {
	{"idle", CFG_UINT, .unit = UNIT_SECONDS, .offset = AT(struct cfg_steering, idle_s), .min = 1, .max = 3600,
		.fallback = "30", .help = "Time without a packet after which a flow loses its place in a flow table. Its placement stays."},
};
const struct cfg_map cfg_steering_map = MAP_OF(steering_keys, "steering", struct cfg_steering);

static const struct cfg_key placement_keys[] = {
	{"flow", CFG_TEXT, .offset = AT(struct cfg_placement, flow), .flags = CFG_REQUIRED,
		.example = "\"vrf=blue,src=10.0.0.1,dst=10.0.1.1,sport=49152\"",
		.help = "The flow: vrf (none: the underlay's table), src and dst; proto (udp), sport and dport (4791), or qp, the "
			"destination queue pair."},
	{"policy", CFG_NAME, .offset = AT(struct cfg_placement, policy), .flags = CFG_REQUIRED, .refs = "policies",
		.example = "to-dc2", .help = "Policy that the flow's route leads to."},
	{"path", CFG_NAME, .offset = AT(struct cfg_placement, path), .flags = CFG_REQUIRED, .example = "via-spine5",
		.help = "Path of the policy that the flow takes while it is alive. Not a backup."},
	{"pinned", CFG_BOOL, .offset = AT(struct cfg_placement, pinned), .fallback = "no",
		.help = "yes: an operator wants it so."},
};
const struct cfg_map cfg_placement_map = MAP_OF(placement_keys, "a placement", struct cfg_placement);
/* clang-format on */
