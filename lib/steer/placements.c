/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes placements out of others and changes (placements.h). Pure; management thread. */
#include "steer/placements.h"

#include <stdlib.h>

/* By region; of one key, the last change first. */
static int by_region(const void *a, const void *b)
{
	const struct placement_change *x = a, *y = b;
	uint32_t r = steer_region(x->hash), s = steer_region(y->hash);

	if (r != s)
		return r < s ? -1 : 1;
	return x->order > y->order ? -1 : x->order < y->order;
}

/* The place of a key, or the free one where it belongs. */
static struct placement *place_of(struct placement_region *r, const struct steer_key *k, uint64_t hash)
{
	uint32_t at = (uint32_t)(hash >> 32);

	while (r->place[at & r->mask].path != STEER_NO_PATH && !steer_same(&r->place[at & r->mask].key, k))
		at++;
	return &r->place[at & r->mask];
}

/* What comes first stays. */
static void put(struct placement_region *r, const struct placement *p, uint64_t hash)
{
	struct placement *to = place_of(r, &p->key, hash);

	if (to->path != STEER_NO_PATH)
		return;
	*to = *p;
	r->n += p->path != STEER_REMOVED;
}

static struct placement_region *new_region(size_t n)
{
	uint32_t places = 4;
	struct placement_region *r;

	while (places < 2 * n)
		places *= 2;
	r = malloc(sizeof(*r) + places * sizeof(r->place[0]));
	if (!r)
		return NULL;
	*r = (struct placement_region){.mask = places - 1};
	for (uint32_t i = 0; i < places; i++)
		r->place[i].path = STEER_NO_PATH;
	return r;
}

static struct placement_region *change_region(const struct placement_region *old, const struct placement_change *c,
	size_t n, const struct steer_secret *secret)
{
	struct placement_region *r = new_region(n + (old ? old->n : 0));

	for (size_t i = 0; r && i < n; i++)
		put(r, &c[i].to, c[i].hash);
	for (uint32_t i = 0; r && old && i <= old->mask; i++)
		if (old->place[i].path != STEER_NO_PATH && old->place[i].path != STEER_REMOVED)
			put(r, &old->place[i], steer_hash(&old->place[i].key, secret));
	return r;
}

struct placements *placements_change(const struct placements *old, struct placement_change *changes, size_t n,
	const struct steer_secret *secret, void ***gone)
{
	struct placements *p = malloc(sizeof(*p));
	const void **list = calloc(STEER_REGIONS + 1, sizeof(*list));
	size_t n_gone = 0, at = 0;

	if (!p || !list)
		goto fail;
	if (old)
		*p = *old;
	else
		memset(p, 0, sizeof(*p));
	qsort(changes, n, sizeof(*changes), by_region);
	while (at < n) {
		uint32_t region = steer_region(changes[at].hash);
		const struct placement_region *was = p->region[region];
		struct placement_region *is;
		size_t end = at;

		while (end < n && steer_region(changes[end].hash) == region)
			end++;
		is = change_region(was, &changes[at], end - at, secret);
		if (!is)
			goto undo;
		p->n += is->n - (was ? was->n : 0);
		p->version[region]++;
		p->region[region] = is;
		if (was)
			list[n_gone++] = was;
		at = end;
	}
	*gone = (void **)(uintptr_t)list;
	return p;
undo:
	for (uint32_t i = 0; i < STEER_REGIONS; i++)
		if (p->region[i] != (old ? old->region[i] : NULL))
			free((void *)(uintptr_t)p->region[i]);
fail:
	free(p);
	free(list);
	return NULL;
}

void placements_free_regions(void **gone)
{
	for (void **r = gone; r && *r; r++)
		free(*r);
	free(gone);
}

void placements_free(struct placements *p)
{
	for (uint32_t i = 0; p && i < STEER_REGIONS; i++)
		free((void *)(uintptr_t)p->region[i]);
	free(p);
}
