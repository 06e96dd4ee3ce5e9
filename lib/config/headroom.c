/* SPDX-License-Identifier: BSD-3-Clause */
/* PFC headroom and thresholds of a port, from its speed, cable length, MTU and device (docs/protocol.md D37). Pure. */
#include "base/limits.h"
#include "config/headroom.h"

#include "base/compiler.h"
#include "config/config.h"
#include "wire/eth.h"

#include <string.h>

#define GAP_BYTES (32ull * 1024) /* between XON and XOFF, and the least XON */
#define CHOICE_PART 8 /* part of the headroom within which the contributors of a slice are stopped one by one */
/* What a slice that drains may hold for a moment, beside what arrives in the response time. */
#define FLOOR_BYTES (16ull * 1024)
#define FLOOR_FRAMES 4
#define SHAPE_BYTES (32ull * 1024) /* that a slice may be ahead of its max-rate */
#define CAP ((unsigned __int128)INT64_MAX)

static uint64_t capped(unsigned __int128 v)
{
	return (uint64_t)MIN_OF(v, CAP);
}

/* Bytes sent at a rate during a time, rounded up. */
static unsigned __int128 bytes_in(uint64_t bps, uint64_t ns)
{
	return ((unsigned __int128)bps * ns + 8 * NSEC_PER_SEC - 1) / (8 * NSEC_PER_SEC);
}

void headroom_compute(const struct headroom_question *q, struct headroom_answer *out)
{
	uint64_t out_bps = MIN_OF(q->out_bps, q->in_bps);
	unsigned __int128 sum;

	out->draft_he = capped(bytes_in(q->in_bps - out_bps, q->pfc_ns));
	out->round_trip = capped(bytes_in(q->in_bps - out_bps, q->pfc_ns + q->data_ns));
	out->reaction = capped(bytes_in(q->in_bps, q->pe_ns + q->response_ns));
	out->jitter = capped(bytes_in(q->in_bps, q->jitter_ns));
	out->frames = q->own_bytes + q->source_bytes;
	sum = (unsigned __int128)out->round_trip + out->reaction + out->jitter + out->frames;
	out->full = capped(sum);
	out->xon = capped(bytes_in(q->drain_bps, q->pfc_ns + q->data_ns));
}

uint64_t headroom_response_ns(uint64_t bps)
{
	/* quanta by speed, from IEEE 802.3 as used by SONiC (docs/protocol.md 5.4) */
	static const struct {
		uint64_t bps;
		uint32_t quanta;
	} rows[] = {{10000000000, 67}, {25000000000, 80}, {40000000000, 118}, {50000000000, 147}, {100000000000, 394},
		{200000000000, 453}};
	uint64_t quanta = 905;

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		if (bps <= rows[i].bps) {
			quanta = rows[i].quanta;
			break;
		}
	}
	return bps ? quanta * 512 * NSEC_PER_SEC / bps : 0;
}

uint64_t headroom_refresh_ns(uint64_t bps)
{
	return HEADROOM_QUANTA_MAX * HEADROOM_QUANTUM_BITS * NSEC_PER_SEC / bps / 2;
}

static bool is_fed_by(const struct cfg_pfc_tunnel *t, const struct cfg_port *port)
{
	return t->port && strcmp(t->port, port->name) == 0;
}

bool cfg_port_has_tunnels(const struct config *c, const struct cfg_port *port)
{
	for (uint32_t i = 0; i < c->pfc_tunnels.n; i++)
		if (is_fed_by(&c->pfc_tunnels.items[i], port))
			return true;
	return port->pfc.learn_tunnels;
}

uint64_t headroom_loss_ns(const struct config *c, const struct cfg_port *port, uint64_t bps)
{
	uint64_t slowest = port->pfc.learn_tunnels && c->pfc_learning.far_bps ? MIN_OF(bps, c->pfc_learning.far_bps)
									      : bps;

	for (uint32_t i = 0; i < c->pfc_tunnels.n; i++)
		if (is_fed_by(&c->pfc_tunnels.items[i], port) && c->pfc_tunnels.items[i].far_bps)
			slowest = MIN_OF(slowest, c->pfc_tunnels.items[i].far_bps);
	return headroom_refresh_ns(slowest);
}

