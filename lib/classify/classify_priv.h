/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of classification share: the packet under way, and what can become of it. */
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
	const struct snap_port *in; /* NULL: originated */
	struct pkt *x;
	const uint8_t *frame;
	uint32_t readable;    /* bytes of the first buffer */
	uint32_t frame_bytes; /* of the whole chain */
	unsigned int rounds;
};

static inline void drop(struct walk *w, enum reason reason)
{
	w->x->verdict = PKT_DROP;
	w->x->reason = (uint8_t)reason;
}

/* A drop that an ICMP error may report. */
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

static inline void punt(struct walk *w, enum pkt_punt kind)
{
	w->x->verdict = PKT_PUNT;
	w->x->punt = (uint8_t)kind;
}

/* IPv4 without DF. */
static inline bool may_fragment(const struct walk *w)
{
	return !(be16_get(((const struct ipv4_hdr *)(w->frame + w->x->strip))->fragment) & IPV4_DF);
}

/* Only packets of at most `mtu` bytes would go on. No error is made about a frame. */
static __attribute__((noinline, cold, unused)) void classify_too_big(struct walk *w, uint32_t mtu)
{
	uint8_t slice = w->x->slice;

	if (w->x->family == PKT_FRAME) {
		drop(w, DROP_too_big);
		return;
	}
	classify_error(w, DROP_too_big, ICMP6_TOO_BIG, 0, w->x->family == 6 ? MAX_OF(mtu, IPV6_MIN_MTU) : mtu);
	/* what the node makes itself is small enough, and fragments are */
	if (w->x->family == 4 && w->in && may_fragment(w)) {
		w->x->punt = PUNT_FRAGMENT;
		w->x->slice = slice; /* of the fragments, too */
	}
}

/* A way out is known: last checks of the packet that leaves, `bytes` long with all its headers. */
static inline void leave(struct walk *w, target_t t, uint32_t bytes)
{
	struct pkt *x = w->x;
	uint32_t index = target_index(t), mtu;

	if (likely(target_kind(t) == TARGET_NBR)) {
		x->nbr = index;
		x->egress = (uint8_t)w->s->nbr[index].port;
		mtu = w->s->nbr[index].mtu;
	} else {
		x->nbr = PKT_NBR_LINK + index;
		x->egress = snap_port_of(index);
		mtu = snap_interface(w->s, index)->mtu;
	}
	if (unlikely(bytes > mtu)) {
		classify_too_big(w, mtu - (bytes - x->l3_bytes));
		return;
	}
	x->verdict = PKT_FORWARD;
}

static inline uint32_t flow_hash(struct walk *w)
{
	struct pkt *x = w->x;

	if (!x->hash)
		x->hash = x->family == 6 ? hash_flow6(w->frame, w->readable, x->strip)
					 : hash_flow4(w->frame, w->readable, x->strip);
	return x->hash;
}

/* One member of an ECMP group, the same for all packets of a flow. */
static inline target_t member_of(struct walk *w, target_t t)
{
	const struct snap_group *g;

	if (target_kind(t) != TARGET_GROUP)
		return t;
	g = &w->s->group[target_index(t)];
	/* other bits than the flow label's, and a seed of the node, or every node would choose alike */
	return g->member[((flow_hash(w) ^ (uint32_t)ipv6_lo(&w->s->loopback)) * 0x85ebca6bu >> 16) % g->n];
}

/* Apart from encap(), which asks only if the packet is too big for the links, or if something was learnt about them. */
static __attribute__((noinline, unused)) bool fits_policy(struct walk *w, const struct snap_policy *policy)
{
	uint16_t mtu = path_mtu_of_policy(policy);

	if (w->x->l3_bytes <= mtu)
		return true;
	classify_too_big(w, mtu);
	return false;
}

static inline void encap(struct walk *w, const struct snap_policy *policy)
{
	struct pkt *x = w->x;
	const struct snap_path *path;

	if (unlikely(x->l3_bytes > policy->inner_mtu || path_mtu_is_learnt(policy)) && !fits_policy(w, policy))
		return;
	x->path = policy->bucket[flow_hash(w) >> (32 - SNAP_POLICY_BUCKETS_LOG2)];
	path = &w->s->path[x->path];
	if (unlikely(!path->via)) {
		if (x->family == PKT_FRAME)
			drop(w, DROP_no_route);
		else
			classify_error(w, DROP_no_route, ICMP6_UNREACHABLE, ICMP6_UNREACH_NO_ROUTE, 0);
		return;
	}
	x->ops |= PKT_OP_ENCAP;
	x->tclass = path->tclass_of[x->tclass];
	leave(w, member_of(w, path->via), x->l3_bytes + path->bytes);
}

static inline void drop_for(struct walk *w, const struct srv6_error *e)
{
	if (e->type)
		classify_error(w, e->reason, e->type, e->code, e->pointer);
	else
		drop(w, e->reason);
}

/* What the endpoint behaviours see: the packet at `at`, not what is behind it in the frame. */
static inline struct srv6_packet packet_at(const struct walk *w, uint32_t at)
{
	return (struct srv6_packet){.frame = w->frame,
		.readable = MIN_OF(w->readable, at + w->x->l3_bytes),
		.end = at + w->x->l3_bytes,
		.at = (uint16_t)at};
}

/* boundary_dp.c */

/* Has the packet an HMAC TLV as it must be? Else *e. `sid`: that asks for it, NULL: a port. */
bool classify_proven(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p, struct srv6_error *e);

/* A packet into the SID space from a port that is not inside the domain. False: it is dropped. */
bool classify_may_enter(struct walk *w, uint32_t at, uint64_t hi, uint64_t lo);

/* frame_dp.c: Ethernet frames as payload */

/* End.DX2 (RFC 8986 section 4.9): the frame behind the headers of `p` leaves by the SID's port. */
void classify_decap_frame(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p);

/*
 * Slice that a packet says for itself at a SID that lets it (docs/protocol.md 4.5). True: *slice is that one, or as it was
 * if the packet says nothing. False: it says one that is not known here.
 */
bool classify_told_slice(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p, uint8_t *slice);

/* A frame that a SID takes for PFC: the control lcore judges it. */
void classify_punt_pfc(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p);

/* A port with attachment circuits: true when one of them takes the frame (H.Encaps.L2, RFC 8986 section 5.3). */
bool classify_circuit(struct walk *w);

#endif
