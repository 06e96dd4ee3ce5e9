/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invariants. One table: a feature that makes a promise adds a row with a function that checks it.
 *
 *   way      after every arrival on a line
 *   queue    after every pass of an lcore, for the ports whose egress it owns: packets are queued only there
 *   touched  after every pass of an lcore of a node, for the ports that have sent or missed frames since the last check
 *   poll     after every pass of an lcore of a node
 *   grant    after every pass of an lcore of a node with credit, for the sessions of previous hops
 *   use      the same, for the sessions that use credit
 *   credit   the same, for the node
 *   full     at a sample, unless little has happened since the last time, at the end, and after each event with
 *            --check-every-event; the other invariants are then checked too, for all ports of all nodes
 *
 * All but the last must be cheap, at a cost that does not depend on the number of nodes.
 *
 * Each function returns true, or false with the reason. They only read. The lab is single-threaded.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/host_priv.h"

struct invariant {
	const char *name;
	bool (*way)(const struct lab_way *w, char *why, size_t size);
	bool (*queue)(const struct lab_node *n, uint16_t port, char *why, size_t size);
	bool (*touched)(const struct lab_node *n, uint16_t port, char *why, size_t size);
	bool (*poll)(const struct lab_node *n, char *why, size_t size);
	bool (*grant)(const struct lab_node *n, uint32_t number, char *why, size_t size);
	bool (*use)(const struct lab_node *n, uint32_t number, char *why, size_t size);
	bool (*credit)(const struct lab_node *n, char *why, size_t size);
	bool (*full)(struct lab *lab, char *why, size_t size);
};

/* A line loses frames only by its configured faults. */
static bool line_conserved(const struct lab_way *w, char *why, size_t size)
{
	const struct line_stats *s = line_stats(w->line);

	if (line_conserves(w->line))
		return true;
	snprintf(why, size,
		"%s: sent %llu, duplicated %llu, delivered %llu, corrupt %llu, lost %llu, cut %llu, in flight %llu",
		w->name, (unsigned long long)s->sent, (unsigned long long)s->duplicated,
		(unsigned long long)s->delivered, (unsigned long long)s->corrupt, (unsigned long long)s->lost,
		(unsigned long long)s->cut, (unsigned long long)line_frames(w->line));
	return false;
}

/* A port has sent as many frames as its line has accepted. */
static bool port_agrees(const struct lab_node *n, uint16_t port, char *why, size_t size)
{
	uint64_t sent;

	if (!n->way[port])
		return true;
	sent = virtual_port_stats(n->node->port[port])->sent + n->past.port_sent[port];
	if (sent == line_stats(n->way[port]->line)->sent)
		return true;
	snprintf(why, size, "%s: the port has sent %llu frames, its line has accepted %llu", n->way[port]->name,
		(unsigned long long)sent, (unsigned long long)line_stats(n->way[port]->line)->sent);
	return false;
}

/* Has any port a lossless class? Then the ingress headroom bounds the queues, not the egress limit. */
static bool has_lossless(const struct node *n)
{
	for (unsigned int i = 0; i < PORT_SLOTS; i++)
		if (n->lossless[i] & UINT8_MAX)
			return true;
	return false;
}

static bool backlog_bounded(const struct lab_node *n, uint16_t port, char *why, size_t size)
{
	uint64_t queued = node_port_queued(n->node, port), credited = n->node->config->credit.pool;

	if (queued <= n->queue_limit[port] + credited || has_lossless(n->node))
		return true;
	snprintf(why, size,
		"%s: %llu packets are queued on port %s, more than the %llu that its queues and bursts can hold",
		n->topo->name, (unsigned long long)queued, n->node->port[port]->name,
		(unsigned long long)(n->queue_limit[port] + credited));
	return false;
}

static bool pool_lasted(const struct lab_node *n, uint16_t port, char *why, size_t size)
{
	if (!virtual_port_stats(n->node->port[port])->nombuf)
		return true;
	snprintf(why, size, "%s: the buffer pool was empty at port %s", n->topo->name, n->node->port[port]->name);
	return false;
}

/*
 * A node never holds more packets than the buffer budget of its configuration, so that its pool is never empty. Each
 * packet has at least one buffer: while the buffers in use are within the budget, the packets need not be counted.
 */
static bool node_bounded(const struct lab_node *n, char *why, size_t size)
{
	uint64_t held;

	if (virtual_pool_in_use(n->node->pool) <= n->promised)
		return true;
	held = node_held(n->node);
	if (held <= n->promised)
		return true;
	snprintf(why, size, "%s: %llu packets are held, more than the budget of %llu buffers", n->topo->name,
		(unsigned long long)held, (unsigned long long)n->promised);
	return false;
}