static uint64_t one_way_ns(const struct cfg_pfc *p)
{
	if (p->round_trip_us != CFG_NONE)
		return p->round_trip_us * NSEC_PER_USEC / 2;
	return (p->length_m == CFG_NONE ? HEADROOM_LENGTH_M : p->length_m) * HEADROOM_NS_PER_M;
}

/* The lengths of pfc are those of the link, unless its pauses come from farther away. */
uint32_t cfg_link_delay_us(const struct config *c, const struct cfg_port *port)
{
	const struct cfg_pfc *p = &port->pfc;

	if (port->link_delay_us != CFG_NONE)
		return (uint32_t)port->link_delay_us;
	if (cfg_port_has_tunnels(c, port) || (p->length_m == CFG_NONE && p->round_trip_us == CFG_NONE))
		return UINT32_MAX;
	return (uint32_t)((one_way_ns(p) + NSEC_PER_USEC / 2) / NSEC_PER_USEC);
}

void headroom_of_port(const struct config *c, const struct cfg_port *port, const struct cfg_buffer_profile *profile,
	uint64_t bps, struct headroom_question *out)
{
	uint64_t frame = port->mtu + HEADROOM_FRAME_BYTES, way = one_way_ns(&port->pfc);
	/* an lcore that sleeps finds its frames, and decides, that much later */
	uint64_t asleep_us = c->idle.policy == IDLE_SLEEP ? c->idle.max_sleep_us : 0;

	*out = (struct headroom_question){.in_bps = bps,
		.drain_bps = bps,
		.pfc_ns = way,
		.data_ns = way,
		.pe_ns = (profile->response_us + asleep_us) * NSEC_PER_USEC,
		.jitter_ns = profile->jitter_us * NSEC_PER_USEC + profile->losses * headroom_loss_ns(c, port, bps),
		.response_ns = headroom_response_ns(bps),
		/* a device that receives frames in order sends its queued frames before the PFC frame */
		.own_bytes = port->descriptors.tx * frame,
		.source_bytes = port->pfc.peer_descriptors * frame};
}

uint64_t headroom_loop_ns(const struct headroom_question *q)
{
	unsigned __int128 frames = (unsigned __int128)(q->own_bytes + q->source_bytes) * 8 * NSEC_PER_SEC;

	return q->pfc_ns + q->data_ns + q->pe_ns + q->response_ns + q->jitter_ns +
	       (q->in_bps ? capped(frames / q->in_bps) : 0);
}

struct cfg_buffer_profile cfg_port_profile(const struct config *c, const struct cfg_port *port)
{
	int i = cfg_find_named(c, "buffer-profiles", port->pfc.buffer, NULL);

	if (i >= 0)
		return c->buffer_profiles.items[i];
	return (struct cfg_buffer_profile){.xoff = CFG_NONE,
		.xon = CFG_NONE,
		.headroom = CFG_NONE,
		.min_frame = 60,
		.response_us = 20,
		.selective = CFG_NONE};
}

/*
 * The shortest frames need the most buffers per byte, one for each frame. No longer frame that occupies several buffers
 * needs more per byte, because memory.buffer-size is at least twice any min-frame.
 */
static uint64_t buffers_for(uint64_t bytes, uint64_t min_frame)
{
	return (bytes + min_frame - 1) / min_frame;
}

/* A frame of `bytes` on the line, with FCS, preamble and gap, takes so much of it. */
#define LINE_BYTES 24
#define RX_DEFAULT 512
#define SHORTEST_NS 3400 /* a pass of an lcore: so long the shortest frames, such as a burst of ACKs, may arrive */

