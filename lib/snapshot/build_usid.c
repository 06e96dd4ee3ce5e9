/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direct index of the 16-bit ids after a block of 32 bits: the result of an LPM on block:id::/48 for every id. An id that
 * contains longer prefixes has TARGET_LPM. If all of these are local SIDs of 64 bits, the id gets a second table
 * instead.
 */
#include <errno.h>
#include <string.h>

#include "config/usid.h"
#include "snapshot/build_priv.h"

static target_t *new_subtable(struct builder *b, uint16_t id)
{
	struct snap_usid *u = &b->s->usid;
	target_t *t = arena_alloc(b->s->arena, (SNAP_SUBTABLE_BASE + 1) * sizeof(*t));
	target_t **grown = arena_alloc(b->s->arena, (u->n_subtables + 1) * sizeof(*grown));

	if (!t || !grown)
		return NULL;
	if (u->n_subtables)
		memcpy(grown, b->usid_subtable, u->n_subtables * sizeof(*grown));
	/* the /48's target applies to every second id without a SID of its own */
	for (uint32_t i = 0; i <= SNAP_SUBTABLE_BASE; i++)
		t[i] = b->usid_entry[id];
	grown[u->n_subtables] = t;
	b->usid_subtable = grown;
	u->subtable = (const target_t *const *)grown;
	b->usid_entry[id] = target(TARGET_SUBTABLE, u->n_subtables++);
	return t;
}

static int put_longer(struct builder *b, const struct fib_route *r)
{
	target_t *entry = b->usid_entry;
	uint16_t id = usid_at(&r->prefix.addr.v6, USID_BLOCK_COMMON, 0),
		 second = usid_at(&r->prefix.addr.v6, USID_BLOCK_COMMON, 1);
	target_t *t;

	if (r->prefix.len != 64 || target_kind(r->target) != TARGET_SID || target_kind(entry[id]) == TARGET_LPM) {
		entry[id] = target(TARGET_LPM, 0);
		return 0;
	}
	if (target_kind(entry[id]) == TARGET_SUBTABLE)
		t = b->usid_subtable[target_index(entry[id])];
	else
		t = new_subtable(b, id);
	if (!t)
		return build_fail(b, -ENOMEM, "out of memory");
	t[second] = r->target;
	return 0;
}

int build_usid(struct builder *b)
{
	const struct cfg_usid *cu = &b->config->node.usid;
	struct snap_usid *u = &b->s->usid;
	const struct fib_route *routes;
	size_t n;
	int rc = 0;

	u->block = SNAP_USID_NONE;
	if (!cu->at.line || cu->block.len != USID_BLOCK_COMMON)
		return 0;
	u->block = ipv6_hi(&cu->block.addr.v6) >> 32;
	u->entry = b->usid_entry = arena_alloc(b->s->arena, 65536 * sizeof(*b->usid_entry));
	if (!u->entry)
		return build_fail(b, -ENOMEM, "out of memory");
	routes = fib_routes(b->s->vrf[VRF_UNDERLAY].v6, &n);
	/*
	 * shorter prefixes first, so that longer ones overwrite them; the list is sorted by address, so one pass per
	 * length
	 */
	for (unsigned int len = 0; len <= 128 && rc == 0; len++) {
		for (size_t i = 0; i < n && rc == 0; i++) {
			const struct ip_prefix *p = &routes[i].prefix;
			uint32_t first = 0, count = 65536;

			if (p->len != len)
				continue;
			if (len <= 32) {
				if (!ip_prefix_covers(p, &cu->block))
					continue;
			} else if (!ip_prefix_covers(&cu->block, p)) {
				continue;
			} else if (len <= 48) {
				first = usid_at(&p->addr.v6, USID_BLOCK_COMMON, 0);
				count = 1u << (48 - len);
			} else {
				rc = put_longer(b, &routes[i]);
				continue;
			}
			for (uint32_t k = 0; k < count; k++)
				b->usid_entry[first + k] = routes[i].target;
		}
	}
	return rc;
}
