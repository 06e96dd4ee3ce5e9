/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grantor: what a device gives to its previous hop (docs/credit.md 2.8, first table), and the selection of a path by
 * the far gateway (D13). Control lcore.
 */
#include <stdlib.h>

#include "rsvp/rsvp_node_priv.h"

#define LATE_COPIES 3 /* of an S that nobody acknowledges, a second apart, after the fast ones (2.8) */

static void enter(struct rsvp_node *n, struct rsvp_path *p, enum rsvp_grantor_state state)
{
	p->grantor = (uint8_t)state;
	rsvp_timer_cancel(n, p, RSVP_T_GRANTOR_STATE);
	if (state != RSVP_G_COMMITTED)
		rsvp_timer_cancel(n, p, RSVP_T_GRANTOR_SEND);
}

static void live(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	rsvp_timer_set(n, p, RSVP_T_GRANTOR_LIFE, now + rsvp_life_ns(n, p->phop_refresh_ms));
}

static void entomb(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	enter(n, p, RSVP_G_TOMB);
	live(n, now, p);
}

/* The record of the offer stays, its buffer does not. */
static void store(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint32_t delay_ms)
{
	enter(n, p, RSVP_G_STORED);
	rsvp_release(n, now, p, delay_ms);
}

/* Join the reservation of the instance, or open an epoch. */
static bool reserve(struct rsvp_node *n, struct rsvp_path *p)
{
	struct rsvp_reservation *r = rsvp_reserve(n, p);
	bool fresh = r && !r->epoch;

	if (!r)
		return false;
	for (const struct rsvp_path *q = p->instance->paths; q && !fresh; q = q->next)
		if (q->reservation == r && rsvp_path_holds(q)) {
			p->reservation = r;
			return true;
		}
	p->reservation = r;
	rsvp_epoch_open(n, r, p->hop_heard);
	return true;
}

static void offer(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	enter(n, p, RSVP_G_OFFERED);
	rsvp_timer_set(n, p, RSVP_T_GRANTOR_STATE, now + rsvp_ms(n->config.offer_ms));
	rsvp_send_reserve(n, p, RSVP_CREDIT_OFFER, false);
}

/* What a candidate can offer, this gateway's own buffer included. */
static struct rsvp_cbfc_offer figure_of(const struct rsvp_node *n, const struct rsvp_path *p)
{
	struct rsvp_cbfc_offer o = p->offer;

	o.buffer = MIN_OF(o.buffer, (uint64_t)rsvp_buffer_of(n, p->instance) << p->instance->unit);
	o.flags = 0;
	return o;
}

/* Every figure of the candidates, the selected one first: what the headend chooses its backup by (D44). */
static void collect_offers(struct rsvp_node *n, struct rsvp_path *selected)
{
	struct rsvp_instance *s = selected->instance;

	if (!s->offer)
		s->offer = calloc(RSVP_OFFERS_MAX, sizeof(*s->offer));
	s->offers = 0;
	if (!s->offer)
		return;
	s->offer[s->offers] = figure_of(n, selected);
	s->offer[s->offers++].flags = RSVP_OFFER_SELECTED;
	for (const struct rsvp_path *p = s->paths; p && s->offers < RSVP_OFFERS_MAX; p = p->next)
		if (p != selected && p->grantor != RSVP_G_NONE && p->grantor != RSVP_G_TOMB)
			s->offer[s->offers++] = figure_of(n, p);
}

static void send_commit(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	p->copies = 1;
	p->acknowledged = false;
	rsvp_send_reserve(n, p, RSVP_CREDIT_COMMIT, false);
	rsvp_timer_set(n, p, RSVP_T_GRANTOR_SEND, now + rsvp_ms(n->config.rapid_ms));
}

/* The S has arrived: the next one is a refresh. */
void rsvp_grantor_acknowledged(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor != RSVP_G_COMMITTED || p->acknowledged)
		return;
	p->acknowledged = p->confirmed = true;
	p->answers = false;
	rsvp_timer_set(n, p, RSVP_T_GRANTOR_SEND, now + rsvp_refresh_ns(n, p));
}

