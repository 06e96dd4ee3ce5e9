/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of BFD: IP and UDP around the messages (RFC 5881 sections 4 and 5, RFC 7881 sections 3 and 4). Packets of a
 * session with a next hop leave on its link; those of a path get the outer headers of the path. Control lcore.
 */
#include "classify/vlan.h"
#include "node/control_send.h"
#include "service/bfd/service_bfd.h"
#include "wire/checksum.h"
#include "wire/udp.h"

#define TRAFFIC_CLASS (DSCP_NETWORK_CONTROL << 2)
#define PACKET_MAX (sizeof(struct ipv6_hdr) + sizeof(struct udp_hdr) + BFD_MESSAGE_MAX)

struct flow {
	struct ip_addr from, to;
	uint16_t src_port, dst_port;
};

/* Complete a UDP datagram. sum: of the pseudo-header. */
static void put_udp(struct udp_hdr *udp, const struct flow *f, uint32_t sum, const void *message, size_t bytes)
{
	size_t size = sizeof(*udp) + bytes;

	*udp = (struct udp_hdr){.src_port = be16(f->src_port),
		.dst_port = be16(f->dst_port),
		.length = be16((uint16_t)size)};
	memcpy(udp + 1, message, bytes);
	udp->checksum = checksum_finish(checksum_add(sum, udp, size));
	if (!be16_get(udp->checksum))
		udp->checksum = be16(0xffff); /* 0 would mean no checksum */
}

static uint32_t pseudo4(const struct ip_addr *from, const struct ip_addr *to, uint16_t length)
{
	const uint8_t rest[4] = {0, IP_PROTO_UDP, (uint8_t)(length >> 8), (uint8_t)length};

	return checksum_add(checksum_add(checksum_add(0, from->b, 4), to->b, 4), rest, sizeof(rest));
}

/* Write an IP packet. Returns its size in bytes. */
static size_t put_packet(uint8_t *out, const struct flow *f, const void *message, size_t bytes)
{
	uint16_t length = (uint16_t)(sizeof(struct udp_hdr) + bytes);
	struct ipv6_hdr *six = (struct ipv6_hdr *)out;
	struct ipv4_hdr *four = (struct ipv4_hdr *)out;

	if (f->from.family == 6) {
		*six = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(TRAFFIC_CLASS, 0),
			.payload_length = be16(length),
			.next_header = IP_PROTO_UDP,
			.hop_limit = BFD_HOP_LIMIT,
			.src = f->from.v6,
			.dst = f->to.v6};
		put_udp((struct udp_hdr *)(six + 1), f, checksum_pseudo6(&six->src, &six->dst, length, IP_PROTO_UDP),
			message, bytes);
		return sizeof(*six) + length;
	}
	*four = (struct ipv4_hdr){.version_ihl = 0x45,
		.tos = TRAFFIC_CLASS,
		.total_length = be16((uint16_t)(sizeof(*four) + length)),
		.fragment = be16(IPV4_DF),
		.ttl = BFD_HOP_LIMIT,
		.protocol = IP_PROTO_UDP};
	memcpy(&four->src, f->from.b, sizeof(four->src));
	memcpy(&four->dst, f->to.b, sizeof(four->dst));
	four->checksum = checksum_ipv4(four);
	put_udp((struct udp_hdr *)(four + 1), f, pseudo4(&f->from, &f->to, length), message, bytes);
	return sizeof(*four) + length;
}

void bfd_send(void *arg, const struct bfd_session *s, uint16_t port, const void *message, size_t bytes)
{
	const struct bfd_peer *peer = bfd_peer_of(s);
	struct control_role *c = arg;
	struct flow f = {.from = peer->local,
		.to = port == BFD_PORT_ECHO ? peer->local : peer->remote,
		.src_port = bfd_source_port(s),
		.dst_port = port};
	uint8_t room[SNAP_ENCAP_BYTES_MAX + PACKET_MAX], *packet = room + SNAP_ENCAP_BYTES_MAX;
	size_t size = put_packet(packet, &f, message, bytes);
	struct rte_mbuf *m;

	if (peer->kind == BFD_SBFD) {
		const struct control_tunnelled t = {.path = peer->user,
			.flow = bfd_source_port(s),
			.type = IP_PROTO_IPV6,
			.traffic_class = TRAFFIC_CLASS};

		control_send_on_path(c, &t, packet, size);
		return;
	}
	if (!snap_interface(c->s, peer->interface))
		return;
	m = control_packet(c, packet, (uint32_t)size);
	if (!m)
		return;
	/* an echo packet is addressed to this node itself */
	if (port == BFD_PORT_ECHO)
		control_send_to_next_hop(c, m, f.from.family, peer->user);
	else
		control_send_on_link(c, m, f.from.family, peer->interface);
}

/* --- received --- */

