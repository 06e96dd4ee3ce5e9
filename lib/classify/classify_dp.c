/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classifies a frame in the order of its headers: Ethernet, VLAN, IP, destination lookup; then by the result of the
 * lookup: next hop, SRv6 policy, local SID, or the node itself. rx lcores; the control lcore for packets that it
 * creates.
 */
#include "classify/classify.h"

#include "classify/classify_priv.h"
#include "classify/vlan.h"
#include "srv6/endpoint.h"
#include "wire/checksum.h"
#include "wire/icmp.h"

/* Maximum of local SIDs that one packet may visit, decapsulations included: more is a loop or an attack. */
#define ROUNDS_MAX 8

/*
 * So many frames of a burst the express lane looks at before it gives the burst up, if the burst before was not for it
 * either: traffic of another form pays for few looks, and traffic beside it keeps the lane, whatever its share.
 */
#define LANE_LOOKS 2

/* Classify the IP packet at offset `at`: look it up in pkt.vrf, or send it over `via` unless that is 0. */
static void classify_ip4(struct walk *w, uint32_t at, target_t via);
static void classify_ip6(struct walk *w, uint32_t at, target_t via);

/* Any result of the lookup except a plain next hop. */
static __attribute__((noinline)) NO_CANARY void classify_go_another_way(struct walk *w, target_t t, uint32_t bytes)
{
	switch (target_kind(t)) {
	case TARGET_LINK:
		classify_leave(w, t, bytes);
		return;
	case TARGET_GROUP:
		classify_leave(w, classify_member_of(w, t), bytes);
		return;
	case TARGET_POLICY:
		classify_encap(w, &w->s->policy[target_index(t)]);
		return;
	default:
		classify_error(w, DROP_no_route, ICMP6_UNREACHABLE, ICMP6_UNREACH_NO_ROUTE, 0);
	}
}

/* Forward a packet to the result of its lookup. The hop limit was already dealt with. */
static inline void classify_go_on(struct walk *w, target_t t, uint32_t bytes)
{
	if (likely(target_kind(t) == TARGET_NEIGH))
		classify_leave(w, t, bytes);
	else
		classify_go_another_way(w, t, bytes);
}

/* Forward a packet that no local SID processed: plain IP forwarding. */
static inline void classify_transit(struct walk *w, target_t t, uint8_t hop_limit)
{
	if (w->in || w->rounds) {
		if (unlikely(hop_limit <= 1)) {
			classify_error(w, DROP_hop_limit, ICMP6_TIME_EXCEEDED, 0, 0);
			return;
		}
		w->x->hops = 1;
	}
	classify_go_on(w, t, w->x->l3_bytes);
}

static void classify_punt_rsvp(struct walk *w)
{
	w->x->srh = 0;
	classify_punt(w, PUNT_RSVP);
}

static void classify_deliver(struct walk *w)
{
	classify_punt(w, PUNT_LOCAL);
}

/* Deliver a packet to an own address. BFD has a kind of its own, so that no other packets to the node delay it. */
static void classify_deliver_upper(struct walk *w)
{
	classify_punt(w, classify_is_bfd(w) ? PUNT_BFD : PUNT_LOCAL);
}

