/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers: a hierarchical timing wheel (Varghese and Lauck, scheme 7) with a resolution of one nanosecond.
 *
 * A wheel holds any number of timers. To set, move or cancel one takes a constant number of steps, and so does a pass
 * in which none expires, however many are set. Over its life a timer is moved at most TIMERS_LEVELS times before it
 * expires.
 *
 *	struct session {
 *		struct timer lease;
 *		...
 *	};
 *
 *	timers_set(&wheel, &session->lease, now + lease_ns);		start it, or move it
 *	timers_cancel(&wheel, &session->lease);				before the session is freed
 *
 *	budget = 64;							once a pass
 *	while ((timer = timers_pop(&wheel, now, &budget)))
 *		expire(TIMER_OWNER(timer, struct session, lease));	it may set and cancel any timer
 *	next = timers_next(&wheel);
 *
 * Level L has 64 slots, each of 64^L ns. A timer stands on the level of the highest digit (base 64) in which its time
 * differs from the wheel's position, in the slot that this digit says. So the first slot in use of the lowest level in
 * use has the timers that expire first. When the earliest of them is due, the position moves to its time, and the
 * timers of that slot move to lower levels, relative to the new position. A slot of level 0 is one nanosecond.
 *
 * Times are in ns of one clock, the caller's, which may be virtual. They range from 0 to TIME_NEVER - 1; TIME_NEVER
 * means that the timer is not set. The caller owns wheel and timers. A wheel belongs to one lcore or thread. Nothing is
 * allocated, and no call fails.
 */
#ifndef BASE_TIMERS_H
#define BASE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define TIMERS_BITS 6
#define TIMERS_SLOTS (1 << TIMERS_BITS)
#define TIMERS_LEVELS ((64 + TIMERS_BITS - 1) / TIMERS_BITS)
#define TIMERS_SCAN 32 /* timers of a slot that timers_next looks at */

/* All zero: not set. While it is set it must not be copied or moved in memory. */
struct timer {
	struct timer *next, *prev;
	uint64_t at;   /* ns: when it expires. Only while it is set */
	uint16_t slot; /* where it stands, counted from 1; 0: it is not set */
};

/* The structure whose member `member` the timer is. */
#define TIMER_OWNER(timer, type, member) ((type *)(void *)((char *)(timer)-offsetof(type, member)))

struct timers_slot {
	struct timer *first, *last; /* in the order in which they were set */
	uint64_t earliest;	    /* none of the slot's timers expires before */
	bool stale;		    /* a timer with that time has been moved or cancelled since */
};

/* All zero is a wheel without timers. */
struct timers {
	uint64_t position; /* ns: of the last timer that expired, or later. No timer is set for a time before */
	uint64_t visited;  /* timers looked at so far: moved between levels, expired or scanned. For tests */
	uint16_t levels;   /* bit per level in use */
	uint16_t moving;   /* slot whose timers are being moved to lower levels, counted from 1; 0: none */
	uint64_t used[TIMERS_LEVELS]; /* bit per slot in use */
	struct timers_slot slot[TIMERS_LEVELS * TIMERS_SLOTS];
};

static inline bool timer_is_set(const struct timer *x)
{
	return x->slot;
}

/*
 * Let a timer expire at `at`, whether it was set before or not. A time before the wheel's position means that position:
 * the timer expires in the next pass. TIME_NEVER cancels it. A timer that was set for that time already keeps its turn
 * among those of the same time.
 */
void timers_set(struct timers *t, struct timer *x, uint64_t at);

/* The timer does not expire. It need not have been set. */
void timers_cancel(struct timers *t, struct timer *x);

/*
 * The next timer whose time has come at `now`: it is no longer set. Timers expire in the order of their times, those of
 * the same time in the order in which they were set. NULL: no more are due, or the budget is used up.
 *
 * *budget: timers that may still be looked at in this pass; a timer that is moved to a lower level counts as well. When
 * it has become 0, timers may be left that are due; then timers_next returns a time that has passed.
 *
 * `now` may stand still or jump ahead by any time. When it goes back, nothing expires until it has caught up.
 */
struct timer *timers_pop(struct timers *t, uint64_t now, unsigned int *budget);

/*
 * When to call timers_pop again; TIME_NEVER: no timer is set. It is never later than the first timer. It is exactly the
 * first timer's time, with two exceptions: a time that has passed when a pass used up its budget; and the time of a
 * timer that was moved or cancelled, when more than TIMERS_SCAN others stand in its slot. A pass at such a time finds
 * nothing due, and that time does not come again.
 */
uint64_t timers_next(struct timers *t);

#endif
