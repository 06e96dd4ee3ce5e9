/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookups: any lcore, on a table that does not change. fib_priv.h describes the table. */
#include "base/compiler.h"
#include "fib/fib_priv.h"

static inline __attribute__((always_inline)) unsigned int bits_set(uint64_t x)
{
	return (unsigned int)__builtin_popcountll(x);
}

/* The address is left-aligned in `hi` and `lo` and shifted out as it is used. `wide`: lo is in use. */
static inline __attribute__((always_inline)) target_t look_up(const struct fib *f, uint64_t hi, uint64_t lo, bool wide)
{
	uint32_t entry = f->direct[hi >> 1 >> (63 ^ f->direct_bits)];
	unsigned int used = f->direct_bits;
	const struct fib_node *n;

	if (!(entry & FIB_IS_NODE))
		return entry;
	for (n = &f->node[entry & ~FIB_IS_NODE];; n = &f->node[entry]) {
		unsigned int skip = n->skip & FIB_SKIP_COUNT, slot;

		if (wide) {
			/* the mask tells the compiler that two instructions do it */
			unsigned __int128 left = ((unsigned __int128)hi << 64 | lo) << (used & 63);

			hi = (uint64_t)(left >> 64);
			lo = (uint64_t)left;
		} else {
			hi <<= used & 63;
		}
		if ((hi ^ n->skip) & ~(~UINT64_C(0) >> skip))
			return f->leaf[n->first_leaf];
		slot = (unsigned int)(hi << skip >> (64 - FIB_STRIDE));
		used = skip + FIB_STRIDE;
		/* 63 ^ slot is 63 - slot */
		if (!(n->children >> slot & 1))
			return f->leaf[n->first_leaf + bits_set(n->runs << (63 ^ slot))];
		entry = n->first_node + bits_set(n->children & ~(~UINT64_C(0) << slot));
	}
}

target_t fib_lookup4(const struct fib *f, uint32_t host_order)
{
	return f ? look_up(f, (uint64_t)host_order << 32, 0, false) : 0;
}

target_t fib_lookup6(const struct fib *f, const struct ipv6_addr *a)
{
	be64_t half[2];

	memcpy(half, a->b, sizeof(half));
	return f ? look_up(f, be64_get(half[0]), be64_get(half[1]), true) : 0;
}