/* Decapsulate: continue with the inner packet. */
static void classify_decap(struct walk *w, const struct snap_sid *sid, const struct srv6_packet *p, bool to_adjacency)
{
	const struct ipv6_hdr *outer = (const struct ipv6_hdr *)(w->frame + p->at);
	const uint8_t *inner = w->frame + p->upper;
	bool six = p->upper_type == IP_PROTO_IPV6;
	uint8_t tos, outer_tos;

	if (p->upper + (six ? sizeof(struct ipv6_hdr) : sizeof(struct ipv4_hdr)) > p->readable) {
		classify_drop(w, p->at + w->x->l3_bytes > w->readable ? DROP_headers_split : DROP_truncated);
		return;
	}
	tos = six ? ipv6_tc((const struct ipv6_hdr *)inner) : ((const struct ipv4_hdr *)inner)->tos;
	/* what dscp-in or the decapsulation of an enclosing tunnel has changed is not in the frame yet */
	outer_tos = w->x->ops & PKT_OP_TOS ? w->x->tos : ipv6_tc(outer);
	w->x->ops = 0;
	w->x->hops = 0;
	w->x->hash = 0;
	w->x->vrf = sid->vrf;
	w->x->tclass = sid->tclass_of[w->x->tclass];
	if (!classify_combine_ecn(w, outer_tos, tos)) {
		classify_drop(w, DROP_ecn_ce_not_ect);
		return;
	}
	if (unlikely(sid->dscp_of))
		classify_copy_dscp(w, sid, outer_tos, tos);
	/* the length of the outer packet, not of the frame, limits the inner packet */
	w->frame_bytes = MIN_OF(w->frame_bytes, p->at + sizeof(*outer) + be16_get(outer->payload_length));
	if (six)
		classify_ip6(w, p->upper, to_adjacency ? sid->adjacency : 0);
	else
		classify_ip4(w, p->upper, to_adjacency ? sid->adjacency : 0);
}

static inline void classify_count_sid(struct walk *w, uint32_t sid)
{
	struct sid_counter *counter = &w->c->sids[sid];

	stat_add(&counter->packets, 1);
	stat_add(&counter->bytes, w->frame_bytes);
	w->x->sid = sid;
}

static inline void classify_set_slice(struct walk *w, const struct snap_sid *sid)
{
	if (unlikely(sid->slice != SNAP_SLICE_KEEP))
		w->x->slice = sid->slice;
}

/* Deliver a packet to an own address that is no SID, after the checks of RFC 8754 section 4.3.2. */
static void classify_deliver6(struct walk *w, struct srv6_packet *p)
{
	struct srv6_error e;
	uint32_t routing;

	if (!srv6_walk(p)) {
		classify_drop(w, p->failure);
		return;
	}
	if (srv6_bad_option(p, &e)) {
		classify_drop_for(w, &e);
		return;
	}
	if ((p->srh && p->segments_left) || p->foreign_routing_left) {
		routing = p->srh && p->segments_left ? p->srh : p->foreign_routing;
		classify_error(w, DROP_routing_type, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_HEADER_FIELD,
			routing - p->at + 2);
		return;
	}
	if (unlikely(w->s->n_relays) && classify_is_state(w, p))
		classify_punt(w, PUNT_PFC_STATE);
	else if (unlikely(classify_is_rsvp(w, p)))
		classify_punt_rsvp(w);
	else
		classify_deliver_upper(w);
}

static __attribute__((noinline)) void classify_local6(struct walk *w, uint32_t at)
{
	struct srv6_packet p = classify_packet_at(w, at);

	classify_deliver6(w, &p);
}

/* Count a visit of a local SID. Returns NULL when the packet was dropped because it visited too many. */
static inline const struct snap_sid *classify_visit(struct walk *w, uint32_t id)
{
	const struct snap_sid *sid = &w->s->sid[id];

	if (unlikely(++w->rounds > ROUNDS_MAX)) {
		classify_drop(w, DROP_sid_loop);
		return NULL;
	}
	classify_count_sid(w, id);
	classify_set_slice(w, sid);
	return sid;
}

