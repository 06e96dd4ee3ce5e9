/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a message (RFC 2205 sections 3.1, 3.2 and 3.10; docs/credit.md 1.2 to 1.6). First the frame of every object,
 * then the objects, then what must be there. Pure.
 */
#include "rsvp/rsvp_priv.h"
#include "wire/checksum.h"
#include "wire/cursor.h"

#define CLASS_SESSION 1
#define CLASS_HOP 3
#define CLASS_INTEGRITY 4
#define CLASS_STYLE 8
#define CLASS_TEMPLATE 11
#define TYPE_RECOVERY_PATH 30 /* RFC 5063 */

/* What the frames of the objects show, before any of them is read. */
struct frames {
	bool ip_session, template, style;
};

struct reader {
	const struct rsvp_numbers *numbers;
	struct rsvp_message *m;
	enum rsvp_refusal pending; /* by an unknown object: the other objects are read as well, for the error */
	bool after_style;
};

/* The next object whose frame is right; NULL: it is wrong, or the message ends here. */
static const uint8_t *next_object(struct wire_cursor *c, size_t *bytes)
{
	const struct rsvp_obj *h = wire_peek(c, sizeof(*h));

	*bytes = 0;
	if (!h)
		return NULL;
	*bytes = be16_get(h->length);
	if (*bytes < sizeof(*h) || *bytes % 4)
		return NULL;
	return wire_pull(c, *bytes);
}

bool rsvp_peek_hop(const void *data, size_t size, struct ip_addr *out)
{
	struct wire_cursor c = wire_cursor(data, size);
	const uint8_t *object;
	size_t bytes;

	if (!wire_pull(&c, sizeof(struct rsvp_hdr)))
		return false;
	while ((object = next_object(&c, &bytes))) {
		const struct rsvp_obj *h = (const struct rsvp_obj *)object;
		size_t addr = h->c_type == 1 ? 4 : 16;

		if (h->class_num != CLASS_HOP || (h->c_type != 1 && h->c_type != 2) || bytes < sizeof(*h) + addr)
			continue;
		*out = (struct ip_addr){.family = h->c_type == 1 ? 4 : 6};
		memcpy(out->b, h + 1, addr);
		return true;
	}
	return false;
}

static bool scan(struct wire_cursor c, struct frames *f)
{
	const uint8_t *object;
	size_t bytes;

	*f = (struct frames){0};
	while (wire_left(&c)) {
		const struct rsvp_obj *h;

		object = next_object(&c, &bytes);
		if (!object)
			return false;
		h = (const struct rsvp_obj *)object;
		f->ip_session |= h->class_num == CLASS_SESSION && (h->c_type == 1 || h->c_type == 2);
		f->template |= h->class_num == CLASS_TEMPLATE;
		f->style |= h->class_num == CLASS_STYLE;
	}
	return true;
}

/* The types that registries assign. RSVP_KIND_COUNT: none that this node knows. */
static enum rsvp_kind registered_kind(uint8_t type)
{
	static const uint8_t kinds[] = {[1] = RSVP_PATH + 1,
		[2] = RSVP_RESV + 1,
		[3] = RSVP_PATH_ERR + 1,
		[4] = RSVP_RESV_ERR + 1,
		[5] = RSVP_PATH_TEAR + 1,
		[6] = RSVP_RESV_TEAR + 1,
		[7] = RSVP_RESV_CONF + 1,
		[12] = RSVP_BUNDLE + 1,
		[13] = RSVP_ACK + 1,
		[15] = RSVP_SREFRESH + 1,
		[25] = RSVP_CHALLENGE + 1,
		[26] = RSVP_RESPONSE + 1};

	return type < ARRAY_LEN(kinds) && kinds[type] ? kinds[type] - 1u : RSVP_KIND_COUNT;
}

/* A 28 without a sender is a marker, and a 29 without flow descriptors is an update (docs/credit.md 2.3). */
static enum rsvp_kind kind_of(const struct rsvp_numbers *n, uint8_t type, const struct frames *f)
{
	if (type == n->type_init)
		return f->template || n->letter ? RSVP_INIT : RSVP_MARKER;
	if (type == n->type_reserve)
		return f->style ? RSVP_RESERVE : RSVP_UPDATE;
	if (type == n->type_end)
		return RSVP_END;
	if (type == n->type_end_ack)
		return RSVP_END_ACK;
	return registered_kind(type);
}

static enum rsvp_refusal read_header(const void *data, size_t size, struct rsvp_message *m, uint8_t *type)
{
	const struct rsvp_hdr *h = data;

	if (size < sizeof(*h))
		return RSVP_REFUSED_length;
	if (h->version_flags >> 4 != RSVP_VERSION)
		return RSVP_REFUSED_version;
	if (be16_get(h->length) != size)
		return RSVP_REFUSED_length;
	if (be16_get(h->checksum) && be16_get(checksum_finish(checksum_add(0, data, size))))
		return RSVP_REFUSED_bad_checksum;
	rsvp_clear(m, RSVP_KIND_COUNT);
	*type = h->type;
	m->flags = h->version_flags & 0xf;
	m->send_ttl = h->send_ttl;
	m->bytes = (uint16_t)size;
	return RSVP_ACCEPTED;
}

