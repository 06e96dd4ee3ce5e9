/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of packet buffers that allocates memory on first use and reuses the buffers freed last. A node then takes the
 * memory of the buffers that it holds at most, not of all that its configuration allows, and that memory stays in the
 * cache. For many nodes in one process and one thread; no locks.
 */
#ifndef VIRTUAL_POOL_H
#define VIRTUAL_POOL_H

#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;

/*
 * A pool of `buffers` buffers with `bytes` bytes after the headroom, all counted as free. NULL with rte_errno when out
 * of memory. The caller frees with rte_mempool_free. An allocation fails if all buffers are in use or memory runs out.
 */
struct rte_mempool *virtual_pool_new(const char *name, unsigned int buffers, uint32_t bytes);

/*
 * Free a frame of the pool whose buffers count as in use for as long as a device would have them: its owner has copied it.
 * Returns their number. virtual_pool_end_loan: so many are free. What is used next is what was freed last, so that it is
 * in the cache.
 */
unsigned int virtual_pool_lend(struct rte_mempool *mp, struct rte_mbuf *m);
void virtual_pool_end_loan(struct rte_mempool *mp, unsigned int n);

/* Buffers in use: rte_mempool_in_use_count without a look at the caches of 128 lcores, for this pool has none. */
unsigned int virtual_pool_in_use(const struct rte_mempool *mp);

#endif
