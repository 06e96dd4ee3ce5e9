/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user: what a device has from its next hop (docs/credit.md 2.8, second table), and the backup of a headend (D17).
 * Control lcore.
 */
#include <stdlib.h>

#include "rsvp/rsvp_node_priv.h"

#define RESYNC_MAX_NS NSEC_PER_SEC

/* returns: U_RESYNC that gives credit back. */
static void enter_with(struct rsvp_node *n, struct rsvp_path *p, enum rsvp_user_state state, bool returns)
{
	bool before = rsvp_user_has_credit(p);

	p->user = (uint8_t)state;
	p->returns = returns;
	p->tries = 0;
	if (state == RSVP_U_NONE || state == RSVP_U_OUT)
		rsvp_timer_cancel(n, p, RSVP_T_USER_SEND);
	if (before == rsvp_user_has_credit(p))
		return;
	n->ops->changed(n->arg, p, !before);
	if (before && p->instance->current == p) {
		p->instance->current = NULL;
		p->instance->backup = true;
	}
}

static void enter(struct rsvp_node *n, struct rsvp_path *p, enum rsvp_user_state state)
{
	enter_with(n, p, state, false);
}

static void live(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	rsvp_timer_set(n, p, RSVP_T_USER_LIFE, now + rsvp_life_ns(n, p->nhop_refresh_ms));
}

/* The path is gone. A headend tries it again after a while; a transit device, when it is asked after that. */
static void leave(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	uint64_t rest = p->again ? rsvp_ms(n->config.rapid_ms) : n->config.blockade * rsvp_ms(n->config.refresh_ms);

	rsvp_timer_cancel(n, p, RSVP_T_USER_LIFE);
	rsvp_context_leave(n, p);
	p->instance->backup |= p->ask && p->candidate; /* the next best is asked at once */
	p->ask = p->again = false;
	if ((p->candidate && p->instance->wanted) || rsvp_path_has_user(p)) {
		enter(n, p, RSVP_U_OUT);
		rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + rest);
	} else {
		enter(n, p, RSVP_U_NONE);
	}
}

static uint8_t init_flags(const struct rsvp_path *p)
{
	return p->ask ? RSVP_HOP_ASK : 0;
}

void rsvp_user_start(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, bool ask)
{
	p->ask = ask;
	if (p->user == RSVP_U_NONE || p->user == RSVP_U_OUT) {
		enter(n, p, RSVP_U_WAIT);
		p->nhop_refresh_ms = n->config.refresh_ms;
		live(n, now, p);
	} else if (p->user != RSVP_U_WAIT && p->user != RSVP_U_OFFER) {
		return;
	}
	p->tries = 1;
	rsvp_send_init(n, p, init_flags(p), RSVP_FRESH);
	rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + rsvp_ms(n->config.rapid_ms));
}

static uint64_t resync_interval(const struct rsvp_node *n, const struct rsvp_path *p)
{
	return MIN_OF(rsvp_ms(n->config.rapid_ms) << MIN_OF(p->tries, 8), RESYNC_MAX_NS);
}

/* Stop, wait until what was sent has arrived or is lost, then ask for a new epoch (2.11). */
static void resync(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	enter(n, p, RSVP_U_RESYNC);
	rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + rsvp_ms(n->config.idle_ms));
}

static bool is_elsewhere(const struct rsvp_path *p)
{
	for (const struct rsvp_path *q = p->instance->paths; q; q = q->next)
		if (q != p && q->user == RSVP_U_COMMITTED)
			return true;
	return false;
}

/* Repeats have the CBFC_HOP sequence of the first one, so that they open no further epoch. */
static void ask_for_epoch(struct rsvp_node *n, struct rsvp_path *p)
{
	uint8_t flags = (uint8_t)(RSVP_HOP_IDLE | (is_elsewhere(p) ? 0 : RSVP_HOP_ASK));

	rsvp_send_init(n, p, flags, p->tries ? RSVP_RENEWED : RSVP_FRESH);
}

static void send_resync(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	ask_for_epoch(n, p);
	rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + resync_interval(n, p));
	p->tries = (uint8_t)MIN_OF(p->tries + 1, 100);
	p->hurried = false;
}

