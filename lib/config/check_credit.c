/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks credit: keys, numbers of messages and classes, timers, the pool, neighbours and sessions. Pure. */
#include "base/limits.h"
#include "config/behavior.h"
#include "config/check_priv.h"
#include "config/keys.h"
#include "config/program.h"

#define CANDIDATES_MAX 16 /* paths of a session, as many as a Reserve names (docs/credit.md 2.2) */

#define U(x) ((unsigned long long)(x))

/* A node without infrastructure is reported elsewhere. */
static bool in_infrastructure(const struct config *c, const struct ip_prefix *p)
{
	if (!c->node.infrastructure.n)
		return true;
	for (uint32_t i = 0; i < c->node.infrastructure.n; i++)
		if (ip_prefix_covers(&c->node.infrastructure.items[i], p))
			return true;
	return false;
}

static struct ip_prefix host(const struct ip_addr *a)
{
	return (struct ip_prefix){.addr = *a, .len = 128};
}

/* --- keys --- */

static void check_key(const struct config *c, struct cfg_diags *d, const struct cfg_credit_key *k)
{
	struct cfg_mark at = cfg_where(c, &k->id);

	if (!c->hmac.keys)
		cfg_diag_add(d, at, "id: there is no key file; set hmac.keys");
	else if (c->secrets && !cfg_secret(c, (uint32_t)k->id))
		cfg_diag_add(d, at, "id: there is no key %llu in %s", U(k->id), c->hmac.keys);
	if (k->until_s <= k->from_s)
		cfg_diag_add(d, cfg_where(c, &k->until_s),
			"until: %llu is not after from, %llu, so the key is never valid", U(k->until_s), U(k->from_s));
}

static void check_keys(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_credit *x = &c->credit;

	if (x->integrity == INTEGRITY_REQUIRED && !x->keys.n)
		cfg_diag_add(d, check_at(c, &x->mode, x->at),
			"mode: ext needs a key, because integrity is required; add keys with an id of hmac.keys");
	for (uint32_t i = 0; i < x->keys.n; i++)
		check_key(c, d, &x->keys.items[i]);
}

/* --- numbers --- */

static bool is_assigned_type(uint64_t type)
{
	static const uint8_t assigned[] = {12, 13, 14, 15, 20, 21, 25, 26, 66, 67};

	for (unsigned int i = 0; i < sizeof(assigned); i++)
		if (type == assigned[i])
			return true;
	return type <= 10 || type > UINT8_MAX;
}

static void check_types(const struct config *c, struct cfg_diags *d)
{
	const uint64_t *type = c->credit.message_types.items;

	for (uint32_t i = 0; i < c->credit.message_types.n; i++) {
		if (is_assigned_type(type[i]))
			cfg_diag_add(d, cfg_where(c, &type[i]),
				"message-types: %llu is the type of another message, or not from 11 to 255",
				U(type[i]));
		for (uint32_t k = 0; k < i; k++)
			if (type[k] == type[i])
				cfg_diag_add(d, cfg_where(c, &type[i]), "message-types: %llu is used twice",
					U(type[i]));
	}
}

/* The two high bits of a class say what a node does that does not know it; only a few classes are vendor-private. */
static void check_classes(const struct config *c, struct cfg_diags *d)
{
	static const struct {
		const char *name;
		uint8_t first;
	} ranges[] = {{"CREDIT", 124}, {"CBFC_HOP", 188}, {"CBFC_PATH", 252}, {"CBFC_OFFER", 252}};
	const uint64_t *class = c->credit.classes.items;

	for (uint32_t i = 0; i < c->credit.classes.n; i++)
		if (class[i] < ranges[i].first || class[i] > ranges[i].first + 3u)
			cfg_diag_add(d, cfg_where(c, &class[i]),
				"classes: %llu for %s: expected %u to %u, the vendor-private classes that other nodes "
				"%s "
				"(RFC 3936)",
				U(class[i]), ranges[i].name, ranges[i].first, ranges[i].first + 3,
				i == 0	 ? "refuse"
				: i == 1 ? "ignore"
					 : "pass on");
	if (c->credit.classes.n == 4 && class[2] == class[3])
		cfg_diag_add(d, cfg_where(c, &class[3]), "classes: %llu is used twice", U(class[3]));
}

