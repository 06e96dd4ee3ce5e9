/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds ports, interfaces, VRFs and policies of a configuration by name, and the nearest name for an error message.
 * Read-only once built; any thread.
 */
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
	struct index index[10];
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* Among equal names the first one in the file must be found, so equal names are sorted by index. */
static int by_name_then_index(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d ? d : x->index < y->index ? -1 : x->index > y->index;
}

#define FILL(idx, list_) \
	do { \
		(idx)->n = (list_).n; \
		(idx)->entries = calloc((list_).n + 1, sizeof(struct entry)); \
		for (uint32_t i_ = 0; (idx)->entries && i_ < (list_).n; i_++) \
			(idx)->entries[i_] = (struct entry){(list_).items[i_].name, i_}; \
	} while (0)

/* Ports, followed by interfaces. */
static void fill_links(struct index *index, const struct config *c)
{
	index->entries = calloc(c->ports.n + c->interfaces.n + 1, sizeof(struct entry));
	if (!index->entries)
		return;
	for (uint32_t i = 0; i < c->ports.n; i++)
		index->entries[index->n++] = (struct entry){c->ports.items[i].name, i};
	for (uint32_t i = 0; i < c->interfaces.n; i++)
		index->entries[index->n++] = (struct entry){c->interfaces.items[i].name, c->ports.n + i};
}

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
	n->index[6].list = "interfaces";
	FILL(&n->index[6], c->interfaces);
	n->index[7].list = "ports or interfaces";
	fill_links(&n->index[7], c);
	n->index[8].list = "bfd-profiles";
	FILL(&n->index[8], c->bfd_profiles);
	n->index[9].list = "dscp-maps";
	FILL(&n->index[9], c->dscp_maps);
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

static const char *nearest_name(const struct index *index, const char *name)
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
		*near = nearest_name(index, name);
	return -1;
}

int cfg_find_port(const struct config *c, const char *name)
{
	return cfg_find_named(c, "ports", name, NULL);
}

bool cfg_link_at(const struct config *c, uint32_t i, struct cfg_link *out)
{
	const struct cfg_interface *v;
	int port;

	if (i < c->ports.n) {
		const struct cfg_port *p = &c->ports.items[i];

		*out = (struct cfg_link){p->name, p->vrf, p->addresses.items, p->addresses.n, i, NULL};
		return true;
	}
	if (i - c->ports.n >= c->interfaces.n)
		return false;
	v = &c->interfaces.items[i - c->ports.n];
	port = cfg_find_port(c, v->port);
	*out = (struct cfg_link){v->name, v->vrf, v->addresses.items, v->addresses.n, (uint32_t)port, v};
	return port >= 0;
}

bool cfg_find_link(const struct config *c, const char *name, struct cfg_link *out)
{
	int i = cfg_find_named(c, "ports or interfaces", name, NULL);

	return i >= 0 && cfg_link_at(c, (uint32_t)i, out);
}

int cfg_find_vrf(const struct config *c, const char *name)
{
	return cfg_find_named(c, "vrfs", name, NULL);
}

int cfg_find_policy(const struct config *c, const char *name)
{
	return cfg_find_named(c, "policies", name, NULL);
}
