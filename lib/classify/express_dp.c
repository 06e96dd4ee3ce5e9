/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The express lane of classification (express.h): untagged packets from the domain to a local uSID of a /32, which is
 * followed by another one that leads to a neighbour (uN, uA), or ends a tunnel without further headers (uDT); and
 * untagged packets of a VRF. Rx lcores.
 */
#include "classify/express.h"
#include "srv6/endpoint.h"

/* Two or six bytes of a header are compared as part of a word, which is read as it lies in memory. */
#define WORD_MAC 0xffffffffffffull
#define WORD_GROUP 1ull /* of a MAC address */
#define WORD_IPV6 (0xdd86ull << 48)
#define WORD_IPV4 (0x0008ull << 48)
#define VERSION (6u << 6) /* before the six bits of the DSCP */

#define EXPRESS_BLOCK 4 /* bytes of the block before the active uSID */

/* Constant during a burst. Words as they lie in memory. */
struct express {
	uint64_t mac; /* of the interface */
	uint64_t loopback[2];
	uint64_t mask[2], domain[2]; /* the first prefix of the infrastructure */
	uint64_t kind;		     /* pkt.kind of all packets: epoch and verdict */
};

/* Do the first 14 bytes say `type`, untagged, from a station to this interface? */
static inline bool express_is_for_us(uint64_t mac, const uint8_t *frame, uint64_t type)
{
	uint64_t to = express_word(frame), from = express_word(frame + sizeof(struct eth_addr));

	return (to & WORD_MAC) == mac && (from & WORD_MAC) != mac && !(from & WORD_GROUP) && (from & ~WORD_MAC) == type;
}

/* Is the source one of the domain, and no special address? */
static inline bool express_is_trusted(const struct snapshot *s, const struct express *e,
	const struct snap_interface *in, const struct ipv6_addr *source)
{
	uint64_t hi = express_word(source->b), lo = express_word(source->b + 8);

	/* a first byte of 0 belongs to unspecified and loopback; from 0xfe on, to link-local and multicast */
	if (unlikely((uint8_t)(source->b[0] - 1) >= 0xfd || (hi == e->loopback[0] && lo == e->loopback[1])))
		return false;
	return likely((hi & e->mask[0]) == e->domain[0] && (lo & e->mask[1]) == e->domain[1]) || in->any_source ||
	       snap_is_infrastructure(s, ipv6_hi(source), ipv6_lo(source));
}

/* The local SID of a destination, unless it needs more than the shift or the decapsulation; or UINT32_MAX. */
static inline uint32_t express_sid_of(const struct snapshot *s, const struct ipv6_addr *dst)
{
	uint64_t hi = ipv6_hi(dst);
	target_t t;

	if (unlikely(hi >> 32 != s->usid.block))
		return UINT32_MAX;
	t = s->usid.entry[(uint16_t)(hi >> 16)];
	if (unlikely(target_kind(t) != TARGET_SID)) {
		if (target_kind(t) == TARGET_SUBTABLE)
			t = s->usid.subtable[target_index(t)][(uint16_t)hi];
		if (target_kind(t) != TARGET_SID)
			return UINT32_MAX;
	}
	return unlikely(s->sid[target_index(t)].closer) ? UINT32_MAX : target_index(t);
}

/*
 * Where a packet goes on after the shift by `bytes`: the uSID that becomes the active one is looked up, unless the SID has
 * an adjacency.
 */
static inline target_t express_way(const struct snapshot *s, const struct snap_sid *sid, const struct ipv6_addr *dst,
	unsigned int bytes)
{
	be16_t next;

	if (sid->adjacency)
		return sid->adjacency;
	if (unlikely(sid->vrf != VRF_UNDERLAY))
		return 0;
	memcpy(&next, dst->b + EXPRESS_BLOCK + bytes, sizeof(next));
	return s->usid.entry[be16_get(next)];
}

/* srv6_shift32, from one place to another: what follows the active uSID is read from `bytes` further on. */
static inline void express_shift(struct ipv6_addr *to, const struct ipv6_addr *from, unsigned int bytes)
{
	uint64_t middle = express_word(from->b + EXPRESS_BLOCK + bytes);
	uint32_t last;

	memcpy(&last, from->b + 12, sizeof(last));
	last = (uint32_t)((uint64_t)last >> 8 * bytes); /* the last byte of the address is the highest of the word */
	memcpy(to->b, from->b, EXPRESS_BLOCK);
	memcpy(to->b + EXPRESS_BLOCK, &middle, sizeof(middle));
	memcpy(to->b + 12, &last, sizeof(last));
}

