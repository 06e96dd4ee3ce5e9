/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences of two configurations: each row changes the full one in one place. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/diff.h"
#include "test/support/conf.h"

static void put(void *arg, const struct cfg_change *c)
{
	static const char marks[] = {'+', '~', '-'};

	fprintf(arg, "%c%s", marks[c->kind], c->path);
	if (c->kind == CFG_CHANGED)
		fprintf(arg, ": %s > %s", c->from, c->to);
	fprintf(arg, "%s\n", c->start_only ? " (start)" : "");
}

static char *diff(const char *from, const char *to)
{
	struct config *a = conf_load(CONF_LOAD, from), *b = conf_load(CONF_LOAD, to);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(cfg_diff(a, b, put, f), 0);
	fclose(f);
	cfg_free(a);
	cfg_free(b);
	return text;
}

static void each_kind_of_change(void **state)
{
	static const struct {
		const char *find, *by, *want; /* of lists of names the order is that of the names */
	} rows[] = {
		{"name: pe1", "name: pe2", "~node.name: pe1 > pe2 (start)\n"},
		{"rx: [1, 2]", "rx: [1]", "~lcores.rx: [1, 2] > [1] (start)\n"},
		{"max-sleep: 50", "max-sleep: 60", "~idle.max-sleep: 50 > 60 (start)\n"},
		{"errors-per-port: 10", "errors-per-port: 11", "~icmp.errors-per-port: 10 > 11\n"},
		{"mtu: 9100", "mtu: 9000", "~ports[dc0].mtu: 9100 > 9000 (start)\n"},
		{"queue-limit: 128", "queue-limit: 1K", "~ports[dc0].queue-limit: 128 > 1K\n"},
		{"  - name: dc1\n", "  - name: dc2\n", "-ports[dc1] (start)\n+ports[dc2] (start)\n"},
		{"    address: \"fe80::5\"\n", "    address: \"fe80::7\"\n",
			"-neighbors[port wan0, address \"fe80::5\", mac \"02:00:00:00:05:00\"]\n"
			"+neighbors[port wan0, address \"fe80::7\", mac \"02:00:00:00:05:00\"]\n"},
		{"weight: 3", "weight: 4", "~policies[to-dc2].paths[via-spine5].weight: 3 > 4\n"},
		{"  - name: blue\n", "  - name: green\n", "-vrfs[blue]\n+vrfs[green]\n"},
		{"      - prefix: 10.2.0.0/16\n", "      - prefix: 10.4.0.0/16\n",
			"-vrfs[red].routes[prefix 10.2.0.0/16, policy to-dc2]\n+vrfs[red].routes[prefix 10.4.0.0/16, "
			"policy to-dc2]\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = conf_replace(conf_full, rows[i].find, rows[i].by), *got = diff(conf_full, text);

		/* references to a renamed object differ, too */
		check(strstr(got, rows[i].want), "%s: got %s", rows[i].want, got);
		free(got);
		free(text);
	}
}

/* No configuration differs from itself, whatever the order of a list's items; a route twice differs from a route once. */
static void order_does_not_count(void **state)
{
	char *got = diff(conf_full, conf_full), *without, *text;

	(void)state;
	check_text("itself", got, "");
	free(got);
	without = conf_replace(conf_full, "  - sid: \"5f00:0:100::/48\"\n    behavior: uN\n", "");
	text = conf_replace(without, "policies:\n", "  - sid: \"5f00:0:100::/48\"\n    behavior: uN\npolicies:\n");
	got = diff(conf_full, text);
	check_text("moved", got, "");
	free(got);
	free(text);
	free(without);
	got = diff("node: {name: a, loopback: fd00::1}\nlcores: {control: 0, rx: [1], worker: [1]}\nports: [{name: x, "
		   "device: net_null0, side: wan}]\nroutes:\n"
		   "  - {prefix: 10.0.0.0/8, port: x}\n  - {prefix: 10.0.0.0/8, port: x}\n",
		"node: {name: a, loopback: fd00::1}\nlcores: {control: 0, rx: [1], worker: [1]}\nports: [{name: x, "
		"device: net_null0, side: wan}]\nroutes:\n"
		"  - {prefix: 10.0.0.0/8, port: x}\n");
	check_text("twice", got, "-routes[prefix 10.0.0.0/8, port x]\n");
	free(got);
}

static void count_named(void *arg, const struct cfg_change *c)
{
	uint32_t *n = arg;

	n[c->kind]++;
	n[3] += strcmp(c->path, "routes[...]") == 0;
}

/* Of a list that only grows or shrinks, a reader sees the first names; where items are exchanged, all are compared. */
static void many(void **state)
{
	static const char base[] = "node: {name: a, loopback: fd00::1}\nlcores: {control: 0, rx: [1], worker: [1]}\n"
				   "ports: [{name: x, device: net_null0, side: wan}]\nroutes:\n"
				   "  - {prefix: 20.0.0.0/8, port: x}\n";
	enum { MANY = CFG_CHANGES_NAMED + 100 };
	struct config *few = conf_load(CONF_LOAD, base), *side[2];
	uint32_t n[4] = {0};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(side); i++) {
		char *text;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		assert_non_null(f);
		fputs(base, f);
		for (unsigned int k = 0; k < MANY; k++)
			fprintf(f, "  - {prefix: 10.%u.%u.0/24, port: x}\n", i * 8 + k / 256, k % 256);
		fclose(f);
		side[i] = conf_load(CONF_LOAD, text);
		free(text);
	}
	assert_int_equal(cfg_diff(few, side[0], count_named, n), 0);
	assert_int_equal(n[CFG_ADDED], MANY);
	assert_int_equal(n[3], MANY - CFG_CHANGES_NAMED);
	assert_int_equal(cfg_diff(side[0], few, count_named, n), 0);
	assert_int_equal(n[CFG_REMOVED], MANY);
	assert_int_equal(n[3], 2 * (MANY - CFG_CHANGES_NAMED));
	assert_int_equal(cfg_diff(side[0], side[1], count_named, n), 0);
	assert_int_equal(n[CFG_ADDED], 2 * MANY);
	assert_int_equal(n[CFG_REMOVED], 2 * MANY);
	assert_int_equal(n[3], 2 * (MANY - CFG_CHANGES_NAMED));
	cfg_free(few);
	cfg_free(side[0]);
	cfg_free(side[1]);
}

static void ports_are_aligned(void **state)
{
	struct config *a = conf_load(CONF_CHECK, conf_full), *b = conf_load(CONF_CHECK, conf_full);
	struct cfg_port first = b->ports.items[0];

	(void)state;
	b->ports.items[0] = b->ports.items[2];
	b->ports.items[2] = first;
	assert_int_equal(cfg_align_ports(a, b), 0);
	for (uint32_t i = 0; i < a->ports.n; i++) {
		assert_string_equal(a->ports.items[i].name, b->ports.items[i].name);
		assert_int_equal(cfg_find_port(b, a->ports.items[i].name), i);
	}
	b->ports.n--;
	assert_true(cfg_align_ports(a, b) < 0);
	b->ports.n++;
	cfg_free(a);
	cfg_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_change),
		cmocka_unit_test(order_does_not_count),
		cmocka_unit_test(many),
		cmocka_unit_test(ports_are_aligned),
	};

	return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
