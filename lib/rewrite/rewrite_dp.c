/* SPDX-License-Identifier: BSD-3-Clause */
/* Worker lcores: strip, lower the hop limit, new destination, outer headers, Ethernet header. */
#include "rewrite/rewrite.h"

#include "pkt/flow_hash.h"
#include "wire/checksum.h"
#include "wire/srh.h"

/* Tenants may not enter the classes of network control: DSCP 48 to 63 becomes CS5 outside (docs/design.md 4). */
#define DSCP_TENANT_MAX 40

static void change_ipv4(struct ipv4_hdr *ip, const struct pkt *x)
{
	if (x->ops & PKT_OP_ECN) {
		ip->tos = (uint8_t)((ip->tos & ~3) | x->ecn);
		ip->ttl = (uint8_t)(ip->ttl - x->hops);
		ip->checksum = checksum_ipv4(ip);
	} else if (x->hops) {
		ipv4_decrement_ttl(ip);
	}
}

static void change_ecn6(struct ipv6_hdr *ip, uint8_t ecn)
{
	ip->vtc_flow = be32((be32_get(ip->vtc_flow) & ~(3u << 20)) | (uint32_t)ecn << 20);
}

/*
 * Unlink the SRH: what stands in front of it moves up over it. Returns the bytes by which the packet's start
 * moved. The header whose next-header byte named the SRH is found by walking to it again; the classifier has
 * walked the same bytes before.
 */
static uint32_t pop_srh(uint8_t *ip_at, uint32_t srh_offset)
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

static inline void change_ipv6(uint8_t *at, const struct pkt *x)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)at;

	ip->hop_limit = (uint8_t)(ip->hop_limit - x->hops);
	if (x->ops & PKT_OP_DA)
		ip->dst = x->da;
	if (unlikely(x->ops & PKT_OP_ECN))
		change_ecn6(ip, x->ecn);
	if (unlikely(x->ops & PKT_OP_SL))
		((struct srh *)(at + x->srh - x->strip))->segments_left = x->segments_left;
}

/* Outer traffic class: DSCP copied or set, ECN copied (RFC 6040 normal mode). */
static uint8_t outer_tc(const struct snap_path *path, uint8_t inner, struct lcore_stats *stats)
{
	uint8_t dscp = inner >> 2;

	if (path->dscp != SNAP_DSCP_COPY) {
		dscp = path->dscp;
	} else if (unlikely(dscp >= DSCP_NETWORK_CONTROL)) {
		dscp = DSCP_TENANT_MAX;
		stat_add(&stats->dscp_remapped, 1);
	}
	return (uint8_t)(dscp << 2 | (inner & 3));
}

/*
 * DSCP of the IP packet in a frame, behind up to two tags. No ECN: the far end could not hand a mark on, so none may
 * be set on the way (compatibility mode, RFC 6040 section 4.1). `size` bytes are readable.
 */
static uint8_t frame_tos(const uint8_t *frame, uint32_t size)
{
	unsigned int at = eth_header_bytes(frame, size);
	uint16_t type = (uint16_t)(frame[at - 2] << 8 | frame[at - 1]);

	if (type == ETH_TYPE_IPV6 && at + 2 <= size)
		return (uint8_t)((frame[at] << 4 | frame[at + 1] >> 4) & ~3);
	return type == ETH_TYPE_IPV4 && at + 2 <= size ? frame[at + 1] & (uint8_t)~3 : 0;
}

static uint8_t tos_of(const struct pkt *x, const uint8_t *inner, uint32_t size)
{
	if (likely(x->family == 6))
		return ipv6_tc((const struct ipv6_hdr *)inner);
	return x->family == 4 ? ((const struct ipv4_hdr *)inner)->tos : frame_tos(inner, size);
}

static uint8_t next_header_of(uint8_t family)
{
	return family == 6 ? IP_PROTO_IPV6 : family == 4 ? IP_PROTO_IPV4 : IP_PROTO_ETHERNET;
}

/* Copy the path's headers in front of the inner packet and fill in what depends on it. */
static inline void put_outer(uint8_t *at, const struct snapshot *s, const struct pkt *x, const uint8_t *inner,
	uint32_t readable, uint32_t inner_bytes, struct lcore_stats *stats)
{
	const struct snap_path *path = &s->path[x->path];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)at;
	uint8_t tos = tos_of(x, inner, readable);

	/* a constant size lets the copy of the common case, one address and no SRH, be three moves */
	if (likely(path->bytes == sizeof(*ip))) {
		memcpy(at, path->header, sizeof(*ip));
	} else {
		memcpy(at, path->header, path->bytes);
		if (unlikely(path->slice_at))
			*(be32_t *)(at + path->slice_at) = be32(s->slice[x->slice].wire_id);
	}
	at[path->next_header_at] = next_header_of(x->family);
	ip->vtc_flow = ipv6_vtc_flow(outer_tc(path, tos, stats),
		path->flow_label ? path->flow_label : hash_flow_label(x->hash));
	ip->payload_length = be16((uint16_t)(inner_bytes + path->bytes - sizeof(*ip)));
}