static inline void express_count(struct classifier *c, uint32_t id, const struct rte_mbuf *m)
{
	struct sid_counter *counter = &c->sids[id];

	stat_add(&counter->packets, 1);
	stat_add(&counter->bytes, m->pkt_len);
}

static inline uint8_t express_slice_of(const struct snap_sid *sid, const struct snap_interface *in)
{
	return unlikely(sid->slice != SNAP_SLICE_KEEP) ? sid->slice : in->slice;
}

/*
 * The active uSID is the last one, and the upper layer follows the IPv6 header at once: decapsulate and go on in the VRF
 * of the SID. An ECN mark that the inner header would have to take over is for the general way.
 */
static __attribute__((noinline)) NO_CANARY bool express_decap(struct classifier *c, const struct snap_interface *in,
	struct rte_mbuf *m, uint32_t id, uint64_t kind, uint8_t class)
{
	const struct snapshot *s = c->s;
	const struct ipv6_hdr *ip = rte_pktmbuf_mtod_offset(m, const struct ipv6_hdr *, sizeof(struct eth_hdr));
	const struct snap_sid *sid = &s->sid[id];
	const uint8_t *inner = (const uint8_t *)(ip + 1);
	const struct express_inner i = {.kind = kind + PART(kind, slice, express_slice_of(sid, in)) +
						PART(kind, priority, class),
		.at = sizeof(struct eth_hdr) + sizeof(*ip),
		.end = (uint32_t)(sizeof(struct eth_hdr) + sizeof(*ip)) + be16_get(ip->payload_length),
		.sid = id,
		.vrf = sid->vrf,
		.tclass = sid->tclass_of[class]};

	bool taken = false;

	if (unlikely(sid->adjacency || sid->vrf == VRF_UNDERLAY || i.at + sizeof(struct ipv4_hdr) > m->data_len))
		return false;
	if (ip->next_header == IP_PROTO_IPV6 && likely(sid->decap6 || sid->usd))
		taken = !((ipv6_tc(ip) ^ ipv6_tc((const struct ipv6_hdr *)inner)) & 3) &&
			express_forward6(s, in, m, &i, false);
	else if (ip->next_header == IP_PROTO_IPV4 && likely(sid->decap4 || sid->usd))
		taken = !((ipv6_tc(ip) ^ ((const struct ipv4_hdr *)inner)->tos) & 3) && express_forward4(s, in, m, &i);
	if (likely(taken))
		express_count(c, id, m);
	return taken;
}

/* Classify one packet to a local SID. False: it is of another form, and nothing was written. */
static inline bool express_endpoint(struct classifier *c, const struct snapshot *s, const struct express *e,
	const struct snap_interface *in, struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));
	const struct snap_neigh *neigh;
	const struct snap_sid *sid;
	struct pkt *x = pkt_of(m);
	uint32_t id, bytes, dscp;
	uint64_t class;
	target_t t;

	if (unlikely(
		    m->data_len < sizeof(struct eth_hdr) + sizeof(*ip) || !express_is_for_us(e->mac, frame, WORD_IPV6)))
		return false;
	dscp = (be32_get(ip->vtc_flow) >> 22) - VERSION;
	if (unlikely(dscp >= DSCP_NETWORK_CONTROL || ip->hop_limit <= 1 || !express_is_trusted(s, e, in, &ip->src)))
		return false;
	id = express_sid_of(s, &ip->dst);
	bytes = (uint32_t)sizeof(*ip) + be16_get(ip->payload_length);
	if (unlikely(id == UINT32_MAX || sizeof(struct eth_hdr) + bytes > m->pkt_len))
		return false;
	sid = &s->sid[id];
	class = in->tclass_of_dscp[dscp];
	if (!likely(srv6_has_argument(sid, ipv6_hi(&ip->dst), ipv6_lo(&ip->dst))))
		return express_decap(c, in, m, id, e->kind, (uint8_t) class);
	t = express_way(s, sid, &ip->dst, sid->shift_bits / 8);
	neigh = &s->neigh[target_index(t)];
	if (unlikely(target_kind(t) != TARGET_NEIGH || bytes > neigh->mtu))
		return false;

	express_count(c, id, m);
	express_shift(&x->da, &ip->dst, sid->shift_bits / 8);
	x->neigh = target_index(t);
	x->hash = 0;
	x->trace = 0;
	x->strip = sizeof(struct eth_hdr);
	x->kind = e->kind + PART(kind, slice, express_slice_of(sid, in)) +
		  class * (PART(kind, priority, 1) + PART(kind, tclass, 1)) + PART(kind, egress, neigh->port);
	x->ops = PKT_OP_DA;
	x->hops = 1;
	x->family = 6;
	x->l3_bytes = (uint16_t)bytes;
	x->vrf = VRF_UNDERLAY;
	x->sid = id;
	return true;
}

