/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of RSVP (docs/credit.md 1.1, 1.9, 2.3): how messages leave; whom the node hears, and how often. Control lcore.
 */
#include <stdlib.h>

#include "node/control_send.h"
#include "service/rsvp/rsvp_packet.h"

/* --- sending --- */

/* Over the way of a policy's path, as its data. False: it has none. */
static bool send_own(struct control_role *c, const struct rsvp_carrier *x, uint32_t label, struct rte_mbuf *m)
{
	const struct snap_path *path = x->path_id < c->s->n_paths ? &c->s->path[x->path_id] : NULL;
	target_t via = path ? path->via : 0;

	if (!via) {
		pkt_end(m, DROP_no_route, &c->lcore->stats);
		return false;
	}
	if (target_kind(via) == TARGET_GROUP)
		via = c->s->group[target_index(via)].member[label % c->s->group[target_index(via)].n];
	if (target_kind(via) == TARGET_NEIGH)
		control_send_to_next_hop(c, m, 6, target_index(via));
	else
		control_send_routed(c, m, VRF_UNDERLAY);
	return true;
}

static bool send_along(struct control_role *c, const struct rsvp_way *way, const struct rsvp_message *m,
	const void *message, size_t bytes)
{
	const struct rsvp_carrier *x = (const struct rsvp_carrier *)(uintptr_t)way->carrier;
	uint8_t packet[SNAP_ENCAP_BYTES_MAX + INNER_BYTES + RSVP_PACKET_MAX];
	uint32_t outer = x ? x->bytes : 0, inner;
	struct rte_mbuf *mbuf;

	if (!x)
		return false;
	inner = rsvp_put_packet(packet + outer, &m->sender.src, &way->to, m->send_ttl, true, message, bytes);
	if (outer)
		put_outer(packet, x, m->sender.port, inner);
	mbuf = control_packet(c, packet, outer + inner);
	if (!mbuf)
		return false;
	if (x->own && outer)
		return send_own(c, x, m->sender.port, mbuf);
	if (x->next_hop.family)
		letter_send_next(c, x, &way->to, mbuf);
	else
		send_in(c, way->zone, way->to.family, mbuf);
	return true;
}

/* With others of this pass to the neighbour, if it takes Bundles. A traced packet leaves at once, and by itself. */
static bool send_to(struct control_role *c, const struct rsvp_way *way, const struct rsvp_message *m,
	const void *message, size_t bytes)
{
	struct rsvp_neighbor *n = rsvp_neighbor_of(rsvp_of(c), way->zone, &way->to);

	if (n)
		stat_add(&n->tx, 1);
	if (n && n->reduces && !c->trace && rsvp_bundle_put(c, way->zone, &way->to, message, bytes))
		return true;
	return rsvp_send_packet(c, way->zone, &way->to, m->send_ttl, message, bytes);
}

/* The next hop towards a server is the server itself. NULL: it is a neighbour no more. */
static struct rsvp_auth *auth_for(struct control_role *c, const struct rsvp_way *way)
{
	struct rsvp_control *r = rsvp_of(c);
	const struct rsvp_neighbor *n = way->along && !way->zone ? NULL : rsvp_neighbor_of(r, way->zone, &way->to);

	return n ? rsvp_auth_of(r, n) : way->zone ? NULL : r->auth;
}

/* The message has its INTEGRITY object already, if it has one. */
static void send_signed(struct control_role *c, const struct rsvp_way *way, const struct rsvp_message *m,
	struct rsvp_auth *auth, const struct rsvp_numbers *numbers)
{
	struct rsvp_control *r = rsvp_of(c);
	uint8_t message[RSVP_PACKET_MAX];
	size_t bytes = rsvp_write(numbers, m, message, sizeof(message));

	if (bytes && m->count[RSVP_O_INTEGRITY])
		rsvp_auth_sign(auth, message, bytes);
	if (rsvp_is_recording(c))
		rsvp_record_begin(c,
			&(struct rsvp_about){.peer = way->to,
				.port = way->along ? way->port : RSVP_NO_PORT,
				.bytes = (uint16_t)bytes,
				.along = way->along,
				.why = ""},
			message);
	if (bytes && (way->along ? send_along(c, way, m, message, bytes) : send_to(c, way, m, message, bytes)))
		stat_add(&r->stats.tx, 1);
	else
		stat_add(&r->stats.unsent, 1);
}

