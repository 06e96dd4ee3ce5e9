/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time series of the report: what is read at every sample (lab_sample.c). A feature with something to show adds a
 * series here, with its plot ("group") and its unit. The lab is single-threaded.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "lab/host_priv.h"
#include "service/pfc/pfc_ctl.h"
#include "service/rsvp/service_audit.h"

#define GOODPUT "Goodput of hosts: payload received in order"

typedef double (*read_fn)(struct lab *lab, struct lab_series *s);

/* Growth of a counter since the last sample, per second. */
static double rate(struct lab *lab, struct lab_series *s, uint64_t total)
{
	uint64_t grown = total - s->last;

	s->last = total;
	return lab->now > lab->sampled_at ? (double)grown * 1e9 / (double)(lab->now - lab->sampled_at) : 0;
}

static double read_goodput(struct lab *lab, struct lab_series *s)
{
	const struct lab_host *h = s->of;

	return rate(lab, s, h->stats.goodput_bytes) * 8 / 1e9;
}

static double read_host_sent(struct lab *lab, struct lab_series *s)
{
	const struct lab_host *h = s->of;

	return rate(lab, s, h->stats.sent_bytes) * 8 / 1e9;
}

static double read_flow(struct lab *lab, struct lab_series *s)
{
	const struct lab_flow *f = s->of;

	return rate(lab, s, f->bytes) * 8 / 1e9;
}

/* Also adds up what the host could have received. */
static double read_possible(struct lab *lab, struct lab_series *s)
{
	struct lab_host *h = s->of;
	double bytes = lab_bound_bytes(lab, h, lab->sampled_at, lab->now);

	h->possible_bytes += bytes;
	return lab->now > lab->sampled_at ? bytes * 8 / (double)(lab->now - lab->sampled_at) : 0;
}

static double read_way(struct lab *lab, struct lab_series *s)
{
	const struct lab_way *w = s->of;

	return rate(lab, s, line_stats(w->line)->delivered_bytes + LINE_OVERHEAD * line_stats(w->line)->delivered) * 8 /
	       1e9;
}

static double read_way_lost(struct lab *lab, struct lab_series *s)
{
	const struct line_stats *l = line_stats(((const struct lab_way *)s->of)->line);
	uint64_t total = l->lost + l->cut + l->corrupt + l->oversize, grown = total - s->last;

	(void)lab;
	s->last = total;
	return (double)grown;
}

static double read_queue(struct lab *lab, struct lab_series *s)
{
	const struct lab_node *n = s->of;

	(void)lab;
	return n->node ? (double)node_port_queued(n->node, (uint16_t)s->index) : 0;
}

static double read_held(struct lab *lab, struct lab_series *s)
{
	const struct lab_node *n = s->of;
	uint64_t held;

	(void)lab;
	if (!n->node)
		return 0;
	held = node_held(n->node);
	for (uint16_t p = 0; p < n->n_ports; p++)
		held += virtual_port_held(n->node->port[p]);
	return (double)held;
}

/* Sums over the sessions that use credit of next hops: what they may send now; packets that wait. */
static double sum_of_uses(const struct lab_node *n, bool waits)
{
	double sum = 0;
	struct audit_node a;
	struct audit_use u;

	if (!n->credit || !service_audit_node(n->node, &a))
		return 0;
	for (uint32_t i = 1; i < a.numbers; i++)
		if (service_audit_use(n->node, i, &u))
			sum += waits ? (double)u.waits : u.open ? (double)(int64_t)(u.limit - u.sent - u.pending) : 0;
	return sum;
}

static double read_credit(struct lab *lab, struct lab_series *s)
{
	(void)lab;
	return sum_of_uses(s->of, false);
}

static double read_waits(struct lab *lab, struct lab_series *s)
{
	(void)lab;
	return sum_of_uses(s->of, true);
}

static const struct pfc_threshold *level_of(const struct lab_series *s)
{
	const struct lab_node *n = s->of;

	return n->node ? &service_pfc(n->node)->port[s->index / PFC_PRIORITIES].buffer[s->index % PFC_PRIORITIES].level
		       : NULL;
}

