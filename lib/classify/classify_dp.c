/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From frame to verdict, in the order of the headers: Ethernet, IP, destination; then what the lookup found:
 * a way out, an SRv6 policy, a local SID, the node itself. rx lcores; the control lcore for packets it makes.
 */
#include "classify/classify.h"

#include "classify/classify_priv.h"
#include "classify/vlan.h"
#include "srv6/endpoint.h"
#include "wire/checksum.h"
#include "wire/icmp.h"

/* Local SIDs one packet may visit here, and tunnels it may leave: more is a loop or an attack. */
#define ROUNDS_MAX 8

/* An IP header at `at`, to be looked up in pkt.vrf, or to leave by `via` if that is not 0. */
static void ip4(struct walk *w, uint32_t at, target_t via);
static void ip6(struct walk *w, uint32_t at, target_t via);

/* Not straight to a next hop. */
static __attribute__((noinline)) void go_another_way(struct walk *w, target_t t, uint32_t bytes)
{
	switch (target_kind(t)) {
	case TARGET_LINK:
		leave(w, t, bytes);
		return;
	case TARGET_GROUP:
		leave(w, member_of(w, t), bytes);
		return;
	case TARGET_POLICY:
		encap(w, &w->s->policy[target_index(t)]);
		return;
	default:
		classify_error(w, DROP_no_route, ICMP6_UNREACHABLE, ICMP6_UNREACH_NO_ROUTE, 0);
	}
}

/* The lookup's answer for a packet that goes on as it is, hop limit aside. */
static inline void go_on(struct walk *w, target_t t, uint32_t bytes)
{
	if (likely(target_kind(t) == TARGET_NBR))
		leave(w, t, bytes);
	else
		go_another_way(w, t, bytes);
}

/* Forwarding of a packet that no SID changed: a hop like any other. */
static inline void transit(struct walk *w, target_t t, uint8_t hop_limit)
{
	if (w->in || w->rounds) {
		if (unlikely(hop_limit <= 1)) {
			classify_error(w, DROP_hop_limit, ICMP6_TIME_EXCEEDED, 0, 0);
			return;
		}
		w->x->hops = 1;
	}
	go_on(w, t, w->x->l3_bytes);
}

static void deliver(struct walk *w)
{
	punt(w, PUNT_LOCAL);
}

/* RFC 6040 figure 4: the inner header's new ECN, by inner and outer. */
static bool combine_ecn(struct walk *w, uint8_t outer, uint8_t inner)
{
	enum { NOT_ECT, ECT1, ECT0, CE };
	struct pkt *x = w->x;
	uint8_t ecn;

	outer &= 3;
	inner &= 3;
	if (likely(inner == outer))
		return true;
	ecn = inner;
	if (inner == NOT_ECT && outer != NOT_ECT)
		stat_add(&w->c->stats->ecn_unusual, 1);
	if (inner == NOT_ECT && outer == CE)
		return false;
	if (inner != NOT_ECT && outer == CE)
		ecn = CE;
	else if (inner == ECT0 && outer == ECT1)
		ecn = ECT1;
	else if ((inner == ECT1 && outer == ECT0) || (inner == CE && outer == ECT1))
		stat_add(&w->c->stats->ecn_unusual, 1);
	if (ecn != inner) {
		x->ops |= PKT_OP_ECN;
		x->ecn = ecn;
	}
	return true;
}

