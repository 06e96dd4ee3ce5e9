/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the counters of an object to JSON, by their table. Management thread. */
#include "command/json_row.h"

#include "base/compiler.h"

static json_t *time_since(uint64_t then, uint64_t now)
{
	return then ? json_integer((json_int_t)((now > then ? now - then : 0) / NSEC_PER_MSEC)) : json_null();
}

static json_t *shown(const struct stat_row *row, const void *object, unsigned int i)
{
	return json_integer((json_int_t)stat_shown(row, stat_value(row, object, i)));
}

static json_t *value_of(const struct stat_row *row, const void *object, uint64_t now)
{
	json_t *list;

	if (row->kind == STAT_TIME)
		return time_since(stat_value(row, object, 0), now);
	if (row->n == 1)
		return shown(row, object, 0);
	list = json_array();
	for (unsigned int i = 0; i < row->n; i++)
		json_array_append_new(list, shown(row, object, i));
	return list;
}

void json_row(json_t *o, const struct stat_table *table, const void *object, uint64_t now)
{
	for (unsigned int i = 0; i < table->n; i++)
		if (table->rows[i].name)
			json_object_set_new(o, table->rows[i].name, value_of(&table->rows[i], object, now));
}

void json_row_add(json_t *o, const struct stat_table *table, const void *object)
{
	for (unsigned int i = 0; i < table->n; i++) {
		const struct stat_row *row = &table->rows[i];
		json_int_t before;

		if (!row->name)
			continue;
		before = json_integer_value(json_object_get(o, row->name));
		json_object_set_new(o, row->name,
			json_integer(before + (json_int_t)stat_shown(row, stat_value(row, object, 0))));
	}
}

void json_row_null(json_t *o, const struct stat_table *table)
{
	for (unsigned int i = 0; i < table->n; i++)
		if (table->rows[i].name)
			json_object_set_new(o, table->rows[i].name, json_null());
}
