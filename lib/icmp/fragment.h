/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments of IPv4 packets (RFC 791 section 3.2). Bytes only; no DPDK. */
#ifndef ICMP_FRAGMENT_H
#define ICMP_FRAGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* May the packet be fragmented, and can fragments of `mtu` bytes carry any payload? The whole header is readable. */
bool fragment_possible(const void *packet, size_t mtu);

/*
 * Write the fragment that begins at byte *done of the payload to `out`. The fragment has at most `mtu` bytes, header
 * included. *done advances. A packet that is a fragment already is fragmented further. `size` is that of the whole
 * packet, all readable. Returns the size of the fragment; 0 after the last.
 */
size_t fragment_next(const void *packet, size_t size, size_t mtu, size_t *done, void *out);

#endif
