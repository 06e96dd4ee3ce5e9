/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a build in their order; ports, neighbours and SIDs. */
#include "snapshot/build_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/behavior.h"
#include "config/config.h"
#include "snapshot/path_mtu.h"

int snapshot_registry_init(struct snapshot_registry *r)
{
	*r = (struct snapshot_registry){
		.nbrs = ids_new(SNAP_NBR_MAX),
		.paths = ids_new(SNAP_PATH_MAX),
		.sids = ids_new(SNAP_SID_MAX),
		.vrfs = ids_new(SNAP_VRF_MAX),
		.slices = ids_new(SNAP_SLICE_MAX),
		.interfaces = ids_new(SNAP_INTERFACE_MAX),
		.path_mtus = calloc(1, sizeof(*r->path_mtus)),
	};
	if (r->path_mtus && r->nbrs && r->paths && r->sids && r->vrfs && r->slices && r->interfaces)
		return 0;
	snapshot_registry_fini(r);
	return -ENOMEM;
}

void snapshot_registry_fini(struct snapshot_registry *r)
{
	ids_free(r->nbrs);
	ids_free(r->paths);
	ids_free(r->sids);
	ids_free(r->vrfs);
	ids_free(r->slices);
	ids_free(r->interfaces);
	free(r->path_mtus);
	*r = (struct snapshot_registry){0};
}

int build_fail(struct builder *b, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(b->err, b->err_size, format, args);
	va_end(args);
	return rc;
}

void build_match(struct snap_match *m, const struct ip_prefix *p)
{
	unsigned int hi = MIN_OF(p->len, 64), lo = p->len - hi;

	m->mask_hi = hi ? ~0ull << (64 - hi) : 0;
	m->mask_lo = lo ? ~0ull << (64 - lo) : 0;
	m->hi = ipv6_hi(&p->addr.v6) & m->mask_hi;
	m->lo = ipv6_lo(&p->addr.v6) & m->mask_lo;
}

static int build_vrfs(struct builder *b)
{
	uint32_t id;
	int rc;

	/* no user may name a VRF "", so the underlay's table is always VRF 0 */
	rc = ids_get(b->ids->vrfs, "", b->s->generation, &id);
	for (uint32_t i = 0; rc == 0 && i < b->config->vrfs.n; i++)
		rc = ids_get(b->ids->vrfs, b->config->vrfs.items[i].name, b->s->generation, &id);
	if (rc < 0)
		return build_fail(b, rc, "too many VRFs");
	b->s->n_vrfs = ids_bound(b->ids->vrfs);
	b->s->vrf = arena_alloc(b->s->arena, b->s->n_vrfs * sizeof(*b->s->vrf));
	if (!b->s->vrf)
		return build_fail(b, -ENOMEM, "out of memory");
	b->s->vrf[VRF_UNDERLAY].name = "";
	for (uint32_t i = 0; i < b->config->vrfs.n; i++) {
		ids_find(b->ids->vrfs, b->config->vrfs.items[i].name, &id);
		b->s->vrf[id].name = b->config->vrfs.items[i].name;
		b->s->vrf[id].slice = build_slice_of(b, b->config->vrfs.items[i].slice);
	}
	return 0;
}

uint16_t build_vrf_of(const struct builder *b, const char *name)
{
	uint32_t id = VRF_UNDERLAY;

	if (name)
		ids_find(b->ids->vrfs, name, &id);
	return (uint16_t)id;
}

/* The link-local address in front: the configured one, else the one made of the MAC. */
int build_own_addresses(struct builder *b, struct snap_port *p, const struct ip_prefix *addresses, uint32_t n)
{
	struct ip_prefix link_local = {.addr = {.family = 6}, .len = 64};

	p->n_own = 0;
	p->own = arena_alloc(b->s->arena, (n + 1) * sizeof(*p->own));
	if (!p->own)
		return build_fail(b, -ENOMEM, "out of memory");
	link_local.addr.v6 = ipv6_link_local_of(&p->mac);
	p->own[p->n_own++] = link_local;
	for (uint32_t i = 0; i < n; i++) {
		const struct ip_prefix *a = &addresses[i];

		if (a->addr.family == 6 && ipv6_is_link_local(&a->addr.v6) && ip_prefix_equal(&p->own[0], &link_local))
			p->own[0] = *a;
		else
			p->own[p->n_own++] = *a;
	}
	for (unsigned int i = 0; i < p->n_own; i++)
		if (p->own[i].addr.family == 6)
			p->own6_hints |= 1ull << (p->own[i].addr.v6.b[15] & 63);
	return 0;
}

static int build_ports(struct builder *b, const struct snapshot_port_info *info)
{
	int rc = 0;

	b->s->n_ports = b->config->ports.n;
	for (uint32_t i = 0; i < b->s->n_ports && rc == 0; i++) {
		const struct cfg_port *cp = &b->config->ports.items[i];
		struct snap_port *p = &b->s->port[i];

		p->name = cp->name;
		p->interface = (uint16_t)i;
		p->mac = info[i].mac;
		p->mtu = (uint16_t)cp->mtu;
		p->side = (uint8_t)cp->side;
		p->vrf = build_vrf_of(b, cp->vrf);
		rc = build_port_qos(b, p, cp, info[i].speed_bps);
		if (rc == 0)
			rc = build_own_addresses(b, p, cp->addresses.items, cp->addresses.n);
		if (rc == 0)
			rc = build_port_boundary(b, p, cp);
	}
	return rc;
}

