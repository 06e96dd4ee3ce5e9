/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlock: the wait-for graph of the whole network. A paused queue waits for the buffers that paused it. A session's
 * queue waits for credit, which is the buffer that the next node has reserved for it. Each of these buffers waits until
 * enough of its packets have left their queues.
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
#include "service/rsvp/service_audit.h"

struct wait_queue {
	struct lab_node *node;
	struct node_queue id;
	uint32_t line; /* of a session; 0: none */
	bool stuck;
};

struct wait_buffer {
	struct pfc_threshold level; /* the part in stuck queues; buffers: units, of a reservation */
	bool stuck;
};

struct wait_edge {
	uint32_t queue, buffer;
	uint64_t bytes, buffers; /* of the buffer in the queue; buffers 0: the buffer pauses the queue */
	uint32_t need, reserved; /* then, of a session: units that it waits for, and that are reserved for it */
};

struct wait_graph {
	struct lab *lab;
	struct lab_node *node; /* being visited */
	struct wait_queue *queue;
	struct wait_buffer *buffer; /* by node, port and class; after these the reservations of nodes */
	uint32_t *first;	    /* by node: buffer of reservation 0 */
	uint32_t n_buffers, at;	    /* at: the queue that is being visited; UINT32_MAX: none */
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

static void add(struct wait_graph *g, const struct wait_edge *e)
{
	g->edge = grow(g, g->edge, g->n_edges, &g->room_edges, sizeof(*g->edge));
	if (!g->failed)
		g->edge[g->n_edges++] = *e;
}

static void add_edge(struct wait_graph *g, uint32_t buffer, uint64_t bytes, uint64_t buffers)
{
	add(g, &(struct wait_edge){.queue = g->at, .buffer = buffer, .bytes = bytes, .buffers = buffers});
}

static void closed(void *arg, const struct node_queue *q)
{
	struct wait_graph *g = arg;

	g->queue = grow(g, g->queue, g->n_queues, &g->room_queues, sizeof(*g->queue));
	if (!g->failed)
		g->queue[g->n_queues++] = (struct wait_queue){.node = g->node, .id = *q, .stuck = true};
	g->at = g->n_queues - 1;
}

static void charges(void *arg, uint16_t port, uint8_t class, uint64_t bytes, uint64_t buffers)
{
	struct wait_graph *g = arg;

	if (port < MAX_PORTS)
		add_edge(g, buffer_id(g->node, port, class), bytes, buffers);
}

/* Packets of a queue stand in a buffer: one edge for all of them. */
static void stands_in(struct wait_graph *g, uint32_t buffer, uint64_t bytes, uint64_t buffers)
{
	for (uint32_t i = g->n_edges; i-- && g->edge[i].queue == g->at;) {
		if (g->edge[i].buffer != buffer || !g->edge[i].buffers)
			continue;
		g->edge[i].bytes += bytes;
		g->edge[i].buffers += buffers;
		return;
	}
	add_edge(g, buffer, bytes, buffers);
}

static void granted(void *arg, uint32_t grant, uint32_t units)
{
	struct wait_graph *g = arg;

	if (g->at != UINT32_MAX)
		stands_in(g, g->first[g->node->index] + grant, 0, units);
}

static void charged(void *arg, uint16_t port, uint8_t class, uint32_t bytes, uint32_t buffers)
{
	struct wait_graph *g = arg;

	if (g->at != UINT32_MAX && port < MAX_PORTS && class < 8)
		stands_in(g, buffer_id(g->node, port, class), bytes, buffers);
}

/* The session's queue waits for the buffer that the next node has reserved for it. */
static void add_session(struct wait_graph *g, const struct audit_line *l)
{
	struct node_queue id = {l->port, l->slice, l->class};
	uint32_t grant;
	const struct lab_node *to = lab_credit_grantor(g->node, l->use, &grant);
	struct audit_grant at;

	closed(g, &id);
	if (g->failed)
		return;
	g->queue[g->at].line = l->use;
	if (to && service_audit_grant(to->node, grant, &at))
		add(g, &(struct wait_edge){.queue = g->at,
			       .buffer = g->first[to->index] + grant,
			       .need = l->need,
			       .reserved = at.buf});
}

/* A session with credit waits with the queue of its class, if that one is paused. */
static void line(void *arg, const struct audit_line *l)
{
	struct wait_graph *g = arg;

	if (l->need) {
		add_session(g, l);
		return;
	}
	for (g->at = 0; g->at < g->n_queues; g->at++) {
		const struct wait_queue *q = &g->queue[g->at];

		if (q->node == g->node && q->id.port == l->port && q->id.slice == l->slice && q->id.class == l->class &&
			!q->line)
			return;
	}
	g->at = UINT32_MAX;
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

/* Numbers of the buffers: ports and classes of all nodes, and reservations. */
static void number_buffers(struct wait_graph *g)
{
	g->n_buffers = g->lab->n_nodes * MAX_PORTS * 8;
	g->first = calloc(g->lab->n_nodes + 1, sizeof(*g->first));
	g->failed = !g->first;
	for (uint32_t i = 0; i < g->lab->n_nodes && !g->failed; i++) {
		struct audit_node a = {0};

		g->first[i] = g->n_buffers;
		if (g->lab->node[i].credit && service_audit_node(g->lab->node[i].node, &a))
			g->n_buffers += a.numbers;
	}
}

static void build(struct wait_graph *g)
{
	const struct service_wait_visitor visitor = {.arg = g,
		.closed = closed,
		.held_by_link = held_by_link,
		.held_by_tunnel = held_by_tunnel,
		.charges = charges,
		.granted = granted};
	const struct service_audit_visitor sessions = {.arg = g, .line = line, .granted = granted, .charged = charged};

	number_buffers(g);
	for (uint32_t i = 0; i < g->lab->n_nodes && !g->failed; i++) {
		g->node = &g->lab->node[i];
		if (g->node->node)
			service_wait_visit(g->node->node, g->lab->now, &visitor);
		if (g->node->credit)
			service_audit_visit(g->node->node, &sessions);
	}
	if (g->n_queues) {
		g->buffer = calloc(g->n_buffers, sizeof(*g->buffer));
		g->shared = calloc(g->lab->n_nodes, sizeof(*g->shared));
	}
	g->failed |= g->n_queues && (!g->buffer || !g->shared);
}

/* Of a port and class; else it is reserved for a session. */
static bool is_of_port(const struct wait_graph *g, uint32_t buffer)
{
	return buffer < g->lab->n_nodes * MAX_PORTS * 8;
}

static struct lab_node *node_of_buffer(const struct wait_graph *g, uint32_t buffer)
{
	uint32_t i = 0;

	if (is_of_port(g, buffer))
		return &g->lab->node[buffer / 8 / MAX_PORTS];
	while (i + 1 < g->lab->n_nodes && g->first[i + 1] <= buffer)
		i++;
	return &g->lab->node[i];
}

static uint16_t port_of_buffer(uint32_t buffer)
{
	return (uint16_t)(buffer / 8 % MAX_PORTS);
}

/* The contents of the buffers if all queues that are not stuck were empty. */
static void fill(struct wait_graph *g)
{
	memset(g->buffer, 0, g->n_buffers * sizeof(*g->buffer));
	memset(g->shared, 0, g->lab->n_nodes * sizeof(*g->shared));
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct wait_edge *e = &g->edge[i];
		const struct lab_node *n = node_of_buffer(g, e->buffer);

		if (!e->buffers || !g->queue[e->queue].stuck)
			continue;
		g->buffer[e->buffer].level.bytes += e->bytes;
		g->buffer[e->buffer].level.buffers += e->buffers;
		if (is_of_port(g, e->buffer) && node_buffer_shares(n->node, port_of_buffer(e->buffer), e->buffer % 8))
			g->shared[n->index] += e->buffers;
	}
}

/* Would the buffer stop the queue if only the packets in stuck queues were in it? Reserved units that are free are credit soon. */
static bool stops(const struct wait_graph *g, const struct wait_edge *e)
{
	const struct lab_node *n = node_of_buffer(g, e->buffer);
	const struct pfc_threshold *level = &g->buffer[e->buffer].level;

	if (!is_of_port(g, e->buffer))
		return level->buffers && e->need + level->buffers > e->reserved;
	return node_buffer_stops(n->node, port_of_buffer(e->buffer), e->buffer % 8, level, g->shared[n->index]);
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
			struct wait_buffer *b = &g->buffer[e->buffer];

			if (e->buffers)
				continue;
			b->stuck = stops(g, e);
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

static size_t name_wait(const struct wait_graph *g, const struct wait_edge *e, char *why, size_t size)
{
	const struct wait_queue *q = &g->queue[e->queue];
	const struct lab_node *far = node_of_buffer(g, e->buffer);

	if (q->line)
		return (size_t)snprintf(why, size, "session %u of %s class %u waits for credit of %s, ", q->line,
			q->node->topo->name, q->id.class, far->topo->name);
	return (size_t)snprintf(why, size, "queue %s.%s class %u waits for buffer %s.%s, ", q->node->topo->name,
		port_name(q->node, q->id.port), q->id.class, far->topo->name,
		port_name(far, port_of_buffer(e->buffer)));
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
		e = next(g, true, at);
		if (n < size)
			n += name_wait(g, e, why + n, size - n);
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
	free(g.first);
	return none;
}
