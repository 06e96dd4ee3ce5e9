/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors and echo replies (RFC 4443, RFC 792, RFC 1122, RFC 1812; docs/protocol.md 3.5). */
#include "test/support/unit.h"

#include <stdlib.h>

#include "icmp/icmp.h"
#include "test/support/packet.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"

/* packets and the answers to them; made by another implementation */
#define UDP6 \
	"66812345 0018 11 01 20010db8000100000000000000000002 5f000000010000000000000000000000" \
	"03e8 12b7 0018 2c2c 30313233343536373839616263646566"
#define UDP4 \
	"45 68 002c 1234 4000 01 11 5313 0a010007 0a020009" \
	"03e8 12b7 0018 a5d5 30313233343536373839616263646566"
#define ERROR6_HEADER "60000000 0048 3a 40 fd000000000100000000000000000001 20010db8000100000000000000000002"
#define ERROR4_HEADER "45 c0 0048 0000 0000 40 01 65ec 0a010001 0a010007"
#define ECHO6 \
	"66812345 000d 3a 3c 20010db8000100000000000000000002 5f000000010000000000000000000000" \
	"80 00 dfef 1234 0007 70696e6721"
#define ECHO6_REPLY \
	"66800000 000d 3a 40 5f000000010000000000000000000000 20010db8000100000000000000000002" \
	"81 00 deef 1234 0007 70696e6721"
#define ECHO4 "45 68 0021 0001 4000 3c 01 2a6a 0a010007 0a010001 08 00 e5f3 1234 0007 70696e6721"
#define ECHO4_REPLY "45 68 0021 0001 4000 40 01 266a 0a010001 0a010007 00 00 edf3 1234 0007 70696e6721"

/* offsets in these packets */
#define IP6_NEXT 6
#define IP6_SRC 8
#define IP6_DST 24
#define IP6_UPPER 40
#define IP4_FRAG 6
#define IP4_PROTO 9
#define IP4_SRC 12
#define IP4_DST 16
#define IP4_UPPER 20

struct change {
	const char *what, *packet;
	struct {
		unsigned int at;
		const char *bytes;
	} set[3];
	size_t size; /* of the readable part; 0: all */
	bool report;
};

/* The functions under test get copies of exactly the given size, so that a read past the end is found. */
static void *exact_copy(const void *packet, size_t size)
{
	void *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, packet, size);
	return copy;
}

static void check_reports(const struct change *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t packet[256];
		size_t size = unit_bytes(rows[i].packet, packet, sizeof(packet));
		void *copy;

		for (unsigned int k = 0; k < ARRAY_LEN(rows[i].set) && rows[i].set[k].bytes; k++) {
			size_t end = rows[i].set[k].at;

			end += unit_bytes(rows[i].set[k].bytes, packet + end, sizeof(packet) - end);
			size = MAX_OF(size, end);
		}
		if (rows[i].size)
			size = rows[i].size;
		copy = exact_copy(packet, size);
		check(icmp_may_report(copy, size) == rows[i].report, "%s", rows[i].what);
		free(copy);
	}
}

