/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whom to pause when several ingress nodes feed one congested egress (docs/protocol.md 5.7): those with the largest share
 * first, as few as it takes. It affects fairness, never loss: headroom is computed as if nobody were singled out.
 *
 * One object per (slice, priority). Contributors are numbered by the caller, the same number for the same one as long as
 * the object lives. Pure; one writer.
 */
#ifndef PFC_PFC_FANOUT_H
#define PFC_PFC_FANOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define PFC_CONTRIBUTORS_MAX 64

/* Where the buffer of the priority stands. */
enum pfc_level {
	PFC_LEVEL_LOW,	/* below XON: everybody may go on */
	PFC_LEVEL_FINE, /* between XON and XOFF: nothing changes */
	PFC_LEVEL_HIGH, /* above XOFF */
	PFC_LEVEL_FULL, /* above the second threshold: everybody is paused */
};

struct pfc_fanout {
	uint64_t loop_ns;    /* longest time from a decision to its effect: one round trip and the reactions */
	uint64_t paused;     /* contributors that hold a stop */
	uint64_t decided_at; /* last time somebody was paused */
	uint64_t bytes_then; /* in the buffer at that time */
};

/*
 * Decide at `now`. rate[i]: bytes a second that contributor i of n sent of late; drain: bytes a second that leave;
 * buffered: bytes in the buffer. Returns who is to hold a stop from now on: pause those that are new, resume those that are
 * gone. Contributors that went silent keep what they have.
 */
uint64_t pfc_fanout_decide(struct pfc_fanout *f, enum pfc_level level, const uint64_t *rate, unsigned int n,
	uint64_t drain, uint64_t buffered, uint64_t now);

#endif
