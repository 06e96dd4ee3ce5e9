/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What credit costs over a distance, and what it reaches: the rule of docs/credit.md 2.9 with the units of 2.12. Pure; any
 * thread.
 */
#ifndef CREDIT_CREDIT_PLAN_H
#define CREDIT_CREDIT_PLAN_H

#include "credit/credit_pace.h"

#define CREDIT_FRAME_BYTES 78	/* Ethernet with preamble, gap and FCS (38), and the outer IPv6 header */
#define CREDIT_BUFFER_BYTES 256 /* what a packet buffer has beside its data: descriptor and headroom */

struct credit_question {
	uint64_t rate_bps;	 /* of the hop; not 0 */
	uint64_t one_way_ns;	 /* of the hop */
	uint64_t poll_ns;	 /* of both ends together */
	uint32_t packet;	 /* bytes of the packets that are charged (2.12); not 0 */
	uint32_t updates;	 /* that control may spend a second; not 0 */
	uint32_t sessions;	 /* that are busy together; not 0 */
	uint32_t overhead, unit; /* credit.overhead, exponent of credit.unit */
	double loss;		 /* share of packets that are lost on the hop */
};

struct credit_answer {
	uint64_t rate;	      /* charged bytes a second at the rate of the hop */
	uint64_t loop_ns;     /* T_loop */
	uint64_t window;      /* units that one session needs to use the whole rate */
	uint64_t share;	      /* units that each of `sessions` needs to use its part of the rate */
	uint64_t batch;	      /* units that are freed before an update is sent, of one session with the whole rate */
	uint64_t batch_share; /* the same of one of `sessions` */
	uint64_t update_rate; /* updates a second, of all sessions */
	uint64_t sync_ns, fence_ns;
	uint64_t pool;	    /* units: enough for all shares, and for one session alone */
	uint64_t memory;    /* bytes of buffers for the pool */
	double utilisation; /* of the hop by one session with `window`, with fences */
	double bdp;	    /* the same with no more than rate times loop */
	double idle_only;   /* with `window` and without fences: what losses leave (2.6) */
};

void credit_plan(const struct credit_question *q, struct credit_answer *a);

#endif
