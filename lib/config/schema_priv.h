/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the schema that are defined in separate files. */
#ifndef CONFIG_SCHEMA_PRIV_H
#define CONFIG_SCHEMA_PRIV_H

#include "base/compiler.h"
#include "config/model.h"
#include "config/schema.h"

#define AT(type, member) (uint32_t) __builtin_offsetof(type, member)
#define MAP_OF(keys_, what, type) \
	{ \
		.name = what, .keys = keys_, .n_keys = ARRAY_LEN(keys_), .size = sizeof(type) \
	}

extern const char *const cfg_words_flavor[]; /* enum cfg_flavor */

extern const char *const cfg_words_slice_by[]; /* enum cfg_slice_by */

/* schema_qos.c: slices, class maps, DSCP maps, queues, PFC and its buffers */
extern const struct cfg_map cfg_slice_map, cfg_class_map_map, cfg_dscp_map_map, cfg_ecn_map, cfg_buffer_profile_map,
	cfg_pfc_map;

/* schema_pfc.c: PFC across the WAN */
extern const struct cfg_map cfg_watchdog_map, cfg_adjacency_map, cfg_relay_map, cfg_pfc_tunnel_map,
	cfg_pfc_learning_map;

/* schema_bfd.c */
extern const struct cfg_map cfg_bfd_profile_map, cfg_sbfd_reflector_map;

/* schema_credit.c */
extern const struct cfg_map cfg_credit_map;

/* schema_steer.c: placement of flows on paths */
extern const struct cfg_map cfg_steering_map, cfg_placement_map;

/* schema_remote.c: SIDs of other nodes */
extern const struct cfg_map cfg_remote_sid_map, cfg_remote_file_map;

#endif
