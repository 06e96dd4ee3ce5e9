/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlock: the wait-for graph of the whole network. A paused queue waits for the buffers that paused it. Each of
 * these waits until enough of its packets have left their queues.
 *
 * The check removes all that can still move until nothing changes: a buffer when the packets in stuck queues alone
 * would not keep it above its threshold, a queue when no stuck buffer pauses it. A pause that is about to end, or a
 * cycle with an exit, is therefore not reported as a deadlock. The rest of the graph contains a cycle, which is
 * reported. Hosts drain their buffers, so no queue waits for a host for ever. Reads the nodes only; the lab is single-
 * threaded.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/lab_priv.h"
#include "service/pfc/service_wait.h"

struct wait_queue {
	struct lab_node *node;
	struct node_queue id;
	bool stuck;
};

struct wait_buffer {
	struct pfc_threshold level; /* the part in stuck queues */
	bool stuck;
};

struct wait_edge {
	uint32_t queue, buffer;
	uint64_t bytes, buffers; /* of the buffer in the queue; 0: the buffer pauses the queue */
};

struct wait_graph {
	struct lab *lab;
	struct lab_node *node; /* being visited */
	struct wait_queue *queue;
	struct wait_buffer *buffer; /* by node, port and class */
	uint64_t *shared;	    /* by node: of the buffers shared by classes with alpha, those in stuck queues */
	struct wait_edge *edge;
	uint32_t n_queues, n_edges, room_queues, room_edges;
	uint8_t class; /* class for which the far end is searched */
	bool failed;   /* out of memory */
};

static uint32_t buffer_id(const struct lab_node *n, uint16_t port, uint8_t class)
{
	return (n->index * MAX_PORTS + port) * 8 + class;
}

/* Room for one more item; NULL when out of memory, and the graph is then incomplete. */
static void *grow(struct wait_graph *g, void *items, uint32_t n, uint32_t *room, size_t size)
{
	void *more;

	if (n < *room)
		return items;
	more = realloc(items, (*room * 2 + 64) * size);
	if (more)
		*room = *room * 2 + 64;
	else
		g->failed = true;
	return more ? more : items;
}

static void add_edge(struct wait_graph *g, uint32_t buffer, uint64_t bytes, uint64_t buffers)
{
	g->edge = grow(g, g->edge, g->n_edges, &g->room_edges, sizeof(*g->edge));
	if (!g->failed)
		g->edge[g->n_edges++] = (struct wait_edge){g->n_queues - 1, buffer, bytes, buffers};
}

static void closed(void *arg, const struct node_queue *q)
{
	struct wait_graph *g = arg;

	g->queue = grow(g, g->queue, g->n_queues, &g->room_queues, sizeof(*g->queue));
	if (!g->failed)
		g->queue[g->n_queues++] = (struct wait_queue){g->node, *q, true};
}

static void charges(void *arg, uint16_t port, uint8_t class, uint64_t bytes, uint64_t buffers)
{
	struct wait_graph *g = arg;

	if (port < MAX_PORTS)
		add_edge(g, buffer_id(g->node, port, class), bytes, buffers);
}

/* The running node at the other end of the link, or NULL. */
static const struct lab_end *other_end(const struct lab_node *n, uint16_t port)
{
	const struct lab_way *w = n->way[port];
	const struct lab_end *end = w ? &w->link->end[!w->from] : NULL;

	return end && end->node && end->node->node ? end : NULL;
}

/* The buffer of an end and class pauses the queue. */
static void wait_for(struct wait_graph *g, struct lab_node *n, uint16_t port, uint8_t class)
{
	if (node_buffer_stops(n->node, port, class, NULL, 0))
		add_edge(g, buffer_id(n, port, class), 0, 0);
}

static struct lab_node *node_of(struct lab *lab, const struct ipv6_addr *loopback)
{
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		if (lab->node[i].node &&
			memcmp(&node_snapshot(lab->node[i].node)->loopback, loopback, sizeof(*loopback)) == 0)
			return &lab->node[i];
	return NULL;
}

static void held_by_tunnel(void *arg, const struct ip_prefix *sid, const struct ipv6_addr *source)
{
	struct wait_graph *g = arg;
	struct lab_node *from = node_of(g->lab, source);
	uint8_t class = g->queue[g->n_queues - 1].id.class;
	uint64_t ports = from ? node_tunnels_stop(from->node, sid, class) : 0;

	for (uint16_t port = 0; ports >> port; port++)
		if (ports >> port & 1)
			wait_for(g, from, port, class);
}

/* A relay has paused a gateway on behalf of the gateway at its far end. */
static void held_by_relay(void *arg, const struct ip_prefix *sid, const struct ipv6_addr *source)
{
	struct wait_graph *g = arg;
	struct lab_node *from = node_of(g->lab, source);
	uint64_t ports = from ? node_relays_to(from->node, sid) : 0;

	for (uint16_t port = 0; ports >> port; port++) {
		const struct lab_end *gateway = ports >> port & 1 ? other_end(from, port) : NULL;

		if (gateway)
			wait_for(g, gateway->node, gateway->port, g->class);
	}
}

static void held_by_link(void *arg)
{
	struct wait_graph *g = arg;
	const struct wait_queue *q = &g->queue[g->n_queues - 1];
	const struct lab_end *end = other_end(g->node, q->id.port);

	if (!end)
		return;
	wait_for(g, end->node, end->port, q->id.class);
	g->class = q->id.class;
	node_relay_holds(end->node->node, end->port, q->id.class, g->lab->now, held_by_relay, g);
}

