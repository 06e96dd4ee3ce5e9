/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows as text, RoCEv2 headers, tables of flows and placements, without packets of a node. */
#include "test/support/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "steer/flow_table.h"
#include "steer/place_store.h"
#include "steer/placements.h"
#include "wire/roce.h"

static const struct steer_secret secret = {0x1234567890abcdefull, 0xfedcba0987654321ull};

static struct steer_key key_of(const char *text)
{
	char vrf[STEER_NAME], err[256] = "";
	struct steer_key k;

	check(steer_key_parse(text, &k, vrf, err, sizeof(err)) == 0, "%s: %s", text, err);
	return k;
}

static struct steer_key flow_number(uint32_t i)
{
	char text[128];

	snprintf(text, sizeof(text), "src=10.%u.%u.%u,dst=10.9.9.9,sport=49152", i >> 16 & 255, i >> 8 & 255, i & 255);
	return key_of(text);
}

/* A flow as text is what it was read from, with what was left out. */
static void texts(void **state)
{
	static const struct {
		const char *in, *out;
	} good[] = {
		{"src=10.0.0.1,dst=10.0.1.1,sport=49152", "src=10.0.0.1,dst=10.0.1.1,proto=udp,sport=49152,dport=4791"},
		{"vrf=blue,src=2001:db8::1,dst=2001:db8::2,proto=tcp,sport=1,dport=65535",
			"vrf=blue,src=2001:db8::1,dst=2001:db8::2,proto=tcp,sport=1,dport=65535"},
		{"src=10.0.0.1,dst=10.0.1.1,qp=0x11", "src=10.0.0.1,dst=10.0.1.1,qp=0x11"},
		{"src=10.0.0.1,dst=10.0.1.1,proto=89", "src=10.0.0.1,dst=10.0.1.1,proto=89"},
	};
	static const char *const bad[][2] = {{"", "src is missing"}, {"src=10.0.0.1", "dst is missing"},
		{"src=10.0.0.1,dst=10.0.1.1", "sport is missing"},
		{"src=10.0.0.1,dst=::1,sport=1", "different families"},
		{"src=10.0.0.1,dst=10.0.1.1,sport=65536", "0 to 65535"},
		{"src=10.0.0.1,dst=10.0.1.1,sport=1,qp=1", "give it alone"}, {"sorc=10.0.0.1", "did you mean 'src'"},
		{"src", "key=value is needed"}, {"src=10.0.0.1,src=10.0.0.1", "given twice"},
		{"src=10.0.0.1,dst=10.0.1.1,qp=0x1000000", "16777215"},
		{"src=10.0.0.1,dst=10.0.1.1,proto=tcp,sport=1", "dport"},
		{"src=10.0.0,dst=10.0.1.1,sport=1", "not an IP address"},
		{"policy=p,src=1.1.1.1,dst=1.1.1.2,qp=1", "unknown key"},
		{"src=10.0.0.1,dst=10.0.1.1,proto=89,sport=1", "no ports"}};
	char vrf[STEER_NAME], err[256], text[STEER_TEXT];
	struct steer_key k;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		check(steer_key_parse(good[i].in, &k, vrf, err, sizeof(err)) == 0, "%s: %s", good[i].in, err);
		steer_key_format(&k, vrf, text);
		check(strcmp(text, good[i].out) == 0, "'%s' is '%s'", good[i].in, text);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		err[0] = '\0';
		check(steer_key_parse(bad[i][0], &k, vrf, err, sizeof(err)) < 0, "'%s' was accepted", bad[i][0]);
		check(strstr(err, bad[i][1]) != NULL, "'%s': '%s' does not say '%s'", bad[i][0], err, bad[i][1]);
	}
}

static bool passes(const char *filter, const char *flow, const char *vrf, const char *policy, const char *path)
{
	struct steer_filter f;
	struct steer_key k = key_of(flow);
	char err[256] = "";

	check(steer_filter_parse(filter, &f, err, sizeof(err)) == 0, "%s: %s", filter, err);
	return steer_filter_matches(&f, &k, vrf, policy, path);
}

