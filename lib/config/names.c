/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/names.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/text.h"
#include "config/config.h"

struct entry {
	const char *name;
	uint32_t index;
};

struct index {
	const char *list;
	struct entry *entries;
	uint32_t n;
};

struct cfg_names {
	struct index index[6];
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* Equal names keep file order out of it: the first one in the file must be found, so compare that too. */
static int by_name_then_index(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d ? d : x->index < y->index ? -1 : x->index > y->index;
}

#define FILL(idx, list_)                                                                           \
	do {                                                                                       \
		(idx)->n = (list_).n;                                                              \
		(idx)->entries = calloc((list_).n + 1, sizeof(struct entry));                      \
		for (uint32_t i_ = 0; (idx)->entries && i_ < (list_).n; i_++)                      \
			(idx)->entries[i_] = (struct entry){(list_).items[i_].name, i_};           \
	} while (0)

struct cfg_names *cfg_names_new(const struct config *c)
{
	struct cfg_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->index[0].list = "ports";
	FILL(&n->index[0], c->ports);
	n->index[1].list = "vrfs";
	FILL(&n->index[1], c->vrfs);
	n->index[2].list = "policies";
	FILL(&n->index[2], c->policies);
	n->index[3].list = "slices";
	FILL(&n->index[3], c->slices);
	n->index[4].list = "class-maps";
	FILL(&n->index[4], c->class_maps);
	n->index[5].list = "buffer-profiles";
	FILL(&n->index[5], c->buffer_profiles);
	for (unsigned int i = 0; i < ARRAY_LEN(n->index); i++) {
		if (!n->index[i].entries) {
			cfg_names_free(n);
			return NULL;
		}
		qsort(n->index[i].entries, n->index[i].n, sizeof(struct entry), by_name_then_index);
	}
	return n;
}

void cfg_names_free(struct cfg_names *n)
{
	if (!n)
		return;
	for (unsigned int i = 0; i < ARRAY_LEN(n->index); i++)
		free(n->index[i].entries);
	free(n);
}

static const char *nearest(const struct index *index, const char *name)
{
	unsigned int best = (unsigned int)strlen(name) / 3 + 2;
	const char *found = NULL;

	for (uint32_t i = 0; i < index->n; i++) {
		unsigned int d = text_distance(name, index->entries[i].name);

		if (d < best) {
			best = d;
			found = index->entries[i].name;
		}
	}
	return found;
}

int cfg_find_named(const struct config *c, const char *list, const char *name, const char **near)
{
	const struct index *index = c->names->index;
	struct entry key = {.name = name}, *e;

	if (near)
		*near = NULL;
	if (!name)
		return -1;
	while (strcmp(index->list, list) != 0)
		index++;
	e = bsearch(&key, index->entries, index->n, sizeof(key), by_name);
	if (e) {
		while (e > index->entries && strcmp(e[-1].name, name) == 0)
			e--;
		return (int)e->index;
	}
	if (near)
		*near = nearest(index, name);
	return -1;
}

int cfg_find_port(const struct config *c, const char *name)
{
	return cfg_find_named(c, "ports", name, NULL);
}

int cfg_find_vrf(const struct config *c, const char *name)
{
	return cfg_find_named(c, "vrfs", name, NULL);
}

int cfg_find_policy(const struct config *c, const char *name)
{
	return cfg_find_named(c, "policies", name, NULL);
}
