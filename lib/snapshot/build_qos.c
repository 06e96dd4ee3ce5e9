/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices, and the maps that select a packet's queue. Management thread. */
#include <errno.h>

#include "base/limits.h"
#include "config/budget.h"
#include "config/config.h"
#include "config/headroom.h"
#include "config/marking.h"
#include "snapshot/build_priv.h"
#include "wire/eth.h"

#define LINE_BYTES 24 /* of a frame on the line beyond its own: preamble, FCS, gap */

int build_slices(struct builder *b)
{
	const struct config *c = b->config;
	uint32_t id;
	int rc;

	/* no user can name a slice "", so traffic without a slice always has slice 0 */
	rc = ids_get(b->ids->slices, "", b->s->generation, &id);
	for (uint32_t i = 0; rc == 0 && i < c->slices.n; i++)
		rc = ids_get(b->ids->slices, c->slices.items[i].name, b->s->generation, &id);
	if (rc < 0)
		return build_fail(b, rc, "too many slices; those that were removed are still draining");
	b->s->n_slices = ids_bound(b->ids->slices);
	for (uint32_t i = 0; i < b->s->n_slices; i++)
		b->s->slice[i].weight = 1; /* of a removed slice, too */
	b->s->slice[SNAP_SLICE_NONE].name = "";
	b->s->slice_option = (uint8_t)c->node.slice_option;
	for (uint32_t i = 0; i < c->slices.n; i++) {
		ids_find(b->ids->slices, c->slices.items[i].name, &id);
		b->s->slice[id] = (struct snap_slice){.name = c->slices.items[i].name,
			.weight = (uint32_t)c->slices.items[i].weight,
			.wire_id = (uint32_t)c->slices.items[i].id,
			.min_rate_bps = c->slices.items[i].min_rate_bps,
			.max_rate_bps = c->slices.items[i].max_rate_bps};
	}
	return 0;
}

int build_dscp_maps(struct builder *b)
{
	const struct config *c = b->config;

	b->dscp = arena_alloc(b->s->arena, (c->dscp_maps.n + 1) * sizeof(*b->dscp));
	if (!b->dscp)
		return build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->dscp_maps.n; i++)
		cfg_dscp_table(c, c->dscp_maps.items[i].name, b->dscp[i]);
	cfg_dscp_table(c, NULL, b->dscp[c->dscp_maps.n]);
	b->s->dscp_map = (const uint8_t(*)[SNAP_DSCPS])b->dscp;
	return 0;
}

const uint8_t *build_dscp_of(const struct builder *b, const char *name)
{
	int i = cfg_find_named(b->config, "dscp-maps", name, NULL);

	return i < 0 ? NULL : b->dscp[i];
}

const uint8_t *build_same_dscp(const struct builder *b)
{
	return b->dscp[b->config->dscp_maps.n];
}

#define SHORT_PART 4 /* of the response time: how long frames may gather in a receive ring before it is emptied */

static bool has_server(const struct config *c, const struct cfg_port *cp)
{
	for (uint32_t i = 0; i < c->credit.neighbors.n; i++)
		if (c->credit.neighbors.items[i].port && !strcmp(c->credit.neighbors.items[i].port, cp->name))
			return true;
	return false;
}

/* Buffers of the credit pool, on a port by which data of the domain or of a server comes. */
static uint32_t credited(const struct config *c, const struct cfg_port *cp)
{
	if (c->credit.mode == CREDIT_OFF || c->credit.data != CREDIT_DATA_GATED ||
		(cp->side != SIDE_WAN && !has_server(c, cp)))
		return 0;
	return (uint32_t)MIN_OF(cfg_credit_buffers(c), (uint64_t)UINT32_MAX);
}

/* How long a pass may take, and when a receive ring is short (lib/node/backlog.h). */
static void build_receive(struct builder *b, struct snap_interface *p, const struct cfg_port *cp)
{
	uint64_t response = cfg_port_profile(b->config, cp).response_us * NSEC_PER_USEC;
	uint64_t ring, pass;

	p->credited = credited(b->config, cp);
	if ((!p->lossless && !p->credited) || !p->speed_bps)
		return; /* at an unknown rate the device is asked each time */
	/* acknowledgements are shorter than the data of min-frame; a burst of them must find room as well */
	ring = cfg_rx_ring_ns(cfg_rx_descriptors(b->config, cp), ETH_MIN_LEN, p->speed_bps);
	pass = MAX_OF(MIN_OF(response / 2, ring / 4 * 3), 1);
	p->short_ns = MIN_OF(response, ring) / SHORT_PART;
	p->short_frames = (uint32_t)(p->short_ns * p->speed_bps / (8 * NSEC_PER_SEC) / cp->mtu);
	b->s->pass_ns = b->s->pass_ns ? MIN_OF(b->s->pass_ns, pass) : pass;
}

