/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The express lane of classification (express.h): untagged packets from the domain to a local uSID of a /32, which is
 * followed by another one that leads to a neighbour (uN, uA), or ends a tunnel without further headers (uDT); and
 * untagged packets of a VRF. Rx lcores.
 */
#include "classify/express.h"
#include "srv6/endpoint.h"

/* Parts of a header are compared within words, which are read as they lie in memory. */
#define WORD_GROUP 1ull /* of a MAC address */
#define WORD_TYPE (0xffffull << 48)
#define WORD_IPV6 (0xdd86ull << 48)
#define WORD_IPV4 (0x0008ull << 48)
#define VERSION (6u << 6) /* before the six bits of the DSCP */

#define EXPRESS_BLOCK 4 /* bytes of the block before the active uSID */
_Static_assert(VRF_UNDERLAY == 0, "struct express.block has it");

/* Constant during a burst. Words as they lie in memory. */
struct express {
	uint64_t mac; /* of the interface, shifted by the two bytes after it */
	uint64_t loopback[2];
	uint64_t mask[2], domain[2]; /* the first prefix of the infrastructure */
	uint64_t block; /* of uSIDs, as in the word of struct pkt that ends with the first bytes of pkt.da */
	uint64_t kind;	/* pkt.kind of all packets, without class and egress */
};

/* Do the first 14 bytes say `type`, untagged, from a station to this interface, whose address is `mac`? */
static inline bool express_is_for_us(uint64_t mac, const uint8_t *frame, uint64_t type)
{
	uint64_t to = express_word(frame), from = express_word(frame + sizeof(struct eth_addr));

	return to << 16 == mac && (from & (WORD_TYPE | WORD_GROUP)) == type && from << 16 != mac;
}

/* Is the source one of the domain, but not by its first prefix, and no special address? */
static __attribute__((noinline)) bool express_is_trusted_too(const struct snapshot *s, const struct snap_interface *in,
	const struct ipv6_addr *source)
{
	/* a first byte of 0 belongs to unspecified and loopback; from 0xfe on, to link-local and multicast */
	return (uint8_t)(source->b[0] - 1) < 0xfd && !ipv6_equal(source, &s->loopback) &&
	       (in->any_source || snap_is_infrastructure(s, ipv6_hi(source), ipv6_lo(source)));
}

static inline bool express_is_trusted(const struct snapshot *s, const struct express *e,
	const struct snap_interface *in, const struct ipv6_addr *source)
{
	uint64_t hi = express_word(source->b), lo = express_word(source->b + 8);

	if (unlikely(((hi ^ e->domain[0]) & e->mask[0]) | ((lo ^ e->domain[1]) & e->mask[1])))
		return express_is_trusted_too(s, in, source);
	return likely(hi != e->loopback[0] || lo != e->loopback[1]);
}

static inline uint16_t express_usid(const struct ipv6_addr *a, size_t at)
{
	be16_t id;

	memcpy(&id, a->b + at, sizeof(id));
	return be16_get(id);
}

