/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machines of letter mode (docs/credit.md 2.4): what is granted to previous hops, what is had from next hops, and what the
 * messages and timers of each do. Control lcore.
 */
#include <stdlib.h>

#include "rsvp/rsvp_letter_priv.h"

#define DUPLICATE_NS NSEC_PER_SEC /* D12: a 28 of the same session and previous hop goes on once in that time */

static uint64_t life_ns(const struct letter_node *n, uint32_t refresh_ms)
{
	return rsvp_life_of(n->config.keep, MIN_OF(refresh_ms, (uint32_t)RSVP_REFRESH_MAX_MS));
}

/* From [0.5 R, 1.5 R] */
static uint64_t refresh_ns(struct letter_node *n)
{
	return rsvp_ms(n->config.refresh_ms) / 2 + rsvp_splitmix64(&n->random) % (rsvp_ms(n->config.refresh_ms) + 1);
}

static void timer_after(struct letter_node *n, struct letter_timers *t, enum letter_timer_kind kind, uint64_t now,
	uint64_t ns)
{
	letter_timer_set(n, t, kind, now + ns);
}

static void timer_stop(struct letter_node *n, struct letter_timers *t, enum letter_timer_kind kind)
{
	if (t->due[kind] != TIME_NEVER)
		letter_timer_set(n, t, kind, TIME_NEVER);
}

/* --- the user: what a session has from its next hops --- */

static bool is_open(const struct letter_branch *b)
{
	return b->gate.open && (b->state == RSVP_U_OFFER || b->state == RSVP_U_COMMITTED);
}

/* Of the branches that may send, the one that was committed, else the first that was offered (D13, D17). */
static struct letter_branch *best_of(const struct letter_session *s)
{
	struct letter_branch *best = NULL;

	for (struct letter_branch *b = s->branches; b; b = b->next)
		if (is_open(b) && (!best || (b->state == RSVP_U_COMMITTED && best->state != RSVP_U_COMMITTED)))
			best = b;
	return best;
}

/* Data goes over at once, with the credit that was offered then. */
static void choose(struct letter_node *n, struct letter_session *s)
{
	struct letter_branch *before = s->current;
	bool keep = before && is_open(before) && before->state == RSVP_U_COMMITTED;

	s->current = keep ? before : best_of(s);
	n->stats.switched += before && s->current && s->current != before;
	if ((before != NULL) != (s->current != NULL))
		n->ops->changed(n->arg, s, s->current != NULL);
	for (struct letter_grant *g = before && !s->current ? s->grants : NULL; g; g = g->next)
		if (g->state == RSVP_G_OFFERED || g->state == RSVP_G_COMMITTED)
			letter_send_path_err(n, NULL, g, &s->error);
}

static void ask(struct letter_node *n, uint64_t now, struct letter_branch *b)
{
	if (b->state == RSVP_U_NONE || b->state == RSVP_U_OUT)
		b->state = RSVP_U_WAIT;
	b->tries = 1;
	letter_send_init(n, b);
	timer_after(n, &b->timers, LETTER_T_SEND, now, rsvp_ms(n->config.rapid_ms));
}

static void pass_on(struct letter_node *n, uint64_t now, struct letter_session *s)
{
	for (struct letter_branch *b = s->branches; b; b = b->next)
		if (b->state != RSVP_U_ENDING)
			ask(n, now, b);
}

static void end_branch(struct letter_node *n, uint64_t now, struct letter_branch *b)
{
	if (b->state == RSVP_U_ENDING)
		return;
	b->state = RSVP_U_ENDING;
	b->gate.open = false;
	b->tries = 0;
	for (unsigned int i = 0; i < LETTER_TIMERS; i++)
		timer_stop(n, &b->timers, (enum letter_timer_kind)i);
	letter_send_end(n, b);
	timer_after(n, &b->timers, LETTER_T_SEND, now, letter_backed_off(n, 0));
}

/* The draft's End goes along all paths. */
static void end_all(struct letter_node *n, uint64_t now, struct letter_session *s)
{
	for (struct letter_branch *b = s->branches; b; b = b->next)
		end_branch(n, now, b);
	choose(n, s);
}

