/* SPDX-License-Identifier: BSD-3-Clause */
/* Places the flows of a job on paths, and bounds what any placement can reach (spread.h). Pure. */
#include "steer/spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 64	/* through all demands, to improve their places */
#define BISECTIONS 48	/* of the bound: more than the digits of a double that are printed */
#define ENOUGH 1.000001 /* rounding errors of sums of rates */

/* --- paths --- */

struct search {
	const struct spread *s;
	struct spread_pair *pair;
	const uint32_t *distance; /* to pair.to; UINT32_MAX: none */
	struct spread_path at;
};

static void extend(struct search *f, uint32_t node)
{
	if (node == f->pair->to) {
		f->pair->path[f->pair->n++] = f->at;
		return;
	}
	for (uint32_t e = 0; e < f->s->n_edges && f->pair->n < SPREAD_PATHS; e++) {
		const struct spread_edge *edge = &f->s->edge[e];

		if (edge->from != node || f->distance[edge->to] == UINT32_MAX ||
			f->distance[edge->to] + 1 != f->distance[node])
			continue;
		f->at.edge[f->at.n++] = e;
		extend(f, edge->to);
		f->at.n--;
	}
}

/* Hops from each node to `to`. */
static uint32_t *distances(const struct spread *s, uint32_t to)
{
	uint32_t *distance = malloc((s->n_nodes + 1) * sizeof(*distance));
	bool changed = true;

	if (!distance)
		return NULL;
	memset(distance, 0xff, s->n_nodes * sizeof(*distance));
	distance[to] = 0;
	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < s->n_edges; e++) {
			uint32_t next = distance[s->edge[e].to];

			if (next == UINT32_MAX || next + 1 >= distance[s->edge[e].from])
				continue;
			distance[s->edge[e].from] = next + 1;
			changed = true;
		}
	}
	return distance;
}

int spread_find_paths(const struct spread *s, struct spread_pair *pair)
{
	struct search f = {.s = s, .pair = pair};
	uint32_t *distance = distances(s, pair->to);

	if (!distance)
		return -ENOMEM;
	pair->n = 0;
	f.distance = distance;
	if (distance[pair->from] <= SPREAD_HOPS)
		extend(&f, pair->from);
	free(distance);
	return 0;
}

/* --- placement --- */

static void load(struct spread *s, const struct spread_path *p, double rate)
{
	for (uint32_t i = 0; i < p->n; i++)
		s->edge[p->edge[i]].load += rate;
}

/*
 * What a path would be worth to a flow: the more loaded its links would be, the worse. The fourth power lets the most loaded
 * link count first, and the others still tell paths apart.
 */
static double cost(const struct spread *s, const struct spread_path *p, double rate)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct spread_edge *e = &s->edge[p->edge[i]];
		double before = e->load / e->rate, after = (e->load + rate) / e->rate;

		sum += after * after * after * after - before * before * before * before;
	}
	return sum;
}

static uint32_t best_path(const struct spread *s, const struct spread_demand *d)
{
	const struct spread_pair *pair = &s->pair[d->pair];
	uint32_t best = 0;
	double least = cost(s, &pair->path[0], d->rate);

	for (uint32_t i = 1; i < pair->n; i++) {
		double c = cost(s, &pair->path[i], d->rate);

		if (c < least * (1 - 1e-12)) {
			least = c;
			best = i;
		}
	}
	return best;
}

struct order {
	double rate;
	uint32_t demand;
};

/* The largest first; of equal ones in the order in which they were given. */
static int by_rate(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate > y->rate ? -1 : 1;
	return x->demand < y->demand ? -1 : x->demand > y->demand;
}

/* Each demand in turn takes the best path that there is beside all others. False: nothing has changed. */
static bool improve(struct spread *s, const struct order *order)
{
	bool changed = false;

	for (uint32_t i = 0; i < s->n_demands; i++) {
		struct spread_demand *d = &s->demand[order[i].demand];
		const struct spread_pair *pair = &s->pair[d->pair];
		uint32_t best;

		load(s, &pair->path[d->path], -d->rate);
		best = best_path(s, d);
		if (cost(s, &pair->path[best], d->rate) < cost(s, &pair->path[d->path], d->rate) * (1 - 1e-9)) {
			d->path = best;
			changed = true;
		}
		load(s, &pair->path[d->path], d->rate);
	}
	return changed;
}

int spread_place(struct spread *s)
{
	struct order *order = malloc((s->n_demands + 1) * sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_demands; i++)
		order[i] = (struct order){s->demand[i].rate, i};
	qsort(order, s->n_demands, sizeof(*order), by_rate);
	for (uint32_t e = 0; e < s->n_edges; e++)
		s->edge[e].load = 0;
	for (uint32_t i = 0; i < s->n_demands; i++) {
		struct spread_demand *d = &s->demand[order[i].demand];

		d->path = best_path(s, d);
		load(s, &s->pair[d->pair].path[d->path], d->rate);
	}
	for (unsigned int round = 0; round < ROUNDS_MAX && improve(s, order); round++)
		;
	free(order);
	return 0;
}

double spread_most(const struct spread *s)
{
	double most = 0;

	for (uint32_t e = 0; e < s->n_edges; e++)
		if (s->edge[e].load / s->edge[e].rate > most)
			most = s->edge[e].load / s->edge[e].rate;
	return most;
}

/* --- the bound: max-flow (Dinic) from a source before all nodes to a sink behind them --- */

struct arc {
	uint32_t to;
	double room;
	uint32_t next; /* of the same node, plus 1 */
};

