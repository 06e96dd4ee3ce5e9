/* SPDX-License-Identifier: BSD-3-Clause */
/* Building forwarding state: the direct index, ids over reloads, shared tables, encapsulation headers. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/config.h"
#include "snapshot/build.h"
#include "test/support/conf.h"
#include "test/support/testbed.h"
#include "wire/srh.h"

#define NODE \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [0], worker: [0]}\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\", 10.9.0.1/24]}\n" \
	"  - {name: p1, device: net_null1, side: dc, vrf: red, addresses: [10.1.0.1/24]}\n"

static const struct snapshot_port_info info[2] = {
	{{{0x02, 0, 0, 0, 0xd0, 0}}},
	{{{0x02, 0, 0, 0, 0xd0, 1}}},
};

static struct snapshot *build(struct snapshot_registry *r, struct config **c, const char *yaml,
	const struct snapshot *old)
{
	char err[256] = "";
	struct snapshot *s;

	/* not checked: some paths lead nowhere here */
	*c = conf_load(CONF_LOAD, yaml);
	s = snapshot_build(r, *c, info, old, err, sizeof(err));
	check(s, "%s", err);
	return s;
}

static struct ipv6_addr addr6(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a.v6;
}

/* Every id of the index says what the longest match says, or says that it must be asked. */
static void direct_index_equals_longest_match(void **state)
{
	static const char yaml[] = NODE
		"vrfs: [{name: red}]\n"
		"routes:\n"
		"  - {prefix: \"::/0\", port: p0, nexthop: \"fe80::1\"}\n"
		"  - {prefix: \"5f00::/16\", port: p0, nexthop: \"fe80::2\"}\n"
		"  - {prefix: \"5f00:0:4000::/34\", port: p0, nexthop: \"fe80::3\"}\n"
		"  - {prefix: \"5f00:0:500::/40\", port: p0, nexthop: \"fe80::4\"}\n"
		"  - {prefix: \"5f00:0:501::/48\", port: p0, nexthop: \"fe80::5\"}\n"
		"  - {prefix: \"5f00:0:600:1::/64\", port: p0, nexthop: \"fe80::6\"}\n"
		"  - {prefix: \"5f00:1::/32\", port: p0, nexthop: \"fe80::7\"}\n"
		"sids:\n"
		"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n"
		"  - {sid: \"5f00:0:100:e001::/64\", behavior: uA, port: p0, nexthop: \"fe80::8\"}\n"
		"  - {sid: \"5f00:0:e002::/48\", behavior: uDT46, vrf: red}\n";
	struct snapshot_registry r;
	struct snapshot *s;
	struct config *c;

	(void)state;
	assert_int_equal(snapshot_registry_init(&r), 0);
	s = build(&r, &c, yaml, NULL);
	for (uint32_t id = 0; id < 65536; id++) {
		struct ipv6_addr a = ipv6_from(0x5f00000000000000ull | (uint64_t)id << 16, 0);
		target_t t = s->usid.entry[id], want = fib_lookup6(s->vrf[VRF_UNDERLAY].v6, &a);

		if (id == 0x600)
			assert_int_equal(target_kind(t), TARGET_LPM);
		else if (id == 0x100)
			assert_int_equal(target_kind(t), TARGET_SUBTABLE);
		else
			check(t == want, "id %04x: index %x, longest match %x", id, t, want);
	}
	for (uint32_t second = 0; second < 65536; second++) {
		struct ipv6_addr a = ipv6_from(0x5f00000001000000ull | second, 0);

		check(s->usid.subtable[0][second] == fib_lookup6(s->vrf[VRF_UNDERLAY].v6, &a), "second id %04x",
			second);
	}
	snapshot_free(s);
	cfg_free(c);
	snapshot_registry_fini(&r);
}

