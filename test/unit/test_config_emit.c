/* SPDX-License-Identifier: BSD-3-Clause */
/* A configuration written out loads to the same; the reference is itself a valid configuration. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/schema.h"
#include "test/support/conf.h"

/* A printed configuration reads as the same again, with defaults and without. */
static void check_fixed_point(const char *row, const struct config *c, enum conf_depth depth)
{
	char *brief = conf_emit(c, 0), *all = conf_emit(c, 1), *again;
	struct config *from_brief = conf_load(depth, brief), *from_all = conf_load(depth, all);

	again = conf_emit(from_brief, 0);
	check_text(row, again, brief);
	free(again);
	again = conf_emit(from_all, 0);
	check_text(row, again, brief);
	free(again);
	again = conf_emit(from_brief, 1);
	check_text(row, again, all);
	free(again);
	again = conf_emit(from_all, 1);
	check_text(row, again, all);
	free(again);
	cfg_free(from_brief);
	cfg_free(from_all);
	free(brief);
	free(all);
}

static void full_configuration(void **state)
{
	struct config *c = conf_load(CONF_CHECK, conf_full);
	char *text = conf_emit(c, 0);

	check_text("conf_full", text, conf_full);
	check_fixed_point("conf_full", c, CONF_CHECK);
	free(text);
	cfg_free(c);
}

