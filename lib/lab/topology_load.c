/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load, check and free topology files. Reads the file and the configurations that it names; runs before the lab is
 * built. The lab is single-threaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "config/marks.h"
#include "config/schema.h"
#include "lab/topology_priv.h"

static struct topology *topo_new(const char *name)
{
	struct arena *arena = arena_new();
	struct topology *t = arena ? arena_alloc(arena, sizeof(*t)) : NULL;

	if (!t) {
		arena_free(arena);
		return NULL;
	}
	t->arena = arena;
	t->marks = cfg_marks_new();
	t->file = arena_strdup(arena, name);
	if (!t->marks || !t->file) {
		topo_free(t);
		return NULL;
	}
	return t;
}

void topo_free(struct topology *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nodes.n; i++)
		cfg_free(t->nodes.items[i].config);
	cfg_marks_free(t->marks);
	arena_free(t->arena);
}

static char *joined(struct topology *t, const char *a, const char *b)
{
	size_t size = strlen(a) + strlen(b) + 2;
	char *name = arena_alloc(t->arena, size);

	if (name)
		snprintf(name, size, "%s-%s", a, b);
	return name;
}

/* Name the links and flows without a name. */
static void topo_name(struct topology *t)
{
	for (uint32_t i = 0; i < t->links.n; i++)
		if (!t->links.items[i].name)
			t->links.items[i].name = joined(t, t->links.items[i].a, t->links.items[i].b);
	for (uint32_t i = 0; i < t->flows.n; i++)
		if (!t->flows.items[i].name)
			t->flows.items[i].name = joined(t, t->flows.items[i].from, t->flows.items[i].to);
}

struct topology *topo_load_text(const char *name, const char *text, size_t size, struct cfg_diags *diags)
{
	struct topology *t = topo_new(name);

	diags->file = name;
	if (!t) {
		cfg_diag_add(diags, (struct cfg_mark){0, 0}, "out of memory");
		return NULL;
	}
	if (cfg_load_map(name, text, size, &topo_root, t, t->arena, t->marks, diags) == 0) {
		topo_name(t);
		topo_check(t, diags);
		diags->file = name; /* checks of inline configurations have changed it */
	}
	if (!cfg_diags_errors(diags))
		return t;
	topo_free(t);
	return NULL;
}

struct topology *topo_load_file(const char *path, struct cfg_diags *diags)
{
	size_t size = 0;
	char *text = cfg_read_file(path, &size, diags);
	struct topology *t = text ? topo_load_text(path, text, size, diags) : NULL;

	free(text);
	return t;
}