/* The inner packet takes the place of the outer one. */
static void decap(struct walk *w, const struct snap_sid *sid, const struct srv6_packet *p, bool to_adjacency)
{
	const struct ipv6_hdr *outer = (const struct ipv6_hdr *)(w->frame + p->at);
	const uint8_t *inner = w->frame + p->upper;
	bool six = p->upper_type == IP_PROTO_IPV6;
	uint8_t tos, outer_ecn;

	if (p->upper + (six ? sizeof(struct ipv6_hdr) : sizeof(struct ipv4_hdr)) > p->readable) {
		drop(w, p->at + w->x->l3_bytes > w->readable ? DROP_headers_split : DROP_truncated);
		return;
	}
	tos = six ? ipv6_tc((const struct ipv6_hdr *)inner) : ((const struct ipv4_hdr *)inner)->tos;
	/* a mark that this packet got when it came out of another tunnel goes on */
	outer_ecn = w->x->ops & PKT_OP_ECN ? w->x->ecn : ipv6_tc(outer);
	w->x->ops = 0;
	w->x->hops = 0;
	w->x->hash = 0;
	w->x->vrf = sid->vrf;
	w->x->tclass = sid->tclass_of[w->x->tclass];
	if (!combine_ecn(w, outer_ecn, tos)) {
		drop(w, DROP_ecn_ce_not_ect);
		return;
	}
	/* the outer length, not the frame's, bounds what is inside */
	w->frame_bytes = MIN_OF(w->frame_bytes, p->at + sizeof(*outer) + be16_get(outer->payload_length));
	if (six)
		ip6(w, p->upper, to_adjacency ? sid->adjacency : 0);
	else
		ip4(w, p->upper, to_adjacency ? sid->adjacency : 0);
}

static inline void count_sid(struct walk *w, uint32_t sid)
{
	struct sid_counter *counter = &w->c->sids[sid];

	stat_add(&counter->packets, 1);
	stat_add(&counter->bytes, w->frame_bytes);
	w->x->sid = sid;
}

static inline void set_slice(struct walk *w, const struct snap_sid *sid)
{
	if (unlikely(sid->slice != SNAP_SLICE_KEEP))
		w->x->slice = sid->slice;
}

/* Longest match of an IPv6 destination, by the direct index where the block is ours. */
static inline target_t lookup6(const struct snapshot *s, uint16_t vrf, uint64_t hi, uint64_t lo)
{
	struct ipv6_addr a;
	target_t t;

	if (likely(vrf == VRF_UNDERLAY && hi >> 32 == s->usid.block)) {
		t = s->usid.entry[(uint16_t)(hi >> 16)];
		if (likely(target_kind(t) < TARGET_SUBTABLE))
			return t;
		if (target_kind(t) == TARGET_SUBTABLE)
			t = s->usid.subtable[target_index(t)][(uint16_t)hi];
		if (target_kind(t) != TARGET_LPM)
			return t;
	}
	a = ipv6_from(hi, lo);
	return fib_lookup6(snap_vrf_of(s, vrf)->v6, &a);
}

/* A packet to an address of this node that is no SID: local delivery, with RFC 8754 section 4.3.2 in front. */
static void deliver6(struct walk *w, struct srv6_packet *p)
{
	struct srv6_error e;
	uint32_t routing;

	if (!srv6_walk(p)) {
		drop(w, p->failure);
		return;
	}
	if (srv6_bad_option(p, &e)) {
		drop_for(w, &e);
		return;
	}
	if ((p->srh && p->segments_left) || p->foreign_routing_left) {
		routing = p->srh && p->segments_left ? p->srh : p->foreign_routing;
		classify_error(w, DROP_routing_type, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_HEADER_FIELD,
			routing - p->at + 2);
		return;
	}
	deliver(w);
}

static __attribute__((noinline)) void local6(struct walk *w, uint32_t at)
{
	struct srv6_packet p = packet_at(w, at);

	deliver6(w, &p);
}

/* A packet has come to a local SID. NULL: to too many of them, it is dropped. */
static inline const struct snap_sid *visit(struct walk *w, uint32_t id)
{
	const struct snap_sid *sid = &w->s->sid[id];

	if (unlikely(++w->rounds > ROUNDS_MAX)) {
		drop(w, DROP_sid_loop);
		return NULL;
	}
	count_sid(w, id);
	set_slice(w, sid);
	return sid;
}