/* Zeros that stand for something: control: 0, side: dc, behavior: uN. */
static void least_configuration(void **state)
{
	static const char least[] = "node:\n"
				    "  name: pe1\n"
				    "  loopback: \"fd00::1\"\n"
				    "lcores:\n"
				    "  control: 0\n"
				    "  rx: [0]\n"
				    "  worker: [0]\n"
				    "ports:\n"
				    "  - name: p0\n"
				    "    device: net_null0\n"
				    "    side: dc\n";
	static const char all[] = "node:\n"
				  "  name: pe1\n"
				  "  loopback: \"fd00::1\"\n"
				  "  slice-option: 0\n"
				  "lcores:\n"
				  "  control: 0\n"
				  "  rx: [0]\n"
				  "  worker: [0]\n"
				  "memory:\n"
				  "  hugepages: auto\n"
				  "  buffers: auto\n"
				  "  buffer-size: 2K\n"
				  "  lossless: 0\n"
				  "  ring: 1K\n"
				  "  fib: fast\n"
				  "idle:\n"
				  "  policy: poll\n"
				  "  max-sleep: 100\n"
				  "icmp:\n"
				  "  errors-per-port: 100\n"
				  "  errors: 1K\n"
				  "  echo: 1K\n"
				  "  path-mtu: learn\n"
				  "neighbor-discovery:\n"
				  "  retransmit: 1000\n"
				  "  probes: 3\n"
				  "  reachable: 30000\n"
				  "  stale: 600000\n"
				  "  hold: 16\n"
				  "  hold-total: 512\n"
				  "  max: 1K\n"
				  "failover:\n"
				  "  hold: 10\n"
				  "  hold-max: 10000\n"
				  "  window: 10000\n"
				  "log:\n"
				  "  to: stderr\n"
				  "  level: notice\n"
				  "  rate: 50\n"
				  "ports:\n"
				  "  - name: p0\n"
				  "    device: net_null0\n"
				  "    side: dc\n"
				  "    mtu: 1500\n"
				  "    rx-queues: 1\n"
				  "    rx-spread: auto\n"
				  "    rss-symmetric: false\n"
				  "    hardware-timestamps: false\n"
				  "    descriptors:\n"
				  "      rx: auto\n"
				  "      tx: 512\n"
				  "    worker: any\n"
				  "    queue-limit: 256\n"
				  "    buffer-limit: 1792\n"
				  "    control-limit: 256\n"
				  "    control-rate: 100K\n"
				  "    link-delay: auto\n"
				  "    bounce-class: 0\n"
				  "    ecn:\n"
				  "      min: 150K\n"
				  "      max: 1500K\n"
				  "    pfc:\n"
				  "      learn: false\n"
				  "      learn-tunnels: false\n"
				  "      lenient-cev: false\n"
				  "      lenient-pad: false\n"
				  "      hardware: auto\n"
				  "      blind: refuse\n"
				  "      length: auto\n"
				  "      round-trip: auto\n"
				  "      peer-descriptors: 2\n"
				  "      outage: 100\n"
				  "      watchdog:\n"
				  "        action: release\n"
				  "        alarm: auto\n"
				  "        detect: auto\n"
				  "        release: 1000\n"
				  "        restore: auto\n"
				  "    hmac: off\n"
				  "sbfd-reflector:\n"
				  "  discriminator: 0\n"
				  "  rate: 100K\n"
				  "steering:\n"
				  "  idle: 30\n"
				  "  interval: 1ms\n"
				  "  margin: 20\n"
				  "  share: 50\n"
				  "  gap: 50us\n"
				  "  queue-limit: 20us\n"
				  "  pause-limit: 20\n"
				  "  credit-limit: 100us\n"
				  "hmac:\n"
				  "  profile: rfc8754\n"
				  "pfc-learning:\n"
				  "  tunnels: 256\n"
				  "  idle: 180\n"
				  "  max-rtt: 200\n"
				  "  flow-label: 0\n"
				  "  hmac-key: 0\n"
				  "  message-key: 0\n"
				  "  slice-by: sid\n"
				  "  outage: 50\n"
				  "  repeat: false\n"
				  "credit:\n"
				  "  mode: off\n"
				  "  data: gated\n"
				  "  heartbeat: 10\n"
				  "  wait: 1000\n"
				  "  overhead: 128\n"
				  "  integrity: required\n"
				  "  clock-error: 60\n"
				  "  window: 8K\n"
				  "  paths: 1K\n"
				  "  unit: 11\n"
				  "  pool: 0\n"
				  "  oversubscription: 4\n"
				  "  buffer: 8K\n"
				  "  margin: 0\n"
				  "  share: false\n"
				  "  return-after: 0\n"
				  "  alpha: 1\n"
				  "  overrun: pause\n"
				  "  refresh: 30000\n"
				  "  losses: 3\n"
				  "  rapid: 500\n"
				  "  rapid-copies: 3\n"
				  "  repeat-max: 30000\n"
				  "  select: 200\n"
				  "  offer: 3000\n"
				  "  idle: 100\n"
				  "  lease: 1000\n"
				  "  repair: 2000\n"
				  "  blockade: 4\n"
				  "  max-hops: 16\n"
				  "  enterprise: 32473\n"
				  "  letter:\n"
				  "    grant: 16\n"
				  "    return-unit: mb\n"
				  "    comparison: at-most\n"
				  "    rate: 10K\n"
				  "    heartbeat: 1000\n"
				  "    refresh: false\n"
				  "    class: 123\n";
	struct config *c = conf_load(CONF_CHECK, least);
	char *text = conf_emit(c, 0);

	check_text("least", text, least);
	free(text);
	text = conf_emit(c, 1);
	check_text("all", text, all);
	free(text);
	check_fixed_point("least", c, CONF_CHECK);
	cfg_free(c);
}

/* A default that was spelt out is a default; a number is written in its shortest exact form. */
static void defaults_are_left_out(void **state)
{
	struct config *c = conf_load(CONF_CHECK,
		"memory: {buffers: 0x8000, ring: 1024, hugepages: 'auto'}\n"
		"idle: {policy: poll}\n"
		"ports: [{side: wan, device: net_null0, name: p0, speed: 100000M, mtu: 1500, worker: any, "
		"descriptors: {rx: auto}, addresses: []}]\n"
		"lcores: {worker: [1], rx: [1], control: 0}\n"
		"node: {loopback: \"FD00:0::0:1\", name: \"pe1\"}\n"
		"policies: [{name: p, encap: H.Encaps.Red, dscp: copy, dscp-value: 0, "
		"paths: [{name: a, weight: 1, segments: [\"2001:DB8::1\"]}]}]\n"
		"routes: [{port: p0, prefix: \"::/0\"}]\n");
	char *text = conf_emit(c, 0);

	check_text("canonical", text,
		"node:\n"
		"  name: pe1\n"
		"  loopback: \"fd00::1\"\n"
		"lcores:\n"
		"  control: 0\n"
		"  rx: [1]\n"
		"  worker: [1]\n"
		"memory:\n"
		"  buffers: 32K\n"
		"ports:\n"
		"  - name: p0\n"
		"    device: net_null0\n"
		"    side: wan\n"
		"    speed: 100G\n"
		"routes:\n"
		"  - prefix: \"::/0\"\n"
		"    port: p0\n"
		"policies:\n"
		"  - name: p\n"
		"    paths:\n"
		"      - name: a\n"
		"        segments: [\"2001:db8::1\"]\n");
	check_fixed_point("canonical", c, CONF_CHECK);
	free(text);
	cfg_free(c);
}

