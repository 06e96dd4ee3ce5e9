/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of an object as JSON, by their table. Management thread. */
#ifndef COMMAND_JSON_ROW_H
#define COMMAND_JSON_ROW_H

#include <jansson.h>

#include "metrics/tables.h"

/*
 * Put the named rows of the table into `o`, in order; rows with a value for each priority become lists. `now`: of the node's
 * clock, for times, which are shown as ms since then, or null for never.
 */
void json_row(json_t *o, const struct stat_table *table, const void *object, uint64_t now);

/* The same, added to the numbers that are in `o` already. Counters and gauges with one value only. */
void json_row_add(json_t *o, const struct stat_table *table, const void *object);

/* The same names, all null: the object has none of these counters. */
void json_row_null(json_t *o, const struct stat_table *table);

#endif
