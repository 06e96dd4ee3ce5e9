/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites frames: strip, hop limit, destination, SRH, outer headers, Ethernet header. Worker lcores. */
#include "rewrite/rewrite.h"

#include "pkt/flow_hash.h"
#include "wire/checksum.h"
#include "wire/srh.h"

/* Tenants may not use the DSCPs of network control: inner DSCP 48 to 63 becomes outer CS5 (docs/design.md 4). */
#define DSCP_TENANT_MAX 40

static void rewrite_change_ipv4(struct ipv4_hdr *ip, const struct pkt *x)
{
	if (x->ops & PKT_OP_TOS) {
		ip->tos = x->tos;
		ip->ttl = (uint8_t)(ip->ttl - x->hops);
		ip->checksum = checksum_ipv4(ip);
	} else if (x->hops) {
		ipv4_decrement_ttl(ip);
	}
}

static void rewrite_change_tc6(struct ipv6_hdr *ip, uint8_t tc)
{
	ip->vtc_flow = ipv6_vtc_flow(tc, ipv6_flow_label(ip));
}

/*
 * Remove the SRH by moving the headers before it towards the end of the packet. Returns the bytes by which the start of
 * the packet moved. Walks the chain again to find the next-header field that names the SRH; the chain is known to be
 * valid, since the classifier walked the same bytes.
 */
static uint32_t rewrite_pop_srh(uint8_t *ip_at, uint32_t srh_offset)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)ip_at;
	struct srh *srh = (struct srh *)(ip_at + srh_offset);
	uint32_t bytes = srh_bytes(srh), at = sizeof(*ip);
	uint8_t *next_header = &ip->next_header;

	while (at < srh_offset) {
		struct ipv6_ext *ext = (struct ipv6_ext *)(ip_at + at);

		next_header = &ext->next_header;
		at += 8u * (ext->length + 1u);
	}
	*next_header = srh->next_header;
	ip->payload_length = be16((uint16_t)(be16_get(ip->payload_length) - bytes));
	memmove(ip_at + bytes, ip_at, srh_offset);
	return bytes;
}

/*
 * Offset of the SRH before the one at `srh` that this node has used up (PKT_OP_SPENT): of the routing headers there it is
 * the only one with segments left.
 */
static uint32_t rewrite_find_spent(const uint8_t *ip_at, uint32_t srh)
{
	uint8_t type = ((const struct ipv6_hdr *)ip_at)->next_header;
	uint32_t at = sizeof(struct ipv6_hdr);

	while (at < srh && (type != IP_PROTO_ROUTING || !((const struct srh *)(ip_at + at))->segments_left)) {
		const struct ipv6_ext *ext = (const struct ipv6_ext *)(ip_at + at);

		type = ext->next_header;
		at += 8u * (ext->length + 1u);
	}
	return at;
}

/* Write Segments Left of the SRH, and of one before it that is used up and stays. */
static inline void rewrite_segments_left(uint8_t *at, const struct pkt *x)
{
	uint32_t srh = (uint32_t)(x->srh - x->strip);

	((struct srh *)(at + srh))->segments_left = x->segments_left;
	if (unlikely((x->ops & (PKT_OP_SPENT | PKT_OP_POP_SPENT)) == PKT_OP_SPENT))
		((struct srh *)(at + rewrite_find_spent(at, srh)))->segments_left = 0;
}

/* Remove the SRH, one before it, or both. Returns the bytes. */
static uint32_t rewrite_pop(uint8_t *at, const struct pkt *x)
{
	uint32_t srh = (uint32_t)(x->srh - x->strip), bytes = 0;

	if (unlikely(x->ops & PKT_OP_POP_SPENT))
		bytes = rewrite_pop_srh(at, rewrite_find_spent(at, srh));
	if (x->ops & PKT_OP_POP_SRH)
		bytes += rewrite_pop_srh(at + bytes, srh - bytes);
	return bytes;
}

static inline void rewrite_change_ipv6(uint8_t *at, const struct pkt *x)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)at;

	ip->hop_limit = (uint8_t)(ip->hop_limit - x->hops);
	if (x->ops & PKT_OP_DA)
		ip->dst = x->da;
	if (unlikely(x->ops & PKT_OP_TOS))
		rewrite_change_tc6(ip, x->tos);
	if (unlikely(x->ops & PKT_OP_SL))
		rewrite_segments_left(at, x);
}

/* Outer DSCP of a policy that maps the inner one. */
static __attribute__((noinline, cold)) uint8_t rewrite_mapped_dscp(const struct snap_path *path, uint8_t inner,
	struct lcore_stats *stats)
{
	uint8_t dscp = path->dscp_of[inner];

