/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of an object are a list of rows: X(kind, member, name, unit, metric, help). The list is next to the struct
 * and is the only place to edit for a new counter: it declares the members, and the tables generated from it
 * (metrics/tables.h) feed the console, JSON, OpenMetrics and docs/counters.md.
 *
 *   kind    counter, gauge, time (ns on the node's clock; 0: never), priority_counter (one value for each of the eight
 *           priorities); part_counter, part_gauge: the member is declared by hand, often inside another struct
 *   name    in JSON and on the console; NULL: not shown there. Nanoseconds are shown in the unit at the end of the name
 *           (_us, _ms)
 *   metric  name in OpenMetrics, without _total; NULL: not exported. A metric that ends with _ns is exported in seconds,
 *           as _seconds
 *   help    a noun phrase that states exactly what is counted, such as "packets received on this port"
 *
 * Pure. Values are read relaxed, so any thread may read the counters of an lcore.
 */
#ifndef STATS_COUNTER_H
#define STATS_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#define STAT_PRIORITIES 8
#define STAT_METRIC 80 /* bytes of a metric's name, including the NUL */

enum stat_kind { STAT_COUNTER, STAT_GAUGE, STAT_TIME };

struct stat_row {
	const char *name, *unit, *metric, *help;
	uint32_t offset;
	uint8_t kind; /* enum stat_kind */
	uint8_t size; /* bytes of a value */
	uint8_t n;    /* values: 1, or one for each priority */
};

/* Members of the struct. */
#define STAT_DECLARE(kind, member, name, unit, metric, help) STAT_DECLARE_##kind(member)
#define STAT_DECLARE_counter(member) uint64_t member;
#define STAT_DECLARE_gauge(member) uint64_t member;
#define STAT_DECLARE_time(member) uint64_t member;
#define STAT_DECLARE_priority_counter(member) uint64_t member[STAT_PRIORITIES];
#define STAT_DECLARE_part_counter(member)
#define STAT_DECLARE_part_gauge(member)

/* A row of the table; `type` is the struct. */
#define STAT_ROW(type, kind_, member, name_, unit_, metric_, help_) \
	{ \
		.name = (name_), .unit = (unit_), .metric = (metric_), .help = (help_), \
		.offset = (uint32_t)offsetof(type, member), .kind = STAT_KIND_##kind_, \
		.size = sizeof(((type *)0)->member) / STAT_N_##kind_, .n = STAT_N_##kind_ \
	}
#define STAT_KIND_counter STAT_COUNTER
#define STAT_KIND_gauge STAT_GAUGE
#define STAT_KIND_time STAT_TIME
#define STAT_KIND_priority_counter STAT_COUNTER
#define STAT_KIND_part_counter STAT_COUNTER
#define STAT_KIND_part_gauge STAT_GAUGE
#define STAT_N_counter 1
#define STAT_N_gauge 1
#define STAT_N_time 1
#define STAT_N_priority_counter STAT_PRIORITIES
#define STAT_N_part_counter 1
#define STAT_N_part_gauge 1

/* Subtract the counters of *base from *out; gauges and times stay unchanged. */
#define STAT_SINCE(kind, out, base) STAT_SINCE_##kind(out, base)
#define STAT_SINCE_counter(out, base) (out) -= (base);
#define STAT_SINCE_gauge(out, base)
#define STAT_SINCE_time(out, base)
#define STAT_SINCE_priority_counter(out, base) \
	for (unsigned int stat_i = 0; stat_i < STAT_PRIORITIES; stat_i++) \
		(out)[stat_i] -= (base)[stat_i];
#define STAT_SINCE_part_counter(out, base)
#define STAT_SINCE_part_gauge(out, base)

/* Value i (below row->n) of the object. */
uint64_t stat_value(const struct stat_row *row, const void *object, unsigned int i);

/* Convert a value from nanoseconds to the unit of the row's name (us or ms). */
uint64_t stat_shown(const struct stat_row *row, uint64_t value);

/* Is the metric a time, exported in seconds? */
int stat_in_seconds(const struct stat_row *row);

/* Name of the metric, without _total, in buf of STAT_METRIC bytes; row->metric is not NULL. Returns buf. */
const char *stat_metric(const struct stat_row *row, char *buf);

#endif