/* A reload that adds and removes leaves the ids of what stays, and shares tables that did not change. */
static void ids_and_tables_survive(void **state)
{
	static const char before[] = NODE "vrfs: [{name: red, routes: [{prefix: 10.2.0.0/16, policy: b}]}]\n"
					  "routes: [{prefix: \"5f00:0:500::/48\", port: p0, nexthop: \"fe80::5\"}]\n"
					  "policies:\n"
					  "  - {name: a, paths: [{name: x, segments: [\"5f00:0:500::\"]}]}\n"
					  "  - {name: b, paths: [{name: x, segments: [\"5f00:0:500::\"]}]}\n";
	static const char after[] = NODE
		"vrfs: [{name: blue}, {name: red, routes: [{prefix: 10.2.0.0/16, policy: b}]}]\n"
		"routes: [{prefix: \"5f00:0:400::/48\", port: p0, nexthop: \"fe80::4\"},\n"
		"  {prefix: \"5f00:0:500::/48\", port: p0, nexthop: \"fe80::5\"}]\n"
		"policies:\n"
		"  - {name: c, paths: [{name: x, segments: [\"5f00:0:400::\"]}]}\n"
		"  - {name: b, paths: [{name: x, segments: [\"5f00:0:500::\"]}]}\n";
	struct snapshot_registry r;
	struct snapshot *s1, *s2;
	struct config *c1, *c2;
	uint32_t red = 0;

	(void)state;
	assert_int_equal(snapshot_registry_init(&r), 0);
	s1 = build(&r, &c1, before, NULL);
	s2 = build(&r, &c2, after, s1);
	assert_true(s2->generation == s1->generation + 1);
	for (uint32_t i = 1; i < s2->n_vrfs; i++)
		if (s2->vrf[i].name && strcmp(s2->vrf[i].name, "red") == 0)
			red = i;
	assert_string_equal(s1->vrf[red].name, "red");
	/* the table of red says "policy number 1" in both files, so it is the same one */
	assert_ptr_equal(s1->vrf[red].v4, s2->vrf[red].v4);
	assert_ptr_not_equal(s1->vrf[VRF_UNDERLAY].v6, s2->vrf[VRF_UNDERLAY].v6);
	assert_string_equal(s1->path[1].policy, "b");
	assert_string_equal(s2->path[1].policy, "b");
	assert_string_equal(s2->path[2].policy, "c");
	assert_true(ip_addr_equal(&s1->neigh[0].addr, &s2->neigh[0].addr));
	snapshot_free(s1);
	cfg_free(c1);
	/* shared tables live on */
	assert_int_not_equal(fib_lookup4(s2->vrf[red].v4, 0x0a020001), 0);
	snapshot_free(s2);
	cfg_free(c2);
	snapshot_registry_fini(&r);
}

#define WAY(prefix, via) "  - {prefix: \"" prefix "\", port: p0, nexthop: \"fe80::" via "\"}\n"

/* ECMP groups keep their numbers while others come and go, so that a table with groups is shared like any other. */
static void tables_with_groups_survive(void **state)
{
	static const char before[] = NODE
		"vrfs: [{name: red, routes: [{prefix: 10.2.0.0/16, port: p0, nexthop: 10.9.0.2},\n"
		"  {prefix: 10.2.0.0/16, port: p0, nexthop: 10.9.0.3}]}]\n"
		"routes:\n" WAY("2001:db8:1::/48", "1") WAY("2001:db8:1::/48", "2");
	static const char after[] = NODE
		"vrfs: [{name: red, routes: [{prefix: 10.2.0.0/16, port: p0, nexthop: 10.9.0.2},\n"
		"  {prefix: 10.2.0.0/16, port: p0, nexthop: 10.9.0.3}]}]\n"
		"routes:\n" WAY("2001:db8:7::/48", "3") WAY("2001:db8:7::/48", "4") WAY("2001:db8:8::/48", "3")
			WAY("2001:db8:8::/48", "4") WAY("2001:db8:9::/48", "3") WAY("2001:db8:9::/48", "5");
	struct snapshot_registry r;
	struct snapshot *s[4];
	struct config *c[4];
	uint32_t red = 0;
	target_t t;

	(void)state;
	assert_int_equal(snapshot_registry_init(&r), 0);
	for (unsigned int i = 0; i < 4; i++)
		s[i] = build(&r, &c[i], i < 2 ? before : after, i ? s[i - 1] : NULL);
	assert_int_equal(ids_find(r.vrfs, "red", &red), 0);
	for (unsigned int i = 1; i < 4; i++)
		check(s[i]->vrf[red].v4 == s[0]->vrf[red].v4, "snapshot %u made the table of red again", i);
	assert_ptr_equal(s[0]->vrf[VRF_UNDERLAY].v6, s[1]->vrf[VRF_UNDERLAY].v6);
	assert_ptr_not_equal(s[1]->vrf[VRF_UNDERLAY].v6, s[2]->vrf[VRF_UNDERLAY].v6);
	assert_ptr_equal(s[2]->vrf[VRF_UNDERLAY].v6, s[3]->vrf[VRF_UNDERLAY].v6);
	assert_int_equal(s[0]->n_groups, 2);
	assert_int_equal(s[3]->n_groups, 4);
	t = fib_lookup4(s[3]->vrf[red].v4, 0x0a020001);
	assert_int_equal(target_kind(t), TARGET_GROUP);
	assert_int_equal(s[3]->group[target_index(t)].n, 2);
	assert_memory_equal(&s[3]->group[target_index(t)], &s[0]->group[target_index(t)], sizeof(struct snap_group));
	/* the number that the underlay's old group had is free, and the next group takes it */
	assert_int_equal(s[2]->group[0].n, 0);
	for (unsigned int i = 0; i < 4; i++) {
		snapshot_free(s[i]);
		cfg_free(c[i]);
	}
	snapshot_registry_fini(&r);
}