/* The complete case: execute any local SID, and the following SIDs as long as they are local too. */
static __attribute__((noinline)) NO_CANARY void classify_srv6_any(struct walk *w, uint32_t at,
	const struct snap_sid *sid, uint64_t hi, uint64_t lo, uint8_t hops)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(w->frame + at);
	struct srv6_packet p = classify_packet_at(w, at);
	struct srv6_change change = {0};
	struct srv6_error e;
	enum srv6_next next;
	struct pkt *x = w->x;
	uint32_t bytes = x->l3_bytes;
	target_t t;

	p.da_hi = hi;
	p.da_lo = lo;
	p.hop_limit = (uint8_t)(ip->hop_limit - hops);
	for (;;) {
		if (unlikely(sid->hmac) && !classify_proven(w, sid, &p, &e)) {
			classify_drop_for(w, &e);
			return;
		}
		if (unlikely(sid->slice_by))
			classify_told_slice(w, sid, &p, &x->slice);
		next = srv6_endpoint(sid, &p, &change, &e);
		t = sid->adjacency;
		if (next == SRV6_LOOKUP)
			t = classify_lookup6(w->s, sid->vrf, p.da_hi, p.da_lo);
		if (next != SRV6_LOOKUP || target_kind(t) != TARGET_SID)
			break;
		sid = classify_visit(w, target_index(t));
		if (!sid)
			return;
	}

	x->ops |= PKT_OP_DA;
	x->da = ipv6_from(p.da_hi, p.da_lo);
	switch (next) {
	case SRV6_LOOKUP:
	case SRV6_ADJACENCY:
		x->hops = (uint8_t)(ip->hop_limit - p.hop_limit);
		if (change.segments_left) {
			x->ops |= PKT_OP_SL;
			x->srh = change.srh_at;
			x->segments_left = p.segments_left;
			bytes -= classify_spent_srh(x, &change);
		}
		if (change.pop_srh) {
			x->ops |= PKT_OP_POP_SRH;
			bytes -= p.srh_bytes;
		}
		if (unlikely(target_kind(t) == TARGET_LOCAL))
			classify_deliver6(w, &p);
		else
			classify_go_on(w, t, bytes);
		return;
	case SRV6_DECAP:
	case SRV6_DECAP_ADJACENCY:
		classify_decap(w, sid, &p, next == SRV6_DECAP_ADJACENCY);
		return;
	case SRV6_DECAP_FRAME:
		classify_decap_frame(w, sid, &p);
		return;
	case SRV6_PFC:
		classify_punt_pfc(w, sid, &p);
		return;
	case SRV6_DELIVER:
		classify_deliver(w);
		return;
	case SRV6_DROP:
		classify_drop_for(w, &e);
		return;
	}
}

/*
 * Execute a local SID. The common case, a uSID followed by another uSID, needs only the destination and no struct
 * srv6_packet: shift and forward. All other cases go to classify_srv6_any.
 */
static inline void classify_srv6(struct walk *w, uint32_t at, target_t t, uint64_t hi, uint64_t lo)
{
	uint8_t hop_limit = ((const struct ipv6_hdr *)(w->frame + at))->hop_limit, hops = 0;
	const struct snap_sid *sid;

	do {
		sid = classify_visit(w, target_index(t));
		if (unlikely(!sid))
			return;
		if (!srv6_has_argument(sid, hi, lo) || unlikely(sid->closer || hop_limit <= hops + 1)) {
			classify_srv6_any(w, at, sid, hi, lo, hops);
			return;
		}
		hops++;
		srv6_shift32(sid, &hi, &lo);
		t = sid->adjacency ? sid->adjacency : classify_lookup6(w->s, sid->vrf, hi, lo);
	} while (target_kind(t) == TARGET_SID);

	w->x->ops |= PKT_OP_DA;
	w->x->da = ipv6_from(hi, lo);
	w->x->hops = hops;
	if (likely(target_kind(t) != TARGET_LOCAL))
		classify_go_on(w, t, w->x->l3_bytes);
	else
		classify_local6(w, at);
}

static bool classify_own_address(const struct snap_interface *in, const struct ip_addr *a)
{
	for (unsigned int i = 0; i < in->n_own; i++)
		if (ip_addr_equal(&in->own[i].addr, a))
			return true;
	return false;
}

static bool classify_is_nd(struct walk *w, uint32_t at, uint8_t next_header)
{
	const struct icmp_hdr *icmp = (const struct icmp_hdr *)(w->frame + at + sizeof(struct ipv6_hdr));

	return next_header == IP_PROTO_ICMP6 && at + sizeof(struct ipv6_hdr) + sizeof(*icmp) <= w->readable &&
	       icmp->type >= ICMP6_ROUTER_SOLICIT && icmp->type <= ICMP6_REDIRECT;
}

/* A cheap test: can either address be a special one (multicast, link-local, loopback, own)? */
static inline bool classify_is_odd6(const struct snapshot *s, const struct ipv6_hdr *ip)
{
	return ip->dst.b[0] >= 0xfe || ip->src.b[0] >= 0xfe || !ip->src.b[0] || ipv6_equal(&ip->src, &s->loopback);
}

