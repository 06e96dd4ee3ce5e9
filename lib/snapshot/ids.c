/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids that stay the same from snapshot to snapshot as long as the name exists. Pure; management thread. */
#include "snapshot/ids.h"

#include <bsd/sys/tree.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	RB_ENTRY(entry) link;
	uint64_t used, born; /* last and first generation that used the name */
	uint32_t id;
	char name[];
};

RB_HEAD(tree, entry);

struct ids {
	struct tree tree;
	uint32_t max, bound;
	bool *taken; /* by id */
};

static int compare(const struct entry *a, const struct entry *b)
{
	return strcmp(a->name, b->name);
}

RB_GENERATE_INTERNAL(tree, entry, link, compare, static __attribute__((unused)))

struct ids *ids_new(uint32_t max)
{
	struct ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return NULL;
	ids->max = max;
	ids->taken = calloc(max, sizeof(*ids->taken));
	if (!ids->taken) {
		free(ids);
		return NULL;
	}
	return ids;
}

void ids_free(struct ids *ids)
{
	struct entry *e, *next;

	if (!ids)
		return;
	RB_FOREACH_SAFE(e, tree, &ids->tree, next) {
		RB_REMOVE(tree, &ids->tree, e);
		free(e);
	}
	free(ids->taken);
	free(ids);
}

static struct entry *find(const struct ids *ids, const char *name)
{
	struct entry *e = RB_ROOT(&ids->tree);

	while (e) {
		int d = strcmp(name, e->name);

		if (!d)
			break;
		e = d < 0 ? RB_LEFT(e, link) : RB_RIGHT(e, link);
	}
	return e;
}

int ids_find(const struct ids *ids, const char *name, uint32_t *id)
{
	struct entry *e = find(ids, name);

	if (!e)
		return -ENOENT;
	*id = e->id;
	return 0;
}

int ids_get(struct ids *ids, const char *name, uint64_t gen, uint32_t *id)
{
	struct entry *e = find(ids, name);
	uint32_t free_id = 0;

	if (!e) {
		/* append while there is room, which is fast; then search for the first free id */
		if (ids->bound < ids->max)
			free_id = ids->bound;
		else
			while (free_id < ids->max && ids->taken[free_id])
				free_id++;
		if (free_id == ids->max)
			return -ENOSPC;
		e = calloc(1, sizeof(*e) + strlen(name) + 1);
		if (!e)
			return -ENOMEM;
		strcpy(e->name, name);
		e->id = free_id;
		e->born = gen;
		ids->taken[free_id] = true;
		if (free_id >= ids->bound)
			ids->bound = free_id + 1;
		RB_INSERT(tree, &ids->tree, e);
	}
	e->used = gen;
	*id = e->id;
	return 0;
}

uint32_t ids_bound(const struct ids *ids)
{
	return ids->bound;
}

static void forget(struct ids *ids, struct entry *e)
{
	ids->taken[e->id] = false;
	RB_REMOVE(tree, &ids->tree, e);
	free(e);
	while (ids->bound && !ids->taken[ids->bound - 1])
		ids->bound--;
}

void ids_undo(struct ids *ids, uint64_t gen)
{
	struct entry *e, *next;

	RB_FOREACH_SAFE(e, tree, &ids->tree, next)
		if (e->born == gen)
			forget(ids, e);
}

bool ids_dropped(const struct ids *ids, uint64_t since, uint64_t gen)
{
	struct entry *e;

	RB_FOREACH(e, tree, (struct tree *)(uintptr_t)&ids->tree)
		if (e->used >= since && e->used < gen)
			return true;
	return false;
}

void ids_reap(struct ids *ids, uint64_t gen)
{
	struct entry *e, *next;

	RB_FOREACH_SAFE(e, tree, &ids->tree, next)
		if (e->used < gen)
			forget(ids, e);
}
