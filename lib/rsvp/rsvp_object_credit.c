/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the objects of credit flow control: CREDIT, CBFC_HOP, CBFC_PATH, CBFC_OFFER (docs/credit.md 2.2). Pure. */
#include "rsvp/rsvp_priv.h"

static bool read_amount(struct rsvp_message *m, uint8_t form, const uint8_t *body)
{
	be32_t amount;

	memcpy(&amount, body, sizeof(amount));
	m->credit[m->count[RSVP_O_CREDIT]] = (struct rsvp_credit){.form = form, .amount = be32_get(amount)};
	return true;
}

bool rsvp_read_credit_amount(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)bytes;
	return read_amount(m, c_type, body);
}

bool rsvp_read_credit_letter(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)c_type, (void)bytes;
	return read_amount(m, RSVP_CREDIT_LETTER, body);
}

bool rsvp_read_credit(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_credit *c = &m->credit[m->count[RSVP_O_CREDIT]];
	struct rsvp_credit_of_body of = {0};
	struct rsvp_credit_body b;

	memcpy(&b, body, sizeof(b));
	memcpy(&of, body + sizeof(b), bytes - sizeof(b));
	*c = (struct rsvp_credit){.form = c_type,
		.flags = b.flags,
		.traffic_class = b.traffic_class,
		.unit = b.unit,
		.epoch = be32_get(b.epoch),
		.fccl = be64_get(b.fccl),
		.abr = be64_get(b.abr),
		.buffer = be32_get(b.buffer),
		.heartbeat_us = be32_get(b.heartbeat_us),
		.sequence = be32_get(b.sequence),
		.lih = be32_get(of.lih),
		.echo = be32_get(of.echo)};
	return c->epoch && c->unit < 64 && (c->traffic_class < 8 || c->traffic_class == RSVP_CLASS_ALL);
}

void rsvp_write_credit(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_credit *c = &m->credit[i];
	struct rsvp_credit_body b = {.flags = c->flags,
		.traffic_class = c->traffic_class,
		.unit = c->unit,
		.epoch = be32(c->epoch),
		.fccl = be64(c->fccl),
		.abr = be64(c->abr),
		.buffer = be32(c->buffer),
		.heartbeat_us = be32(c->heartbeat_us),
		.sequence = be32(c->sequence)};
	struct rsvp_credit_of_body of = {be32(c->lih), be32(c->echo)};
	be32_t amount = be32(c->amount);

	if (c->form != RSVP_CREDIT_TOTALS && c->form != RSVP_CREDIT_OF_CONTEXT) {
		rsvp_put(out, &amount, sizeof(amount));
		return;
	}
	rsvp_put(out, &b, sizeof(b));
	if (c->form == RSVP_CREDIT_OF_CONTEXT)
		rsvp_put(out, &of, sizeof(of));
}

bool rsvp_read_cbfc_hop(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_cbfc_hop *h = &m->cbfc_hop[m->count[RSVP_O_CBFC_HOP]];
	struct rsvp_cbfc_hop_of_body of = {0};
	struct rsvp_cbfc_hop_body b;

	memcpy(&b, body, sizeof(b));
	memcpy(&of, body + sizeof(b), bytes - sizeof(b));
	*h = (struct rsvp_cbfc_hop){.of_context = c_type == 2,
		.flags = b.flags,
		.traffic_class = b.traffic_class,
		.unit = b.unit,
		.epoch = be32_get(b.epoch),
		.fctbs = be64_get(b.fctbs),
		.sequence = be32_get(b.sequence),
		.heartbeat_us = be32_get(b.heartbeat_us),
		.lih = be32_get(of.lih),
		.want = be32_get(of.want),
		.fence = be64_get(of.fence)};
	return h->unit < 64 && (h->traffic_class < 8 || h->traffic_class == RSVP_CLASS_ALL);
}

void rsvp_write_cbfc_hop(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_cbfc_hop *h = &m->cbfc_hop[i];
	struct rsvp_cbfc_hop_body b = {.flags = h->flags,
		.traffic_class = h->traffic_class,
		.unit = h->unit,
		.epoch = be32(h->epoch),
		.fctbs = be64(h->fctbs),
		.sequence = be32(h->sequence),
		.heartbeat_us = be32(h->heartbeat_us)};
	struct rsvp_cbfc_hop_of_body of = {be32(h->lih), be32(h->want), be64(h->fence)};

	rsvp_put(out, &b, sizeof(b));
	if (h->of_context)
		rsvp_put(out, &of, sizeof(of));
}

bool rsvp_read_cbfc_path(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_cbfc_path_body b;

	(void)c_type;
	memcpy(&b, body, sizeof(b));
	m->path = (struct rsvp_cbfc_path){.nonce = be32_get(b.nonce),
		.path = be16_get(b.path),
		.hops = b.hops,
		.hops_max = b.hops_max,
		.addrs = (const struct ipv6_addr *)(body + sizeof(b))};
	return b.hops && bytes == sizeof(b) + sizeof(struct ipv6_addr) * b.hops;
}

void rsvp_write_cbfc_path(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_cbfc_path *p = &m->path;
	struct rsvp_cbfc_path_body b = {be32(p->nonce), be16(p->path), p->hops, p->hops_max};

	(void)i;
	rsvp_put(out, &b, sizeof(b));
	rsvp_put(out, p->addrs, sizeof(*p->addrs) * p->hops);
}

bool rsvp_read_cbfc_offer(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_cbfc_offer_body b;

	(void)c_type, (void)bytes;
	memcpy(&b, body, sizeof(b));
	m->offer[m->count[RSVP_O_CBFC_OFFER]] = (struct rsvp_cbfc_offer){.buffer = be64_get(b.buffer),
		.rate = be64_get(b.rate),
		.delay_us = be32_get(b.delay_us),
		.path = be16_get(b.path),
		.hops = b.hops,
		.flags = b.flags};
	return true;
}

void rsvp_write_cbfc_offer(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_cbfc_offer *o = &m->offer[i];
	struct rsvp_cbfc_offer_body b = {be64(o->buffer), be64(o->rate), be32(o->delay_us), be16(o->path), o->hops,
		o->flags};

	rsvp_put(out, &b, sizeof(b));
}
