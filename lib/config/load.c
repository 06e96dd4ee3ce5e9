/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts YAML to the model by the schema. libyaml builds the document. This file walks document and schema in
 * parallel, fills the structs and reports everything that does not fit, so that one run finds all errors.
 *
 * The schema bounds the depth of the walk, whatever aliases the document contains. Twice the number of nodes in the
 * document bounds its length. Management thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/progress.h"
#include "base/text.h"
#include "config/config.h"
#include "config/keys.h"
#include "config/marks.h"
#include "config/names.h"
#include "config/schema.h"

#define VISIT_SPARE 1000 /* list items that aliases may add to a small document */
#define ANCHORS_MAX 10000
#define DEPTH_MAX 1000 /* brackets; the schema needs six levels */

struct loader {
	yaml_document_t doc;
	struct arena *arena; /* owner of the loaded data; an inline configuration has an arena of its own */
	struct cfg_marks *marks;
	const char *file;
	struct cfg_diags *diags;
	size_t visits, visits_max;
};

static struct cfg_mark mark_of(const yaml_node_t *node)
{
	return (struct cfg_mark){(uint32_t)node->start_mark.line + 1, (uint32_t)node->start_mark.column + 1};
}

static const char *node_kind(const yaml_node_t *node)
{
	switch (node->type) {
	case YAML_MAPPING_NODE:
		return "a mapping";
	case YAML_SEQUENCE_NODE:
		return "a list";
	case YAML_SCALAR_NODE:
		return node->data.scalar.length ? "a single value" : "nothing";
	default:
		return "nothing";
	}
}

static const char *scalar_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

static void wrong_kind(struct loader *l, const yaml_node_t *node, const char *name, const char *expected)
{
	cfg_diag_add(l->diags, mark_of(node), "%s: expected %s, found %s", name, expected, node_kind(node));
}

static void out_of_memory(struct loader *l)
{
	if (!l->diags->suppressed)
		cfg_diag_add(l->diags, (struct cfg_mark){0, 0}, "out of memory");
}

static void remember(struct loader *l, const void *member, const yaml_node_t *node)
{
	if (cfg_marks_put(l->marks, member, mark_of(node)) < 0)
		out_of_memory(l);
}

static void load_map(struct loader *l, const struct cfg_map *map, const yaml_node_t *node, void *out);
static void load_over_defaults(struct loader *l, const struct cfg_map *map, const yaml_node_t *node, void *out);
static void apply_defaults(struct loader *l, const struct cfg_map *map, void *out);

static void load_scalar(struct loader *l, const struct cfg_key *key, enum cfg_type type, const yaml_node_t *node,
	void *out)
{
	char err[512];

	if (node->type != YAML_SCALAR_NODE) {
		cfg_key_expected(key, type, err, sizeof(err));
		wrong_kind(l, node, key->name, err);
		return;
	}
	if (strlen(scalar_text(node)) != node->data.scalar.length) {
		cfg_diag_add(l->diags, mark_of(node), "%s: the value contains a NUL character", key->name);
		return;
	}
	if (cfg_parse_scalar(key, type, scalar_text(node), l->arena, out, err, sizeof(err)) < 0) {
		cfg_diag_add(l->diags, mark_of(node), "%s: %s", key->name, err);
		return;
	}
	remember(l, out, node);
}

static void load_list(struct loader *l, const struct cfg_key *key, const yaml_node_t *node, void *out)
{
	CFG_LIST(void) list;
	size_t size = cfg_value_size(key, key->item), n;
	const yaml_node_item_t *items;

	if (node->type != YAML_SEQUENCE_NODE) {
		wrong_kind(l, node, key->name, "a list");
		return;
	}
	items = node->data.sequence.items.start;
	n = (size_t)(node->data.sequence.items.top - items);
	if (n < key->min || n > key->max) {
		cfg_diag_add(l->diags, mark_of(node), "%s: expected %llu to %llu items, found %zu", key->name,
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
	for (size_t i = 1; i < n && key->item == CFG_MAP; i++)
		memcpy((char *)list.items + i * size, list.items, size);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_document_get_node(&l->doc, items[i]);
		void *slot = (char *)list.items + i * size;

		if (i % PROGRESS_ITEMS == PROGRESS_ITEMS - 1)
			progress();
		if (++l->visits > l->visits_max) {
			cfg_diag_add(l->diags, mark_of(node),
				"%s: the file is too large after its aliases are resolved", key->name);
			return;
		}
		if (key->item == CFG_MAP)
			load_over_defaults(l, key->map, item, slot);
		else
			load_scalar(l, key, key->item, item, slot);
	}
}

static struct config *config_new(const char *name);

/* Load a whole node configuration inside another file. It has its own arena and places, so that it can change owner. */
static void load_config(struct loader *l, const yaml_node_t *node, void *out)
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

static void load_value(struct loader *l, const struct cfg_key *key, const yaml_node_t *node, void *out)
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

static void unknown_key(struct loader *l, const struct cfg_map *map, const yaml_node_t *node)
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
	near = text_nearest(scalar_text(node), words, n);
	if (near) {
		cfg_diag_add(l->diags, mark_of(node), "unknown key '%.60s' in %s; did you mean '%s'?",
			scalar_text(node), map->name, near);
		return;
	}
	for (size_t i = 0; i < n && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "", words[i]);
	cfg_diag_add(l->diags, mark_of(node), "unknown key '%.60s' in %s; expected one of: %s", scalar_text(node),
		map->name, known);
}

/* A scalar in whose place a mapping may stand, and stands. */
static bool is_mapping_instead(const struct cfg_key *key, const yaml_node_t *node)
{
	return key->map && key->type != CFG_MAP && key->type != CFG_LIST_OF && node->type == YAML_MAPPING_NODE;
}