/* The UDP datagram that follows the IP header; its addresses and ports go to *f. NULL: length or checksum is wrong. */
static const struct udp_hdr *read_packet(const uint8_t *packet, size_t size, struct flow *f, uint8_t *hop_limit)
{
	const struct ipv6_hdr *six = (const struct ipv6_hdr *)packet;
	const struct ipv4_hdr *four = (const struct ipv4_hdr *)packet;
	bool v6 = packet[0] >> 4 == 6;
	size_t at = v6 ? sizeof(*six) : ipv4_header_bytes(four);
	const struct udp_hdr *udp = (const struct udp_hdr *)(packet + at);
	uint16_t length;
	uint32_t sum;

	f->from.family = f->to.family = v6 ? 6 : 4;
	memcpy(f->from.b, v6 ? six->src.b : four->src.b, v6 ? 16 : 4);
	memcpy(f->to.b, v6 ? six->dst.b : four->dst.b, v6 ? 16 : 4);
	*hop_limit = v6 ? six->hop_limit : four->ttl;
	if (size < at + sizeof(*udp))
		return NULL;
	f->src_port = be16_get(udp->src_port);
	f->dst_port = be16_get(udp->dst_port);
	length = be16_get(udp->length);
	if (length < sizeof(*udp) || at + length > size)
		return NULL;
	if (!be16_get(udp->checksum))
		return v6 ? NULL : udp;
	sum = v6 ? checksum_pseudo6(&six->src, &six->dst, length, IP_PROTO_UDP) : pseudo4(&f->from, &f->to, length);
	return be16_get(checksum_finish(checksum_add(sum, udp, length))) ? NULL : udp;
}

/* Answer a packet to the reflector, by the table in which it arrived. */
static void answer(struct control_role *c, const struct flow *of, const void *message, size_t bytes, uint16_t vrf)
{
	const struct flow f = {.from = of->to, .to = of->from, .src_port = BFD_PORT_SBFD, .dst_port = of->src_port};
	uint8_t packet[PACKET_MAX];
	struct rte_mbuf *m = control_packet(c, packet, (uint32_t)put_packet(packet, &f, message, bytes));

	if (m)
		control_send_routed(c, m, vrf);
}

/* May the reflector be asked? By nodes of the domain, and not too often. */
static enum bfd_refusal may_ask(struct control_role *c, const struct flow *f)
{
	const struct snapshot *s = c->s;

	if (f->from.family != 6 || !snap_is_infrastructure(s, ipv6_hi(&f->from.v6), ipv6_lo(&f->from.v6)))
		return BFD_REFUSED_source;
	return bucket_take(&node_bfd(c->node)->reflected, c->now, s->sbfd_rate, s->sbfd_rate / 10 + 1)
		       ? BFD_ACCEPTED
		       : BFD_REFUSED_limit;
}

/* Is the packet as the neighbour sent it? Inside a tunnel, or by way of a SID, a hop limit of 255 proves nothing. */
static bool is_from_link(const struct control_role *c, const struct rte_mbuf *m, const struct pkt *x)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	return m->port != PORT_LOCAL && !(x->ops & PKT_OP_DA) &&
	       vlan_find(c->s, &c->s->port[m->port], frame, m->data_len).at == x->strip;
}

static enum bfd_refusal receive(struct control_role *c, struct rte_mbuf *m, size_t size)
{
	const struct snap_interface *in = control_came_in_by(c, m);
	struct bfd_table *table = node_bfd(c->node)->table;
	const struct pkt *x = pkt_of(m);
	uint8_t reply[BFD_MESSAGE_MAX];
	struct bfd_received r = {.interface = in ? in->interface : 0};
	enum bfd_refusal refusal = BFD_REFUSED_udp;
	const struct udp_hdr *udp;
	struct flow f = {0};
	size_t bytes;

	udp = read_packet(c->scratch, size, &f, &r.hop_limit);
	if (!udp)
		goto refused;
	r.reply = f.src_port == BFD_PORT_SBFD;
	r.port = r.reply ? BFD_PORT_SBFD : f.dst_port;
	r.from = f.from;
	r.data = udp + 1;
	r.size = be16_get(udp->length) - sizeof(*udp);
	refusal = r.port == BFD_PORT_SBFD && !r.reply ? may_ask(c, &f) : BFD_ACCEPTED;
	if (r.port != BFD_PORT_SBFD && (!in || !is_from_link(c, m, x)))
		refusal = BFD_REFUSED_hop_limit;
	if (refusal != BFD_ACCEPTED)
		goto refused;
	refusal = bfd_receive(table, c->now, &r, reply, &bytes);
	if (bytes)
		answer(c, &f, reply, bytes, x->vrf);
	return refusal;
refused:
	bfd_count_refused(table, refusal);
	return refusal;
}

enum reason bfd_take(struct control_role *c, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	size_t size = pkt_copy_out(m, x->strip, c->scratch, MIN_OF(x->l3_bytes, sizeof(c->scratch)));

	/* the last snapshot had BFD, the one that classified the packet as well, but this one has not */
	if (!node_bfd(c->node)->table)
		return DROP_not_served;
	if (x->ops & PKT_OP_DA)
		((struct ipv6_hdr *)c->scratch)->dst = x->da;
	return receive(c, m, size) == BFD_ACCEPTED ? CONSUME_bfd : DROP_bfd_refused;
}
