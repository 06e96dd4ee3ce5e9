/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node's sessions: opened and closed, messages and timers handed to the machines, and what one machine leaves to the
 * other carried out. Control lcore.
 */
#include <stdlib.h>

#include "rsvp/rsvp_node_priv.h"

const struct rsvp_config rsvp_config_default = {.paths_max = 65536,
	.refresh_ms = 30000,
	.keep = 3,
	.rapid_ms = 500,
	.rapid_max = 3,
	.repeat_max_ms = 30000,
	.select_ms = 200,
	.offer_ms = 3000,
	.idle_ms = 100,
	.lease_ms = 1000,
	.heartbeat_us = 3000,
	.blockade = 4,
	.hops_max = RSVP_HOPS_MAX,
	.unit = 11,
	.oversubscription = 4,
	.buffer = 8192};

struct rsvp_node *rsvp_node_new(const struct rsvp_config *c, const struct rsvp_node_ops *ops, void *arg, uint64_t seed)
{
	struct rsvp_node *n = calloc(1, sizeof(*n));
	uint32_t buckets = c->paths_max;

	if (!n)
		return NULL;
	n->config = *c;
	n->ops = ops;
	n->arg = arg;
	n->random = seed;
	n->salt = rsvp_splitmix64(&seed);
	n->buckets = buckets;
	n->id_epoch = rsvp_random(n) & 0xffffff;
	for (unsigned int i = 0; i < RSVP_LIMITS; i++)
		n->limit[i].most = RSVP_UNLIMITED;
	n->by_lih = calloc(buckets, sizeof(*n->by_lih));
	n->by_hop = calloc(buckets, sizeof(*n->by_hop));
	n->by_sender = calloc(buckets, sizeof(*n->by_sender));
	n->by_key = calloc(buckets, sizeof(*n->by_key));
	n->sent = calloc(2 * (size_t)buckets, sizeof(*n->sent));
	n->context = new_sparse(c->paths_max * sizeof(*n->context), &n->context_memory);
	n->by_heard = calloc(buckets, sizeof(*n->by_heard));
	n->by_contents = calloc(rsvp_content_buckets(buckets), sizeof(*n->by_contents));
	n->by_slot = calloc(c->paths_max, sizeof(*n->by_slot));
	n->free_slot = calloc(c->paths_max, sizeof(*n->free_slot));
	for (uint32_t i = 0; n->free_slot && i < c->paths_max; i++)
		n->free_slot[i] = c->paths_max - 1 - i;
	if (n->by_lih && n->by_hop && n->by_sender && n->by_key && n->sent && n->by_heard && n->by_contents &&
		n->by_slot && n->free_slot && n->context)
		return n;
	rsvp_node_free(n);
	return NULL;
}

static void free_instance(struct rsvp_node *n, struct rsvp_instance *s)
{
	while (s->paths)
		rsvp_path_free(n, s->paths);
	while (s->reservations)
		rsvp_reservation_free(n, s->reservations);
	rsvp_instance_free(n, s);
}

void rsvp_node_free(struct rsvp_node *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; n->by_key && i < n->buckets; i++)
		while (n->by_key[i])
			free_instance(n, n->by_key[i]);
	free(n->by_lih);
	free(n->by_hop);
	free(n->by_sender);
	free(n->by_key);
	free(n->sent);
	free(n->by_slot);
	free(n->by_heard);
	free(n->by_contents);
	free(n->free_slot);
	free(n->context_memory);
	free(n);
}

void rsvp_node_set(struct rsvp_node *n, const struct rsvp_config *c)
{
	uint32_t paths_max = n->config.paths_max;

	n->config = *c;
	n->config.paths_max = paths_max; /* the tables are made for it */
}

/* What the machine of one side left to that of the other. */
static void join(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	uint8_t steps = p->steps;

	p->steps = 0;
	if (steps & RSVP_UP_COMMIT && !rsvp_grantor_commit(n, now, p))
		rsvp_user_refuse(n, p);
	if (steps & (RSVP_UP_ERROR | RSVP_UP_LOST))
		rsvp_grantor_lost(n, now, p);
	if (steps & RSVP_DOWN_REFUSE)
		rsvp_user_refuse(n, p);
	if (steps & (RSVP_DOWN_INIT | RSVP_DOWN_ASK))
		rsvp_user_start(n, now, p, steps & RSVP_DOWN_ASK);
	if (steps & RSVP_DOWN_END)
		rsvp_user_end(n, now, p);
	if (steps & RSVP_DOWN_MORE)
		rsvp_user_more(n, now, p);
}

