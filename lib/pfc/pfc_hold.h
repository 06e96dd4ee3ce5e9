/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds on the queues of a port: which parties pause them, and until when (docs/protocol.md 4.4, D42).
 *
 * Several parties may pause a queue (slice, priority) of a port at a time: the peer on the link, and each tunnel
 * source at each End.X.PFC SID of the port. Each party has its own hold, and a new request of the party replaces the
 * rest of its hold. The gate is closed until the latest end of all holds, so the XON of one party never cancels the
 * XOFF of another. Every hold ends by itself, even without a resume.
 *
 * Only the owner of the port touches its holds. Pure: no packets, no clock, bounded memory.
 */
#ifndef PFC_PFC_HOLD_H
#define PFC_PFC_HOLD_H

#include <stdbool.h>

#include "pfc/pfc_frame.h"
#include "wire/ipv6.h"

#define PFC_PARTIES_MAX 64	       /* parties of a port at a time; further ones are refused */
#define PFC_SID_LINK UINT32_MAX	       /* the party is the peer on the link */
#define PFC_SID_START (UINT32_MAX - 2) /* the party is any far node that has not been heard since the start */
#define PFC_SID_STATE (UINT32_MAX - 1) /* the party is a far PE that sends state messages */

/* A party: (SID id, tunnel source), or (PFC_SID_LINK, ::) for the peer on the link. */
struct pfc_party {
	uint32_t sid;		 /* id of the SID, or PFC_SID_LINK, PFC_SID_START, PFC_SID_STATE */
	struct ipv6_addr source; /* outer source address of the tunnel */
};

struct pfc_hold {
	struct pfc_party party;		/* the party that holds */
	uint8_t slice;			/* slice whose queues are paused; PFC_ALL_SLICES: all queues of the port */
	uint64_t until[PFC_PRIORITIES]; /* end of the hold in ns, by priority; a time in the past: no hold */
	uint64_t said[PFC_PRIORITIES];	/* time in ns of the last request, by priority */
};

#define PFC_ALL_SLICES 0xff /* in place of a slice id: all slices of the port */

struct pfc_holds {
	uint32_t n;			       /* entries of hold in use */
	uint64_t stood_ns;		       /* time in ns at which the holds stand still; 0: their time runs */
	struct pfc_hold hold[PFC_PARTIES_MAX]; /* entries, one per party and slice */
};

/* The pause that a request asks for, by priority. */
struct pfc_pause {
	uint8_t enable;		     /* bit per priority that is paused or resumed */
	uint64_t ns[PFC_PRIORITIES]; /* duration in ns; 0: resume */
};

/*
 * Convert a request to a pause at `bps`, the rate in bits per second of the port that must stop. Each duration is
 * extended by jitter_ns, so that refreshes that are late by as much leave no gap. A resume is effective at once.
 */
struct pfc_pause pfc_pause_of(const struct pfc_request *request, uint64_t bps, uint64_t jitter_ns);

/*
 * Apply a request that a party sent, received at `now` (ns). Returns false and changes nothing when it asks for a
 * pause and PFC_PARTIES_MAX holds have not ended yet.
 */
bool pfc_holds_apply(struct pfc_holds *h, const struct pfc_party *party, uint8_t slice, const struct pfc_pause *pause,
	uint64_t now);

/*
 * Requests that count. A hold counts if its request was received at or after the given time in ns; 0: all count;
 * TIME_NEVER: none counts. With these times a watchdog permanently ignores the requests of a storm for one queue.
 */
struct pfc_heed {
	uint64_t link, tunnels; /* for the peer on the link; for tunnel sources */
};

/*
 * Stop the time of all holds at `now` (ns): while nothing can be received, none of them may end. Requests that are
 * received meanwhile count from the same moment. No effect if it is stopped.
 */
void pfc_holds_stand_still(struct pfc_holds *h, uint64_t now);

/* Let the time of the holds go on at `now` (ns): each lasts for what was left of it. No effect if it runs. */
void pfc_holds_go_on(struct pfc_holds *h, uint64_t now);

/* Time in ns at which the gate of a queue opens if no further request is received; <= now: it is open. TIME_NEVER: holds stand still. */
uint64_t pfc_holds_until(const struct pfc_holds *h, uint8_t slice, unsigned int priority, struct pfc_heed heed);

/* Time in ns at which the last hold of a SID on a priority ends, in any slice, if the holds' time runs; <= now: none. */
uint64_t pfc_holds_of_sids(const struct pfc_holds *h, unsigned int priority);

/* Number of parties whose holds on the queue have not ended at `now`. */
unsigned int pfc_holds_count(const struct pfc_holds *h, uint8_t slice, unsigned int priority, uint64_t now);

#endif
