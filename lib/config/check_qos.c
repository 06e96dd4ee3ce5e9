/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks slices, class maps and queues. Pure. */
#include "base/limits.h"
#include "base/text.h"
#include "config/check_priv.h"
#include "config/headroom.h"

static void check_slice_ids(const struct config *c, struct cfg_diags *d)
{
	for (uint32_t i = 0; i < c->slices.n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (c->slices.items[i].id && c->slices.items[i].id == c->slices.items[k].id)
				cfg_diag_add(d, cfg_where(c, &c->slices.items[i].id),
					"id: %llu is already used by slice '%s'",
					(unsigned long long)c->slices.items[i].id, c->slices.items[k].name);
	/* 0, 1, 4 and 5 are assigned (Pad1, PadN, Tunnel Encapsulation Limit, Router Alert) */
	if (c->node.slice_option &&
		(c->node.slice_option == 1 || c->node.slice_option == 4 || c->node.slice_option == 5))
		cfg_diag_add(d, cfg_where(c, &c->node.slice_option), "slice-option: %llu is assigned to another option",
			(unsigned long long)c->node.slice_option);
}

/* Promises that a WAN port cannot keep, or that a limit forbids. */
static void check_min_rates(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_slice *last = NULL;
	char all[32], fits[32];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->slices.n; i++) {
		const struct cfg_slice *s = &c->slices.items[i];

		if (s->min_rate_bps && s->max_rate_bps && s->min_rate_bps > s->max_rate_bps)
			cfg_diag_add(d, cfg_where(c, &s->min_rate_bps),
				"min-rate: %sbit/s is more than the slice's max-rate, %sbit/s",
				text_format_number(s->min_rate_bps, 1000, all, sizeof(all)),
				text_format_number(s->max_rate_bps, 1000, fits, sizeof(fits)));
		sum += s->min_rate_bps;
		last = s->min_rate_bps ? s : last;
	}
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *p = &c->ports.items[i];

		if (last && p->side == SIDE_WAN && p->speed_bps && sum > p->speed_bps) {
			cfg_diag_add(d, cfg_where(c, &last->min_rate_bps),
				"min-rate: all slices together are promised %sbit/s, but port '%s' has %sbit/s; lower "
				"some",
				text_format_number(sum, 1000, all, sizeof(all)), p->name,
				text_format_number(p->speed_bps, 1000, fits, sizeof(fits)));
			return;
		}
	}
}

static void check_class_list(const struct config *c, struct cfg_diags *d, const char *key, const uint64_t *items,
	uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (items[i] > 7)
			cfg_diag_add(d, cfg_where(c, &items[i]), "%s: expected classes from 0 to 7, found %llu", key,
				(unsigned long long)items[i]);
		for (uint32_t k = 0; k < i; k++)
			if (items[k] == items[i])
				cfg_diag_add(d, cfg_where(c, &items[i]), "%s: %llu is listed twice", key,
					(unsigned long long)items[i]);
	}
}

static void check_ecn(const struct config *c, struct cfg_diags *d, const struct cfg_ecn *e)
{
	check_class_list(c, d, "classes", e->classes.items, e->classes.n);
	if (e->max < e->min)
		cfg_diag_add(d, check_at(c, cfg_given(c, &e->max) ? &e->max : &e->min, e->at),
			"ecn: max, %llu, is less than min, %llu", (unsigned long long)e->max,
			(unsigned long long)e->min);
}

static void check_profile(const struct config *c, struct cfg_diags *d, const struct cfg_buffer_profile *p)
{
	if (p->xon != CFG_NONE && p->xoff != CFG_NONE && p->xon > p->xoff)
		cfg_diag_add(d, cfg_where(c, &p->xon), "xon: %llu is larger than xoff, %llu",
			(unsigned long long)p->xon, (unsigned long long)p->xoff);
	if (p->alpha != ALPHA_STATIC && !c->memory.lossless)
		cfg_diag_add(d, cfg_where(c, &p->alpha), "alpha: there are no buffers to share; set memory.lossless");
}

