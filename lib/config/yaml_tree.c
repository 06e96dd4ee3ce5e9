/* SPDX-License-Identifier: BSD-3-Clause */
/* Composes the tree of a YAML document from the events of libyaml. Management thread. */
#include "config/yaml_tree.h"

#include <bsd/sys/queue.h>
#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/progress.h"

#define ANCHORS_MAX 10000
#define DEPTH_MAX 1000 /* brackets; the schema needs six levels */

struct anchor {
	SLIST_ENTRY(anchor) next;
	const char *name;
	const struct yaml_node *node;
};

/* A list or a mapping whose end has not been read yet. */
struct open {
	SLIST_ENTRY(open) outer;
	struct yaml_node *node;
	struct yaml_item **end;
};

struct composer {
	yaml_parser_t parser;
	struct arena *arena;
	struct cfg_diags *diags;
	const char *text; /* what libyaml has not read yet */
	size_t left;
	SLIST_HEAD(, anchor) anchors;
	SLIST_HEAD(, open) open; /* innermost first */
	const struct yaml_node *root;
	size_t n;
};

static struct cfg_mark mark_of(const yaml_mark_t *at)
{
	return (struct cfg_mark){(uint32_t)at->line + 1, (uint32_t)at->column + 1};
}

static int out_of_memory(struct composer *c)
{
	cfg_diag_add(c->diags, (struct cfg_mark){0, 0}, "out of memory");
	return -ENOMEM;
}

static int not_yaml(struct composer *c)
{
	const yaml_parser_t *p = &c->parser;

	if (p->error == YAML_MEMORY_ERROR)
		return out_of_memory(c);
	if (p->error == YAML_READER_ERROR)
		cfg_diag_add(c->diags, (struct cfg_mark){0, 0}, "not YAML text: %s at byte %zu", p->problem,
			p->problem_offset);
	else
		cfg_diag_add(c->diags, mark_of(&p->problem_mark), "not YAML: %s%s%s", p->problem,
			p->context ? ", " : "", p->context ? p->context : "");
	return -EINVAL;
}

static int read_text(void *arg, unsigned char *to, size_t size, size_t *n)
{
	struct composer *c = arg;

	*n = MIN_OF(size, c->left);
	memcpy(to, c->text, *n);
	c->text += *n;
	c->left -= *n;
	progress();
	return 1;
}

static const struct anchor *find_anchor(const struct composer *c, const char *name)
{
	const struct anchor *a;

	SLIST_FOREACH(a, &c->anchors, next)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

static int add_anchor(struct composer *c, const struct yaml_node *node, const char *name)
{
	const struct anchor *first = find_anchor(c, name);
	struct anchor *a;

	if (first) {
		cfg_diag_add(c->diags, node->at, "the anchor '&%.60s' is given twice; first in line %u", name,
			first->node->at.line);
		return -EINVAL;
	}
	a = arena_alloc(c->arena, sizeof(*a));
	if (!a)
		return out_of_memory(c);
	a->name = arena_strdup(c->arena, name);
	if (!a->name)
		return out_of_memory(c);
	a->node = node;
	SLIST_INSERT_HEAD(&c->anchors, a, next);
	return 0;
}

/* Put a node into the innermost list or mapping. */
static int place(struct composer *c, const struct yaml_node *node)
{
	struct open *in = SLIST_FIRST(&c->open);
	struct yaml_item *item;

	if (!in) {
		c->root = node;
		return 0;
	}
	item = arena_alloc(c->arena, sizeof(*item));
	if (!item)
		return out_of_memory(c);
	item->node = node;
	*in->end = item;
	in->end = &item->next;
	in->node->n++;
	return 0;
}

static int place_alias(struct composer *c, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct anchor *a = find_anchor(c, name);

	if (!a) {
		cfg_diag_add(c->diags, mark_of(&event->start_mark),
			"the alias '*%.60s' has no anchor '&%.60s' before it", name, name);
		return -EINVAL;
	}
	return place(c, a->node);
}

/* A new node in its place. NULL: an error was reported. */
static struct yaml_node *place_new(struct composer *c, const yaml_event_t *event, enum yaml_kind kind,
	const yaml_char_t *anchor)
{
	struct yaml_node *node = arena_alloc(c->arena, sizeof(*node));

	if (!node) {
		out_of_memory(c);
		return NULL;
	}
	node->kind = kind;
	node->at = mark_of(&event->start_mark);
	c->n++;
	if (place(c, node) < 0 || (anchor && add_anchor(c, node, (const char *)anchor) < 0))
		return NULL;
	return node;
}

static int place_scalar(struct composer *c, const yaml_event_t *event)
{
	struct yaml_node *node = place_new(c, event, YAML_SCALAR, event->data.scalar.anchor);
	size_t size = event->data.scalar.length;
	char *text;

	if (!node)
		return -EINVAL;
	text = arena_alloc(c->arena, size + 1);
	if (!text)
		return out_of_memory(c);
	memcpy(text, event->data.scalar.value, size);
	node->text = text;
	node->size = size;
	return 0;
}

static int place_open(struct composer *c, const yaml_event_t *event, enum yaml_kind kind, const yaml_char_t *anchor)
{
	struct yaml_node *node = place_new(c, event, kind, anchor);
	struct open *open;

	if (!node)
		return -EINVAL;
	open = arena_alloc(c->arena, sizeof(*open));
	if (!open)
		return out_of_memory(c);
	open->node = node;
	open->end = &node->items;
	SLIST_INSERT_HEAD(&c->open, open, outer);
	return 0;
}

static int take_event(struct composer *c, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return place_alias(c, event);
	case YAML_SCALAR_EVENT:
		return place_scalar(c, event);
	case YAML_SEQUENCE_START_EVENT:
		return place_open(c, event, YAML_LIST, event->data.sequence_start.anchor);
	case YAML_MAPPING_START_EVENT:
		return place_open(c, event, YAML_MAPPING, event->data.mapping_start.anchor);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		SLIST_REMOVE_HEAD(&c->open, outer);
		return 0;
	default:
		return 0;
	}
}