static bool is_settled(const struct rsvp_instance *s)
{
	for (const struct rsvp_path *p = s->paths; p; p = p->next)
		if (p->steps)
			return false;
	return !s->select && !s->backup;
}

static void settle(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s);

/* Sessions that end here, and whose data this one carries on, follow it. */
void rsvp_carry_set(struct rsvp_node *n, uint64_t now, struct rsvp_carry *c, bool on)
{
	n->now = now;
	if (c->on == on)
		return;
	c->on = on;
	for (struct rsvp_instance *a = c->above, *next; a; a = next) {
		next = a->next_above;
		rsvp_grantor_carried(n, now, a, on);
		settle(n, now, a);
	}
}

void rsvp_carry_end(struct rsvp_node *n, uint64_t now, struct rsvp_carry *c)
{
	rsvp_carry_set(n, now, c, false);
	while (c->above)
		rsvp_instance_join(c->above, NULL);
}

/* After every event of a session. It may be gone afterwards. */
static void settle(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s)
{
	while (!is_settled(s)) {
		for (struct rsvp_path *p = s->paths; p; p = p->next)
			join(n, now, p);
		if (s->select) {
			s->select = false;
			rsvp_grantor_select(n, now, s);
		}
		if (s->backup) {
			s->backup = false;
			if (s->wanted && !s->current)
				rsvp_user_backup(n, now, s);
		}
	}
	rsvp_carry_set(n, now, &s->carry, s->current);
	if (rsvp_instance_sweep(n, s) || !n->ops->shown)
		return;
	for (const struct rsvp_path *p = s->paths; p; p = p->next)
		n->ops->shown(n->arg, p);
}

static uint32_t new_nonce(struct rsvp_node *n, const struct rsvp_open *o)
{
	struct rsvp_message m = {.session = o->session};

	m.path = (struct rsvp_cbfc_path){.addrs = &n->config.addr.v6};
	m.count[RSVP_O_CBFC_PATH] = 1;
	do {
		m.path.nonce = rsvp_random(n);
	} while (rsvp_instance_of(n, &m));
	return m.path.nonce;
}

static struct rsvp_path *open_path(struct rsvp_node *n, struct rsvp_instance *s, const struct rsvp_candidate *c)
{
	struct rsvp_path *p = rsvp_path_new(n, s, c->id, &c->sender, &c->way);

	if (!p)
		return NULL;
	p->candidate = true;
	p->ttl = UINT8_MAX;
	p->has_path = p->has_offer = true;
	p->offer = (struct rsvp_cbfc_offer){.buffer = UINT64_MAX, .rate = UINT64_MAX, .path = c->id};
	rsvp_path_set_lih(n, p);
	return p;
}

struct rsvp_instance *rsvp_open(struct rsvp_node *n, uint64_t now, const struct rsvp_open *o)
{
	struct rsvp_instance *s;

	n->now = now;
	if (!o->candidates || o->candidates > RSVP_CANDIDATES_MAX)
		return NULL;
	s = rsvp_instance_new(n, &o->session, &n->config.addr, new_nonce(n, o));
	if (!s)
		return NULL;
	s->role = RSVP_HEADEND;
	s->traffic = rsvp_traffic_of(&o->tspec);
	s->traffic_class = o->traffic_class;
	s->unit = n->config.unit;
	for (unsigned int i = 0; i < o->candidates; i++)
		if (!open_path(n, s, &o->candidate[i])) {
			free_instance(n, s);
			return NULL;
		}
	s->wanted = true;
	for (struct rsvp_path *p = s->paths; p; p = p->next)
		rsvp_user_start(n, now, p, false);
	settle(n, now, s);
	return s;
}

void rsvp_close(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s)
{
	n->now = now;
	s->wanted = false;
	rsvp_due_set(n, s, &s->due, TIME_NEVER);
	for (struct rsvp_path *p = s->paths; p; p = p->next)
		rsvp_user_end(n, now, p);
	s->current = NULL;
	rsvp_carry_end(n, now, &s->carry);
	settle(n, now, s);
}

/* An id that this node has given, and its path. */
static struct rsvp_path *sent_by(const struct rsvp_node *n, const struct rsvp_message_id *a, bool *up)
{
	uint32_t sent = n->sent[a->id % (2 * n->buckets)];
	struct rsvp_path *p = rsvp_linked(n, sent >> 1);

	*up = sent & 1;
	return p && a->epoch == n->id_epoch && (*up ? p->s_id : p->down_id) == a->id ? p : NULL;
}