/* The last uSID of a container, or any other SID, and those that follow as long as they are local too. */
static __attribute__((noinline)) void srv6_any(struct walk *w, uint32_t at, const struct snap_sid *sid, uint64_t hi,
	uint64_t lo, uint8_t hops)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(w->frame + at);
	struct srv6_packet p = packet_at(w, at);
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
			drop_for(w, &e);
			return;
		}
		if (unlikely(sid->slice_by))
			classify_told_slice(w, sid, &p, &x->slice);
		next = srv6_endpoint(sid, &p, &change, &e);
		t = sid->adjacency;
		if (next == SRV6_LOOKUP)
			t = lookup6(w->s, sid->vrf, p.da_hi, p.da_lo);
		if (next != SRV6_LOOKUP || target_kind(t) != TARGET_SID)
			break;
		sid = visit(w, target_index(t));
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
		}
		if (change.pop_srh) {
			x->ops |= PKT_OP_POP_SRH;
			bytes -= p.srh_bytes;
		}
		if (unlikely(target_kind(t) == TARGET_LOCAL))
			deliver6(w, &p);
		else
			go_on(w, t, bytes);
		return;
	case SRV6_DECAP:
	case SRV6_DECAP_ADJACENCY:
		decap(w, sid, &p, next == SRV6_DECAP_ADJACENCY);
		return;
	case SRV6_DECAP_FRAME:
		classify_decap_frame(w, sid, &p);
		return;
	case SRV6_PFC:
		classify_punt_pfc(w, sid, &p);
		return;
	case SRV6_DELIVER:
		deliver(w);
		return;
	case SRV6_DROP:
		drop_for(w, &e);
		return;
	}
}

/*
 * A local SID. The common one, a uSID with another one behind it, needs no description of the packet: whatever is
 * not shifted and sent on is srv6_any's.
 */
static inline void srv6(struct walk *w, uint32_t at, target_t t, uint64_t hi, uint64_t lo)
{
	uint8_t hop_limit = ((const struct ipv6_hdr *)(w->frame + at))->hop_limit, hops = 0;
	const struct snap_sid *sid;

	do {
		sid = visit(w, target_index(t));
		if (unlikely(!sid))
			return;
		if (!srv6_has_argument(sid, hi, lo) || unlikely(sid->closer || hop_limit <= hops + 1)) {
			srv6_any(w, at, sid, hi, lo, hops);
			return;
		}
		hops++;
		srv6_shift(sid, &hi, &lo);
		t = sid->adjacency ? sid->adjacency : lookup6(w->s, sid->vrf, hi, lo);
	} while (target_kind(t) == TARGET_SID);

	w->x->ops |= PKT_OP_DA;
	w->x->da = ipv6_from(hi, lo);
	w->x->hops = hops;
	if (likely(target_kind(t) != TARGET_LOCAL))
		go_on(w, t, w->x->l3_bytes);
	else
		local6(w, at);
}

static bool own_address(const struct snap_port *in, const struct ip_addr *a)
{
	for (unsigned int i = 0; i < in->n_own; i++)
		if (ip_addr_equal(&in->own[i].addr, a))
			return true;
	return false;
}

static bool is_nd(struct walk *w, uint32_t at, uint8_t next_header)
{
	const struct icmp_hdr *icmp = (const struct icmp_hdr *)(w->frame + at + sizeof(struct ipv6_hdr));

	return next_header == IP_PROTO_ICMP6 && at + sizeof(struct ipv6_hdr) + sizeof(*icmp) <= w->readable &&
	       icmp->type >= ICMP6_ROUTER_SOLICIT && icmp->type <= ICMP6_REDIRECT;
}

/* May either address be one that needs a closer look? */
static inline bool is_odd6(const struct snapshot *s, const struct ipv6_hdr *ip)
{
	return ip->dst.b[0] >= 0xfe || ip->src.b[0] >= 0xfe || !ip->src.b[0] || ipv6_equal(&ip->src, &s->loopback);
}

static bool bad_source6(struct walk *w, const struct ipv6_addr *src)
{
	/* the unspecified address is only right in duplicate address detection, which is ND */
	if (ipv6_is_multicast(src) || ipv6_is_unspecified(src) || ipv6_is_loopback(src)) {
		drop(w, DROP_ip_source);
		return true;
	}
	if (ipv6_equal(src, &w->s->loopback)) {
		drop(w, DROP_own_source);
		return true;
	}
	return false;
}

