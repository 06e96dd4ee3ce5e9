/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include "pfc/pfc_frame.h"

#define PADDING " 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000"

/* Every row of the legality table (docs/protocol.md 5.2), source addresses aside. */
static void faults(void **state)
{
	static const struct {
		const char *row, *frame;
		size_t size;
		enum pfc_fault strict, lenient;
	} rows[] = {
		{"priority 3",
			"0180c2000001 0200000000c1 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000" PADDING, 60,
			PFC_LEGAL, PFC_LEGAL},
		{"longer",
			"0180c2000001 0200000000c1 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000" PADDING
			" ab",
			61, PFC_LEGAL, PFC_LEGAL},
		{"nothing enabled",
			"0180c2000001 0200000000c1 8808 0101 0000 0000 0000 0000 ffff 0000 0000 0000 0000" PADDING, 60,
			PFC_LEGAL, PFC_LEGAL},
		{"59 bytes", "0180c2000001 0200000000c1 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000" PADDING,
			59, PFC_SHORT, PFC_LEGAL},
		{"34 bytes", "0180c2000001 0200000000c1 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000", 34,
			PFC_SHORT, PFC_LEGAL},
		{"33 bytes", "0180c2000001 0200000000c1 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000", 33,
			PFC_SHORT, PFC_SHORT},
		{"empty", "", 0, PFC_SHORT, PFC_SHORT},
		{"LLDP's address",
			"0180c200000e 0200000000c1 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000" PADDING, 60,
			PFC_BAD_DA, PFC_BAD_DA},
		{"unicast", "0200000000d0 0200000000c1 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000" PADDING,
			60, PFC_BAD_DA, PFC_BAD_DA},
		{"VLAN tag",
			"0180c2000001 0200000000c1 8100 6001 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000" PADDING,
			60, PFC_BAD_TYPE, PFC_BAD_TYPE},
		{"802.3x", "0180c2000001 0200000000c1 8808 0001 ffff 0000 0000 0000 0000 0000 0000 0000 0000" PADDING,
			60, PFC_IS_PAUSE, PFC_IS_PAUSE},
		{"opcode 2", "0180c2000001 0200000000c1 8808 0002 0008 0000 0000 0000 ffff 0000 0000 0000 0000" PADDING,
			60, PFC_BAD_OPCODE, PFC_BAD_OPCODE},
		{"high octet",
			"0180c2000001 0200000000c1 8808 0101 0108 0000 0000 0000 ffff 0000 0000 0000 0000" PADDING, 60,
			PFC_BAD_ENABLE, PFC_LEGAL},
	};
	struct pfc_request r;
	uint8_t frame[64];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		enum pfc_fault fault;

		unit_bytes(rows[i].frame, frame, sizeof(frame));
		fault = pfc_read(frame, rows[i].size, 0, &r);
		check(fault == rows[i].strict, "%s: strict says %d", rows[i].row, fault);
		fault = pfc_read(frame, rows[i].size, PFC_UNPADDED | PFC_ANY_ENABLE, &r);
		check(fault == rows[i].lenient, "%s: lenient says %d", rows[i].row, fault);
		/* either leniency lets pass its own fault only */
		fault = pfc_read(frame, rows[i].size, PFC_UNPADDED, &r);
		check(fault == (rows[i].strict == PFC_BAD_ENABLE ? PFC_BAD_ENABLE : rows[i].lenient),
			"%s: unpadded says %d", rows[i].row, fault);
		fault = pfc_read(frame, rows[i].size, PFC_ANY_ENABLE, &r);
		check(fault == (rows[i].strict == PFC_SHORT ? PFC_SHORT : rows[i].lenient), "%s: any enable says %d",
			rows[i].row, fault);
	}
}

/* Times of priorities that are not enabled are ignored; a written frame reads as the same. */
static void there_and_back(void **state)
{
	const struct eth_addr source = {{2, 0, 0, 0, 0, 0xd0}};
	const struct pfc_request want = {.enable = 0x89, .time = {65535, 7, 0, 0, 0, 9, 0, 0x1234}};
	struct pfc_request got;
	struct pfc_frame f;

	pfc_write(&f, &source, &want);
	check_bytes("frame", &f, sizeof(f),
		"0180c2000001 0200000000d0 8808 0101 0089 ffff 0000 0000 0000 0000 0000 0000 1234" PADDING);
	assert_int_equal(pfc_read(&f, sizeof(f), 0, &got), PFC_LEGAL);
	assert_int_equal(got.enable, 0x89);
	assert_int_equal(got.time[0], 65535);
	assert_int_equal(got.time[1], 0);
	assert_int_equal(got.time[5], 0);
	assert_int_equal(got.time[7], 0x1234);
	assert_int_equal(pfc_stops(&got), 0x81);
	f.time[1] = be16(99);
	assert_int_equal(pfc_read(&f, sizeof(f), 0, &got), PFC_LEGAL);
	assert_int_equal(got.time[1], 0);
}

/* docs/protocol.md 5.1: the longest pause by line rate. */
static void pause_times(void **state)
{
	assert_int_equal(pfc_quanta_ns(65535, 10000000000ull), 3355392);
	assert_int_equal(pfc_quanta_ns(65535, 100000000000ull), 335540); /* 335539.2 */
	assert_int_equal(pfc_quanta_ns(65535, 400000000000ull), 83885);	 /* 83884.8 */
	assert_int_equal(pfc_quanta_ns(65535, 800000000000ull), 41943);	 /* 41942.4 */
	assert_int_equal(pfc_quanta_ns(65535, 10000000ull), 3355392000ull);
	assert_int_equal(pfc_quanta_ns(0, 1), 0);
	assert_int_equal(pfc_quanta_ns(1, 3200000000000ull), 1);
	assert_int_equal(pfc_ns_quanta(335540, 100000000000ull), 65535);
	assert_int_equal(pfc_ns_quanta(335539, 100000000000ull), 65535);
	assert_int_equal(pfc_ns_quanta(335533, 100000000000ull), 65534);
	assert_int_equal(pfc_ns_quanta(UINT64_MAX, 3200000000000ull), 65535);
	assert_int_equal(pfc_ns_quanta(0, 100000000000ull), 0);
}

/* D38, scaled: right to one quantum, never shorter than requested, cut off at 65535. */
static void scaling(void **state)
{
	static const uint64_t rate[] = {10000000ull, 10000000000ull, 25000000000ull, 100000000000ull, 400000000000ull,
		800000000000ull};

	assert_int_equal(pfc_scale(1000, rate[3], rate[4]), 4000);
	assert_int_equal(pfc_scale(1001, rate[4], rate[3]), 251); /* 250.25 */
	assert_int_equal(pfc_scale(65535, rate[3], rate[4]), 65535);
	assert_int_equal(pfc_scale(0, rate[3], rate[4]), 0);
	for (unsigned int from = 0; from < ARRAY_LEN(rate); from++) {
		for (unsigned int to = 0; to < ARRAY_LEN(rate); to++) {
			for (uint32_t q = 1; q <= 65535; q += 257) {
				uint16_t out = pfc_scale((uint16_t)q, rate[from], rate[to]);
				long double exact = (long double)q * rate[to] / rate[from];

				check((long double)out >= exact || out == 65535, "%u quanta, rate %u to %u: %u", q,
					from, to, out);
				check((long double)out < exact + 1, "%u quanta, rate %u to %u: %u", q, from, to, out);
			}
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(pause_times),
		cmocka_unit_test(scaling),
	};

	return cmocka_run_group_tests_name("pfc_frame", tests, NULL, NULL);
}
