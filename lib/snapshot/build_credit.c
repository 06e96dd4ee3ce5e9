/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit: parameters of the session machines, keys, neighbours, permissions and sessions. Management thread. */
#include <errno.h>
#include <stdlib.h>

#include "config/config.h"
#include "config/keys.h"
#include "credit/credit.h"
#include "snapshot/build_priv.h"

_Static_assert((int)DIGEST_SHA256 == (int)HMAC_SHA256 && (int)DIGEST_MD5 == (int)HMAC_MD5, "words of the key digest");

#define LEAST_PACKET 64 /* m of SENDER_TSPEC */

/* Two of the largest packets (docs/credit.md 2.12); 0: the pool is not shared. */
static uint32_t floor_of(const struct config *c)
{
	uint64_t mtu = 0;

	if (!c->credit.share || c->credit.data != CREDIT_DATA_GATED)
		return 0;
	for (uint32_t i = 0; i < c->ports.n; i++)
		mtu = MAX_OF(mtu, c->ports.items[i].mtu);
	return 2 * credit_units((uint32_t)mtu, (uint32_t)c->credit.overhead, (uint8_t)c->credit.unit);
}

static struct rsvp_config config_of(const struct config *c)
{
	const struct cfg_credit *x = &c->credit;
	struct rsvp_config r = rsvp_config_default;

	r.addr = c->node.loopback;
	r.paths_max = (uint32_t)x->paths;
	r.refresh_ms = (uint32_t)x->refresh_ms;
	r.keep = (uint32_t)x->losses;
	r.rapid_ms = (uint32_t)x->rapid_ms;
	r.rapid_max = (uint32_t)x->rapid_copies;
	r.repeat_max_ms = (uint32_t)x->repeat_max_ms;
	r.select_ms = (uint32_t)x->select_ms;
	r.offer_ms = (uint32_t)x->offer_ms;
	r.idle_ms = (uint32_t)x->idle_ms;
	r.lease_ms = (uint32_t)x->lease_ms;
	r.heartbeat_us = x->data == CREDIT_DATA_GATED ? (uint32_t)(x->heartbeat_ms * 1000) : 0;
	r.blockade = (uint32_t)x->blockade;
	r.hops_max = (uint8_t)x->max_hops;
	r.unit = (uint8_t)x->unit;
	r.pool = x->pool;
	r.oversubscription = (uint32_t)x->oversubscription;
	r.buffer = (uint32_t)x->buffer;
	r.margin = (uint32_t)x->margin;
	r.floor = floor_of(c);
	return r;
}

static struct rsvp_numbers numbers_of(const struct cfg_credit *x)
{
	struct rsvp_numbers n = rsvp_ext;

	if (x->message_types.n) {
		n.type_init = (uint8_t)x->message_types.items[0];
		n.type_reserve = (uint8_t)x->message_types.items[1];
		n.type_end = (uint8_t)x->message_types.items[2];
		n.type_end_ack = (uint8_t)x->message_types.items[3];
	}
	if (x->classes.n) {
		n.class_credit = (uint8_t)x->classes.items[0];
		n.class_hop = (uint8_t)x->classes.items[1];
		n.class_path = (uint8_t)x->classes.items[2];
		n.class_offer = (uint8_t)x->classes.items[3];
	}
	n.enterprise = (uint32_t)x->enterprise;
	return n;
}

static struct letter_config letter_of(const struct config *c)
{
	const struct cfg_credit *x = &c->credit;
	struct letter_config l = letter_config_default;