static void own_and_connected_addresses(void **state)
{
	static const char yaml[] = NODE "vrfs: [{name: red}]\n";
	struct ipv6_addr a;
	struct snapshot_registry r;
	struct snapshot *s;
	struct config *c;

	(void)state;
	assert_int_equal(snapshot_registry_init(&r), 0);
	s = build(&r, &c, yaml, NULL);
	a = addr6("2001:db8:a::2");
	assert_int_equal(fib_lookup6(s->vrf[0].v6, &a), target(TARGET_LOCAL, 0));
	a = addr6("2001:db8:a::3");
	assert_int_equal(fib_lookup6(s->vrf[0].v6, &a), target(TARGET_LINK, 0));
	a = addr6("fd00::d");
	assert_int_equal(fib_lookup6(s->vrf[0].v6, &a), target(TARGET_LOCAL, PORT_LOCAL));
	assert_int_equal(fib_lookup4(s->vrf[0].v4, 0x0a090001), target(TARGET_LOCAL, 0));
	assert_int_equal(fib_lookup4(s->vrf[0].v4, 0x0a0900fe), target(TARGET_LINK, 0));
	/* RFC 2644: directed broadcasts go nowhere */
	assert_int_equal(target_kind(fib_lookup4(s->vrf[0].v4, 0x0a0900ff)), TARGET_BROADCAST);
	/* the tenant's subnet is in the tenant's table alone */
	assert_int_equal(fib_lookup4(s->vrf[0].v4, 0x0a010005), 0);
	assert_int_equal(fib_lookup4(s->vrf[1].v4, 0x0a010005), target(TARGET_LINK, 1));
	snapshot_free(s);
	cfg_free(c);
	snapshot_registry_fini(&r);
}

/* RFC 8754 section 4.1.1, written out by hand for lists of one, two and three addresses. */
static void reduced_headers(void **state)
{
	static const struct {
		const char *segments, *header;
	} rows[] = {
		{"[\"5f00:0:500::\"]", "60000000 0000 00 40 fd00000000000000000000000000000d"
				       "5f000000050000000000000000000000"},
		{"[\"5f00:0:500::\", \"5f00:1:2:3::\"]",
			"60000000 0000 2b 40 fd00000000000000000000000000000d 5f000000050000000000000000000000"
			"00 02 04 01 00 00 0000 5f000001000200030000000000000000"},
		{"[\"5f00:1:2:3::\", \"5f00:0:500::\", \"5f00:0:600::\", \"5f00:1:2:4::\"]",
			"60000000 0000 2b 40 fd00000000000000000000000000000d 5f000001000200030000000000000000"
			"00 04 04 02 01 00 0000 5f000001000200040000000000000000 5f000000050006000000000000000000"},
	};
	char yaml[1024];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct snapshot_registry r;
		struct snapshot *s;
		struct config *c;

		snprintf(yaml, sizeof(yaml),
			NODE "vrfs: [{name: red}]\npolicies: [{name: a, paths: [{name: x, segments: "
			     "%s}]}]\n",
			rows[i].segments);
		assert_int_equal(snapshot_registry_init(&r), 0);
		s = build(&r, &c, yaml, NULL);
		check_bytes(rows[i].segments, s->path[0].header, s->path[0].bytes, rows[i].header);
		snapshot_free(s);
		cfg_free(c);
		snapshot_registry_fini(&r);
	}
}

