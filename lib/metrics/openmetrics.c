/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes all counters as one OpenMetrics page. Management thread. */
#include "metrics/openmetrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/aligned.h"
#include "config/behavior.h"
#include "node/node_ctl.h"

struct page {
	const struct node *n;
	FILE *out;
	bool open;
};

/* "passes" is a count of passes; a unit that is only the thing counted says nothing and is left out. */
static const char *unit_suffix(const char *unit)
{
	if (strcmp(unit, "bytes") == 0)
		return "_bytes";
	if (strcmp(unit, "ns") == 0)
		return "_seconds";
	return "";
}

/* Name without a unit that the list writes into it: rx_bytes, busy_ns. */
static void base_name(const char *name, const char *unit, char *buf, size_t size)
{
	size_t n = strlen(name), u = strlen(unit);

	snprintf(buf, size, "%s", name);
	if (*unit_suffix(unit) && n > u + 1 && n < size && strcmp(name + n - u, unit) == 0 && name[n - u - 1] == '_')
		buf[n - u - 1] = '\0';
}

static void family(const struct page *p, const char *full, const char *type, const char *unit, const char *help)
{
	bool total = strcmp(type, "counter") == 0 && !p->open;

	fprintf(p->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", full, total ? "_total" : "", help, full,
		total ? "_total" : "", type);
	if (p->open && *unit)
		fprintf(p->out, "# UNIT %s %s\n", full, unit + 1);
}

/* Nanoseconds become seconds, as Prometheus wants base units. */
static void value(const struct page *p, uint64_t v, const char *unit)
{
	if (strcmp(unit, "ns") == 0)
		fprintf(p->out, " %llu.%09llu\n", (unsigned long long)(v / NSEC_PER_SEC),
			(unsigned long long)(v % NSEC_PER_SEC));
	else
		fprintf(p->out, " %llu\n", (unsigned long long)v);
}

static const char *port_name(const struct node *n, unsigned int port)
{
	return port == PORT_LOCAL ? "(local)" : n->port[port]->name;
}

static bool port_exists(const struct node *n, unsigned int port)
{
	return port < n->n_ports || port == PORT_LOCAL;
}

static void port_counter(const struct page *p, const struct lcore_stats *sum, const char *name, const char *unit,
	const char *help, size_t offset)
{
	char base[64], full[128];

	base_name(name, unit, base, sizeof(base));
	snprintf(full, sizeof(full), "sluice_port_%s%s", base, unit_suffix(unit));
	family(p, full, "counter", unit_suffix(unit), help);
	for (unsigned int i = 0; i < PORT_SLOTS; i++) {
		uint64_t v;

		if (!port_exists(p->n, i))
			continue;
		memcpy(&v, (const char *)&sum->port[i] + offset, sizeof(v));
		fprintf(p->out, "%s_total{node=\"%s\",port=\"%s\"}", full, p->n->name, port_name(p->n, i));
		value(p, v, unit);
	}
}

static void interface_counter(const struct page *p, const struct lcore_stats *sum, const char *name, const char *unit,
	const char *help, size_t offset)
{
	const struct snapshot *s = p->n->snapshot;
	char base[64], full[128];

	base_name(name, unit, base, sizeof(base));
	snprintf(full, sizeof(full), "sluice_interface_%s%s", base, unit_suffix(unit));
	family(p, full, "counter", unit_suffix(unit), help);
	for (uint32_t i = 0; i < s->n_interfaces; i++) {
		uint64_t v;

		if (!s->interface[i])
			continue;
		memcpy(&v, (const char *)&sum->interface[i] + offset, sizeof(v));
		fprintf(p->out, "%s_total{node=\"%s\",port=\"%s\",interface=\"%s\"}", full, p->n->name,
			port_name(p->n, snap_port_of(s->interface[i]->interface)), s->interface[i]->name);
		value(p, v, unit);
	}
}