bool rsvp_grantor_commit(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor == RSVP_G_COMMITTED) {
		send_commit(n, now, p);
		return true;
	}
	if (p->grantor == RSVP_G_LEASE || p->grantor == RSVP_G_CLOSING)
		return true; /* it has the buffer; the previous hop is away, or done */
	if ((p->grantor != RSVP_G_OFFERED && p->grantor != RSVP_G_STORED) || rsvp_timer_is_set(p, RSVP_T_BLOCKED) ||
		p->forsaken)
		return false;
	if (!reserve(n, p))
		return false;
	if (!rsvp_reservation_commit(n, p->reservation)) {
		n->stats.refused++;
		store(n, now, p, 0);
		return false;
	}
	if (p->instance->role == RSVP_FAR)
		collect_offers(n, p);
	p->confirmed = false;
	enter(n, p, RSVP_G_COMMITTED);
	send_commit(n, now, p);
	return true;
}

/* Does the data of a session that ends here go on with credit, if it must? */
static bool is_carried(const struct rsvp_instance *s)
{
	return !s->joined || (s->under && s->under->on);
}

/* The candidate that is the best of those not tried yet (D13). */
static struct rsvp_path *best_of(const struct rsvp_node *n, const struct rsvp_instance *s)
{
	struct rsvp_path *best = NULL;

	for (struct rsvp_path *p = s->paths; p; p = p->next) {
		struct rsvp_cbfc_offer mine = figure_of(n, p), its;

		if (p->tried || (p->grantor != RSVP_G_OFFERED && p->grantor != RSVP_G_STORED) ||
			rsvp_timer_is_set(p, RSVP_T_BLOCKED))
			continue;
		if (best)
			its = figure_of(n, best);
		if (!best || rsvp_offer_is_better(&mine, &its))
			best = p;
	}
	return best;
}

/* S along the path with the largest least BUF; if there is no room for it, along the next one. */
void rsvp_grantor_select(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s)
{
	const struct rsvp_error none = {.code = RSVP_ERROR_ADMISSION, .value = RSVP_REFUSE_POOL};
	struct rsvp_path *best;

	if (!is_carried(s))
		return; /* rsvp_grantor_carried */
	for (struct rsvp_path *p = s->paths; p; p = p->next) {
		if (p->grantor == RSVP_G_COMMITTED)
			return;
		p->tried = false;
	}
	while ((best = best_of(n, s))) {
		if (rsvp_grantor_commit(n, now, best))
			return;
		best->tried = true;
	}
	for (struct rsvp_path *p = s->paths; p; p = p->next)
		if (p->grantor == RSVP_G_OFFERED || p->grantor == RSVP_G_STORED)
			rsvp_send_path_err(n, NULL, p, &none);
}

/* What of a 28 goes on: the list of devices, and objects unexamined. It may change with every refresh. */
static bool keep_passed(struct rsvp_node *n, struct rsvp_path *p, const struct rsvp_message *m)
{
	size_t hops = m->count[RSVP_O_CBFC_PATH] ? m->path.hops * sizeof(struct ipv6_addr) : 0;
	size_t objects = rsvp_passed_bytes(m);
	uint16_t adspec = m->count[RSVP_O_ADSPEC] ? m->adspec.bytes : 0;
	uint8_t room[RSVP_HOPS_MAX * sizeof(struct ipv6_addr) + RSVP_PASSED_BYTES_MAX], *at;
	const struct rsvp_shared *shared;

	if (objects + adspec > RSVP_PASSED_BYTES_MAX) {
		n->stats.not_passed++;
		objects = adspec = 0;
	}
	if (hops)
		memcpy(room, m->path.addrs, hops);
	at = room + hops;
	if (objects)
		at = rsvp_passed_copy(at, m);
	if (adspec)
		memcpy(at, m->adspec.at, adspec);
	shared = rsvp_share(n, room, hops + objects + adspec);
	if (!shared) {
		n->stats.no_memory++;
		return false;
	}
	rsvp_unshare(n, p->passed);
	p->passed = shared;
	p->hops = (uint8_t)(hops / sizeof(struct ipv6_addr));
	p->hops_max = m->count[RSVP_O_CBFC_PATH] ? m->path.hops_max : 0;
	p->object_bytes = (uint16_t)objects;
	p->adspec_bytes = adspec;
	return true;
}