/* rx + originated = sent + dropped + consumed + held, in every node. */
static bool nodes_conserve(struct lab *lab, char *why, size_t size)
{
	for (uint32_t i = 0; i < lab->n_nodes; i++) {
		const struct node_balance *b = lab->node[i].changed ? lab_node_balance(&lab->node[i]) : NULL;

		if (!b || !b->missing)
			continue;
		snprintf(why, size,
			"%s: rx %llu + originated %llu - sent %llu - dropped %llu - consumed %llu - held %llu = %lld",
			lab->node[i].topo->name, (unsigned long long)b->rx, (unsigned long long)b->originated,
			(unsigned long long)b->sent, (unsigned long long)b->dropped, (unsigned long long)b->consumed,
			(unsigned long long)b->held, (long long)b->missing);
		return false;
	}
	return true;
}

/* The counters of a node match those of its ports. */
static bool nodes_count(struct lab *lab, char *why, size_t size)
{
	for (uint32_t i = 0; i < lab->n_nodes; i++) {
		struct lab_node *n = &lab->node[i];
		const struct node_balance *b;
		uint64_t polled = 0, sent = 0;

		if (!n->changed)
			continue;
		b = lab_node_balance(n);
		for (uint16_t p = 0; p < n->n_ports; p++) {
			const struct virtual_port_stats none = {0};
			const struct virtual_port_stats *s = n->node ? virtual_port_stats(n->node->port[p]) : &none;

			polled += s->polled + n->past.port_received[p];
			sent += s->sent + n->past.port_sent[p];
		}
		polled -= n->past.unpolled;
		if (b->rx + n->past.rx == polled && b->sent + n->past.sent == sent)
			continue;
		snprintf(why, size, "%s: the node counts %llu packets received and %llu sent, its ports %llu and %llu",
			n->topo->name, (unsigned long long)(b->rx + n->past.rx),
			(unsigned long long)(b->sent + n->past.sent), (unsigned long long)polled,
			(unsigned long long)sent);
		return false;
	}
	return true;
}

/* Every frame that a line delivers is received, missed, or arrives while the node is down. */
static bool ends_receive(struct lab *lab, char *why, size_t size)
{
	for (uint32_t i = 0; i < lab->n_links; i++) {
		for (int w = 0; w < 2; w++) {
			const struct lab_way *way = &lab->link[i].way[w];
			const struct lab_end *to = &lab->link[i].end[!w];
			const struct line_stats *s = line_stats(way->line);
			uint64_t got;

			if (!to->node)
				continue;
			got = to->node->past.port_received[to->port] + to->node->past.missed[to->port] + to->into_void;
			if (to->node->node) {
				const struct virtual_port_stats *p = virtual_port_stats(to->node->node->port[to->port]);

				got += p->received + p->imissed + p->nombuf + p->ierrors;
			}
			if (got == s->delivered + s->corrupt)
				continue;
			snprintf(why, size, "%s: the line delivered %llu frames, the port counts %llu", way->name,
				(unsigned long long)(s->delivered + s->corrupt), (unsigned long long)got);
			return false;
		}
	}
	return true;
}

/* All hosts and nodes together have sent as many frames as all lines have accepted. */
static bool network_conserves(struct lab *lab, char *why, size_t size)
{
	uint64_t given = 0, sent = 0;

	for (uint32_t i = 0; i < lab->n_links; i++)
		for (int w = 0; w < 2; w++)
			given += line_stats(lab->link[i].way[w].line)->sent;
	for (uint32_t i = 0; i < lab->n_hosts; i++)
		sent += lab->host[i].stats.sent;
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		for (uint16_t p = 0; p < lab->node[i].n_ports; p++)
			if (lab->node[i].way[p])
				sent += lab->node[i].past.port_sent[p] +
					(lab->node[i].node ? virtual_port_stats(lab->node[i].node->port[p])->sent : 0);
	if (given == sent)
		return true;
	snprintf(why, size, "hosts and nodes have sent %llu frames, lines have accepted %llu", (unsigned long long)sent,
		(unsigned long long)given);
	return false;
}

/* All buffers in use belong to held packets or to devices. A chained frame has several. */
static bool no_leak(struct lab *lab, char *why, size_t size)
{
	for (uint32_t i = 0; i < lab->n_nodes; i++) {
		struct lab_node *n = &lab->node[i];
		uint64_t held, used;

		if (!n->node || !n->changed)
			continue;
		held = node_held(n->node);
		for (uint16_t p = 0; p < n->n_ports; p++)
			held += virtual_port_held(n->node->port[p]);
		used = virtual_pool_in_use(n->node->pool);
		if (used >= held && (held || !used))
			continue;
		snprintf(why, size, "%s: %llu buffers are in use, %llu packets are held", n->topo->name,
			(unsigned long long)used, (unsigned long long)held);
		return false;
	}
	return true;
}

