/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of RSVP (docs/credit.md 1.1, 1.9, 2.3): IPv6 around the messages, router alert, and outer headers of paths; whom
 * the node hears, and how often. Control lcore.
 */
#include <stdlib.h>

#include "node/control_send.h"
#include "service/rsvp/service_rsvp.h"

#define TRAFFIC_CLASS (DSCP_NETWORK_CONTROL << 2)
#define ALERT_BYTES 8
#define INNER_BYTES (sizeof(struct ipv6_hdr) + ALERT_BYTES)
#define PACKET_MAX 9216 /* bytes of a packet that this node makes */

/* Hop-by-hop options: RSVP follows; router alert for RSVP; PadN (RFC 2711). */
static const uint8_t alert[ALERT_BYTES] = {IP_PROTO_RSVP, 0, 5, 2, 0, 1, 1, 0};

/* A packet that is being handled. The headers point into it. */
struct arrival {
	const struct ipv6_hdr *ip; /* of the message */
	const void *message;
	size_t bytes;
	bool alerts;	      /* in a tunnel, or with router alert: not addressed to one hop */
	const uint8_t *outer; /* NULL: no tunnel */
	uint16_t outer_bytes, next_header_at;
	uint16_t port;
};

static uint64_t unix_s(const struct control_role *c)
{
	return (c->node->born_ns + c->now) / NSEC_PER_SEC;
}

struct rsvp_neighbor *rsvp_neighbor_of(struct rsvp_control *r, const struct ip_addr *addr)
{
	for (uint32_t i = 0; i < r->neighbors; i++)
		if (ip_addr_equal(&r->neighbor[i].addr, addr))
			return &r->neighbor[i];
	return NULL;
}

static const struct snap_rsvp_neighbor *permitted(const struct snap_credit *s, const struct ip_addr *addr)
{
	for (uint32_t i = 0; i < s->n_neighbors; i++)
		if (ip_addr_equal(&s->neighbor[i].addr, addr))
			return &s->neighbor[i];
	return NULL;
}

struct ip_addr rsvp_own_towards(void *arg, const struct ip_addr *neighbor)
{
	const struct control_role *c = arg;
	const struct snap_rsvp_neighbor *n = permitted(&c->s->credit, neighbor);

	return n ? n->own : ip_addr_from6(&c->s->loopback);
}

/* --- sending --- */

/* A native packet, or the inner one of a tunnel. Returns its bytes. */
static uint32_t put_packet(uint8_t *out, const struct ip_addr *from, const struct ip_addr *to, uint8_t hop_limit,
	bool alerts, const void *message, size_t bytes)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out;
	uint8_t *at = out + sizeof(*ip);

	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(TRAFFIC_CLASS, 0),
		.payload_length = be16((uint16_t)((alerts ? ALERT_BYTES : 0) + bytes)),
		.next_header = alerts ? IP_PROTO_HOPOPTS : IP_PROTO_RSVP,
		.hop_limit = hop_limit,
		.src = from->v6,
		.dst = to->v6};
	if (alerts) {
		memcpy(at, alert, sizeof(alert));
		at += sizeof(alert);
	}
	memcpy(at, message, bytes);
	return (uint32_t)(at + bytes - out);
}

/* The outer headers of a path in front of `inner` bytes. */
static void put_outer(uint8_t *out, const struct rsvp_carrier *x, uint32_t label, uint32_t inner)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out;

	memcpy(out, x->header, x->bytes);
	out[x->next_header_at] = IP_PROTO_IPV6;
	ip->vtc_flow = ipv6_vtc_flow(TRAFFIC_CLASS, label);
	ip->payload_length = be16((uint16_t)(x->bytes - sizeof(*ip) + inner));
}

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
	uint8_t packet[SNAP_ENCAP_BYTES_MAX + INNER_BYTES + PACKET_MAX];
	uint32_t outer = x ? x->bytes : 0, inner;
	struct rte_mbuf *mbuf;

	if (!x)
		return false;
	inner = put_packet(packet + outer, &m->sender.src, &way->to, m->send_ttl, true, message, bytes);
	if (outer)
		put_outer(packet, x, m->sender.port, inner);
	mbuf = control_packet(c, packet, outer + inner);
	if (!mbuf)
		return false;
	if (x->own)
		return send_own(c, x, m->sender.port, mbuf);
	control_send_routed(c, mbuf, VRF_UNDERLAY);
	return true;
}