struct network {
	struct arc *arc; /* 2 k and 2 k + 1 are the two directions of one */
	uint32_t n_arcs, n_nodes;
	uint32_t *first; /* by node: arc plus 1 */
	uint32_t *level, *turn, *queue;
};

static void add_arc(struct network *n, uint32_t from, uint32_t to, double room)
{
	n->arc[n->n_arcs] = (struct arc){to, room, n->first[from]};
	n->first[from] = ++n->n_arcs;
	n->arc[n->n_arcs] = (struct arc){from, 0, n->first[to]};
	n->first[to] = ++n->n_arcs;
}

static bool level(struct network *n, uint32_t source, uint32_t sink, double least)
{
	uint32_t head = 0, tail = 0;

	memset(n->level, 0xff, n->n_nodes * sizeof(*n->level));
	n->level[source] = 0;
	n->queue[tail++] = source;
	while (head < tail) {
		uint32_t at = n->queue[head++];

		for (uint32_t a = n->first[at]; a; a = n->arc[a - 1].next) {
			const struct arc *x = &n->arc[a - 1];

			if (x->room <= least || n->level[x->to] != UINT32_MAX)
				continue;
			n->level[x->to] = n->level[at] + 1;
			n->queue[tail++] = x->to;
		}
	}
	return n->level[sink] != UINT32_MAX;
}

static double push(struct network *n, uint32_t at, uint32_t sink, double most, double least)
{
	if (at == sink)
		return most;
	for (; n->turn[at]; n->turn[at] = n->arc[n->turn[at] - 1].next) {
		struct arc *x = &n->arc[n->turn[at] - 1];
		double sent;

		if (x->room <= least || n->level[x->to] != n->level[at] + 1)
			continue;
		sent = push(n, x->to, sink, most < x->room ? most : x->room, least);
		if (sent <= least)
			continue;
		x->room -= sent;
		n->arc[(n->turn[at] - 1) ^ 1].room += sent;
		return sent;
	}
	return 0;
}

static double max_flow(struct network *n, uint32_t source, uint32_t sink, double want)
{
	double sum = 0, least = want * 1e-9, sent;

	while (level(n, source, sink, least)) {
		memcpy(n->turn, n->first, n->n_nodes * sizeof(*n->turn));
		while ((sent = push(n, source, sink, want, least)) > least)
			sum += sent;
	}
	return sum;
}

/* Which demands count: those from `only`, those to it, or all. */
enum side { FROM, TO, ALL };

static bool counts(const struct spread *s, const struct spread_demand *d, enum side side, uint32_t only)
{
	return side == ALL || (side == FROM ? s->pair[d->pair].from : s->pair[d->pair].to) == only;
}

/* Can the demands that count be carried if every link has `share` of its rate? */
static bool fits(const struct spread *s, struct network *n, double *give, double *take, double total, double share)
{
	uint32_t source = s->n_nodes, sink = s->n_nodes + 1;

	n->n_arcs = 0;
	memset(n->first, 0, n->n_nodes * sizeof(*n->first));
	for (uint32_t e = 0; e < s->n_edges; e++)
		add_arc(n, s->edge[e].from, s->edge[e].to, s->edge[e].rate * share);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (give[i] > 0)
			add_arc(n, source, i, give[i]);
		if (take[i] > 0)
			add_arc(n, i, sink, take[i]);
	}
	return max_flow(n, source, sink, total) * ENOUGH >= total;
}

static double least_share(const struct spread *s, struct network *n, double *give, enum side side, uint32_t only,
	double most)
{
	double *take = give + s->n_nodes, total = 0, low = 0, high = most;

	memset(give, 0, 2 * s->n_nodes * sizeof(*give));
	for (uint32_t i = 0; i < s->n_demands; i++) {
		const struct spread_demand *d = &s->demand[i];

		if (!counts(s, d, side, only))
			continue;
		give[s->pair[d->pair].from] += d->rate;
		take[s->pair[d->pair].to] += d->rate;
		total += d->rate;
	}
	if (total <= 0)
		return 0;
	for (unsigned int i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;

		if (fits(s, n, give, take, total, middle))
			high = middle;
		else
			low = middle;
	}
	return low;
}

int spread_bound(const struct spread *s, double *out)
{
	uint32_t nodes = s->n_nodes + 2, arcs = 2 * (s->n_edges + 2 * s->n_nodes);
	struct network n = {.n_nodes = nodes,
		.arc = malloc((arcs + 1) * sizeof(*n.arc)),
		.first = malloc(nodes * sizeof(*n.first)),
		.level = malloc(nodes * sizeof(*n.level)),
		.turn = malloc(nodes * sizeof(*n.turn)),
		.queue = malloc(nodes * sizeof(*n.queue))};
	double *give = malloc((2 * s->n_nodes + 1) * sizeof(*give)), most = spread_most(s), share;
	int rc = -ENOMEM;

	*out = 0;
	if (n.arc && n.first && n.level && n.turn && n.queue && give) {
		*out = least_share(s, &n, give, ALL, 0, most);
		for (uint32_t i = 0; i < s->n_nodes; i++) {
			share = least_share(s, &n, give, FROM, i, most);
			*out = share > *out ? share : *out;
			share = least_share(s, &n, give, TO, i, most);
			*out = share > *out ? share : *out;
		}
		rc = 0;
	}
	free(n.arc);
	free(n.first);
	free(n.level);
	free(n.turn);
	free(n.queue);
	free(give);
	return rc;
}