/* An address of the port the packet came in by. */
static inline bool own_source6(struct walk *w, const struct ipv6_addr *src)
{
	struct ip_addr a;

	if (!w->in || likely(!(w->in->own6_hints >> (src->b[15] & 63) & 1)))
		return false;
	a = ip_addr_from6(src);
	if (!own_address(w->in, &a))
		return false;
	drop(w, DROP_own_source);
	return true;
}

/* Destinations that are never forwarded: multicast and link-local. True when the packet is dealt with. */
static bool special6(struct walk *w, uint32_t at, const struct ipv6_hdr *ip)
{
	struct ip_addr dst = ip_addr_from6(&ip->dst);

	if (ipv6_is_multicast(&ip->dst)) {
		if (is_nd(w, at, ip->next_header) && w->in && w->rounds == 0)
			punt(w, PUNT_ND);
		else
			drop(w, DROP_multicast);
		return true;
	}
	if (ipv6_is_link_local(&ip->dst)) {
		if (!w->in || w->rounds || !own_address(w->in, &dst))
			drop(w, DROP_link_local);
		else if (bad_source6(w, &ip->src) || own_source6(w, &ip->src))
			return true;
		else if (is_nd(w, at, ip->next_header))
			punt(w, PUNT_ND);
		else
			deliver(w);
		return true;
	}
	return false;
}

/* A packet to an own address, as it came in or out of a tunnel. */
static void own6(struct walk *w, uint32_t at)
{
	if (!is_nd(w, at, ((const struct ipv6_hdr *)(w->frame + at))->next_header))
		local6(w, at);
	else if (w->rounds)
		drop(w, DROP_nd_invalid); /* a tunnel's far end is not on the link, whatever the hop limit says */
	else
		punt(w, PUNT_ND);
}

/* `arrived`: as it came in, at a fixed place; the compiler makes that case a copy of its own. */
static inline __attribute__((always_inline)) void walk6(struct walk *w, uint32_t at, target_t via, bool arrived)
{
	const struct snap_port *in = w->in;
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(w->frame + at);
	uint64_t src_hi, src_lo, hi, lo;
	bool received = arrived || in, first = arrived || w->rounds == 0, odd;
	uint32_t bytes;
	target_t t;

	if (unlikely(at + sizeof(*ip) > w->readable)) {
		drop(w, w->frame_bytes > w->readable ? DROP_headers_split : DROP_truncated);
		return;
	}
	if (unlikely((ip->vtc_flow.b[0] & 0xf0) != 0x60)) {
		drop(w, DROP_ip_version);
		return;
	}
	bytes = sizeof(*ip) + be16_get(ip->payload_length);
	if (unlikely(at + bytes > w->frame_bytes)) {
		drop(w, DROP_ip_length);
		return;
	}
	w->x->strip = (uint16_t)at;
	w->x->l3_bytes = (uint16_t)MIN_OF(bytes, UINT16_MAX); /* as long as that it fits no MTU anyway */
	w->x->family = 6;
	hi = ipv6_hi(&ip->dst);
	lo = ipv6_lo(&ip->dst);
	src_hi = ipv6_hi(&ip->src);
	src_lo = ipv6_lo(&ip->src);
	odd = unlikely(is_odd6(w->s, ip));
	if (odd && ip->dst.b[0] >= 0xfe && special6(w, at, ip))
		return;
	if (odd && received && bad_source6(w, &ip->src))
		return;
	if (received && in->sids_closed && first && unlikely(snap_in_sid_space(w->s, hi, lo)) &&
		!classify_may_enter(w, at, hi, lo))
		return;
	t = unlikely(via) ? via : lookup6(w->s, w->x->vrf, hi, lo);
	if (odd && received && ipv6_is_link_local(&ip->src) && target_kind(t) != TARGET_LOCAL) {
		drop(w, DROP_link_local); /* not forwarded (RFC 4291 section 2.5.6) */
	} else if (likely(target_kind(t) == TARGET_SID)) {
		if (unlikely(!snap_is_infrastructure(w->s, src_hi, src_lo)) && !(received && in->any_source && first))
			drop(w, DROP_boundary_source);
		else
			srv6(w, at, t, hi, lo);
	} else if (own_source6(w, &ip->src)) {
		return;
	} else if (unlikely(target_kind(t) == TARGET_LOCAL)) {
		own6(w, at);
	} else if (unlikely(hi == 0 && lo <= 1)) {
		drop(w, DROP_link_local); /* :: and ::1 (RFC 4291 sections 2.5.2 and 2.5.3) */
	} else if (received && in->sources_closed && first && unlikely(snap_is_infrastructure(w->s, src_hi, src_lo))) {
		drop(w, DROP_boundary_source); /* further inside it would pass for one of the domain's own */
	} else {
		transit(w, t, ip->hop_limit);
	}
}

