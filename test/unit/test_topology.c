/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology files: what is refused, where, and in which words; what memory a run takes. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "lab/topology.h"

#define NODE(name) \
	"  - name: " name "\n" \
	"    config:\n" \
	"      node: {name: " name ", loopback: \"fd00::1\"}\n" \
	"      lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"      memory: {buffers: 16K}\n" \
	"      ports: [{name: p0, device: net_null0, side: wan}, {name: p1, device: net_null1, side: wan}]\n"
#define NODES "nodes:\n" NODE("n1") NODE("n2")
#define HOSTS "hosts: [{name: h1, addresses: [10.0.0.1/24]}, {name: h2, addresses: [10.0.0.2/24]}]\n"
#define ONE_HOST "hosts: [{name: h2, addresses: [10.0.0.2/24]}, {name: h1, addresses: [10.0.0.1/24],\n  "
#define LAB "lab: {name: t, run: 1ms}\n"
#define LINK "links: [{a: h1.eth0, b: h2.eth0, rate: 10G}]\n"

static char *errors_of(const char *yaml)
{
	struct cfg_diags diags = {0};
	struct topology *t = topo_load_text("t.yaml", yaml, strlen(yaml), &diags);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	cfg_diags_print(&diags, f);
	fclose(f);
	cfg_diags_free(&diags);
	topo_free(t);
	return text;
}

