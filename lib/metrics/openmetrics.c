/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the page: one family of samples for each row of the tables, and the information that is not a counter.
 * Management thread.
 */
#include "metrics/openmetrics.h"

#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "base/aligned.h"
#include "metrics/metrics_priv.h"

struct page {
	const struct node *n;
	FILE *out;
	bool open;
};

/* The unit that OpenMetrics requires: the suffix of the name. */
static const char *unit_of(const char *full)
{
	static const char *const units[] = {"bytes", "seconds"};
	size_t n = strlen(full);

	for (unsigned int i = 0; i < ARRAY_LEN(units); i++) {
		size_t u = strlen(units[i]);

		if (n > u && full[n - u - 1] == '_' && strcmp(full + n - u, units[i]) == 0)
			return units[i];
	}
	return NULL;
}

static void family(const struct page *p, const char *full, const char *type, const char *help)
{
	bool total = strcmp(type, "counter") == 0 && !p->open;

	fprintf(p->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", full, total ? "_total" : "", help, full,
		total ? "_total" : "", type);
	if (p->open && unit_of(full))
		fprintf(p->out, "# UNIT %s %s\n", full, unit_of(full));
}

/* State while the objects of one table row are visited. */
struct row_family {
	const struct page *p;
	const struct stat_row *row;
	char full[STAT_METRIC];
};

static void sample(const struct row_family *f, const char *labels, const void *object, unsigned int i)
{
	uint64_t v = stat_value(f->row, object, i);

	fprintf(f->p->out, "%s%s{node=\"%s\"%s%s", f->full, f->row->kind == STAT_COUNTER ? "_total" : "", f->p->n->name,
		*labels ? "," : "", labels);
	if (f->row->n > 1)
		fprintf(f->p->out, ",priority=\"%u\"", i);
	/* nanoseconds become seconds, because Prometheus requires base units */
	if (stat_in_seconds(f->row))
		fprintf(f->p->out, "} %llu.%09llu\n", (unsigned long long)(v / NSEC_PER_SEC),
			(unsigned long long)(v % NSEC_PER_SEC));
	else
		fprintf(f->p->out, "} %llu\n", (unsigned long long)v);
}

static void add_object(void *arg, const char *labels, const void *object, uint8_t priorities)
{
	const struct row_family *f = arg;

	for (unsigned int i = 0; i < f->row->n; i++)
		if (f->row->n == 1 || priorities >> i & 1)
			sample(f, labels, object, i);
}

static void tables(const struct page *p, const struct metric_context *c, const struct metric_source *source)
{
	for (; source->table; source++) {
		for (unsigned int i = 0; i < source->table->n; i++) {
			struct row_family f = {.p = p, .row = &source->table->rows[i]};

			if (!f.row->metric)
				continue;
			stat_metric(f.row, f.full);
			family(p, f.full, f.row->kind == STAT_COUNTER ? "counter" : "gauge", f.row->help);
			source->each(c, add_object, &f);
		}
	}
}

static void reasons(const struct page *p, const struct lcore_stats *sum, const char *full, const char *help,
	unsigned int first, unsigned int end)
{
	family(p, full, "counter", help);
	for (unsigned int i = 0; i < PORT_SLOTS; i++)
		for (unsigned int r = first; r < end && (i < p->n->n_ports || i == PORT_LOCAL); r++)
			fprintf(p->out, "%s_total{node=\"%s\",port=\"%s\",reason=\"%s\"} %llu\n", full, p->n->name,
				metric_port_name(p->n, i), reason_name((enum reason)r),
				(unsigned long long)sum->port[i].reason[r]);
}

static void links(const struct page *p)
{
	family(p, "sluice_port_up", "gauge", "1 if the link of the port is up");
	for (uint32_t i = 0; i < p->n->n_ports; i++)
		fprintf(p->out, "sluice_port_up{node=\"%s\",port=\"%s\"} %d\n", p->n->name, p->n->port[i]->name,
			port_is_up(p->n->port[i]));
}

/* How many there are of each state: of all of them, whatever the limit of the samples. */
static void grades(const struct page *p, const char *name, const char *help,
	void (*sum)(const struct node *n, uint32_t count[LIVENESS_IS_ALIVE + 1]))
{
	static const char *const states[] = {"down", "held", "up"};
	uint32_t count[ARRAY_LEN(states)] = {0};

	sum(p->n, count);
	family(p, name, "gauge", help);
	for (unsigned int i = 0; i < ARRAY_LEN(states); i++)
		fprintf(p->out, "%s{node=\"%s\",state=\"%s\"} %u\n", name, p->n->name, states[i], count[i]);
}

/* Name of a mailbox's end: "rx 1". The control lcore has no number, as there is only one. */
static void mailbox_end(const struct mailbox_end *end, char *buf, size_t size)
{
	if (end->role == MAILBOX_CONTROL)
		snprintf(buf, size, "control");
	else
		snprintf(buf, size, "%s %u", mailbox_role_name(end->role), end->lcore->id);
}