static void fail(struct letter_node *n, uint64_t now, struct letter_branch *b)
{
	if (b->state == RSVP_U_ENDING || b->state == RSVP_U_DOWN)
		return;
	b->state = RSVP_U_DOWN;
	b->gate.open = false;
	b->session->error = (struct rsvp_error){.code = RSVP_ERROR_ADMISSION, .value = RSVP_REFUSE_ROUTE};
	timer_stop(n, &b->timers, LETTER_T_STATE);
	timer_after(n, &b->timers, LETTER_T_SEND, now, refresh_ns(n)); /* it is asked again */
	choose(n, b->session);
}

static void answered(struct letter_node *n, uint64_t now, struct letter_branch *b)
{
	b->answered = __atomic_load_n(&b->gate.sent, __ATOMIC_RELAXED);
	timer_stop(n, &b->timers, LETTER_T_STATE);
	if (n->config.refresh)
		timer_after(n, &b->timers, LETTER_T_LIFE, now, life_ns(n, b->nhop_refresh_ms));
}

static bool grant(struct letter_node *n, uint64_t now, struct letter_session *s, struct letter_grant *g);

/* What the next hop has confirmed is confirmed to the previous hop that was selected. */
static void confirm_up(struct letter_node *n, uint64_t now, struct letter_session *s)
{
	for (struct letter_grant *g = s->grants; g; g = g->next)
		if (g->selected && g->state == RSVP_G_OFFERED) {
			g->state = RSVP_G_COMMITTED;
			grant(n, now, s, g);
		}
}

static struct letter_branch *branch_of(struct letter_node *n, const struct rsvp_message *m)
{
	struct letter_branch *b = letter_branch_of(n, m->hop.lih);

	if (!b || !rsvp_session_equal(&b->session->session, &m->session) ||
		(m->kind == RSVP_END_ACK && !rsvp_sender_equal(&b->session->sender, &m->sender)) ||
		((m->kind == RSVP_RESERVE || m->kind == RSVP_RESV) &&
			!rsvp_sender_equal(&b->session->sender, &m->flow[0].filter))) {
		n->stats.bad_lih++;
		return NULL;
	}
	if (b->way.zone != m->zone || (b->nhop.family && !ip_addr_equal(&b->nhop, &m->hop.addr))) {
		n->stats.bad_hop++;
		return NULL;
	}
	return b;
}

/* A 29 with flow descriptor, or a Resv, which has no credit (E39): the first is an offer, a later one a commit (D13). */
static void take_grant(struct letter_node *n, uint64_t now, const struct rsvp_message *m)
{
	struct letter_branch *b = branch_of(n, m);
	bool first;

	if (!b)
		return;
	if (b->state == RSVP_U_ENDING) {
		n->stats.no_event++;
		return;
	}
	first = b->state != RSVP_U_OFFER && b->state != RSVP_U_COMMITTED;
	if (m->kind == RSVP_RESV && first) {
		n->stats.no_event++;
		return;
	}
	b->nhop = m->hop.addr;
	b->nhop_refresh_ms = m->refresh_ms;
	b->gate.strict = n->config.strict;
	if (m->kind == RSVP_RESERVE) {
		if (first)
			b->gate.open = false; /* nothing that was sent before it failed is waited for */
		if (credit_letter_grant(&b->gate, m->credit[0].amount, b->queued, rsvp_ms(n->config.idle_ms), now))
			b->mb = m->credit[0].amount;
		else
			n->stats.no_grant++;
	}
	answered(n, now, b);
	if (!b->gate.open)
		return;
	b->state = first ? RSVP_U_OFFER : RSVP_U_COMMITTED;
	if (!n->config.refresh)
		timer_stop(n, &b->timers, LETTER_T_SEND);
	else if (first || b->timers.due[LETTER_T_SEND] == TIME_NEVER) /* its refresh replaces none of this node's */
		timer_after(n, &b->timers, LETTER_T_SEND, now, refresh_ns(n));
	choose(n, b->session);
	if (!first)
		confirm_up(n, now, b->session);
}

