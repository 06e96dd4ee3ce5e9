/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions with neighbours that speak by the letter of the draft (docs/credit.md 2.4): their messages go natively, with IPv6 or
 * IPv4, to every next hop of a route. Control lcore.
 */
#include <stdlib.h>

#include "node/control_send.h"
#include "service/rsvp/rsvp_packet.h"

/* --- messages --- */

/* A message along the way is signed for the next hop, if that is known; its answers are those of a neighbour. */
static void send(void *arg, const struct rsvp_way *way, struct rsvp_message *m)
{
	struct control_role *c = arg;
	struct rsvp_control *r = rsvp_of(c);
	const struct rsvp_carrier *x = (const struct rsvp_carrier *)(uintptr_t)way->carrier;
	const struct ip_addr *to = way->along && x && x->next_hop.family ? &x->next_hop : &way->to;
	struct rsvp_neighbor *n = rsvp_neighbor_of(r, way->zone, to);

	if (n && n->letter)
		rsvp_send_as(c, way, m, rsvp_auth_of(r, n), &c->s->credit.letter_numbers);
	else
		stat_add(&r->stats.unsent, 1);
}

/* --- ways --- */

static bool is_letter(const struct control_role *c, uint16_t zone, const struct ip_addr *addr)
{
	const struct snap_rsvp_neighbor *n = rsvp_permitted(&c->s->credit, zone, addr);

	return n && n->letter;
}

/* Every next hop of the route that speaks by the letter (D12): the others would not understand the message. */
static int route_on(const struct control_role *c, const struct rsvp_message *m, struct letter_route *out)
{
	target_t t = letter_look_up(c->s, &m->session.dst), member;

	for (unsigned int i = 0; (member = letter_member_of(c->s, t, i)); i++) {
		const struct snap_neigh *n = letter_neigh_of(c->s, member);
		const struct ip_addr *next = n ? &n->addr : &m->session.dst;
		const struct snap_interface *in = n ? snap_interface(c->s, n->interface)
						  : target_kind(member) == TARGET_LINK
							  ? snap_interface(c->s, target_index(member))
							  : NULL;
		struct ip_addr here = rsvp_own_towards((void *)(uintptr_t)c, 0, next);

		if (in && is_letter(c, 0, next) && !letter_put_way(out, in, 0, &here, next))
			return -RSVP_REFUSE_ROUTE;
	}
	return out->branches ? 0 : -RSVP_REFUSE_ROUTE;
}

static bool is_own(const struct snapshot *s, const struct ip_addr *addr)
{
	return target_kind(letter_look_up(s, addr)) == TARGET_LOCAL;
}

/* From a server: to another one here, or along the session that carries its data on. */
static int route_server(const struct control_role *c, const struct rsvp_message *m, struct letter_route *out)
{
	const struct snap_interface *in = rsvp_link_of(c->s, m->zone);
	const struct snap_rsvp_neighbor *other = in ? rsvp_server_at(c->s, in->vrf, &m->session.dst) : NULL;

	if (other && other->zone == m->zone)
		return -RSVP_REFUSE_ROUTE;
	if (other)
		return m->send_ttl > 1 ? letter_route_to_server(c, other, out) : -RSVP_REFUSE_HOPS;
	out->role = RSVP_FAR;
	out->joined = true;
	return rsvp_session_towards(c->s, m->zone, &m->session.dst, RSVP_CLASS_ALL) ? 0 : -RSVP_REFUSE_ROUTE;
}

static int route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct letter_route *out)
{
	const struct control_role *c = arg;
	const struct snap_credit *s = &c->s->credit;
	const struct snap_rsvp_neighbor *n = rsvp_permitted(s, m->zone, &m->hop.addr), *server;
	int refused;

	(void)arrival;
	if (!n || !n->letter)
		return -1;
	out->role = RSVP_TRANSIT;
	out->bytes = (uint64_t)n->buffer << s->config.unit;
	if (m->zone)
		return route_server(c, m, out);
	if (is_own(c->s, &m->session.dst)) {
		out->role = RSVP_FAR;
		out->joined = rsvp_joined_by(s, &m->sender.src);
		return rsvp_accepted(s, &m->sender.src) ? 0 : -1;
	}
	if (m->send_ttl <= 1)
		return -RSVP_REFUSE_HOPS;
	server = rsvp_server_at(c->s, VRF_UNDERLAY, &m->session.dst);
	refused = server ? letter_route_to_server(c, server, out) : route_on(c, m, out);
	for (unsigned int i = 0; refused && i < out->branches; i++)
		free((void *)(uintptr_t)out->way[i].carrier);
	return refused;
}

