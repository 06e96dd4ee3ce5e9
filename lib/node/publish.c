/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots: unpublish, grace period, free, in this order, and nowhere else. The grace period is started when
 * a snapshot is replaced and looked at later; nobody waits for it.
 *
 * Ids live longer than snapshots, for packets carry them. An id that the newest snapshot does not use is given
 * away again when no packet that an older one resolved is left: not with an rx lcore (grace period), not
 * parked, not in a mailbox (what was pushed by then has been popped), not in a queue (counts by generation).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "node/node_ctl.h"

struct node_retired {
	struct node_retired *next;
	const struct snapshot *snapshot; /* NULL: freed, only ids are waited for */
	struct config *config;		 /* NULL: still running */
	uint64_t token;
	uint64_t generation;	       /* of its successor */
	bool unparked[NODE_MAX_ROLES]; /* by rx role: nothing parked was seen */
	bool marked;		       /* `popped_by` is set */
	uint64_t *popped_by;	       /* by mailbox, in the order of node.mailboxes: how many must be popped */
};

void node_lcore_enter(struct node_lcore *l)
{
	rte_rcu_qsbr_thread_online(l->node->qsbr, l->qsbr);
}

void node_lcore_leave(struct node_lcore *l)
{
	rte_rcu_qsbr_thread_offline(l->node->qsbr, l->qsbr);
}

static unsigned int count_mailboxes(const struct node *n)
{
	unsigned int count = 0;

	for (const struct mailbox *b = n->mailboxes.first; b; b = b->next)
		count++;
	return count;
}

static void free_snapshot(struct node_retired *r)
{
	snapshot_free(r->snapshot);
	cfg_free(r->config);
	r->snapshot = NULL;
	r->config = NULL;
}

static void free_retired(struct node_retired *r)
{
	free_snapshot(r);
	free(r->popped_by);
	free(r);
}

/* Every rx role has been seen without parked packets since the grace period. */
static bool parks_are_through(const struct node *n, struct node_retired *r)
{
	bool all = true;

	for (uint16_t i = 0; i < n->n_rx; i++) {
		bool empty = true;

		for (uint16_t w = 0; w < n->n_workers; w++)
			empty = empty && __atomic_load_n(&n->rx[i].park[w].n, __ATOMIC_RELAXED) == 0;
		r->unparked[i] = r->unparked[i] || empty;
		all = all && r->unparked[i];
	}
	return all;
}

/* All packets pushed by the time the parks were through have been popped. */
static bool mailboxes_are_through(const struct node *n, struct node_retired *r)
{
	unsigned int i = 0;

	if (!r->marked) {
		for (const struct mailbox *b = n->mailboxes.first; b; b = b->next)
			r->popped_by[i++] = stat_read(&b->pushed);
		r->marked = true;
	}
	i = 0;
	for (const struct mailbox *b = n->mailboxes.first; b; b = b->next, i++)
		if (mailbox_has_packets(b) && (int64_t)(stat_read(&b->popped) - r->popped_by[i]) < 0)
			return false;
	return true;
}

static bool queues_are_through(const struct node *n, const struct node_retired *r)
{
	for (uint16_t w = 0; w < n->n_workers; w++)
		for (uint64_t g = r->generation - MIN_OF(r->generation, EGRESS_GENERATIONS - 1); g < r->generation; g++)
			if (stat_read(&n->worker[w].ctx.held[g % EGRESS_GENERATIONS]))
				return false;
	return true;
}

bool node_may_publish(const struct node *n)
{
	uint64_t next = n->registry.generation + 1;

	/* packets of a generation 64 ago could not be told from new ones */
	for (uint16_t w = 0; w < n->n_workers; w++)
		if (stat_read(&n->worker[w].ctx.held[next % EGRESS_GENERATIONS]))
			return false;
	return true;
}

void node_publish(struct node *n, struct snapshot *s, struct config *config)
{
	const struct snapshot *old = n->snapshot;
	struct config *old_config = n->config == config ? NULL : n->config;
	struct node_retired *r;

	__atomic_store_n(&n->snapshot, s, __ATOMIC_RELEASE);
	n->config = config;
	if (!s) {
		/* the node is being freed: no lcore runs, so no grace period is left to wait for */
		while ((r = n->retired)) {
			n->retired = r->next;
			free_retired(r);
		}
		snapshot_free(old);
		cfg_free(old_config);
		return;
	}
	if (!old)
		return;
	r = calloc(1, sizeof(*r));
	if (r)
		r->popped_by = calloc(count_mailboxes(n), sizeof(*r->popped_by));
	if (!r || !r->popped_by) {
		free(r);
		return; /* the old one leaks, which beats freeing it too early */
	}
	r->next = n->retired;
	r->snapshot = old;
	r->config = old_config;
	r->generation = s->generation;
	r->token = rte_rcu_qsbr_start(n->qsbr);
	n->retired = r;
}

unsigned int node_reclaim(struct node *n)
{
	struct node_retired **at = &n->retired, *r;
	unsigned int left = 0;

	while ((r = *at)) {
		if (r->snapshot && rte_rcu_qsbr_check(n->qsbr, r->token, false) == 1)
			free_snapshot(r);
		if (!r->snapshot && parks_are_through(n, r) && mailboxes_are_through(n, r) &&
			queues_are_through(n, r)) {
			snapshot_reap(&n->registry, r->generation);
			*at = r->next;
			free_retired(r);
			continue;
		}
		left++;
		at = &r->next;
	}
	return left;
}