/* Read to the end of the next document; c->root is NULL if there is none. */
static int compose(struct composer *c)
{
	yaml_event_type_t type;
	yaml_event_t event;
	int rc;

	c->root = NULL;
	SLIST_INIT(&c->anchors);
	do {
		if (!yaml_parser_parse(&c->parser, &event))
			return not_yaml(c);
		type = event.type;
		rc = take_event(c, &event);
		yaml_event_delete(&event);
	} while (rc == 0 && type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT);
	return rc;
}

static struct cfg_mark place_of(const char *text, size_t offset)
{
	struct cfg_mark at = {1, 1};

	for (size_t i = 0; i < offset; i++)
		at = text[i] == '\n' ? (struct cfg_mark){at.line + 1, 1} : (struct cfg_mark){at.line, at.column + 1};
	return at;
}

/*
 * libyaml needs time that grows with the square of the bracket depth, and this file with that of the number of anchors:
 * minutes for a file of about 100 KB that contains nothing else. The count ignores quotes and comments, so the limits are
 * generous.
 */
static bool too_laborious(struct cfg_diags *diags, const char *text, size_t size)
{
	static const signed char step[256] = {['['] = 1, ['{'] = 1, [']'] = -1, ['}'] = -1};
	unsigned int anchors = 0;
	int depth = 0;

	for (size_t i = 0; i < size; i++) {
		depth = MAX_OF(depth + step[(unsigned char)text[i]], 0);
		anchors += text[i] == '&';
		if (depth > DEPTH_MAX || anchors > ANCHORS_MAX) {
			cfg_diag_add(diags, place_of(text, i),
				depth > DEPTH_MAX ? "more than %u brackets are open here" : "more than %u anchors",
				depth > DEPTH_MAX ? DEPTH_MAX : ANCHORS_MAX);
			return true;
		}
	}
	return false;
}

int yaml_tree_read(struct yaml_tree *tree, const char *text, size_t size, struct cfg_diags *diags)
{
	struct composer c = {.diags = diags, .text = text, .left = size, .arena = arena_new()};
	int rc;

	*tree = (struct yaml_tree){.arena = c.arena};
	if (too_laborious(diags, text, size))
		return -EINVAL;
	if (!c.arena || !yaml_parser_initialize(&c.parser))
		return out_of_memory(&c);
	yaml_parser_set_input(&c.parser, read_text, &c);
	rc = compose(&c);
	tree->root = c.root;
	tree->n = c.n;
	if (rc == 0 && !tree->root) {
		cfg_diag_add(diags, (struct cfg_mark){1, 1}, "the file is empty");
		rc = -EINVAL;
	}
	if (rc == 0 && compose(&c) == 0 && c.root)
		cfg_diag_add(diags, c.root->at, "a second YAML document begins here; a file can have only one");
	yaml_parser_delete(&c.parser);
	return rc;
}

void yaml_tree_free(struct yaml_tree *tree)
{
	arena_free(tree->arena);
}