bool rsvp_bundle_next(struct rsvp_raw *rest, struct rsvp_raw *message)
{
	const struct rsvp_hdr *h = (const struct rsvp_hdr *)rest->at;
	uint16_t bytes;

	if (rest->bytes < sizeof(*h))
		return false;
	bytes = be16_get(h->length);
	if (bytes < sizeof(*h) || bytes > rest->bytes)
		return false;
	*message = (struct rsvp_raw){rest->at, bytes};
	*rest = (struct rsvp_raw){rest->at + bytes, (uint16_t)(rest->bytes - bytes)};
	return true;
}

static enum rsvp_refusal read_bundle(const uint8_t *data, size_t size, struct rsvp_message *m)
{
	struct rsvp_raw rest = {data + sizeof(struct rsvp_hdr), (uint16_t)(size - sizeof(struct rsvp_hdr))}, message;

	m->kind = RSVP_BUNDLE;
	m->body = rest;
	if (!rest.bytes)
		return RSVP_REFUSED_bundle;
	while (rsvp_bundle_next(&rest, &message)) {
		const struct rsvp_hdr *h = (const struct rsvp_hdr *)message.at;

		if (registered_kind(h->type) == RSVP_BUNDLE)
			return RSVP_REFUSED_bundle;
	}
	return rest.bytes ? RSVP_REFUSED_bundle : RSVP_ACCEPTED;
}

/* Only the first objection is reported. */
static void object_error(struct reader *r, enum rsvp_refusal refusal, uint8_t code, uint16_t value)
{
	if (r->pending)
		return;
	r->pending = refusal;
	r->m->error.code = code;
	r->m->error.value = value;
}

static const struct rsvp_part *part_of(unsigned int kind, enum rsvp_object object)
{
	unsigned int n;
	const struct rsvp_part *p = rsvp_parts_of(kind, &n);

	for (unsigned int i = 0; i < n; i++)
		if (p[i].object == object)
			return &p[i];
	return NULL;
}

/* An object of an unknown class, or of an unknown C-Type: its class decides (section 3.10, D2). */
static enum rsvp_refusal read_unknown(struct reader *r, const uint8_t *object, size_t bytes, bool known)
{
	const struct rsvp_obj *h = (const struct rsvp_obj *)object;
	struct rsvp_message *m = r->m;
	uint16_t value = (uint16_t)(h->class_num << 8 | h->c_type);

	if (!(h->class_num & 0x80)) {
		if (known)
			object_error(r, RSVP_REFUSED_unknown_c_type, RSVP_ERROR_C_TYPE, value);
		else
			object_error(r, RSVP_REFUSED_unknown_class, RSVP_ERROR_CLASS, value);
		return RSVP_ACCEPTED;
	}
	if (!(h->class_num & 0x40) || !part_of(m->kind, RSVP_O_POLICY))
		return RSVP_ACCEPTED;
	if (m->count[RSVP_O_POLICY] == RSVP_PASSED_MAX)
		return RSVP_REFUSED_object_repeated;
	m->passed[m->count[RSVP_O_POLICY]++] = (struct rsvp_raw){object, (uint16_t)bytes};
	return RSVP_ACCEPTED;
}

/* STYLE and the flow descriptors are the tail of a message; objects that are ignored may be anywhere. */
static bool in_order(struct reader *r, enum rsvp_object object, bool first)
{
	if (object == RSVP_O_INTEGRITY)
		return first;
	if (object == RSVP_O_FLOWSPEC || object == RSVP_O_FILTER)
		return r->after_style;
	if (r->after_style)
		return false;
	r->after_style = object == RSVP_O_STYLE;
	return true;
}

/* An object of a flow descriptor behind one that is unknown may lack its other half: the error is about that one. */
static bool lacks_unknown(const struct reader *r, enum rsvp_object object)
{
	return r->pending && (object == RSVP_O_FLOWSPEC || object == RSVP_O_FILTER);
}

static enum rsvp_refusal read_object(struct reader *r, const uint8_t *object, size_t bytes, bool first)
{
	bool known, configured;
	const struct rsvp_form *f = rsvp_form_of(r->numbers, object, bytes, &known);
	const struct rsvp_part *part;
	struct rsvp_message *m = r->m;
	size_t head = sizeof(struct rsvp_obj);

	if (((const struct rsvp_obj *)object)->class_num == RSVP_OBJ_NULL)
		return RSVP_ACCEPTED;
	if (!f)
		return read_unknown(r, object, bytes, known);
	if (bytes < f->least || bytes > f->most)
		return RSVP_REFUSED_object_length;
	part = part_of(m->kind, f->object);
	if (!part)
		return RSVP_REFUSED_object_misplaced;
	if (!in_order(r, f->object, first))
		return RSVP_REFUSED_object_order;
	if (m->count[f->object] == MIN_OF(part->most, rsvp_room_of(f->object)))
		return RSVP_REFUSED_object_repeated;
	configured = !f->class_num && (!r->numbers->letter || r->numbers->letter_enterprise);
	head += configured ? sizeof(be32_t) : 0;
	if (!f->read(m, f->c_type, object + head, bytes - head))
		return lacks_unknown(r, f->object) ? RSVP_ACCEPTED : RSVP_REFUSED_object_content;
	m->count[f->object]++;
	return RSVP_ACCEPTED;
}

