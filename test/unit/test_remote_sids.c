/* SPDX-License-Identifier: BSD-3-Clause */
/* SIDs of other nodes: from the configuration, from JSON files and back; what is wrong with them and where. */
#include "test/support/unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "config/diff.h"
#include "config/remote_sids.h"
#include "test/support/conf.h"

#define NODE \
	"node: {name: r3, loopback: \"fd00::3\", infrastructure: [\"fd00::/16\"],\n" \
	"  usid: {block: \"5f00:0::/32\", node: 0x0b03, more-blocks: [\"5f00:7::/32\"]}}\n" \
	"lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"ports: [{name: wan0, device: net_null0, side: wan}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:b03::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:1:3:d46::/64\", behavior: End.DT46}\n"

#define ENTRY(rest) "{sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, owner: r1" rest "}"

static void checks(void **state)
{
	static const struct {
		const char *row, *list, *messages;
	} rows[] = {
		{"one", "  - " ENTRY("") "\n", NULL},
		{"whole",
			"  - " ENTRY(
				", flavors: [psp, usp], code: 0x8103, block-bits: 40, node-bits: 8, function-bits: 16, "
				"argument-bits: 64") "\n",
			NULL},
		{"mistyped behaviour", "  - {sid: \"5f00:1:1:e1::/64\", behavior: ^End.X.PCF, owner: r1}\n",
			"behavior: expected one of uN, uA, uDT4, uDT6, uDT46, uDX4, uDX6, uDX2, End, End.X, End.T, "
			"End.DT4, End.DT6, "
			"End.DT46, End.DX4, End.DX6, End.DX2, End.X.PFC, uA.PFC, other, found 'End.X.PCF'; did you "
			"mean 'End.X.PFC'?"},
		{"mistyped key", "  - {sid: \"5f00:1:1:e1::/64\", behavior: End, owner: r1, ^flavours: [psp]}\n",
			"unknown key 'flavours' in a remote SID; did you mean 'flavors'?"},
		{"no owner", "  - ^{sid: \"5f00:1:1:e1::/64\", behavior: End}\n", "a remote SID needs the key 'owner'"},
		{"wrong code", "  - " ENTRY(", code: ^0x8101") "\n",
			"code: End.X.PFC with these flavors has code 33024, not 33025"},
		{"other", "  - {sid: \"5f00:1:1:b6::/64\", behavior: other, code: 14, owner: r1}\n", NULL},
		{"other, of what", "  - {sid: \"5f00:1:1:b6::/64\", behavior: ^other, owner: r1}\n",
			"behavior: other needs a code; set code"},
		{"other's flavours",
			"  - {sid: \"5f00:1:1:b6::/64\", behavior: other, code: 14, flavors: [^psp], owner: r1}\n",
			"flavors: other has no flavors"},
		{"flavours of a DT46",
			"  - {sid: \"5f00:1:1:46::/64\", behavior: End.DT46, flavors: [^psp], owner: r1}\n",
			"flavors: End.DT46 has no flavors"},
		{"usd", "  - " ENTRY(", flavors: [psp, ^usd]") "\n", "flavors: End.X.PFC does not support usd"},
		{"structure",
			"  - {sid: ^\"5f00:1:1:e1::/64\", behavior: End, owner: r1, node-bits: 24, function-bits: "
			"16}\n",
			"sid: it is a /64, but block, node and function are 32 + 24 + 16 bits"},
		{"argument", "  - " ENTRY(", argument-bits: ^65") "\n",
			"argument-bits: only 64 bits are left after the function"},
		{"no block",
			"  - {sid: ^\"5f00:1:1:e1::/64\", behavior: End, owner: r1, block-bits: 0, node-bits: 48}\n",
			"sid: it has no block"},
		{"nothing but a block", "  - {sid: ^\"5f00::/20\", behavior: End, owner: r1}\n",
			"sid: it has no node and no function"},
		{"twice the same", "  - " ENTRY("") "\n  - " ENTRY("") "\n", NULL},
		{"twice, not the same",
			"  - " ENTRY("") "\n  - {sid: ^\"5f00:1:1:e1::/64\", behavior: End.X, owner: r1}\n",
			"sid: 'r1' already has this SID, with another behaviour or structure"},
		{"two owners", "  - " ENTRY("") "\n  - {sid: ^\"5f00:1:1:e1::/64\", behavior: End.X.PFC, owner: r2}\n",
			"sid: 'r1' already has this SID; it would lead to two nodes"},
		{"two owners of a local id",
			"  - {sid: \"5f00:0:e0e1::/48\", behavior: uA.PFC, owner: r1}\n"
			"  - {sid: \"5f00:0:e0e1::/48\", behavior: uA, owner: r2}\n",
			NULL},
		{"the own one", "  - {sid: \"5f00:1:3:d46::/64\", behavior: End.DT4, owner: r3}\n", NULL},
		{"the own one of another", "  - {sid: ^\"5f00:1:3:d46::/64\", behavior: End.DT46, owner: r4}\n",
			"sid: 'r3' already has this SID; it would lead to two nodes"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char *text;

		assert_true(asprintf(&text, "%sremote-sids:\n%s", NODE, rows[i].list) > 0);
		conf_expect(rows[i].row, CONF_CHECK, text, rows[i].messages);
		free(text);
	}
}

/* --- JSON --- */

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

/* NODE with the files a.json and b.json beside it, in the working directory; messages go to *said. */
static struct config *load(const char *a, const char *b, char **said)
{
	struct cfg_diags diags = {0};
	struct config *c;
	size_t size;
	FILE *out;

	write_file("a.json", a, strlen(a));
	if (b)
		write_file("b.json", b, strlen(b));
	write_file("t.yaml", NODE, strlen(NODE));
	out = fopen("t.yaml", "a");
	assert_non_null(out);
	fprintf(out, "remote-sids-files: [a.json%s]\n", b ? ", b.json" : "");
	fclose(out);
	c = cfg_load_file("./t.yaml", &diags);
	out = open_memstream(said, &size);
	assert_non_null(out);
	if (c && cfg_check(c, &diags) < 0) {
		cfg_free(c);
		c = NULL;
	}
	assert_int_equal(c != NULL, diags.n + diags.suppressed == 0);
	cfg_diags_print(&diags, out);
	fclose(out);
	cfg_diags_free(&diags);
	return c;
}

#define FILE_OF(entries) "{\"remote-sids\": [" entries "]}"
#define R1 "{\"sid\": \"5f00:1:1:e1::/64\", \"behavior\": \"End.X.PFC\", \"owner\": \"r1\"}"

static void files(void **state)
{
	static const struct {
		const char *row, *a, *b, *said;
	} rows[] = {
		{"one file", FILE_OF(R1), NULL, ""},
		{"two files that say the same", FILE_OF(R1), FILE_OF(R1), ""},
		{"empty list", FILE_OF(""), NULL, ""},
		{"two files that do not", FILE_OF(R1),
			"{\n\"remote-sids\": [\n {\"sid\": \"5f00:1:1:e1::/64\", \"behavior\": \"End\", "
			"\"owner\": \"r1\"}]}",
			"./b.json:3:10: error: sid: 'r1' already has this SID, with another behaviour or structure\n"},
		{"both wrong", "{}", "[]",
			"./a.json:1:1: error: the file needs the key 'remote-sids'\n"
			"./b.json:1:1: error: the file: expected a mapping, found a list\n"},
		{"cut off", "{\"remote-sids\": [\n" R1 ",", NULL,
			"./a.json:2:68: error: not JSON: ']' expected near end of file\n"},
		{"YAML", "remote-sids: []", NULL, "./a.json:1:6: error: not JSON: '[' or '{' expected near 'remote'\n"},
		{"key twice", "{\"remote-sids\": [], \"remote-sids\": []}", NULL,
			"./a.json:1:33: error: not JSON: duplicate object key near '\"remote-sids\"'\n"},
		{"mistyped key", FILE_OF("{\"sid\": \"5f00:1:1:1::/64\", \"behaviour\": \"End\", \"owner\": \"r1\"}"),
			NULL,
			"./a.json:1:18: error: a remote SID needs the key 'behavior'\n"
			"./a.json:1:45: error: unknown key 'behaviour' in a remote SID; did you mean 'behavior'?\n"},
		{"number for text", FILE_OF("{\"sid\": 7, \"behavior\": \"End\", \"owner\": \"r1\"}"), NULL,
			"./a.json:1:26: error: sid: expected an IPv6 prefix like \"2001:db8::/32\", found '7'\n"},
		{"NUL", FILE_OF("{\"sid\": \"\\u0000\"}"), NULL,
			"./a.json:1:33: error: not JSON: \\u0000 is not allowed without "
			"JSON_ALLOW_NUL near '\"\\u0000\"'\n"},
		{"something behind it", FILE_OF("") "]", NULL,
			"./a.json:1:20: error: not JSON: end of file expected near ']'\n"},
		{"a list for a word",
			FILE_OF("{\"sid\": \"5f00:1:1:1::/64\", \"behavior\": \"End\", \"owner\": [\"r1\"]}"), NULL,
			"./a.json:1:73: error: owner: expected a name of letters, digits, '-', '_' and '.', at most 31 "
			"characters, found a "
			"list\n"},
		{"null", FILE_OF("{\"sid\": null, \"behavior\": \"End\", \"owner\": \"r1\"}"), NULL,
			"./a.json:1:26: error: sid: expected an IPv6 prefix like \"2001:db8::/32\", found 'null'\n"},
		{"a list for an entry", FILE_OF("\n[1]"), NULL,
			"./a.json:2:1: error: a remote SID: expected a mapping, found a list\n"},
		{"too large",
			FILE_OF("{\"sid\": \"5f00:1:1:1::/64\", \"behavior\": \"other\", \"owner\": \"r1\", \"code\": "
				"65536}"),
			NULL, "./a.json:1:89: error: code: expected a whole number from 0 to 65535, found '65536'\n"},
		{"nothing", "", NULL, "./a.json:1:0: error: not JSON: '[' or '{' expected near end of file\n"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char *said;
		struct config *c = load(rows[i].a, rows[i].b, &said);

		check_text(rows[i].row, said, rows[i].said);
		free(said);
		cfg_free(c);
	}
}

/* Files that only a program writes: deep and large ones end in a message, too. */
static void monsters(void **state)
{
	static const struct {
		const char *row, *open, *close, *said;
		unsigned int times;
	} rows[] = {
		{"deep lists", "[", "]", "./a.json:1:1016: error: more than 1000 brackets are open here\n", 1500},
		{"deep mappings", "{\"a\":", "}", "./a.json:1:5012: error: more than 1000 brackets are open here\n",
			1500},
		{"deeper than JSON may be", "[", "]",
			"./a.json:1:2064: error: not JSON: maximum parsing depth reached near '['\n", 50000},
		{"too many", "[", "{},", "./a.json:1:17: error: remote-sids: expected 0 to 32768 items, found 40001\n",
			40000},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		bool deep = rows[i].close[1] == 0;
		char *text = NULL, *said;
		struct config *c;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		assert_non_null(f);
		fprintf(f, "{\"remote-sids\": ");
		for (unsigned int k = 0; k < (deep ? rows[i].times : 1); k++)
			fprintf(f, "%s", rows[i].open);
		fprintf(f, "%s", deep ? "1" : "");
		for (unsigned int k = 0; k < rows[i].times; k++)
			fprintf(f, "%s", rows[i].close);
		fprintf(f, "%s}", deep ? "" : "{}]");
		fclose(f);
		c = load(text, NULL, &said);
		check_text(rows[i].row, said, rows[i].said);
		assert_null(c);
		free(said);
		free(text);
	}
}

static void missing_files(void **state)
{
	struct cfg_diags diags = {0};
	const char *text = NODE "remote-sids-files: [none.json,\n  /]\n";
	struct config *c = cfg_load_text("t", text, strlen(text), &diags);

	assert_non_null(c);
	assert_null(cfg_load_beside(c, "t", &diags));
	assert_int_equal(diags.n, 2);
	check_text("none", diags.items[0].text, "remote-sids-files: cannot open none.json: No such file or directory");
	assert_int_equal(diags.items[0].at.line, 8);
	check_text("folder", diags.items[1].text, "remote-sids-files: cannot open /: not a regular file");
	assert_int_equal(diags.items[1].at.line, 9);
	cfg_diags_free(&diags);
}

/* A node reads what another one has written, and writes the same except for its own SIDs. */
static void round_trip(void **state)
{
	static const char *const entries =
		"{\"sid\": \"5f00:0:e0e1::/48\", \"behavior\": \"uA.PFC\", \"owner\": \"r1\"},"
		"{\"sid\": \"5f00:7:e0e1::/48\", \"behavior\": \"uA\", \"flavors\": [\"none\"], \"owner\": \"r1\"},"
		"{\"sid\": \"5f00:0:b01::/48\", \"behavior\": \"uN\", \"owner\": \"r1\"},"
		"{\"sid\": \"5f00:0:b01:e001::/64\", \"behavior\": \"uA\", \"owner\": \"r1\"},"
		"{\"sid\": \"5f00:1:1:b6::/64\", \"behavior\": \"other\", \"code\": 14, \"owner\": \"r1\", "
		"\"argument-bits\": 16},"
		"{\"sid\": \"5f00:1:1:e1::/64\", \"behavior\": \"End.X.PFC\", \"flavors\": [\"psp\"], \"owner\": "
		"\"r1\"}";
	char *file, *said, *first, *second;
	struct config *c;
	json_t *json;

	assert_true(asprintf(&file, "{\"remote-sids\": [%s]}", entries) > 0);
	c = load(file, NULL, &said);
	check_text("loads", said, "");
	json = cfg_remote_json(c);
	first = json_dumps(json, JSON_INDENT(1));
	assert_int_equal(json_array_size(json_object_get(json, "remote-sids")), 8);
	json_decref(json);
	cfg_free(c);
	free(said);
	c = load(first, NULL, &said);
	check_text("loads again", said, "");
	json = cfg_remote_json(c);
	second = json_dumps(json, JSON_INDENT(1));
	check_text("the same", second, first);
	json_decref(json);
	cfg_free(c);
	free(said);
	free(first);
	free(second);
	free(file);
}

struct told {
	unsigned int n;
	struct cfg_remote seen[16];
};

static void tell(void *arg, const struct cfg_remote *r)
{
	struct told *t = arg;

	assert_true(t->n < 16);
	t->seen[t->n++] = *r;
}

/* Defaults: the structure by prefix and behaviour, the code point by behaviour and flavours; own SIDs stand first. */
static void defaults(void **state)
{
	static const struct {
		const char *sid;
		uint16_t code;
		uint8_t block, node, function, argument;
	} rows[] = {
		{"5f00:0:b01::/48", 48, 32, 16, 0, 80},
		{"5f00:0:b03::/48", 48, 32, 16, 0, 80},
		{"5f00:0:b01:e001::/64", 57, 32, 16, 16, 64},
		{"5f00:0:e0e1::/48", 0x8104, 32, 0, 16, 80},
		{"5f00:0:e101::/48", 20, 32, 0, 16, 0},
		{"5f00:1:1:e1::/64", 0x8101, 32, 16, 16, 0},
		{"5f00:1:3:d46::/64", 20, 32, 16, 16, 0},
	};
	static const char text[] = NODE
		"remote-sids:\n"
		"  - {sid: \"5f00:0:b01::/48\", behavior: uN, owner: r1}\n"
		"  - {sid: \"5f00:0:b01:e001::/64\", behavior: uA, owner: r1}\n"
		"  - {sid: \"5f00:0:e0e1::/48\", behavior: uA.PFC, owner: r1}\n"
		"  - {sid: \"5f00:0:e101::/48\", behavior: uDT46, owner: r1}\n"
		"  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, flavors: [psp], owner: r1}\n";
	struct config *c = conf_load(CONF_CHECK, text);
	struct told told = {0};

	assert_int_equal(cfg_remote_count(c), ARRAY_LEN(rows));
	assert_int_equal(cfg_remote_each(c, tell, &told), 0);
	assert_int_equal(told.n, ARRAY_LEN(rows));
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_prefix want;
		const struct cfg_remote *r = NULL;

		assert_int_equal(ip_prefix_parse(rows[i].sid, &want), 0);
		for (unsigned int k = 0; k < told.n; k++)
			if (ip_prefix_equal(&told.seen[k].sid, &want))
				r = &told.seen[k];
		check(r, "%s", rows[i].sid);
		check(r->code == rows[i].code && r->block_bits == rows[i].block && r->node_bits == rows[i].node &&
				r->function_bits == rows[i].function && r->argument_bits == rows[i].argument,
			"%s: code %u, %u + %u + %u + %u", rows[i].sid, r->code, r->block_bits, r->node_bits,
			r->function_bits, r->argument_bits);
		check_text(rows[i].sid, r->owner, r->sid.addr.b[5] == 3 ? "r3" : "r1");
	}
	cfg_free(c);
}

static void count_change(void *arg, const struct cfg_change *change)
{
	unsigned int *n = arg;

	n[change->kind]++;
	assert_false(change->start_only);
}

/* A reload's plan tells what changed in the files, too. */
static void differences(void **state)
{
	char *said;
	struct config *from = load(FILE_OF(R1
					   ",{\"sid\": \"5f00:1:2:1::/64\", \"behavior\": \"End\", \"owner\": \"r2\"}"),
		NULL, &said);
	unsigned int n[3] = {0};
	struct config *to;

	free(said);
	to = load(FILE_OF(R1), FILE_OF(R1), &said);
	free(said);
	assert_int_equal(cfg_diff(from, from, count_change, n), 0);
	assert_int_equal(n[CFG_ADDED] + n[CFG_CHANGED] + n[CFG_REMOVED], 0);
	assert_int_equal(cfg_diff(from, to, count_change, n), 0);
	assert_int_equal(n[CFG_REMOVED], 1);
	assert_int_equal(n[CFG_CHANGED], 1); /* remote-sids-files itself */
	assert_int_equal(n[CFG_ADDED], 1);
	cfg_free(from);
	cfg_free(to);
}

static int enter(void **state)
{
	static char folder[] = "/tmp/remote-sids-XXXXXX";

	*state = mkdtemp(folder);
	return !*state || chdir(*state) < 0;
}

static int leave(void **state)
{
	static const char *const names[] = {"a.json", "b.json", "t.yaml"};

	for (unsigned int i = 0; i < ARRAY_LEN(names); i++)
		unlink(names[i]);
	return chdir("/") < 0 || rmdir(*state) < 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks),
		cmocka_unit_test(files),
		cmocka_unit_test(monsters),
		cmocka_unit_test(missing_files),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(defaults),
		cmocka_unit_test(differences),
	};

	return cmocka_run_group_tests_name("remote_sids", tests, enter, leave);
}
