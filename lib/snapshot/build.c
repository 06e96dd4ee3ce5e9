/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the steps of a build in order; builds VRFs and ports. Management thread. */
#include "snapshot/build_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/headroom.h"
#include "snapshot/liveness.h"
#include "snapshot/path_mtu.h"

int snapshot_registry_init(struct snapshot_registry *r)
{
	*r = (struct snapshot_registry){
		.neighs = ids_new(SNAP_NEIGH_MAX),
		.paths = ids_new(SNAP_PATH_MAX),
		.sids = ids_new(SNAP_SID_MAX),
		.vrfs = ids_new(SNAP_VRF_MAX),
		.slices = ids_new(SNAP_SLICE_MAX),
		.interfaces = ids_new(SNAP_INTERFACE_MAX),
		.path_mtus = calloc(1, sizeof(*r->path_mtus)),
		.live = calloc(1, sizeof(*r->live)),
	};
	if (r->path_mtus && r->live && r->neighs && r->paths && r->sids && r->vrfs && r->slices && r->interfaces)
		return 0;
	snapshot_registry_fini(r);
	return -ENOMEM;
}

void snapshot_registry_fini(struct snapshot_registry *r)
{
	ids_free(r->neighs);
	ids_free(r->paths);
	ids_free(r->sids);
	ids_free(r->vrfs);
	ids_free(r->slices);
	ids_free(r->interfaces);
	free(r->path_mtus);
	free(r->live);
	*r = (struct snapshot_registry){0};
}

static int build_vrfs(struct builder *b)
{
	uint32_t id;
	int rc;

	/* no user can name a VRF "", so the underlay's table is always VRF 0 */
	rc = ids_get(b->ids->vrfs, "", b->s->generation, &id);
	for (uint32_t i = 0; rc == 0 && i < b->config->vrfs.n; i++)
		rc = ids_get(b->ids->vrfs, b->config->vrfs.items[i].name, b->s->generation, &id);
	if (rc < 0)
		return build_fail(b, rc, "too many VRFs");
	b->s->n_vrfs = ids_bound(b->ids->vrfs);
	b->s->vrf = b->vrf = arena_alloc(b->s->arena, b->s->n_vrfs * sizeof(*b->vrf));
	if (!b->vrf)
		return build_fail(b, -ENOMEM, "out of memory");
	b->vrf[VRF_UNDERLAY].name = "";
	for (uint32_t i = 0; i < b->config->vrfs.n; i++) {
		ids_find(b->ids->vrfs, b->config->vrfs.items[i].name, &id);
		b->vrf[id].name = b->config->vrfs.items[i].name;
		b->vrf[id].slice = build_slice_of(b, b->config->vrfs.items[i].slice);
	}
	return 0;
}