/* The next hop is heard, and has not answered what it was asked: its answer was lost, or it was away. Once in each interval. */
static void ask_at_once(struct rsvp_node *n, struct rsvp_path *p)
{
	if (!p->tries || p->hurried)
		return;
	ask_for_epoch(n, p);
	p->hurried = true;
}

/* Does another path need the context as it is? */
static bool is_shared(const struct rsvp_path *p)
{
	for (const struct rsvp_path *q = p->instance->paths; q; q = q->next)
		if (q != p && q->context == p->context && (q->user == RSVP_U_COMMITTED || q->user == RSVP_U_RESYNC))
			return true;
	return false;
}

/*
 * The next hop that the path has left hears no End, because that would go to the new one. It is told when the new one has
 * committed: then the nodes at which both ways join follow the new one, and an End of the old one finds nothing there.
 */
static void tell_old(struct rsvp_node *n, struct rsvp_path *p)
{
	struct rsvp_former *f = p->former;

	if (!f)
		return;
	if (f->nhop.family && (f->zone != rsvp_way_of(p)->zone || !ip_addr_equal(&f->nhop, p->nhop)))
		rsvp_send_resv_err(n, p->instance->session, f->zone, &f->nhop, p->lih, RSVP_ERROR_NO_PATH, 0);
	f->nhop.family = 0;
}

static void heard(const struct rsvp_node *n, const struct rsvp_path *p, const struct rsvp_credit *c)
{
	if (n->ops->data)
		n->ops->data->heard(n->arg, p, c);
}

static void commit(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	struct rsvp_instance *s = p->instance;
	bool before = rsvp_user_has_credit(p);

	p->ask = false;
	tell_old(n, p);
	if (p->context->stale) {
		resync(n, now, p);
		return;
	}
	enter(n, p, RSVP_U_COMMITTED);
	rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + rsvp_refresh_ns(n, p));
	if (s->role == RSVP_HEADEND) {
		s->current = p;
		for (struct rsvp_path *q = s->paths; q; q = q->next)
			q->asked = false; /* the next failure begins with the best */
		rsvp_due_set(n, s, &s->due, TIME_NEVER);
		if (is_elsewhere(p))
			rsvp_due_set(n, s, &s->due, now + rsvp_ms(n->config.offer_ms));
	} else if (!before) {
		p->steps |= RSVP_UP_COMMIT;
	}
}

/* O or S before the path carries data. */
static void first_credit(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_credit *c)
{
	enum rsvp_credit_answer answer = rsvp_context_take(p->context, c);
	struct rsvp_instance *s = p->instance;

	if (answer == RSVP_CREDIT_LEFT) {
		n->stats.bad_epoch++;
		if (c->flags & RSVP_CREDIT_COMMIT && !is_shared(p))
			resync(n, now, p); /* a late offer has displaced it; its counters may be used no more */
		return;
	}
	if (answer == RSVP_CREDIT_OTHER) {
		if (is_shared(p)) {
			n->stats.bad_epoch++;
			return;
		}
		rsvp_context_start(p->context, c);
	}
	if (answer != RSVP_CREDIT_OLD)
		heard(n, p, c);
	if (c->flags & RSVP_CREDIT_COMMIT) {
		commit(n, now, p);
		return;
	}
	if (p->user == RSVP_U_WAIT) {
		enter(n, p, RSVP_U_OFFER);
		rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + rsvp_refresh_ns(n, p));
	}
	if (s->role == RSVP_HEADEND && !s->current && !s->due)
		rsvp_due_set(n, s, &s->due, now + rsvp_ms(n->config.select_ms + n->config.offer_ms));
}

/* A 29 on a path that carries data. */
static void more_credit(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_credit *c)
{
	switch (rsvp_context_take(p->context, c)) {
	case RSVP_CREDIT_LEFT:
		n->stats.bad_epoch++;
		break;
	case RSVP_CREDIT_OTHER:
		resync(n, now, p);
		break;
	case RSVP_CREDIT_NEW:
		heard(n, p, c);
		break;
	default:
		break;
	}
}

/* The grantor has seen a newer CBFC_HOP than this node has sent, which restarted: go on after that one. */
static void catch_up(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint32_t echo)
{
	p->instance->hop_sequence = echo;
	p->tries = 0;
	rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + rsvp_ms(n->config.idle_ms));
}