int build_nbr(struct builder *b, const char *link, const struct ip_addr *addr, uint32_t *id)
{
	uint16_t number = build_interface_of(b, link);
	char key[80], text[IP_ADDR_TEXT];
	struct snap_nbr *n;
	int rc;

	snprintf(key, sizeof(key), "%u %s", number, ip_addr_format(addr, text));
	rc = ids_get(b->ids->nbrs, key, b->s->generation, id);
	if (rc < 0)
		return build_fail(b, rc, "more than %d next hops and static neighbours", SNAP_NBR_MAX);
	n = &b->s->nbr[*id];
	n->used = true;
	n->port = snap_port_of(number);
	n->interface = number;
	n->mtu = snap_interface(b->s, number)->mtu;
	n->addr = *addr;
	return 0;
}

static int build_static_nbrs(struct builder *b)
{
	uint32_t id;
	int rc;

	/* grows while routes and SIDs name next hops; sized for all that may come */
	b->s->nbr = arena_alloc(b->s->arena, SNAP_NBR_MAX * sizeof(*b->s->nbr));
	if (!b->s->nbr)
		return build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < b->config->neighbors.n; i++) {
		const struct cfg_neighbor *n = &b->config->neighbors.items[i];

		rc = build_nbr(b, n->port, &n->address, &id);
		if (rc < 0)
			return rc;
		b->s->nbr[id].is_static = true;
		b->s->nbr[id].mac = n->mac;
	}
	return 0;
}

static bool allows(const struct cfg_sid *cs, uint32_t what)
{
	for (uint32_t i = 0; i < cs->allow.n; i++)
		if (cs->allow.items[i] == what)
			return true;
	return cs->allow.n == 0 && what == ALLOW_PING;
}

/* Set J (RFC 8986 section 4.2): one adjacency, or several that flows are spread over; *ports: a bit for each port. */
static int build_adjacencies(struct builder *b, const struct cfg_sid *cs, struct snap_sid *s, uint32_t *ports)
{
	target_t members[SNAP_GROUP_MAX];
	uint32_t id;
	int rc = build_nbr(b, cs->port, &cs->nexthop, &id);

	*ports = 0;
	for (uint32_t i = 0; rc == 0; i++) {
		members[i] = target(TARGET_NBR, id);
		*ports |= 1u << b->s->nbr[id].port;
		if (i == cs->adjacencies.n)
			break;
		rc = build_nbr(b, cs->adjacencies.items[i].port, &cs->adjacencies.items[i].nexthop, &id);
	}
	if (rc < 0)
		return rc;
	s->adjacency = members[0];
	return cs->adjacencies.n ? build_group(b, members, cs->adjacencies.n + 1, &s->adjacency) : 0;
}

