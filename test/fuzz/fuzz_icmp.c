/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMP made from packets of others: errors about them and echo replies. First byte: type of error in bits 0-1, code
 * in bits 2-4; bit 5: an echo request is made of it first, as far as its checksum goes. The rest is the IP packet.
 */
#include "icmp/icmp.h"
#include "test/fuzz/fuzz.h"
#include "test/support/packet.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static const uint8_t types[] = {ICMP6_UNREACHABLE, ICMP6_TOO_BIG, ICMP6_TIME_EXCEEDED, ICMP6_PARAM_PROBLEM};

static void check_error(const uint8_t *out, size_t n)
{
	if (out[0] >> 4 == 6) {
		must(n <= ICMP_ERROR_MAX && 40u + ((size_t)out[4] << 8 | out[5]) == n, "%zu bytes", n);
		must(packet_sum6(out, 58, out + 40, n - 40) == 0, "ICMPv6 checksum");
	} else {
		must(n <= 576 && ((size_t)out[2] << 8 | out[3]) == n, "%zu bytes", n);
		must(packet_sum(out, 20) == 0 && packet_sum(out + 20, n - 20) == 0, "checksums");
	}
}

static void errors(const uint8_t *packet, size_t size, uint8_t how)
{
	struct icmp_error error = {.type = types[how & 3], .code = (how >> 2) & 7, .arg = 1280};
	struct ip_addr src = {.family = packet[0] >> 4 == 6 ? 6 : 4};
	uint8_t *copy = fuzz_exact(packet, size), *out = malloc(ICMP_ERROR_MAX);
	size_t n;

	if (!out)
		abort();
	if (icmp_may_report(copy, size)) {
		n = icmp_write_error(out, copy, size, &src, &error);
		must(n || src.family == 4, "no error about an IPv6 packet");
		if (n)
			check_error(out, n);
	}
	free(out);
	free(copy);
}

static void seal(uint8_t *packet, size_t offset, size_t size)
{
	uint16_t sum;

	if (offset + 8 > size)
		return;
	packet[offset] = packet[0] >> 4 == 6 ? ICMP6_ECHO_REQUEST : ICMP4_ECHO_REQUEST;
	packet[offset + 1] = packet[offset + 2] = packet[offset + 3] = 0;
	sum = packet[0] >> 4 == 6 ? packet_sum6(packet, 58, packet + offset, size - offset)
				  : packet_sum(packet + offset, size - offset);
	packet[offset + 2] = (uint8_t)(sum >> 8);
	packet[offset + 3] = (uint8_t)sum;
}

static void echo(const uint8_t *packet, size_t size, uint8_t how)
{
	size_t offset = packet[0] >> 4 == 6 ? sizeof(struct ipv6_hdr) : (packet[0] & 15u) * 4;
	uint8_t *copy;

	/* the caller has read an IP header there */
	if (offset < 20 || size < offset)
		return;
	copy = fuzz_exact(packet, size);
	if (how & 32)
		seal(copy, offset, size);
	if (icmp_make_echo_reply(copy, offset, size)) {
		must(copy[offset] == (copy[0] >> 4 == 6 ? ICMP6_ECHO_REPLY : ICMP4_ECHO_REPLY), "type %u",
			copy[offset]);
		if (copy[0] >> 4 == 6)
			must(packet_sum6(copy, 58, copy + offset, size - offset) == 0, "checksum");
		else
			must(packet_sum(copy + offset, size - offset) == 0, "checksum");
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size > 4096)
		return 0;
	errors(data + 1, size - 1, data[0]);
	echo(data + 1, size - 1, data[0]);
	return 0;
}