/* Text that YAML would read as something else, or not at all, comes back as it was. */
static void awkward_texts(void **state)
{
	static const char *const rows[] = {"net_pcap0,rx_pcap=in.pcap", "true", "No", "null", "~", "123", "0x10", "1.5",
		"a: b", "a #b", "#a", "- a", "-", "?", "? a", "!tag", "&a", "*a", "%a", "@a", "`a", "'", "\"", "\\",
		"\\n", "{a", "[a", "a]", ",", "|", ">", "a b", " a", "a ", "...", "---", "--- a", "<<", "=", "\xc3\xa4",
		"\xe2\x82\xac", "a'b\"c\\d"};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char text[512], escaped[64];
		struct config *c;
		size_t n = 0;

		for (const char *p = rows[i]; *p; p++) {
			if (*p == '"' || *p == '\\')
				escaped[n++] = '\\';
			escaped[n++] = *p;
		}
		escaped[n] = '\0';
		snprintf(text, sizeof(text),
			"node: {name: pe1, loopback: \"fd00::1\"}\nlcores: {control: 0, rx: [1], worker: [1]}\n"
			"ports: [{name: \"p0\", side: dc, device: \"%s\"}]\n",
			escaped);
		c = conf_load(CONF_LOAD, text);
		check_text(rows[i], c->ports.items[0].device, rows[i]);
		check_fixed_point(rows[i], c, CONF_LOAD);
		cfg_free(c);
	}
}

/* --- any configuration that the schema allows --- */

static uint64_t random_in(uint64_t *random, uint64_t min, uint64_t max)
{
	switch (unit_random(random) % 4) {
	case 0:
		return min;
	case 1:
		return max;
	default:
		return min + (((uint64_t)unit_random(random) << 32 | unit_random(random)) % (max - min + 1));
	}
}

