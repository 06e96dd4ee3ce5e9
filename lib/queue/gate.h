/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gates of an egress: which classes of which slices may send. A class may send while no cause keeps its gate closed:
 *
 *   EGRESS_PAUSE         of a class of a slice: until the last hold on it ends (pfc/pfc_hold.h), as far as its watchdog lets
 *                        holds count (watch.h)
 *   EGRESS_RATE          of a slice, all classes: until what it has sent is paid for at its max-rate
 *   EGRESS_GATE_DEVICE   of the egress, all data: until the device has taken what it was offered
 *
 * Each cause opens and closes its own gate alone, so one that ends never opens what another one keeps closed. What the
 * scheduler reads is the sum: egress_slice.barred, egress.barred and egress.may. egress.wake_ns is when the first gate opens
 * by itself.
 *
 * Another cause needs a row in enum egress_cause, a function here that says when it closes and opens (gate_set), and, if
 * time opens it, a term in gate_look_ahead.
 *
 * The owner of the egress. Nothing here takes or sends packets.
 */
#ifndef QUEUE_GATE_H
#define QUEUE_GATE_H

#include "queue/queue_priv.h"

/* Take over a slice's max-rate in bits per second; 0: none. The gate follows with the next gate_wake. */
void gate_set_rate(struct egress_slice *s, uint64_t bps);

/*
 * What was sent of a slice with a max-rate takes `time`, in 2^-EGRESS_TIME_SHIFT ns, the part of a nanosecond that was left
 * of the last time included (paid_part).
 */
void gate_pay(struct egress *e, const struct egress_context *c, struct egress_slice *s, uint64_t time);

/* The holds on classes of a slice, or of all slices (EGRESS_ALL_SLICES), have changed: close or open their gates. */
void gate_pause(struct egress *e, const struct egress_context *c, uint8_t slice, uint8_t classes);

/* Storms that begin or end by now, before a request that comes now counts. Gates change as they say. */
void gate_watch(struct egress *e, const struct egress_context *c);

/* Open the gates whose time has come. To be called when c->now >= e->wake_ns. */
void gate_wake(struct egress *e, const struct egress_context *c);

/* The device has taken all it was offered, or it has not. */
static inline void gate_device(struct egress *e, bool taken)
{
	if (unlikely(!taken))
		e->gates |= EGRESS_GATE_DEVICE;
	else if (unlikely(e->gates & EGRESS_GATE_DEVICE))
		e->gates &= (uint8_t)~EGRESS_GATE_DEVICE;
}

#endif
