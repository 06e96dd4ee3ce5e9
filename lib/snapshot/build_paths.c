/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies: the outer headers of each path, ready to be copied, and the distribution of flows over the paths. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_hash_crc.h>

#include "config/config.h"
#include "config/program.h"
#include "snapshot/build_priv.h"
#include "snapshot/path_mtu.h"
#include "snapshot/pfc_outer.h"
#include "wire/srh.h"

static void path_key(const struct cfg_policy *policy, const struct cfg_path *path, char *key, size_t size)
{
	snprintf(key, size, "%s %s", policy->name, path->name);
}

/*
 * RFC 8754 section 4.1: the segment list in reverse order. In a reduced list (section 4.1.1) the first address is only
 * in the DA, and SL = LE + 1. Own SIDs at the start of a full list have indices above SL, because they are already
 * processed.
 */
static void build_srh(struct srh *srh, const struct cfg_program *program, unsigned int listed)
{
	srh->length = (uint8_t)(2 * listed);
	srh->routing_type = SRH_ROUTING_TYPE;
	srh->segments_left = (uint8_t)(program->n - 1);
	srh->last_entry = (uint8_t)(listed - 1);
	for (unsigned int i = 0; i < listed; i++)
		srh->segment[i] = program->all[program->n_all - 1 - i];
}

static int build_header(struct builder *b, const struct cfg_policy *policy, uint32_t place,
	const struct cfg_program *program, struct snap_path *path)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)path->header;
	struct srh *srh = (struct srh *)(ip + 1);
	unsigned int listed = cfg_listed(policy, program);
	int rc = 0;

	ip->vtc_flow = ipv6_vtc_flow(0, (uint32_t)policy->flow_label);
	ip->hop_limit = (uint8_t)policy->hop_limit;
	ip->src = cfg_outer_source(b->config, policy, place).v6;
	ip->dst = program->container[0];
	path->bytes = (uint16_t)cfg_outer_bytes(policy, program);
	path->next_header_at = __builtin_offsetof(struct ipv6_hdr, next_header);
	ip->next_header = listed ? IP_PROTO_ROUTING : 0;
	if (policy->slice_by == SLICE_BY_OPTION) {
		snap_write_slice((uint8_t *)srh, ip->next_header, b->s->slice_option, 0);
		ip->next_header = IP_PROTO_HOPOPTS;
		path->next_header_at = sizeof(*ip);
		path->slice_at = sizeof(*ip) + SNAP_SLICE_ID_AT;
		srh = (struct srh *)((uint8_t *)srh + CFG_SLICE_OPTION_BYTES);
	}
	if (listed) {
		build_srh(srh, program, listed);
		path->next_header_at = (uint8_t)((uint8_t *)srh - path->header);
	}
	if (policy->hmac_key) {
		srh->length = (uint8_t)(srh->length + CFG_HMAC_TLV_BYTES / 8);
		rc = build_hmac(b, (uint32_t)policy->hmac_key, &ip->src, srh);
	}
	path->dscp = policy->dscp_mode == DSCP_SET   ? (uint8_t)policy->dscp
		     : policy->dscp_mode == DSCP_MAP ? SNAP_DSCP_MAP
						     : SNAP_DSCP_COPY;
	path->dscp_of = build_dscp_of(b, policy->dscp_map);
	path->flow_label = (uint32_t)policy->flow_label;
	return rc;
}

static int build_path(struct builder *b, const struct cfg_own_sids *own, const struct cfg_policy *policy,
	uint32_t place, uint32_t id)
{
	const struct cfg_path *cp = &policy->paths.items[place];
	struct snap_path *path = &b->path[id];
	struct cfg_program program;
	char sid[IP_PREFIX_TEXT];
	const char *why;
	uint32_t id_of_sid;
	int rc;

	if (cfg_program(b->config, own, cp, &program, &why) < 0)
		return build_fail(b, -EINVAL, "policy %s, path %s: %s", policy->name, cp->name, why);
	path->policy = policy->name;
	path->name = cp->name;
	build_tunnel_classes(b, policy->class_map, path->tclass_of);
	path->backup = cp->backup;
	path->weight = (uint32_t)cp->weight;
	rc = build_header(b, policy, place, &program, path);
	if (rc < 0)
		return rc;
	/* over the adjacencies of the own SID that starts the list */
	if (program.via && ids_find(b->ids->sids, ip_prefix_format(&program.via->sid, sid), &id_of_sid) == 0)
		path->via = b->s->sid[id_of_sid].adjacency;
	return 0;
}