	if (dscp < DSCP_NETWORK_CONTROL) {
		stat_add(&stats->dscp_mapped_encap, dscp != inner);
		return dscp;
	}
	stat_add(&stats->dscp_remapped, 1);
	return DSCP_TENANT_MAX;
}

/* Outer traffic class: DSCP copied, mapped or configured, ECN copied (RFC 6040 normal mode). */
static uint8_t rewrite_outer_tc(const struct snap_path *path, uint8_t inner, struct lcore_stats *stats)
{
	uint8_t dscp = inner >> 2;

	if (path->dscp != SNAP_DSCP_COPY) {
		dscp = path->dscp;
		if (unlikely(dscp == SNAP_DSCP_MAP))
			dscp = rewrite_mapped_dscp(path, inner >> 2, stats);
	} else if (unlikely(dscp >= DSCP_NETWORK_CONTROL)) {
		dscp = DSCP_TENANT_MAX;
		stat_add(&stats->dscp_remapped, 1);
	}
	return (uint8_t)(dscp << 2 | (inner & 3));
}

/*
 * Traffic class of the IP packet in a frame, after up to two tags, with ECN cleared: the tunnel end cannot copy a CE
 * mark into the frame, so the outer header must be Not-ECT (RFC 6040 section 4.1, compatibility mode). `size` bytes
 * are readable.
 */
static uint8_t rewrite_frame_tos(const uint8_t *frame, uint32_t size)
{
	unsigned int at = eth_header_bytes(frame, size);
	uint16_t type = (uint16_t)(frame[at - 2] << 8 | frame[at - 1]);

	if (type == ETH_TYPE_IPV6 && at + 2 <= size)
		return (uint8_t)((frame[at] << 4 | frame[at + 1] >> 4) & ~3);
	return type == ETH_TYPE_IPV4 && at + 2 <= size ? frame[at + 1] & (uint8_t)~3 : 0;
}

static uint8_t rewrite_tos_of(const struct pkt *x, const uint8_t *inner, uint32_t size)
{
	if (likely(x->family == 6))
		return ipv6_tc((const struct ipv6_hdr *)inner);
	return x->family == 4 ? ((const struct ipv4_hdr *)inner)->tos : rewrite_frame_tos(inner, size);
}

static uint8_t rewrite_next_header_of(uint8_t family)
{
	return family == 6 ? IP_PROTO_IPV6 : family == 4 ? IP_PROTO_IPV4 : IP_PROTO_ETHERNET;
}

/* Write the outer headers of the path to `at`, before the inner packet, and fill in the fields that depend on it. */
static inline void rewrite_put_outer(uint8_t *at, const struct snapshot *s, const struct pkt *x, const uint8_t *inner,
	uint32_t readable, uint32_t inner_bytes, struct lcore_stats *stats)
{
	const struct snap_path *path = &s->path[x->path];
	struct path_traffic *sent = &stats->path[x->path];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)at;
	uint8_t tos = rewrite_tos_of(x, inner, readable);

	/* common case, no SRH: with a constant size the compiler copies 40 bytes in three moves */
	if (likely(path->bytes == sizeof(*ip))) {
		memcpy(at, path->header, sizeof(*ip));
	} else {
		memcpy(at, path->header, path->bytes);
		if (unlikely(path->slice_at))
			*(be32_t *)(at + path->slice_at) = be32(s->slice[x->slice].wire_id);
	}
	at[path->next_header_at] = rewrite_next_header_of(x->family);
	ip->vtc_flow = ipv6_vtc_flow(rewrite_outer_tc(path, tos, stats),
		path->flow_label ? path->flow_label : hash_flow_label(x->hash));
	ip->payload_length = be16((uint16_t)(inner_bytes + path->bytes - sizeof(*ip)));
	stat_add(&sent->packets, 1);
	stat_add(&sent->bytes, inner_bytes + path->bytes);
}

/*
 * Make room for `bytes` before the data when the headroom is too small. The head must stay the head, since pointers to
 * it exist, so its data moves to a new second buffer and the head receives the headers. Returns NULL when the pool is
 * empty.
 */
