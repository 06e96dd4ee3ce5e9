/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uSIDs with the textbook structure of RFC 9800, LBL 32 and LNFL 16 (docs/protocol.md 3.3), and the packing of a list
 * of SIDs into containers (RFC 9800 section 6.2). No DPDK; control code.
 */
#ifndef CONFIG_USID_H
#define CONFIG_USID_H

#include <stdbool.h>

#include "wire/addr.h"

#define USID_LIB_FIRST 0xe000 /* D28: ids 0x0001-0xdfff are global, ids from 0xe000 are local */
#define USID_PER_CONTAINER 6
#define USID_MAX_CONTAINERS 16

/* The i-th 16-bit id after the 32-bit block; i from 0 to 5. */
static inline uint16_t usid_at(const struct ipv6_addr *a, unsigned int i)
{
	return (uint16_t)(a->b[4 + 2 * i] << 8 | a->b[5 + 2 * i]);
}

static inline bool usid_is_local(uint16_t id)
{
	return id >= USID_LIB_FIRST;
}

/* Number of ids in the address, up to the last id that is not 0. */
unsigned int usid_count(const struct ipv6_addr *a);

/*
 * Pack a list of SIDs, in travel order, into as few addresses as RFC 9800 allows. Adjacent SIDs of the same block share
 * an address of up to six ids. A SID outside all blocks has an address of its own. An entry with several ids keeps them
 * all in order. Writes up to `room` addresses and returns the number needed.
 */
unsigned int usid_pack(const struct ip_prefix *blocks, unsigned int n_blocks, const struct ip_addr *sids,
	unsigned int n, struct ipv6_addr *out, unsigned int room);

#endif