/* The answer to the 28 of RESYNC is an S that names it, of an epoch that is new, and nothing sent in it. */
static void resynced(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_credit *c)
{
	bool names = c->form == RSVP_CREDIT_OF_CONTEXT && p->tries;
	bool answer = c->flags & RSVP_CREDIT_COMMIT && names && c->echo == p->hop_sequence && !c->abr &&
		      c->fccl <= c->buffer;

	if (c->flags & RSVP_CREDIT_OFFER) {
		if (is_elsewhere(p)) /* the grantor has lost the path: it is a backup again */
			enter(n, p, RSVP_U_OFFER);
		return;
	}
	if (answer && rsvp_context_take(p->context, c) == RSVP_CREDIT_OTHER) {
		rsvp_context_start(p->context, c);
		heard(n, p, c);
		commit(n, now, p);
		return;
	}
	n->stats.bad_epoch++;
	if (names && (int32_t)(c->echo - p->hop_sequence) > 0)
		catch_up(n, now, p, c->echo);
	else if (p->tries > 1)
		ask_at_once(n, p);
}

static void credit(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_credit *c)
{
	switch (p->user) {
	case RSVP_U_WAIT:
	case RSVP_U_OFFER:
		if (c->flags & (RSVP_CREDIT_OFFER | RSVP_CREDIT_COMMIT))
			first_credit(n, now, p, c);
		break;
	case RSVP_U_COMMITTED:
		more_credit(n, now, p, c);
		break;
	case RSVP_U_DOWN:
		resync(n, now, p);
		break;
	case RSVP_U_RESYNC:
		resynced(n, now, p, c);
		break;
	case RSVP_U_ENDING: /* what is queued is sent while credit comes */
		if (rsvp_context_take(p->context, c) == RSVP_CREDIT_NEW)
			heard(n, p, c);
		break;
	default:
		n->stats.no_event++;
	}
}

/* What the checks of docs/credit.md 2.3 say about a 29 or 31. NULL: refused and counted. */
static struct rsvp_path *path_of(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m, uint32_t lih)
{
	struct rsvp_path *p = rsvp_path_by_lih(n, lih);

	if (!p || p->user == RSVP_U_NONE) {
		n->stats.bad_lih++;
		if (m->kind != RSVP_END_ACK && bucket_take(&n->errors, now, 1000, 100))
			rsvp_send_resv_err(n, &m->session, m->zone, &m->hop.addr, lih, RSVP_ERROR_NO_PATH, 0);
		return NULL;
	}
	if (rsvp_way_of(p)->zone != m->zone || (p->nhop->family && !ip_addr_equal(p->nhop, &m->hop.addr))) {
		n->stats.bad_hop++;
		return NULL;
	}
	if (!rsvp_session_equal(p->instance->session, &m->session) ||
		(m->kind == RSVP_RESERVE && !rsvp_sender_equal(&p->sender, &m->flow[0].filter)) ||
		(m->kind == RSVP_END_ACK && !rsvp_sender_equal(&p->sender, &m->sender))) {
		n->stats.bad_session++;
		return NULL;
	}
	return p;
}

static bool fits(const struct rsvp_path *p, const struct rsvp_credit *c)
{
	return (c->form == RSVP_CREDIT_TOTALS || c->form == RSVP_CREDIT_OF_CONTEXT) && c->unit == p->instance->unit &&
	       c->traffic_class == p->instance->traffic_class;
}

static void update(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m)
{
	for (unsigned int i = 0; i < m->count[RSVP_O_CREDIT]; i++) {
		const struct rsvp_credit *c = &m->credit[i];
		struct rsvp_path *p = path_of(n, now, m, c->form == RSVP_CREDIT_OF_CONTEXT ? c->lih : m->hop.lih);

		if (!p)
			continue;
		if (!fits(p, c))
			n->stats.bad_unit++;
		else if (!p->context)
			n->stats.no_event++; /* before the first offer */
		else
			credit(n, now, p, c);
	}
}

static void keep_offers(struct rsvp_instance *s, const struct rsvp_message *m)
{
	if (!m->count[RSVP_O_CBFC_OFFER])
		return;
	if (!s->offer)
		s->offer = calloc(RSVP_OFFERS_MAX, sizeof(*s->offer));
	if (!s->offer)
		return;
	s->offers = (uint8_t)m->count[RSVP_O_CBFC_OFFER];
	memcpy(s->offer, m->offer, s->offers * sizeof(*s->offer));
}

