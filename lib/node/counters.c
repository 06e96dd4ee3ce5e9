/* SPDX-License-Identifier: BSD-3-Clause */
/* The management thread: what a node has counted, how fast, and whether every packet is somewhere. */
#include <stdlib.h>
#include <string.h>

#include "base/aligned.h"
#include "node/node_ctl.h"
#include "node/trace_priv.h"

uint64_t node_held(const struct node *n)
{
	uint64_t held = 0;

	for (const struct mailbox *b = n->mailboxes.first; b; b = b->next)
		held += mailbox_has_packets(b) ? mailbox_used(b) : 0;
	for (uint16_t i = 0; i < n->n_rx; i++)
		for (uint16_t w = 0; w < n->n_workers; w++)
			held += n->rx[i].park[w].n;
	for (uint16_t w = 0; w < n->n_workers; w++)
		held += n->worker[w].nbrs.held;
	for (uint32_t i = 0; i < n->n_ports; i++)
		held += egress_held(&n->egress[i]);
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

struct sid_counter node_sid(const struct node *n, uint32_t sid)
{
	struct sid_counter sum = {0};

	for (uint16_t i = 0; i < n->n_rx; i++) {
#define X(kind, member, ...) sum.member += stat_read(&n->rx[i].classifier.sids[sid].member);
		SID_COUNTERS(X)
#undef X
	}
	return sum;
}

struct sid_counter node_sid_shown(const struct node *n, uint32_t sid)
{
	struct sid_counter sum = node_sid(n, sid);

	if (n->cleared_sids) {
#define X(kind, member, ...) STAT_SINCE(kind, sum.member, n->cleared_sids[sid].member)
		SID_COUNTERS(X)
#undef X
	}
	return sum;
}

void node_clear_stats(struct node *n)
{
	if (!n->cleared)
		n->cleared = new_aligned(sizeof(*n->cleared));
	if (!n->cleared_sids)
		n->cleared_sids = calloc(SNAP_SID_MAX, sizeof(*n->cleared_sids));
	if (n->cleared)
		node_stats(n, n->cleared);
	for (uint32_t i = 0; n->cleared_sids && i < SNAP_SID_MAX; i++)
		n->cleared_sids[i] = node_sid(n, i);
	node_clear_pfc(n);
}

void node_tick(struct node *n, uint64_t now)
{
	struct node_rates *r = &n->rates;
	uint64_t ns = now - r->since_ns;
	struct lcore_stats *sum;

	node_trace_collect(n);
	node_watch_report(n);
	if (r->since_ns && ns < NSEC_PER_SEC)
		return;
	sum = new_aligned(sizeof(*sum));
	if (!sum)
		return;
	node_stats(n, sum);
	for (uint32_t i = 0; i < n->n_ports; i++) {
		const struct port_stats *p = &sum->port[i];
		double seconds = (double)ns / 1e9;

		if (r->since_ns)
			r->port[i] = (struct port_rate){.rx_pps = (uint64_t)((double)(p->rx_packets -
										      r->last[i].rx_packets) /
									     seconds),
				.rx_bps = (uint64_t)((double)(p->rx_bytes - r->last[i].rx_bytes) * 8 / seconds),
				.tx_pps = (uint64_t)((double)(p->tx_packets - r->last[i].tx_packets) / seconds),
				.tx_bps = (uint64_t)((double)(p->tx_bytes - r->last[i].tx_bytes) * 8 / seconds)};
		r->last[i].rx_packets = p->rx_packets;
		r->last[i].rx_bytes = p->rx_bytes;
		r->last[i].tx_packets = p->tx_packets;
		r->last[i].tx_bytes = p->tx_bytes;
	}
	r->since_ns = now;
	free(sum);
}

/* Only the counters that the sum needs, of the ports that there are: the lab asks every node at every sample. */
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
