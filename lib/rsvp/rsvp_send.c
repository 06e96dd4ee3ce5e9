/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the messages of the session machines (docs/credit.md 2.3). Control lcore. */
#include "rsvp/rsvp_node_priv.h"

uint64_t rsvp_life_ns(const struct rsvp_node *n, uint32_t refresh_ms)
{
	return rsvp_life_of(n->config.keep, refresh_ms);
}

/* From [0.5 R, 1.5 R]. R follows the configuration in steps of Slew.Max = 0.3 upwards (RFC 2205 section 3.7). */
uint64_t rsvp_refresh_ns(struct rsvp_node *n, struct rsvp_path *p)
{
	uint32_t most = p->refresh_ms + p->refresh_ms * 3 / 10;
	uint64_t random = (uint64_t)rsvp_random(n) << 32 | rsvp_random(n);

	p->refresh_ms = MIN_OF(n->config.refresh_ms, MAX_OF(most, 1u));
	return rsvp_ms(p->refresh_ms) / 2 + random % (rsvp_ms(p->refresh_ms) + 1);
}

static struct rsvp_message *begin(struct rsvp_node *n, enum rsvp_kind kind, const struct rsvp_session *session)
{
	struct rsvp_message *m = &n->out;

	rsvp_clear(m, kind);
	m->flags = RSVP_FLAG_REFRESH_REDUCTION;
	m->session = *session;
	m->count[RSVP_O_SESSION] = 1;
	return m;
}

static struct ip_addr own_towards(const struct rsvp_node *n, uint16_t zone, const struct ip_addr *neighbor)
{
	return n->ops->own ? n->ops->own(n->arg, zone, neighbor) : n->config.addr;
}

struct ip_addr rsvp_own_along(const struct rsvp_node *n, const struct rsvp_path *p)
{
	const struct ip_addr *here = &rsvp_way_of(p)->here;

	return here->family ? *here : n->config.addr;
}

static void put_hop(struct rsvp_message *m, struct ip_addr own, uint32_t lih)
{
	m->hop = (struct rsvp_hop){.addr = own, .lih = lih};
	m->count[RSVP_O_HOP] = 1;
}

static void put_sender(struct rsvp_message *m, const struct rsvp_sender *sender)
{
	m->sender = *sender;
	m->count[RSVP_O_TEMPLATE] = 1;
}

/* Remember whose message it is: its acknowledgement has nothing but the id. */
static void put_id(struct rsvp_node *n, struct rsvp_message *m, uint32_t *id, const struct rsvp_path *p, bool up,
	bool again)
{
	if (!again)
		*id = ++n->id_last;
	m->id = (struct rsvp_message_id){.ack_desired = true, .epoch = n->id_epoch, .id = *id};
	m->count[RSVP_O_ID] = 1;
	n->sent[*id % (2 * n->buckets)] = rsvp_link_of(p) << 1 | up;
}

static void send_to(struct rsvp_node *n, uint16_t zone, const struct ip_addr *to, struct rsvp_message *m)
{
	struct rsvp_way way = {.to = *to, .zone = zone};

	if (n->ack_due && n->ack_zone == zone && ip_addr_equal(&n->ack_to, to)) {
		m->ack[m->count[RSVP_O_ACK]++] = n->ack;
		n->ack_due = false;
	}
	n->stats.sent++;
	n->ops->send(n->arg, &way, m);
}

/* The hop limit, which Send_TTL repeats, is one less than that with which the message came (docs/credit.md 2.3). */
static void send_along(struct rsvp_node *n, const struct rsvp_path *p, struct rsvp_message *m)
{
	struct rsvp_way way = rsvp_whole_way(p);

	m->send_ttl = p->ttl;
	way.to = p->instance->session->dst;
	way.along = true;
	n->stats.sent++;
	n->ops->send(n->arg, &way, m);
}

void rsvp_send_ack(struct rsvp_node *n)
{
	struct ip_addr to = n->ack_to;

	if (!n->ack_due)
		return;
	rsvp_clear(&n->out, RSVP_ACK);
	n->out.flags = RSVP_FLAG_REFRESH_REDUCTION;
	send_to(n, n->ack_zone, &to, &n->out);
}

static void put_cbfc_hop(const struct rsvp_node *n, struct rsvp_message *m, const struct rsvp_path *p, uint8_t flags)
{
	const struct rsvp_context *x = p->context;
	bool known = p->user == RSVP_U_COMMITTED && x;

	rsvp_context_count(n, p);
	m->cbfc_hop[0] = (struct rsvp_cbfc_hop){.flags = flags,
		.traffic_class = p->instance->traffic_class,
		.unit = p->instance->unit,
		.epoch = known ? x->epoch : 0,
		.fctbs = known || (p->user == RSVP_U_ENDING && x) ? x->sent : 0,
		.sequence = p->hop_sequence,
		.heartbeat_us = n->config.heartbeat_us};
	if (p->user == RSVP_U_ENDING && x)
		m->cbfc_hop[0].epoch = x->epoch;
	if (p->returns) {
		m->cbfc_hop[0].of_context = true;
		m->cbfc_hop[0].lih = p->lih;
		m->cbfc_hop[0].want = n->config.floor;
	}
	m->count[RSVP_O_CBFC_HOP] = 1;
}

