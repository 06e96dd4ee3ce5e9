/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole nodes that place flows on paths: packets, commands, reloads, failures, floods. */
#include "test/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/command.h"
#include "node/node_ctl.h"
#include "pkt/flow_hash.h"
#include "service/nexthop/nexthop.h"
#include "service/steer/service_steer.h"
#include "test/support/conf.h"
#include "test/support/shown.h"
#include "test/support/testbed.h"
#include "wire/udp.h"

#define HEAD(lcores) \
	TESTBED_NODE lcores \
		"ports:\n" \
		"  - {name: dc, device: net_null0, side: dc, vrf: ai, addresses: [\"2001:db8:1::1/64\"]}\n" \
		"  - {name: s5, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"  - {name: s6, device: net_null2, side: wan, addresses: [\"2001:db8:c::2/64\"]}\n" \
		"vrfs: [{name: ai, routes: [{prefix: \"2001:db8:3::/64\", policy: p}, {prefix: \"2001:db8:4::/64\", " \
		"policy: q}]}]\n" \
		"neighbors: [{port: s5, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"},\n" \
		"  {port: s6, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:01\"}]\n" \
		"routes: [{prefix: \"5f00:0:500::/48\", port: s5, nexthop: \"2001:db8:b::3\"},\n" \
		"  {prefix: \"5f00:0:600::/48\", port: s6, nexthop: \"2001:db8:c::3\"},\n" \
		"  {prefix: \"5f00::/16\", port: s5, nexthop: \"2001:db8:b::3\"}]\n"
#define PATHS \
	"paths: [{name: five, segments: [\"5f00:0:500::\", \"5f00:0:300::\"]},\n" \
	"   {name: six, segments: [\"5f00:0:600::\", \"5f00:0:300::\"]}, {name: last, segments: " \
	"[\"5f00:0:600:300:1::\"], backup: yes}]}\n"
#define POLICIES(keys) "policies:\n - {name: p, " keys ", " PATHS " - {name: q, " PATHS
#define NODE HEAD(TESTBED_ONE_LCORE) POLICIES("flows: 1K, roce: yes")
#define FLOW(sport) "vrf=ai,src=2001:db8:1::11,dst=2001:db8:3::33,sport=" sport

enum { DC, S5, S6 };

/* A RoCEv2 packet of a flow from the tenant; its inner packet is that of testbed_frame. */
static void send_psn(struct testbed *t, uint16_t sport, uint32_t psn, const char *dst)
{
	uint8_t frame[256], out[256] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)out;
	uint32_t n = testbed_frame(frame, &t->port[DC]->port.mac, "5f00::", sport, psn, 160);
	struct ipv6_hdr *inner = (struct ipv6_hdr *)(eth + 1);
	struct ip_addr a;
	uint8_t *bth;

	memcpy(out, frame, sizeof(*eth));
	memcpy(inner, frame + sizeof(*eth) + 40, n - sizeof(*eth) - 40);
	assert_int_equal(ip_addr_parse(dst, &a), 0);
	inner->dst = a.v6;
	bth = (uint8_t *)(inner + 1) + sizeof(struct udp_hdr);
	memset(bth, 0, 12);
	bth[0] = 0x0a;
	bth[7] = (uint8_t)sport;
	bth[9] = (uint8_t)(psn >> 16);
	bth[10] = (uint8_t)(psn >> 8);
	bth[11] = (uint8_t)psn;
	fake_port_receive(t->port[DC], 0, out, n - 40, 0);
}

/* Ports that a packet of the flow leaves by: bits. */
static unsigned int leaves_to(struct testbed *t, uint16_t sport, const char *dst)
{
	static uint32_t psn;
	unsigned int bits = 0;
	struct sent_frame *f;

	send_psn(t, sport, psn++, dst);
	testbed_settle(t, 20);
	for (unsigned int i = S5; i <= S6; i++)
		while ((f = fake_port_take(t->port[i]))) {
			const struct ipv6_hdr *outer = (const struct ipv6_hdr *)(f->bytes + sizeof(struct eth_hdr));

			/* the path is that of the port */
			assert_int_equal(outer->dst.b[4], i == S5 ? 5 : 6);
			bits |= 1u << i;
			free(f);
		}
	return bits;
}

static unsigned int leaves(struct testbed *t, uint16_t sport)
{
	return leaves_to(t, sport, "2001:db8:3::33");
}

static int try(struct testbed *t, const char *line, char **text)
{
	struct command_host host = {.node = t->node};
	size_t size;
	FILE *f = open_memstream(text, &size);
	int rc = command_run(&host, line, f);

	fclose(f);
	testbed_settle(t, 20);
	return rc;
}

static void run(struct testbed *t, const char *line)
{
	char *text = NULL;

	check(try(t, line, &text) == 0, "%s: %s", line, text);
	free(text);
}

static void refused(struct testbed *t, const char *line, const char *why)
{
	char *text = NULL;

	check(try(t, line, &text) < 0, "%s: was not refused", line);
	check(strstr(text, why) != NULL, "%s: '%s' does not say '%s'", line, text, why);
	free(text);
}

static void place(struct testbed *t, uint16_t sport, const char *path)
{
	char line[256];

	snprintf(line, sizeof(line), "path place " FLOW("%u") " p %s", sport, path);
	run(t, line);
}

/* A flow takes the path that it is placed on, whether it was seen before or not, and the path of its hash again after that. */
static void placed(void **state)
{
	struct testbed *t = testbed_new(NODE);
	unsigned int by_hash[32], both = 0;

	(void)state;
	testbed_settle(t, 100);
	for (uint16_t i = 0; i < 32; i++)
		both |= by_hash[i] = leaves(t, (uint16_t)(1000 + i));
	assert_int_equal(both, 1 << S5 | 1 << S6);
	for (uint16_t i = 0; i < 48; i++)
		place(t, (uint16_t)(1000 + i), i % 2 ? "five" : "six");
	for (unsigned int round = 0; round < 2; round++)
		for (uint16_t i = 0; i < 48; i++)
			assert_int_equal(leaves(t, (uint16_t)(1000 + i)), 1 << (i % 2 ? S5 : S6));
	check_shown(t, "show flows sport=1000", "six");
	check_shown(t, "show placements -j", "\"pinned\": false");
	check_metrics(t, "sluice_flows{node=\"t\"} 48\n");
	check_metrics(t, "sluice_placed_packets_total{node=\"t\"} 96\n");
	for (uint16_t i = 0; i < 48; i++) {
		char line[256];

		snprintf(line, sizeof(line), "path unpin " FLOW("%u"), 1000 + i);
		run(t, line);
		refused(t, line, "not placed");
	}
	for (uint16_t i = 0; i < 32; i++)
		assert_int_equal(leaves(t, (uint16_t)(1000 + i)), by_hash[i]);
	testbed_free(t);
}

/* The flow label and everything but the path's list is what it would be without a placement. */
static void label_stays(void **state)
{
	struct testbed *t = testbed_new(NODE);
	uint32_t label[2];
	unsigned int port[2];

	(void)state;
	testbed_settle(t, 100);
	for (unsigned int i = 0; i < 2; i++) {
		struct sent_frame *f = NULL;

		send_psn(t, 1000, 0, "2001:db8:3::33");
		testbed_settle(t, 20);
		for (port[i] = S5; !(f = fake_port_take(t->port[port[i]]));)
			port[i]++;
		label[i] = ipv6_flow_label((const struct ipv6_hdr *)(f->bytes + sizeof(struct eth_hdr)));
		free(f);
		if (!i)
			place(t, 1000, port[0] == S5 ? "six" : "five");
	}
	assert_int_not_equal(port[0], port[1]);
	assert_int_equal(label[0], label[1]);
	testbed_free(t);
}

static char *write_file(const char *text)
{
	static char name[] = "/tmp/steerXXXXXX";
	int fd;

	memcpy(name, "/tmp/steerXXXXXX", sizeof(name));
	fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return name;
}

static void load(struct testbed *t, const char *text, const char *flag, const char *why)
{
	char line[128];
	char *file = write_file(text);

	snprintf(line, sizeof(line), "path load %s %s", file, flag);
	if (why)
		refused(t, line, why);
	else
		run(t, line);
	unlink(file);
}

/* All of a file or nothing, and the wrong line is named; JSON likewise. */
static void all_or_nothing(void **state)
{
	struct testbed *t = testbed_new(NODE);
	unsigned int was = (testbed_settle(t, 100), leaves(t, 1000));
	const char *other = was == 1 << S5 ? "six" : "five";
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "# two flows\n" FLOW("1000") " p %s\n\n" FLOW("1001") " p none # wrong\n", other);
	load(t, text, "", ":4: policy 'p' has no path 'none'; see: show paths; nothing was placed");
	assert_int_equal(leaves(t, 1000), was);
	assert_int_equal(node_steer(t->node)->store.n, 0);
	load(t, FLOW("1") " p last\n", "", ":1: path 'last' of policy 'p' is a backup");
	load(t, FLOW("1") " q five\n", "", "has no flow table");
	load(t, FLOW("1") " pp five\n", "", "did you mean 'p'?");
	load(t, "src=2001:db8:1::11 p five\n", "", ":1: dst is missing");
	load(t, FLOW("1") " p five sometimes\n", "", "pinned or nothing");
	load(t, FLOW("1") " p\n", "", "path is missing");
	load(t, "vrf=none,src=::1,dst=::2,sport=1 p five\n", "", "there is no VRF 'none'");
	load(t, "[{\"flow\": \"" FLOW("1000") "\", \"policy\": \"p\", \"path\": \"five\"}, 7]", "", "[2: an object");
	load(t, "[{\"flow\": 7}]", "", "[1: flow: a string is needed");
	load(t, "[", "", "nothing was placed");
	snprintf(text, sizeof(text), FLOW("1000") " p %s\n" FLOW("1001") " p six pinned\n", other);
	load(t, text, "", NULL);
	assert_int_not_equal(leaves(t, 1000), was);
	assert_int_equal(leaves(t, 1001), 1 << S6);
	run(t, "path batch \"[{\\\"flow\\\": \\\"" FLOW(
		       "1001") "\\\", \\\"policy\\\": \\\"p\\\", \\\"path\\\": \\\"five\\\"}]\"");
	assert_int_equal(leaves(t, 1001), 1 << S5);
	assert_int_equal(node_steer(t->node)->store.n, 2);
	load(t, FLOW("1002") " p five\n", "--replace", NULL);
	assert_int_equal(node_steer(t->node)->store.n, 1);
	assert_int_equal(leaves(t, 1002), 1 << S5);
	assert_int_equal(leaves(t, 1000), was);
	testbed_free(t);
}

