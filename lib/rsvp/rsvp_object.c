/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of objects: class, C-Type, least and greatest length, reader, writer (RFC 2205 appendix A, RFC 2210, 2747,
 * 2961; docs/credit.md 1.5 and 2.2). Pure.
 */
#include "rsvp/rsvp_priv.h"

#define HEADER sizeof(struct rsvp_obj)
#define ENTERPRISE sizeof(be32_t)
#define OBJECT_MAX 65532

const struct rsvp_numbers rsvp_ext = {.type_init = 28,
	.type_reserve = 29,
	.type_end = 30,
	.type_end_ack = 31,
	.class_credit = 124,
	.class_hop = 188,
	.class_path = 252,
	.class_offer = 253,
	.letter_c_type = 1,
	.enterprise = 32473};
const struct rsvp_numbers rsvp_letter = {.letter = true,
	.type_init = 28,
	.type_reserve = 29,
	.type_end = 30,
	.type_end_ack = 31,
	.class_credit = 123,
	.letter_c_type = 1,
	.enterprise = 32473};

static uint64_t get48(const uint8_t b[6])
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < 6; i++)
		v = v << 8 | b[i];
	return v;
}

static void put48(uint8_t b[6], uint64_t v)
{
	for (unsigned int i = 0; i < 6; i++)
		b[i] = (uint8_t)(v >> 8 * (5 - i));
}