/* Foreign objects of S, which go on with the S that results from it (RFC 2205 section 3.10). */
static void keep_passed(struct rsvp_node *n, struct rsvp_path *p, const struct rsvp_message *m)
{
	size_t bytes = rsvp_passed_bytes(m);
	const struct rsvp_shared *shared = NULL;
	uint8_t room[RSVP_PASSED_BYTES_MAX];

	if (bytes && bytes <= sizeof(room)) {
		rsvp_passed_copy(room, m);
		shared = rsvp_share(n, room, bytes);
	}
	n->stats.not_passed += bytes && !shared;
	rsvp_unshare(n, p->passed_up);
	p->passed_up = shared;
}

void rsvp_user_reserve(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m)
{
	struct rsvp_path *p;

	if (m->kind == RSVP_UPDATE) {
		update(n, now, m);
		return;
	}
	p = path_of(n, now, m, m->hop.lih);
	if (!p)
		return;
	if (!fits(p, &m->credit[0])) {
		n->stats.bad_unit++;
		return;
	}
	if (rsvp_heard_late(n, &p->heard_down, m)) {
		n->stats.late++;
		return;
	}
	if (p->user == RSVP_U_ENDING || p->user == RSVP_U_OUT) {
		n->stats.no_event++;
		return;
	}
	if (!(p->context && ip_addr_equal(p->nhop, &m->hop.addr)) && !rsvp_context_join(n, p, &m->hop.addr)) {
		n->stats.no_memory++;
		return;
	}
	p->nhop_refresh_ms = rsvp_refresh_of(m);
	live(n, now, p);
	if (m->credit[0].flags & RSVP_CREDIT_COMMIT) {
		keep_offers(p->instance, m);
		if (p->instance->role == RSVP_TRANSIT)
			keep_passed(n, p, m);
	}
	credit(n, now, p, &m->credit[0]);
}

bool rsvp_user_refreshed(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->user != RSVP_U_COMMITTED)
		return false;
	live(n, now, p);
	return true;
}

/* Has everything been sent, and does nothing more come (D60)? */
static bool is_drained(const struct rsvp_node *n, const struct rsvp_path *p)
{
	rsvp_context_count(n, p);
	return rsvp_grantor_is_complete(p) && (!p->context || !p->context->rest);
}

static uint64_t end_interval(const struct rsvp_node *n, const struct rsvp_path *p)
{
	return MIN_OF(rsvp_ms(n->config.rapid_ms) << MIN_OF(p->tries, 16), rsvp_ms(n->config.repeat_max_ms));
}

static void send_end(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	p->tries = 0;
	p->final = is_drained(n, p);
	rsvp_send_end(n, p, false);
	rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + end_interval(n, p));
}

void rsvp_user_end(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->user == RSVP_U_NONE || p->user == RSVP_U_ENDING)
		return;
	if (p->user == RSVP_U_OUT) {
		leave(n, now, p);
		return;
	}
	enter(n, p, RSVP_U_ENDING);
	rsvp_timer_set(n, p, RSVP_T_USER_LIFE, now + rsvp_life_ns(n, p->nhop_refresh_ms));
	send_end(n, now, p);
}

void rsvp_user_more(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->user == RSVP_U_ENDING && !p->final && is_drained(n, p))
		send_end(n, now, p);
}

static bool acknowledges(const struct rsvp_node *n, const struct rsvp_message *m, uint32_t id)
{
	for (unsigned int i = 0; i < m->count[RSVP_O_ACK]; i++)
		if (!m->ack[i].nack && m->ack[i].epoch == n->id_epoch && m->ack[i].id == id)
			return true;
	return false;
}

void rsvp_user_end_ack(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m)
{
	struct rsvp_path *p = path_of(n, now, m, m->hop.lih);

	if (!p)
		return;
	if (p->user != RSVP_U_ENDING || !acknowledges(n, m, p->down_id)) {
		n->stats.no_event++;
		return;
	}
	rsvp_timer_cancel(n, p, RSVP_T_USER_SEND);
	if (p->final)
		leave(n, now, p);
}

