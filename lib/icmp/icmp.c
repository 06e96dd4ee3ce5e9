/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides whether a packet may be answered with an ICMP error, builds the error, and turns an echo request into its
 * reply (RFC 792, RFC 4443 section 2.4). Pure.
 */
#include "icmp/icmp.h"

#include "base/compiler.h"
#include "wire/checksum.h"
#include "wire/icmp.h"
#include "wire/srh.h"

#define ERROR_HOP_LIMIT 64

/*
 * ICMPv6 type of the packet if its chain of extension headers leads to an ICMPv6 header; -1 otherwise. A truncated
 * chain counts as type 0, because the packet may have been an error.
 */
static int icmp6_type_of(const uint8_t *ip, size_t size)
{
	uint8_t next = ((const struct ipv6_hdr *)ip)->next_header;
	size_t at = sizeof(struct ipv6_hdr);

	for (int i = 0; i < 8; i++) {
		bool fragment = next == IP_PROTO_FRAGMENT;

		if (next == IP_PROTO_ICMP6)
			return at < size ? ip[at] : 0;
		if ((next != IP_PROTO_HOPOPTS && next != IP_PROTO_DSTOPTS && next != IP_PROTO_ROUTING && !fragment) ||
			at + sizeof(struct ipv6_ext) > size)
			return -1;
		/* a later fragment does not begin with an upper-layer header */
		if (fragment && (at + sizeof(struct ipv6_fragment) > size || ip[at + 2] || ip[at + 3] & 0xf8))
			return -1;
		next = ip[at];
		at += fragment ? sizeof(struct ipv6_fragment) : 8u * (ip[at + 1] + 1u);
	}
	return -1;
}

static bool may_report6(const uint8_t *packet, size_t size)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)packet;
	int type;

	if (size < sizeof(*ip) || ipv6_is_multicast(&ip->dst) || ipv6_is_multicast(&ip->src) ||
		ipv6_is_unspecified(&ip->src) || ipv6_is_loopback(&ip->src))
		return false;
	type = icmp6_type_of(packet, size);
	return type < 0 || (!icmp6_is_error((uint8_t)type) && type != ICMP6_REDIRECT);
}

static bool may_report4(const uint8_t *packet, size_t size)
{
	const struct ipv4_hdr *ip = (const struct ipv4_hdr *)packet;
	size_t header;

	/* 240.0.0.0/4 identifies no single host: class E and broadcast */
	if (size < sizeof(*ip) || ipv4_bad_source(be32_get(ip->src)) || be32_get(ip->src) >> 28 == 0xf ||
		ipv4_is_multicast(be32_get(ip->dst)) || be32_get(ip->dst) == 0xffffffff ||
		be16_get(ip->fragment) & IPV4_OFFSET_MASK)
		return false;
	header = ipv4_header_bytes(ip);
	if (ip->protocol != IP_PROTO_ICMP)
		return true;
	if (header >= size)
		return false;
	switch (packet[header]) {
	case ICMP4_UNREACHABLE:
	case ICMP4_REDIRECT:
	case ICMP4_TIME_EXCEEDED:
	case ICMP4_PARAM_PROBLEM:
	case 4: /* source quench */
		return false;
	default:
		return true;
	}
}

bool icmp_may_report(const void *ip, size_t size)
{
	const uint8_t *p = ip;

	if (!size)
		return false;
	return p[0] >> 4 == 6 ? may_report6(p, size) : may_report4(p, size);
}

static size_t write_error6(uint8_t *out, const uint8_t *packet, size_t size, const struct ip_addr *src,
	const struct icmp_error *error)
{
	const struct ipv6_hdr *about = (const struct ipv6_hdr *)packet;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out;
	struct icmp_hdr *icmp = (struct icmp_hdr *)(ip + 1);
	size_t quoted = MIN_OF(size, ICMP_ERROR_MAX - sizeof(*ip) - sizeof(*icmp));
	size_t payload = sizeof(*icmp) + quoted;
	uint32_t sum;

	*ip = (struct ipv6_hdr){
		.vtc_flow = ipv6_vtc_flow(0, 0),
		.payload_length = be16((uint16_t)payload),
		.next_header = IP_PROTO_ICMP6,
		.hop_limit = ERROR_HOP_LIMIT,
		.src = src->v6,
		.dst = about->src,
	};
	*icmp = (struct icmp_hdr){.type = error->type, .code = error->code, .rest = be32(error->arg)};
	memcpy(icmp + 1, packet, quoted);
	sum = checksum_pseudo6(&ip->src, &ip->dst, (uint32_t)payload, IP_PROTO_ICMP6);
	icmp->checksum = checksum_finish(checksum_add(sum, icmp, payload));
	return sizeof(*ip) + payload;
}

