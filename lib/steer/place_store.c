/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the placements that are wanted, by name (place_store.h). Pure; management thread. */
#include "steer/place_store.h"

#include <errno.h>
#include <stdlib.h>

static const struct steer_secret secret = {0x5c1ce5c1ce5c1ce5ull, 0xa0761d6478bd642full};

static uint32_t hash_name(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	return h ^ h >> 15;
}

static uint32_t *slot_of(const struct place_names *n, const char *name)
{
	uint32_t at = hash_name(name);

	while (n->slot[at & (n->slots - 1)] && strcmp(n->name[n->slot[at & (n->slots - 1)] - 1], name) != 0)
		at++;
	return &n->slot[at & (n->slots - 1)];
}

static int64_t find_name(const struct place_names *n, const char *name)
{
	return n->slots && *slot_of(n, name) ? (int64_t)*slot_of(n, name) - 1 : -1;
}

static int grow_names(struct place_names *n)
{
	uint32_t room = n->room ? 2 * n->room : 16, *slot = calloc(2 * (size_t)room, sizeof(*slot));
	char **name = realloc(n->name, room * sizeof(*name));

	n->name = name ? name : n->name;
	if (!name || !slot) {
		free(slot);
		return -ENOMEM;
	}
	free(n->slot);
	n->slot = slot;
	n->slots = 2 * room;
	n->room = room;
	for (uint32_t i = 0; i < n->n; i++)
		*slot_of(n, n->name[i]) = i + 1;
	return 0;
}

static int add_name(struct place_names *n, const char *name)
{
	char *copy;

	if (find_name(n, name) >= 0)
		return 0;
	if (n->n == n->room && grow_names(n) < 0)
		return -ENOMEM;
	copy = malloc(strlen(name) + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, name, strlen(name) + 1);
	n->name[n->n++] = copy;
	*slot_of(n, copy) = n->n;
	return 0;
}

static void free_names(struct place_names *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		free(n->name[i]);
	free(n->name);
	free(n->slot);
	*n = (struct place_names){0};
}

static struct place_row *row_of(struct place_row *rows, uint32_t n, const struct steer_key *k)
{
	uint32_t at = (uint32_t)(steer_hash(k, &secret) >> 32);

	while (rows[at & (n - 1)].used && !steer_same(&rows[at & (n - 1)].key, k))
		at++;
	return &rows[at & (n - 1)];
}

static int grow_rows(struct place_store *s, uint64_t want)
{
	uint32_t rows = 64;
	struct place_row *row;

	while (rows < 2 * want)
		rows *= 2;
	row = calloc(rows, sizeof(*row));
	if (!row)
		return -ENOMEM;
	s->filled = 0;
	for (uint32_t i = 0; i < s->rows; i++) {
		if (!s->row[i].used || s->row[i].removed)
			continue;
		*row_of(row, rows, &s->row[i].key) = s->row[i];
		s->filled++;
	}
	free(s->row);
	s->row = row;
	s->rows = rows;
	return 0;
}

int place_store_reserve(struct place_store *s, const struct place_wish *wishes, size_t n)
{
	if (s->n + (uint64_t)n > PLACE_STORE_MAX)
		return -ENOSPC;
	for (size_t i = 0; i < n; i++)
		if (add_name(&s->vrf, wishes[i].vrf) < 0 || add_name(&s->policy, wishes[i].policy) < 0 ||
			add_name(&s->path, wishes[i].path) < 0)
			return -ENOMEM;
	if (s->vrf.n > UINT16_MAX)
		return -ENOSPC;
	return s->filled + (uint64_t)n > s->rows / 2 ? grow_rows(s, s->n + (uint64_t)n) : 0;
}

static bool key_in(const struct place_store *s, const struct steer_key *key, const char *vrf, struct steer_key *out)
{
	int64_t name = find_name(&s->vrf, vrf);

	*out = *key;
	out->vrf = (uint16_t)name;
	return name >= 0 && s->rows;
}

void place_store_put(struct place_store *s, const struct place_wish *w)
{
	struct place_row *r;
	struct steer_key k;

	key_in(s, &w->key, w->vrf, &k);
	r = row_of(s->row, s->rows, &k);
	s->filled += !r->used;
	s->n += !r->used || r->removed;
	*r = (struct place_row){.key = k,
		.policy = (uint32_t)find_name(&s->policy, w->policy),
		.path = (uint32_t)find_name(&s->path, w->path),
		.serial = s->serial,
		.pinned = w->pinned,
		.used = true};
}

bool place_store_remove(struct place_store *s, const struct steer_key *key, const char *vrf)
{
	struct place_row *r;
	struct steer_key k;

	if (!key_in(s, key, vrf, &k))
		return false;
	r = row_of(s->row, s->rows, &k);
	if (!r->used || r->removed)
		return false;
	r->removed = true;
	s->n--;
	return true;
}

static void copy_name(char *to, const struct place_names *n, uint32_t i)
{
	memcpy(to, n->name[i], strlen(n->name[i]) + 1);
}

bool place_store_at(const struct place_store *s, uint32_t i, struct place_wish *out)
{
	const struct place_row *r = &s->row[i];

	if (!r->used || r->removed)
		return false;
	out->key = r->key;
	out->key.vrf = 0;
	out->pinned = r->pinned;
	out->serial = r->serial;
	copy_name(out->vrf, &s->vrf, r->key.vrf);
	copy_name(out->policy, &s->policy, r->policy);
	copy_name(out->path, &s->path, r->path);
	return true;
}

bool place_store_find(const struct place_store *s, const struct steer_key *key, const char *vrf, struct place_wish *out)
{
	struct steer_key k;

	return key_in(s, key, vrf, &k) && place_store_at(s, (uint32_t)(row_of(s->row, s->rows, &k) - s->row), out);
}

void place_store_clear(struct place_store *s)
{
	free(s->row);
	free_names(&s->vrf);
	free_names(&s->policy);
	free_names(&s->path);
	*s = (struct place_store){0};
}