bool cfg_has_lossless(const struct config *c)
{
	for (uint32_t i = 0; i < c->ports.n; i++)
		if (c->ports.items[i].pfc.priorities.n)
			return true;
	return false;
}

uint64_t cfg_rx_ring_ns(uint64_t descriptors, uint64_t frame, uint64_t bps)
{
	uint64_t bits = (frame + LINE_BYTES) * 8;

	return bps ? (uint64_t)((unsigned __int128)descriptors * bits * NSEC_PER_SEC / bps) : UINT64_MAX;
}

uint64_t cfg_rx_descriptors_least(const struct config *c, const struct cfg_port *port)
{
	struct cfg_buffer_profile p = cfg_port_profile(c, port);

	if (!port->pfc.priorities.n)
		return 0;
	return capped((bytes_in(port->speed_bps, p.response_us * NSEC_PER_USEC) + p.min_frame + LINE_BYTES - 1) /
		      (p.min_frame + LINE_BYTES));
}

uint64_t cfg_rx_descriptors(const struct config *c, const struct cfg_port *port)
{
	uint64_t n = RX_DEFAULT, least = cfg_rx_descriptors_least(c, port), bps = port->speed_bps;

	if (port->descriptors.rx != CFG_NONE)
		return port->descriptors.rx;
	while (n < LIMIT_RX_RING && (n < least || (least && cfg_rx_ring_ns(n, ETH_MIN_LEN, bps) < SHORTEST_NS)))
		n *= 2;
	return n;
}

/*
 * What is left in the queue when XON is sent must last until the first packet after the pause arrives. The gap to XOFF
 * keeps a queue near its thresholds from sending PFC for every packet.
 */
static void set_thresholds(const struct cfg_buffer_profile *p, struct cfg_lossless *out)
{
	uint64_t half;

	if (p->xoff == CFG_NONE) {
		out->xon_bytes = p->xon == CFG_NONE ? MAX_OF(GAP_BYTES, out->rule.xon) : p->xon;
		out->xoff_bytes = out->xon_bytes + GAP_BYTES;
		out->xoff_bytes = MAX_OF(out->xoff_bytes, 2 * GAP_BYTES);
		return;
	}
	half = p->xoff / 2;
	out->xoff_bytes = p->xoff;
	out->xon_bytes = p->xon;
	if (p->xon == CFG_NONE)
		out->xon_bytes = MAX_OF(half, MIN_OF(out->rule.xon, p->xoff - MIN_OF(GAP_BYTES, p->xoff)));
}

static bool is_first_of_slice(const struct config *c, const struct cfg_port *port, uint32_t at)
{
	const char *slice = c->pfc_tunnels.items[at].slice;

	for (uint32_t i = 0; i < at; i++) {
		const struct cfg_pfc_tunnel *t = &c->pfc_tunnels.items[i];

		if (is_fed_by(t, port) && (t->slice && slice ? strcmp(t->slice, slice) == 0 : t->slice == slice))
			return false;
	}
	return true;
}

/* Number of slices whose data arrives at a port and that PFC tunnels may stop there; 0: no tunnels. */
static uint32_t tunnelled_slices(const struct config *c, const struct cfg_port *port)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->pfc_tunnels.n; i++)
		n += is_fed_by(&c->pfc_tunnels.items[i], port) && is_first_of_slice(c, port, i);
	if (port->pfc.learn_tunnels)
		n = MAX_OF(n, MAX_OF(c->slices.n, 1));
	return n;
}

/* The largest rate at which one slice arrives at a port; `bps` if any has no max-rate. */
static uint64_t slice_bps(const struct config *c, const struct cfg_port *port, uint64_t bps)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < c->slices.n; i++) {
		const struct cfg_slice *s = &c->slices.items[i];
		bool here = port->pfc.learn_tunnels;

		for (uint32_t k = 0; k < c->pfc_tunnels.n && !here; k++)
			here = is_fed_by(&c->pfc_tunnels.items[k], port) && c->pfc_tunnels.items[k].slice &&
			       strcmp(c->pfc_tunnels.items[k].slice, s->name) == 0;
		if (here)
			most = MAX_OF(most, s->max_rate_bps ? s->max_rate_bps : bps);
	}
	for (uint32_t k = 0; k < c->pfc_tunnels.n; k++)
		if (is_fed_by(&c->pfc_tunnels.items[k], port) && !c->pfc_tunnels.items[k].slice)
			most = bps;
	return most ? MIN_OF(most, bps) : bps;
}

