/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass of an lcore: its roles, then quiescence and the counters that are updated once per pass. Every lcore. */
#include "node/service.h"

unsigned int node_lcore_poll(struct node_lcore *l, uint64_t now, uint64_t *next)
{
	struct lcore_stats *st = &l->stats;
	unsigned int work = 0;
	uint64_t n = TIME_NEVER;

	*next = TIME_NEVER;
	if (likely(l->last_pass_ns)) {
		if (unlikely(l->batch.pressed))
			batch_passed(&l->batch, now - l->last_pass_ns, node_snapshot(l->node)->pass_ns);
		stat_max(&st->max_gap_ns, now - l->last_pass_ns);
		if (l->was_busy)
			stat_add(&st->busy_ns, now - l->last_pass_ns);
	}
	l->batch.pressed = false;
	l->last_pass_ns = now;
	l->tap.now_ns = now;
	if (l->worker)
		l->worker->ctx.now = now; /* roles on the same lcore call it before its own pass */
	if (l->control) {
		work += control_poll(l->control, now, &n);
		*next = MIN_OF(*next, n);
	}
	if (l->rx) {
		work += rx_poll(l->rx, now, &n);
		*next = MIN_OF(*next, n);
	}
	if (l->worker) {
		work += worker_poll(l->worker, now, &n);
		*next = MIN_OF(*next, n);
	}
	rte_rcu_qsbr_quiescent(l->node->qsbr, l->qsbr);
	stat_add(&st->passes, 1);
	l->was_busy = work != 0;
	if (work)
		stat_add(&st->busy_passes, 1);
	return work;
}

static bool has_mail(const struct node_lcore *l)
{
	for (const struct mailbox *b = l->node->mailboxes.first; b; b = b->next)
		if (b->to.lcore == l && !rte_ring_empty(b->ring))
			return true;
	return false;
}

bool node_lcore_has_input(struct node_lcore *l)
{
	if (!l->told || l->mail)
		l->mail = has_mail(l);
	if (l->mail)
		return true;
	for (const struct control_service *const *s = l->node->services; l->control && *s; s++)
		if ((*s)->has_input && (*s)->has_input(l->control))
			return true;
	return false;
}

void node_lcore_slept(struct node_lcore *l, uint64_t ns)
{
	if (!ns)
		return;
	stat_add(&l->stats.sleep_ns, ns);
	l->last_pass_ns = 0; /* The gap was intended: it does not count for max_gap_ns. */
}
