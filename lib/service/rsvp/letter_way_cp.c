/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways of letter mode: next hops of a route, one by one, and servers; sessions that begin here. Control lcore. */
#include <stdlib.h>

#include "node/control_send.h"
#include "service/rsvp/rsvp_packet.h"
#include "wire/udp.h"

#define FIRST_PORT 0xc000 /* of SENDER_TEMPLATE: the range from which RoCEv2 takes its UDP source ports */

target_t letter_look_up(const struct snapshot *s, const struct ip_addr *to)
{
	const struct snap_vrf *vrf = &s->vrf[VRF_UNDERLAY];

	return to->family == 4 ? fib_lookup4(vrf->v4, ip_addr_v4(to)) : fib_lookup6(vrf->v6, &to->v6);
}

const struct snap_neigh *letter_neigh_of(const struct snapshot *s, target_t t)
{
	return target_kind(t) == TARGET_NEIGH ? &s->neigh[target_index(t)] : NULL;
}

target_t letter_member_of(const struct snapshot *s, target_t t, unsigned int i)
{
	if (target_kind(t) != TARGET_GROUP)
		return i ? 0 : t;
	return i < s->group[target_index(t)].n ? s->group[target_index(t)].member[i] : 0;
}

void letter_send_next(struct control_role *c, const struct rsvp_carrier *x, const struct ip_addr *to,
	struct rte_mbuf *m)
{
	target_t t = letter_look_up(c->s, to), member;

	for (unsigned int i = 0; (member = letter_member_of(c->s, t, i)); i++) {
		const struct snap_neigh *n = letter_neigh_of(c->s, member);

		if (n && ip_addr_equal(&n->addr, &x->next_hop)) {
			control_send_to_next_hop(c, m, to->family, target_index(member));
			return;
		}
	}
	control_send_routed(c, m, VRF_UNDERLAY);
}

bool letter_put_way(struct letter_route *out, const struct snap_interface *in, uint16_t zone,
	const struct ip_addr *here, const struct ip_addr *next_hop)
{
	struct rsvp_carrier *x;

	if (out->branches == LETTER_BRANCHES_MAX)
		return true;
	x = calloc(1, sizeof(*x));
	if (!x)
		return false;
	x->next = PKT_NEIGH_LINK;
	if (next_hop)
		x->next_hop = *next_hop;
	out->way[out->branches++] = (struct rsvp_way){.here = *here,
		.zone = zone,
		.port = snap_interface_of(in->interface),
		.carrier = (uint64_t)(uintptr_t)x,
		.rate_bps = in->speed_bps ? in->speed_bps : UINT64_MAX,
		.delay_us = UINT32_MAX};
	return true;
}

int letter_route_to_server(const struct control_role *c, const struct snap_rsvp_neighbor *n, struct letter_route *out)
{
	const struct snap_interface *in = rsvp_link_of(c->s, n->zone);

	return in && n->letter && letter_put_way(out, in, n->zone, &n->own, NULL) ? 0 : -RSVP_REFUSE_ROUTE;
}

struct letter_session *letter_begin(struct control_role *c, const struct snap_rsvp_session *s)
{
	struct rsvp_control *r = rsvp_of(c);
	const struct snap_rsvp_neighbor *n = rsvp_permitted(&c->s->credit, s->zone, &s->to);
	const struct snap_interface *in = rsvp_link_of(c->s, s->zone);
	struct rsvp_session session = {.dst = s->to, .protocol = IP_PROTO_UDP, .port = UDP_PORT_ROCEV2};
	struct rsvp_sender sender = {.src = n->own, .port = FIRST_PORT + (r->labels++ & 0x3fff)};
	struct letter_route out = {.branches = 0};
	struct letter_session *opened;
	struct rsvp_carrier *x;

	if (letter_route_to_server(c, n, &out) < 0)
		return NULL;
	x = (struct rsvp_carrier *)(uintptr_t)out.way[0].carrier;
	x->own = true;
	snprintf(x->session, sizeof(x->session), "%s", s->name);
	snprintf(x->path, sizeof(x->path), "%s", in->name);
	opened = letter_open(r->letter, c->now, &session, &sender, &s->tspec, out.way, out.branches);
	if (!opened)
		free(x);
	return opened;
}