void rsvp_send_as(struct control_role *c, const struct rsvp_way *way, struct rsvp_message *m, struct rsvp_auth *auth,
	const struct rsvp_numbers *numbers)
{
	if (c->s->credit.on && auth && (!way->zone || rsvp_link_of(c->s, way->zone)) &&
		rsvp_auth_prepare(auth, rsvp_unix_s(c), m))
		send_signed(c, way, m, auth, numbers);
	else
		stat_add(&rsvp_of(c)->stats.unsent, 1);
}

void rsvp_send(void *arg, const struct rsvp_way *way, struct rsvp_message *m)
{
	struct control_role *c = arg;

	rsvp_send_as(c, way, m, auth_for(c, way), &c->s->credit.numbers);
}

/* RFC 2961 section 2: a message without the flag ends refreshes by id and Bundles of its receiver. */
static uint8_t flags_to(const struct rsvp_neighbor *n)
{
	return n->letter ? 0 : RSVP_FLAG_REFRESH_REDUCTION;
}

static void send_challenge(struct control_role *c, const struct rsvp_neighbor *to,
	const struct rsvp_challenge *challenge)
{
	struct rsvp_way way = {.to = to->addr, .zone = to->zone};
	struct rsvp_message *m = &rsvp_of(c)->out;

	rsvp_clear(m, RSVP_CHALLENGE);
	m->flags = flags_to(to);
	m->challenge = *challenge;
	m->count[RSVP_O_CHALLENGE] = 1;
	stat_add(&rsvp_of(c)->stats.challenges, 1);
	send_signed(c, &way, m, NULL, &c->s->credit.numbers);
}

/*
 * A message whose objects this node must understand and does not: tell its sender (RFC 2205 section 3.10). About a marker, an End and
 * an End ACK nobody is told: the first names no sender, and of the others the RFC has no errors (section 3.1.5, 3.1.6).
 */
static void send_error(struct control_role *c, const struct rsvp_neighbor *n, const struct rsvp_message *about)
{
	bool down = about->kind == RSVP_INIT;
	struct rsvp_way way = {.to = about->hop.addr, .zone = about->zone};
	struct rsvp_message *m = &rsvp_of(c)->out;

	if (!about->count[RSVP_O_SESSION] || !about->count[RSVP_O_HOP] ||
		(!down && about->kind != RSVP_RESERVE && about->kind != RSVP_UPDATE))
		return;
	rsvp_clear(m, down ? RSVP_PATH_ERR : RSVP_RESV_ERR);
	m->flags = flags_to(n);
	m->session = about->session;
	m->error = about->error;
	m->error.node = n->letter ? rsvp_own_towards(c, way.zone, &way.to) : ip_addr_from6(&c->s->loopback);
	m->count[RSVP_O_SESSION] = m->count[RSVP_O_ERROR] = 1;
	if (down) {
		m->sender = about->sender;
		m->tspec = about->tspec;
		m->count[RSVP_O_TEMPLATE] = about->count[RSVP_O_TEMPLATE]; /* either may be what is unknown */
		m->count[RSVP_O_TSPEC] = m->count[RSVP_O_TEMPLATE] && about->count[RSVP_O_TSPEC];
	} else {
		m->hop = (struct rsvp_hop){.addr = rsvp_own_towards(c, way.zone, &way.to), .lih = about->hop.lih};
		m->style = RSVP_STYLE_FF;
		m->count[RSVP_O_HOP] = m->count[RSVP_O_STYLE] = 1;
	}
	rsvp_send(c, &way, m);
}

/* --- receiving --- */

static uint64_t *refusal_counter(struct rsvp_service_stats *s, enum rsvp_refusal refusal)
{
	switch (refusal) {
#define X(kind, member, shown, unit, metric, help) \
	case RSVP_REFUSED_##member: \
		return &s->member;
		RSVP_REFUSALS(X)
#undef X
	default:
		return &s->unreadable;
	}
}

static enum reason refuse(struct control_role *c, struct rsvp_neighbor *n, uint64_t *counter)
{
	struct rsvp_service_stats *s = &rsvp_of(c)->stats;

