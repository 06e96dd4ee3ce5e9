/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact history of the pauses of one queue: each pause is known by the frames that began and ended it, not by polling.
 * One object per queue and direction (paused by others, pausing others). Pure; one writer.
 */
#ifndef PFC_PFC_HISTORY_H
#define PFC_PFC_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Buckets of the histogram of pause lengths. [i] counts pauses of 2^i to 2^(i+1) - 1 us; [0] also shorter ones, the
 * last bucket also longer ones.
 */
#define PFC_HISTOGRAM 24

struct pfc_history {
	uint64_t transitions;		/* number of changes from open to paused */
	uint64_t total_ns;		/* total of ended pauses, in ns */
	uint64_t last_ns;		/* length of the last ended pause, in ns */
	uint64_t last_began;		/* begin of the last pause, in ns of the caller's clock; 0: never paused */
	uint64_t until;			/* known end of the current pause, in ns of the caller's clock; 0: open */
	uint64_t length[PFC_HISTOGRAM]; /* number of ended pauses by length */
};

/* Record at `now` that the queue is paused until `until` (both ns); until <= now: open from now on. */
void pfc_history_set(struct pfc_history *h, uint64_t until, uint64_t now);

/* Count a pause that has expired at or before `now`. */
void pfc_history_settle(struct pfc_history *h, uint64_t now);

/*
 * Copy for a reader on another lcore at `now`, while the writer continues. In the copy a pause that has expired is
 * counted; in the original the writer counts it at its next update.
 */
struct pfc_history pfc_history_at(const struct pfc_history *from, uint64_t now);

/* Total time paused in ns at `now`, the current pause included. Readers on other lcores may pass a copy. */
uint64_t pfc_history_total(const struct pfc_history *h, uint64_t now);

/*
 * Difference to `base`, a copy of the same history made at `base_now`. Of a pause that was current then, only the rest
 * counts. Length and begin of the last pause are copied unchanged.
 */
struct pfc_history pfc_history_since(const struct pfc_history *h, const struct pfc_history *base, uint64_t base_now);

static inline bool pfc_history_is_paused(const struct pfc_history *h, uint64_t now)
{
	return h->until > now;
}

#endif
