/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that every path, PFC tunnel and PFC relay has a way out of this node. Pure. */
#include "config/check_priv.h"
#include "config/ways.h"

/* A list that cannot be packed is reported elsewhere. */
static void check_list(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct ip_addr *segments, uint32_t n, struct cfg_mark at, const char *what)
{
	struct cfg_path path = {.segments = {(struct ip_addr *)(uintptr_t)segments, n}};
	struct cfg_program program;
	char text[IP_ADDR_TEXT];
	struct cfg_way way;
	const char *why;

	if (!n || cfg_program(c, own, &path, &program, &why) < 0 || cfg_way_out(c, &program, &way))
		return;
	cfg_diag_add(d, at,
		"segments: no route leads to the first hop, %s, so %s; add a route for it, or begin with an adjacency "
		"SID of "
		"this node",
		ipv6_addr_format(&program.container[0], text), what);
}

void check_ways(const struct config *c, struct cfg_diags *d)
{
	struct cfg_own_sids *own = cfg_own_sids_new(c);

	if (!own) {
		cfg_diag_add(d, c->at, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < c->policies.n; i++)
		for (uint32_t k = 0; k < c->policies.items[i].paths.n; k++) {
			const struct cfg_path *p = &c->policies.items[i].paths.items[k];

			check_list(c, d, own, p->segments.items, p->segments.n, cfg_where(c, &p->segments),
				"no packet would leave by this path");
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
}
