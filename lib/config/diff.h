/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences between two configurations, by the schema. Management thread. */
#ifndef CONFIG_DIFF_H
#define CONFIG_DIFF_H

#include "config/model.h"

/* Of a list that only grows or only shrinks, as many items have their name in the path; that of others is "routes[...]". */
#define CFG_CHANGES_NAMED 200

enum cfg_change_kind { CFG_ADDED, CFG_CHANGED, CFG_REMOVED };

/* One difference. Texts are valid during the call. */
struct cfg_change {
	enum cfg_change_kind kind;
	const char *path;      /* "ports[wan0].mtu"; list items without a name are shown by their content */
	const char *from, *to; /* values; "" for whole objects */
	bool start_only;       /* needs a restart; a reload rejects it */
};

/*
 * Calls fn for every difference, in the order of the schema. Items of a list are matched by their identity key, or by
 * their whole content if they have none; their order does not matter. 0, or -ENOMEM.
 */
int cfg_diff(const struct config *from, const struct config *to, void (*fn)(void *arg, const struct cfg_change *change),
	void *arg);

/*
 * Put the ports of `to` into the order of those in `from`, so that both configurations number them alike. 0; -ENOENT if
 * the port names differ; -ENOMEM.
 */
int cfg_align_ports(const struct config *from, struct config *to);

#endif
