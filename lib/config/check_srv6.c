/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks SIDs and policies: RFC 9800 structure (docs/protocol.md 3.3, D28), and the parameters of each behaviour. Pure.
 */
#include "config/behavior.h"
#include "config/check_priv.h"
#include "config/keys.h"
#include "config/program.h"

static const char *name_of(const struct cfg_sid *s)
{
	return behavior_info((enum cfg_behavior)s->behavior)->name;
}

/* "a uN", "an End" */
#define A_NAME(s) behavior_info((enum cfg_behavior)(s)->behavior)->compressed ? "a" : "an", name_of(s)

static enum behavior_kind kind_of(const struct cfg_sid *s)
{
	return behavior_info((enum cfg_behavior)s->behavior)->kind;
}

static bool in_sid_blocks(const struct config *c, const struct ip_prefix *p)
{
	static const struct ip_prefix rfc9602 = {.addr = {.family = 6, .b = {0x5f}}, .len = 16};

	for (uint32_t i = 0; i < c->node.sid_blocks.n; i++)
		if (ip_prefix_covers(&c->node.sid_blocks.items[i], p))
			return true;
	return ip_prefix_covers(&rfc9602, p);
}

static void check_usid_place(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s)
{
	struct cfg_mark at = cfg_where(c, &s->sid);
	unsigned int block = c->node.usid.block.len, one = block + USID_BITS, two = one + USID_BITS;
	uint16_t first, second;
	bool local;

	if (!c->node.usid.at.line) {
		cfg_diag_add(d, at, "sid: %s %s needs node.usid.block", A_NAME(s));
		return;
	}
	if (!usid_block_is_valid(block))
		return; /* said of the block */
	if (!ip_prefix_covers(&c->node.usid.block, &s->sid)) {
		cfg_diag_add(d, at, "sid: it is outside node.usid.block");
		return;
	}
	if (s->sid.len != one && s->sid.len != two) {
		cfg_diag_add(d, at, "sid: expected a /%u (block and one id) or a /%u (block, node id, function)", one,
			two);
		return;
	}
	first = usid_at(&s->sid.addr.v6, block, 0);
	second = usid_at(&s->sid.addr.v6, block, 1);
	local = usid_is_local(s->sid.len == one ? first : second);
	if (kind_of(s) == KIND_END) {
		if (s->sid.len != one)
			cfg_diag_add(d, at, "sid: a uN must be a /%u: block and global id", one);
		else if (local || first == 0)
			cfg_diag_add(d, at, "sid: id 0x%04x is not a global id; a uN needs one from 0x0001 to 0x%04x",
				first, USID_LIB_FIRST - 1);
		return;
	}
	if (!local)
		cfg_diag_add(d, at, "sid: id 0x%04x is not a local id; functions need one from 0x%04x to 0xffff",
			s->sid.len == one ? first : second, USID_LIB_FIRST);
	if (s->sid.len == two && (usid_is_local(first) || first == 0))
		cfg_diag_add(d, at, "sid: a /%u begins with the node's global id; 0x%04x is not a global id", two,
			first);
}

/* Every id of the uSID block denotes a compressed SID, so all other SIDs must be outside the block. */
static void check_plain_place(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s)
{
	struct cfg_mark at = cfg_where(c, &s->sid);

	if (c->node.usid.at.line && usid_block_is_valid(c->node.usid.block.len) &&
		(ip_prefix_covers(&c->node.usid.block, &s->sid) || ip_prefix_covers(&s->sid, &c->node.usid.block)))
		cfg_diag_add(d, at, "sid: node.usid.block is for uSIDs only (uN, uA, uD*); %s %s must be outside",
			A_NAME(s));
	else if (!in_sid_blocks(c, &s->sid))
		cfg_diag_add(d, at, "sid: it is neither in 5f00::/16 nor in node.sid-blocks");
}