static bool carried(void *arg, uint16_t zone, const struct rsvp_session *session, const struct rsvp_sender *sender)
{
	const struct control_role *c = arg;
	const struct snap_rsvp_session *s = zone ? rsvp_session_towards(c->s, zone, &session->dst, RSVP_CLASS_ALL)
						 : rsvp_joined_by(&c->s->credit, &sender->src);
	const struct rsvp_own *o = s ? rsvp_own_of(rsvp_of(c), s->name) : NULL;

	return o && (o->instance ? rsvp_current(o->instance) != NULL : o->carry.on);
}

/* --- the pool is that of all sessions --- */

static bool take(void *arg, uint64_t bytes)
{
	const struct control_role *c = arg;

	return rsvp_lend(rsvp_of(c)->machines, bytes >> c->s->credit.config.unit);
}

static void give(void *arg, uint64_t bytes)
{
	const struct control_role *c = arg;

	rsvp_return(rsvp_of(c)->machines, bytes >> c->s->credit.config.unit);
}

/* --- what users see --- */

static struct rsvp_row *row_of(struct rsvp_control *r, const struct letter_session *s)
{
	return &r->row[r->paths + letter_slot(s)];
}

static const struct rsvp_carrier *carrier_of(const struct letter_session *s)
{
	const struct rsvp_way *way = letter_way_of(s);

	return way ? (const struct rsvp_carrier *)(uintptr_t)way->carrier : NULL;
}

static void changed(void *arg, const struct letter_session *s, bool on)
{
	struct control_role *c = arg;
	const struct rsvp_carrier *x = carrier_of(s);
	struct rsvp_event e = {.kind = on ? RSVP_EVENT_UP : RSVP_EVENT_DOWN};
	struct rsvp_own *o;

	if (!x || !x->own)
		return;
	o = rsvp_own_of(rsvp_of(c), x->session);
	if (o && o->letter == s) {
		rsvp_carry_set(rsvp_of(c)->machines, c->now, &o->carry, on);
		rsvp_of(c)->carries = true;
	}
	memcpy(e.session, x->session, sizeof(e.session));
	memcpy(e.path, x->path, sizeof(e.path));
	letter_show(s, &e.view);
	rsvp_post(c, &e);
}

static void shown(void *arg, const struct letter_session *s)
{
	struct control_role *c = arg;
	struct rsvp_row *row = row_of(rsvp_of(c), s);
	const struct rsvp_carrier *x = carrier_of(s);
	struct rsvp_path_view before = row->view;
	bool fresh = !row->used;

	rsvp_row_begin(row);
	row->used = true;
	letter_show(s, &row->view);
	if (x || fresh) {
		memcpy(row->session, x ? x->session : "", x ? sizeof(row->session) : 1);
		memcpy(row->path, x ? x->path : "", x ? sizeof(row->path) : 1);
	}
	if (fresh || before.grantor != row->view.grantor || before.user != row->view.user)
		row->since_ns = c->now;
	rsvp_row_end(row);
}

/* Of a way its carrier ends; without one, the session's row. */
static void gone(void *arg, const struct letter_session *s, const struct rsvp_way *way)
{
	struct control_role *c = arg;
	struct rsvp_row *row;

	if (way) {
		free((void *)(uintptr_t)way->carrier);
		return;
	}
	row = row_of(rsvp_of(c), s);
	rsvp_row_begin(row);
	row->used = false;
	memset(&row->view, 0, sizeof(row->view));
	rsvp_row_end(row);
}

const struct letter_ops rsvp_letter_ops = {.send = send,
	.route = route,
	.own = rsvp_own_towards,
	.carried = carried,
	.take = take,
	.give = give,
	.changed = changed,
	.shown = shown,
	.silent = rsvp_neighbor_silent,
	.gone = gone};