static int build_pfc(struct builder *b, struct snap_interface *p, const struct cfg_port *cp)
{
	struct cfg_buffer_profile profile = cfg_port_profile(b->config, cp);
	struct headroom_question q;
	uint64_t mail = cfg_packets_in_rings(b->config);
	struct cfg_lossless l;

	if (p->speed_bps) {
		headroom_of_port(b->config, cp, &profile, p->speed_bps, &q);
		p->loop_ns = headroom_loop_ns(&q);
	}
	p->outage_ns = cp->pfc.outage_ms * NSEC_PER_MSEC;
	if (p->speed_bps)
		p->ring_ns = cp->descriptors.tx * (cp->mtu + sizeof(struct eth_hdr) + LINE_BYTES) * 8 * NSEC_PER_SEC /
			     p->speed_bps;
	/* there are buffers for the configured speed and no more */
	cfg_fit_lossless(b->config, cp, MIN_OF(cp->speed_bps, p->speed_bps), &l);
	p->buffer = (struct pfc_buffer_config){.xoff = {l.xoff_bytes, l.xoff_buffers},
		.xon = {l.xon_bytes, l.xon_buffers},
		.urgent = {l.xoff_bytes + l.choice_bytes, l.xoff_buffers + l.choice_buffers},
		.full = {l.xoff_bytes + l.choice_bytes + l.headroom_bytes + mail * cfg_longest_frame(b->config),
			l.xoff_buffers + l.choice_buffers + l.headroom_buffers + mail * cfg_frame_buffers(b->config)},
		.floor = {l.floor_bytes, l.floor_buffers},
		.choice = {l.part_bytes, l.part_buffers},
		.alpha = profile.alpha == ALPHA_STATIC ? 0 : 1u << (profile.alpha - ALPHA_FIRST)};
	p->pfc_pass = (uint8_t)((cp->pfc.lenient_pad ? PFC_UNPADDED : 0) | (cp->pfc.lenient_cev ? PFC_ANY_ENABLE : 0));
	p->pfc_learn = cp->pfc.learn;
	p->watchdog = build_watchdog(&cp->pfc.watchdog, p->speed_bps ? pfc_quanta_ns(PFC_QUANTA_MAX, p->speed_bps) : 0);
	for (uint32_t i = 0; i < cp->pfc.peers.n; i++)
		p->pfc_peer[p->n_pfc_peers++] = cp->pfc.peers.items[i];
	for (uint32_t i = 0; i < cp->pfc.priorities.n; i++)
		p->lossless = (uint8_t)(p->lossless | 1u << cp->pfc.priorities.items[i]);
	build_receive(b, p, cp);
	if (p->lossless && !p->speed_bps)
		return build_fail(b, -EINVAL,
			"port %s: its device reports no speed, and pause times are counted in bit times: "
			"give the port's speed",
			cp->name);
	return 0;
}

int build_port_qos(struct builder *b, struct snap_interface *p, const struct cfg_port *cp, uint64_t speed_bps)
{
	const struct cfg_class_map *map = cfg_class_map(b->config, cp->class_map);

	p->speed_bps = speed_bps;
	p->slice = cp->slice ? build_slice_of(b, cp->slice) : b->s->vrf[p->vrf].slice;
	p->queue_limit = (uint32_t)cp->queue_limit;
	p->buffer_limit = (uint32_t)cp->buffer_limit;
	p->control_limit = (uint32_t)cp->control_limit;
	p->control_rate = cp->control_rate;
	p->bounce_class = (uint8_t)cp->bounce_class;
	p->ecn_min = (uint32_t)cp->ecn.min;
	p->ecn_max = (uint32_t)cp->ecn.max;
	for (uint32_t i = 0; i < cp->ecn.classes.n; i++)
		p->ecn_classes = (uint8_t)(p->ecn_classes | 1u << cp->ecn.classes.items[i]);
	cfg_class_of_dscp(b->config, cp, p->tclass_of_dscp);
	for (unsigned int i = 0; i < 8; i++)
		p->tclass_of_pcp[i] = (uint8_t)i;
	if (map)
		cfg_apply_ranges(b->config, map->pcp.items, map->pcp.n, p->tclass_of_pcp);
	p->dscp_in = build_dscp_of(b, cp->dscp_in);
	p->dscp_out = build_dscp_of(b, cp->dscp_out);
	return build_pfc(b, p, cp);
}

void build_tunnel_classes(const struct builder *b, const char *name, uint8_t *tclass_of)
{
	const struct cfg_class_map *map = cfg_class_map(b->config, name);

	for (unsigned int i = 0; i < SNAP_TUNNEL_CLASSES; i++)
		tclass_of[i] = (uint8_t)MIN_OF(i, 7);
	if (map)
		cfg_apply_ranges(b->config, map->classes.items, map->classes.n, tclass_of);
	/* in a tunnel the node's own control traffic stays control traffic; for the end of a tunnel see build_sid */
	tclass_of[SNAP_TUNNEL_CLASSES - 1] = SNAP_TUNNEL_CLASSES - 1;
}
