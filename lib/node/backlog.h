/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive backlog of a queue: frames that were taken from the receive ring of the device and wait for the CPU. It
 * continues the ring of a port with lossless classes, or of one by which data with credit comes: when an lcore is too slow for what arrives, the ring is emptied
 * into the backlog at the start of each pass, which is cheap, and frames are classified from there. So nothing is lost
 * in the device, and what waits is known exactly, in bytes and buffers of each class. It is charged to the buffer of
 * its class (rx_role.waiting), whose threshold sends XOFF, and is covered by the headroom of the port.
 *
 *   lossless   limited by the buffer of the class, like an egress queue: beyond it, headroom_exceeded
 *   credited   data of sessions to which this node has granted buffers: they are there, so it waits without another limit
 *   lossy      at most LIMIT_BACKLOG_LOSSY frames: beyond them, rx_overload. A device that cannot say how much waits in
 *              it keeps its frames instead: nobody knows whether they are too many
 *   first      PFC of the neighbour, and other control frames, do not wait: a slow lcore must obey a pause in time
 *
 * Rx lcores; the rx role that polls the queue.
 */
#ifndef NODE_BACKLOG_H
#define NODE_BACKLOG_H

#include "pkt/fifo.h"
#include "queue/account.h"

struct rx_role;
struct rx_queue;

struct backlog {
	struct fifo lossless, lossy, credited; /* oldest first, not classified yet; pkt.priority is their class */
	uint32_t credited_buffers;
	uint32_t waits;	   /* frames in all; relaxed readers */
	uint64_t short_ns; /* time in ns at which the receive ring was last seen short */
	bool blind;	   /* the device cannot say how many frames wait in its ring */
};

/* Frames that wait. Any thread. */
static inline uint32_t backlog_waits(const struct backlog *b)
{
	return __atomic_load_n(&b->waits, __ATOMIC_RELAXED);
}

/*
 * Empty the receive ring of the queue into its backlog. Frames that must not wait are returned in `first`, at most
 * LIMIT_BURST of them; *n_first is their number. Returns the number of frames taken from the ring.
 */
unsigned int backlog_fill(struct rx_role *rx, struct rx_queue *q, struct rte_mbuf **first, unsigned int *n_first);

/* Take up to n frames for classification: lossless and credited ones first, but always one that is lossy. Returns their number. */
unsigned int backlog_take(struct rx_role *rx, struct rx_queue *q, struct rte_mbuf **pkts, unsigned int n);

/*
 * After a full burst: may so much wait in the ring that it must be emptied? Asks the device at most once per call, and
 * no device while the ring was seen short a moment ago.
 */
bool backlog_wanted(struct rx_role *rx, struct rx_queue *q);

#endif