static bool classify_has_bad_source6(struct walk *w, const struct ipv6_addr *src)
{
	/* the unspecified address is valid in duplicate address detection (ND) only */
	if (ipv6_is_multicast(src) || ipv6_is_unspecified(src) || ipv6_is_loopback(src)) {
		classify_drop(w, DROP_ip_source);
		return true;
	}
	if (ipv6_equal(src, &w->s->loopback)) {
		classify_drop(w, DROP_own_source);
		return true;
	}
	return false;
}

/* Drop a packet whose source is an address of its ingress port. */
static inline bool classify_has_own_source6(struct walk *w, const struct ipv6_addr *src)
{
	struct ip_addr a;

	if (!w->in || likely(!(w->in->own6_hints >> (src->b[15] & 63) & 1)))
		return false;
	a = ip_addr_from6(src);
	if (!classify_own_address(w->in, &a))
		return false;
	if (!classify_takes_echo(w))
		classify_drop(w, DROP_own_source);
	return true;
}

/* Destinations that are never forwarded: multicast and link-local. Returns true when the verdict is written. */
static bool classify_special6(struct walk *w, uint32_t at, const struct ipv6_hdr *ip)
{
	struct ip_addr dst = ip_addr_from6(&ip->dst);

	if (ipv6_is_multicast(&ip->dst)) {
		if (classify_is_nd(w, at, ip->next_header) && w->in && w->rounds == 0)
			classify_punt(w, PUNT_ND);
		else
			classify_drop(w, DROP_multicast);
		return true;
	}
	if (ipv6_is_link_local(&ip->dst)) {
		if (!w->in || w->rounds || !classify_own_address(w->in, &dst))
			classify_drop(w, DROP_link_local);
		else if (classify_has_bad_source6(w, &ip->src) || classify_has_own_source6(w, &ip->src))
			return true;
		else if (classify_is_nd(w, at, ip->next_header))
			classify_punt(w, PUNT_ND);
		else
			classify_deliver_upper(w);
		return true;
	}
	return false;
}

/* A packet to an own address, as received or after decapsulation. */
static void classify_own6(struct walk *w, uint32_t at)
{
	if (!classify_is_nd(w, at, ((const struct ipv6_hdr *)(w->frame + at))->next_header))
		classify_local6(w, at);
	else if (w->rounds)
		classify_drop(w,
			DROP_nd_invalid); /* ND from inside a tunnel is not from the link, even if its hop limit is 255 */
	else
		classify_punt(w, PUNT_ND);
}

