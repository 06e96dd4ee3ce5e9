/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading: errors of files that do not fit the schema, with their place; queries of a loaded file. */
#include "test/support/unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/progress.h"
#include "config/marks.h"
#include "test/support/conf.h"

/* The least that a file must hold; tests add to it from line 5 on. */
#define BASE \
	"node: {name: pe1, loopback: \"fd00::1\"}\n" \
	"lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: dc}\n"

#define MAC_WANTED "expected a MAC address like \"02:00:00:00:00:01\", found "
#define NAME_WANTED "expected a name of letters, digits, '-', '_' and '.', at most 31 characters, found "
#define PREFIX_WANTED "expected a prefix like 10.1.0.0/16 or \"2001:db8::/32\", found "

/* --- the file --- */

static void good_files(void **state)
{
	static const char *const rows[] = {
		BASE,
		"---\n" BASE,
		"# a comment\n" BASE "# another\n",
		BASE "...\n",
		"\xef\xbb\xbf" BASE, /* a byte order mark */
		BASE "sids: []\n",
		BASE "memory: {}\n",
		BASE "memory:\n  buffers: \"16K\"\n",
		BASE "memory: {buffers: '0x4000'}\n",
		("{\"node\": {\"name\": \"pe1\", \"loopback\": \"fd00::1\"}, \"lcores\": {\"control\": 0, \"rx\": [1], "
		 "\"worker\": [1]}, \"ports\": [{\"name\": \"p0\", \"device\": \"net_null0\", \"side\": \"dc\"}]}"),
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		conf_expect(rows[i], CONF_CHECK, rows[i], NULL);
}

#define ROOT_KEYS \
	"node, lcores, memory, idle, icmp, neighbor-discovery, failover, metrics, log, ports, interfaces, slices, " \
	"class-maps, dscp-maps, " \
	"buffer-profiles, bfd-profiles, sbfd-reflector, neighbors, routes, vrfs, sids, policies, steering, " \
	"placements, hmac, circuits, " \
	"pfc-relays, pfc-tunnels, " \
	"pfc-learning, remote-sids, remote-sids-files, credit"

/* One mistake each; '^' stands where it must be reported. */
static void mistakes(void **state)
{
	static const struct {
		const char *what, *text, *messages;
	} rows[] = {
		{"unknown key, a slip", BASE "^memroy: {buffers: 1}\n",
			"unknown key 'memroy' in the file; did you mean 'memory'?"},
		{"unknown key, unlike any", BASE "^telemetry: {}\n",
			"unknown key 'telemetry' in the file; expected one of: " ROOT_KEYS},
		{"unknown key in a mapping", BASE "idle: {policy: poll, ^maxsleep: 3}\n",
			"unknown key 'maxsleep' in idle; did you mean 'max-sleep'?"},
		{"unknown key in a list item", BASE "routes:\n  - prefix: 10.0.0.0/8\n    ^prot: p0\n",
			"unknown key 'prot' in a route; did you mean 'port'?"},
		{"unknown key, long",
			BASE "^aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg: 1\n",
			"unknown key 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff' in the file; "
			"expected one of: " ROOT_KEYS},
		{"a policy for an underlay route", BASE "routes:\n  - {prefix: 10.0.0.0/8, ^policy: p}\n",
			"unknown key 'policy' in a route; expected one of: prefix, port, nexthop, bfd"},
		{"key twice", BASE "^node: {name: pe2, loopback: \"fd00::2\"}\n",
			"key 'node' is given twice in the file"},
		{"key twice in a mapping", BASE "memory: {ring: 64, fib: fast, ^ring: 128}\n",
			"key 'ring' is given twice in memory"},
		{"key thrice", BASE "memory: {ring: 64, ^ring: 64, ^ring: 64}\n",
			"key 'ring' is given twice in memory\nkey 'ring' is given twice in memory"},
		{"merge key", BASE "memory: {^<<: {ring: 64}}\n",
			"unknown key '<<' in memory; expected one of: hugepages, buffers, buffer-size, lossless, "
			"ring, fib"},
		{"key that is a list", BASE "memory: {? ^[a, b] : 1}\n", "memory: expected a key, found a list"},
		{"key that is a mapping", BASE "? ^{a: b}\n: 1\n", "the file: expected a key, found a mapping"},
		{"key with a NUL", BASE "^\"memory\\0\": {}\n", "the file: a key contains a NUL character"},

		{"required keys", "^^node: ^^{}\n",
			"the file needs the key 'lcores'\nthe file needs the key 'ports'\n"
			"node needs the key 'name'\nnode needs the key 'loopback'"},
		{"required in a mapping", BASE "neighbors:\n  - ^port: p0\n    address: \"fe80::5\"\n",
			"a neighbor needs the key 'mac'"},
		{"required in every item", BASE "vrfs: [{name: a}, ^{routes: []}, ^{}]\n",
			"a VRF needs the key 'name'\na VRF needs the key 'name'"},

		{"a list for a mapping", BASE "memory: ^[16K]\n", "memory: expected a mapping, found a list"},
		{"a value for a mapping", BASE "memory: ^16K\n", "memory: expected a mapping, found a single value"},
		{"nothing for a mapping", BASE "memory:^\n", "memory: expected a mapping, found nothing"},
		{"a mapping for a list", BASE "routes: ^{prefix: 10.0.0.0/8}\n",
			"routes: expected a list, found a mapping"},
		{"a value for a list", BASE "routes: ^none\n", "routes: expected a list, found a single value"},
		{"nothing for a list", BASE "routes:^\n", "routes: expected a list, found nothing"},
		{"a list for a number", BASE "memory: {buffers: ^[1K, 2K]}\n",
			"buffers: expected a whole number from 512 to 64M, or auto, found a list"},
		{"a mapping for a word", BASE "idle: {policy: ^{poll: 1}}\n",
			"policy: expected one of poll, sleep, found a mapping"},
		{"nothing for a number", BASE "memory: {buffers: ^}\n",
			"buffers: expected a whole number from 512 to 64M, or auto, found ''"},
		{"a value for an item", BASE "vrfs: [^red]\n", "a VRF: expected a mapping, found a single value"},
		{"a list for an item", BASE "vrfs: [^[red]]\n", "a VRF: expected a mapping, found a list"},
		{"a mapping for an address", BASE "policies:\n - name: p\n   paths: [{name: a, segments: [^{a: b}]}]\n",
			"segments: expected an IPv6 address, found a mapping"},

		{"a bad number", BASE "memory: {ring: ^63}\n",
			"ring: expected a whole number from 64 to 64K, found '63'"},
		{"a bad word", BASE "memory:\n  fib: ^fats\n",
			"fib: expected one of fast, compact, found 'fats'; did you mean 'fast'?"},
		{"a bad item in a list", BASE "sids:\n  - {sid: \"5f00:0:1::/48\", behavior: ^uX}\n",
			"behavior: expected one of uN, uA, uDT4, uDT6, uDT46, uDX4, uDX6, uDX2, End, "
			"End.X, End.T, End.DT4, End.DT6, End.DT46, End.DX4, End.DX6, End.DX2, End.X.PFC, uA.PFC, found "
			"'uX'; did you mean 'uN'?"},
		{"a text with a NUL", BASE "idle: {policy: ^\"poll\\0x\"}\n",
			"policy: the value contains a NUL character"},

		{"a second document", BASE "---\n^node: {}\n",
			"a second YAML document begins here; a file can have only one"},
		{"a second document, of one value", BASE "...\n---\n^x\n",
			"a second YAML document begins here; a file can have only one"},
		{"a list for the file", "^- node\n", "the file: expected a mapping, found a list"},
		{"a value for the file", "^node\n", "the file: expected a mapping, found a single value"},
		{"nothing but the file's start", "---\n^", "the file: expected a mapping, found nothing"},
		{"empty", "^", "the file is empty"},
		{"only comments", "^# nothing\n\n# here\n", "the file is empty"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		conf_expect(rows[i].what, CONF_LOAD, rows[i].text, rows[i].messages);
}

/* Places are counted in characters: what an editor shows. */
static void columns_count_characters(void **state)
{
	conf_expect("columns", CONF_LOAD,
		BASE "neighbors: [{port: ^\"\xc3\xa9\xc3\xa9\", ^prot: x, address: \"fe80::1\", mac: ^x}]\n",
		"port: " NAME_WANTED "'\xc3\xa9\xc3\xa9'\n"
		"unknown key 'prot' in a neighbor; did you mean 'port'?\n"
		"mac: " MAC_WANTED "'x'");
}

/* --- invalid YAML --- */

static void check_output(const char *row, const char *text, size_t size, const char *want)
{
	char *got = conf_output(CONF_LOAD, text, size);

	check_text(row, got, want);
	free(got);
}

static void not_yaml(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"node: [1, 2\n",
			"t:2:1: error: not YAML: did not find expected ',' or ']', while parsing a flow sequence\n"},
		{"node: \"open\n",
			"t:2:1: error: not YAML: found unexpected end of stream, while scanning a quoted scalar\n"},
		{"node:\n\tname: x\n", "t:2:1: error: not YAML: found character that cannot start any token, "
				       "while scanning for the next token\n"},
		{"a: 1\n b: 2\n", "t:2:3: error: not YAML: mapping values are not allowed in this context\n"},
		{"node: *nobody\n", "t:1:7: error: the alias '*nobody' has no anchor '&nobody' before it\n"},
		{"a: &x 1\nb: {c: &x 2}\n", "t:2:8: error: the anchor '&x' is given twice; first in line 1\n"},
		{"node: @x\n", "t:1:7: error: not YAML: found character that cannot start any token, "
			       "while scanning for the next token\n"},
		{"%YAML 3.0\n---\n", "t:1:1: error: not YAML: found incompatible YAML document\n"},
	};
	static const char binary[] = "\x7f"
				     "ELF\x02\x01\x01";
	static const char nul[] = "node: {}\n\0lcores: {}\n";

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		check_output(rows[i].text, rows[i].text, strlen(rows[i].text), rows[i].want);
	check_output("a NUL", nul, sizeof(nul) - 1,
		"t: error: not YAML text: control characters are not allowed at byte 9\n");
	check_output("binary", binary, sizeof(binary) - 1,
		"t: error: not YAML text: control characters are not allowed at byte 0\n");
	check_output("bad UTF-8", "a: \xff\n", 5, "t: error: not YAML text: invalid leading UTF-8 octet at byte 3\n");
}

/* --- all of it at once --- */

/* The whole output, written out: this is what users and their editors read. */
static void all_errors_in_one_run(void **state)
{
	static const char text[] =
		"node:\n"
		"  name: pe 1\n"
		"  loopback: 10.0.0.1\n"
		"  infrastructur: [\"fd00::/16\"]\n"
		"lcores: {control: 0, rx: 1, worker: []}\n"
		"memory: {buffers: 100, fib: fasst, ring: 1K, ring: 2K}\n"
		"ports:\n"
		"  - {name: p0, device: net_null0, side: lan, mtu: 9K, addresses: [10.1.0.1, 10.1.0.1/24]}\n"
		"  - {name: p1, side: wan, speed: fast}\n"
		"routes:\n"
		"  - prefix: 10.1.2.0/16\n"
		"    nexthop: nowhere\n"
		"  - p0\n"
		"...\n"
		"---\n"
		"node: {}\n";

	check_output("all errors", text, strlen(text),
		"t:2:9: error: name: expected a name of letters, digits, '-', '_' and '.', at most 31 characters, "
		"found 'pe 1'\n"
		"t:3:13: error: loopback: expected an IPv6 address, found '10.0.0.1'\n"
		"t:4:3: error: unknown key 'infrastructur' in node; did you mean 'infrastructure'?\n"
		"t:5:26: error: rx: expected a list, found a single value\n"
		"t:5:37: error: worker: expected 1 to 64 items, found 0\n"
		"t:6:19: error: buffers: expected a whole number from 512 to 64M, or auto, found '100'\n"
		"t:6:29: error: fib: expected one of fast, compact, found 'fasst'; did you mean 'fast'?\n"
		"t:6:46: error: key 'ring' is given twice in memory\n"
		"t:8:41: error: side: expected one of dc, wan, host, found 'lan'; did you mean 'wan'?\n"
		"t:8:67: error: addresses: expected an address with its prefix length, like 10.1.0.1/24, found "
		"'10.1.0.1'\n"
		"t:9:5: error: a port needs the key 'device'\n"
		"t:9:34: error: speed: expected a whole number from 1M to 3200G bit/s, found 'fast'\n"
		"t:11:13: error: prefix: '10.1.2.0/16' has bits set after its prefix length; did you mean "
		"'10.1.0.0/16'?\n"
		"t:12:14: error: nexthop: expected an IPv4 or IPv6 address, found 'nowhere'\n"
		"t:13:5: error: a route: expected a mapping, found a single value\n"
		"t:16:1: error: a second YAML document begins here; a file can have only one\n");
}

static void errors_in_front_of_broken_yaml(void **state)
{
	static const char text[] = BASE "sid: []\n---\n[\n";

	check_output("broken second document", text, strlen(text),
		"t:5:1: error: unknown key 'sid' in the file; did you mean 'sids'?\n"
		"t:8:1: error: not YAML: did not find expected node content, while parsing a flow node\n");
}

static void too_many_errors(void **state)
{
	char *text = NULL, *got, *end;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int lines = 0;

	fprintf(out, BASE "routes:\n");
	for (unsigned int i = 0; i < CFG_DIAGS_MAX + 50; i++)
		fprintf(out, "  - prefix: 10.0.0.0/8\n    mode: %u\n", i);
	fclose(out);
	got = conf_output(CONF_LOAD, text, size);
	for (const char *p = got; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, CFG_DIAGS_MAX + 1);
	end = strstr(got, "t: 50 more errors\n");
	assert_non_null(end);
	assert_string_equal(end, "t: 50 more errors\n");
	free(got);
	free(text);
}

/* --- limits --- */

/* A list of `n` times `item` between `head` and `tail`; `mark` precedes it. */
static char *list_of(const char *head, const char *mark, const char *item, unsigned int n, const char *tail)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "%s%s[", head, mark);
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "", item);
	fprintf(out, "]%s", tail);
	fclose(out);
	return text;
}