static uint32_t get24(const uint8_t b[3])
{
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static void put24(uint8_t b[3], uint32_t v)
{
	b[0] = (uint8_t)(v >> 16);
	b[1] = (uint8_t)(v >> 8);
	b[2] = (uint8_t)v;
}

static float get_float(be32_t v)
{
	uint32_t bits = be32_get(v);
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static be32_t put_float(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return be32(bits);
}

/* C-Type 1 is IPv4, the others are IPv6. Returns the bytes read. */
static size_t get_addr(struct ip_addr *a, uint8_t c_type, const uint8_t *body)
{
	size_t n = c_type == 1 ? 4 : 16;

	*a = (struct ip_addr){.family = c_type == 1 ? 4 : 6};
	memcpy(a->b, body, n);
	return n;
}

static void put_addr(struct rsvp_out *out, const struct ip_addr *a)
{
	rsvp_put(out, a->b, a->family == 4 ? 4 : 16);
}

static bool read_session(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_session_tail t;

	(void)bytes;
	memcpy(&t, body + get_addr(&m->session.dst, c_type, body), sizeof(t));
	m->session.protocol = t.protocol;
	m->session.flags = t.flags;
	m->session.port = be16_get(t.port);
	return true;
}

static void write_session(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_session *s = &m->session;

	(void)i;
	put_addr(out, &s->dst);
	rsvp_put(out, &(struct rsvp_session_tail){s->protocol, s->flags, be16(s->port)},
		sizeof(struct rsvp_session_tail));
}

static bool read_hop(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	be32_t lih;

	(void)bytes;
	memcpy(&lih, body + get_addr(&m->hop.addr, c_type, body), sizeof(lih));
	m->hop.lih = be32_get(lih);
	return true;
}

static void write_hop(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	be32_t lih = be32(m->hop.lih);

	(void)i;
	put_addr(out, &m->hop.addr);
	rsvp_put(out, &lih, sizeof(lih));
}

static bool read_integrity(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_integrity_hdr h;

	(void)c_type;
	memcpy(&h, body, sizeof(h));
	m->integrity = (struct rsvp_integrity){.handshake = h.flags & (RSVP_INTEGRITY_HF | RSVP_INTEGRITY_HF_TSHARK),
		.digest_bytes = (uint8_t)(bytes - sizeof(h)),
		.key_id = get48(h.key_id),
		.sequence = be64_get(h.sequence),
		.digest = body + sizeof(h)};
	return true;
}

static void write_integrity(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	static const uint8_t zero[RSVP_DIGEST_MAX];
	struct rsvp_integrity_hdr h = {.flags = m->integrity.handshake ? RSVP_INTEGRITY_HF : 0,
		.sequence = be64(m->integrity.sequence)};

	(void)i;
	put48(h.key_id, m->integrity.key_id);
	rsvp_put(out, &h, sizeof(h));
	rsvp_put(out, zero, MIN_OF(m->integrity.digest_bytes, sizeof(zero)));
}

static bool read_time(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	be32_t ms;

	(void)c_type, (void)bytes;
	memcpy(&ms, body, sizeof(ms));
	m->refresh_ms = be32_get(ms);
	return true;
}

static void write_time(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	be32_t ms = be32(m->refresh_ms);

	(void)i;
	rsvp_put(out, &ms, sizeof(ms));
}

static bool read_error(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_error_tail t;

	(void)bytes;
	memcpy(&t, body + get_addr(&m->error.node, c_type, body), sizeof(t));
	m->error.flags = t.flags;
	m->error.code = t.code;
	m->error.value = be16_get(t.value);
	return true;
}

static void write_error(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_error *e = &m->error;

	(void)i;
	put_addr(out, &e->node);
	rsvp_put(out, &(struct rsvp_error_tail){e->flags, e->code, be16(e->value)}, sizeof(struct rsvp_error_tail));
}

static bool read_style(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)c_type, (void)bytes;
	m->style = get24(body + 1);
	return true;
}

static void write_style(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	be32_t style = be32(m->style & 0xffffff);

	(void)i;
	rsvp_put(out, &style, sizeof(style));
}

/* The frame of a TSPEC: version, words and parameters are the only ones that RFC 2210 has for these services. */
static bool tspec_is_framed(const struct rsvp_tspec_body *b, size_t bytes)
{
	bool guaranteed = bytes > sizeof(*b);

	return b->version >> 4 == 0 && be16_get(b->words) == bytes / 4 - 1 &&
	       be16_get(b->service_words) == bytes / 4 - 2 && b->parameter == RSVP_PARAMETER_TOKEN_BUCKET &&
	       be16_get(b->parameter_words) == 5 && guaranteed == (b->service == RSVP_SERVICE_GUARANTEED);
}

static bool get_tspec(struct rsvp_tspec *t, const uint8_t *body, size_t bytes)
{
	struct rsvp_tspec_body b;
	struct rsvp_rspec_body r;

	memcpy(&b, body, sizeof(b));
	if (!tspec_is_framed(&b, bytes))
		return false;
	*t = (struct rsvp_tspec){.rate = get_float(b.rate),
		.depth = get_float(b.depth),
		.peak = get_float(b.peak),
		.least = be32_get(b.least),
		.most = be32_get(b.most)};
	if (bytes == sizeof(b))
		return true;
	memcpy(&r, body + sizeof(b), sizeof(r));
	t->guaranteed = true;
	t->reserved_rate = get_float(r.rate);
	t->slack_us = be32_get(r.slack);
	return r.parameter == RSVP_PARAMETER_RSPEC && be16_get(r.parameter_words) == 2;
}

static void put_tspec(struct rsvp_out *out, const struct rsvp_tspec *t, uint8_t service)
{
	uint16_t more = t->guaranteed ? sizeof(struct rsvp_rspec_body) / 4 : 0;
	struct rsvp_tspec_body b = {.words = be16((uint16_t)(7 + more)),
		.service = service,
		.service_words = be16((uint16_t)(6 + more)),
		.parameter = RSVP_PARAMETER_TOKEN_BUCKET,
		.parameter_words = be16(5),
		.rate = put_float(t->rate),
		.depth = put_float(t->depth),
		.peak = put_float(t->peak),
		.least = be32(t->least),
		.most = be32(t->most)};
	struct rsvp_rspec_body r = {.parameter = RSVP_PARAMETER_RSPEC,
		.parameter_words = be16(2),
		.rate = put_float(t->reserved_rate),
		.slack = be32(t->slack_us)};

	rsvp_put(out, &b, sizeof(b));
	if (t->guaranteed)
		rsvp_put(out, &r, sizeof(r));
}

static bool read_tspec(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)c_type;
	return get_tspec(&m->tspec, body, bytes) && body[4] == RSVP_SERVICE_TSPEC;
}

