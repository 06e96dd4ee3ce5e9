/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises RSVP messages that this node must see although they are not addressed to it (docs/credit.md 1.1 and 2.3):
 * with router alert, natively or inside an SRv6 tunnel whose next SID is here. Only packets of the control class on the
 * side of the domain come here, so data pays nothing. rx lcores.
 */
#include "classify/classify_priv.h"
#include "rsvp/rsvp_message.h"
#include "wire/checksum.h"

#define OPTION_PAD1 0
#define OPTION_ROUTER_ALERT 5 /* RFC 2711 */
#define ROUTER_ALERT_RSVP 1

/* Does a hop-by-hop header of `bytes` bytes have router alert for RSVP? */
static bool has_alert(const uint8_t *header, uint32_t bytes)
{
	for (uint32_t i = 2; i + 2 <= bytes;) {
		if (header[i] == OPTION_PAD1) {
			i++;
			continue;
		}
		if (header[i] == OPTION_ROUTER_ALERT && header[i + 1] == 2 && i + 4 <= bytes)
			return header[i + 2] == 0 && header[i + 3] == ROUTER_ALERT_RSVP;
		i += 2u + header[i + 1];
	}
	return false;
}

/* Is there, at `at`, an IPv6 header with router alert for RSVP, and RSVP behind it? `end`: readable bytes. */
static bool is_alert(const uint8_t *frame, uint32_t at, uint32_t end)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(frame + at);
	uint32_t options = at + sizeof(*ip), bytes;

	if (options + 8 > end || (ip->vtc_flow.b[0] & 0xf0) != 0x60 || ip->next_header != IP_PROTO_HOPOPTS)
		return false;
	bytes = 8u * (frame[options + 1] + 1u);
	return options + bytes <= end && frame[options] == RSVP_PROTOCOL && has_alert(frame + options, bytes);
}

static void punt(struct walk *w, uint32_t inner)
{
	w->x->srh = (uint16_t)inner;
	classify_punt(w, PUNT_RSVP);
}

/* In a tunnel whose next SID is here. The SID is executed when the message goes on. */
static bool in_tunnel(struct walk *w, uint32_t at, const struct snap_sid *sid)
{
	struct srv6_packet p = classify_packet_at(w, at);
	struct srv6_error e;

	if (!srv6_walk(&p) || p.upper_type != IP_PROTO_IPV6 || !is_alert(w->frame, p.upper, p.readable))
		return false;
	if (sid->hmac && !classify_proven(w, sid, &p, &e))
		classify_drop_for(w, &e);
	else
		punt(w, p.upper);
	return true;
}

bool classify_alerts(struct walk *w, uint32_t at)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)w->frame;
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(w->frame + at);
	uint32_t bytes = sizeof(*ip) + be16_get(ip->payload_length);
	target_t t;

	if (!w->s->credit.on || w->in->circuit || w->x->vrf != VRF_UNDERLAY || !eth_equal(&eth->dst, &w->in->mac) ||
		at + bytes > w->frame_bytes)
		return false;
	w->x->strip = (uint16_t)at;
	w->x->l3_bytes = (uint16_t)MIN_OF(bytes, UINT16_MAX);
	w->x->family = 6;
	t = classify_lookup6(w->s, VRF_UNDERLAY, ipv6_hi(&ip->dst), ipv6_lo(&ip->dst));
	if (target_kind(t) == TARGET_SID)
		return in_tunnel(w, at, &w->s->sid[target_index(t)]);
	if (target_kind(t) == TARGET_LOCAL || !is_alert(w->frame, at, MIN_OF(w->readable, at + bytes)))
		return false; /* one to an own address is delivered */
	punt(w, 0);
	return true;
}