static void list_limits(void **state)
{
	static const struct {
		const char *head, *item, *tail, *name;
		unsigned int min, max;
	} rows[] = {
		{"node: {name: a, loopback: \"::1\"}\nports: [{name: p, device: net_null0, side: dc}]\n"
		 "lcores: {control: 0, worker: [1], rx: ",
			"1", "}\n", "rx", 1, 64},
		{"node: {name: a, loopback: \"::1\"}\nlcores: {control: 0, worker: [1], rx: [1]}\nports: ",
			"{name: p, device: net_null0, side: dc}", "\n", "ports", 1, 32},
		{BASE "policies: [{name: p, paths: [{name: a, segments: ", "\"5f00::\"", "}]}]\n", "segments", 1, 96},
		{BASE "policies: [{name: p, paths: ", "{name: a, segments: [\"5f00::\"]}", "}]\n", "paths", 1, 64},
		{"lcores: {control: 0, worker: [1], rx: [1]}\nports: [{name: p, device: net_null0, side: dc}]\n"
		 "node: {name: a, loopback: \"::1\", infrastructure: ",
			"\"::/0\"", "}\n", "infrastructure", 0, 64},
		{BASE "vrfs: ", "{name: v}", "\n", "vrfs", 0, 8192},
	};
	char message[128];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		unsigned int min = rows[i].min, max = rows[i].max, counts[] = {min, max, max + 1, 0};

		for (unsigned int k = 0; k < ARRAY_LEN(counts); k++) {
			bool good = counts[k] >= min && counts[k] <= max;
			char *text = list_of(rows[i].head, good ? "" : "^", rows[i].item, counts[k], rows[i].tail);

			snprintf(message, sizeof(message), "%s: expected %u to %u items, found %u", rows[i].name, min,
				max, counts[k]);
			conf_expect(rows[i].name, CONF_LOAD, text, good ? NULL : message);
			free(text);
		}
	}
}

