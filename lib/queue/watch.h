/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PFC watchdogs of an egress: they decide which requests to pause count, and until when a queue is paused by them.
 * They know no gates; gate_dp.c calls them and sets the gates. The owner of the egress.
 */
#ifndef QUEUE_WATCH_H
#define QUEUE_WATCH_H

#include "queue/queue_priv.h"

/* A party asks to pause or resume classes of a slice, or of all slices. Before its hold is set. */
void watch_request(struct egress *e, const struct egress_context *c, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause);

/*
 * Until when the holds that count pause a queue (ns); not after c->now: not at all; TIME_NEVER: a storm drops its
 * packets. The watchdog takes note of it. To be called whenever the holds of the queue have changed or one has ended.
 */
uint64_t watch_pause(struct egress *e, const struct egress_context *c, uint32_t slice, unsigned int class);

/*
 * Take what is due for the watchdog of a queue: an alarm, a storm, a restoration. True: other holds count now; call
 * watch_pause, then watch_poll again. False: nothing more is due before *next (ns; TIME_NEVER: never).
 */
bool watch_poll(struct egress *e, const struct egress_context *c, uint32_t slice, unsigned int class, uint64_t *next);

/* After a round of watch_poll: tell the egress that some queue is in a storm, and rx lcores which priorities to drop. */
void watch_publish(struct egress *e, const struct egress_context *c);

/* A new snapshot: a watchdog may be on that was off, or the other way round. */
void watch_configure(struct egress *e, const struct egress_context *c, uint32_t n_slices_before);

#endif
