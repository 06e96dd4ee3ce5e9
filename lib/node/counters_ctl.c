/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters, rates and packet balance of a node. Management thread. */
#include <stdlib.h>
#include <string.h>

#include "base/aligned.h"
#include "node/node_ctl.h"
#include "node/service.h"
#include "node/trace_priv.h"
#include "queue/line.h"

uint64_t node_held(const struct node *n)
{
	uint64_t held = 0;

	for (const struct mailbox *b = n->mailboxes.first; b; b = b->next)
		held += mailbox_has_packets(b) ? mailbox_used(b) : 0;
	for (uint16_t i = 0; i < n->n_rx; i++)
		for (uint16_t w = 0; w < n->n_workers; w++)
			held += __atomic_load_n(&n->rx[i].park[w].n, __ATOMIC_RELAXED);
	for (uint16_t i = 0; i < n->n_rx; i++)
		for (uint16_t q = 0; q < n->rx[i].n_queues; q++)
			held += backlog_waits(&n->rx[i].queue[q].backlog);
	for (uint16_t w = 0; w < n->n_workers; w++) {
		held += __atomic_load_n(&n->worker[w].neighs.held, __ATOMIC_RELAXED);
		for (uint16_t i = 0; i < PEER_LANES * n->n_workers; i++)
			held += __atomic_load_n(&n->worker[w].to_peer[i].stalled, __ATOMIC_RELAXED) != NULL;
	}
	for (uint32_t i = 0; i < n->n_ports; i++)
		held += egress_held(&n->egress[i]);
	held += n->n_workers ? lines_between(&n->worker[0].ctx) : 0;
	return held;
}

uint64_t node_port_queued(const struct node *n, uint16_t port)
{
	return egress_held(&n->egress[port]);
}

void node_stats(const struct node *n, struct lcore_stats *out)
{
	memset(out, 0, sizeof(*out));
	for (uint16_t i = 0; i < n->n_lcores; i++)
		lcore_stats_add(out, &n->lcore[i]->stats);
}

struct lcore_stats *node_stats_shown(const struct node *n)
{
	struct lcore_stats *shown = new_aligned(sizeof(*shown)), *sum;

	if (!shown || !n->cleared) {
		if (shown)
			node_stats(n, shown);
		return shown;
	}
	sum = new_aligned(sizeof(*sum));
	if (sum) {
		node_stats(n, sum);
		lcore_stats_since(shown, sum, n->cleared);
	} else {
		free(shown);
		shown = NULL;
	}
	free(sum);
	return shown;
}

struct punt_stats node_punt(const struct node *n, uint32_t port, enum punt_kind kind)
{
	struct punt_stats sum = {0};

	for (uint16_t i = 0; i < n->n_rx; i++) {
#define X(kind_, member, ...) sum.member += stat_read(&n->rx[i].punt[port][kind].member);
		PUNT_COUNTERS(X)
#undef X
	}
	return sum;
}

struct punt_stats node_punt_shown(const struct node *n, uint32_t port, enum punt_kind kind)
{
	struct punt_stats sum = node_punt(n, port, kind);

	if (n->cleared_punts) {
#define X(kind_, member, ...) STAT_SINCE(kind_, sum.member, n->cleared_punts[port][kind].member)
		PUNT_COUNTERS(X)
#undef X
	}
	return sum;
}

static struct sid_counter sum_of_sid(const struct node *n, uint32_t sid)
{
	struct sid_counter sum = {0};

	for (uint16_t i = 0; i < n->n_rx; i++) {
#define X(kind, member, ...) sum.member += stat_read(&n->rx[i].classifier.sids[sid].member);
		SID_COUNTERS(X)
#undef X
	}
	return sum;
}

static struct path_traffic sum_of_path(const struct node *n, uint32_t path)
{
	struct path_traffic sum = {0};

	for (uint16_t i = 0; i < n->n_lcores; i++) {
#define X(kind, member, ...) sum.member += stat_read(&n->lcore[i]->stats.path[path].member);
		PATH_TRAFFIC(X)
#undef X
	}
	return sum;
}

static void sid_since(struct sid_counter *sum, const struct sid_counter *base)
{
#define X(kind, member, ...) STAT_SINCE(kind, sum->member, base->member)
	SID_COUNTERS(X)
#undef X
}

static void path_since(struct path_traffic *sum, const struct path_traffic *base)
{
#define X(kind, member, ...) STAT_SINCE(kind, sum->member, base->member)
	PATH_TRAFFIC(X)
#undef X
}

struct sid_counter node_sid(const struct node *n, uint32_t sid)
{
	struct sid_counter sum = sum_of_sid(n, sid);

	sid_since(&sum, &n->before.sid[sid]);
	return sum;
}

struct sid_counter node_sid_shown(const struct node *n, uint32_t sid)
{
	struct sid_counter sum = node_sid(n, sid);

	if (n->cleared_sids)
		sid_since(&sum, &n->cleared_sids[sid]);
	return sum;
}

struct path_traffic node_path(const struct node *n, uint32_t path)
{
	struct path_traffic sum = sum_of_path(n, path);

	path_since(&sum, &n->before.path[path]);
	return sum;
}

