/* SPDX-License-Identifier: BSD-3-Clause */
/* PFC across the WAN: relays and PFC tunnels with their outer headers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/program.h"
#include "config/remote_sids.h"
#include "pfc/pfc_relay.h"
#include "snapshot/build_priv.h"
#include "snapshot/pfc_outer.h"

#define X(id, word) _Static_assert((int)id == (int)PFC_##id, "the configuration and lib/pfc agree");
CFG_WATCHDOG_ACTIONS(X)
CFG_RELAY_MODES(X)
#undef X

/* Find a key by its id in the configuration; 0: no key. */
static int key_of(struct builder *b, uint64_t id, const struct hmac_key **key)
{
	*key = id ? snap_hmac_key(b->s, (uint32_t)id) : NULL;
	return id && !*key ? build_fail(b, -EINVAL, "there is no HMAC key %llu", (unsigned long long)id) : 0;
}

static int build_outer(struct builder *b, const struct cfg_own_sids *own, const struct ip_addr *segments, uint32_t n,
	uint64_t flow_label, uint64_t hmac_key, uint32_t slice_by, uint32_t slice_id, struct snap_pfc_outer *out)
{
	struct cfg_path path = {.segments = {(struct ip_addr *)(uintptr_t)segments, n}};
	const struct hmac_key *key;
	struct cfg_program p;
	const char *why;

	if (cfg_program(b->config, own, &path, &p, &why) < 0)
		return build_fail(b, -EINVAL, "PFC tunnel: %s", why);
	if (key_of(b, hmac_key, &key) < 0)
		return -EINVAL;
	if (slice_by == SLICE_BY_ARGUMENT && !pfc_slice_argument(&b->s->remotes, &p.container[p.n - 1], slice_id))
		return build_fail(b, -EINVAL,
			"PFC tunnel with slice-by: argument: its last SID is not in remote-sids, or leaves no room for "
			"16 bits");
	pfc_outer_write(out, &b->s->loopback, p.container, p.n, (uint32_t)flow_label, key,
		slice_by == SLICE_BY_OPTION ? b->s->slice_option : 0, slice_id);
	return 0;
}

#define RELAY_BPS 100000000000ull /* of a gateway, while the device of its port reports no speed */
#define DETECT_NS (200 * NSEC_PER_MSEC)

struct pfc_watchdog_config build_watchdog(const struct cfg_watchdog *w, uint64_t longest_ns)
{
	/* a single frame must not count as a storm, however long its pause: that pause ends by itself */
	uint64_t by_default = MAX_OF(DETECT_NS, 2 * longest_ns);
	struct pfc_watchdog_config out = {.action = (uint8_t)w->action};

	if (w->action == WATCHDOG_OFF)
		return out;
	out.detect_ns = w->detect_ms == CFG_NONE ? by_default : w->detect_ms * NSEC_PER_MSEC;
	out.restore_ns = w->restore_ms == CFG_NONE ? by_default : w->restore_ms * NSEC_PER_MSEC;
	out.release_ns = w->action == WATCHDOG_RELEASE ? w->release_us * NSEC_PER_USEC : 0;
	out.alarm_ns = w->alarm_ms == CFG_NONE ? out.detect_ns / 2 : w->alarm_ms * NSEC_PER_MSEC;
	return out;
}

void build_message_keys(const struct builder *b, const uint64_t *id, uint32_t n, struct snap_message_keys *out)
{
	for (uint32_t i = 0; i < n && out->n < SNAP_MESSAGE_KEYS; i++) {
		out->key[out->n] = snap_hmac_key(b->s, (uint32_t)id[i]);
		out->n = (uint8_t)(out->n + (out->key[out->n] != NULL));
	}
}

/* The frames of a tunnel have a trailer. */
static void build_trailer(const struct builder *b, uint64_t key, uint32_t slice_id, struct snap_pfc_outer *out)
{
	const struct snap_pfc_learning *l = &b->s->pfc_learning;

	if (key)
		pfc_outer_seal(out, &b->s->remotes, l->block, l->n_blocks, (uint32_t)key, slice_id);
}

static int build_relay(struct builder *b, const struct cfg_own_sids *own, const struct cfg_relay *r,
	struct snap_relay *out)
{
	uint64_t speed_bps = b->s->port[cfg_find_port(b->config, r->port)].speed_bps;
	struct snap_match *allowed;
	struct snap_interface *port;

