/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leases between neighbours (docs/credit.md 2.10, 2.11, D49): the user's credit ends T_user after it received the grantor's
 * last 29; the grantor promises the buffer to others no sooner than T_lease after it sent that. Pure; control lcore, which
 * writes every member. Workers read until_ns.
 */
#ifndef CREDIT_CREDIT_ALIVE_H
#define CREDIT_CREDIT_ALIVE_H

#include "credit/credit.h"

#define CREDIT_HB_MISSED 3 /* T_user in heartbeats */
#define CREDIT_HB_LEAST_NS NSEC_PER_MSEC
#define CREDIT_CLOCK_DRIFT_PPM 200 /* two clocks, 100 ppm each */

/* The user's side, one for each neighbour that grants. All zero: never heard, no credit. */
struct credit_alive {
	uint64_t until_ns; /* credit of the neighbour ends; read by workers (credit_gate_passes) */
	uint64_t heard_ns; /* reception of its last 29 */
	uint64_t hb_ns;	   /* T_hb in that */
};

enum credit_beat {
	CREDIT_BEAT,	  /* in time: the credit goes on */
	CREDIT_BEAT_LATE, /* the credit had ended: each session of the neighbour begins a new epoch */
};

/* A new 29 (CREDIT_TAKEN, CREDIT_ADOPTED) that was received at `now` by its stamp. hb_us as in the 29; 0 counts as 1 ms. */
enum credit_beat credit_alive_hear(struct credit_alive *a, uint32_t hb_us, uint64_t now);

/* Has the neighbour been silent for T_user? Then its sessions are DOWN. */
bool credit_alive_ended(const struct credit_alive *a, uint64_t now);

/* What T_lease adds to T_user, in ns (2.11). */
struct credit_way {
	uint64_t rtt_ns;    /* RTT_max: longest round trip, 29 one way and data the other; sojourn between included */
	uint64_t jitter_ns; /* of one way */
	uint64_t hold_ns;   /* H of the user's port (D48); TIME_NEVER: no bound, and no lease */
	uint64_t polls_ns;  /* poll loops of user and grantor together */
};

uint64_t credit_user_time(uint64_t hb_ns);
uint64_t credit_lease_time(uint64_t hb_ns, const struct credit_way *way);

/* The grantor's side, one for each neighbour that has been granted credit. */
struct credit_lease {
	uint64_t
		ends_ns; /* of all 29s sent, the latest time until which they may keep credit alive; TIME_NEVER: none */
	uint64_t sent_ns; /* of the last 29 */
};

/* A 29 with this heartbeat leaves at `now`. Afterwards ends_ns is when the buffer may be promised to others. */
void credit_lease_sent(struct credit_lease *l, uint64_t hb_ns, const struct credit_way *way, uint64_t now);

/* Must a 29 go to this neighbour now, so that the next follows the last within T_hb? */
bool credit_lease_beat_due(const struct credit_lease *l, uint64_t hb_ns, uint64_t now);

#endif