/* What still arrives of one slice after its XOFF: all of the headroom, unless its max-rate bounds it. */
static uint64_t room_of_slice(const struct config *c, const struct cfg_port *port, uint64_t bps,
	const struct cfg_lossless *l)
{
	uint64_t slice = slice_bps(c, port, bps);

	if (!bps || slice == bps || l->headroom_bytes < l->rule.full)
		return l->headroom_bytes;
	return MIN_OF(l->headroom_bytes,
		l->rule.frames + SHAPE_BYTES +
			capped((unsigned __int128)(l->headroom_bytes - l->rule.frames) * slice / bps));
}

/*
 * docs/protocol.md 5.7: each slice stops at its own share, and all at a second threshold. The headroom starts when all
 * have been asked to stop, so the distance between the two thresholds is added. All but one slice may stand still, and
 * the last one still has its floor.
 */
static void set_choice(const struct config *c, const struct cfg_port *port, const struct cfg_buffer_profile *p,
	uint64_t bps, struct cfg_lossless *out)
{
	uint64_t n = tunnelled_slices(c, port), burst = capped(bytes_in(bps, p->response_us * NSEC_PER_USEC));
	uint64_t frames = FLOOR_FRAMES * (port->mtu + HEADROOM_FRAME_BYTES);

	out->n_slices = (uint32_t)n;
	if (!n)
		return;
	out->part_bytes = p->selective == CFG_NONE ? out->headroom_bytes / CHOICE_PART : p->selective;
	out->choice_bytes = out->part_bytes;
	if (n > 1) {
		out->floor_bytes = MIN_OF(MAX_OF(MAX_OF(FLOOR_BYTES, burst), frames), out->xoff_bytes);
		out->room_bytes = room_of_slice(c, port, bps, out) +
				  MIN_OF(out->part_bytes, out->headroom_bytes / CHOICE_PART);
	}
	if (n > 1 && p->selective == CFG_NONE)
		out->choice_bytes = capped(
			(unsigned __int128)n * out->floor_bytes + (unsigned __int128)(n - 1) * out->room_bytes);
	out->floor_buffers = buffers_for(out->floor_bytes, p->min_frame);
	out->room_buffers = buffers_for(out->room_bytes, p->min_frame);
	out->part_buffers = buffers_for(out->part_bytes, p->min_frame);
	out->choice_buffers = buffers_for(out->choice_bytes, p->min_frame);
	out->least_buffers = MIN_OF(out->choice_buffers, out->part_buffers);
}

void cfg_port_lossless(const struct config *c, const struct cfg_port *port, uint64_t bps, struct cfg_lossless *out)
{
	struct cfg_buffer_profile p = cfg_port_profile(c, port);
	struct headroom_question q;

	*out = (struct cfg_lossless){0};
	if (port->pfc.buffer && cfg_find_named(c, "buffer-profiles", port->pfc.buffer, NULL) < 0)
		return; /* reported elsewhere */
	if (bps) {
		headroom_of_port(c, port, &p, bps, &q);
		headroom_compute(&q, &out->rule);
	}
	set_thresholds(&p, out);
	out->headroom_bytes = p.headroom == CFG_NONE ? out->rule.full : p.headroom;
	out->xoff_buffers = buffers_for(out->xoff_bytes, p.min_frame);
	out->xon_buffers = buffers_for(out->xon_bytes, p.min_frame);
	out->headroom_buffers = buffers_for(out->headroom_bytes, p.min_frame);
	set_choice(c, port, &p, bps, out);
}
