/* SPDX-License-Identifier: BSD-3-Clause */
/* SIDs and policies: RFC 9800 structure (PROTOCOL.md 3.3, D28), what each behaviour needs. */
#include "config/check_priv.h"
#include "config/program.h"

static void check_sid_place(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s)
{
	struct cfg_mark at = cfg_where(c, &s->sid);
	uint16_t first = usid_at(&s->sid.addr.v6, 0), second = usid_at(&s->sid.addr.v6, 1);
	bool local;

	if (!ip_prefix_covers(&c->node.usid.block, &s->sid)) {
		cfg_diag_add(d, at, "sid: lies outside node.usid.block");
		return;
	}
	if (s->sid.len != 48 && s->sid.len != 64) {
		cfg_diag_add(d, at, "sid: expected a /48 (block and one id) or a /64 (block, node id, function)");
		return;
	}
	local = usid_is_local(s->sid.len == 48 ? first : second);
	if (s->behavior == BEHAVIOR_UN) {
		if (s->sid.len != 48)
			cfg_diag_add(d, at, "sid: a uN is a /48, block and global id");
		else if (local || first == 0)
			cfg_diag_add(d, at, "sid: id 0x%04x is not a global id; a uN needs one from 0x0001 to 0x%04x",
				first, USID_LIB_FIRST - 1);
		return;
	}
	if (!local)
		cfg_diag_add(d, at, "sid: id 0x%04x is not a local id; functions need one from 0x%04x to 0xffff",
			s->sid.len == 48 ? first : second, USID_LIB_FIRST);
	if (s->sid.len == 64 && (usid_is_local(first) || first == 0))
		cfg_diag_add(d, at, "sid: a /64 begins with the node's global id; 0x%04x is none", first);
}

static void check_sid(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s)
{
	bool adjacency = s->behavior == BEHAVIOR_UA;

	check_sid_place(c, d, s);
	if (adjacency && !s->port)
		cfg_diag_add(d, s->at, "a uA needs the port of its adjacency");
	if (adjacency && !s->nexthop.family)
		cfg_diag_add(d, s->at, "a uA needs the nexthop of its adjacency");
	if (!adjacency && s->port)
		cfg_diag_add(d, cfg_where(c, &s->port), "port: only a uA has an adjacency");
	if (!adjacency && s->nexthop.family)
		cfg_diag_add(d, cfg_where(c, &s->nexthop), "nexthop: only a uA has an adjacency");
	if ((adjacency || s->behavior == BEHAVIOR_UN) && s->vrf)
		cfg_diag_add(d, cfg_where(c, &s->vrf), "vrf: only uDT4, uDT6 and uDT46 decapsulate into a VRF");
	if (adjacency)
		check_nexthop(c, d, s->port, &s->nexthop);
}

void check_sids(const struct config *c, struct cfg_diags *d)
{
	if (c->sids.n && !c->node.usid.at.line) {
		cfg_diag_add(d, cfg_where(c, &c->sids), "sids: need node.usid.block");
		return;
	}
	if (c->node.usid.at.line && c->node.usid.block.len != 32)
		cfg_diag_add(d, cfg_where(c, &c->node.usid.block),
			"block: expected a /32 (RFC 9800: LBL 32, LNFL 16), found a /%u", c->node.usid.block.len);
	if (c->sids.n && !c->node.infrastructure.n)
		cfg_diag_add(d, cfg_where(c, &c->sids),
			"sids: without node.infrastructure every packet to them would be dropped");
	for (uint32_t i = 0; i < c->node.infrastructure.n; i++)
		if (c->node.usid.at.line &&
			ip_prefix_covers(&c->node.usid.block, &c->node.infrastructure.items[i]))
			cfg_diag_add(d, cfg_where(c, &c->node.infrastructure.items[i]),
				"infrastructure: a SID is no source");
	for (uint32_t i = 0; i < c->sids.n; i++)
		check_sid(c, d, &c->sids.items[i]);
}

/* Shifting would bring an id 0 to the front, which names nothing. */
static bool has_id_0(const struct ipv6_addr *a)
{
	unsigned int n = usid_count(a);

	for (unsigned int i = 0; i < n; i++)
		if (usid_at(a, i) == 0)
			return true;
	return n == 0;
}

static void check_path(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct cfg_path *p)
{
	struct cfg_program program;
	const char *why;

	for (uint32_t i = 0; i < p->segments.n; i++) {
		const struct ip_addr *s = &p->segments.items[i];

		if (ipv6_is_multicast(&s->v6) || ipv6_is_unspecified(&s->v6) || ipv6_is_link_local(&s->v6) ||
			ipv6_is_loopback(&s->v6))
			cfg_diag_add(d, cfg_where(c, s), "segments: a SID is a routable unicast address");
		else if (c->node.usid.at.line && ip_prefix_contains(&c->node.usid.block, s) && has_id_0(&s->v6))
			cfg_diag_add(d, cfg_where(c, s), "segments: id 0 is reserved (RFC 9800 section 5)");
	}
	if (cfg_program(c, own, p, &program, &why) < 0)
		cfg_diag_add(d, cfg_where(c, &p->segments), "segments: %s", why);
}

void check_policies(const struct config *c, struct cfg_diags *d)
{
	struct cfg_own_sids *own = cfg_own_sids_new(c);

	if (!own) {
		cfg_diag_add(d, c->at, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < c->policies.n; i++) {
		const struct cfg_policy *p = &c->policies.items[i];

		if (p->source.family && check_in_blocks(c, &p->source))
			cfg_diag_add(d, cfg_where(c, &p->source), "source: a SID is no source address");
		/* the default may be spelt out: cfg_emit does when asked for all keys */
		if (p->dscp_mode == DSCP_COPY && p->dscp)
			cfg_diag_add(d, cfg_where(c, &p->dscp), "dscp-value: has no meaning without dscp: set");
		for (uint32_t k = 0; k < p->paths.n; k++)
			check_path(c, d, own, &p->paths.items[k]);
	}
	cfg_own_sids_free(own);
}
