/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks PFC across the WAN: relays, tunnels, and that two flow controls never meet on one path and class (E37). Pure.
 */
#include "base/compiler.h"
#include "base/text.h"
#include "config/behavior.h"
#include "config/check_priv.h"
#include "config/keys.h"
#include "config/headroom.h"
#include "config/program.h"

static const struct cfg_port *port_of(const struct config *c, const char *name)
{
	int i = cfg_find_port(c, name);

	return i < 0 ? NULL : &c->ports.items[i];
}

static bool has_priority(const struct cfg_port *p, uint64_t priority)
{
	for (uint32_t i = 0; i < p->pfc.priorities.n; i++)
		if (p->pfc.priorities.items[i] == priority)
			return true;
	return false;
}

static const struct cfg_sid *sid_of(const struct config *c, const struct ip_prefix *sid)
{
	for (uint32_t i = 0; i < c->sids.n; i++)
		if (ip_prefix_equal(&c->sids.items[i].sid, sid))
			return &c->sids.items[i];
	return NULL;
}

static void check_list(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct ip_addr *items, uint32_t n, struct cfg_mark at)
{
	struct cfg_path path = {.segments = {(struct ip_addr *)(uintptr_t)items, n}};
	struct cfg_program program;
	const char *why;

	if (n && cfg_program(c, own, &path, &program, &why) < 0)
		cfg_diag_add(d, at, "segments: %s", why);
}

/* carrier: state needs its own keys; carrier: frames must not have them. */
static void check_carrier(const struct config *c, struct cfg_diags *d, uint32_t i)
{
	const struct cfg_relay *r = &c->relays.items[i];

	if (r->carrier == CARRIER_FRAMES) {
		if (r->udp_port)
			cfg_diag_add(d, cfg_where(c, &r->udp_port),
				"udp-port: carrier: frames does not use it; remove it, or set carrier: state");
		if (r->allowed_sources.n)
			cfg_diag_add(d, cfg_where(c, &r->allowed_sources),
				"allowed-sources: carrier: frames does not use it; set allowed-sources of the SID");
		return;
	}
	if (r->mode != RELAY_REGENERATE)
		cfg_diag_add(d, cfg_where(c, &r->carrier),
			"carrier: state messages carry no pause times; set mode: regenerate");
	if (r->sid.addr.family)
		cfg_diag_add(d, cfg_where(c, &r->sid),
			"sid: state messages are sent to udp-port of an address of this node, not to a SID; remove "
			"sid");
	if (!r->udp_port)
		cfg_diag_add(d, cfg_where(c, &r->carrier), "carrier: state messages need a UDP port; set udp-port");
	if (r->jitter_us > r->lease_us / 3)
		cfg_diag_add(d, check_at(c, &r->lease_us, cfg_where(c, &r->carrier)),
			"lease: %llu us is too short: it is renewed every third of that time, and with a jitter of "
			"%llu us it could expire before the renewal arrives",
			(unsigned long long)r->lease_us, (unsigned long long)r->jitter_us);
	for (uint32_t k = 0; k < i && r->udp_port; k++)
		if (c->relays.items[k].udp_port == r->udp_port)
			cfg_diag_add(d, cfg_where(c, &r->udp_port), "udp-port: %llu is already used by relay '%s'",
				(unsigned long long)r->udp_port, c->relays.items[k].name);
}

static void check_message_keys(const struct config *c, struct cfg_diags *d, const struct cfg_relay *r)
{
	struct cfg_mark at = check_at(c, &r->carrier, r->at);

	if (r->carrier == CARRIER_STATE && !r->message_keys.n)
		cfg_diag_warn(d, at,
			"carrier: state messages without message-keys are not authenticated: a forged one from an "
			"allowed "
			"source pauses the gateway at '%s' for %llu us, and shuts out the far PE until it starts again",
			r->port, (unsigned long long)r->lease_us);
	check_key_ids(c, d, r->message_keys.items, r->message_keys.n);
}

#define LONGEST_NS(bps) (2 * headroom_refresh_ns(bps))

/*
 * Modes that hand on pause times (docs/protocol.md 5.5): transparent is right between ports of one speed only, and both
 * leave a gap when a frame is later than the rest of the pause before it.
 */