/*
 * Select the paths that carry traffic: the primary paths that have a way out, otherwise the backups that have one. When
 * no path has a way out, the primary paths are selected, and their packets have no route.
 */
static void choose_paths(const struct snapshot *s, const struct cfg_policy *cp, const uint32_t *ids, bool *carries)
{
	bool leads[2] = {false, false}, none;

	for (uint32_t i = 0; i < cp->paths.n; i++)
		leads[cp->paths.items[i].backup] |= s->path[ids[i]].via != 0;
	none = !leads[0] && !leads[1];
	for (uint32_t i = 0; i < cp->paths.n; i++)
		carries[i] = (none || s->path[ids[i]].via) && cp->paths.items[i].backup == (!none && !leads[0]);
}

/*
 * Distribute the buckets by weight with the largest-remainder method. Each path gets at least one while there are
 * buckets.
 */
static void share_buckets(const struct cfg_policy *cp, const bool *carries, unsigned int *share)
{
	unsigned int at = 0, left = 0, end;
	uint64_t total = 0, before = 0;

	for (uint32_t i = 0; i < cp->paths.n; i++) {
		total += carries[i] ? cp->paths.items[i].weight : 0;
		left += carries[i];
	}
	for (uint32_t i = 0; i < cp->paths.n; i++) {
		share[i] = 0;
		if (!carries[i])
			continue;
		left--;
		before += cp->paths.items[i].weight;
		end = (unsigned int)((before * SNAP_POLICY_BUCKETS + total / 2) / total);
		end = MAX_OF(end, at + 1);
		end = MIN_OF(end, SNAP_POLICY_BUCKETS - left);
		share[i] = end - at;
		at = end;
	}
}

static const struct snap_policy *old_policy(const struct builder *b, const char *name)
{
	int i = b->old ? cfg_find_policy(b->old->config, name) : -1;

	return i < 0 ? NULL : &b->old->policy[i];
}

/*
 * A flow keeps its path over a reload as far as the weights allow. A path keeps its old buckets up to its new share.
 * Only the remaining buckets go to the paths that are below their share.
 */
static void fill_buckets(const struct builder *b, struct snap_policy *p, const struct cfg_policy *cp)
{
	const struct snap_policy *old = old_policy(b, cp->name);
	unsigned int share[SNAP_POLICY_BUCKETS];
	bool taken[SNAP_POLICY_BUCKETS] = {false}, carries[SNAP_POLICY_BUCKETS];
	const uint32_t *ids = p->path;
	uint32_t path = 0;

	choose_paths(b->s, cp, ids, carries);
	share_buckets(cp, carries, share);
	for (unsigned int k = 0; old && k < SNAP_POLICY_BUCKETS; k++) {
		for (path = 0; path < cp->paths.n && ids[path] != old->bucket[k];)
			path++;
		if (path == cp->paths.n || !share[path])
			continue;
		share[path]--;
		taken[k] = true;
		p->bucket[k] = ids[path];
	}
	path = 0;
	for (unsigned int k = 0; k < SNAP_POLICY_BUCKETS; k++) {
		if (taken[k])
			continue;
		while (!share[path])
			path++;
		share[path]--;
		p->bucket[k] = ids[path];
	}
}

static int count_paths(struct builder *b)
{
	const struct config *c = b->config;
	char key[80];
	uint32_t id;

	for (uint32_t i = 0; i < c->policies.n; i++) {
		for (uint32_t k = 0; k < c->policies.items[i].paths.n; k++) {
			path_key(&c->policies.items[i], &c->policies.items[i].paths.items[k], key, sizeof(key));
			if (ids_get(b->ids->paths, key, b->s->generation, &id) < 0)
				return build_fail(b, -ENOSPC, "more than %u paths", SNAP_PATH_MAX);
		}
	}
	return 0;
}

