/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time series for the plots: values that are read at every sample. A feature with something to show adds a series here,
 * with its plot ("group") and its unit. The lab is single-threaded.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "lab/host_priv.h"
#include "service/pfc/pfc_ctl.h"

#define SAMPLES 400

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

/* Queued bytes of lossless classes that were received on a port. */
static double read_lossless(struct lab *lab, struct lab_series *s)
{
	const struct lab_node *n = s->of;
	double bytes = 0;

	(void)lab;
	for (unsigned int i = 0; n->node && i < PFC_PRIORITIES; i++)
		bytes += (double)service_pfc(n->node)->port[s->index].buffer[i].level.bytes;
	return bytes / 1e6;
}

static double read_drops(struct lab *lab, struct lab_series *s)
{
	struct lab_node *n = s->of;
	uint64_t total = n->past.dropped + lab_node_balance(n)->dropped, grown;

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

static int add(struct lab *lab, read_fn read, void *of, uint32_t index, const char *group, const char *unit,
	const char *format, ...) PRINTF_LIKE(7, 8);
static int add(struct lab *lab, read_fn read, void *of, uint32_t index, const char *group, const char *unit,
	const char *format, ...)
{
	struct lab_series *s = &lab->series[lab->n_series];
	va_list args;
	int n;

	if (lab->n_series == LAB_SERIES_MAX)
		return 0; /* a topology this large has more series than anyone would read */
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
	s->value = calloc(lab->room_samples, sizeof(*s->value));
	lab->n_series++;
	return s->value ? 0 : -ENOMEM;
}

static int add_hosts(struct lab *lab)
{
	int rc = 0;

	for (uint32_t i = 0; i < lab->n_hosts && rc == 0; i++) {
		struct lab_host *h = &lab->host[i];

		rc = add(lab, read_host_sent, h, 0, "Sent by hosts", "Gb/s", "%s", h->topo->name);
		rc = rc ? rc
			: add(lab, read_goodput, h, 0, "Goodput of hosts: payload received in order", "Gb/s", "%s",
				  h->topo->name);
		if (rc == 0 && h->topo->sink.drain_bps)
			rc = add(lab, read_sink, h, 0, "Receive buffers of hosts", "MB", "%s", h->topo->name);
		for (unsigned int p = 0; p < PFC_PRIORITIES && rc == 0; p++)
			if (h->pfc_mask >> p & 1)
				rc = add(lab, read_paused, h, p, "Hosts paused by PFC", "% of time", "%s priority %u",
					h->topo->name, p);
	}
	return rc;
}

static int add_nodes(struct lab *lab)
{
	int rc = 0;

	for (uint32_t i = 0; i < lab->n_nodes && rc == 0; i++) {
		struct lab_node *n = &lab->node[i];

		rc = add(lab, read_held, n, 0, "Buffers in use in nodes", "packets", "%s", n->topo->name);
		rc = rc ? rc
			: add(lab, read_drops, n, 0, "Dropped in nodes", "packets per sample", "%s", n->topo->name);
		for (uint16_t p = 0; p < n->n_ports && rc == 0; p++)
			if (n->way[p])
				rc = add(lab, read_queue, n, p, "Egress queues", "packets", "%s.%s", n->topo->name,
					n->topo->config->ports.items[p].name);
		for (uint16_t p = 0; p < n->n_ports && rc == 0; p++)
			if (n->way[p] && n->topo->config->ports.items[p].pfc.priorities.n)
				rc = add(lab, read_lossless, n, p, "Buffers of lossless classes", "MB", "%s.%s",
					n->topo->name, n->topo->config->ports.items[p].name);
	}
	return rc;
}

static int add_links(struct lab *lab)
{
	int rc = 0;

	for (uint32_t i = 0; i < lab->n_links * 2 && rc == 0; i++) {
		struct lab_way *w = &lab->link[i / 2].way[i % 2];

		rc = add(lab, read_way, w, 0, "Links: received, overhead included", "Gb/s", "%s", w->name);
		rc = rc ? rc
			: add(lab, read_flight, w, 0, "In flight on links and in transmit descriptors", "MB", "%s",
				  w->name);
		rc = rc ? rc : add(lab, read_way_lost, w, 0, "Lost on links", "frames per sample", "%s", w->name);
	}
	return rc;
}

static void sample(void *arg)
{
	struct lab *lab = arg;
	uint64_t behind = lab->now - MIN_OF(lab->now, lab->topo->lab.run_ns);

	for (uint32_t i = 0; i < lab->n_nodes; i++)
		lab_node_housekeeping(&lab->node[i]);
	lab_check(lab);
	if (lab->n_samples < lab->room_samples) {
		lab->sample_at[lab->n_samples] = lab->now;
		for (uint32_t i = 0; i < lab->n_series; i++)
			lab->series[i].value[lab->n_samples] = lab->series[i].read(lab, &lab->series[i]);
		lab->n_samples++;
		lab->sampled_at = lab->now;
	}
	/* sample less often during a long drain: it mostly waits for timeouts */
	event_set(&lab->queue, &lab->sample, lab->now + MAX_OF(lab->sample_ns, behind / 50));
}

int lab_samples_init(struct lab *lab, char *err, size_t size)
{
	int rc;

	lab->sample_ns = lab->topo->lab.sample_ns ? lab->topo->lab.sample_ns
						  : MAX_OF(lab->topo->lab.run_ns / SAMPLES, 1);
	lab->room_samples = (uint32_t)MIN_OF(lab->end_ns / lab->sample_ns + 2, 10 * SAMPLES);
	lab->sample_at = calloc(lab->room_samples, sizeof(*lab->sample_at));
	rc = lab->sample_at ? add_hosts(lab) : -ENOMEM;
	rc = rc ? rc : add_links(lab);
	rc = rc ? rc : add_nodes(lab);
	event_init(&lab->sample, sample, lab, "sample", lab->topo->lab.name);
	rc = rc ? rc : event_set(&lab->queue, &lab->sample, lab->sample_ns);
	if (rc < 0)
		snprintf(err, size, "out of memory");
	return rc;
}

void lab_samples_fini(struct lab *lab)
{
	for (uint32_t i = 0; i < lab->n_series; i++) {
		free(lab->series[i].name);
		free(lab->series[i].value);
	}
	free(lab->sample_at);
}
