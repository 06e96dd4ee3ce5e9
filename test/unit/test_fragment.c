/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments of IPv4 packets, reassembled by code that is independent of the fragmentation. */
#include "test/support/unit.h"

#include "icmp/fragment.h"
#include "wire/checksum.h"
#include "wire/ipv4.h"

static size_t make(uint8_t *packet, size_t options, size_t payload, uint16_t field)
{
	struct ipv4_hdr *ip = (struct ipv4_hdr *)packet;
	size_t header = sizeof(*ip) + options;

	*ip = (struct ipv4_hdr){.version_ihl = (uint8_t)(0x40 | header / 4),
		.total_length = be16((uint16_t)(header + payload)),
		.id = be16(7),
		.fragment = be16(field),
		.ttl = 9,
		.protocol = 17};
	for (size_t i = 0; i < options; i++)
		packet[sizeof(*ip) + i] = 1; /* no operation */
	for (size_t i = 0; i < payload; i++)
		packet[header + i] = (uint8_t)(i * 7 + i / 256);
	ip->checksum = checksum_ipv4(ip);
	return header + payload;
}

static void check_pieces(size_t options, size_t payload, size_t mtu, uint16_t field)
{
	static uint8_t packet[20000], piece[20000], whole[20000];
	size_t size = make(packet, options, payload, field), done = 0, n, end = 0;
	unsigned int first = field & IPV4_OFFSET_MASK;
	bool last = false;

	assert_true(fragment_possible(packet, mtu));
	memset(whole, 0xa5, sizeof(whole));
	while ((n = fragment_next(packet, size, mtu, &done, piece)) > 0) {
		const struct ipv4_hdr *f = (const struct ipv4_hdr *)piece;
		size_t header = ipv4_header_bytes(f), at;

		assert_false(last);
		assert_true(n <= mtu);
		assert_int_equal(be16_get(f->total_length), n);
		assert_int_equal(be16_get(checksum_finish(checksum_add(0, f, header))), 0);
		at = ((be16_get(f->fragment) & IPV4_OFFSET_MASK) - first) * 8u;
		assert_int_equal(at, end);
		memcpy(whole + at, piece + header, n - header);
		end = at + n - header;
		/* all but the last are multiples of 8, and say that more follow */
		last = end == payload;
		assert_int_equal(be16_get(f->fragment) & IPV4_MF, last ? field & IPV4_MF : IPV4_MF);
		assert_true(last || (n - header) % 8 == 0);
	}
	assert_true(last);
	assert_memory_equal(whole, packet + sizeof(struct ipv4_hdr) + options, payload);
}

static void pieces_make_the_whole(void **state)
{
	uint64_t random = 11;

	check_pieces(0, 1480, 1280, 0);
	check_pieces(0, 1480, 1280, 0x2000 | 185);
	check_pieces(40, 9000, 68, 0);
	for (unsigned int i = 0; i < 2000; i++)
		check_pieces(unit_random(&random) % 11 * 4, 1 + unit_random(&random) % 9000,
			68 + unit_random(&random) % 2000,
			(uint16_t)((unit_random(&random) & 1 ? IPV4_MF : 0) | (unit_random(&random) % 1000)));
}

static void options_that_are_copied(void **state)
{
	static const struct {
		uint8_t options[12];
		size_t n;
		uint8_t copied[12];
		size_t n_copied;
	} rows[] = {
		{{0x94, 4, 0, 0}, 4, {0x94, 4, 0, 0}, 4},
		{{0x07, 7, 4, 0, 0, 0, 0, 0}, 8, {0}, 0},
		{{0x07, 7, 4, 0, 0, 0, 0, 1, 0x94, 4, 0, 0}, 12, {0x94, 4, 0, 0}, 4},
		{{0x83, 3, 4, 1}, 4, {0x83, 3, 4, 0}, 4},
		/* broken ones: a length of 0, of 1, beyond the header */
		{{0x94, 0, 0, 0}, 4, {0}, 0},
		{{0x94, 1, 0, 0}, 4, {0}, 0},
		{{0x94, 5, 0, 0}, 4, {0}, 0},
		{{1, 1, 1, 0x94}, 4, {0}, 0},
	};
	uint8_t packet[200], piece[200];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t done = 0, size = make(packet, rows[i].n, 100, 0), n;
		const struct ipv4_hdr *f = (const struct ipv4_hdr *)piece;

		memcpy(packet + sizeof(struct ipv4_hdr), rows[i].options, rows[i].n);
		n = fragment_next(packet, size, 76, &done, piece);
		check(ipv4_header_bytes(f) == sizeof(*f) + rows[i].n && n <= 76, "row %zu, first", i);
		assert_memory_equal(f + 1, rows[i].options, rows[i].n);
		n = fragment_next(packet, size, 76, &done, piece);
		check(n && ipv4_header_bytes(f) == sizeof(*f) + rows[i].n_copied, "row %zu, second", i);
		assert_memory_equal(f + 1, rows[i].copied, rows[i].n_copied);
	}
}

static void some_may_not(void **state)
{
	uint8_t packet[200];

	make(packet, 0, 100, IPV4_DF);
	assert_false(fragment_possible(packet, 68));
	make(packet, 40, 100, 0);
	assert_false(fragment_possible(packet, 67));
	assert_true(fragment_possible(packet, 68));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_make_the_whole),
		cmocka_unit_test(options_that_are_copied),
		cmocka_unit_test(some_may_not),
	};

	return cmocka_run_group_tests_name("fragment", tests, NULL, NULL);
}