static bool send_to(struct control_role *c, const struct ip_addr *to, const struct rsvp_message *m, const void *message,
	size_t bytes)
{
	struct rsvp_neighbor *n = rsvp_neighbor_of(rsvp_of(c), to);
	struct ip_addr from = rsvp_own_towards(c, to);
	uint8_t packet[sizeof(struct ipv6_hdr) + PACKET_MAX];
	struct rte_mbuf *mbuf = control_packet(c, packet,
		put_packet(packet, &from, to, m->send_ttl, false, message, bytes));

	if (!mbuf)
		return false;
	if (n)
		stat_add(&n->tx, 1);
	control_send_routed(c, mbuf, VRF_UNDERLAY);
	return true;
}

/* The message has its INTEGRITY object already, if it has one. */
static void send_signed(struct control_role *c, const struct rsvp_way *way, const struct rsvp_message *m)
{
	struct rsvp_control *r = rsvp_of(c);
	uint8_t message[PACKET_MAX];
	size_t bytes = rsvp_write(&c->s->credit.numbers, m, message, sizeof(message));

	if (bytes && m->count[RSVP_O_INTEGRITY])
		rsvp_auth_sign(r->auth, message, bytes);
	if (bytes && (way->along ? send_along(c, way, m, message, bytes) : send_to(c, &way->to, m, message, bytes)))
		stat_add(&r->stats.tx, 1);
	else
		stat_add(&r->stats.unsent, 1);
}

void rsvp_send(void *arg, const struct rsvp_way *way, struct rsvp_message *m)
{
	struct control_role *c = arg;

	if (c->s->credit.on && rsvp_auth_prepare(rsvp_of(c)->auth, unix_s(c), m))
		send_signed(c, way, m);
	else
		stat_add(&rsvp_of(c)->stats.unsent, 1);
}

static void send_challenge(struct control_role *c, const struct ip_addr *to, const struct rsvp_challenge *challenge)
{
	struct rsvp_way way = {.to = *to};
	struct rsvp_message *m = &rsvp_of(c)->out;

	rsvp_clear(m, RSVP_CHALLENGE);
	m->challenge = *challenge;
	m->count[RSVP_O_CHALLENGE] = 1;
	stat_add(&rsvp_of(c)->stats.challenges, 1);
	send_signed(c, &way, m);
}

/* A message whose objects this node must understand and does not: tell its sender (RFC 2205 section 3.10). */
static void send_error(struct control_role *c, const struct rsvp_message *about)
{
	bool down = about->kind == RSVP_INIT;
	struct rsvp_way way = {.to = about->hop.addr};
	struct rsvp_message *m = &rsvp_of(c)->out;

	if (!about->count[RSVP_O_SESSION] || !about->count[RSVP_O_HOP] || (!down && about->kind != RSVP_RESERVE) ||
		(down && !about->count[RSVP_O_TEMPLATE]))
		return;
	rsvp_clear(m, down ? RSVP_PATH_ERR : RSVP_RESV_ERR);
	m->session = about->session;
	m->error = about->error;
	m->error.node = ip_addr_from6(&c->s->loopback);
	m->count[RSVP_O_SESSION] = m->count[RSVP_O_ERROR] = 1;
	if (down) {
		m->sender = about->sender;
		m->tspec = about->tspec;
		m->count[RSVP_O_TEMPLATE] = m->count[RSVP_O_TSPEC] = 1;
	} else {
		m->hop = (struct rsvp_hop){.addr = rsvp_own_towards(c, &way.to), .lih = about->hop.lih};
		m->count[RSVP_O_HOP] = 1;
	}
	rsvp_send(c, &way, m);
}

