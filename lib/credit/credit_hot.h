/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the data path reads and writes for each packet of a session: one cache line for each role. The functions do not
 * allocate, lock or wait. Members that another lcore reads are stored whole; where the order of two stores matters, the
 * second one releases.
 */
#ifndef CREDIT_CREDIT_HOT_H
#define CREDIT_CREDIT_HOT_H

#include "credit/credit.h"

#define CREDIT_SAMPLES 4 /* fences remembered until their statements come */

/* The user's end of a hop: the worker that owns the egress port asks it before it sends. */
struct credit_gate {
	/* written by the worker, read by control */
	uint64_t sent;	      /* units that the device has taken since the start; FCTBS counts from the epoch's base */
	uint64_t given_ns;    /* when the device last took a frame of the session */
	uint64_t fenced;      /* `sent` when the device took the fence `fence_taken` */
	uint64_t fence_taken; /* number of that fence, stored after `fenced` */
	/* written by control, read by the worker */
	uint64_t limit; /* value of `sent` that the credit ends at */
	uint64_t fence; /* number of the fence to send; 0: none */
	/* written by the worker, read by control */
	uint32_t pending; /* units through the gate that the device has not taken yet */
	/* written by control, read by the worker */
	bool open; /* COMMITTED: stored after `limit` */
} CACHE_ALIGNED;
_Static_assert(sizeof(struct credit_gate) == CACHE_LINE_BYTES, "the worker's part of a user is one cache line");

/* May `units` be sent at `now`? alive_until: the neighbour's word (credit_alive.h), written by control (D10, D49). */
static inline bool credit_gate_passes(const struct credit_gate *g, uint64_t alive_until, uint64_t now, uint32_t units)
{
	return __atomic_load_n(&g->open, __ATOMIC_ACQUIRE) && now < alive_until &&
	       credit_ahead(__atomic_load_n(&g->limit, __ATOMIC_RELAXED), g->sent + g->pending + units) >= 0;
}

/* A packet has passed and goes to the device. */
static inline void credit_gate_pass(struct credit_gate *g, uint32_t units)
{
	__atomic_store_n(&g->pending, g->pending + units, __ATOMIC_RELAXED);
}

/* The device refused frames: their packets return to the head of the FIFO. */
static inline void credit_gate_refused(struct credit_gate *g, uint32_t units)
{
	__atomic_store_n(&g->pending, g->pending - units, __ATOMIC_RELAXED);
}

/* The device took frames at `now` (D47). `pending` falls last: who sees none pending sees them sent. */
static inline void credit_gate_taken(struct credit_gate *g, uint32_t units, uint64_t now)
{
	__atomic_store_n(&g->sent, g->sent + units, __ATOMIC_RELAXED);
	__atomic_store_n(&g->given_ns, now, __ATOMIC_RELAXED);
	__atomic_store_n(&g->pending, g->pending - units, __ATOMIC_RELEASE);
}

/* The device took the fence `number`: `sent` now counts exactly what is in front of it. */
static inline void credit_gate_fence_taken(struct credit_gate *g, uint64_t number)
{
	__atomic_store_n(&g->fenced, g->sent, __ATOMIC_RELAXED);
	__atomic_store_n(&g->fence_taken, number, __ATOMIC_RELEASE);
}

/* Where a fence was seen in the stream. Written by rx, read by control. All zero: unused. */
struct credit_sample {
	uint64_t number; /* stored last; 0 while the others change */
	uint64_t rcvd;
	uint32_t epoch;
};

/* The grantor's end of a hop: the rx role counts what arrives. */
struct credit_intake {
	/* written by rx, read by control */
	uint64_t rcvd;	 /* units arrived since the start, before anything could drop them */
	uint32_t fences; /* samples taken */
	uint32_t stale;	 /* fences of another epoch or LIH */
	uint64_t beyond; /* units of a server that has overrun its credit: in no other counter */
	/* written by control, read by rx */
	uint32_t epoch; /* current one; 0: none, and no fence is sampled */
	uint32_t lih;	/* of the path */
} CACHE_ALIGNED;
_Static_assert(sizeof(struct credit_intake) == CACHE_LINE_BYTES, "rx's part of a grantor is one cache line");

/* A packet of the session arrived: once per packet and node (D47). */
static inline void credit_intake_count(struct credit_intake *in, uint32_t units)
{
	__atomic_store_n(&in->rcvd, in->rcvd + units, __ATOMIC_RELAXED);
}

/* The worker that ends packets of the session. */
struct credit_release {
	/* written by the worker, read by control */
	uint64_t freed; /* units that have ended here since the start, however (D47) */
	/* worker only */
	uint64_t told; /* `freed` when control was told last */
	/* written by control, read by the worker */
	uint32_t batch; /* N2 in units: tell control each time that so many are freed (2.9) */
} CACHE_ALIGNED;
_Static_assert(sizeof(struct credit_release) == CACHE_LINE_BYTES, "a worker's part of a grantor is one cache line");

/* Packets of the session ended. True: tell control that an update is due. */
static inline bool credit_release_count(struct credit_release *r, uint32_t units)
{
	__atomic_store_n(&r->freed, r->freed + units, __ATOMIC_RELAXED);
	if (likely(r->freed - r->told < __atomic_load_n(&r->batch, __ATOMIC_RELAXED)))
		return false;
	r->told = r->freed;
	return true;
}

/*
 * A fence arrived in the stream of the session (2.6): note where. `samples` are the context's CREDIT_SAMPLES. False: it is
 * of another epoch or path, or a copy of one that stands; nothing is noted. rx lcore.
 */
bool credit_intake_fence(struct credit_intake *in, struct credit_sample *samples, uint64_t number, uint32_t epoch,
	uint32_t lih);

/* Read a sample that rx may overwrite meanwhile. False: it is unused or changes just now. Control lcore. */
bool credit_sample_read(const struct credit_sample *s, struct credit_sample *out);

#endif
