/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invariants of credit: those of docs/credit.md 2.13 that can be seen from outside, of whole networks. A unit that was sent is
 * pending, in flight, buffered, freed or lost, exactly one of these; no node promises more than it has.
 *
 *   credit spent     I1, I6: what is sent and pending stays within the limit; counters do not fall
 *   credit granted   I2, I3, I6: what was promised, and what is buffered, stay within the reservation; counters do not fall
 *   credit pool      I4, I9: promises and what is buffered are within the pool, and the buffers for them are free
 *   credit hop       I2, I5, I10, I11 between two nodes: nobody believes more than was granted; what arrived was sent in
 *                    this epoch, and what did not arrive is on its way, if nothing can lose it
 *   credit units     I11 within a node: what arrived and was not freed waits for credit, is pending, or is in a queue
 *
 * Duplicates of packets add to what is buffered until a fence shows them: where a link makes some, these are allowed. The nodes
 * are only read. The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_priv.h"
#include "service/rsvp/service_audit.h"

#define IN_TURN 16     /* sessions checked after a pass */
#define POOL_PASSES 16 /* the sum over all sessions takes longer */

/* What the last check has seen. */
struct seen_grant {
	uint32_t epoch, most; /* most: units that were ever reserved, or buffered when an epoch began */
	uint64_t fccl, abr, rcvd, freed;
};

struct seen_use {
	uint32_t epoch;
	uint64_t fccl, abr, sent;
};

struct lab_credit {
	uint32_t turn;
	struct audit_node a;	  /* numbers, pool and units of the largest packet do not change */
	struct seen_grant *grant; /* by number */
	struct seen_use *use;	  /* by number */
	uint64_t *units;	  /* by number of a grant; for lab_credit_units */
};

int lab_credit_init(struct lab_node *n)
{
	struct audit_node a;
	struct lab_credit *c;

	if (!service_audit_node(n->node, &a))
		return 0;
	c = n->credit = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->a = a;
	c->grant = calloc(a.numbers, sizeof(*c->grant));
	c->use = calloc(a.numbers, sizeof(*c->use));
	c->units = calloc(a.numbers, sizeof(*c->units));
	return c->grant && c->use && c->units ? 0 : -ENOMEM;
}

void lab_credit_fini(struct lab_node *n)
{
	if (!n->credit)
		return;
	free(n->credit->grant);
	free(n->credit->use);
	free(n->credit->units);
	free(n->credit);
	n->credit = NULL;
}

static void in_turn(const struct lab_node *n, bool use, uint32_t busy,
	uint32_t (*number)(const struct node *n, uint32_t i),
	void (*fn)(const struct lab_node *n, uint32_t number, bool use))
{
	uint32_t first = busy > IN_TURN ? n->credit->turn * IN_TURN % busy : 0;

	for (uint32_t i = 0; i < MIN_OF(busy, (uint32_t)IN_TURN); i++)
		fn(n, number(n->node, first + i < busy ? first + i : first + i - busy), use);
}

void lab_credit_each(const struct lab_node *n, bool all,
	void (*fn)(const struct lab_node *n, uint32_t number, bool use))
{
	n->credit->turn++;
	for (uint32_t i = 1; all && i < n->credit->a.numbers; i++) {
		fn(n, i, false);
		fn(n, i, true);
	}
	if (all)
		return;
	in_turn(n, false, service_audit_busy_grants(n->node), service_audit_busy_grant, fn);
	in_turn(n, true, service_audit_busy_uses(n->node), service_audit_busy_use, fn);
}

static bool falls(uint64_t is, uint64_t was)
{
	return (int64_t)(is - was) < 0;
}

#define LLU(x) ((unsigned long long)(x))

bool lab_credit_used(const struct lab_node *n, uint32_t number, char *why, size_t size)
{
	struct seen_use *s = &n->credit->use[number], was = *s;
	struct audit_use u;

	*s = (struct seen_use){0};
	if (!service_audit_use(n->node, number, &u))
		return true;
	*s = (struct seen_use){.epoch = u.current ? u.epoch : 0, .fccl = u.fccl, .abr = u.abr, .sent = u.sent};
	if (u.open && falls(u.limit, u.sent + u.pending)) {
		snprintf(why, size, "%s: use %u: sent %llu and pending %llu are more than the limit of %llu",
			n->topo->name, number, LLU(u.sent), LLU(u.pending), LLU(u.limit));
		return false;
	}
	if ((was.sent && falls(u.sent, was.sent)) ||
		(s->epoch && s->epoch == was.epoch && (falls(u.fccl, was.fccl) || falls(u.abr, was.abr)))) {
		snprintf(why, size, "%s: use %u: sent %llu, FCCL %llu, ABR %llu after %llu, %llu, %llu", n->topo->name,
			number, LLU(u.sent), LLU(u.fccl), LLU(u.abr), LLU(was.sent), LLU(was.fccl), LLU(was.abr));
		return false;
	}
	return true;
}

