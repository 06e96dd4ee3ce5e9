/* SPDX-License-Identifier: BSD-3-Clause */
/* Apply the neighbour updates of the control lcore. Worker lcores. */
#include "service/neighbor/neighbor.h"
#include "node/service.h"

static unsigned int neighbor_read_updates(struct worker_role *w)
{
	struct neigh_message m[32];
	unsigned int n = mailbox_pop(&node_neighbors(w->node)->updates[w->index], m, sizeof(m[0]), 32);

	for (unsigned int i = 0; i < n; i++)
		egress_neigh_update(&w->node->egress[snap_interface_of(m[i].interface)], &w->ctx, &m[i]);
	return n;
}

const struct worker_hooks neighbor_worker_hooks = {.read = neighbor_read_updates};
