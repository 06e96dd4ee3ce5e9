/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts YAML to the model by the schema: walks the tree of the document and the schema in parallel, fills the structs
 * and reports everything that does not fit, so that one run finds all errors.
 *
 * The schema bounds the depth of the walk, whatever aliases the document contains. Twice the number of nodes in the
 * document bounds its length. Management thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/progress.h"
#include "base/text.h"
#include "config/config.h"
#include "config/keys.h"
#include "config/marks.h"
#include "config/names.h"
#include "config/schema.h"
#include "config/yaml_tree.h"

#define VISIT_SPARE 1000 /* list items that aliases may add to a small document */

struct loader {
	struct arena *arena; /* owner of the loaded data; an inline configuration has an arena of its own */
	struct cfg_marks *marks;
	const char *file;
	struct cfg_diags *diags;
	size_t visits, visits_max;
};

static const char *node_kind(const struct yaml_node *node)
{
	if (node->kind == YAML_MAPPING)
		return "a mapping";
	if (node->kind == YAML_LIST)
		return "a list";
	return node->size ? "a single value" : "nothing";
}

static bool has_nul(const struct yaml_node *node)
{
	return strlen(node->text) != node->size;
}

static void wrong_kind(struct loader *l, const struct yaml_node *node, const char *name, const char *expected)
{
	cfg_diag_add(l->diags, node->at, "%s: expected %s, found %s", name, expected, node_kind(node));
}

static void out_of_memory(struct loader *l)
{
	if (!l->diags->suppressed)
		cfg_diag_add(l->diags, (struct cfg_mark){0, 0}, "out of memory");
}

static void remember(struct loader *l, const void *member, const struct yaml_node *node)
{
	if (cfg_marks_put(l->marks, member, node->at) < 0)
		out_of_memory(l);
}

static void load_map(struct loader *l, const struct cfg_map *map, const struct yaml_node *node, void *out);
static void load_over_defaults(struct loader *l, const struct cfg_map *map, const struct yaml_node *node, void *out);
static void apply_defaults(struct loader *l, const struct cfg_map *map, void *out);

static void load_scalar(struct loader *l, const struct cfg_key *key, enum cfg_type type, const struct yaml_node *node,
	void *out)
{
	char err[512];

	if (node->kind != YAML_SCALAR) {
		cfg_key_expected(key, type, err, sizeof(err));
		wrong_kind(l, node, key->name, err);
		return;
	}
	if (has_nul(node)) {
		cfg_diag_add(l->diags, node->at, "%s: the value contains a NUL character", key->name);
		return;
	}
	if (cfg_parse_scalar(key, type, node->text, l->arena, out, err, sizeof(err)) < 0) {
		cfg_diag_add(l->diags, node->at, "%s: %s", key->name, err);
		return;
	}
	remember(l, out, node);
}

static void load_list(struct loader *l, const struct cfg_key *key, const struct yaml_node *node, void *out)
{
	CFG_LIST(void) list;
	size_t size = cfg_value_size(key, key->item), n = node->n, i = 0;

	if (node->kind != YAML_LIST) {
		wrong_kind(l, node, key->name, "a list");
		return;
	}
	if (n < key->min || n > key->max) {
		cfg_diag_add(l->diags, node->at, "%s: expected %llu to %llu items, found %zu", key->name,
			(unsigned long long)key->min, (unsigned long long)key->max, n);
		return;
	}
	list.items = n ? arena_alloc(l->arena, n * size) : NULL;
	list.n = (uint32_t)n;
	if (n && !list.items) {
		out_of_memory(l);
		return;
	}
	memcpy(out, &list, sizeof(list));
	remember(l, out, node);
	/* the first item gets the defaults, the others get a copy */
	if (n && key->item == CFG_MAP)
		apply_defaults(l, key->map, list.items);
	for (size_t copy = 1; copy < n && key->item == CFG_MAP; copy++)
		memcpy((char *)list.items + copy * size, list.items, size);
	for (const struct yaml_item *item = node->items; item; item = item->next, i++) {
		void *slot = (char *)list.items + i * size;

		if (i % PROGRESS_ITEMS == PROGRESS_ITEMS - 1)
			progress();
		if (++l->visits > l->visits_max) {
			cfg_diag_add(l->diags, node->at, "%s: the file is too large after its aliases are resolved",
				key->name);
			return;
		}
		if (key->item == CFG_MAP)
			load_over_defaults(l, key->map, item->node, slot);
		else
			load_scalar(l, key, key->item, item->node, slot);
	}
}

