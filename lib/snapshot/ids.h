/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stable small numbers for named objects. A name keeps its id as long as every snapshot contains the name. The id of a
 * removed name is assigned again only after the publisher has confirmed that no packet refers to it. Management thread
 * only.
 */
#ifndef SNAPSHOT_IDS_H
#define SNAPSHOT_IDS_H

#include <stdbool.h>
#include <stdint.h>

struct ids;

struct ids *ids_new(uint32_t max); /* NULL when out of memory */
void ids_free(struct ids *ids);

/* Id of the name, assigned if necessary, and marked as used by generation `gen`. 0, -ENOSPC or -ENOMEM. */
int ids_get(struct ids *ids, const char *name, uint64_t gen, uint32_t *id);

/* Id of the name; -ENOENT when it has none. */
int ids_find(const struct ids *ids, const char *name, uint32_t *id);

/* One above the highest id in use: the length of an array indexed by id. */
uint32_t ids_bound(const struct ids *ids);

/* Forget the names that generation `gen` was the first to use: it was built and never published. */
void ids_undo(struct ids *ids, uint64_t gen);

/* Has a name been dropped lately: is there one that was last used by a generation from `since` to before `gen`? */
bool ids_dropped(const struct ids *ids, uint64_t since, uint64_t gen);

/* Forget the names that no generation from `gen` on has used. No packet resolved before `gen` is left anywhere. */
void ids_reap(struct ids *ids, uint64_t gen);

#endif
