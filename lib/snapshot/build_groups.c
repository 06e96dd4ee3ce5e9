/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ECMP groups. Groups with the same members are one group. A group keeps its number from snapshot to snapshot, and the
 * number of a group that nothing uses is free in the next snapshot. Management thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/build_priv.h"

#define ROOM_MIN 64

static uint32_t hash_of(const struct snap_group *g)
{
	uint32_t h = g->n;

	for (unsigned int i = 0; i < g->n; i++)
		h = (h ^ g->member[i]) * 0x9e3779b1u ^ h >> 15;
	return h ^ h >> 16;
}

static bool same_group(const struct snap_group *a, const struct snap_group *b)
{
	return a->n == b->n && memcmp(a->member, b->member, a->n * sizeof(a->member[0])) == 0;
}

/* The place of a group with these members in the hash, or the free place where it belongs. */
static uint32_t *place_of(const struct builder *b, const struct snap_group *g)
{
	uint32_t at = hash_of(g);

	while (b->group_hash[at & (b->group_slots - 1)] &&
		!same_group(&b->group[b->group_hash[at & (b->group_slots - 1)] - 1], g))
		at++;
	return &b->group_hash[at & (b->group_slots - 1)];
}

/* Room for `room` groups. The arrays of the snapshot are in its arena, so the old ones stay allocated. */
static int grow(struct builder *b, uint32_t room)
{
	struct snap_group *group = arena_alloc(b->s->arena, room * sizeof(*group));
	bool *used = realloc(b->group_used, room * sizeof(*used));
	uint32_t *hash = calloc(4 * (size_t)room, sizeof(*hash));

	b->group_used = used ? used : b->group_used;
	if (!group || !used || !hash) {
		free(hash);
		return build_fail(b, -ENOMEM, "out of memory");
	}
	if (b->s->n_groups)
		memcpy(group, b->group, b->s->n_groups * sizeof(*group));
	memset(used + b->group_room, 0, (room - b->group_room) * sizeof(*used));
	b->s->group = b->group = group;
	b->group_room = room;
	free(b->group_hash);
	b->group_hash = hash;
	b->group_slots = 4 * room;
	for (uint32_t i = 0; i < b->s->n_groups; i++)
		if (group[i].n)
			*place_of(b, &group[i]) = i + 1;
	return 0;
}

int build_groups_begin(struct builder *b)
{
	uint32_t n = b->old ? b->old->n_groups : 0, room = ROOM_MIN;
	int rc;

	while (room < n)
		room *= 2;
	if (!n)
		return 0; /* most nodes have none */
	rc = grow(b, room);
	if (rc < 0)
		return rc;
	memcpy(b->group, b->old->group, n * sizeof(*b->group));
	b->s->n_groups = n;
	for (uint32_t i = 0; i < n; i++)
		if (b->group[i].n)
			*place_of(b, &b->group[i]) = i + 1;
	return 0;
}

void build_groups_end(struct builder *b)
{
	for (uint32_t i = 0; i < b->s->n_groups; i++)
		if (!b->group_used[i])
			b->group[i] = (struct snap_group){0};
	while (b->s->n_groups && !b->group[b->s->n_groups - 1].n)
		b->s->n_groups--;
}

int build_group(struct builder *b, const target_t *members, size_t n, target_t *out)
{
	struct snap_group want = {.n = (uint8_t)MIN_OF(n, SNAP_GROUP_MAX)};
	uint32_t *place;
	int rc;

	memcpy(want.member, members, want.n * sizeof(want.member[0]));
	if (b->s->n_groups == b->group_room) {
		rc = grow(b, MAX_OF(ROOM_MIN, 2 * b->group_room));
		if (rc < 0)
			return rc;
	}
	place = place_of(b, &want);
	if (!*place) {
		while (b->group_free < b->s->n_groups && b->group[b->group_free].n)
			b->group_free++;
		b->group[b->group_free] = want;
		*place = b->group_free + 1;
		b->s->n_groups = MAX_OF(b->s->n_groups, b->group_free + 1);
	}
	b->group_used[*place - 1] = true;
	*out = target(TARGET_GROUP, *place - 1);
	return 0;
}
