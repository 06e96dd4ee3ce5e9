/* SPDX-License-Identifier: BSD-3-Clause */
/* The express lane for packets of a VRF: looked up, and sent through a policy or to a next hop. Rx lcores. */
#include "classify/express.h"

#define IPV4_NO_OPTIONS 0x45 /* version and header length */

/* The lookup's result for an inner packet of `family` and `bytes`. False: it is of another form. */
static inline __attribute__((always_inline)) bool express_leave(const struct snapshot *s, struct rte_mbuf *m,
	const struct express_inner *i, target_t t, uint8_t family, uint32_t bytes)
{
	uint32_t path = 0, hash = 0, tclass = i->tclass, index, mtu, outer = bytes;
	struct pkt *x = pkt_of(m);
	uint8_t egress, ops = 0;

	if (likely(target_kind(t) == TARGET_POLICY)) {
		const struct snap_policy *policy = &s->policy[target_index(t)];
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

		if (unlikely(bytes > policy->inner_mtu || path_mtu_is_learnt(policy)))
			return false;
		hash = family == 6 ? hash_flow6(frame, m->data_len, i->at) : hash_flow4(frame, m->data_len, i->at);
		path = policy->bucket[hash >> (32 - SNAP_POLICY_BUCKETS_LOG2)];
		t = s->path[path].via;
		outer += s->path[path].bytes;
		tclass = s->path[path].tclass_of[tclass];
		ops = PKT_OP_ENCAP;
	}
	index = target_index(t);
	if (likely(target_kind(t) == TARGET_NEIGH)) {
		egress = (uint8_t)s->neigh[index].port;
		mtu = s->neigh[index].mtu;
	} else if (target_kind(t) == TARGET_LINK) {
		egress = snap_interface_of(index);
		mtu = snap_interface(s, index)->mtu;
		index += PKT_NEIGH_LINK;
	} else {
		return false;
	}
	if (unlikely(outer > mtu))
		return false;

	x->neigh = index;
	x->path = path;
	x->hash = hash;
	x->trace = 0;
	x->strip = (uint16_t)i->at;
	x->kind = i->kind + PART(kind, tclass, tclass) + PART(kind, egress, egress);
	x->ops = ops;
	x->hops = 1;
	x->family = family;
	x->l3_bytes = (uint16_t)bytes;
	x->vrf = i->vrf;
	x->sid = i->sid;
	return true;
}

/* Is an address one of those that are never forwarded to or from: first byte 0, or from 0xfe on? */
static inline bool express_is_odd6(const struct ipv6_addr *a)
{
	return (uint8_t)(a->b[0] - 1) >= 0xfd;
}

static inline bool express_is_own_source6(const struct snapshot *s, const struct snap_interface *in,
	const struct ipv6_addr *a)
{
	return in->own6_hints >> (a->b[15] & 63) & 1 || ipv6_equal(a, &s->loopback);
}

/* The boundary of the domain: may the packet have this source and destination on its arrival? */
static inline bool express_may_enter(const struct snapshot *s, const struct snap_interface *in,
	const struct ipv6_hdr *ip)
{
	return !(in->sids_closed && snap_in_sid_space(s, ipv6_hi(&ip->dst), ipv6_lo(&ip->dst))) &&
	       !(in->sources_closed && snap_is_infrastructure(s, ipv6_hi(&ip->src), ipv6_lo(&ip->src)));
}

NO_CANARY bool express_forward6(const struct snapshot *s, const struct snap_interface *in, struct rte_mbuf *m,
	const struct express_inner *i, bool received)
{
	const struct ipv6_hdr *ip = rte_pktmbuf_mtod_offset(m, const struct ipv6_hdr *, i->at);
	uint32_t bytes;

	if (unlikely(i->at + sizeof(*ip) > m->data_len || ip->vtc_flow.b[0] >> 4 != 6 || ip->hop_limit <= 1))
		return false;
	bytes = (uint32_t)sizeof(*ip) + be16_get(ip->payload_length);
	if (unlikely(i->at + bytes > i->end || express_is_odd6(&ip->src) || express_is_odd6(&ip->dst) ||
		     express_is_own_source6(s, in, &ip->src)))
		return false;
	if (received && unlikely(!express_may_enter(s, in, ip)))
		return false;
	return express_leave(s, m, i, fib_lookup6(snap_vrf_of(s, i->vrf)->v6, &ip->dst), 6, bytes);
}

/* RFC 1071: is the sum of a header of 20 bytes, its checksum included, all ones? */
static inline bool express_has_good_checksum(const struct ipv4_hdr *ip)
{
	uint64_t a = express_word(ip), b = express_word((const uint8_t *)ip + 8), sum;
	uint32_t c;

	memcpy(&c, (const uint8_t *)ip + 16, sizeof(c));
	sum = (a >> 32) + (uint32_t)a + (b >> 32) + (uint32_t)b + c;
	sum = (sum >> 32) + (uint32_t)sum;
	sum = (sum >> 16) + (uint16_t)sum;
	sum = (sum >> 16) + (uint16_t)sum;
	return (sum >> 16) + (uint16_t)sum == 0xffff;
}

static inline bool express_has_good_addresses4(const struct snap_interface *in, uint32_t src, uint32_t dst)
{
	return !ipv4_bad_source(src) && !ipv4_is_multicast(dst) && dst != 0xffffffff && !ipv4_stays_on_link(src) &&
	       !ipv4_stays_on_link(dst) && !(in->own4_hints >> (src & 63) & 1);
}

NO_CANARY bool express_forward4(const struct snapshot *s, const struct snap_interface *in, struct rte_mbuf *m,
	const struct express_inner *i)
{
	const struct ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, const struct ipv4_hdr *, i->at);
	uint32_t bytes;

	if (unlikely(i->at + sizeof(*ip) > m->data_len || ip->version_ihl != IPV4_NO_OPTIONS || ip->ttl <= 1))
		return false;
	bytes = be16_get(ip->total_length);
	if (unlikely(bytes < sizeof(*ip) || i->at + bytes > i->end || !express_has_good_checksum(ip)))
		return false;
	if (unlikely(!express_has_good_addresses4(in, be32_get(ip->src), be32_get(ip->dst))))
		return false;
	return express_leave(s, m, i, fib_lookup4(snap_vrf_of(s, i->vrf)->v4, be32_get(ip->dst)), 4, bytes);
}