static void random_text(uint64_t *random, FILE *out)
{
	for (unsigned int n = 1 + unit_random(random) % 40; n; n--) {
		char c = (char)(' ' + unit_random(random) % ('~' - ' ' + 1));

		fprintf(out, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
	}
}

static struct ip_prefix random_prefix(uint64_t *random, bool six_only)
{
	struct ip_prefix p = {0};

	p.addr.family = six_only || unit_random(random) % 2 ? 6 : 4;
	for (unsigned int i = 0; i < ip_addr_bits(&p.addr) / 8; i++)
		p.addr.b[i] = (uint8_t)unit_random(random);
	p.len = (uint8_t)(unit_random(random) % (ip_addr_bits(&p.addr) + 1));
	return p;
}

static void random_scalar(uint64_t *random, const struct cfg_key *key, enum cfg_type type, FILE *out)
{
	static const char *const names[] = {"a", "dc0", "to-dc2", "true", "off", "7", "0x10", "_.-"};
	struct ip_prefix p = random_prefix(random, type == CFG_IPV6 || type == CFG_PREFIX6), network;
	char buf[IP_PREFIX_TEXT];
	struct eth_addr mac;
	unsigned int words = 0;

	fputc('"', out);
	switch (type) {
	case CFG_BOOL:
		fputs(unit_random(random) % 2 ? "yes" : "no", out);
		break;
	case CFG_UINT:
	case CFG_SCALE:
		if (type == CFG_SCALE && unit_random(random) % 2)
			fputs(key->word, out);
		else
			fprintf(out, "%llu",
				(unsigned long long)random_in(random, key->type == CFG_LIST_OF ? 0 : key->min,
					key->type == CFG_LIST_OF ? 126 : key->max));
		break;
	case CFG_WORD:
		while (key->words[words])
			words++;
		fputs(key->words[unit_random(random) % words], out);
		break;
	case CFG_NAME:
		fputs(names[unit_random(random) % ARRAY_LEN(names)], out);
		break;
	case CFG_TEXT:
		random_text(random, out);
		break;
	case CFG_MAC:
		for (unsigned int i = 0; i < sizeof(mac.b); i++)
			mac.b[i] = (uint8_t)unit_random(random);
		fputs(eth_addr_format(&mac, buf), out);
		break;
	case CFG_IP:
	case CFG_IPV6:
		fputs(ip_addr_format(&p.addr, buf), out);
		break;
	case CFG_PREFIX:
	case CFG_PREFIX6:
		network = ip_prefix_network(&p);
		fputs(ip_prefix_format(&network, buf), out);
		break;
	case CFG_IFADDR:
		fputs(ip_prefix_format(&p, buf), out);
		break;
	case CFG_TIME:
		fprintf(out, "%lluns", (unsigned long long)random_in(random, key->min, key->max));
		break;
	case CFG_FRACTION:
		fprintf(out, "%u%%", unit_random(random) % 101);
		break;
	case CFG_MAP:
	case CFG_LIST_OF:
	case CFG_CONFIG:
		break;
	}
	fputc('"', out);
}

static void random_map(uint64_t *random, const struct cfg_map *map, FILE *out);

static void random_value(uint64_t *random, const struct cfg_key *key, FILE *out)
{
	uint64_t few = unit_random(random) % 4, n = MAX_OF(key->min, few);

	if (key->type == CFG_MAP) {
		random_map(random, key->map, out);
	} else if (key->type != CFG_LIST_OF) {
		random_scalar(random, key, key->type, out);
	} else {
		fputc('[', out);
		for (uint64_t i = 0; i < n; i++) {
			fputs(i ? ", " : "", out);
			if (key->item == CFG_MAP)
				random_map(random, key->map, out);
			else
				random_scalar(random, key, key->item, out);
		}
		fputc(']', out);
	}
}

static void random_map(uint64_t *random, const struct cfg_map *map, FILE *out)
{
	const char *comma = "";

	fputc('{', out);
	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];

		if (!(key->flags & CFG_REQUIRED) && unit_random(random) % 2)
			continue;
		fprintf(out, "%s%s: ", comma, key->name);
		random_value(random, key, out);
		comma = ", ";
	}
	fputc('}', out);
}

static void whatever_the_schema_allows(void **state)
{
	uint64_t random = 37;

	for (unsigned int i = 0; i < 1000; i++) {
		char *text = NULL, row[32];
		size_t size;
		FILE *out = open_memstream(&text, &size);
		struct config *c;

		assert_non_null(out);
		random_map(&random, &cfg_root, out);
		fclose(out);
		snprintf(row, sizeof(row), "configuration %u", i);
		c = conf_load(CONF_LOAD, text);
		check_fixed_point(row, c, CONF_LOAD);
		cfg_free(c);
		free(text);
	}
}

/* --- the configuration that tests and the fuzzer start from --- */

#define INSTANCES_MAX 64

/* Where the items of a key are in the struct at `from`. */
static size_t items_of(const struct cfg_key *key, const char *from, const char **items, size_t room)
{
	struct cfg_any_list list;
	size_t n = 0;

	if (key->type == CFG_MAP) {
		items[n++] = from + key->offset;
	} else {
		memcpy(&list, from + key->offset, sizeof(list));
		for (; n < list.n && n < room; n++)
			items[n] = list.items + n * key->map->size;
	}
	return n;
}