/* Units of packets that links to this node have doubled, at most. */
static uint64_t doubled_on_the_way(const struct lab_node *n)
{
	uint64_t frames = 0;

	if (!n->lab->duplicates)
		return 0;
	for (uint16_t p = 0; p < n->n_ports; p++)
		if (n->way[p])
			frames += line_stats(n->way[p]->link->way[!n->way[p]->from].line)->duplicated;
	return frames * n->credit->a.most;
}

bool lab_credit_granted(const struct lab_node *n, uint32_t number, char *why, size_t size)
{
	struct seen_grant *s = &n->credit->grant[number], was = *s;
	struct audit_grant g;
	uint64_t doubled;
	int64_t backlog, promised, beyond;
	bool fell;

	*s = (struct seen_grant){0};
	if (!service_audit_grant(n->node, number, &g) || !g.epoch)
		return true;
	backlog = (int64_t)(g.rcvd - g.freed);
	*s = (struct seen_grant){g.epoch, MAX_OF(was.most, g.buf), g.fccl, g.abr, g.rcvd, g.freed};
	if (g.epoch != was.epoch)
		s->most = MAX_OF(s->most, (uint32_t)MAX_OF(backlog, 0));
	fell = was.epoch && (falls(g.rcvd, was.rcvd) || falls(g.freed, was.freed));
	fell |= was.epoch == g.epoch && (falls(g.fccl, was.fccl) || falls(g.abr, was.abr));
	doubled = doubled_on_the_way(n);
	promised = (int64_t)(g.fccl - (g.freed - g.base) - (uint64_t)g.lost);
	beyond = (int64_t)(g.rcvd - g.base + (uint64_t)g.lost - g.fccl);
	if (!fell && backlog >= 0 && backlog <= (int64_t)(s->most + doubled) &&
		promised <= (int64_t)(s->most + g.doubled) && (!g.on || beyond <= (int64_t)doubled))
		return true;
	snprintf(why, size,
		"%s: grant %u: received %llu, freed %llu, FCCL %llu, ABR %llu after %llu, %llu, %llu, %llu; lost %lld, "
		"reserved %u; "
		"buffered %lld, promised %lld, received beyond that %lld",
		n->topo->name, number, LLU(g.rcvd), LLU(g.freed), LLU(g.fccl), LLU(g.abr), LLU(was.rcvd),
		LLU(was.freed), LLU(was.fccl), LLU(was.abr), (long long)g.lost, s->most, (long long)backlog,
		(long long)promised, (long long)beyond);
	return false;
}

bool lab_credit_pool(const struct lab_node *n, char *why, size_t size)
{
	uint64_t held = 0, outstanding = 0, margin = doubled_on_the_way(n), used = virtual_pool_in_use(n->node->pool);
	struct audit_node a;

	if (n->credit->turn % MAX_OF(n->credit->a.numbers / 4, (uint32_t)POOL_PASSES) ||
		!service_audit_node(n->node, &a))
		return true;
	for (uint32_t i = 1; i < a.numbers; i++) {
		struct audit_grant g;

		if (!service_audit_grant(n->node, i, &g) || !g.epoch)
			continue;
		held += g.held;
		margin += g.doubled;
		outstanding += g.held - MIN_OF(g.held, g.rcvd - g.freed);
	}
	if (held <= a.pool + margin && a.committed <= a.pool && used + outstanding <= n->promised + margin)
		return true;
	snprintf(why, size,
		"%s: %llu units are promised or buffered and %llu committed, of a pool of %llu; %llu units are "
		"promised, and "
		"%llu of %llu buffers are free",
		n->topo->name, LLU(held), LLU(a.committed), LLU(a.pool), LLU(outstanding), LLU(n->promised - used),
		LLU(n->promised));
	return false;
}

static struct lab_node *node_of(const struct lab *lab, const struct ip_addr *loopback)
{
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		if (lab->node[i].credit && loopback->family == 6 &&
			memcmp(&node_snapshot(lab->node[i].node)->loopback, &loopback->v6, sizeof(loopback->v6)) == 0)
			return &lab->node[i];
	return NULL;
}

struct lab_node *lab_credit_grantor(const struct lab_node *n, uint32_t use, uint32_t *grant)
{
	struct audit_hop hop;
	struct lab_node *to;

	if (!service_audit_hop(n->node, use, &hop))
		return NULL;
	to = node_of(n->lab, &hop.next);
	*grant = to ? service_audit_grant_of(to->node, &hop.source, hop.label) : 0;
	return *grant ? to : NULL;
}

