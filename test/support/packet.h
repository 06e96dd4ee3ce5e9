/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets in tests: lengths and checksums put right after a field was changed. The sums are computed in the
 * plainest way there is, apart from lib/wire, so that they can judge it.
 */
#ifndef SUPPORT_PACKET_H
#define SUPPORT_PACKET_H

#include <stddef.h>
#include <stdint.h>

/* RFC 1071 over the bytes, and over an IPv6 pseudo-header (RFC 8200 section 8.1) with the bytes after it. */
uint16_t packet_sum(const void *bytes, size_t size);
uint16_t packet_sum6(const void *ip6, uint8_t next_header, const void *upper, size_t size);

/* An IPv6 packet of `size` bytes with ICMPv6 at `offset`: set the payload length and the ICMPv6 checksum. */
void packet_seal6(void *ip6, size_t offset, size_t size);

/* An IPv4 packet of `size` bytes with ICMP after the header: set total length and both checksums. */
void packet_seal4(void *ip4, size_t size);

/* Set the header checksum of an IPv4 header alone. */
void packet_seal4_header(void *ip4);

#endif