/* A 29 without flow descriptor: an increment, once for each MESSAGE_ID (D59). */
static void take_increment(struct letter_node *n, uint64_t now, const struct rsvp_message *m)
{
	struct letter_branch *b = branch_of(n, m);
	struct credit_letter_ids *ids;

	if (!b)
		return;
	if (!m->count[RSVP_O_ID]) {
		n->stats.no_id++;
		return;
	}
	if (!is_open(b)) {
		n->stats.no_event++;
		return;
	}
	ids = letter_ids_of(n, m->zone, &m->hop.addr);
	if (!ids || !credit_letter_accept(ids, m->id.epoch, m->id.id)) {
		n->stats.late++;
		return;
	}
	for (unsigned int i = 0; i < m->count[RSVP_O_CREDIT]; i++)
		credit_letter_return(&b->gate, m->credit[i].amount, n->config.unit);
	answered(n, now, b);
}

static void take_end_ack(struct letter_node *n, const struct rsvp_message *m)
{
	struct letter_branch *b = branch_of(n, m);

	if (!b)
		return;
	if (b->state == RSVP_U_ENDING)
		letter_branch_free(n, b);
	else
		n->stats.no_event++;
}

/* Of which next hop is an error? Of one that has answered, or of one that was asked. */
static struct letter_branch *blamed(const struct letter_session *s, const struct ip_addr *from)
{
	struct letter_branch *asked = NULL;

	for (struct letter_branch *b = s->branches; b; b = b->next) {
		if (b->nhop.family && ip_addr_equal(&b->nhop, from))
			return b;
		if (!asked && !b->nhop.family && b->state == RSVP_U_WAIT)
			asked = b;
	}
	return asked;
}

static void take_path_err(struct letter_node *n, uint64_t now, const struct rsvp_message *m, const struct ip_addr *from)
{
	struct letter_session *s = letter_session_below(n, m);
	struct letter_branch *b = s ? blamed(s, from) : NULL;

	if (!b || b->state == RSVP_U_ENDING) {
		n->stats.no_event++;
		return;
	}
	if (is_open(b)) {
		fail(n, now, b);
		s->error = m->error;
		return;
	}
	s->error = m->error;
	b->state = RSVP_U_OUT;
	timer_after(n, &b->timers, LETTER_T_SEND, now, refresh_ns(n));
	for (b = s->branches; b; b = b->next)
		if (b->state != RSVP_U_OUT && b->state != RSVP_U_DOWN)
			return; /* another one may answer yet */
	for (struct letter_grant *g = s->grants; g; g = g->next)
		letter_send_path_err(n, NULL, g, &s->error);
}

/* --- the grantor: what a session has promised to its previous hops --- */

static uint64_t bytes_of(uint32_t mb)
{
	return (uint64_t)mb * CREDIT_LETTER_RESERVE;
}

static bool reserve(struct letter_node *n, struct letter_grant *g)
{
	const struct letter_session *s = g->session;
	uint64_t buffer = s->bytes ? s->bytes : UINT64_MAX;
	uint32_t mb = (uint32_t)MIN_OF((uint64_t)n->config.grant_mb, buffer / CREDIT_LETTER_RESERVE);

	if (g->mb)
		return true;
	if (!credit_letter_grantable(mb, buffer) || !n->ops->take(n->arg, bytes_of(mb)))
		return false;
	g->mb = mb;
	n->stats.reserved += bytes_of(mb);
	return true;
}

static void release(struct letter_node *n, struct letter_grant *g)
{
	if (!g->mb)
		return;
	n->stats.reserved -= bytes_of(g->mb);
	n->ops->give(n->arg, bytes_of(g->mb));
	g->mb = 0;
}

/* Is nothing of the grant under way or waiting? Only then an absolute grant is one (D59). */
static bool is_idle(const struct letter_node *n, const struct letter_grant *g, uint64_t now)
{
	return g->received == g->freed && (!g->received || now - g->arrived_ns >= rsvp_ms(n->config.idle_ms));
}

