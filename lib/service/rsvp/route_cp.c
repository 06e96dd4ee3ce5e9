/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a Path init goes on (docs/credit.md 2.3): along the tunnel in which it came, by routing, to a server; or it ends
 * here, and its data is carried on by a session that begins here. Control lcore.
 */
#include <stdlib.h>

#include "node/control_send.h"
#include "service/bfd/service_bfd.h"
#include "service/rsvp/rsvp_packet.h"

const struct snap_rsvp_accept *rsvp_accepted(const struct snap_credit *s, const struct ip_addr *source)
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

static struct rsvp_carrier *carrier_of(const struct rsvp_arrival *a)
{
	struct rsvp_carrier *x = calloc(1, sizeof(*x) + a->outer_bytes);

	if (!x || !a->outer)
		return x;
	x->bytes = a->outer_bytes;
	x->next_header_at = a->next_header_at;
	memcpy(x->header, a->outer, a->outer_bytes);
	return x;
}

const struct snap_rsvp_neighbor *rsvp_server_at(const struct snapshot *s, uint16_t vrf, const struct ip_addr *addr)
{
	for (uint32_t i = 0; i < s->credit.n_neighbors; i++) {
		const struct snap_rsvp_neighbor *n = &s->credit.neighbor[i];
		const struct snap_interface *in = rsvp_link_of(s, n->zone);

		if (in && in->vrf == vrf && ip_addr_equal(&n->addr, addr))
			return n;
	}
	return NULL;
}

/* Go on to a server. */
static int to_server(const struct snapshot *s, const struct snap_rsvp_neighbor *n, const struct rsvp_message *m,
	struct rsvp_way *way)
{
	uint8_t port = snap_interface_of(n->zone - 1u);
	struct rsvp_carrier *x;

	if (m->send_ttl <= 1)
		return -RSVP_REFUSE_HOPS;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -RSVP_REFUSE_ROUTE;
	x->next = PKT_NEIGH_LINK;
	way->zone = n->zone;
	way->here = n->own;
	way->port = port;
	way->carrier = (uint64_t)(uintptr_t)x;
	if (s->port[port].speed_bps)
		way->rate_bps = s->port[port].speed_bps;
	return RSVP_TRANSIT;
}

const struct snap_rsvp_session *rsvp_session_towards(const struct snapshot *s, uint16_t zone, const struct ip_addr *to,
	uint8_t class)
{
	const struct snap_interface *in = rsvp_link_of(s, zone);
	const struct snap_vrf *vrf = in ? snap_vrf_of(s, in->vrf) : NULL;
	target_t t = !vrf ? 0 : to->family == 4 ? fib_lookup4(vrf->v4, ip_addr_v4(to)) : fib_lookup6(vrf->v6, &to->v6);
	uint32_t i = target_kind(t) == TARGET_POLICY ? s->credit.of_policy[target_index(t)] : 0;

	while (i && class != RSVP_CLASS_ALL && s->credit.session[i - 1].traffic_class != class)
		i = s->credit.session[i - 1].next;
	return i ? &s->credit.session[i - 1] : NULL;
}

static const struct snap_rsvp_session *session_towards(const struct snapshot *s, uint16_t zone,
	const struct rsvp_message *m)
{
	return rsvp_session_towards(s, zone, &m->session.dst,
		m->count[RSVP_O_CBFC_HOP] ? m->cbfc_hop[0].traffic_class : RSVP_CLASS_ALL);
}

const struct snap_rsvp_session *rsvp_joined_by(const struct snap_credit *s, const struct ip_addr *source)
{
	const struct snap_rsvp_accept *accept = rsvp_accepted(s, source);

	return accept && accept->join ? &s->session[accept->join - 1] : NULL;
}

struct rsvp_carry *rsvp_under(void *arg, const struct rsvp_message *m)
{
	const struct control_role *c = arg;
	const struct snap_rsvp_session *s = NULL;
	struct rsvp_own *o;

	if (m->zone)
		s = session_towards(c->s, m->zone, m);
	else if (m->count[RSVP_O_TEMPLATE])
		s = rsvp_joined_by(&c->s->credit, &m->sender.src);
	o = s ? rsvp_own_of(rsvp_of(c), s->name) : NULL;