	l.sessions_max = (uint32_t)MIN_OF(x->paths, (uint64_t)LIMIT_LETTER_SESSIONS);
	l.refresh = x->letter.refresh;
	l.refresh_ms = (uint32_t)x->refresh_ms;
	l.keep = (uint32_t)x->losses;
	l.rapid_ms = (uint32_t)x->rapid_ms;
	l.rapid_max = (uint32_t)x->rapid_copies;
	l.repeat_max_ms = (uint32_t)x->repeat_max_ms;
	l.idle_ms = (uint32_t)x->idle_ms;
	l.lease_ms = (uint32_t)x->lease_ms;
	l.heartbeat_ms = (uint32_t)x->letter.heartbeat_ms;
	l.grant_mb = (uint32_t)x->letter.grant_mb;
	l.unit = x->letter.unit == RETURN_MB ? CREDIT_LETTER_UNIT_MB : CREDIT_LETTER_UNIT_BYTES;
	l.strict = x->letter.comparison == COMPARE_SMALLER;
	l.rate = (uint32_t)x->letter.rate;
	return l;
}

/* The types are those of ext mode. */
static struct rsvp_numbers letter_numbers_of(const struct cfg_credit *x)
{
	struct rsvp_numbers ext = numbers_of(x), n = rsvp_letter;

	n.type_init = ext.type_init;
	n.type_reserve = ext.type_reserve;
	n.type_end = ext.type_end;
	n.type_end_ack = ext.type_end_ack;
	n.class_credit = (uint8_t)x->letter.class;
	return n;
}

/* Returns the keys; NULL: out of memory. */
static const struct rsvp_key *keys_of(struct builder *b, const struct cfg_credit_key *from, uint32_t n, uint32_t *built)
{
	struct rsvp_key *key = arena_alloc(b->s->arena, (n + 1) * sizeof(*key));

	*built = 0;
	for (uint32_t i = 0; key && b->config->credit.integrity == INTEGRITY_REQUIRED && i < n; i++) {
		const struct cfg_credit_key *k = &from[i];
		const struct cfg_key_secret *secret = cfg_secret(b->config, (uint32_t)k->id);

		if (!secret)
			continue;
		key[*built] = (struct rsvp_key){.id = k->id, .from_s = k->from_s, .until_s = k->until_s};
		hmac_secret_prepare(&key[(*built)++].secret, (enum hmac_digest)k->digest, secret->key, secret->bytes);
	}
	return key;
}

static uint32_t units_of(const struct cfg_credit *x, uint64_t buffer)
{
	return (uint32_t)(buffer == CFG_NONE ? x->buffer : buffer);
}

/* The address of an interface, of the subnet that `addr` is in; family 0: none. */
static struct ip_addr own_in(const struct snap_interface *in, const struct ip_addr *addr)
{
	for (unsigned int i = 0; in && i < in->n_own; i++)
		if (ip_prefix_contains(&in->own[i], addr))
			return in->own[i].addr;
	return (struct ip_addr){.family = 0};
}

static struct ip_addr own_on(const struct snap_interface *in, const struct ip_addr *addr)
{
	return in && in->vrf == VRF_UNDERLAY ? own_in(in, addr) : (struct ip_addr){.family = 0};
}

/* A neighbour on a common link knows this node by its address there, every other one by its loopback. */
static struct ip_addr own_towards(const struct snapshot *s, const struct ip_addr *addr)
{
	struct ip_addr own = {.family = 0};

	for (uint32_t i = 0; i < s->n_ports && !own.family; i++)
		own = own_on(&s->port[i], addr);
	for (uint32_t i = 0; i < s->n_interfaces && !own.family; i++)
		own = own_on(s->interface[i], addr);
	return own.family ? own : ip_addr_from6(&s->loopback);
}

/* Number of a link's zone: that of its interface, plus 1. */
static uint16_t zone_of(const struct builder *b, const char *port)
{
	return port ? (uint16_t)(build_interface_of(b, port) + 1) : 0;
}

static bool build_neighbor(struct builder *b, const struct cfg_credit_neighbor *n, struct snap_rsvp_neighbor *out)
{
	*out = (struct snap_rsvp_neighbor){.addr = n->address,
		.zone = zone_of(b, n->port),
		.letter = n->mode == SPEECH_LETTER,
		.least_hop_limit = (uint8_t)(n->mode == SPEECH_LETTER ? 0 : 256 - n->hops),
		.buffer = units_of(&b->config->credit, n->buffer),
		.rate = n->rate};
	out->own = out->zone ? own_in(snap_interface(b->s, out->zone - 1), &n->address)
			     : own_towards(b->s, &n->address);
	out->key = keys_of(b, n->keys.items, n->keys.n, &out->n_keys);
	return out->key;
}

