/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers: a hierarchical timing wheel (Varghese and Lauck, scheme 7) with a resolution of one nanosecond.
 *
 * A wheel holds any number of timers. Setting, moving and cancelling a timer take a constant number of steps. So does a
 * pass in which none expires, whatever the number of timers. A timer moves between levels at most TIMERS_LEVELS times
 * before it expires.
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
 * Level L has 64 slots, each of 64^L ns. The level of a timer is the highest digit (base 64) in which its time differs
 * from the wheel's position. That digit is the number of its slot. So the first slot in use of the lowest level in use
 * has the timers that expire first. When the earliest of them is due, the position moves to its time. The timers of
 * that slot then move to lower levels, relative to the new position. A slot of level 0 is one nanosecond.
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

/* All zero: not set. While a timer is set it must not be copied or moved in memory. */
struct timer {
	struct timer *next, *prev;
	uint64_t at;   /* ns: expiry time; valid only while the timer is set */
	uint16_t slot; /* slot that holds it, counted from 1; 0: not set */
	uint8_t kind;  /* the caller's: what the timer is part of */
};

/* The structure that contains the timer as its member `member`. */
#define TIMER_OWNER(timer, type, member) ((type *)(void *)((char *)(timer)-offsetof(type, member)))

struct timers_slot {
	struct timer *first, *last; /* in the order in which they were set */
	uint64_t earliest;	    /* lower bound of the expiry times in the slot */
	bool stale;		    /* a timer with that time was moved or cancelled */
};

/* All zero: a wheel without timers. */
struct timers {
	uint64_t position; /* ns: time of the last timer that expired, or later; no timer is set for an earlier time */
	uint64_t visited;  /* timers examined so far: moved between levels, expired or scanned; for tests */
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
 * Set the timer to expire at `at`, whether it was set before or not. A time before the wheel's position means that
 * position: the timer expires in the next pass. TIME_NEVER cancels the timer. A timer that is already set for that time
 * keeps its place among the timers of the same time.
 */
void timers_set(struct timers *t, struct timer *x, uint64_t at);

/* Cancel the timer. It need not be set. */
void timers_cancel(struct timers *t, struct timer *x);

/*
 * Take the next timer that has expired at `now`; it is not set afterwards. Timers expire in the order of their times.
 * Timers of the same time expire in the order in which they were set. Returns NULL when no more are due or the budget
 * is used up.
 *
 * *budget is the number of timers that this pass may still examine. A timer that is moved to a lower level counts as
 * well. At 0, due timers may be left; timers_next then returns a time in the past.
 *
 * `now` may stand still or jump ahead by any time. When it goes back, nothing expires until it has caught up.
 */
struct timer *timers_pop(struct timers *t, uint64_t now, unsigned int *budget);

/*
 * When to call timers_pop again; TIME_NEVER when no timer is set. It is never later than the first timer's time.
 * It equals that time, with two exceptions. After a pass that used up its budget it lies in the past. After a timer in
 * a slot with more than TIMERS_SCAN others was moved or cancelled, it may be that timer's time. A pass at such a time
 * finds nothing due, and that time is not returned again.
 */
uint64_t timers_next(struct timers *t);

#endif
