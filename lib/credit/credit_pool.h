/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of buffers that sessions share (docs/credit.md 2.12, D52): granted credit is never revoked, a session that wants
 * more gets what nobody holds, and the sessions with least go first. Units of credit. Pure; control lcore, which writes
 * every member.
 */
#ifndef CREDIT_CREDIT_POOL_H
#define CREDIT_CREDIT_POOL_H

#include <stddef.h>

#include "credit/credit.h"

struct credit_pool {
	uint64_t size; /* units that may be held: the configuration's sum less its reserve */
	uint64_t held; /* units held by all sessions */
};

/* A session that waits for more. */
struct credit_demand {
	uint32_t buf;  /* has: in and out */
	uint32_t want; /* could use, as bounded by the configuration of session and peer */
};

static inline uint64_t credit_pool_free(const struct credit_pool *p)
{
	return p->size > p->held ? p->size - p->held : 0;
}

/*
 * Take `least` to `want` units for a session that begins. Returns what it gets, or 0 if there is less than `least`.
 */
uint32_t credit_pool_take(struct credit_pool *p, uint32_t least, uint32_t want);

/* A session that held *held units holds `now` units (credit_grantor_held). */
void credit_pool_settle(struct credit_pool *p, uint64_t *held, uint64_t now);

/*
 * Serve waiting demands max-min: raise the smallest first until they are equal, and go on until all have what they want or
 * nothing is free. Changes buf of each and what
 * the pool holds. False: somebody has to wait on.
 */
bool credit_pool_serve(struct credit_pool *p, struct credit_demand *const *demands, size_t n);

#endif