/* --- where a 28 goes on --- */

static const struct snap_rsvp_accept *accepted(const struct snap_credit *s, const struct ip_addr *source)
{
	for (uint32_t i = 0; i < s->n_accepts && source->family == 6; i++)
		if (snap_match_has(&s->accept[i].sources, ipv6_hi(&source->v6), ipv6_lo(&source->v6)))
			return &s->accept[i];
	return NULL;
}

/* E37: PFC tunnels that pause data of the class where it was received already hold it back. */
static bool is_paused_otherwise(const struct snapshot *s, uint16_t port, const struct rsvp_message *m)
{
	uint8_t class = m->count[RSVP_O_CBFC_HOP] ? m->cbfc_hop[0].traffic_class : RSVP_CLASS_ALL;

	for (uint32_t i = 0; i < s->n_pfc_tunnels; i++)
		if (s->pfc_tunnel[i].port == port &&
			(class == RSVP_CLASS_ALL || (class < 8 && s->pfc_tunnel[i].priorities >> class & 1)))
			return true;
	return false;
}

static struct rsvp_carrier *carrier_of(const struct arrival *a)
{
	struct rsvp_carrier *x = calloc(1, sizeof(*x) + a->outer_bytes);

	if (!x || !a->outer)
		return x;
	x->bytes = a->outer_bytes;
	x->next_header_at = a->next_header_at;
	memcpy(x->header, a->outer, a->outer_bytes);
	return x;
}

/* Own address on the link by which a packet leaves: of the next hop's subnet, or any but the link-local one. */
static struct ip_addr address_on_link(const struct snapshot *s, const struct pkt *x, const struct ip_addr *to)
{
	bool on_link = x->neigh >= PKT_NEIGH_LINK;
	const struct snap_interface *in = snap_interface(s,
		on_link ? x->neigh - PKT_NEIGH_LINK : s->neigh[x->neigh].interface);
	const struct ip_addr *next = on_link ? to : &s->neigh[x->neigh].addr;
	struct ip_addr found = ip_addr_from6(&s->loopback);

	for (unsigned int i = in->n_own; i-- > 1;) {
		if (ip_prefix_contains(&in->own[i], next))
			return in->own[i].addr;
		if (in->own[i].addr.family == 6)
			found = in->own[i].addr;
	}
	return found;
}

/* By which port does a packet leave that comes as this one did? Negative: by none. *here: see struct rsvp_way. */
static int egress_of(struct control_role *c, const struct rsvp_carrier *x, const struct rsvp_message *m,
	struct ip_addr *here)
{
	uint8_t packet[SNAP_ENCAP_BYTES_MAX + INNER_BYTES];
	uint32_t bytes = x->bytes +
			 put_packet(packet + x->bytes, &m->sender.src, &m->session.dst, UINT8_MAX, true, "", 0);
	struct rte_mbuf *mbuf;
	int port;

	if (x->bytes)
		put_outer(packet, x, m->sender.port, bytes - x->bytes);
	mbuf = control_packet(c, packet, bytes);
	if (!mbuf)
		return -1;
	classify_originated(&c->classifier, mbuf, VRF_UNDERLAY);
	port = pkt_of(mbuf)->verdict == PKT_FORWARD ? pkt_of(mbuf)->egress : -1;
	if (port >= 0 && !x->bytes)
		*here = address_on_link(c->s, pkt_of(mbuf), &m->session.dst);
	pkt_end(mbuf, CONSUME_rsvp, &c->lcore->stats);
	return port;
}

