/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Token bucket on the caller's clock. rte_meter does not fit because it counts TSC cycles, and time may be virtual
 * here.
 */
#ifndef BASE_BUCKET_H
#define BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* All zero is a full bucket. */
struct bucket {
	uint64_t debt_ns; /* time that the tokens taken so far need to grow again */
	uint64_t seen_ns; /* time at which debt_ns was computed */
};

/*
 * Take one token from a bucket that holds `burst` tokens and gains `rate` tokens a second. Returns false when the
 * bucket is empty. A bucket of rate 0 is always empty.
 */
static inline bool bucket_take(struct bucket *b, uint64_t now_ns, uint64_t rate, uint64_t burst)
{
	uint64_t token_ns, grown;

	if (!rate)
		return false;
	token_ns = MAX_OF(NSEC_PER_SEC / rate, 1);
	grown = now_ns - b->seen_ns;
	b->debt_ns -= MIN_OF(b->debt_ns, grown);
	b->seen_ns = now_ns;
	if (b->debt_ns + token_ns > token_ns * burst)
		return false;
	b->debt_ns += token_ns;
	return true;
}

#endif
