/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two configurations key by key, as the schema declares them. Management thread. */
#include "config/diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "config/config.h"
#include "config/names.h"
#include "config/schema_priv.h"

struct diff {
	void (*fn)(void *arg, const struct cfg_change *change);
	void *arg;
	int rc;
};

static void report_change(struct diff *d, enum cfg_change_kind kind, const char *path, const char *from, const char *to,
	uint32_t flags)
{
	struct cfg_change change = {.kind = kind,
		.path = path,
		.from = from,
		.to = to,
		.start_only = flags & CFG_START_ONLY};

	d->fn(d->arg, &change);
}

/* The text of a scalar or of a list of scalars; the caller frees. */
static char *value_text(const struct cfg_key *key, const char *member)
{
	char scalar[CFG_SCALAR_TEXT], *text = NULL;
	struct cfg_any_list list;
	size_t size;
	FILE *f;

	if (key->type != CFG_LIST_OF) {
		cfg_format_scalar(key, key->type, member, scalar, sizeof(scalar));
		return strdup(scalar);
	}
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	list = cfg_list_at(member);
	fputc('[', f);
	for (uint32_t i = 0; i < list.n; i++) {
		cfg_format_scalar(key, key->item, list.items + i * cfg_value_size(key, key->item), scalar,
			sizeof(scalar));
		fprintf(f, "%s%s", i ? ", " : "", scalar);
	}
	fputc(']', f);
	fclose(f);
	return text;
}

static const struct cfg_key *identity_of(const struct cfg_map *map)
{
	for (uint32_t i = 0; i < map->n_keys; i++)
		if (map->keys[i].flags & CFG_IDENTITY)
			return &map->keys[i];
	return NULL;
}

/* A list item and its name: its identity key, or else its whole content. */
struct item {
	char *name;
	const char *base;
};

static void write_content(const struct cfg_map *map, const char *base, FILE *f)
{
	bool first = true;

	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];
		char *text = key->type == CFG_MAP ? NULL : value_text(key, base + key->offset);

		if (text && *text && strcmp(text, "\"\"") != 0 && strcmp(text, "-") != 0 &&
			strcmp(text, "\"-\"") != 0) {
			fprintf(f, "%s%s %s", first ? "" : ", ", key->name, text);
			first = false;
		}
		free(text);
	}
}

static char *item_name(const struct cfg_map *map, const char *base)
{
	const struct cfg_key *identity = identity_of(map);
	char *text = NULL;
	size_t size;
	FILE *f;

	if (identity)
		return value_text(identity, base + identity->offset);
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	write_content(map, base, f);
	fclose(f);
	return text;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->name, ((const struct item *)b)->name);
}

static void free_items(struct item *items, uint32_t n)
{
	for (uint32_t i = 0; items && i < n; i++)
		free(items[i].name);
	free(items);
}

static struct item *items_of(const struct cfg_key *key, const struct cfg_any_list *list)
{
	struct item *items = calloc(list->n + 1, sizeof(*items));

	progress();
	for (uint32_t i = 0; items && i < list->n; i++)
		items[i].base = list->items + (size_t)i * key->map->size;
	return items;
}

static bool same_map(const struct cfg_map *map, const char *a, const char *b);

/* Are two values the same, byte by byte? Values that are not may still have the same text. */
static bool same_value(const struct cfg_key *key, enum cfg_type type, const char *a, const char *b)
{
	const char *x, *y;

	switch (type) {
	case CFG_MAP:
		return same_map(key->map, a, b);
	case CFG_LIST_OF: {
		struct cfg_any_list p = cfg_list_at(a), q = cfg_list_at(b);
		size_t size = cfg_value_size(key, key->item);

		for (uint32_t i = 0; p.n == q.n && i < p.n; i++)
			if (!same_value(key, key->item, p.items + i * size, q.items + i * size))
				return false;
		return p.n == q.n;
	}
	case CFG_NAME:
	case CFG_TEXT:
		memcpy(&x, a, sizeof(x));
		memcpy(&y, b, sizeof(y));
		return x == y || (x && y && strcmp(x, y) == 0);
	default:
		return memcmp(a, b, cfg_value_size(key, type)) == 0;
	}
}

