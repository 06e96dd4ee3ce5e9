/* SPDX-License-Identifier: BSD-3-Clause */
/* May a flow be placed on a path? For configurations and for commands. Pure. */
#ifndef CONFIG_PLACING_H
#define CONFIG_PLACING_H

#include "config/config.h"
#include "steer/steer_key.h"

/* 0, or -errno with a message that names what is wrong. `vrf`: name of the flow's VRF, "" for the underlay's table. */
int cfg_may_place(const struct config *c, const struct steer_key *key, const char *vrf, const char *policy,
	const char *path, char *err, size_t size);

/* Index of a path in its policy; -1: there is none. */
int cfg_find_path(const struct cfg_policy *policy, const char *name);

#endif