static enum rsvp_refusal read_objects(struct reader *r, struct wire_cursor c)
{
	enum rsvp_refusal refusal = RSVP_ACCEPTED;
	const uint8_t *object;
	size_t bytes;

	for (bool first = true; !refusal && wire_left(&c); first = false) {
		object = next_object(&c, &bytes);
		refusal = read_object(r, object, bytes, first);
	}
	return refusal;
}

static bool has_parts(const struct rsvp_message *m)
{
	unsigned int n;
	const struct rsvp_part *p = rsvp_parts_of(m->kind, &n);

	for (unsigned int i = 0; i < n; i++)
		if (m->count[p[i].object] < p[i].least)
			return false;
	return true;
}

/* Does the family of an address that is there differ from that of the session? */
static bool differs(const struct rsvp_message *m, enum rsvp_object object, const struct ip_addr *a)
{
	return m->count[object] && m->count[RSVP_O_SESSION] && a->family != m->session.dst.family;
}

static enum rsvp_refusal check_families(const struct rsvp_message *m)
{
	if (differs(m, RSVP_O_HOP, &m->hop.addr) || differs(m, RSVP_O_TEMPLATE, &m->sender.src) ||
		differs(m, RSVP_O_ERROR, &m->error.node) || differs(m, RSVP_O_CONFIRM, &m->confirm))
		return RSVP_REFUSED_family;
	for (unsigned int i = 0; i < m->flows; i++)
		if (m->flow[i].has_filter && differs(m, RSVP_O_FILTER, &m->flow[i].filter.src))
			return RSVP_REFUSED_family;
	return RSVP_ACCEPTED;
}

/* The last flow descriptor is complete, except in WF, which has no FILTER_SPEC at all. */
static bool flows_are_complete(const struct rsvp_message *m)
{
	if (!m->count[RSVP_O_STYLE] || !m->flows)
		return true;
	if (m->style == RSVP_STYLE_WF)
		return !m->count[RSVP_O_FILTER] && m->flows == 1;
	return m->flow[m->flows - 1].has_filter;
}

/* Markers name the context of each CBFC_HOP. */
static bool is_consistent(const struct rsvp_message *m)
{
	for (unsigned int i = 0; m->kind == RSVP_MARKER && i < m->count[RSVP_O_CBFC_HOP]; i++)
		if (!m->cbfc_hop[i].of_context)
			return false;
	return flows_are_complete(m);
}

static bool has_port(const struct rsvp_sender *s)
{
	return !s->labelled && s->port;
}

static void check_values(struct reader *r)
{
	struct rsvp_message *m = r->m;
	bool port = m->count[RSVP_O_TEMPLATE] && has_port(&m->sender);

	for (unsigned int i = 0; i < m->flows; i++)
		port |= m->flow[i].has_filter && has_port(&m->flow[i].filter);
	if (m->count[RSVP_O_SESSION] && !m->session.port && port)
		object_error(r, RSVP_REFUSED_ports, RSVP_ERROR_PORTS, 0);
	if (m->count[RSVP_O_STYLE] && m->style != RSVP_STYLE_FF && m->style != RSVP_STYLE_WF &&
		m->style != RSVP_STYLE_SE)
		object_error(r, RSVP_REFUSED_unknown_style, RSVP_ERROR_STYLE, 0);
}

enum rsvp_refusal rsvp_read(const struct rsvp_numbers *numbers, const void *data, size_t size, struct rsvp_message *out)
{
	struct reader r = {.numbers = numbers, .m = out};
	struct wire_cursor c;
	enum rsvp_refusal refusal;
	struct frames frames;
	uint8_t type;

	refusal = read_header(data, size, out, &type);
	if (refusal)
		return refusal;
	if (registered_kind(type) == RSVP_BUNDLE)
		return read_bundle(data, size, out);
	c = wire_cursor((const uint8_t *)data + sizeof(struct rsvp_hdr), size - sizeof(struct rsvp_hdr));
	if (!scan(c, &frames))
		return RSVP_REFUSED_object_length;
	out->kind = (uint8_t)kind_of(numbers, type, &frames);
	if (out->kind == RSVP_KIND_COUNT)
		return RSVP_REFUSED_unknown_type;
	if (out->kind == RSVP_END && type == TYPE_RECOVERY_PATH && !frames.ip_session)
		return RSVP_REFUSED_recovery_path;
	refusal = read_objects(&r, c);
	if (refusal)
		return refusal;
	check_values(&r);
	if (r.pending)
		return r.pending;
	if (!has_parts(out))
		return RSVP_REFUSED_object_missing;
	if (!is_consistent(out))
		return RSVP_REFUSED_object_content;
	return check_families(out);
}
