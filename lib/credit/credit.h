/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credit of one hop (docs/credit.md 2.2, 2.5): units, messages and the arithmetic of counters. The *user* sends data and
 * spends credit, the *grantor* receives data and gives credit.
 *
 * Who does what: rx lcores count what arrives (struct credit_intake), workers count what ends (struct credit_release) and
 * ask whether they may send (struct credit_gate); the control lcore does everything else. A counter of the data path
 * never restarts. An epoch is the value of a counter at which it began, so no lcore resets what another one counts.
 *
 * Pure: no packets, no clock. Times are in ns of one monotonic clock.
 */
#ifndef CREDIT_CREDIT_H
#define CREDIT_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define CREDIT_UNIT_EXPONENT 11 /* default: a unit is one packet buffer of 2,048 bytes (D55) */
#define CREDIT_OVERHEAD 128	/* bytes charged for the headers in front of a packet (D56) */

/* What a packet of `len` bytes costs, in units of 2^exponent bytes (D9). len: docs/credit.md 2.12; exponent: <= 20. */
static inline uint32_t credit_units(uint32_t len, uint32_t overhead, unsigned int exponent)
{
	return (uint32_t)(((uint64_t)len + overhead + (1u << exponent) - 1) >> exponent);
}

/* Counters wrap and are compared by their signed difference: a - b. */
static inline int64_t credit_ahead(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

static inline bool credit_newer(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

/* The epoch after `epoch`: 0 is none. */
static inline uint32_t credit_next_epoch(uint32_t epoch)
{
	return epoch + 1 ? epoch + 1 : 1;
}

/* CREDIT of a 29, C-Type 3 or 4 (2.2). Written by the grantor. */
struct credit_update {
	bool commit;	   /* flag S: permits data */
	bool has_echo;	   /* C-Type 4 */
	uint32_t epoch;	   /* never 0 */
	uint32_t sequence; /* within the epoch */
	uint32_t buf;	   /* units reserved for the session */
	uint32_t hb_us;	   /* the next 29 to this neighbour follows within this time */
	uint32_t echo;	   /* newest CBFC_HOP received of this context; 0: none */
	uint64_t fccl;	   /* units that may have been sent since the epoch began */
	uint64_t abr;	   /* units received or declared lost since the epoch began */
};

/* CBFC_HOP of a 28 or of a marker (2.2). Written by the user. */
struct credit_hop {
	bool full;	   /* in a full 28, not in a marker */
	bool idle;	   /* no data given to the device for D_idle */
	bool ask;	   /* answer at once */
	uint32_t epoch;	   /* 0: not known, a request for a new one if `full` and `idle` */
	uint32_t sequence; /* one more with each CBFC_HOP of the session, except with a repeat of RESYNC's 28 */
	uint32_t want;	   /* units of window that the user could use; 0: as it is (D52) */
	uint64_t fctbs;	   /* units sent since the epoch began; in a statement: in front of the fence */
	uint64_t fence;	   /* number of the fence that fctbs is stated for; 0: no statement (D45) */
};

/*
 * The window that a grantor has behind it, read by control: `freed` first, then `rcvd`, so that rcvd - freed is never
 * negative. At a far gateway freed is the sum over workers (D47).
 */
struct credit_totals {
	uint64_t rcvd, freed; /* units since the start */
};

#endif