static void lcore_counter(const struct page *p, const char *name, const char *unit, const char *help, size_t offset)
{
	/* the longest gap is a level that only grows, not a count */
	bool gauge = strcmp(name, "max_gap_ns") == 0;
	char base[64], full[128];

	base_name(name, unit, base, sizeof(base));
	snprintf(full, sizeof(full), "sluice_lcore_%s%s", base, unit_suffix(unit));
	family(p, full, gauge ? "gauge" : "counter", unit_suffix(unit), help);
	for (uint16_t i = 0; i < p->n->n_lcores; i++) {
		uint64_t v = stat_read((const uint64_t *)(const void *)((const char *)&p->n->lcore[i]->stats + offset));

		fprintf(p->out, "%s%s{node=\"%s\",lcore=\"%u\"}", full, gauge ? "" : "_total", p->n->name,
			p->n->lcore[i]->id);
		value(p, v, unit);
	}
}

static void reasons(const struct page *p, const struct lcore_stats *sum, const char *full, const char *help,
	unsigned int first, unsigned int end)
{
	family(p, full, "counter", "", help);
	for (unsigned int i = 0; i < PORT_SLOTS; i++)
		for (unsigned int r = first; r < end && port_exists(p->n, i); r++)
			fprintf(p->out, "%s_total{node=\"%s\",port=\"%s\",reason=\"%s\"} %llu\n", full, p->n->name,
				port_name(p->n, i), reason_name((enum reason)r),
				(unsigned long long)sum->port[i].reason[r]);
}

static void port_gauges(const struct page *p)
{
	family(p, "sluice_port_up", "gauge", "", "1 while the port has a link");
	for (uint32_t i = 0; i < p->n->n_ports; i++)
		fprintf(p->out, "sluice_port_up{node=\"%s\",port=\"%s\"} %d\n", p->n->name, p->n->port[i]->name,
			port_is_up(p->n->port[i]));
	family(p, "sluice_port_queued_packets", "gauge", "", "waiting in the egress queues of the port");
	for (uint32_t i = 0; i < p->n->n_ports; i++)
		fprintf(p->out, "sluice_port_queued_packets{node=\"%s\",port=\"%s\"} %u\n", p->n->name,
			p->n->port[i]->name, __atomic_load_n(&p->n->egress[i].backlog, __ATOMIC_RELAXED));
}

/* One family over all queues that were ever used. */
static void queue_family(const struct page *p, const char *full, const char *type, const char *help, size_t offset)
{
	family(p, full, type, strcmp(type, "gauge") ? "" : "_bytes", help);
	for (uint32_t i = 0; i < p->n->n_ports; i++) {
		for (uint32_t slice = 0; slice < p->n->snapshot->n_slices; slice++) {
			for (unsigned int class = 0; class < 8; ++class) {
				const struct egress_queue *q = &p->n->egress[i].slice[slice].queue[class];
				const char *name = p->n->snapshot->slice[slice].name;

				if (!stat_read(&q->entered) && !stat_read(&q->dropped) && !stat_read(&q->pauses))
					continue;
				fprintf(p->out, "%s%s{node=\"%s\",port=\"%s\",slice=\"%s\",class=\"%u\"}", full,
					strcmp(type, "gauge") ? "_total" : "", p->n->name, p->n->port[i]->name,
					name ? name : "(removed)", class);
				fprintf(p->out, " %llu\n",
					(unsigned long long)stat_read(
						(const uint64_t *)(const void *)((const char *)q + offset)));
			}
		}
	}
}

