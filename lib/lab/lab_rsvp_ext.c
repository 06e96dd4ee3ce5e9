/* SPDX-License-Identifier: BSD-3-Clause */
/* A host that speaks as a node does (docs/credit.md 2): IPv6, offers and commits. Its data is in lab_rsvp_credit.c. */
#include <errno.h>

#include "lab/lab_rsvp.h"
#include "wire/udp.h"

#define UNITS 4096 /* that a session is granted at most, of 2 KiB */
#define BEAT_US 20000

/* The host is the end of sessions to its own addresses; it passes nothing on. */
static int route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct rsvp_way *way)
{
	(void)arrival;
	(void)way;
	return signal_is_own(arg, &m->session.dst) ? (int)RSVP_FAR : -RSVP_REFUSE_ROUTE;
}

static void changed(void *arg, const struct rsvp_path *p, bool on)
{
	(void)arg;
	(void)p;
	(void)on;
}

static const struct rsvp_node_ops ops = {.send = signal_put, .route = route, .changed = changed},
				  gated_ops = {.send = signal_put,
					  .route = route,
					  .changed = changed,
					  .shown = signal_credit_shown,
					  .data = &signal_credit_ops};

/* What the receive buffer has room for. */
static uint32_t units_of(const struct lab_signal *s)
{
	const struct topo_sink *k = &s->host->topo->sink;

	return s->gated && k->drain_bps ? (uint32_t)MIN_OF(k->buffer >> 11, (uint64_t)UNITS) : UNITS;
}

static int open_machine(struct lab_signal *s, uint64_t seed)
{
	struct rsvp_config c = rsvp_config_default;

	c.addr = s->own;
	c.paths_max = SIGNAL_SESSIONS_MAX + s->host->lab->topo->flows.n;
	c.buffer = units_of(s);
	c.heartbeat_us = s->gated ? BEAT_US : 0; /* 0: it sends no updates, so nobody waits for them */
	c.pool = (uint64_t)UNITS * SIGNAL_SESSIONS_MAX;
	if (signal_credit_open(s) < 0)
		return -ENOMEM;
	s->ext = rsvp_node_new(&c, s->gated ? &gated_ops : &ops, s, seed);
	return s->ext ? 0 : -ENOMEM;
}

static void close_machine(struct lab_signal *s)
{
	rsvp_node_free(s->ext);
	s->ext = NULL;
	signal_credit_close(s);
}

static void *begin(struct lab_signal *s, struct signal_session *x)
{
	struct rsvp_open o = {.session = {.dst = x->to, .protocol = IP_PROTO_UDP, .port = UDP_PORT_ROCEV2},
		.traffic_class = (uint8_t)x->flow->priority,
		.candidates = 1};

	o.candidate[0] = (struct rsvp_candidate){.id = 1,
		.sender = {.src = s->own, .port = signal_port(s, x->number)},
		.way = {.carrier = s->gated ? (uint64_t)(uintptr_t)x : 0,
			.rate_bps = s->host->port[0].way->link->topo->rate_bps,
			.delay_us = UINT32_MAX}};
	return rsvp_open(s->ext, s->host->lab->now, &o);
}

static void end(struct lab_signal *s, void *begun)
{
	rsvp_close(s->ext, s->host->lab->now, begun);
}

static bool is_up(void *begun)
{
	return rsvp_current(begun) != NULL;
}

static void receive(struct lab_signal *s, const struct ip_addr *from)
{
	rsvp_receive(s->ext, s->host->lab->now, &s->in, from, 0);
}

static uint64_t poll(struct lab_signal *s)
{
	uint64_t next = TIME_NEVER;

	rsvp_poll(s->ext, s->host->lab->now, SIGNAL_POLL, &next);
	return next;
}

static uint64_t granted(const struct lab_signal *s)
{
	return rsvp_node_stats_of(s->ext)->committed / units_of(s);
}

static uint64_t left(const struct lab_signal *s)
{
	const struct rsvp_node_stats *x = rsvp_node_stats_of(s->ext);

	return x->instances + x->paths + x->promised;
}

const struct signal_speech signal_ext = {.numbers = &rsvp_ext,
	.open = open_machine,
	.close = close_machine,
	.begin = begin,
	.end = end,
	.is_up = is_up,
	.receive = receive,
	.poll = poll,
	.granted = granted,
	.left = left,
	.may_send = signal_credit_may_send,
	.sent = signal_credit_sent,
	.arrived = signal_credit_arrived,
	.freed = signal_credit_freed,
	.tick = signal_credit_tick};