/* Queued bytes of one lossless class that were received on a port. */
static double read_lossless(struct lab *lab, struct lab_series *s)
{
	(void)lab;
	return level_of(s) ? (double)level_of(s)->bytes / 1e6 : 0;
}

/* The packet buffers that they take: each threshold has both values. */
static double read_lossless_buffers(struct lab *lab, struct lab_series *s)
{
	(void)lab;
	return level_of(s) ? (double)level_of(s)->buffers : 0;
}

static double read_drops(struct lab *lab, struct lab_series *s)
{
	struct lab_node *n = s->of;
	uint64_t total = n->drops, grown;

	(void)lab;
	for (uint16_t p = 0; p < n->n_ports; p++)
		total += n->past.missed[p] + (n->node ? virtual_port_stats(n->node->port[p])->imissed : 0);
	grown = total - s->last;
	s->last = total;
	return (double)grown;
}

static double read_sink(struct lab *lab, struct lab_series *s)
{
	(void)lab;
	return host_buffered(s->of) / 1e6;
}

static double read_paused(struct lab *lab, struct lab_series *s)
{
	return rate(lab, s, host_paused_ns(s->of, s->index)) / 1e9 * 100;
}

static double read_flight(struct lab *lab, struct lab_series *s)
{
	(void)lab;
	return (double)line_bytes(((const struct lab_way *)s->of)->line) / 1e6;
}

static int add(struct lab *lab, read_fn read, void *of, uint32_t index, enum series_kind kind, const char *group,
	const char *unit, const char *format, ...) PRINTF_LIKE(8, 9);
