/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines out of a stream, words, the table, completion, and the text form of values. */
#include "test/support/unit.h"

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>
#include <rte_mbuf_dyn.h>

#include "command/line.h"
#include "command/parse.h"
#include "test/support/conf.h"
#include "test/support/testbed.h"

#define YAML \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: dc0, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: wan0, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n"

static struct testbed *bed;
static struct command_host host;

static int set_up(void **state)
{
	(void)state;
	bed = testbed_new(YAML);
	host = (struct command_host){.node = bed->node, .version = "0"};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	testbed_free(bed);
	return 0;
}

/* Not inlined: gcc 12 takes what open_memstream fills for a pointer to `text`. */
static __attribute__((noinline)) char *run(const char *line, int *rc)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	*rc = command_run(&host, line, f);
	fclose(f);
	return text;
}

static void words(void **state)
{
	static const struct {
		const char *line, *words, *flag;
		bool json;
	} rows[] = {
		{"", "", NULL, false},
		{"  show\tports \r", "show|ports|", NULL, false},
		{"show ports -j", "show|ports|", NULL, true},
		{"-j show", "show|", NULL, true},
		{"reload --dry-run x", "reload|x|", "--dry-run", false},
		{"a # b", "a|", NULL, false},
		{"a#b", "a#b|", NULL, false},
		{"a \"b c\" d", "a|b c|d|", NULL, false},
		{"a b\"c d\"e", "a|bc de|", NULL, false},
		{"a \"\" b", "a||b|", NULL, false},
		{"a \"# no\"", "a|# no|", NULL, false},
		{"#", "", NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char got[256] = "", err[256];
		struct words w;

		assert_int_equal(parse_words(rows[i].line, &w, err, sizeof(err)), 0);
		for (unsigned int k = 0; k < w.n; k++)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s|", w.word[k]);
		check_text(rows[i].line, got, rows[i].words);
		check(w.json == rows[i].json, "%s", rows[i].line);
		check_text(rows[i].line, w.flag ? w.flag : "", rows[i].flag ? rows[i].flag : "");
	}
}

static void refused_lines(void **state)
{
	char *longest = malloc(COMMAND_LINE_MAX + 1), err[256];
	struct words w;

	(void)state;
	assert_non_null(longest);
	memset(longest, ' ', COMMAND_LINE_MAX);
	longest[COMMAND_LINE_MAX] = '\0';
	assert_int_equal(parse_words(longest, &w, err, sizeof(err)), -EINVAL);
	longest[COMMAND_LINE_MAX - 1] = '\0';
	assert_int_equal(parse_words(longest, &w, err, sizeof(err)), 0);
	for (size_t i = 0; i < COMMAND_LINE_MAX - 1; i += 2)
		longest[i] = 'a';
	assert_int_equal(parse_words(longest, &w, err, sizeof(err)), -EINVAL);
	check_text("many", err, "a line has at most 64 words");
	for (const char *const *p = (const char *const[]){"a \"b", "a\x01", "a\x7f", "a\xff", "\xc3(", NULL}; *p; p++)
		check(parse_words(*p, &w, err, sizeof(err)) == -EINVAL && err[0], "%s", *p);
	free(longest);
}

/* Every command by its own words, by itself and among the abbreviations of others; each with its usage. */
static void every_command_is_found(void **state)
{
	(void)state;
	assert_true(n_commands > 30);
	for (unsigned int i = 0; i < n_commands; i++) {
		char err[512], usage[256];
		unsigned int used, spaces = 0;
		struct words w;

		assert_int_equal(parse_words(commands[i].words, &w, err, sizeof(err)), 0);
		check(parse_command(&w, &used, err, sizeof(err)) == &commands[i], "%s: %s", commands[i].words, err);
		for (const char *p = commands[i].words; *p; p++)
			spaces += *p == ' ';
		assert_int_equal(used, spaces + 1);
		command_usage(&commands[i], usage, sizeof(usage));
		check(strncmp(usage, commands[i].words, strlen(commands[i].words)) == 0, "%s", usage);
		check(commands[i].help[0] && commands[i].help[strlen(commands[i].help) - 1] == '.', "%s has no help",
			commands[i].words);
		for (unsigned int a = 0; a < COMMAND_ARGS_MAX && commands[i].args[a].name; a++)
			check(commands[i].args[a].help, "%s: %s has no help", commands[i].words,
				commands[i].args[a].name);
		for (unsigned int k = 0; k < COMMAND_FLAGS_MAX && commands[i].flag[k].name; k++)
			check(commands[i].flag[k].help, "%s", commands[i].words);
	}
}

static void answers(void **state)
{
	static const struct {
		const char *line;
		int rc;
		const char *has;
	} rows[] = {
		{"show ports", 0, "wan0"},
		{"sh v", 0, "dpdk:"},
		{"show port wan0 -j", 0, "\"port\": \"wan0\""},
		{"show prots", -ENOENT, "did you mean 'show ports'?"},
		{"sh po", -ENOENT, "ambiguous command; it could be one of: 'show ports'"},
		{"c", -ENOENT, "'c' could be 'commit' or another command; write it in full"},
		{"comm", -ENOTSUP, "not available"},
		{"show", -ENOENT, "incomplete command; expected one of: 'show ports'"},
		{"zzz", -ENOENT, "unknown command 'zzz'; type 'help' for a list"},
		{"show port", -EINVAL, "missing PORT; usage: show port PORT"},
		{"show port wan1", -EINVAL, "did you mean 'wan0'?"},
		{"capture start drop", -EINVAL, "there is no port 'drop'; did you mean 'drops'?"},
		{"show ports x", -EINVAL, "unexpected argument 'x'"},
		{"set log x debug", -EINVAL, "expected one of all|main"},
		{"set log port debg", -EINVAL, "did you mean 'debug'?"},
		{"show \"ports -j", -EINVAL, "\"error\": \"missing closing quote\""},
		{"show \"ports x-j", -EINVAL, "missing closing quote\n"},
		{"trace add 0", -EINVAL, "from 1 to 1000, found '0'"},
		{"trace add 1 filter", -EINVAL, "filter needs EXPRESSION"},
		{"reload", -ENOTSUP, "not available here"},
		{"quit", -ENOTSUP, "not available here"},
		{"show ports --x", -EINVAL, "unknown option '--x'"},
		{"help show  port", 0, "show port xstats"},
		{"help zzz", -ENOENT, "no command begins with 'zzz'"},
		{"", 0, ""},
		{"# x", 0, ""},
		{"\"\"", -ENOENT, "unknown command"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int rc;
		char *text = run(rows[i].line, &rc);

		check(rc == rows[i].rc && strstr(text, rows[i].has), "%s: %d: %s", rows[i].line, rc, text);
		free(text);
	}
}

static void collect(void *arg, const char *text, const char *help)
{
	char *out = arg;

	assert_non_null(help);
	snprintf(out + strlen(out), 2048 - strlen(out), "%s ", text);
}

static void completion(void **state)
{
	static const struct {
		const char *line, *offers;
	} rows[] = {
		{"cl", "clear "},
		{"clear ", "stats watermarks trace rsvp "},
		{"clear s", "stats "},
		{"show po", "ports port policies "},
		{"show port ", "dc0 wan0 info stats xstats "},
		{"show port w", "wan0 "},
		{"show port info ", "all dc0 wan0 "},
		{"show port wan0 ", ""},
		{"sh q ", "dc0 wan0 "},
		{"capture start ", "all drops oam dc0 wan0 "},
		{"capture start d", "drops dc0 "},
		{"capture start dc0 ", "filter FILE "},
		{"capture start dc0 fi", "filter "},
		{"capture start dc0 filter ", "EXPRESSION "},
		{"capture start dc0 filter \"a b\" ", "FILE "},
		{"capture start dc0 filter a f ", "COUNT "},
		{"capture start dc0 f ", "filter COUNT "},
		{"capture start dc0 f 1 ", "filter "},
		{"trace add ", "N "},
		{"trace add 5 ", "filter "},
		{"reload -", "-j --dry-run --force "},
		{"reload --d", "--dry-run "},
		{"show ports -", "-j "},
		{"show ports -j", "-j "},
		{"show ports # s", ""},
		{"show \"po", ""},
		{"zzz ", ""},
		{"show ports x", ""},
		{"set log p", "port pfc "},
		{"set log port ", "error warning notice info debug "},
		{"commit ", "confirmed "},
		{"capture stop a", "all "},
		{"show\tver", "version "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char got[2048] = "";

		command_complete(&host, rows[i].line, collect, got);
		check_text(rows[i].line, got, rows[i].offers);
	}
}

static void lines_of_a_stream(void **state)
{
	static const char stream[] = "a\n\nbc\0d\nlast";
	enum line_state want[] = {LINE_MORE, LINE_WHOLE, LINE_WHOLE, LINE_MORE, LINE_MORE, LINE_MORE, LINE_MORE,
		LINE_BINARY, LINE_MORE, LINE_MORE, LINE_MORE, LINE_MORE};
	struct line_reader *l = calloc(1, sizeof(*l));

	(void)state;
	assert_non_null(l);
	for (size_t i = 0; i < sizeof(stream) - 1; i++)
		check(line_take(l, stream[i]) == want[i], "byte %zu", i);
	assert_int_equal(line_end(l), LINE_WHOLE);
	assert_string_equal(l->text, "last");
	assert_int_equal(line_end(l), LINE_MORE);
	/* the longest line, one byte more, and the line after it */
	for (unsigned int i = 0; i < COMMAND_LINE_MAX - 1; i++)
		assert_int_equal(line_take(l, 'x'), LINE_MORE);
	assert_int_equal(line_take(l, '\n'), LINE_WHOLE);
	assert_int_equal(strlen(l->text), COMMAND_LINE_MAX - 1);
	for (unsigned int i = 0; i < COMMAND_LINE_MAX - 1; i++)
		assert_int_equal(line_take(l, 'x'), LINE_MORE);
	assert_int_equal(line_take(l, 'x'), LINE_TOO_LONG);
	assert_int_equal(l->n, COMMAND_LINE_MAX - 1);
	for (unsigned int i = 0; i < 10000; i++)
		assert_int_equal(line_take(l, 'x'), LINE_MORE);
	assert_int_equal(line_end(l), LINE_MORE);
	assert_int_equal(line_take(l, '\n'), LINE_SKIPPED);
	assert_int_equal(line_take(l, 'y'), LINE_MORE);
	assert_int_equal(line_take(l, '\n'), LINE_WHOLE);
	assert_string_equal(l->text, "y");
	free(l);
}

static void text_form(void **state)
{
	static const struct {
		const char *json, *text;
	} rows[] = {
		{"[]", "none\n"},
		{"\"a\\nb\"", "a\nb\n"},
		{"[1, 2]", "1\n2\n"},
		{"{\"a\": 1, \"long\": \"x\"}", "a:    1\nlong: x\n"},
		{"[{\"a\": 1, \"b\": \"x\"}, {\"a\": 100, \"b\": \"\"}]", "  a  b\n  1  x\n100  -\n"},
		{"[{\"a\": true, \"b\": [1, 2]}]", "a    b\nyes  1, 2\n"},
		{"{\"a\": {\"b\": null}}", "a:\n  b: -\n"},
		{"[{\"a\": 1}, {\"b\": 2}]", "a 1\nb 2\n"},
		{"{\"a\": [{\"x\": 1}]}", "a:\n  x\n  1\n"},
		{"1.5", "1.5\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *v = json_loads(rows[i].json, JSON_DECODE_ANY, NULL);
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		assert_non_null(v);
		assert_non_null(f);
		command_print_text(v, f);
		fclose(f);
		check_text(rows[i].json, text, rows[i].text);
		free(text);
		json_decref(v);
	}
}

/* The time at which the device received a packet is in its trace, if the port asks for it. */
static void device_time(void **state)
{
	struct testbed *own = testbed_new(TESTBED_NODE TESTBED_ONE_LCORE
		"ports:\n"
		"  - {name: p0, device: net_null0, side: wan, hardware-timestamps: yes, addresses: "
		"[\"2001:db8:a::2/64\"]}\n"
		"  - {name: p1, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n"
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n");
	struct testbed *shared = bed;
	uint64_t flag;
	uint8_t frame[256];
	int at, rc;
	char *text;

	(void)state;
	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&at, &flag), 0);
	host.node = own->node;
	bed = own;
	/* it waits until no lcore uses the trace before, and nobody runs them now */
	for (uint16_t i = 0; i < own->node->n_lcores; i++)
		node_lcore_leave(own->node->lcore[i]);
	free(run("trace add 2", &rc));
	for (uint16_t i = 0; i < own->node->n_lcores; i++)
		node_lcore_enter(own->node->lcore[i]);
	assert_int_equal(rc, 0);
	testbed_settle(own, 20);
	for (unsigned int i = 0; i < 2; i++) {
		struct rte_mbuf *m;
		uint32_t n = testbed_frame(frame, &own->port[i]->port.mac, "5f00:0:100:400::", 1, 1, 100);

		fake_port_receive(own->port[i], 0, frame, n, 0);
		m = own->port[i]->rx[0].frame[own->port[i]->rx[0].head];
		m->ol_flags |= flag;
		*RTE_MBUF_DYNFIELD(m, at, rte_mbuf_timestamp_t *) = 4200 + i;
		testbed_settle(own, 50);
	}
	text = run("show trace", &rc);
	check(strstr(text, "step stamped by the device, port p0, device_time 4200\n"), "%s", text);
	check(!strstr(text, "port p1, device_time"), "%s", text);
	free(text);
	text = run("show trace -j", &rc);
	check(strstr(text, "\"step\": \"stamped\""), "%s", text);
	free(text);
	testbed_free(own);
	bed = shared;
	host.node = bed->node;
}

#define ROUTED(prefix, port, station) \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: p0, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: p1, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"neighbors: [{port: " port ", address: \"2001:db8:" station "::3\", mac: \"02:00:00:00:b0:03\"}]\n" \
		"routes: [{prefix: \"" prefix "\", port: " port ", nexthop: \"2001:db8:" station "::3\"}]\n" \
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

/* A reload between a packet and `show trace`: the trace says what was true for the packet, whether the old tables are free or not. */
static void traced_before_a_reload(void **state)
{
	struct testbed *own = testbed_new(ROUTED("5f00:0:400::/48", "p1", "b")), *shared = bed;
	uint8_t frame[256];
	char err[256] = "", *text, *second;
	int rc;

	(void)state;
	host.node = own->node;
	bed = own;
	testbed_settle(own, 20);
	for (uint16_t i = 0; i < own->node->n_lcores; i++)
		node_lcore_leave(own->node->lcore[i]);
	free(run("trace add 2", &rc));
	for (uint16_t i = 0; i < own->node->n_lcores; i++)
		node_lcore_enter(own->node->lcore[i]);
	assert_int_equal(rc, 0);
	testbed_settle(own, 20);
	for (unsigned int round = 0; round < 2; round++) {
		const char *yaml = round ? ROUTED("5f00:0:400::/48", "p1", "b") : ROUTED("5f00::/32", "p0", "a");

		fake_port_receive(own->port[0], 0, frame,
			testbed_frame(frame, &own->port[0]->port.mac, "5f00:0:100:400::", 1, round, 100), 0);
		testbed_settle(own, 50);
		check(node_apply(own->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
		testbed_settle(own, 50);
		while (node_reclaim(own->node))
			testbed_settle(own, 1);
	}
	text = run("show trace", &rc);
	second = strstr(text, "route 5f00::/32, port p0, next_hop p0 via 2001:db8:a::3");
	check(second != NULL, "%s", text);
	*second = '\0';
	check(strstr(text, "route 5f00:0:400::/48, port p1, next_hop p1 via 2001:db8:b::3") != NULL, "%s", text);
	free(text);
	testbed_free(own);
	bed = shared;
	host.node = bed->node;
}

/* Programs get a value where people get words. */
static void worded(void **state)
{
	for (int words = 0; words < 2; words++) {
		json_t *o = json_pack("[{s{}}]", "a"), *inner = json_object_get(json_array_get(o, 0), "a");
		char *text;

		command_set_worded(inner, "x", json_pack("[s]", "id"), "some words");
		json_object_set_new(inner, "y", json_integer(1));
		command_choose_form(o, words);
		text = json_dumps(o, JSON_COMPACT);
		check_text("worded", text,
			words ? "[{\"a\":{\"x\":\"some words\",\"y\":1}}]" : "[{\"a\":{\"x\":[\"id\"],\"y\":1}}]");
		free(text);
		json_decref(o);
	}
	command_choose_form(NULL, true);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(refused_lines),
		cmocka_unit_test(every_command_is_found),
		cmocka_unit_test(answers),
		cmocka_unit_test(worded),
		cmocka_unit_test(device_time),
		cmocka_unit_test(traced_before_a_reload),
		cmocka_unit_test(completion),
		cmocka_unit_test(lines_of_a_stream),
		cmocka_unit_test(text_form),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("command", tests, set_up, tear_down);
}