/*
 * No room for `bytes` in front of the data: a chained buffer of its own. The head keeps its identity (others hold
 * pointers to it): its data moves to a new second buffer, and the head becomes the buffer of the headers. NULL when
 * the pool is empty.
 */
static __attribute__((noinline)) uint8_t *chain_front(struct rte_mbuf *m, uint32_t bytes)
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

/* The first `strip` bytes go, `front` bytes come in their place, and there is room for them. Where the frame begins then. */
static inline uint8_t *move_front(struct rte_mbuf *m, uint32_t strip, uint32_t front)
{
	uint32_t more = front - strip;

	m->data_off = (uint16_t)(m->data_off - more);
	m->data_len = (uint16_t)(m->data_len + more);
	m->pkt_len += more;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

static inline bool has_room(const struct rte_mbuf *m, uint32_t strip, uint32_t front)
{
	return rte_pktmbuf_headroom(m) + strip >= front;
}

/* The same, whether there is room or not; NULL when the pool is empty. */
static uint8_t *make_front(struct rte_mbuf *m, uint32_t strip, uint32_t front)
{
	if (likely(has_room(m, strip, front)))
		return move_front(m, strip, front);
	move_front(m, strip, 0);
	return chain_front(m, front);
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

static inline void put_ethernet(uint8_t *frame, const struct eth_hdr *mac, uint16_t type)
{
	struct eth_hdr *eth = (struct eth_hdr *)frame;

	*eth = *mac;
	eth->type = be16(type);
}

/* Whatever there may be to do. In front of the Ethernet header room is left for so many bytes of tags. */
static __attribute__((noinline)) int rewrite_any(struct rte_mbuf *m, const struct snapshot *s,
	const struct eth_hdr *mac, uint32_t tags, struct lcore_stats *stats)
{
	const struct pkt *x = pkt_of(m);
	uint32_t popped = 0, front = (uint32_t)sizeof(*mac) + tags, inner_bytes = x->l3_bytes;
	uint8_t *at = rte_pktmbuf_mtod_offset(m, uint8_t *, x->strip), *frame;
	const struct snap_path *path = NULL;

	/* padding behind the IP packet, and outer trailers after decapsulation, do not travel on */
	if (unlikely(m->pkt_len != x->strip + inner_bytes))
		pkt_cut(m, x->strip + inner_bytes);
	pkt_unpoison(m);
	if (likely(x->family == 6))
		change_ipv6(at, x);
	else if (x->family == 4)
		change_ipv4((struct ipv4_hdr *)at, x);
	if (unlikely(x->ops & PKT_OP_POP_SRH)) {
		popped = pop_srh(at, x->srh - x->strip);
		inner_bytes -= popped;
	}
	if (x->ops & PKT_OP_ENCAP) {
		path = &s->path[x->path];
		front += path->bytes;
	}
	frame = make_front(m, x->strip + popped, front);
	if (unlikely(!frame))
		return DROP_no_buffer;
	if (path) {
		const struct rte_mbuf *rest = m->nb_segs > 1 && m->data_len == front ? m->next : NULL;

		put_outer(frame + tags + sizeof(*mac), s, x, rest ? rte_pktmbuf_mtod(rest, uint8_t *) : frame + front,
			rest ? rest->data_len : m->data_len - front, inner_bytes, stats);
	}
	put_ethernet(frame + tags, mac, path || x->family == 6 ? ETH_TYPE_IPV6 : ETH_TYPE_IPV4);
	return 0;
}

int rewrite_packet_tagged(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac,
	const struct snap_port *in, struct lcore_stats *stats)
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

/* IPv6 without padding, its header in the first buffer, and room for `front` bytes in place of what is in front of it? */
static inline bool is_simple(const struct rte_mbuf *m, const struct pkt *x, uint32_t front)
{
	return x->family == 6 && m->pkt_len == (uint32_t)x->strip + x->l3_bytes && has_room(m, x->strip, front);
}

/* Outer headers in front of a packet that is otherwise left alone. */
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
	if (unlikely(!is_simple(m, x, front) || strip + sizeof(struct ipv6_hdr) > m->data_len))
		return rewrite_any(m, s, mac, 0, stats);
	pkt_unpoison(m);
	change_ipv6(rte_pktmbuf_mtod_offset(m, uint8_t *, strip), x);
	frame = move_front(m, strip, front);
	put_outer(frame + sizeof(*mac), s, x, frame + front, m->data_len - front, x->l3_bytes, stats);
	put_ethernet(frame, mac, ETH_TYPE_IPV6);
	return 0;
}

int rewrite_packet(struct rte_mbuf *m, const struct snapshot *s, const struct eth_hdr *mac, struct lcore_stats *stats)
{
	const struct pkt *x = pkt_of(m);

	if (x->ops & ~PKT_OP_DA)
		return rewrite_encap(m, s, mac, stats);
	if (unlikely(!is_simple(m, x, sizeof(*mac))))
		return rewrite_any(m, s, mac, 0, stats);
	pkt_unpoison(m);
	change_ipv6(rte_pktmbuf_mtod_offset(m, uint8_t *, x->strip), x);
	put_ethernet(move_front(m, x->strip, sizeof(*mac)), mac, ETH_TYPE_IPV6);
	return 0;
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
