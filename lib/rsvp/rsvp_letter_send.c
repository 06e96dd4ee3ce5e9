/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the messages of letter mode: those of Path, one word of credit, and nothing of ext mode. Control lcore. */
#include "rsvp/rsvp_letter_priv.h"

static struct rsvp_message *begin(struct letter_node *n, enum rsvp_kind kind, const struct rsvp_session *session)
{
	struct rsvp_message *m = &n->out;

	rsvp_clear(m, kind);
	m->session = *session;
	m->count[RSVP_O_SESSION] = 1;
	return m;
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

static void send_to(struct letter_node *n, uint16_t zone, const struct ip_addr *to, struct rsvp_message *m)
{
	struct rsvp_way way = {.to = *to, .zone = zone};

	n->stats.sent++;
	n->ops->send(n->arg, &way, m);
}

static void send_along(struct letter_node *n, const struct letter_branch *b, struct rsvp_message *m)
{
	struct rsvp_way way = b->way;

	m->send_ttl = b->session->ttl;
	way.to = b->session->session.dst;
	way.along = true;
	n->stats.sent++;
	n->ops->send(n->arg, &way, m);
}

static void put_passed(struct rsvp_message *m, const struct letter_session *s)
{
	const uint8_t *at = rsvp_put_objects(m, s->passed, s->object_bytes);

	if (s->adspec_bytes) {
		m->adspec = (struct rsvp_raw){at, s->adspec_bytes};
		m->count[RSVP_O_ADSPEC] = 1;
	}
}

void letter_send_init(struct letter_node *n, struct letter_branch *b)
{
	const struct letter_session *s = b->session;
	struct rsvp_message *m = begin(n, RSVP_INIT, &s->session);

	put_hop(m, b->way.here, b->lih);
	m->refresh_ms = n->config.refresh_ms;
	m->count[RSVP_O_TIME] = 1;
	if (s->passed)
		put_passed(m, s);
	put_sender(m, &s->sender);
	m->tspec = s->tspec;
	m->count[RSVP_O_TSPEC] = 1;
	send_along(n, b, m);
}

/* The word of a 29 with flow descriptor is MB, that of one without an increment (D8). */
static struct rsvp_message *put_credit(struct letter_node *n, const struct letter_grant *g, enum rsvp_kind kind,
	uint32_t amount)
{
	const struct letter_session *s = g->session;
	struct rsvp_message *m = begin(n, kind, &s->session);

	put_hop(m, n->ops->own(n->arg, s->zone, &g->phop), g->lih);
	m->credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_LETTER, .amount = amount};
	m->count[RSVP_O_CREDIT] = 1;
	return m;
}

void letter_send_grant(struct letter_node *n, const struct letter_grant *g)
{
	const struct letter_session *s = g->session;
	struct rsvp_message *m = put_credit(n, g, RSVP_RESERVE, g->mb);

	m->refresh_ms = n->config.refresh_ms;
	m->count[RSVP_O_TIME] = 1;
	m->style = RSVP_STYLE_FF;
	m->count[RSVP_O_STYLE] = 1;
	m->flow[0] = (struct rsvp_flow){.has_spec = true,
		.has_filter = true,
		.spec = rsvp_flowspec_of(&s->tspec),
		.filter = s->sender};
	m->flows = 1;
	send_to(n, s->zone, &g->phop, m);
}

void letter_send_increment(struct letter_node *n, const struct letter_grant *g, uint32_t id, uint32_t value)
{
	struct rsvp_message *m = put_credit(n, g, RSVP_UPDATE, value);

	m->id = (struct rsvp_message_id){.ack_desired = true, .epoch = n->id_epoch, .id = id};
	m->count[RSVP_O_ID] = 1;
	send_to(n, g->session->zone, &g->phop, m);
}

void letter_send_end(struct letter_node *n, const struct letter_branch *b)
{
	struct rsvp_message *m = begin(n, RSVP_END, &b->session->session);

	put_hop(m, b->way.here, b->lih);
	put_sender(m, &b->session->sender);
	send_along(n, b, m);
}

void letter_send_end_ack(struct letter_node *n, const struct rsvp_message *end)
{
	struct rsvp_message *m = begin(n, RSVP_END_ACK, &end->session);

	put_hop(m, n->ops->own(n->arg, end->zone, &end->hop.addr), end->hop.lih);
	put_sender(m, &end->sender);
	send_to(n, end->zone, &end->hop.addr, m);
}

void letter_send_path_err(struct letter_node *n, const struct rsvp_message *init, const struct letter_grant *g,
	const struct rsvp_error *e)
{
	const struct letter_session *s = g ? g->session : NULL;
	struct rsvp_message *m = begin(n, RSVP_PATH_ERR, s ? &s->session : &init->session);
	const struct ip_addr *to = g ? &g->phop : &init->hop.addr;
	uint16_t zone = s ? s->zone : init->zone;

	m->error = *e;
	if (!m->error.node.family)
		m->error.node = n->ops->own(n->arg, zone, to);
	m->count[RSVP_O_ERROR] = 1;
	put_sender(m, s ? &s->sender : &init->sender);
	m->tspec = s ? s->tspec : init->tspec;
	m->count[RSVP_O_TSPEC] = 1;
	send_to(n, zone, to, m);
}

void letter_send_ack(struct letter_node *n, const struct rsvp_message *of, const struct ip_addr *to)
{
	struct rsvp_message *m = &n->out;

	rsvp_clear(m, RSVP_ACK);
	m->ack[0] = (struct rsvp_message_id){.epoch = of->id.epoch, .id = of->id.id};
	m->count[RSVP_O_ACK] = 1;
	send_to(n, of->zone, to, m);
}
