/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the counters of all lcores, and subtracts the base line of `clear stats`. Management thread. */
#include "stats/stats.h"

static void add_port(struct port_stats *sum, const struct port_stats *p)
{
#define X(name, unit, help) sum->name += stat_read(&p->name);
	PORT_COUNTERS(X)
#undef X
	for (unsigned int r = 0; r < REASON_COUNT; r++)
		sum->reason[r] += stat_read(&p->reason[r]);
}

static void add_interface(struct interface_stats *sum, const struct interface_stats *s)
{
#define X(kind, name, ...) sum->name += stat_read(&s->name);
	INTERFACE_COUNTERS(X)
#undef X
}

void lcore_stats_add(struct lcore_stats *sum, const struct lcore_stats *block)
{
	uint64_t gap = MAX_OF(sum->max_gap_ns, stat_read(&block->max_gap_ns));

#define X(name, unit, help) sum->name += stat_read(&block->name);
	LCORE_COUNTERS(X)
#undef X
	sum->max_gap_ns = gap;
	for (unsigned int i = 0; i < PORT_SLOTS; i++)
		add_port(&sum->port[i], &block->port[i]);
	for (unsigned int i = 0; i < INTERFACE_SLOTS; i++)
		add_interface(&sum->interface[i], &block->interface[i]);
}

void lcore_stats_since(struct lcore_stats *out, const struct lcore_stats *now, const struct lcore_stats *base)
{
#define X(name, unit, help) out->name = now->name - base->name;
	LCORE_COUNTERS(X)
	out->max_gap_ns = now->max_gap_ns;
	for (unsigned int i = 0; i < PORT_SLOTS; i++) {
		struct port_stats *o = &out->port[i];
		const struct port_stats *n = &now->port[i], *b = &base->port[i];

#undef X
#define X(name, unit, help) o->name = n->name - b->name;
		PORT_COUNTERS(X)
#undef X
		for (unsigned int r = 0; r < REASON_COUNT; r++)
			o->reason[r] = n->reason[r] - b->reason[r];
	}
	for (unsigned int i = 0; i < INTERFACE_SLOTS; i++) {
#define X(kind, name, ...) out->interface[i].name = now->interface[i].name - base->interface[i].name;
		INTERFACE_COUNTERS(X)
#undef X
	}
}

uint64_t port_stats_drops(const struct port_stats *p)
{
	uint64_t n = 0;

	for (unsigned int r = 0; r < DROP_COUNT; r++)
		n += stat_read(&p->reason[r]);
	return n;
}

uint64_t port_stats_consumed(const struct port_stats *p)
{
	uint64_t n = 0;

	for (unsigned int r = CONSUME_FIRST; r < REASON_COUNT; r++)
		n += stat_read(&p->reason[r]);
	return n;
}