struct path_traffic node_path_shown(const struct node *n, uint32_t path)
{
	struct path_traffic sum = node_path(n, path);

	if (n->cleared_paths)
		path_since(&sum, &n->cleared_paths[path]);
	return sum;
}

void node_counters_begin(struct node *n, const struct snapshot *old, const struct snapshot *s)
{
	for (uint32_t i = 0; i < s->n_sids; i++) {
		if (!s->sid[i].used || (i < old->n_sids && old->sid[i].used))
			continue;
		n->before.sid[i] = sum_of_sid(n, i);
		if (n->cleared_sids)
			n->cleared_sids[i] = (struct sid_counter){0};
	}
	for (uint32_t i = 0; i < s->n_paths; i++) {
		if (!s->path[i].name || (i < old->n_paths && old->path[i].name))
			continue;
		n->before.path[i] = sum_of_path(n, i);
		if (n->cleared_paths)
			n->cleared_paths[i] = (struct path_traffic){0};
	}
}

void node_clear_stats(struct node *n)
{
	if (!n->cleared)
		n->cleared = new_aligned(sizeof(*n->cleared));
	if (!n->cleared_sids)
		n->cleared_sids = calloc(SNAP_SID_MAX, sizeof(*n->cleared_sids));
	if (!n->cleared_paths)
		n->cleared_paths = calloc(SNAP_PATH_MAX, sizeof(*n->cleared_paths));
	if (!n->cleared_punts)
		n->cleared_punts = calloc(MAX_PORTS, sizeof(*n->cleared_punts));
	if (n->cleared)
		node_stats(n, n->cleared);
	for (uint32_t i = 0; n->cleared_punts && i < n->n_ports; i++)
		for (unsigned int k = 0; k < PUNT_KIND_COUNT; k++)
			n->cleared_punts[i][k] = node_punt(n, i, (enum punt_kind)k);
	for (uint32_t i = 0; n->cleared_sids && i < SNAP_SID_MAX; i++)
		n->cleared_sids[i] = node_sid(n, i);
	for (uint32_t i = 0; n->cleared_paths && i < SNAP_PATH_MAX; i++)
		n->cleared_paths[i] = node_path(n, i);
	for (const struct control_service *const *s = n->services; *s; s++)
		if ((*s)->clear)
			(*s)->clear(n);
}

static void measure_rate(const struct node *n, uint32_t port, struct node_rates *r, uint64_t ns)
{
	uint64_t rx_packets = 0, rx_bytes = 0, tx_packets = 0, tx_bytes = 0;
	double seconds = (double)ns / 1e9;

	for (uint16_t i = 0; i < n->n_lcores; i++) {
		const struct port_stats *p = &n->lcore[i]->stats.port[port];

		rx_packets += stat_read(&p->rx_packets);
		rx_bytes += stat_read(&p->rx_bytes);
		tx_packets += stat_read(&p->tx_packets);
		tx_bytes += stat_read(&p->tx_bytes);
	}
	if (r->since_ns)
		r->port[port] = (struct port_rate){.rx_pps = (uint64_t)((double)(rx_packets -
										 r->last[port].rx_packets) /
									seconds),
			.rx_bps = (uint64_t)((double)(rx_bytes - r->last[port].rx_bytes) * 8 / seconds),
			.tx_pps = (uint64_t)((double)(tx_packets - r->last[port].tx_packets) / seconds),
			.tx_bps = (uint64_t)((double)(tx_bytes - r->last[port].tx_bytes) * 8 / seconds)};
	r->last[port].rx_packets = rx_packets;
	r->last[port].rx_bytes = rx_bytes;
	r->last[port].tx_packets = tx_packets;
	r->last[port].tx_bytes = tx_bytes;
}

void node_tick(struct node *n, uint64_t now)
{
	struct node_rates *r = &n->rates;

	node_trace_collect(n);
	for (const struct control_service *const *s = n->services; *s; s++)
		if ((*s)->tick)
			(*s)->tick(n);
	if (r->since_ns && now - r->since_ns < NSEC_PER_SEC)
		return;
	for (uint32_t i = 0; i < n->n_ports; i++)
		measure_rate(n, i, r, now - r->since_ns);
	r->since_ns = now;
}

/* Reads only the counters that the sum needs, because the lab asks every node at every sample. */
static void add_balance(const struct port_stats *p, struct node_balance *out)
{
	out->rx += stat_read(&p->rx_packets);
	out->originated += stat_read(&p->originated);
	out->sent += stat_read(&p->sent);
	out->dropped += port_stats_drops(p);
	out->consumed += port_stats_consumed(p);
}

void node_balance(const struct node *n, struct node_balance *out)
{
	*out = (struct node_balance){0};
	for (uint16_t i = 0; i < n->n_lcores; i++) {
		for (uint32_t port = 0; port < n->n_ports; port++)
			add_balance(&n->lcore[i]->stats.port[port], out);
		add_balance(&n->lcore[i]->stats.port[PORT_LOCAL], out);
	}
	out->held = node_held(n);
	out->missing = (int64_t)(out->rx + out->originated - out->sent - out->dropped - out->consumed - out->held);
}