static bool build_neighbors(struct builder *b, struct snap_credit *s)
{
	const struct cfg_credit *x = &b->config->credit;
	struct snap_rsvp_neighbor *neighbor = arena_alloc(b->s->arena, (x->neighbors.n + 1) * sizeof(*neighbor));

	s->neighbor = neighbor;
	if (!neighbor)
		return false;
	for (; s->n_neighbors < x->neighbors.n; s->n_neighbors++) {
		struct snap_rsvp_neighbor *n = &neighbor[s->n_neighbors];

		if (!build_neighbor(b, &x->neighbors.items[s->n_neighbors], n))
			return false;
		s->n_letters += n->letter;
		s->n_letters4 += n->letter && n->addr.family == 4;
	}
	return true;
}

static int by_zone(const void *a, const void *b)
{
	const struct snap_rsvp_server *x = a, *y = b;

	if (x->zone != y->zone)
		return x->zone < y->zone ? -1 : 1;
	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static bool build_servers(struct builder *b, struct snap_credit *s)
{
	struct snap_rsvp_server *server = arena_alloc(b->s->arena, (s->n_neighbors + 1) * sizeof(*server));

	for (uint32_t i = 0; server && i < s->n_neighbors; i++) {
		const struct ip_addr *a = &s->neighbor[i].addr;

		if (s->neighbor[i].zone)
			server[s->n_servers++] = (struct snap_rsvp_server){.hi = a->family == 4 ? 0 : ipv6_hi(&a->v6),
				.lo = a->family == 4 ? ip_addr_v4(a) : ipv6_lo(&a->v6),
				.zone = s->neighbor[i].zone};
	}
	if (server)
		qsort(server, s->n_servers, sizeof(*server), by_zone);
	s->server = server;
	return server;
}

static bool build_accepts(struct builder *b, struct snap_credit *s)
{
	const struct cfg_credit *x = &b->config->credit;
	struct snap_rsvp_accept *accept = arena_alloc(b->s->arena, (x->accept.n + 1) * sizeof(*accept));

	for (uint32_t i = 0; accept && i < x->accept.n; i++) {
		build_match(&accept[i].sources, &x->accept.items[i].sources);
		accept[i].buffer = units_of(x, x->accept.items[i].buffer);
		accept[i].total = x->accept.items[i].total;
		for (uint32_t k = 0; x->accept.items[i].join && k < x->sessions.n; k++)
			if (!strcmp(x->sessions.items[k].name, x->accept.items[i].join))
				accept[i].join = k + 1;
	}
	s->accept = accept;
	s->n_accepts = x->accept.n;
	return accept;
}

/* Data of tenants arrives there. */
static void examine_ports(struct builder *b)
{
	for (uint32_t i = 0; i < b->s->n_ports; i++)
		b->s->port[i].examined = true;
}

static void add_demand(struct builder *b, struct snap_rsvp_session *session, uint32_t i,
	struct snap_rsvp_demand *demand, uint32_t *of_path, uint32_t *n)
{
	const struct cfg_credit_session *c = &b->config->credit.sessions.items[i];
	const struct snap_policy *p = &b->s->policy[session[i].policy];

	demand[*n] = (struct snap_rsvp_demand){.sources = c->match.sources,
		.destinations = c->match.destinations,
		.session = i,
		.next = of_path[p->path[0]],
		.traffic_class = session[i].traffic_class};
	session[i].demand = ++*n;
	session[i].on_demand_ns = c->on_demand_s * NSEC_PER_SEC;
	for (unsigned int k = 0; k < p->n_paths; k++)
		of_path[p->path[k]] = *n;
}

/* Sessions that begin with the first packet of their data: found by the path that a packet takes. */
static bool build_demands(struct builder *b, struct snap_credit *s, struct snap_rsvp_session *session)
{
	const struct cfg_credit *x = &b->config->credit;
	struct snap_rsvp_demand *demand;
	uint32_t *of_path, n = 0;

	for (uint32_t i = 0; i < x->sessions.n; i++)
		n += x->sessions.items[i].on_demand_s != 0;
	if (!n)
		return true;
	demand = arena_alloc(b->s->arena, n * sizeof(*demand));
	of_path = arena_alloc(b->s->arena, (b->s->n_paths + 1) * sizeof(*of_path));
	if (!demand || !of_path)
		return false;
	for (uint32_t i = 0; i < x->sessions.n; i++)
		if (x->sessions.items[i].on_demand_s)
			add_demand(b, session, i, demand, of_path, &s->n_demands);
	s->demand = demand;
	s->demand_of = of_path;
	examine_ports(b);
	return true;
}

static bool build_sessions(struct builder *b, struct snap_credit *s)
{
	const struct cfg_credit *x = &b->config->credit;
	struct snap_rsvp_session *session = arena_alloc(b->s->arena, (x->sessions.n + 1) * sizeof(*session));
	uint32_t *of_policy = arena_alloc(b->s->arena, (b->config->policies.n + 1) * sizeof(*of_policy));

	for (uint32_t i = 0; session && of_policy && i < x->sessions.n; i++) {
		const struct cfg_credit_session *c = &x->sessions.items[i];
		uint16_t zone = zone_of(b, c->port);
		uint32_t policy = zone ? 0 : (uint32_t)cfg_find_policy(b->config, c->policy);
		float rate = (float)((double)c->rate_bps / 8);

		session[i] = (struct snap_rsvp_session){.name = c->name,
			.to = c->to,
			.tspec = {.rate = rate,
				.depth = (float)c->buffer,
				.peak = rate,
				.least = LEAST_PACKET,
				.most = zone ? snap_interface(b->s, zone - 1)->mtu : b->s->policy[policy].inner_mtu},
			.policy = policy,
			.next = zone ? 0 : of_policy[policy],
			.zone = zone,
			.traffic_class = (uint8_t)c->class};
		if (!zone)
			of_policy[policy] = i + 1;
	}
	s->session = session;
	s->n_sessions = x->sessions.n;
	s->of_policy = of_policy;
	return session && of_policy && build_demands(b, s, session);
}

int build_credit(struct builder *b)
{
	struct snap_credit *s = &b->s->credit;
	const struct cfg_credit *x = &b->config->credit;

	s->on = x->mode != CREDIT_OFF;
	if (!s->on)
		return 0;
	s->config = config_of(b->config);
	s->numbers = numbers_of(x);
	s->letter = letter_of(b->config);
	s->letter_numbers = letter_numbers_of(x);
	s->overhead = (uint32_t)x->overhead;
	s->wait_ns = x->wait_ms * NSEC_PER_MSEC;
	s->alpha = (uint8_t)x->alpha;
	s->overrun_drops = x->overrun == OVERRUN_DROP;
	s->floor = x->return_ms == CFG_NONE ? 0 : s->config.floor;
	s->return_ns = s->floor ? x->return_ms * NSEC_PER_MSEC : 0;
	for (uint32_t i = 0; i < x->data_of.n; i++) {
		build_match(&s->data_of[i].sources, &x->data_of.items[i].sources);
		s->data_of[i].traffic_class = (uint8_t)x->data_of.items[i].class;
	}
	s->n_data_of = x->data_of.n;
	for (uint32_t i = 0; x->data == CREDIT_DATA_GATED && i < b->s->n_ports; i++)
		b->s->port[i].examined = true;
	s->clock_s = x->clock_s;
	s->repair_ms = x->repair_ms;
	s->window = (uint32_t)x->window;
	s->key = keys_of(b, x->keys.items, x->keys.n, &s->n_keys);
	if (!s->key || !build_neighbors(b, s) || !build_servers(b, s) || !build_accepts(b, s) || !build_sessions(b, s))
		return build_fail(b, -ENOMEM, "out of memory");
	return 0;
}