/* However deep a file is nested, it is read in time that follows its size. */
static void nesting(void **state)
{
	static char deep[1000000];

	memset(deep, '[', sizeof(deep));
	check_output("a million [", deep, sizeof(deep), "t:1:1001: error: more than 1000 brackets are open here\n");
	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = "{a: \n"[i % 5];
	check_output("a million {", deep, sizeof(deep), "t:1001:1: error: more than 1000 brackets are open here\n");
	memset(deep, '[', 1000);
	memset(deep + 1000, ']', 1000);
	check_output("a thousand lists", deep, 2000, "t:1:1: error: the file: expected a mapping, found a list\n");
	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = "- "[i % 2];
	check_output("lists by indentation", deep, sizeof(deep),
		"t:1:1: error: the file: expected a mapping, found a list\n");
	/* brackets that are closed again may be many */
	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = "[],\n"[i % 4];
	memcpy(deep, "[\n\n\n", 4);
	memcpy(deep + sizeof(deep) - 4, "\n]\n\n", 4);
	check_output("many lists", deep, sizeof(deep), "t:1:1: error: the file: expected a mapping, found a list\n");
}

/* --- aliases --- */

static void aliases(void **state)
{
	struct config *c = conf_load(CONF_CHECK,
		BASE "routes: &all\n"
		     "  - &one {prefix: 10.0.0.0/8, port: &port p0}\n"
		     "  - {prefix: 11.0.0.0/8, port: *port}\n"
		     "vrfs:\n"
		     "  - {name: a, routes: *all}\n"
		     "  - {name: b, routes: [*one, {prefix: 12.0.0.0/8, port: *port}]}\n");

	assert_int_equal(c->routes.n, 2);
	assert_int_equal(c->vrfs.items[0].routes.n, 2);
	assert_int_equal(c->vrfs.items[1].routes.n, 2);
	/* equal, and yet each its own */
	assert_ptr_not_equal(c->routes.items, c->vrfs.items[0].routes.items);
	assert_true(ip_prefix_equal(&c->routes.items[1].prefix, &c->vrfs.items[0].routes.items[1].prefix));
	assert_string_equal(c->vrfs.items[1].routes.items[0].port, "p0");
	assert_int_equal(cfg_where(c, &c->vrfs.items[0].routes.items[0].prefix).line, 6);
	cfg_free(c);

	/* an error in an anchor is reported for each use, at the place of the anchor */
	conf_expect("bad alias", CONF_LOAD,
		BASE "routes: &all [{prefix: ^^10.0.0.0.0}]\nvrfs: [{name: a, routes: *all}]\n",
		"prefix: " PREFIX_WANTED "'10.0.0.0.0'\nprefix: " PREFIX_WANTED "'10.0.0.0.0'");
	conf_expect("a list within itself", CONF_LOAD, BASE "vrfs: &v [^{^name: a, ^routes: *v}]\n",
		"a VRF route needs the key 'prefix'\n"
		"unknown key 'name' in a VRF route; expected one of: prefix, port, nexthop, policy, bfd\n"
		"unknown key 'routes' in a VRF route; expected one of: prefix, port, nexthop, policy, bfd");
	conf_expect("a mapping within itself", CONF_LOAD,
		"lcores: {control: 0, rx: [1], worker: [1]}\n"
		"ports: [{name: p0, device: net_null0, side: dc}]\n"
		"node: ^&n {^name: pe1, ^loopback: \"::1\", ^usid: *n}\n",
		"node.usid needs the key 'block'\n"
		"unknown key 'name' in node.usid; did you mean 'node'?\n"
		"unknown key 'loopback' in node.usid; expected one of: block, more-blocks, node\n"
		"unknown key 'usid' in node.usid; expected one of: block, more-blocks, node");
}