static bool keep_init(struct rsvp_node *n, struct rsvp_path *p, const struct rsvp_message *m)
{
	if (!keep_passed(n, p, m))
		return false;
	p->phop_refresh_ms = rsvp_refresh_of(m);
	if (m->send_ttl > 1 || !p->ttl)
		p->ttl = (uint8_t)(m->send_ttl - 1);
	if (m->count[RSVP_O_CBFC_HOP] && (int32_t)(m->cbfc_hop[0].sequence - p->hop_heard) > 0)
		p->hop_heard = m->cbfc_hop[0].sequence;
	p->has_path = m->count[RSVP_O_CBFC_PATH];
	p->has_offer = m->count[RSVP_O_CBFC_OFFER];
	p->offer = p->has_offer ? m->offer[0] : (struct rsvp_cbfc_offer){.path = p->id, .delay_us = UINT32_MAX};
	p->instance->traffic = rsvp_traffic_of(&m->tspec);
	return true;
}

static uint8_t flags_of(const struct rsvp_message *m)
{
	return m->count[RSVP_O_CBFC_HOP] ? m->cbfc_hop[0].flags : 0;
}

/* ASK: reserve and select this path now (D17). */
static void ask(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	p->forsaken = false;
	if (p->instance->role != RSVP_FAR) {
		p->steps |= p->user == RSVP_U_COMMITTED ? RSVP_UP_COMMIT : RSVP_DOWN_ASK;
		return;
	}
	if (!is_carried(p->instance) || !rsvp_grantor_commit(n, now, p))
		p->instance->select = true;
}

static void new_epoch(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_cbfc_hop *h)
{
	p->confirmed = false;
	rsvp_reservation_shrink(n, p->reservation, h->want);
	rsvp_epoch_open(n, p->reservation, h->sequence);
	enter(n, p, RSVP_G_COMMITTED);
	send_commit(n, now, p);
}

/* Is there, behind this device, what its grantor has promised? */
static bool is_carried_on(const struct rsvp_path *p)
{
	return p->instance->role == RSVP_FAR ? is_carried(p->instance) : rsvp_user_has_credit(p);
}

/* A 28 of a path that is known, in a state that has credit: a refresh, or RESYNC (2.11). */
static void committed_init(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_message *m)
{
	const struct rsvp_cbfc_hop *h = m->count[RSVP_O_CBFC_HOP] ? &m->cbfc_hop[0] : NULL;

	if (!h || h->epoch) {
		if (h && h->epoch == p->reservation->epoch)
			rsvp_grantor_acknowledged(n, now, p);
		return;
	}
	if (!is_carried_on(p)) { /* no credit before the next hop has given some */
		p->steps |= h->flags & RSVP_HOP_ASK ? RSVP_DOWN_ASK : 0;
		return;
	}
	p->answers = h->flags & RSVP_HOP_IDLE;
	if (h->flags & RSVP_HOP_IDLE && (int32_t)(h->sequence - p->reservation->opened_by) > 0)
		new_epoch(n, now, p, h);
	else if (p->grantor == RSVP_G_COMMITTED)
		send_commit(n, now, p);
}

bool rsvp_grantor_refreshed(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor != RSVP_G_COMMITTED)
		return false;
	live(n, now, p);
	return true;
}

void rsvp_grantor_repeat(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor == RSVP_G_COMMITTED && is_carried_on(p))
		send_commit(n, now, p);
}

/* Does the user believe in credit that is no longer there? */
static bool is_believed(const struct rsvp_message *m)
{
	return m->count[RSVP_O_CBFC_HOP] && m->cbfc_hop[0].epoch;
}