/*
 * The receive ring must hold what arrives while this node is busy elsewhere: its response time is part of the headroom.
 * Under load lcores look more often if a ring is short; then only an interruption can make it overflow.
 */
static void check_receive_ring(const struct config *c, struct cfg_diags *d, const struct cfg_port *port)
{
	struct cfg_buffer_profile p = cfg_port_profile(c, port);
	uint64_t n = cfg_rx_descriptors(c, port), least = cfg_rx_descriptors_least(c, port);
	bool given = port->descriptors.rx != CFG_NONE;
	char more[64] = "";

	if (n >= least || (port->pfc.buffer && cfg_find_named(c, "buffer-profiles", port->pfc.buffer, NULL) < 0))
		return;
	if (least <= LIMIT_RX_RING)
		snprintf(more, sizeof(more), "set rx to auto or %llu, or ", (unsigned long long)least);
	cfg_diag_warn(d, given ? cfg_where(c, &port->descriptors.rx) : check_at(c, &port->pfc.priorities, port->pfc.at),
		"%s: %llu descriptors hold frames of %llu bytes (min-frame) for %llu ns only: an lcore that is "
		"interrupted for longer, as response allows for (%llu us), loses packets of lossless classes; %sset "
		"min-frame of the buffer profile to their shortest frame",
		given ? "rx" : "pfc", (unsigned long long)n, (unsigned long long)p.min_frame,
		(unsigned long long)cfg_rx_ring_ns(n, p.min_frame, port->speed_bps), (unsigned long long)p.response_us,
		more);
}

static void check_pfc(const struct config *c, struct cfg_diags *d, const struct cfg_port *port)
{
	const struct cfg_pfc *p = &port->pfc;

	check_class_list(c, d, "priorities", p->priorities.items, p->priorities.n);
	for (uint32_t i = 0; i < p->peers.n; i++)
		if (eth_is_multicast(&p->peers.items[i]) || eth_is_zero(&p->peers.items[i]))
			cfg_diag_add(d, cfg_where(c, &p->peers.items[i]), "peers: expected a unicast address");
	check_watchdog(c, d, &p->watchdog, false);
	if (!p->priorities.n)
		return;
	for (uint32_t i = 0; i < p->priorities.n; i++)
		if (p->priorities.items[i] == port->bounce_class)
			cfg_diag_add(d, check_at(c, &port->bounce_class, port->at),
				"bounce-class: %llu is one of the priorities of pfc, and bounced packets must not wait "
				"in a class that can be paused; use another class",
				(unsigned long long)port->bounce_class);
	if (!p->peers.n && !p->learn)
		cfg_diag_add(d, check_at(c, &p->priorities, p->at),
			"pfc: no source may pause this port; set peers, or learn: true");
	check_receive_ring(c, d, port);
}

void check_qos(const struct config *c, struct cfg_diags *d)
{
	check_slice_ids(c, d);
	check_min_rates(c, d);
	for (uint32_t i = 0; i < c->class_maps.n; i++) {
		const struct cfg_class_map *m = &c->class_maps.items[i];

		check_ranges(c, d, "DSCP", m->dscp.items, m->dscp.n);
		check_ranges(c, d, "PCP", m->pcp.items, m->pcp.n);
		check_ranges(c, d, "class", m->classes.items, m->classes.n);
	}
	for (uint32_t i = 0; i < c->ports.n; i++)
		check_ecn(c, d, &c->ports.items[i].ecn);
	for (uint32_t i = 0; i < c->buffer_profiles.n; i++)
		check_profile(c, d, &c->buffer_profiles.items[i]);
	for (uint32_t i = 0; i < c->ports.n; i++)
		check_pfc(c, d, &c->ports.items[i]);
}
