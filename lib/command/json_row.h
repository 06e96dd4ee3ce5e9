/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the counters of an object to JSON, by their table. Management thread. */
#ifndef COMMAND_JSON_ROW_H
#define COMMAND_JSON_ROW_H

#include <jansson.h>

#include "metrics/tables.h"

/*
 * Add the named rows of the table to `o`, in order; rows with a value for each priority become lists. `now`: time of
 * the node's clock. Times are shown as ms before `now`, or null for never.
 */
void json_row(json_t *o, const struct stat_table *table, const void *object, uint64_t now);

/* Same, but add to the numbers that are in `o` already. Only counters and gauges with a single value. */
void json_row_add(json_t *o, const struct stat_table *table, const void *object);

/* Same names, all null: the object has none of these counters. */
void json_row_null(json_t *o, const struct stat_table *table);

#endif
