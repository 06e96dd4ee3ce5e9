/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments of IPv4 packets (RFC 791 section 3.2). Bytes only; no DPDK. */
#ifndef ICMP_FRAGMENT_H
#define ICMP_FRAGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* May the packet be cut, and do pieces of `mtu` bytes carry anything? All of the header is readable. */
bool fragment_possible(const void *packet, size_t mtu);

/*
 * Write the fragment that begins at byte *done of the payload, at most `mtu` bytes with its header, to `out`; *done
 * moves on. A packet that is a fragment itself is cut further. `size`: of the whole packet, all readable. Returns the
 * size of the fragment; 0 behind the last.
 */
size_t fragment_next(const void *packet, size_t size, size_t mtu, size_t *done, void *out);

#endif
