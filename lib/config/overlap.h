/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the paths of a policy have in common, so that one failure takes several of them. The far node and its function, if
 * all of them end there, are left out: no other choice of paths would change that. Containers of uSIDs are compared id by id,
 * and local ids belong to the node before them. Pure.
 */
#ifndef CONFIG_OVERLAP_H
#define CONFIG_OVERLAP_H

#include "config/program.h"

enum cfg_shared {
	CFG_SHARED_PORT, /* the only port that they leave by */
	CFG_SHARED_LINK, /* from one segment to the next */
	CFG_SHARED_NODE, /* a segment */
};

struct cfg_overlap {
	enum cfg_shared kind;
	const char *text; /* "leave by wan0", "go from 5f00:0:100:: to 5f00:0:500::", "pass 5f00:0:500::" */
	const bool *same; /* by number of the path: is it one of those? */
	unsigned int n;	  /* how many they are, at least 2 */
};

/* Call `found` for all that paths have in common, each once; what it gets is valid until it returns. 0 or -ENOMEM. */
int cfg_overlap_each(const struct config *c, const struct cfg_own_sids *own, const struct cfg_policy *policy,
	void (*found)(void *arg, const struct cfg_overlap *o), void *arg);

#endif
