/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's reaction point (Zhu et al., SIGCOMM 2015): how a sender reacts to CNPs. Its timers are not events:
 * dcqcn_rate makes up for the periods that have passed. Pure; the lab is single-threaded.
 */
#ifndef LAB_DCQCN_H
#define LAB_DCQCN_H

#include <stdbool.h>
#include <stdint.h>

/* Rates in bit/s, times in ns. */
struct dcqcn_profile {
	double gain;	     /* g */
	uint32_t alpha_ns;   /* K: period of alpha */
	bool periodic;	     /* alpha grows once in a period with CNPs; otherwise with each CNP */
	uint32_t reduce_ns;  /* least time between two reductions */
	double least_share;  /* a reduction leaves at least this share of the rate */
	uint32_t timer_ns;   /* T */
	uint32_t bytes;	     /* B */
	unsigned int rounds; /* F */
	double additive, hyper, least;
	uint32_t cnp_ns; /* of the receiver: least time between two CNPs of a flow */
};

extern const struct dcqcn_profile dcqcn_paper; /* of the paper */
extern const struct dcqcn_profile dcqcn_nic;   /* firmware defaults of ConnectX-5 and later */

struct dcqcn {
	const struct dcqcn_profile *profile;
	double line, current, target, alpha; /* bit/s; 0 to 1 */
	uint64_t alpha_at, timer_at;	     /* ns: start of their current periods */
	uint64_t reduced_at;		     /* ns; 0: never */
	uint64_t bytes;			     /* sent since the byte counter last expired */
	unsigned int timer_rounds, byte_rounds;
	bool notified; /* a CNP has come in this period of alpha */
};

void dcqcn_init(struct dcqcn *d, const struct dcqcn_profile *profile, uint64_t line_bps);
void dcqcn_cnp(struct dcqcn *d, uint64_t now);
void dcqcn_restart(struct dcqcn *d, uint64_t now); /* after a loss: half of the rate, whatever alpha is */

/* The rate at `now` in bit/s; `bytes` were sent since the last call. */
uint64_t dcqcn_rate(struct dcqcn *d, uint64_t now, uint64_t bytes);

#endif
