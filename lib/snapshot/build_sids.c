/* SPDX-License-Identifier: BSD-3-Clause */
/* Local SIDs: each behaviour as a set of properties (RFC 8986 section 4, RFC 9800 section 4). Management thread. */
#include <errno.h>

#include "config/behavior.h"
#include "config/config.h"
#include "config/usid.h"
#include "snapshot/build_priv.h"

static bool allows(const struct cfg_sid *cs, uint32_t what)
{
	for (uint32_t i = 0; i < cs->allow.n; i++)
		if (cs->allow.items[i] == what)
			return true;
	return cs->allow.n == 0 && what == ALLOW_PING;
}

/* Set J (RFC 8986 section 4.2): one adjacency, or several over which flows are distributed. *ports: bit per port. */
static int build_adjacencies(struct builder *b, const struct cfg_sid *cs, struct snap_sid *s, uint32_t *ports)
{
	target_t members[SNAP_GROUP_MAX];
	uint32_t id;
	int rc = build_neigh(b, cs->port, &cs->nexthop, &id);

	*ports = 0;
	for (uint32_t i = 0; rc == 0; i++) {
		members[i] = target(TARGET_NEIGH, id);
		*ports |= 1u << b->s->neigh[id].port;
		if (i == cs->adjacencies.n)
			break;
		rc = build_neigh(b, cs->adjacencies.items[i].port, &cs->adjacencies.items[i].nexthop, &id);
	}
	if (rc < 0)
		return rc;
	s->adjacency = members[0];
	return cs->adjacencies.n ? build_group(b, members, cs->adjacencies.n + 1, &s->adjacency) : 0;
}

/* `ports`: ports that the SID's PFC frames pause; 0: the frames are relayed. */
static int build_pfc_sid(struct builder *b, const struct cfg_sid *cs, struct snap_sid *s, uint32_t ports)
{
	struct snap_pfc_sid *pfc = arena_alloc(b->s->arena, sizeof(*pfc));
	struct snap_match *allowed = arena_alloc(b->s->arena, (cs->allowed_sources.n + 1) * sizeof(*allowed));

	if (!pfc || !allowed)
		return build_fail(b, -ENOMEM, "out of memory");
	pfc->allowed = allowed;
	pfc->slice = build_slice_of(b, cs->slice);
	pfc->lenient_cev = cs->lenient_cev;
	pfc->hmac = cs->pfc_hmac == HMAC_REQUIRED;
	build_message_keys(b, cs->message_keys.items, cs->message_keys.n, &pfc->keys);
	pfc->jitter_ns = cs->jitter_us * NSEC_PER_USEC;
	pfc->outage_ns = cs->outage_ms * NSEC_PER_MSEC;
	pfc->relay = build_relay_of(b, &cs->sid);
	for (uint32_t i = 0; i < cs->allowed_sources.n; i++)
		build_match(&allowed[pfc->n_allowed++], &cs->allowed_sources.items[i]);
	pfc->ports = ports;
	s->pfc = pfc;
	return 0;
}

static int build_sid(struct builder *b, const struct cfg_sid *cs, struct snap_sid *s)
{
	enum cfg_behavior behavior = (enum cfg_behavior)cs->behavior;
	const struct behavior_info *info = behavior_info(behavior);
	unsigned int flavors = behavior_flavors(cs);
	uint32_t ports;
	int rc = 0;

	s->used = true;
	s->prefix = cs->sid;
	s->behavior = (uint8_t)cs->behavior;
	s->code = behavior_code(behavior, flavors);
	s->vrf = build_vrf_of(b, cs->vrf);
	s->slice = cs->slice ? build_slice_of(b, cs->slice) : SNAP_SLICE_KEEP;
	build_tunnel_classes(b, cs->class_map, s->tclass_of);
	s->tclass_of[SNAP_TUNNEL_CLASSES - 1] = s->tclass_of[7]; /* a tenant's packet is never control traffic */
	s->psp = flavors & FLAVOR_BIT(FLAVOR_PSP);
	s->usp = flavors & FLAVOR_BIT(FLAVOR_USP);
	s->usd = flavors & FLAVOR_BIT(FLAVOR_USD);
	s->hmac = cs->hmac == HMAC_REQUIRED;
	s->slice_by = (uint8_t)cs->slice_by;
	s->slice_shift = (uint8_t)(128 - MIN_OF(cs->sid.len + CFG_SLICE_ARGUMENT_BITS, 128));
	s->in_container = info->compressed ||
			  (b->config->node.usid.at.line && ip_prefix_covers(&b->config->node.usid.block, &cs->sid));
	s->block_bits = s->in_container ? b->config->node.usid.block.len : 0;
	if (cs->dscp_mode != INNER_DSCP_KEEP)
		s->dscp_of = cs->dscp_mode == INNER_DSCP_MAP ? build_dscp_of(b, cs->dscp_map) : build_same_dscp(b);
	s->closer = s->hmac || s->slice_by || s->dscp_of || (s->in_container && s->block_bits != USID_BLOCK_COMMON);
	s->allow_ping = allows(cs, ALLOW_PING);
	s->allow_udp = allows(cs, ALLOW_TRACEROUTE);
	s->last = info->kind > KIND_END_T;
	s->decap4 = info->inner4;
	s->decap6 = info->inner6;
	if (info->kind == KIND_DT && !cs->slice && s->vrf != VRF_UNDERLAY)
		s->slice = b->s->vrf[s->vrf].slice;
	if (info->compressed && !s->last) {
		s->arg_hi = cs->sid.len < 64 ? ~0ull >> cs->sid.len : 0;
		s->arg_lo = cs->sid.len > 64 ? ~0ull >> (cs->sid.len - 64) : ~0ull;
		s->arg_word[0] = __builtin_bswap64(s->arg_hi);
		s->arg_word[1] = __builtin_bswap64(s->arg_lo);
		s->shift_bits = (uint8_t)(cs->sid.len - s->block_bits);
	}
	if (info->kind == KIND_END_X || info->kind == KIND_DX) {
		rc = build_adjacencies(b, cs, s, &ports);
		if (rc == 0 && info->pauses)
			rc = build_pfc_sid(b, cs, s, ports);
	} else if (info->kind == KIND_DX2) {
		s->decap2 = true;
		s->port = (uint8_t)cfg_find_port(b->config, cs->port);
		if (build_relay_of(b, &cs->sid))
			rc = build_pfc_sid(b, cs, s, 0);
	}
	return rc;
}

int build_sids(struct builder *b)
{
	const struct config *c = b->config;
	char key[IP_PREFIX_TEXT];
	uint32_t id;
	int rc;

	for (uint32_t i = 0; i < c->sids.n; i++) {
		rc = ids_get(b->ids->sids, ip_prefix_format(&c->sids.items[i].sid, key), b->s->generation, &id);
		if (rc < 0)
			return build_fail(b, rc, "too many SIDs");
	}
	b->s->n_sids = ids_bound(b->ids->sids);
	b->s->sid = b->sid = arena_alloc(b->s->arena, (b->s->n_sids + 1) * sizeof(*b->sid));
	if (!b->sid)
		return build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->sids.n; i++) {
		ids_find(b->ids->sids, ip_prefix_format(&c->sids.items[i].sid, key), &id);
		rc = build_sid(b, &c->sids.items[i], &b->sid[id]);
		if (rc < 0)
			return rc;
	}
	return 0;
}