static void take_acks(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m)
{
	for (unsigned int i = 0; i < m->count[RSVP_O_ACK]; i++) {
		bool up;
		struct rsvp_path *p = sent_by(n, &m->ack[i], &up);

		if (!p)
			continue;
		p->down_acked = up ? p->down_acked : !m->ack[i].nack;
		if (m->ack[i].nack && !up)
			rsvp_timer_set(n, p, RSVP_T_USER_SEND, now);
		else if (m->ack[i].nack)
			rsvp_grantor_repeat(n, now, p);
		else if (up)
			rsvp_grantor_acknowledged(n, now, p);
		else if (!m->ack[i].nack && p->user == RSVP_U_WAIT) /* it has arrived: no more copies */
			rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + rsvp_refresh_ns(n, p));
	}
}

/* The state of a message whose id has come, if nothing but its life is to be renewed. */
static bool refreshed(struct rsvp_node *n, uint64_t now, struct rsvp_heard *h)
{
	if (!h)
		return false;
	return h->down ? rsvp_user_refreshed(n, now, rsvp_heard_path(h))
		       : rsvp_grantor_refreshed(n, now, rsvp_heard_path(h));
}

static void send_nacks(struct rsvp_node *n, uint16_t zone, const struct ip_addr *to)
{
	struct rsvp_way way = {.to = *to, .zone = zone};

	if (!n->out.count[RSVP_O_ACK])
		return;
	n->stats.sent++;
	n->ops->send(n->arg, &way, &n->out);
}

/* Whoever sent an id that is not known repeats the message (RFC 2961 section 5.4). */
static void take_refresh(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m, const struct ip_addr *from)
{
	rsvp_clear(&n->out, RSVP_ACK);
	n->out.flags = RSVP_FLAG_REFRESH_REDUCTION;
	for (unsigned int i = 0; i < m->count[RSVP_O_ID_LIST]; i++)
		for (unsigned int k = 0; k < m->id_list[i].count && n->out.count[RSVP_O_ACK] < RSVP_ACKS_MAX; k++) {
			uint32_t id = be32_get(m->id_list[i].ids[k]);

			if (!refreshed(n, now, rsvp_heard_find(n, m->zone, from, m->id_list[i].epoch, id)))
				n->out.ack[n->out.count[RSVP_O_ACK]++] = (struct rsvp_message_id){.nack = true,
					.epoch = m->id_list[i].epoch,
					.id = id};
		}
	send_nacks(n, m->zone, from);
}

static void settle_all(struct rsvp_node *n, uint64_t now)
{
	for (uint32_t i = 0; i < n->buckets; i++)
		for (struct rsvp_instance *s = n->by_key[i], *next; s; s = next) {
			next = s->next_key;
			settle(n, now, s);
		}
}

/* The sessions that a message has touched. */
static void settle_path(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	if (p)
		settle(n, now, p->instance);
}

static struct rsvp_instance *touched_by(const struct rsvp_node *n, const struct rsvp_message *m)
{
	struct rsvp_path *p;

	if (m->kind == RSVP_INIT)
		return rsvp_instance_of(n, m);
	if (m->kind == RSVP_END || m->kind == RSVP_RESV_ERR)
		p = rsvp_path_by_hop(n, m);
	else if (m->kind == RSVP_PATH_ERR)
		p = rsvp_path_by_sender(n, m);
	else
		p = rsvp_path_by_lih(n, m->hop.lih);
	return p ? p->instance : NULL;
}

static void dispatch(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m, const struct ip_addr *from,
	uint64_t arrival)
{
	switch (m->kind) {
	case RSVP_INIT:
		rsvp_grantor_init(n, now, m, arrival);
		break;
	case RSVP_END:
		rsvp_grantor_end(n, now, m);
		break;
	case RSVP_RESV_ERR:
		rsvp_grantor_resv_err(n, now, m);
		break;
	case RSVP_RESERVE:
	case RSVP_UPDATE:
		rsvp_user_reserve(n, now, m);
		break;
	case RSVP_END_ACK:
		rsvp_user_end_ack(n, now, m);
		break;
	case RSVP_PATH_ERR:
		rsvp_user_path_err(n, now, m);
		break;
	case RSVP_SREFRESH:
		take_refresh(n, now, m, from);
		break;
	case RSVP_MARKER:
		rsvp_grantor_marker(n, now, m);
		break;
	case RSVP_ACK:
		break;
	default:
		n->stats.no_event++;
	}
}

