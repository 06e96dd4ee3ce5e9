/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots: unpublish, grace period, free, in this order, and nowhere else. The grace period is started when
 * a snapshot is replaced and looked at later; nobody waits for it.
 */
#include <stdlib.h>

#include "config/config.h"
#include "node/node_ctl.h"

struct node_retired {
	struct node_retired *next;
	struct snapshot *snapshot;
	struct config *config; /* NULL: still running */
	uint64_t token;
};

void node_lcore_enter(struct node_lcore *l)
{
	rte_rcu_qsbr_thread_online(l->node->qsbr, l->qsbr);
}

void node_lcore_leave(struct node_lcore *l)
{
	rte_rcu_qsbr_thread_offline(l->node->qsbr, l->qsbr);
}

static void release(struct node_retired *r)
{
	snapshot_free(r->snapshot);
	cfg_free(r->config);
	free(r);
}

void node_publish(struct node *n, struct snapshot *s, struct config *config)
{
	struct snapshot *old = (struct snapshot *)(uintptr_t)n->snapshot;
	struct config *old_config = n->config == config ? NULL : n->config;
	struct node_retired *r;

	__atomic_store_n(&n->snapshot, s, __ATOMIC_RELEASE);
	n->config = config;
	if (!s) {
		/* the node is being freed: no lcore runs, so no grace period is left to wait for */
		while ((r = n->retired)) {
			n->retired = r->next;
			release(r);
		}
		snapshot_free(old);
		cfg_free(old_config);
		return;
	}
	if (!old)
		return;
	r = calloc(1, sizeof(*r));
	if (!r)
		return; /* the old one leaks, which beats freeing it too early */
	*r = (struct node_retired){.next = n->retired, .snapshot = old, .config = old_config};
	r->token = rte_rcu_qsbr_start(n->qsbr);
	n->retired = r;
}

unsigned int node_reclaim(struct node *n)
{
	struct node_retired **at = &n->retired, *r;
	unsigned int left = 0;

	while ((r = *at)) {
		if (rte_rcu_qsbr_check(n->qsbr, r->token, false) == 1) {
			*at = r->next;
			release(r);
		} else {
			at = &r->next;
			left++;
		}
	}
	return left;
}
