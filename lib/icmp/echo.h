/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Echo requests of the node itself, for ping and traceroute (RFC 792, RFC 4443 section 4), and what comes back about them:
 * echo replies, and ICMP errors that quote the request, even inside a tunnel (RFC 9259 section 3). Bytes only; no DPDK.
 */
#ifndef ICMP_ECHO_H
#define ICMP_ECHO_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/addr.h"

#define ECHO_NONCE_BYTES 8 /* least data of a request */
#define ECHO_SEGMENTS_MAX 8

/* A request. Addresses are of one family. */
struct echo {
	struct ip_addr from,
		to; /* `to`: where the packet is when the ICMP header is read, at the end of all segments */
	uint16_t id, sequence;
	uint64_t nonce;	   /* the first data, which a reply repeats */
	uint16_t data;	   /* bytes after the ICMP header, at least ECHO_NONCE_BYTES */
	uint8_t hop_limit; /* or TTL */
};

/* Bytes that echo_write writes. */
size_t echo_bytes(const struct echo *e);

/* Write an IP packet with the request. */
void echo_write(void *out, const struct echo *e);

/* Write its ICMP header and data alone, to go behind other IPv6 headers (RFC 9259 section 3.1.2). Returns the bytes. */
size_t echo_write_icmp(void *out, const struct echo *e);

/*
 * Write an IPv6 packet with the request by way of `n` segments, 1 to ECHO_SEGMENTS_MAX, in the order of travel; the last
 * leads to e->to. More than one are in an SRH (RFC 8754 section 4.1). Returns its bytes: 8 + 16 * n more than echo_bytes if
 * there is an SRH.
 */
size_t echo_write_by(void *out, const struct echo *e, const struct ipv6_addr *segment, unsigned int n);

/* What an ICMP message says about a request. */
enum echo_answer {
	ECHO_NONE, /* nothing: it is of another kind */
	ECHO_REPLY,
	ECHO_TIME_EXCEEDED,
	ECHO_UNREACHABLE,
	ECHO_TOO_BIG,
	ECHO_PARAMETER,
};

struct echo_heard {
	enum echo_answer answer;
	uint8_t code;
	uint16_t id, sequence; /* of the request */
	bool has_nonce;
	uint64_t nonce;
};

/*
 * Read an ICMP message whose checksum is right. `icmp` has `size` readable bytes, at least those of its header; family: of
 * the packet. Quoted packets may be cut, and have outer headers.
 */
struct echo_heard echo_read(const void *icmp, size_t size, unsigned int family);

/* "reply", "time-exceeded" ...; constant. */
const char *echo_answer_name(enum echo_answer answer);

#endif