/* True: a 29 with flow descriptor has gone up. */
static bool grant(struct letter_node *n, uint64_t now, struct letter_session *s, struct letter_grant *g)
{
	if (!letter_is_carried(n, s)) {
		timer_after(n, &g->timers, LETTER_T_SEND, now, rsvp_ms(n->config.rapid_ms));
		return false;
	}
	s->carried = s->joined;
	if (!is_idle(n, g, now))
		return false; /* increments show that this node is there */
	if (letter_owes(g)) { /* a copy that arrives after the grant would come on top of it */
		timer_after(n, &g->timers, LETTER_T_SEND, now, rsvp_ms(n->config.rapid_ms));
		return false;
	}
	credit_letter_granted(&g->grantor, g->freed);
	letter_send_grant(n, g);
	if (n->config.refresh)
		timer_after(n, &g->timers, LETTER_T_SEND, now, refresh_ns(n));
	else
		timer_stop(n, &g->timers, LETTER_T_SEND);
	return true;
}

static void refuse(struct letter_node *n, const struct rsvp_message *m, uint8_t code, uint16_t value)
{
	n->stats.refused++;
	letter_send_path_err(n, m, NULL, &(struct rsvp_error){.code = code, .value = value});
}

/* The first 28 of a session. NULL: refused, or there is no room. */
static struct letter_session *begin(struct letter_node *n, const struct rsvp_message *m, uint64_t arrival)
{
	struct letter_route route = {.branches = 0};
	int refused = n->ops->route(n->arg, m, arrival, &route);
	struct letter_session *s;
	bool good;

	if (refused) {
		refuse(n, m, refused == -1 ? RSVP_ERROR_POLICY : RSVP_ERROR_ADMISSION,
			refused == -1 ? 0 : (uint16_t)-refused);
		return NULL;
	}
	s = letter_session_new(n, m->zone, &m->session, &m->sender);
	good = s;
	for (unsigned int i = 0; i < route.branches; i++) {
		if (good && letter_branch_new(n, s, &route.way[i]))
			continue;
		good = false;
		if (n->ops->gone)
			n->ops->gone(n->arg, NULL, &route.way[i]);
	}
	if (!s) {
		n->stats.no_room++;
		return NULL;
	}
	s->role = route.role;
	s->joined = route.joined;
	s->bytes = route.bytes;
	return s;
}

static struct letter_grant *grant_from(struct letter_session *s, const struct rsvp_message *m)
{
	struct letter_grant *g = letter_grant_of(s, &m->hop.addr);

	if (!g)
		g = letter_grant_new(s, &m->hop.addr);
	return g;
}

/* The receiver selects the first 28 that comes, and confirms it at once (D13, E39). */
static void confirm(struct letter_node *n, uint64_t now, struct letter_session *s, struct letter_grant *g)
{
	bool confirmed = s->role != RSVP_TRANSIT || (s->current && s->current->state == RSVP_U_COMMITTED);

	if (!g->selected || g->state != RSVP_G_OFFERED || !confirmed)
		return;
	g->state = RSVP_G_COMMITTED;
	grant(n, now, s, g);
}

static void answer_init(struct letter_node *n, uint64_t now, struct letter_session *s, struct letter_grant *g)
{
	if (g->state == RSVP_G_NONE || g->state == RSVP_G_TOMB)
		g->state = RSVP_G_OFFERED;
	if (n->config.refresh)
		timer_after(n, &g->timers, LETTER_T_LIFE, now, life_ns(n, g->refresh_ms));
	if (grant(n, now, s, g))
		confirm(n, now, s, g);
}

static bool is_wanted_above(const struct letter_session *s)
{
	for (const struct letter_grant *g = s->grants; g; g = g->next)
		if (g->state == RSVP_G_OFFERED || g->state == RSVP_G_COMMITTED || g->state == RSVP_G_NONE)
			return true;
	return false;
}

static void discard(struct letter_node *n, struct letter_session *s)
{
	while (s->branches)
		letter_branch_free(n, s->branches);
	while (s->grants) {
		release(n, s->grants);
		letter_grant_free(n, s->grants);
	}
	letter_sweep(n, s);
}

/* A session that has ended, also when its End is not answered yet, begins anew; not by a copy of an old 28. */
static struct letter_session *session_for(struct letter_node *n, uint64_t now, const struct rsvp_message *m,
	uint64_t arrival)
{
	struct letter_session *s = letter_session_of(n, m);
	const struct letter_grant *g = s ? letter_grant_of(s, &m->hop.addr) : NULL;

	if (s && (s->wanted || is_wanted_above(s)))
		return s;
	if (g && (g->state == RSVP_G_CLOSING || now - g->seen_ns < DUPLICATE_NS)) {
		n->stats.no_event++;
		return NULL;
	}
	if (s)
		discard(n, s);
	return begin(n, m, arrival);
}

