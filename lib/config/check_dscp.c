/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks DSCP maps and the ports, policies and SIDs that use them; warns of lossless classes that the WAN cannot tell apart.
 * Pure.
 */
#include <stdlib.h>

#include "base/compiler.h"
#include "config/behavior.h"
#include "config/check_priv.h"
#include "config/marking.h"

#define DSCP_RESERVED 48   /* from here on: control traffic of the domain (docs/design.md 4) */
#define DSCP_TENANT_MAX 40 /* what they become in a tunnel */

/*
 * The line of the range of the map that gives a DSCP from `first` on which was below it, with both values; or 0. `lower`:
 * only from DSCPs below the reserved ones.
 */
static uint32_t reserved_line(const struct config *c, const char *name, bool lower, uint64_t *from, uint64_t *to)
{
	int map = cfg_find_named(c, "dscp-maps", name, NULL);

	for (uint32_t i = 0; map >= 0 && i < c->dscp_maps.items[map].map.n; i++) {
		const struct cfg_range *r = &c->dscp_maps.items[map].map.items[i];

		*from = r->from;
		*to = r->value;
		if (r->value >= DSCP_RESERVED && (!lower || r->from < DSCP_RESERVED))
			return r->at.line;
	}
	return 0;
}

/* A map that makes network control of other traffic would give it the queues of the domain's control traffic. */
static void check_reserved(const struct config *c, struct cfg_diags *d, const char *key, char *const *name, bool lower)
{
	uint64_t from, to;
	uint32_t line = reserved_line(c, *name, lower, &from, &to);

	if (line)
		cfg_diag_add(d, cfg_where(c, name),
			"%s: '%s' gives DSCP %llu the DSCP %llu (line %u), and 48 to 63 are reserved for the control "
			"traffic of the domain; use 47 or less",
			key, *name, (unsigned long long)from, (unsigned long long)to, line);
}

static void check_map_is_used(const struct config *c, struct cfg_diags *d, bool uses, const uint32_t *mode,
	char *const *map)
{
	if (uses && !*map)
		cfg_diag_add(d, cfg_where(c, mode), "dscp: map needs dscp-map, the name of one of dscp-maps");
	if (!uses && *map)
		cfg_diag_add(d, cfg_where(c, map), "dscp-map: it is used only with dscp: map");
}

static void check_policy(const struct config *c, struct cfg_diags *d, const struct cfg_policy *p)
{
	/* the default may be given explicitly: cfg_emit writes it when asked for all keys */
	if (p->dscp_mode != DSCP_SET && p->dscp)
		cfg_diag_add(d, cfg_where(c, &p->dscp), "dscp-value: it is used only with dscp: set");
	check_map_is_used(c, d, p->dscp_mode == DSCP_MAP, &p->dscp_mode, &p->dscp_map);
	check_reserved(c, d, "dscp-map", &p->dscp_map, false);
}

static void check_sid(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s)
{
	const struct behavior_info *info = behavior_info((enum cfg_behavior)s->behavior);
	bool decapsulates = info->inner4 || info->inner6 || behavior_flavors(s) & FLAVOR_BIT(FLAVOR_USD);

	check_map_is_used(c, d, s->dscp_mode == INNER_DSCP_MAP, &s->dscp_mode, &s->dscp_map);
	if (s->dscp_mode != INNER_DSCP_KEEP && !decapsulates)
		cfg_diag_add(d, cfg_where(c, &s->dscp_mode), "dscp: %s %s decapsulates no IP packets%s",
			info->compressed ? "a" : "an", info->name,
			behavior_has_flavors((enum cfg_behavior)s->behavior) ? " without the flavor usd" : "");
}

static const struct cfg_circuit *circuit_of_all(const struct config *c, const struct cfg_port *p)
{
	for (uint32_t i = 0; i < c->circuits.n; i++)
		if (c->circuits.items[i].vlan == CFG_NONE && strcmp(c->circuits.items[i].port, p->name) == 0)
			return &c->circuits.items[i];
	return NULL;
}

static void check_port(const struct config *c, struct cfg_diags *d, const struct cfg_port *p)
{
	const struct cfg_circuit *all = p->dscp_in ? circuit_of_all(c, p) : NULL;

	if (all)
		cfg_diag_add(d, cfg_where(c, &p->dscp_in),
			"dscp-in: circuit '%s' takes all frames of the port, and frames keep the DSCP inside; for the "
			"outer "
			"header, set dscp of policy '%s'",
			all->name, all->policy);
	if (p->side != SIDE_WAN)
		return;
	check_reserved(c, d, "dscp-in", &p->dscp_in, true);
	check_reserved(c, d, "dscp-out", &p->dscp_out, true);
}

/* --- lossless classes that leave with one DSCP --- */

/* Lossless classes that reach a policy, as bits: of all packets, and by the DSCP with which the policy sees them. */
struct classes {
	uint8_t any;
	uint8_t by_dscp[CFG_DSCPS];
};

static uint8_t lossless_of(const struct cfg_port *p)
{
	uint8_t bits = 0;

	for (uint32_t i = 0; i < p->pfc.priorities.n; i++)
		if (p->pfc.priorities.items[i] <= 7)
			bits = (uint8_t)(bits | 1u << p->pfc.priorities.items[i]);
	return bits;
}

static void add_port(const struct config *c, const struct cfg_port *p, struct classes *out)
{
	uint8_t lossless = lossless_of(p), class[CFG_DSCPS], dscp[CFG_DSCPS];

	cfg_class_of_dscp(c, p, class);
	cfg_dscp_table(c, p->dscp_in, dscp);
	out->any |= lossless;
	for (unsigned int i = 0; i < CFG_DSCPS; i++)
		out->by_dscp[dscp[i]] |= (uint8_t)(lossless & 1u << class[i]);
}

