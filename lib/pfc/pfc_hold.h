/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who holds a port's queues closed, and until when (docs/protocol.md 4.4, D42).
 *
 * A queue (slice, priority) of a port may be paused by several parties at once: the peer on the link, and for
 * every End.X.PFC SID of the port each tunnel source behind it. Each has a hold of its own; a new request of the
 * same party replaces what was left of its hold, and the gate is closed until the latest end of all holds. So
 * the XON of one never cancels the XOFF of another. Every hold ends by itself, even if nobody ever says so.
 *
 * The port's owner alone touches the holds of a port. Pure: no packets, no clock, bounded memory.
 */
#ifndef PFC_PFC_HOLD_H
#define PFC_PFC_HOLD_H

#include <stdbool.h>

#include "pfc/pfc_frame.h"
#include "wire/ipv6.h"

#define PFC_PARTIES_MAX 64	       /* at a time and port; one more is refused */
#define PFC_SID_LINK UINT32_MAX	       /* the party is the peer on the link itself */
#define PFC_SID_STATE (UINT32_MAX - 1) /* a far PE by its state messages */

/* Who asks: (SID id, tunnel source), or (PFC_SID_LINK, ::). */
struct pfc_party {
	uint32_t sid;
	struct ipv6_addr source;
};

struct pfc_hold {
	struct pfc_party party;
	uint8_t slice;			/* whose queues; PFC_ALL_SLICES: those of the port */
	uint64_t until[PFC_PRIORITIES]; /* ns; what has passed means nothing */
	uint64_t said[PFC_PRIORITIES];	/* when */
};

#define PFC_ALL_SLICES 0xff

struct pfc_holds {
	uint32_t n;
	struct pfc_hold hold[PFC_PARTIES_MAX];
};

/* How long a request stops each priority, in ns; 0: it may go on. */
struct pfc_pause {
	uint8_t enable; /* priorities it speaks about */
	uint64_t ns[PFC_PRIORITIES];
};

/*
 * The pause a frame means at the rate of the port that is to stop, held jitter_ns longer than it says, so that refreshes which
 * are late by as much leave no hole. A resume is one at once.
 */
struct pfc_pause pfc_pause_of(const struct pfc_request *request, uint64_t bps, uint64_t jitter_ns);

/*
 * A party has spoken at `now`. False, and nothing changes, when it asks for a pause and there are
 * PFC_PARTIES_MAX parties with unexpired holds already.
 */
bool pfc_holds_apply(struct pfc_holds *h, const struct pfc_party *party, uint8_t slice, const struct pfc_pause *pause,
	uint64_t now);

/*
 * Whose words count, of the peer on the link and of tunnel sources: what was said at or after that time. 0: all;
 * TIME_NEVER: nothing. So a watchdog sets aside what a storm has said, of one queue alone and for good.
 */
struct pfc_heed {
	uint64_t link, tunnels;
};

/* When the gate of a queue opens if nobody speaks again; <= now: it is open. */
uint64_t pfc_holds_until(const struct pfc_holds *h, uint8_t slice, unsigned int priority, struct pfc_heed heed);

/* Parties whose holds on the queue have not ended. */
unsigned int pfc_holds_count(const struct pfc_holds *h, uint8_t slice, unsigned int priority, uint64_t now);

#endif
