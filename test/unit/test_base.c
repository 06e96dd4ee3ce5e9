/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/bucket.h"
#include "base/log.h"
#include "base/text.h"

/* --- arena --- */

#define PIECES 5000

static void arena_pieces(void **state)
{
	static uint8_t *piece[PIECES];
	size_t size[PIECES], total = 0;
	struct arena *a = arena_new();
	uint64_t random = 1;

	assert_non_null(a);
	for (unsigned int i = 0; i < PIECES; i++) {
		/* mostly small, now and then larger than a chunk */
		size[i] = i % 500 == 499 ? 100000 + i : unit_random(&random) % 200 + 1;
		total += size[i];
		piece[i] = arena_alloc(a, size[i]);
		assert_non_null(piece[i]);
		check((uintptr_t)piece[i] % alignof(max_align_t) == 0, "piece %u of %zu bytes", i, size[i]);
		for (size_t k = 0; k < size[i]; k++)
			check(piece[i][k] == 0, "piece %u, byte %zu", i, k);
		memset(piece[i], (int)(i & 0xff) | 1, size[i]);
	}
	/* no write reached a neighbouring piece */
	for (unsigned int i = 0; i < PIECES; i++)
		for (size_t k = 0; k < size[i]; k++)
			check(piece[i][k] == ((i & 0xff) | 1), "piece %u, byte %zu", i, k);
	assert_in_range(arena_used(a), total, total + PIECES * alignof(max_align_t));
	arena_free(a);
}

static void arena_edges(void **state)
{
	struct arena *a = arena_new();
	char *copy, word[] = "word";

	assert_non_null(a);
	assert_int_equal(arena_used(a), 0);
	assert_non_null(arena_alloc(a, 0));
	copy = arena_strdup(a, word);
	word[0] = 'W';
	assert_string_equal(copy, "word");
	assert_string_equal(arena_strdup(a, ""), "");
	/* sizes that wrap when they are rounded up, or when the chunk's head is added */
	assert_null(arena_alloc(a, SIZE_MAX));
	assert_null(arena_alloc(a, SIZE_MAX - 20));
	assert_null(arena_alloc(a, SIZE_MAX - 64));
	assert_non_null(arena_alloc(a, 1));
	arena_free(a);
	arena_free(NULL);
}

/* --- text --- */

static void numbers_parse(void **state)
{
	static const struct {
		const char *text;
		unsigned int base;
		int rc;
		uint64_t value;
	} rows[] = {
		{"0", 1024, 0, 0},
		{"7", 1024, 0, 7},
		{"0100", 1024, 0, 100}, /* decimal, not octal */
		{"0x10", 1024, 0, 16},
		{"0XfF", 1024, 0, 255},
		{"1K", 1024, 0, 1024},
		{"1k", 1000, 0, 1000},
		{"3M", 1024, 0, 3u << 20},
		{"3m", 1000, 0, 3000000},
		{"2G", 1024, 0, 2ull << 30},
		{"100G", 1000, 0, 100000000000},
		{"5T", 1024, 0, 5ull << 40},
		{"5t", 1000, 0, 5000000000000},
		{"0x10K", 1024, 0, 16384},
		{"0K", 1024, 0, 0},
		{"18446744073709551615", 1024, 0, UINT64_MAX},
		{"0xffffffffffffffff", 1024, 0, UINT64_MAX},
		{"16777215T", 1024, 0, 16777215ull << 40},
		{"18446744T", 1000, 0, 18446744000000000000ull},
		{"18446744073709551616", 1024, -ERANGE, 0},
		{"0x10000000000000000", 1024, -ERANGE, 0},
		{"16777216T", 1024, -ERANGE, 0},
		{"18446745T", 1000, -ERANGE, 0},
		{"18446744073709551615K", 1024, -ERANGE, 0},
		{"99999999999999999999999999K", 1024, -ERANGE, 0},
		{"", 1024, -EINVAL, 0},
		{"K", 1024, -EINVAL, 0},
		{"-1", 1024, -EINVAL, 0},
		{"+1", 1024, -EINVAL, 0},
		{" 1", 1024, -EINVAL, 0},
		{"1 ", 1024, -EINVAL, 0},
		{"1 K", 1024, -EINVAL, 0},
		{"1KB", 1024, -EINVAL, 0},
		{"1KK", 1024, -EINVAL, 0},
		{"1P", 1024, -EINVAL, 0},
		{"1.5", 1024, -EINVAL, 0},
		{"1e3", 1024, -EINVAL, 0},
		{"12a", 1024, -EINVAL, 0},
		{"0x", 1024, -EINVAL, 0},
		{"0xg", 1024, -EINVAL, 0},
		{"0x-1", 1024, -EINVAL, 0},
		{"x10", 1024, -EINVAL, 0},
		{"1\n", 1024, -EINVAL, 0},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t value = 4711;

		check(text_parse_number(rows[i].text, rows[i].base, &value) == rows[i].rc, "'%s'", rows[i].text);
		/* a refused text leaves the value alone */
		check(value == (rows[i].rc ? 4711 : rows[i].value), "'%s' gave %" PRIu64, rows[i].text, value);
	}
}