/* A megabyte that stands for a hundred: given up before it is all looked at. */
static void alias_bomb(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct cfg_diags diags = {0};

	assert_non_null(out);
	fputs(BASE "routes:\n  - &m {prefix: x", out);
	for (unsigned int i = 1; i < 100000; i++)
		fputs(", prefix: x", out);
	fputs("}\n", out);
	for (unsigned int i = 1; i < 1000; i++)
		fputs("  - *m\n", out);
	fclose(out);
	assert_null(cfg_load_text("t", text, size, &diags));
	assert_int_equal(diags.n, CFG_DIAGS_MAX);
	assert_in_range(diags.suppressed, 100000, 1000000);
	cfg_diags_free(&diags);
	free(text);
}

/* --- what a loaded configuration answers --- */

static void defaults(void **state)
{
	struct config *c = conf_load(CONF_CHECK, BASE);
	const struct cfg_port *p = &c->ports.items[0];

	assert_string_equal(c->file, "t");
	assert_int_equal(c->lcores.control, 0);
	assert_null(c->lcores.cpus);
	assert_int_equal(c->memory.hugepages, HUGEPAGES_AUTO);
	assert_true(c->memory.buffers == CFG_NONE);
	assert_int_equal(c->memory.ring, 1024);
	assert_int_equal(c->memory.fib, FIB_FAST);
	assert_int_equal(c->idle.policy, IDLE_POLL);
	assert_int_equal(c->idle.max_sleep_us, 100);
	assert_int_equal(c->icmp.errors_per_port, 100); /* docs/protocol.md 3.5 */
	assert_int_equal(c->icmp.errors, 1000);
	assert_int_equal(c->icmp.echo, 1000);
	assert_int_equal(c->discovery.retransmit_ms, 1000); /* RFC 4861 section 10 */
	assert_int_equal(c->discovery.probes, 3);
	assert_int_equal(c->discovery.reachable_ms, 30000);
	assert_int_equal(c->discovery.stale_ms, 600000);
	assert_int_equal(c->discovery.hold, 16);
	assert_int_equal(c->discovery.hold_total, 512);
	assert_int_equal(c->discovery.max, 1024);
	assert_int_equal(c->node.usid.at.line, 0);
	assert_int_equal(p->side, SIDE_DC);
	assert_null(p->vrf);
	assert_int_equal(p->mtu, 1500);
	assert_true(eth_is_zero(&p->mac));
	assert_int_equal(p->speed_bps, 0);
	assert_int_equal(p->rx_queues, 1);
	assert_true(p->descriptors.rx == CFG_NONE);
	assert_int_equal(p->descriptors.tx, 512);
	assert_true(p->worker == CFG_NONE);
	assert_int_equal(p->queue_limit, 256);
	assert_int_equal(p->addresses.n, 0);
	assert_int_equal(c->routes.n + c->vrfs.n + c->sids.n + c->policies.n + c->neighbors.n, 0);
	cfg_free(c);
	cfg_free(NULL);
}

