/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What became of one queue's pauses, exactly: each one is known by the frames that began and ended it, not by
 * polling. One object per queue and direction (paused by others, pausing others). Pure; one writer.
 */
#ifndef PFC_PFC_HISTORY_H
#define PFC_PFC_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define PFC_HISTOGRAM 24 /* [i]: pauses of 2^i to 2^(i+1) - 1 us; [0] also shorter, the last one also longer */

struct pfc_history {
	uint64_t transitions; /* from open to paused */
	uint64_t total_ns;    /* of pauses that have ended */
	uint64_t last_ns;     /* length of the last one that has ended */
	uint64_t last_began;  /* ns on the caller's clock; 0: never */
	uint64_t until;	      /* end of the pause under way as known so far; 0: open */
	uint64_t length[PFC_HISTOGRAM];
};

/* At `now` the queue is known to be paused until `until`; until <= now: it is open from now on. */
void pfc_history_set(struct pfc_history *h, uint64_t until, uint64_t now);

/* Book a pause that has run out. */
void pfc_history_settle(struct pfc_history *h, uint64_t now);

/*
 * What a reader on another lcore is shown at `now`, while the writer goes on: a pause that has run out is booked, which
 * the writer does only with its next word.
 */
struct pfc_history pfc_history_at(const struct pfc_history *from, uint64_t now);

/* Time paused so far, the pause under way included. A copy will do for readers on other lcores. */
uint64_t pfc_history_total(const struct pfc_history *h, uint64_t now);

/*
 * What has been counted since `base`, a copy of the same history made at `base_now`: of a pause under way then the rest.
 * Length and begin of the last pause stay.
 */
struct pfc_history pfc_history_since(const struct pfc_history *h, const struct pfc_history *base, uint64_t base_now);

static inline bool pfc_history_is_paused(const struct pfc_history *h, uint64_t now)
{
	return h->until > now;
}

#endif