static void numbers_format(void **state)
{
	static const struct {
		uint64_t value;
		unsigned int base;
		const char *text;
	} rows[] = {
		{0, 1024, "0"},
		{1, 1024, "1"},
		{1000, 1024, "1000"},
		{1000, 1000, "1K"},
		{1023, 1024, "1023"},
		{1024, 1024, "1K"},
		{1025, 1024, "1025"},
		{1536, 1024, "1536"},
		{1048576, 1024, "1M"},
		{1048576 + 1024, 1024, "1025K"},
		{1ull << 30, 1024, "1G"},
		{1ull << 40, 1024, "1T"},
		{1ull << 50, 1024, "1024T"},
		{100000000000, 1000, "100G"},
		{UINT64_MAX, 1024, "18446744073709551615"},
		{16777215ull << 40, 1024, "16777215T"},
	};
	static const unsigned int bases[] = {1000, 1024};
	uint64_t random = 7, value, back;
	char buf[24];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		check_text("format", text_format_number(rows[i].value, rows[i].base, buf, sizeof(buf)), rows[i].text);
	/* a printed number reads as the same number again */
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int base = bases[i % 2];

		value = unit_random(&random);
		value = value << 32 | unit_random(&random);
		value >>= unit_random(&random) % 64;
		for (unsigned int k = unit_random(&random) % 4; k && value < UINT64_MAX / base; k--)
			value *= base;
		text_format_number(value, base, buf, sizeof(buf));
		check(text_parse_number(buf, base, &back) == 0 && back == value, "%s, base %u", buf, base);
	}
}

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned int edits;
	} rows[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"port", "port", 0},
		{"port", "PORT", 0},
		{"port", "ports", 1},
		{"port", "por", 1},
		{"port", "port-", 1},
		{"port", "part", 1},
		{"port", "prot", 1}, /* neighbours swapped: one edit, not two */
		{"ab", "ba", 1},
		{"abcd", "badc", 2},
		{"kitten", "sitting", 3},
		{"sluice", "", 6},
		{"policy", "vrf", 6},
	};
	char at63[64], at64[65];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		check(text_distance(rows[i].a, rows[i].b) == rows[i].edits, "%s %s", rows[i].a, rows[i].b);
		check(text_distance(rows[i].b, rows[i].a) == rows[i].edits, "%s %s", rows[i].b, rows[i].a);
	}
	memset(at63, 'x', 63);
	memset(at64, 'x', 64);
	at63[63] = at64[64] = '\0';
	assert_int_equal(text_distance(at63, at63), 0);
	assert_int_equal(text_distance(at63, ""), 63);
	assert_true(text_distance(at63, at64) >= 1000);
	assert_true(text_distance(at64, at64) >= 1000);
}

static void nearest_word(void **state)
{
	static const char *const words[] = {"node", "lcores", "memory", "ports", "neighbors", "routes",
		"neighbor-discovery"};
	static const struct {
		const char *text, *found;
	} rows[] = {
		{"ports", "ports"},
		{"port", "ports"},
		{"prots", "ports"},
		{"PORTS", "ports"},
		{"memroy", "memory"},
		{"lcore", "lcores"},
		{"neighbours", "neighbors"},
		{"neighbour-discovery", "neighbor-discovery"},
		{"x", NULL},
		{"", NULL},
		{"telemetry", NULL},
		{"nodes-and-ports", NULL},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		const char *found = text_nearest(rows[i].text, words, ARRAY_LEN(words));

		check_text(rows[i].text, found ? found : "(none)", rows[i].found ? rows[i].found : "(none)");
	}
	assert_null(text_nearest("ports", words, 0));
	/* a third of its length plus one: three of six letters may differ, not four */
	assert_non_null(text_nearest("abcxyz", (const char *const[]){"abcdef"}, 1));
	assert_null(text_nearest("abwxyz", (const char *const[]){"abcdef"}, 1));
	/* the nearer of two, and of equally near ones the first */
	assert_string_equal(text_nearest("route", (const char *const[]){"rout-x", "routes", "routed"}, 3), "routes");
}