static void check_mode(const struct config *c, struct cfg_diags *d, const struct cfg_relay *r, const struct cfg_port *p)
{
	uint64_t from = r->from_bps == CFG_NONE ? p->speed_bps : r->from_bps, renewed_us;
	char a[32], b[32];

	if (!r->sid.addr.family || r->mode == RELAY_REGENERATE || !from || !p->speed_bps)
		return;
	text_format_number(from, 1000, a, sizeof(a));
	text_format_number(p->speed_bps, 1000, b, sizeof(b));
	if (r->mode == RELAY_TRANSPARENT && from != p->speed_bps)
		cfg_diag_add(d, cfg_where(c, &r->mode),
			"mode: transparent leaves pause times as they are, but they count bit times: what a port of "
			"%sbit/s "
			"asks for lasts %s at '%s', which has %sbit/s; set mode: regenerate or scaled",
			a, from < p->speed_bps ? "too short" : "too long", p->name, b);
	renewed_us = headroom_refresh_ns(from) / NSEC_PER_USEC;
	if (r->jitter_us > renewed_us)
		cfg_diag_warn(d, cfg_where(c, &r->mode),
			"mode: at %sbit/s one frame pauses for at most %llu us and is renewed every %llu us: if one is "
			"lost, or "
			"later by more than that (jitter says %llu us), the gateway sends meanwhile; use mode: "
			"regenerate, or set "
			"jitter if the WAN delays and loses less",
			a, (unsigned long long)(LONGEST_NS(from) / NSEC_PER_USEC), (unsigned long long)renewed_us,
			(unsigned long long)r->jitter_us);
}

/* A queue that a PFC SID pauses sends in every gap between two frames, unless the SID bridges the gap. */
static void check_pausing_sids(const struct config *c, struct cfg_diags *d)
{
	for (uint32_t i = 0; i < c->sids.n; i++) {
		const struct cfg_sid *sid = &c->sids.items[i];
		const struct cfg_port *p = port_of(c, sid->port);
		char speed[32];

		if (!behavior_info((enum cfg_behavior)sid->behavior)->pauses)
			continue;
		if (p && !p->speed_bps && cfg_device_is_pci(p->device))
			cfg_diag_add(d, cfg_where(c, &sid->port),
				"port: pause times count bit times, and the speed of '%s' is not known before its link "
				"is up: the SID "
				"would pause nothing; set speed of the port",
				p->name);
		if (sid->jitter_us || sid->outage_ms || !p || !p->speed_bps || p->side != SIDE_WAN)
			continue;
		text_format_number(p->speed_bps, 1000, speed, sizeof(speed));
		cfg_diag_warn(d, check_at(c, &sid->outage_ms, sid->at),
			"outage: at %sbit/s one frame pauses for at most %llu us and is renewed every %llu us: if the "
			"WAN loses "
			"one, or delays it by more than that, the queues send meanwhile; leave outage at its default, "
			"or "
			"set jitter to the delay variation and the time of the frames that may be lost",
			speed, (unsigned long long)(LONGEST_NS(p->speed_bps) / NSEC_PER_USEC),
			(unsigned long long)(headroom_refresh_ns(p->speed_bps) / NSEC_PER_USEC));
	}
}

/* Whether some SID gives packets of class `from` the class `to` as they leave their tunnel. */
static bool is_mapped(const struct config *c, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < c->sids.n; i++) {
		int m = cfg_find_named(c, "class-maps", c->sids.items[i].class_map, NULL);

		for (uint32_t k = 0; m >= 0 && k < c->class_maps.items[m].classes.n; k++) {
			const struct cfg_range *r = &c->class_maps.items[m].classes.items[k];
			uint64_t last = cfg_given(c, &r->to) ? r->to : r->from;

			if (r->value == to && r->from <= from && from <= last)
				return true;
		}
	}
	return false;
}

/*
 * honour-local makes this node hold what its gateway does not take. The packets come from the WAN, and are lossless
 * only where they come in.
 */
static void check_honoured(const struct config *c, struct cfg_diags *d, const struct cfg_relay *r,
	const struct cfg_port *gateway)
{
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *wan = &c->ports.items[i];

		for (uint32_t k = 0; wan->side == SIDE_WAN && k < gateway->pfc.priorities.n; k++) {
			uint64_t priority = gateway->pfc.priorities.items[k];
			bool held = priority > 7 || has_priority(wan, priority); /* reported elsewhere */

			for (uint32_t n = 0; n < wan->pfc.priorities.n; n++)
				held |= is_mapped(c, wan->pfc.priorities.items[n], priority);
			if (!held)
				cfg_diag_add(d, cfg_where(c, &r->honour_local),
					"honour-local: while the gateway pauses priority %llu, its packets from '%s' "
					"would be "
					"dropped as queue_full, because the class is lossy there; add it to "
					"pfc.priorities of "
					"'%s', or remove honour-local",
					(unsigned long long)priority, wan->name, wan->name);
		}
	}
}

