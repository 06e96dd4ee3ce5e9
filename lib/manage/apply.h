/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives a running node a new configuration: check, plan, then apply all of it or nothing. The appliance and the lab
 * reload by this function.
 *
 * Management thread only.
 */
#ifndef MANAGE_APPLY_H
#define MANAGE_APPLY_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "config/config.h"

struct node;

enum apply_how {
	APPLY_SAFELY, /* not while flow control that the configuration takes away is in force */
	APPLY_DRY,    /* only check and plan */
	APPLY_FORCED, /* also while it is in force: lossless packets may be lost */
};

/*
 * Apply `c`, a result of cfg_load_*; NULL: loading failed and `diags` has the reason. Both are consumed. The plan calls
 * the configuration `file`. Returns 0 with *plan set, which the caller owns; unless the mode is APPLY_DRY, the node has taken over `c`.
 * Otherwise returns -errno, the node is unchanged and `err` gives the reason:
 *   -EINVAL: the errors in `diags`
 *   -EBUSY: a change needs a restart, or takes away flow control that is in force
 *   -ENOMEM, or any error of node_reload
 */
int apply_config(struct node *n, struct config *c, struct cfg_diags *diags, const char *file, enum apply_how how,
	json_t **plan, char *err, size_t size);

/* A count of the plan: "added", "changed", "removed", "needs_restart". */
unsigned long long apply_count(const json_t *plan, const char *name);

#endif
