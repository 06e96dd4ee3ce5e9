/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Publication of snapshots.
 *
 * Purpose
 * =======
 *
 * Lcores read the forwarding state without locks while the management thread replaces it. The state is a struct
 * snapshot, which is constant from its publication until it is freed. The management thread publishes a snapshot by one
 * pointer, node.snapshot, and frees it after the last reader has finished. Neither side waits for the other. This is
 * the RCU scheme, with DPDK's rte_rcu_qsbr for the grace periods.
 *
 * Protocol
 * ========
 *
 *   build        The management thread builds a snapshot with the next generation number (snapshot_build). No lcore
 *                can see the snapshot yet.
 *   publish      node_publish stores the pointer with release order and starts a grace period for the old snapshot.
 *   adopt        Each role loads the pointer with acquire order (node_snapshot) at the start of its pass. A worker and
 *                the control role load it again after they pop packets from a mailbox, because the rx lcore may have
 *                classified these packets by a newer snapshot. A role therefore never has an older snapshot than the
 *                packets it handles.
 *   quiesce      At the end of each pass of an lcore, node_lcore_poll reports a quiescent state: the next pass loads
 *                the pointer before it reads a snapshot. node_lcore_leave takes an lcore out of all grace
 *                periods while it does not poll; node_lcore_enter takes it in again.
 *   reclaim      node_reclaim frees an old snapshot and its configuration when its grace period has ended: every
 *                lcore that is online has reported a quiescent state since the publication.
 *
 * Epochs and ids
 * ==============
 *
 * Packets outlive snapshots: a packet can be queued for longer than a grace period. A packet therefore carries ids (of
 * a neighbour, path, SID or slice) and the number of an epoch, and no pointers. The owner looks the ids up in the
 * newest snapshot. The registry keeps an id reserved after the newest snapshot has stopped using it.
 *
 * An epoch is a row of snapshots in which no id changed its meaning. A snapshot that drops no id, as most changes of
 * routes do, continues the epoch. One that drops an id begins the next epoch. A dropped id can be assigned again
 * (snapshot_reap) when no packet of an earlier epoch is left. node_reclaim checks, in this order:
 *
 *   1. rx lcores   The grace period has ended: no rx lcore classifies by a snapshot of an earlier epoch.
 *   2. parks       Every rx role has been seen without parked packets since then. The roles need not be empty at the
 *                  same time.
 *   3. mailboxes   Every mailbox that carries packets has popped as many as had been pushed when check 2 succeeded.
 *                  Mailboxes are in order, so all packets that were in them at that time have been popped. Mailboxes
 *                  of messages are not checked.
 *   4. queues      egress_context.held counts the queued packets of each worker by epoch. The counts of all earlier
 *                  epochs are 0.
 *
 * At most EGRESS_EPOCHS (64) epochs exist at a time. While an old packet stays queued for so long, the newest epoch goes
 * on: snapshots are published as always, and the ids that they drop stay reserved until the next epoch can begin.
 *
 * Who may do what
 * ===============
 *
 *   management thread    Build, publish, reclaim. It alone writes node.snapshot, node.config, node.retired and the ids
 *                        of node.registry. As the only writer it may read node.snapshot directly.
 *   lcores               Read a snapshot within one pass. Keep no pointer into it across passes, except one that is
 *                        replaced before the next use (worker_role.ctx.s). Write nothing in it.
 *   parks, mailboxes,    Each counter has one writer, the role that owns it. The management thread reads the counters
 *   queues               with relaxed order; a late value only delays the release of ids.
 *
 * Usage
 * =====
 *
 * The management thread replaces the configuration (node_apply), and reclaims every few milliseconds:
 *
 *	node_reclaim(n);
 *	s = snapshot_build(&n->registry, config, info, n->snapshot, err, size);
 *	if (!s)
 *		return -EINVAL;
 *	node_publish(n, s, config);
 *
 * An lcore:
 *
 *	node_lcore_enter(l);
 *	while (running)
 *		node_lcore_poll(l, now, &next);
 *	node_lcore_leave(l);
 *
 * Limits
 * ======
 *
 *   - While packets of 64 epochs are queued, dropped ids pile up. When none is left, node_apply fails: "too many ...".
 *   - An lcore that is online and does not poll delays the release of all old snapshots. Publication continues, and
 *     memory grows by one snapshot for each.
 *   - If there is no memory to record an old snapshot, the old snapshot and its ids are never freed. A leak is safe, and
 *     an early free is not.
 *   - node_publish with NULL frees everything at once. The caller ensures that no lcore runs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "node/node_ctl.h"
#include "node/retired.h"
#include "node/trace_priv.h"

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

/* Returns true when every rx role has been seen without parked packets since the end of the grace period. */
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

/* Returns true when all packets that had been pushed before the first call have been popped. */
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

/* Returns true when no packet of an epoch before that of the successor is queued. */
static bool queues_are_through(const struct node *n, const struct node_retired *r)
{
	for (uint16_t w = 0; w < n->n_workers; w++)
		for (uint64_t e = n->oldest_epoch; e < r->epoch; e++)
			if (stat_read(&n->worker[w].ctx.held[e % EGRESS_EPOCHS]))
				return false;
	return true;
}

/* Counts of packets are kept modulo 64: the next epoch begins only while it cannot be mistaken for an earlier one. */
static void choose_epoch(struct node *n, const struct snapshot *old, struct snapshot *s)
{
	snapshot_set_epoch(s, old->epoch);
	if (!snapshot_drops_ids(&n->registry, s) || s->epoch + 1 - n->oldest_epoch >= EGRESS_EPOCHS)
		return;
	snapshot_set_epoch(s, s->epoch + 1);
	n->registry.epoch_since = s->generation;
}

/* Returns true when no packet of an epoch before that of the successor is left. */
static bool is_through(const struct node *n, struct node_retired *r)
{
	return parks_are_through(n, r) && mailboxes_are_through(n, r) && queues_are_through(n, r);
}

void node_publish(struct node *n, struct snapshot *s, struct config *config)
{
	const struct snapshot *old = n->snapshot;
	struct config *old_config = n->config == config ? NULL : n->config;
	uint64_t epoch = old ? old->epoch : 0;
	struct node_retired *r;

	if (s && old) {
		choose_epoch(n, old, s);
		node_counters_begin(n, old, s);
	}
	__atomic_store_n(&n->snapshot, s, __ATOMIC_RELEASE);
	n->config = config;
	if (!s) {
		/* The node is being freed. No lcore runs, so all grace periods have ended. */
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
		return; /* The old snapshot leaks, because freeing it now would be too early. */
	}
	r->next = n->retired;
	r->snapshot = old;
	r->config = old_config;
	r->generation = s->generation;
	r->epoch = s->epoch;
	r->begins = s->epoch != epoch;
	r->token = rte_rcu_qsbr_start(n->qsbr);
	n->retired = r;
}

unsigned int node_reclaim(struct node *n)
{
	struct node_retired **at = &n->retired, *r;
	unsigned int left = 0;

	while ((r = *at)) {
		if (r->snapshot && rte_rcu_qsbr_check(n->qsbr, r->token, false) == 1) {
			node_trace_collect(n); /* events of packets that it has resolved */
			free_snapshot(r);
		}
		if (!r->snapshot && (!r->begins || is_through(n, r))) {
			if (r->begins) {
				snapshot_reap(&n->registry, r->generation);
				n->oldest_epoch = MAX_OF(n->oldest_epoch, r->epoch);
			}
			*at = r->next;
			free_retired(r);
			continue;
		}
		left++;
		at = &r->next;
	}
	return left;
}