static void check_place(const struct config *c, const void *member, unsigned int line, unsigned int column)
{
	struct cfg_mark at = cfg_where(c, member);

	check(at.line == line && at.column == column, "%u:%u instead of %u:%u", at.line, at.column, line, column);
	assert_int_equal(!!cfg_given(c, member), line != 0);
}

static void where_and_given(void **state)
{
	struct config *c = conf_load(CONF_CHECK, BASE "memory: {buffers: 16K}\n"
						      "routes:\n"
						      "  - {prefix: 10.0.0.0/8, port: p0}\n"
						      "  - prefix: 11.0.0.0/8\n"
						      "    port:\n"
						      "      p0\n");

	check_place(c, &c->node.name, 1, 14);
	check_place(c, &c->node.loopback, 1, 29);
	check_place(c, &c->lcores.control, 2, 19);
	check_place(c, &c->lcores.rx, 2, 26);
	check_place(c, &c->lcores.rx.items[0], 2, 27);
	check_place(c, &c->lcores.worker.items[0], 2, 40);
	/* a value that is given is given even when it is the default */
	check_place(c, &c->memory.buffers, 5, 19);
	check_place(c, &c->memory.ring, 0, 0);
	check_place(c, &c->routes, 7, 3);
	check_place(c, &c->routes.items[0].prefix, 7, 14);
	check_place(c, &c->routes.items[1].port, 10, 7);
	check_place(c, &c->routes.items[1].nexthop, 0, 0);
	check_place(c, &c->ports.items[0].mac, 0, 0);
	check_place(c, &c->vrfs, 0, 0);
	/* mappings carry their place themselves */
	assert_int_equal(c->at.line, 1);
	assert_int_equal(c->memory.at.line, 5);
	assert_int_equal(c->memory.at.column, 9);
	assert_int_equal(c->idle.at.line, 0);
	assert_int_equal(c->routes.items[0].at.line, 7);
	assert_int_equal(c->routes.items[0].at.column, 5);
	assert_int_equal(c->routes.items[1].at.line, 8);
	assert_int_equal(c->routes.items[1].at.column, 5);
	cfg_free(c);
}

