/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMP messages that the node originates: errors about packets it dropped (RFC 4443, RFC 792; docs/protocol.md 3.5) and
 * echo replies. Bytes only; no DPDK. All sizes count from the IP header on.
 */
#ifndef ICMP_ICMP_H
#define ICMP_ICMP_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/addr.h"

#define ICMP_ERROR_MAX 1280 /* longest error, IP header included (RFC 4443 section 2.4 c) */

/* An error to report, in terms of ICMPv6. The IPv4 writer translates it. */
struct icmp_error {
	uint8_t type, code;
	uint32_t arg; /* pointer or MTU */
};

/*
 * May an error be sent about this packet? Not about ICMP errors or multicast, and not to a source that is no unicast
 * address (RFC 4443 section 2.4 e, RFC 1122 section 3.2.2). `size` bytes are readable.
 */
bool icmp_may_report(const void *ip, size_t size);

/*
 * Write an error about the packet `ip` to `out`, addressed to the packet's source. `size` bytes of the packet are
 * readable; `out` has room for ICMP_ERROR_MAX bytes. Returns the error's size; 0 when that family has no such error.
 */
size_t icmp_write_error(void *out, const void *ip, size_t size, const struct ip_addr *src,
	const struct icmp_error *error);

/* Is the checksum of an ICMP packet right? Arguments as below; the header is inside the packet. */
bool icmp_is_intact(const void *ip, size_t offset, size_t size);

/*
 * Turn an echo request into its reply, in place. Source and destination are swapped, so the reply comes from the
 * address (or SID, RFC 9800 section 9.3) that was pinged. The packet must have no extension headers. `offset` is that
 * of the ICMP header; `size` is that of the whole packet, all readable. Returns false when the packet is not an intact
 * echo request.
 */
bool icmp_make_echo_reply(void *ip, size_t offset, size_t size);

#endif
