/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns the segment list of a path into an encapsulation: skips the leading own SIDs, packs SIDs into containers, and
 * decides whether an SRH is needed (RFC 8754 section 4.1, RFC 9800 section 6). Pure.
 */
#include "config/program.h"

#include "base/compiler.h"
#include "config/behavior.h"
#include "config/remote_sids.h"

#include <errno.h>
#include <stdlib.h>

struct cfg_own_sids {
	const struct cfg_sid *by_id[65536]; /* SIDs of one id */
	uint8_t has_longer[65536];	    /* some SID of two ids begins with this id */
	bool has_plain;			    /* whether there are SIDs outside the block */
};

/* Number of ids of a compressed SID: 1 or 2. */
static unsigned int ids_of(const struct config *c, const struct cfg_sid *s)
{
	return (unsigned int)(s->sid.len - c->node.usid.block.len) / USID_BITS;
}

struct cfg_own_sids *cfg_own_sids_new(const struct config *c)
{
	struct cfg_own_sids *o = calloc(1, sizeof(*o));

	for (uint32_t i = 0; o && i < c->sids.n; i++) {
		const struct cfg_sid *s = &c->sids.items[i];
		uint16_t id = usid_at(&s->sid.addr.v6, c->node.usid.block.len, 0);

		if (!behavior_info((enum cfg_behavior)s->behavior)->compressed) {
			o->has_plain = true;
			continue;
		}
		if (ids_of(c, s) == 1)
			o->by_id[id] = s;
		else
			o->has_longer[id] = 1;
	}
	return o;
}

void cfg_own_sids_free(struct cfg_own_sids *o)
{
	free(o);
}

static const struct cfg_sid *own_plain_sid(const struct config *c, const struct ip_addr *a)
{
	const struct cfg_sid *best = NULL;

	for (uint32_t i = 0; i < c->sids.n; i++) {
		const struct cfg_sid *s = &c->sids.items[i];

		if (ip_prefix_contains(&s->sid, a) && (!best || s->sid.len > best->sid.len))
			best = s;
	}
	return best;
}

/* The own SID at the beginning of the address; the longest match wins. */
static const struct cfg_sid *own_sid(const struct config *c, const struct cfg_own_sids *own, const struct ipv6_addr *a)
{
	uint16_t id = usid_at(a, c->node.usid.block.len, 0);
	struct ip_addr any = ip_addr_from6(a);

	if (!c->node.usid.at.line || !ip_prefix_contains(&c->node.usid.block, &any))
		return own->has_plain ? own_plain_sid(c, &any) : NULL;
	for (uint32_t i = 0; own->has_longer[id] && i < c->sids.n; i++)
		if (ids_of(c, &c->sids.items[i]) == 2 && ip_prefix_contains(&c->sids.items[i].sid, &any))
			return &c->sids.items[i];
	return own->by_id[id];
}

/*
 * The first own SID of an address that is executed elsewhere first. Ids of the local block mean a function of the node
 * before them, so of compressed SIDs only uN names this node.
 */
static const struct cfg_sid *own_later(const struct config *c, const struct cfg_own_sids *own, struct ipv6_addr a)
{
	const struct cfg_sid *sid = own_sid(c, own, &a);
	const struct behavior_info *info = sid ? behavior_info((enum cfg_behavior)sid->behavior) : NULL;

	return info && (!info->compressed || info->kind == KIND_END) ? sid : NULL;
}

/* Does the packet come back? */
static const struct cfg_sid *returns_by(const struct config *c, const struct cfg_own_sids *own,
	const struct cfg_program *p)
{
	const struct ip_prefix *block = &c->node.usid.block;
	const struct cfg_sid *sid = NULL;

	for (unsigned int i = 0; i < p->n && !sid; i++) {
		struct ipv6_addr a = p->container[i];
		struct ip_addr any = ip_addr_from6(&a);
		bool packed = c->node.usid.at.line && ip_prefix_contains(block, &any);

		if (!packed) {
			sid = own_later(c, own, a);
			continue;
		}
		for (unsigned int left = usid_count(&a, block->len); left && !sid; left--) {
			sid = own_later(c, own, a);
			usid_shift(&a, block->len, 1);
		}
	}
	return sid;
}

unsigned int cfg_blocks(const struct config *c, struct ip_prefix *blocks)
{
	unsigned int n = 0;

	if (c->node.usid.at.line)
		blocks[n++] = c->node.usid.block;
	for (uint32_t i = 0; i < c->node.usid.more_blocks.n; i++)
		blocks[n++] = c->node.usid.more_blocks.items[i];
	return n;
}

