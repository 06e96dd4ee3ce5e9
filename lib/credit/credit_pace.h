/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pacing of updates and size of windows (docs/credit.md 2.9: D24, D53, D54), and the measured loop that both follow.
 * Pure; control lcore and the configuration's check.
 */
#ifndef CREDIT_CREDIT_PACE_H
#define CREDIT_CREDIT_PACE_H

#include "credit/credit.h"

#define CREDIT_UPDATES_PER_S 100000 /* default of U: updates a second that control may spend */
#define CREDIT_FENCES_PER_S 8000    /* each with a message of its own; neighbours hear 20,000 a second by default */
#define CREDIT_BATCH_LEAST 65536    /* bytes */

/* What the rule of 2.9 is computed from. Rates in bytes a second, charged (2.12). */
struct credit_load {
	uint64_t rate;	   /* R of the class on this hop */
	uint64_t rate_all; /* R_all: of all credit sessions of this grantor */
	uint64_t loop_ns;  /* T_loop */
	uint32_t updates;  /* U; not 0 */
	uint32_t mtu;	   /* charged bytes of the largest packet */
};

/* N2 in charged bytes of a session with a window of `window` bytes. */
uint64_t credit_batch(const struct credit_load *load, uint64_t window);

/* C in charged bytes: rate * loop, four batches and two MTUs, solved for C. */
uint64_t credit_window(const struct credit_load *load);

/* Share of the rate that a window reaches, 0 to 1, without loss. */
double credit_utilisation(const struct credit_load *load, uint64_t window);

/* T_sync, T_hb and T_fence in ns. busy: sessions with data. */
uint64_t credit_sync_time(const struct credit_load *load, uint64_t busy);
uint64_t credit_heartbeat_time(uint64_t sync_ns);
uint64_t credit_fence_time(uint64_t loop_ns, uint64_t busy);

/* T_stall: loop_ns + 3 sync_ns. The same time passes before the user asks. */
uint64_t credit_stall_time(uint64_t loop_ns, uint64_t sync_ns);

#define CREDIT_LOOP_BUCKETS 368	 /* 16 for each doubling, from 1 us to more than 60 s */
#define CREDIT_LOOP_SAMPLES 8192 /* then all counts are halved, so that old samples fade */

/* Distribution of T_loop. All zero: no sample. */
struct credit_loop {
	uint32_t samples;
	uint16_t count[CREDIT_LOOP_BUCKETS];
};

void credit_loop_add(struct credit_loop *l, uint64_t loop_ns);

/* The time in ns below which `permille` of 1000 samples lie, at most 6.25 % too large; 0: no sample. */
uint64_t credit_loop_quantile(const struct credit_loop *l, uint32_t permille);

#endif