static int build_ports(struct builder *b, const struct snapshot_port_info *info)
{
	int rc = 0;

	b->s->n_ports = b->config->ports.n;
	for (uint32_t i = 0; i < b->s->n_ports && rc == 0; i++) {
		const struct cfg_port *cp = &b->config->ports.items[i];
		struct snap_interface *p = &b->s->port[i];

		p->name = cp->name;
		p->interface = (uint16_t)i;
		p->n_links = 1;
		p->mac = info[i].mac;
		p->mtu = (uint16_t)cp->mtu;
		p->side = (uint8_t)cp->side;
		p->link_delay_us = cfg_link_delay_us(b->config, cp);
		p->link_delay_fixed = cp->link_delay_us != CFG_NONE;
		p->vrf = build_vrf_of(b, cp->vrf);
		rc = build_port_qos(b, p, cp, info[i].speed_bps);
		if (rc == 0)
			rc = build_own_addresses(b, p, cp->addresses.items, cp->addresses.n);
		if (rc == 0)
			rc = build_port_boundary(b, p, cp);
	}
	return rc;
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

/* Copy from the old snapshot the objects that were removed but may still be referred to by queued packets. */
static void build_carry_over(struct builder *b)
{
	struct snapshot *s = b->s;
	const struct snapshot *old = b->old;

	s->n_neighs = ids_bound(b->ids->neighs);
	for (uint32_t i = 0; old && i < MIN_OF(old->n_neighs, s->n_neighs); i++) {
		if (s->neigh[i].used)
			continue;
		b->neigh[i] = old->neigh[i];
		b->neigh[i].used = false;
	}
	for (uint32_t i = 0; old && i < MIN_OF(old->n_paths, s->n_paths); i++) {
		if (s->path[i].bytes || !old->path[i].bytes)
			continue;
		b->path[i] = old->path[i];
		b->path[i].policy = b->path[i].name = NULL; /* these belong to a configuration that may be freed */
		b->path[i].via = 0;			    /* no new packet uses it */
	}
}

static void build_discovery(struct builder *b)
{
	const struct cfg_discovery *d = &b->config->discovery;

	b->s->discovery = (struct snap_discovery){.retransmit_ms = d->retransmit_ms,
		.probes = d->probes,
		.reachable_ms = d->reachable_ms,
		.stale_ms = d->stale_ms,
		.hold = (uint32_t)d->hold,
		.hold_total = (uint32_t)d->hold_total,
		.max = (uint32_t)d->max};
}

static void build_failover(struct builder *b)
{
	const struct cfg_failover *f = &b->config->failover;

	b->s->live = b->ids->live;
	b->s->failover = (struct snap_failover){.hold_ns = f->hold_ms * NSEC_PER_MSEC,
		.hold_max_ns = MAX_OF(f->hold_ms, f->hold_max_ms) * NSEC_PER_MSEC,
		.window_ns = f->window_ms * NSEC_PER_MSEC};
}

/* Of each port: all neighbours may be behind it. */
static uint64_t build_rsvp_rate(const struct builder *b)
{
	uint64_t rate = 1000;

	for (uint32_t i = 0; i < b->config->credit.neighbors.n; i++)
		rate += b->config->credit.neighbors.items[i].rate;
	return rate;
}

/*
 * What a port may send to the control lcore. PFC: every relay and tunnel behind a port refreshes by half-life. ND and ARP:
 * every neighbour may ask and answer twice in each reachable time. The rates are several times what a healthy network
 * needs, and all ports together leave the control lcore time. Each solicitation is answered, so that this limit always
 * counts; the services limit the other kinds by what they answer.
 */
static void build_punts(struct builder *b)
{
	const struct cfg_discovery *d = &b->config->discovery;
	uint32_t slots = rte_align32pow2((uint32_t)b->config->memory.ring);
	uint64_t link = punt_ring_slots(PUNT_RING_LINK, slots), n = b->config->ports.n;
	/* one port alone does not fill a ring */
	uint64_t burst = MIN_OF(MAX_OF(link / n, 64), link / 2);
	uint64_t rest = MAX_OF(punt_ring_slots(PUNT_RING_REST, slots) / n, 32);

	b->s->punt[PUNT_KIND_PFC] = (struct punt_limit){.rate = 100000, .burst = burst};
	b->s->punt[PUNT_KIND_ND] = (struct punt_limit){.rate = 2000 + 4000 * d->max / d->reachable_ms,
		.burst = burst,
		.strict = true};
	b->s->punt[PUNT_KIND_LOCAL] = (struct punt_limit){.rate = 2 * MAX_OF(b->config->icmp.echo, 1000),
		.burst = rest};
	b->s->punt[PUNT_KIND_ERROR] = (struct punt_limit){.rate = 2 * MAX_OF(b->config->icmp.errors_per_port, 100),
		.burst = rest};
	b->s->punt[PUNT_KIND_RSVP] = (struct punt_limit){.rate = build_rsvp_rate(b), .burst = rest};
	b->s->punt[PUNT_KIND_FRAGMENT] = (struct punt_limit){.rate = 20000, .burst = rest};
}

static int build_all(struct builder *b, const struct snapshot_port_info *ports)
{
	int rc;

	b->s->loopback = b->config->node.loopback.v6;
	b->s->icmp_errors = b->config->icmp.errors;
	b->s->icmp_errors_per_port = b->config->icmp.errors_per_port;
	b->s->icmp_echo = b->config->icmp.echo;
	b->s->path_mtu = (uint8_t)b->config->icmp.path_mtu;
	build_discovery(b);
	build_punts(b);
	build_failover(b);
	b->s->shared_buffers = b->config->memory.lossless;
	build_boundary(b);
	rc = build_slices(b);
	if (rc == 0)
		rc = build_dscp_maps(b);
	if (rc == 0)
		rc = build_groups_begin(b);
	if (rc == 0)
		rc = build_keys(b);
	if (rc == 0)
		rc = build_vrfs(b);
	if (rc == 0)
		rc = build_ports(b, ports);
	if (rc == 0)
		rc = build_interfaces(b);
	if (rc == 0)
		rc = build_static_neighs(b);
	if (rc == 0)
		rc = build_pfc_wan(b);
	if (rc == 0)
		rc = build_sids(b);
	if (rc == 0)
		rc = build_policies(b);
	if (rc == 0)
		rc = build_tables(b);
	if (rc == 0)
		build_groups_end(b);
	if (rc == 0)
		rc = build_usid(b);
	if (rc == 0)
		rc = build_path_ways(b);
	if (rc == 0)
		rc = build_circuits(b);
	if (rc == 0)
		rc = build_bfd(b);
	if (rc == 0)
		rc = build_credit(b);
	if (rc == 0)
		build_carry_over(b);
	if (rc == 0)
		rc = build_near(b);
	return rc;
}

void snapshot_undo(struct snapshot_registry *r, const struct snapshot *s)
{
	ids_undo(r->neighs, s->generation);
	ids_undo(r->paths, s->generation);
	ids_undo(r->sids, s->generation);
	ids_undo(r->vrfs, s->generation);
	ids_undo(r->slices, s->generation);
	ids_undo(r->interfaces, s->generation);
	r->generation = s->generation - 1;
	snapshot_free(s);
}

bool snapshot_drops_ids(const struct snapshot_registry *r, const struct snapshot *s)
{
	return ids_dropped(r->neighs, r->epoch_since, s->generation) ||
	       ids_dropped(r->paths, r->epoch_since, s->generation) ||
	       ids_dropped(r->sids, r->epoch_since, s->generation) ||
	       ids_dropped(r->vrfs, r->epoch_since, s->generation) ||
	       ids_dropped(r->slices, r->epoch_since, s->generation) ||
	       ids_dropped(r->interfaces, r->epoch_since, s->generation);
}

void snapshot_reap(struct snapshot_registry *r, uint64_t generation)
{
	ids_reap(r->neighs, generation);
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
	int rc;

	b.s = arena ? arena_alloc(arena, sizeof(*b.s)) : NULL;
	if (!b.s) {
		arena_free(arena);
		snprintf(err, size, "out of memory");
		return NULL;
	}
	b.s->arena = arena;
	b.s->config = config;
	b.s->generation = r->generation + 1;
	rc = build_all(&b, ports);
	free(b.group_hash);
	free(b.group_used);
	if (rc < 0) {
		snapshot_free(b.s);
		return NULL;
	}
	r->generation = b.s->generation;
	return b.s;
}

void snapshot_free(const struct snapshot *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_vrfs && s->vrf; i++) {
		fib_free(s->vrf[i].v4);
		fib_free(s->vrf[i].v6);
	}
	arena_free(s->arena);
}