/* --- timers and the pool --- */

static void check_timers(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_credit *x = &c->credit;

	if (x->offer_ms <= x->select_ms)
		cfg_diag_add(d, check_at(c, &x->offer_ms, check_at(c, &x->select_ms, x->at)),
			"offer: %llu ms: an offer must live longer than the selection, select: %llu ms", U(x->offer_ms),
			U(x->select_ms));
	if (x->data == CREDIT_DATA_GATED && x->lease_ms < 3 * x->heartbeat_ms + x->idle_ms)
		cfg_diag_add(d, check_at(c, &x->lease_ms, check_at(c, &x->heartbeat_ms, x->at)),
			"lease: %llu ms: a neighbour may use its credit for 3 * heartbeat, and data may be on its way "
			"for idle; "
			"use %llu or more",
			U(x->lease_ms), U(3 * x->heartbeat_ms + x->idle_ms));
	if (x->data == CREDIT_DATA_GATED && x->wait_ms < 2 * x->idle_ms)
		cfg_diag_warn(d, check_at(c, &x->wait_ms, check_at(c, &x->idle_ms, x->at)),
			"wait: %llu ms: a session whose next hop was away for a moment has credit again after 2 * "
			"idle, %llu ms, "
			"at the earliest; its packets are sent without credit, or dropped, before that",
			U(x->wait_ms), U(2 * x->idle_ms));
	if (x->rapid_ms * ((1ull << x->rapid_copies) - 1) > x->refresh_ms)
		cfg_diag_warn(d, check_at(c, &x->refresh_ms, check_at(c, &x->rapid_ms, x->at)),
			"refresh: %llu ms is over before the %llu rapid copies are, after %llu ms", U(x->refresh_ms),
			U(x->rapid_copies), U(x->rapid_ms * ((1ull << x->rapid_copies) - 1)));
}

static void check_pool(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_credit *x = &c->credit;
	struct cfg_mark at = check_at(c, &x->pool, x->at);

	if (x->pool && x->pool < x->buffer + x->margin)
		cfg_diag_add(d, at,
			"pool: %llu units have no room for one session of buffer: %llu and margin: %llu; lower them, "
			"or "
			"raise pool",
			U(x->pool), U(x->buffer), U(x->margin));
	if (x->accept.n && !x->pool)
		cfg_diag_add(d, at,
			"pool: 0, so no session of accept in line %u could be granted credit; set pool, at least %llu "
			"units for one session",
			cfg_where(c, &x->accept).line, U(x->buffer + x->margin));
}

/* --- neighbours, permissions --- */

static bool is_on(const struct cfg_link *link, const struct ip_addr *addr)
{
	for (uint32_t i = 0; i < link->n_addresses; i++)
		if (ip_prefix_contains(&link->addresses[i], addr))
			return true;
	return false;
}

/* A server: on a link of tenants, one hop away, with keys that nobody else has. */
static void check_server(const struct config *c, struct cfg_diags *d, const struct cfg_credit_neighbor *n)
{
	struct cfg_mark at = cfg_where(c, &n->port);
	char text[IP_ADDR_TEXT];
	struct cfg_link link;

	if (!cfg_find_link(c, n->port, &link))
		return;
	if (c->ports.items[link.port].side == SIDE_WAN)
		cfg_diag_add(d, at,
			"port: %s is on the side of the domain, whose nodes are heard on every port; leave out port, "
			"or use a "
			"port of side: dc",
			n->port);
	if (!is_on(&link, &n->address))
		cfg_diag_add(d, cfg_where(c, &n->address), "address: %s is not on a subnet of %s",
			ip_addr_format(&n->address, text), n->port);
	if (n->mode == SPEECH_EXT && n->address.family == 4)
		cfg_diag_add(d, cfg_where(c, &n->address),
			"address: %s: messages of ext mode are IPv6; use mode: letter, or an IPv6 address",
			ip_addr_format(&n->address, text));
	if (n->hops != 1)
		cfg_diag_add(d, cfg_where(c, &n->hops), "hops: %llu: a server on %s is one hop away; leave out hops",
			U(n->hops), n->port);
	if (c->credit.integrity == INTEGRITY_REQUIRED && !n->keys.n && n->mode == SPEECH_EXT)
		cfg_diag_add(d, at,
			"port: a server needs keys of its own, because integrity is required; add keys with an id of "
			"hmac.keys "
			"to this neighbour");
	for (uint32_t i = 0; i < n->keys.n; i++)
		check_key(c, d, &n->keys.items[i]);
}