/* A known SID of two ids, and whether it is the one that is looked for. */
struct two_ids {
	struct ip_addr a;
	unsigned int bits;
	bool known;
};

static void look_for(void *arg, const struct cfg_remote *r)
{
	struct two_ids *x = arg;

	x->known |= r->sid.len >= x->bits && ip_prefix_contains(&r->sid, &x->a);
}

struct ip_addr cfg_last_id(const struct config *c, const struct ipv6_addr *a)
{
	struct ip_prefix blocks[CFG_BLOCKS_MAX];
	struct ip_addr last = ip_addr_from6(a);
	const struct ip_prefix *block = usid_block_of(blocks, cfg_blocks(c, blocks), &last);
	unsigned int ids = block ? usid_count(a, block->len) : 0;

	if (ids > 1) {
		struct two_ids two = {.a = last, .bits = block->len + 2 * USID_BITS};

		usid_shift(&two.a.v6, block->len, ids - 2);
		usid_shift(&last.v6, block->len, ids - 1);
		cfg_remote_each(c, look_for, &two);
		if (two.known)
			last = two.a;
	}
	return last;
}

struct ip_addr cfg_last_sid(const struct config *c, const struct cfg_path *path)
{
	struct ipv6_addr container[USID_MAX_CONTAINERS];
	struct ip_prefix blocks[CFG_BLOCKS_MAX];
	unsigned int n = usid_pack(blocks, cfg_blocks(c, blocks), path->segments.items, path->segments.n, container,
		USID_MAX_CONTAINERS);

	return cfg_last_id(c, &container[MIN_OF(n, USID_MAX_CONTAINERS) - 1]);
}

int cfg_program(const struct config *c, const struct cfg_own_sids *own, const struct cfg_path *path,
	struct cfg_program *out, const char **why)
{
	struct ip_prefix blocks[CFG_BLOCKS_MAX];
	const struct cfg_sid *sid;

	out->via = out->returns = NULL;
	out->n = usid_pack(blocks, cfg_blocks(c, blocks), path->segments.items, path->segments.n, out->container,
		USID_MAX_CONTAINERS);
	if (out->n > USID_MAX_CONTAINERS) {
		*why = "the list takes more than 16 addresses; an SRH has room for 16";
		return -EINVAL;
	}
	out->n_all = out->n;
	memcpy(out->all, out->container, out->n * sizeof(out->all[0]));
	while (!out->via && (sid = own_sid(c, own, &out->container[0]))) {
		const struct behavior_info *info = behavior_info((enum cfg_behavior)sid->behavior);

		if (info->kind != KIND_END && info->kind != KIND_END_X) {
			*why = "the path ends at this node";
			return -EINVAL;
		}
		if (info->kind == KIND_END_X)
			out->via = sid;
		if (info->compressed) {
			usid_shift(&out->container[0], c->node.usid.block.len, ids_of(c, sid));
			if (usid_count(&out->container[0], c->node.usid.block.len))
				continue;
		}
		out->n--;
		memmove(out->container, out->container + 1, out->n * sizeof(out->container[0]));
		if (!out->n) {
			*why = "the list contains only SIDs of this node";
			return -EINVAL;
		}
	}
	out->returns = returns_by(c, own, out);
	return 0;
}

unsigned int cfg_listed(const struct cfg_policy *policy, const struct cfg_program *program)
{
	bool reduced = policy->encap == ENCAP_H_ENCAPS_RED || policy->encap == ENCAP_H_ENCAPS_L2_RED;

	/* the TLV needs an SRH, and an SRH needs an entry */
	if ((reduced ? program->n : program->n_all) == 1)
		return policy->hmac_key ? 1 : 0;
	return reduced ? program->n - 1 : program->n_all;
}

unsigned int cfg_outer_bytes(const struct cfg_policy *policy, const struct cfg_program *program)
{
	unsigned int listed = cfg_listed(policy, program);

	return 40 + (listed ? 8 + 16 * listed : 0) + (policy->hmac_key ? CFG_HMAC_TLV_BYTES : 0) +
	       (policy->slice_by == SLICE_BY_OPTION ? CFG_SLICE_OPTION_BYTES : 0);
}

struct ip_addr cfg_outer_source(const struct config *c, const struct cfg_policy *policy, uint32_t path)
{
	struct ip_addr a = policy->source_prefix.addr;

	if (!a.family)
		return policy->source.family ? policy->source : c->node.loopback;
	a.v6 = ipv6_from(ipv6_hi(&a.v6), ipv6_lo(&a.v6) | (path + 1));
	return a;
}
