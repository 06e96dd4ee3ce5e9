/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credit of ext mode in a host whose data waits for it (docs/credit.md 2.5): both ends of lib/credit, as a server would have
 * them. There are no fences: IDLE finds what is lost (2.6 c). The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_rsvp.h"
#include "wire/udp.h"

#define UNIT 11
#define OVERHEAD 128
#define LARGEST 5 /* units of the largest packet */
#define IDLE_NS (50 * NSEC_PER_MSEC)
#define ASK_NS (10 * NSEC_PER_MSEC)
#define BEAT_NS (10 * NSEC_PER_MSEC)

/* What the host gives to a previous hop. */
struct signal_grant {
	bool used;
	struct credit_grantor g;
	struct credit_totals t;
	const struct rsvp_path *path; /* committed; NULL: none is */
	uint64_t sent_ns;	      /* of the last update */
	bool due;
};

static struct signal_session *session_of(const struct rsvp_path *p)
{
	return (struct signal_session *)(uintptr_t)rsvp_path_carrier(p);
}

/* --- the machines ask --- */

static uint32_t reserved(void *arg)
{
	struct lab_signal *s = arg;

	for (uint32_t i = 1; i < SIGNAL_SESSIONS_MAX; i++)
		if (!s->grant[i].used) {
			s->grant[i] = (struct signal_grant){.used = true};
			return i;
		}
	return 0;
}

static void released(void *arg, uint32_t number)
{
	struct lab_signal *s = arg;

	s->grant[number] = (struct signal_grant){.used = false};
}

static void opened(void *arg, uint32_t number, uint32_t epoch, uint32_t buffer)
{
	struct lab_signal *s = arg;

	credit_grantor_open(&s->grant[number].g, NULL, epoch, buffer, s->grant[number].t);
}

static void resized(void *arg, uint32_t number, uint32_t buffer)
{
	struct lab_signal *s = arg;

	credit_grantor_resize(&s->grant[number].g, buffer);
}

static void filled(void *arg, uint32_t number, struct rsvp_credit *out)
{
	struct lab_signal *s = arg;
	struct credit_update u;

	credit_grantor_update(&s->grant[number].g, s->grant[number].t, &u);
	out->fccl = u.fccl;
	out->abr = u.abr;
	out->sequence = u.sequence;
}

static void counted(void *arg, uint32_t number, uint64_t *received, int64_t *lost, int64_t *freed)
{
	struct lab_signal *s = arg;
	const struct signal_grant *g = &s->grant[number];

	*received = credit_rcvd(&g->g, g->t);
	*lost = g->g.lost;
	*freed = credit_freed(&g->g, g->t);
}

static void heard(void *arg, const struct rsvp_path *p, const struct rsvp_credit *m)
{
	struct lab_signal *s = arg;
	struct signal_session *x = session_of(p);
	struct credit_update u = {.epoch = m->epoch,
		.sequence = m->sequence,
		.buf = m->buffer,
		.has_echo = m->form == RSVP_CREDIT_OF_CONTEXT,
		.echo = m->echo,
		.fccl = m->fccl,
		.abr = m->abr};

	if (!x || x->user.state != CREDIT_OPEN || m->epoch != x->user.epoch)
		return;
	x->user.sequence = m->sequence - 1;
	credit_user_hear(&x->user, &x->gate, &u, 2 * MAX_OF(x->user.buf, m->buffer), s->host->lab->now);
	signal_go_on(s, x);
}

static bool used(void *arg, const struct rsvp_path *p, uint64_t *sent, uint64_t *pending, uint64_t *queued)
{
	const struct signal_session *x = session_of(p);

	(void)arg;
	if (!x || x->user.state != CREDIT_OPEN)
		return false;
	*sent = credit_fctbs(&x->user, &x->gate);
	*pending = *queued = 0;
	return true;
}