/* A node of the domain that knows nothing but the draft: natively, on a common link. */
static void check_letter_neighbor(const struct config *c, struct cfg_diags *d, const struct cfg_credit_neighbor *n)
{
	char text[IP_ADDR_TEXT];

	for (uint32_t i = 0; i < n->keys.n; i++)
		check_key(c, d, &n->keys.items[i]);
	for (uint32_t i = 0; i < c->ports.n; i++)
		for (uint32_t k = 0; c->ports.items[i].side == SIDE_WAN && k < c->ports.items[i].addresses.n; k++)
			if (ip_prefix_contains(&c->ports.items[i].addresses.items[k], &n->address))
				return;
	cfg_diag_add(d, cfg_where(c, &n->address),
		"address: %s is not on a subnet of a port of side: wan, and a neighbour of mode letter is the next "
		"hop; add the "
		"subnet to the port's addresses, or port, if it is a server",
		ip_addr_format(&n->address, text));
}

/* A node of the domain. */
static void check_neighbor(const struct config *c, struct cfg_diags *d, const struct cfg_credit_neighbor *n)
{
	struct ip_prefix address = host(&n->address);
	struct cfg_mark at = cfg_where(c, &n->address);
	char text[IP_ADDR_TEXT];

	ip_addr_format(&n->address, text);
	if (n->mode == SPEECH_LETTER) {
		check_letter_neighbor(c, d, n);
		return;
	}
	if (n->address.family == 4) {
		cfg_diag_add(d, at, "address: %s: messages of ext mode are IPv6; use mode: letter, or an IPv6 address",
			text);
		return;
	}
	if (n->keys.n)
		cfg_diag_add(d, cfg_where(c, &n->keys),
			"keys: nodes of the domain share credit.keys; add port if %s is a server, or leave out keys",
			text);
	if (ip_addr_equal(&n->address, &c->node.loopback))
		cfg_diag_add(d, at, "address: %s is node.loopback of this node", text);
	else if (!in_infrastructure(c, &address))
		cfg_diag_add(d, at,
			"address: %s is not in node.infrastructure, line %u, so a tenant could send from it; add its "
			"prefix there",
			text, cfg_where(c, &c->node.infrastructure).line);
}

/* Servers of two tenants may have the same address, on different links. */
static void check_once(const struct config *c, struct cfg_diags *d, const struct cfg_credit_neighbor *n)
{
	char text[IP_ADDR_TEXT];

	for (const struct cfg_credit_neighbor *o = c->credit.neighbors.items; o < n; o++) {
		if (!ip_addr_equal(&o->address, &n->address) ||
			strcmp(n->port ? n->port : "", o->port ? o->port : "") != 0)
			continue;
		cfg_diag_add(d, cfg_where(c, &n->address), "address %s is used twice in neighbors, first in line %u",
			ip_addr_format(&n->address, text), cfg_where(c, &o->address).line);
		return;
	}
}

static void check_any_neighbor(const struct config *c, struct cfg_diags *d, const struct cfg_credit_neighbor *n)
{
	check_once(c, d, n);
	if (n->port)
		check_server(c, d, n);
	else
		check_neighbor(c, d, n);
	if (n->buffer != CFG_NONE && n->buffer > c->credit.buffer)
		cfg_diag_add(d, cfg_where(c, &n->buffer), "buffer: %llu is more than credit.buffer, %llu", U(n->buffer),
			U(c->credit.buffer));
}

