/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accounts of the buffer pool: how much of it the egress queues hold, by ingress port and class of the packets, and
 * also by slice. Each worker has one block of accounts and is its only writer; totals only grow. The owner of the
 * ingress port sums the blocks of all workers and decides about XOFF and XON (docs/design.md section 4).
 *
 * Bytes are those of the frame as received. Buffers are counted too, because a 64-byte packet holds a whole buffer.
 */
#ifndef QUEUE_ACCOUNT_H
#define QUEUE_ACCOUNT_H

#include "pkt/pkt.h"
#include "snapshot/snapshot.h"
#include "stats/stats.h"

struct account {
	uint64_t charged_bytes, released_bytes;	    /* bytes queued, and bytes that left the queues, since start */
	uint64_t charged_buffers, released_buffers; /* the same in buffers of the pool */
};

/* By ingress port and priority. The order of the indices lets the address be computed by shifts alone. */
struct accounts {
	struct account total[PORT_SLOTS][PKT_PRIORITIES];		  /* all slices */
	struct account slice[PORT_SLOTS][SNAP_SLICE_MAX][PKT_PRIORITIES]; /* each slice */
};

struct account_level {
	uint64_t bytes, buffers;
};

/*
 * Count bytes and buffers that enter (charge) or leave (release) a queue. Only the worker that owns the block may
 * call.
 */
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
 * Add the bytes and buffers that one worker holds to *level. Any thread may call. The released totals are read first:
 * while the worker runs, the result is never below the true level of some moment during the call.
 */
static inline void account_add(const struct account *a, struct account_level *level)
{
	uint64_t bytes = __atomic_load_n(&a->released_bytes, __ATOMIC_ACQUIRE);
	uint64_t buffers = __atomic_load_n(&a->released_buffers, __ATOMIC_ACQUIRE);

	level->bytes += stat_read(&a->charged_bytes) - bytes;
	level->buffers += stat_read(&a->charged_buffers) - buffers;
}

#endif