/* The IPv4 message that corresponds to an ICMPv6 message; false when there is none. */
static bool translate(const struct icmp_error *e, struct icmp_hdr *out)
{
	*out = (struct icmp_hdr){0};
	switch (e->type) {
	case ICMP6_TIME_EXCEEDED:
		out->type = ICMP4_TIME_EXCEEDED;
		return true;
	case ICMP6_UNREACHABLE:
		out->type = ICMP4_UNREACHABLE;
		out->code = e->code == ICMP6_UNREACH_PORT      ? ICMP4_UNREACH_PORT
			    : e->code == ICMP6_UNREACH_ADDRESS ? ICMP4_UNREACH_HOST
							       : ICMP4_UNREACH_NET;
		return true;
	case ICMP6_PARAM_PROBLEM:
		/* the only one with an IPv4 equivalent: unknown upper layer */
		if (e->code != ICMP6_PARAM_NEXT_HEADER)
			return false;
		out->type = ICMP4_UNREACHABLE;
		out->code = ICMP4_UNREACH_PROTO;
		return true;
	case ICMP6_TOO_BIG:
		out->type = ICMP4_UNREACHABLE;
		out->code = ICMP4_UNREACH_FRAG_NEED;
		out->rest = be32(e->arg & 0xffff);
		return true;
	default:
		return false;
	}
}

static size_t write_error4(uint8_t *out, const uint8_t *packet, size_t size, const struct ip_addr *src,
	const struct icmp_error *error)
{
	const struct ipv4_hdr *about = (const struct ipv4_hdr *)packet;
	struct ipv4_hdr *ip = (struct ipv4_hdr *)out;
	struct icmp_hdr *icmp = (struct icmp_hdr *)(ip + 1);
	/* RFC 1812 section 4.3.2.3: as much as fits into 576 bytes */
	size_t quoted = MIN_OF(size, 576 - sizeof(*ip) - sizeof(*icmp));

	if (!translate(error, icmp))
		return 0;
	if (error->type == ICMP6_TOO_BIG && !(be16_get(about->fragment) & IPV4_DF))
		return 0;
	memcpy(icmp + 1, packet, quoted);
	icmp->checksum = checksum_finish(checksum_add(0, icmp, sizeof(*icmp) + quoted));
	*ip = (struct ipv4_hdr){
		.version_ihl = 0x45,
		.tos = 0xc0, /* RFC 1812 section 4.3.2.5 */
		.total_length = be16((uint16_t)(sizeof(*ip) + sizeof(*icmp) + quoted)),
		.ttl = ERROR_HOP_LIMIT,
		.protocol = IP_PROTO_ICMP,
		.src = be32(ip_addr_v4(src)),
		.dst = about->src,
	};
	ip->checksum = checksum_ipv4(ip);
	return sizeof(*ip) + sizeof(*icmp) + quoted;
}

size_t icmp_write_error(void *out, const void *ip, size_t size, const struct ip_addr *src,
	const struct icmp_error *error)
{
	if (*(const uint8_t *)ip >> 4 == 6)
		return write_error6(out, ip, size, src, error);
	return write_error4(out, ip, size, src, error);
}

bool icmp_is_intact(const void *packet, size_t offset, size_t size)
{
	const uint8_t *icmp = (const uint8_t *)packet + offset;
	const struct ipv6_hdr *ip = packet;
	uint32_t sum = 0;

	if (*(const uint8_t *)packet >> 4 == 6)
		sum = checksum_pseudo6(&ip->src, &ip->dst, (uint32_t)(size - offset), IP_PROTO_ICMP6);
	return be16_get(checksum_finish(checksum_add(sum, icmp, size - offset))) == 0;
}

static bool echo_reply6(struct ipv6_hdr *ip, struct icmp_hdr *icmp, uint32_t size)
{
	struct ipv6_addr dst = ip->dst;
	uint32_t sum;

	if (icmp->type != ICMP6_ECHO_REQUEST || icmp->code != 0)
		return false;
	ip->dst = ip->src;
	ip->src = dst;
	ip->hop_limit = ERROR_HOP_LIMIT;
	ip->vtc_flow = ipv6_vtc_flow(ipv6_tc(ip), 0);
	icmp->type = ICMP6_ECHO_REPLY;
	icmp->checksum = be16(0);
	sum = checksum_pseudo6(&ip->src, &ip->dst, size, IP_PROTO_ICMP6);
	icmp->checksum = checksum_finish(checksum_add(sum, icmp, size));
	return true;
}

static bool echo_reply4(struct ipv4_hdr *ip, struct icmp_hdr *icmp, uint32_t size)
{
	be32_t dst = ip->dst;

	if (icmp->type != ICMP4_ECHO_REQUEST || icmp->code != 0 ||
		be16_get(ip->fragment) & (IPV4_MF | IPV4_OFFSET_MASK))
		return false;
	ip->dst = ip->src;
	ip->src = dst;
	ip->ttl = ERROR_HOP_LIMIT;
	ip->checksum = checksum_ipv4(ip);
	icmp->type = ICMP4_ECHO_REPLY;
	icmp->checksum = be16(0);
	icmp->checksum = checksum_finish(checksum_add(0, icmp, size));
	return true;
}

bool icmp_make_echo_reply(void *packet, size_t offset, size_t size)
{
	struct icmp_hdr *icmp = (struct icmp_hdr *)((uint8_t *)packet + offset);

	if (offset + sizeof(*icmp) > size || !icmp_is_intact(packet, offset, size))
		return false;
	if (*(const uint8_t *)packet >> 4 == 6)
		return echo_reply6(packet, icmp, (uint32_t)(size - offset));
	return echo_reply4(packet, icmp, (uint32_t)(size - offset));
}