static bool same_map(const struct cfg_map *map, const char *a, const char *b)
{
	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];

		if (!same_value(key, key->type, a + key->offset, b + key->offset))
			return false;
	}
	return true;
}

static uint32_t hash_bytes(uint32_t h, const void *at, size_t size)
{
	const unsigned char *p = at;

	for (size_t i = 0; i < size; i++)
		h = (h ^ p[i]) * 0x01000193u; /* FNV-1a */
	return h;
}

/* The same for items that are the same. Maps and lists inside an item do not count: they seldom make the difference. */
static uint32_t hash_of(const struct cfg_map *map, const char *base)
{
	uint32_t h = 0x811c9dc5u;

	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];
		const char *text;

		if (key->type == CFG_MAP || key->type == CFG_LIST_OF || key->type == CFG_CONFIG)
			continue;
		if (key->type != CFG_NAME && key->type != CFG_TEXT) {
			h = hash_bytes(h, base + key->offset, cfg_value_size(key, key->type));
			continue;
		}
		memcpy(&text, base + key->offset, sizeof(text));
		if (text)
			h = hash_bytes(h, text, strlen(text));
	}
	return h ^ h >> 15;
}

/*
 * Remove the items that are in both lists. Of a large configuration nearly all are, and to find a name for each and to
 * sort them takes most of the time of a reload. 0, or -ENOMEM.
 */
static int remove_same(const struct cfg_map *map, struct item *x, uint32_t *nx, struct item *y, uint32_t *ny)
{
	uint32_t slots = 1, kept = 0, *first, *next;

	while (slots < 2 * *nx)
		slots *= 2;
	first = calloc(slots, sizeof(*first));
	next = calloc(*nx + 1, sizeof(*next));
	for (uint32_t i = *nx; first && next && i-- > 0;) {
		uint32_t *slot = &first[hash_of(map, x[i].base) & (slots - 1)];

		next[i] = *slot;
		*slot = i + 1;
	}
	for (uint32_t k = 0; first && next && k < *ny; k++) {
		uint32_t *at = &first[hash_of(map, y[k].base) & (slots - 1)];

		while (*at && !same_map(map, x[*at - 1].base, y[k].base))
			at = &next[*at - 1];
		if (!*at) {
			y[kept++] = y[k];
			continue;
		}
		x[*at - 1].base = NULL;
		*at = next[*at - 1];
	}
	free(first);
	free(next);
	if (!first || !next)
		return -ENOMEM;
	*ny = kept;
	kept = 0;
	for (uint32_t i = 0; i < *nx; i++)
		if (x[i].base)
			x[kept++] = x[i];
	*nx = kept;
	return 0;
}

static int name_and_sort(const struct cfg_map *map, struct item *items, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		items[i].name = item_name(map, items[i].base);
		if (!items[i].name)
			return -ENOMEM;
	}
	qsort(items, n, sizeof(*items), by_name);
	return 0;
}

static int differing_items(const struct cfg_map *map, struct item *x, uint32_t *nx, struct item *y, uint32_t *ny)
{
	int rc = x && y ? remove_same(map, x, nx, y, ny) : -ENOMEM;
	/* where one list has nothing left there is nothing to match: names are for readers only */
	uint32_t named = rc == 0 && *nx && *ny ? UINT32_MAX : CFG_CHANGES_NAMED;

	if (rc == 0)
		rc = name_and_sort(map, x, MIN_OF(*nx, named));
	return rc ? rc : name_and_sort(map, y, MIN_OF(*ny, named));
}

static void diff_map(struct diff *d, const struct cfg_map *map, const char *from, const char *to, const char *path);