/* A grant, if there is one, that came to nothing; with the session, if it was for that grant alone. */
static void forget(struct letter_node *n, struct letter_session *s, struct letter_grant *g)
{
	if (g)
		letter_grant_free(n, g);
	if (!s->grants && !s->wanted)
		discard(n, s);
}

static void take_init(struct letter_node *n, uint64_t now, const struct rsvp_message *m, uint64_t arrival)
{
	struct letter_session *s = session_for(n, now, m, arrival);
	struct letter_grant *g;
	bool again;

	if (!s)
		return;
	g = grant_from(s, m);
	again = g && g->seen_ns && now - g->seen_ns < DUPLICATE_NS;
	if (!g || !letter_keep_passed(n, s, m)) {
		n->stats.no_room++;
		forget(n, s, g && g->state == RSVP_G_NONE ? g : NULL);
		return;
	}
	if (g->state == RSVP_G_CLOSING || (again && g->state == RSVP_G_TOMB)) {
		n->stats.no_event++;
		return;
	}
	s->tspec = m->tspec;
	if (m->send_ttl > 1)
		s->ttl = (uint8_t)(m->send_ttl - 1);
	g->lih = m->hop.lih;
	g->refresh_ms = m->refresh_ms;
	n->stats.duplicate += again;
	if (!again)
		g->seen_ns = now;
	if (!reserve(n, g)) {
		refuse(n, m, RSVP_ERROR_ADMISSION, RSVP_REFUSE_POOL);
		forget(n, s, g);
		return;
	}
	answer_init(n, now, s, g);
	if (!again)
		pass_on(n, now, s);
}

static void bury(struct letter_node *n, uint64_t now, struct letter_grant *g)
{
	g->state = RSVP_G_TOMB;
	g->seen_ns = now;
	release(n, g);
	memset(g->owed, 0, sizeof(g->owed));
	timer_stop(n, &g->timers, LETTER_T_OWED);
	timer_after(n, &g->timers, LETTER_T_STATE, now, DUPLICATE_NS);
}

/* What was sent has arrived D_idle later; what then still waits here keeps its buffer until it has gone, or T_lease is over. */
static void close_grant(struct letter_node *n, uint64_t now, struct letter_grant *g)
{
	g->state = RSVP_G_CLOSING;
	g->seen_ns = now;
	for (unsigned int i = 0; i < LETTER_TIMERS; i++)
		timer_stop(n, &g->timers, (enum letter_timer_kind)i);
	timer_after(n, &g->timers, LETTER_T_STATE, now, rsvp_ms(n->config.idle_ms));
}

/* An End that has overtaken its 28 ends the session all the same: what comes in the next second is a copy. */
static void remember_end(struct letter_node *n, uint64_t now, struct letter_session *s, const struct rsvp_message *m)
{
	struct letter_grant *g;

	if (!s)
		s = letter_session_new(n, m->zone, &m->session, &m->sender);
	if (!s)
		return;
	g = letter_grant_new(s, &m->hop.addr);
	if (g)
		bury(n, now, g);
	letter_sweep(n, s);
}

/* Every End is answered, with and without state; it goes on once along all paths. */
static void take_end(struct letter_node *n, uint64_t now, const struct rsvp_message *m)
{
	struct letter_session *s = letter_session_of(n, m);
	struct letter_grant *g = s ? letter_grant_of(s, &m->hop.addr) : NULL;

	if (!g) {
		if (!bucket_take(&n->errors, now, 1000, 100))
			return;
		letter_send_end_ack(n, m);
		remember_end(n, now, s, m);
		return;
	}
	letter_send_end_ack(n, m);
	if (g->state == RSVP_G_CLOSING || g->state == RSVP_G_TOMB)
		return;
	close_grant(n, now, g);
	if (!is_wanted_above(s))
		end_all(n, now, s);
}

