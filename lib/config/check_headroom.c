/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that the buffers of lossless classes hold what can still arrive after XOFF, over the distance that the pauses
 * travel (docs/protocol.md 5.4, D37). Pure.
 */
#include <stdio.h>

#include "base/compiler.h"
#include "base/text.h"
#include "config/check_priv.h"
#include "config/headroom.h"

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