/* Of all sessions of a permission. */
static void check_total(const struct config *c, struct cfg_diags *d, const struct cfg_credit_accept *a)
{
	uint64_t each = a->buffer == CFG_NONE ? c->credit.buffer : a->buffer;

	if (a->total == CFG_NONE || !c->credit.pool || each > c->credit.buffer)
		return; /* or reported elsewhere */
	if (a->total > c->credit.pool)
		cfg_diag_add(d, cfg_where(c, &a->total), "total: %llu is more than credit.pool, %llu", U(a->total),
			U(c->credit.pool));
	else if (a->total < each + c->credit.margin)
		cfg_diag_add(d, cfg_where(c, &a->total),
			"total: %llu is less than one session may have, %llu with credit.margin: no session that asks "
			"for that "
			"would be granted; use %llu or more, or a smaller buffer",
			U(a->total), U(each + c->credit.margin), U(each + c->credit.margin));
}

static void check_join(const struct config *c, struct cfg_diags *d, const struct cfg_credit_accept *a)
{
	const struct cfg_credit_session *s = NULL;

	for (uint32_t i = 0; i < c->credit.sessions.n && !s; i++)
		if (c->credit.sessions.items[i].port && !strcmp(c->credit.sessions.items[i].name, a->join))
			s = &c->credit.sessions.items[i];
	if (s)
		return;
	cfg_diag_add(d, cfg_where(c, &a->join),
		"join: there is no session '%s' to a server in credit.sessions; name one that has port", a->join);
}

static void check_accept(const struct config *c, struct cfg_diags *d, const struct cfg_credit_accept *a)
{
	char text[IP_PREFIX_TEXT];

	if (!in_infrastructure(c, &a->sources))
		cfg_diag_add(d, cfg_where(c, &a->sources),
			"sources: %s is not in node.infrastructure, line %u, so its packets are dropped here; add it "
			"there",
			ip_prefix_format(&a->sources, text), cfg_where(c, &c->node.infrastructure).line);
	if (a->buffer != CFG_NONE && a->buffer > c->credit.buffer)
		cfg_diag_add(d, cfg_where(c, &a->buffer), "buffer: %llu is more than credit.buffer, %llu", U(a->buffer),
			U(c->credit.buffer));
	check_total(c, d, a);
	if (a->join)
		check_join(c, d, a);
}

static void check_data_of(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_credit *x = &c->credit;
	char text[IP_PREFIX_TEXT];
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < x->data_of.n; i++)
		if (!in_infrastructure(c, &x->data_of.items[i].sources))
			cfg_diag_add(d, cfg_where(c, &x->data_of.items[i].sources),
				"sources: %s is not in node.infrastructure, line %u, so its packets are dropped here; "
				"add it there",
				ip_prefix_format(&x->data_of.items[i].sources, text),
				cfg_where(c, &c->node.infrastructure).line);
	for (uint32_t i = 0; i < x->neighbors.n; i++)
		nodes += !x->neighbors.items[i].port;
	if (x->data == CREDIT_DATA_GATED && x->pool && !x->data_of.n && !x->accept.n && !x->sessions.n && nodes > 1)
		cfg_diag_warn(d, x->at,
			"credit: without data-of, what arrives after a restart of this node for sessions that it does "
			"not know yet goes on without credit; list the outer sources of sessions that pass it");
}

/* --- sessions --- */

/* E37: what PFC frames of the next node pause already must not wait for its credit as well. */
static void check_scheme(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct cfg_credit_session *s, const struct cfg_path *path)
{
	struct cfg_program program;
	const char *why;

	if (cfg_program(c, own, path, &program, &why) == 0 && program.via &&
		behavior_info((enum cfg_behavior)program.via->behavior)->pauses)
		cfg_diag_add(d, cfg_where(c, &s->policy),
			"policy: path '%s' of '%s' begins with a SID in line %u whose queues PFC frames pause; a class "
			"has one lossless scheme on a path: use another SID, or no session",
			path->name, s->policy, program.via->at.line);
}