static void marked(void *arg, const struct rsvp_path *p, uint32_t number, const struct rsvp_cbfc_hop *h)
{
	static const struct credit_sample none[CREDIT_SAMPLES];
	struct lab_signal *s = arg;
	struct signal_grant *g = &s->grant[number];
	struct credit_hop hop = {.idle = h->flags & RSVP_HOP_IDLE,
		.ask = h->flags & RSVP_HOP_ASK,
		.epoch = h->epoch,
		.sequence = h->sequence,
		.want = h->want,
		.fctbs = h->fctbs,
		.fence = h->fence};

	(void)p;
	g->due |= (credit_grantor_hear(&g->g, &hop, g->t, none, IDLE_NS, s->host->lab->now) & CREDIT_ANSWER) != 0;
	signal_tick_at(s, s->host->lab->now);
}

const struct rsvp_data_ops signal_credit_ops = {.reserved = reserved,
	.released = released,
	.opened = opened,
	.resized = resized,
	.filled = filled,
	.counted = counted,
	.heard = heard,
	.used = used,
	.marked = marked};

/* The credit that a session has now. */
static void adopt(struct lab_signal *s, struct signal_session *x, const struct rsvp_path_view *v)
{
	x->user = (struct credit_user){.state = CREDIT_OPEN,
		.epoch = v->credit_epoch,
		.fccl = v->fccl,
		.abr = v->abr,
		.buf = v->credit_units,
		.buf_now = v->credit_units,
		.base = x->gate.sent - v->sent,
		.heard_ns = s->host->lab->now,
		.moved_ns = s->host->lab->now};
	x->gate.limit = x->user.base + v->fccl;
	x->gate.open = true;
	signal_go_on(s, x);
}

void signal_credit_shown(void *arg, const struct rsvp_path *p)
{
	struct lab_signal *s = arg;
	struct signal_session *x = session_of(p);
	struct rsvp_path_view v;

	if (!s->gated)
		return;
	rsvp_path_show(p, &v);
	if (v.number && (v.grantor == RSVP_G_COMMITTED || v.grantor == RSVP_G_CLOSING))
		s->grant[v.number].path = p;
	else if (v.number && s->grant[v.number].path == p)
		s->grant[v.number].path = NULL;
	if (!x)
		return;
	if (v.user == RSVP_U_COMMITTED && v.current && v.credit_epoch) {
		if (x->user.state != CREDIT_OPEN || x->user.epoch != v.credit_epoch)
			adopt(s, x, &v);
	} else {
		x->gate.open = false;
		x->user.state = CREDIT_RESYNC;
	}
}

int signal_credit_open(struct lab_signal *s)
{
	s->grant = s->gated ? calloc(SIGNAL_SESSIONS_MAX, sizeof(*s->grant)) : NULL;
	return s->gated && !s->grant ? -ENOMEM : 0;
}

void signal_credit_close(struct lab_signal *s)
{
	for (uint32_t i = 0; i < s->sessions; i++) {
		s->session[i].gate.open = false;
		s->session[i].user.state = CREDIT_RESYNC;
	}
	free(s->grant);
	s->grant = NULL;
}

/* --- data --- */

static uint32_t units_of(uint32_t bytes)
{
	return credit_units(bytes, OVERHEAD, UNIT);
}

bool signal_credit_may_send(struct lab_signal *s, struct signal_session *x, uint32_t bytes)
{
	return credit_gate_passes(&x->gate, UINT64_MAX, s->host->lab->now, units_of(bytes));
}

void signal_credit_sent(struct lab_signal *s, struct signal_session *x, uint32_t bytes)
{
	credit_gate_pass(&x->gate, units_of(bytes));
	credit_gate_taken(&x->gate, units_of(bytes), s->host->lab->now);
}

/* A server cannot tell one session that ends at it from another by its packets: there is one for each class. */
bool signal_credit_arrived(struct lab_signal *s, uint8_t class, uint8_t family, uint32_t bytes, uint32_t *who,
	uint32_t *credit)
{
	struct rsvp_path_view v;

	(void)family;
	for (uint32_t i = 1; i < SIGNAL_SESSIONS_MAX && s->grant[i].used; i++) {
		if (!s->grant[i].path)
			continue;
		rsvp_path_show(s->grant[i].path, &v);
		if (v.traffic_class != class)
			continue;
		*who = i;
		*credit = units_of(bytes);
		s->grant[i].t.rcvd += *credit;
		return true;
	}
	return false;
}

