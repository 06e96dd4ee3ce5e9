/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who holds how much of the buffer pool in egress queues: by the port a packet came in by and the class it came
 * in with, and by its slice besides. Each worker has one block that it alone writes; totals only grow. The owner
 * of the ingress port sums the blocks of all workers and decides about XOFF and XON (docs/design.md section 4).
 *
 * Bytes are those of the frame as it was received; buffers are counted too, because a 64-byte packet holds a
 * whole one.
 */
#ifndef QUEUE_ACCOUNT_H
#define QUEUE_ACCOUNT_H

#include "snapshot/snapshot.h"
#include "stats/stats.h"

struct account {
	uint64_t charged_bytes, released_bytes;
	uint64_t charged_buffers, released_buffers;
};

/* By ingress port and priority; in an order that is found by shifts alone. */
struct accounts {
	struct account total[PORT_SLOTS][8];
	struct account slice[PORT_SLOTS][SNAP_SLICE_MAX][8];
};

struct account_level {
	uint64_t bytes, buffers;
};

/* Worker only. */
static inline void account_charge(struct account *a, uint32_t bytes, uint32_t buffers)
{
	stat_add(&a->charged_bytes, bytes);
	stat_add(&a->charged_buffers, buffers);
}

static inline void account_release(struct account *a, uint32_t bytes, uint32_t buffers)
{
	stat_add(&a->released_bytes, bytes);
	stat_add(&a->released_buffers, buffers);
}

/*
 * Add what one worker holds to *level. Any thread. What was released is read first, so that a level read while
 * the worker works is never below the true one of some moment in between.
 */
static inline void account_add(const struct account *a, struct account_level *level)
{
	uint64_t bytes = __atomic_load_n(&a->released_bytes, __ATOMIC_ACQUIRE);
	uint64_t buffers = __atomic_load_n(&a->released_buffers, __ATOMIC_ACQUIRE);

	level->bytes += stat_read(&a->charged_bytes) - bytes;
	level->buffers += stat_read(&a->charged_buffers) - buffers;
}

#endif