static void write_tspec(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	struct rsvp_tspec plain = rsvp_flowspec_of(&m->tspec);

	(void)i;
	put_tspec(out, &plain, RSVP_SERVICE_TSPEC);
}

static bool get_sender(struct rsvp_sender *s, uint8_t c_type, const uint8_t *body)
{
	struct rsvp_sender_tail t;
	uint32_t word;

	memcpy(&t, body + get_addr(&s->src, c_type, body), sizeof(t));
	word = get24(t.label);
	s->labelled = c_type == 3;
	s->port = s->labelled ? word & 0xfffff : word & 0xffff;
	return true;
}

static void put_sender(struct rsvp_out *out, const struct rsvp_sender *s)
{
	struct rsvp_sender_tail t = {0};

	put24(t.label, s->port & (s->labelled ? 0xfffff : 0xffff));
	put_addr(out, &s->src);
	rsvp_put(out, &t, sizeof(t));
}

static bool read_template(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)bytes;
	return get_sender(&m->sender, c_type, body);
}

static void write_template(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	put_sender(out, &m->sender);
}

/* A FLOWSPEC begins a descriptor. Two in a row would leave one without a FILTER_SPEC. */
static bool read_flowspec(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_flow *f;

	(void)c_type;
	if (m->flows == RSVP_FLOWS_MAX || (m->flows && !m->flow[m->flows - 1].has_filter) ||
		body[4] == RSVP_SERVICE_TSPEC)
		return false;
	f = &m->flow[m->flows++];
	*f = (struct rsvp_flow){.has_spec = true};
	return get_tspec(&f->spec, body, bytes);
}

static void write_flowspec(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_tspec *t = &m->flow[i].spec;

	put_tspec(out, t, t->guaranteed ? RSVP_SERVICE_GUARANTEED : RSVP_SERVICE_CONTROLLED);
}

/* A FILTER_SPEC ends a descriptor; without a FLOWSPEC of its own, that of the one before it holds. */
static bool read_filter(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_flow *last = m->flows ? &m->flow[m->flows - 1] : NULL;

	(void)bytes;
	if (!last || last->has_filter) {
		if (m->flows == RSVP_FLOWS_MAX || (!last && m->kind != RSVP_RESV_TEAR))
			return false;
		m->flow[m->flows] = (struct rsvp_flow){.spec = last ? last->spec : (struct rsvp_tspec){0}};
		last = &m->flow[m->flows++];
	}
	last->has_filter = true;
	return get_sender(&last->filter, c_type, body);
}

static void write_filter(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	put_sender(out, &m->flow[i].filter);
}

static bool read_confirm(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)bytes;
	get_addr(&m->confirm, c_type, body);
	return true;
}

static void write_confirm(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	put_addr(out, &m->confirm);
}

static bool get_id(struct rsvp_message_id *id, uint8_t c_type, const uint8_t *body)
{
	struct rsvp_id_body b;

	memcpy(&b, body, sizeof(b));
	*id = (struct rsvp_message_id){.ack_desired = b.flags & RSVP_ID_ACK_DESIRED,
		.nack = c_type == 2,
		.epoch = get24(b.epoch),
		.id = be32_get(b.id)};
	return true;
}

static void put_id(struct rsvp_out *out, const struct rsvp_message_id *id)
{
	struct rsvp_id_body b = {.flags = id->ack_desired ? RSVP_ID_ACK_DESIRED : 0, .id = be32(id->id)};

	put24(b.epoch, id->epoch);
	rsvp_put(out, &b, sizeof(b));
}

static bool read_id(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)c_type, (void)bytes;
	return get_id(&m->id, 1, body);
}

