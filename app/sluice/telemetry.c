/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's telemetry socket: /sluice/... returns the output of show commands. DPDK calls from a thread of its own, so the
 * handlers take the lock that the management thread holds while it works. DPDK limits a reply to 16 KB and 256
 * entries; lists are paged: /sluice/drops,100 starts at row 100.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>

#include "app.h"
#include "node/node.h"

#define PAGE_MAX 64 /* rows that always fit 16 KB */

/* Telemetry handlers have no context argument; a process has one appliance. */
static struct app *serving;

static const struct {
	const char *path, *command, *help;
} pages[] = {
	{"/sluice/ports", "show ports", "Ports. Parameter: first row"},
	{"/sluice/lcores", "show lcores", "lcores. Parameter: first row"},
	{"/sluice/drops", "show drops", "Drops by port and reason. Parameter: first row"},
	{"/sluice/sids", "show sids", "Local SIDs. Parameter: first row"},
	{"/sluice/rings", "show rings", "Rings between lcores. Parameter: first row"},
	{"/sluice/neighbors", "show neighbors", "Neighbours. Parameter: first row"},
	{"/sluice/conservation", "show conservation",
		"Packet balance: received, originated, sent, dropped, consumed, held"},
	{"/sluice/version", "show version", "Versions"},
};

static void add_value(struct rte_tel_data *d, const char *key, json_t *v)
{
	if (json_is_integer(v)) {
		rte_tel_data_add_dict_u64(d, key, (uint64_t)json_integer_value(v));
	} else if (json_is_string(v)) {
		rte_tel_data_add_dict_string(d, key, json_string_value(v));
	} else if (json_is_boolean(v)) {
		rte_tel_data_add_dict_string(d, key, json_is_true(v) ? "yes" : "no");
	} else {
		char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);

		rte_tel_data_add_dict_string(d, key, text ? text : "");
		free(text);
	}
}

static void fill_dict(struct rte_tel_data *d, json_t *object)
{
	const char *key;
	json_t *v;

	rte_tel_data_start_dict(d);
	json_object_foreach(object, key, v)
		add_value(d, key, v);
}

/* DPDK 22.11 nests dictionaries only in dictionaries, so the key of a row is its number. */
static void fill_rows(struct rte_tel_data *d, json_t *rows, size_t first)
{
	char key[24];

	rte_tel_data_start_dict(d);
	for (size_t i = first; i < json_array_size(rows) && i < first + PAGE_MAX; i++) {
		struct rte_tel_data *row = rte_tel_data_alloc();

		if (!row)
			return;
		fill_dict(row, json_array_get(rows, i));
		snprintf(key, sizeof(key), "%zu", i);
		if (rte_tel_data_add_dict_container(d, key, row, 0) != 0)
			rte_tel_data_free(row);
	}
}

static int answer(const char *path, const char *params, struct rte_tel_data *d)
{
	char *text = NULL, line[64];
	size_t size, i = 0;
	json_t *v;
	FILE *f;

	while (i < sizeof(pages) / sizeof(pages[0]) && strcmp(pages[i].path, path) != 0)
		i++;
	if (i == sizeof(pages) / sizeof(pages[0]))
		return -1;
	f = open_memstream(&text, &size);
	if (!f)
		return -1;
	snprintf(line, sizeof(line), "%s -j", pages[i].command);
	pthread_mutex_lock(&serving->lock);
	command_run(&serving->host, line, f);
	pthread_mutex_unlock(&serving->lock);
	fclose(f);
	v = json_loads(text, JSON_DECODE_ANY, NULL);
	free(text);
	if (!v)
		return -1;
	if (json_is_array(v))
		fill_rows(d, v, params ? strtoul(params, NULL, 10) : 0);
	else
		fill_dict(d, v);
	json_decref(v);
	return 0;
}

void telemetry_start(struct app *app)
{
	serving = app;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		rte_telemetry_register_cmd(pages[i].path, answer, pages[i].help);
}
