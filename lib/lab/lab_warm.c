/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Before an object has its turn, the cache lines that it is going to touch are fetched. The state of a large network is
 * larger than the second cache, and an object runs for a handful of frames at a time: it would wait for one line after
 * the other, and for their pages. Fetching has no effect on a run; an address that is old does no harm. The lab is
 * single-threaded.
 */
#include <stdlib.h>

#include "lab/host_priv.h"
#include "lab/lab_warm.h"

#define LINES 512      /* room at first */
#define LEARN_TURNS 64 /* after so many turns: rings and queues have got their size */

static void add(void *arg, const void *from, size_t bytes)
{
	uintptr_t at = (uintptr_t)from & ~(uintptr_t)(CACHE_LINE_BYTES - 1), end = (uintptr_t)from + bytes;
	struct lab_warm *w = arg;

	for (; at < end; at += CACHE_LINE_BYTES) {
		if (w->n == w->room) {
			uint32_t room = w->room ? w->room * 2 : LINES;
			const void **line = realloc(w->line, room * sizeof(*line));

			if (!line)
				return; /* slower, no more */
			w->line = line;
			w->room = room;
		}
		w->line[w->n++] = (const void *)at;
	}
}

/* Both directions of the link at an end. */
static void add_link(struct lab_warm *w, const struct lab_way *out)
{
	const struct lab_way *in = &out->link->way[!out->from];

	add(w, out->link, offsetof(struct lab_link, way));
	add(w, out, offsetof(struct lab_way, tracks));
	add(w, in, offsetof(struct lab_way, tracks));
	line_lines(out->line, add, w);
	line_lines(in->line, add, w);
}

static void add_port(struct lab_warm *w, const struct lab_node *n, uint16_t port)
{
	const struct node *node = n->node;
	const struct node_lcore *owner = node->worker[node->owner[port]].lcore;
	const struct egress *e = &node->egress[port];

	if (n->way[port])
		add_link(w, n->way[port]);
	virtual_port_lines(node->port[port], add, w);
	add(w, e, offsetof(struct egress, control_tx));
	add(w, &e->tx, CACHE_LINE_BYTES);
	add(w, &e->slice[0], CACHE_LINE_BYTES);
	add(w, &owner->stats.port[port], 2 * CACHE_LINE_BYTES);
	add(w, &node->snapshot->port[port], sizeof(node->snapshot->port[port]));
	add(w, &n->queue[port][0], CACHE_LINE_BYTES);
}

static void add_lcore(struct lab_warm *w, const struct lab_lcore *lc)
{
	const struct node_lcore *l = lc->lcore;

	add(w, lc, offsetof(struct lab_lcore, name));
	add(w, l, offsetof(struct node_lcore, stats) + 3 * CACHE_LINE_BYTES);
	if (l->rx) {
		add(w, l->rx, offsetof(struct rx_role, queue) + l->rx->n_queues * sizeof(l->rx->queue[0]));
		add(w, &l->rx->classifier, CACHE_LINE_BYTES);
		add(w, &l->rx->told, sizeof(l->rx->told));
	}
	if (l->worker) {
		add(w, l->worker, 3 * CACHE_LINE_BYTES);
		add(w, &l->worker->neighs, sizeof(l->worker->neighs));
		add(w, l->worker->neighs.neigh, l->node->snapshot->n_neighs * sizeof(l->worker->neighs.neigh[0]));
		add(w, &l->worker->owns, 5 * CACHE_LINE_BYTES);
	}
}

static void add_events(struct lab_warm *w, const struct timeline *t)
{
	add(w, t, sizeof(*t));
	add(w, t->queue.slot, t->queue.n * sizeof(t->queue.slot[0]));
}

static void find_node(struct lab_node *n)
{
	struct lab_warm *w = &n->timeline.warm;

	if (!n->node)
		return; /* until it is started again */
	add(w, n, offsetof(struct lab_node, timeline));
	add_events(w, &n->timeline);
	add(w, &n->topo, 4 * sizeof(void *));
	add(w, &n->changed, 2 * CACHE_LINE_BYTES);
	add(w, n->node, 2 * CACHE_LINE_BYTES);
	add(w, n->node->pool, 2 * CACHE_LINE_BYTES);
	for (uint16_t i = 0; i < n->n_lcores; i++)
		add_lcore(w, &n->lcore[i]);
	for (uint16_t i = 0; i < n->n_ports; i++)
		add_port(w, n, i);
}

static void find_host(struct lab_host *h)
{
	struct lab_warm *w = &h->timeline.warm;

	add(w, h, offsetof(struct lab_host, timeline));
	add_events(w, &h->timeline);
	add(w, &h->topo, offsetof(struct lab_host, port[1]) - offsetof(struct lab_host, topo));
	add(w, &h->stats, sizeof(h->stats));
	for (uint16_t i = 0; i < h->n_ports; i++)
		add_link(w, h->port[i].way);
	for (uint32_t i = 0; i < h->lab->n_qps && w->n < LINES; i++) {
		const struct lab_qp *q = h->lab->qp[i];

		if (q->from == h) {
			add(w, q, offsetof(struct lab_qp, due_ns));
			add(w, &q->pace, sizeof(q->pace));
		}
		if (q->to == h)
			add(w, &q->expected, sizeof(*q) - offsetof(struct lab_qp, expected));
	}
}

void lab_warm(struct timeline *t)
{
	struct lab_warm *w = &t->warm;

	if (unlikely(++w->turns == LEARN_TURNS)) {
		w->n = 0;
		if (t->node)
			find_node(t->node);
		else
			find_host(t->host);
	}
#pragma GCC unroll 8 /* the loop is a tenth of the instructions of a large network */
	for (uint32_t i = 0; i < w->n; i++)
		__builtin_prefetch(w->line[i]);
}

void lab_warm_forget(struct lab_warm *w)
{
	w->n = w->turns = 0;
}

void lab_warm_fini(struct lab_warm *w)
{
	free(w->line);
}