static struct config *config_new(const char *name);

/* Load a whole node configuration inside another file. It has its own arena and places, so that it can change owner. */
static void load_config(struct loader *l, const struct yaml_node *node, void *out)
{
	struct config *c = config_new(l->file);
	struct arena *arena = l->arena;
	struct cfg_marks *marks = l->marks;
	unsigned int before = cfg_diags_errors(l->diags);

	if (!c) {
		out_of_memory(l);
		return;
	}
	memcpy(out, &c, sizeof(c));
	remember(l, out, node);
	l->arena = c->arena;
	l->marks = c->marks;
	load_map(l, &cfg_root, node, c);
	l->arena = arena;
	l->marks = marks;
	/* an incomplete configuration may lack names */
	if (cfg_diags_errors(l->diags) != before)
		return;
	c->names = cfg_names_new(c);
	if (!c->names)
		out_of_memory(l);
}

static void load_value(struct loader *l, const struct cfg_key *key, const struct yaml_node *node, void *out)
{
	if (key->type == CFG_MAP)
		load_map(l, key->map, node, out);
	else if (key->type == CFG_CONFIG)
		load_config(l, node, out);
	else if (key->type == CFG_LIST_OF)
		load_list(l, key, node, out);
	else
		load_scalar(l, key, key->type, node, out);
}

static void apply_default(struct loader *l, const struct cfg_key *key, void *out)
{
	char err[512];

	if (key->type == CFG_MAP) {
		apply_defaults(l, key->map, out);
	} else if (key->fallback) {
		if (cfg_parse_scalar(key, key->type, key->fallback, l->arena, out, err, sizeof(err)) < 0)
			cfg_diag_add(l->diags, (struct cfg_mark){0, 0}, "default of %s: %s", key->name, err);
	}
}

static void apply_defaults(struct loader *l, const struct cfg_map *map, void *out)
{
	for (uint32_t i = 0; i < map->n_keys; i++)
		apply_default(l, &map->keys[i], (char *)out + map->keys[i].offset);
}

static void unknown_key(struct loader *l, const struct cfg_map *map, const struct yaml_node *node)
{
	const char *words[64], *near;
	char known[1024];
	size_t n = 0, at = 0;

	if (cfg_diag_is_full(l->diags)) {
		l->diags->suppressed++; /* the search for the nearest word takes time */
		return;
	}
	for (uint32_t i = 0; i < map->n_keys && n < 64; i++)
		words[n++] = map->keys[i].name;
	near = text_nearest(node->text, words, n);
	if (near) {
		cfg_diag_add(l->diags, node->at, "unknown key '%.60s' in %s; did you mean '%s'?", node->text, map->name,
			near);
		return;
	}
	for (size_t i = 0; i < n && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "", words[i]);
	cfg_diag_add(l->diags, node->at, "unknown key '%.60s' in %s; expected one of: %s", node->text, map->name,
		known);
}

/* A scalar in whose place a mapping may stand, and stands. */
static bool is_mapping_instead(const struct cfg_key *key, const struct yaml_node *node)
{
	return key->map && key->type != CFG_MAP && key->type != CFG_LIST_OF && node->kind == YAML_MAPPING;
}

static void load_map(struct loader *l, const struct cfg_map *map, const struct yaml_node *node, void *out)
{
	apply_defaults(l, map, out);
	load_over_defaults(l, map, node, out);
}