static void refuse(struct rsvp_node *n, const struct rsvp_message *m, uint8_t code, uint16_t value)
{
	n->stats.refused++;
	rsvp_send_path_err(n, m, NULL, &(struct rsvp_error){.code = code, .value = value});
}

/* Units that a session gets at most: what is permitted, and no more than its SENDER_TSPEC asks for (2.12). */
static uint32_t most_for(const struct rsvp_node *n, const struct rsvp_message *m, const struct rsvp_way *way)
{
	uint32_t most = way->buffer ? way->buffer : UINT32_MAX;
	double units = (double)m->tspec.depth / (double)(1ull << n->config.unit);

	/* also when it is not a number */
	if (!(units > 0 && units < most))
		return most;
	return MAX_OF((uint32_t)units + ((double)(uint32_t)units < units), 1u);
}

static struct rsvp_instance *instance_for(struct rsvp_node *n, const struct rsvp_message *m, const struct rsvp_way *way,
	int role)
{
	struct rsvp_instance *s = rsvp_instance_of(n, m);
	struct ip_addr origin;
	uint32_t nonce;
	bool native;

	if (s)
		return s;
	rsvp_instance_key(m, &origin, &nonce, &native);
	s = rsvp_instance_new(n, &m->session, &origin, nonce);
	if (!s)
		return NULL;
	s->native = native;
	s->role = (uint8_t)role;
	s->traffic = rsvp_traffic_of(&m->tspec);
	s->traffic_class = m->count[RSVP_O_CBFC_HOP] ? m->cbfc_hop[0].traffic_class : RSVP_CLASS_ALL;
	s->unit = n->config.unit;
	s->most = most_for(n, m, way);
	s->zone = m->zone;
	s->joined = way->joined;
	s->limit = way->limit;
	return s;
}

/* Room for a path, and an offer; else the 28 is refused and goes no further. */
static bool admit(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_message *m)
{
	struct rsvp_instance *s = p->instance;

	if (!keep_init(n, p, m))
		return false;
	if (!reserve(n, p)) {
		refuse(n, m, RSVP_ERROR_ADMISSION, RSVP_REFUSE_POOL);
		return false;
	}
	live(n, now, p);
	offer(n, now, p);
	if (s->role != RSVP_FAR)
		p->steps |= RSVP_DOWN_INIT;
	else if (!s->due && !(flags_of(m) & RSVP_HOP_ASK))
		rsvp_due_set(n, s, &s->due, now + rsvp_ms(n->config.select_ms));
	if (flags_of(m) & RSVP_HOP_ASK)
		ask(n, now, p);
	return true;
}

/* Find the session that carries on the data of one that ends here: it may come later. True: it is found and has a path. */
static bool look_under(struct rsvp_node *n, struct rsvp_instance *s, const struct rsvp_message *m)
{
	if (!s->joined || s->under || !n->ops->under)
		return false;
	rsvp_instance_join(s, n->ops->under(n->arg, m));
	return is_carried(s);
}

/* The first 28 of a path. */
static void first_init(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m, const struct rsvp_way *way,
	int role)
{
	struct rsvp_instance *s = instance_for(n, m, way, role);
	struct rsvp_path *p = s ? rsvp_path_new(n, s, m->count[RSVP_O_CBFC_PATH] ? m->path.path : 0, &m->sender, way)
				: NULL;

	if (!p) {
		n->stats.no_memory++;
		if (s)
			rsvp_instance_sweep(n, s);
		return;
	}
	rsvp_path_set_lih(n, p);
	if (!rsvp_path_set_hop(n, p, &m->hop)) {
		rsvp_instance_sweep(n, s);
		return;
	}
	rsvp_heard_set(n, &p->heard_up, m);
	look_under(n, s, m);
	if (!admit(n, now, p, m))
		rsvp_instance_sweep(n, s);
}

/* A 28 of a committed path whose data another session carries on: that one has come just now, or is away. True: answered. */
static bool answers_for_other(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_message *m)
{
	if (look_under(n, p->instance, m))
		rsvp_grantor_carried(n, now, p->instance, true);
	else if (p->grantor == RSVP_G_COMMITTED && !is_carried(p->instance))
		rsvp_send_path_err(n, NULL, p, rsvp_error_of(p));
	else
		return false;
	return p->grantor == RSVP_G_COMMITTED;
}