static void ip6(struct walk *w, uint32_t at, target_t via)
{
	walk6(w, at, via, false);
}

static bool good_checksum4(const struct ipv4_hdr *ip)
{
	return be16_get(checksum_finish(checksum_add(0, ip, ipv4_header_bytes(ip)))) == 0;
}

static bool bad_address4(struct walk *w, const struct ipv4_hdr *ip)
{
	uint32_t src = be32_get(ip->src), dst = be32_get(ip->dst);
	struct ip_addr from = ip_addr_from4(src);

	if (unlikely(ipv4_bad_source(src)))
		drop(w, DROP_ip_source);
	else if (unlikely(w->in && own_address(w->in, &from)))
		drop(w, DROP_own_source);
	else if (unlikely(ipv4_is_multicast(dst) || dst == 0xffffffff))
		drop(w, DROP_multicast);
	else
		return false;
	return true;
}

static void ip4(struct walk *w, uint32_t at, target_t via)
{
	const struct ipv4_hdr *ip = (const struct ipv4_hdr *)(w->frame + at);
	uint32_t header, bytes;
	target_t t;

	if (unlikely(at + sizeof(*ip) > w->readable)) {
		drop(w, w->frame_bytes > w->readable ? DROP_headers_split : DROP_truncated);
		return;
	}
	if (unlikely(ip->version_ihl >> 4 != 4)) {
		drop(w, DROP_ip_version);
		return;
	}
	header = ipv4_header_bytes(ip);
	bytes = be16_get(ip->total_length);
	if (unlikely(header < sizeof(*ip) || bytes < header)) {
		drop(w, DROP_ip_header);
		return;
	}
	if (unlikely(at + header > w->readable)) {
		drop(w, w->frame_bytes > w->readable ? DROP_headers_split : DROP_truncated);
		return;
	}
	if (unlikely(at + bytes > w->frame_bytes)) {
		drop(w, DROP_ip_length);
		return;
	}
	if (unlikely(!good_checksum4(ip))) {
		drop(w, DROP_ip_header);
		return;
	}
	w->x->strip = (uint16_t)at;
	w->x->l3_bytes = (uint16_t)bytes;
	w->x->family = 4;
	if (w->in && bad_address4(w, ip))
		return;
	t = unlikely(via) ? via : fib_lookup4(snap_vrf_of(w->s, w->x->vrf)->v4, be32_get(ip->dst));
	if (unlikely(target_kind(t) == TARGET_LOCAL))
		deliver(w);
	else if (unlikely(target_kind(t) == TARGET_BROADCAST))
		drop(w, DROP_multicast);
	else if (unlikely(w->in && (ipv4_stays_on_link(be32_get(ip->src)) || ipv4_stays_on_link(be32_get(ip->dst)))))
		drop(w, DROP_link_local);
	else
		transit(w, t, ip->ttl);
}