/* --- bucket --- */

/* How many tokens are had by asking every `step` until nothing is left, from `from` to `to` inclusive. */
static uint64_t drain(struct bucket *b, uint64_t from, uint64_t to, uint64_t step, uint64_t rate, uint64_t burst)
{
	uint64_t taken = 0;

	for (uint64_t now = from; now <= to; now += step)
		while (bucket_take(b, now, rate, burst))
			taken++;
	return taken;
}

static void bucket_counts(void **state)
{
	static const struct {
		uint64_t rate, burst, step_ns, total_ns, expected;
	} rows[] = {
		{1000, 10, 1000000, NSEC_PER_SEC, 10 + 1000},
		{1000, 10, 10000, NSEC_PER_SEC, 10 + 1000},
		{1000, 10, 1, 5000000, 10 + 5},
		{1000, 1, 1000000, NSEC_PER_SEC, 1 + 1000},
		{100, 10, 1000000, 60 * NSEC_PER_SEC, 10 + 6000},
		{1, 1, NSEC_PER_MSEC, 100 * NSEC_PER_SEC, 1 + 100},
		{1000000, 100000, 10000, NSEC_PER_SEC, 100000 + 1000000},
		/* asked too seldom, what would not fit the bucket is lost */
		{1000, 10, 100 * NSEC_PER_MSEC, NSEC_PER_SEC, 10 + 10 * 10},
		/* one token a nanosecond is as fast as it gets */
		{2 * NSEC_PER_SEC, 5, 1, 1000, 5 + 1000},
		{1000, 0, 1000, NSEC_PER_SEC, 0},
		{0, 10, 1000, NSEC_PER_SEC, 0},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct bucket b = {0};
		uint64_t n = drain(&b, 0, rows[i].total_ns, rows[i].step_ns, rows[i].rate, rows[i].burst);

		check(n == rows[i].expected, "row %u: %" PRIu64 " tokens", i, n);
	}
}

/* The clock may have run for a long time before the first packet; a full bucket is full, not more. */
static void bucket_idle(void **state)
{
	struct bucket b = {0};
	uint64_t now = 400ull * 86400 * NSEC_PER_SEC;

	assert_int_equal(drain(&b, now, now, 1, 1000, 10), 10);
	assert_int_equal(drain(&b, now, now, 1, 1000, 10), 0);
	now += 10 * 365ull * 86400 * NSEC_PER_SEC;
	assert_int_equal(drain(&b, now, now, 1, 1000, 10), 10);
	/* half a token does not count, two halves are one */
	now += NSEC_PER_MSEC / 2;
	assert_int_equal(drain(&b, now, now, 1, 1000, 10), 0);
	now += NSEC_PER_MSEC / 2;
	assert_int_equal(drain(&b, now, now, 1, 1000, 10), 1);
	/* a refused question costs nothing */
	for (unsigned int i = 0; i < 1000; i++)
		assert_false(bucket_take(&b, now, 1000, 10));
	assert_int_equal(drain(&b, now + NSEC_PER_MSEC, now + NSEC_PER_MSEC, 1, 1000, 10), 1);
}

/* A reload may change rate and burst between two packets. */
static void bucket_reconfigured(void **state)
{
	struct bucket b = {0};
	uint64_t now = NSEC_PER_SEC;

	assert_int_equal(drain(&b, now, now, 1, 1000, 10), 10);
	assert_false(bucket_take(&b, now, 0, 10));
	/* the debt of 10 ms stays; of a hundred tokens at ten times the rate it is the whole bucket */
	assert_int_equal(drain(&b, now, now, 1, 10000, 100), 0);
	now += 10 * NSEC_PER_MSEC;
	assert_int_equal(drain(&b, now, now, 1, 10000, 100), 100);
}