static void known_init(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_message *m)
{
	if (p->grantor == RSVP_G_TOMB && (p->user == RSVP_U_NONE || p->user == RSVP_U_OUT)) {
		admit(n, now, p, m); /* newer than its End: it begins again */
		return;
	}
	if (p->grantor == RSVP_G_TOMB || p->grantor == RSVP_G_CLOSING) {
		n->stats.no_event++;
		return;
	}
	if (!keep_init(n, p, m))
		return;
	live(n, now, p);
	if (answers_for_other(n, now, p, m))
		return;
	if (p->instance->role != RSVP_FAR &&
		(p->user == RSVP_U_DOWN || (p->user == RSVP_U_OUT && rsvp_timer_is_set(p, RSVP_T_USER_SEND)))) {
		rsvp_send_path_err(n, NULL, p, rsvp_error_of(p));
		return;
	}
	if (p->instance->role != RSVP_FAR && (p->user == RSVP_U_NONE || p->user == RSVP_U_OUT))
		p->steps |= RSVP_DOWN_INIT;
	if (p->grantor == RSVP_G_COMMITTED || p->grantor == RSVP_G_LEASE) {
		committed_init(n, now, p, m);
		return;
	}
	if (p->grantor == RSVP_G_STORED && flags_of(m) & RSVP_HOP_ASK && !reserve(n, p)) {
		rsvp_send_path_err(n, NULL, p,
			&(struct rsvp_error){.code = RSVP_ERROR_ADMISSION, .value = RSVP_REFUSE_POOL});
		return;
	}
	if (is_believed(m)) {
		rsvp_send_path_err(n, NULL, p,
			&(struct rsvp_error){.code = RSVP_ERROR_ADMISSION, .value = RSVP_REFUSE_POOL});
	} else if (flags_of(m) & RSVP_HOP_ASK) {
		offer(n, now, p);
		ask(n, now, p);
	} else {
		if (p->grantor == RSVP_G_OFFERED)
			offer(n, now, p);
		else
			rsvp_send_reserve(n, p, RSVP_CREDIT_OFFER, false);
	}
}

static bool is_of(const struct rsvp_path *p, const struct rsvp_message *m)
{
	const struct rsvp_instance *s = p->instance;

	return rsvp_sender_equal(&p->sender, &m->sender) && rsvp_session_equal(s->session, &m->session) &&
	       (!m->count[RSVP_O_CBFC_PATH] || (m->path.nonce == s->nonce && m->path.path == p->id));
}

/* The user has restarted, and uses the LIH for another path: the old one ends without 31 (D43). */
static void replaced(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor != RSVP_G_TOMB) {
		entomb(n, now, p);
		rsvp_release(n, now, p, n->config.idle_ms);
		p->steps |= RSVP_DOWN_END;
	}
}

/*
 * A 28 of a known path from another previous hop is a copy (D12), unless routes decide by whom it comes (RFC 2205 section
 * 3.6). The previous hop that the path has left refreshes it for a while: that is a copy, as long as the new one is there and
 * nobody asks for the path along the old one.
 */
static bool is_copy(uint64_t now, const struct rsvp_path *p, const struct rsvp_message *m)
{
	bool gone = p->grantor == RSVP_G_TOMB || p->grantor == RSVP_G_NONE || p->grantor == RSVP_G_LEASE;

	return !m->routed || (!gone && !(flags_of(m) & RSVP_HOP_ASK) && p->former && now < p->former->left_until &&
				     ip_addr_equal(&p->former->left, &m->hop.addr));
}