static void write_id(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	put_id(out, &m->id);
}

static bool read_ack(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)bytes;
	return get_id(&m->ack[m->count[RSVP_O_ACK]], c_type, body);
}

static void write_ack(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	struct rsvp_message_id id = m->ack[i];

	id.ack_desired = false;
	put_id(out, &id);
}

/* A list of ids, in place. */
static bool read_id_list(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)c_type;
	m->id_list[m->count[RSVP_O_ID_LIST]] = (struct rsvp_id_list){.ack_desired = body[0] & RSVP_ID_ACK_DESIRED,
		.epoch = get24(body + 1),
		.ids = (const be32_t *)(body + 4),
		.count = (uint16_t)(bytes / 4 - 1)};
	return true;
}

static void write_id_list(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_id_list *l = &m->id_list[i];
	uint8_t head[4] = {l->ack_desired ? RSVP_ID_ACK_DESIRED : 0};

	put24(head + 1, l->epoch);
	rsvp_put(out, head, sizeof(head));
	rsvp_put(out, l->ids, 4u * l->count);
}

static bool read_challenge(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	struct rsvp_challenge_body b;

	(void)c_type, (void)bytes;
	memcpy(&b, body, sizeof(b));
	m->challenge = (struct rsvp_challenge){.key_id = get48(b.key_id), .cookie = be64_get(b.cookie)};
	return true;
}

static void write_challenge(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i)
{
	struct rsvp_challenge_body b = {.cookie = be64(m->challenge.cookie)};

	(void)i;
	put48(b.key_id, m->challenge.key_id);
	rsvp_put(out, &b, sizeof(b));
}

/* POLICY_DATA goes on as it is, with its header in front of the body. */
static bool read_policy(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)c_type;
	m->passed[m->count[RSVP_O_POLICY]] = (struct rsvp_raw){body - HEADER, (uint16_t)(bytes + HEADER)};
	return true;
}

static bool read_adspec(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)c_type;
	m->adspec = (struct rsvp_raw){body - HEADER, (uint16_t)(bytes + HEADER)};
	return true;
}

/* SCOPE matters to wildcard reservations of several senders, which this node does not make. */
static bool read_nothing(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes)
{
	(void)m, (void)c_type, (void)body, (void)bytes;
	return true;
}

