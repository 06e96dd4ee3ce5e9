/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands tunnelled frames to the rx lcore that their flow label chooses (spread.h). Rx lcores. */
#include "node/service.h"
#include "wire/ipv4.h"

#define L4_PORTS 4 /* bytes of both port numbers, the first of UDP and TCP */

bool spread_is_on(const struct rx_queue *q)
{
	return q->lanes && __atomic_load_n(&q->port->abilities.spread, __ATOMIC_RELAXED) == PORT_SPREAD_SOFTWARE;
}

static uint32_t mixed(uint64_t x)
{
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(x >> 32) ^ (uint32_t)(x >> 58);
}

/* Both directions of a flow give the same number. at: of the transport header. */
static uint64_t ports_sum(const uint8_t *frame, uint32_t at, uint32_t end, uint8_t proto)
{
	be16_t port[2];

	if ((proto != IP_PROTO_UDP && proto != IP_PROTO_TCP) || at + L4_PORTS > end)
		return 0;
	memcpy(port, frame + at, sizeof(port));
	return (uint64_t)be16_get(port[0]) + be16_get(port[1]);
}

static uint64_t sum_v6(const uint8_t *frame, uint32_t at, uint32_t end)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(frame + at);

	if (at + sizeof(*ip) > end)
		return 0;
	return (ipv6_hi(&ip->src) + ipv6_hi(&ip->dst)) * 31 + ipv6_lo(&ip->src) + ipv6_lo(&ip->dst) +
	       (ports_sum(frame, at + sizeof(*ip), end, ip->next_header) << 17);
}

static uint64_t sum_v4(const uint8_t *frame, uint32_t at, uint32_t end)
{
	const struct ipv4_hdr *ip = (const struct ipv4_hdr *)(frame + at);
	uint64_t sum;

	if (at + sizeof(*ip) > end)
		return 0;
	sum = (uint64_t)be32_get(ip->src) + be32_get(ip->dst);
	if (be16_get(ip->fragment) & (IPV4_MF | IPV4_OFFSET_MASK)) /* later fragments have no ports */
		return sum;
	return sum + (ports_sum(frame, at + ipv4_header_bytes(ip), end, ip->protocol) << 17);
}

/* The flow inside the tunnel; 0: none is found. at: of the header behind the outer one, of type next. */
static uint64_t inner_flow(const uint8_t *frame, uint32_t at, uint32_t end, uint8_t next)
{
	if (next == IP_PROTO_ROUTING) {
		const struct ipv6_ext *ext = (const struct ipv6_ext *)(frame + at);

		if (at + sizeof(*ext) > end)
			return 0;
		next = ext->next_header;
		at += 8 * (ext->length + 1u);
	}
	if (next == IP_PROTO_IPV6)
		return sum_v6(frame, at, end);
	return next == IP_PROTO_IPV4 ? sum_v4(frame, at, end) : 0;
}

static bool has_inner(uint8_t next)
{
	return next == IP_PROTO_IPV6 || next == IP_PROTO_IPV4 || next == IP_PROTO_ROUTING || next == IP_PROTO_ETHERNET;
}

/* The lane of a frame; -1: it stays. Only its first buffer is read. */
static int lane_of(const struct spread_lanes *l, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t end = m->data_len, at;
	const struct ipv6_hdr *ip;
	uint64_t flow = 0;
	uint16_t type;

	if (end < sizeof(struct eth_hdr))
		return -1;
	at = eth_header_bytes(frame, end);
	type = (uint16_t)(frame[at - 2] << 8 | frame[at - 1]);
	ip = (const struct ipv6_hdr *)(frame + at);
	if (at + sizeof(*ip) > end || type != ETH_TYPE_IPV6 || !has_inner(ip->next_header))
		return -1;
	if (!l->symmetric)
		flow = be32_get(ip->vtc_flow) & IPV6_FLOW_MASK;
	if (!flow)
		flow = inner_flow(frame, at + sizeof(*ip), end, ip->next_header);
	return flow ? (int)((uint64_t)mixed(flow) * l->n >> 32) : -1;
}

static void release_from(struct rx_role *rx, struct spread_mail *s)
{
	uint32_t popped = (uint32_t)stat_read(&s->box.popped);

	for (; s->released != popped; s->released++) {
		const struct spread_charge *c = &s->charge[s->released % LIMIT_SPREAD_RING];

		if (c->buffers)
			account_release(&rx->waiting[c->port][c->class], c->bytes, c->buffers);
	}
}

bool spread_release(struct rx_role *rx)
{
	bool some = false;

	for (uint16_t i = 0; i < rx->node->n_rx; i++) {
		struct spread_mail *s = &rx->to_rx[i];

		if (s->pushed == s->released)
			continue;
		release_from(rx, s);
		some = some || s->pushed != s->released;
	}
	return some;
}

bool spread_has_room(struct rx_role *rx, const struct rx_queue *q)
{
	const struct spread_lanes *l = q->lanes;

	for (uint16_t i = 0; i < l->n; i++) {
		struct spread_mail *s = &rx->to_rx[l->role[i]];

		if (l->role[i] == rx->index)
			continue;
		release_from(rx, s);
		if (s->pushed - s->released > LIMIT_SPREAD_RING - 1 - NODE_BURST)
			return false;
	}
	return true;
}

static void hand_on(struct rx_role *rx, struct spread_mail *s, struct rte_mbuf *m, uint16_t port, uint8_t class)
{
	struct spread_charge *c = &s->charge[s->pushed++ % LIMIT_SPREAD_RING];

	m->port = port;
	*c = (struct spread_charge){.bytes = m->pkt_len, .port = (uint8_t)port, .class = class};
	if (rx->classifier.s->port[port].lossless >> class & 1) {
		c->buffers = m->nb_segs;
		account_charge(&rx->waiting[port][class], c->bytes, c->buffers);
	}
	mailbox_push_packets(&s->box, &m, 1);
}

uint16_t spread_deal(struct rx_role *rx, const struct rx_queue *q, struct rte_mbuf **pkts, uint16_t n, uint64_t *bytes)
{
	const struct snap_interface *in = &rx->classifier.s->port[q->port->index];
	uint16_t stay = 0;

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const uint8_t *));
	for (uint16_t i = 0; i < n; i++) {
		int lane = lane_of(q->lanes, pkts[i]);
		uint8_t role = lane < 0 ? (uint8_t)rx->index : q->lanes->role[lane];
		uint8_t class = role == rx->index ? PKT_CLASS_CONTROL : classify_class(in, pkts[i]);

		if (class == PKT_CLASS_CONTROL) {
			pkts[stay++] = pkts[i];
			continue;
		}
		*bytes += pkts[i]->pkt_len;
		hand_on(rx, &rx->to_rx[role], pkts[i], q->port->index, class);
	}
	return stay;
}