/* The new previous hop is answered at once, and gets a reservation of its own; that of the old one ends after D_idle. */
static void change_hop(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, const struct rsvp_message *m)
{
	n->stats.moved++;
	if (rsvp_former_of(n, p)) {
		p->former->left = *p->phop;
		p->former->left_until = now + rsvp_life_ns(n, p->phop_refresh_ms);
	}
	enter(n, p, RSVP_G_NONE);
	rsvp_timer_cancel(n, p, RSVP_T_GRANTOR_LIFE);
	rsvp_release(n, now, p, n->config.idle_ms);
	p->reservation = NULL;
	rsvp_heard_set(n, &p->heard_up, m);
	p->hop_heard = m->count[RSVP_O_CBFC_HOP] ? m->cbfc_hop[0].sequence : 0;
	rsvp_timer_cancel(n, p, RSVP_T_BLOCKED);
	p->forsaken = p->acknowledged = p->confirmed = false;
	if (!rsvp_path_set_hop(n, p, &m->hop) || !admit(n, now, p, m))
		p->steps |= RSVP_DOWN_END;
}

static struct rsvp_path *path_for(struct rsvp_node *n, const struct rsvp_message *m, bool *another)
{
	struct rsvp_path *p = rsvp_path_by_sender(n, m);

	if (!p || !is_of(p, m)) {
		*another = p && !ip_addr_equal(p->phop, &m->hop.addr);
		return NULL;
	}
	*another = !ip_addr_equal(p->phop, &m->hop.addr);
	if (!*another)
		rsvp_path_set_hop(n, p, &m->hop);
	return p;
}

void rsvp_grantor_init(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m, uint64_t arrival)
{
	struct rsvp_path *p = rsvp_path_by_hop(n, m);
	struct rsvp_way way = {.rate_bps = UINT64_MAX, .delay_us = UINT32_MAX};
	bool another = false; /* previous hop */
	int role;

	if (rsvp_passed_here(n, m)) {
		n->stats.loop++;
		return;
	}
	if (m->count[RSVP_O_CBFC_PATH] && m->path.hops >= rsvp_hops_most(n, m)) {
		refuse(n, m, RSVP_ERROR_ADMISSION, RSVP_REFUSE_HOPS);
		return;
	}
	if (p && !is_of(p, m)) {
		struct rsvp_hop gone = {.addr = *p->phop};

		replaced(n, now, p);
		p->phop_lih = m->hop.lih;
		rsvp_path_set_hop(n, p, &gone);
		p = NULL;
	}
	if (!p)
		p = path_for(n, m, &another);
	if (another && (!p || is_copy(now, p, m))) {
		n->stats.duplicate++;
		return;
	}
	if (another) {
		change_hop(n, now, p, m);
		return;
	}
	if (p) {
		if (rsvp_heard_late(n, &p->heard_up, m))
			n->stats.late++;
		else
			known_init(n, now, p, m);
		return;
	}
	if (m->count[RSVP_O_CBFC_HOP] && m->cbfc_hop[0].unit != n->config.unit) {
		refuse(n, m, RSVP_ERROR_ADMISSION, RSVP_REFUSE_UNIT);
		return;
	}
	role = n->ops->route(n->arg, m, arrival, &way);
	if (role == -1)
		refuse(n, m, RSVP_ERROR_POLICY, 0);
	else if (role < 0)
		refuse(n, m, RSVP_ERROR_ADMISSION, (uint16_t)-role);
	else
		first_init(n, now, m, &way, role);
}

bool rsvp_grantor_is_complete(const struct rsvp_path *p)
{
	const struct rsvp_reservation *r = p->reservation;

	if (p->grantor != RSVP_G_CLOSING)
		return p->grantor == RSVP_G_TOMB || p->grantor == RSVP_G_NONE;
	if (!p->end_final || !p->end_counted)
		return false;
	return !r || ((int64_t)r->received + r->lost >= (int64_t)p->end_sent && (int64_t)r->received == r->freed);
}

/* The rest of the data has come, or does not come any more. */
static void finish(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	entomb(n, now, p);
	rsvp_release(n, now, p, 0);
	p->steps |= RSVP_DOWN_MORE;
}

void rsvp_grantor_complete(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor == RSVP_G_CLOSING && rsvp_grantor_is_complete(p))
		finish(n, now, p);
}

