/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks VLAN interfaces: each accepts frames that nothing else of its port accepts. Their addresses are checked with
 * those of ports. Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "config/check_priv.h"

/* Sorts by accepted frames. Of two that accept the same frames, the later one in the file comes second. */
static int by_frames(const void *a, const void *b)
{
	const struct cfg_interface *x = *(const struct cfg_interface *const *)a;
	const struct cfg_interface *y = *(const struct cfg_interface *const *)b;
	int d = strcmp(x->port, y->port);

	if (!d)
		d = x->vlan < y->vlan ? -1 : x->vlan > y->vlan;
	if (!d)
		d = x->inner_vlan < y->inner_vlan ? -1 : x->inner_vlan > y->inner_vlan;
	return d ? d : x < y ? -1 : 1;
}

static void check_twice(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_interface **sorted = calloc(c->interfaces.n + 1, sizeof(struct cfg_interface *));

	if (!sorted)
		return;
	for (uint32_t i = 0; i < c->interfaces.n; i++)
		sorted[i] = &c->interfaces.items[i];
	qsort(sorted, c->interfaces.n, sizeof(struct cfg_interface *), by_frames);
	for (uint32_t i = 1; i < c->interfaces.n; i++) {
		const struct cfg_interface *v = sorted[i], *o = sorted[i - 1];

		if (strcmp(v->port, o->port) == 0 && v->vlan == o->vlan && v->inner_vlan == o->inner_vlan)
			cfg_diag_add(d, cfg_where(c, &v->vlan),
				"interface '%s' of port '%s' already takes these frames", o->name, v->port);
	}
	free(sorted);
}

static void check_interface(const struct config *c, struct cfg_diags *d, const struct cfg_interface *v)
{
	int port = cfg_find_port(c, v->port);

	if (cfg_find_port(c, v->name) >= 0)
		cfg_diag_add(d, cfg_where(c, &v->name), "name: '%s' is already the name of a port", v->name);
	if (port >= 0 && v->mtu != CFG_NONE && v->mtu > c->ports.items[port].mtu)
		cfg_diag_add(d, cfg_where(c, &v->mtu), "mtu: %llu is larger than %llu, the mtu of port '%s'",
			(unsigned long long)v->mtu, (unsigned long long)c->ports.items[port].mtu, v->port);
	for (uint32_t i = 0; i < c->circuits.n; i++)
		if (c->circuits.items[i].vlan == v->vlan && strcmp(c->circuits.items[i].port, v->port) == 0)
			cfg_diag_add(d, cfg_where(c, &v->vlan),
				"vlan: %llu of port '%s' is already used by circuit '%s'", (unsigned long long)v->vlan,
				v->port, c->circuits.items[i].name);
}

void check_interfaces(const struct config *c, struct cfg_diags *d)
{
	for (uint32_t i = 0; i < c->interfaces.n; i++)
		check_interface(c, d, &c->interfaces.items[i]);
	check_twice(c, d);
}
