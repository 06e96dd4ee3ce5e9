/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host that speaks by the letter of the draft (docs/credit.md 2.4): IPv6 and IPv4. It returns the credit of all payload
 * that reaches it; what it sends does not wait for credit, and so does not count as sent. With rsvp-data: gated both are counted,
 * in bytes of IP packets, and credit is returned when they have left the receive buffer.
 */
#include <errno.h>

#include "lab/lab_rsvp.h"
#include "wire/udp.h"

#define POOL (4ull << 30) /* bytes that sessions may reserve */

static int route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct letter_route *out)
{
	(void)arrival;
	out->role = RSVP_FAR;
	return signal_is_own(arg, &m->session.dst) ? 0 : -RSVP_REFUSE_ROUTE;
}

static struct ip_addr own(void *arg, uint16_t zone, const struct ip_addr *neighbor)
{
	const struct lab_signal *s = arg;

	(void)zone;
	return neighbor->family == 4 ? s->own4 : s->own;
}

static bool take(void *arg, uint64_t bytes)
{
	struct lab_signal *s = arg;

	if (s->lent + bytes > POOL)
		return false;
	s->lent += bytes;
	return true;
}

static void give(void *arg, uint64_t bytes)
{
	struct lab_signal *s = arg;

	s->lent -= bytes;
}

static void changed(void *arg, const struct letter_session *x, bool on)
{
	(void)arg;
	(void)x;
	(void)on;
}

static const struct letter_ops ops =
	{.send = signal_put, .route = route, .own = own, .take = take, .give = give, .changed = changed};

static int open_machine(struct lab_signal *s, uint64_t seed)
{
	struct letter_config c = letter_config_default;

	c.sessions_max = SIGNAL_SESSIONS_MAX + s->host->lab->topo->flows.n;
	if (s->host->topo->rsvp_refresh_ns) {
		c.refresh = true;
		c.refresh_ms = (uint32_t)(s->host->topo->rsvp_refresh_ns / NSEC_PER_MSEC);
	}
	s->lent = 0;
	s->letter = letter_new(&c, &ops, s, seed << 8); /* its lowest byte is not in the epoch of ids */
	return s->letter ? 0 : -ENOMEM;
}

static void close_machine(struct lab_signal *s)
{
	letter_free(s->letter);
	s->letter = NULL;
}

static void *begin(struct lab_signal *s, struct signal_session *x)
{
	const struct ip_addr *here = x->to.family == 4 ? &s->own4 : &s->own;
	float bytes = (float)(s->host->port[0].way->link->topo->rate_bps / 8);
	struct rsvp_session session = {.dst = x->to, .protocol = IP_PROTO_UDP, .port = UDP_PORT_ROCEV2};
	struct rsvp_sender sender = {.src = *here, .port = signal_port(s, x->number)};
	struct rsvp_tspec tspec = {.rate = bytes,
		.depth = (float)x->flow->mtu,
		.peak = bytes,
		.least = 64,
		.most = (uint32_t)x->flow->mtu};
	struct rsvp_way way = {.here = *here};

	return letter_open(s->letter, s->host->lab->now, &session, &sender, &tspec, &way, 1);
}

static void end(struct lab_signal *s, void *begun)
{
	letter_close(s->letter, s->host->lab->now, begun);
}

static bool is_up(void *begun)
{
	return letter_gate(begun) != NULL;
}

static void receive(struct lab_signal *s, const struct ip_addr *from)
{
	letter_receive(s->letter, s->host->lab->now, &s->in, from, 0);
}

static bool is_committed(const struct lab_signal *s, uint32_t slot, struct rsvp_path_view *v)
{
	const struct letter_session *x = letter_at(s->letter, slot);

	if (x)
		letter_show(x, v);
	return x && v->grantor == RSVP_G_COMMITTED;
}

/* The host reads at once what arrives: all of it is free again. */
static uint64_t poll(struct lab_signal *s)
{
	uint64_t next = TIME_NEVER;
	struct rsvp_path_view v;

	for (uint32_t i = 0; i < SIGNAL_SESSIONS_MAX; i++)
		if (is_committed(s, i, &v)) {
			bool four = v.session.dst.family == 4;
			uint64_t bytes = four ? s->received4 : s->received;

			letter_freed(s->letter, s->host->lab->now, letter_grant_of(letter_at(s->letter, i), &v.phop),
				bytes, s->gated ? s->freed[four] : bytes);
		}
	letter_poll(s->letter, s->host->lab->now, SIGNAL_POLL, &next);
	return next;
}

static uint64_t granted(const struct lab_signal *s)
{
	struct rsvp_path_view v;
	uint64_t n = 0;

	for (uint32_t i = 0; i < SIGNAL_SESSIONS_MAX; i++)
		n += is_committed(s, i, &v);
	return n;
}

static uint64_t left(const struct lab_signal *s)
{
	return letter_stats_of(s->letter)->sessions + s->lent;
}

static bool may_send(struct lab_signal *s, struct signal_session *x, uint32_t bytes)
{
	const struct credit_letter_gate *g = letter_gate(x->begun);

	(void)s;
	return g && credit_letter_passes(g, bytes);
}

static void sent(struct lab_signal *s, struct signal_session *x, uint32_t bytes)
{
	struct credit_letter_gate *g = letter_gate(x->begun);

	if (!g)
		return;
	credit_letter_taken(g, bytes, s->host->lab->now);
	letter_sent(s->letter, s->host->lab->now, x->begun, x->waits);
}

static bool arrived(struct lab_signal *s, uint8_t class, uint8_t family, uint32_t bytes, uint32_t *who,
	uint32_t *credit)
{
	(void)class;
	*who = family == 4;
	*credit = bytes;
	*(family == 4 ? &s->received4 : &s->received) += bytes;
	return true;
}

static void freed(struct lab_signal *s, uint32_t who, uint32_t credit)
{
	s->freed[who] += credit;
}

static void tick(struct lab_signal *s)
{
	uint64_t next = poll(s);

	for (uint32_t i = 0; i < s->sessions; i++)
		if (s->session[i].begun && s->session[i].waits)
			signal_go_on(s, &s->session[i]);
	signal_run_at(s, next);
}

const struct signal_speech signal_letter = {.numbers = &rsvp_letter,
	.has_ipv4 = true,
	.open = open_machine,
	.close = close_machine,
	.begin = begin,
	.end = end,
	.is_up = is_up,
	.receive = receive,
	.poll = poll,
	.granted = granted,
	.left = left,
	.may_send = may_send,
	.sent = sent,
	.arrived = arrived,
	.freed = freed,
	.tick = tick};
