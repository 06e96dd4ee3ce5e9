/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of pcapng files, byte by byte (draft-ietf-opsawg-pcapng sections 3 and 4). */
#include "test/support/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/pcapng.h"

struct file {
	FILE *f;
	char *bytes;
	size_t n;
};

static void begin(struct file *o)
{
	o->f = open_memstream(&o->bytes, &o->n);
	assert_non_null(o->f);
}

static void expect(struct file *o, const char *row, const char *want)
{
	fclose(o->f);
	check_bytes(row, o->bytes, o->n, want);
	free(o->bytes);
}

static void section(void **state)
{
	struct file o;

	(void)state;
	begin(&o);
	assert_int_equal(pcapng_begin(o.f, "abc"), 0);
	expect(&o, "section",
		"0a0d0d0a 28000000 4d3c2b1a 0100 0000 ffffffffffffffff 0400 0300 61626300 00000000 28000000");
}

static void interface(void **state)
{
	struct file o;

	(void)state;
	begin(&o);
	assert_int_equal(pcapng_interface(o.f, "wan0", "d"), 0);
	expect(&o, "interface",
		"01000000 30000000 0100 0000 00000000 0200 0400 77616e30 0300 0100 64000000 0900 0100 09000000"
		" 00000000 30000000");
}

/* Padding of data to 32 bits, of every length; the comment only when there is one. */
static void packets(void **state)
{
	static const uint8_t data[5] = {1, 2, 3, 4, 5};
	struct file o;

	(void)state;
	begin(&o);
	assert_int_equal(pcapng_packet(o.f, 2, 0x0102030405060708ull, data, 5, 1500, PCAPNG_OUTBOUND, NULL), 0);
	expect(&o, "packet",
		"06000000 34000000 02000000 04030201 08070605 05000000 dc050000 0102030405000000"
		" 0200 0400 02000000 00000000 34000000");
	begin(&o);
	assert_int_equal(pcapng_packet(o.f, 0, 1, data, 4, 4, PCAPNG_INBOUND, "no"), 0);
	expect(&o, "comment",
		"06000000 38000000 00000000 00000000 01000000 04000000 04000000 01020304"
		" 0200 0400 01000000 0100 0200 6e6f0000 00000000 38000000");
	begin(&o);
	assert_int_equal(pcapng_packet(o.f, 0, 1, data, 0, 9, PCAPNG_UNKNOWN, NULL), 0);
	expect(&o, "empty",
		"06000000 2c000000 00000000 00000000 01000000 00000000 09000000 0200 0400 00000000 00000000 2c000000");
}

static void what_cannot_be_written(void **state)
{
	FILE *f = fopen("/dev/full", "w");
	uint8_t data[256] = {0};
	int rc = 0;

	(void)state;
	assert_non_null(f);
	for (int i = 0; i < 100 && rc == 0; i++)
		rc = pcapng_packet(f, 0, 1, data, sizeof(data), sizeof(data), PCAPNG_UNKNOWN, NULL);
	assert_int_equal(rc, -EIO);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(section),
		cmocka_unit_test(interface),
		cmocka_unit_test(packets),
		cmocka_unit_test(what_cannot_be_written),
	};

	return cmocka_run_group_tests_name("pcapng", tests, NULL, NULL);
}
