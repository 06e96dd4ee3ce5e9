/* SPDX-License-Identifier: BSD-3-Clause */
/* The sum of all that can hold a buffer, the rings between lcores, and the errors for a configuration that promises too much. */
#include "test/support/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "config/budget.h"
#include "config/config.h"
#include "test/support/conf.h"

/*
 * The sum of conf_full, by hand: rx 2*1024+3*512; tx 256+3*512; rewritten 4*2*128, outer headers in a
 * buffer of their own; lossy
 * 1024+3*1792; control 128+3*256; lossless 2048 shared and 64 KB of 1000-byte frames;
 * headroom two classes of 6 MB, one of 1 MB and an eighth of it, for a tunnel chooses whom to stop, in such frames; rings: two rx
 * lcores to control and to the other lcore's worker each, control to two workers, that is 2+2 and 1-2, 1-3,
 * 2-3: seven of 512; two rx lcores 127 to each other; two workers 129 to each other; parked 2*256; waiting 2*256; from two workers 32 each; four lcores with 384+64; control 256.
 */
static void budget_sum(void **state)
{
	static const struct {
		const char *what;
		uint64_t buffers;
	} lines[] = {
		{"receive descriptors", 3584},
		{"frames of lossy classes that wait for the CPU", 384},
		{"transmit descriptors", 1792},
		{"rewritten frames that the device has not accepted yet", 2048},
		{"egress queues of lossy classes", 6400},
		{"lossless classes below XOFF", 2114},
		{"headroom of lossless classes", 13765},
		{"lossless frames on the way between lcores at XOFF", 768},
		{"egress queues of control traffic", 896},
		{"rings between lcores", 3584},
		{"frames spread over rx lcores by software", 254},
		{"credit pool", 64},
		{"packets handed from worker to worker", 516},
		{"packets parked while a ring is full", 512},
		{"packets waiting for a neighbour", 512},
		{"packets whose neighbour did not answer", 64},
		{"pool caches and bursts of lcores", 1792},
		{"control packets", 256},
		{"slices that stand still behind PFC tunnels", 1173},
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
	assert_int_equal(b.total, 40478);
	assert_int_equal(cfg_lcore_count(c), 4);
	assert_int_equal(cfg_packet_rings(c), 7);
	cfg_free(c);
}

static void budget_check(void **state)
{
	static const struct conf_row rows[] = {
		{"fits exactly", "buffers: 128K", "buffers: 39305", NULL},
		{"one too few", "buffers: 128K", "buffers: ^39304",
			"buffers: 39304 is too few: up to 39305 can be in use at once; set memory.buffers to 39305. In "
			"use: 3584 receive "
			"descriptors + 384 frames of lossy classes that wait for the CPU + 1792 transmit "
			"descriptors + 2048 rewritten frames that the device has not accepted yet + 6400 egress queues "
			"of lossy "
			"classes + 2114 lossless classes below XOFF + 13765 headroom of lossless classes + 768 "
			"lossless frames on the way between lcores at XOFF + 896 egress "
			"queues of control traffic + 3584 rings between lcores + 254 frames spread over rx lcores by "
			"software + 64 credit pool + 516 packets handed "
			"from worker to "
			"worker + 512 packets "
			"parked while a ring is full + 512 packets waiting for a neighbour + 64 packets whose "
			"neighbour did not answer "
			"+ 1792 pool caches and bursts "
			"of lcores + 256 control packets"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/*
 * By default the pool has what all parts may hold at once, 39305 without what keeps slices apart, which is 1173 here; and an
 * eighth more, in steps of 1024. A reload keeps the pool of the running node, so that one that needs more is refused.
 */
static void budget_decides(void **state)
{
	char *text = conf_replace(conf_full, "  buffers: 128K\n", ""),
	     *more = conf_replace(text, "  lossless: 2K", "  lossless: 10K");
	struct config *running = conf_load(CONF_CHECK, text), *c = conf_load(CONF_CHECK, more);
	struct cfg_diags diags = {0};

	(void)state;
	assert_int_equal(cfg_pool(running), 46080);
	assert_int_equal(cfg_pool(c), 55296);
	cfg_keep_pool(c, running);
	assert_int_equal(cfg_pool(c), 46080);
	assert_int_equal(cfg_check(c, &diags), -EINVAL);
	assert_non_null(strstr(diags.items[diags.n - 1].text,
		"buffers: 46080 is too few: up to 47497 can be in use at once; the node must be restarted"));
	cfg_diags_free(&diags);
	/* a number in the file is what the operator wants */
	c->memory.buffers = 50000;
	assert_int_equal(cfg_pool(c), 50000);
	cfg_keep_pool(c, running);
	assert_int_equal(cfg_pool(c), 50000);
	cfg_free(c);
	cfg_free(running);
	free(more);
	free(text);
}

/* Gated data adds a fence for each path of a session; what waits is in the pool, or was charged to its port. */
static void gated_data(void **state)
{
	char *text = conf_replace(conf_full, "  data: free\n", "  data: gated\n");
	struct config *free_data = conf_load(CONF_CHECK, conf_full), *gated = conf_load(CONF_CHECK, text);
	struct cfg_budget a, b;

	(void)state;
	cfg_budget(free_data, &a);
	cfg_budget(gated, &b);
	assert_int_equal(a.n + 1, b.n);
	check_text("line", b.line[12].what, "fences of credit sessions");
	assert_int_equal(gated->credit.paths, b.line[12].buffers);
	assert_int_equal(a.line[11].buffers, b.line[11].buffers);
	free(text);
	cfg_free(free_data);
	cfg_free(gated);
}

/* Rings to workers: two of memory.ring for each worker, however many rx lcores; never less than a burst and a limit need. */
static void rings_of_many(void **state)
{
	static const struct {
		unsigned int n;
		uint32_t slots;
		uint64_t rings; /* rx to control: at least LIMIT_PUNT_RINGS; to workers; control to workers */
	} rows[] = {{1, 1024, 3072}, {2, 1024, 8192}, {3, 512, 10752}, {4, 512, 16384}, {8, 256, 32768},
		{16, 256, 98304}};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char yaml[1024], rx[256] = "", worker[256] = "";
		struct cfg_budget b;
		struct config *c;

		for (unsigned int k = 0; k < rows[i].n; k++) {
			snprintf(rx + strlen(rx), sizeof(rx) - strlen(rx), "%u,", 1 + k);
			snprintf(worker + strlen(worker), sizeof(worker) - strlen(worker), "%u,", 50 + k);
		}
		snprintf(yaml, sizeof(yaml),
			"node: {name: a, loopback: \"fd00::1\"}\nlcores: {control: 0, rx: [%s], worker: [%s]}\n"
			"ports: [{name: p, device: net_null0, side: dc}]\n",
			rx, worker);
		c = conf_load(CONF_LOAD, yaml);
		cfg_budget(c, &b);
		check(cfg_worker_ring(c) == rows[i].slots, "%u lcores: %u slots", rows[i].n, cfg_worker_ring(c));
		for (unsigned int k = 0; k < b.n; k++)
			if (strcmp(b.line[k].what, "rings between lcores") == 0)
				check(b.line[k].buffers == rows[i].rings, "%u lcores: %llu", rows[i].n,
					(unsigned long long)b.line[k].buffers);
		cfg_free(c);
	}
}

/* Least that a packet buffer takes of a frame is 2 KB, most 16 KB, in steps of 1 KB as NICs count. */
static void buffer_size(void **state)
{
	static const struct conf_row rows[] = {
		{"least", "buffer-size: 10K", "buffer-size: 2048", NULL},
		{"most", "buffer-size: 10K", "buffer-size: 16K", NULL},
		{"too small", "buffer-size: 10K", "buffer-size: ^2047",
			"buffer-size: expected a whole number from 2K to 16K bytes, found '2047'"},
		{"too large", "buffer-size: 10K", "buffer-size: ^17K",
			"buffer-size: expected a whole number from 2K to 16K bytes, found '17K'"},
		{"in bytes", "buffer-size: 10K", "buffer-size: 9216", NULL},
		{"no multiple", "buffer-size: 10K", "buffer-size: ^9238",
			"buffer-size: expected a multiple of 1K, found 9238: NICs count buffers in units of 1 KB"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* A node with one port of each MTU; what it takes is put behind. */
static char *jumbo_text(const char *mtu_a, const char *mtu_b, const char *more)
{
	char *text = malloc(1024);

	snprintf(text, 1024,
		"node: {name: a, loopback: \"fd00::1\", usid: {block: \"5f00:0::/32\", node: 256}}\n"
		"lcores: {control: 0, rx: [0, 1], worker: [2]}\n"
		"ports:\n  - {name: p, device: net_null0, side: dc, mtu: %s}\n"
		"  - {name: q, device: net_null1, side: wan, mtu: %s, addresses: [\"fe80::1/64\"]}\n%s",
		mtu_a, mtu_b, more);
	return text;
}

/* A frame is its MTU, an Ethernet header and two VLAN tags; the largest MTU of all ports counts. */
static void budget_frame(void **state)
{
	static const struct {
		const char *mtu, *size;
		unsigned int buffers;
	} rows[] = {{"1280", "2K", 1}, {"1500", "2K", 1}, {"2022", "2K", 1}, {"2026", "2K", 1}, {"2027", "2K", 2},
		{"4074", "2K", 2}, {"4075", "2K", 3}, {"9216", "2K", 5}, {"9216", "9K", 2}, {"9216", "10K", 1},
		{"9194", "9K", 1}, {"9195", "9K", 2}, {"16000", "2K", 8}, {"16000", "16K", 1}};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		for (unsigned int first = 0; first < 2; first++) {
			char memory[64], *text;
			struct config *c;

			snprintf(memory, sizeof(memory), "memory: {buffers: 1M, buffer-size: %s}\n", rows[i].size);
			text = jumbo_text(first ? rows[i].mtu : "1280", first ? "1280" : rows[i].mtu, memory);
			c = conf_load(CONF_CHECK, text);
			check(cfg_frame_buffers(c) == rows[i].buffers, "mtu %s of port %u, buffers of %s: %u",
				rows[i].mtu, first, rows[i].size, cfg_frame_buffers(c));
			check(cfg_sent_buffers(c) == rows[i].buffers, "nothing is put in front");
			cfg_free(c);
			free(text);
		}
	}
}

/*
 * Each packet is promised five buffers. Calculated by hand: descriptors 2*(512+4), 2*512; rewritten
 * 2*2*128*5; lossy 2*1792; control 2*256; rings: two rx lcores to control, they and
 * control to the worker, that is five of 1024, five buffers each; parked
 * 2*256*5; waiting 512*5; 32*5; three lcores with 384+64*5; control 256*5.
 */
static void budget_jumbo(void **state)
{
	static const struct {
		const char *what;
		uint64_t buffers;
	} lines[] = {
		{"receive descriptors", 1032},
		{"transmit descriptors", 1024},
		{"rewritten frames that the device has not accepted yet", 2560},
		{"egress queues of lossy classes", 3584},
		{"egress queues of control traffic", 512},
		{"rings between lcores", 25600},
		{"packets parked while a ring is full", 2560},
		{"packets waiting for a neighbour", 2560},
		{"packets whose neighbour did not answer", 160},
		{"pool caches and bursts of lcores", 2112},
		{"control packets", 1280},
	};
	char *text = jumbo_text("1500", "9216", "memory: {buffers: 42984}\n");
	struct config *c = conf_load(CONF_CHECK, text);
	struct cfg_budget b;

	cfg_budget(c, &b);
	assert_int_equal(b.n, ARRAY_LEN(lines));
	for (unsigned int i = 0; i < b.n; i++) {
		check_text("line", b.line[i].what, lines[i].what);
		check(b.line[i].buffers == lines[i].buffers, "%s: %llu", b.line[i].what,
			(unsigned long long)b.line[i].buffers);
	}
	assert_int_equal(b.total, 42984);
	cfg_free(c);
	free(text);
}

#define SUM(rx, rewritten, rings, parked, waiting, unanswered, bursts, control) \
#rx " receive descriptors + 1024 transmit descriptors + " #rewritten \
	    " rewritten frames that the device has not accepted yet + 3584 egress " \
	    "queues of lossy classes + 512 egress queues of control traffic + " #rings \
	    " rings between lcores + " #parked " packets " \
	    "parked while a ring is full + " #waiting " packets waiting for a neighbour + " #unanswered \
	    " packets whose neighbour did " \
	    "not answer + " #bursts " pool caches and bursts of lcores + " #control " control packets"

/* Too few say what to type: more, or larger ones, whichever will do. */
static void budget_mending(void **state)
{
#define TOO_FEW "up to 42984 can be in use at once, 5 for each frame of 9238 bytes; set memory.buffers to 42984, or "
#define CHAINS SUM(1032, 2560, 25600, 2560, 2560, 160, 2112, 1280)
	static const struct {
		const char *memory, *said;
	} rows[] = {
		{"memory: {buffers: 42984}\n", NULL},
		{"memory: {buffers: ^42983}\n",
			"buffers: 42983 is too few: " TOO_FEW "memory.buffer-size to 10K. In use: " CHAINS},
		{"memory: {buffers: ^14432}\n",
			"buffers: 14432 is too few: " TOO_FEW "memory.buffer-size to 10K. In use: " CHAINS},
		{"memory: {buffers: ^14431}\n",
			"buffers: 14431 is too few: " TOO_FEW
			"memory.buffers to 14432 and memory.buffer-size to 10K. In use: " CHAINS},
		{"memory: {buffers: 14432, buffer-size: 10K}\n", NULL},
		{"memory: {buffers: ^14431, buffer-size: 10K}\n",
			"buffers: 14431 is too few: up to 14432 can be in use at once; set memory.buffers to 14432. In "
			"use: " SUM(1024, 512, 5120, 512, 512, 32, 1344, 256)},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = jumbo_text("1500", "9216", rows[i].memory);

		conf_expect(rows[i].memory, CONF_CHECK, text, rows[i].said);
		free(text);
	}
}

/* Outer headers that do not fit in front of a frame get a buffer of their own; six uSIDs are one address. */
static void budget_outer(void **state)
{
	static const struct {
		const char *encap, *segments;
		unsigned int sent;
	} rows[] = {
		{"H.Encaps.Red", "\"5f00:0:500::\"", 1},
		{"H.Encaps.Red", "\"5f00:0:500::\", \"5f00:0:600::\", \"5f00:0:700::\", \"5f00:0:800::\"", 1},
		/* 40 + 8 + 3 * 16, and with tags 118 */
		{"H.Encaps.Red", "\"fd00::1:1\", \"fd00::1:2\", \"fd00::1:3\", \"fd00::1:4\"", 1},
		{"H.Encaps", "\"fd00::1:1\", \"fd00::1:2\", \"fd00::1:3\", \"fd00::1:4\"", 2},
		{"H.Encaps.Red", "\"fd00::1:1\", \"fd00::1:2\", \"fd00::1:3\", \"fd00::1:4\", \"fd00::1:5\"", 2},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char more[512], *text;
		struct cfg_budget b;
		struct config *c;

		snprintf(more, sizeof(more),
			"policies: [{name: far, encap: %s, paths: [{name: one, segments: [%s]}]}]\n", rows[i].encap,
			rows[i].segments);
		text = jumbo_text("1500", "1500", more);
		c = conf_load(CONF_LOAD, text);
		cfg_budget(c, &b);
		check(b.frame == 1 && b.sent == rows[i].sent, "row %u: %u", i, b.sent);
		assert_int_equal(b.line[2].buffers, 2 * 2 * 128 * rows[i].sent);
		cfg_free(c);
		free(text);
	}
}

/* A ring has a power of two of slots, whatever memory.ring is, and those of an rx lcore to the control lcore hold a burst. */
static void budget_rings(void **state)
{
	static const struct {
		const char *ring;
		uint64_t buffers;
	} rows[] = {{"ring: 512", 7 * 512}, {"ring: 513", 7 * 1024}, {"ring: 1K", 7 * 1024},
		{"ring: 64", 5 * 64 + 2 * LIMIT_PUNT_RINGS}, {"ring: 65", 5 * 128 + 2 * LIMIT_PUNT_RINGS},
		{"ring: 65535", 7 * 65536}};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = conf_replace(conf_full, "ring: 512", rows[i].ring);
		struct config *c = conf_load(CONF_LOAD, text);
		struct cfg_budget b;

		cfg_budget(c, &b);
		check(b.line[9].buffers == rows[i].buffers, "%s", rows[i].ring);
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
			"lcores: %s\nmemory: {buffers: 64K}\n",
			rows[i].lcores);
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
		cmocka_unit_test(budget_decides),
		cmocka_unit_test(gated_data),
		cmocka_unit_test(rings_of_many),
		cmocka_unit_test(buffer_size),
		cmocka_unit_test(budget_frame),
		cmocka_unit_test(budget_jumbo),
		cmocka_unit_test(budget_mending),
		cmocka_unit_test(budget_outer),
		cmocka_unit_test(budget_rings),
		cmocka_unit_test(lcores_and_rings),
	};

	return cmocka_run_group_tests_name("config_budget", tests, NULL, NULL);
}
