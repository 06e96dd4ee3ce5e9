/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the network could do at best, as a measure for what it did: the propagation delay of the shortest way of each
 * flow, and the payload that each receiver could get. Both come from links, hosts and flows alone, so no behaviour of
 * nodes changes them. Outer headers, routes and the max-rate of slices are not part of them. The lab is
 * single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/host_priv.h"

#define FAR UINT64_MAX
#define RECEIVES_AT_ONCE 1e18 /* bit/s */

/* Nodes, then hosts, then a source that all flows start from. Edges 2i and 2i + 1 are the directions of one link. */
struct graph {
	uint32_t n, n_edges;
	int32_t *first, *next; /* edges that leave a vertex: the first one, the next one; -1: none */
	uint32_t *to;
	double *room;	 /* of an edge, in bit/s */
	uint64_t *delay; /* of an edge, in ns */
	int32_t *by;	 /* edge by which a search has reached a vertex; -1: not reached */
	uint64_t *far;	 /* ns from the start of the search */
	uint32_t *queue;
	bool *queued;
};

static void graph_free(struct graph *g)
{
	free(g->first);
	free(g->next);
	free(g->to);
	free(g->room);
	free(g->delay);
	free(g->by);
	free(g->far);
	free(g->queue);
	free(g->queued);
}

static void add_edges(struct graph *g, uint32_t a, uint32_t b, double there, double back, uint64_t delay)
{
	for (int side = 0; side < 2; side++) {
		uint32_t e = g->n_edges++, from = side ? b : a;

		g->to[e] = side ? a : b;
		g->room[e] = side ? back : there;
		g->delay[e] = delay;
		g->next[e] = g->first[from];
		g->first[from] = (int32_t)e;
	}
}

static uint32_t vertex(const struct lab *lab, const struct lab_end *e)
{
	return e->node ? e->node->index : lab->n_nodes + (uint32_t)e->place.host;
}

static int graph_new(struct graph *g, const struct lab *lab)
{
	size_t n = lab->n_nodes + lab->n_hosts + 1, edges = 2 * ((size_t)lab->n_links + lab->n_flows);

	*g = (struct graph){.n = (uint32_t)n,
		.first = malloc(n * sizeof(*g->first)),
		.next = malloc(edges * sizeof(*g->next)),
		.to = malloc(edges * sizeof(*g->to)),
		.room = malloc(edges * sizeof(*g->room)),
		.delay = malloc(edges * sizeof(*g->delay)),
		.by = malloc(n * sizeof(*g->by)),
		.far = malloc(n * sizeof(*g->far)),
		.queue = malloc(n * sizeof(*g->queue)),
		.queued = calloc(n, sizeof(*g->queued))};
	if (!g->first || !g->next || !g->to || !g->room || !g->delay || !g->by || !g->far || !g->queue || !g->queued)
		return -ENOMEM;
	return 0;
}

/* Only the links, with the share of their rate that is payload. */
static void graph_links(struct graph *g, const struct lab *lab, double share)
{
	g->n_edges = 0;
	memset(g->first, 0xff, g->n * sizeof(*g->first));
	for (uint32_t i = 0; i < lab->n_links; i++) {
		const struct lab_link *l = &lab->link[i];
		double rate = (double)l->topo->rate_bps * share;

		add_edges(g, vertex(lab, &l->end[0]), vertex(lab, &l->end[1]), rate, rate, topo_delay(l->topo));
	}
}

/* Propagation delay from `from` to every vertex. A vertex is visited again when a shorter way to it is found. */
static void measure(struct graph *g, uint32_t from)
{
	uint32_t head = 0, n = 1;

	for (uint32_t v = 0; v < g->n; v++)
		g->far[v] = FAR;
	g->far[from] = 0;
	g->queue[0] = from;
	while (n) {
		uint32_t v = g->queue[head];

		head = (head + 1) % g->n;
		n--;
		g->queued[v] = false;
		for (int32_t e = g->first[v]; e >= 0; e = g->next[e]) {
			uint32_t to = g->to[e];

			if (g->far[v] + g->delay[e] >= g->far[to])
				continue;
			g->far[to] = g->far[v] + g->delay[e];
			if (!g->queued[to])
				g->queue[(head + n++) % g->n] = to;
			g->queued[to] = true;
		}
	}
}

/* A shortest way with room from `from` to `to`, as edges in `by`. */
static bool search(struct graph *g, uint32_t from, uint32_t to)
{
	uint32_t head = 0, n = 1;

	for (uint32_t v = 0; v < g->n; v++)
		g->by[v] = -1;
	g->queue[0] = from;
	while (head < n && g->by[to] < 0) {
		uint32_t v = g->queue[head++];

		for (int32_t e = g->first[v]; e >= 0; e = g->next[e]) {
			uint32_t next = g->to[e];

			if (g->room[e] < 1 || g->by[next] >= 0 || next == from)
				continue;
			g->by[next] = e;
			g->queue[n++] = next;
		}
	}
	return g->by[to] >= 0;
}

/* The largest flow between two vertices, by the algorithm of Edmonds and Karp. */
static double largest_flow(struct graph *g, uint32_t from, uint32_t to)
{
	double sum = 0;

	while (search(g, from, to)) {
		double room = RECEIVES_AT_ONCE;

		for (uint32_t v = to; v != from; v = g->to[g->by[v] ^ 1])
			room = MIN_OF(room, g->room[g->by[v]]);
		for (uint32_t v = to; v != from; v = g->to[g->by[v] ^ 1]) {
			g->room[g->by[v]] -= room;
			g->room[g->by[v] ^ 1] += room;
		}
		sum += room;
	}
	return sum;
}

