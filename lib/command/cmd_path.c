/* SPDX-License-Identifier: BSD-3-Clause */
/* path place, pin, unpin, load, batch, drain, enable. Management thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command/command_priv.h"
#include "config/schema.h"
#include "config/diag.h"
#include "node/node_ctl.h"
#include "service/steer/service_steer.h"

#define LINE_WORDS 4
#define FEW 64 /* wishes for which room is made at first */

/* Wishes that are read from somewhere. */
struct reading {
	struct place_wish *wish;
	uint32_t *line; /* of each wish, or its number in an array, from 1 */
	size_t n, room;
	char *err;
	size_t size;
};

static int grow(struct reading *r)
{
	size_t room = r->room ? 2 * r->room : FEW;
	struct place_wish *wish = realloc(r->wish, room * sizeof(*wish));
	uint32_t *line = wish ? realloc(r->line, room * sizeof(*line)) : NULL;

	r->wish = wish ? wish : r->wish;
	r->line = line ? line : r->line;
	if (!wish || !line)
		return text_fail(r->err, r->size, -ENOMEM, "out of memory");
	r->room = room;
	return 0;
}

static int take_name(const char *what, const char *name, char *to, char *err, size_t size)
{
	if (!name || !*name)
		return text_fail(err, size, -EINVAL, "%s is missing", what);
	if (strlen(name) >= STEER_NAME)
		return text_fail(err, size, -EINVAL, "%s '%.40s...' is longer than any name", what, name);
	memcpy(to, name, strlen(name) + 1);
	return 0;
}

static int make_wish(const char *flow, const char *policy, const char *path, bool pinned, struct place_wish *out,
	char *err, size_t size)
{
	int rc;

	*out = (struct place_wish){.pinned = pinned};
	if (!flow)
		return text_fail(err, size, -EINVAL, "flow is missing");
	rc = steer_key_parse(flow, &out->key, out->vrf, err, size);
	if (rc == 0)
		rc = take_name("policy", policy, out->policy, err, size);
	if (rc == 0)
		rc = take_name("path", path, out->path, err, size);
	return rc;
}

static int add(struct reading *r, uint32_t line, const char *flow, const char *policy, const char *path, bool pinned)
{
	if (r->n == r->room && grow(r) < 0)
		return -ENOMEM;
	r->line[r->n] = line;
	return make_wish(flow, policy, path, pinned, &r->wish[r->n++], r->err, r->size);
}

static int read_line(struct reading *r, uint32_t number, char *line)
{
	const char *word[LINE_WORDS + 1] = {NULL};
	unsigned int n = 0;
	char *save = NULL;

	for (char *w = strtok_r(line, " \t\r", &save); w && *w != '#'; w = strtok_r(NULL, " \t\r", &save)) {
		if (n == LINE_WORDS)
			return text_fail(r->err, r->size, -EINVAL,
				"'%.40s': a line is FLOW POLICY PATH, and pinned or nothing", w);
		word[n++] = w;
	}
	if (!n)
		return 0;
	if (n == LINE_WORDS && strcmp(word[LINE_WORDS - 1], "pinned") != 0)
		return text_fail(r->err, r->size, -EINVAL, "'%.40s': pinned or nothing follows the path",
			word[LINE_WORDS - 1]);
	return add(r, number, word[0], word[1], word[2], n == LINE_WORDS);
}

/* *line: where it is wrong. */
static int read_lines(struct reading *r, char *text, uint32_t *line)
{
	int rc = 0;

	*line = 0;
	for (char *at = text, *end; rc == 0 && at; at = end) {
		end = strchr(at, '\n');
		if (end)
			*end++ = '\0';
		rc = read_line(r, ++*line, at);
	}
	return rc;
}

static int read_object(struct reading *r, uint32_t number, const json_t *o)
{
	const char *key;
	json_t *value;

	if (!json_is_object(o))
		return text_fail(r->err, r->size, -EINVAL, "an object with flow, policy and path is needed");
	json_object_foreach((json_t *)(uintptr_t)o, key, value) {
		if (strcmp(key, "pinned") == 0 ? !json_is_boolean(value) : !json_is_string(value))
			return text_fail(r->err, r->size, -EINVAL, "%.40s: %s is needed", key,
				strcmp(key, "pinned") == 0 ? "true or false" : "a string");
		if (strcmp(key, "flow") && strcmp(key, "policy") && strcmp(key, "path") && strcmp(key, "pinned"))
			return text_fail(r->err, r->size, -EINVAL, "unknown member '%.40s'", key);
	}
	return add(r, number, json_string_value(json_object_get(o, "flow")),
		json_string_value(json_object_get(o, "policy")), json_string_value(json_object_get(o, "path")),
		json_is_true(json_object_get(o, "pinned")));
}