/* Frames on the way from a port to a node, or received and not read there. UINT64_MAX: another node is between, or some may be lost. */
static uint64_t on_the_way(const struct lab_node *from, uint16_t port, const struct lab_node *to)
{
	const struct lab_way *w = from->way[port];
	const struct lab_end *end = w ? &w->link->end[!w->from] : NULL;
	const struct line_stats *s;
	uint64_t frames;

	if (!end || end->node != to)
		return UINT64_MAX;
	s = line_stats(w->line);
	if (s->lost || s->cut || s->corrupt || s->oversize || s->duplicated || end->into_void || from->restarts ||
		to->restarts || virtual_port_stats(to->node->port[end->port])->imissed ||
		virtual_port_stats(to->node->port[end->port])->nombuf)
		return UINT64_MAX;
	frames = line_frames(w->line) + node_held(to->node);
	for (uint16_t q = 0; q < to->node->port[end->port]->n_rx_queues; q++)
		frames += virtual_port_waiting(to->node->port[end->port], q);
	return frames;
}

static bool hop_holds(const struct lab_node *n, uint32_t number, const struct audit_use *u, char *why, size_t size)
{
	uint32_t grant;
	struct lab_node *to = lab_credit_grantor(n, number, &grant);
	struct audit_grant g;
	struct audit_node a;
	uint64_t frames, rcvd;
	int64_t away;

	if (!to || !service_audit_grant(to->node, grant, &g) || g.epoch != u->epoch ||
		!service_audit_node(to->node, &a))
		return true;
	rcvd = g.rcvd - g.base;
	away = (int64_t)(u->fctbs - rcvd);
	frames = on_the_way(n, u->port, to);
	if (!falls(g.fccl, u->fccl) && !falls(g.abr, u->abr) && away >= -(int64_t)doubled_on_the_way(to) &&
		(frames == UINT64_MAX || (away <= (int64_t)(frames * to->credit->a.most) && !g.lost)))
		return true;
	snprintf(why, size,
		"%s to %s: sent %llu, received %llu, lost %lld, frames on the way %lld; FCCL %llu, ABR %llu of %llu, "
		"%llu",
		n->topo->name, to->topo->name, LLU(u->fctbs), LLU(rcvd), (long long)g.lost, (long long)frames,
		LLU(u->fccl), LLU(u->abr), LLU(g.fccl), LLU(g.abr));
	return false;
}

bool lab_credit_hops(struct lab *lab, char *why, size_t size)
{
	for (uint32_t i = 0; i < lab->n_nodes && !lab->in_turns; i++) {
		const struct lab_node *n = &lab->node[i];
		struct audit_use u;

		for (uint32_t k = 1; n->credit && k < n->credit->a.numbers; k++)
			if (service_audit_use(n->node, k, &u) && u.current && u.open && !hop_holds(n, k, &u, why, size))
				return false;
	}
	return true;
}

/* lines: packets in lines. */
static bool units_agree(const struct lab_node *n, const struct audit_node *a, uint64_t lines, char *why, size_t size)
{
	uint64_t held = node_held(n->node), elsewhere = 0, pending = 0;
	struct audit_grant g;
	struct audit_use u;

	for (uint32_t i = 1; i < a->numbers; i++) {
		if (service_audit_use(n->node, i, &u))
			pending += u.pending;
		if (!service_audit_grant(n->node, i, &g))
			continue;
		if (falls(g.rcvd - g.freed, n->credit->units[i])) {
			snprintf(why, size,
				"%s: grant %u: %llu units wait for credit, and %lld have arrived and are not freed",
				n->topo->name, i, LLU(n->credit->units[i]), (long long)(g.rcvd - g.freed));
			return false;
		}
		elsewhere += g.rcvd - g.freed - n->credit->units[i];
	}
	if (lines <= held && elsewhere <= (held - lines) * a->most && pending <= (held - lines) * a->most)
		return true;
	snprintf(why, size,
		"%s: %llu packets are held, %llu of them wait for credit; but %llu units are buffered elsewhere, %llu "
		"pending",
		n->topo->name, LLU(held), LLU(lines), LLU(elsewhere), LLU(pending));
	return false;
}

bool lab_credit_units(struct lab *lab, char *why, size_t size)
{
	for (uint32_t i = 0; i < lab->n_nodes; i++) {
		const struct lab_node *n = &lab->node[i];

		if (!n->credit || !n->changed)
			continue;
		memset(n->credit->units, 0, n->credit->a.numbers * sizeof(*n->credit->units));
		if (!units_agree(n, &n->credit->a, service_audit_lines(n->node, n->credit->units), why, size))
			return false;
	}
	return true;
}
