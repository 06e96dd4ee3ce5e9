/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of counters: how a value is read and shown. Any thread. */
#include "stats/counter.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_US 1000u
#define NS_PER_MS 1000000u

static int ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

uint64_t stat_value(const struct stat_row *row, const void *object, unsigned int i)
{
	const char *at = (const char *)object + row->offset + (size_t)i * row->size;

	switch (row->size) {
	case 1:
		return __atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED);
	case 2:
		return __atomic_load_n((const uint16_t *)(const void *)at, __ATOMIC_RELAXED);
	case 4:
		return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_RELAXED);
	default:
		return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_RELAXED);
	}
}

uint64_t stat_shown(const struct stat_row *row, uint64_t value)
{
	if (strcmp(row->unit, "ns") != 0 || !row->name)
		return value;
	if (ends_with(row->name, "_us"))
		return value / NS_PER_US;
	return ends_with(row->name, "_ms") ? value / NS_PER_MS : value;
}

int stat_in_seconds(const struct stat_row *row)
{
	return row->metric && strcmp(row->unit, "ns") == 0;
}

const char *stat_metric(const struct stat_row *row, char *buf)
{
	int n = (int)strlen(row->metric);

	if (ends_with(row->metric, "_ns"))
		snprintf(buf, STAT_METRIC, "%.*s_seconds", n - 3, row->metric);
	else
		snprintf(buf, STAT_METRIC, "%s", row->metric);
	return buf;
}
