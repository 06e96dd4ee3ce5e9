/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the model to YAML: `show config`, and the reference page made from the schema alone. Management thread. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/config.h"
#include "config/schema.h"

#define INDENT(n) ((int)(n)*2), ""

/* Texts and addresses without a default are absent if empty, numbers without a default if 0. */
static bool is_absent(const struct cfg_key *key, const void *value)
{
	static const char zero[sizeof(struct ip_prefix)];

	if (key->type == CFG_LIST_OF)
		return cfg_list_at(value).n == 0;
	/* a required key was given even if its value is 0: lcore 0, side dc, behavior uN */
	if (key->fallback || key->flags & CFG_REQUIRED)
		return false;
	return memcmp(value, zero, cfg_value_size(key, key->type)) == 0;
}

/* Whether a mapping is absent: it was omitted and has required keys, or all of its keys are absent. */
static bool map_is_absent(const struct cfg_map *map, const char *base)
{
	struct cfg_mark at;
	bool empty = true;

	memcpy(&at, base, sizeof(at));
	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];

		if (!at.line && key->flags & CFG_REQUIRED)
			return true;
		empty &= key->type != CFG_MAP && is_absent(key, base + key->offset);
	}
	return empty;
}

static bool is_default(const struct cfg_key *key, const void *value)
{
	char text[CFG_SCALAR_TEXT], err[256];
	_Alignas(8) char fallback[sizeof(struct ip_prefix)];

	if (!key->fallback || key->type == CFG_NAME || key->type == CFG_TEXT)
		return false;
	if (cfg_parse_scalar(key, key->type, key->fallback, NULL, fallback, err, sizeof(err)) < 0)
		return false;
	cfg_format_scalar(key, key->type, fallback, text, sizeof(text));
	cfg_format_scalar(key, key->type, value, err, sizeof(err));
	return strcmp(text, err) == 0;
}

static bool map_is_default(const struct cfg_map *map, const char *base)
{
	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];
		const char *value = base + key->offset;

		if (key->type == CFG_MAP ? !map_is_absent(key->map, value) && !map_is_default(key->map, value)
					 : !is_absent(key, value) && !is_default(key, value))
			return false;
	}
	return true;
}

static bool has_plain_default(const struct cfg_key *key)
{
	return key->fallback && key->type != CFG_NAME && key->type != CFG_TEXT && key->type != CFG_LIST_OF;
}

/* `defaults`: of default_item. False: the text of the value decides. */
static bool equals_default(const struct cfg_key *key, const char *value, const char *defaults)
{
	return defaults && has_plain_default(key) &&
	       memcmp(value, defaults + key->offset, cfg_value_size(key, key->type)) == 0;
}

/* An item of a list of maps with the default of each key, so that a list with many items parses them once. NULL: none. */
static char *default_item(const struct cfg_map *map)
{
	char *item = calloc(1, map->size), err[256];

	for (uint32_t i = 0; item && i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];

		if (has_plain_default(key))
			cfg_parse_scalar(key, key->type, key->fallback, NULL, item + key->offset, err, sizeof(err));
	}
	return item;
}

static void emit_map(const struct cfg_map *map, const char *base, const char *defaults, FILE *out, unsigned int depth,
	bool all, bool in_item);

static void emit_list(const struct cfg_key *key, const char *value, FILE *out, unsigned int depth, bool all)
{
	struct cfg_any_list list = cfg_list_at(value);
	size_t size = cfg_value_size(key, key->item);
	char text[CFG_SCALAR_TEXT], *defaults;

	if (key->item != CFG_MAP) {
		fprintf(out, " [");
		for (uint32_t i = 0; i < list.n; i++) {
			cfg_format_scalar(key, key->item, list.items + i * size, text, sizeof(text));
			fprintf(out, "%s%s", i ? ", " : "", text);
		}
		fprintf(out, "]\n");
		return;
	}
	fprintf(out, "\n");
	defaults = default_item(key->map);
	for (uint32_t i = 0; i < list.n; i++) {
		fprintf(out, "%*s- ", INDENT(depth + 1));
		emit_map(key->map, list.items + i * size, defaults, out, depth + 2, all, true);
	}
	free(defaults);
}

