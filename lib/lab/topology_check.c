/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that the schema cannot make: unknown names, loops without delay, impossible rates, too little memory. Reads
 * the configurations that the topology names; runs before the lab is built. The lab is single-threaded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/text.h"
#include "config/headroom.h"
#include "config/marks.h"
#include "lab/topology_priv.h"
#include "wire/eth.h"

struct check {
	struct topology *t;
	struct cfg_diags *diags;
	struct topo_end (*ends)[2]; /* of each link */
	bool *joined;		    /* links whose ends exist */
};

static struct cfg_mark at(const struct check *c, const void *member, struct cfg_mark around)
{
	struct cfg_mark mark = topo_where(c->t, member);

	return mark.line ? mark : around;
}

/* Report each message about a node's own file at the key that names the file. */
static void load_node_file(struct check *c, struct topo_node *n)
{
	struct cfg_diags own = {0};
	char *path = cfg_path_beside(c->t->arena, c->t->file, n->file);

	if (!path)
		return;
	n->file = path;
	n->config = cfg_load_file(path, &own);
	if (n->config)
		cfg_check(n->config, &own);
	for (unsigned int i = 0; i < own.n; i++)
		(own.items[i].warning ? cfg_diag_warn : cfg_diag_add)(c->diags, topo_where(c->t, &n->file),
			"file: %s:%u:%u: %s", own.items[i].file ? own.items[i].file : path, own.items[i].at.line,
			own.items[i].at.column, own.items[i].text);
	cfg_diags_free(&own);
}

static void check_nodes(struct check *c)
{
	for (uint32_t i = 0; i < c->t->nodes.n; i++) {
		struct topo_node *n = &c->t->nodes.items[i];

		if (!n->file == !n->config)
			cfg_diag_add(c->diags, n->at, "node '%s' needs either file or config", n->name);
		else if (n->file)
			load_node_file(c, n);
		else if ((n->config = cfg_load_beside(n->config, c->t->file, c->diags)))
			cfg_check(n->config, c->diags);
		c->diags->file = c->t->file;
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(n->name, c->t->nodes.items[k].name) == 0)
				cfg_diag_add(c->diags, topo_where(c->t, &n->name), "duplicate name '%s' in nodes",
					n->name);
	}
}

