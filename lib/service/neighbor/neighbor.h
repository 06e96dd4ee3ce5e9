/* SPDX-License-Identifier: BSD-3-Clause */
/* ND and ARP: the state machine on the control lcore, and its messages to and from the owners of egresses. */
#ifndef SERVICE_NEIGHBOR_NEIGHBOR_H
#define SERVICE_NEIGHBOR_NEIGHBOR_H

#include "neigh/neigh_cache.h"
#include "node/node.h"
#include "service/services.h"

struct control_kept {
	struct ip_addr addr;
	uint16_t interface;
	bool kept;
};

/* The state of the service. Only the control lcore accesses it, except for the workers' ends of the mailboxes. */
struct node_neighbors {
	struct neigh_cache *table;
	struct mailbox updates[NODE_MAX_ROLES];	  /* struct neigh_message (enum neigh_update), to each worker */
	struct mailbox questions[NODE_MAX_ROLES]; /* struct neigh_message (enum neigh_question), from each worker */
	uint64_t kept_generation;		  /* of the snapshot whose next hops are kept */
	/* Next hops that are kept resolved, by neighbour id; a new snapshot is compared a few ids a pass. */
	struct control_kept *kept;
	uint32_t kept_at, kept_rows;
	bool kept_all;			     /* the snapshot has been compared */
	uint16_t interface[INTERFACE_SLOTS]; /* numbers of the last VLAN interfaces, by row; compared likewise */
	uint32_t interface_at, interface_rows;
	bool port_up[MAX_PORTS]; /* in the last pass */
	bool looked;		 /* there was one */
};

static inline struct node_neighbors *node_neighbors(const struct node *n)
{
	return n->state[SERVICE_NEIGHBOR];
}

static inline struct node_neighbors *neighbors_of(const struct control_role *c)
{
	return node_neighbors(c->node);
}

extern const struct worker_hooks neighbor_worker_hooks;

#endif