struct cfg_relayed cfg_relayed(const struct config *c, const char *port)
{
	struct cfg_relayed out = {.reads = false};

	for (uint32_t i = 0; i < c->relays.n; i++) {
		const struct cfg_relay *r = &c->relays.items[i];

		if (!r->port || strcmp(r->port, port) != 0)
			continue;
		out.reads |= r->segments.n > 0;
		out.writes |= r->sid.addr.family || r->carrier == CARRIER_STATE;
	}
	return out;
}

static void check_relay(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own, uint32_t i)
{
	const struct cfg_relay *r = &c->relays.items[i];
	const struct cfg_port *p = port_of(c, r->port);
	const struct cfg_sid *sid = r->sid.addr.family ? sid_of(c, &r->sid) : NULL;

	check_carrier(c, d, i);
	check_message_keys(c, d, r);
	if (!r->sid.addr.family && !r->segments.n && r->carrier == CARRIER_FRAMES)
		cfg_diag_add(d, r->at, "a PFC relay needs a sid to receive PFC, or segments to send it");
	if (r->sid.addr.family && (!sid || behavior_info((enum cfg_behavior)sid->behavior)->kind != KIND_DX2))
		cfg_diag_add(d, cfg_where(c, &r->sid), "sid: expected a DX2 SID of this node");
	else if (sid && sid->port && strcmp(sid->port, r->port) != 0)
		cfg_diag_add(d, cfg_where(c, &r->sid), "sid: it sends frames to port '%s', not to '%s'", sid->port,
			r->port);
	for (uint32_t k = 0; k < i; k++) {
		if (sid && ip_prefix_equal(&c->relays.items[k].sid, &r->sid))
			cfg_diag_add(d, cfg_where(c, &r->sid), "sid: it is already used by relay '%s'",
				c->relays.items[k].name);
		if (r->segments.n && c->relays.items[k].segments.n && strcmp(c->relays.items[k].port, r->port) == 0)
			cfg_diag_add(d, cfg_where(c, &r->segments),
				"segments: PFC of port '%s' is already carried by relay '%s'", r->port,
				c->relays.items[k].name);
	}
	check_list(c, d, own, r->segments.items, r->segments.n, cfg_where(c, &r->segments));
	check_watchdog(c, d, &r->watchdog, true);
	check_hmac_key(c, d, "hmac-key", &r->hmac_key);
	if (!p)
		return;
	check_mode(c, d, r, p);
	if (r->segments.n && r->honour_local)
		check_honoured(c, d, r, p);
	if (p->side == SIDE_WAN)
		cfg_diag_add(d, cfg_where(c, &r->port),
			"port: '%s' is inside the domain (side: wan); a gateway is outside", r->port);
	if (r->segments.n && !p->pfc.priorities.n)
		cfg_diag_add(d, cfg_where(c, &r->port),
			"port: '%s' has no pfc priorities, so PFC received on it is ignored", r->port);
	if (!p->speed_bps && !cfg_device_is_pci(p->device))
		cfg_diag_add(d, cfg_where(c, &r->port),
			"port: '%s' is a virtual device, and its pause times depend on its speed; set speed", r->port);
}

/* The slice whose number the far end receives must have an id, and the id must fit the field. */
static void check_carried(const struct config *c, struct cfg_diags *d, const struct cfg_pfc_tunnel *t)
{
	int i = t->slice ? cfg_find_named(c, "slices", t->slice, NULL) : -1;
	uint64_t id = i < 0 ? 0 : c->slices.items[i].id;

	if (t->slice_by && !id)
		cfg_diag_add(d, cfg_where(c, &t->slice_by), "slice-by: the tunnel's slice has no id");
	else if (t->slice_by == SLICE_BY_ARGUMENT && id > UINT16_MAX)
		cfg_diag_add(d, cfg_where(c, &t->slice_by), "slice-by: id %llu of slice '%s' needs more than 16 bits",
			(unsigned long long)id, t->slice);
}

static void check_tunnel(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct cfg_pfc_tunnel *t)
{
	const struct cfg_port *p = port_of(c, t->port);

	check_list(c, d, own, t->segments.items, t->segments.n, cfg_where(c, &t->segments));
	for (uint32_t i = 0; i < t->priorities.n; i++) {
		uint64_t priority = t->priorities.items[i];

		if (priority > 7)
			cfg_diag_add(d, cfg_where(c, &t->priorities.items[i]),
				"priorities: expected classes from 0 to 7, found %llu", (unsigned long long)priority);
		else if (p && !has_priority(p, priority))
			cfg_diag_add(d, cfg_where(c, &t->priorities.items[i]),
				"priorities: %llu is not one of the pfc priorities of '%s', so it has no buffer there",
				(unsigned long long)priority, t->port);
	}
	if (p && p->side != SIDE_WAN)
		cfg_diag_add(d, cfg_where(c, &t->port),
			"port: '%s' is outside the domain; PFC tunnels need a port with side: wan", t->port);
	check_hmac_key(c, d, "hmac-key", &t->hmac_key);
	check_hmac_key(c, d, "message-key", &t->message_key);
	check_slice_by(c, d, &t->slice_by);
	check_carried(c, d, t);
}