	stat_add(counter, 1);
	rsvp_of(c)->refused_by = counter;
	if (n)
		stat_add(&n->refused, 1);
	if (n && (counter == &s->integrity_replayed || counter == &s->integrity_window))
		rsvp_neighbor_replays(c, n);
	return DROP_rsvp_refused;
}

/* Is it a message that goes along a path, towards the address of its session? */
static bool goes_along(const struct rsvp_message *m)
{
	return m->kind == RSVP_INIT || m->kind == RSVP_END;
}

/*
 * Is a server the sender of the data that its message is about, and the first device of the path? It speaks for nobody else:
 * what other stations of its link, or other tenants, send is not its to reserve.
 */
static bool is_sender(const struct rsvp_message *m, const struct ip_addr *source)
{
	return ip_addr_equal(&m->hop.addr, source) && ip_addr_equal(&m->sender.src, source) &&
	       (!m->count[RSVP_O_CBFC_PATH] || (m->path.hops == 1 && ipv6_equal(&m->path.addrs[0], &source->v6)));
}

/* Whom a message is from, and that it can be (D57). NULL: nobody is heard; *counter says why. */
static struct rsvp_neighbor *sender_of(struct control_role *c, const struct rsvp_arrival *a,
	const struct rsvp_message *m, uint64_t **counter)
{
	struct ip_addr source = a->source;
	const struct ip_addr *addr = m->count[RSVP_O_HOP] ? &m->hop.addr : &source;
	const struct snap_rsvp_neighbor *configured = rsvp_permitted(&c->s->credit, a->zone, addr);
	struct rsvp_neighbor *n = rsvp_neighbor_of(rsvp_of(c), a->zone, addr);
	struct rsvp_service_stats *s = &rsvp_of(c)->stats;

	if (!configured || !n) {
		*counter = &s->stranger;
		return NULL;
	}
	if (n->letter && a->outer) { /* such a neighbour knows no tunnels */
		*counter = &s->tunnel;
		return NULL;
	}
	if (goes_along(m) && (!a->zone || is_sender(m, &source)))
		return n;
	*counter = goes_along(m)				? &s->source
		   : a->outer || a->alerts			? &s->tunnel
		   : !ip_addr_equal(addr, &source)		? &s->source
		   : a->hop_limit < configured->least_hop_limit ? &s->hop_limit
								: NULL;
	if (!*counter)
		return n;
	stat_add(&n->refused, 1);
	return NULL;
}

static enum reason answer(struct control_role *c, const struct rsvp_message *m, struct rsvp_neighbor *n)
{
	struct rsvp_control *r = rsvp_of(c);
	struct rsvp_way way = {.to = n->addr, .zone = n->zone};
	enum rsvp_refusal refusal = rsvp_auth_answer(rsvp_auth_of(r, n), rsvp_unix_s(c), m, &r->out);

	if (refusal != RSVP_ACCEPTED)
		return refuse(c, n, refusal_counter(&r->stats, refusal));
	r->out.flags = flags_to(n);
	send_signed(c, &way, &r->out, rsvp_auth_of(r, n), &c->s->credit.numbers);
	return CONSUME_rsvp;
}

static bool is_reported(enum rsvp_refusal refusal)
{
	return refusal == RSVP_REFUSED_unknown_class || refusal == RSVP_REFUSED_unknown_c_type;
}

/* A message whose sender is known: is it authentic, and what does it say? */
static enum reason hear(struct control_role *c, const struct rsvp_arrival *a, struct rsvp_neighbor *n,
	enum rsvp_refusal read)
{
	struct rsvp_control *r = rsvp_of(c);
	struct rsvp_message *m = &r->in;
	struct ip_addr source = a->source;
	struct rsvp_challenge challenge;
	enum rsvp_refusal refusal;

	if (!rsvp_auth_of(r, n))
		return refuse(c, n, &r->stats.integrity_key);
	refusal = rsvp_auth_check(rsvp_auth_of(r, n), c->now, rsvp_unix_s(c),
		&(struct rsvp_received){.m = m, .data = a->message, .source = source}, &challenge);

