/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host that speaks RSVP for credit natively (docs/credit.md 2.3): it opens a session to the other end of each of its
 * flows, and lets sessions end at its own addresses. The messages are those of lib/rsvp; this file carries them. The
 * flows themselves do not wait for credit. The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/host_priv.h"
#include "rsvp/rsvp_node.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

#define UNITS 4096		/* that a session is granted, of 2 KiB */
#define SESSIONS_MAX 1024	/* that end at a host */
#define TRAFFIC_CLASS (48 << 2) /* CS6 */
#define MESSAGE_MAX 1400
#define POLL_BUDGET 1000
#define FIRST_PORT 0xc000 /* of the sender in SENDER_TEMPLATE; each session has its own */

/* Hop-by-hop options: RSVP follows; router alert for RSVP; PadN (RFC 2711). */
static const uint8_t alert[8] = {RSVP_PROTOCOL, 0, 5, 2, 0, 1, 1, 0};

struct signal_frame {
	struct signal_frame *next;
	uint16_t size;
	uint8_t bytes[];
};

struct signal_session {
	const struct topo_flow *flow;
	struct ip_addr to;
	struct rsvp_instance *instance; /* NULL: not begun */
	uint16_t number;
	struct event start;
	struct lab_signal *signal;
};

struct lab_signal {
	struct lab_host *host;
	struct rsvp_node *machines;
	struct ip_addr own; /* the first IPv6 address */
	struct signal_frame *head, **tail;
	struct event timers;
	struct signal_session *session;
	uint32_t sessions;
	struct signal_state state; /* at the end of the run */
	struct rsvp_message in;
};

static struct ip_addr first_of(const struct topo_host *h)
{
	for (uint32_t i = 0; i < h->addresses.n; i++)
		if (h->addresses.items[i].addr.family == 6)
			return h->addresses.items[i].addr;
	return (struct ip_addr){.family = 0};
}

static void run_at(struct lab_signal *s, uint64_t at)
{
	timeline_set(&s->host->timeline, &s->timers, MAX_OF(at, s->host->lab->now));
}

/* --- messages --- */

static void send(void *arg, const struct rsvp_way *way, struct rsvp_message *m)
{
	struct lab_signal *s = arg;
	struct host_port *p = &s->host->port[0];
	size_t options = way->along ? sizeof(alert) : 0, bytes;
	struct signal_frame *f = calloc(1,
		sizeof(*f) + sizeof(struct eth_hdr) + sizeof(struct ipv6_hdr) + sizeof(alert) + MESSAGE_MAX);
	struct eth_hdr *eth = f ? (struct eth_hdr *)f->bytes : NULL;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(eth + 1);
	uint8_t *at = (uint8_t *)(ip + 1);

	if (!f)
		return; /* as a lost frame */
	memcpy(at, alert, options);
	bytes = rsvp_write(&rsvp_ext, m, at + options, MESSAGE_MAX);
	*eth = (struct eth_hdr){.dst = p->peer, .src = p->mac, .type = be16(ETH_TYPE_IPV6)};
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(TRAFFIC_CLASS, 0),
		.payload_length = be16((uint16_t)(options + bytes)),
		.next_header = way->along ? IP_PROTO_HOPOPTS : RSVP_PROTOCOL,
		.hop_limit = m->send_ttl,
		.src = way->along ? m->sender.src.v6 : s->own.v6,
		.dst = way->to.v6};
	f->size = (uint16_t)(at + options + bytes - f->bytes);
	*s->tail = f;
	s->tail = &f->next;
	host_run_at(p, s->host->lab->now);
}

bool signal_send(struct host_port *p)
{
	struct lab_signal *s = p->host->signal;
	struct signal_frame *f = s && p->index == 0 ? s->head : NULL;

	if (!f)
		return false;
	s->head = f->next;
	if (!s->head)
		s->tail = &s->head;
	host_send(p, f->bytes, f->size, f->size);
	free(f);
	return true;
}

/* The host is the end of sessions to its own addresses; it passes nothing on. */
static int route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct rsvp_way *way)
{
	const struct lab_signal *s = arg;

	(void)arrival;
	(void)way;
	return ip_addr_equal(&m->session.dst, &s->own) ? (int)RSVP_FAR : -RSVP_REFUSE_ROUTE;
}

static void changed(void *arg, const struct rsvp_path *p, bool on)
{
	(void)arg;
	(void)p;
	(void)on;
}

static const struct rsvp_node_ops ops = {.send = send, .route = route, .changed = changed};

static void poll_timers(void *arg)
{
	struct lab_signal *s = arg;
	uint64_t next = TIME_NEVER;

	rsvp_poll(s->machines, s->host->lab->now, POLL_BUDGET, &next);
	if (next != TIME_NEVER)
		run_at(s, next);
}

