/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the contributors to pause when several ingress nodes feed one congested egress (docs/protocol.md 5.7): those
 * with the largest shares first, and as few as necessary. The selection affects fairness, never loss: headroom is
 * computed as if no contributor were selected.
 *
 * One object per (slice, priority). The caller numbers the contributors; a contributor keeps its number as long as the
 * object lives. Pure; one writer, the control lcore.
 */
#ifndef PFC_PFC_FANOUT_H
#define PFC_PFC_FANOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define PFC_CONTRIBUTORS_MAX 64

/* Level of the priority's buffer. */
enum pfc_level {
	PFC_LEVEL_LOW,	/* below XON: all contributors may resume */
	PFC_LEVEL_FINE, /* between XON and XOFF: no change */
	PFC_LEVEL_HIGH, /* above XOFF: the largest contributors are paused */
	PFC_LEVEL_FULL, /* above the second threshold: all contributors are paused */
};

struct pfc_fanout {
	uint64_t loop_ns; /* longest time in ns from a decision to its effect: one round trip and the reaction times */
	uint64_t paused;  /* bit per contributor that is paused */
	uint64_t decided_at; /* time in ns of the last decision to pause */
	bool settled;	     /* the decision has taken effect: what was under way then has arrived */
	uint64_t least;	     /* fewest bytes in the buffer since then */
};

/* The buffer still fills if it holds so many bytes more than at its lowest after the last decision took effect. */
#define PFC_FANOUT_GROWTH (32u * 1024)

/*
 * Decide at `now` (ns) over `members`, a bit per contributor. rate[i]: recent rate of contributor i in bytes per second. drain: bytes per second that
 * leave the buffer. buffered: bytes in the buffer. Returns the contributors that must be paused, a bit each: the
 * caller pauses new ones and resumes those removed. A contributor that has stopped sending keeps its state.
 */
uint64_t pfc_fanout_decide(struct pfc_fanout *f, enum pfc_level level, const uint64_t *rate, uint64_t members,
	uint64_t drain, uint64_t buffered, uint64_t now);

/* Time in ns at which to decide again if the level does not change; call after pfc_fanout_decide at `now`. */
uint64_t pfc_fanout_next(const struct pfc_fanout *f, uint64_t now);

#endif
