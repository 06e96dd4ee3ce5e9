/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The express lane of classification: an untagged IPv6 packet from the domain to a local uSID of a /32 that is followed by
 * another one (uN, uA), and whose next hop is a neighbour. Everything is read and compared before anything is written, in
 * words as wide as the headers allow. A packet that is different in any way is left as it is, and classified from its
 * start by classify_dp.c, which is the specification: both must come to the same verdict (test_express.c, the fuzzer of
 * classification). Rx lcores.
 */
#include "classify/classify_priv.h"
#include "srv6/endpoint.h"

_Static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "words of struct pkt are composed from their members");

/* A member of one byte, as part of the 64-bit word of struct pkt that begins with `first`. */
#define PART(first, member, value) \
	((uint64_t)(value) << 8 * (offsetof(struct pkt, member) - offsetof(struct pkt, first)))

/* Two or six bytes of a header are compared as part of a word, which is read as it lies in memory. */
#define WORD_MAC 0xffffffffffffull
#define WORD_GROUP 1ull /* of a MAC address */
#define WORD_TYPE (0xdd86ull << 48)
#define VERSION (6u << 6) /* before the six bits of the DSCP */

#define EXPRESS_BLOCK 4 /* bytes of the block before the active uSID */

/* Constant during a burst. Words as they lie in memory. */
struct express {
	uint64_t mac; /* of the interface */
	uint64_t loopback[2];
	uint64_t mask[2], domain[2]; /* the first prefix of the infrastructure */
	uint64_t kind;		     /* pkt.kind of all packets: epoch and verdict */
};

static inline uint64_t express_word(const void *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Do the first 14 bytes say IPv6, untagged, from a station to this interface? */
static inline bool express_is_for_us(const struct express *e, const uint8_t *frame)
{
	uint64_t to = express_word(frame), from = express_word(frame + sizeof(struct eth_addr));

	return (to & WORD_MAC) == e->mac && (from & WORD_MAC) != e->mac && !(from & WORD_GROUP) &&
	       (from & ~WORD_MAC) == WORD_TYPE;
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

/* The local SID of a destination that is shifted and sent on, or UINT32_MAX. */
static inline uint32_t express_sid_of(const struct snapshot *s, const struct ipv6_addr *dst)
{
	uint64_t hi = ipv6_hi(dst);
	const struct snap_sid *sid;
	target_t t;

	if (unlikely(hi >> 32 != s->usid.block))
		return UINT32_MAX;
	t = s->usid.entry[(uint16_t)(hi >> 16)];
	if (unlikely(target_kind(t) != TARGET_SID))
		return UINT32_MAX;
	sid = &s->sid[target_index(t)];
	if (unlikely(sid->closer || !srv6_has_argument(sid, hi, ipv6_lo(dst))))
		return UINT32_MAX;
	return target_index(t);
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

/* Classify one packet. False: it is of another form, and nothing was written. */
static inline bool express_classify(struct classifier *c, const struct snapshot *s, const struct express *e,
	const struct snap_interface *in, struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));
	const struct snap_neigh *neigh;
	struct sid_counter *counter;
	const struct snap_sid *sid;
	struct pkt *x = pkt_of(m);
	uint32_t id, bytes, dscp;
	uint64_t class;
	target_t t;

	if (unlikely(m->data_len < sizeof(struct eth_hdr) + sizeof(*ip) || !express_is_for_us(e, frame)))
		return false;
	dscp = (be32_get(ip->vtc_flow) >> 22) - VERSION;
	if (unlikely(dscp >= DSCP_NETWORK_CONTROL || ip->hop_limit <= 1 || !express_is_trusted(s, e, in, &ip->src)))
		return false;
	id = express_sid_of(s, &ip->dst);
	bytes = (uint32_t)sizeof(*ip) + be16_get(ip->payload_length);
	if (unlikely(id == UINT32_MAX || sizeof(struct eth_hdr) + bytes > m->pkt_len))
		return false;
	sid = &s->sid[id];
	t = express_way(s, sid, &ip->dst, sid->shift_bits / 8);
	neigh = &s->neigh[target_index(t)];
	if (unlikely(target_kind(t) != TARGET_NEIGH || bytes > neigh->mtu))
		return false;

	class = in->tclass_of_dscp[dscp];
	counter = &c->sids[id];
	stat_add(&counter->packets, 1);
	stat_add(&counter->bytes, m->pkt_len);
	express_shift(&x->da, &ip->dst, sid->shift_bits / 8);
	x->neigh = target_index(t);
	x->hash = 0;
	x->trace = 0;
	x->strip = sizeof(struct eth_hdr);
	x->kind = e->kind + PART(kind, slice, unlikely(sid->slice != SNAP_SLICE_KEEP) ? sid->slice : in->slice) +
		  class * (PART(kind, priority, 1) + PART(kind, tclass, 1)) + PART(kind, egress, neigh->port);
	x->ops = PKT_OP_DA;
	x->hops = 1;
	x->family = 6;
	x->l3_bytes = (uint16_t)bytes;
	x->vrf = VRF_UNDERLAY;
	x->sid = id;
	return true;
}

/* A burst from outside the domain, of a VRF or with circuits is not for the lane, and a block may be out of the ordinary. */
static inline bool express_is_open(const struct snapshot *s, const struct snap_interface *in)
{
	return !in->sids_closed && in->vrf == VRF_UNDERLAY && !in->circuit && s->n_infrastructure &&
	       s->usid.block >> 24 < 0xfe;
}

unsigned int classify_express(struct classifier *c, const struct snap_interface *in, struct rte_mbuf **pkts,
	unsigned int n)
{
	const struct snapshot *s = c->s;
	unsigned int done = 0;
	struct express e;

	if (!express_is_open(s, in))
		return 0;
	e = (struct express){
		.mac = express_word(&in->mac) & WORD_MAC,
		.loopback = {express_word(s->loopback.b), express_word(s->loopback.b + 8)},
		.mask = {__builtin_bswap64(s->infrastructure[0].mask_hi),
			__builtin_bswap64(s->infrastructure[0].mask_lo)},
		.domain = {__builtin_bswap64(s->infrastructure[0].hi), __builtin_bswap64(s->infrastructure[0].lo)},
		.kind = PART(kind, epoch, (uint16_t)s->epoch) | PART(kind, verdict, PKT_FORWARD),
	};
	while (done < n && express_classify(c, s, &e, in, pkts[done]))
		done++;
	return done;
}
