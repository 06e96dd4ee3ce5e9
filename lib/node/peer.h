/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that leave by an egress of another worker than that of their home (queue/rebind.h) go through a mailbox from
 * worker to worker, in order. They stay charged to the buffer of their class, by the worker that sent them, until the
 * other one has taken them. No worker waits: without room a packet stays in its queue, and the consumer takes a packet
 * only when its egress has room. Packets that come home are always taken, and have a mailbox of their own: what waits for
 * room may have to wait for them. Worker lcores.
 */
#ifndef NODE_PEER_H
#define NODE_PEER_H

#include "node/node.h"

/* egress_context.give_room and give; arg: the worker that sends. */
bool peer_has_room(void *arg, uint16_t worker, bool home);
void peer_give(void *arg, uint16_t worker, struct rte_mbuf *m);

/* Take the packets that other workers have sent. Returns their number. */
unsigned int peer_read(struct worker_role *w);

/* Release the charges of the packets that were popped. */
void peer_release(struct worker_role *w, struct peer_mail *p);

#endif