/* RFC 4443 section 2.4 e. */
static void may_report_ipv6(void **state)
{
	static const struct change rows[] = {
		{"UDP", UDP6, .report = true},
		{"UDP, header alone", UDP6, .size = 40, .report = true},
		{"no whole header", UDP6, .size = 39, .report = false},
		{"one byte", UDP6, .size = 1, .report = false},

		{"e.1: destination unreachable", UDP6, {{IP6_NEXT, "3a"}, {IP6_UPPER, "01"}}, 0, false},
		{"e.1: parameter problem", UDP6, {{IP6_NEXT, "3a"}, {IP6_UPPER, "04"}}, 0, false},
		{"e.1: an error nobody knows", UDP6, {{IP6_NEXT, "3a"}, {IP6_UPPER, "7f"}}, 0, false},
		{"echo request", UDP6, {{IP6_NEXT, "3a"}, {IP6_UPPER, "80"}}, 0, true},
		{"echo reply", UDP6, {{IP6_NEXT, "3a"}, {IP6_UPPER, "81"}}, 0, true},
		{"neighbour solicitation", UDP6, {{IP6_NEXT, "3a"}, {IP6_UPPER, "87"}}, 0, true},
		{"e.2: redirect", UDP6, {{IP6_NEXT, "3a"}, {IP6_UPPER, "89"}}, 0, false},
		{"ICMPv6 whose type is cut off", UDP6, {{IP6_NEXT, "3a"}}, 40, false},

		{"error behind hop-by-hop options", UDP6, {{IP6_NEXT, "00"}, {IP6_UPPER, "3a00 0104 0000 0000 01"}}, 0,
			false},
		{"error behind destination options", UDP6, {{IP6_NEXT, "3c"}, {IP6_UPPER, "3a00 0104 0000 0000 01"}}, 0,
			false},
		{"error behind an SRH", UDP6,
			{{IP6_NEXT, "2b"}, {IP6_UPPER, "3a02 0400 0000 0000 5f000000010000000000000000000000 03"}}, 0,
			false},
		{"error behind two headers", UDP6,
			{{IP6_NEXT, "00"}, {IP6_UPPER, "3c00 0104 0000 0000 3a00 0104 0000 0000 01"}}, 0, false},
		{"echo behind an SRH", UDP6,
			{{IP6_NEXT, "2b"}, {IP6_UPPER, "3a02 0400 0000 0000 5f000000010000000000000000000000 80"}}, 0,
			true},
		{"UDP behind hop-by-hop options", UDP6, {{IP6_NEXT, "00"}, {IP6_UPPER, "1100 0104 0000 0000 01"}}, 0,
			true},
		{"options that end nowhere", UDP6, {{IP6_NEXT, "00"}, {IP6_UPPER, "3aff"}}, 0, false},
		{"first fragment of an error", UDP6, {{IP6_NEXT, "2c"}, {IP6_UPPER, "3a00 0001 00000007 01"}}, 0,
			false},
		{"first fragment of an echo", UDP6, {{IP6_NEXT, "2c"}, {IP6_UPPER, "3a00 0001 00000007 80"}}, 0, true},
		{"later fragment, whose first byte is no type", UDP6,
			{{IP6_NEXT, "2c"}, {IP6_UPPER, "3a00 0009 00000007 01"}}, 0, true},

		{"e.3: multicast destination", UDP6, {{IP6_DST, "ff02"}}, 0, false},
		{"e.6: unspecified source", UDP6, {{IP6_SRC, "00000000000000000000000000000000"}}, 0, false},
		{"e.6: multicast source", UDP6, {{IP6_SRC, "ff02"}}, 0, false},
		{"e.6: loopback source", UDP6, {{IP6_SRC, "00000000000000000000000000000001"}}, 0, false},
		{"link-local source", UDP6, {{IP6_SRC, "fe80"}}, 0, true},
	};

	check_reports(rows, ARRAY_LEN(rows));
	assert_false(icmp_may_report("", 0));
}

/* RFC 1122 section 3.2.2. */
static void may_report_ipv4(void **state)
{
	static const struct change rows[] = {
		{"UDP", UDP4, .report = true},
		{"UDP, header alone", UDP4, .size = 20, .report = true},
		{"no whole header", UDP4, .size = 19, .report = false},

		{"destination unreachable", UDP4, {{IP4_PROTO, "01"}, {IP4_UPPER, "03"}}, 0, false},
		{"source quench", UDP4, {{IP4_PROTO, "01"}, {IP4_UPPER, "04"}}, 0, false},
		{"redirect", UDP4, {{IP4_PROTO, "01"}, {IP4_UPPER, "05"}}, 0, false},
		{"time exceeded", UDP4, {{IP4_PROTO, "01"}, {IP4_UPPER, "0b"}}, 0, false},
		{"parameter problem", UDP4, {{IP4_PROTO, "01"}, {IP4_UPPER, "0c"}}, 0, false},
		{"echo request", UDP4, {{IP4_PROTO, "01"}, {IP4_UPPER, "08"}}, 0, true},
		{"echo reply", UDP4, {{IP4_PROTO, "01"}, {IP4_UPPER, "00"}}, 0, true},
		{"timestamp", UDP4, {{IP4_PROTO, "01"}, {IP4_UPPER, "0d"}}, 0, true},
		{"error behind options", UDP4, {{0, "46"}, {IP4_PROTO, "01"}, {IP4_UPPER, "94040000 03"}}, 0, false},
		{"echo behind options", UDP4, {{0, "46"}, {IP4_PROTO, "01"}, {IP4_UPPER, "03030303 08"}}, 0, true},
		{"ICMP whose type is cut off", UDP4, {{IP4_PROTO, "01"}}, 20, false},
		{"ICMP whose options are cut off", UDP4, {{0, "4f"}, {IP4_PROTO, "01"}}, 0, false},

		{"first fragment", UDP4, {{IP4_FRAG, "2000"}}, 0, true},
		{"later fragment", UDP4, {{IP4_FRAG, "2001"}}, 0, false},
		{"last fragment", UDP4, {{IP4_FRAG, "0100"}}, 0, false},

		{"multicast destination", UDP4, {{IP4_DST, "e0000001"}}, 0, false},
		{"broadcast destination", UDP4, {{IP4_DST, "ffffffff"}}, 0, false},
		{"zero source", UDP4, {{IP4_SRC, "00000000"}}, 0, false},
		{"loopback source", UDP4, {{IP4_SRC, "7f000001"}}, 0, false},
		{"multicast source", UDP4, {{IP4_SRC, "e0000001"}}, 0, false},
		{"broadcast source", UDP4, {{IP4_SRC, "ffffffff"}}, 0, false},
		{"class E source", UDP4, {{IP4_SRC, "f0000001"}}, 0, false},
	};

	check_reports(rows, ARRAY_LEN(rows));
}