bool signal_receive(struct lab_host *h, const struct line_frame *f)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(f->bytes + sizeof(struct eth_hdr));
	struct lab_signal *s = h->signal;
	const uint8_t *at = (const uint8_t *)(ip + 1);
	struct ip_addr from;
	size_t bytes;

	if (!s || f->captured < sizeof(struct eth_hdr) + sizeof(*ip) + sizeof(alert) ||
		be16_get(((const struct eth_hdr *)f->bytes)->type) != ETH_TYPE_IPV6)
		return false;
	bytes = be16_get(ip->payload_length);
	if (ip->next_header == IP_PROTO_HOPOPTS && bytes > sizeof(alert) && !memcmp(at, alert, sizeof(alert))) {
		at += sizeof(alert);
		bytes -= sizeof(alert);
	} else if (ip->next_header != RSVP_PROTOCOL) {
		return false;
	}
	if (at + bytes > f->bytes + f->captured || rsvp_read(&rsvp_ext, at, bytes, &s->in) != RSVP_ACCEPTED)
		return false;
	from = ip_addr_from6(&ip->src);
	s->in.send_ttl = ip->hop_limit;
	rsvp_receive(s->machines, h->lab->now, &s->in, &from, 0);
	poll_timers(s);
	return true;
}

/* --- sessions --- */

static void begin(void *arg)
{
	struct signal_session *x = arg;
	struct lab_signal *s = x->signal;
	struct rsvp_open o = {.session = {.dst = x->to, .protocol = IP_PROTO_UDP, .port = UDP_PORT_ROCEV2},
		.traffic_class = (uint8_t)x->flow->priority,
		.candidates = 1};

	o.candidate[0] = (struct rsvp_candidate){.id = 1,
		.sender = {.src = s->own, .port = FIRST_PORT + x->number},
		.way = {.rate_bps = s->host->port[0].way->link->topo->rate_bps, .delay_us = UINT32_MAX}};
	x->instance = rsvp_open(s->machines, s->host->lab->now, &o);
	poll_timers(s);
}

/* One for each flow to another IPv6 address or of another priority. */
static bool is_new(const struct lab_signal *s, const struct topo_flow *f, const struct ip_addr *to)
{
	for (uint32_t i = 0; i < s->sessions; i++)
		if (ip_addr_equal(&s->session[i].to, to) && s->session[i].flow->priority == f->priority)
			return false;
	return true;
}

static void add_session(struct lab_signal *s, const struct topo_flow *f)
{
	const struct topology *t = s->host->lab->topo;
	struct ip_addr to = {.family = 0};

	if (strcmp(f->from, s->host->topo->name) != 0 || f->family != 6)
		return;
	for (uint32_t i = 0; i < t->hosts.n; i++)
		if (strcmp(t->hosts.items[i].name, f->to) == 0)
			to = first_of(&t->hosts.items[i]);
	if (!is_new(s, f, &to))
		return;
	s->session[s->sessions] =
		(struct signal_session){.flow = f, .to = to, .number = (uint16_t)s->sessions, .signal = s};
	s->sessions++;
}

static int add_sessions(struct lab_signal *s)
{
	const struct topology *t = s->host->lab->topo;

	s->session = calloc(t->flows.n + 1, sizeof(*s->session));
	if (!s->session)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->flows.n; i++)
		add_session(s, &t->flows.items[i]);
	for (uint32_t i = 0; i < s->sessions; i++) {
		struct signal_session *x = &s->session[i];

		event_init(&x->start, begin, x, "session", s->host->topo->name);
		if (timeline_set(&s->host->timeline, &x->start, x->flow->start_ns) < 0)
			return -ENOMEM;
	}
	return 0;
}

void signal_stop(struct lab_host *h)
{
	struct lab_signal *s = h->signal;

	if (!s)
		return;
	s->state.granted = rsvp_node_stats_of(s->machines)->committed / UNITS;
	for (uint32_t i = 0; i < s->sessions; i++) {
		s->state.opened += s->session[i].instance != NULL;
		s->state.up += s->session[i].instance && rsvp_current(s->session[i].instance);
		timeline_clear(&h->timeline, &s->session[i].start);
		if (s->session[i].instance)
			rsvp_close(s->machines, h->lab->now, s->session[i].instance);
		s->session[i].instance = NULL;
	}
	poll_timers(s);
}

int signal_init(struct lab_host *h)
{
	struct rsvp_config c = rsvp_config_default;
	struct lab_signal *s;

	if (!h->topo->rsvp)
		return 0;
	s = h->signal = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->host = h;
	s->own = c.addr = first_of(h->topo);
	s->tail = &s->head;
	c.paths_max = SESSIONS_MAX + h->lab->topo->flows.n;
	c.buffer = UNITS;
	c.heartbeat_us = 0; /* it sends no updates, so nobody waits for them */
	c.pool = (uint64_t)UNITS * SESSIONS_MAX;
	event_init(&s->timers, poll_timers, s, "rsvp", h->topo->name);
	s->machines = rsvp_node_new(&c, &ops, s, h->lab->seed * 1024 + h->index);
	return s->machines ? add_sessions(s) : -ENOMEM;
}

void signal_fini(struct lab_host *h)
{
	struct lab_signal *s = h->signal;

	if (!s)
		return;
	rsvp_node_free(s->machines);
	while (s->head) {
		struct signal_frame *f = s->head;

		s->head = f->next;
		free(f);
	}
	free(s->session);
	free(s);
}

struct signal_state signal_state(const struct lab_host *h)
{
	return h->signal ? h->signal->state : (struct signal_state){0};
}
