/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spread in software. Between two nodes all packets of a path have the same outer addresses, and a device without RSS of
 * inner headers leaves them on one receive queue. The rx lcore of that queue then reads the outer flow label (RFC 6437) of
 * each tunnelled frame, and hands the frame to one of the rx lcores that poll the port, which classifies it. A flow has one
 * label, or none, and so one lcore: its packets keep their order. Control traffic, and what is in no tunnel, stays where it
 * is received.
 *
 * What is on the way is bounded, and counts as buffer of its lossless class (rx_role.waiting): while there is no room for a
 * burst to every lcore of the port, its queue is not polled. No frame is handed on twice, so nobody waits in a circle.
 */
#ifndef NODE_SPREAD_H
#define NODE_SPREAD_H

#include "base/limits.h"
#include "node/mailbox.h"

#define SPREAD_ROLES 32 /* limit for rx roles */

struct rx_role;
struct rx_queue;
struct port;

/* The rx roles that poll queues of a port, in the order of their queues. Constant while lcores run. */
struct spread_lanes {
	uint16_t n;
	bool symmetric; /* the inner addresses and ports say where, and not the flow label */
	uint8_t role[SPREAD_ROLES];
};

/* A frame of a lossless class on the way; buffers: 0 if it is of another class. */
struct spread_charge {
	uint32_t bytes;
	uint16_t buffers;
	uint8_t port, class;
};

/* From an rx role to another one. All but the mailbox is the producer's. */
struct spread_mail {
	struct mailbox box;	   /* not open if no port needs it */
	uint32_t pushed, released; /* frames pushed, and those of them that were seen popped */
	struct spread_charge charge[LIMIT_SPREAD_RING];
};

/* Is the port spread in software? Rx lcores. */
bool spread_is_on(const struct rx_queue *q);

/* Is there room for a burst of the queue to every other lcore of its port? */
bool spread_has_room(struct rx_role *rx, const struct rx_queue *q);

/*
 * Hand on frames of a burst that belong to other rx lcores; there is room for all. Those that stay are moved to the front of
 * pkts, and their number is returned. Adds the bytes of the others to *bytes.
 */
uint16_t spread_deal(struct rx_role *rx, const struct rx_queue *q, struct rte_mbuf **pkts, uint16_t n, uint64_t *bytes);

/* Release the charges of frames that others have taken. Returns whether some are still on the way. */
bool spread_release(struct rx_role *rx);

#endif
