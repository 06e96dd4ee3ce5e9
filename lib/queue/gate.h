/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gates of an egress: which classes of which slices may send. A class may send while no cause closes its gate:
 *
 *   EGRESS_PAUSE         a class of a slice, until the last hold on it ends (pfc/pfc_hold.h); the watchdog decides
 *                        which holds count (watch.h)
 *   EGRESS_LINK          the same classes of all slices, while the link is down and until the neighbour has been heard
 *                        after it has come up (link.h)
 *   EGRESS_RATE          all classes of a slice, until its max-rate allows the bytes that it has sent
 *   EGRESS_GATE_DEVICE   all data of the egress, until the device has accepted all frames offered
 *
 * Each cause opens and closes only its own gate, so the end of one cause never opens a gate that another cause closes.
 * The scheduler reads the union of the causes: egress_slice.barred, egress.barred and egress.may. egress.wake_ns is
 * the time at which the first gate opens by itself.
 *
 * To add a cause, add a row to enum egress_cause, a function here that closes and opens its gate (gate_set), and, if
 * time opens the gate, a term in gate_look_ahead.
 *
 * Only the owner of the egress calls these functions. They neither enqueue nor send packets.
 */
#ifndef QUEUE_GATE_H
#define QUEUE_GATE_H

#include "queue/queue_priv.h"

/* Set the max-rate of a slice in bits per second; 0: none. The gate follows at the next gate_wake. */
void gate_set_rate(struct egress_slice *s, uint64_t bps);

/*
 * Charge sent bytes to a slice with a max-rate. `time` is their time at the max-rate, in 2^-EGRESS_TIME_SHIFT ns, and
 * includes the fraction left over from the previous call (paid_part).
 */
void gate_pay(struct egress *e, const struct egress_context *c, struct egress_slice *s, uint64_t time);

/*
 * Close or open the gates of `classes` (a bit each) after holds of a slice, or of all slices (EGRESS_ALL_SLICES), have
 * changed.
 */
void gate_pause(struct egress *e, const struct egress_context *c, uint8_t slice, uint8_t classes);

/*
 * Close the gates of the classes in `closed` (a bit each) in all slices and open those of the others, because of the
 * link; then update the gates closed by pauses, whose holds may have stopped or gone on.
 */
void gate_link(struct egress *e, const struct egress_context *c, uint8_t closed);

/* Apply storms that begin or end at or before c->now, and update the gates. Call before a new request is applied. */
void gate_watch(struct egress *e, const struct egress_context *c);

/* Open the gates whose time has come. Call when c->now >= e->wake_ns. */
void gate_wake(struct egress *e, const struct egress_context *c);

/* Open the device's gate if the device has accepted all frames offered, else close it. */
static inline void gate_device(struct egress *e, bool taken)
{
	if (unlikely(!taken))
		e->gates |= EGRESS_GATE_DEVICE;
	else if (unlikely(e->gates & EGRESS_GATE_DEVICE))
		e->gates &= (uint8_t)~EGRESS_GATE_DEVICE;
}

#endif