/* Destination MAC: ours, or a group that ND and ARP use. */
static bool for_us(struct walk *w, const struct eth_hdr *eth)
{
	if (likely(eth_equal(&eth->dst, &w->in->mac)))
		return true;
	if (!eth_is_multicast(&eth->dst)) {
		drop(w, DROP_mac_not_ours);
		return false;
	}
	return true;
}

/* What is in a frame of this interface. `untagged`: the payload is where it mostly is. */
static inline __attribute__((always_inline)) void payload(struct walk *w, const struct eth_hdr *eth, uint16_t type,
	uint32_t at, bool untagged)
{
	/* a group frame may carry ARP and ND only; an IP unicast inside one is not forwarded (RFC 1812 4.2.3.1) */
	if (likely(type == ETH_TYPE_IPV6)) {
		if (untagged)
			walk6(w, at, 0, true);
		else
			ip6(w, at, 0);
		if (unlikely(eth_is_multicast(&eth->dst) && w->x->verdict != PKT_DROP &&
			     !(w->x->verdict == PKT_PUNT && w->x->punt == PUNT_ND)))
			drop(w, DROP_multicast);
	} else if (type == ETH_TYPE_IPV4) {
		if (unlikely(eth_is_multicast(&eth->dst)))
			drop(w, DROP_multicast);
		else
			ip4(w, at, 0);
	} else if (type == ETH_TYPE_ARP) {
		w->x->strip = (uint16_t)at;
		punt(w, PUNT_ARP);
	} else {
		drop(w, DROP_ether_type);
	}
}

/*
 * A packet at `at` of a network control DSCP is control traffic only if it comes from inside the domain, over a WAN
 * interface, and not faster than is allowed there: tenants may use these DSCPs as they like. Returns its class, else
 * `tclass`.
 */
static __attribute__((noinline)) uint8_t network_control(struct walk *w, uint32_t at, uint8_t tclass)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(w->frame + at);
	uint64_t rate = w->in->control_rate;

	if (w->in->side != SIDE_WAN || w->readable < at + sizeof(*ip) || ipv6_tc(ip) >> 2 < DSCP_NETWORK_CONTROL ||
		!snap_is_infrastructure(w->s, ipv6_hi(&ip->src), ipv6_lo(&ip->src)))
		return tclass;
	if (!bucket_take(&w->c->control[snap_port_of(w->in->interface)], w->c->now, rate, rate / 100 + 1)) {
		stat_add(&w->c->stats->control_policed, 1);
		return tclass;
	}
	return PKT_CLASS_CONTROL;
}

/* A frame with tags: of a VLAN interface, or a priority-tagged one of the port itself (IEEE 802.1Q 9.6). */
static __attribute__((noinline)) void tagged(struct walk *w, const struct eth_hdr *eth)
{
	const struct snap_port *port = w->in;
	struct vlan_place place = vlan_find(w->s, port, w->frame, w->readable);
	uint16_t type;

	if (!place.in) {
		drop(w, place.truncated ? DROP_truncated : DROP_vlan);
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
		w->x->tclass = network_control(w, place.at, w->x->tclass); /* data goes by PCP, this never */
	payload(w, eth, type, place.at, false);
	w->in = port;
}

static void ethernet(struct walk *w)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)w->frame;
	uint16_t type;

	if (unlikely(w->readable < sizeof(*eth))) {
		drop(w, DROP_truncated);
		return;
	}
	type = be16_get(eth->type);
	if (unlikely(type == ETH_TYPE_MAC_CONTROL)) {
		w->x->strip = sizeof(*eth);
		if (w->in->lossless)
			punt(w, PUNT_PFC);
		else
			drop(w, DROP_mac_control);
		return;
	}
	if (unlikely(w->in->circuit) && classify_circuit(w))
		return;
	if (unlikely(!for_us(w, eth)))
		return;
	if (unlikely(eth_is_multicast(&eth->src) || eth_equal(&eth->src, &w->in->mac))) {
		drop(w, DROP_mac_source);
		return;
	}
	if (unlikely(type == ETH_TYPE_VLAN || type == ETH_TYPE_QINQ))
		tagged(w, eth);
	else
		payload(w, eth, type, sizeof(*eth), true);
}