static void marks_table(void **state)
{
	static uint64_t members[20000];
	struct cfg_marks *m = cfg_marks_new();

	assert_non_null(m);
	for (uint32_t i = 0; i < ARRAY_LEN(members); i += 2)
		assert_int_equal(cfg_marks_put(m, &members[i], (struct cfg_mark){i + 1, i + 2}), 0);
	/* putting again replaces */
	assert_int_equal(cfg_marks_put(m, &members[10], (struct cfg_mark){7, 8}), 0);
	for (uint32_t i = 0; i < ARRAY_LEN(members); i++) {
		struct cfg_mark at = cfg_marks_get(m, &members[i]);
		uint32_t line = i % 2 ? 0 : i == 10 ? 7 : i + 1, column = i % 2 ? 0 : i == 10 ? 8 : i + 2;

		check(at.line == line && at.column == column, "member %u", i);
	}
	cfg_marks_free(m);
	cfg_marks_free(NULL);
}

static void names_are_found(void **state)
{
	struct config *c = conf_load(CONF_LOAD, "node: {name: pe1, loopback: \"fd00::1\"}\n"
						"lcores: {control: 0, rx: [1], worker: [1]}\n"
						"ports:\n"
						"  - {name: zz9, device: net_null0, side: dc}\n"
						"  - {name: wan0, device: net_null1, side: wan}\n"
						"  - {name: wan1, device: net_null2, side: wan}\n"
						"  - {name: wan0, device: net_null3, side: wan}\n"
						"vrfs: [{name: red}, {name: blue}]\n");
	const char *near;

	assert_int_equal(cfg_find_port(c, "zz9"), 0);
	assert_int_equal(cfg_find_port(c, "wan0"), 1); /* of two, the first in the file */
	assert_int_equal(cfg_find_port(c, "wan1"), 2);
	assert_int_equal(cfg_find_port(c, "WAN1"), -1);
	assert_int_equal(cfg_find_port(c, ""), -1);
	assert_int_equal(cfg_find_port(c, NULL), -1);
	assert_int_equal(cfg_find_vrf(c, "blue"), 1);
	assert_int_equal(cfg_find_vrf(c, "zz9"), -1);
	assert_int_equal(cfg_find_policy(c, "red"), -1);
	assert_int_equal(cfg_find_named(c, "ports", "wan2", &near), -1);
	assert_string_equal(near, "wan0");
	assert_int_equal(cfg_find_named(c, "ports", "backbone", &near), -1);
	assert_null(near);
	assert_int_equal(cfg_find_named(c, "vrfs", "red", &near), 0);
	assert_null(near);
	assert_int_equal(cfg_find_named(c, "policies", "red", &near), -1);
	assert_null(near);
	cfg_free(c);
}