static void filters(void **state)
{
	static const char flow[] = "src=10.0.0.1,dst=10.0.1.1,sport=5", pair[] = "src=10.0.0.1,dst=10.0.1.1,qp=5";

	(void)state;
	assert_true(passes("", flow, "v", "p", "a"));
	assert_true(passes("src=10.0.0.1,sport=5,policy=p,path=a,vrf=v", flow, "v", "p", "a"));
	assert_false(passes("src=10.0.0.2", flow, "v", "p", "a"));
	assert_false(passes("src=2001:db8::1", flow, "v", "p", "a"));
	assert_false(passes("sport=6", flow, "v", "p", "a"));
	assert_false(passes("sport=5", pair, "v", "p", "a"));
	assert_false(passes("qp=5", flow, "v", "p", "a"));
	assert_true(passes("qp=5,proto=udp", pair, "v", "p", "a"));
	assert_false(passes("path=b", flow, "v", "p", "a"));
	assert_false(passes("vrf=w", flow, "v", "p", "a"));
}

/* Transport headers after UDP, cut at every byte: never read beyond the end, and never taken for something else. */
static void roce(void **state)
{
	static const struct {
		uint8_t opcode, flags, syndrome;
		enum roce_kind kind;
	} rows[] = {{0x04, 0x40, 0, ROCE_DATA}, {0x0a, 0, 0, ROCE_DATA}, {0x0c, 0, 0, ROCE_DATA},
		{0x10, 0, 0, ROCE_DATA}, {0x11, 0, 0x1f, ROCE_ACKS}, {0x12, 0, 0x1f, ROCE_ACKS},
		{0x11, 0, 0x60, ROCE_NAK_SEQUENCE}, {0x11, 0, 0x61, ROCE_NAK}, {0x11, 0, 0x20, ROCE_RNR},
		{0x11, 0, 0x3f, ROCE_RNR}, {0x11, 0, 0x40, ROCE_OTHER}, {0x11, 0, 0x64, ROCE_NAK},
		{0x12, 0, 0xe0, ROCE_NAK_SEQUENCE}, {0x13, 0, 0, ROCE_DATA}, {0x14, 0, 0, ROCE_DATA},
		{0x15, 0, 0, ROCE_OTHER}, {0x64, 0, 0, ROCE_OTHER}, {0x2a, 0, 0, ROCE_OTHER},
		{0x81, 0, 0, ROCE_CONGESTION}, {0x04, 0x01, 0, ROCE_NONE}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (uint32_t bytes = 0; bytes <= 28; bytes++) {
			uint8_t *at = malloc(bytes + 1);
			uint8_t whole[28] = {rows[i].opcode, rows[i].flags, 0, 0, 0xc0, 0x12, 0x34, 0x56, 0x80, 0xff,
				0xff, 0xff, rows[i].syndrome};
			uint8_t opcode = rows[i].opcode;
			uint32_t least = opcode == 0x11 || opcode == 0x12 ? 16 : opcode == 0x81 ? 28 : 12;
			struct roce r;

			memcpy(at, whole, bytes);
			r = roce_read(at, 0, bytes);
			check(r.kind == (bytes < least ? ROCE_NONE : rows[i].kind), "row %zu, %u bytes: kind %u", i,
				bytes, r.kind);
			if (r.kind != ROCE_NONE) {
				assert_int_equal(r.qp, 0x123456);
				assert_int_equal(r.psn, 0xffffff);
				assert_true(r.ack_request);
			}
			free(at);
		}
}

/* Options, fragments, other ports and other protocols. */
static void roce_in_ip(void **state)
{
	uint8_t f[100] = {0x45, 0, 0, 60, 0, 0, 0x40, 0, 64, 17};
	struct ipv6_hdr *six = (struct ipv6_hdr *)f;

	(void)state;
	f[22] = 0x12;
	f[23] = 0xb7;
	assert_int_equal(roce_find(f, 0, 4, 60), 28);
	assert_int_equal(roce_find(f, 0, 4, 27), 0);
	f[23] = 0xb8;
	assert_int_equal(roce_find(f, 0, 4, 60), 0);
	f[23] = 0xb7;
	f[6] = 0x20; /* more fragments */
	assert_int_equal(roce_find(f, 0, 4, 60), 0);
	f[6] = 0;
	f[7] = 9; /* not the first */
	assert_int_equal(roce_find(f, 0, 4, 60), 0);
	f[7] = 0;
	f[0] = 0x46; /* an option: what was the UDP header is not there */
	assert_int_equal(roce_find(f, 0, 4, 60), 0);
	f[26] = 0x12;
	f[27] = 0xb7;
	assert_int_equal(roce_find(f, 0, 4, 60), 32);
	f[9] = 6;
	assert_int_equal(roce_find(f, 0, 4, 60), 0);
	memset(f, 0, sizeof(f));
	six->vtc_flow = ipv6_vtc_flow(0, 0);
	six->next_header = IP_PROTO_UDP;
	f[42] = 0x12;
	f[43] = 0xb7;
	assert_int_equal(roce_find(f, 0, 6, 100), 48);
	six->next_header = 44; /* fragment header */
	assert_int_equal(roce_find(f, 0, 6, 100), 0);
}

/* PSNs that follow each other, are left out, come again, wrap, and belong to another queue pair. */
static void psns(void **state)
{
	struct flow_roce r = {0};

	(void)state;
	flow_count_psn(&r, 7, 0xfffffe);
	flow_count_psn(&r, 7, 0xffffff);
	flow_count_psn(&r, 7, 0);
	assert_int_equal(r.gaps, 0);
	flow_count_psn(&r, 7, 3);
	assert_int_equal(r.gaps, 2);
	flow_count_psn(&r, 7, 1);
	flow_count_psn(&r, 7, 2);
	assert_int_equal(r.duplicates, 2);
	flow_count_psn(&r, 7, 4);
	assert_int_equal(r.gaps, 2);
	flow_count_psn(&r, 8, 1000);
	flow_count_psn(&r, 8, 1001);
	assert_int_equal(r.gaps, 2);
	assert_int_equal(r.duplicates, 2);
}

static struct flow *insert(struct flow_table *t, uint32_t i, uint16_t share, uint32_t most, uint32_t now)
{
	struct steer_key k = flow_number(i);

	return flow_insert(t, &k, steer_hash(&k, &t->secret), share, most, now);
}

static struct flow *find(struct flow_table *t, uint32_t i)
{
	struct steer_key k = flow_number(i);

	return flow_find(t, &k, steer_hash(&k, &t->secret));
}

/* As many flows as the table is made for find a place, and are found again; a million take less than 96 MB. */
static void all_fit(void **state)
{
	enum { N = 100000 };
	struct flow_table *t = flow_table_new(N, FLOW_WITH_ROCE, &secret, 1000000000);
	unsigned int found = 0;
	struct flow_seen f;

	(void)state;
	assert_non_null(t);
	for (uint32_t i = 0; i < N; i++)
		assert_non_null(insert(t, i, 1, N, 0));
	for (uint32_t i = 0; i < N; i++)
		assert_non_null(find(t, i));
	assert_null(find(t, N));
	assert_null(insert(t, N, 1, N, 0));
	assert_int_equal(t->count.full, 1);
	assert_int_equal(t->count.flows, N);
	for (uint32_t i = 0; i < flow_table_places(t); i++)
		found += flow_table_read(t, i, &f);
	assert_int_equal(found, N);
	flow_table_free(t);
	check(flow_table_memory(1000000, 0) <= 96000000, "%llu bytes",
		(unsigned long long)flow_table_memory(1000000, 0));
}

/* Ten times more flows than a share holds: the other share keeps all of its own, and what was placed stays. */
static void floods_stay_at_home(void **state)
{
	struct flow_table *t = flow_table_new(2000, 0, &secret, 30000000000ull);
	uint32_t second = (1000000000u >> FLOW_TICK_SHIFT) + 1, refused = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		assert_non_null(insert(t, i, 1, 1000, 0));
	for (uint32_t i = 1000; i < 2000; i++)
		insert(t, i, 2, 1000, 0)->bucket = i % 2 ? FLOW_BY_HASH : 3;
	for (uint32_t i = 2000; i < 12000; i++)
		refused += !insert(t, i, 2, 1000, 10);
	assert_int_equal(refused, 10000); /* all others have sent within the last second */
	for (uint32_t i = 12000; i < 22000; i++)
		insert(t, i, 2, 1000, second);
	check(t->count.evicted > 300 && t->count.evicted <= 500, "%llu evicted", (unsigned long long)t->count.evicted);
	assert_int_equal(t->in_share[2], 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_non_null(find(t, i));
	for (uint32_t i = 1000; i < 2000; i += 2)
		assert_non_null(find(t, i));
	flow_table_free(t);
}

/* The hand frees the places of idle flows, and no others; the counts of shares and paths follow. Times wrap. */
static void hand_passes(void **state)
{
	struct flow_table *t = flow_table_new(64, 0, &secret, 1000000000);
	uint32_t start = UINT32_MAX - 5, idle = t->idle;

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		flow_change_path(t, insert(t, i, 1, 64, start), 9);
	for (uint32_t i = 0; i < 32; i++)
		find(t, i)->seen = start + idle;
	for (uint32_t i = 0; i < t->n_buckets; i++)
		flow_pass(t, start + idle);
	for (uint32_t i = 0; i < 64; i++)
		assert_true((find(t, i) != NULL) == (i < 32));
	assert_int_equal(t->count.expired, 32);
	assert_int_equal(t->in_share[1], 32);
	assert_int_equal(t->on_path[9], 32);
	assert_int_equal(t->on_path[0], 0);
	flow_table_free(t);
}

static struct placement_change change_of(uint32_t i, uint32_t path, uint32_t order)
{
	struct placement_change c = {.to = {.key = flow_number(i), .path = path}, .order = order};

	c.hash = steer_hash(&c.to.key, &secret);
	return c;
}

static uint32_t path_in(const struct placements *p, uint32_t i)
{
	struct steer_key k = flow_number(i);
	const struct placement *x = placements_find(p, &k, steer_hash(&k, &secret));

	return x ? x->path : STEER_NO_PATH;
}

/* Many changes at once, then others, some of them removals: the old object is what it was, and the new one what it should be. */
static void placements_change_whole(void **state)
{
	enum { N = 20000 };
	struct placement_change *c = calloc(N, sizeof(*c));
	struct placements *a, *b;
	unsigned int same = 0;
	void **gone;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		c[i] = change_of(i, i % 7, i);
	a = placements_change(NULL, c, N, &secret, &gone);
	placements_free_regions(gone);
	assert_int_equal(a->n, N);
	for (uint32_t i = 0; i < 100; i++)
		c[i] = change_of(i, i % 2 ? STEER_REMOVED : 100 + i, i);
	c[100] = change_of(0, 55, 1000); /* the last change of a flow counts */
	b = placements_change(a, c, 101, &secret, &gone);
	assert_int_equal(b->n, N - 50);
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(path_in(a, i), i % 7);
		assert_int_equal(path_in(b, i), i >= 100 ? i % 7 : i % 2 ? STEER_NO_PATH : i ? 100 + i : 55);
	}
	for (uint32_t i = 0; i < STEER_REGIONS; i++) {
		same += a->region[i] == b->region[i];
		assert_true((a->region[i] == b->region[i]) == (a->version[i] == b->version[i]));
	}
	check(same >= STEER_REGIONS - 101 && same < STEER_REGIONS, "%u regions are shared", same);
	free(a);
	placements_free_regions(gone);
	placements_free(b);
	free(c);
}

/* The store of names: upsert, removal, growth. */
static void store(void **state)
{
	struct place_store s = {0};
	struct place_wish w = {.policy = "p", .path = "a"}, out;

	(void)state;
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 3000; i++) {
			w.key = flow_number(i);
			snprintf(w.vrf, sizeof(w.vrf), "v%u", i % 3);
			snprintf(w.path, sizeof(w.path), "%c", round && i % 2 ? 'b' : 'a');
			assert_int_equal(place_store_reserve(&s, &w, 1), 0);
			place_store_put(&s, &w);
		}
	assert_int_equal(s.n, 3000);
	for (uint32_t i = 0; i < 3000; i += 3) {
		struct steer_key k = flow_number(i);

		assert_false(place_store_remove(&s, &k, "v1"));
		assert_true(place_store_remove(&s, &k, "v0"));
		assert_false(place_store_remove(&s, &k, "v0"));
	}
	assert_int_equal(s.n, 2000);
	w.key = flow_number(4);
	assert_true(place_store_find(&s, &w.key, "v1", &out));
	assert_string_equal(out.path, "a");
	w.key = flow_number(7);
	assert_true(place_store_find(&s, &w.key, "v1", &out));
	assert_string_equal(out.path, "b");
	assert_string_equal(out.vrf, "v1");
	place_store_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(filters),
		cmocka_unit_test(roce),
		cmocka_unit_test(roce_in_ip),
		cmocka_unit_test(psns),
		cmocka_unit_test(all_fit),
		cmocka_unit_test(floods_stay_at_home),
		cmocka_unit_test(hand_passes),
		cmocka_unit_test(placements_change_whole),
		cmocka_unit_test(store),
	};

	return cmocka_run_group_tests_name("steer", tests, NULL, NULL);
}