/* Check which keys a behaviour accepts: a key that it does not use is an error. */
static void check_sid_keys(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s)
{
	enum behavior_kind kind = kind_of(s);
	bool nexthop = kind == KIND_END_X || kind == KIND_DX, port = nexthop || kind == KIND_DX2;
	struct cfg_link link;

	if (port && !s->port)
		cfg_diag_add(d, s->at, "%s %s needs the port %s", A_NAME(s),
			nexthop ? "of its adjacency" : "that frames leave by");
	if (kind == KIND_DX2 && s->port && cfg_find_port(c, s->port) < 0 && cfg_find_link(c, s->port, &link))
		cfg_diag_add(d, cfg_where(c, &s->port),
			"port: '%s' is an interface; %s %s needs a whole port to send frames", s->port, A_NAME(s));
	if (nexthop && !s->nexthop.family)
		cfg_diag_add(d, s->at, "%s %s needs the nexthop of its adjacency", A_NAME(s));
	if (!port && s->port)
		cfg_diag_add(d, cfg_where(c, &s->port), "port: %s %s has no adjacency", A_NAME(s));
	if (!nexthop && s->nexthop.family)
		cfg_diag_add(d, cfg_where(c, &s->nexthop), "nexthop: %s %s has no adjacency", A_NAME(s));
	if (kind != KIND_DT && kind != KIND_END_T && s->vrf)
		cfg_diag_add(d, cfg_where(c, &s->vrf),
			"vrf: %s %s does not use a VRF; only DT4, DT6, DT46 and End.T do", A_NAME(s));
	if (nexthop && s->nexthop.family == 4 && !behavior_info((enum cfg_behavior)s->behavior)->inner4)
		cfg_diag_add(d, cfg_where(c, &s->nexthop), "nexthop: %s %s sends IPv6 and needs an IPv6 next hop",
			A_NAME(s));
	else if (nexthop)
		check_nexthop(c, d, s->port, &s->nexthop);
}

/* A list of words: each at most once, and 'none' only by itself. */
static void check_words(const struct config *c, struct cfg_diags *d, const char *key, const uint32_t *items, uint32_t n,
	uint32_t none)
{
	for (uint32_t i = 0; i < n; i++) {
		if (items[i] == none && n > 1)
			cfg_diag_add(d, cfg_where(c, &items[i]), "%s: none cannot be combined with other values", key);
		for (uint32_t k = 0; k < i; k++)
			if (items[k] == items[i])
				cfg_diag_add(d, cfg_where(c, &items[i]), "%s: this value is listed twice", key);
	}
}

/* Pause times are bit times of the port that must stop; virtual devices report no rate. */
static void check_pause_speed(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s, struct cfg_mark at,
	const char *port)
{
	struct cfg_link link;

	if (cfg_find_link(c, port, &link) && !c->ports.items[link.port].speed_bps &&
		!cfg_device_is_pci(c->ports.items[link.port].device))
		cfg_diag_add(d, at,
			"port: %s %s pauses '%s', a virtual device, and pause times depend on its speed; set speed",
			A_NAME(s), port);
}