static size_t write_error(uint8_t *out, const char *hex, const char *src, struct icmp_error error)
{
	uint8_t packet[256];
	size_t size = unit_bytes(hex, packet, sizeof(packet));
	struct ip_addr from;

	assert_int_equal(ip_addr_parse(src, &from), 0);
	memset(out, 0xee, ICMP_ERROR_MAX);
	return icmp_write_error(out, packet, size, &from, &error);
}

static void golden_ipv6(void **state)
{
	static const struct {
		struct icmp_error error;
		const char *message;
	} rows[] = {
		{{ICMP6_TIME_EXCEEDED, 0, 0}, "03 00 3708 00000000"},
		{{ICMP6_UNREACHABLE, ICMP6_UNREACH_NO_ROUTE, 0}, "01 00 3908 00000000"},
		{{ICMP6_PARAM_PROBLEM, ICMP6_PARAM_SR_UPPER_LAYER, 40}, "04 04 35dc 00000028"},
		{{ICMP6_TOO_BIG, 0, 1436}, "02 00 326c 0000059c"},
	};
	uint8_t out[ICMP_ERROR_MAX];
	char want[512];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = write_error(out, UDP6, "fd00:0:1::1", rows[i].error);

		snprintf(want, sizeof(want), "%s %s %s", ERROR6_HEADER, rows[i].message, UDP6);
		check_bytes(rows[i].message, out, n, want);
	}
}

/* The same errors to an IPv4 source: RFC 792, RFC 1191 section 4 (MTU in the low 16 bits), RFC 1812 4.3.2. */
static void golden_ipv4(void **state)
{
	static const struct {
		struct icmp_error error;
		const char *message; /* NULL: IPv4 has no such message */
	} rows[] = {
		{{ICMP6_TIME_EXCEEDED, 0, 0}, "0b 00 093c 00000000"},
		{{ICMP6_UNREACHABLE, ICMP6_UNREACH_NO_ROUTE, 0}, "03 00 113c 00000000"},
		{{ICMP6_UNREACHABLE, ICMP6_UNREACH_ADDRESS, 0}, "03 01 113b 00000000"},
		{{ICMP6_UNREACHABLE, ICMP6_UNREACH_PORT, 0}, "03 03 1139 00000000"},
		{{ICMP6_TOO_BIG, 0, 1436}, "03 04 0b9c 0000059c"},
		{{ICMP6_PARAM_PROBLEM, ICMP6_PARAM_HEADER_FIELD, 43}, NULL},
		{{ICMP6_PARAM_PROBLEM, ICMP6_PARAM_SR_UPPER_LAYER, 40}, NULL},
	};
	uint8_t out[ICMP_ERROR_MAX];
	char want[512];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = write_error(out, UDP4, "10.1.0.1", rows[i].error);

		if (!rows[i].message) {
			check(n == 0, "row %u", i);
			continue;
		}
		snprintf(want, sizeof(want), "%s %s %s", ERROR4_HEADER, rows[i].message, UDP4);
		check_bytes(rows[i].message, out, n, want);
	}
}