static void queues(const struct page *p)
{
#define QUEUE(member) __builtin_offsetof(struct egress_queue, member)
	queue_family(p, "sluice_queue_bytes", "gauge", "waiting in an egress queue", QUEUE(bytes));
	queue_family(p, "sluice_queue_most_bytes", "gauge", "that ever waited in an egress queue", QUEUE(most_bytes));
	queue_family(p, "sluice_queue_entered_packets", "counter", "that had to wait in an egress queue",
		QUEUE(entered));
	queue_family(p, "sluice_queue_dropped_packets", "counter", "dropped in front of an egress queue",
		QUEUE(dropped));
	queue_family(p, "sluice_queue_marked_packets", "counter", "marked CE in an egress queue", QUEUE(marked));
	queue_family(p, "sluice_queue_pauses", "counter", "times that the gate of an egress queue closed",
		QUEUE(pauses));
#undef QUEUE
}

static void pfc_family(const struct page *p, const char *full, const char *help, size_t offset)
{
	family(p, full, "counter", "", help);
	for (uint32_t i = 0; i < p->n->n_ports; i++)
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
			if (p->n->snapshot->port[i].lossless >> k & 1)
				fprintf(p->out, "%s_total{node=\"%s\",port=\"%s\",priority=\"%u\"} %llu\n", full,
					p->n->name, p->n->port[i]->name, k,
					(unsigned long long)stat_read(
						(const uint64_t *)(const void *)((const char *)&p->n->pfc[i] + offset) +
						k));
}

static void buffer_family(const struct page *p, const char *full, const char *type, const char *help, size_t offset)
{
	family(p, full, type, "", help);
	for (uint32_t i = 0; i < p->n->n_ports; i++)
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
			if (p->n->snapshot->port[i].lossless >> k & 1)
				fprintf(p->out, "%s%s{node=\"%s\",port=\"%s\",class=\"%u\"} %llu\n", full,
					strcmp(type, "gauge") ? "_total" : "", p->n->name, p->n->port[i]->name, k,
					(unsigned long long)stat_read(
						(const uint64_t *)(const void *)((const char *)&p->n->pfc[i].buffer[k] +
										 offset)));
}

static void pfc(const struct page *p)
{
#define PFC(member) __builtin_offsetof(struct node_pfc_port, member)
#define BUFFER(member) __builtin_offsetof(struct pfc_buffer, member)
	pfc_family(p, "sluice_pfc_rx_xoff", "PFC frames heard that stop this priority", PFC(xoff));
	pfc_family(p, "sluice_pfc_rx_xon", "PFC frames heard that end its pause", PFC(xon));
	pfc_family(p, "sluice_pfc_tx_xoff", "PFC frames said that stop this priority, refreshes too",
		PFC(speaker.xoff));
	pfc_family(p, "sluice_pfc_tx_xon", "PFC frames said that end its pause", PFC(speaker.xon));
	buffer_family(p, "sluice_buffer_bytes", "gauge", "held of what came in here in a lossless class",
		BUFFER(level.bytes));
	buffer_family(p, "sluice_buffer_packets", "gauge", "packet buffers held by it", BUFFER(level.buffers));
	buffer_family(p, "sluice_buffer_most_bytes", "gauge", "ever held by it", BUFFER(most.bytes));
	buffer_family(p, "sluice_buffer_most_headroom_bytes", "gauge", "of its headroom ever used",
		BUFFER(most_headroom.bytes));
	buffer_family(p, "sluice_buffer_exhausted", "counter", "times that its headroom was used up",
		BUFFER(exhausted_times));
#undef PFC
#undef BUFFER
}

struct watch_family {
	const struct page *p;
	const char *full, *unit;
	bool gauge;
	size_t offset; /* in struct node_watchdog, of a uint64_t; of a gauge, a bool */
};

static void watch_value(void *arg, const struct node_watchdog *w)
{
	const struct watch_family *f = arg;
	uint64_t v = 0;

	memcpy(&v, (const char *)w + f->offset, f->gauge ? sizeof(bool) : sizeof(v));
	fprintf(f->p->out, "%s%s{node=\"%s\",port=\"%s\",relay=\"%s\",slice=\"%s\",priority=\"%u\"}", f->full,
		f->gauge ? "" : "_total", f->p->n->name, w->port, w->relay ? w->relay : "", w->slice, w->priority);
	value(f->p, v, f->unit);
}

