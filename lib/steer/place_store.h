/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The placements that users and schedulers want, by name: they outlive configurations. The object that the data path reads
 * (placements.h) is made of them. Pure; management thread.
 */
#ifndef STEER_PLACE_STORE_H
#define STEER_PLACE_STORE_H

#include "steer/steer_key.h"

#define PLACE_STORE_MAX (4u << 20)

/* A wish from outside. */
struct place_wish {
	struct steer_key key; /* .vrf is 0 */
	char vrf[STEER_NAME], policy[STEER_NAME], path[STEER_NAME];
	bool pinned;
	uint32_t serial; /* struct placement */
};

struct place_row {
	struct steer_key key;  /* .vrf: number of the VRF's name */
	uint32_t policy, path; /* numbers of names */
	uint32_t serial;
	bool pinned, used, removed;
};

struct place_names {
	char **name;
	uint32_t n, room;
	uint32_t *slot, slots; /* hash: number of the name, plus 1 */
};

struct place_store {
	struct place_row *row;
	uint32_t rows;	 /* places: a power of two, or 0 */
	uint32_t filled; /* places that were ever used */
	uint32_t n;
	uint32_t serial; /* of the wishes that are put now; set by the caller */
	struct place_names vrf, policy, path;
};

/*
 * Make room for n wishes and their names, so that place_store_put cannot fail for these. 0, -ENOMEM, or -ENOSPC above
 * PLACE_STORE_MAX.
 */
int place_store_reserve(struct place_store *s, const struct place_wish *wishes, size_t n);
void place_store_put(struct place_store *s, const struct place_wish *w);

/* False: there was none. */
bool place_store_remove(struct place_store *s, const struct steer_key *key, const char *vrf);

/* The wish for a flow; false: there is none. */
bool place_store_find(const struct place_store *s, const struct steer_key *key, const char *vrf,
	struct place_wish *out);

/* The row at place i, below s->rows, as a wish; false: none is there. */
bool place_store_at(const struct place_store *s, uint32_t i, struct place_wish *out);

void place_store_clear(struct place_store *s);

#endif