/* The most frequent ones first: the table is searched from its start. */
static const struct rsvp_form forms[] = {
	{RSVP_O_CREDIT, 0, 4, 52, 52, rsvp_read_credit, rsvp_write_credit},
	{RSVP_O_CREDIT, 0, 3, 44, 44, rsvp_read_credit, rsvp_write_credit},
	{RSVP_O_CBFC_HOP, 0, 1, 32, 32, rsvp_read_cbfc_hop, rsvp_write_cbfc_hop},
	{RSVP_O_CBFC_HOP, 0, 2, 48, 48, rsvp_read_cbfc_hop, rsvp_write_cbfc_hop},
	{RSVP_O_ACK, 24, 1, 12, 12, read_ack, write_ack},
	{RSVP_O_ACK, 24, 2, 12, 12, read_ack, write_ack},
	{RSVP_O_ID, 23, 1, 12, 12, read_id, write_id},
	{RSVP_O_INTEGRITY, 4, 1, 36, 52, read_integrity, write_integrity},
	{RSVP_O_SESSION, 1, 2, 24, 24, read_session, write_session},
	{RSVP_O_SESSION, 1, 1, 12, 12, read_session, write_session},
	{RSVP_O_HOP, 3, 2, 24, 24, read_hop, write_hop},
	{RSVP_O_HOP, 3, 1, 12, 12, read_hop, write_hop},
	{RSVP_O_TIME, 5, 1, 8, 8, read_time, write_time},
	{RSVP_O_CBFC_PATH, 0, 1, 32, 16 + 16 * 255, rsvp_read_cbfc_path, rsvp_write_cbfc_path},
	{RSVP_O_CBFC_OFFER, 0, 1, 32, 32, rsvp_read_cbfc_offer, rsvp_write_cbfc_offer},
	{RSVP_O_TEMPLATE, 11, 3, 24, 24, read_template, write_template},
	{RSVP_O_TEMPLATE, 11, 2, 24, 24, read_template, write_template},
	{RSVP_O_TEMPLATE, 11, 1, 12, 12, read_template, write_template},
	{RSVP_O_TSPEC, 12, 2, 36, 36, read_tspec, write_tspec},
	{RSVP_O_STYLE, 8, 1, 8, 8, read_style, write_style},
	{RSVP_O_FLOWSPEC, 9, 2, 36, 48, read_flowspec, write_flowspec},
	{RSVP_O_FILTER, 10, 3, 24, 24, read_filter, write_filter},
	{RSVP_O_FILTER, 10, 2, 24, 24, read_filter, write_filter},
	{RSVP_O_FILTER, 10, 1, 12, 12, read_filter, write_filter},
	{RSVP_O_ERROR, 6, 2, 24, 24, read_error, write_error},
	{RSVP_O_ERROR, 6, 1, 12, 12, read_error, write_error},
	{RSVP_O_ID_LIST, 25, 1, 12, OBJECT_MAX, read_id_list, write_id_list},
	{RSVP_O_CHALLENGE, 64, 1, 20, 20, read_challenge, write_challenge},
	{RSVP_O_CONFIRM, 15, 2, 20, 20, read_confirm, write_confirm},
	{RSVP_O_CONFIRM, 15, 1, 8, 8, read_confirm, write_confirm},
	{RSVP_O_SCOPE, 7, 1, 8, OBJECT_MAX, read_nothing, NULL},
	{RSVP_O_SCOPE, 7, 2, 20, OBJECT_MAX, read_nothing, NULL},
	{RSVP_O_ADSPEC, 13, 2, 8, OBJECT_MAX, read_adspec, NULL},
	{RSVP_O_POLICY, 14, 1, 4, OBJECT_MAX, read_policy, NULL},
	{RSVP_O_CREDIT, 0, RSVP_CREDIT_MEGABYTES, 12, 12, rsvp_read_credit_amount, rsvp_write_credit},
	{RSVP_O_CREDIT, 0, RSVP_CREDIT_BYTES, 12, 12, rsvp_read_credit_amount, rsvp_write_credit},
};
static const struct rsvp_form letter_credit = {RSVP_O_CREDIT, 0, 1, 8, 8, rsvp_read_credit_letter, rsvp_write_credit};
static const struct rsvp_form letter_credit_of = {RSVP_O_CREDIT, 0, 1, 12, 12, rsvp_read_credit_letter,
	rsvp_write_credit};

/* The class number of an object that has no registered one; 0: the mode does not have that object. */
static uint8_t configured_class(const struct rsvp_numbers *n, enum rsvp_object object)
{
	switch (object) {
	case RSVP_O_CREDIT:
		return n->class_credit;
	case RSVP_O_CBFC_HOP:
		return n->letter ? 0 : n->class_hop;
	case RSVP_O_CBFC_PATH:
		return n->letter ? 0 : n->class_path;
	default:
		return n->letter ? 0 : n->class_offer;
	}
}

static const struct rsvp_form *letter_form(const struct rsvp_numbers *n)
{
	return n->letter_enterprise ? &letter_credit_of : &letter_credit;
}

/* Does the body begin with the enterprise number of this node? */
static bool has_enterprise(const struct rsvp_numbers *n, const uint8_t *object, size_t bytes)
{
	be32_t number;

	if (bytes < HEADER + ENTERPRISE)
		return false;
	memcpy(&number, object + HEADER, sizeof(number));
	return be32_get(number) == n->enterprise;
}

static bool is_configured(const struct rsvp_numbers *n, uint8_t class_num)
{
	return class_num == n->class_credit ||
	       (!n->letter && (class_num == n->class_hop || class_num == n->class_path || class_num == n->class_offer));
}

