/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes messages and Bundles (RFC 2205 section 3.1; RFC 2961 section 3; docs/credit.md 2.3). Pure. */
#include "rsvp/rsvp_priv.h"
#include "wire/checksum.h"

void rsvp_clear(struct rsvp_message *m, enum rsvp_kind kind)
{
	memset(m, 0, offsetof(struct rsvp_message, ack));
	m->kind = (uint8_t)kind;
	m->send_ttl = 255;
}

static uint8_t type_of(const struct rsvp_numbers *n, unsigned int kind)
{
	static const uint8_t types[] = {[RSVP_PATH] = 1,
		[RSVP_RESV] = 2,
		[RSVP_PATH_ERR] = 3,
		[RSVP_RESV_ERR] = 4,
		[RSVP_PATH_TEAR] = 5,
		[RSVP_RESV_TEAR] = 6,
		[RSVP_RESV_CONF] = 7,
		[RSVP_BUNDLE] = 12,
		[RSVP_ACK] = 13,
		[RSVP_SREFRESH] = 15,
		[RSVP_CHALLENGE] = 25,
		[RSVP_RESPONSE] = 26};

	switch (kind) {
	case RSVP_INIT:
	case RSVP_MARKER:
		return n->type_init;
	case RSVP_RESERVE:
	case RSVP_UPDATE:
		return n->type_reserve;
	case RSVP_END:
		return n->type_end;
	case RSVP_END_ACK:
		return n->type_end_ack;
	default:
		return kind < ARRAY_LEN(types) ? types[kind] : 0;
	}
}

void rsvp_checksum(void *message, size_t bytes)
{
	struct rsvp_hdr *h = message;

	h->checksum = be16(0);
	h->checksum = checksum_finish(checksum_add(0, message, bytes));
	if (!be16_get(h->checksum))
		h->checksum = be16(0xffff); /* 0 means that there is none */
}

static void write_header(uint8_t *out, size_t bytes, uint8_t type, uint8_t flags, uint8_t send_ttl)
{
	struct rsvp_hdr h = {.version_flags = (uint8_t)(RSVP_VERSION << 4 | (flags & 0xf)),
		.type = type,
		.send_ttl = send_ttl,
		.length = be16((uint16_t)bytes)};

	memcpy(out, &h, sizeof(h));
	rsvp_checksum(out, bytes);
}

/* The tail: each descriptor has a FLOWSPEC, a FILTER_SPEC or both. */
static void write_flows(struct rsvp_out *o, const struct rsvp_numbers *n, const struct rsvp_message *m)
{
	for (unsigned int i = 0; i < m->flows; i++) {
		if (m->flow[i].has_spec)
			rsvp_object_write(o, n, m, RSVP_O_FLOWSPEC, i);
		if (m->flow[i].has_filter)
			rsvp_object_write(o, n, m, RSVP_O_FILTER, i);
	}
}

static void write_part(struct rsvp_out *o, const struct rsvp_numbers *n, const struct rsvp_message *m,
	enum rsvp_object object)
{
	if (object == RSVP_O_FLOWSPEC || object == RSVP_O_FILTER || object == RSVP_O_SCOPE)
		return;
	for (unsigned int i = 0; i < m->count[object]; i++) {
		if (object == RSVP_O_POLICY)
			rsvp_put(o, m->passed[i].at, m->passed[i].bytes);
		else if (object == RSVP_O_ADSPEC)
			rsvp_put(o, m->adspec.at, m->adspec.bytes);
		else
			rsvp_object_write(o, n, m, object, i);
	}
}

size_t rsvp_write(const struct rsvp_numbers *numbers, const struct rsvp_message *m, void *out, size_t room)
{
	struct rsvp_out o = {.at = (uint8_t *)out + sizeof(struct rsvp_hdr),
		.end = (uint8_t *)out + MIN_OF(room, RSVP_BYTES_MAX)};
	unsigned int n;
	const struct rsvp_part *p = rsvp_parts_of(m->kind, &n);
	size_t bytes;

	if (!p || room < sizeof(struct rsvp_hdr))
		return 0;
	for (unsigned int i = 0; i < n; i++)
		write_part(&o, numbers, m, p[i].object);
	write_flows(&o, numbers, m);
	if (o.full)
		return 0;
	bytes = (size_t)(o.at - (uint8_t *)out);
	write_header(out, bytes, type_of(numbers, m->kind), m->flags, m->send_ttl);
	return bytes;
}

void rsvp_bundle_begin(struct rsvp_bundle *b, void *out, size_t room)
{
	*b = (struct rsvp_bundle){.at = out, .room = MIN_OF(room, RSVP_BYTES_MAX), .bytes = sizeof(struct rsvp_hdr)};
}

bool rsvp_bundle_add(struct rsvp_bundle *b, const void *message, size_t bytes)
{
	if (b->bytes > b->room || b->room - b->bytes < bytes)
		return false;
	memcpy(b->at + b->bytes, message, bytes);
	b->bytes += bytes;
	return true;
}

size_t rsvp_bundle_end(struct rsvp_bundle *b, uint8_t send_ttl)
{
	if (b->bytes == sizeof(struct rsvp_hdr))
		return 0;
	write_header(b->at, b->bytes, 12, RSVP_FLAG_REFRESH_REDUCTION, send_ttl);
	return b->bytes;
}
