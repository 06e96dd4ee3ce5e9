/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PFC watchdogs of an egress decide which requests to pause count and until when they pause a queue. They do not
 * access gates: gate_dp.c calls them and sets the gates. Worker lcores; the owner of the egress.
 */
#ifndef QUEUE_WATCH_H
#define QUEUE_WATCH_H

#include "queue/queue_priv.h"

/*
 * A party asks to pause or resume classes of a slice, or of all slices (EGRESS_ALL_SLICES). Call before its hold is
 * set.
 */
void watch_request(struct egress *e, const struct egress_context *c, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause);

/*
 * Return the time in ns until which the holds that count pause a queue. At or before c->now: not paused. TIME_NEVER: a
 * storm drops its packets. The watchdog records the time. Call whenever holds of the queue have changed or one has
 * ended.
 */
uint64_t watch_pause(struct egress *e, const struct egress_context *c, uint32_t slice, unsigned int class);

/*
 * Process due events of the watchdog of a queue: alarm, storm, restoration. True: the set of holds that count has
 * changed; call watch_pause, then watch_poll again. False: no event is due before *next (ns; TIME_NEVER: never).
 */
bool watch_poll(struct egress *e, const struct egress_context *c, uint32_t slice, unsigned int class, uint64_t *next);

/*
 * Call after a round of watch_poll: record in the egress whether a queue is in a storm, and publish to rx lcores which
 * priorities to drop.
 */
void watch_publish(struct egress *e, const struct egress_context *c);

/* Apply a new snapshot, which may enable or disable watchdogs. n_slices_before: number of slices before it. */
void watch_configure(struct egress *e, const struct egress_context *c, uint32_t n_slices_before);

#endif