static void apply(struct testbed *t, const char *yaml)
{
	char err[256] = "";

	check(node_apply(t->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
	testbed_settle(t, 200);
}

/* Placements outlive reloads, also those that remove their path for a time; they are part of the configuration on demand. */
static void survive_reloads(void **state)
{
	struct testbed *t = testbed_new(
		NODE "placements: [{flow: \"" FLOW("999") "\", policy: p, path: six, pinned: true}]\n");
	static const char less[] = HEAD(
		TESTBED_ONE_LCORE) "policies:\n - {name: p, flows: 1K, paths: [{name: six, segments: "
				   "[\"5f00:0:600::\", \"5f00:0:300::\"]}]}\n - {name: q, " PATHS;
	char *text = NULL, *yaml;

	(void)state;
	testbed_settle(t, 100);
	assert_int_equal(leaves(t, 999), 1 << S6);
	for (uint16_t i = 0; i < 16; i++)
		place(t, (uint16_t)(1000 + i), i % 2 ? "five" : "six");
	apply(t, NODE);
	for (uint16_t i = 0; i < 16; i++)
		assert_int_equal(leaves(t, (uint16_t)(1000 + i)), 1 << (i % 2 ? S5 : S6));
	apply(t, less);
	for (uint16_t i = 0; i < 16; i++)
		assert_int_equal(leaves(t, (uint16_t)(1000 + i)), 1 << S6);
	check_shown(t, "show placements sport=1001", "policy 'p' has no path 'five'");
	apply(t, HEAD(TESTBED_ONE_LCORE) POLICIES("flows: 2K"));
	for (uint16_t i = 0; i < 16; i++)
		assert_int_equal(leaves(t, (uint16_t)(1000 + i)), 1 << (i % 2 ? S5 : S6));
	assert_int_equal(leaves(t, 999), 1 << S6);
	assert_int_equal(try(t, "show config placements", &text), 0);
	yaml = strstr(text, "placements:");
	assert_non_null(yaml);
	assert_non_null(strstr(yaml, "sport=999,dport=4791\", policy: p, path: six, pinned: true}"));
	testbed_free(t);
	/* what is shown is a configuration with the same effect */
	t = testbed_new(text);
	testbed_settle(t, 100);
	for (uint16_t i = 0; i < 16; i++)
		assert_int_equal(leaves(t, (uint16_t)(1000 + i)), 1 << (i % 2 ? S5 : S6));
	testbed_free(t);
	free(text);
}

/* The path of a placed flow fails: the next packet takes another one, and the flow returns after the hold-down. */
static void path_fails(void **state)
{
	struct testbed *t = testbed_new(NODE);

	(void)state;
	testbed_settle(t, 100);
	place(t, 1000, "five");
	place(t, 1001, "six");
	assert_int_equal(leaves(t, 1000), 1 << S5);
	port_set_link(&t->port[S5]->port, false);
	assert_int_equal(leaves(t, 1000), 1 << S6);
	assert_int_equal(leaves(t, 1001), 1 << S6);
	port_set_link(&t->port[S5]->port, true);
	testbed_pass(t, 200 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(leaves(t, 1000), 1 << S5);
	testbed_free(t);
}

/* A drained path carries nothing, placed or not, until it is enabled; without another living path it does. */
static void drained(void **state)
{
	struct testbed *t = testbed_new(NODE);

	(void)state;
	testbed_settle(t, 100);
	place(t, 1000, "five");
	run(t, "path drain p five");
	run(t, "path drain p five");
	for (uint16_t i = 0; i < 32; i++)
		assert_int_equal(leaves(t, (uint16_t)(1000 + i)), 1 << S6);
	check_shown(t, "show paths", "drained");
	apply(t, NODE);
	assert_int_equal(leaves(t, 1000), 1 << S6);
	port_set_link(&t->port[S6]->port, false);
	assert_int_equal(leaves(t, 1000), 1 << S5);
	port_set_link(&t->port[S6]->port, true);
	testbed_pass(t, 200 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(leaves(t, 1000), 1 << S6);
	run(t, "path enable p five");
	assert_int_equal(leaves(t, 1000), 1 << S5);
	refused(t, "path drain p seven", "there is no path 'seven'");
	testbed_free(t);
}

/* Flows by queue pair: the ports do not matter. PSNs are followed for policies that ask for it. */
static void queue_pairs(void **state)
{
	struct testbed *t = testbed_new(HEAD(TESTBED_ONE_LCORE) POLICIES("flows: 1K, flow-key: queue-pair, roce: yes"));
	json_t *all, *o;

	(void)state;
	testbed_settle(t, 100);
	refused(t, "path place " FLOW("1000") " p five", "give qp");
	run(t, "path place vrf=ai,src=2001:db8:1::11,dst=2001:db8:3::33,qp=0xe8 p five");
	run(t, "path place vrf=ai,src=2001:db8:1::11,dst=2001:db8:3::33,qp=0xe9 p six");
	for (uint16_t i = 0; i < 16; i++) {
		/* the queue pair is the low byte of the source port */
		assert_int_equal(leaves(t, (uint16_t)(0xe8 + (i << 8))), 1 << S5);
		assert_int_equal(leaves(t, (uint16_t)(0xe9 + (i << 8))), 1 << S6);
	}
	all = shown_json(t, "show flows qp=0xe8 -j");
	o = json_array_get(all, 0);
	assert_int_equal(json_array_size(all), 1);
	assert_int_equal(json_integer_value(json_object_get(o, "packets")), 16);
	/* every other PSN went to the other pair */
	assert_int_equal(json_integer_value(json_object_get(o, "psn_gaps")), 15);
	assert_int_equal(json_integer_value(json_object_get(o, "psn_duplicates")), 0);
	json_decref(all);
	testbed_free(t);
}

/* More flows than a policy may have go by hash and are counted; a policy without a table is not affected. */
static void too_many(void **state)
{
	struct testbed *t = testbed_new(HEAD(TESTBED_ONE_LCORE) POLICIES("flows: 64"));
	struct flow_counters sum;
	unsigned int both = 0;

	(void)state;
	testbed_settle(t, 100);
	place(t, 1000, "five");
	assert_int_equal(leaves(t, 1000), 1 << S5);
	for (uint16_t i = 0; i < 640; i++)
		both |= leaves(t, (uint16_t)(2000 + i));
	assert_int_equal(both, 1 << S5 | 1 << S6);
	assert_int_equal(leaves(t, 1000), 1 << S5);
	sum = steer_counters(t->node);
	assert_int_equal(sum.flows, 64);
	assert_int_equal(sum.full, 640 - 63);
	assert_true(leaves_to(t, 2000, "2001:db8:4::33") != 0);
	assert_int_equal(steer_counters(t->node).flows, 64);
	check_shown(t, "show flows counters", "full:       577");
	/* new flows crowd out those that are silent, but not one that is placed */
	testbed_pass(t, 2 * NSEC_PER_SEC, NSEC_PER_SEC);
	for (uint16_t i = 0; i < 64; i++)
		leaves(t, (uint16_t)(4000 + i));
	assert_true(steer_counters(t->node).evicted >= 48);
	check_shown(t, "show flows sport=1000", "five");
	/* after a time of silence their places are free again */
	testbed_pass(t, 31 * NSEC_PER_SEC, NSEC_PER_SEC);
	for (uint16_t i = 0; i < 64; i++)
		leaves(t, 1000);
	assert_int_equal(steer_counters(t->node).flows, 1);
	assert_int_equal(leaves(t, 1000), 1 << S5);
	testbed_free(t);
}

/* Two flows with the same tag in the same bucket: each has its own path and its own counters. */
struct twin {
	uint32_t tag, bucket;
	uint16_t sport;
	char dst[20];
};

static int by_tag(const void *a, const void *b)
{
	const struct twin *x = a, *y = b;

	return x->tag != y->tag ? (x->tag > y->tag) - (x->tag < y->tag)
				: (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

static void same_tag(void **state)
{
	enum { HOSTS = 16, N = HOSTS * 32768 };
	struct testbed *t = testbed_new(HEAD(TESTBED_ONE_LCORE) POLICIES("flows: 64"));
	struct twin *twin = calloc(N, sizeof(*twin)), *found = NULL;
	const struct flow_table *table;
	char text[256], err[128];
	uint16_t ai = 0;

	(void)state;
	testbed_settle(t, 100);
	while (strcmp(steer_vrf_name(t->node->snapshot, ai), "ai"))
		ai++;
	table = node_steer(t->node)->rx[0].table;
	for (uint32_t i = 0; i < N; i++) {
		struct twin *w = &twin[i];
		struct steer_key key;
		char vrf[STEER_NAME];
		uint64_t hash;

		w->sport = (uint16_t)(i / HOSTS + 2);
		snprintf(w->dst, sizeof(w->dst), "2001:db8:3::%x", i % HOSTS + 1);
		snprintf(text, sizeof(text), "vrf=ai,src=2001:db8:1::11,dst=%s,sport=%u", w->dst, w->sport);
		assert_int_equal(steer_key_parse(text, &key, vrf, err, sizeof(err)), 0);
		key.vrf = ai;
		hash = steer_hash(&key, &table->secret);
		w->tag = flow_tag(hash);
		w->bucket = flow_bucket(table, hash);
	}
	qsort(twin, N, sizeof(*twin), by_tag);
	for (uint32_t i = 1; i < N && !found; i++)
		if (!by_tag(&twin[i - 1], &twin[i]))
			found = &twin[i - 1];
	assert_non_null(found);
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "path place vrf=ai,src=2001:db8:1::11,dst=%s,sport=%u p %s", found[i].dst,
			found[i].sport, i ? "six" : "five");
		run(t, text);
	}
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(leaves_to(t, found[i % 2].sport, found[i % 2].dst), 1 << (i % 2 ? S6 : S5));
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "show flows dst=%s,sport=%u -j", found[i].dst, found[i].sport);
		check_shown(t, text, "\"packets\": 3");
	}
	free(twin);
	testbed_free(t);
}

/* Packets that are queued when their flow is moved leave whole: none is dropped, and none is lost. 100,000 placements at once. */
static void many_at_once(void **state)
{
	enum { N = 100000 };
	struct testbed *t = testbed_new(
		HEAD("lcores: {control: 0, rx: [1], worker: [2]}\nmemory: {buffers: 24K}\n") POLICIES("flows: 64K"));
	struct place_wish *w = calloc(N, sizeof(*w));
	char err[256] = "";
	size_t wrong;

	(void)state;
	testbed_settle(t, 100);
	for (uint32_t i = 0; i < N; i++) {
		char text[128];

		snprintf(text, sizeof(text), "vrf=ai,src=2001:db8:1::%x,dst=2001:db8:3::33,sport=%u", 0x11 + i / 50000,
			i % 50000);
		assert_int_equal(steer_key_parse(text, &w[i].key, w[i].vrf, err, sizeof(err)), 0);
		strcpy(w[i].policy, "p");
		strcpy(w[i].path, i % 2 ? "five" : "six");
	}
	check(steer_place(t->node, w, N, false, &wrong, err, sizeof(err)) == 0, "%zu: %s", wrong, err);
	for (uint16_t i = 1000; i < 1100; i++)
		assert_int_equal(leaves(t, i), 1 << (i % 2 ? S5 : S6));
	for (uint32_t i = 0; i < N; i++)
		strcpy(w[i].path, i % 2 ? "six" : "five");
	for (uint16_t i = 1000; i < 1100; i++)
		send_psn(t, i, i, "2001:db8:3::33");
	check(steer_place(t->node, w, N, false, &wrong, err, sizeof(err)) == 0, "%zu: %s", wrong, err);
	testbed_settle(t, 50);
	for (unsigned int i = S5; i <= S6; i++)
		for (struct sent_frame *f; (f = fake_port_take(t->port[i]));)
			free(f);
	for (uint16_t i = 1000; i < 1100; i++)
		assert_int_equal(leaves(t, i), 1 << (i % 2 ? S6 : S5));
	node_tick(t->node, t->now);
	testbed_round(t);
	node_tick(t->node, t->now);
	assert_null(node_steer(t->node)->retired);
	free(w);
	testbed_free(t);
}

#define SPINES 8
#define ELEPHANTS 64
#define SEEDS 1000
#define EIGHT \
	HEAD(TESTBED_ONE_LCORE) \
	"policies:\n - {name: p, paths: [" PATH_OF(1) "," PATH_OF(2) "," PATH_OF(4) "," PATH_OF(5) "," PATH_OF( \
		6) "," PATH_OF(7) "," PATH_OF(8) "," PATH_OF(9) "]}\n - {name: q, " PATHS
#define PATH_OF(n) "{name: p" #n ", segments: [\"5f00:0:" #n "00::\", \"5f00:0:300::\"]}"

/* Of ELEPHANTS balls in SPINES bins: probability that no bin has more than `most`: n! / b^n times the coefficient of x^n of
 * (sum of x^k / k!, k <= most)^b. */
static double at_most(unsigned int most)
{
	double p[ELEPHANTS + 1] = {1}, q[ELEPHANTS + 1];

	/* x^k / k! of a bin, times n! / b^n over all bins: the factor of ball i is i / b */
	for (unsigned int bin = 0; bin < SPINES; bin++) {
		memset(q, 0, sizeof(q));
		for (unsigned int i = 0; i <= ELEPHANTS; i++) {
			double term = p[i];

			for (unsigned int k = 0; k <= most && i + k <= ELEPHANTS; k++) {
				q[i + k] += term;
				term *= (double)(i + k + 1) / SPINES / (k + 1);
			}
		}
		memcpy(p, q, sizeof(p));
	}
	return p[ELEPHANTS];
}

/* The most elephants on a spine, by the hash of their packets and the buckets of the policy. */
static unsigned int most_by_hash(const struct snap_policy *policy, uint64_t *random)
{
	unsigned int n[SPINES] = {0}, most = 0;

	for (unsigned int i = 0; i < ELEPHANTS; i++) {
		struct {
			struct ipv6_hdr ip;
			struct udp_hdr udp;
		} p = {.ip = {.next_header = IP_PROTO_UDP}};
		uint32_t hash;

		*random = *random * 6364136223846793005ull + 1442695040888963407ull;
		p.ip.src.b[15] = (uint8_t)(i / 8);
		p.ip.dst.b[15] = (uint8_t)(i % 8);
		p.udp.src_port = be16((uint16_t)(0xc000 | (*random >> 40 & 0x3fff)));
		p.udp.dst_port = be16(UDP_PORT_ROCEV2);
		hash = hash_flow6((const uint8_t *)&p, sizeof(p), 0);
		for (unsigned int k = 0; k < SPINES; k++)
			n[k] += policy->bucket[hash >> (32 - SNAP_POLICY_BUCKETS_LOG2)] == policy->path[k];
	}
	for (unsigned int k = 0; k < SPINES; k++)
		most = MAX_OF(most, n[k]);
	return most;
}

/*
 * 64 elephants over 8 spines (draft-filsfils section 1): by hash, the most loaded spine has as many as the fullest of 8 bins with
 * 64 balls, within 2 %; mean and 99th percentile. Placed, it has 8.
 */
static void balls_into_bins(void **state)
{
	struct testbed *t = testbed_new(EIGHT);
	unsigned int times[ELEPHANTS + 1] = {0}, below = 0, p99 = 0, exact99 = 0;
	double mean = 0, exact = 0;
	uint64_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < SEEDS; i++)
		times[most_by_hash(&t->node->snapshot->policy[0], &random)]++;
	for (unsigned int m = 1; m <= ELEPHANTS; m++) {
		mean += (double)(m * times[m]) / SEEDS;
		exact += m * (at_most(m) - at_most(m - 1));
		below += times[m];
		p99 = !p99 && below >= SEEDS * 99 / 100 ? m : p99;
		exact99 = !exact99 && at_most(m) >= 0.99 ? m : exact99;
	}
	check(mean > 0.98 * exact && mean < 1.02 * exact, "mean %f, closed form %f", mean, exact);
	check(p99 + 1 >= exact99 && p99 <= exact99 + 1, "p99 %u, closed form %u", p99, exact99);
	check(exact > 12.23 && exact < 12.24 && exact99 == 17, "closed form %f, %u", exact, exact99);
	testbed_free(t);
}

/* A trace says which path the flow is placed on. */
static void traced(void **state)
{
	struct testbed *t = testbed_new(NODE);

	(void)state;
	testbed_settle(t, 100);
	place(t, 1000, leaves(t, 1000) == 1 << S5 ? "six" : "five");
	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		node_lcore_leave(t->node->lcore[i]); /* a trace begins after a grace period */
	run(t, "trace add 1");
	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		node_lcore_enter(t->node->lcore[i]);
	check(leaves(t, 1000) != 0, "nothing left");
	node_tick(t->node, t->now);
	check_shown(t, "show trace -j", "\"step\": \"placed\"");
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(placed),
		cmocka_unit_test(label_stays),
		cmocka_unit_test(all_or_nothing),
		cmocka_unit_test(survive_reloads),
		cmocka_unit_test(path_fails),
		cmocka_unit_test(drained),
		cmocka_unit_test(queue_pairs),
		cmocka_unit_test(too_many),
		cmocka_unit_test(same_tag),
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(traced),
		cmocka_unit_test(balls_into_bins),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("steer_node", tests, NULL, NULL);
}