static void over(struct letter_node *n, uint64_t now, struct letter_grant *g)
{
	if (g->state == RSVP_G_TOMB)
		letter_grant_free(n, g);
	else if (g->received != g->freed && now - g->seen_ns < rsvp_ms(n->config.lease_ms))
		timer_after(n, &g->timers, LETTER_T_STATE, now, rsvp_ms(n->config.idle_ms));
	else
		bury(n, now, g);
}

static void grant_timer(struct letter_node *n, uint64_t now, struct letter_grant *g, enum letter_timer_kind kind)
{
	struct letter_session *s = g->session;

	switch (kind) {
	case LETTER_T_OWED:
		letter_pay(n, now, g);
		break;
	case LETTER_T_STATE:
		over(n, now, g);
		break;
	case LETTER_T_LIFE:
		close_grant(n, now, g);
		if (!is_wanted_above(s))
			end_all(n, now, s);
		break;
	default:
		if (grant(n, now, s, g))
			confirm(n, now, s, g);
		else if (n->config.refresh)
			timer_after(n, &g->timers, LETTER_T_SEND, now, refresh_ns(n));
	}
}

/* A 28 that nobody answers: fast copies, then every R. An End: for ever (D20). */
static void send_over(struct letter_node *n, uint64_t now, struct letter_branch *b)
{
	if (b->state == RSVP_U_ENDING) {
		b->tries = (uint8_t)MIN_OF(b->tries + 1, 100);
		letter_send_end(n, b);
		timer_after(n, &b->timers, LETTER_T_SEND, now, letter_backed_off(n, b->tries));
		return;
	}
	if (b->state == RSVP_U_OUT || b->state == RSVP_U_DOWN) {
		b->nhop.family = 0;
		b->state = RSVP_U_NONE;
		ask(n, now, b);
		return;
	}
	letter_send_init(n, b);
	if (b->state == RSVP_U_WAIT && b->tries < n->config.rapid_max) {
		timer_after(n, &b->timers, LETTER_T_SEND, now, letter_backed_off(n, b->tries));
		b->tries++;
		return;
	}
	timer_after(n, &b->timers, LETTER_T_SEND, now, refresh_ns(n));
}

static void branch_timer(struct letter_node *n, uint64_t now, struct letter_branch *b, enum letter_timer_kind kind)
{
	if (kind == LETTER_T_SEND) {
		send_over(n, now, b);
		return;
	}
	if (n->ops->silent && b->nhop.family)
		n->ops->silent(n->arg, b->way.zone, &b->nhop);
	fail(n, now, b);
}

/* --- the interface --- */

struct letter_session *letter_open(struct letter_node *n, uint64_t now, const struct rsvp_session *session,
	const struct rsvp_sender *sender, const struct rsvp_tspec *tspec, const struct rsvp_way *way, unsigned int ways)
{
	struct letter_session *s = letter_session_new(n, 0, session, sender);

	if (!s)
		return NULL;
	s->role = RSVP_HEADEND;
	s->tspec = *tspec;
	s->wanted = true;
	for (unsigned int i = 0; i < ways; i++)
		if (!letter_branch_new(n, s, &way[i]) && n->ops->gone)
			n->ops->gone(n->arg, NULL, &way[i]);
	pass_on(n, now, s);
	letter_sweep(n, s);
	return s;
}

void letter_close(struct letter_node *n, uint64_t now, struct letter_session *s)
{
	s->wanted = false;
	end_all(n, now, s);
	letter_sweep(n, s);
}

static struct letter_session *touched_by(const struct letter_node *n, const struct rsvp_message *m)
{
	const struct letter_branch *b;

	if (m->kind == RSVP_INIT || m->kind == RSVP_END)
		return letter_session_of(n, m);
	b = m->count[RSVP_O_HOP] ? letter_branch_of(n, m->hop.lih) : NULL;
	return b ? b->session : NULL;
}

