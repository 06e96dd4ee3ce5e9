/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of classification: the state of the packet being classified, and the verdicts. */
#ifndef CLASSIFY_PRIV_H
#define CLASSIFY_PRIV_H

#include "classify/classify.h"
#include "pkt/flow_hash.h"
#include "snapshot/path_mtu.h"
#include "srv6/endpoint.h"
#include "srv6/hmac.h"
#include "wire/icmp.h"

struct walk {
	struct classifier *c;
	const struct snapshot *s;
	const struct snap_interface *in; /* NULL: originated */
	struct pkt *x;
	const uint8_t *frame;
	uint32_t readable;    /* bytes of the first buffer */
	uint32_t frame_bytes; /* of the whole chain */
	unsigned int rounds;
	uint16_t port; /* that received the frame */
};

/*
 * Classify frames, whatever they are, that an interface has received: the specification of the express lane. mbuf.port is
 * set.
 */
void classify_frames(struct classifier *c, const struct snap_interface *in, struct rte_mbuf **pkts, unsigned int n);

/*
 * express_dp.c: Classify the frames of a burst that are for the express lane. The other ones, of which nothing is written, go
 * to `others`, in their order. Returns their number. If the first `looks` frames are among them, so are all. mbuf.port is set.
 */
unsigned int classify_express(struct classifier *c, const struct snap_interface *in, struct rte_mbuf **pkts,
	unsigned int n, struct rte_mbuf **others, unsigned int looks);

static inline void classify_drop(struct walk *w, enum reason reason)
{
	w->x->verdict = PKT_DROP;
	w->x->reason = (uint8_t)reason;
}

/* Drop, with an ICMP error if one is due. */
static __attribute__((noinline, cold, unused)) void classify_error(struct walk *w, enum reason reason, uint8_t type,
	uint8_t code, uint32_t arg)
{
	w->x->verdict = PKT_PUNT;
	w->x->punt = PUNT_ERROR;
	w->x->reason = (uint8_t)reason;
	w->x->icmp_type = type;
	w->x->icmp_code = code;
	w->x->icmp_arg = arg;
}

static inline void classify_punt(struct walk *w, enum pkt_punt kind)
{
	w->x->verdict = PKT_PUNT;
	w->x->punt = (uint8_t)kind;
}

/*
 * bfd_dp.c: Is the packet at pkt.strip BFD: of a single hop, echo, to the S-BFD reflector, or its answer to this node
 * (RFC 5881 section 4, RFC 7881 section 3)?
 */
bool classify_is_bfd(const struct walk *w);
/* Punt a packet from an own address to itself if it is a BFD echo packet, which the neighbour has returned. */
bool classify_takes_echo(struct walk *w);

/*
 * rsvp_dp.c: Is the IPv6 packet at `at`, of the control class, an RSVP message that this node must see? True: the verdict
 * is written.
 */
bool classify_alerts(struct walk *w, uint32_t at);
bool classify_from_server(struct walk *w, uint32_t at);

/* RSVP that this node must see, although it may not be addressed to it. True: the packet has its verdict. */
static inline bool classify_signals(struct walk *w, uint32_t at)
{
	if (w->x->tclass == PKT_CLASS_CONTROL)
		return classify_alerts(w, at);
	return unlikely(w->s->credit.n_servers) && classify_from_server(w, at);
}

/*
 * An IPv4 packet with options, at `at`, whose headers are readable: RSVP with router alert (RFC 2113) from a neighbour of letter
 * mode? True: the verdict is written.
 */
bool classify_alerts4(struct walk *w, uint32_t at);

/* Is the packet to an own address RSVP that this node hears? */
bool classify_is_rsvp(const struct walk *w, const struct srv6_packet *p);
bool classify_is_rsvp4(const struct walk *w, const struct ipv4_hdr *ip);

/* state_dp.c: Is a packet to an own address a state message of a relay, from a PE that may send them? */
bool classify_is_state(const struct walk *w, const struct srv6_packet *p);

/* Longest-prefix match of an IPv6 destination; addresses of the own uSID block use the direct index. */
static inline target_t classify_lookup6(const struct snapshot *s, uint16_t vrf, uint64_t hi, uint64_t lo)
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

/* For an IPv4 packet: is DF clear? */
static inline bool classify_may_fragment(const struct walk *w)
{
	return !(be16_get(((const struct ipv4_hdr *)(w->frame + w->x->strip))->fragment) & IPV4_DF);
}

/* The packet exceeds `mtu` bytes: fragment it, or drop it with an ICMP error. Ethernet frames are dropped silently. */
static __attribute__((noinline, cold, unused)) void classify_too_big(struct walk *w, uint32_t mtu)
{
	uint8_t slice = w->x->slice;

	if (w->x->family == PKT_FRAME) {
		classify_drop(w, DROP_too_big);
		return;
	}
	classify_error(w, DROP_too_big, ICMP6_TOO_BIG, 0, w->x->family == 6 ? MAX_OF(mtu, IPV6_MIN_MTU) : mtu);
	/* packets that the node creates, fragments included, always fit */
	if (w->x->family == 4 && w->in && classify_may_fragment(w)) {
		w->x->punt = PUNT_FRAGMENT;
		w->x->slice = slice; /* the fragments have the same slice */
	}
}