/* Classify one packet of a VRF, as received. `kind`: without its class. False: nothing was written. */
static inline bool express_of_vrf(const struct snapshot *s, const struct snap_interface *in, uint64_t mac,
	uint64_t kind, struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *ip = frame + sizeof(struct eth_hdr);
	struct express_inner i = {.at = sizeof(struct eth_hdr), .end = m->pkt_len, .sid = PKT_SID_NONE, .vrf = in->vrf};
	uint32_t dscp;

	if (unlikely(m->data_len < sizeof(struct eth_hdr) + sizeof(struct ipv4_hdr)))
		return false;
	if (express_is_for_us(mac, frame, WORD_IPV6)) {
		dscp = ipv6_tc((const struct ipv6_hdr *)ip) >> 2;
		i.tclass = in->tclass_of_dscp[dscp];
		i.kind = kind + PART(kind, priority, i.tclass);
		return likely(dscp < DSCP_NETWORK_CONTROL) && express_forward6(s, in, m, &i, true);
	}
	if (unlikely(!express_is_for_us(mac, frame, WORD_IPV4)))
		return false;
	i.tclass = in->tclass_of_dscp[((const struct ipv4_hdr *)ip)->tos >> 2];
	i.kind = kind + PART(kind, priority, i.tclass);
	return express_forward4(s, in, m, &i);
}

static __attribute__((noinline)) unsigned int express_vrf_burst(const struct snapshot *s,
	const struct snap_interface *in, uint64_t mac, uint64_t kind, struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int done = 0;

	kind += PART(kind, slice, in->slice);
	while (done < n && express_of_vrf(s, in, mac, kind, pkts[done]))
		done++;
	return done;
}

/* A burst from outside the domain is not for the lane, and a block may be out of the ordinary. */
static inline bool express_is_open(const struct snapshot *s, const struct snap_interface *in)
{
	return !in->sids_closed && s->n_infrastructure && s->usid.block >> 24 < 0xfe;
}

static unsigned int express_endpoint_burst(struct classifier *c, const struct snap_interface *in, uint64_t mac,
	uint64_t kind, struct rte_mbuf **pkts, unsigned int n)
{
	const struct snapshot *s = c->s;
	const struct express e = {
		.mac = mac,
		.loopback = {express_word(s->loopback.b), express_word(s->loopback.b + 8)},
		.mask = {__builtin_bswap64(s->infrastructure[0].mask_hi),
			__builtin_bswap64(s->infrastructure[0].mask_lo)},
		.domain = {__builtin_bswap64(s->infrastructure[0].hi), __builtin_bswap64(s->infrastructure[0].lo)},
		.kind = kind,
	};
	unsigned int done = 0;

	while (done < n && express_endpoint(c, s, &e, in, pkts[done]))
		done++;
	return done;
}

unsigned int classify_express(struct classifier *c, const struct snap_interface *in, struct rte_mbuf **pkts,
	unsigned int n)
{
	uint64_t kind = PART(kind, epoch, (uint16_t)c->s->epoch) | PART(kind, verdict, PKT_FORWARD);
	uint64_t mac = express_word(&in->mac) & WORD_MAC;

	if (in->circuit || in->dscp_in)
		return 0;
	if (in->vrf != VRF_UNDERLAY)
		return express_vrf_burst(c->s, in, mac, kind, pkts, n);
	return express_is_open(c->s, in) ? express_endpoint_burst(c, in, mac, kind, pkts, n) : 0;
}
