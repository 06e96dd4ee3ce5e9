/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that every path, PFC tunnel and PFC relay has a way out of this node, and does not come back to it, and that what
 * leaves a tunnel here has a table with routes. Pure.
 */
#include "config/check_priv.h"
#include "config/behavior.h"
#include "config/overlap.h"
#include "config/remote_sids.h"
#include "config/ways.h"

/* Where a list leads to; NULL: out of this node, or the list cannot be packed, which is reported elsewhere. */
static const char *dead_end(const struct config *c, const struct cfg_own_sids *own, const struct ip_addr *segments,
	uint32_t n, char *text)
{
	struct cfg_path path = {.segments = {(struct ip_addr *)(uintptr_t)segments, n}};
	struct cfg_program program;
	struct cfg_way way;
	const char *why;

	if (!n || cfg_program(c, own, &path, &program, &why) < 0 || cfg_way_out(c, &program, &way))
		return NULL;
	return ipv6_addr_format(&program.container[0], text);
}

/* Packets that come back take the way in twice, and with PFC may wait for themselves. */
static void check_return(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct ip_addr *segments, uint32_t n, struct cfg_mark at)
{
	struct cfg_path path = {.segments = {(struct ip_addr *)(uintptr_t)segments, n}};
	struct cfg_program program;
	char text[IP_PREFIX_TEXT];
	const char *why;

	if (n && !cfg_diags_errors(d) && cfg_program(c, own, &path, &program, &why) == 0 && program.returns)
		cfg_diag_warn(d, at,
			"segments: %s is a SID of this node, so packets that have left it come back, and with "
			"node.loopback "
			"as their source they are dropped there (own_source); leave it out",
			ip_prefix_format(&program.returns->sid, text));
}

/* A tunnel or a relay has one list, so it is of no use without a way out. */
static void check_list(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct ip_addr *segments, uint32_t n, struct cfg_mark at, const char *what)
{
	char text[IP_ADDR_TEXT];

	if (dead_end(c, own, segments, n, text))
		cfg_diag_add(d, at,
			"segments: no route leads to the first hop, %s, so %s; add a route for it, or begin with an "
			"adjacency SID of this node",
			text, what);
	check_return(c, d, own, segments, n, at);
}

/* The other paths of a policy carry what one without a way out cannot. Without any, every packet would be lost. */
static void check_policy(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct cfg_policy *policy)
{
	char text[IP_ADDR_TEXT];
	uint32_t dead = 0;

	for (uint32_t k = 0; k < policy->paths.n; k++) {
		const struct cfg_path *p = &policy->paths.items[k];

		dead += dead_end(c, own, p->segments.items, p->segments.n, text) != NULL;
		check_return(c, d, own, p->segments.items, p->segments.n, cfg_where(c, &p->segments));
	}
	for (uint32_t k = 0; dead && k < policy->paths.n; k++) {
		const struct cfg_path *p = &policy->paths.items[k];

		if (!dead_end(c, own, p->segments.items, p->segments.n, text))
			continue;
		if (dead < policy->paths.n)
			cfg_diag_warn(d, cfg_where(c, &p->segments),
				"segments: no route leads to the first hop, %s, so no packet leaves by this path; the "
				"other paths of the policy carry its share until there is one",
				text);
		else
			cfg_diag_add(d, cfg_where(c, &p->segments),
				"segments: no route leads to the first hop, %s, so no packet would leave by this path; "
				"add a route for it, or begin with an adjacency SID of this node",
				text);
	}
}

struct disjunction {
	const struct config *c;
	struct cfg_diags *d;
	const struct cfg_policy *policy;
	bool told;
};

/* One message for a policy: the others may be gone with the first. */
static void check_overlap(void *arg, const struct cfg_overlap *o)
{
	struct disjunction *x = arg;
	bool nodes = x->policy->disjoint == DISJOINT_NODES;
	uint32_t one = 0, two;

	if (x->told || o->kind == (nodes ? CFG_SHARED_LINK : CFG_SHARED_NODE))
		return;
	while (!o->same[one])
		one++;
	for (two = one + 1; !o->same[two];)
		two++;
	x->told = true;
	cfg_diag_add(x->d, cfg_where(x->c, &x->policy->disjoint),
		"disjoint: paths '%s' and '%s'%s %s; give them other segments, or %s", x->policy->paths.items[one].name,
		x->policy->paths.items[two].name, o->n > 2 ? ", and others," : " both", o->text,
		nodes && o->kind == CFG_SHARED_NODE ? "set disjoint: links" : "leave disjoint out");
}

static void check_disjoint(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct cfg_policy *policy)
{
	struct disjunction x = {.c = c, .d = d, .policy = policy};

	if (policy->disjoint != DISJOINT_NO && cfg_overlap_each(c, own, policy, check_overlap, &x) < 0)
		cfg_diag_add(d, policy->at, "out of memory");
}

