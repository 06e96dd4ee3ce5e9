/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's reaction point (Zhu et al., SIGCOMM 2015): what a sender does about CNPs. Timers are not events: what they
 * would have done is caught up with when the rate is asked for.
 */
#ifndef LAB_DCQCN_H
#define LAB_DCQCN_H

#include <stdint.h>

#define DCQCN_CNP_NS 50000 /* a receiver sends one CNP per flow in this time at most */

struct dcqcn {
	double line, current, target, alpha; /* bit/s; 0 to 1 */
	uint64_t alpha_at, timer_at;	     /* ns: when their periods began */
	uint64_t bytes;			     /* since the byte counter last struck */
	unsigned int timer_rounds, byte_rounds;
};

void dcqcn_init(struct dcqcn *d, uint64_t line_bps);
void dcqcn_cnp(struct dcqcn *d, uint64_t now);

/* bit/s now; `bytes` have been sent since it was last asked. */
uint64_t dcqcn_rate(struct dcqcn *d, uint64_t now, uint64_t bytes);

#endif