static void refused(void **state)
{
	static const struct {
		const char *yaml, *want;
	} rows[] = {
		{LAB HOSTS LINK, ""},
		{LAB NODES HOSTS "links: [{a: h1.eth0, b: n1.p0, rate: 10G}]\n", ""},
		{LAB HOSTS "links: [{a: h1.eth0, b: x.p0, rate: 10G}]\n",
			"t.yaml:3:25: error: b: there is no node or host 'x'\n"},
		{LAB NODES HOSTS "links: [{a: h1.eth0, b: nn1.p0, rate: 10G}]\n",
			"t.yaml:16:25: error: b: there is no node or host 'nn1'; did you mean 'n1'?\n"},
		{LAB NODES HOSTS "links: [{a: h1.eth0, b: n1.p9, rate: 10G}]\n",
			"t.yaml:16:25: error: b: node 'n1' has no port 'p9'; did you mean 'p0'?\n"},
		{LAB HOSTS "links: [{a: h1.eth2, b: h2.eth0, rate: 10G}]\n",
			"t.yaml:3:13: error: a: host 'h1' has no port 'eth2'; its ports are eth0 and eth1\n"},
		{LAB HOSTS "links: [{a: h1, b: h2.eth0, rate: 10G}]\n",
			"t.yaml:3:13: error: a: expected NODE.PORT or HOST.eth0, found 'h1'\n"},
		{LAB HOSTS "links: [{a: h1.eth0, b: h1.eth0, rate: 10G, delay: 1us}]\n",
			"t.yaml:3:25: error: b: 'h1.eth0' is already an end of link h1.eth0-h1.eth0\n"},
		{LAB NODES "links: [{a: n1.p0, b: n2.p0, rate: 10G}, {name: back, a: n2.p1, b: n1.p1, rate: 10G}]\n",
			"t.yaml:15:42: error: link back closes a loop of links without delay, in which no time "
			"passes; give it a delay\n"},
		{LAB NODES "links: [{a: n1.p0, b: n2.p0, rate: 10G}, {a: n2.p1, b: n1.p1, rate: 10G, delay: 1ns}]\n",
			""},
		{LAB ONE_HOST "sink: {drain: 1G, stalls: [{at: 1ms, for: 1ms}, {at: 2ms, for: 1ms}]}}]\n" LINK, ""},
		{LAB ONE_HOST "sink: {stalls: [{at: 1ms, for: 1ms}]}}]\n" LINK,
			"t.yaml:3:19: error: a host with stalls needs a drain rate; set drain\n"},
		{LAB ONE_HOST "rsvp: letter, rsvp-restarts: [{at: 1ms, for: 1ms}, {at: 3ms, for: 1ms}]}]\n" LINK, ""},
		{LAB ONE_HOST "rsvp: letter, rsvp-refresh: 1us, rsvp-restarts: [{at: 1ms, for: 1ms}, {at: 2ms, for: "
			      "1ms}]}]\n" LINK,
			"t.yaml:3:31: error: rsvp-refresh: expected 1 ms at least\n"
			"t.yaml:3:73: error: rsvp-restarts: a restart begins before the end of the one listed before "
			"it\n"},
		{LAB ONE_HOST "sink: {drain: 1G, stalls: [{at: 1ms, for: 1ms}, {at: 1999us, for: 1ms}]}}]\n" LINK,
			"t.yaml:3:56: error: at: the previous stall has not ended at this time\n"},
		{LAB ONE_HOST "send: [{at: 1ms, frame: 0180c2000001 020000000001 8808 0101}]}]\n" LINK, ""},
		{LAB ONE_HOST "send: [{at: 1ms, frame: 0180c2000001 02000000000}]}]\n" LINK,
			"t.yaml:3:27: error: frame: expected 14 to 192 bytes as pairs of hexadecimal digits\n"},
		{LAB ONE_HOST "send: [{at: 1ms, frame: 0180c20000zz 020000000001 8808}]}]\n" LINK,
			"t.yaml:3:27: error: frame: expected 14 to 192 bytes as pairs of hexadecimal digits\n"},
		{LAB HOSTS "links: [{a: h1.eth0, b: h2.eth0, rate: 10}]\n",
			"t.yaml:3:40: error: rate: expected a whole number from 1M to 3200G bit/s, found '10'\n"},
		{LAB HOSTS "links: [{a: h1.eth0, b: h2.eth0, rate: 10G, delay: 5}]\n",
			"t.yaml:3:52: error: delay: expected a time like 100ns, 5us, 2.5ms or 1s, at least 0 ns and at "
			"most 10 s, found "
			"'5'\n"},
		{LAB HOSTS "links: [{a: h1.eth0, b: h2.eth0, rate: 10G, los: 1%}]\n",
			"t.yaml:3:45: error: unknown key 'los' in a link; did you mean 'loss'?\n"},
		{LAB HOSTS "links: [{a: h1.eth0, b: h2.eth0, rate: 10G, loss: 101%}]\n",
			"t.yaml:3:51: error: loss: expected a share from 0 to 1, like 0.001, 1e-6 or 0.1%, found "
			"'101%'\n"},
		{LAB HOSTS "links: [{a: h1.eth0, b: h2.eth0, rate: 10G, delay: 1us, km: 5}]\n",
			"t.yaml:3:61: error: km: the link also has a delay; give either km or delay\n"},
		{LAB HOSTS LINK "flows: [{from: h1, to: h2, rate: 11G}]\n",
			"t.yaml:4:34: error: rate: exceeds the link rate of host 'h1', 10 Gb/s\n"},
		{LAB HOSTS LINK "flows: [{from: h1, to: h3}]\n",
			"t.yaml:4:24: error: to: there is no host 'h3'; did you mean 'h1'?\n"},
		{LAB HOSTS LINK "flows: [{from: h1, to: h1}]\n",
			"t.yaml:4:24: error: to: host 'h1' cannot send to itself\n"},
		{LAB HOSTS LINK "flows: [{from: h1, to: h2, family: 6}]\n",
			"t.yaml:4:16: error: from: host 'h1' has no IPv6 address\nt.yaml:4:24: error: to: host 'h2' "
			"has no IPv6 address\n"},
		{LAB HOSTS LINK "schedule: [{at: 1ms, node: n1, command: show ports}]\n",
			"t.yaml:4:28: error: node: there is no node 'n1'\n"},
		{LAB HOSTS LINK "captures: [{place: h3.eth0, file: x}]\n",
			"t.yaml:4:20: error: place: there is no node or host 'h3'; did you mean 'h1'?\n"},
		{LAB "nodes: [{name: n1, file: nowhere.yaml}]\n" HOSTS LINK,
			"t.yaml:2:26: error: file: nowhere.yaml:0:0: cannot open: No such file or directory\n"},
		{LAB "nodes: [{name: n1}]\n" HOSTS LINK, "t.yaml:2:9: error: node 'n1' needs either file or config\n"},
		{LAB HOSTS "links: [{a: h1.eth0, b: h2.eth0, rate: 10G, failures: [{at: 0, repeat: 2}]}]\n",
			"t.yaml:3:56: error: every: a repeated failure must end before the next one begins; make "
			"every longer than for\n"},
		{"lab: {name: t, run: 1ms, memory: 1G}\n" HOSTS
		 "links: [{a: h1.eth0, b: h2.eth0, rate: 3200G, delay: 1s}]\n"
		 "flows: [{from: h1, to: h2}]\n",
			"t.yaml:1:34: error: memory: the run needs 38986 MB, more than the limit of 1024 MB: 0 MB "
			"buffers and tables "
			"of nodes + 38922 MB "
			"on links + 0 MB hosts + 64 MB fixed; link h1.eth0-h2.eth0: 3200 Gb/s x 1000 ms / 8 = 4e+05 MB "
			"on the fibre, "
			"94474258 frames of 4234 bytes, 216 bytes of memory each, both ways: 38922 MB\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char row[32], *got = errors_of(rows[i].yaml);

		snprintf(row, sizeof(row), "row %zu", i);
		check_text(row, got, rows[i].want);
		free(got);
	}
}

/* Errors of an inline configuration stand where they are in the topology. */
static void inline_errors(void **state)
{
	char *got = errors_of(LAB "nodes:\n" NODE("n1") "      routes: [{prefix: 10.0.0.0/8, port: p7}]\n" HOSTS LINK);

	(void)state;
	check_text("inline", got,
		"t.yaml:9:43: error: port: there is no 'p7' in ports or interfaces; did you mean 'p0'?\n");
	free(got);
	/* found by fuzzing: what has no name was looked for by its name */
	got = errors_of(LAB "nodes: [{name: n1, config: {vrfs: [{}, {}]}}]\n" HOSTS LINK);
	check(strstr(got, "t.yaml:2:36: error: a VRF needs the key 'name'\n"
			  "t.yaml:2:40: error: a VRF needs the key 'name'\n"),
		"%s", got);
	free(got);
}

/* The headroom of a port is for the length that its configuration says; the link may be longer. */
#define PFC_NODE(pfc) \
	"nodes:\n" \
	"  - name: n1\n" \
	"    config:\n" \
	"      node: {name: n1, loopback: \"fd00::1\"}\n" \
	"      lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"      memory: {buffers: 512K}\n" \
	"      buffer-profiles: [{name: b, headroom: 2M, forced: true, min-frame: 1024}]\n" \
	"      ports: [{name: p0, device: net_null0, side: wan, speed: 10G, pfc: {learn: true, priorities: [3]" pfc \
	"}}]\n" \
	"hosts: [{name: h1, addresses: [10.0.0.1/24]}]\n"
#define KM10 "links: [{a: h1.eth0, b: n1.p0, rate: 10G, km: 10}]\n"

static void lengths(void **state)
{
	static const char *const fits[] = {PFC_NODE(", length: 10000") KM10, PFC_NODE(", round-trip: 100") KM10,
		PFC_NODE(", buffer: b") KM10,
		PFC_NODE("") "links: [{a: h1.eth0, b: n1.p0, rate: 10G, delay: 500ns}]\n"};
	char *got;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fits); i++) {
		char text[2048], row[32];

		snprintf(text, sizeof(text), LAB "%s", fits[i]);
		snprintf(row, sizeof(row), "row %zu", i);
		got = errors_of(text);
		check(!strstr(got, "the headroom of 'n1.p0'"), "%s: %s", row, got);
		free(got);
	}
	/* 9,900 m more there and back are 99 us: 123,750 bytes at 10 Gb/s */
	got = errors_of(LAB PFC_NODE("") KM10);
	check(strstr(got,
		      "t.yaml:11:25: warning: b: the headroom of 'n1.p0' is for 100 m, and the link is 10000 m long: "
		      "after XOFF 123750 bytes more can arrive than the "),
		"%s", got);
	check(strstr(got, "set length: 10000 under its pfc"), "%s", got);
	free(got);
	got = errors_of(LAB PFC_NODE(", round-trip: 50") KM10);
	check(strstr(got, "is for 5000 m, and the link is 10000 m long: after XOFF 62500 bytes more"), "%s", got);
	free(got);
}

static void bandwidth_delay(void **state)
{
	static const char yaml[] = LAB HOSTS
		"links: [{a: h1.eth0, b: h2.eth0, rate: 400G, km: 1000}]\nflows: [{from: h1, to: h2}]\n";
	struct cfg_diags diags = {0};
	struct topology *t = topo_load_text("t.yaml", yaml, strlen(yaml), &diags);
	struct topo_memory m;

	(void)state;
	assert_non_null(t);
	topo_memory(t, &m);
	/* 400 Gb/s x 5 ms = 250 MB each way; headers only it fits many times into the 2 GB that are the default */
	assert_in_range(m.lines, 24u << 20, 32u << 20);
	topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(inline_errors),
		cmocka_unit_test(lengths),
		cmocka_unit_test(bandwidth_delay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
