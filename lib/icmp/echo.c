/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes echo requests, and reads replies and errors about them. Pure. */
#include "icmp/echo.h"

#include <string.h>

#include "base/compiler.h"
#include "wire/checksum.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"
#include "wire/srh.h"

#define QUOTED_HEADERS_MAX 8 /* of a quoted packet: outer, routing, inner ... */

size_t echo_bytes(const struct echo *e)
{
	return (e->to.family == 6 ? sizeof(struct ipv6_hdr) : sizeof(struct ipv4_hdr)) + sizeof(struct icmp_hdr) +
	       e->data;
}

size_t echo_write_icmp(void *out, const struct echo *e)
{
	size_t size = sizeof(struct icmp_hdr) + e->data;
	struct icmp_hdr *icmp = out;
	uint8_t *data = (uint8_t *)(icmp + 1);
	uint32_t sum = 0;

	*icmp = (struct icmp_hdr){.type = e->to.family == 6 ? ICMP6_ECHO_REQUEST : ICMP4_ECHO_REQUEST,
		.rest = be32((uint32_t)e->id << 16 | e->sequence)};
	memcpy(data, &e->nonce, ECHO_NONCE_BYTES);
	for (size_t i = ECHO_NONCE_BYTES; i < e->data; i++)
		data[i] = (uint8_t)i;
	if (e->to.family == 6)
		sum = checksum_pseudo6(&e->from.v6, &e->to.v6, (uint32_t)size, IP_PROTO_ICMP6);
	icmp->checksum = checksum_finish(checksum_add(sum, icmp, size));
	return size;
}

void echo_write(void *out, const struct echo *e)
{
	struct ipv6_hdr *six = out;
	struct ipv4_hdr *four = out;

	if (e->to.family == 6) {
		*six = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0),
			.payload_length = be16((uint16_t)(sizeof(struct icmp_hdr) + e->data)),
			.next_header = IP_PROTO_ICMP6,
			.hop_limit = e->hop_limit,
			.src = e->from.v6,
			.dst = e->to.v6};
		echo_write_icmp(six + 1, e);
		return;
	}
	*four = (struct ipv4_hdr){.version_ihl = 0x45,
		.total_length = be16((uint16_t)echo_bytes(e)),
		.fragment = be16(IPV4_DF),
		.ttl = e->hop_limit,
		.protocol = IP_PROTO_ICMP,
		.src = be32(ip_addr_v4(&e->from)),
		.dst = be32(ip_addr_v4(&e->to))};
	four->checksum = checksum_ipv4(four);
	echo_write_icmp(four + 1, e);
}

size_t echo_write_by(void *out, const struct echo *e, const struct ipv6_addr *segment, unsigned int n)
{
	struct ipv6_hdr *ip = out;
	struct srh *srh = (struct srh *)(ip + 1);
	size_t headers = n > 1 ? sizeof(*srh) + n * sizeof(*segment) : 0;
	size_t size = echo_write_icmp((uint8_t *)(ip + 1) + headers, e);

	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0),
		.payload_length = be16((uint16_t)(headers + size)),
		.next_header = n > 1 ? IP_PROTO_ROUTING : IP_PROTO_ICMP6,
		.hop_limit = e->hop_limit,
		.src = e->from.v6,
		.dst = segment[0]};
	if (n > 1) {
		*srh = (struct srh){.next_header = IP_PROTO_ICMP6,
			.length = (uint8_t)(2 * n),
			.routing_type = SRH_ROUTING_TYPE,
			.segments_left = (uint8_t)(n - 1),
			.last_entry = (uint8_t)(n - 1)};
		for (unsigned int i = 0; i < n; i++)
			srh->segment[i] = segment[n - 1 - i];
	}
	return sizeof(*ip) + headers + size;
}

/* --- received --- */

static enum echo_answer answer6(uint8_t type)
{
	switch (type) {
	case ICMP6_ECHO_REPLY:
		return ECHO_REPLY;
	case ICMP6_UNREACHABLE:
		return ECHO_UNREACHABLE;
	case ICMP6_TOO_BIG:
		return ECHO_TOO_BIG;
	case ICMP6_TIME_EXCEEDED:
		return ECHO_TIME_EXCEEDED;
	case ICMP6_PARAM_PROBLEM:
		return ECHO_PARAMETER;
	default:
		return ECHO_NONE;
	}
}