/* --- files --- */

static void expect_file_error(const char *path, const char *want)
{
	struct cfg_diags diags = {0};

	assert_null(cfg_load_file(path, &diags));
	assert_int_equal(diags.n, 1);
	assert_string_equal(diags.file, path);
	assert_int_equal(diags.items[0].at.line, 0);
	check_text(path, diags.items[0].text, want);
	cfg_diags_free(&diags);
}

static void files(void **state)
{
	char path[] = "/tmp/sluice-test-XXXXXX", message[128];
	int fd = mkstemp(path);
	struct cfg_diags diags = {0};
	struct config *c;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, BASE, strlen(BASE)), strlen(BASE));
	c = cfg_load_file(path, &diags);
	assert_non_null(c);
	assert_string_equal(c->file, path);
	assert_string_equal(c->node.name, "pe1");
	cfg_free(c);
	/* NULs after it, and more bytes than a file may have */
	assert_int_equal(ftruncate(fd, CFG_FILE_MAX), 0);
	snprintf(message, sizeof(message), "not YAML text: control characters are not allowed at byte %zu",
		strlen(BASE));
	expect_file_error(path, message);
	assert_int_equal(ftruncate(fd, CFG_FILE_MAX + 1), 0);
	expect_file_error(path, "the file is larger than 64 MB");
	close(fd);
	unlink(path);
	expect_file_error(path, "cannot open: No such file or directory");
	expect_file_error("/", "cannot read: Is a directory");
}

