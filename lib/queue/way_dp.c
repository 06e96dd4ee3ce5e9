/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the ways of packets that are alive (way.h). Worker lcores. */
#include "queue/way.h"

#include "rewrite/rewrite.h"

/* The packet whose way is sought. */
struct search {
	const struct egress_context *c;
	uint32_t hash;
	uint32_t bytes; /* with outer headers, without those of the path; 0: any MTU will do */
	enum liveness_grade want;
};

static uint16_t mtu_of(const struct snapshot *s, target_t t)
{
	const struct snap_interface *in;

	if (target_kind(t) == TARGET_NEIGH)
		return s->neigh[target_index(t)].mtu;
	in = snap_interface(s, target_index(t));
	return in ? in->mtu : 0;
}

/* The link itself counts, too: its owner sees it before the control lcore has said so. */
static enum liveness_grade grade_of(const struct egress_context *c, target_t t)
{
	if (!port_is_up(c->peers->egress[way_port(c->s, t)].port))
		return LIVENESS_IS_DEAD;
	return liveness_grade(liveness_of_nexthop(c->s, t));
}

static bool serves(const struct search *f, target_t t, uint32_t outer)
{
	return grade_of(f->c, t) >= f->want && (!f->bytes || f->bytes + outer <= mtu_of(f->c->s, t));
}

/* A well mixed number for a flow and one of its choices. */
static uint32_t mix(uint32_t hash, uint32_t choice)
{
	hash = (hash ^ choice * 0x9e3779b1u) * 0x85ebca6bu;
	hash = (hash ^ hash >> 15) * 0xc2b2ae35u;
	return hash ^ hash >> 16;
}

/*
 * Highest random weight (Thaler and Ravishankar): the choice with the largest score gets the flow, in proportion to the
 * weights: weight / -log2(u), u uniform in (0, 1]. The logarithm is linear between powers of two.
 */
static uint64_t score(uint32_t hash, uint32_t choice, uint32_t weight)
{
	uint32_t h = mix(hash, choice) | 1;
	unsigned int zeros = (unsigned int)__builtin_clz(h);
	uint64_t log = (uint64_t)(31 - zeros) << 16 | ((h << zeros) >> 15 & 0xffff);

	return ((uint64_t)weight << 32) / (((uint64_t)32 << 16) - log);
}

/* The next hop of a way: the home of the flow if it serves, else another one. 0: none. */
static target_t nexthop_of(const struct search *f, target_t via, uint32_t outer)
{
	const struct snap_group *g;
	target_t best = 0;
	uint64_t most = 0, points;

	if (!via)
		return 0;
	if (target_kind(via) != TARGET_GROUP)
		return serves(f, via, outer) ? via : 0;
	g = &f->c->s->group[target_index(via)];
	best = g->member[snap_member_index(f->c->s, g, f->hash)];
	if (serves(f, best, outer))
		return best;
	best = 0;
	for (unsigned int i = 0; i < g->n; i++) {
		if (!serves(f, g->member[i], outer))
			continue;
		points = score(f->hash, g->member[i], 1);
		if (points >= most) {
			most = points;
			best = g->member[i];
		}
	}
	return best;
}

static struct way by_path(const struct search *f, uint32_t id)
{
	const struct snap_path *p = &f->c->s->path[id];
	struct way w = {.path = id};

	if (liveness_grade(liveness_of_path(f->c->s, id)) >= f->want)
		w.to = nexthop_of(f, p->via, p->bytes);
	return w;
}

/* Among the primary paths of a policy, or its backups. */
static struct way by_paths(const struct search *f, const struct snap_policy *policy, bool backup)
{
	struct way best = {0};
	uint64_t most = 0, points;

	for (uint32_t k = 0; k < policy->n_paths; k++) {
		const struct snap_path *p = &f->c->s->path[policy->path[k]];
		struct way w;

		if (p->backup != backup)
			continue;
		w = by_path(f, policy->path[k]);
		points = score(f->hash, policy->path[k], p->weight);
		if (w.to && points >= most) {
			most = points;
			best = w;
		}
	}
	return best;
}

static struct way by_policy(const struct search *f, const struct snap_policy *policy)
{
	struct way w = by_path(f, policy->bucket[f->hash >> (32 - SNAP_POLICY_BUCKETS_LOG2)]);

	if (!w.to)
		w = by_paths(f, policy, false);
	if (!w.to)
		w = by_paths(f, policy, true);
	return w;
}

/* The result of the lookup that the classifier has made for a packet that is not encapsulated; 0: it was none. */
static target_t lookup(const struct egress_context *c, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	const struct snapshot *s = c->s;
	uint16_t vrf = x->vrf;
	struct ip_addr a;
	target_t t;

	if (x->sid != PKT_SID_NONE && x->sid < s->n_sids && s->sid[x->sid].used) {
		if (s->sid[x->sid].adjacency)
			return s->sid[x->sid].adjacency;
		vrf = s->sid[x->sid].vrf;
	}
	if (vrf >= s->n_vrfs)
		return 0;
	a = rewrite_destination(m, s);
	t = a.family == 6 ? fib_lookup6(s->vrf[vrf].v6, &a.v6) : fib_lookup4(s->vrf[vrf].v4, ip_addr_v4(&a));
	return target_kind(t) == TARGET_GROUP || target_kind(t) == TARGET_NEIGH || target_kind(t) == TARGET_LINK ? t
														 : 0;
}

static struct way find(const struct search *f, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	const struct snap_path *p;

	if (!(x->ops & PKT_OP_ENCAP))
		return (struct way){.to = nexthop_of(f, lookup(f->c, m), 0)};
	p = &f->c->s->path[x->path];
	/* a path that was removed belongs to no policy */
	return p->policy ? by_policy(f, &f->c->s->policy[p->policy_index]) : (struct way){0};
}

static target_t target_of(const struct pkt *x)
{
	return x->neigh < PKT_NEIGH_LINK ? target(TARGET_NEIGH, x->neigh)
					 : target(TARGET_LINK, x->neigh - PKT_NEIGH_LINK);
}

enum liveness_grade way_grade(const struct egress_context *c, const struct pkt *x)
{
	enum liveness_grade grade = grade_of(c, target_of(x));

	if (x->ops & PKT_OP_ENCAP)
		grade = MIN_OF(grade, liveness_grade(liveness_of_path(c->s, x->path)));
	return grade;
}

bool way_is_bound(const struct pkt *x)
{
	return (x->family == PKT_FRAME && !(x->ops & PKT_OP_ENCAP)) || x->vrf == PKT_VRF_NONE ||
	       x->verdict == PKT_GATED;
}

struct way way_find(const struct egress_context *c, struct rte_mbuf *m, enum liveness_grade than, uint16_t *shorter)
{
	const struct pkt *x = pkt_of(m);
	struct search f = {.c = c, .hash = x->hash, .bytes = x->l3_bytes};
	struct way w = {0};

	*shorter = 0;
	for (f.want = LIVENESS_IS_ALIVE; f.want > than && !w.to; f.want--)
		w = find(&f, m);
	if (w.to || than > LIVENESS_IS_DEAD)
		return w;
	f.want = LIVENESS_IS_HELD;
	f.bytes = 0;
	w = find(&f, m);
	if (w.to)
		*shorter = (uint16_t)(mtu_of(c->s, w.to) - (x->ops & PKT_OP_ENCAP ? c->s->path[w.path].bytes : 0));
	return (struct way){0};
}
