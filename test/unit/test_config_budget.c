/* SPDX-License-Identifier: BSD-3-Clause */
/* The sum of all that can hold a buffer, the rings between lcores, and what a configuration that promises too much is told. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/budget.h"
#include "test/support/conf.h"

/*
 * The sum of conf_full, by hand: rx 2*1024+512+512; tx 256+512+512; rewritten 3*2*128; lossy
 * 1024+2*1792; control 128+2*256; lossless 2048 shared;
 * headroom two classes of 6 MB in frames of 1000 bytes; rings: two rx
 * lcores to control and to the other lcore's worker each, control to two workers, that is 2+2 and 1-2, 1-3,
 * 2-3: seven of 512; parked 2*2*256; waiting 2*256; from two workers 32 each; four lcores with 384+64; control 256.
 */
static void budget_sum(void **state)
{
	static const struct {
		const char *what;
		uint64_t buffers;
	} lines[] = {
		{"receive descriptors", 3072},
		{"transmit descriptors", 1280},
		{"rewritten, not yet taken by the device", 768},
		{"egress queues of lossy classes", 4608},
		{"lossless classes below XOFF", 2048},
		{"headroom of lossless classes", 12584},
		{"egress queues of control traffic", 640},
		{"rings between lcores", 3584},
		{"packets parked while a ring is full", 1024},
		{"packets waiting for a neighbour", 512},
		{"packets whose neighbour did not answer", 64},
		{"pool caches and bursts of lcores", 1792},
		{"control packets", 256},
	};
	struct config *c = conf_load(CONF_CHECK, conf_full);
	struct cfg_budget b;

	cfg_budget(c, &b);
	assert_int_equal(b.n, ARRAY_LEN(lines));
	for (unsigned int i = 0; i < b.n; i++) {
		check_text("line", b.line[i].what, lines[i].what);
		check(b.line[i].buffers == lines[i].buffers, "%s: %llu", b.line[i].what,
			(unsigned long long)b.line[i].buffers);
	}
	assert_int_equal(b.total, 32232);
	assert_int_equal(cfg_lcore_count(c), 4);
	assert_int_equal(cfg_packet_rings(c), 7);
	cfg_free(c);
}

static void budget_check(void **state)
{
	static const struct conf_row rows[] = {
		{"fits exactly", "buffers: 64K", "buffers: 32232", NULL},
		{"one too few", "buffers: 64K", "buffers: ^32231",
			"buffers: 32231 are too few, 32232 are promised: 3072 receive descriptors + 1280 transmit "
			"descriptors + 768 rewritten, not yet taken by the device + 4608 egress queues of lossy classes + 2048 lossless classes below XOFF + 12584 headroom of lossless classes + 640 egress queues of control traffic + 3584 rings between lcores + 1024 packets "
			"parked while a ring is full + 512 packets waiting for a neighbour + 64 packets whose neighbour did not answer "
			"+ 1792 pool caches and bursts "
			"of lcores + 256 control packets"},
		{"the default is too few", "memory:\n  hugepages: off\n  buffers: 64K\n",
			"memory:\n  ^hugepages: off\n",
			"buffers: 16384 are too few, 32232 are promised: 3072 receive descriptors + 1280 transmit "
			"descriptors + 768 rewritten, not yet taken by the device + 4608 egress queues of lossy classes + 2048 lossless classes below XOFF + 12584 headroom of lossless classes + 640 egress queues of control traffic + 3584 rings between lcores + 1024 packets "
			"parked while a ring is full + 512 packets waiting for a neighbour + 64 packets whose neighbour did not answer "
			"+ 1792 pool caches and bursts "
			"of lcores + 256 control packets"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* A ring has a power of two of slots, whatever was asked for (memory.ring); all of them may hold packets. */
static void budget_rings(void **state)
{
	static const struct {
		const char *ring;
		uint64_t buffers;
	} rows[] = {{"ring: 512", 7 * 512}, {"ring: 513", 7 * 1024}, {"ring: 1K", 7 * 1024}, {"ring: 64",
	7 * 64},
		{"ring: 65", 7 * 128}, {"ring: 65535", 7 * 65536}};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = conf_replace(conf_full, "ring: 512", rows[i].ring);
		struct config *c = conf_load(CONF_LOAD, text);
		struct cfg_budget b;

		cfg_budget(c, &b);
		check(b.line[7].buffers == rows[i].buffers, "%s", rows[i].ring);
		cfg_free(c);
		free(text);
	}
}

static void lcores_and_rings(void **state)
{
	static const struct {
		const char *lcores;
		unsigned int count, rings;
	} rows[] = {
		{"{control: 0, rx: [0], worker: [0]}", 1, 2},
		{"{control: 0, rx: [1], worker: [1]}", 2, 2},
		{"{control: 0, rx: [0], worker: [1]}", 2, 3},
		{"{control: 0, rx: [1], worker: [2]}", 3, 3},
		{"{control: 5, rx: [1, 2, 3], worker: [4, 5]}", 5, 11},
		{"{control: 0, rx: [1, 2], worker: [1, 2]}", 3, 6},
	};
	char text[512];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct config *c;

		snprintf(text, sizeof(text),
			"node: {name: a, loopback: \"fd00::1\"}\nports: [{name: p, device: net_null0, side: dc}]\n"
			"lcores: %s\nmemory: {buffers: 64K}\n", rows[i].lcores);
		c = conf_load(CONF_CHECK, text);
		check(cfg_lcore_count(c) == rows[i].count, "%s", rows[i].lcores);
		check(cfg_packet_rings(c) == rows[i].rings, "%s", rows[i].lcores);
		cfg_free(c);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(budget_sum),
		cmocka_unit_test(budget_check),
		cmocka_unit_test(budget_rings),
		cmocka_unit_test(lcores_and_rings),
	};

	return cmocka_run_group_tests_name("config_budget", tests, NULL, NULL);
}