/* --- learnt tunnels --- */

struct learnable {
	const struct config *c;
	uint32_t all, dead; /* SIDs with which a learnt tunnel can begin, and those without a route */
	struct cfg_remote first;
};

/* A learnt tunnel begins with an End SID or with the End.X.PFC of another node. */
static void count_learnable(void *arg, const struct cfg_remote *r)
{
	struct learnable *l = arg;
	bool named = r->behavior != CFG_REMOTE_OTHER;
	const struct behavior_info *info = named ? behavior_info((enum cfg_behavior)r->behavior) : NULL;
	struct cfg_program program = {.container = {r->sid.addr.v6}, .n = 1};
	struct cfg_way way;

	if (!info || !(info->pauses || info->kind == KIND_END) || !r->node_bits ||
		strcmp(r->owner, l->c->node.name) == 0)
		return;
	l->all++;
	if (cfg_way_out(l->c, &program, &way))
		return;
	if (!l->dead++)
		l->first = *r;
}

static void check_learnt(const struct config *c, struct cfg_diags *d)
{
	struct learnable l = {.c = c};
	char text[IP_PREFIX_TEXT];

	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *p = &c->ports.items[i];

		if (!p->pfc.learn_tunnels)
			continue;
		if (!l.all)
			cfg_remote_each(c, count_learnable, &l);
		if (l.dead)
			cfg_diag_warn(d, cfg_where(c, &p->pfc.learn_tunnels),
				"learn-tunnels: no route leads to %u of the %u SIDs of other nodes with which a tunnel "
				"can begin; the first is %s of %s; no pause would reach nodes behind them: add routes",
				l.dead, l.all, ip_prefix_format(&l.first.sid, text), l.first.owner);
	}
}

/* --- out of tunnels --- */

static bool vrf_has(const struct config *c, const struct cfg_vrf *vrf, uint8_t family)
{
	struct cfg_link link;

	for (uint32_t i = 0; i < vrf->routes.n; i++)
		if (vrf->routes.items[i].prefix.addr.family == family)
			return true;
	for (uint32_t i = 0; i < c->ports.n + c->interfaces.n; i++) {
		if (!cfg_link_at(c, i, &link) || !link.vrf || strcmp(link.vrf, vrf->name) != 0)
			continue;
		for (uint32_t k = 0; k < link.n_addresses; k++)
			if (link.addresses[k].addr.family == family)
				return true;
	}
	return false;
}

/* A table without routes drops all that leaves its tunnels. */
static void check_table(const struct config *c, struct cfg_diags *d, const struct cfg_sid *sid)
{
	const struct behavior_info *info = behavior_info((enum cfg_behavior)sid->behavior);
	bool v4 = false, v6 = false;

	if (info->kind != KIND_DT || !sid->vrf)
		return;
	for (uint32_t i = 0; i < c->vrfs.n; i++) {
		if (strcmp(c->vrfs.items[i].name, sid->vrf) != 0)
			continue;
		v4 = info->inner4 && vrf_has(c, &c->vrfs.items[i], 4);
		v6 = info->inner6 && vrf_has(c, &c->vrfs.items[i], 6);
	}
	if (!v4 && !v6)
		cfg_diag_warn(d, cfg_where(c, &sid->vrf),
			"vrf: '%s' has no %sroute and no link, so packets that leave this tunnel are dropped as "
			"no_route; "
			"add routes to it",
			sid->vrf,
			info->inner4 && info->inner6 ? ""
			: info->inner4		     ? "IPv4 "
						     : "IPv6 ");
}

void check_ways(const struct config *c, struct cfg_diags *d)
{
	struct cfg_own_sids *own = cfg_own_sids_new(c);

	if (!own) {
		cfg_diag_add(d, c->at, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < c->policies.n; i++) {
		check_policy(c, d, own, &c->policies.items[i]);
		check_disjoint(c, d, own, &c->policies.items[i]);
	}
	for (uint32_t i = 0; i < c->pfc_tunnels.n; i++) {
		const struct cfg_pfc_tunnel *t = &c->pfc_tunnels.items[i];

		check_list(c, d, own, t->segments.items, t->segments.n, cfg_where(c, &t->segments),
			"no pause would reach the far end");
	}
	for (uint32_t i = 0; i < c->relays.n; i++) {
		const struct cfg_relay *r = &c->relays.items[i];

		check_list(c, d, own, r->segments.items, r->segments.n, cfg_where(c, &r->segments),
			"no pause would reach the far gateway");
	}
	cfg_own_sids_free(own);
	if (cfg_diags_errors(d))
		return; /* what they make of the tables would only be noise */
	check_learnt(c, d);
	for (uint32_t i = 0; i < c->sids.n; i++)
		check_table(c, d, &c->sids.items[i]);
}