/* `arrived`: an untagged packet as received, at a constant offset; the compiler specialises this case. */
static inline __attribute__((always_inline)) void classify_walk6(struct walk *w, uint32_t at, target_t via,
	bool arrived)
{
	const struct snap_interface *in = w->in;
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(w->frame + at);
	uint64_t src_hi, src_lo, hi, lo;
	bool received = arrived || in, first = arrived || w->rounds == 0, odd;
	uint32_t bytes;
	target_t t;

	if (unlikely(at + sizeof(*ip) > w->readable)) {
		classify_drop(w, w->frame_bytes > w->readable ? DROP_headers_split : DROP_truncated);
		return;
	}
	if (unlikely((ip->vtc_flow.b[0] & 0xf0) != 0x60)) {
		classify_drop(w, DROP_ip_version);
		return;
	}
	bytes = sizeof(*ip) + be16_get(ip->payload_length);
	if (unlikely(at + bytes > w->frame_bytes)) {
		classify_drop(w, DROP_ip_length);
		return;
	}
	w->x->strip = (uint16_t)at;
	w->x->l3_bytes = (uint16_t)MIN_OF(bytes, UINT16_MAX); /* a packet of that length exceeds every MTU */
	w->x->family = 6;
	hi = ipv6_hi(&ip->dst);
	lo = ipv6_lo(&ip->dst);
	src_hi = ipv6_hi(&ip->src);
	src_lo = ipv6_lo(&ip->src);
	odd = unlikely(classify_is_odd6(w->s, ip));
	if (odd && ip->dst.b[0] >= 0xfe && classify_special6(w, at, ip))
		return;
	if (odd && received && classify_has_bad_source6(w, &ip->src))
		return;
	if (received && in->sids_closed && first && unlikely(snap_in_sid_space(w->s, hi, lo)) &&
		!classify_may_enter(w, at, hi, lo))
		return;
	t = unlikely(via) ? via : classify_lookup6(w->s, w->x->vrf, hi, lo);
	if (odd && received && ipv6_is_link_local(&ip->src) && target_kind(t) != TARGET_LOCAL) {
		classify_drop(w, DROP_link_local); /* not forwarded (RFC 4291 section 2.5.6) */
	} else if (likely(target_kind(t) == TARGET_SID)) {
		if (unlikely(!snap_is_infrastructure(w->s, src_hi, src_lo)) && !(received && in->any_source && first))
			classify_drop(w, DROP_boundary_source);
		else
			classify_srv6(w, at, t, hi, lo);
	} else if (classify_has_own_source6(w, &ip->src)) {
		return;
	} else if (unlikely(target_kind(t) == TARGET_LOCAL)) {
		classify_own6(w, at);
	} else if (unlikely(hi == 0 && lo <= 1)) {
		classify_drop(w, DROP_link_local); /* :: and ::1 (RFC 4291 sections 2.5.2 and 2.5.3) */
	} else if (received && in->sources_closed && first && unlikely(snap_is_infrastructure(w->s, src_hi, src_lo))) {
		classify_drop(w,
			DROP_boundary_source); /* other nodes of the domain would take it for an internal packet */
	} else {
		classify_transit(w, t, ip->hop_limit);
	}
}

static NO_CANARY void classify_ip6(struct walk *w, uint32_t at, target_t via)
{
	classify_walk6(w, at, via, false);
}

static bool classify_has_good_checksum4(const struct ipv4_hdr *ip)
{
	return be16_get(checksum_finish(checksum_add(0, ip, ipv4_header_bytes(ip)))) == 0;
}

static bool classify_has_bad_address4(struct walk *w, const struct ipv4_hdr *ip)
{
	uint32_t src = be32_get(ip->src), dst = be32_get(ip->dst);
	struct ip_addr from = ip_addr_from4(src);

	if (unlikely(ipv4_bad_source(src))) {
		classify_drop(w, DROP_ip_source);
	} else if (unlikely(w->in && classify_own_address(w->in, &from))) {
		if (!classify_takes_echo(w))
			classify_drop(w, DROP_own_source);
	} else if (unlikely(ipv4_is_multicast(dst) || dst == 0xffffffff)) {
		classify_drop(w, DROP_multicast);
	} else {
		return false;
	}
	return true;
}

static __attribute__((noinline)) void classify_deliver4(struct walk *w, const struct ipv4_hdr *ip)
{
	if (unlikely(classify_is_rsvp4(w, ip)))
		classify_punt_rsvp(w);
	else
		classify_deliver_upper(w);
}

static NO_CANARY void classify_ip4(struct walk *w, uint32_t at, target_t via)
{
	const struct ipv4_hdr *ip = (const struct ipv4_hdr *)(w->frame + at);
	uint32_t header, bytes;
	target_t t;

	if (unlikely(at + sizeof(*ip) > w->readable)) {
		classify_drop(w, w->frame_bytes > w->readable ? DROP_headers_split : DROP_truncated);
		return;
	}
	if (unlikely(ip->version_ihl >> 4 != 4)) {
		classify_drop(w, DROP_ip_version);
		return;
	}
	header = ipv4_header_bytes(ip);
	bytes = be16_get(ip->total_length);
	if (unlikely(header != sizeof(*ip) || bytes < header)) {
		if (header < sizeof(*ip) || bytes < header) {
			classify_drop(w, DROP_ip_header);
			return;
		}
		if (classify_alerts4(w, at))
			return;
	}
	if (unlikely(at + header > w->readable)) {
		classify_drop(w, w->frame_bytes > w->readable ? DROP_headers_split : DROP_truncated);
		return;
	}
	if (unlikely(at + bytes > w->frame_bytes)) {
		classify_drop(w, DROP_ip_length);
		return;
	}
	if (unlikely(!classify_has_good_checksum4(ip))) {
		classify_drop(w, DROP_ip_header);
		return;
	}
	w->x->strip = (uint16_t)at;
	w->x->l3_bytes = (uint16_t)bytes;
	w->x->family = 4;
	if (w->in && classify_has_bad_address4(w, ip))
		return;
	t = unlikely(via) ? via : fib_lookup4(snap_vrf_of(w->s, w->x->vrf)->v4, be32_get(ip->dst));
	if (unlikely(target_kind(t) == TARGET_LOCAL))
		classify_deliver4(w, ip);
	else if (unlikely(target_kind(t) == TARGET_BROADCAST))
		classify_drop(w, DROP_multicast);
	else if (unlikely(w->in && (ipv4_stays_on_link(be32_get(ip->src)) || ipv4_stays_on_link(be32_get(ip->dst)))))
		classify_drop(w, DROP_link_local);
	else
		classify_transit(w, t, ip->ttl);
}