/* A path that the next hop, or one behind it, has refused or lost. */
void rsvp_user_path_err(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m)
{
	struct rsvp_path *p = rsvp_path_by_sender(n, m);

	if (!p || p->user == RSVP_U_NONE || p->user == RSVP_U_OUT || p->user == RSVP_U_ENDING) {
		n->stats.no_state++;
		return;
	}
	rsvp_error_set(n, p, &m->error);
	if (p->user == RSVP_U_RESYNC && m->error.code == RSVP_ERROR_ADMISSION &&
		(m->error.value == RSVP_REFUSE_ROUTE || m->error.value == RSVP_REFUSE_OPERATOR))
		return; /* go on asking */
	if (p->instance->role != RSVP_HEADEND)
		p->steps |= RSVP_UP_ERROR;
	if (p->user == RSVP_U_COMMITTED) {
		enter(n, p, RSVP_U_DOWN);
		return;
	}
	if (p->user == RSVP_U_DOWN)
		return;
	leave(n, now, p);
}

/* There is no room here for the S that came: the next hop takes it back. */
void rsvp_user_refuse(struct rsvp_node *n, struct rsvp_path *p)
{
	if (p->user != RSVP_U_COMMITTED && p->user != RSVP_U_OFFER)
		return;
	if (p->nhop->family)
		rsvp_send_resv_err(n, p->instance->session, rsvp_way_of(p)->zone, p->nhop, p->lih, RSVP_ERROR_ADMISSION,
			RSVP_REFUSE_POOL);
	if (p->user == RSVP_U_COMMITTED)
		enter(n, p, RSVP_U_OFFER);
}

void rsvp_user_down(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->user == RSVP_U_COMMITTED || p->user == RSVP_U_RESYNC)
		enter(n, p, RSVP_U_DOWN);
	else if (p->user == RSVP_U_OFFER)
		leave(n, now, p); /* no backup, as long as that neighbour is away */
	else
		return;
	rsvp_error_set(n, p, &rsvp_no_way);
	if (p->instance->role != RSVP_HEADEND)
		p->steps |= RSVP_UP_LOST;
}

void rsvp_user_out_of_step(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->user == RSVP_U_COMMITTED)
		resync(n, now, p);
}

bool rsvp_user_give_back(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->user != RSVP_U_COMMITTED || !p->context || is_shared(p))
		return false;
	enter_with(n, p, RSVP_U_RESYNC, true);
	send_resync(n, now, p);
	return true;
}

void rsvp_user_up(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->user == RSVP_U_DOWN)
		resync(n, now, p);
	else if (p->user == RSVP_U_RESYNC)
		ask_at_once(n, p);
}

/*
 * The path goes to another next hop. That one knows nothing of it yet, so what the old one granted is of no use.
 */
void rsvp_user_moved(struct rsvp_node *n, struct rsvp_path *p, const struct rsvp_way *way)
{
	bool carried = p->user == RSVP_U_COMMITTED || p->user == RSVP_U_DOWN || p->user == RSVP_U_RESYNC;
	const struct rsvp_shared *shared = rsvp_share_way(n, way);
	uint16_t zone = rsvp_way_of(p)->zone;

	if (!shared) { /* the path stays where it is, until routes change again */
		n->stats.no_memory++;
		return;
	}
	rsvp_unshare(n, p->way);
	p->way = shared;
	if (p->user == RSVP_U_NONE || p->user == RSVP_U_OUT || p->user == RSVP_U_ENDING)
		return;
	n->stats.moved++;
	if (p->nhop->family && rsvp_former_of(n, p)) {
		p->former->nhop = *p->nhop;
		p->former->zone = zone;
	}
	if (carried && p->instance->role != RSVP_HEADEND) {
		rsvp_error_set(n, p, &rsvp_no_way);
		p->steps |= RSVP_UP_LOST;
	}
	enter(n, p, RSVP_U_NONE);
	rsvp_context_remember(n, p);
	rsvp_context_leave(n, p);
	rsvp_heard_forget(n, &p->heard_down);
	p->down_acked = false;
	p->steps |= carried ? RSVP_DOWN_ASK : RSVP_DOWN_INIT;
}

/* The figures that S told of a path; without them those that it began with. */
static struct rsvp_cbfc_offer offer_of(const struct rsvp_path *p)
{
	const struct rsvp_instance *s = p->instance;