static int add(struct lab *lab, read_fn read, void *of, uint32_t index, enum series_kind kind, const char *group,
	const char *unit, const char *format, ...)
{
	struct lab_series *s = &lab->series[lab->n_series];
	va_list args;
	int n;

	if (lab->n_series == LAB_SERIES_MAX) {
		lab->series_left_out++;
		return 0;
	}
	va_start(args, format);
	n = vasprintf(&s->name, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	s->group = (char *)(uintptr_t)group;
	s->unit = (char *)(uintptr_t)unit;
	s->read = read;
	s->of = of;
	s->index = index;
	s->kind = kind;
	lab->n_series++;
	return 0;
}

static int add_flows(struct lab *lab)
{
	int rc = 0;

	for (uint32_t i = 0; i < lab->n_flows && rc == 0; i++)
		rc = add(lab, read_flow, &lab->flow[i], 0, SERIES_RATE, "Goodput of flows: payload received in order",
			"Gb/s", "%s", lab->flow[i].topo->name);
	return rc;
}

static int add_receiver(struct lab *lab, struct lab_host *h)
{
	int rc = add(lab, read_goodput, h, 0, SERIES_RATE, GOODPUT, "Gb/s", "%s", h->topo->name);

	if (rc == 0)
		rc = add(lab, read_possible, h, 0, SERIES_BOUND, GOODPUT, "Gb/s", "%s: possible", h->topo->name);
	if (rc == 0 && h->topo->sink.drain_bps)
		rc = add(lab, read_sink, h, 0, SERIES_LEVEL, "Receive buffers of hosts", "MB", "%s", h->topo->name);
	return rc;
}

static int add_hosts(struct lab *lab)
{
	int rc = 0;

	for (uint32_t i = 0; i < lab->n_hosts && rc == 0; i++) {
		struct lab_host *h = &lab->host[i];

		rc = add(lab, read_host_sent, h, 0, SERIES_RATE, "Sent by hosts", "Gb/s", "%s", h->topo->name);
		if (rc == 0 && h->flows)
			rc = add_receiver(lab, h);
		for (unsigned int p = 0; p < PFC_PRIORITIES && rc == 0; p++)
			if (h->pfc_mask >> p & 1)
				rc = add(lab, read_paused, h, p, SERIES_RATE, "Hosts paused by PFC", "% of time",
					"%s priority %u", h->topo->name, p);
	}
	return rc;
}

/* The thresholds of a class: all lossless classes of a port have the same. */
static void add_limits(struct lab_series *s, const struct lab_node *n, uint32_t port, bool buffers)
{
	const struct pfc_buffer_config *c = &node_snapshot(n->node)->port[port].buffer;
	const struct pfc_threshold *t[LAB_LIMITS] = {&c->xon, &c->xoff, &c->urgent, &c->full};

	for (int i = 0; i < LAB_LIMITS; i++)
		s->limit[i] = buffers ? (double)t[i]->buffers : (double)t[i]->bytes / 1e6;
	s->limited = true;
}

static int add_class(struct lab *lab, struct lab_node *n, uint16_t port, unsigned int class, bool buffers)
{
	uint32_t before = lab->n_series;
	int rc = add(lab, buffers ? read_lossless_buffers : read_lossless, n, port * PFC_PRIORITIES + class,
		SERIES_LEVEL, buffers ? "Packet buffers of lossless classes" : "Buffers of lossless classes",
		buffers ? "buffers" : "MB", "%s.%s class %u", n->topo->name, n->topo->config->ports.items[port].name,
		class);

	if (rc == 0 && lab->n_series > before)
		add_limits(&lab->series[before], n, port, buffers);
	return rc;
}

static int add_lossless(struct lab *lab, struct lab_node *n, uint16_t port)
{
	const struct cfg_port *p = &n->topo->config->ports.items[port];
	int rc = 0;

	for (uint32_t i = 0; n->node && i < p->pfc.priorities.n && rc == 0; i++) {
		unsigned int class = (unsigned int)p->pfc.priorities.items[i];

		rc = add_class(lab, n, port, class, false);
		rc = rc ? rc : add_class(lab, n, port, class, true);
	}
	return rc;
}

static int add_nodes(struct lab *lab)
{
	int rc = 0;

	for (uint32_t i = 0; i < lab->n_nodes && rc == 0; i++) {
		struct lab_node *n = &lab->node[i];

		rc = add(lab, read_held, n, 0, SERIES_LEVEL, "Buffers in use in nodes", "packets", "%s", n->topo->name);
		rc = rc ? rc
			: add(lab, read_drops, n, 0, SERIES_COUNT, "Dropped in nodes", "packets per sample", "%s",
				  n->topo->name);
		if (n->credit && rc == 0)
			rc = add(lab, read_credit, n, 0, SERIES_LEVEL, "Credit that sessions have of the next node",
				"units", "%s", n->topo->name);
		if (n->credit && rc == 0)
			rc = add(lab, read_waits, n, 0, SERIES_LEVEL, "Packets that wait for credit", "packets", "%s",
				n->topo->name);
		for (uint16_t p = 0; p < n->n_ports && rc == 0; p++)
			if (n->way[p])
				rc = add(lab, read_queue, n, p, SERIES_LEVEL, "Egress queues", "packets", "%s.%s",
					n->topo->name, n->topo->config->ports.items[p].name);
		for (uint16_t p = 0; p < n->n_ports && rc == 0; p++)
			if (n->way[p])
				rc = add_lossless(lab, n, p);
	}
	return rc;
}

static int add_links(struct lab *lab)
{
	int rc = 0;

	for (uint32_t i = 0; i < lab->n_links * 2 && rc == 0; i++) {
		struct lab_way *w = &lab->link[i / 2].way[i % 2];

		rc = add(lab, read_way, w, 0, SERIES_RATE, "Links: received, overhead included", "Gb/s", "%s", w->name);
		rc = rc ? rc
			: add(lab, read_flight, w, 0, SERIES_LEVEL, "In flight on links and in transmit descriptors",
				  "MB", "%s", w->name);
		rc = rc ? rc
			: add(lab, read_way_lost, w, 0, SERIES_COUNT, "Lost on links", "frames per sample", "%s",
				  w->name);
	}
	return rc;
}

int lab_series_init(struct lab *lab)
{
	int rc = add_hosts(lab);

	rc = rc ? rc : add_flows(lab);
	rc = rc ? rc : add_nodes(lab);
	return rc ? rc : add_links(lab);
}