	*out = (struct snap_relay){.name = r->name,
		.port = (uint8_t)cfg_find_port(b->config, r->port),
		.mode = (uint8_t)r->mode,
		.from_bps = r->from_bps != CFG_NONE ? r->from_bps
			    : speed_bps		    ? speed_bps
						    : RELAY_BPS,
		.jitter_ns = r->jitter_us * NSEC_PER_USEC,
		.hold_min_ns = r->hold_min_us * NSEC_PER_USEC,
		.outage_ns = r->mode == PFC_RELAY_REGENERATE ? r->outage_ms * NSEC_PER_MSEC : 0,
		.receives = r->sid.addr.family || r->carrier == CARRIER_STATE};
	out->watchdog = build_watchdog(&r->watchdog,
		MAX_OF(pfc_quanta_ns(PFC_QUANTA_MAX, out->from_bps) + out->jitter_ns, out->hold_min_ns));
	build_message_keys(b, r->message_keys.items, r->message_keys.n, &out->keys);
	if (r->carrier == CARRIER_STATE) {
		out->udp_port = (uint16_t)r->udp_port;
		out->lease_ns = r->lease_us * NSEC_PER_USEC;
		out->allowed = allowed = arena_alloc(b->s->arena, (r->allowed_sources.n + 1) * sizeof(*allowed));
		if (!allowed)
			return build_fail(b, -ENOMEM, "out of memory");
		for (uint32_t i = 0; i < r->allowed_sources.n; i++)
			build_match(&allowed[out->n_allowed++], &r->allowed_sources.items[i]);
	}
	port = &b->s->port[out->port];
	port->pfc_regenerated = out->receives && out->mode == PFC_RELAY_REGENERATE;
	if (r->segments.n) {
		port->pfc_relayed = true;
		port->pfc_obeyed = r->honour_local;
		if (build_outer(b, own, r->segments.items, r->segments.n, r->flow_label, r->hmac_key, SLICE_BY_SID, 0,
			    &out->outer) < 0)
			return -EINVAL;
		if (r->carrier == CARRIER_STATE)
			pfc_outer_carry(&out->outer, IP_PROTO_UDP,
				out->keys.n ? SNAP_PFC_KEYED_BYTES : SNAP_PFC_STATE_BYTES);
		else if (out->keys.n)
			build_trailer(b, out->keys.key[0]->id, 0, &out->outer);
	}
	return 0;
}

static int build_tunnel(struct builder *b, const struct cfg_own_sids *own, const struct cfg_pfc_tunnel *t,
	struct snap_pfc_tunnel *out)
{
	struct snap_interface *port;

	*out = (struct snap_pfc_tunnel){.name = t->name,
		.slice = build_slice_of(b, t->slice),
		.port = (uint8_t)cfg_find_port(b->config, t->port),
		.repeat = t->repeat};
	port = &b->s->port[out->port];
	port->pfc_tunnelled = true;
	b->s->tunnelled |= 1u << out->port;
	port->pfc_shares |= t->source.family != 0;
	out->carries = t->slice_by != SLICE_BY_SID;
	out->has_source = t->source.family != 0;
	out->source = t->source.v6;
	out->outage_ns = t->outage_ms * NSEC_PER_MSEC;
	out->far_bps = t->far_bps ? t->far_bps : port->speed_bps;
	for (uint32_t i = 0; i < t->priorities.n; i++)
		out->priorities = (uint8_t)(out->priorities | 1u << t->priorities.items[i]);
	if (build_outer(b, own, t->segments.items, t->segments.n, t->flow_label, t->hmac_key, t->slice_by,
		    b->s->slice[out->slice].wire_id, &out->outer) < 0)
		return -EINVAL;
	build_trailer(b, t->message_key, out->carries ? b->s->slice[out->slice].wire_id : 0, &out->outer);
	return 0;
}

static void add_remote(void *arg, const struct cfg_remote *r)
{
	struct pfc_remote **at = arg, *out = (*at)++;

	*out = (struct pfc_remote){.prefix = r->sid,
		.behavior = r->code,
		.block_bits = r->block_bits,
		.node_bits = r->node_bits,
		.function_bits = r->function_bits,
		.argument_bits = r->argument_bits};
	snprintf(out->owner, sizeof(out->owner), "%s", r->owner);
}

