/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker role: it always empties its rings, whatever its gates and queues look like, then serves the
 * egresses it owns.
 */
#include "node/node.h"

#define RING_BURSTS 16 /* bursts taken out of one ring in a pass */

static void nbr_resolved(void *arg, uint32_t id)
{
	struct worker_role *w = arg;

	egress_nbr_resolved(&w->node->egress[snap_port_of(w->nbrs.nbr[id].interface)], &w->ctx, id);
}

void worker_refresh(struct worker_role *w)
{
	const struct snapshot *s = node_snapshot(w->node);
	bool owns[MAX_PORTS];
	struct nbr_sync sync = {.owns = owns, .resolved = nbr_resolved, .arg = w};

	if (likely(s == w->ctx.s))
		return;
	for (uint32_t i = 0; i < w->node->n_ports; i++)
		owns[i] = w->node->owner[i] == w->index;
	w->ctx.s = s;
	for (uint16_t i = 0; i < w->n_egress; i++)
		egress_configure(w->egress[i], &w->ctx);
	node_pfc_configure(w);
	nbr_table_sync(&w->nbrs, s, &sync);
}

void worker_submit(struct worker_role *w, uint16_t port, struct rte_mbuf **pkts, unsigned int n)
{
	worker_refresh(w);
	egress_submit(&w->node->egress[port], &w->ctx, pkts, n);
}

/* Runs of packets for the same egress are submitted together. */
static void submit(struct worker_role *w, struct rte_mbuf **pkts, unsigned int n)
{
	for (unsigned int i = 0, run; i < n; i += run) {
		uint8_t egress = pkt_of(pkts[i])->egress;

		for (run = 1; i + run < n && pkt_of(pkts[i + run])->egress == egress;)
			run++;
		egress_submit(&w->node->egress[egress], &w->ctx, &pkts[i], run);
	}
}

static unsigned int empty_ring(struct worker_role *w, struct mailbox *r)
{
	struct rte_mbuf *pkts[NODE_BURST];
	unsigned int work = 0, n;

	if (!r->ring)
		return 0;
	for (unsigned int i = 0; i < RING_BURSTS; i++) {
		n = mailbox_pop_packets(r, pkts, NODE_BURST);
		if (!n)
			break;
		worker_refresh(w);
		submit(w, pkts, n);
		work += n;
		if (n < NODE_BURST)
			break;
	}
	return work;
}

static unsigned int read_mailbox(struct worker_role *w)
{
	struct nbr_message m[32];
	unsigned int n = mailbox_pop(&w->from_control, m, sizeof(m[0]), 32);

	for (unsigned int i = 0; i < n; i++)
		egress_nbr_update(&w->node->egress[snap_port_of(m[i].interface)], &w->ctx, &m[i]);
	return n;
}

/* Pauses and resumes that the control lcore has found legal. */
static unsigned int read_pauses(struct worker_role *w)
{
	struct pfc_message m[8];
	unsigned int n = mailbox_pop(&w->pauses, m, sizeof(m[0]), 8);

	for (unsigned int i = 0; i < n; i++) {
		switch ((enum pfc_message_kind)m[i].kind) {
		case PFC_PAUSE_QUEUES:
			if (!egress_pause(&w->node->egress[m[i].port], &w->ctx, &m[i].party, m[i].slice, &m[i].pause))
				stat_add(&w->ctx.stats->pfc_refused, 1);
			break;
		case PFC_TELL_NEIGHBOUR:
			node_pfc_relay(w, m[i].port, &m[i].request);
			break;
		}
	}
	return n;
}

unsigned int worker_poll(struct worker_role *w, uint64_t now, uint64_t *next)
{
	struct node *node = w->node;
	unsigned int work;

	*next = TIME_NEVER;
	w->ctx.now = now;
	if (unlikely(__atomic_load_n(&w->stalled, __ATOMIC_RELAXED)))
		return 0;
	worker_refresh(w);
	work = read_mailbox(w);
	work += node_pfc_read(w);
	work += read_pauses(w);
	work += empty_ring(w, &node->control->to_worker[w->index]);
	for (uint16_t i = 0; i < node->n_rx; i++)
		work += empty_ring(w, &node->rx[i].to_worker[w->index]);
	node_pfc_look(w);
	for (uint16_t i = 0; i < w->n_egress; i++) {
		struct egress *e = w->egress[i];

		work += egress_run(e, &w->ctx);
		*next = MIN_OF(*next, egress_next(e, &w->ctx));
	}
	*next = MIN_OF(*next, node_pfc_next(w, work));
	return work;
}