/* RFC 1191: only who set DF wants to hear of an MTU; the others' packets may be fragmented. */
static void too_big_needs_df(void **state)
{
	uint8_t out[ICMP_ERROR_MAX], packet[64];
	struct icmp_error too_big = {ICMP6_TOO_BIG, 0, 1436}, expired = {ICMP6_TIME_EXCEEDED, 0, 0};
	struct ip_addr src = ip_addr_from4(0x0a010001);
	size_t size = unit_bytes(UDP4, packet, sizeof(packet));

	unit_bytes("0000", packet + IP4_FRAG, 2);
	assert_int_equal(icmp_write_error(out, packet, size, &src, &too_big), 0);
	assert_int_not_equal(icmp_write_error(out, packet, size, &src, &expired), 0);
	unit_bytes("2000", packet + IP4_FRAG, 2);
	assert_int_equal(icmp_write_error(out, packet, size, &src, &too_big), 0);
	unit_bytes("4000", packet + IP4_FRAG, 2);
	assert_int_not_equal(icmp_write_error(out, packet, size, &src, &too_big), 0);
}

/* RFC 4443 section 2.4 c: at most 1280 bytes in all. RFC 1812 section 4.3.2.3: at most 576. */
static void quote_limits(void **state)
{
	static const struct {
		const char *packet, *src;
		size_t headers, max;
	} rows[] = {
		{UDP6, "fd00:0:1::1", 48, 1280},
		{UDP4, "10.1.0.1", 28, 576},
	};
	struct icmp_error expired = {ICMP6_TIME_EXCEEDED, 0, 0};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t packet[1500];
		size_t room = rows[i].max - rows[i].headers;
		struct ip_addr src;

		for (size_t k = 0; k < sizeof(packet); k++)
			packet[k] = (uint8_t)k;
		unit_bytes(rows[i].packet, packet, sizeof(packet));
		assert_int_equal(ip_addr_parse(rows[i].src, &src), 0);
		for (size_t size = 40; size <= sizeof(packet); size++) {
			uint8_t *in = exact_copy(packet, size), *out = malloc(ICMP_ERROR_MAX);
			size_t n = icmp_write_error(out, in, size, &src, &expired);
			const uint8_t *icmp = out + rows[i].headers - 8;

			check(n == rows[i].headers + MIN_OF(size, room), "row %u, %zu bytes quoted", i, size);
			check(memcmp(icmp + 8, packet, n - rows[i].headers) == 0, "row %u, %zu bytes", i, size);
			if (i == 0) {
				check(packet_sum6(out, 58, icmp, n - 40) == 0, "%zu bytes", size);
				check((size_t)(out[4] << 8 | out[5]) == n - 40, "%zu bytes", size);
			} else {
				check(packet_sum(out, 20) == 0 && packet_sum(icmp, n - 20) == 0, "%zu bytes", size);
				check((size_t)(out[2] << 8 | out[3]) == n, "%zu bytes", size);
			}
			free(out);
			free(in);
		}
	}
}

/* --- echo --- */

static void echo_golden(void **state)
{
	uint8_t packet[64];
	size_t size = unit_bytes(ECHO6, packet, sizeof(packet));

	/* RFC 9800 section 9.3: the SID that was pinged answers */
	assert_true(icmp_make_echo_reply(packet, 40, size));
	check_bytes("IPv6", packet, size, ECHO6_REPLY);
	size = unit_bytes(ECHO4, packet, sizeof(packet));
	assert_true(icmp_make_echo_reply(packet, 20, size));
	check_bytes("IPv4", packet, size, ECHO4_REPLY);
}