static enum echo_answer answer4(uint8_t type, uint8_t code)
{
	switch (type) {
	case ICMP4_ECHO_REPLY:
		return ECHO_REPLY;
	case ICMP4_UNREACHABLE:
		return code == ICMP4_UNREACH_FRAG_NEED ? ECHO_TOO_BIG : ECHO_UNREACHABLE;
	case ICMP4_TIME_EXCEEDED:
		return ECHO_TIME_EXCEEDED;
	case ICMP4_PARAM_PROBLEM:
		return ECHO_PARAMETER;
	default:
		return ECHO_NONE;
	}
}

/* Go on to the next header of a quoted packet. Returns false where the chain ends, or is cut. */
static bool next_header(const uint8_t *packet, size_t size, size_t *at, uint8_t *type)
{
	const uint8_t *p = packet + *at;
	size_t left = size - *at;

	switch (*type) {
	case IP_PROTO_IPV6:
		if (left < sizeof(struct ipv6_hdr) || p[0] >> 4 != 6)
			return false;
		*type = ((const struct ipv6_hdr *)p)->next_header;
		*at += sizeof(struct ipv6_hdr);
		return true;
	case IP_PROTO_IPV4:
		if (left < sizeof(struct ipv4_hdr) || p[0] >> 4 != 4 ||
			ipv4_header_bytes((const struct ipv4_hdr *)p) < sizeof(struct ipv4_hdr))
			return false;
		*type = ((const struct ipv4_hdr *)p)->protocol;
		*at += ipv4_header_bytes((const struct ipv4_hdr *)p);
		return *at <= size;
	case IP_PROTO_HOPOPTS:
	case IP_PROTO_DSTOPTS:
	case IP_PROTO_ROUTING:
		if (left < 8)
			return false;
		*type = p[0];
		*at += 8u * (p[1] + 1u);
		return *at <= size;
	default:
		return false;
	}
}

/* The echo request in a quoted packet; NULL: it has none. */
static const struct icmp_hdr *quoted_request(const uint8_t *packet, size_t size)
{
	uint8_t type = size && packet[0] >> 4 == 4 ? IP_PROTO_IPV4 : IP_PROTO_IPV6;
	const struct icmp_hdr *icmp;
	size_t at = 0;

	for (unsigned int i = 0; i < QUOTED_HEADERS_MAX && type != IP_PROTO_ICMP && type != IP_PROTO_ICMP6; i++)
		if (!next_header(packet, size, &at, &type))
			return NULL;
	icmp = (const struct icmp_hdr *)(packet + at);
	if (at + sizeof(*icmp) > size)
		return NULL;
	if (type == IP_PROTO_ICMP)
		return icmp->type == ICMP4_ECHO_REQUEST ? icmp : NULL;
	return type == IP_PROTO_ICMP6 && icmp->type == ICMP6_ECHO_REQUEST ? icmp : NULL;
}

struct echo_heard echo_read(const void *message, size_t size, unsigned int family)
{
	const struct icmp_hdr *icmp = message, *request = icmp;
	struct echo_heard heard = {.code = icmp->code,
		.answer = family == 6 ? answer6(icmp->type) : answer4(icmp->type, icmp->code)};
	const uint8_t *end = (const uint8_t *)message + size;

	if (heard.answer == ECHO_NONE)
		return heard;
	if (heard.answer != ECHO_REPLY)
		request = quoted_request((const uint8_t *)(icmp + 1), size - sizeof(*icmp));
	if (!request)
		return (struct echo_heard){.answer = ECHO_NONE};
	heard.id = (uint16_t)(be32_get(request->rest) >> 16);
	heard.sequence = (uint16_t)be32_get(request->rest);
	heard.has_nonce = (const uint8_t *)(request + 1) + ECHO_NONCE_BYTES <= end;
	if (heard.has_nonce)
		memcpy(&heard.nonce, request + 1, ECHO_NONCE_BYTES);
	return heard;
}

const char *echo_answer_name(enum echo_answer answer)
{
	static const char *const names[] = {[ECHO_NONE] = "lost",
		[ECHO_REPLY] = "reply",
		[ECHO_TIME_EXCEEDED] = "time-exceeded",
		[ECHO_UNREACHABLE] = "unreachable",
		[ECHO_TOO_BIG] = "too-big",
		[ECHO_PARAMETER] = "parameter-problem"};

	return names[answer];
}
