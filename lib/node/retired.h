/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots that are no longer the newest one, and whose memory or ids are not free yet (publish_ctl.c). Management thread. */
#ifndef NODE_RETIRED_H
#define NODE_RETIRED_H

#include "node/node.h"

struct node_retired {
	struct node_retired *next;
	const struct snapshot *snapshot; /* NULL: freed; only its ids are still reserved */
	struct config *config;		 /* NULL: also the configuration of the successor */
	uint64_t token;
	uint64_t generation, epoch;    /* of the successor */
	bool begins;		       /* the successor begins its epoch: ids can be released */
	bool unparked[NODE_MAX_ROLES]; /* by rx role: was seen without parked packets since the grace period */
	bool marked;		       /* popped_by is set */
	uint64_t *popped_by;	       /* by mailbox, in the order of node.mailboxes: value that `popped` must reach */
};

#endif