/* The list of devices with this one at its end. */
static void put_path(const struct rsvp_node *n, struct rsvp_message *m, const struct rsvp_path *p,
	struct ipv6_addr hop[RSVP_HOPS_MAX + 1])
{
	if (p->hops)
		memcpy(hop, p->passed->data, p->hops * sizeof(*hop));
	hop[p->hops] = rsvp_own_along(n, p).v6;
	m->path = (struct rsvp_cbfc_path){.nonce = p->instance->nonce,
		.path = p->id,
		.hops = (uint8_t)(p->hops + 1),
		.hops_max = p->hops_max ? p->hops_max : n->config.hops_max,
		.addrs = hop};
	m->count[RSVP_O_CBFC_PATH] = 1;
}

/* What this device adds to CBFC_OFFER: its buffer, the rate of its port, the delay of its link. */
static void put_offer(const struct rsvp_node *n, struct rsvp_message *m, const struct rsvp_path *p)
{
	struct rsvp_cbfc_offer *o = &m->offer[0];
	const struct rsvp_reservation *r = p->reservation;
	uint64_t own = (uint64_t)(r && !n->config.floor ? r->buffer : rsvp_buffer_of(n, p->instance))
		       << p->instance->unit;
	struct rsvp_way way = rsvp_whole_way(p);
	uint32_t link = n->ops->delay_us ? n->ops->delay_us(n->arg, &way) : way.delay_us;
	bool unknown = p->offer.delay_us == UINT32_MAX || link == UINT32_MAX;
	uint64_t delay = (uint64_t)p->offer.delay_us + link;

	*o = p->offer;
	if (p->instance->role != RSVP_HEADEND)
		o->buffer = MIN_OF(o->buffer, own);
	o->rate = MIN_OF(o->rate, way.rate_bps);
	o->delay_us = unknown || delay >= UINT32_MAX ? UINT32_MAX : (uint32_t)delay;
	o->path = p->id;
	o->hops = (uint8_t)(p->hops + 1);
	m->count[RSVP_O_CBFC_OFFER] = 1;
}

const uint8_t *rsvp_put_objects(struct rsvp_message *m, const uint8_t *at, uint16_t left)
{
	while (left && m->count[RSVP_O_POLICY] < RSVP_PASSED_MAX) {
		uint16_t bytes = be16_get(((const struct rsvp_obj *)at)->length);

		m->passed[m->count[RSVP_O_POLICY]++] = (struct rsvp_raw){at, bytes};
		at += bytes;
		left = (uint16_t)(left - bytes);
	}
	return at;
}

static void put_passed(struct rsvp_message *m, const struct rsvp_path *p)
{
	const uint8_t *at = rsvp_put_objects(m, p->passed->data + p->hops * sizeof(struct ipv6_addr), p->object_bytes);

	if (p->adspec_bytes) {
		m->adspec = (struct rsvp_raw){at, p->adspec_bytes};
		m->count[RSVP_O_ADSPEC] = 1;
	}
}

/* What does not change from one refresh to the next. */
static struct rsvp_message *put_init(struct rsvp_node *n, const struct rsvp_path *p,
	struct ipv6_addr hop[RSVP_HOPS_MAX + 1])
{
	struct rsvp_message *m = begin(n, RSVP_INIT, p->instance->session);

	put_hop(m, rsvp_own_along(n, p), p->lih);
	m->refresh_ms = p->refresh_ms;
	m->count[RSVP_O_TIME] = 1;
	if (p->has_path)
		put_path(n, m, p, hop);
	if (p->has_offer)
		put_offer(n, m, p);
	if (p->passed)
		put_passed(m, p);
	put_sender(m, &p->sender);
	m->tspec = rsvp_tspec_of(p->instance);
	m->count[RSVP_O_TSPEC] = 1;
	return m;
}

uint32_t rsvp_init_sum(struct rsvp_node *n, const struct rsvp_path *p)
{
	struct ipv6_addr hop[RSVP_HOPS_MAX + 1];

	return rsvp_sum_of(put_init(n, p, hop));
}

void rsvp_send_init(struct rsvp_node *n, struct rsvp_path *p, uint8_t flags, enum rsvp_copy copy)
{
	struct ipv6_addr hop[RSVP_HOPS_MAX + 1];
	struct rsvp_message *m = put_init(n, p, hop);

	p->down_sum = rsvp_sum_of(m);
	p->down_acked &= copy == RSVP_AGAIN;
	if (copy == RSVP_FRESH)
		p->hop_sequence = ++p->instance->hop_sequence;
	put_id(n, m, &p->down_id, p, false, copy == RSVP_AGAIN);
	put_cbfc_hop(n, m, p, flags);
	send_along(n, p, m);
}

static struct rsvp_message *put_reserve(struct rsvp_node *n, const struct rsvp_path *p, uint8_t flags)
{
	const struct rsvp_instance *s = p->instance;
	struct rsvp_message *m = begin(n, RSVP_RESERVE, s->session);

