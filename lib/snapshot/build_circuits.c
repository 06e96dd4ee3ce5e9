/* SPDX-License-Identifier: BSD-3-Clause */
/* Attachment circuits: for each port that has circuits, the circuit of each VLAN. Management thread. */
#include <errno.h>

#include "config/config.h"
#include "snapshot/build_priv.h"

/* A circuit for all other VLANs excludes the VLANs of interfaces. */
static bool is_interface(const struct snap_interface *p, uint32_t vlan)
{
	return p->vlan && (p->vlan[vlan] || p->inner_vlan[vlan]);
}

static int put(struct builder *b, const struct snap_circuit *a)
{
	struct snap_interface *p = &b->s->port[a->port];
	const struct snap_circuit **table = b->circuit[a->port];

	if (!table) {
		table = arena_alloc(b->s->arena, SNAP_VLANS * sizeof(*table));
		if (!table)
			return build_fail(b, -ENOMEM, "out of memory");
		p->circuit = b->circuit[a->port] = table;
	}
	for (uint32_t v = 0; v < SNAP_VLANS; v++)
		if (v == a->vlan || (a->vlan == SNAP_VLAN_ANY && !table[v] && !is_interface(p, v)))
			table[v] = a;
	return 0;
}

int build_circuits(struct builder *b)
{
	const struct config *c = b->config;
	struct snap_circuit *circuit;
	int rc = 0;

	b->s->n_circuits = c->circuits.n;
	b->s->circuit = circuit = arena_alloc(b->s->arena, (c->circuits.n + 1) * sizeof(*circuit));
	if (!circuit)
		return build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->circuits.n && rc == 0; i++) {
		const struct cfg_circuit *from = &c->circuits.items[i];

		circuit[i] = (struct snap_circuit){.name = from->name,
			.policy = (uint32_t)cfg_find_policy(c, from->policy),
			.vlan = from->vlan == CFG_NONE ? SNAP_VLAN_ANY : (uint16_t)from->vlan,
			.port = (uint8_t)cfg_find_port(c, from->port)};
		rc = put(b, &circuit[i]);
	}
	return rc;
}