static int read_json(struct reading *r, const char *text, uint32_t *number)
{
	json_error_t e;
	json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, &e);
	int rc = 0;

	*number = 0;
	if (!json_is_array(all)) {
		json_decref(all);
		*number = all ? 1 : (uint32_t)(e.line > 0 ? e.line : 1);
		return text_fail(r->err, r->size, -EINVAL, "%s", all ? "a JSON array is needed" : e.text);
	}
	for (size_t i = 0; rc == 0 && i < json_array_size(all); i++)
		rc = read_object(r, *number = (uint32_t)i + 1, json_array_get(all, i));
	json_decref(all);
	return rc;
}

static bool is_json(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '[';
}

/* Read wishes and place them; the messages begin with `where` and the line, or the number of the object. */
static int place_text(struct command_call *c, const char *where, char *text, bool replace)
{
	char err[512] = "";
	struct reading r = {.err = err, .size = sizeof(err)};
	bool json = is_json(text);
	uint32_t line;
	size_t wrong;
	int rc = json ? read_json(&r, text, &line) : read_lines(&r, text, &line);

	if (rc == 0) {
		rc = steer_place(c->node, r.wish, r.n, replace, &wrong, err, sizeof(err));
		line = rc < 0 && wrong < r.n ? r.line[wrong] : 0;
	}
	if (rc == 0)
		c->result = json_pack("{sI}", "placed", (json_int_t)r.n);
	free(r.wish);
	free(r.line);
	if (rc < 0)
		return line ? command_fail(c, rc, "%s%s%u: %s; nothing was placed", where, json ? "[" : ":", line, err)
			    : command_fail(c, rc, "%s: %s; nothing was placed", where, err);
	return 0;
}

int cmd_path_load(struct command_call *c)
{
	struct cfg_diags diags = {.file = c->arg[0]};
	size_t size;
	char *bytes = cfg_read_file(c->arg[0], &size, &diags), *text;
	int rc;

	if (!bytes)
		command_fail(c, -ENOENT, "%s: %s", c->arg[0], diags.n ? diags.items[0].text : "cannot be read");
	cfg_diags_free(&diags);
	if (!bytes)
		return -ENOENT;
	text = realloc(bytes, size + 1);
	if (!text) {
		free(bytes);
		return command_fail(c, -ENOMEM, "out of memory");
	}
	text[size] = '\0';
	rc = strlen(text) == size ? place_text(c, c->arg[0], text, c->flag == 1)
				  : command_fail(c, -EINVAL, "%s: not a text file", c->arg[0]);
	free(text);
	return rc;
}

int cmd_path_batch(struct command_call *c)
{
	char text[COMMAND_LINE_MAX];

	snprintf(text, sizeof(text), "%s", c->arg[0]);
	if (!is_json(text))
		return command_fail(c, -EINVAL,
			"a JSON array in quotes is needed, with \\\" for each of its own quotes");
	return place_text(c, "object", text, false);
}

static int place_one(struct command_call *c, bool pinned)
{
	struct place_wish w;
	size_t wrong;
	int rc = make_wish(c->arg[0], c->arg[1], c->arg[2], pinned, &w, c->error, sizeof(c->error));

	return rc < 0 ? rc : steer_place(c->node, &w, 1, false, &wrong, c->error, sizeof(c->error));
}

int cmd_path_place(struct command_call *c)
{
	return place_one(c, false);
}

int cmd_path_pin(struct command_call *c)
{
	return place_one(c, true);
}

int cmd_path_unpin(struct command_call *c)
{
	struct steer_key key;
	char vrf[STEER_NAME];
	int rc = steer_key_parse(c->arg[0], &key, vrf, c->error, sizeof(c->error));

	if (rc == 0)
		rc = steer_unplace(c->node, &key, vrf);
	return rc == -ENOENT ? command_fail(c, rc, "the flow is not placed; see: show placements") : rc;
}

int cmd_path_drain(struct command_call *c)
{
	return steer_drain(c->node, c->arg[0], c->arg[1], true, c->error, sizeof(c->error));
}

int cmd_path_enable(struct command_call *c)
{
	return steer_drain(c->node, c->arg[0], c->arg[1], false, c->error, sizeof(c->error));
}

void path_write_placements(const struct node *n, FILE *out)
{
	const struct place_store *store = &node_steer(n)->store;
	char text[STEER_TEXT];
	struct place_wish w;

	if (store->n)
		fprintf(out, "placements:\n");
	for (uint32_t i = 0; i < store->rows; i++)
		if (place_store_at(store, i, &w))
			fprintf(out, "  - {flow: \"%s\", policy: %s, path: %s%s}\n",
				steer_key_format(&w.key, w.vrf, text), w.policy, w.path,
				w.pinned ? ", pinned: true" : "");
}