/* --- log --- */

static struct {
	unsigned int lines;
	enum log_level level;
	enum log_module module;
	char text[2048];
} heard;

static void hear(enum log_level level, enum log_module module, const char *line)
{
	heard.lines++;
	heard.level = level;
	heard.module = module;
	snprintf(heard.text, sizeof(heard.text), "%s", line);
}

static int log_restore(void **state)
{
	log_set_sink(NULL);
	for (int m = 0; m < LOG_MODULE_COUNT; m++)
		log_set_level((enum log_module)m, LOG_LEVEL_NOTICE);
	return 0;
}

static int log_listen(void **state)
{
	memset(&heard, 0, sizeof(heard));
	log_set_sink(hear);
	return 0;
}

static void log_levels(void **state)
{
	for (int m = 0; m < LOG_MODULE_COUNT; m++)
		assert_int_equal(log_get_level((enum log_module)m), LOG_LEVEL_NOTICE);
	for (int limit = LOG_LEVEL_ERROR; limit <= LOG_LEVEL_DEBUG; limit++) {
		log_set_level(LOG_neigh, (enum log_level)limit);
		assert_int_equal(log_get_level(LOG_neigh), limit);
		for (int level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++) {
			heard.lines = 0;
			log_line((enum log_level)level, LOG_neigh, "level %d", level);
			check(heard.lines == (level <= limit), "level %d, limit %d", level, limit);
			check(!heard.lines || heard.level == (enum log_level)level, "level %d", level);
		}
	}
	/* a module's level is its own */
	log_set_level(LOG_port, LOG_LEVEL_ERROR);
	heard.lines = 0;
	log_notice(port, "not heard");
	assert_int_equal(heard.lines, 0);
	log_notice(srv6, "policy %s has %u paths", "to-dc2", 2u);
	assert_int_equal(heard.lines, 1);
	assert_int_equal(heard.module, LOG_srv6);
	assert_int_equal(heard.level, LOG_LEVEL_NOTICE);
	assert_string_equal(heard.text, "policy to-dc2 has 2 paths");
	log_error(port, "%d%%", 100);
	assert_int_equal(heard.lines, 2);
	assert_string_equal(heard.text, "100%");
}

static void log_long_line(void **state)
{
	char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_error(main, "%s", text);
	assert_int_equal(heard.lines, 1);
	assert_int_equal(strlen(heard.text), 1023);
}

static void log_names(void **state)
{
	for (int m = 0; m < LOG_MODULE_COUNT; m++)
		assert_int_equal(log_module_by_name(log_module_name((enum log_module)m)), m);
	for (int l = LOG_LEVEL_ERROR; l <= LOG_LEVEL_DEBUG; l++)
		assert_int_equal(log_level_by_name(log_level_name((enum log_level)l)), l);
	assert_string_equal(log_level_name(LOG_LEVEL_WARNING), "warning");
	assert_string_equal(log_module_name(LOG_console), "console");
	assert_int_equal(log_module_by_name("Main"), -ENOENT);
	assert_int_equal(log_module_by_name(""), -ENOENT);
	assert_int_equal(log_level_by_name("warn"), -ENOENT);
}

static void log_default_sink(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *real = stderr, *memory = open_memstream(&text, &size);

	assert_non_null(memory);
	log_set_sink(NULL);
	stderr = memory;
	log_warning(config, "line %d", 7);
	log_info(config, "below the level");
	stderr = real;
	fclose(memory);
	assert_string_equal(text, "warning: config: line 7\n");
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_pieces),
		cmocka_unit_test(arena_edges),
		cmocka_unit_test(numbers_parse),
		cmocka_unit_test(numbers_format),
		cmocka_unit_test(distances),
		cmocka_unit_test(nearest_word),
		cmocka_unit_test(bucket_counts),
		cmocka_unit_test(bucket_idle),
		cmocka_unit_test(bucket_reconfigured),
		cmocka_unit_test_setup_teardown(log_levels, log_listen, log_restore),
		cmocka_unit_test_setup_teardown(log_long_line, log_listen, log_restore),
		cmocka_unit_test(log_names),
		cmocka_unit_test_teardown(log_default_sink, log_restore),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