static void load_map(struct loader *l, const struct cfg_map *map, const yaml_node_t *node, void *out)
{
	apply_defaults(l, map, out);
	load_over_defaults(l, map, node, out);
}

static void load_over_defaults(struct loader *l, const struct cfg_map *map, const yaml_node_t *node, void *out)
{
	const yaml_node_t *values[64] = {0};
	struct cfg_mark at;

	if (node->type != YAML_MAPPING_NODE) {
		wrong_kind(l, node, map->name, "a mapping");
		return;
	}
	at = mark_of(node);
	memcpy(out, &at, sizeof(at)); /* every map struct begins with its mark */
	for (const yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
		const yaml_node_t *k = yaml_document_get_node(&l->doc, p->key);
		uint32_t i = 0;

		l->visits++;
		if (k->type != YAML_SCALAR_NODE) {
			wrong_kind(l, k, map->name, "a key");
			continue;
		}
		if (strlen(scalar_text(k)) != k->data.scalar.length) {
			cfg_diag_add(l->diags, mark_of(k), "%s: a key contains a NUL character", map->name);
			continue;
		}
		while (i < map->n_keys && strcmp(map->keys[i].name, scalar_text(k)) != 0)
			i++;
		if (i == map->n_keys)
			unknown_key(l, map, k);
		else if (values[i])
			cfg_diag_add(l->diags, mark_of(k), "key '%s' is given twice in %s", map->keys[i].name,
				map->name);
		else
			values[i] = yaml_document_get_node(&l->doc, p->value);
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

static void report_yaml(struct cfg_diags *diags, const yaml_parser_t *p)
{
	struct cfg_mark at = {(uint32_t)p->problem_mark.line + 1, (uint32_t)p->problem_mark.column + 1};

	if (p->error == YAML_MEMORY_ERROR)
		cfg_diag_add(diags, at, "out of memory");
	else if (p->error == YAML_READER_ERROR)
		cfg_diag_add(diags, (struct cfg_mark){0, 0}, "not YAML text: %s at byte %zu", p->problem,
			p->problem_offset);
	else
		cfg_diag_add(diags, at, "not YAML: %s%s%s", p->problem, p->context ? ", " : "",
			p->context ? p->context : "");
}

static void load_document(struct loader *l, yaml_parser_t *parser, const struct cfg_map *map, void *out)
{
	const yaml_node_t *root;
	yaml_document_t more;

	l->visits_max = 2 * (size_t)(l->doc.nodes.top - l->doc.nodes.start) + VISIT_SPARE;
	/* half of the nodes are keys */
	cfg_marks_reserve(l->marks, (size_t)(l->doc.nodes.top - l->doc.nodes.start) / 2);
	root = yaml_document_get_root_node(&l->doc);
	if (!root) {
		cfg_diag_add(l->diags, (struct cfg_mark){1, 1}, "the file is empty");
		return;
	}
	load_map(l, map, root, out);
	if (!yaml_parser_load(parser, &more)) {
		report_yaml(l->diags, parser);
		return;
	}
	root = yaml_document_get_root_node(&more);
	if (root)
		cfg_diag_add(l->diags, mark_of(root), "a second YAML document begins here; a file can have only one");
	yaml_document_delete(&more);
}

/*
 * libyaml needs time that grows with the square of the bracket depth and of the number of anchors: minutes for a file
 * of about 100 KB that contains nothing else. The count ignores quotes and comments, so the limits are generous.
 */
static bool too_laborious(struct cfg_diags *diags, const char *text, size_t size)
{
	struct cfg_mark at = {1, 1};
	unsigned int depth = 0, anchors = 0;

	for (size_t i = 0; i < size; i++, at.column++) {
		if (text[i] == '\n')
			at = (struct cfg_mark){at.line + 1, 0};
		else if (text[i] == '[' || text[i] == '{')
			depth++;
		else if ((text[i] == ']' || text[i] == '}') && depth)
			depth--;
		anchors += text[i] == '&';
		if (depth > DEPTH_MAX || anchors > ANCHORS_MAX) {
			cfg_diag_add(diags, at,
				depth > DEPTH_MAX ? "more than %u brackets are open here" : "more than %u anchors",
				depth > DEPTH_MAX ? DEPTH_MAX : ANCHORS_MAX);
			return true;
		}
	}
	return false;
}

/* What libyaml has not read yet. */
struct source {
	const char *text;
	size_t left;
};

static int read_source(void *arg, unsigned char *to, size_t size, size_t *n)
{
	struct source *s = arg;

	*n = MIN_OF(size, s->left);
	memcpy(to, s->text, *n);
	s->text += *n;
	s->left -= *n;
	progress();
	return 1;
}

int cfg_load_map(const char *name, const char *text, size_t size, const struct cfg_map *map, void *out,
	struct arena *arena, struct cfg_marks *marks, struct cfg_diags *diags)
{
	struct loader l = {.diags = diags, .arena = arena, .marks = marks, .file = name};
	struct source source = {text, size};
	yaml_parser_t parser;

	diags->file = name;
	if (too_laborious(diags, text, size))
		return -EINVAL;
	if (!yaml_parser_initialize(&parser)) {
		cfg_diag_add(diags, (struct cfg_mark){0, 0}, "out of memory");
		return -ENOMEM;
	}
	yaml_parser_set_input(&parser, read_source, &source);
	if (yaml_parser_load(&parser, &l.doc)) {
		load_document(&l, &parser, map, out);
		yaml_document_delete(&l.doc);
	} else {
		report_yaml(diags, &parser);
	}
	yaml_parser_delete(&parser);
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