	if (o && o->instance)
		return rsvp_carry_of(o->instance);
	return o && rsvp_is_letter(c->s, s) ? &o->carry : NULL;
}

/*
 * A session of a server: it goes on to another server here, or ends here because a session of this node carries its data
 * on across the domain. Where data would go on without credit, nothing is granted.
 */
static int route_server(const struct control_role *c, const struct rsvp_message *m, uint16_t zone, struct rsvp_way *way)
{
	const struct snap_interface *in = rsvp_link_of(c->s, zone);
	const struct snap_rsvp_neighbor *other = in ? rsvp_server_at(c->s, in->vrf, &m->session.dst) : NULL;

	if (other)
		return other->zone == zone ? -RSVP_REFUSE_ROUTE : to_server(c->s, other, m, way);
	way->joined = true;
	return session_towards(c->s, zone, m) ? (int)RSVP_FAR : -RSVP_REFUSE_ROUTE;
}

uint32_t rsvp_link_delay_us(void *arg, const struct rsvp_way *way)
{
	const struct control_role *c = arg;
	const struct rsvp_carrier *x = (const struct rsvp_carrier *)(uintptr_t)way->carrier;
	const struct snap_interface *port = &c->s->port[way->port];
	uint64_t rtt = x && !port->link_delay_fixed ? bfd_echo_rtt_ns(c->node, x->next) : 0;

	return rtt ? (uint32_t)MIN_OF((rtt / 2 + NSEC_PER_USEC / 2) / NSEC_PER_USEC, UINT32_MAX - 1)
		   : port->link_delay_us;
}

/* A session that ends here, as far as it is permitted. */
static int route_here(struct control_role *c, const struct rsvp_message *m, struct rsvp_way *way)
{
	const struct snap_rsvp_accept *accept = rsvp_accepted(&c->s->credit, &m->sender.src);

	if (!accept)
		return -1;
	way->buffer = MIN_OF(way->buffer, accept->buffer);
	way->joined = accept->join;
	way->limit = rsvp_of(c)->limit_of[accept - c->s->credit.accept];
	return way->limit == RSVP_NO_LIMIT ? -RSVP_REFUSE_POOL : (int)RSVP_FAR;
}

int rsvp_route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct rsvp_way *way)
{
	const struct rsvp_arrival *a = (const struct rsvp_arrival *)(uintptr_t)arrival;
	struct control_role *c = arg;
	const struct snap_credit *s = &c->s->credit;
	const struct snap_rsvp_neighbor *n = rsvp_permitted(s, a->zone, &m->hop.addr);
	struct rsvp_carrier *x;

	if (!n || m->sender.src.family != 6 || (a->outer_bytes > SNAP_ENCAP_BYTES_MAX))
		return -1;
	if (is_paused_otherwise(c->s, a->port, m))
		return -RSVP_REFUSE_CLASS;
	way->buffer = n->buffer;
	if (a->zone)
		return route_server(c, m, a->zone, way);
	if (ipv6_equal(&m->session.dst.v6, &c->s->loopback))
		return route_here(c, m, way);
	if (m->send_ttl <= 1)
		return -RSVP_REFUSE_HOPS;
	if (!a->outer && rsvp_server_at(c->s, VRF_UNDERLAY, &m->session.dst))
		return to_server(c->s, rsvp_server_at(c->s, VRF_UNDERLAY, &m->session.dst), m, way);
	x = carrier_of(a);
	if (!x || !rsvp_egress_of(c, x, &m->sender, &m->session.dst, way)) {
		free(x);
		return -RSVP_REFUSE_ROUTE;
	}
	way->carrier = (uint64_t)(uintptr_t)x;
	return RSVP_TRANSIT;
}

bool rsvp_has_moved(void *arg, const struct rsvp_path *p, struct rsvp_way *way)
{
	struct rsvp_carrier *x = (struct rsvp_carrier *)(uintptr_t)rsvp_path_carrier(p);
	struct rsvp_path_view v;
	uint32_t before;

	if (!x || x->own || x->bytes || way->zone)
		return false;
	before = x->next;
	rsvp_path_show(p, &v);
	return rsvp_egress_of(arg, x, &v.sender, &v.session.dst, way) && (way->port != v.port || x->next != before);
}
