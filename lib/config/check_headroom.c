/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that the buffers of lossless classes hold what can still arrive after XOFF, over the distance that the pauses
 * travel (docs/protocol.md 5.4, D37). Pure.
 */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "config/behavior.h"
#include "config/budget.h"
#include "config/check_priv.h"
#include "config/headroom.h"

#define SLICES_COUNTED 64

static const struct cfg_buffer_profile *profile_of(const struct config *c, const struct cfg_port *port)
{
	int i = cfg_find_named(c, "buffer-profiles", port->pfc.buffer, NULL);

	return i < 0 ? NULL : &c->buffer_profiles.items[i];
}

/* "1000 km", "100 m", "a round trip of 10000 us" */
static const char *distance_of(const struct cfg_pfc *p, char *buf, size_t size)
{
	uint64_t m = p->length_m == CFG_NONE ? HEADROOM_LENGTH_M : p->length_m;

	if (p->round_trip_us != CFG_NONE)
		snprintf(buf, size, "a round trip of %llu us", (unsigned long long)p->round_trip_us);
	else
		snprintf(buf, size, m >= 1000 && m % 1000 == 0 ? "%llu km" : "%llu m",
			(unsigned long long)(m >= 1000 && m % 1000 == 0 ? m / 1000 : m));
	return buf;
}

/* The pauses of a port with PFC tunnels cross the WAN, however short the link at the port is. */
static void check_distance(const struct config *c, struct cfg_diags *d, const struct cfg_port *port)
{
	const struct cfg_pfc *p = &port->pfc;

	if (cfg_port_has_tunnels(c, port) && p->length_m == CFG_NONE && p->round_trip_us == CFG_NONE)
		cfg_diag_add(d, check_at(c, &p->priorities, p->at),
			"pfc: PFC tunnels carry the pauses of '%s' across the WAN, so headroom depends on how far; set "
			"length to the metres of fibre to the farthest node that they lead to, or round-trip to what "
			"ping measures",
			port->name);
	if (p->length_m != CFG_NONE && p->round_trip_us != CFG_NONE)
		cfg_diag_add(d, cfg_where(c, &p->round_trip_us), "round-trip: length says the same; give one of them");
}

static void check_sizes(const struct config *c, struct cfg_diags *d, const struct cfg_port *port,
	const struct cfg_buffer_profile *profile)
{
	struct cfg_mark at = check_at(c, &port->pfc.priorities, port->pfc.at);
	struct cfg_lossless l;
	uint64_t waits_ns = 0;
	char distance[64], speed[32];

	cfg_port_lossless(c, port, port->speed_bps, &l);
	distance_of(&port->pfc, distance, sizeof(distance));
	text_format_number(port->speed_bps, 1000, speed, sizeof(speed));
	if (l.headroom_bytes < l.rule.full)
		cfg_diag_add(d, cfg_where(c, &profile->headroom),
			"headroom: %llu bytes are too few for port '%s': %llu can arrive after XOFF at %sbit/s over "
			"%s; set headroom: auto, or forced: true if packets may be lost",
			(unsigned long long)l.headroom_bytes, port->name, (unsigned long long)l.rule.full, speed,
			distance);
	if (l.xon_bytes < l.rule.xon)
		waits_ns = (uint64_t)((unsigned __int128)(l.rule.xon - l.xon_bytes) * 8 * NSEC_PER_SEC /
				      port->speed_bps);
	if (waits_ns >= NSEC_PER_USEC)
		cfg_diag_warn(d, profile ? check_at(c, &profile->xon, check_at(c, &profile->xoff, profile->at)) : at,
			"xon: %llu bytes are less than the %llu that port '%s' receives in a round trip over %s: after "
			"a "
			"pause a receiver can wait up to %llu us; use xon: auto",
			(unsigned long long)l.xon_bytes, (unsigned long long)l.rule.xon, port->name, distance,
			(unsigned long long)(waits_ns / NSEC_PER_USEC));
}

/* The loss of one PFC frame is likely on a WAN, and costs until the next one. */
static void check_losses(const struct config *c, struct cfg_diags *d, const struct cfg_port *port)
{
	struct cfg_buffer_profile p = cfg_port_profile(c, port);
	uint64_t ns = headroom_loss_ns(c, port, port->speed_bps);

	if (cfg_port_has_tunnels(c, port) && p.jitter_us * NSEC_PER_USEC < ns && !p.losses)
		cfg_diag_warn(d, check_at(c, &port->pfc.priorities, port->pfc.at),
			"pfc: if the WAN loses one PFC frame of the tunnels, %llu bytes more arrive at '%s' than its "
			"headroom "
			"holds; set losses: 1 in its buffer profile",
			(unsigned long long)((unsigned __int128)port->speed_bps * (ns - p.jitter_us * NSEC_PER_USEC) /
					     8 / NSEC_PER_SEC),
			port->name);
}