/* Buckets follow the weights as closely as 64 of them can, and every path has one. */
static void buckets_follow_weights(void **state)
{
	static const struct {
		unsigned int weight[4], want[4];
	} rows[] = {
		{{1, 1, 1, 1}, {16, 16, 16, 16}},
		{{3, 1, 0, 0}, {48, 16, 0, 0}},
		{{1, 64, 0, 0}, {1, 63, 0, 0}},
		{{64, 1, 0, 0}, {63, 1, 0, 0}},
		{{1, 1, 1, 0}, {21, 22, 21, 0}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unsigned int got[4] = {0};
		struct snapshot_registry r;
		struct snapshot *s;
		struct config *c;
		char yaml[2048];
		int n = snprintf(yaml, sizeof(yaml), NODE "vrfs: [{name: red}]\npolicies:\n  - name: a\n    paths:\n");

		for (unsigned int k = 0; k < 4 && rows[i].weight[k]; k++)
			n += snprintf(yaml + n, sizeof(yaml) - (size_t)n,
				"      - {name: x%u, weight: %u, segments: [\"5f00:0:%u::\"]}\n", k, rows[i].weight[k],
				k + 1);
		assert_int_equal(snapshot_registry_init(&r), 0);
		s = build(&r, &c, yaml, NULL);
		for (unsigned int k = 0; k < SNAP_POLICY_BUCKETS; k++)
			got[s->policy[0].bucket[k]]++;
		for (unsigned int k = 0; k < 4; k++)
			check(got[k] == rows[i].want[k], "row %zu path %u: %u buckets, want %u", i, k, got[k],
				rows[i].want[k]);
		snapshot_free(s);
		cfg_free(c);
		snapshot_registry_fini(&r);
	}
}

/* A digit a path: its weight; b: a backup; -: none. */
static void write_paths(char *yaml, size_t size, const char *weights)
{
	int n = snprintf(yaml, size, "policies:\n  - name: a\n    paths:\n");

	for (unsigned int k = 0; weights[k]; k++)
		if (weights[k] != '-')
			n += snprintf(yaml + n, size - (size_t)n,
				"      - {name: x%u, weight: %c, backup: %s, segments: [\"5f00:0:%u::\"]}\n", k,
				weights[k] == 'b' ? '1' : weights[k], weights[k] == 'b' ? "true" : "false", k + 1);
}

static struct snapshot *build_weights(struct snapshot_registry *r, struct config **c, const char *weights,
	const struct snapshot *old)
{
	char yaml[2048];
	int n = snprintf(yaml, sizeof(yaml), NODE "vrfs: [{name: red}]\n");

	write_paths(yaml + n, sizeof(yaml) - (size_t)n, weights);
	return build(r, c, yaml, old);
}

/* A reload moves no more flows than the new weights ask for. */
static void buckets_stay(void **state)
{
	static const struct {
		const char *before, *after;
		unsigned int moved; /* of 64 */
	} rows[] = {
		{"11", "11", 0},
		{"11", "31", 16},
		{"31", "11", 16},
		{"111", "1-1", 22},
		{"1-1", "111", 22},
		{"1111", "111-", 16},
		{"11", "1b", 32},
		{"1b", "11", 32},
		{"1b", "b1", 64},
		{"1", "-1", 64},
		{"1234", "1235", 3},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unsigned int moved = 0, fresh[8] = {0}, kept[8] = {0};
		struct snapshot_registry r, r2;
		struct config *c[3];
		struct snapshot *old, *new, *other;

		assert_int_equal(snapshot_registry_init(&r), 0);
		assert_int_equal(snapshot_registry_init(&r2), 0);
		old = build_weights(&r, &c[0], rows[i].before, NULL);
		new = build_weights(&r, &c[1], rows[i].after, old);
		other = build_weights(&r2, &c[2], rows[i].after, NULL);
		for (unsigned int k = 0; k < SNAP_POLICY_BUCKETS; k++) {
			moved += old->policy[0].bucket[k] != new->policy[0].bucket[k];
			/* however it came about, each path has the share that its weight says */
			kept[new->path[new->policy[0].bucket[k]].name[1] - '0']++;
			fresh[other->path[other->policy[0].bucket[k]].name[1] - '0']++;
		}
		check(moved == rows[i].moved, "%s to %s: %u buckets moved, want %u", rows[i].before, rows[i].after,
			moved, rows[i].moved);
		assert_memory_equal(kept, fresh, sizeof(kept));
		snapshot_free(new);
		snapshot_free(old);
		snapshot_free(other);
		for (unsigned int k = 0; k < 3; k++)
			cfg_free(c[k]);
		snapshot_registry_fini(&r);
		snapshot_registry_fini(&r2);
	}
}

/* A path without a route carries nothing while another path has one; backups carry only when no other path has. */
static void paths_that_lead_nowhere(void **state)
{
	static const struct {
		const char *paths, *routed; /* as above; paths with a route */
		const char *carry;	    /* by path: tenths of the buckets, rounded; who carries more than none */
	} rows[] = {
		{"11", "12", "55"},
		{"11", "1", "A0"},
		{"11", "2", "0A"},
		{"11", "", "55"},
		{"1b", "12", "A0"},
		{"1b", "2", "0A"},
		{"1b", "1", "A0"},
		{"1b", "", "A0"},
		{"1bb", "23", "055"},
		{"1bb", "3", "00A"},
		{"11b", "23", "0A0"},
		{"91b", "123", "910"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct snapshot_registry r;
		struct config *c;
		struct snapshot *s;
		char yaml[4096];
		int n = snprintf(yaml, sizeof(yaml), NODE "vrfs: [{name: red}]\n%s",
			rows[i].routed[0] ? "routes:\n" : "");

		for (const char *k = rows[i].routed; *k; k++)
			n += snprintf(yaml + n, sizeof(yaml) - (size_t)n,
				"  - {prefix: \"5f00:0:%c::/48\", port: p0, nexthop: \"2001:db8:a::1\"}\n", *k);
		write_paths(yaml + n, sizeof(yaml) - (size_t)n, rows[i].paths);
		assert_int_equal(snapshot_registry_init(&r), 0);
		s = build(&r, &c, yaml, NULL);
		for (unsigned int p = 0; rows[i].paths[p]; p++) {
			unsigned int got = 0;
			int want = rows[i].carry[p] == 'A' ? 10 : rows[i].carry[p] - '0';

			for (unsigned int k = 0; k < SNAP_POLICY_BUCKETS; k++)
				got += s->path[s->policy[0].bucket[k]].name[1] - '0' == (int)p;
			check((int)(got * 10 + SNAP_POLICY_BUCKETS / 2) / SNAP_POLICY_BUCKETS == want && !got == !want,
				"%s, routes of %s: path %u has %u buckets", rows[i].paths, rows[i].routed, p, got);
		}
		snapshot_free(s);
		cfg_free(c);
		snapshot_registry_fini(&r);
	}
}

/*
 * rx lcores on two NUMA nodes: the second one has route and uSID tables of its own, which say the same. A reload shares those
 * that have not changed.
 */
static void tables_of_each_numa_node(void **state)
{
	static const char yaml[] = NODE
		"vrfs: [{name: red, routes: [{prefix: 10.7.0.0/16, port: p1, nexthop: 10.1.0.9}]}]\n"
		"routes: [{prefix: \"5f00:0:500::/48\", port: p0, nexthop: \"fe80::5\"}]\n"
		"sids:\n"
		"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n"
		"  - {sid: \"5f00:0:100:e001::/64\", behavior: uA, port: p0, nexthop: \"fe80::8\"}\n";
	const struct ipv6_addr to = addr6("5f00:0:500::1");
	struct snapshot *s, *next, *there;
	struct config *c, *c2;
	struct snapshot_registry r;

	(void)state;
	assert_int_equal(snapshot_registry_init(&r), 0);
	r.places = (struct snapshot_places){2, {0, 1}};
	s = build(&r, &c, yaml, NULL);
	there = s->near[1];
	assert_ptr_equal(s->near[0], s);
	assert_ptr_not_equal(there, s);
	for (uint32_t i = 0; i < s->n_vrfs; i++) {
		assert_ptr_not_equal(there->vrf[i].v4, s->vrf[i].v4);
		assert_int_equal(fib_node(s->vrf[i].v4), 0);
		assert_int_equal(fib_node(there->vrf[i].v4), 1);
		assert_int_equal(fib_lookup4(there->vrf[i].v4, 0x0a070101), fib_lookup4(s->vrf[i].v4, 0x0a070101));
	}
	assert_int_equal(target_kind(fib_lookup4(there->vrf[1].v4, 0x0a070101)), TARGET_NEIGH);
	assert_int_equal(target_kind(fib_lookup6(there->vrf[VRF_UNDERLAY].v6, &to)), TARGET_NEIGH);
	assert_ptr_not_equal(there->usid.entry, s->usid.entry);
	assert_memory_equal(there->usid.entry, s->usid.entry, 65536 * sizeof(target_t));
	assert_int_equal(there->usid.n_subtables, 1);
	assert_ptr_not_equal(there->usid.subtable[0], s->usid.subtable[0]);
	assert_memory_equal(there->usid.subtable[0], s->usid.subtable[0], (SNAP_SUBTABLE_BASE + 1) * sizeof(target_t));
	assert_ptr_equal(there->neigh, s->neigh);
	next = build(&r, &c2, yaml, s);
	assert_ptr_equal(next->near[1]->vrf[1].v4, there->vrf[1].v4);
	snapshot_set_epoch(next, 7);
	assert_true(next->epoch == 7 && next->near[1]->epoch == 7);
	snapshot_free(s);
	assert_int_equal(target_kind(fib_lookup4(next->near[1]->vrf[1].v4, 0x0a070101)), TARGET_NEIGH);
	snapshot_free(next);
	cfg_free(c);
	/* one node, or none that is known: one table */
	r.places = (struct snapshot_places){1, {1}};
	s = build(&r, &c, yaml, NULL);
	for (unsigned int i = 0; i < SNAP_PLACES; i++)
		assert_ptr_equal(s->near[i], s);
	snapshot_free(s);
	cfg_free(c);
	cfg_free(c2);
	snapshot_registry_fini(&r);
}

static void places_of_lcores(void **state)
{
	struct config *c = conf_load(CONF_LOAD,
		"node: {name: a, loopback: \"fd00::1\"}\nlcores: {control: 0, rx: [1, 2, 3], worker: [4]}\n"
		"ports: [{name: p, device: net_null0, side: dc}]\n");
	struct snapshot_places p;
	struct cfg_places where;

	(void)state;
	cfg_places_init(&where);
	snapshot_find_places(c, &where, &p);
	assert_int_equal(p.n, 0);
	where.lcore[1] = where.lcore[3] = 1;
	where.lcore[2] = 0;
	where.lcore[4] = 5; /* workers look nothing up in them */
	snapshot_find_places(c, &where, &p);
	assert_true(p.n == 2 && p.node[0] == 1 && p.node[1] == 0);
	assert_int_equal(snapshot_place_of(&p, 1), 0);
	assert_int_equal(snapshot_place_of(&p, 0), 1);
	assert_int_equal(snapshot_place_of(&p, 5), 0);
	cfg_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(direct_index_equals_longest_match),
		cmocka_unit_test(ids_and_tables_survive),
		cmocka_unit_test(tables_with_groups_survive),
		cmocka_unit_test(own_and_connected_addresses),
		cmocka_unit_test(reduced_headers),
		cmocka_unit_test(buckets_follow_weights),
		cmocka_unit_test(buckets_stay),
		cmocka_unit_test(paths_that_lead_nowhere),
		cmocka_unit_test(tables_of_each_numa_node),
		cmocka_unit_test(places_of_lcores),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
