/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours: static ones, and the next hops of routes and SIDs. Management thread. */
#include <errno.h>
#include <stdio.h>

#include "snapshot/build_priv.h"

int build_neigh(struct builder *b, const char *link, const struct ip_addr *addr, uint32_t *id)
{
	uint16_t number = build_interface_of(b, link);
	unsigned int seen = (unsigned int)(addr->b[3] ^ addr->b[15] ^ number) % 256u;
	char key[80], text[IP_ADDR_TEXT];
	struct snap_neigh *n;
	int rc;

	if (b->neigh_seen[seen].id && b->neigh_seen[seen].interface == number &&
		ip_addr_equal(&b->neigh_seen[seen].addr, addr)) {
		*id = b->neigh_seen[seen].id - 1;
		return 0;
	}
	snprintf(key, sizeof(key), "%u %s", number, ip_addr_format(addr, text));
	rc = ids_get(b->ids->neighs, key, b->s->generation, id);
	if (rc < 0)
		return build_fail(b, rc, "more than %d next hops and static neighbours", SNAP_NEIGH_MAX);
	n = &b->neigh[*id];
	n->used = true;
	n->port = snap_interface_of(number);
	n->interface = number;
	n->mtu = snap_interface(b->s, number)->mtu;
	n->addr = *addr;
	b->neigh_seen[seen].addr = *addr;
	b->neigh_seen[seen].interface = number;
	b->neigh_seen[seen].id = *id + 1;
	return 0;
}

int build_static_neighs(struct builder *b)
{
	uint32_t id;
	int rc;

	/* grows as routes and SIDs add next hops; allocated for the maximum */
	b->s->neigh = b->neigh = arena_alloc(b->s->arena, SNAP_NEIGH_MAX * sizeof(*b->neigh));
	if (!b->neigh)
		return build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < b->config->neighbors.n; i++) {
		const struct cfg_neighbor *n = &b->config->neighbors.items[i];

		rc = build_neigh(b, n->port, &n->address, &id);
		if (rc < 0)
			return rc;
		b->neigh[id].is_static = true;
		b->neigh[id].mac = n->mac;
	}
	return 0;
}