void rsvp_receive(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m, const struct ip_addr *from,
	uint64_t arrival)
{
	struct rsvp_path *displaced = m->kind == RSVP_INIT ? rsvp_path_by_hop(n, m) : NULL;
	struct rsvp_instance *s, *other = displaced ? displaced->instance : NULL;

	n->now = now;
	n->stats.received++;
	if (m->count[RSVP_O_SESSION] && m->session.dst.family != n->config.addr.family) {
		n->stats.other_family++;
		return;
	}
	n->ack_due = m->count[RSVP_O_ID] && m->id.ack_desired;
	n->ack_to = m->count[RSVP_O_HOP] ? m->hop.addr : *from;
	n->ack_zone = m->zone;
	n->ack = (struct rsvp_message_id){.epoch = m->id.epoch, .id = m->id.id};
	take_acks(n, now, m);
	dispatch(n, now, m, from, arrival);
	rsvp_send_ack(n);
	for (unsigned int i = 0; m->kind == RSVP_UPDATE && i < m->count[RSVP_O_CREDIT]; i++)
		settle_path(n, now, rsvp_path_by_lih(n, m->credit[i].lih));
	s = touched_by(n, m);
	if (s)
		settle(n, now, s);
	if (other && other != s)
		settle(n, now, other);
}

void rsvp_neighbor(struct rsvp_node *n, uint64_t now, uint16_t zone, const struct ip_addr *addr, bool up)
{
	n->now = now;
	for (struct rsvp_path *p = NULL; (p = rsvp_path_next(n, p));) {
		if (p->nhop->family && rsvp_way_of(p)->zone == zone && ip_addr_equal(p->nhop, addr)) {
			if (up)
				rsvp_user_up(n, now, p);
			else
				rsvp_user_down(n, now, p);
		}
		if (!up && p->phop->family && p->instance->zone == zone && ip_addr_equal(p->phop, addr))
			rsvp_grantor_down(n, now, p);
	}
	settle_all(n, now);
}

void rsvp_links(struct rsvp_node *n, uint64_t now, int (*news)(void *arg, const struct rsvp_path *p))
{
	bool any = false;

	n->now = now;
	for (struct rsvp_path *p = NULL; (p = rsvp_path_next(n, p));) {
		int what = news(n->arg, p);

		if (what > 0)
			rsvp_user_up(n, now, p);
		else if (what < 0)
			rsvp_user_down(n, now, p);
		any |= what != 0;
	}
	if (any)
		settle_all(n, now);
}

/* The data of a session that ends here may go on in another session now, or in none. True: it does. */
static bool look_under(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s)
{
	struct rsvp_carry *under;

	if (!s->joined || !n->ops->under)
		return false;
	rsvp_clear(&n->out, RSVP_INIT);
	n->out.session = *s->session;
	n->out.zone = s->zone;
	n->out.cbfc_hop[0].traffic_class = s->traffic_class;
	n->out.count[RSVP_O_SESSION] = n->out.count[RSVP_O_CBFC_HOP] = 1;
	if (s->paths) {
		n->out.sender = s->paths->sender;
		n->out.count[RSVP_O_TEMPLATE] = 1;
	}
	under = n->ops->under(n->arg, &n->out);
	if (under == s->under)
		return false;
	rsvp_instance_join(s, under);
	rsvp_grantor_carried(n, now, s, under && under->on);
	return true;
}

uint32_t rsvp_routes(struct rsvp_node *n, uint64_t now, uint32_t from, uint32_t budget,
	bool (*moved)(void *arg, const struct rsvp_path *p, struct rsvp_way *way))
{
	uint32_t end = MIN_OF(n->config.paths_max, from + budget);

	n->now = now;
	for (uint32_t i = from; i < end; i++) {
		struct rsvp_path *p = n->by_slot[i];
		struct rsvp_way way;
		bool news;

		if (!p)
			continue;
		way = rsvp_whole_way(p);
		news = look_under(n, now, p->instance);
		if (moved(n->arg, p, &way)) {
			rsvp_user_moved(n, p, &way);
			news = true;
		}
		if (news)
			settle(n, now, p->instance);
	}
	return end;
}

static void select_over(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s)
{
	if (s->role == RSVP_FAR)
		s->select = true;
	else if (s->current)
		rsvp_user_keep_one(n, now, s);
	else
		s->backup = true;
	settle(n, now, s);
}

static void path_expire(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, enum rsvp_timer_kind kind)
{
	if (kind < RSVP_T_USER_LIFE)
		rsvp_grantor_timer(n, now, p, (uint8_t)kind);
	else if (kind < RSVP_T_BLOCKED)
		rsvp_user_timer(n, now, p, (uint8_t)kind);
	settle(n, now, p->instance);
}

