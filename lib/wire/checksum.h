/* SPDX-License-Identifier: BSD-3-Clause */
/* Internet checksum (RFC 1071) with the pseudo-headers of IPv4 and IPv6 (RFC 8200 section 8.1). */
#ifndef WIRE_CHECKSUM_H
#define WIRE_CHECKSUM_H

#include <stddef.h>

#include "wire/ipv4.h"
#include "wire/ipv6.h"

/* Add a chunk to a running one's complement sum, which starts at 0. Every chunk except the last has an even size. */
uint32_t checksum_add(uint32_t sum, const void *data, size_t size);

/* The finished checksum, ready to be stored. */
be16_t checksum_finish(uint32_t sum);

/* Pseudo-header of IPv6: addresses, upper-layer length in bytes, next header. */
uint32_t checksum_pseudo6(const struct ipv6_addr *src, const struct ipv6_addr *dst, uint32_t length,
	uint8_t next_header);

/* Header checksum of IPv4 over the header's own length, with the checksum field taken as 0. */
be16_t checksum_ipv4(const struct ipv4_hdr *h);

#endif