/* Checks that apply only to SIDs that end PFC frames. */
static void check_pauses(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s)
{
	const struct behavior_info *info = behavior_info((enum cfg_behavior)s->behavior);

	if (info->kind != KIND_END_X && info->kind != KIND_DX && s->adjacencies.n)
		cfg_diag_add(d, cfg_where(c, &s->adjacencies), "adjacencies: %s %s has no adjacencies", A_NAME(s));
	if (!info->pauses && info->kind != KIND_DX2 && s->allowed_sources.n)
		cfg_diag_add(d, cfg_where(c, &s->allowed_sources),
			"allowed-sources: %s %s does not terminate PFC frames", A_NAME(s));
	if (!info->pauses && info->kind != KIND_DX2 && s->lenient_cev)
		cfg_diag_add(d, cfg_where(c, &s->lenient_cev), "lenient-cev: %s %s does not terminate PFC frames",
			A_NAME(s));
	if (!info->pauses && info->kind != KIND_DX2 && s->pfc_hmac)
		cfg_diag_add(d, cfg_where(c, &s->pfc_hmac), "pfc-hmac: %s %s does not terminate PFC frames", A_NAME(s));
	if (!info->pauses && s->message_keys.n)
		cfg_diag_add(d, cfg_where(c, &s->message_keys), "message-keys: %s %s does not pause queues%s",
			A_NAME(s), info->kind == KIND_DX2 ? "; for a gateway, set message-keys of the PFC relay" : "");
	check_key_ids(c, d, s->message_keys.items, s->message_keys.n);
	if (!info->pauses && s->jitter_us)
		cfg_diag_add(d, cfg_where(c, &s->jitter_us), "jitter: %s %s does not pause queues%s", A_NAME(s),
			info->kind == KIND_DX2 ? "; for a gateway, set jitter of the PFC relay" : "");
	if (!info->pauses && s->outage_ms != CFG_SID_OUTAGE_MS)
		cfg_diag_add(d, cfg_where(c, &s->outage_ms), "outage: %s %s does not pause queues%s", A_NAME(s),
			info->kind == KIND_DX2 ? "; for a gateway, set outage of the PFC relay" : "");
	if (s->pfc_hmac && !c->hmac.keys)
		cfg_diag_add(d, cfg_where(c, &s->pfc_hmac), "pfc-hmac: there is no key file; set hmac.keys");
	if (info->pauses && s->port)
		check_pause_speed(c, d, s, cfg_where(c, &s->port), s->port);
	for (uint32_t i = 0; i < s->adjacencies.n; i++) {
		const struct cfg_adjacency *a = &s->adjacencies.items[i];

		check_nexthop(c, d, a->port, &a->nexthop);
		if (info->pauses)
			check_pause_speed(c, d, s, cfg_where(c, &a->port), a->port);
		if (a->nexthop.family == 4 && !info->inner4)
			cfg_diag_add(d, cfg_where(c, &a->nexthop),
				"nexthop: %s %s sends IPv6 and needs an IPv6 next hop", A_NAME(s));
	}
	for (uint32_t i = 0; i < s->flavors.n; i++)
		if (s->behavior == BEHAVIOR_END_X_PFC && s->flavors.items[i] == FLAVOR_USD)
			cfg_diag_add(d, cfg_where(c, &s->flavors.items[i]),
				"flavors: End.X.PFC does not support usd; for data, use a DT46 SID after it");
}

/* docs/protocol.md 4.5: in a container the argument is the rest of the list. */
static void check_told_slice(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s)
{
	bool in_block = c->node.usid.at.line && ip_prefix_covers(&c->node.usid.block, &s->sid);

	if (s->slice_by == SLICE_BY_ARGUMENT &&
		(in_block || s->sid.len % 8 || s->sid.len + CFG_SLICE_ARGUMENT_BITS > 128))
		cfg_diag_add(d, cfg_where(c, &s->slice_by),
			"slice-by: argument needs a SID outside node.usid.block, a whole number of bytes long and at "
			"most a /112, followed by 16 bits");
	else
		check_slice_by(c, d, &s->slice_by);
}

static void check_sid(const struct config *c, struct cfg_diags *d, const struct cfg_sid *s)
{
	check_told_slice(c, d, s);
	/* End.X.PFC may also be the last SID of a container, as an entry of the uSID block (RFC 9800 section 4.1) */
	if (behavior_info((enum cfg_behavior)s->behavior)->compressed ||
		(s->behavior == BEHAVIOR_END_X_PFC && c->node.usid.at.line &&
			ip_prefix_covers(&c->node.usid.block, &s->sid)))
		check_usid_place(c, d, s);
	else
		check_plain_place(c, d, s);
	check_sid_keys(c, d, s);
	check_pauses(c, d, s);
	check_words(c, d, "flavors", s->flavors.items, s->flavors.n, FLAVOR_NONE);
	check_words(c, d, "allow", s->allow.items, s->allow.n, ALLOW_NONE);
	if (s->hmac && !c->hmac.keys)
		cfg_diag_add(d, cfg_where(c, &s->hmac), "hmac: there is no key file; set hmac.keys");
	if (s->flavors.n && !behavior_has_flavors((enum cfg_behavior)s->behavior))
		cfg_diag_add(d, cfg_where(c, &s->flavors),
			"flavors: %s %s has no flavors; only uN, uA, End, End.X, End.T and End.X.PFC do", A_NAME(s));
}

