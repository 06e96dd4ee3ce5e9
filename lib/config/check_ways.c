/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that every path, PFC tunnel and PFC relay has a way out of this node. Pure. */
#include "config/check_priv.h"
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

void check_ways(const struct config *c, struct cfg_diags *d)
{
	struct cfg_own_sids *own = cfg_own_sids_new(c);

	if (!own) {
		cfg_diag_add(d, c->at, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < c->policies.n; i++)
		check_policy(c, d, own, &c->policies.items[i]);
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
}