/* The local SID of a destination in the block, unless it needs more than the shift or the decapsulation; or UINT32_MAX. */
static inline uint32_t express_sid_of(const struct snapshot *s, const struct ipv6_addr *dst)
{
	target_t t = s->usid.entry[express_usid(dst, EXPRESS_BLOCK)];

	if (unlikely(target_kind(t) != TARGET_SID)) {
		if (target_kind(t) == TARGET_SUBTABLE)
			t = s->usid.subtable[target_index(t)][express_usid(dst, EXPRESS_BLOCK + 2)];
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
	size_t bytes)
{
	if (sid->adjacency)
		return sid->adjacency;
	if (unlikely(sid->vrf != VRF_UNDERLAY))
		return 0;
	return s->usid.entry[express_usid(dst, EXPRESS_BLOCK + bytes)];
}

/*
 * srv6_shift32, from the frame to pkt.da, with the members beside it in the same words: what follows the active uSID is
 * read from `bytes` further on.
 */
static inline void express_shift(struct pkt *x, const struct express *e, const struct ipv6_addr *from, size_t bytes,
	uint32_t sid)
{
	uint64_t middle = express_word(from->b + EXPRESS_BLOCK + bytes), last = express_word(from->b + 8) >> 32;

	last >>= 8 * bytes; /* the last byte of the address is the highest of the word */
	EXPRESS_PUT(x, srh, e->block);
	memcpy(x->da.b + EXPRESS_BLOCK, &middle, sizeof(middle));
	EXPRESS_PUT(x, da.b[12], last | (uint64_t)sid << 32);
}

static inline void express_count(struct classifier *c, uint32_t id, const struct rte_mbuf *m)
{
	struct sid_counter *counter = &c->sids[id];

	stat_add(&counter->packets, 1);
	stat_add(&counter->bytes, m->pkt_len);
}

/* The slice of a packet that the SID has processed, in pkt.kind, where that of the interface is already. */
static inline uint64_t express_slice(uint64_t kind, const struct snap_sid *sid, const struct snap_interface *in)
{
	if (likely(sid->slice == SNAP_SLICE_KEEP))
		return kind;
	return kind - PART(kind, slice, in->slice) + PART(kind, slice, sid->slice);
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
	const struct express_inner i = {.kind = express_slice(kind, sid, in) + PART(kind, priority, class),
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
	size_t shift;
	target_t t;

	if (unlikely(
		    m->data_len < sizeof(struct eth_hdr) + sizeof(*ip) || !express_is_for_us(e->mac, frame, WORD_IPV6)))
		return false;
	dscp = (be32_get(ip->vtc_flow) >> 22) - VERSION;
	if (unlikely(dscp >= DSCP_NETWORK_CONTROL || ip->hop_limit <= 1 || !express_is_trusted(s, e, in, &ip->src)))
		return false;
	if (unlikely(express_word(ip->dst.b) << 32 != e->block))
		return false;
	id = express_sid_of(s, &ip->dst);
	bytes = (uint32_t)sizeof(*ip) + be16_get(ip->payload_length);
	if (unlikely(id == UINT32_MAX || sizeof(struct eth_hdr) + bytes > m->pkt_len))
		return false;
	sid = &s->sid[id];
	class = in->tclass_of_dscp[dscp];
	if (!likely((express_word(ip->dst.b) & sid->arg_word[0]) | (express_word(ip->dst.b + 8) & sid->arg_word[1])))
		return express_decap(c, in, m, id, e->kind, (uint8_t) class);
	shift = sid->shift_bits / 8;
	t = express_way(s, sid, &ip->dst, shift);
	neigh = &s->neigh[target_index(t)];
	if (unlikely(target_kind(t) != TARGET_NEIGH || bytes > neigh->mtu))
		return false;

	express_count(c, id, m);
	x->neigh = target_index(t);
	EXPRESS_PUT(x, hash, PART(hash, strip, sizeof(struct eth_hdr)));
	x->kind = express_slice(e->kind, sid, in) + class * (PART(kind, priority, 1) + PART(kind, tclass, 1)) +
		  PART(kind, egress, neigh->port);
	EXPRESS_PUT(x, ops,
		PART(ops, ops, PKT_OP_DA) + PART(ops, hops, 1) + PART(ops, family, 6) + PART(ops, l3_bytes, bytes));
	express_shift(x, e, &ip->dst, shift, id);
	return true;
}

/* Classify one packet of a VRF, as received. False: nothing was written. */
static inline bool express_of_vrf(const struct snapshot *s, const struct snap_interface *in, const struct express *e,
	struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *ip = frame + sizeof(struct eth_hdr);
	struct express_inner i = {.at = sizeof(struct eth_hdr), .end = m->pkt_len, .sid = PKT_SID_NONE, .vrf = in->vrf};
	uint32_t dscp;

	if (unlikely(m->data_len < sizeof(struct eth_hdr) + sizeof(struct ipv4_hdr)))
		return false;
	if (express_is_for_us(e->mac, frame, WORD_IPV6)) {
		dscp = ipv6_tc((const struct ipv6_hdr *)ip) >> 2;
		i.tclass = in->tclass_of_dscp[dscp];
		i.kind = e->kind + PART(kind, priority, i.tclass);
		return likely(dscp < DSCP_NETWORK_CONTROL) && express_forward6(s, in, m, &i, true);
	}
	if (unlikely(!express_is_for_us(e->mac, frame, WORD_IPV4)))
		return false;
	i.tclass = in->tclass_of_dscp[((const struct ipv4_hdr *)ip)->tos >> 2];
	i.kind = e->kind + PART(kind, priority, i.tclass);
	return express_forward4(s, in, m, &i);
}

/*
 * What is not for the lane goes to `others`. A burst is left to the general way when of its first `looks` frames none was
 * for the lane.
 */
static inline __attribute__((always_inline)) unsigned int express_burst(struct classifier *c, const struct express *e,
	const struct snap_interface *in, struct rte_mbuf **pkts, unsigned int n, struct rte_mbuf **others,
	unsigned int looks, bool tenant)
{
	const struct snapshot *s = c->s;
	unsigned int missed = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (likely(tenant ? express_of_vrf(s, in, e, pkts[i]) : express_endpoint(c, s, e, in, pkts[i])))
			continue;
		others[missed++] = pkts[i];
		if (unlikely(missed == looks && missed == i + 1)) {
			memcpy(others + missed, pkts + missed, (n - missed) * sizeof(pkts[0]));
			return n;
		}
	}
	return missed;
}

/* pkt.kind of all packets of a burst. */
static inline uint64_t express_kind(const struct snapshot *s, const struct snap_interface *in)
{
	return PART(kind, epoch, (uint16_t)s->epoch) | PART(kind, slice, in->slice) | PART(kind, verdict, PKT_FORWARD);
}

/* A burst from outside the domain is not for the lane; a block, or the first prefix of the domain, may be out of the ordinary. */
static inline bool express_is_open(const struct snapshot *s, const struct snap_interface *in)
{
	return !in->sids_closed && s->n_infrastructure && s->usid.block >> 24 < 0xfe &&
	       s->infrastructure[0].mask_hi >> 56 == 0xff && (uint8_t)((s->infrastructure[0].hi >> 56) - 1) < 0xfd;
}

static __attribute__((noinline)) unsigned int express_vrf_burst(struct classifier *c, const struct snap_interface *in,
	struct rte_mbuf **pkts, unsigned int n, struct rte_mbuf **others, unsigned int looks)
{
	const struct express e = {.mac = express_word(&in->mac) << 16, .kind = express_kind(c->s, in)};

	return express_burst(c, &e, in, pkts, n, others, looks, true);
}

static __attribute__((noinline)) unsigned int express_endpoint_burst(struct classifier *c,
	const struct snap_interface *in, struct rte_mbuf **pkts, unsigned int n, struct rte_mbuf **others,
	unsigned int looks)
{
	const struct snapshot *s = c->s;
	const struct snap_match *domain = &s->infrastructure[0];
	const struct express e = {
		.mac = express_word(&in->mac) << 16,
		.loopback = {express_word(s->loopback.b), express_word(s->loopback.b + 8)},
		.mask = {__builtin_bswap64(domain->mask_hi), __builtin_bswap64(domain->mask_lo)},
		.domain = {__builtin_bswap64(domain->hi), __builtin_bswap64(domain->lo)},
		.block = (uint64_t)__builtin_bswap32((uint32_t)s->usid.block) << 32,
		.kind = express_kind(s, in),
	};

	return express_burst(c, &e, in, pkts, n, others, looks, false);
}

unsigned int classify_express(struct classifier *c, const struct snap_interface *in, struct rte_mbuf **pkts,
	unsigned int n, struct rte_mbuf **others, unsigned int looks)
{
	if (likely(!in->circuit && !in->dscp_in)) {
		if (in->vrf != VRF_UNDERLAY)
			return express_vrf_burst(c, in, pkts, n, others, looks);
		if (likely(express_is_open(c->s, in)))
			return express_endpoint_burst(c, in, pkts, n, others, looks);
	}
	memcpy(others, pkts, n * sizeof(pkts[0]));
	return n;
}