static void diff_items(struct diff *d, const struct cfg_key *key, const char *from, const char *to, const char *path)
{
	struct cfg_any_list a = cfg_list_at(from), b = cfg_list_at(to);
	struct item *x = items_of(key, &a), *y = items_of(key, &b);
	/* the set of ports is fixed while lcores run, because ports are numbered */
	uint32_t flags = key->map->keys[0].flags & CFG_START_ONLY;
	char sub[1024]; /* long contents are truncated: people read this text, not programs */

	d->rc = differing_items(key->map, x, &a.n, y, &b.n);
	for (uint32_t i = 0, k = 0; d->rc == 0 && (i < a.n || k < b.n);) {
		int c = i == a.n ? 1 : k == b.n ? -1 : strcmp(x[i].name, y[k].name);
		const char *name = c <= 0 ? x[i].name : y[k].name;

		snprintf(sub, sizeof(sub), "%.400s[%.600s]", path, name ? name : "...");
		if (c < 0)
			report_change(d, CFG_REMOVED, sub, "", "", flags);
		else if (c > 0)
			report_change(d, CFG_ADDED, sub, "", "", flags);
		else if (identity_of(key->map))
			diff_map(d, key->map, x[i].base, y[k].base, sub);
		i += c <= 0;
		k += c >= 0;
	}
	free_items(x, a.n);
	free_items(y, b.n);
}

static void diff_value(struct diff *d, const struct cfg_key *key, const char *from, const char *to, const char *path)
{
	char *a = value_text(key, from), *b = value_text(key, to);

	if (!a || !b)
		d->rc = -ENOMEM;
	else if (strcmp(a, b) != 0)
		report_change(d, CFG_CHANGED, path, a, b, key->flags);
	free(a);
	free(b);
}

static void diff_map(struct diff *d, const struct cfg_map *map, const char *from, const char *to, const char *path)
{
	char sub[1280];

	for (uint32_t i = 0; i < map->n_keys && d->rc == 0; i++) {
		const struct cfg_key *key = &map->keys[i];
		const char *a = from + key->offset, *b = to + key->offset;

		snprintf(sub, sizeof(sub), "%s%s%s", path, *path ? "." : "", key->name);
		if (key->type == CFG_MAP)
			diff_map(d, key->map, a, b, sub);
		else if (key->type == CFG_LIST_OF && key->item == CFG_MAP)
			diff_items(d, key, a, b, sub);
		else
			diff_value(d, key, a, b, sub);
	}
}

/* SIDs of all files of remote-sids-files together: moving a SID to another file is not a difference. */
static void diff_imported(struct diff *d, const struct config *from, const struct config *to)
{
	static const struct cfg_key key = {.name = "remote-sids",
		.type = CFG_LIST_OF,
		.item = CFG_MAP,
		.map = &cfg_remote_sid_map};
	const struct config *side[2] = {from, to};
	CFG_LIST(struct cfg_remote_sid) all[2] = {0};

	for (unsigned int i = 0; i < 2; i++) {
		const struct cfg_remote_file *f = side[i]->imported.items;

		for (uint32_t k = 0; k < side[i]->imported.n; k++)
			all[i].n += f[k].sids.n;
		all[i].items = calloc(all[i].n + 1, sizeof(*all[i].items));
		all[i].n = 0;
		if (!all[i].items)
			d->rc = -ENOMEM;
		for (uint32_t k = 0; d->rc == 0 && k < side[i]->imported.n; k++) {
			memcpy(all[i].items + all[i].n, f[k].sids.items, f[k].sids.n * sizeof(*f[k].sids.items));
			all[i].n += f[k].sids.n;
		}
	}
	if (d->rc == 0)
		diff_items(d, &key, (const char *)&all[0], (const char *)&all[1], "remote-sids-files");
	free(all[0].items);
	free(all[1].items);
}

int cfg_diff(const struct config *from, const struct config *to, void (*fn)(void *arg, const struct cfg_change *change),
	void *arg)
{
	struct diff d = {.fn = fn, .arg = arg};

	diff_map(&d, &cfg_root, (const char *)from, (const char *)to, "");
	diff_imported(&d, from, to);
	return d.rc;
}

int cfg_align_ports(const struct config *from, struct config *to)
{
	if (from->ports.n != to->ports.n)
		return -ENOENT;
	for (uint32_t i = 0; i < from->ports.n; i++) {
		uint32_t k = i;
		struct cfg_port port;

		while (k < to->ports.n && strcmp(to->ports.items[k].name, from->ports.items[i].name) != 0)
			k++;
		if (k == to->ports.n)
			return -ENOENT;
		port = to->ports.items[k];
		to->ports.items[k] = to->ports.items[i];
		to->ports.items[i] = port;
	}
	/* the index by name contains positions */
	cfg_names_free(to->names);
	to->names = cfg_names_new(to);
	return to->names ? 0 : -ENOMEM;
}
