/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credit by the letter of draft-hu (docs/credit.md 2.4, D59): absolute grants in MB, increments for what was forwarded. An
 * increment that is lost for good is credit lost, so each has a MESSAGE_ID and is accepted once. Pure; control lcore, which
 * writes every member except those of the gate.
 */
#ifndef CREDIT_CREDIT_LETTER_H
#define CREDIT_CREDIT_LETTER_H

#include "base/bucket.h"
#include "credit/credit.h"

#define CREDIT_LETTER_MB 1000000	 /* bytes of 1 MB on the wire, both ways */
#define CREDIT_LETTER_RESERVE (1u << 20) /* bytes of buffer reserved for 1 MB granted */
#define CREDIT_LETTER_LEAST_MB 2	 /* a grant of 1 MB could come to a stop */
#define CREDIT_LETTER_IDS 1024		 /* ids of a neighbour and epoch that may arrive in any order */

/* The unit of an increment. */
enum credit_letter_unit { CREDIT_LETTER_UNIT_MB, CREDIT_LETTER_UNIT_BYTES };

/* MESSAGE_IDs of a neighbour that were accepted. All zero: none. */
struct credit_letter_ids {
	uint64_t seen[CREDIT_LETTER_IDS / 64]; /* bit id % 1024: accepted, of the last 1,024 ids */
	uint32_t epoch, newest;
	bool any;
};

/* Accept an id once. False: it was accepted before, or it is too old to tell. A new epoch forgets all ids. */
bool credit_letter_accept(struct credit_letter_ids *ids, uint32_t epoch, uint32_t id);

/* The sender of data: what the worker checks and changes for each packet. */
struct credit_letter_gate {
	uint64_t sent;	   /* worker: bytes given to the device since the start */
	uint64_t given_ns; /* worker: when the last of them was */
	uint64_t limit;	   /* control: value of `sent` that the credit ends at */
	bool strict;	   /* control: the draft's "smaller than", not D10's "at most" */
	bool open;	   /* control: data is permitted */
} CACHE_ALIGNED;
_Static_assert(sizeof(struct credit_letter_gate) == CACHE_LINE_BYTES, "the worker's part is one cache line");

static inline bool credit_letter_passes(const struct credit_letter_gate *g, uint32_t len)
{
	return __atomic_load_n(&g->open, __ATOMIC_ACQUIRE) &&
	       credit_ahead(__atomic_load_n(&g->limit, __ATOMIC_RELAXED), g->sent + len) >= (g->strict ? 1 : 0);
}

static inline void credit_letter_taken(struct credit_letter_gate *g, uint32_t len, uint64_t now)
{
	__atomic_store_n(&g->sent, g->sent + len, __ATOMIC_RELAXED);
	__atomic_store_n(&g->given_ns, now, __ATOMIC_RELAXED);
}

/*
 * A 29 with flow descriptor: `mb` of absolute credit. queued: packets wait. It is a grant only while both sides are idle,
 * which the sender sees as nothing queued and nothing sent for idle_ns; else it refreshes state. True: it was a grant.
 */
bool credit_letter_grant(struct credit_letter_gate *g, uint32_t mb, bool queued, uint64_t idle_ns, uint64_t now);

/* A 29 without flow descriptor, accepted by credit_letter_accept(): an increment. */
void credit_letter_return(struct credit_letter_gate *g, uint32_t value, enum credit_letter_unit unit);

/* The receiver of data. */
struct credit_letter_grantor {
	uint64_t returned;    /* bytes of `freed` that went out in increments or are covered by a new grant */
	struct bucket bucket; /* 29s of this neighbour */
};

/* Is MB a grant that works? Least 2; the buffer must hold 1 MiB for each. */
bool credit_letter_grantable(uint32_t mb, uint64_t buffer);

/* Both sides are idle, and a new grant covers the `freed` bytes that were forwarded since the start. */
void credit_letter_granted(struct credit_letter_grantor *g, uint64_t freed);

/*
 * The next increment, if there is one and the bucket of `rate` 29s a second has a token: sets *value. freed: bytes forwarded
 * since the start. What a 29 does not carry is added to the next.
 */
bool credit_letter_due(struct credit_letter_grantor *g, uint64_t freed, enum credit_letter_unit unit, uint64_t rate,
	uint64_t now, uint32_t *value);

#endif