/* What packets of a slice are alike in before anything is known about them. */
static inline uint64_t kind_of(const struct snapshot *s, uint8_t slice)
{
	const struct pkt x = {.generation = (uint16_t)s->generation, .slice = slice};

	return x.kind;
}

static inline void start(struct walk *w, struct classifier *c, struct rte_mbuf *m, uint64_t kind)
{
	w->c = c;
	w->s = c->s;
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

/* Class of the frame as it arrived: by DSCP, or by PCP if it is tagged. */
static inline void traffic_class(const struct snap_port *in, struct walk *w)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)w->frame;
	struct pkt *x = w->x;
	uint8_t tos = 0;

	if (w->readable < sizeof(*eth) + 2)
		return;
	if (eth->type.b[0] == 0x86)
		tos = (uint8_t)(w->frame[14] << 4 | w->frame[15] >> 4);
	else if (eth->type.b[0] == 0x08)
		tos = w->frame[15];
	else if (eth->type.b[0] == 0x81 || be16_get(eth->type) == ETH_TYPE_QINQ) {
		x->tclass = x->priority = in->tclass_of_pcp[w->frame[14] >> 5];
		return;
	}
	x->tclass = x->priority = in->tclass_of_dscp[tos >> 2];
	if (unlikely(tos >> 2 >= DSCP_NETWORK_CONTROL && be16_get(eth->type) == ETH_TYPE_IPV6))
		x->tclass = network_control(w, sizeof(*eth), x->tclass);
}

void classify_burst(struct classifier *c, uint16_t port, struct rte_mbuf **pkts, unsigned int n)
{
	const struct snap_port *in = &c->s->port[port];
	uint64_t bytes = 0, kind = kind_of(c->s, in->slice);
	struct walk w;

	w.in = in;
	for (unsigned int i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const uint8_t *));
	for (unsigned int i = 0; i < n; i++) {
		pkts[i]->port = port;
		bytes += pkts[i]->pkt_len;
		start(&w, c, pkts[i], kind);
		w.x->vrf = in->vrf;
		traffic_class(in, &w);
		ethernet(&w);
	}
	stat_add(&c->stats->port[port].rx_packets, n);
	stat_add(&c->stats->port[port].rx_bytes, bytes);
}

static void originated(struct classifier *c, struct rte_mbuf *m, uint16_t vrf, uint8_t tclass, uint8_t slice)
{
	struct walk w = {.in = NULL};

	start(&w, c, m, kind_of(c->s, slice));
	w.x->vrf = vrf;
	w.x->tclass = tclass;
	if (w.frame[0] >> 4 == 6)
		ip6(&w, 0, 0);
	else
		ip4(&w, 0, 0);
	/* nothing is reported about the node's own packets, and none is delivered to itself */
	if (w.x->verdict == PKT_PUNT) {
		w.x->reason = w.x->punt == PUNT_ERROR ? w.x->reason : DROP_no_route;
		w.x->verdict = PKT_DROP;
	}
}

void classify_originated(struct classifier *c, struct rte_mbuf *m, uint16_t vrf)
{
	originated(c, m, vrf, PKT_CLASS_CONTROL, SNAP_SLICE_NONE);
}

void classify_part(struct classifier *c, struct rte_mbuf *m, const struct pkt *of)
{
	originated(c, m, of->vrf, of->tclass, of->slice);
}

void classify_to_neighbor(struct classifier *c, struct rte_mbuf *m, uint8_t family, uint16_t interface)
{
	struct pkt *x = pkt_of(m);

	memset(x, 0, sizeof(*x));
	x->verdict = PKT_FORWARD;
	x->nbr = PKT_NBR_LINK + interface;
	x->egress = snap_port_of(interface);
	x->tclass = PKT_CLASS_CONTROL;
	x->family = family;
	x->generation = (uint16_t)c->s->generation;
	x->sid = PKT_SID_NONE;
	x->l3_bytes = (uint16_t)m->pkt_len;
}