void rsvp_grantor_end(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m)
{
	struct rsvp_path *p = rsvp_path_by_hop(n, m);
	const struct rsvp_cbfc_hop *h = m->count[RSVP_O_CBFC_HOP] ? &m->cbfc_hop[0] : NULL;

	if (p && (!rsvp_sender_equal(&p->sender, &m->sender) || !rsvp_session_equal(p->instance->session, &m->session)))
		p = NULL;
	if (!p) {
		if (bucket_take(&n->errors, now, 1000, 100))
			rsvp_send_end_ack(n, NULL, m);
		return;
	}
	if (rsvp_heard_late(n, &p->heard_up, m)) {
		n->stats.late++;
		return;
	}
	rsvp_send_end_ack(n, p, m);
	if (p->grantor == RSVP_G_TOMB || p->grantor == RSVP_G_NONE)
		return;
	p->end_counted = h;
	p->end_final = h && h->flags & RSVP_HOP_FINAL;
	p->end_sent = h ? h->fctbs : 0;
	if (p->grantor != RSVP_G_CLOSING)
		p->steps |= RSVP_DOWN_END;
	if (p->grantor == RSVP_G_STORED || p->grantor == RSVP_G_OFFERED)
		p->end_counted = p->end_final = true, p->end_sent = 0;
	enter(n, p, RSVP_G_CLOSING);
	rsvp_timer_cancel(n, p, RSVP_T_GRANTOR_LIFE);
	rsvp_timer_set(n, p, RSVP_T_GRANTOR_STATE, now + MAX_OF(rsvp_ms(n->config.lease_ms), NSEC_PER_SEC));
	rsvp_grantor_complete(n, now, p);
}

/* The previous hop has refused S, or nobody has acknowledged it. */
static void refused(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	rsvp_timer_set(n, p, RSVP_T_BLOCKED, now + n->config.blockade * rsvp_ms(p->phop_refresh_ms));
	store(n, now, p, n->config.idle_ms);
	if (p->instance->role == RSVP_FAR)
		p->instance->select = true;
	else
		p->steps |= RSVP_DOWN_REFUSE;
}

/* Markers of contexts: what is sent in them, which has the epoch of S only if S has arrived (2.8). */
void rsvp_grantor_marker(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m)
{
	for (unsigned int i = 0; i < m->count[RSVP_O_CBFC_HOP]; i++) {
		const struct rsvp_cbfc_hop *h = &m->cbfc_hop[i];
		struct rsvp_path *p = rsvp_path_of_hop(n, m->zone, &m->hop.addr, h->lih);

		if (!p || !p->reservation || !rsvp_path_holds(p)) {
			n->stats.bad_lih++;
		} else if (!rsvp_session_equal(p->instance->session, &m->session)) {
			n->stats.bad_session++;
		} else if (h->unit != p->instance->unit || h->traffic_class != p->instance->traffic_class) {
			n->stats.bad_unit++;
		} else {
			if (h->epoch == p->reservation->epoch)
				rsvp_grantor_acknowledged(n, now, p);
			if (p->reservation->number)
				n->ops->data->marked(n->arg, p, p->reservation->number, h);
		}
	}
}

void rsvp_grantor_resv_err(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m)
{
	struct rsvp_path *p = rsvp_path_by_hop(n, m);

	if (!p || !rsvp_session_equal(p->instance->session, &m->session)) {
		n->stats.no_state++;
		return;
	}
	if (m->error.code == RSVP_ERROR_NO_PATH && p->grantor != RSVP_G_TOMB && p->grantor != RSVP_G_NONE) {
		entomb(n, now, p);
		rsvp_release(n, now, p, n->config.idle_ms);
		p->steps |= RSVP_DOWN_END;
	} else if (m->error.code == RSVP_ERROR_ADMISSION &&
		   (p->grantor == RSVP_G_OFFERED || p->grantor == RSVP_G_COMMITTED)) {
		refused(n, now, p);
	} else {
		n->stats.no_event++;
	}
}

