/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effects of a port's link on the queues of its egress.
 *
 *   down       no data is sent. Lossless packets wait, so that the buffers behind them pause the senders, for at most
 *              pfc.outage; after that they are dropped as port_down, as lossy packets are at once. Holds stand still.
 *   back up    a lossless class of the port waits until the neighbour has said whether it may send: the pause may have
 *              been asked for while nothing could be received. A neighbour that says nothing is waited for during one
 *              control loop and the longest pause that it could have asked for before. Holds go on one control loop
 *              after the link is back, when the first frame of every party has come through.
 *   start      as after a link has come up: a neighbour may have paused the node that was here before.
 *
 * Worker lcores; the owner of the egress.
 */
#ifndef QUEUE_LINK_H
#define QUEUE_LINK_H

#include "queue/gate.h"

/*
 * Compare the link with what is known of it, and close or open gates. Returns true when the link has changed: frames of
 * classes that are now closed must go back from the device's burst to their queues.
 */
bool link_look(struct egress *e, const struct egress_context *c);

/* The neighbour has asked to pause or resume these classes, a bit each. */
void link_heard(struct egress *e, const struct egress_context *c, uint8_t classes);

/* Do what is due at c->now. Call when c->now >= e->wake_ns, before gate_wake. */
void link_wake(struct egress *e, const struct egress_context *c);

/* Apply a new snapshot, c->s. */
void link_configure(struct egress *e, const struct egress_context *c);

/* The link is down: lossless packets wait for pfc.outage from now on. */
void link_begin_outage(struct egress *e, const struct egress_context *c);

/* Open all gates that the link has closed, for good. */
void link_forget(struct egress *e, const struct egress_context *c);

#endif
