/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A configuration for a running node: check, plan, apply whole or not at all. What appliance and lab mean by reload.
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

/*
 * Take `c`, as cfg_load_* returned it, or NULL with the reason in `diags`; both are consumed. `file` is what the plan calls
 * it. 0 with *plan set (the caller's), and unless `dry` `c` is now the node's; else -errno, everything is as before and
 * `err` says why:
 *   -EINVAL what is in `diags`; -EBUSY a change needs a restart; -ENOMEM, or what node_apply says.
 */
int apply_config(struct node *n, struct config *c, struct cfg_diags *diags, const char *file, bool dry, json_t **plan,
	char *err, size_t size);

/* A number of the plan: "added", "changed", "removed", "needs_restart". */
unsigned long long apply_count(const json_t *plan, const char *name);

#endif
