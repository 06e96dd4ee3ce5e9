/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VLAN interfaces. An interface is a port except for the properties that its own configuration sets. Management thread.
 */
#include <errno.h>
#include <stdio.h>

#include "config/config.h"
#include "snapshot/build_priv.h"
#include "wire/eth.h"

/* The key of an interface's id: port and VLANs. Renaming an interface keeps its id. */
static void key_of(const struct cfg_interface *v, int port, char *key, size_t size)
{
	snprintf(key, size, "%d %u %u", port, (unsigned int)v->vlan, (unsigned int)v->inner_vlan);
}

static uint16_t number_of(const struct builder *b, const struct cfg_interface *v)
{
	int port = cfg_find_port(b->config, v->port);
	char key[40];
	uint32_t id = 0;

	key_of(v, port, key, sizeof(key));
	ids_find(b->ids->interfaces, key, &id);
	return snap_interface_number((uint16_t)port, id);
}

uint16_t build_interface_of(const struct builder *b, const char *name)
{
	struct cfg_link link = {0};

	cfg_find_link(b->config, name, &link);
	return link.interface ? number_of(b, link.interface) : (uint16_t)link.port;
}

static uint16_t *number_table(struct builder *b)
{
	return arena_alloc(b->s->arena, SNAP_VLANS * sizeof(uint16_t));
}

/* Add the interface to the tables that received frames are looked up in. */
static int put(struct builder *b, struct snap_interface *port, const struct cfg_interface *v, uint16_t number)
{
	uint16_t **inner = b->inner_vlan[port->interface];
	uint16_t *table = b->vlan[port->interface];

	if (!inner) {
		inner = arena_alloc(b->s->arena, SNAP_VLANS * sizeof(*inner));
		table = number_table(b);
		if (!inner || !table)
			return build_fail(b, -ENOMEM, "out of memory");
		b->inner_vlan[port->interface] = inner;
		b->vlan[port->interface] = table;
		port->inner_vlan = (const uint16_t *const *)inner;
		port->vlan = table;
	}
	if (v->inner_vlan) {
		table = inner[v->vlan] ? inner[v->vlan] : number_table(b);
		if (!table)
			return build_fail(b, -ENOMEM, "out of memory");
		inner[v->vlan] = table;
		table[v->inner_vlan] = number;
	} else {
		table[v->vlan] = number;
	}
	return 0;
}

static int build_interface(struct builder *b, const struct cfg_interface *v, uint16_t number)
{
	struct snap_interface *port = &b->s->port[snap_interface_of(number)];
	struct snap_interface *p = arena_alloc(b->s->arena, sizeof(*p));
	uint32_t tag = v->tag != TAG_AUTO ? v->tag : v->inner_vlan ? TAG_8021AD : TAG_8021Q;

	if (!p)
		return build_fail(b, -ENOMEM, "out of memory");
	*p = *port;
	p->vlan = NULL;
	p->inner_vlan = NULL;
	p->name = v->name;
	p->interface = number;
	p->vrf = build_vrf_of(b, v->vrf);
	build_sources_closed(p);
	p->slice = v->slice ? build_slice_of(b, v->slice) : b->s->vrf[p->vrf].slice;
	if (v->mtu != CFG_NONE)
		p->mtu = (uint16_t)v->mtu;
	p->tag[0] = (struct snap_tag){tag == TAG_8021AD ? ETH_TYPE_QINQ : ETH_TYPE_VLAN, (uint16_t)v->vlan};
	p->tag[1] = (struct snap_tag){ETH_TYPE_VLAN, (uint16_t)v->inner_vlan};
	p->n_tags = v->inner_vlan ? 2 : 1;
	b->interface[number / SNAP_INTERFACE_ROW] = p;
	port->n_links++;
	if (build_own_addresses(b, p, v->addresses.items, v->addresses.n) < 0)
		return -ENOMEM;
	return put(b, port, v, number);
}

int build_interfaces(struct builder *b)
{
	const struct config *c = b->config;
	char key[40];
	uint32_t id;
	int rc = 0;

	for (uint32_t i = 0; i < c->interfaces.n; i++) {
		key_of(&c->interfaces.items[i], cfg_find_port(c, c->interfaces.items[i].port), key, sizeof(key));
		if (ids_get(b->ids->interfaces, key, b->s->generation, &id) < 0)
			return build_fail(b, -ENOSPC,
				"too many interfaces; those that were removed are still draining");
	}
	b->s->n_interfaces = ids_bound(b->ids->interfaces) + 2;
	b->interface = arena_alloc(b->s->arena, b->s->n_interfaces * sizeof(*b->interface));
	if (!b->interface)
		return build_fail(b, -ENOMEM, "out of memory");
	b->s->interface = (const struct snap_interface *const *)b->interface;
	for (uint32_t i = 0; i < c->interfaces.n && rc == 0; i++)
		rc = build_interface(b, &c->interfaces.items[i], number_of(b, &c->interfaces.items[i]));
	return rc;
}