int build_policies(struct builder *b)
{
	const struct config *c = b->config;
	struct cfg_own_sids *own = NULL;
	struct snapshot *s = b->s;
	uint32_t *ids;
	char key[80];
	int rc = count_paths(b);

	if (rc < 0)
		return rc;
	s->n_paths = ids_bound(b->ids->paths);
	s->n_policies = c->policies.n;
	s->path = b->path = arena_alloc(s->arena, (s->n_paths + 1) * sizeof(*b->path));
	s->policy = b->policy = arena_alloc(s->arena, (s->n_policies + 1) * sizeof(*b->policy));
	own = cfg_own_sids_new(c);
	if (!b->path || !b->policy || !own)
		rc = build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->policies.n && rc == 0; i++) {
		const struct cfg_policy *cp = &c->policies.items[i];

		b->policy[i].name = cp->name;
		b->policy[i].path = ids = arena_alloc(s->arena, cp->paths.n * sizeof(*ids));
		b->policy[i].n_paths = (uint16_t)cp->paths.n;
		b->policy[i].flows = (uint32_t)cp->flows;
		b->policy[i].flow_key = (uint8_t)cp->flow_key;
		b->policy[i].roce = cp->roce;
		b->policy[i].feedback = cp->feedback;
		s->feedback |= cp->feedback;
		s->flows += cp->flows;
		s->roce |= cp->roce;
		if (!ids)
			rc = build_fail(b, -ENOMEM, "out of memory");
		for (uint32_t k = 0; k < cp->paths.n && rc == 0; k++) {
			path_key(cp, &cp->paths.items[k], key, sizeof(key));
			ids_find(b->ids->paths, key, &ids[k]);
			rc = build_path(b, own, cp, k, ids[k]);
		}
	}
	cfg_own_sids_free(own);
	return rc;
}

/* MTU of the way out in bytes; 0 when there is none. */
static unsigned int way_mtu(const struct snapshot *s, target_t t)
{
	unsigned int mtu = UINT16_MAX;

	switch (target_kind(t)) {
	case TARGET_NEIGH:
		return s->neigh[target_index(t)].mtu;
	case TARGET_LINK:
		return snap_interface(s, target_index(t))->mtu;
	case TARGET_GROUP:
		for (unsigned int i = 0; i < s->group[target_index(t)].n; i++)
			mtu = MIN_OF(mtu, way_mtu(s, s->group[target_index(t)].member[i]));
		return mtu;
	default:
		return 0;
	}
}

/*
 * docs/design.md section 4: a policy's MTU is the least of its paths' MTUs, so that a move to another path drops no
 * packet.
 */
static void build_mtus(struct builder *b)
{
	struct snapshot *s = b->s;

	for (uint32_t i = 0; i < s->n_paths; i++)
		if (s->path[i].bytes && s->path[i].via)
			b->path[i].inner_mtu = (uint16_t)(way_mtu(s, s->path[i].via) - s->path[i].bytes);
	for (uint32_t i = 0; i < s->n_policies; i++) {
		struct snap_policy *p = &b->policy[i];

		p->inner_mtu = UINT16_MAX;
		for (uint32_t k = 0; k < p->n_paths; k++)
			if (s->path[p->path[k]].via)
				p->inner_mtu = MIN_OF(p->inner_mtu, s->path[p->path[k]].inner_mtu);
	}
}

/*
 * A fingerprint ties a learnt path MTU to the outer headers it was learnt for. Other headers may use the same ids
 * later.
 */
static void build_fingerprints(struct builder *b)
{
	struct snapshot *s = b->s;

	for (uint32_t i = 0; i < s->n_policies; i++) {
		struct snap_policy *policy = &b->policy[i];

		policy->learnt_mtu = &b->ids->path_mtus->policy[policy->path[0]];
		for (uint32_t k = 0; k < policy->n_paths; k++) {
			struct snap_path *path = &b->path[policy->path[k]];

			path->policy_index = i;
			path->learnt_mtu = &b->ids->path_mtus->path[policy->path[k]];
			path->fingerprint = rte_hash_crc(path->header, path->bytes, path->bytes);
			policy->fingerprint = rte_hash_crc_4byte(path->fingerprint, policy->fingerprint);
		}
	}
}

int build_path_ways(struct builder *b)
{
	for (uint32_t i = 0; i < b->s->n_paths; i++) {
		struct snap_path *p = &b->path[i];
		const struct ipv6_hdr *ip = (const struct ipv6_hdr *)p->header;

		if (!p->bytes || p->via)
			continue;
		p->via = fib_lookup6(b->s->vrf[VRF_UNDERLAY].v6, &ip->dst);
		/* a policy inside a policy, or a path to an own address, has no way out */
		if (target_kind(p->via) != TARGET_NEIGH && target_kind(p->via) != TARGET_GROUP &&
			target_kind(p->via) != TARGET_LINK)
			p->via = 0;
	}
	for (uint32_t i = 0; i < b->s->n_policies; i++)
		fill_buckets(b, &b->policy[i], &b->config->policies.items[i]);
	build_mtus(b);
	build_fingerprints(b);
	/* whatever port a packet comes from, its route may lead to a policy with a flow table */
	for (uint32_t i = 0; b->s->flows && i < b->s->n_ports; i++)
		b->s->port[i].examined = true;
	return 0;
}
