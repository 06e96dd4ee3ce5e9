/* SPDX-License-Identifier: BSD-3-Clause */
/* PFC across the WAN: relays and PFC tunnels with their outer headers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/program.h"
#include "config/remote_sids.h"
#include "snapshot/build_priv.h"
#include "wire/srh.h"

#define TUNNEL_TC	 0xe0 /* CS7; Not-ECT, for a frame could not hand a mark on (PROTOCOL.md 5.3) */
#define TUNNEL_HOP_LIMIT 64

/* H.Encaps.L2.Red of a frame of 60 bytes (RFC 8986 section 5.4). */
static int build_outer(struct builder *b, const struct cfg_own_sids *own, const struct ip_addr *segments, uint32_t n,
	uint64_t flow_label, struct snap_pfc_outer *out)
{
	struct cfg_path path = {.segments = {(struct ip_addr *)(uintptr_t)segments, n}};
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out->header;
	struct srh *srh = (struct srh *)(ip + 1);
	struct cfg_program p;
	const char *why;

	if (cfg_program(b->config, own, &path, &p, &why) < 0)
		return build_fail(b, -EINVAL, "PFC tunnel: %s", why);
	ip->vtc_flow = ipv6_vtc_flow(TUNNEL_TC, (uint32_t)flow_label);
	ip->hop_limit = TUNNEL_HOP_LIMIT;
	ip->src = b->s->loopback;
	ip->dst = p.container[0];
	ip->next_header = IP_PROTO_ETHERNET;
	out->bytes = sizeof(*ip);
	if (p.n > 1) {
		ip->next_header = IP_PROTO_ROUTING;
		srh->next_header = IP_PROTO_ETHERNET;
		srh->length = (uint8_t)(2 * (p.n - 1));
		srh->routing_type = SRH_ROUTING_TYPE;
		srh->segments_left = (uint8_t)(p.n - 1);
		srh->last_entry = (uint8_t)(p.n - 2);
		for (unsigned int i = 0; i + 1 < p.n; i++)
			srh->segment[i] = p.container[p.n - 1 - i];
		out->bytes = (uint16_t)(out->bytes + srh_bytes(srh));
	}
	ip->payload_length = be16((uint16_t)(out->bytes - sizeof(*ip) + ETH_MIN_LEN));
	return 0;
}

#define DETECT_NS (200 * NSEC_PER_MSEC)

struct pfc_watchdog_config build_watchdog(const struct cfg_watchdog *w, uint64_t longest_ns)
{
	/* one frame is no storm, however long its pause: that ends by itself */
	uint64_t by_default = MAX_OF(DETECT_NS, 2 * longest_ns);
	struct pfc_watchdog_config out = {.action = (uint8_t)w->action};

	if (w->action == WATCHDOG_OFF)
		return out;
	out.detect_ns = w->detect_ms == CFG_NONE ? by_default : w->detect_ms * NSEC_PER_MSEC;
	out.restore_ns = w->restore_ms == CFG_NONE ? by_default : w->restore_ms * NSEC_PER_MSEC;
	out.alarm_ns = w->alarm_ms == CFG_NONE ? out.detect_ns / 2 : w->alarm_ms * NSEC_PER_MSEC;
	return out;
}

static int build_relay(struct builder *b, const struct cfg_own_sids *own, const struct cfg_relay *r, struct snap_relay *out)
{
	struct snap_port *port;

	*out = (struct snap_relay){.name = r->name,
		.port = (uint8_t)cfg_find_port(b->config, r->port),
		.mode = (uint8_t)r->mode,
		.from_bps = r->from_bps,
		.jitter_ns = r->jitter_us * NSEC_PER_USEC,
		.hold_min_ns = r->hold_min_us * NSEC_PER_USEC};
	out->watchdog = build_watchdog(&r->watchdog,
		MAX_OF(pfc_quanta_ns(PFC_QUANTA_MAX, r->from_bps) + out->jitter_ns, out->hold_min_ns));
	port = &b->s->port[out->port];
	if (r->segments.n) {
		port->pfc_relayed = true;
		port->pfc_obeyed = r->honour_local;
		return build_outer(b, own, r->segments.items, r->segments.n, r->flow_label, &out->outer);
	}
	return 0;
}

static int build_tunnel(struct builder *b, const struct cfg_own_sids *own, const struct cfg_pfc_tunnel *t,
	struct snap_pfc_tunnel *out)
{
	struct snap_port *port;

	*out = (struct snap_pfc_tunnel){.name = t->name,
		.slice = build_slice_of(b, t->slice),
		.port = (uint8_t)cfg_find_port(b->config, t->port),
		.repeat = t->repeat};
	port = &b->s->port[out->port];
	port->pfc_tunnelled = true;
	out->far_bps = t->far_bps ? t->far_bps : port->speed_bps;
	for (uint32_t i = 0; i < t->priorities.n; i++)
		out->priorities = (uint8_t)(out->priorities | 1u << t->priorities.items[i]);
	return build_outer(b, own, t->segments.items, t->segments.n, t->flow_label, &out->outer);
}

static void add_remote(void *arg, const struct cfg_remote *r)
{
	struct pfc_remotes *t = arg;
	struct pfc_remote *out = &t->sid[t->n++];

	*out = (struct pfc_remote){.prefix = r->sid,
		.behavior = r->code,
		.block_bits = r->block_bits,
		.node_bits = r->node_bits,
		.function_bits = r->function_bits,
		.argument_bits = r->argument_bits};
	snprintf(out->owner, sizeof(out->owner), "%s", r->owner);
}

/* Without SIDs of others there is nothing to learn, and own ones are not kept twice. */
static int build_remotes(struct builder *b)
{
	const struct config *c = b->config;
	uint32_t n = cfg_remote_count(c);

	if (n == c->sids.n)
		return 0;
	b->s->remotes.sid = arena_alloc(b->s->arena, n * sizeof(*b->s->remotes.sid));
	if (!b->s->remotes.sid || cfg_remote_each(c, add_remote, &b->s->remotes) < 0 || pfc_remotes_seal(&b->s->remotes) < 0)
		return build_fail(b, -ENOMEM, "out of memory");
	return 0;
}

int build_pfc_wan(struct builder *b)
{
	const struct config *c = b->config;
	struct cfg_own_sids *own = cfg_own_sids_new(c);
	int rc = 0;

	b->s->n_relays = c->relays.n;
	b->s->n_pfc_tunnels = c->pfc_tunnels.n;
	b->s->relay = arena_alloc(b->s->arena, (c->relays.n + 1) * sizeof(*b->s->relay));
	b->s->pfc_tunnel = arena_alloc(b->s->arena, (c->pfc_tunnels.n + 1) * sizeof(*b->s->pfc_tunnel));
	if (!own || !b->s->relay || !b->s->pfc_tunnel)
		rc = build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->relays.n && rc == 0; i++)
		rc = build_relay(b, own, &c->relays.items[i], &b->s->relay[i]);
	for (uint32_t i = 0; i < c->pfc_tunnels.n && rc == 0; i++)
		rc = build_tunnel(b, own, &c->pfc_tunnels.items[i], &b->s->pfc_tunnel[i]);
	cfg_own_sids_free(own);
	return rc ? rc : build_remotes(b);
}

const struct snap_relay *build_relay_of(const struct builder *b, const struct ip_prefix *sid)
{
	for (uint32_t i = 0; i < b->config->relays.n; i++)
		if (ip_prefix_equal(&b->config->relays.items[i].sid, sid))
			return &b->s->relay[i];
	return NULL;
}