/* Is the destination MAC the address of the port, or a group (for ND and ARP)? Else drops. */
static bool classify_for_us(struct walk *w, const struct eth_hdr *eth)
{
	if (likely(eth_equal(&eth->dst, &w->in->mac)))
		return true;
	if (!eth_is_multicast(&eth->dst)) {
		classify_drop(w, DROP_mac_not_ours);
		return false;
	}
	return true;
}

/* Classify the payload of a frame. `untagged`: the payload is at its usual, constant offset. */
static inline __attribute__((always_inline)) void classify_payload(struct walk *w, const struct eth_hdr *eth,
	uint16_t type, uint32_t at, bool untagged)
{
	if (unlikely(w->in->dscp_in))
		classify_map_dscp(w, type, at);
	/* a group frame may carry ARP and ND only; an IP unicast inside one is not forwarded (RFC 1812 4.2.3.1) */
	if (likely(type == ETH_TYPE_IPV6)) {
		if (untagged)
			classify_walk6(w, at, 0, true);
		else
			classify_ip6(w, at, 0);
		if (unlikely(eth_is_multicast(&eth->dst) && w->x->verdict != PKT_DROP &&
			     !(w->x->verdict == PKT_PUNT && w->x->punt == PUNT_ND)))
			classify_drop(w, DROP_multicast);
	} else if (type == ETH_TYPE_IPV4) {
		if (unlikely(eth_is_multicast(&eth->dst)))
			classify_drop(w, DROP_multicast);
		else
			classify_ip4(w, at, 0);
	} else if (type == ETH_TYPE_ARP) {
		w->x->strip = (uint16_t)at;
		classify_punt(w, PUNT_ARP);
	} else {
		classify_drop(w, DROP_ether_type);
	}
}

/*
 * A packet with a network control DSCP is control traffic only if it was received on a WAN interface, from an
 * infrastructure source, within control-rate; tenants may use these DSCPs freely. Returns PKT_CLASS_CONTROL then, else
 * `tclass`.
 */
static __attribute__((noinline)) uint8_t classify_network_control(struct walk *w, uint32_t at, uint8_t tclass)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(w->frame + at);
	uint64_t rate = w->in->control_rate;

	if (w->in->side != SIDE_WAN || w->readable < at + sizeof(*ip) || ipv6_tc(ip) >> 2 < DSCP_NETWORK_CONTROL ||
		!snap_is_infrastructure(w->s, ipv6_hi(&ip->src), ipv6_lo(&ip->src)))
		return tclass;
	if (!bucket_take(&w->c->control[snap_interface_of(w->in->interface)], w->c->now, rate, rate / 100 + 1)) {
		stat_add(&w->c->stats->control_policed, 1);
		return tclass;
	}
	return PKT_CLASS_CONTROL;
}