void signal_credit_freed(struct lab_signal *s, uint32_t who, uint32_t credit)
{
	s->grant[who].t.freed += credit;
}

/* --- messages --- */

static void send_update(struct lab_signal *s, struct signal_grant *g)
{
	struct rsvp_message *m = &s->out;
	struct rsvp_path_view v;
	struct credit_update u;

	rsvp_path_show(g->path, &v);
	credit_grantor_update(&g->g, g->t, &u);
	g->sent_ns = s->host->lab->now;
	rsvp_clear(m, RSVP_UPDATE);
	m->send_ttl = UINT8_MAX;
	m->session = v.session;
	m->hop = (struct rsvp_hop){.addr = s->own};
	m->credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_OF_CONTEXT,
		.flags = RSVP_CREDIT_UPDATE,
		.traffic_class = v.traffic_class,
		.unit = v.unit,
		.epoch = u.epoch,
		.fccl = u.fccl,
		.abr = u.abr,
		.buffer = u.buf,
		.heartbeat_us = (uint32_t)(2 * BEAT_NS / NSEC_PER_USEC),
		.sequence = u.sequence,
		.lih = v.phop_lih,
		.echo = u.echo};
	m->count[RSVP_O_SESSION] = m->count[RSVP_O_HOP] = m->count[RSVP_O_CREDIT] = 1;
	signal_put(s, &(struct rsvp_way){.to = v.phop}, m);
}

static void send_marker(struct lab_signal *s, struct signal_session *x, const struct rsvp_path *p, bool idle)
{
	struct rsvp_message *m = &s->out;
	struct rsvp_path_view v;
	struct credit_hop hop;

	rsvp_path_show(p, &v);
	x->marked_ns = s->host->lab->now;
	x->user.hop_sequence = rsvp_hop_sequence(p) - 1;
	credit_user_marker(&x->user, &x->gate, &hop);
	rsvp_clear(m, RSVP_MARKER);
	m->send_ttl = UINT8_MAX;
	m->session = v.session;
	m->hop = (struct rsvp_hop){.addr = s->own};
	m->cbfc_hop[0] = (struct rsvp_cbfc_hop){.of_context = true,
		.flags = (uint8_t)(RSVP_HOP_ASK | (idle ? RSVP_HOP_IDLE : 0)),
		.traffic_class = v.traffic_class,
		.unit = v.unit,
		.epoch = hop.epoch,
		.fctbs = hop.fctbs,
		.sequence = hop.sequence,
		.lih = v.lih};
	m->count[RSVP_O_SESSION] = m->count[RSVP_O_HOP] = m->count[RSVP_O_CBFC_HOP] = 1;
	signal_put(s, &(struct rsvp_way){.to = v.nhop}, m);
}

static void tick_session(struct lab_signal *s, struct signal_session *x)
{
	const struct rsvp_path *p = x->begun ? rsvp_current(x->begun) : NULL;
	uint64_t now = s->host->lab->now;

	if (!p || x->user.state != CREDIT_OPEN || now - x->marked_ns < ASK_NS)
		return;
	if (credit_fctbs(&x->user, &x->gate) != x->user.abr && credit_user_idle(&x->gate, IDLE_NS, now))
		send_marker(s, x, p, true);
	else if (x->waits)
		send_marker(s, x, p, false);
}

void signal_credit_tick(struct lab_signal *s)
{
	for (uint32_t i = 1; i < SIGNAL_SESSIONS_MAX && s->grant[i].used; i++) {
		struct signal_grant *g = &s->grant[i];
		struct credit_pace pace = {.batch = MAX_OF(g->g.buf / 32, 1), .mtu = LARGEST, .tick = true};

		credit_grantor_watch(&g->g, g->t, s->host->lab->now);
		if (!g->path)
			continue;
		if (credit_grantor_due(&g->g, g->t, pace) || g->due || s->host->lab->now - g->sent_ns >= BEAT_NS) {
			g->due = false;
			send_update(s, g);
		}
	}
	for (uint32_t i = 0; i < s->sessions; i++)
		tick_session(s, &s->session[i]);
}