static void rings(const struct page *p, const char *name, bool refused)
{
	char from[24], to[24];

	for (const struct mailbox *b = p->n->mailboxes.first; b; b = b->next) {
		mailbox_end(&b->from, from, sizeof(from));
		mailbox_end(&b->to, to, sizeof(to));
		fprintf(p->out, "%s{node=\"%s\",from=\"%s\",to=\"%s\",carries=\"%s\"} %llu\n", name, p->n->name, from,
			to, b->carries, (unsigned long long)(refused ? stat_read(&b->refused) : mailbox_used(b)));
	}
}

static void gauge(const struct page *p, const char *name, const char *help, uint64_t value)
{
	family(p, name, "gauge", help);
	fprintf(p->out, "%s{node=\"%s\"} %llu\n", name, p->n->name, (unsigned long long)value);
}

static void neighbors(const struct page *p)
{
	static const char *const names[] = {"unknown", "asked", "resolved", "stale"};
	uint64_t count[ARRAY_LEN(names)] = {0};

	for (uint16_t w = 0; w < p->n->n_workers; w++)
		for (uint32_t i = 0; i < p->n->worker[w].neighs.n; i++)
			if (__atomic_load_n(&p->n->worker[w].neighs.neigh[i].used_id, __ATOMIC_RELAXED))
				count[__atomic_load_n(&p->n->worker[w].neighs.neigh[i].state, __ATOMIC_RELAXED)]++;
	family(p, "sluice_neighbors", "gauge", "neighbours of the node, by state of their resolution");
	for (unsigned int i = 0; i < ARRAY_LEN(names); i++)
		fprintf(p->out, "sluice_neighbors{node=\"%s\",state=\"%s\"} %llu\n", p->n->name, names[i],
			(unsigned long long)count[i]);
}

/* What sluice_buffer_most_headroom_bytes is to be compared with. */
static void headrooms(const struct page *p)
{
	family(p, "sluice_buffer_headroom_bytes", "gauge",
		"bytes above XOFF that are promised to a lossless class of an ingress port");
	for (uint32_t i = 0; i < p->n->n_ports; i++) {
		const struct snap_interface *in = &p->n->snapshot->port[i];

		FOR_EACH_BIT(k, in->lossless)
			fprintf(p->out, "sluice_buffer_headroom_bytes{node=\"%s\",port=\"%s\",class=\"%u\"} %llu\n",
				p->n->name, p->n->port[i]->name, k,
				(unsigned long long)(in->buffer.full.bytes - in->buffer.xoff.bytes));
	}
}

static void node_samples(const struct page *p)
{
	const struct node *n = p->n;
	struct node_balance b;

	node_balance(n, &b);
	gauge(p, "sluice_held_packets", "packets held in the node", b.held);
	family(p, "sluice_missing_packets", "gauge",
		"packets unaccounted for; briefly not 0 under traffic because counters are read one after the other");
	fprintf(p->out, "sluice_missing_packets{node=\"%s\"} %lld\n", n->name, (long long)b.missing);
	gauge(p, "sluice_generation", "generation of the running configuration", n->snapshot->generation);
	gauge(p, "sluice_pool_buffers", "packet buffers in the pools", node_buffers(n));
	gauge(p, "sluice_pool_free_buffers", "packet buffers that are free, those in the caches of lcores included",
		node_buffers_free(n));
	neighbors(p);
	family(p, "sluice_build_info", "gauge", "1; the labels are the versions of sluice and of DPDK");
	fprintf(p->out, "sluice_build_info{node=\"%s\",version=\"%s\",dpdk=\"%s\"} 1\n", n->name, SLUICE_VERSION,
		rte_version());
}

void openmetrics_print(const struct node *n, const struct openmetrics_how *how, FILE *out)
{
	struct page p = {.n = n, .out = out, .open = how->open};
	struct lcore_stats *sum = new_aligned(sizeof(*sum));
	struct metric_context context = {n, sum, how->session};

	if (!sum)
		return;
	node_stats(n, sum);
	tables(&p, &context, metric_ports);
	reasons(&p, sum, "sluice_port_dropped_packets", "packets dropped, by ingress port and reason", 0, DROP_COUNT);
	reasons(&p, sum, "sluice_port_consumed_packets", "packets consumed by the node, by ingress port and kind",
		CONSUME_FIRST, REASON_COUNT);
	links(&p);
	tables(&p, &context, metric_queues);
	headrooms(&p);
	tables(&p, &context, metric_pfc);
	tables(&p, &context, metric_ways);
	grades(&p, "sluice_nexthops", "next hops by state", metric_count_nexthops);
	grades(&p, "sluice_paths", "paths of policies by state", metric_count_paths);
	tables(&p, &context, metric_bfd);
	tables(&p, &context, metric_rsvp);
	tables(&p, &context, metric_credit);
	tables(&p, &context, metric_flows);
	if (how->session) {
		tables(&p, &context, metric_sessions);
		tables(&p, &context, metric_credits);
	}
	family(&p, "sluice_ring_used", "gauge", "packets or messages in a ring between lcores");
	rings(&p, "sluice_ring_used", false);
	family(&p, "sluice_ring_refused", "counter", "packets or messages refused because the ring was full");
	rings(&p, "sluice_ring_refused_total", true);
	node_samples(&p);
	if (how->open)
		fputs("# EOF\n", out);
	free(sum);
}
