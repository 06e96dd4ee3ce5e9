/* SPDX-License-Identifier: BSD-3-Clause */
/* The declared configuration of PFC across the WAN. */
#include "config/schema_priv.h"

/* clang-format off */

static const struct cfg_key adjacency_keys[] = {
	{"port", CFG_NAME, .offset = AT(struct cfg_adjacency, port), .refs = "ports", .flags = CFG_REQUIRED, .example = "wan0",
		.help = "Port of the adjacency."},
	{"nexthop", CFG_IP, .offset = AT(struct cfg_adjacency, nexthop), .flags = CFG_REQUIRED, .example = "\"fe80::5\"",
		.help = "Neighbour of the adjacency."},
};
const struct cfg_map cfg_adjacency_map = MAP_OF(adjacency_keys, "an adjacency", struct cfg_adjacency);