/* `defaults`: a struct like that at `base`, for the keys that have defaults; NULL: they are parsed again. */
static void emit_map(const struct cfg_map *map, const char *base, const char *defaults, FILE *out, unsigned int depth,
	bool all, bool in_item)
{
	char text[CFG_SCALAR_TEXT];
	bool first = in_item;

	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];
		const char *value = base + key->offset;

		if (key->type == CFG_MAP) {
			if (map_is_absent(key->map, value) || (map_is_default(key->map, value) && !all))
				continue;
		} else if (is_absent(key, value) ||
			   (!all && (equals_default(key, value, defaults) || is_default(key, value)))) {
			continue;
		}
		fprintf(out, "%*s%s:", INDENT(first ? 0 : depth), key->name);
		first = false;
		if (key->type == CFG_MAP) {
			fprintf(out, "\n");
			emit_map(key->map, value, NULL, out, depth + 1, all, false);
		} else if (key->type == CFG_LIST_OF) {
			emit_list(key, value, out, depth, all);
		} else {
			cfg_format_scalar(key, key->type, value, text, sizeof(text));
			fprintf(out, " %s\n", text);
		}
	}
}

void cfg_emit(const struct config *c, FILE *out, bool all)
{
	emit_map(&cfg_root, (const char *)c, NULL, out, 0, all, false);
}

static void emit_wrapped(FILE *out, unsigned int indent, const char *text)
{
	size_t width = 96 - indent, n;

	while (*text) {
		n = strlen(text);
		if (n > width) {
			n = width;
			while (n && text[n] != ' ')
				n--;
			if (!n)
				n = width;
		}
		fprintf(out, "%*s# %.*s\n", (int)indent, "", (int)n, text);
		text += n;
		while (*text == ' ')
			text++;
	}
}

static void emit_key_help(const struct cfg_key *key, FILE *out, unsigned int indent)
{
	char expected[256], line[640];
	enum cfg_type type = key->type == CFG_LIST_OF ? key->item : key->type;
	size_t n;

	emit_wrapped(out, indent, key->help);
	cfg_key_expected(key, type, expected, sizeof(expected));
	n = (size_t)snprintf(line, sizeof(line), "%s%s", key->type == CFG_LIST_OF ? "list of: " : "", expected);
	if (key->refs)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "; a name of %s", key->refs);
	if (key->fallback)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "; default %s", key->fallback);
	if (key->flags & CFG_REQUIRED)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "; required");
	if (key->type != CFG_MAP)
		snprintf(line + n, sizeof(line) - n, "; %s",
			key->flags & CFG_START_ONLY ? "read at start only" : "reloadable");
	if (type != CFG_MAP)
		emit_wrapped(out, indent, line);
}

/* A mapping whose keys are commented out, with their examples. */
static void reference_comments(const struct cfg_map *map, FILE *out, unsigned int indent)
{
	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];

		emit_key_help(key, out, indent);
		if (key->type == CFG_MAP) {
			fprintf(out, "%*s# %s:\n", (int)indent, "", key->name);
			reference_comments(key->map, out, indent + 2);
			continue;
		}
		fprintf(out, "%*s# %s: %s\n", (int)indent, "", key->name,
			key->example	? key->example
			: key->fallback ? key->fallback
					: "");
	}
}

static void reference_map(const struct cfg_map *map, FILE *out, unsigned int indent, bool in_item)
{
	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];

		if (indent == 0)
			fprintf(out, "\n");
		emit_key_help(key, out, indent);
		/* a list item begins with a dash before its first key */
		if (in_item && i == 0)
			fprintf(out, "%*s- ", (int)indent - 2, "");
		else
			fprintf(out, "%*s", (int)indent, "");
		if (key->flags & CFG_COMMENTED) {
			fprintf(out, "# %s:\n", key->name);
			reference_comments(key->map, out, indent + (key->type == CFG_MAP ? 2 : 4));
		} else if (key->type == CFG_MAP) {
			fprintf(out, "%s:\n", key->name);
			reference_map(key->map, out, indent + 2, false);
		} else if (key->type == CFG_LIST_OF && key->item == CFG_MAP) {
			fprintf(out, "%s:\n", key->name);
			reference_map(key->map, out, indent + 4, true);
		} else if (key->example) {
			fprintf(out, "%s: %s\n", key->name, key->example);
		} else if (key->fallback) {
			fprintf(out, "%s: %s\n", key->name, key->fallback);
		} else {
			fprintf(out, "# %s:\n", key->name);
		}
	}
}

void cfg_emit_reference_of(const struct cfg_map *map, const char *title, FILE *out)
{
	fprintf(out,
		"%s"
		"# Each value is the default or, if there is none, an example.\n"
		"# Numbers may be hexadecimal (0x...) and may end in K, M, G or T: powers of 1024 for bytes\n"
		"# and counts, of 1000 for rates.\n",
		title);
	reference_map(map, out, 0, false);
}

void cfg_emit_reference(FILE *out)
{
	cfg_emit_reference_of(&cfg_root,
		"# Reference of the sluice configuration: every key, with its limits and its default.\n"
		"# Generated from the schema (lib/config/schema.c) by `sluice --print reference`; do not edit.\n"
		"# This file is valid.\n",
		out);
}