/* A tagged frame: of a VLAN interface, or priority-tagged and of the port itself (IEEE 802.1Q 9.6). */
static __attribute__((noinline)) void classify_tagged(struct walk *w, const struct eth_hdr *eth)
{
	const struct snap_interface *port = w->in;
	struct vlan_place place = vlan_find(w->s, port, w->frame, w->readable);
	uint16_t type;

	if (!place.in) {
		classify_drop(w, place.truncated ? DROP_truncated : DROP_vlan);
		return;
	}
	w->in = place.in;
	w->x->vrf = place.in->vrf;
	w->x->slice = place.in->slice;
	if (place.in != port) {
		stat_add(&w->c->stats->interface[vlan_row(place.in)].rx_packets, 1);
		stat_add(&w->c->stats->interface[vlan_row(place.in)].rx_bytes, w->frame_bytes);
	}
	type = be16_get(*(const be16_t *)(w->frame + place.at - sizeof(be16_t)));
	if (type == ETH_TYPE_IPV6)
		w->x->tclass = classify_network_control(w, place.at,
			w->x->tclass); /* PCP selects the class of data, never of control traffic */
	if (type != ETH_TYPE_IPV6 || !classify_signals(w, place.at))
		classify_payload(w, eth, type, place.at, false);
	w->in = port;
}

static void classify_ethernet(struct walk *w)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)w->frame;
	uint16_t type;

	if (unlikely(w->readable < sizeof(*eth))) {
		classify_drop(w, DROP_truncated);
		return;
	}
	type = be16_get(eth->type);
	if (unlikely(type == ETH_TYPE_MAC_CONTROL)) {
		w->x->strip = sizeof(*eth);
		if (w->in->lossless)
			classify_punt(w, PUNT_PFC);
		else
			classify_drop(w, DROP_mac_control);
		return;
	}
	if (unlikely(w->in->circuit) && classify_circuit(w))
		return;
	if (unlikely(!classify_for_us(w, eth)))
		return;
	if (unlikely(eth_is_multicast(&eth->src) || eth_equal(&eth->src, &w->in->mac))) {
		classify_drop(w, DROP_mac_source);
		return;
	}
	if (likely(type == ETH_TYPE_IPV6))
		classify_payload(w, eth, ETH_TYPE_IPV6, sizeof(*eth), true);
	else if (unlikely(type == ETH_TYPE_VLAN || type == ETH_TYPE_QINQ))
		classify_tagged(w, eth);
	else
		classify_payload(w, eth, type, sizeof(*eth), true);
}

/* Initial pkt.kind of packets of a slice, before classification. */
static inline uint64_t classify_kind_of(const struct snapshot *s, uint8_t slice)
{
	const struct pkt x = {.epoch = (uint16_t)s->epoch, .slice = slice};

	return x.kind;
}

/* The members of `w` that are the same for a whole burst (c, s, in) are set. */
static inline void classify_start(struct walk *w, struct rte_mbuf *m, uint64_t kind)
{
	w->x = pkt_of(m);
	w->frame = rte_pktmbuf_mtod(m, const uint8_t *);
	w->readable = m->data_len;
	w->frame_bytes = m->pkt_len;
	w->rounds = 0;
	w->x->kind = kind;
	w->x->ops = 0;
	w->x->hops = 0;
	w->x->hash = 0;
	w->x->trace = 0;
	w->x->strip = 0;
	w->x->sid = PKT_SID_NONE;
}

/* Class of a received frame of at least 16 bytes: from DSCP, or from PCP if the frame is tagged. *dscp: 0 if none. */
static inline uint8_t classify_marked(const struct snap_interface *in, const uint8_t *frame, uint8_t *dscp)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)frame;
	uint8_t tos = 0;

	*dscp = 0;
	if (eth->type.b[0] == 0x86)
		tos = (uint8_t)(be16_get(*(const be16_t *)(frame + sizeof(*eth))) >> 4);
	else if (eth->type.b[0] == 0x08)
		tos = frame[15];
	else if (eth->type.b[0] == 0x81 || be16_get(eth->type) == ETH_TYPE_QINQ)
		return in->tclass_of_pcp[frame[14] >> 5];
	*dscp = tos >> 2;
	return in->tclass_of_dscp[tos >> 2];
}