/* Is the address one of the servers that are heard on that link? They are sorted by zone and address. */
static bool is_server_at(const struct walk *w, uint64_t hi, uint64_t lo)
{
	const struct snap_rsvp_server key = {.hi = hi, .lo = lo, .zone = (uint16_t)(w->in->interface + 1)};
	const struct snap_credit *s = &w->s->credit;
	uint32_t low = 0, high = s->n_servers;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const struct snap_rsvp_server *x = &s->server[middle];

		if (x->zone == key.zone && x->hi == key.hi && x->lo == key.lo)
			return true;
		if (x->zone < key.zone ||
			(x->zone == key.zone && (x->hi < key.hi || (x->hi == key.hi && x->lo < key.lo))))
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static bool is_server(const struct walk *w, const struct ipv6_addr *src)
{
	return is_server_at(w, ipv6_hi(src), ipv6_lo(src));
}

/*
 * A native message along a path that a server sends (docs/credit.md 2.3). What other stations of its link send with router
 * alert is data.
 */
bool classify_from_server(struct walk *w, uint32_t at)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)w->frame;
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(w->frame + at);
	uint32_t bytes;

	if (w->in->circuit || w->readable < at + sizeof(*ip) || ipv6_tc(ip) >> 2 < DSCP_NETWORK_CONTROL ||
		!is_server(w, &ip->src))
		return false;
	bytes = sizeof(*ip) + be16_get(ip->payload_length);
	if (!eth_equal(&eth->dst, &w->in->mac) || at + bytes > w->frame_bytes ||
		!is_alert(w->frame, at, MIN_OF(w->readable, at + bytes)) ||
		target_kind(classify_lookup6(w->s, w->x->vrf, ipv6_hi(&ip->dst), ipv6_lo(&ip->dst))) == TARGET_LOCAL)
		return false; /* one to an own address is delivered */
	w->x->strip = (uint16_t)at;
	w->x->l3_bytes = (uint16_t)MIN_OF(bytes, UINT16_MAX);
	w->x->family = 6;
	punt(w, 0);
	return true;
}

/* RSVP to an own address is heard from the domain, and from servers: no other tenant speaks to the nodes of the underlay. */
bool classify_is_rsvp(const struct walk *w, const struct srv6_packet *p)
{
	if (!w->s->credit.on || p->upper_type != RSVP_PROTOCOL || !w->in)
		return false;
	if (w->in->side == SIDE_WAN)
		return w->x->vrf == VRF_UNDERLAY;
	return is_server(w, &((const struct ipv6_hdr *)(w->frame + p->at))->src);
}

/* --- IPv4: letter mode only --- */

/* From the domain, or from a server of the link. */
static bool is_heard4(const struct walk *w, const struct ipv4_hdr *ip)
{
	if (!w->s->credit.on || !w->s->credit.n_letters4 || !w->in || w->rounds || ip->protocol != RSVP_PROTOCOL)
		return false;
	if (w->in->side == SIDE_WAN)
		return w->x->vrf == VRF_UNDERLAY && ip->tos >> 2 >= DSCP_NETWORK_CONTROL;
	return is_server_at(w, 0, be32_get(ip->src));
}

static bool has_alert4(const struct ipv4_hdr *ip, uint32_t bytes)
{
	const uint8_t *option = (const uint8_t *)ip;

	for (uint32_t i = sizeof(*ip); i < bytes && option[i];) {
		if (option[i] == 1) { /* no operation */
			i++;
			continue;
		}
		if (i + 2 > bytes || option[i + 1] < 2)
			return false;
		if (option[i] == IPV4_OPTION_RALERT)
			return true;
		i += option[i + 1];
	}
	return false;
}

bool classify_alerts4(struct walk *w, uint32_t at)
{
	const struct ipv4_hdr *ip = (const struct ipv4_hdr *)(w->frame + at);
	uint32_t header = ipv4_header_bytes(ip), bytes = be16_get(ip->total_length);

	if (!is_heard4(w, ip) || at + header > w->readable || at + bytes > w->frame_bytes)
		return false;
	if (be16_get(ip->fragment) & (IPV4_MF | IPV4_OFFSET_MASK) || !has_alert4(ip, header) ||
		be16_get(checksum_ipv4(ip)) != be16_get(ip->checksum))
		return false;
	w->x->strip = (uint16_t)at;
	w->x->l3_bytes = (uint16_t)bytes;
	w->x->family = 4;
	punt(w, 0);
	return true;
}

bool classify_is_rsvp4(const struct walk *w, const struct ipv4_hdr *ip)
{
	return is_heard4(w, ip) && !(be16_get(ip->fragment) & (IPV4_MF | IPV4_OFFSET_MASK));
}
