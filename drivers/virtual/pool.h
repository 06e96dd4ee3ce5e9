/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of packet buffers whose memory is taken when buffers are first used, and whose buffers are used again in the
 * order in which they were freed last: what a node takes then is what it holds at most, not what its configuration allows,
 * and it stays in the cache. For many nodes in one process that run in one thread; no locks.
 */
#ifndef VIRTUAL_POOL_H
#define VIRTUAL_POOL_H

#include <stdint.h>

struct rte_mempool;

/*
 * `buffers` of `bytes` behind the headroom, counted as free from the beginning; NULL with rte_errno when out of memory.
 * Freed by rte_mempool_free. An allocation fails when all buffers are in use, or when memory has run out.
 */
struct rte_mempool *virtual_pool_new(const char *name, unsigned int buffers, uint32_t bytes);

/* Buffers in use: rte_mempool_in_use_count without a look at the caches of 128 lcores, for this pool has none. */
unsigned int virtual_pool_in_use(const struct rte_mempool *mp);

#endif