	if (challenge.cookie)
		send_challenge(c, n, &challenge);
	if (refusal == RSVP_ACCEPTED && is_reported(read))
		send_error(c, n, m);
	if (refusal == RSVP_ACCEPTED)
		refusal = read;
	if (refusal != RSVP_ACCEPTED)
		return refuse(c, n, refusal_counter(&r->stats, refusal));
	rsvp_neighbor_heard(c, n);
	n->reduces = m->flags & RSVP_FLAG_REFRESH_REDUCTION && !n->letter;
	if (m->kind == RSVP_CHALLENGE)
		return answer(c, m, n);
	m->send_ttl = a->hop_limit;
	m->routed = !a->outer;
	if (n->letter && m->kind != RSVP_RESPONSE)
		letter_receive(r->letter, c->now, m, goes_along(m) ? &m->hop.addr : &source, (uint64_t)(uintptr_t)a);
	else if (m->kind != RSVP_RESPONSE)
		rsvp_receive(r->machines, c->now, m, goes_along(m) ? &m->hop.addr : &source, (uint64_t)(uintptr_t)a);
	return CONSUME_rsvp;
}

static enum reason receive(struct control_role *c, const struct rsvp_arrival *a);

/* Each message of a Bundle is authenticated and handled as if it had come alone (RFC 2961 section 3). */
static enum reason receive_bundle(struct control_role *c, const struct rsvp_arrival *a)
{
	struct rsvp_raw rest = rsvp_of(c)->in.body, one;
	struct rsvp_arrival part = *a;
	enum reason reason = DROP_rsvp_refused;

	while (rsvp_bundle_next(&rest, &one)) {
		part.message = one.at;
		part.bytes = one.bytes;
		if (receive(c, &part) == CONSUME_rsvp)
			reason = CONSUME_rsvp;
	}
	return reason;
}

static enum reason receive_read(struct control_role *c, const struct rsvp_arrival *a, enum rsvp_refusal read)
{
	struct rsvp_control *r = rsvp_of(c);
	const struct snap_rsvp_neighbor *configured;
	struct rsvp_neighbor *n;
	uint64_t *counter;

	if (read != RSVP_ACCEPTED && !is_reported(read))
		return refuse(c, NULL, refusal_counter(&r->stats, read));
	n = sender_of(c, a, &r->in, &counter);
	if (!n)
		return refuse(c, NULL, counter);
	configured = rsvp_permitted(&c->s->credit, a->zone, &n->addr);
	if (!bucket_take(&n->bucket, c->now, configured->rate, configured->rate / 10 + 32)) {
		stat_add(&n->limited, 1);
		stat_add(&r->stats.above_rate, 1);
		r->refused_by = &r->stats.above_rate;
		return DROP_rsvp_limited;
	}
	return hear(c, a, n, read);
}

/* In the trace of a packet: what became of the message in it. */
static void trace(struct control_role *c, const struct rsvp_arrival *a, uint8_t kind, enum rsvp_verdict verdict,
	const char *why)
{
	static const char *const words[] = {[RSVP_VERDICT_ACCEPTED] = "accepted",
		[RSVP_VERDICT_REFUSED] = "refused",
		[RSVP_VERDICT_NO_EFFECT] = "without effect"};
	char text[TRACE_BYTES], addr[IP_ADDR_TEXT];

	snprintf(text, sizeof(text), "rsvp: %s from %s: %s%s%s", rsvp_kind_name(kind), ip_addr_format(&a->source, addr),
		words[verdict], *why ? ", " : "", why);
	pkt_tap_note(&c->lcore->tap, c->trace, a->port, text);
}

/* The same, for those who look at messages: in a trace, or in the record. */
static enum reason receive_watched(struct control_role *c, const struct rsvp_arrival *a, enum rsvp_refusal read)
{
	struct rsvp_control *r = rsvp_of(c);
	struct rsvp_node_stats before = *rsvp_node_stats_of(r->machines);
	struct letter_stats letter = *letter_stats_of(r->letter);
	uint8_t kind = read == RSVP_ACCEPTED || is_reported(read) ? r->in.kind : RSVP_KIND_COUNT;
	struct rsvp_record *record = rsvp_record_begin(c,
		&(struct rsvp_about){.peer = a->source,
			.port = a->port,
			.bytes = (uint16_t)a->bytes,
			.along = a->outer || a->alerts,
			.why = ""},
		a->message);
	enum reason reason = receive_read(c, a, read);
	enum rsvp_verdict verdict;
	const char *why;

