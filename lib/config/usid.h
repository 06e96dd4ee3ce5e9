/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uSIDs: ids of 16 bits behind a locator block of 16 to 64 bits (RFC 9800: LNFL 16, LBL 32 mostly; docs/protocol.md 3.3),
 * and the packing of a list of SIDs into containers (RFC 9800 section 6.2). No DPDK. Lengths of blocks are in bits and
 * whole bytes.
 */
#ifndef CONFIG_USID_H
#define CONFIG_USID_H

#include <stdbool.h>
#include <string.h>

#include "wire/addr.h"

#define USID_LIB_FIRST 0xe000 /* D28: ids 0x0001-0xdfff are global, ids from 0xe000 are local */
#define USID_BITS 16
#define USID_BLOCK_MIN 16
#define USID_BLOCK_MAX 64
#define USID_BLOCK_COMMON 32 /* has the direct index of struct snap_usid */
#define USID_MAX_CONTAINERS 16

static inline bool usid_block_is_valid(unsigned int block)
{
	return block >= USID_BLOCK_MIN && block <= USID_BLOCK_MAX && block % 8 == 0;
}

/* Number of ids that fit into a container; 6 for a /32. */
static inline unsigned int usid_per_container(unsigned int block)
{
	return (128 - block) / USID_BITS;
}

/* Offset of the first id in an address, also for a length that is refused later. */
static inline unsigned int usid_offset(unsigned int block)
{
	return (block < USID_BLOCK_MAX ? block : USID_BLOCK_MAX) / 8;
}

/* The i-th id after the block; i from 0 to usid_per_container() - 1. */
static inline uint16_t usid_at(const struct ipv6_addr *a, unsigned int block, unsigned int i)
{
	unsigned int at = usid_offset(block) + 2 * i;

	return (uint16_t)(a->b[at] << 8 | a->b[at + 1]);
}

/* Remove the first `ids` ids after the block, as NEXT-CSID does (RFC 9800 section 4.1.1). Any lcore. */
static inline void usid_shift(struct ipv6_addr *a, unsigned int block, unsigned int ids)
{
	unsigned int at = usid_offset(block), rest = (unsigned int)sizeof(a->b) - at,
		     bytes = 2 * ids < rest ? 2 * ids : rest;

	memmove(a->b + at, a->b + at + bytes, rest - bytes);
	memset(a->b + sizeof(a->b) - bytes, 0, bytes);
}

static inline bool usid_is_local(uint16_t id)
{
	return id >= USID_LIB_FIRST;
}

/* Number of ids in the address, up to the last id that is not 0. */
unsigned int usid_count(const struct ipv6_addr *a, unsigned int block);

/* The longest of `n` blocks that contains the address; NULL: none does. */
const struct ip_prefix *usid_block_of(const struct ip_prefix *blocks, unsigned int n, const struct ip_addr *a);

/*
 * Pack a list of SIDs, in travel order, into as few addresses as RFC 9800 allows. Adjacent SIDs of the same block share
 * an address, as many as fit. A SID outside all blocks has an address of its own. An entry with several ids keeps them
 * all in order. Writes up to `room` addresses and returns the number needed.
 */
unsigned int usid_pack(const struct ip_prefix *blocks, unsigned int n_blocks, const struct ip_addr *sids,
	unsigned int n, struct ipv6_addr *out, unsigned int room);

#endif
