/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that the schema itself declares: names that must exist, values that must differ. Pure. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/check_priv.h"
#include "config/schema.h"

struct value {
	char *text;
	const void *member;
};

static int by_text(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	int d = strcmp(x->text, y->text);

	/* equal texts in file order: members of a list are in file order in memory */
	return d ? d : x->member < y->member ? -1 : x->member > y->member;
}

static void check_unique(const struct config *c, struct cfg_diags *d, const struct cfg_key *list,
	const struct cfg_key *key, const char *items, uint32_t n)
{
	struct value *values = calloc(n, sizeof(*values));
	char text[CFG_SCALAR_TEXT];

	if (!values) {
		cfg_diag_add(d, (struct cfg_mark){0, 0}, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		values[i].member = items + (size_t)i * list->map->size + key->offset;
		cfg_format_scalar(key, key->type, values[i].member, text, sizeof(text));
		values[i].text = strdup(text);
		if (!values[i].text)
			goto out;
	}
	qsort(values, n, sizeof(*values), by_text);
	for (uint32_t i = 1, first = 0; i < n; i++) {
		if (strcmp(values[first].text, values[i].text) != 0)
			first = i;
		else
			cfg_diag_add(d, cfg_where(c, values[i].member), "%s %s is used twice in %s, first in line %u",
				key->name, values[i].text, list->name, cfg_where(c, values[first].member).line);
	}
out:
	for (uint32_t i = 0; i < n; i++)
		free(values[i].text);
	free(values);
}

static void check_reference(const struct config *c, struct cfg_diags *d, const struct cfg_key *key, const void *member)
{
	const char *name, *near;

	memcpy(&name, member, sizeof(name));
	if (!name || cfg_find_named(c, key->refs, name, &near) >= 0)
		return;
	if (near)
		cfg_diag_add(d, cfg_where(c, member), "%s: there is no '%s' in %s; did you mean '%s'?", key->name, name,
			key->refs, near);
	else
		cfg_diag_add(d, cfg_where(c, member), "%s: there is no '%s' in %s", key->name, name, key->refs);
}

static void check_map(const struct config *c, struct cfg_diags *d, const struct cfg_map *map, const char *base)
{
	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];
		const char *member = base + key->offset;
		CFG_LIST(char) list;

		if (key->refs)
			check_reference(c, d, key, member);
		if (key->type == CFG_MAP)
			check_map(c, d, key->map, member);
		if (key->type != CFG_LIST_OF || key->item != CFG_MAP)
			continue;
		memcpy(&list, member, sizeof(list));
		for (uint32_t k = 0; k < key->map->n_keys && list.n > 1; k++)
			if (key->map->keys[k].flags & (CFG_IDENTITY | CFG_UNIQUE))
				check_unique(c, d, key, &key->map->keys[k], list.items, list.n);
		for (uint32_t k = 0; k < list.n; k++)
			check_map(c, d, key->map, list.items + (size_t)k * key->map->size);
	}
}

static void check_references(const struct config *c, struct cfg_diags *d)
{
	check_map(c, d, &cfg_root, (const char *)c);
}

int cfg_check(const struct config *c, struct cfg_diags *d)
{
	unsigned int before = cfg_diags_errors(d);

	d->file = c->file;
	check_references(c, d);
	check_lcores(c, d);
	check_ports(c, d);
	check_interfaces(c, d);
	check_routes(c, d);
	check_sids(c, d);
	check_policies(c, d);
	check_qos(c, d);
	check_headroom(c, d);
	check_circuits(c, d);
	check_steering(c, d);
	check_pfc_wan(c, d);
	check_bfd(c, d);
	check_credit(c, d);
	check_remote_sids(c, d);
	check_boundary(c, d);
	check_dscp(c, d);
	check_buffers(c, d);
	check_ways(c, d);
	return cfg_diags_errors(d) > before ? -EINVAL : 0;
}

struct config *cfg_load_checked(const char *path, FILE *errors)
{
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_file(path, &diags);
	bool good = c && cfg_check(c, &diags) == 0;

	/* before cfg_free: the configuration owns the file name */
	cfg_diags_print(&diags, errors);
	cfg_diags_free(&diags);
	if (good)
		return c;
	cfg_free(c);
	return NULL;
}