/* The buffer budget of a node covers all buffers in use, so that its pool is never empty. */
static bool pool_suffices(struct lab *lab, char *why, size_t size)
{
	for (uint32_t i = 0; i < lab->n_nodes; i++) {
		const struct lab_node *n = &lab->node[i];
		uint64_t used = n->node && n->changed ? virtual_pool_in_use(n->node->pool) : 0;

		if (!n->node || used <= n->promised)
			continue;
		snprintf(why, size, "%s: %llu buffers are in use, more than the budget of %llu", n->topo->name,
			(unsigned long long)used, (unsigned long long)n->promised);
		return false;
	}
	return true;
}

static const struct invariant invariants[] = {
	{"line conservation", .way = line_conserved}, {"port conservation", .touched = port_agrees},
	{"bounds", .queue = backlog_bounded}, {"bounds", .touched = pool_lasted}, {"bounds", .poll = node_bounded},
	{"node conservation", .full = nodes_conserve}, {"node counters", .full = nodes_count},
	{"delivery", .full = ends_receive}, {"network conservation", .full = network_conserves},
	{"buffer leak", .full = no_leak}, {"pool", .full = pool_suffices}, {"deadlock", .full = lab_no_deadlock},
	{"credit spent", .use = lab_credit_used}, {"credit granted", .grant = lab_credit_granted},
	{"credit pool", .credit = lab_credit_pool}, {"credit hop", .full = lab_credit_hops},
	{"credit units", .full = lab_credit_units},
	/* lab_qp.c checks "order" for each packet; every allocation checks "memory" */
};

/* The invariants of one kind. Unrolled, the table is gone: what is left are the calls of that kind. */
#define CHECK_EACH(kind, lab, ...) \
	_Pragma("GCC unroll 32") for (size_t i = 0; i < ARRAY_LEN(invariants); \
				      i++) if (invariants[i].kind && \
					       !invariants[i].kind(__VA_ARGS__, why, sizeof(why))) \
		lab_violate(lab, invariants[i].name, "%s", why);

void lab_check_way(struct lab_way *w)
{
	char why[400];

	CHECK_EACH(way, w->link->lab, w)
}

static void check_ports(struct lab_node *n, uint32_t touched, uint32_t queues)
{
	char why[400];

	for (uint32_t ports = touched; ports; ports &= ports - 1)
		CHECK_EACH(touched, n->lab, n, (uint16_t)__builtin_ctz(ports))
	for (uint32_t ports = queues; ports; ports &= ports - 1)
		CHECK_EACH(queue, n->lab, n, (uint16_t)__builtin_ctz(ports))
}

static void check_session(const struct lab_node *n, uint32_t number, bool use)
{
	char why[400];

	if (use) {
		CHECK_EACH(use, n->lab, n, number)
	} else {
		CHECK_EACH(grant, n->lab, n, number)
	}
}

static void check_credit(const struct lab_node *n, bool all)
{
	char why[400];

	lab_credit_each(n, all, check_session);
	CHECK_EACH(credit, n->lab, n)
}

/*
 * A pass of a node costs no more the more ports it has. Each packet has at least one buffer, so that no queue exceeds
 * its limit while the buffers in use do not exceed the lowest limit.
 */
void lab_check_pass(struct lab_node *n, uint32_t queues)
{
	uint32_t touched = n->touched, used = virtual_pool_in_use(n->node->pool);

	n->touched = 0;
	check_ports(n, touched, used > n->least_limit ? queues : 0);
	if (unlikely(used > n->promised)) {
		char why[400];

		CHECK_EACH(poll, n->lab, n)
	}
	if (unlikely(n->credit))
		check_credit(n, false);
}

/* Like lab_check_pass, for all ports. */
static void check_node(struct lab_node *n)
{
	uint32_t all = (uint32_t)((1ull << n->n_ports) - 1);
	char why[400];

	n->touched = 0;
	check_ports(n, all, all);
	CHECK_EACH(poll, n->lab, n)
	if (n->credit)
		check_credit(n, true);
}

/* A node that was neither polled nor given a frame since the last time is as it was then. */
void lab_check(struct lab *lab)
{
	char why[400];

	for (uint32_t i = 0; i < lab->n_links; i++)
		for (int w = 0; w < 2; w++)
			lab_check_way(&lab->link[i].way[w]);
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		if (lab->node[i].node && lab->node[i].changed)
			check_node(&lab->node[i]);
	for (size_t i = 0; i < ARRAY_LEN(invariants); i++)
		if (invariants[i].full && !invariants[i].full(lab, why, sizeof(why)))
			lab_violate(lab, invariants[i].name, "%s", why);
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		lab->node[i].changed = false;
}

void lab_check_leak(struct lab *lab, struct lab_node *n)
{
	unsigned int used = virtual_pool_in_use(n->node->pool);

	if (used)
		lab_violate(lab, "buffer leak", "%s: %u buffers were not returned when the node stopped", n->topo->name,
			used);
}
