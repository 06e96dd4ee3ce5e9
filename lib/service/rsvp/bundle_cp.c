/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bundles (RFC 2961 section 3; docs/credit.md 1.10): the messages of one pass to a neighbour that takes part in Refresh
 * Reduction go in one packet. Nothing is held longer than the pass. Control lcore.
 */
#include "node/control_send.h"
#include "service/rsvp/rsvp_packet.h"

#define HEADERS sizeof(struct ipv6_hdr)

/* A packet for one hop: a message, or a Bundle. */
bool rsvp_send_packet(struct control_role *c, uint16_t zone, const struct ip_addr *to, uint8_t hop_limit,
	const void *message, size_t bytes)
{
	struct ip_addr from = rsvp_own_towards(c, zone, to);
	uint8_t packet[HEADERS + RSVP_PACKET_MAX];
	struct rte_mbuf *m = control_packet(c, packet,
		rsvp_put_packet(packet, &from, to, hop_limit, false, message, bytes));

	if (m)
		send_in(c, zone, to->family, m);
	return m;
}

/* A single message goes without the header of a Bundle. */
static void send(struct control_role *c, struct rsvp_parcel *x)
{
	struct rsvp_service_stats *s = &rsvp_of(c)->stats;
	bool alone = x->messages == 1;
	size_t bytes = rsvp_bundle_end(&x->bundle, UINT8_MAX);
	const uint8_t *at = x->bytes + (alone ? sizeof(struct rsvp_hdr) : 0);

	if (!rsvp_send_packet(c, x->zone, &x->to, UINT8_MAX, at, alone ? bytes - sizeof(struct rsvp_hdr) : bytes))
		stat_add(&s->unsent, x->messages);
	else if (!alone)
		stat_add(&s->bundles, 1);
	x->messages = 0;
}

void rsvp_bundles_flush(struct control_role *c)
{
	struct rsvp_control *r = rsvp_of(c);

	for (; r->parcels; r->parcels--)
		send(c, &r->parcel[r->parcels - 1]);
}

/* No packet is larger than a link of the domain takes, or that of the server. */
static size_t room_of(const struct snapshot *s, uint16_t zone)
{
	const struct snap_interface *link = rsvp_link_of(s, zone);
	size_t least = RSVP_PACKET_MAX + HEADERS;

	for (uint32_t i = 0; !link && i < s->n_ports; i++)
		if (s->port[i].side == SIDE_WAN)
			least = MIN_OF(least, s->port[i].mtu);
	return (link ? MIN_OF(least, link->mtu) : least) - HEADERS;
}

static struct rsvp_parcel *parcel_to(struct control_role *c, uint16_t zone, const struct ip_addr *to)
{
	struct rsvp_control *r = rsvp_of(c);
	struct rsvp_parcel *x;

	for (unsigned int i = 0; i < r->parcels; i++)
		if (r->parcel[i].zone == zone && ip_addr_equal(&r->parcel[i].to, to))
			return &r->parcel[i];
	if (r->parcels == RSVP_PARCELS)
		rsvp_bundles_flush(c);
	x = &r->parcel[r->parcels++];
	x->to = *to;
	x->zone = zone;
	x->messages = 0;
	return x;
}

bool rsvp_bundle_put(struct control_role *c, uint16_t zone, const struct ip_addr *to, const void *message, size_t bytes)
{
	size_t room = room_of(c->s, zone);
	struct rsvp_parcel *x;

	if (bytes + sizeof(struct rsvp_hdr) > room)
		return false;
	x = parcel_to(c, zone, to);
	if (x->messages && rsvp_bundle_add(&x->bundle, message, bytes)) {
		x->messages++;
		return true;
	}
	if (x->messages)
		send(c, x);
	rsvp_bundle_begin(&x->bundle, x->bytes, room);
	x->messages = rsvp_bundle_add(&x->bundle, message, bytes);
	return x->messages;
}