void letter_receive(struct letter_node *n, uint64_t now, const struct rsvp_message *m, const struct ip_addr *from,
	uint64_t arrival)
{
	struct letter_session *s;

	n->stats.received++;
	letter_take_acks(n, now, m);
	s = touched_by(n, m);
	switch (m->kind) {
	case RSVP_INIT:
		take_init(n, now, m, arrival);
		s = letter_session_of(n, m);
		break;
	case RSVP_RESERVE:
	case RSVP_RESV:
		take_grant(n, now, m);
		break;
	case RSVP_UPDATE:
		take_increment(n, now, m);
		break;
	case RSVP_END:
		take_end(n, now, m);
		s = letter_session_of(n, m);
		break;
	case RSVP_END_ACK:
		take_end_ack(n, m);
		break;
	case RSVP_PATH_ERR:
		take_path_err(n, now, m, from);
		break;
	case RSVP_ACK:
		break;
	default:
		n->stats.no_event++;
	}
	if (m->count[RSVP_O_ID] && m->id.ack_desired)
		letter_send_ack(n, m, m->count[RSVP_O_HOP] ? &m->hop.addr : from);
	if (s)
		letter_sweep(n, s);
}

static void neighbor_of(struct letter_node *n, uint64_t now, struct letter_session *s, uint16_t zone,
	const struct ip_addr *addr, bool up)
{
	for (struct letter_branch *b = s->branches; b; b = b->next) {
		if (!b->nhop.family || b->way.zone != zone || !ip_addr_equal(&b->nhop, addr))
			continue;
		if (!up)
			fail(n, now, b);
		else if (b->state == RSVP_U_DOWN)
			letter_timer_set(n, &b->timers, LETTER_T_SEND, now);
	}
	for (struct letter_grant *g = up || s->zone != zone ? NULL : s->grants; g; g = g->next)
		if (ip_addr_equal(&g->phop, addr) && (g->state == RSVP_G_OFFERED || g->state == RSVP_G_COMMITTED)) {
			close_grant(n, now, g);
			timer_after(n, &g->timers, LETTER_T_STATE, now, rsvp_ms(n->config.lease_ms));
			if (!is_wanted_above(s))
				end_all(n, now, s);
		}
}

void letter_neighbor(struct letter_node *n, uint64_t now, uint16_t zone, const struct ip_addr *addr, bool up)
{
	for (uint32_t i = 0; i < n->config.sessions_max; i++) {
		struct letter_session *s = n->by_slot[i];

		if (!s)
			continue;
		neighbor_of(n, now, s, zone, addr, up);
		letter_sweep(n, s);
	}
}

static void expire(struct letter_node *n, uint64_t now, struct letter_timers *t)
{
	struct letter_branch *b = (struct letter_branch *)t;
	struct letter_grant *g = (struct letter_grant *)t;
	struct letter_session *s = t->of_branch ? b->session : g->session;
	enum letter_timer_kind kind = LETTER_T_LIFE;

	for (unsigned int i = 1; i < LETTER_TIMERS; i++)
		if (t->due[i] < t->due[kind])
			kind = (enum letter_timer_kind)i;
	letter_timer_set(n, t, kind, TIME_NEVER);
	if (t->of_branch)
		branch_timer(n, now, b, kind);
	else
		grant_timer(n, now, g, kind);
	letter_sweep(n, s);
}

unsigned int letter_poll(struct letter_node *n, uint64_t now, unsigned int budget, uint64_t *next)
{
	unsigned int left = budget;
	struct timer *x;

	while ((x = timers_pop(&n->wheel, now, &left)))
		expire(n, now, TIMER_OWNER(x, struct letter_timers, timer));
	*next = timers_next(&n->wheel);
	return budget - left;
}

struct letter_grant *letter_grant_of(const struct letter_session *s, const struct ip_addr *phop)
{
	struct letter_grant *g = s->grants;

	while (g && !ip_addr_equal(&g->phop, phop))
		g = g->next;
	return g;
}

struct credit_letter_gate *letter_gate(struct letter_session *s)
{
	return s->current ? &s->current->gate : NULL;
}

/* Data for which an answer is due: a whole unit of what is returned (D16). */
void letter_sent(struct letter_node *n, uint64_t now, struct letter_session *s, bool queued)
{
	struct letter_branch *b = s->current;
	uint64_t size = n->config.unit == CREDIT_LETTER_UNIT_MB ? CREDIT_LETTER_MB : 1;

	if (!b)
		return;
	b->queued = queued;
	if (b->gate.sent - b->answered >= size && b->timers.due[LETTER_T_STATE] == TIME_NEVER)
		timer_after(n, &b->timers, LETTER_T_STATE, now, rsvp_ms(n->config.heartbeat_ms));
}