/* Forward to a next hop or link, after the MTU check. `bytes`: IP length with all outer headers. */
static inline void classify_leave(struct walk *w, target_t t, uint32_t bytes)
{
	struct pkt *x = w->x;
	uint32_t index = target_index(t), mtu;

	if (likely(target_kind(t) == TARGET_NEIGH)) {
		x->neigh = index;
		x->egress = (uint8_t)w->s->neigh[index].port;
		mtu = w->s->neigh[index].mtu;
	} else {
		x->neigh = PKT_NEIGH_LINK + index;
		x->egress = snap_interface_of(index);
		mtu = snap_interface(w->s, index)->mtu;
	}
	if (unlikely(bytes > mtu)) {
		classify_too_big(w, mtu - (bytes - x->l3_bytes));
		return;
	}
	x->verdict = PKT_FORWARD;
}

static inline uint32_t classify_flow_hash(struct walk *w)
{
	struct pkt *x = w->x;

	if (!x->hash)
		x->hash = x->family == 6 ? hash_flow6(w->frame, w->readable, x->strip)
					 : hash_flow4(w->frame, w->readable, x->strip);
	return x->hash;
}

/* Select the member of an ECMP group by flow; any other target is returned unchanged. */
static inline target_t classify_member_of(struct walk *w, target_t t)
{
	const struct snap_group *g;

	if (target_kind(t) != TARGET_GROUP)
		return t;
	g = &w->s->group[target_index(t)];
	return g->member[snap_member_index(w->s, g, classify_flow_hash(w))];
}

/* Check the current MTU of a policy. Not inline: needed only for large packets and after Packet Too Big. */
static __attribute__((noinline, unused)) bool classify_fits_policy(struct walk *w, const struct snap_policy *policy)
{
	uint16_t mtu = path_mtu_of_policy(policy);

	if (w->x->l3_bytes <= mtu)
		return true;
	classify_too_big(w, mtu);
	return false;
}

static inline void classify_encap(struct walk *w, const struct snap_policy *policy)
{
	struct pkt *x = w->x;
	const struct snap_path *path;

	if (unlikely(x->l3_bytes > policy->inner_mtu || path_mtu_is_learnt(policy)) && !classify_fits_policy(w, policy))
		return;
	x->path = policy->bucket[classify_flow_hash(w) >> (32 - SNAP_POLICY_BUCKETS_LOG2)];
	path = &w->s->path[x->path];
	if (unlikely(!path->via)) {
		if (x->family == PKT_FRAME)
			classify_drop(w, DROP_no_route);
		else
			classify_error(w, DROP_no_route, ICMP6_UNREACHABLE, ICMP6_UNREACH_NO_ROUTE, 0);
		return;
	}
	x->ops |= PKT_OP_ENCAP;
	x->tclass = path->tclass_of[x->tclass];
	classify_leave(w, classify_member_of(w, path->via), x->l3_bytes + path->bytes);
}

static inline void classify_drop_for(struct walk *w, const struct srv6_error *e)
{
	if (e->type)
		classify_error(w, e->reason, e->type, e->code, e->pointer);
	else
		classify_drop(w, e->reason);
}

/* Description of the IPv6 packet at `at` for endpoint behaviours; padding after the packet is excluded. */
static inline struct srv6_packet classify_packet_at(const struct walk *w, uint32_t at)
{
	return (struct srv6_packet){.frame = w->frame,
		.readable = MIN_OF(w->readable, at + w->x->l3_bytes),
		.end = at + w->x->l3_bytes,
		.at = (uint16_t)at};
}

/* mark_dp.c: DSCP and ECN. `outer`, `inner` and `tos` (of the inner header): TOS or traffic class */

/* Map the DSCP of the IP packet at `at`, which a port with dscp_in has received, unless it is control traffic. */
void classify_map_dscp(struct walk *w, uint16_t type, uint32_t at);

/* RFC 6040 figure 4: the ECN field of the inner header at the end of a tunnel. False: the packet must be dropped. */
bool classify_combine_ecn(struct walk *w, uint8_t outer, uint8_t tos);

/*
 * Uniform model (RFC 2983 section 3): the DSCP of the outer header, mapped by the SID, goes into the inner one, whose ECN is
 * combined already.
 */
void classify_copy_dscp(struct walk *w, const struct snap_sid *sid, uint8_t outer, uint8_t inner);

/* boundary_dp.c */

/* Verify the HMAC TLV. `sid`: the SID that requires it; NULL: the port requires it. False: *e is filled. */
bool classify_proven(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p, struct srv6_error *e);

/* Check a packet to the SID space from a port outside the domain. False: the packet was dropped. */
bool classify_may_enter(struct walk *w, uint32_t at, uint64_t hi, uint64_t lo);

/* frame_dp.c: Ethernet frames as payload */

/* End.DX2 (RFC 8986 section 4.9): send the inner frame of `p` by the SID's port. */
void classify_decap_frame(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p);

/*
 * Read the slice id that a packet carries, at a SID with slice-by (docs/protocol.md 4.5). True: *slice is that slice,
 * or unchanged if the packet carries none. False: the slice is not configured on this node.
 */
bool classify_told_slice(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p, uint8_t *slice);

/* Punt the inner PFC frame of `p`; the control lcore validates it. */
void classify_punt_pfc(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p);

/* A port with attachment circuits: true when the frame belongs to one (H.Encaps.L2, RFC 8986 section 5.3). */
bool classify_circuit(struct walk *w);

/* The SRH that is used up before the one that is changed, if any. Returns the bytes by which removing it shortens the packet. */
static inline uint32_t classify_spent_srh(struct pkt *x, const struct srv6_change *change)
{
	if (likely(!change->spent_bytes))
		return 0;
	x->ops |= PKT_OP_SPENT;
	if (!change->pop_spent)
		return 0;
	x->ops |= PKT_OP_POP_SPENT;
	return change->spent_bytes;
}

#endif
