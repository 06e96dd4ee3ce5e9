/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a lookup says: where a packet goes next. A kind and an index, in 31 bits, so that it fits an entry of a
 * FIB and one slot of a uSID table. 0 is "nothing found".
 */
#ifndef FIB_TARGET_H
#define FIB_TARGET_H

#include <stdint.h>

typedef uint32_t target_t;

enum target_kind {
	TARGET_NONE,	  /* no route */
	TARGET_NEIGH,	  /* index: neighbour id, a resolved or resolvable next hop */
	TARGET_GROUP,	  /* index: ECMP group */
	TARGET_LINK,	  /* index: interface (snapshot.h); the destination itself is the neighbour */
	TARGET_POLICY,	  /* index: policy */
	TARGET_LOCAL,	  /* an own address; index: interface, or PORT_LOCAL for the loopback */
	TARGET_SID,	  /* index: local SID */
	TARGET_BROADCAST, /* IPv4: of a connected subnet; never forwarded (RFC 2644) */
	/* uSID tables only, and last, so that one comparison tells them from the others: */
	TARGET_SUBTABLE, /* index: table of the second id; base entry inside */
	TARGET_LPM,	 /* longer prefixes exist, ask the FIB */
};

#define TARGET_INDEX_BITS 27

static inline target_t target(enum target_kind kind, uint32_t index)
{
	return (uint32_t)kind << TARGET_INDEX_BITS | index;
}

static inline enum target_kind target_kind(target_t t)
{
	return (enum target_kind)(t >> TARGET_INDEX_BITS);
}

static inline uint32_t target_index(target_t t)
{
	return t & ((1u << TARGET_INDEX_BITS) - 1);
}

#endif
