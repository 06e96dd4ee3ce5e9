/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's reaction point (Zhu et al., SIGCOMM 2015): how a sender reacts to CNPs. Its timers are not events:
 * dcqcn_rate makes up for the periods that have passed. Pure; the lab is single-threaded.
 */
#ifndef LAB_DCQCN_H
#define LAB_DCQCN_H

#include <stdint.h>

#define DCQCN_CNP_NS 50000 /* shortest time between two CNPs of a flow */

struct dcqcn {
	double line, current, target, alpha; /* bit/s; 0 to 1 */
	uint64_t alpha_at, timer_at;	     /* ns: start of their current periods */
	uint64_t bytes;			     /* sent since the byte counter last expired */
	unsigned int timer_rounds, byte_rounds;
};

void dcqcn_init(struct dcqcn *d, uint64_t line_bps);
void dcqcn_cnp(struct dcqcn *d, uint64_t now);

/* The rate at `now` in bit/s; `bytes` were sent since the last call. */
uint64_t dcqcn_rate(struct dcqcn *d, uint64_t now, uint64_t bytes);

#endif