/* What all tunnels share, learnt or not. */
static void build_learning(struct builder *b)
{
	const struct cfg_pfc_learning *l = &b->config->pfc_learning;
	const struct cfg_usid *usid = &b->config->node.usid;
	struct snap_pfc_learning *out = &b->s->pfc_learning;

	*out = (struct snap_pfc_learning){.repeat = l->repeat,
		.max = (uint32_t)l->tunnels,
		.flow_label = (uint32_t)l->flow_label,
		.hmac_key = (uint32_t)l->hmac_key,
		.message_key = (uint32_t)l->message_key,
		.slice_by = (uint8_t)l->slice_by,
		.idle_ns = l->idle_s * NSEC_PER_SEC,
		.max_rtt_ns = l->max_rtt_ms * NSEC_PER_MSEC,
		.outage_ns = l->outage_ms * NSEC_PER_MSEC,
		.far_bps = l->far_bps};
	if (usid->at.line)
		out->block[out->n_blocks++] = usid->block;
	for (uint32_t i = 0; i < usid->more_blocks.n; i++)
		out->block[out->n_blocks++] = usid->more_blocks.items[i];
}

static void build_learning_ports(struct builder *b)
{
	struct snap_pfc_learning *out = &b->s->pfc_learning;

	for (uint32_t i = 0; i < b->config->ports.n; i++) {
		struct snap_interface *p = &b->s->port[i];

		p->pfc_learning = b->config->ports.items[i].pfc.learn_tunnels;
		p->pfc_tunnelled |= p->pfc_learning;
		b->s->tunnelled |= (uint32_t)p->pfc_tunnelled << i;
		p->pfc_shares |= p->pfc_learning;
		p->examined = p->pfc_shares;
		out->any |= p->pfc_learning;
	}
}

/* Without SIDs of other nodes there is nothing to learn. In that case the own SIDs need no second copy. */
static int build_remotes(struct builder *b)
{
	const struct config *c = b->config;
	uint32_t n = cfg_remote_count(c);
	struct pfc_remote *sid, *end;

	if (n == c->sids.n)
		return 0;
	sid = end = arena_alloc(b->s->arena, n * sizeof(*sid));
	if (!sid || cfg_remote_each(c, add_remote, &end) < 0 ||
		pfc_remotes_seal(&b->s->remotes, sid, (uint32_t)(end - sid)) < 0)
		return build_fail(b, -ENOMEM, "out of memory");
	return 0;
}

int build_pfc_wan(struct builder *b)
{
	const struct config *c = b->config;
	struct cfg_own_sids *own = cfg_own_sids_new(c);
	struct snap_pfc_tunnel *tunnel;
	int rc = 0;

	b->s->n_relays = c->relays.n;
	b->s->n_pfc_tunnels = c->pfc_tunnels.n;
	b->s->relay = b->relay = arena_alloc(b->s->arena, (c->relays.n + 1) * sizeof(*b->relay));
	b->s->pfc_tunnel = tunnel = arena_alloc(b->s->arena, (c->pfc_tunnels.n + 1) * sizeof(*tunnel));
	if (!own || !b->relay || !tunnel)
		rc = build_fail(b, -ENOMEM, "out of memory");
	build_learning(b);
	if (rc == 0)
		rc = build_remotes(b);
	for (uint32_t i = 0; i < c->relays.n && rc == 0; i++)
		rc = build_relay(b, own, &c->relays.items[i], &b->relay[i]);
	for (uint32_t i = 0; i < c->pfc_tunnels.n && rc == 0; i++)
		rc = build_tunnel(b, own, &c->pfc_tunnels.items[i], &tunnel[i]);
	cfg_own_sids_free(own);
	build_learning_ports(b);
	return rc;
}

const struct snap_relay *build_relay_of(const struct builder *b, const struct ip_prefix *sid)
{
	for (uint32_t i = 0; i < b->config->relays.n; i++)
		if (ip_prefix_equal(&b->config->relays.items[i].sid, sid))
			return &b->s->relay[i];
	return NULL;
}
