/* SPDX-License-Identifier: BSD-3-Clause */
/* Every row of every list of counters is shown: in JSON, as OpenMetrics and on the counters page. */
#include <stdlib.h>

#include <jansson.h>

#include "command/json_row.h"
#include "metrics/openmetrics.h"
#include "metrics/tables.h"
#include "reference/docs.h"
#include "test/support/testbed.h"
#include "test/support/unit.h"

#define NODE \
	"node: {name: t, loopback: \"fd00::d\", usid: {block: \"5f00:0::/32\", node: 0x100},\n" \
	"  infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [0], worker: [0]}\n" \
	"memory: {fib: compact, buffers: 32K}\n" \
	"ports: [{name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}]\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

#define PAGE_BYTES (1u << 20)
#define OBJECT_BYTES (16u << 20) /* more than the largest of the structs */

/* n NULL: the counters page; else its metrics. */
static void page_of(const struct node *n, char *buf, size_t size)
{
	FILE *f = fmemopen(buf, size, "w");

	assert_non_null(f);
	if (n)
		openmetrics_print(n, &(struct openmetrics_how){.open = true, .session = "*"}, f);
	else
		docs_counters(f);
	assert_true(ftell(f) < (long)size - 1);
	fclose(f);
}

static void every_row_is_on_the_pages(void **state)
{
	struct testbed *t = testbed_new(NODE);
	static char metrics[PAGE_BYTES], docs[PAGE_BYTES];
	char line[512], metric[STAT_METRIC];

	(void)state;
	page_of(t->node, metrics, sizeof(metrics));
	page_of(NULL, docs, sizeof(docs));
	for (const struct stat_table *const *table = stat_tables; *table; table++) {
		check((*table)->n > 0, "%s has no rows", (*table)->title);
		for (unsigned int i = 0; i < (*table)->n; i++) {
			const struct stat_row *r = &(*table)->rows[i];

			check(r->name || r->metric, "%s: row %u is shown nowhere", (*table)->title, i);
			snprintf(line, sizeof(line), " %s | %s |\n", r->unit, r->help);
			check(strstr(docs, line), "not on the counters page:%s", line);
			if (r->name) {
				snprintf(line, sizeof(line), "| `%s` |", r->name);
				check(strstr(docs, line), "not on the counters page: %s", line);
			}
			if (r->metric) {
				snprintf(line, sizeof(line), "# HELP %s %s\n", stat_metric(r, metric), r->help);
				check(strstr(metrics, line), "not among the metrics: %s", line);
				/* a family is announced once */
				check(!strstr(strstr(metrics, line) + 1, line), "twice: %s", line);
			}
		}
	}
	testbed_free(t);
}

/* Values are distinct, so a row that read another member would be seen. */
static void every_row_is_in_json(void **state)
{
	unsigned char *object = calloc(1, OBJECT_BYTES);

	(void)state;
	assert_non_null(object);
	for (const struct stat_table *const *table = stat_tables; *table; table++) {
		json_t *o = json_object(), *none = json_object(), *twice = json_object();
		unsigned int named = 0;

		for (unsigned int i = 0; i < (*table)->n; i++)
			for (unsigned int k = 0; k < (*table)->rows[i].n; k++)
				object[(*table)->rows[i].offset + k * (*table)->rows[i].size] = (unsigned char)(1 +
														i * 8 +
														k);
		json_row(o, *table, object, 0);
		json_row_null(none, *table);
		json_row_add(twice, *table, object);
		json_row_add(twice, *table, object);
		for (unsigned int i = 0; i < (*table)->n; i++) {
			const struct stat_row *r = &(*table)->rows[i];
			json_t *value;

			check(stat_value(r, object, 0) == 1 + i * 8, "%s: row %u reads another member", (*table)->title,
				i);
			if (!r->name)
				continue;
			named++;
			value = json_object_get(o, r->name);
			check(value, "%s: no %s", (*table)->title, r->name);
			check(json_is_null(json_object_get(none, r->name)), "%s: %s is not null", (*table)->title,
				r->name);
			if (r->n > 1) {
				assert_int_equal(json_array_size(value), r->n);
				assert_int_equal(json_integer_value(json_array_get(value, 7)), 1 + i * 8 + 7);
			} else if (r->kind != STAT_TIME) {
				assert_int_equal(json_integer_value(value), stat_shown(r, 1 + i * 8));
				assert_int_equal(json_integer_value(json_object_get(twice, r->name)),
					2 * stat_shown(r, 1 + i * 8));
			}
		}
		assert_int_equal(json_object_size(o), named);
		for (unsigned int i = 0; i < (*table)->n; i++)
			memset(object + (*table)->rows[i].offset, 0,
				(size_t)(*table)->rows[i].size * (*table)->rows[i].n);
		json_decref(o);
		json_decref(none);
		json_decref(twice);
	}
	free(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_on_the_pages),
		cmocka_unit_test(every_row_is_in_json),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