	put_hop(m, own_towards(n, s->zone, p->phop), p->phop_lih);
	m->refresh_ms = n->config.refresh_ms;
	m->count[RSVP_O_TIME] = 1;
	m->credit[0].buffer = p->reservation->buffer;
	m->count[RSVP_O_CREDIT] = 1;
	if (flags & RSVP_CREDIT_COMMIT && s->offer) {
		memcpy(m->offer, s->offer, s->offers * sizeof(*s->offer));
		m->count[RSVP_O_CBFC_OFFER] = s->offers;
	}
	if (flags & RSVP_CREDIT_COMMIT && p->passed_up)
		rsvp_put_objects(m, p->passed_up->data, p->passed_up->bytes);
	m->tspec = rsvp_tspec_of(s);
	return m;
}

uint32_t rsvp_commit_sum(struct rsvp_node *n, const struct rsvp_path *p)
{
	return rsvp_sum_of(put_reserve(n, p, RSVP_CREDIT_COMMIT));
}

/* O and S: `flags` is RSVP_CREDIT_OFFER or RSVP_CREDIT_COMMIT. */
void rsvp_send_reserve(struct rsvp_node *n, struct rsvp_path *p, uint8_t flags, bool again)
{
	struct rsvp_message *m;

	if (!p->reservation || !p->reservation->epoch)
		return;
	m = put_reserve(n, p, flags);
	if (flags & RSVP_CREDIT_COMMIT) {
		p->s_sum = rsvp_sum_of(m);
		put_id(n, m, &p->s_id, p, true, again);
	}
	rsvp_credit_of(n, p->reservation, flags, &m->credit[0]);
	if (flags & RSVP_CREDIT_COMMIT && p->answers) {
		m->credit[0].form = RSVP_CREDIT_OF_CONTEXT;
		m->credit[0].lih = p->phop_lih;
		m->credit[0].echo = p->hop_heard;
	}
	m->style = RSVP_STYLE_FF;
	m->count[RSVP_O_STYLE] = 1;
	m->flow[0] = (struct rsvp_flow){.has_spec = true,
		.has_filter = true,
		.spec = rsvp_tspec_of(p->instance),
		.filter = p->sender};
	m->flows = 1;
	send_to(n, p->instance->zone, p->phop, m);
}

void rsvp_send_end(struct rsvp_node *n, struct rsvp_path *p, bool again)
{
	struct rsvp_message *m = begin(n, RSVP_END, p->instance->session);

	if (!again)
		p->hop_sequence = ++p->instance->hop_sequence;
	put_id(n, m, &p->down_id, p, false, again);
	put_hop(m, rsvp_own_along(n, p), p->lih);
	put_cbfc_hop(n, m, p, p->final ? RSVP_HOP_FINAL : 0);
	put_sender(m, &p->sender);
	send_along(n, p, m);
}

/* Also without state: everything then comes from the End itself. */
void rsvp_send_end_ack(struct rsvp_node *n, const struct rsvp_path *p, const struct rsvp_message *end)
{
	struct rsvp_message *m = begin(n, RSVP_END_ACK, &end->session);

	put_hop(m, own_towards(n, end->zone, &end->hop.addr), end->hop.lih);
	if (p && p->reservation && p->reservation->epoch) {
		rsvp_credit_of(n, p->reservation, RSVP_CREDIT_END, &m->credit[0]);
		m->count[RSVP_O_CREDIT] = 1;
	}
	put_sender(m, &end->sender);
	send_to(n, end->zone, &end->hop.addr, m);
}

/* For a 28 that was refused, or for a path. */
void rsvp_send_path_err(struct rsvp_node *n, const struct rsvp_message *init, const struct rsvp_path *p,
	const struct rsvp_error *e)
{
	struct rsvp_message *m = begin(n, RSVP_PATH_ERR, init ? &init->session : p->instance->session);

	m->error = *e;
	if (!m->error.node.family)
		m->error.node = n->config.addr;
	m->count[RSVP_O_ERROR] = 1;
	put_sender(m, init ? &init->sender : &p->sender);
	m->tspec = init ? init->tspec : rsvp_tspec_of(p->instance);
	m->count[RSVP_O_TSPEC] = 1;
	send_to(n, init ? init->zone : p->instance->zone, init ? &init->hop.addr : p->phop, m);
}

void rsvp_send_resv_err(struct rsvp_node *n, const struct rsvp_session *session, uint16_t zone,
	const struct ip_addr *to, uint32_t lih, uint8_t code, uint16_t value)
{
	struct rsvp_message *m = begin(n, RSVP_RESV_ERR, session);

	put_hop(m, own_towards(n, zone, to), lih);
	m->error = (struct rsvp_error){.node = n->config.addr, .code = code, .value = value};
	m->style = RSVP_STYLE_FF;
	m->count[RSVP_O_ERROR] = m->count[RSVP_O_STYLE] = 1;
	send_to(n, zone, to, m);
}