static void build(struct wait_graph *g)
{
	const struct service_wait_visitor visitor = {.arg = g,
		.closed = closed,
		.held_by_link = held_by_link,
		.held_by_tunnel = held_by_tunnel,
		.charges = charges};

	for (uint32_t i = 0; i < g->lab->n_nodes && !g->failed; i++) {
		g->node = &g->lab->node[i];
		if (g->node->node)
			service_wait_visit(g->node->node, g->lab->now, &visitor);
	}
	if (g->n_queues) {
		g->buffer = calloc((size_t)g->lab->n_nodes * MAX_PORTS * 8, sizeof(*g->buffer));
		g->shared = calloc(g->lab->n_nodes, sizeof(*g->shared));
	}
	g->failed |= g->n_queues && (!g->buffer || !g->shared);
}

static struct lab_node *node_of_buffer(const struct wait_graph *g, uint32_t buffer)
{
	return &g->lab->node[buffer / 8 / MAX_PORTS];
}

static uint16_t port_of_buffer(uint32_t buffer)
{
	return (uint16_t)(buffer / 8 % MAX_PORTS);
}

/* The contents of the buffers if all queues that are not stuck were empty. */
static void fill(struct wait_graph *g)
{
	memset(g->buffer, 0, (size_t)g->lab->n_nodes * MAX_PORTS * 8 * sizeof(*g->buffer));
	memset(g->shared, 0, g->lab->n_nodes * sizeof(*g->shared));
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct wait_edge *e = &g->edge[i];
		const struct lab_node *n = node_of_buffer(g, e->buffer);

		if (!e->buffers || !g->queue[e->queue].stuck)
			continue;
		g->buffer[e->buffer].level.bytes += e->bytes;
		g->buffer[e->buffer].level.buffers += e->buffers;
		if (node_buffer_shares(n->node, port_of_buffer(e->buffer), e->buffer % 8))
			g->shared[n->index] += e->buffers;
	}
}

/* Remove the queues and buffers that can move; returns the number of stuck queues. */
static uint32_t reduce(struct wait_graph *g)
{
	uint32_t stuck = g->n_queues, before = UINT32_MAX;

	while (stuck && stuck != before) {
		before = stuck;
		fill(g);
		for (uint32_t i = 0; i < g->n_queues; i++)
			g->queue[i].stuck = false;
		for (uint32_t i = 0; i < g->n_edges; i++) {
			const struct wait_edge *e = &g->edge[i];
			const struct lab_node *n = node_of_buffer(g, e->buffer);
			struct wait_buffer *b = &g->buffer[e->buffer];

			if (e->buffers)
				continue;
			b->stuck = node_buffer_stops(n->node, port_of_buffer(e->buffer), e->buffer % 8, &b->level,
				g->shared[n->index]);
			g->queue[e->queue].stuck |= b->stuck;
		}
		stuck = 0;
		for (uint32_t i = 0; i < g->n_queues; i++)
			stuck += g->queue[i].stuck;
	}
	return stuck;
}

/*
 * An edge from a stuck queue to a stuck buffer that pauses it, or from a stuck buffer to a stuck queue with its
 * packets.
 */
static const struct wait_edge *next(const struct wait_graph *g, bool to_buffer, uint32_t from)
{
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct wait_edge *e = &g->edge[i];

		if (g->queue[e->queue].stuck && g->buffer[e->buffer].stuck && to_buffer == !e->buffers &&
			from == (to_buffer ? e->queue : e->buffer))
			return e;
	}
	return NULL;
}

static const char *port_name(const struct lab_node *n, uint16_t port)
{
	return n->topo->config->ports.items[port].name;
}

/* "queue n1.east class 3 waits for buffer n2.west, ..., which waits for the first queue" */
static void name_cycle(const struct wait_graph *g, char *why, size_t size)
{
	const struct wait_edge *e;
	uint32_t at = 0, first;
	size_t n = 0;

	while (!g->queue[at].stuck)
		at++;
	/* after as many steps as there are queues, the walk is on the cycle */
	for (uint32_t i = 0; i < g->n_queues; i++)
		at = next(g, false, next(g, true, at)->buffer)->queue;
	first = at;
	do {
		const struct wait_queue *q = &g->queue[at];
		const struct lab_node *far;

		e = next(g, true, at);
		far = node_of_buffer(g, e->buffer);
		if (n < size)
			n += (size_t)snprintf(why + n, size - n, "queue %s.%s class %u waits for buffer %s.%s, ",
				q->node->topo->name, port_name(q->node, q->id.port), q->id.class, far->topo->name,
				port_name(far, port_of_buffer(e->buffer)));
		at = next(g, false, e->buffer)->queue;
	} while (at != first);
	if (n < size)
		snprintf(why + n, size - n, "which waits for the first queue");
}

bool lab_no_deadlock(struct lab *lab, char *why, size_t size)
{
	struct wait_graph g = {.lab = lab};
	bool none;

	if (lab->in_turns)
		return true; /* objects whose clocks differ may seem to wait for each other */
	build(&g);
	none = g.failed || reduce(&g) == 0;
	if (!none)
		name_cycle(&g, why, size);
	free(g.queue);
	free(g.buffer);
	free(g.shared);
	free(g.edge);
	return none;
}