/* The user's side of the device has lost the path. What is committed stays until 30, RESYNC or a lease (2.8). */
void rsvp_grantor_lost(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor == RSVP_G_NONE || p->grantor == RSVP_G_TOMB || p->grantor == RSVP_G_CLOSING)
		return;
	rsvp_send_path_err(n, NULL, p, rsvp_error_of(p));
	if (p->grantor == RSVP_G_OFFERED)
		store(n, now, p, 0);
}

/*
 * The session under this one has a path for its data again, or none. What is offered waits for it. What is committed stays,
 * and the previous hop is told not to use it (2.8, as for a transit device whose next hop is down).
 */
void rsvp_grantor_carried(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s, bool on)
{
	struct rsvp_error why = rsvp_no_way;

	if (s->under && s->under->why)
		why.value = s->under->why;
	for (struct rsvp_path *p = s->paths; p; p = p->next) {
		rsvp_error_set(n, p, on ? NULL : &why);
		if (p->grantor != RSVP_G_COMMITTED)
			continue;
		if (on)
			send_commit(n, now, p);
		else
			rsvp_send_path_err(n, NULL, p, rsvp_error_of(p));
	}
	if (on && !s->due)
		s->select = true;
}

void rsvp_grantor_down(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor != RSVP_G_COMMITTED)
		return;
	enter(n, p, RSVP_G_LEASE);
	rsvp_timer_set(n, p, RSVP_T_GRANTOR_STATE, now + rsvp_ms(n->config.lease_ms));
}

static void life_over(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor == RSVP_G_TOMB) {
		enter(n, p, RSVP_G_NONE);
		return;
	}
	n->stats.lost++;
	p->steps |= RSVP_DOWN_END;
	if (p->grantor == RSVP_G_COMMITTED) {
		rsvp_grantor_down(n, now, p);
	} else if (p->grantor != RSVP_G_LEASE) {
		enter(n, p, RSVP_G_NONE);
		rsvp_release(n, now, p, 0);
	}
}

static void state_over(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p->grantor == RSVP_G_CLOSING) {
		finish(n, now, p);
		return;
	}
	if (p->grantor == RSVP_G_LEASE) {
		p->forsaken = true;
		p->steps |= RSVP_DOWN_REFUSE; /* what the next hop has committed is of no use any more */
	}
	store(n, now, p, 0);
	if (!rsvp_timer_is_set(p, RSVP_T_GRANTOR_LIFE))
		enter(n, p, RSVP_G_NONE); /* L was over during the lease */
	p->steps |= RSVP_DOWN_MORE;
}

/* S again: fast until it is acknowledged, then every R. One that was never acknowledged may not have arrived. */
static void send_over(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	uint64_t interval = rsvp_ms(n->config.rapid_ms) << MIN_OF(p->copies, 8);

	if (p->acknowledged || (p->confirmed && p->copies >= n->config.rapid_max)) {
		if (is_carried_on(p) && !rsvp_refresh_commit(n, p))
			send_commit(n, now, p);
		else
			rsvp_timer_set(n, p, RSVP_T_GRANTOR_SEND, rsvp_refresh_together(n, now, p));
		return;
	}
	if (p->copies == n->config.rapid_max + LATE_COPIES) {
		n->stats.unacknowledged++;
		rsvp_silent(n, p->instance->zone, p->phop);
		refused(n, now, p);
		return;
	}
	p->copies++;
	rsvp_send_reserve(n, p, RSVP_CREDIT_COMMIT, true);
	if (p->confirmed && p->copies == n->config.rapid_max)
		interval = rsvp_refresh_ns(n, p);
	rsvp_timer_set(n, p, RSVP_T_GRANTOR_SEND, now + (p->copies > n->config.rapid_max ? NSEC_PER_SEC : interval));
}

void rsvp_grantor_timer(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint8_t kind)
{
	if (kind == RSVP_T_GRANTOR_LIFE)
		life_over(n, now, p);
	else if (kind == RSVP_T_GRANTOR_STATE)
		state_over(n, now, p);
	else
		send_over(n, now, p);
}
