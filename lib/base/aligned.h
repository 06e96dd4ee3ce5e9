/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in whole cache lines, for data that one lcore writes and others read. */
#ifndef BASE_ALIGNED_H
#define BASE_ALIGNED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/*
 * Returns zeroed memory that the caller frees with free(), or NULL when out of memory. Must not be called on an lcore.
 */
static inline void *new_aligned(size_t size)
{
	void *p = aligned_alloc(CACHE_LINE_BYTES, (size + CACHE_LINE_BYTES - 1) & ~(size_t)(CACHE_LINE_BYTES - 1));

	return p ? memset(p, 0, size) : NULL;
}

/*
 * The same for tables of which a part is used: pages that nobody writes to take no memory. *memory is what the caller
 * frees.
 */
static inline void *new_sparse(size_t size, void **memory)
{
	*memory = calloc(1, size + CACHE_LINE_BYTES - 1);
	return *memory ? (void *)(((uintptr_t)*memory + CACHE_LINE_BYTES - 1) & ~(uintptr_t)(CACHE_LINE_BYTES - 1))
		       : NULL;
}

#endif