/* Each key of `map`, in one of its instances at least. */
static void all_keys_given(const struct config *c, const char *path, const struct cfg_map *map, const char *const *at,
	size_t n)
{
	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];
		const char *items[INSTANCES_MAX];
		size_t n_items = 0;
		bool given = false;
		char name[128];

		snprintf(name, sizeof(name), "%s%s%s", path, *path ? "." : "", key->name);
		for (size_t k = 0; k < n; k++) {
			given |= cfg_where(c, at[k] + key->offset).line != 0;
			if (key->map)
				n_items += items_of(key, at[k], items + n_items, INSTANCES_MAX - n_items);
		}
		check(given || n_items, "%s is not in conf_full", name);
		if (key->map)
			all_keys_given(c, name, key->map, items, n_items);
	}
}

/* And as the emitter leaves defaults out (full_configuration), with another value than its default. */
static void full_is_full(void **state)
{
	struct config *c = conf_load(CONF_CHECK, conf_full);
	const char *root = (const char *)c;

	(void)state;
	all_keys_given(c, "", &cfg_root, &root, 1);
	cfg_free(c);
}

/* --- the reference --- */

static void reference_is_valid(void **state)
{
	char *text = conf_reference();
	struct config *c = conf_load(CONF_CHECK, text);

	check_fixed_point("reference", c, CONF_CHECK);
	cfg_free(c);
	free(text);
}

/* Every key with its help, indented as deep as it lies. */
static void expect_keys(const struct cfg_map *map, const char *text, unsigned int indent)
{
	char line[128];

	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];
		const char *found = NULL;

		/* as a key, as the first one of a list item, or commented out for want of an example */
		snprintf(line, sizeof(line), "\n%*s%s:", (int)indent, "", key->name);
		found = strstr(text, line);
		snprintf(line, sizeof(line), "\n%*s- %s:", (int)indent - 2, "", key->name);
		if (!found && indent)
			found = strstr(text, line);
		snprintf(line, sizeof(line), "\n%*s# %s:", (int)indent, "", key->name);
		if (!found)
			found = strstr(text, line);
		check(found, "key %s of %s", key->name, map->name);
		check(key->help && *key->help, "key %s of %s", key->name, map->name);
		snprintf(line, sizeof(line), "%.24s", key->help);
		check(strstr(text, line), "help of %s of %s", key->name, map->name);
		if (key->type == CFG_MAP)
			expect_keys(key->map, text, indent + 2);
		else if (key->type == CFG_LIST_OF && key->item == CFG_MAP)
			expect_keys(key->map, text, indent + 4);
	}
}

static void reference_is_complete(void **state)
{
	char *text = conf_reference();

	expect_keys(&cfg_root, text, 0);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		check(strcspn(line, "\n") <= 100, "'%.40s...' is wide", line);
		check(*line == '\n' || line[strcspn(line, "\n") - 1] != ' ', "'%.40s...' ends with a blank", line);
	}
	free(text);
}

/* Defaults and examples of the schema are values that the schema takes. */
static void expect_good_defaults(const struct cfg_map *map)
{
	_Alignas(8) char value[32];
	char err[256];

	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];

		assert_true(key->type == CFG_LIST_OF || cfg_value_size(key, key->type) > 0);
		if (key->map)
			expect_good_defaults(key->map);
		if (key->fallback)
			check(cfg_parse_scalar(key, key->type, key->fallback, NULL, value, err, sizeof(err)) == 0,
				"default of %s: %s", key->name, err);
		/* required keys have no default */
		check(!(key->flags & CFG_REQUIRED) || !key->fallback, "%s", key->name);
		check(!key->refs || key->type == CFG_NAME, "%s", key->name);
	}
}

static void schema_is_consistent(void **state)
{
	expect_good_defaults(&cfg_root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_configuration),
		cmocka_unit_test(least_configuration),
		cmocka_unit_test(defaults_are_left_out),
		cmocka_unit_test(awkward_texts),
		cmocka_unit_test(whatever_the_schema_allows),
		cmocka_unit_test(full_is_full),
		cmocka_unit_test(reference_is_valid),
		cmocka_unit_test(reference_is_complete),
		cmocka_unit_test(schema_is_consistent),
	};

	return cmocka_run_group_tests_name("config_emit", tests, NULL, NULL);
}