/* Nodes on the way drop packets to their SIDs from other sources. */
static void check_source(const struct config *c, struct cfg_diags *d, const struct cfg_credit_session *s,
	const struct cfg_policy *policy)
{
	struct ip_prefix prefix = policy->source_prefix.addr.family ? policy->source_prefix : host(&policy->source);
	char text[IP_PREFIX_TEXT];

	if (prefix.addr.family && !in_infrastructure(c, &prefix))
		cfg_diag_add(d, cfg_where(c, &s->policy),
			"policy: outer source %s of '%s' is not in node.infrastructure, line %u; use a source or "
			"source-prefix of the domain",
			ip_prefix_format(&prefix, text), s->policy, cfg_where(c, &c->node.infrastructure).line);
}

static const struct cfg_policy *policy_of(const struct config *c, const struct cfg_credit_session *s)
{
	int i = cfg_find_policy(c, s->policy);

	return i < 0 ? NULL : &c->policies.items[i];
}

/* To a server: it must be heard, too. */
static void check_to_server(const struct config *c, struct cfg_diags *d, const struct cfg_credit_session *s)
{
	char text[IP_ADDR_TEXT];

	for (uint32_t i = 0; i < c->credit.neighbors.n; i++) {
		const struct cfg_credit_neighbor *n = &c->credit.neighbors.items[i];

		if (n->port && !strcmp(n->port, s->port) && ip_addr_equal(&n->address, &s->to))
			return;
	}
	cfg_diag_add(d, cfg_where(c, &s->to),
		"to: there is no server %s on %s in credit.neighbors; add {address: \"%s\", port: %s} there",
		ip_addr_format(&s->to, text), s->port, text, s->port);
}

static void check_to(const struct config *c, struct cfg_diags *d, const struct cfg_credit_session *s)
{
	char text[IP_ADDR_TEXT];

	if (s->policy && s->to.family == 4)
		cfg_diag_add(d, cfg_where(c, &s->to),
			"to: %s: a session along a policy ends at the node.loopback of a node",
			ip_addr_format(&s->to, text));
}

static void check_on_demand(const struct config *c, struct cfg_diags *d, const struct cfg_credit_session *s)
{
	if (s->on_demand_s && s->port)
		cfg_diag_add(d, cfg_where(c, &s->on_demand_s),
			"on-demand: the data of a session to a server comes out of tunnels and shows nothing; leave "
			"out on-demand");
	if (!s->on_demand_s && (s->match.sources.addr.family || s->match.destinations.addr.family))
		cfg_diag_add(d,
			cfg_where(c, s->match.sources.addr.family ? (const void *)&s->match.sources
								  : &s->match.destinations),
			"match: %s does not wait for packets; add on-demand, or leave out match", s->name);
}

static void check_session(const struct config *c, struct cfg_diags *d, const struct cfg_own_sids *own,
	const struct cfg_credit_session *s)
{
	const struct cfg_policy *policy = policy_of(c, s);
	char text[IP_ADDR_TEXT];

	if (!s->policy == !s->port)
		cfg_diag_add(d, cfg_where(c, s->policy ? (const void *)&s->policy : (const void *)&s->name),
			"%s: a session goes either along a policy or to a server; give policy or port", s->name);
	if (s->port && !s->policy)
		check_to_server(c, d, s);
	check_to(c, d, s);
	check_on_demand(c, d, s);
	if (ip_addr_equal(&s->to, &c->node.loopback))
		cfg_diag_add(d, cfg_where(c, &s->to), "to: %s is node.loopback of this node",
			ip_addr_format(&s->to, text));
	if (policy && policy->paths.n > CANDIDATES_MAX)
		cfg_diag_add(d, cfg_where(c, &s->policy), "policy: '%s' has %u paths, and a session at most %u",
			s->policy, policy->paths.n, CANDIDATES_MAX);
	if (policy)
		check_source(c, d, s, policy);
	if (policy && policy->flow_label && c->credit.data == CREDIT_DATA_GATED)
		cfg_diag_add(d, cfg_where(c, &policy->flow_label),
			"flow-label: %llu: data of session '%s' in line %u has the label of its path; leave out "
			"flow-label, or give the session another policy",
			U(policy->flow_label), s->name, cfg_where(c, &c->credit.sessions).line);
	for (uint32_t i = 0; policy && i < policy->paths.n; i++)
		check_scheme(c, d, own, s, &policy->paths.items[i]);
}

