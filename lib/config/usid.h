/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uSIDs as text-book values: the structure of RFC 9800 with LBL 32 and LNFL 16 (docs/protocol.md 3.3), and the
 * packing of a list of SIDs into containers (RFC 9800 section 6.2). No DPDK; control code.
 */
#ifndef CONFIG_USID_H
#define CONFIG_USID_H

#include <stdbool.h>

#include "wire/addr.h"

#define USID_LIB_FIRST 0xe000 /* D28: 0x0001-0xdfff global, from here local */
#define USID_PER_CONTAINER 6
#define USID_MAX_CONTAINERS 16

/* The i-th 16-bit id behind the 32-bit block; i from 0 to 5. */
static inline uint16_t usid_at(const struct ipv6_addr *a, unsigned int i)
{
	return (uint16_t)(a->b[4 + 2 * i] << 8 | a->b[5 + 2 * i]);
}

static inline bool usid_is_local(uint16_t id)
{
	return id >= USID_LIB_FIRST;
}

/* How many ids the address carries: up to the last one that is not 0. */
unsigned int usid_count(const struct ipv6_addr *a);

/*
 * Pack a list of SIDs, in travel order, into as few addresses as RFC 9800 allows: neighbouring SIDs of
 * one of the blocks share one until six ids are in it; a SID of no block stands alone. An entry of
 * several ids is taken as they are. Writes up to `room` addresses and returns how many it takes.
 */
unsigned int usid_pack(const struct ip_prefix *blocks, unsigned int n_blocks, const struct ip_addr *sids,
	unsigned int n, struct ipv6_addr *out, unsigned int room);

#endif