	for (unsigned int i = 0; i < s->offers; i++)
		if (s->offer[i].path == p->id)
			return s->offer[i];
	return (struct rsvp_cbfc_offer){.path = p->id, .delay_us = UINT32_MAX, .hops = UINT8_MAX};
}

/* The best path in that state that was not asked. *any: some path is in it. */
static struct rsvp_path *best_in(const struct rsvp_instance *s, enum rsvp_user_state state, bool *any)
{
	struct rsvp_path *best = NULL;

	for (struct rsvp_path *p = s->paths; p; p = p->next) {
		struct rsvp_cbfc_offer mine = offer_of(p), its;

		if (p->user != state)
			continue;
		*any = true;
		if (p->asked)
			continue;
		if (best)
			its = offer_of(best);
		if (!best || rsvp_offer_is_better(&mine, &its))
			best = p;
	}
	return best;
}

/*
 * The path that carried data does not any more. One that is committed as well takes over; else ask for the best of those
 * that were offered, then for the next one.
 */
void rsvp_user_backup(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s)
{
	struct rsvp_path *best;
	bool any = false;

	s->current = best_in(s, RSVP_U_COMMITTED, &any);
	if (s->current)
		return;
	best = best_in(s, RSVP_U_OFFER, &any);
	for (struct rsvp_path *p = s->paths; p && !best && any; p = p->next)
		p->asked = false; /* all were asked: from the start, after a while */
	if (best) {
		best->asked = true;
		rsvp_user_start(n, now, best, true);
	}
	rsvp_due_set(n, s, &s->due, now + rsvp_ms(n->config.select_ms + n->config.offer_ms));
}

/*
 * A path that the session has left for another one works again. For a while both are committed, so that one that fails again
 * costs nothing; then the other one gives back what it has reserved along its way, and is a backup.
 */
void rsvp_user_keep_one(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s)
{
	for (struct rsvp_path *p = s->paths; p; p = p->next)
		if (p != s->current && p->user == RSVP_U_COMMITTED) {
			p->again = true;
			rsvp_user_end(n, now, p);
		}
}

static void life_over(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	n->stats.lost++;
	if (p->user != RSVP_U_ENDING || rsvp_timer_is_set(p, RSVP_T_USER_SEND))
		rsvp_silent(n, rsvp_way_of(p)->zone, p->nhop);
	if (p->user != RSVP_U_ENDING) {
		p->final = true;
		rsvp_send_end(n, p, false);
		rsvp_error_set(n, p, &rsvp_no_way);
		if (p->instance->role != RSVP_HEADEND)
			p->steps |= RSVP_UP_LOST;
		p->again = p->user != RSVP_U_WAIT; /* nobody has refused it */
	}
	leave(n, now, p);
}

/* A 28 that no 29 has answered yet: fast at first, then every R. */
static void send_over(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->tries && p->tries < n->config.rapid_max) {
		uint64_t fast = rsvp_ms(n->config.rapid_ms) << p->tries;

		rsvp_send_init(n, p, init_flags(p), RSVP_AGAIN);
		p->tries++;
		rsvp_timer_set(n, p, RSVP_T_USER_SEND,
			now + (p->tries < n->config.rapid_max ? fast : rsvp_refresh_ns(n, p)));
		return;
	}
	p->ask = p->ask && p->tries && p->user != RSVP_U_COMMITTED;
	p->tries = 0;
	if (rsvp_refresh_init(n, p)) {
		rsvp_timer_set(n, p, RSVP_T_USER_SEND, rsvp_refresh_together(n, now, p));
		return;
	}
	rsvp_send_init(n, p, init_flags(p), RSVP_FRESH);
	rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + rsvp_refresh_ns(n, p));
}

void rsvp_user_timer(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint8_t kind)
{
	if (kind == RSVP_T_USER_LIFE) {
		life_over(n, now, p);
		return;
	}
	switch (p->user) {
	case RSVP_U_RESYNC:
		send_resync(n, now, p);
		break;
	case RSVP_U_ENDING:
		p->tries = (uint8_t)MIN_OF(p->tries + 1, 100);
		rsvp_send_end(n, p, true);
		rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + end_interval(n, p));
		break;
	case RSVP_U_OUT:
		if (p->candidate && p->instance->wanted)
			rsvp_user_start(n, now, p, false);
		break;
	default:
		send_over(n, now, p);
	}
}
