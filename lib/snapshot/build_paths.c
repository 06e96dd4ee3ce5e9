/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies: the outer headers of each path, ready to be copied, and the spread of flows over the paths. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/program.h"
#include "snapshot/build_priv.h"
#include "wire/srh.h"

static void path_key(const struct cfg_policy *policy, const struct cfg_path *path, char *key, size_t size)
{
	snprintf(key, size, "%s %s", policy->name, path->name);
}

/* RFC 8754 section 4.1.1, reduced: the first address only in the DA, SL = LE + 1; none left: no SRH. */
static void build_header(const struct snapshot *s, const struct cfg_policy *policy,
	const struct cfg_program *program, struct snap_path *path)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)path->header;
	struct srh *srh = (struct srh *)(ip + 1);
	unsigned int listed = program->n - 1;

	ip->vtc_flow = ipv6_vtc_flow(0, (uint32_t)policy->flow_label);
	ip->hop_limit = (uint8_t)policy->hop_limit;
	ip->src = policy->source.family ? policy->source.v6 : s->loopback;
	ip->dst = program->container[0];
	path->bytes = sizeof(*ip);
	path->next_header_at = __builtin_offsetof(struct ipv6_hdr, next_header);
	if (listed) {
		ip->next_header = IP_PROTO_ROUTING;
		srh->length = (uint8_t)(2 * listed);
		srh->routing_type = SRH_ROUTING_TYPE;
		srh->segments_left = (uint8_t)listed;
		srh->last_entry = (uint8_t)(listed - 1);
		for (unsigned int i = 0; i < listed; i++)
			srh->segment[i] = program->container[program->n - 1 - i];
		path->next_header_at = sizeof(*ip);
		path->bytes = (uint16_t)(path->bytes + srh_bytes(srh));
	}
	path->dscp = policy->dscp_mode == DSCP_SET ? (uint8_t)policy->dscp : SNAP_DSCP_COPY;
	path->flow_label = (uint32_t)policy->flow_label;
}

static int build_path(struct builder *b, const struct cfg_own_sids *own, const struct cfg_policy *policy,
	const struct cfg_path *cp, uint32_t id)
{
	struct snap_path *path = &b->s->path[id];
	struct cfg_program program;
	const char *why;
	uint32_t nbr;
	int rc;

	if (cfg_program(b->config, own, cp, &program, &why) < 0)
		return build_fail(b, -EINVAL, "policy %s, path %s: %s", policy->name, cp->name, why);
	path->policy = policy->name;
	path->name = cp->name;
	build_tunnel_classes(b, policy->class_map, path->tclass_of);
	build_header(b->s, policy, &program, path);
	if (program.via) {
		rc = build_nbr(b, cfg_find_port(b->config, program.via->port), &program.via->nexthop, &nbr);
		if (rc < 0)
			return rc;
		path->via = target(TARGET_NBR, nbr);
	}
	return 0;
}

/*
 * Buckets by weight, largest remainder first, each path in one run of buckets; a path with any weight gets at
 * least one while there are buckets.
 */
static void fill_buckets(struct snap_policy *p, const struct cfg_policy *cp, const uint32_t *ids)
{
	uint64_t total = 0, before = 0;
	unsigned int at = 0;

	for (uint32_t i = 0; i < cp->paths.n; i++)
		total += cp->paths.items[i].weight;
	for (uint32_t i = 0; i < cp->paths.n; i++) {
		unsigned int left = cp->paths.n - 1 - i, end;

		before += cp->paths.items[i].weight;
		end = (unsigned int)((before * SNAP_POLICY_BUCKETS + total / 2) / total);
		end = MAX_OF(end, at + 1);
		end = MIN_OF(end, SNAP_POLICY_BUCKETS - left);
		while (at < end)
			p->bucket[at++] = ids[i];
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
	uint32_t ids[SNAP_POLICY_BUCKETS];
	char key[80];
	int rc = count_paths(b);

	if (rc < 0)
		return rc;
	s->n_paths = ids_bound(b->ids->paths);
	s->n_policies = c->policies.n;
	s->path = arena_alloc(s->arena, (s->n_paths + 1) * sizeof(*s->path));
	s->policy = arena_alloc(s->arena, (s->n_policies + 1) * sizeof(*s->policy));
	own = cfg_own_sids_new(c);
	if (!s->path || !s->policy || !own)
		rc = build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->policies.n && rc == 0; i++) {
		const struct cfg_policy *cp = &c->policies.items[i];

		s->policy[i].name = cp->name;
		for (uint32_t k = 0; k < cp->paths.n && rc == 0; k++) {
			path_key(cp, &cp->paths.items[k], key, sizeof(key));
			ids_find(b->ids->paths, key, &ids[k]);
			rc = build_path(b, own, cp, &cp->paths.items[k], ids[k]);
		}
		if (rc == 0)
			fill_buckets(&s->policy[i], cp, ids);
	}
	cfg_own_sids_free(own);
	return rc;
}

int build_path_ways(struct builder *b)
{
	for (uint32_t i = 0; i < b->s->n_paths; i++) {
		struct snap_path *p = &b->s->path[i];
		const struct ipv6_hdr *ip = (const struct ipv6_hdr *)p->header;

		if (!p->bytes || p->via)
			continue;
		p->via = fib_lookup6(b->s->vrf[VRF_UNDERLAY].v6, &ip->dst);
		/* a policy inside a policy, or a path to an own address, leads nowhere */
		if (target_kind(p->via) != TARGET_NBR && target_kind(p->via) != TARGET_GROUP &&
			target_kind(p->via) != TARGET_LINK)
			p->via = 0;
	}
	return 0;
}