const struct rsvp_form *rsvp_form_of(const struct rsvp_numbers *n, const uint8_t *object, size_t bytes, bool *known)
{
	const struct rsvp_obj *h = (const struct rsvp_obj *)object;
	bool configured = is_configured(n, h->class_num);

	*known = false;
	if (configured && (!n->letter || n->letter_enterprise) && !has_enterprise(n, object, bytes))
		return NULL;
	if (configured && n->letter) {
		*known = true;
		return h->c_type == n->letter_c_type ? letter_form(n) : NULL;
	}
	for (unsigned int i = 0; i < ARRAY_LEN(forms); i++) {
		const struct rsvp_form *f = &forms[i];
		uint8_t class_num = f->class_num ? f->class_num : configured_class(n, f->object);

		if (!class_num || class_num != h->class_num || (configured && f->class_num))
			continue;
		*known = true;
		if (f->c_type == h->c_type)
			return f;
	}
	return NULL;
}

static uint8_t family_c_type(const struct ip_addr *a)
{
	return a->family == 4 ? 1 : 2;
}

static uint8_t sender_c_type(const struct rsvp_sender *s)
{
	return s->labelled ? 3 : family_c_type(&s->src);
}

/* The C-Type that the i-th object of a message is written as. */
static uint8_t c_type_of(const struct rsvp_message *m, enum rsvp_object object, unsigned int i)
{
	switch (object) {
	case RSVP_O_SESSION:
		return family_c_type(&m->session.dst);
	case RSVP_O_HOP:
		return family_c_type(&m->hop.addr);
	case RSVP_O_ERROR:
		return family_c_type(&m->error.node);
	case RSVP_O_CONFIRM:
		return family_c_type(&m->confirm);
	case RSVP_O_TEMPLATE:
		return sender_c_type(&m->sender);
	case RSVP_O_FILTER:
		return sender_c_type(&m->flow[i].filter);
	case RSVP_O_TSPEC:
	case RSVP_O_FLOWSPEC:
		return 2;
	case RSVP_O_ACK:
		return m->ack[i].nack ? 2 : 1;
	case RSVP_O_CREDIT:
		return m->credit[i].form;
	case RSVP_O_CBFC_HOP:
		return m->cbfc_hop[i].of_context ? 2 : 1;
	default:
		return 1;
	}
}

static const struct rsvp_form *form_to_write(const struct rsvp_numbers *n, enum rsvp_object object, uint8_t c_type)
{
	if (object == RSVP_O_CREDIT && n->letter)
		return c_type == RSVP_CREDIT_LETTER ? letter_form(n) : NULL;
	for (unsigned int i = 0; i < ARRAY_LEN(forms); i++)
		if (forms[i].object == object && forms[i].c_type == c_type)
			return &forms[i];
	return NULL;
}

void rsvp_object_write(struct rsvp_out *out, const struct rsvp_numbers *n, const struct rsvp_message *m,
	enum rsvp_object object, unsigned int i)
{
	const struct rsvp_form *f = form_to_write(n, object, c_type_of(m, object, i));
	struct rsvp_obj h = {0};
	uint8_t *start = out->at;
	be32_t enterprise = be32(n->enterprise);

	if (!f || !f->write || (!f->class_num && !configured_class(n, object))) {
		out->full = true;
		return;
	}
	h.class_num = f->class_num ? f->class_num : configured_class(n, object);
	h.c_type = f == &letter_credit || f == &letter_credit_of ? n->letter_c_type : f->c_type;
	rsvp_put(out, &h, sizeof(h));
	if (!f->class_num && f != &letter_credit)
		rsvp_put(out, &enterprise, sizeof(enterprise));
	f->write(out, m, i);
	if (out->full || (size_t)(out->at - start) > f->most) {
		out->full = true;
		return;
	}
	h.length = be16((uint16_t)(out->at - start));
	memcpy(start, &h, sizeof(h));
}