static void echo_refused(void **state)
{
	static const struct {
		const char *what, *packet;
		unsigned int at;
		const char *bytes;
		bool sealed, replied;
	} rows[] = {
		{"IPv6", ECHO6, 40, "80", true, true},
		{"IPv6: checksum wrong", ECHO6, 42, "dfee", false, false},
		{"IPv6: payload damaged", ECHO6, 52, "22", false, false},
		{"IPv6: source damaged", ECHO6, 8, "3001", false, false},
		{"IPv6: checksum 0", ECHO6, 42, "0000", false, false},
		{"IPv6: reply", ECHO6, 40, "81", true, false},
		{"IPv6: IPv4's type", ECHO6, 40, "08", true, false},
		{"IPv6: code 1", ECHO6, 41, "01", true, false},
		{"IPv4", ECHO4, 20, "08", true, true},
		{"IPv4: checksum wrong", ECHO4, 22, "e5f2", false, false},
		{"IPv4: payload damaged", ECHO4, 32, "22", false, false},
		{"IPv4: reply", ECHO4, 20, "00", true, false},
		{"IPv4: IPv6's type", ECHO4, 20, "80", true, false},
		{"IPv4: code 1", ECHO4, 21, "01", true, false},
		{"IPv4: first fragment", ECHO4, 6, "2000", true, false},
		{"IPv4: last fragment", ECHO4, 6, "0001", true, false},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t packet[64], before[64];
		size_t size = unit_bytes(rows[i].packet, packet, sizeof(packet));
		size_t upper = packet[0] >> 4 == 6 ? 40 : 20;

		unit_bytes(rows[i].bytes, packet + rows[i].at, sizeof(packet) - rows[i].at);
		if (rows[i].sealed && upper == 40)
			packet_seal6(packet, 40, size);
		else if (rows[i].sealed)
			packet_seal4(packet, size);
		memcpy(before, packet, size);
		check(icmp_make_echo_reply(packet, upper, size) == rows[i].replied, "%s", rows[i].what);
		/* a refused packet is unchanged, because it is still counted or captured */
		if (!rows[i].replied)
			check(memcmp(packet, before, size) == 0, "%s", rows[i].what);
	}
}

static void echo_cut_short(void **state)
{
	static const char *const packets[] = {ECHO6, ECHO4};

	for (unsigned int i = 0; i < ARRAY_LEN(packets); i++) {
		uint8_t packet[64];
		size_t whole = unit_bytes(packets[i], packet, sizeof(packet)), upper = i ? 20 : 40;

		for (size_t size = upper; size <= whole; size++) {
			uint8_t *copy = exact_copy(packet, size);

			check(icmp_make_echo_reply(copy, upper, size) == (size == whole), "packet %u, %zu bytes", i,
				size);
			free(copy);
		}
	}
}

/* All sizes, odd ones too, and headers with options: the reply has right sums and the same data. */
static void echo_sizes(void **state)
{
	uint64_t random = 31;

	for (size_t data = 0; data < 300; data++) {
		uint8_t six[400], four[400], *made;

		unit_bytes(ECHO6, six, sizeof(six));
		unit_bytes("46 68 0021 0001 4000 3c 01 0000 0a010007 0a010001 94040000 08 00 0000 1234 0007", four,
			sizeof(four));
		for (size_t i = 0; i < data; i++)
			six[48 + i] = four[32 + i] = (uint8_t)unit_random(&random);
		packet_seal6(six, 40, 48 + data);
		packet_seal4(four, 32 + data);

		made = exact_copy(six, 48 + data);
		check(icmp_make_echo_reply(made, 40, 48 + data), "%zu bytes", data);
		check(packet_sum6(made, 58, made + 40, 8 + data) == 0, "%zu bytes", data);
		check(memcmp(made + 44, six + 44, 4 + data) == 0, "%zu bytes", data);
		check(memcmp(made + 8, six + 24, 16) == 0 && memcmp(made + 24, six + 8, 16) == 0, "%zu bytes", data);
		free(made);

		made = exact_copy(four, 32 + data);
		check(icmp_make_echo_reply(made, 24, 32 + data), "%zu bytes", data);
		check(packet_sum(made, 24) == 0 && packet_sum(made + 24, 8 + data) == 0, "%zu bytes", data);
		check(memcmp(made + 28, four + 28, 4 + data) == 0, "%zu bytes", data);
		free(made);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(may_report_ipv6),
		cmocka_unit_test(may_report_ipv4),
		cmocka_unit_test(golden_ipv6),
		cmocka_unit_test(golden_ipv4),
		cmocka_unit_test(too_big_needs_df),
		cmocka_unit_test(quote_limits),
		cmocka_unit_test(echo_golden),
		cmocka_unit_test(echo_refused),
		cmocka_unit_test(echo_cut_short),
		cmocka_unit_test(echo_sizes),
	};

	return cmocka_run_group_tests_name("icmp", tests, NULL, NULL);
}