static __attribute__((noinline)) uint8_t *rewrite_chain_front(struct rte_mbuf *m, uint32_t bytes)
{
	struct rte_mbuf *tail = rte_pktmbuf_alloc(m->pool);

	if (!tail)
		return NULL;
	memcpy(rte_pktmbuf_mtod(tail, void *), rte_pktmbuf_mtod(m, void *), m->data_len);
	tail->data_len = m->data_len;
	tail->next = m->next;
	m->next = tail;
	m->nb_segs++;
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->data_len = (uint16_t)bytes;
	m->pkt_len += bytes;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

/* Replace the first `strip` bytes by `front` bytes, for which there is headroom. Returns the new start of the frame. */
static inline uint8_t *rewrite_move_front(struct rte_mbuf *m, uint32_t strip, uint32_t front)
{
	uint32_t more = front - strip;

	m->data_off = (uint16_t)(m->data_off - more);
	m->data_len = (uint16_t)(m->data_len + more);
	m->pkt_len += more;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

static inline bool rewrite_has_room(const struct rte_mbuf *m, uint32_t strip, uint32_t front)
{
	return rte_pktmbuf_headroom(m) + strip >= front;
}

/* Like rewrite_move_front, with or without headroom. Returns NULL when the pool is empty. */
static uint8_t *rewrite_make_front(struct rte_mbuf *m, uint32_t strip, uint32_t front)
{
	if (likely(rewrite_has_room(m, strip, front)))
		return rewrite_move_front(m, strip, front);
	rewrite_move_front(m, strip, 0);
	return rewrite_chain_front(m, front);
}

void rewrite_frame(struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);

	if (m->pkt_len != (uint32_t)x->strip + x->l3_bytes)
		pkt_cut(m, (uint32_t)x->strip + x->l3_bytes);
	pkt_unpoison(m);
	m->data_off = (uint16_t)(m->data_off + x->strip);
	m->data_len = (uint16_t)(m->data_len - x->strip);
	m->pkt_len -= x->strip;
}

static inline void rewrite_put_ethernet(uint8_t *frame, const struct eth_hdr *mac, uint16_t type)
{
	struct eth_hdr *eth = (struct eth_hdr *)frame;

	*eth = *mac;
	eth->type = be16(type);
}

/* The complete case: apply all changes. Leaves `tags` bytes of room before the Ethernet header. */
static __attribute__((noinline)) int rewrite_any(struct rte_mbuf *m, const struct snapshot *s,
	const struct eth_hdr *mac, uint32_t tags, struct lcore_stats *stats)
{
	const struct pkt *x = pkt_of(m);
	uint32_t popped = 0, front = (uint32_t)sizeof(*mac) + tags, inner_bytes = x->l3_bytes;
	uint8_t *at = rte_pktmbuf_mtod_offset(m, uint8_t *, x->strip), *frame;
	const struct snap_path *path = NULL;

	/* remove padding after the IP packet, and outer trailers after decapsulation */
	if (unlikely(m->pkt_len != x->strip + inner_bytes))
		pkt_cut(m, x->strip + inner_bytes);
	pkt_unpoison(m);
	if (likely(x->family == 6))
		rewrite_change_ipv6(at, x);
	else if (x->family == 4)
		rewrite_change_ipv4((struct ipv4_hdr *)at, x);
	if (unlikely(x->ops & (PKT_OP_POP_SRH | PKT_OP_POP_SPENT))) {
		popped = rewrite_pop(at, x);
		inner_bytes -= popped;
	}
	if (x->ops & PKT_OP_ENCAP) {
		path = &s->path[x->path];
		front += path->bytes;
	}
	frame = rewrite_make_front(m, x->strip + popped, front);
	if (unlikely(!frame))
		return DROP_no_buffer;
	if (path) {
		const struct rte_mbuf *rest = m->nb_segs > 1 && m->data_len == front ? m->next : NULL;

		rewrite_put_outer(frame + tags + sizeof(*mac), s, x,
			rest ? rte_pktmbuf_mtod(rest, uint8_t *) : frame + front,
			rest ? rest->data_len : m->data_len - front, inner_bytes, stats);
	}
	rewrite_put_ethernet(frame + tags, mac, path || x->family == 6 ? ETH_TYPE_IPV6 : ETH_TYPE_IPV4);
	return 0;
}

int rewrite_packet_tagged(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac,
	const struct snap_interface *in, struct lcore_stats *stats)
{
	uint32_t tags = in->n_tags * (uint32_t)sizeof(struct vlan_tag);
	int reason = rewrite_any(m, s, mac, tags, stats);
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint16_t type;

	if (unlikely(reason))
		return reason;
	type = be16_get(((const struct eth_hdr *)(frame + tags))->type);
	*(struct eth_hdr *)frame = *mac;
	eth_put_tags(frame, in->tag[0].type, in->tag[0].id, in->n_tags > 1 ? in->tag[1].id : 0,
		MIN_OF(pkt_of(m)->tclass, 7), type);
	return 0;
}

/* Fast path: an IPv6 packet without padding, with headroom for `front` bytes? */
static inline bool rewrite_is_simple(const struct rte_mbuf *m, const struct pkt *x, uint32_t front)
{
	return x->family == 6 && m->pkt_len == (uint32_t)x->strip + x->l3_bytes && rewrite_has_room(m, x->strip, front);
}

/* Fast path of encapsulation: no other change to the inner packet. */
static __attribute__((noinline)) int rewrite_encap(struct rte_mbuf *m, const struct snapshot *s,
	const struct eth_hdr *mac, struct lcore_stats *stats)
{
	const struct pkt *x = pkt_of(m);
	const struct snap_path *path;
	uint32_t strip = x->strip, front;
	uint8_t *frame;

	if (unlikely(x->ops != PKT_OP_ENCAP))
		return rewrite_any(m, s, mac, 0, stats);
	path = &s->path[x->path];
	front = (uint32_t)sizeof(*mac) + path->bytes;
	if (unlikely(!rewrite_is_simple(m, x, front) || strip + sizeof(struct ipv6_hdr) > m->data_len))
		return rewrite_any(m, s, mac, 0, stats);
	pkt_unpoison(m);
	rewrite_change_ipv6(rte_pktmbuf_mtod_offset(m, uint8_t *, strip), x);
	frame = rewrite_move_front(m, strip, front);
	rewrite_put_outer(frame + sizeof(*mac), s, x, frame + front, m->data_len - front, x->l3_bytes, stats);
	rewrite_put_ethernet(frame, mac, ETH_TYPE_IPV6);
	return 0;
}

int rewrite_packet(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac, struct lcore_stats *stats)
{
	const struct pkt *x = pkt_of(m);

	if (x->ops & ~PKT_OP_DA)
		return rewrite_encap(m, s, mac, stats);
	if (unlikely(!rewrite_is_simple(m, x, sizeof(*mac))))
		return rewrite_any(m, s, mac, 0, stats);
	pkt_unpoison(m);
	rewrite_change_ipv6(rte_pktmbuf_mtod_offset(m, uint8_t *, x->strip), x);
	rewrite_put_ethernet(rewrite_move_front(m, x->strip, sizeof(*mac)), mac, ETH_TYPE_IPV6);
	return 0;
}

/* The TOS field or traffic class of an IP header: write `dscp` over the DSCP. */
static void rewrite_put_dscp(uint8_t *ip, bool six, uint8_t dscp)
{
	struct ipv4_hdr *four = (struct ipv4_hdr *)ip;

	if (six) {
		rewrite_change_tc6((struct ipv6_hdr *)ip, (uint8_t)(dscp << 2 | (ipv6_tc((struct ipv6_hdr *)ip) & 3)));
		return;
	}
	four->tos = (uint8_t)(dscp << 2 | (four->tos & 3));
	four->checksum = checksum_ipv4(four);
}

void rewrite_map_dscp(struct rte_mbuf *m, const struct snap_interface *in, struct lcore_stats *stats)
{
	uint32_t at = (uint32_t)(sizeof(struct eth_hdr) + in->n_tags * sizeof(struct vlan_tag));
	struct pkt *x = pkt_of(m);
	bool six = x->family == 6 || x->ops & PKT_OP_ENCAP;
	uint8_t *ip, tos, dscp;

	if (x->tclass == PKT_CLASS_CONTROL)
		return;
	/* without headroom the IP packet has stayed in a buffer of its own (rewrite_chain_front) */
	ip = m->data_len > at ? rte_pktmbuf_mtod_offset(m, uint8_t *, at) : rte_pktmbuf_mtod(m->next, uint8_t *);
	tos = six ? ipv6_tc((const struct ipv6_hdr *)ip) : ((const struct ipv4_hdr *)ip)->tos;
	dscp = in->dscp_out[tos >> 2];
	if (dscp == tos >> 2)
		return;
	rewrite_put_dscp(ip, six, dscp);
	stat_add(&stats->dscp_mapped_out, 1);
	/* a packet that comes back from the device's burst gets its DSCP again (sched_take_back) */
	if (!(x->ops & PKT_OP_ENCAP)) {
		x->ops |= PKT_OP_TOS;
		x->tos = tos;
	}
}

struct ip_addr rewrite_destination(struct rte_mbuf *m, const struct snapshot *s)
{
	const struct pkt *x = pkt_of(m);
	const uint8_t *at = rte_pktmbuf_mtod_offset(m, const uint8_t *, x->strip);

	if (x->ops & PKT_OP_ENCAP)
		return ip_addr_from6(&((const struct ipv6_hdr *)s->path[x->path].header)->dst);
	if (x->ops & PKT_OP_DA)
		return ip_addr_from6(&x->da);
	if (x->family == 6)
		return ip_addr_from6(&((const struct ipv6_hdr *)at)->dst);
	return ip_addr_from4(be32_get(((const struct ipv4_hdr *)at)->dst));
}
