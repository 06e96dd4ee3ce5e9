/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that may not leave yet step aside, so that those behind them go on: when the turn of a queue comes, they move
 * from its front to a queue beside it, and return to the front when they may leave. They remain charged, and count as
 * queued. All packets of a home step aside together, so the order of each flow is kept:
 *
 *   waiting    the own packets of an egress that waits for those that are queued elsewhere (rebind.h)
 *   draining   all packets, before some leave a way that works for a better one: until the device has sent what it has
 *              accepted
 *   no room    packets of a home, one of which belongs to an egress without room for it; for REBIND_LOOK_NS, and until all
 *              packets of other homes have had their turn
 *
 * Packets that come home while their egress waits are put beside their queue, too, and return before the others.
 *
 * Worker lcores; the owner of the egress.
 */
#ifndef QUEUE_PARK_H
#define QUEUE_PARK_H

#include "queue/turn.h"

#define PARK_BATCH 256 /* packets that step aside in a pass */

/* Home of a packet that is queued at an egress: that of a guest is in its mbuf. */
static inline uint16_t park_home_of(const struct egress *e, struct rte_mbuf *m)
{
	return pkt_of(m)->ops & PKT_OP_GUEST ? m->vlan_tci : e->index;
}

/* Homes whose packets step aside, a bit each. */
static inline uint32_t park_homes(const struct egress *e)
{
	return e->rebind.drains ? UINT32_MAX : e->rebind.full | (uint32_t)e->rebind.waits << e->index;
}

static inline bool park_is_due(const struct egress *e, struct rte_mbuf *m)
{
	return park_homes(e) >> park_home_of(e, m) & 1;
}

/* Let the packets at the front of all queues that may send step aside. False: not all of them yet, go on in the next pass. */
bool park_fronts(struct egress *e);

/* Let the packets of a home step aside for a while: there is no room for one of them. */
void park_full(struct egress *e, const struct egress_context *c, uint16_t home);

/* Begin a pass: what has found no room is tried again when its time has come. */
void park_begin_pass(struct egress *e, const struct egress_context *c);

/* Try everything again that has found no room, or waits for the device. */
void park_retry(struct egress *e, const struct egress_context *c);

/* Packets return to the front of their queues; those that came home do so only when the egress does not wait. */
void park_return(struct egress *e, const struct egress_context *c);

#endif
