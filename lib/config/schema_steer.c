/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of the placement of flows on paths. Constant; any thread. */
#include "config/schema_priv.h"

/* clang-format off */
static const struct cfg_key steering_keys[] = {
	{"idle", CFG_UINT, .unit = UNIT_SECONDS, .offset = AT(struct cfg_steering, idle_s), .min = 1, .max = 3600,
		.fallback = "30", .help = "Time without a packet after which a flow loses its place in a flow table. Its placement stays."},
	{"interval", CFG_TIME, .offset = AT(struct cfg_steering, interval_ns), .min = 10000, .max = 10ull * 1000000000,
		.fallback = "1ms", .help = "Mean time between two decisions about a policy with feedback. At least the round-trip time of "
			"its paths. A path takes no part for 2 intervals after a move, a flow for 10."},
	{"margin", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_steering, margin), .max = 1000, .fallback = "20",
		.help = "Percent by which the score of a path must be better for flows to move there."},
	{"share", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_steering, share), .min = 1, .max = 100, .fallback = "50",
		.help = "Percent of the flows of a path that move at a time, and of those of the policy; at least one flow does."},
	{"gap", CFG_TIME, .offset = AT(struct cfg_steering, gap_ns), .max = 1000000000, .fallback = "50us",
		.help = "Time without a packet after which a flow may move, once its packets have left this node: more than the "
			"delays of two paths of a policy differ."},
	{"queue-limit", CFG_TIME, .offset = AT(struct cfg_steering, queue_limit_ns), .min = 1000, .max = 1000000000, .word = "off",
		.word_value = 0, .fallback = "20us", .help = "Signal: time that the egress queue of a path takes to send, above which "
			"the path is congested. off: queues are not looked at."},
	{"pause-limit", CFG_SCALE, .unit = UNIT_COUNT, .offset = AT(struct cfg_steering, pause_limit), .min = 1, .max = 100,
		.word = "off", .word_value = 0, .fallback = "20", .help = "Signal: percent of the time for which PFC pauses the class "
			"on the way out of a path, above which the path is congested. No flow comes to a path while it is paused."},
	{"credit-limit", CFG_TIME, .offset = AT(struct cfg_steering, credit_limit_ns), .min = 1000, .max = 1000000000, .word = "off",
		.word_value = 0, .fallback = "100us", .help = "Signal: time for which packets wait for the credit of a path, after which "
			"flows leave it and none come."},
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
