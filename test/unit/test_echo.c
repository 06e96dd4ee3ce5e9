/* SPDX-License-Identifier: BSD-3-Clause */
/* Echo requests of the node and what comes back about them (RFC 792, RFC 4443, RFC 8754 section 4.1, RFC 9259). */
#include "test/support/unit.h"

#include <stdlib.h>

#include "icmp/echo.h"
#include "icmp/icmp.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"
#include "wire/srh.h"

static struct echo request(const char *from, const char *to)
{
	struct echo e = {.id = 0x1234, .sequence = 7, .data = 16, .hop_limit = 3};

	assert_int_equal(ip_addr_parse(from, &e.from), 0);
	assert_int_equal(ip_addr_parse(to, &e.to), 0);
	memcpy(&e.nonce, "NONCENON", 8);
	return e;
}

static struct echo_heard read_exact(const void *icmp, size_t size, unsigned int family)
{
	void *copy = malloc(size);
	struct echo_heard h;

	assert_non_null(copy);
	memcpy(copy, icmp, size);
	h = echo_read(copy, size, family);
	free(copy);
	return h;
}

static void check_heard(const struct echo *e, const struct echo_heard *h, enum echo_answer answer)
{
	assert_int_equal(h->answer, answer);
	assert_int_equal(h->id, e->id);
	assert_int_equal(h->sequence, e->sequence);
}

/* The other end, which has been tested with packets of another implementation, takes the request and answers it. */
static void is_answered(void **state)
{
	static const char *const ends[][2] = {{"10.1.0.1", "10.1.0.9"}, {"fd00::1", "2001:db8::9"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct echo e = request(ends[i][0], ends[i][1]);
		size_t at = e.to.family == 6 ? sizeof(struct ipv6_hdr) : sizeof(struct ipv4_hdr), size = echo_bytes(&e);
		struct echo_heard h;
		uint8_t packet[128];

		echo_write(packet, &e);
		assert_int_equal(size, at + 8 + 16);
		assert_int_equal(packet[e.to.family == 6 ? 7 : 8], 3);
		h = read_exact(packet + at, size - at, e.to.family);
		assert_int_equal(h.answer, ECHO_NONE);
		assert_true(icmp_make_echo_reply(packet, at, size));
		h = read_exact(packet + at, size - at, e.to.family);
		check_heard(&e, &h, ECHO_REPLY);
		assert_true(h.has_nonce && h.nonce == e.nonce);
		for (size_t cut = 8; cut < 16; cut++)
			assert_false(read_exact(packet + at, cut, e.to.family).has_nonce);
	}
}

/* Segments in travel order; in the SRH they stand in reverse, and the last one is what the checksum is about. */
static void goes_by_segments(void **state)
{
	struct echo e = request("fd00::1", "5f00:0:300::");
	struct ipv6_addr by[3] = {ipv6_from(0x5f00000001000000ull, 0), ipv6_from(0x5f00000002000000ull, 0), e.to.v6};
	const struct ipv6_hdr *ip;
	const struct srh *srh;
	uint8_t packet[256];
	size_t size;

	(void)state;
	size = echo_write_by(packet, &e, by, 3);
	ip = (const struct ipv6_hdr *)packet;
	srh = (const struct srh *)(ip + 1);
	assert_int_equal(size, echo_bytes(&e) + 8 + 48);
	assert_int_equal(be16_get(ip->payload_length), size - 40);
	assert_true(ipv6_equal(&ip->dst, &by[0]));
	assert_int_equal(srh_bytes(srh), 56);
	assert_int_equal(srh->routing_type, 4);
	assert_int_equal(srh->segments_left, 2);
	assert_int_equal(srh->last_entry, srh_max_last_entry(srh));
	assert_true(ipv6_equal(&srh->segment[0], &by[2]) && ipv6_equal(&srh->segment[2], &by[0]));
	/* as at the end of the list: without it, and to its last address */
	memmove(packet + 40, packet + 96, size - 96);
	size = echo_bytes(&e);
	((struct ipv6_hdr *)packet)->dst = e.to.v6;
	assert_true(icmp_is_intact(packet, 40, size));

	assert_int_equal(echo_write_by(packet, &e, &by[2], 1), echo_bytes(&e));
	assert_int_equal(ip->next_header, IP_PROTO_ICMP6);
	assert_true(icmp_is_intact(packet, 40, echo_bytes(&e)));
}

/* An error about the request as a router sees it: in a tunnel with an SRH, or by itself. */
static void errors_quote_it(void **state)
{
	struct echo inner = request("10.1.0.1", "10.1.0.9"), outer = request("fd00::1", "5f00:0:300::");
	struct ipv6_addr by[2] = {ipv6_from(0x5f00000001000000ull, 0), outer.to.v6};
	static const struct icmp_error expired = {ICMP6_TIME_EXCEEDED, 0, 0}, nowhere = {ICMP6_UNREACHABLE, 3, 0},
				       big = {ICMP6_TOO_BIG, 0, 1280}, refused = {ICMP6_PARAM_PROBLEM, 4, 40};
	struct ip_addr router4 = ip_addr_from4(0x0a090909), router = ip_addr_from6(&by[0]);
	uint8_t packet[256], error[ICMP_ERROR_MAX];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)packet;
	struct echo_heard h;
	size_t size, n;

	(void)state;
	/* behind an SRH */
	size = echo_write_by(packet, &outer, by, 2);
	n = icmp_write_error(error, packet, size, &router, &expired);
	h = read_exact(error + 40, n - 40, 6);
	check_heard(&outer, &h, ECHO_TIME_EXCEEDED);
	assert_true(h.has_nonce && h.nonce == outer.nonce);
	n = icmp_write_error(error, packet, size, &router, &big);
	h = read_exact(error + 40, n - 40, 6);
	check_heard(&outer, &h, ECHO_TOO_BIG);
	n = icmp_write_error(error, packet, size, &router, &refused);
	h = read_exact(error + 40, n - 40, 6);
	check_heard(&outer, &h, ECHO_PARAMETER);
	assert_int_equal(h.code, 4);

	/* IPv4 by itself; a router need quote no more than 8 bytes behind the IP header (RFC 792) */
	echo_write(packet, &inner);
	n = icmp_write_error(error, packet, 28, &router4, &nowhere);
	assert_int_equal(n, 20 + 8 + 28);
	h = read_exact(error + 20, n - 20, 4);
	check_heard(&inner, &h, ECHO_UNREACHABLE);
	assert_false(h.has_nonce);
	for (size_t cut = 8; cut < 8 + 28; cut++)
		assert_int_equal(read_exact(error + 20, cut, 4).answer, ECHO_NONE);
	n = icmp_write_error(error, packet, 28, &router4, &big);
	h = read_exact(error + 20, n - 20, 4);
	check_heard(&inner, &h, ECHO_TOO_BIG);

	/* IPv4 in IPv6 */
	echo_write(packet + 40, &inner);
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0),
		.payload_length = be16((uint16_t)echo_bytes(&inner)),
		.next_header = IP_PROTO_IPV4,
		.hop_limit = 1,
		.src = outer.from.v6,
		.dst = outer.to.v6};
	n = icmp_write_error(error, packet, 40 + echo_bytes(&inner), &router, &expired);
	h = read_exact(error + 40, n - 40, 6);
	check_heard(&inner, &h, ECHO_TIME_EXCEEDED);
	packet[40] = 0x41; /* a header that is shorter than its fixed part */
	n = icmp_write_error(error, packet, 40 + echo_bytes(&inner), &router, &expired);
	assert_int_equal(read_exact(error + 40, n - 40, 6).answer, ECHO_NONE);
}