int rsvp_route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct rsvp_way *way)
{
	const struct arrival *a = (const struct arrival *)(uintptr_t)arrival;
	struct control_role *c = arg;
	const struct snap_credit *s = &c->s->credit;
	const struct snap_rsvp_neighbor *n = permitted(s, &m->hop.addr);
	const struct snap_rsvp_accept *accept = accepted(s, &m->sender.src);
	struct rsvp_carrier *x;
	int port;

	if (!n || m->sender.src.family != 6 || (a->outer_bytes > SNAP_ENCAP_BYTES_MAX))
		return -1;
	if (is_paused_otherwise(c->s, a->port, m))
		return -RSVP_REFUSE_CLASS;
	way->buffer = n->buffer;
	if (ipv6_equal(&m->session.dst.v6, &c->s->loopback)) {
		way->buffer = accept ? MIN_OF(way->buffer, accept->buffer) : 0;
		return accept ? RSVP_FAR : -1;
	}
	if (m->send_ttl <= 1)
		return -RSVP_REFUSE_HOPS;
	x = carrier_of(a);
	port = x ? egress_of(c, x, m, &way->here) : -1;
	if (port < 0) {
		free(x);
		return -RSVP_REFUSE_ROUTE;
	}
	way->port = (uint8_t)port;
	way->carrier = (uint64_t)(uintptr_t)x;
	if (c->s->port[port].speed_bps)
		way->rate_bps = c->s->port[port].speed_bps;
	return RSVP_TRANSIT;
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

static enum reason refuse(struct rsvp_neighbor *n, uint64_t *counter)
{
	stat_add(counter, 1);
	if (n)
		stat_add(&n->refused, 1);
	return DROP_rsvp_refused;
}

/* Is it a message that goes along a path, towards the address of its session? */
static bool goes_along(const struct rsvp_message *m)
{
	return m->kind == RSVP_INIT || m->kind == RSVP_END;
}

/* Whom a message is from, and that it can be (D57). NULL: nobody is heard; *counter says why. */
static struct rsvp_neighbor *sender_of(struct control_role *c, const struct arrival *a, const struct rsvp_message *m,
	uint64_t **counter)
{
	struct ip_addr source = ip_addr_from6(&a->ip->src);
	const struct ip_addr *addr = m->count[RSVP_O_HOP] ? &m->hop.addr : &source;
	const struct snap_rsvp_neighbor *configured = permitted(&c->s->credit, addr);
	struct rsvp_neighbor *n = rsvp_neighbor_of(rsvp_of(c), addr);
	struct rsvp_service_stats *s = &rsvp_of(c)->stats;

	if (!configured || !n) {
		*counter = &s->stranger;
		return NULL;
	}
	if (goes_along(m))
		return n;
	*counter = a->outer || a->alerts			    ? &s->tunnel
		   : !ip_addr_equal(addr, &source)		    ? &s->source
		   : a->ip->hop_limit < configured->least_hop_limit ? &s->hop_limit
								    : NULL;
	if (!*counter)
		return n;
	stat_add(&n->refused, 1);
	return NULL;
}

static enum reason answer(struct control_role *c, const struct rsvp_message *m, struct rsvp_neighbor *n)
{
	struct rsvp_control *r = rsvp_of(c);
	struct rsvp_way way = {.to = n->addr};
	enum rsvp_refusal refusal = rsvp_auth_answer(r->auth, unix_s(c), m, &r->out);

	if (refusal != RSVP_ACCEPTED)
		return refuse(n, refusal_counter(&r->stats, refusal));
	send_signed(c, &way, &r->out);
	return CONSUME_rsvp;
}

static bool is_reported(enum rsvp_refusal refusal)
{
	return refusal == RSVP_REFUSED_unknown_class || refusal == RSVP_REFUSED_unknown_c_type;
}

/* A message whose sender is known: is it authentic, and what does it say? */
static enum reason hear(struct control_role *c, const struct arrival *a, struct rsvp_neighbor *n,
	enum rsvp_refusal read)
{
	struct rsvp_control *r = rsvp_of(c);
	struct rsvp_message *m = &r->in;
	struct ip_addr source = ip_addr_from6(&a->ip->src);
	struct rsvp_challenge challenge;
	enum rsvp_refusal refusal = rsvp_auth_check(r->auth, c->now, unix_s(c),
		&(struct rsvp_received){.m = m, .data = a->message, .source = source}, &challenge);

	if (challenge.cookie)
		send_challenge(c, &n->addr, &challenge);
	if (refusal == RSVP_ACCEPTED && is_reported(read))
		send_error(c, m);
	if (refusal == RSVP_ACCEPTED)
		refusal = read;
	if (refusal != RSVP_ACCEPTED)
		return refuse(n, refusal_counter(&r->stats, refusal));
	stat_add(&n->rx, 1);
	stat_level(n->heard, c->now);
	if (m->kind == RSVP_CHALLENGE)
		return answer(c, m, n);
	m->send_ttl = a->ip->hop_limit;
	if (m->kind != RSVP_RESPONSE)
		rsvp_receive(r->machines, c->now, m, goes_along(m) ? &m->hop.addr : &source, (uint64_t)(uintptr_t)a);
	return CONSUME_rsvp;
}

static enum reason receive(struct control_role *c, const struct arrival *a);

/* Each message of a Bundle is authenticated and handled as if it had come alone (RFC 2961 section 3). */
static enum reason receive_bundle(struct control_role *c, const struct arrival *a)
{
	struct rsvp_raw rest = rsvp_of(c)->in.body, one;
	struct arrival part = *a;
	enum reason reason = DROP_rsvp_refused;

	while (rsvp_bundle_next(&rest, &one)) {
		part.message = one.at;
		part.bytes = one.bytes;
		if (receive(c, &part) == CONSUME_rsvp)
			reason = CONSUME_rsvp;
	}
	return reason;
}

/* One message: of a packet, or of a Bundle. */
static enum reason receive(struct control_role *c, const struct arrival *a)
{
	struct rsvp_control *r = rsvp_of(c);
	enum rsvp_refusal read = rsvp_read(&c->s->credit.numbers, a->message, a->bytes, &r->in);
	const struct snap_rsvp_neighbor *configured;
	struct rsvp_neighbor *n;
	uint64_t *counter;

	stat_add(&r->stats.rx, 1);
	if (read == RSVP_ACCEPTED && r->in.kind == RSVP_BUNDLE)
		return receive_bundle(c, a);
	if (read != RSVP_ACCEPTED && !is_reported(read))
		return refuse(NULL, refusal_counter(&r->stats, read));
	n = sender_of(c, a, &r->in, &counter);
	if (!n)
		return refuse(NULL, counter);
	configured = permitted(&c->s->credit, &n->addr);
	if (!bucket_take(&n->bucket, c->now, configured->rate, configured->rate / 10 + 32)) {
		stat_add(&n->limited, 1);
		stat_add(&r->stats.above_rate, 1);
		return DROP_rsvp_limited;
	}
	return hear(c, a, n, read);
}

/* The message behind the headers of a packet. False: there is none. */
static bool find_message(const uint8_t *packet, size_t size, struct arrival *a)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)packet;
	struct control_upper u;

	if (size < sizeof(*ip) || packet[0] >> 4 != 6)
		return false;
	size = MIN_OF(size, sizeof(*ip) + be16_get(ip->payload_length));
	u = control_upper_layer(packet, size);
	if (u.type != IP_PROTO_RSVP || u.at >= size)
		return false;
	a->ip = ip;
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
	struct arrival a = {.port = m->port, .alerts = inner};

	if (!c->s->credit.on)
		return DROP_not_served;
	if (inner) {
		a.outer = r->bytes;
		a.outer_bytes = inner;
		a.next_header_at = (uint16_t)control_upper_layer(r->bytes, inner).named;
	}
	if (inner > size || !find_message(r->bytes + inner, size - inner, &a))
		return refuse(NULL, &r->stats.unreadable);
	return receive(c, &a);
}