static void check_sid_blocks(const struct config *c, struct cfg_diags *d)
{
	for (uint32_t i = 0; i < c->node.sid_blocks.n; i++) {
		const struct ip_prefix *p = &c->node.sid_blocks.items[i];

		for (uint32_t k = 0; k < c->node.infrastructure.n; k++)
			if (ip_prefix_covers(p, &c->node.infrastructure.items[k]))
				cfg_diag_add(d, cfg_where(c, p),
					"sid-blocks: this block contains infrastructure sources, but a SID cannot be a "
					"source address");
	}
}

static void check_usid_block(const struct config *c, struct cfg_diags *d, const char *key, const struct ip_prefix *p)
{
	if (!usid_block_is_valid(p->len))
		cfg_diag_add(d, cfg_where(c, p),
			"%s: expected a length from /%d to /%d of whole bytes, before 16-bit ids (RFC 9800; mostly a "
			"/32 "
			"or a /48), found a /%u",
			key, USID_BLOCK_MIN, USID_BLOCK_MAX, p->len);
}

/* An address must not belong to two blocks: they may have another structure. */
static void check_usid_blocks(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_usid *u = &c->node.usid;
	char text[IP_PREFIX_TEXT];

	if (!u->at.line)
		return;
	check_usid_block(c, d, "block", &u->block);
	for (uint32_t i = 0; i < u->more_blocks.n; i++) {
		const struct ip_prefix *p = &u->more_blocks.items[i];

		check_usid_block(c, d, "more-blocks", p);
		for (uint32_t k = 0; k <= i; k++) {
			const struct ip_prefix *other = k ? &u->more_blocks.items[k - 1] : &u->block;

			if (usid_block_is_valid(other->len) &&
				(ip_prefix_covers(p, other) || ip_prefix_covers(other, p)))
				cfg_diag_add(d, cfg_where(c, p), "more-blocks: it overlaps the block %s",
					ip_prefix_format(other, text));
		}
	}
}

void check_sids(const struct config *c, struct cfg_diags *d)
{
	check_usid_blocks(c, d);
	if (c->sids.n && !c->node.infrastructure.n)
		cfg_diag_add(d, cfg_where(c, &c->sids),
			"sids: without node.infrastructure every packet to a SID is dropped; set node.infrastructure");
	for (uint32_t i = 0; i < c->node.infrastructure.n; i++)
		if (c->node.usid.at.line && ip_prefix_covers(&c->node.usid.block, &c->node.infrastructure.items[i]))
			cfg_diag_add(d, cfg_where(c, &c->node.infrastructure.items[i]),
				"infrastructure: this prefix is in node.usid.block, but a SID cannot be a source "
				"address");
	for (uint32_t i = 0; i < c->sids.n; i++)
		check_sid(c, d, &c->sids.items[i]);
	check_sid_blocks(c, d);
}

/* The shift would move an id 0 to the front, and id 0 names nothing. */
static bool has_id_0(const struct ipv6_addr *a, unsigned int block)
{
	unsigned int n = usid_count(a, block);

	for (unsigned int i = 0; i < n; i++)
		if (usid_at(a, block, i) == 0)
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
			cfg_diag_add(d, cfg_where(c, s), "segments: a SID must be a routable unicast address");
		else if (c->node.usid.at.line && usid_block_is_valid(c->node.usid.block.len) &&
			 ip_prefix_contains(&c->node.usid.block, s) && has_id_0(&s->v6, c->node.usid.block.len))
			cfg_diag_add(d, cfg_where(c, s), "segments: id 0 is reserved (RFC 9800 section 5)");
	}
	/* what is wrong with a block says nothing about lists */
	if ((!c->node.usid.at.line || usid_block_is_valid(c->node.usid.block.len)) &&
		cfg_program(c, own, p, &program, &why) < 0)
		cfg_diag_add(d, cfg_where(c, &p->segments), "segments: %s", why);
}