/* What is quoted is not always an echo request, and not every message is an answer. */
static void others_are_none(void **state)
{
	static const struct icmp_error expired = {ICMP6_TIME_EXCEEDED, 0, 0};
	struct echo e = request("fd00::1", "5f00:0:300::");
	uint8_t packet[256], error[ICMP_ERROR_MAX];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)packet;
	struct ip_addr router = e.from;
	size_t n;

	(void)state;
	for (unsigned int next = 0; next < 256; next++) {
		echo_write(packet, &e);
		ip->next_header = (uint8_t)next;
		n = icmp_write_error(error, packet, echo_bytes(&e), &router, &expired);
		for (size_t cut = 8; n && cut <= n - 40; cut++)
			if (read_exact(error + 40, cut, 6).answer != ECHO_NONE)
				assert_true(next == IP_PROTO_ICMP6 && cut >= 8 + 48);
	}
	for (unsigned int type = 0; type < 256; type++) {
		uint8_t message[8] = {(uint8_t)type};

		assert_int_equal(read_exact(message, 8, 6).answer, type == ICMP6_ECHO_REPLY ? ECHO_REPLY : ECHO_NONE);
		assert_int_equal(read_exact(message, 8, 4).answer, type == ICMP4_ECHO_REPLY ? ECHO_REPLY : ECHO_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(is_answered), cmocka_unit_test(goes_by_segments),
		cmocka_unit_test(errors_quote_it), cmocka_unit_test(others_are_none)};

	return cmocka_run_group_tests_name("echo", tests, NULL, NULL);
}