static void expire(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s)
{
	struct rsvp_due x;

	if (!rsvp_due_take(n, s, &x))
		return;
	if (x.kind == RSVP_T_SELECT) {
		select_over(n, now, s);
	} else if (x.kind == RSVP_T_FREE) {
		rsvp_give_back(n, x.reservation);
		settle(n, now, s);
	} else {
		path_expire(n, now, x.path, x.kind);
	}
}

unsigned int rsvp_poll(struct rsvp_node *n, uint64_t now, unsigned int budget, uint64_t *next)
{
	unsigned int left = budget;
	struct timer *x;

	n->now = now;
	while ((x = timers_pop(&n->wheel, now, &left)))
		expire(n, now, TIMER_OWNER(x, struct rsvp_instance, timer));
	rsvp_refresh_flush(n);
	*next = timers_next(&n->wheel);
	return budget - left;
}

void rsvp_grantor_count(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint64_t received, int64_t lost,
	int64_t freed)
{
	n->now = now;
	if (!p->reservation)
		return;
	p->reservation->received = received;
	p->reservation->lost = lost;
	p->reservation->freed = freed;
	rsvp_grantor_complete(n, now, p);
	settle(n, now, p->instance);
}

void rsvp_user_count(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint64_t sent, uint64_t pending,
	uint64_t queued)
{
	n->now = now;
	if (!p->context)
		return;
	p->context->sent = sent;
	p->context->rest = pending || queued;
	rsvp_user_more(n, now, p);
	settle(n, now, p->instance);
}

void rsvp_path_show(const struct rsvp_path *p, struct rsvp_path_view *out)
{
	const struct rsvp_instance *s = p->instance;
	const struct rsvp_reservation *r = rsvp_path_holds(p) ? p->reservation : NULL;
	const struct rsvp_context *x = p->context;

	*out = (struct rsvp_path_view){.session = *s->session,
		.sender = p->sender,
		.nonce = s->nonce,
		.path = p->id,
		.role = s->role,
		.grantor = p->grantor,
		.user = p->user,
		.current = s->current == p,
		.traffic_class = s->traffic_class,
		.unit = s->unit,
		.port = rsvp_way_of(p)->port,
		.error = *rsvp_error_of(p),
		.offer = p->offer,
		.phop = *p->phop,
		.nhop = *p->nhop,
		.phop_lih = p->phop_lih,
		.lih = p->lih,
		.grant_epoch = r ? r->epoch : 0,
		.grant_units = r ? r->buffer : 0,
		.credit_epoch = x ? x->epoch : 0,
		.credit_units = x ? x->buffer : 0,
		.fccl = x ? x->fccl : 0,
		.abr = x ? x->abr : 0,
		.sent = x ? x->sent : 0,
		.number = r ? r->number : 0,
		.zone_up = s->zone,
		.zone_down = rsvp_way_of(p)->zone};
}

struct rsvp_path *rsvp_path_at(const struct rsvp_node *n, uint32_t slot)
{
	return n->by_slot[slot];
}

uint32_t rsvp_hop_sequence(const struct rsvp_path *p)
{
	return ++p->instance->hop_sequence;
}

void rsvp_user_store(const struct rsvp_path *p, uint32_t epoch, uint64_t sent)
{
	if (p->context && p->context->epoch == epoch)
		p->context->sent = sent;
}

void rsvp_user_silent(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	n->now = now;
	rsvp_user_down(n, now, p);
	settle(n, now, p->instance);
}

void rsvp_user_resync(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	n->now = now;
	rsvp_user_out_of_step(n, now, p);
	settle(n, now, p->instance);
}

bool rsvp_user_return(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	bool done = rsvp_user_give_back(n, now, p);

	if (done)
		settle(n, now, p->instance);
	return done;
}

struct rsvp_path *rsvp_path_next(const struct rsvp_node *n, const struct rsvp_path *p)
{
	uint32_t slot = p ? p->slot + 1 : 0;

	while (slot < n->config.paths_max && !n->by_slot[slot])
		slot++;
	return slot < n->config.paths_max ? n->by_slot[slot] : NULL;
}

uint32_t rsvp_path_slot(const struct rsvp_path *p)
{
	return p->slot;
}

uint64_t rsvp_path_carrier(const struct rsvp_path *p)
{
	return p->carrier;
}

struct rsvp_carry *rsvp_carry_of(struct rsvp_instance *s)
{
	return &s->carry;
}

struct rsvp_path *rsvp_current(const struct rsvp_instance *s)
{
	return s->current;
}

const struct rsvp_node_stats *rsvp_node_stats_of(const struct rsvp_node *n)
{
	return &n->stats;
}