static void check_letter(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_credit_letter *x = &c->credit.letter;

	if (!x->rate && x->unit == RETURN_MB)
		cfg_diag_warn(d, cfg_where(c, &x->rate),
			"rate: per-packet: with return-unit: mb there is an increment for each MB, not for each "
			"packet; set return-unit: "
			"bytes");
}

static void check_demands(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_credit *x = &c->credit;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->sessions.n; i++)
		n += x->sessions.items[i].on_demand_s != 0;
	if (n > LIMIT_CREDIT_ON_DEMAND)
		cfg_diag_add(d, cfg_where(c, &x->sessions), "sessions: %u are on-demand, and at most %u may be", n,
			LIMIT_CREDIT_ON_DEMAND);
}

static void check_sessions(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_credit *x = &c->credit;
	struct cfg_own_sids *own = cfg_own_sids_new(c);
	uint64_t paths = 0;

	if (!own) {
		cfg_diag_add(d, c->at, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < x->sessions.n; i++) {
		const struct cfg_policy *policy = policy_of(c, &x->sessions.items[i]);

		check_session(c, d, own, &x->sessions.items[i]);
		paths += policy ? policy->paths.n : 1;
	}
	if (paths > x->paths)
		cfg_diag_add(d, check_at(c, &x->paths, x->at),
			"paths: %llu is too few: the sessions in line %u have %llu paths; set paths to %llu or more",
			U(x->paths), cfg_where(c, &x->sessions).line, U(paths), U(paths));
	if (x->sessions.n && !x->neighbors.n)
		cfg_diag_add(d, cfg_where(c, &x->sessions),
			"sessions: there are no neighbors, so no answer would be heard; list the loopbacks of the next "
			"nodes that take part");
	cfg_own_sids_free(own);
}

/* A message above control-rate loses its class, and passes a node that takes part as though it did not. */
static void check_rate(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_credit *x = &c->credit;
	uint64_t rate = 2 * x->paths * 1000 / x->refresh_ms;

	for (uint32_t i = 0; i < c->ports.n; i++)
		if (c->ports.items[i].side == SIDE_WAN && rate > c->ports.items[i].control_rate)
			cfg_diag_warn(d, check_at(c, &c->ports.items[i].control_rate, c->ports.items[i].at),
				"control-rate: %llu packets/s; %llu paths that are refreshed every %llu ms need up to "
				"%llu messages/s, and those above the limit are not heard",
				U(c->ports.items[i].control_rate), U(x->paths), U(x->refresh_ms), U(rate));
}

void check_credit(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_credit *x = &c->credit;

	if (x->mode == CREDIT_OFF) {
		if (x->sessions.n || x->accept.n)
			cfg_diag_warn(d, check_at(c, &x->mode, x->at),
				"mode: off: the sessions are not signalled; set mode: ext");
		return;
	}
	check_keys(c, d);
	check_types(c, d);
	check_classes(c, d);
	check_timers(c, d);
	check_pool(c, d);
	for (uint32_t i = 0; i < x->neighbors.n; i++)
		check_any_neighbor(c, d, &x->neighbors.items[i]);
	for (uint32_t i = 0; i < x->accept.n; i++)
		check_accept(c, d, &x->accept.items[i]);
	check_data_of(c, d);
	check_letter(c, d);
	check_demands(c, d);
	check_sessions(c, d);
	check_rate(c, d);
}