static void watch_family(const struct page *p, const char *full, const char *type, const char *unit, const char *help,
	size_t offset)
{
	struct watch_family f = {p, full, unit, strcmp(type, "gauge") == 0, offset};

	family(p, full, type, unit_suffix(unit), help);
	node_watchdogs(p->n, watch_value, &f);
}

struct pause_family {
	const struct page *p;
	const char *full, *unit;
	size_t offset; /* in struct node_pauses, of a uint64_t */
};

static void pause_value(void *arg, const struct node_pauses *pauses)
{
	const struct pause_family *f = arg;

	fprintf(f->p->out, "%s_total{node=\"%s\",direction=\"%s\",name=\"%s\",priority=\"%u\"}", f->full, f->p->n->name,
		pauses->direction, pauses->name, pauses->priority);
	value(f->p, stat_read((const uint64_t *)(const void *)((const char *)pauses + f->offset)), f->unit);
}

static void pause_family(const struct page *p, const char *full, const char *unit, const char *help, size_t offset)
{
	struct pause_family f = {p, full, unit, offset};

	family(p, full, "counter", unit_suffix(unit), help);
	node_pauses(p->n, __atomic_load_n(&p->n->control->now, __ATOMIC_RELAXED), pause_value, &f);
}

/* Names are of ports (heard, said), relays (relayed) and tunnels (tunnel). */
static void pauses(const struct page *p)
{
	pause_family(p, "sluice_pfc_pauses", "", "pauses by PFC, from the first XOFF to XON or to the end of the time",
		__builtin_offsetof(struct node_pauses, history.transitions));
	pause_family(p, "sluice_pfc_paused_seconds", "ns", "time paused by PFC, a pause under way included",
		__builtin_offsetof(struct node_pauses, total_ns));
}

static void watchdogs(const struct page *p)
{
#define WATCH(member) __builtin_offsetof(struct node_watchdog, member)
	watch_family(p, "sluice_pfc_storm", "gauge", "",
		"1 while a queue, or a gateway behind a relay, is in a PFC storm", WATCH(state.stormed));
	watch_family(p, "sluice_pfc_storm_alarms", "counter", "", "pauses that lasted for the alarm time",
		WATCH(state.alarms));
	watch_family(p, "sluice_pfc_storms", "counter", "", "PFC storms detected", WATCH(state.detections));
	watch_family(p, "sluice_pfc_storms_restored", "counter", "", "PFC storms that are over",
		WATCH(state.restorations));
	watch_family(p, "sluice_pfc_storm_seconds", "counter", "ns", "time in storms that are over",
		WATCH(state.storm_ns));
	watch_family(p, "sluice_pfc_storm_ignored", "counter", "", "requests to pause not obeyed in a storm",
		WATCH(state.ignored));
	watch_family(p, "sluice_pfc_storm_sent_packets", "counter", "", "sent by the queue in storms",
		WATCH(state.sent));
	watch_family(p, "sluice_pfc_storm_dropped_packets", "counter", "", "of the queue, dropped in storms",
		WATCH(state.dropped));
#undef WATCH
}

static void device_counter(const struct page *p, const char *full, const char *help, size_t offset)
{
	family(p, full, "counter", "", help);
	for (uint32_t i = 0; i < p->n->n_ports; i++) {
		struct port_device_stats d;
		uint64_t v;

		p->n->port[i]->ops->device_stats(p->n->port[i], &d);
		memcpy(&v, (const char *)&d + offset, sizeof(v));
		fprintf(p->out, "%s_total{node=\"%s\",port=\"%s\"} %llu\n", full, p->n->name, p->n->port[i]->name,
			(unsigned long long)v);
	}
}