/* Slices behind tunnels are kept apart as far as memory allows. */
static void check_apart(const struct config *c, struct cfg_diags *d, const struct cfg_port *port)
{
	uint64_t frame = MAX_OF(cfg_port_profile(c, port).min_frame, HEADROOM_ROCE_BYTES), needs;
	struct cfg_lossless l;

	cfg_fit_lossless(c, port, port->speed_bps, &l);
	if (l.n_slices < 2 || l.n_apart + 1 >= l.n_slices)
		return;
	needs = (l.n_slices * l.floor_bytes + (l.n_slices - 1) * l.room_bytes) / frame + 1;
	cfg_diag_warn(d, check_at(c, &port->pfc.priorities, port->pfc.at),
		"pfc: if %u of the %u slices that arrive at '%s' stand still, in frames of %llu bytes, all of them "
		"stop, and "
		"lose nothing: there are buffers for %u, %llu bytes each; %s %llu, or give each slice a max-rate",
		l.n_apart + 1, l.n_slices, port->name, (unsigned long long)frame, l.n_apart,
		(unsigned long long)l.room_bytes,
		cfg_port_profile(c, port).selective == CFG_NONE ? "raise memory.buffers by"
								: "set selective: auto and raise memory.buffers by",
		(unsigned long long)((needs - MIN_OF(needs, l.choice_buffers)) * port->pfc.priorities.n));
}

/* Distinct names of slices; a slice of NULL does not count. */
struct slice_names {
	uint32_t n;
	const char *name[SLICES_COUNTED];
};

static void add_slice(struct slice_names *s, const char *name)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!name || strcmp(s->name[i], name) == 0)
			return;
	if (name && s->n < SLICES_COUNTED)
		s->name[s->n++] = name;
}

/* PFC of a link stops a priority for all slices: none can be stopped apart from the others. */
static void check_together(const struct config *c, struct cfg_diags *d, const struct cfg_port *port)
{
	struct slice_names s = {0};
	struct cfg_lossless l;

	if (cfg_port_has_tunnels(c, port))
		return;
	add_slice(&s, port->slice);
	for (uint32_t i = 0; i < c->interfaces.n; i++)
		if (strcmp(c->interfaces.items[i].port, port->name) == 0)
			add_slice(&s, c->interfaces.items[i].slice);
	for (uint32_t i = 0; i < c->sids.n && port->side == SIDE_WAN; i++)
		if (!behavior_info(c->sids.items[i].behavior)->pauses)
			add_slice(&s, c->sids.items[i].slice);
	if (s.n < 2)
		return;
	cfg_port_lossless(c, port, port->speed_bps, &l);
	cfg_diag_warn(d, check_at(c, &port->pfc.priorities, port->pfc.at),
		"pfc: a receiver of one slice that stands still stops all %u slices that arrive at '%s', once it has "
		"filled "
		"%llu bytes: PFC of a link pauses a priority, not a slice; %s",
		s.n, port->name, (unsigned long long)l.xoff_bytes,
		port->side == SIDE_WAN ? "pause each slice by itself with pfc-tunnels, or learn-tunnels: true"
				       : "give each slice a port or a class of its own");
}

static void check_port(const struct config *c, struct cfg_diags *d, const struct cfg_port *port)
{
	const struct cfg_buffer_profile *profile = profile_of(c, port);
	struct cfg_mark at = check_at(c, &port->pfc.priorities, port->pfc.at);

	if (!port->pfc.priorities.n || (port->pfc.buffer && !profile))
		return; /* an unknown profile is reported elsewhere */
	if (profile && profile->forced)
		return;
	if (!port->speed_bps && (!profile || profile->headroom == CFG_NONE)) {
		cfg_diag_add(d, at, "pfc: headroom: auto needs the speed of the port; set speed");
		return;
	}
	if (!port->speed_bps) {
		cfg_diag_add(d, at,
			"pfc: whether the headroom of profile '%s' is enough depends on the speed of the port; set "
			"speed",
			profile->name);
		return;
	}
	check_distance(c, d, port);
	check_sizes(c, d, port, profile);
	check_losses(c, d, port);
	check_apart(c, d, port);
	check_together(c, d, port);
}

/* forced without a number has nothing to force. */
static void check_forced(const struct config *c, struct cfg_diags *d, const struct cfg_buffer_profile *p)
{
	if (p->forced && p->headroom == CFG_NONE)
		cfg_diag_add(d, cfg_where(c, &p->forced),
			"forced: headroom: auto is never too small; remove it, or set "
			"headroom to a number of bytes");
}

void check_headroom(const struct config *c, struct cfg_diags *d)
{
	for (uint32_t i = 0; i < c->buffer_profiles.n; i++)
		check_forced(c, d, &c->buffer_profiles.items[i]);
	for (uint32_t i = 0; i < c->ports.n; i++)
		check_port(c, d, &c->ports.items[i]);
}