/* Payload of full packets as a share of the bits on the wire. */
static double payload_share(const struct topo_flow *f)
{
	double payload = (double)MIN_OF(f->mtu, f->message);

	return payload / (payload + 14 + (f->family == 4 ? 20 : 40) + 8 + 12 + ROCE_ICRC_BYTES + LINE_OVERHEAD);
}

/* Payload in bit/s that the flow's rate allows. */
static double offered_bps(const struct topo_flow *f)
{
	return f->rate_bps ? (double)f->rate_bps * (double)f->queue_pairs * payload_share(f) : RECEIVES_AT_ONCE;
}

/* What the links could carry to a receiver from all its senders if there were no other flows. */
static double best_of(struct graph *g, const struct lab *lab, const struct lab_host *h)
{
	double share = 0;

	for (const struct lab_flow *f = h->flows; f; f = f->next)
		share = MAX_OF(share, payload_share(f->topo));
	graph_links(g, lab, share);
	for (const struct lab_flow *f = h->flows; f; f = f->next)
		add_edges(g, g->n - 1, lab->n_nodes + f->from, RECEIVES_AT_ONCE, 0, 0);
	return h->flows ? largest_flow(g, g->n - 1, lab->n_nodes + h->index) : 0;
}

static uint32_t host_named(const struct lab *lab, const char *name)
{
	uint32_t i = 0;

	while (i < lab->n_hosts && strcmp(lab->host[i].topo->name, name) != 0)
		i++;
	return i;
}

static int init_flows(struct lab *lab)
{
	lab->n_flows = lab->topo->flows.n;
	lab->flow = calloc(lab->n_flows + 1, sizeof(*lab->flow));
	for (uint32_t i = 0; lab->flow && i < lab->n_flows; i++) {
		struct lab_flow *f = &lab->flow[i];

		f->topo = &lab->topo->flows.items[i];
		f->from = host_named(lab, f->topo->from);
		f->to = host_named(lab, f->topo->to);
		f->offered_bps = offered_bps(f->topo);
		f->next = lab->host[f->to].flows;
		lab->host[f->to].flows = f;
	}
	return lab->flow ? 0 : -ENOMEM;
}

int lab_bounds_init(struct lab *lab, char *err, size_t size)
{
	struct graph g = {0};
	int rc = init_flows(lab);

	rc = rc ? rc : graph_new(&g, lab);
	if (rc == 0) {
		graph_links(&g, lab, 1);
		for (uint32_t i = 0; i < lab->n_flows; i++) {
			struct lab_flow *f = &lab->flow[i];

			measure(&g, lab->n_nodes + f->from);
			f->way_ns = g.far[lab->n_nodes + f->to];
			f->way_ns = f->way_ns == FAR ? 0 : f->way_ns;
		}
		for (uint32_t h = 0; h < lab->n_hosts; h++)
			lab->host[h].best_bps = best_of(&g, lab, &lab->host[h]);
	} else {
		snprintf(err, size, "out of memory");
	}
	graph_free(&g);
	return rc;
}

void lab_bounds_fini(struct lab *lab)
{
	free(lab->flow);
}

/* All payload bytes of a flow with a number of messages. A datagram has one packet. */
static double all_bytes(const struct topo_flow *f)
{
	uint64_t message = f->transport == TRANSPORT_RC ? f->message : MIN_OF(f->message, f->mtu);

	return (double)f->messages * (double)message * (double)f->queue_pairs;
}

/* Payload bytes that the senders of a flow can have offered so that they arrive from t0 to t1. */
static double offered_bytes(const struct lab *lab, const struct lab_flow *f, uint64_t t0, uint64_t t1)
{
	uint64_t begin = MAX_OF(t0, f->topo->start_ns + f->way_ns), end = t1;

	if (!f->topo->messages)
		end = MIN_OF(end, lab->topo->lab.run_ns + f->way_ns);
	return end > begin ? f->offered_bps * (double)(end - begin) / 8e9 : 0;
}

/* Payload bytes that a flow may still deliver at t0. Flows without a number of messages end with the run. */
static double left_bytes(const struct lab *lab, struct lab_flow *f, uint64_t t0)
{
	double left = t0 < lab->topo->lab.run_ns + f->way_ns ? RECEIVES_AT_ONCE : 0;

	if (f->topo->messages)
		left = MAX_OF(all_bytes(f->topo) - (double)f->sampled_bytes, 0.0);
	f->sampled_bytes = f->bytes;
	return left;
}

/* What a stall, or a slow receiver, makes wait can arrive later, faster than it was offered. */
double lab_bound_bytes(const struct lab *lab, struct lab_host *h, uint64_t t0, uint64_t t1)
{
	double offered = 0, left = 0, limit = h->best_bps * (double)(t1 - t0) / 8e9, bytes;

	for (struct lab_flow *f = h->flows; f; f = f->next) {
		offered += offered_bytes(lab, f, t0, t1);
		left += left_bytes(lab, f, t0);
	}
	if (left > 0)
		h->timely_bytes += h->stats.goodput_bytes - h->sampled_goodput;
	h->sampled_goodput = h->stats.goodput_bytes;
	h->waiting_bytes = MIN_OF(h->waiting_bytes + MIN_OF(offered, limit), left);
	if (h->topo->sink.drain_bps)
		limit = MIN_OF(limit, (double)h->topo->sink.drain_bps / 8e9 * (double)host_awake_ns(h, t0, t1));
	bytes = MIN_OF(h->waiting_bytes, limit);
	h->waiting_bytes -= bytes;
	return bytes;
}