static void sid_counter(const struct page *p, const char *full, const char *unit, const char *help, size_t offset)
{
	const struct snapshot *s = p->n->snapshot;
	char text[IP_PREFIX_TEXT];

	family(p, full, "counter", unit, help);
	for (uint32_t i = 0; i < s->n_sids; i++) {
		uint64_t sum = 0;

		for (uint16_t r = 0; r < p->n->n_rx; r++)
			sum += stat_read(
				(const uint64_t *)(const void *)((const char *)&p->n->rx[r].classifier.sids[i] +
								 offset));
		if (s->sid[i].used)
			fprintf(p->out, "%s_total{node=\"%s\",sid=\"%s\",behavior=\"%s\"} %llu\n", full, p->n->name,
				ip_prefix_format(&s->sid[i].prefix, text),
				behavior_info((enum cfg_behavior)s->sid[i].behavior)->name, (unsigned long long)sum);
	}
}

static void sids(const struct page *p)
{
	sid_counter(p, "sluice_sid_packets", "", "that a local SID was executed for",
		__builtin_offsetof(struct sid_counter, packets));
	sid_counter(p, "sluice_sid_bytes", "_bytes", "of the frames that a local SID was executed for",
		__builtin_offsetof(struct sid_counter, bytes));
}

/* "rx 1"; there is only one control lcore. */
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

void openmetrics_print(const struct node *n, bool open, FILE *out)
{
	struct page p = {.n = n, .out = out, .open = open};
	struct lcore_stats *sum = new_aligned(sizeof(*sum));
	struct node_balance b;

	if (!sum)
		return;
	node_stats(n, sum);
	node_balance(n, &b);
#define X(name, unit, help) port_counter(&p, sum, #name, unit, help, __builtin_offsetof(struct port_stats, name));
	PORT_COUNTERS(X)
#undef X
	reasons(&p, sum, "sluice_port_dropped_packets", "dropped, by reason", 0, DROP_COUNT);
	reasons(&p, sum, "sluice_port_consumed_packets", "consumed by the node, by kind", CONSUME_FIRST, REASON_COUNT);
	device_counter(&p, "sluice_port_imissed_packets", "lost by the device: no descriptor was free",
		__builtin_offsetof(struct port_device_stats, imissed));
	device_counter(&p, "sluice_port_rx_nombuf_packets", "lost by the device: no buffer was free",
		__builtin_offsetof(struct port_device_stats, rx_nombuf));
#define X(name, unit, help) \
	interface_counter(&p, sum, #name, unit, help, __builtin_offsetof(struct interface_stats, name));
	INTERFACE_COUNTERS(X)
#undef X
	port_gauges(&p);
	queues(&p);
	pfc(&p);
	pauses(&p);
	watchdogs(&p);
#define X(name, unit, help) lcore_counter(&p, #name, unit, help, __builtin_offsetof(struct lcore_stats, name));
	LCORE_COUNTERS(X)
#undef X
	sids(&p);
	family(&p, "sluice_ring_used", "gauge", "", "packets or messages in a ring between lcores");
	rings(&p, "sluice_ring_used", false);
	family(&p, "sluice_ring_refused", "counter", "", "packets or messages refused because the ring was full");
	rings(&p, "sluice_ring_refused_total", true);
	family(&p, "sluice_held_packets", "gauge", "", "inside the node");
	fprintf(out, "sluice_held_packets{node=\"%s\"} %llu\n", n->name, (unsigned long long)b.held);
	family(&p, "sluice_missing_packets", "gauge", "",
		"unaccounted for; not 0 for a moment while packets move, as counters are read one after the other");
	fprintf(out, "sluice_missing_packets{node=\"%s\"} %lld\n", n->name, (long long)b.missing);
	family(&p, "sluice_generation", "gauge", "", "of the configuration in force");
	fprintf(out, "sluice_generation{node=\"%s\"} %llu\n", n->name, (unsigned long long)n->snapshot->generation);
	if (open)
		fputs("# EOF\n", out);
	free(sum);
}
