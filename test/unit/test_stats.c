/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <ctype.h>
#include <stdlib.h>

#include "stats/stats.h"

/* The names are an interface: consoles, dashboards and pcap cases ask for them. */
static void reason_names(void **state)
{
	for (int r = 0; r < REASON_COUNT; r++) {
		const char *name = reason_name((enum reason)r), *help = reason_help((enum reason)r);

		check(name && *name && help && *help, "reason %d", r);
		for (const char *p = name; *p; p++)
			check(islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '_', "%s", name);
		check(!strpbrk(help, "\"\\\n"), "%s: would need quoting", name);
		/* a drop and a consumption may share a name, two of a kind may not */
		for (int k = 0; k < r; k++)
			check(reason_is_drop((enum reason)k) != reason_is_drop((enum reason)r) ||
					strcmp(reason_name((enum reason)k), name) != 0,
				"%s", name);
	}
	assert_string_equal(reason_name(DROP_truncated), "truncated");
	assert_string_equal(reason_name(DROP_stopped), "stopped");
	assert_string_equal(reason_name(CONSUME_nd), "nd");
	assert_string_equal(reason_name(CONSUME_icmp), "icmp");
}

static void reason_kinds(void **state)
{
	assert_int_equal(DROP_truncated, 0);
	assert_int_equal(CONSUME_nd, DROP_COUNT);
	assert_int_equal(CONSUME_nd, CONSUME_FIRST);
	assert_int_equal(DROP_stopped, DROP_COUNT - 1);
	assert_int_equal(CONSUME_fragmented, REASON_COUNT - 1);
	for (int r = 0; r < REASON_COUNT; r++)
		assert_int_equal(reason_is_drop((enum reason)r), r < DROP_COUNT);
}

/* Every member of a block counts into the sum: fill with distinct numbers, add twice, compare word by word. */
static void sums_take_every_member(void **state)
{
	struct lcore_stats *block = aligned_alloc(CACHE_LINE_BYTES, sizeof(*block));
	struct lcore_stats *sum = aligned_alloc(CACHE_LINE_BYTES, sizeof(*sum));
	uint64_t n = 1;

	assert_non_null(block);
	assert_non_null(sum);
	memset(block, 0, sizeof(*block));
	memset(sum, 0, sizeof(*sum));
#define X(name, unit, help) block->name = n++;
	LCORE_COUNTERS(X)
#undef X
	for (unsigned int p = 0; p < PORT_SLOTS; p++) {
#define X(name, unit, help) block->port[p].name = n++;
		PORT_COUNTERS(X)
#undef X
		for (unsigned int r = 0; r < REASON_COUNT; r++)
			block->port[p].reason[r] = n++;
	}
	for (unsigned int i = 0; i < INTERFACE_SLOTS; i++) {
#define X(kind, name, ...) block->interface[i].name = n++;
		INTERFACE_COUNTERS(X)
#undef X
	}
	lcore_stats_add(sum, block);
	lcore_stats_add(sum, block);
	/* the longest gap is not a sum */
	assert_int_equal(sum->max_gap_ns, block->max_gap_ns);
	sum->max_gap_ns *= 2;
#define X(name, unit, help) check(sum->name == 2 * block->name, #name);
	LCORE_COUNTERS(X)
#undef X
	for (unsigned int p = 0; p < PORT_SLOTS; p++) {
		uint64_t drops = 0, consumed = 0;

#define X(name, unit, help) check(sum->port[p].name == 2 * block->port[p].name, "port %u " #name, p);
		PORT_COUNTERS(X)
#undef X
		for (unsigned int r = 0; r < REASON_COUNT; r++) {
			check(sum->port[p].reason[r] == 2 * block->port[p].reason[r], "port %u reason %u", p, r);
			if (reason_is_drop((enum reason)r))
				drops += block->port[p].reason[r];
			else
				consumed += block->port[p].reason[r];
		}
		assert_int_equal(port_stats_drops(&block->port[p]), drops);
		assert_int_equal(port_stats_consumed(&block->port[p]), consumed);
	}
	for (unsigned int i = 0; i < INTERFACE_SLOTS; i++) {
#define X(kind, name, ...) check(sum->interface[i].name == 2 * block->interface[i].name, "interface %u " #name, i);
		INTERFACE_COUNTERS(X)
#undef X
	}
	/* and what came since is the one block */
	lcore_stats_since(sum, sum, block);
	for (unsigned int i = 0; i < INTERFACE_SLOTS; i++) {
#define X(kind, name, ...) check(sum->interface[i].name == block->interface[i].name, "interface %u " #name, i);
		INTERFACE_COUNTERS(X)
#undef X
	}
	free(block);
	free(sum);
}

static void counters(void **state)
{
	uint64_t n = 5;

	stat_add(&n, 3);
	assert_int_equal(stat_read(&n), 8);
	stat_max(&n, 7);
	assert_int_equal(stat_read(&n), 8);
	stat_max(&n, 9);
	assert_int_equal(stat_read(&n), 9);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reason_names),
		cmocka_unit_test(reason_kinds),
		cmocka_unit_test(sums_take_every_member),
		cmocka_unit_test(counters),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