	verdict = rsvp_verdict_of(r, &before, &letter, &why);
	rsvp_record_end(record, verdict, why);
	if (c->trace)
		trace(c, a, kind, verdict, why);
	return reason;
}

/* Those of ext mode, unless the message is of a neighbour of letter mode. */
static const struct rsvp_numbers *numbers_for(const struct control_role *c, const struct rsvp_arrival *a)
{
	const struct snap_credit *s = &c->s->credit;
	const struct snap_rsvp_neighbor *n;
	struct ip_addr addr;

	if (likely(!s->n_letters))
		return &s->numbers;
	if (!rsvp_peek_hop(a->message, a->bytes, &addr))
		addr = a->source;
	n = rsvp_permitted(s, a->zone, &addr);
	return n && n->letter ? &s->letter_numbers : &s->numbers;
}

/* One message: of a packet, or of a Bundle. */
static enum reason receive(struct control_role *c, const struct rsvp_arrival *a)
{
	struct rsvp_control *r = rsvp_of(c);
	enum rsvp_refusal read = rsvp_read(numbers_for(c, a), a->message, a->bytes, &r->in);

	stat_add(&r->stats.rx, 1);
	r->in.zone = a->zone;
	if (read == RSVP_ACCEPTED && r->in.kind == RSVP_BUNDLE)
		return receive_bundle(c, a);
	r->refused_by = NULL;
	if (rsvp_is_recording(c) || unlikely(c->trace))
		return receive_watched(c, a, read);
	return receive_read(c, a, read);
}

static bool find_message4(const uint8_t *packet, size_t size, struct rsvp_arrival *a)
{
	const struct ipv4_hdr *ip = (const struct ipv4_hdr *)packet;
	size_t header = size < sizeof(*ip) ? 0 : ipv4_header_bytes(ip);

	if (header < sizeof(*ip) || size <= header || ip->protocol != IP_PROTO_RSVP)
		return false;
	size = MIN_OF(size, be16_get(ip->total_length));
	if (size <= header)
		return false;
	a->source = ip_addr_from4(be32_get(ip->src));
	a->hop_limit = ip->ttl;
	a->alerts |= header > sizeof(*ip);
	a->message = packet + header;
	a->bytes = size - header;
	return true;
}

/* The message behind the headers of a packet. False: there is none. */
static bool find_message(const uint8_t *packet, size_t size, struct rsvp_arrival *a)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)packet;
	struct control_upper u;

	if (size && packet[0] >> 4 == 4 && !a->outer)
		return find_message4(packet, size, a);
	if (size < sizeof(*ip) || packet[0] >> 4 != 6)
		return false;
	size = MIN_OF(size, sizeof(*ip) + be16_get(ip->payload_length));
	u = control_upper_layer(packet, size);
	if (u.type != IP_PROTO_RSVP || u.at >= size)
		return false;
	a->source = ip_addr_from6(&ip->src);
	a->hop_limit = ip->hop_limit;
	a->alerts |= ip->next_header == IP_PROTO_HOPOPTS;
	a->message = packet + u.at;
	a->bytes = size - u.at;
	return true;
}

enum reason rsvp_take(struct control_role *c, struct rte_mbuf *m)
{
	struct rsvp_control *r = rsvp_of(c);
	const struct pkt *x = pkt_of(m);
	uint16_t inner = x->srh ? (uint16_t)(x->srh - x->strip) : 0;
	size_t size = pkt_copy_out(m, x->strip, r->bytes, MIN_OF(x->l3_bytes, sizeof(r->bytes)));
	const struct snap_interface *in = control_came_in_by(c, m);
	struct rsvp_arrival a = {.port = m->port, .alerts = inner};
	enum reason reason;

	if (!c->s->credit.on || !in)
		return DROP_not_served;
	if (in->side != SIDE_WAN)
		a.zone = (uint16_t)(in->interface + 1);
	if (inner) {
		a.outer = r->bytes;
		a.outer_bytes = inner;
		a.next_header_at = (uint16_t)control_upper_layer(r->bytes, inner).named;
	}
	if (inner > size || !find_message(r->bytes + inner, size - inner, &a))
		return refuse(c, NULL, &r->stats.unreadable);
	c->trace = x->trace;
	reason = receive(c, &a);
	c->trace = 0;
	return reason;
}