static void add(struct classes *to, const struct classes *from)
{
	to->any |= from->any;
	for (unsigned int i = 0; i < CFG_DSCPS; i++)
		to->by_dscp[i] |= from->by_dscp[i];
}

/* The ports of a VRF, and those of its VLAN interfaces, outside the domain. */
static void add_vrf(const struct config *c, const char *vrf, struct classes *out)
{
	struct cfg_link link;

	for (uint32_t i = 0; i < c->ports.n + c->interfaces.n; i++)
		if (cfg_link_at(c, i, &link) && link.vrf && strcmp(link.vrf, vrf) == 0 &&
			c->ports.items[link.port].side != SIDE_WAN)
			add_port(c, &c->ports.items[link.port], out);
}

/* What reaches each policy by the routes of VRFs and by circuits. */
static void add_policies(const struct config *c, struct classes *of)
{
	for (uint32_t v = 0; v < c->vrfs.n; v++) {
		const struct cfg_vrf *vrf = &c->vrfs.items[v];
		const char *last = NULL;
		struct classes in = {0};
		int policy;

		add_vrf(c, vrf->name, &in);
		for (uint32_t i = 0; in.any && i < vrf->routes.n; i++) {
			const char *name = vrf->routes.items[i].policy;

			if (!name || (last && strcmp(name, last) == 0))
				continue;
			last = name;
			policy = cfg_find_policy(c, name);
			if (policy >= 0)
				add(&of[policy], &in);
		}
	}
	for (uint32_t i = 0; i < c->circuits.n; i++) {
		int policy = cfg_find_policy(c, c->circuits.items[i].policy),
		    port = cfg_find_port(c, c->circuits.items[i].port);

		/* dscp-in does not change the packets in frames */
		if (policy >= 0 && port >= 0) {
			struct cfg_port p = c->ports.items[port];

			p.dscp_in = NULL;
			add_port(c, &p, &of[policy]);
		}
	}
}

/* Outer DSCP with which a policy sends what it sees with `dscp`. */
static uint8_t outer_dscp(const struct cfg_policy *p, const uint8_t *map, uint8_t dscp)
{
	uint8_t outer = p->dscp_mode == DSCP_SET ? (uint8_t)p->dscp : p->dscp_mode == DSCP_MAP ? map[dscp] : dscp;

	return outer >= DSCP_RESERVED ? DSCP_TENANT_MAX : outer;
}

static void warn_of(const struct config *c, struct cfg_diags *d, const struct cfg_policy *p, unsigned int dscp,
	uint8_t classes)
{
	int first = __builtin_ctz(classes), second = __builtin_ctz(classes & (classes - 1u));

	cfg_diag_warn(d, check_at(c, p->dscp_mode == DSCP_MAP ? (const void *)&p->dscp_map : &p->dscp_mode, p->at),
		"policy '%s': packets of the lossless classes %d and %d leave with the same outer DSCP, %u: nodes of "
		"the WAN "
		"cannot tell these classes apart, so a pause of one stops the other; use dscp: map with a dscp-map "
		"that gives "
		"each class a DSCP of its own",
		p->name, first, second, dscp);
}

/* Do two lossless classes leave by the policy with one DSCP? One warning is enough. */
static void check_apart(const struct config *c, struct cfg_diags *d, const struct cfg_policy *p,
	const struct classes *in)
{
	uint8_t map[CFG_DSCPS], by_outer[CFG_DSCPS] = {0};

	cfg_dscp_table(c, p->dscp_map, map);
	for (unsigned int i = 0; i < CFG_DSCPS; i++)
		by_outer[outer_dscp(p, map, (uint8_t)i)] |= in->by_dscp[i];
	if (p->dscp_mode == DSCP_SET)
		by_outer[p->dscp] = in->any; /* classes that only a PCP selects, too */
	for (unsigned int i = 0; i < CFG_DSCPS; i++)
		if (by_outer[i] & (by_outer[i] - 1u)) {
			warn_of(c, d, p, i, by_outer[i]);
			return;
		}
}

static void check_lossless(const struct config *c, struct cfg_diags *d)
{
	uint8_t any = 0;
	struct classes *of;

	for (uint32_t i = 0; i < c->ports.n; i++)
		if (c->ports.items[i].side != SIDE_WAN)
			any |= lossless_of(&c->ports.items[i]);
	if (!(any & (any - 1u)) || cfg_diags_errors(d))
		return;
	of = calloc(c->policies.n + 1, sizeof(*of));
	if (!of) {
		cfg_diag_add(d, c->at, "out of memory");
		return;
	}
	add_policies(c, of);
	for (uint32_t i = 0; i < c->policies.n; i++)
		check_apart(c, d, &c->policies.items[i], &of[i]);
	free(of);
}

void check_dscp(const struct config *c, struct cfg_diags *d)
{
	for (uint32_t i = 0; i < c->dscp_maps.n; i++)
		check_ranges(c, d, "DSCP", c->dscp_maps.items[i].map.items, c->dscp_maps.items[i].map.n);
	for (uint32_t i = 0; i < c->policies.n; i++)
		check_policy(c, d, &c->policies.items[i]);
	for (uint32_t i = 0; i < c->sids.n; i++)
		check_sid(c, d, &c->sids.items[i]);
	for (uint32_t i = 0; i < c->ports.n; i++)
		check_port(c, d, &c->ports.items[i]);
	check_lossless(c, d);
}