/* 100,000 routes in 10 MB, with next hops and comments as generators write them. */
/* Calls of progress(), from which the watchdog is fed: while libyaml reads, and afterwards. */
struct steps {
	unsigned int n;
};

static void count_step(void *arg)
{
	((struct steps *)arg)->n++;
}

static void large_file(void **state)
{
	enum { ROUTES = 100000 };
	char *text = NULL;
	struct steps steps = {0};
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct config *c;

	assert_non_null(out);
	fputs(BASE "routes:\n", out);
	for (unsigned int i = 0; i < ROUTES; i++)
		fprintf(out,
			"  # site %06u, exported by the inventory\n"
			"  - {prefix: \"2001:db8:%x:%x::/64\", port: p0, nexthop: \"fe80::%x\"}\n",
			i, i >> 8, i & 0xff, i % 1000 + 1);
	fclose(out);
	assert_true(size > 10000000);
	progress_hook(count_step, &steps);
	c = conf_load(CONF_CHECK, text);
	progress_hook(NULL, NULL);
	check(steps.n >= size / 16384 + ROUTES / PROGRESS_ITEMS, "progress is told %u times", steps.n);
	assert_int_equal(c->routes.n, ROUTES);
	for (unsigned int i = 0; i < ROUTES; i += 777) {
		const struct cfg_route *r = &c->routes.items[i];

		check(ipv6_hi(&r->prefix.addr.v6) == (0x20010db800000000 | (uint64_t)(i >> 8) << 16 | (i & 0xff)),
			"route %u", i);
		check_place(c, &r->prefix, 7 + 2 * i, 14);
	}
	cfg_free(c);
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_files),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(columns_count_characters),
		cmocka_unit_test(not_yaml),
		cmocka_unit_test(all_errors_in_one_run),
		cmocka_unit_test(errors_in_front_of_broken_yaml),
		cmocka_unit_test(too_many_errors),
		cmocka_unit_test(list_limits),
		cmocka_unit_test(nesting),
		cmocka_unit_test(aliases),
		cmocka_unit_test(alias_bomb),
		cmocka_unit_test(defaults),
		cmocka_unit_test(where_and_given),
		cmocka_unit_test(marks_table),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(files),
		cmocka_unit_test(large_file),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