/* `ports`: that its frames pause; 0: they are relayed. */
static int build_pfc_sid(struct builder *b, const struct cfg_sid *cs, struct snap_sid *s, uint32_t ports)
{
	struct snap_pfc_sid *pfc = arena_alloc(b->s->arena, sizeof(*pfc));

	if (!pfc)
		return build_fail(b, -ENOMEM, "out of memory");
	pfc->allowed = arena_alloc(b->s->arena, (cs->allowed_sources.n + 1) * sizeof(*pfc->allowed));
	if (!pfc->allowed)
		return build_fail(b, -ENOMEM, "out of memory");
	pfc->slice = build_slice_of(b, cs->slice);
	pfc->lenient_cev = cs->lenient_cev;
	pfc->hmac = cs->pfc_hmac == HMAC_REQUIRED;
	pfc->jitter_ns = cs->jitter_us * NSEC_PER_USEC;
	pfc->relay = build_relay_of(b, &cs->sid);
	for (uint32_t i = 0; i < cs->allowed_sources.n; i++)
		build_match(&pfc->allowed[pfc->n_allowed++], &cs->allowed_sources.items[i]);
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
	s->closer = s->hmac || s->slice_by;
	s->in_container = info->compressed ||
			  (b->config->node.usid.at.line && ip_prefix_covers(&b->config->node.usid.block, &cs->sid));
	s->allow_ping = allows(cs, ALLOW_PING);
	s->allow_udp = allows(cs, ALLOW_TRACEROUTE);
	s->last = info->kind > KIND_END_T;
	s->decap4 = info->inner4;
	s->decap6 = info->inner6;
	if (info->kind == KIND_DT && !cs->slice && s->vrf != VRF_UNDERLAY)
		s->slice = b->s->vrf[s->vrf].slice;
	if (info->compressed && !s->last) {
		s->arg_hi = cs->sid.len < 64 ? ~0ull >> cs->sid.len : 0;
		s->arg_lo = ~0ull;
		s->shift_bits = (uint8_t)(cs->sid.len - 32);
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

static int build_sids(struct builder *b)
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
	b->s->sid = arena_alloc(b->s->arena, (b->s->n_sids + 1) * sizeof(*b->s->sid));
	if (!b->s->sid)
		return build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->sids.n; i++) {
		ids_find(b->ids->sids, ip_prefix_format(&c->sids.items[i].sid, key), &id);
		rc = build_sid(b, &c->sids.items[i], &b->s->sid[id]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void build_boundary(struct builder *b)
{
	static const struct ip_prefix rfc9602 = {.addr = {.family = 6, .b = {0x5f}}, .len = 16};
	const struct cfg_node *node = &b->config->node;
	struct snapshot *s = b->s;

	for (uint32_t i = 0; i < node->infrastructure.n; i++)
		build_match(&s->infrastructure[s->n_infrastructure++], &node->infrastructure.items[i]);
	build_match(&s->sid_space[s->n_sid_space++], &rfc9602);
	if (node->usid.at.line && !ip_prefix_covers(&rfc9602, &node->usid.block))
		build_match(&s->sid_space[s->n_sid_space++], &node->usid.block);
	for (uint32_t i = 0; i < node->usid.more_blocks.n; i++)
		build_match(&s->sid_space[s->n_sid_space++], &node->usid.more_blocks.items[i]);
	for (uint32_t i = 0; i < node->sid_blocks.n; i++)
		build_match(&s->sid_space[s->n_sid_space++], &node->sid_blocks.items[i]);
}

static int build_all(struct builder *b, const struct snapshot_port_info *ports)
{
	int rc;

	b->s->loopback = b->config->node.loopback.v6;
	b->s->icmp_errors = b->config->icmp.errors;
	b->s->icmp_errors_per_port = b->config->icmp.errors_per_port;
	b->s->icmp_echo = b->config->icmp.echo;
	b->s->discovery = b->config->discovery;
	b->s->shared_buffers = b->config->memory.lossless;
	build_boundary(b);
	rc = build_slices(b);
	if (rc == 0)
		rc = build_keys(b);
	if (rc == 0)
		rc = build_vrfs(b);
	if (rc == 0)
		rc = build_ports(b, ports);
	if (rc == 0)
		rc = build_interfaces(b);
	if (rc == 0)
		rc = build_static_nbrs(b);
	if (rc == 0)
		rc = build_pfc_wan(b);
	if (rc == 0)
		rc = build_sids(b);
	if (rc == 0)
		rc = build_policies(b);
	if (rc == 0)
		rc = build_tables(b);
	if (rc == 0)
		rc = build_usid(b);
	if (rc == 0)
		rc = build_path_ways(b);
	if (rc == 0)
		rc = build_circuits(b);
	if (rc == 0)
		build_carry_over(b);
	return rc;
}

void build_carry_over(struct builder *b)
{
	struct snapshot *s = b->s;
	const struct snapshot *old = b->old;

	s->n_nbrs = ids_bound(b->ids->nbrs);
	for (uint32_t i = 0; old && i < MIN_OF(old->n_nbrs, s->n_nbrs); i++) {
		if (s->nbr[i].used)
			continue;
		s->nbr[i] = old->nbr[i];
		s->nbr[i].used = false;
	}
	for (uint32_t i = 0; old && i < MIN_OF(old->n_paths, s->n_paths); i++) {
		if (s->path[i].bytes || !old->path[i].bytes)
			continue;
		s->path[i] = old->path[i];
		s->path[i].policy = s->path[i].name = NULL; /* of a configuration that may be freed */
		s->path[i].via = 0;			    /* nothing new goes there */
	}
}

void snapshot_reap(struct snapshot_registry *r, uint64_t generation)
{
	ids_reap(r->nbrs, generation);
	ids_reap(r->paths, generation);
	ids_reap(r->sids, generation);
	ids_reap(r->vrfs, generation);
	ids_reap(r->slices, generation);
	ids_reap(r->interfaces, generation);
}

struct snapshot *snapshot_build(struct snapshot_registry *r, const struct config *config,
	const struct snapshot_port_info *ports, const struct snapshot *old, char *err, size_t size)
{
	struct builder b = {.ids = r, .config = config, .old = old, .err = err, .err_size = size};
	struct arena *arena = arena_new();

	b.s = arena ? arena_alloc(arena, sizeof(*b.s)) : NULL;
	if (!b.s) {
		arena_free(arena);
		snprintf(err, size, "out of memory");
		return NULL;
	}
	b.s->arena = arena;
	b.s->config = config;
	b.s->generation = r->generation + 1;
	if (build_all(&b, ports) < 0) {
		snapshot_free(b.s);
		return NULL;
	}
	r->generation = b.s->generation;
	return b.s;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_vrfs && s->vrf; i++) {
		fib_free(s->vrf[i].v4);
		fib_free(s->vrf[i].v6);
	}
	if (s->key)
		explicit_bzero(s->key, s->n_keys * sizeof(*s->key));
	arena_free(s->arena);
}
