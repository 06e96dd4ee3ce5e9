/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts JSON to text. Management thread.
 * A list of objects with the same keys and plain values becomes a table.
 * Each object of any other list of objects becomes a line of "key value" pairs, or a block if it contains more.
 * Every other list becomes one line per value.
 * An object becomes "key: value" lines; nested objects are indented.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "command/command.h"

#define COLUMNS_MAX 32

/* Format one value on one line. The caller frees. */
static char *cell(json_t *v)
{
	char *text = NULL;
	size_t size, i;
	json_t *item;
	FILE *f;

	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	if (json_is_string(v)) {
		fputs(json_string_value(v), f);
	} else if (json_is_integer(v)) {
		fprintf(f, "%lld", (long long)json_integer_value(v));
	} else if (json_is_real(v)) {
		fprintf(f, "%.3g", json_real_value(v));
	} else if (json_is_boolean(v)) {
		fputs(json_is_true(v) ? "yes" : "no", f);
	} else if (json_is_array(v)) {
		json_array_foreach(v, i, item) {
			char *one = cell(item);

			fprintf(f, "%s%s", i ? ", " : "", one ? one : "");
			free(one);
		}
	} else {
		fputc('-', f);
	}
	fclose(f);
	if (text && !*text) {
		free(text);
		return strdup("-");
	}
	return text;
}

static bool has_objects(json_t *v)
{
	return json_is_object(v) || (json_is_array(v) && json_array_size(v) && json_is_object(json_array_get(v, 0)));
}

/* Whether all values fit on one line. */
static bool is_plain(json_t *object)
{
	const char *key;
	json_t *v;

	json_object_foreach(object, key, v)
		if (has_objects(v))
			return false;
	return true;
}

static bool is_table(json_t *v)
{
	json_t *first = json_array_get(v, 0), *row, *cell_value;
	const char *key;
	size_t i;

	if (!json_is_object(first))
		return false;
	json_array_foreach(v, i, row) {
		if (!json_is_object(row) || !is_plain(row) || json_object_size(row) != json_object_size(first))
			return false;
		json_object_foreach(row, key, cell_value)
			if (!json_object_get(first, key))
				return false;
	}
	return true;
}

static void print_row(json_t *row, const char *const *keys, unsigned int n, const size_t *width, const bool *number,
	FILE *out, unsigned int indent)
{
	fprintf(out, "%*s", (int)indent, "");
	for (unsigned int k = 0; k < n; k++) {
		json_t *v = json_object_get(row, keys[k]);
		char *text = cell(v);

		/* numbers are right-aligned, all others left-aligned; nothing follows the last column */
		if (number[k])
			fprintf(out, "%*s", (int)width[k], text ? text : "");
		else if (k + 1 < n)
			fprintf(out, "%-*s", (int)width[k], text ? text : "");
		else
			fprintf(out, "%s", text ? text : "");
		fprintf(out, k + 1 < n ? "  " : "\n");
		free(text);
	}
}

static void print_table(json_t *rows, FILE *out, unsigned int indent)
{
	const char *keys[COLUMNS_MAX];
	size_t width[COLUMNS_MAX], i;
	unsigned int n = 0;
	bool number[COLUMNS_MAX];
	const char *key;
	json_t *v, *row;

	json_object_foreach(json_array_get(rows, 0), key, v) {
		if (n == COLUMNS_MAX)
			break;
		number[n] = false;
		width[n] = strlen(key);
		keys[n++] = key;
	}
	json_array_foreach(rows, i, row) {
		for (unsigned int k = 0; k < n; k++) {
			char *text;

			v = json_object_get(row, keys[k]);
			text = cell(v);
			number[k] |= json_is_number(v); /* true if any row has a number; other rows may have none */
			width[k] = MAX_OF(width[k], text ? strlen(text) : 0);
			free(text);
		}
	}
	fprintf(out, "%*s", (int)indent, "");
	for (unsigned int k = 0; k < n; k++)
		fprintf(out,
			number[k]   ? "%*s%s"
			: k + 1 < n ? "%-*s%s"
				    : "%.*s%s",
			(int)width[k], keys[k], k + 1 < n ? "  " : "\n");
	json_array_foreach(rows, i, row)
		print_row(row, keys, n, width, number, out, indent);
}

static void print_object(json_t *object, FILE *out, unsigned int indent);

/* Values of an object on one line, without the key of the first: "step sent, port wan0, bytes 150". */
static void print_inline(json_t *object, FILE *out, unsigned int indent)
{
	const char *key;
	bool first = true;
	json_t *v;

	fprintf(out, "%*s", (int)indent, "");
	json_object_foreach(object, key, v) {
		char *text = cell(v);

		fprintf(out, "%s%s %s", first ? "" : ", ", key, text ? text : "");
		first = false;
		free(text);
	}
	fputc('\n', out);
}

static void print_objects(json_t *list, FILE *out, unsigned int indent)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		if (is_plain(item)) {
			print_inline(item, out, indent);
		} else {
			if (i)
				fputc('\n', out);
			print_object(item, out, indent);
		}
	}
}

static void print_object(json_t *object, FILE *out, unsigned int indent)
{
	size_t width = 0;
	const char *key;
	json_t *v;

	json_object_foreach(object, key, v)
		width = MAX_OF(width, strlen(key));
	json_object_foreach(object, key, v) {
		char *text;

		if (has_objects(v)) {
			fprintf(out, "%*s%s:\n", (int)indent, "", key);
			if (json_is_object(v))
				print_object(v, out, indent + 2);
			else if (is_table(v))
				print_table(v, out, indent + 2);
			else
				print_objects(v, out, indent + 2);
			continue;
		}
		text = cell(v);
		fprintf(out, "%*s%s:%*s%s\n", (int)indent, "", key, (int)(width - strlen(key) + 1), "",
			text ? text : "");
		free(text);
	}
}

void command_print_text(json_t *value, FILE *out)
{
	size_t i;
	json_t *item;

	if (is_table(value)) {
		print_table(value, out, 0);
	} else if (json_is_array(value) && has_objects(value)) {
		print_objects(value, out, 0);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, item)
			command_print_text(item, out);
		if (!json_array_size(value))
			fputs("none\n", out);
	} else if (json_is_object(value)) {
		print_object(value, out, 0);
	} else {
		char *text = cell(value);

		fprintf(out, "%s\n", text ? text : "");
		free(text);
	}
}

/* --- words for people, values for programs --- */

#define WORDS_SUFFIX "~" /* of the member with the words, beside the one with the value */
#define KEY_MAX 64

void command_set_worded(json_t *o, const char *key, json_t *value, const char *words)
{
	char name[KEY_MAX];

	snprintf(name, sizeof(name), "%s" WORDS_SUFFIX, key);
	json_object_set_new(o, key, value);
	json_object_set_new(o, name, json_string(words));
}

static void choose_member(json_t *o, const char *key, bool words)
{
	char name[KEY_MAX];
	json_t *text = json_object_get(o, key);

	snprintf(name, sizeof(name), "%.*s", (int)(strlen(key) - strlen(WORDS_SUFFIX)), key);
	if (words)
		json_object_set(o, name, text);
	json_object_del(o, key);
}

void command_choose_form(json_t *value, bool words)
{
	const char *key;
	json_t *item;
	void *next;
	size_t i;

	json_array_foreach(value, i, item)
		command_choose_form(item, words);
	json_object_foreach_safe(value, next, key, item)
	{
		if (key[0] && key[strlen(key) - 1] == WORDS_SUFFIX[0])
			choose_member(value, key, words);
		else
			command_choose_form(item, words);
	}
}