static int find_host(const struct check *c, const char *name)
{
	for (uint32_t i = 0; i < c->t->hosts.n; i++)
		if (strcmp(c->t->hosts.items[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void check_sink(struct check *c, const struct topo_host *h)
{
	const struct topo_sink *s = &h->sink;

	if (s->xoff > s->buffer)
		cfg_diag_add(c->diags, topo_where(c->t, &s->xoff), "xoff: exceeds the buffer of %llu bytes",
			(unsigned long long)s->buffer);
	if (s->xon > s->xoff)
		cfg_diag_add(c->diags, topo_where(c->t, &s->xon), "xon: exceeds xoff, which is %llu bytes",
			(unsigned long long)s->xoff);
	if (s->xoff && !h->pfc.n)
		cfg_diag_add(c->diags, topo_where(c->t, &s->xoff),
			"xoff: host '%s' has no priorities to pause; list them under pfc", h->name);
	for (uint32_t i = 0; i < s->stalls.n; i++) {
		const struct topo_stall *stall = &s->stalls.items[i];

		if (!s->drain_bps)
			cfg_diag_add(c->diags, stall->at, "a host with stalls needs a drain rate; set drain");
		if (i && stall->start_ns < stall[-1].start_ns + stall[-1].for_ns)
			cfg_diag_add(c->diags, topo_where(c->t, &stall->start_ns),
				"at: the previous stall has not ended at this time");
	}
}

static void check_injections(struct check *c, const struct topo_host *h)
{
	uint8_t bytes[TOPO_FRAME_MAX];

	for (uint32_t i = 0; i < h->send.n; i++)
		if (topo_frame(h->send.items[i].frame, bytes, sizeof(bytes)) < (int)sizeof(struct eth_hdr))
			cfg_diag_add(c->diags, topo_where(c->t, &h->send.items[i].frame),
				"frame: expected %zu to %zu bytes as pairs of hexadecimal digits",
				sizeof(struct eth_hdr), sizeof(bytes));
}

static void check_rsvp(struct check *c, const struct topo_host *h)
{
	bool has = false;

	for (uint32_t i = 0; i < h->addresses.n; i++)
		has = has || h->addresses.items[i].addr.family == 6;
	if (h->rsvp == HOST_RSVP_EXT && !has)
		cfg_diag_add(c->diags, topo_where(c->t, &h->rsvp),
			"rsvp: host '%s' has no IPv6 address; sessions of ext are of IPv6", h->name);
	if (h->rsvp_refresh_ns && h->rsvp_refresh_ns < NSEC_PER_MSEC)
		cfg_diag_add(c->diags, topo_where(c->t, &h->rsvp_refresh_ns), "rsvp-refresh: expected 1 ms at least");
	for (uint32_t i = 1; i < h->rsvp_restarts.n; i++)
		if (h->rsvp_restarts.items[i].start_ns <=
			h->rsvp_restarts.items[i - 1].start_ns + h->rsvp_restarts.items[i - 1].for_ns)
			cfg_diag_add(c->diags, h->rsvp_restarts.items[i].at,
				"rsvp-restarts: a restart begins before the end of the one listed before it");
}

static void check_hosts(struct check *c)
{
	for (uint32_t i = 0; i < c->t->hosts.n; i++) {
		struct topo_host *h = &c->t->hosts.items[i];

		if (find_host(c, h->name) != (int)i)
			cfg_diag_add(c->diags, topo_where(c->t, &h->name), "duplicate name '%s' in hosts", h->name);
		for (uint32_t k = 0; k < c->t->nodes.n; k++)
			if (strcmp(h->name, c->t->nodes.items[k].name) == 0)
				cfg_diag_add(c->diags, topo_where(c->t, &h->name), "'%s' is also the name of a node",
					h->name);
		for (uint32_t k = 0; k < h->pfc.n; k++)
			if (h->pfc.items[k] > 7)
				cfg_diag_add(c->diags, topo_where(c->t, &h->pfc.items[k]),
					"pfc: expected priorities from 0 to 7, found %llu",
					(unsigned long long)h->pfc.items[k]);
		check_sink(c, h);
		check_injections(c, h);
		check_rsvp(c, h);
	}
}

static bool same_end(const struct topo_end *a, const struct topo_end *b)
{
	return a->node == b->node && a->host == b->host && a->port == b->port;
}

static void check_end(struct check *c, uint32_t link, int side)
{
	struct topo_link *l = &c->t->links.items[link];
	char *const *text = side ? &l->b : &l->a;
	struct topo_end *end = &c->ends[link][side];
	char err[256];

	if (topo_find_end(c->t, *text, end, err, sizeof(err)) < 0) {
		cfg_diag_add(c->diags, topo_where(c->t, text), "%s: %s", side ? "b" : "a", err);
		c->joined[link] = false;
		return;
	}
	for (uint32_t i = 0; i <= link; i++)
		for (int s = 0; s < 2 && (i < link || s < side); s++)
			if (c->joined[i] && same_end(end, &c->ends[i][s]))
				cfg_diag_add(c->diags, topo_where(c->t, text), "%s: '%s' is already an end of link %s",
					side ? "b" : "a", *text, c->t->links.items[i].name);
}

static void check_when(struct check *c, const struct topo_when *w)
{
	struct topo_end end;
	char err[256];

	if (w->port && topo_find_end(c->t, w->port, &end, err, sizeof(err)) < 0)
		cfg_diag_add(c->diags, topo_where(c->t, &w->port), "port: %s", err);
}

static void check_failures(struct check *c, const struct topo_link *l)
{
	for (uint32_t i = 0; i < l->failures.n; i++) {
		const struct topo_failure *f = &l->failures.items[i];

		check_when(c, &f->when);
		if (f->repeat > 1 && (f->for_ns == TIME_NEVER || f->every_ns <= f->for_ns))
			cfg_diag_add(c->diags, at(c, &f->every_ns, f->at),
				"every: a repeated failure must end before the next one begins; make every longer than "
				"for");
		if (f->rate_bps && (f->rate_bps < 1000000 || f->rate_bps > l->rate_bps))
			cfg_diag_add(c->diags, at(c, &f->rate_bps, f->at),
				"rate: a link that slows down has from 1M up to its rate; leave it out for a link that "
				"is down");
		if (f->rate_bps && f->traffic != TRAFFIC_ALL)
			cfg_diag_add(c->diags, at(c, &f->traffic, f->at),
				"traffic: a link that slows down does so for all traffic; leave traffic or rate out");
	}
}

/* The number of the node or host at an end: nodes first, then hosts. */
static uint32_t owner(const struct check *c, const struct topo_end *e)
{
	return e->node >= 0 ? (uint32_t)e->node : c->t->nodes.n + (uint32_t)e->host;
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

/* In a loop without delay frames could circulate for ever while no time passes. */
static void check_loops(struct check *c)
{
	uint32_t n = c->t->nodes.n + c->t->hosts.n, *parent = calloc(n + 1, sizeof(*parent));

	for (uint32_t i = 0; parent && i < n; i++)
		parent[i] = i;
	for (uint32_t i = 0; parent && i < c->t->links.n; i++) {
		struct topo_link *l = &c->t->links.items[i];
		uint32_t a, b;

		if (!c->joined[i] || topo_delay(l))
			continue;
		a = root_of(parent, owner(c, &c->ends[i][0]));
		b = root_of(parent, owner(c, &c->ends[i][1]));
		if (a == b)
			cfg_diag_add(c->diags, l->at,
				"link %s closes a loop of links without delay, in which no time passes; give it a "
				"delay",
				l->name);
		parent[a] = b;
	}
	free(parent);
}

static bool has_port(const struct check *c, int host, uint16_t port)
{
	for (uint32_t i = 0; i < c->t->links.n; i++)
		for (int s = 0; s < 2; s++)
			if (c->joined[i] && c->ends[i][s].host == host && c->ends[i][s].port == port)
				return true;
	return false;
}

static void check_links(struct check *c)
{
	for (uint32_t i = 0; i < c->t->links.n; i++) {
		struct topo_link *l = &c->t->links.items[i];

		c->joined[i] = true;
		check_end(c, i, 0);
		check_end(c, i, 1);
		if (l->km && topo_where(c->t, &l->delay_ns).line)
			cfg_diag_add(c->diags, topo_where(c->t, &l->km),
				"km: the link also has a delay; give either km or delay");
		check_failures(c, l);
	}
	for (uint32_t i = 0; i < c->t->hosts.n; i++)
		if (has_port(c, (int)i, 1) && !has_port(c, (int)i, 0))
			cfg_diag_add(c->diags, c->t->hosts.items[i].at,
				"host '%s' has a link at eth1 but none at eth0; use eth0", c->t->hosts.items[i].name);
	check_loops(c);
}

/* Line rate of a host's first port; 0 when it has none. */
static uint64_t host_rate(const struct check *c, int host)
{
	for (uint32_t i = 0; i < c->t->links.n; i++)
		for (int s = 0; s < 2; s++)
			if (c->joined[i] && c->ends[i][s].host == host)
				return c->t->links.items[i].rate_bps;
	return 0;
}

static int flow_end(struct check *c, const struct topo_flow *f, char *const *name, const char *key)
{
	int host = find_host(c, *name);
	const char *words[1024], *near;
	bool has = false;

	if (host < 0) {
		for (uint32_t i = 0; i < c->t->hosts.n; i++)
			words[i] = c->t->hosts.items[i].name;
		near = text_nearest(*name, words, c->t->hosts.n);
		cfg_diag_add(c->diags, topo_where(c->t, name), "%s: there is no host '%s'%s%s%s", key, *name,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
		return -1;
	}
	for (uint32_t i = 0; i < c->t->hosts.items[host].addresses.n; i++)
		has = has || c->t->hosts.items[host].addresses.items[i].addr.family == f->family;
	if (!has)
		cfg_diag_add(c->diags, topo_where(c->t, name), "%s: host '%s' has no IPv%llu address", key, *name,
			(unsigned long long)f->family);
	if (!host_rate(c, host))
		cfg_diag_add(c->diags, topo_where(c->t, name), "%s: host '%s' has no link", key, *name);
	return host;
}

static void check_flows(struct check *c)
{
	for (uint32_t i = 0; i < c->t->flows.n; i++) {
		struct topo_flow *f = &c->t->flows.items[i];
		int from, to;

		if (f->family == 5)
			cfg_diag_add(c->diags, topo_where(c->t, &f->family), "family: expected 4 or 6, found 5");
		from = flow_end(c, f, &f->from, "from");
		to = flow_end(c, f, &f->to, "to");
		if (from >= 0 && from == to)
			cfg_diag_add(c->diags, topo_where(c->t, &f->to), "to: host '%s' cannot send to itself", f->to);
		if (from >= 0 && host_rate(c, from) && f->rate_bps > host_rate(c, from))
			cfg_diag_add(c->diags, topo_where(c->t, &f->rate_bps),
				"rate: exceeds the link rate of host '%s', %.4g Gb/s", f->from,
				(double)host_rate(c, from) / 1e9);
		if (f->transport == TRANSPORT_DATAGRAM && f->message > f->mtu)
			cfg_diag_add(c->diags, at(c, &f->message, f->at),
				"message: a datagram is one packet; its payload is at most mtu, %llu bytes",
				(unsigned long long)f->mtu);
		if (f->transport == TRANSPORT_DATAGRAM && f->arrivals == ARRIVALS_POISSON && !f->rate_bps)
			cfg_diag_add(c->diags, topo_where(c->t, &f->arrivals),
				"arrivals: poisson needs a rate; set rate");
	}
}

static void check_schedule(struct check *c)
{
	for (uint32_t i = 0; i < c->t->schedule.n; i++) {
		struct topo_event *e = &c->t->schedule.items[i];
		bool found = false;

		check_when(c, &e->when);
		for (uint32_t k = 0; k < c->t->nodes.n; k++)
			found = found || strcmp(c->t->nodes.items[k].name, e->node) == 0;
		if (!found)
			cfg_diag_add(c->diags, topo_where(c->t, &e->node), "node: there is no node '%s'", e->node);
		if (!!e->command + !!e->reload + (e->restart_ns != TIME_NEVER) != 1)
			cfg_diag_add(c->diags, e->at, "an event needs exactly one of command, reload and restart");
	}
}

/* Metres of fibre that the headroom of a port counts with, one way. */
static uint64_t counted_metres(const struct cfg_pfc *p)
{
	if (p->round_trip_us != CFG_NONE)
		return p->round_trip_us * NSEC_PER_USEC / 2 / HEADROOM_NS_PER_M;
	return p->length_m == CFG_NONE ? HEADROOM_LENGTH_M : p->length_m;
}

/* The headroom of a port with lossless classes is for a link as long as its configuration says; it may be longer. */
static void check_length(struct check *c, const struct topo_link *l, int side, const struct topo_end *end)
{
	const struct config *config = c->t->nodes.items[end->node].config;
	struct cfg_port real = config->ports.items[end->port];
	uint64_t metres = (topo_delay(l) + HEADROOM_NS_PER_M - 1) / HEADROOM_NS_PER_M;
	uint64_t counted = counted_metres(&real.pfc), bps = real.speed_bps ? real.speed_bps : l->rate_bps;
	struct cfg_lossless has, needs;

	if (!real.pfc.priorities.n || metres <= counted || cfg_port_profile(config, &real).forced)
		return;
	cfg_port_lossless(config, &real, bps, &has);
	real.pfc.round_trip_us = CFG_NONE;
	real.pfc.length_m = metres;
	cfg_port_lossless(config, &real, bps, &needs);
	if (has.headroom_bytes < needs.rule.full)
		cfg_diag_warn(c->diags, topo_where(c->t, side ? &l->b : &l->a),
			"%s: the headroom of '%s' is for %llu m, and the link is %llu m long: after XOFF %llu bytes "
			"more can "
			"arrive than the %llu that it holds; set length: %llu under its pfc",
			side ? "b" : "a", side ? l->b : l->a, (unsigned long long)counted, (unsigned long long)metres,
			(unsigned long long)(needs.rule.full - has.headroom_bytes),
			(unsigned long long)has.headroom_bytes, (unsigned long long)metres);
}

static void check_lengths(struct check *c)
{
	for (uint32_t i = 0; i < c->t->links.n; i++)
		for (int s = 0; s < 2; s++)
			if (c->ends[i][s].node >= 0)
				check_length(c, &c->t->links.items[i], s, &c->ends[i][s]);
}

static void check_captures(struct check *c)
{
	struct topo_end end;
	char err[256];

	for (uint32_t i = 0; i < c->t->captures.n; i++) {
		struct topo_capture *p = &c->t->captures.items[i];

		if (topo_find_end(c->t, p->place, &end, err, sizeof(err)) < 0)
			cfg_diag_add(c->diags, topo_where(c->t, &p->place), "place: %s", err);
	}
}

static void check_lossless(struct check *c)
{
	bool required;

	if (!topo_lossless(c->t, &required) && required)
		cfg_diag_add(c->diags, topo_where(c->t, &c->t->lab.lossless),
			"lossless: required, but no port and no host has PFC priorities; list them under pfc, or "
			"remove "
			"the key");
}

static void check_memory(struct check *c)
{
	struct topo_memory m;
	uint64_t sum;

	topo_memory(c->t, &m);
	sum = m.nodes + m.lines + m.hosts + m.eal;
	if (sum <= c->t->lab.memory)
		return;
	cfg_diag_add(c->diags, at(c, &c->t->lab.memory, c->t->lab.at),
		"memory: the run needs %llu MB, more than the limit of %llu MB: %llu MB buffers and tables of nodes + "
		"%llu MB on "
		"links + %llu MB hosts + %llu MB fixed; %s",
		(unsigned long long)(sum >> 20), (unsigned long long)(c->t->lab.memory >> 20),
		(unsigned long long)(m.nodes >> 20), (unsigned long long)(m.lines >> 20),
		(unsigned long long)(m.hosts >> 20), (unsigned long long)(m.eal >> 20), m.widest);
}

void topo_check(struct topology *t, struct cfg_diags *diags)
{
	struct check c = {.t = t, .diags = diags};

	c.ends = calloc(t->links.n + 1, sizeof(*c.ends));
	c.joined = calloc(t->links.n + 1, sizeof(*c.joined));
	if (c.ends && c.joined) {
		check_nodes(&c);
		check_hosts(&c);
		check_links(&c);
		check_flows(&c);
		check_schedule(&c);
		check_captures(&c);
		if (!cfg_diags_errors(diags)) {
			check_lengths(&c);
			check_lossless(&c);
		}
		if (!cfg_diags_errors(diags))
			check_memory(&c);
	} else {
		cfg_diag_add(diags, (struct cfg_mark){0, 0}, "out of memory");
	}
	free(c.ends);
	free(c.joined);
}