/* True: the packet is of the control class, and has its verdict already. */
static inline bool classify_traffic_class(const struct snap_interface *in, struct walk *w)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)w->frame;
	struct pkt *x = w->x;
	uint8_t dscp;

	if (w->readable < sizeof(*eth) + 2)
		return false;
	x->tclass = x->priority = classify_marked(in, w->frame, &dscp);
	if (likely(dscp < DSCP_NETWORK_CONTROL || be16_get(eth->type) != ETH_TYPE_IPV6))
		return false;
	x->tclass = classify_network_control(w, sizeof(*eth), x->tclass);
	return classify_signals(w, sizeof(*eth));
}

/* ND is not marked by a DSCP; its hop limit is 255 (RFC 4861). */
static inline bool frame_is_nd(const struct rte_mbuf *m, const struct ipv6_hdr *ip)
{
	return m->data_len >= sizeof(struct eth_hdr) + sizeof(*ip) && ip->next_header == IP_PROTO_ICMP6 &&
	       ip->hop_limit == 255;
}

uint8_t classify_class(const struct snap_interface *in, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t type;
	uint8_t class, dscp;

	if (m->data_len < sizeof(struct eth_hdr) + 2)
		return 0;
	type = be16_get(((const struct eth_hdr *)frame)->type);
	class = classify_marked(in, frame, &dscp);
	if (type == ETH_TYPE_MAC_CONTROL || type == ETH_TYPE_ARP)
		return PKT_CLASS_CONTROL;
	if (type == ETH_TYPE_IPV6 && ((dscp >= DSCP_NETWORK_CONTROL && in->side == SIDE_WAN) ||
					     frame_is_nd(m, (const struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))))
		return PKT_CLASS_CONTROL;
	return class;
}

NO_CANARY void classify_frames(struct classifier *c, const struct snap_interface *in, struct rte_mbuf **pkts,
	unsigned int n)
{
	uint64_t kind = classify_kind_of(c->s, in->slice);
	struct walk w = {.c = c, .s = c->s, .in = in};

	for (unsigned int i = 0; i < n; i++) {
		w.port = pkts[i]->port;
		classify_start(&w, pkts[i], kind);
		w.x->vrf = in->vrf;
		if (unlikely(classify_traffic_class(in, &w)))
			continue;
		classify_ethernet(&w);
	}
}

uint64_t classify_burst(struct classifier *c, uint16_t port, struct rte_mbuf **pkts, unsigned int n)
{
	const struct snap_interface *in = &c->s->port[port];
	struct rte_mbuf *others[LIMIT_BURST];
	uint64_t bytes = 0;
	unsigned int left;

	for (unsigned int i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const uint8_t *));
		pkts[i]->port = port;
		bytes += pkts[i]->pkt_len;
	}
	left = classify_express(c, in, pkts, n, others, unlikely(c->no_express[port]) ? LANE_LOOKS : LIMIT_BURST);
	c->no_express[port] = left == n;
	if (left)
		classify_frames(c, in, others, left);
	return bytes;
}

static void classify_own(struct classifier *c, struct rte_mbuf *m, uint16_t vrf, uint8_t tclass, uint8_t slice)
{
	struct walk w = {.c = c, .s = c->s, .in = NULL, .port = PORT_LOCAL};

	classify_start(&w, m, classify_kind_of(c->s, slice));
	w.x->vrf = vrf;
	w.x->tclass = tclass;
	if (w.frame[0] >> 4 == 6)
		classify_ip6(&w, 0, 0);
	else
		classify_ip4(&w, 0, 0);
	/* no ICMP errors about the node's own packets, and no local delivery of them */
	if (w.x->verdict == PKT_PUNT) {
		w.x->reason = w.x->punt == PUNT_ERROR ? w.x->reason : DROP_no_route;
		w.x->verdict = PKT_DROP;
	}
}

void classify_originated(struct classifier *c, struct rte_mbuf *m, uint16_t vrf)
{
	classify_own(c, m, vrf, PKT_CLASS_CONTROL, SNAP_SLICE_NONE);
}

void classify_part(struct classifier *c, struct rte_mbuf *m, const struct pkt *of)
{
	classify_own(c, m, of->vrf, of->tclass, of->slice);
}