static void load_over_defaults(struct loader *l, const struct cfg_map *map, const struct yaml_node *node, void *out)
{
	const struct yaml_node *values[64] = {0};
	struct cfg_mark at;

	if (node->kind != YAML_MAPPING) {
		wrong_kind(l, node, map->name, "a mapping");
		return;
	}
	at = node->at;
	memcpy(out, &at, sizeof(at)); /* every map struct begins with its mark */
	for (const struct yaml_item *item = node->items; item; item = item->next->next) {
		const struct yaml_node *k = item->node;
		uint32_t i = 0;

		l->visits++;
		if (k->kind != YAML_SCALAR) {
			wrong_kind(l, k, map->name, "a key");
			continue;
		}
		if (has_nul(k)) {
			cfg_diag_add(l->diags, k->at, "%s: a key contains a NUL character", map->name);
			continue;
		}
		while (i < map->n_keys && strcmp(map->keys[i].name, k->text) != 0)
			i++;
		if (i == map->n_keys)
			unknown_key(l, map, k);
		else if (values[i])
			cfg_diag_add(l->diags, k->at, "key '%s' is given twice in %s", map->keys[i].name, map->name);
		else
			values[i] = item->next->node;
	}
	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];
		char *member = (char *)out + key->offset;

		if (values[i] && is_mapping_instead(key, values[i]))
			load_map(l, key->map, values[i], (char *)out + key->map_offset);
		else if (values[i])
			load_value(l, key, values[i], member);
		else if (key->flags & CFG_REQUIRED)
			cfg_diag_add(l->diags, at, "%s needs the key '%s'", map->name, key->name);
	}
}

static struct config *config_new(const char *name)
{
	struct arena *arena = arena_new();
	struct config *c = arena ? arena_alloc(arena, sizeof(*c)) : NULL;

	if (!c) {
		arena_free(arena);
		return NULL;
	}
	c->arena = arena;
	c->marks = cfg_marks_new();
	c->file = arena_strdup(arena, name);
	if (!c->marks || !c->file) {
		cfg_free(c);
		return NULL;
	}
	return c;
}

void cfg_free(struct config *c)
{
	if (!c)
		return;
	cfg_free_secrets(c);
	cfg_names_free(c->names);
	cfg_marks_free(c->marks);
	arena_free(c->arena);
}

int cfg_load_map(const char *name, const char *text, size_t size, const struct cfg_map *map, void *out,
	struct arena *arena, struct cfg_marks *marks, struct cfg_diags *diags)
{
	struct loader l = {.diags = diags, .arena = arena, .marks = marks, .file = name};
	struct yaml_tree tree;

	diags->file = name;
	if (yaml_tree_read(&tree, text, size, diags) == 0) {
		l.visits_max = 2 * tree.n + VISIT_SPARE;
		cfg_marks_reserve(marks, tree.n / 2); /* half of the nodes are keys */
		load_map(&l, map, tree.root, out);
	}
	yaml_tree_free(&tree);
	return cfg_diags_errors(diags) ? -EINVAL : 0;
}

struct config *cfg_load_text(const char *name, const char *text, size_t size, struct cfg_diags *diags)
{
	struct config *c = config_new(name);

	diags->file = name;
	if (!c) {
		cfg_diag_add(diags, (struct cfg_mark){0, 0}, "out of memory");
		return NULL;
	}
	if (cfg_load_map(name, text, size, &cfg_root, c, c->arena, c->marks, diags) == 0) {
		c->names = cfg_names_new(c);
		c->text = arena_alloc(c->arena, size + 1);
		if (c->names && c->text) {
			memcpy(c->text, text, size);
			c->text[size] = '\0';
			return c;
		}
		cfg_diag_add(diags, (struct cfg_mark){0, 0}, "out of memory");
	}
	cfg_free(c);
	return NULL;
}
