/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placements of flows on paths, as the data path reads them: an object that nobody changes. A change makes a new object
 * beside it, which is published by one pointer, so that all its placements take effect at once. The keys are dealt out over
 * regions; a new object shares the regions that a change does not touch. Each region has a version, by which a flow sees
 * whether it must look again. Pure.
 */
#ifndef STEER_PLACEMENTS_H
#define STEER_PLACEMENTS_H

#include "steer/steer_key.h"

#define STEER_REGIONS 4096	       /* a power of two */
#define STEER_NO_PATH UINT32_MAX       /* a free place */
#define STEER_REMOVED (UINT32_MAX - 1) /* a placement that was taken away */

struct placement {
	struct steer_key key;
	uint32_t path;	     /* id, or one of the above */
	uint32_t pinned : 1, /* by an operator */
		serial : 31; /* another one each time that the flow is placed; not 0 */
};

struct placement_region {
	uint32_t mask; /* places - 1 */
	uint32_t n;    /* used */
	struct placement place[];
};

struct placements {
	uint32_t n;
	uint16_t version[STEER_REGIONS];
	const struct placement_region *region[STEER_REGIONS]; /* NULL: none */
};

static inline uint32_t steer_region(uint64_t hash)
{
	return (uint32_t)hash & (STEER_REGIONS - 1);
}

/* The placement of a flow, or NULL. */
static inline const struct placement *placements_find(const struct placements *p, const struct steer_key *k,
	uint64_t hash)
{
	const struct placement_region *r = p->region[steer_region(hash)];

	if (!r)
		return NULL;
	for (uint32_t at = (uint32_t)(hash >> 32);; at++) {
		const struct placement *x = &r->place[at & r->mask];

		if (x->path == STEER_NO_PATH)
			return NULL;
		if (steer_same(&x->key, k))
			return x->path == STEER_REMOVED ? NULL : x;
	}
}

/* A change: a placement, or that there is none (STEER_REMOVED). */
struct placement_change {
	struct placement to;
	uint64_t hash;
	uint32_t order; /* of changes of one key, the one with the largest number counts */
};

/*
 * Make a new object out of `old` (NULL: an empty one) and n changes, which are sorted. Regions of `old` that the new one
 * replaces go to *gone, a list that ends with NULL, for placements_free_regions once nobody reads `old` any more; `old`
 * itself is freed with free(). NULL: out of memory, and nothing has changed.
 */
struct placements *placements_change(const struct placements *old, struct placement_change *changes, size_t n,
	const struct steer_secret *secret, void ***gone);
void placements_free_regions(void **gone);

/* Free an object with all its regions; p may be NULL. */
void placements_free(struct placements *p);

#endif