static void check_source_prefix(const struct config *c, struct cfg_diags *d, const struct cfg_policy *p)
{
	struct cfg_mark at = cfg_where(c, &p->source_prefix);

	if (!p->source_prefix.addr.family)
		return;
	if (p->source.family)
		cfg_diag_add(d, at, "source-prefix: source is set too; remove one of them");
	if (p->source_prefix.len > 120)
		cfg_diag_add(d, at, "source-prefix: expected at most a /120, which holds 255 paths; found a /%u",
			p->source_prefix.len);
	if (check_in_blocks(c, &p->source_prefix.addr))
		cfg_diag_add(d, at, "source-prefix: it is in the SID space, but a SID cannot be a source address");
}

static const struct cfg_policy *policy_of(const struct config *c, const char *name)
{
	int i = cfg_find_policy(c, name);

	return i < 0 ? NULL : &c->policies.items[i];
}

/* Checks a port's keys for the boundary of the domain (RFC 8754 section 5). */
void check_boundary(const struct config *c, struct cfg_diags *d)
{
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *p = &c->ports.items[i];

		if (p->side != SIDE_HOST && p->allow_sids.n)
			cfg_diag_add(d, cfg_where(c, &p->allow_sids),
				"allow-sids: only a port with side: host uses this list");
		if (p->side != SIDE_HOST && p->hmac)
			cfg_diag_add(d, cfg_where(c, &p->hmac),
				"hmac: only a port with side: host can require an HMAC");
		if (p->side == SIDE_HOST && !p->allow_sids.n && !p->hmac)
			cfg_diag_add(d, cfg_where(c, &p->side), "side: a host port needs allow-sids or hmac: required");
		if (p->hmac && !c->hmac.keys)
			cfg_diag_add(d, cfg_where(c, &p->hmac), "hmac: there is no key file; set hmac.keys");
		check_words(c, d, "boundary-off", p->boundary_off.items, p->boundary_off.n, UINT32_MAX);
		for (uint32_t k = 0; k < p->boundary_off.n; k++)
			if (p->boundary_off.items[k] == BOUNDARY_SIDS && p->side != SIDE_DC)
				cfg_diag_add(d, cfg_where(c, &p->boundary_off.items[k]),
					"boundary-off: only a dc port has the filter sids");
	}
}

void check_circuits(const struct config *c, struct cfg_diags *d)
{
	for (uint32_t i = 0; i < c->circuits.n; i++) {
		const struct cfg_circuit *a = &c->circuits.items[i];
		const struct cfg_policy *p = policy_of(c, a->policy);
		int port = cfg_find_port(c, a->port);

		if (p && !cfg_encap_is_l2(p->encap))
			cfg_diag_add(d, cfg_where(c, &a->policy),
				"policy: '%s' carries packets, not frames; a circuit needs H.Encaps.L2 or "
				"H.Encaps.L2.Red",
				p->name);
		if (port >= 0 && c->ports.items[port].side == SIDE_WAN)
			cfg_diag_add(d, cfg_where(c, &a->port),
				"port: '%s' is inside the domain (side: wan); a circuit needs a port outside", a->port);
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(c->circuits.items[k].port, a->port) == 0 && c->circuits.items[k].vlan == a->vlan)
				cfg_diag_add(d, check_at(c, &a->vlan, a->at),
					"circuit '%s' of port '%s' already takes these frames",
					c->circuits.items[k].name, a->port);
	}
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
		uint32_t backups = 0;

		if (p->source.family && check_in_blocks(c, &p->source))
			cfg_diag_add(d, cfg_where(c, &p->source),
				"source: it is in the SID space, but a SID cannot be a source address");
		check_source_prefix(c, d, p);
		check_hmac_key(c, d, "hmac-key", &p->hmac_key);
		if (p->slice_by == SLICE_BY_ARGUMENT)
			cfg_diag_add(d, cfg_where(c, &p->slice_by),
				"slice-by: expected sid or option; arguments are written in the segments");
		else
			check_slice_by(c, d, &p->slice_by);
		for (uint32_t k = 0; k < p->paths.n; k++) {
			check_path(c, d, own, &p->paths.items[k]);
			backups += p->paths.items[k].backup;
		}
		if (backups == p->paths.n)
			cfg_diag_add(d, cfg_where(c, &p->paths),
				"paths: all paths are backups; at least one must not be a backup");
	}
	cfg_own_sids_free(own);
}