static void check_learning(const struct config *c, struct cfg_diags *d)
{
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *p = &c->ports.items[i];
		struct cfg_mark at = cfg_where(c, &p->pfc.learn_tunnels);

		if (!p->pfc.learn_tunnels)
			continue;
		if (p->side != SIDE_WAN)
			cfg_diag_add(d, at,
				"learn-tunnels: '%s' is outside the domain, where data has no segment lists to learn "
				"from; it needs side: wan",
				p->name);
		if (!p->pfc.priorities.n)
			cfg_diag_add(d, at,
				"learn-tunnels: '%s' has no pfc priorities, so its tunnels would never send a pause",
				p->name);
		if (!c->remote_sids.n && !c->remote_files.n)
			cfg_diag_add(d, at,
				"learn-tunnels: without remote-sids no way back can be derived from a segment list");
	}
	check_hmac_key(c, d, "hmac-key", &c->pfc_learning.hmac_key);
	check_hmac_key(c, d, "message-key", &c->pfc_learning.message_key);
	check_slice_by(c, d, &c->pfc_learning.slice_by);
}

/* E37: tunnels are learnt for every slice, so the relays of all slices count. */
static void check_learnt_scheme(const struct config *c, struct cfg_diags *d, const struct cfg_port *p)
{
	for (uint32_t i = 0; p->pfc.learn_tunnels && i < c->relays.n; i++) {
		const struct cfg_relay *r = &c->relays.items[i];
		const struct cfg_port *gateway = port_of(c, r->port);

		for (uint32_t k = 0; gateway && r->segments.n && !r->honour_local && k < gateway->pfc.priorities.n; k++)
			if (has_priority(p, gateway->pfc.priorities.items[k]))
				cfg_diag_add(d, cfg_where(c, &p->pfc.learn_tunnels),
					"learn-tunnels: priority %llu is already paused through relay '%s' and would "
					"be paused twice; remove one, or set honour-local: true on the relay",
					(unsigned long long)gateway->pfc.priorities.items[k], r->name);
	}
}

/* E37: only one scheme may hold back the traffic that is received on a port. */
static void check_one_scheme(const struct config *c, struct cfg_diags *d, const struct cfg_pfc_tunnel *t)
{
	for (uint32_t i = 0; i < c->relays.n; i++) {
		const struct cfg_relay *r = &c->relays.items[i];
		const struct cfg_port *gateway = port_of(c, r->port);
		const char *slice = gateway ? gateway->slice : NULL;
		int vrf = gateway ? cfg_find_vrf(c, gateway->vrf) : -1;

		if (!slice && vrf >= 0)
			slice = c->vrfs.items[vrf].slice;
		if (!gateway || !r->segments.n || r->honour_local ||
			strcmp(slice ? slice : "", t->slice ? t->slice : "") != 0)
			continue;
		for (uint32_t k = 0; k < t->priorities.n; k++)
			if (has_priority(gateway, t->priorities.items[k]))
				cfg_diag_add(d, cfg_where(c, &t->priorities.items[k]),
					"priorities: %llu of this slice is already paused through relay '%s' and would "
					"be paused twice; remove one, or set honour-local: true on the relay",
					(unsigned long long)t->priorities.items[k], r->name);
	}
}

void check_pfc_wan(const struct config *c, struct cfg_diags *d)
{
	struct cfg_own_sids *own;

	check_learning(c, d);
	check_pausing_sids(c, d);
	for (uint32_t i = 0; i < c->ports.n; i++)
		check_learnt_scheme(c, d, &c->ports.items[i]);
	if (!c->relays.n && !c->pfc_tunnels.n)
		return;
	own = cfg_own_sids_new(c);
	if (!own) {
		cfg_diag_add(d, c->at, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < c->relays.n; i++)
		check_relay(c, d, own, i);
	for (uint32_t i = 0; i < c->pfc_tunnels.n; i++) {
		check_tunnel(c, d, own, &c->pfc_tunnels.items[i]);
		check_one_scheme(c, d, &c->pfc_tunnels.items[i]);
	}
	cfg_own_sids_free(own);
}
