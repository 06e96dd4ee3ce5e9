/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables near the lcores that look up in them. With rx lcores on several NUMA nodes each of these nodes has the route tables and
 * the uSID tables, and a copy of the snapshot that refers to them; everything else is shared. Management thread.
 */
#include <errno.h>
#include <string.h>

#include "base/numa.h"
#include "snapshot/build_priv.h"

void snapshot_find_places(const struct config *c, const struct cfg_places *where, struct snapshot_places *out)
{
	out->n = 0;
	for (uint32_t i = 0; i < c->lcores.rx.n; i++) {
		int node = where->lcore[c->lcores.rx.items[i]];
		uint16_t place = snapshot_place_of(out, node);

		if (node >= 0 && (place >= out->n || out->node[place] != node) && out->n < SNAP_PLACES)
			out->node[out->n++] = node;
	}
}

uint16_t snapshot_place_of(const struct snapshot_places *p, int node)
{
	for (uint16_t i = 0; i < p->n; i++)
		if (p->node[i] == node)
			return i;
	return 0;
}

/* The table itself on the first node, copies of it on the others. */
static int tables_near(struct builder *b, struct snap_vrf *vrf, unsigned int place)
{
	int node = b->ids->places.node[place];

	for (uint32_t i = 0; i < b->s->n_vrfs; i++) {
		const struct snap_vrf *from = &b->s->vrf[i];

		if (place == 0) {
			fib_place(from->v4, node);
			fib_place(from->v6, node);
			continue;
		}
		vrf[i] = *from;
		vrf[i].v4 = fib_near(from->v4, node);
		vrf[i].v6 = fib_near(from->v6, node);
		if ((from->v4 && !vrf[i].v4) || (from->v6 && !vrf[i].v6))
			return -ENOMEM;
	}
	return 0;
}

static target_t *copy_near(struct builder *b, const target_t *from, size_t n, int node)
{
	target_t *to = arena_alloc(b->s->arena, n * sizeof(*to));

	if (!to)
		return NULL;
	numa_bind(to, n * sizeof(*to), node);
	memcpy(to, from, n * sizeof(*to));
	return to;
}

static int usid_near(struct builder *b, struct snap_usid *u, int node)
{
	target_t **subtable = arena_alloc(b->s->arena, (u->n_subtables + 1) * sizeof(*subtable));

	if (u->block == SNAP_USID_NONE)
		return 0;
	if (!subtable)
		return -ENOMEM;
	u->entry = copy_near(b, u->entry, 65536, node);
	for (uint32_t i = 0; i < u->n_subtables; i++) {
		subtable[i] = copy_near(b, u->subtable[i], SNAP_SUBTABLE_BASE + 1, node);
		if (!subtable[i])
			return -ENOMEM;
	}
	u->subtable = (const target_t *const *)subtable;
	return u->entry ? 0 : -ENOMEM;
}

static int make_near(struct builder *b, unsigned int place)
{
	struct snapshot *s = arena_alloc(b->s->arena, sizeof(*s));
	struct snap_vrf *vrf = arena_alloc(b->s->arena, b->s->n_vrfs * sizeof(*vrf));

	if (!s || !vrf || tables_near(b, vrf, place) < 0)
		return -ENOMEM;
	*s = *b->s;
	s->vrf = vrf;
	b->s->near[place] = s;
	return usid_near(b, &s->usid, b->ids->places.node[place]);
}

int build_near(struct builder *b)
{
	int rc = 0;

	for (unsigned int i = 0; i < SNAP_PLACES; i++)
		b->s->near[i] = b->s;
	if (b->ids->places.n < 2)
		return 0;
	tables_near(b, NULL, 0);
	if (b->usid_entry)
		numa_bind(b->usid_entry, 65536 * sizeof(*b->usid_entry), b->ids->places.node[0]);
	for (uint32_t i = 0; i < b->s->usid.n_subtables; i++)
		numa_bind(b->usid_subtable[i], (SNAP_SUBTABLE_BASE + 1) * sizeof(**b->usid_subtable),
			b->ids->places.node[0]);
	for (unsigned int i = 1; i < b->ids->places.n && rc == 0; i++)
		rc = make_near(b, i);
	return rc < 0 ? build_fail(b, rc, "out of memory for tables on %u NUMA nodes", b->ids->places.n) : 0;
}

void snapshot_set_epoch(struct snapshot *s, uint64_t epoch)
{
	for (unsigned int i = 0; i < SNAP_PLACES; i++)
		s->near[i]->epoch = epoch;
}
