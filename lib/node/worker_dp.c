/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker role: it reads its mailboxes first, whatever the state of its gates and queues, and then serves the
 * egresses that it owns. Worker lcores.
 */
#include "node/peer.h"
#include "node/service.h"
#include "snapshot/liveness.h"

#define EGRESS_BATCHES 4 /* limit of batches that one egress sends in a pass, if passes must be short */
#define RING_BURSTS 16	 /* limit of bursts that are popped from one mailbox in a pass */

static void worker_neigh_resolved(void *arg, uint32_t id)
{
	struct worker_role *w = arg;

	egress_neigh_resolved(&w->node->egress[snap_interface_of(w->neighs.neigh[id].interface)], &w->ctx, id);
}

void worker_refresh(struct worker_role *w)
{
	const struct snapshot *s = node_snapshot(w->node);
	bool owns[MAX_PORTS];
	struct neigh_sync sync = {.owns = owns, .resolved = worker_neigh_resolved, .arg = w};

	if (likely(s == w->ctx.s))
		return;
	for (uint32_t i = 0; i < w->node->n_ports; i++)
		owns[i] = w->node->owner[i] == w->index;
	w->ctx.s = s;
	for (uint16_t i = 0; i < w->n_egress; i++)
		egress_configure(w->egress[i], &w->ctx);
	w->ctx.touched = UINT32_MAX;
	for (uint16_t i = 0; i < w->node->n_worker_hooks; i++)
		if (w->node->worker_hooks[i]->snapshot)
			w->node->worker_hooks[i]->snapshot(w);
	neigh_table_sync(&w->neighs, s, &sync);
}

void worker_submit(struct worker_role *w, uint16_t port, struct rte_mbuf **pkts, unsigned int n)
{
	worker_refresh(w);
	egress_submit(&w->node->egress[port], &w->ctx, pkts, n);
}

/* Consecutive packets for the same egress are submitted together. */
static void worker_submit_runs(struct worker_role *w, struct rte_mbuf **pkts, unsigned int n)
{
	for (unsigned int i = 0, run; i < n; i += run) {
		uint8_t egress = pkt_of(pkts[i])->egress;

		for (run = 1; i + run < n && pkt_of(pkts[i + run])->egress == egress;)
			run++;
		egress_submit(&w->node->egress[egress], &w->ctx, &pkts[i], run);
	}
}

static unsigned int worker_empty_ring(struct worker_role *w, struct mailbox *r)
{
	struct rte_mbuf *pkts[NODE_BURST];
	unsigned int work = 0, n, size = batch_size(&w->lcore->batch);

	if (!r->ring)
		return 0;
	for (unsigned int i = 0; i < RING_BURSTS; i++) {
		n = mailbox_pop_packets(r, pkts, size);
		if (!n)
			return work;
		worker_refresh(w);
		worker_submit_runs(w, pkts, n);
		work += n;
		if (n < size)
			return work;
	}
	w->lcore->batch.pressed = true;
	return work;
}

static unsigned int worker_serve(struct worker_role *w, struct egress *e)
{
	unsigned int sent = egress_run(e, &w->ctx);

	if (unlikely(sent >= w->ctx.run_limit))
		w->lcore->batch.pressed = true;
	return sent;
}

/* Serve the egresses to which something has happened, and those for which it is time (worker_role.told). */
static unsigned int worker_serve_told(struct worker_role *w, uint64_t *next)
{
	unsigned int work = 0;

	for (uint32_t ports = w->owns; ports; ports &= ports - 1) {
		unsigned int port = (unsigned int)__builtin_ctz(ports);
		struct egress *e = &w->node->egress[port];

		if (w->ctx.touched >> port & 1 || w->wake[port] <= w->ctx.now) {
			work += worker_serve(w, e);
			w->wake[port] = egress_next(e, &w->ctx);
			if (!egress_has_ready(e))
				w->ctx.touched &= ~(1u << port);
		}
		*next = MIN_OF(*next, w->wake[port]);
	}
	return work;
}

static unsigned int worker_serve_all(struct worker_role *w, uint64_t *next)
{
	unsigned int work = 0;

	for (uint16_t i = 0; i < w->n_egress; i++) {
		work += worker_serve(w, w->egress[i]);
		*next = MIN_OF(*next, egress_next(w->egress[i], &w->ctx));
	}
	return work;
}

/* Read the mailboxes: messages before packets. */
static unsigned int worker_read(struct worker_role *w)
{
	struct node *node = w->node;
	unsigned int work = 0;

	for (uint16_t i = 0; i < node->n_worker_hooks; i++)
		if (node->worker_hooks[i]->read)
			work += node->worker_hooks[i]->read(w);
	work += worker_empty_ring(w, &node->control->to_worker[w->index]);
	for (uint16_t i = 0; i < node->n_rx; i++)
		work += worker_empty_ring(w, &node->rx[i].to_worker[w->index]);
	return work;
}

unsigned int worker_poll(struct worker_role *w, uint64_t now, uint64_t *next)
{
	struct node *node = w->node;
	unsigned int work = 0;

	*next = TIME_NEVER;
	w->ctx.now = now;
	if (unlikely(__atomic_load_n(&w->stalled, __ATOMIC_RELAXED)))
		return 0;
	worker_refresh(w);
	w->ctx.run_limit = w->ctx.s->pass_ns ? EGRESS_BATCHES * batch_size(&w->lcore->batch) : UINT32_MAX;
	if (unlikely(liveness_epoch(w->ctx.s) != w->epoch)) {
		w->epoch = liveness_epoch(w->ctx.s);
		w->ctx.touched = UINT32_MAX;
	}
	if (node->n_workers > 1)
		work += peer_read(w); /* earlier than what rx lcores send now */
	if (!w->told || w->lcore->mail)
		work += worker_read(w);
	for (uint16_t i = 0; i < node->n_worker_hooks; i++)
		if (node->worker_hooks[i]->look)
			node->worker_hooks[i]->look(w);
	work += unlikely(w->told) ? worker_serve_told(w, next) : worker_serve_all(w, next);
	for (uint16_t i = 0; i < node->n_worker_hooks; i++)
		if (node->worker_hooks[i]->next)
			*next = MIN_OF(*next, node->worker_hooks[i]->next(w, work));
	return work;
}
