/* SPDX-License-Identifier: BSD-3-Clause */
/* Build and parse the frames of hosts. Pure. */
#include <rte_hash_crc.h>

#include "lab/host_priv.h"
#include "wire/checksum.h"
#include "wire/udp.h"

#define ECT0 2
#define CE 3

/* The first address of a family; zero when the host has none. */
static struct ip_addr host_address(const struct lab_host *h, uint64_t family)
{
	for (uint32_t i = 0; i < h->topo->addresses.n; i++)
		if (h->topo->addresses.items[i].addr.family == family)
			return h->topo->addresses.items[i].addr;
	return (struct ip_addr){0};
}

static bool first_of_message(const struct lab_qp *q, uint64_t packet)
{
	return !qp_is_datagram(q) && packet % q->per_message == 0;
}

uint32_t frame_payload(const struct lab_qp *q, uint64_t packet)
{
	uint64_t at = packet % q->per_message, bytes = q->flow->mtu;

	if (at == q->per_message - 1)
		bytes = q->flow->message - at * q->flow->mtu;
	return (uint32_t)MAX_OF(bytes, sizeof(struct host_mark));
}

/* rte_hash_crc reads words without regard to alignment; this copy is aligned. */
static uint32_t crc_of(const void *data, size_t size, uint32_t crc)
{
	_Alignas(8) uint8_t aligned[64];

	memcpy(aligned, data, size);
	return rte_hash_crc(aligned, (uint32_t)size, crc);
}

/* The fields that the ICRC would cover: addresses, UDP ports, BTH and the mark. */
static uint32_t check_of(const void *addresses, size_t addresses_size, const struct udp_hdr *udp,
	const struct roce_bth *bth, const struct host_mark *mark)
{
	uint32_t crc = crc_of(addresses, addresses_size, 0);

	crc = crc_of(udp, 4, crc);
	crc = crc_of(bth, sizeof(*bth), crc);
	return mark ? crc_of(mark, offsetof(struct host_mark, check), crc) : crc;
}

/* Ethernet, IP and UDP from one host to another; returns the first byte after them. */
static uint8_t *write_headers(const struct lab_host *from, const struct lab_host *to, const struct lab_qp *q,
	const struct host_port *p, uint8_t dscp, uint8_t ecn, uint32_t udp_bytes, uint8_t *out)
{
	struct ip_addr src = host_address(from, q->flow->family), dst = host_address(to, q->flow->family);
	struct eth_hdr *eth = (struct eth_hdr *)out;
	struct udp_hdr *udp;
	uint8_t tos = (uint8_t)(dscp << 2 | ecn);

	eth->dst = p->peer;
	eth->src = p->mac;
	if (src.family == 4) {
		struct ipv4_hdr *ip = (struct ipv4_hdr *)(eth + 1);

		eth->type = be16(ETH_TYPE_IPV4);
		*ip = (struct ipv4_hdr){.version_ihl = 0x45,
			.tos = tos,
			.total_length = be16((uint16_t)(sizeof(*ip) + udp_bytes)),
			.fragment = be16(IPV4_DF),
			.ttl = 64,
			.protocol = IP_PROTO_UDP,
			.src = be32(ip_addr_v4(&src)),
			.dst = be32(ip_addr_v4(&dst))};
		ip->checksum = checksum_ipv4(ip);
		udp = (struct udp_hdr *)(ip + 1);
	} else {
		struct ipv6_hdr *ip = (struct ipv6_hdr *)(eth + 1);

		eth->type = be16(ETH_TYPE_IPV6);
		*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(tos, 0),
			.payload_length = be16((uint16_t)udp_bytes),
			.next_header = IP_PROTO_UDP,
			.hop_limit = 64,
			.src = src.v6,
			.dst = dst.v6};
		udp = (struct udp_hdr *)(ip + 1);
	}
	/* no UDP checksum: RoCEv2 has its ICRC (annex A17.3.1) */
	*udp = (struct udp_hdr){.src_port = be16(q->udp_source),
		.dst_port = be16(UDP_PORT_ROCEV2),
		.length = be16((uint16_t)udp_bytes)};
	return (uint8_t *)(udp + 1);
}

static const void *addresses_of(const uint8_t *frame, uint64_t family, size_t *size)
{
	*size = family == 4 ? 8 : 32;
	return frame + sizeof(struct eth_hdr) + (family == 4 ? 12 : 8);
}

static uint8_t opcode_of(const struct lab_qp *q, uint64_t packet)
{
	uint64_t at = packet % q->per_message;

	if (qp_is_datagram(q))
		return ROCE_UD_SEND_ONLY;
	if (q->per_message == 1)
		return ROCE_RC_WRITE_ONLY;
	return at == 0 ? ROCE_RC_WRITE_FIRST : at == q->per_message - 1 ? ROCE_RC_WRITE_LAST : ROCE_RC_WRITE_MIDDLE;
}

static bool wants_ack(const struct lab_qp *q, uint64_t packet)
{
	return !qp_is_datagram(q) && (packet % q->per_message == q->per_message - 1 || packet + 1 == q->limit ||
					     packet % q->flow->ack_every == q->flow->ack_every - 1);
}

uint32_t frame_data(const struct lab_qp *q, const struct host_port *p, uint64_t packet, uint64_t sent_ns, uint8_t *out,
	uint32_t *length)
{
	uint32_t payload = frame_payload(q, packet), reth = first_of_message(q, packet) ? sizeof(struct roce_reth) : 0;
	uint32_t udp = (uint32_t)(sizeof(struct udp_hdr) + sizeof(struct roce_bth)) + reth + payload + ROCE_ICRC_BYTES;
	uint8_t *at = write_headers(q->from, q->to, q, p, (uint8_t)q->flow->dscp, q->flow->ecn ? ECT0 : 0, udp, out);
	struct roce_bth *bth = (struct roce_bth *)at;
	struct host_mark *mark;
	size_t size;
	const void *addresses = addresses_of(out, q->flow->family, &size);

	*bth = (struct roce_bth){.opcode = opcode_of(q, packet),
		.pkey = be16(0xffff),
		.qp = be32(q->number),
		.psn = be32((uint32_t)(packet & ROCE_PSN_MASK) | (wants_ack(q, packet) ? ROCE_ACK_REQUEST : 0))};
	at = (uint8_t *)(bth + 1);
	if (reth)
		memcpy(at, &(struct roce_reth){.length = be32((uint32_t)q->flow->message)}, sizeof(struct roce_reth));
	mark = (struct host_mark *)(at + reth);
	*mark = (struct host_mark){.serial = be64(q->serial), .sent_ns = be64(sent_ns)};
	mark->check = be32(check_of(addresses, size,
		(struct udp_hdr *)(void *)((uint8_t *)bth - sizeof(struct udp_hdr)), bth, mark));
	at = (uint8_t *)(mark + 1);
	*length = (uint32_t)(at - out) + payload - (uint32_t)sizeof(*mark) + ROCE_ICRC_BYTES;
	if (q->lab->topo->lab.frames == FRAMES_HEADERS)
		return (uint32_t)(at - out);
	memset(at, 0, *length - (uint32_t)(at - out));
	return *length;
}

/* A packet from the receiver to the sender, small enough to be carried whole. */
static uint16_t write_reply(const struct lab_qp *q, const struct host_port *p, uint8_t opcode, uint8_t dscp,
	uint32_t psn, const void *rest, uint32_t rest_size, uint8_t *out)
{
	uint32_t udp = (uint32_t)(sizeof(struct udp_hdr) + sizeof(struct roce_bth)) + rest_size + ROCE_ICRC_BYTES;
	uint8_t *at = write_headers(q->to, q->from, q, p, dscp, 0, udp, out);
	struct roce_bth *bth = (struct roce_bth *)at;
	be32_t check;
	size_t size;
	const void *addresses = addresses_of(out, q->flow->family, &size);

	*bth = (struct roce_bth){.opcode = opcode,
		.pkey = be16(0xffff),
		.qp = be32(q->number | HOST_QP_SENDER),
		.psn = be32(psn & ROCE_PSN_MASK)};
	at = (uint8_t *)(bth + 1);
	memcpy(at, rest, rest_size);
	check = be32(crc_of(rest, rest_size,
		check_of(addresses, size, (struct udp_hdr *)(void *)((uint8_t *)bth - sizeof(struct udp_hdr)), bth,
			NULL)));
	memcpy(at + rest_size, &check, sizeof(check));
	return (uint16_t)(at + rest_size + sizeof(check) - out);
}

uint16_t frame_ack(const struct lab_qp *q, const struct host_port *p, uint32_t psn, uint8_t syndrome, uint32_t msn,
	uint8_t *out)
{
	struct roce_aeth aeth = {be32((uint32_t)syndrome << 24 | (msn & ROCE_PSN_MASK))};

	return write_reply(q, p, ROCE_RC_ACK, (uint8_t)q->flow->dscp, psn, &aeth, sizeof(aeth), out);
}

uint16_t frame_cnp(const struct lab_qp *q, const struct host_port *p, uint8_t *out)
{
	static const uint8_t reserved[16];

	return write_reply(q, p, ROCE_CNP, (uint8_t)q->flow->cnp_dscp, 0, reserved, sizeof(reserved), out);
}

uint16_t frame_pfc(const struct host_port *p, uint8_t mask, uint16_t quanta, uint8_t *out)
{
	struct pfc_frame *f = (struct pfc_frame *)out;

	*f = (struct pfc_frame){.eth = {.dst = MAC_CONTROL_DA, .src = p->mac, .type = be16(ETH_TYPE_MAC_CONTROL)},
		.opcode = be16(MAC_CONTROL_PFC),
		.enable = mask};
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		f->time[i] = be16(mask >> i & 1 ? quanta : 0);
	return sizeof(*f);
}

/* For IP and UDP to an address of the host: the UDP payload and the address family. */
static const struct udp_hdr *find_udp(const struct lab_host *h, const struct line_frame *f, uint64_t *family, bool *ce)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)f->bytes;
	struct ip_addr own, dst;
	const void *udp;

	if (be16_get(eth->type) == ETH_TYPE_IPV4 && f->captured >= sizeof(*eth) + 28) {
		const struct ipv4_hdr *ip = (const struct ipv4_hdr *)(eth + 1);

		if (ip->version_ihl != 0x45 || ip->protocol != IP_PROTO_UDP ||
			be16_get(ip->total_length) > f->length - sizeof(*eth))
			return NULL;
		*family = 4;
		dst = ip_addr_from4(be32_get(ip->dst));
		*ce = (ip->tos & 3) == CE;
		udp = ip + 1;
	} else if (be16_get(eth->type) == ETH_TYPE_IPV6 && f->captured >= sizeof(*eth) + 48) {
		const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(eth + 1);

		if (ip->next_header != IP_PROTO_UDP || be16_get(ip->payload_length) > f->length - sizeof(*eth))
			return NULL;
		*family = 6;
		dst = ip_addr_from6(&ip->dst);
		*ce = (ipv6_tc(ip) & 3) == CE;
		udp = ip + 1;
	} else {
		return NULL;
	}
	own = host_address(h, *family);
	return ip_addr_equal(&own, &dst) ? udp : NULL;
}

/* Data: the mark after BTH and RETH. */
static bool parse_data(const uint8_t *end, uint32_t udp_bytes, struct frame_roce *out)
{
	const uint8_t *at = (const uint8_t *)(out->bth + 1);
	uint32_t fixed = (uint32_t)(sizeof(struct udp_hdr) + sizeof(struct roce_bth)) + ROCE_ICRC_BYTES;

	if (out->bth->opcode == ROCE_RC_WRITE_FIRST || out->bth->opcode == ROCE_RC_WRITE_ONLY) {
		at += sizeof(struct roce_reth);
		fixed += (uint32_t)sizeof(struct roce_reth);
	}
	if (at + sizeof(*out->mark) > end || udp_bytes < fixed + sizeof(*out->mark))
		return false;
	out->mark = (const struct host_mark *)at;
	out->payload = udp_bytes - fixed;
	return true;
}

bool frame_parse(const struct lab_host *h, const struct line_frame *f, struct frame_roce *out)
{
	const uint8_t *end = f->bytes + f->captured;
	const struct udp_hdr *udp;
	uint64_t family = 0;
	uint32_t rest, crc, check;
	size_t size;
	const void *addresses;
	be32_t found;

	*out = (struct frame_roce){0};
	udp = find_udp(h, f, &family, &out->congestion);
	if (!udp || be16_get(udp->dst_port) != UDP_PORT_ROCEV2)
		return false;
	out->bth = (const struct roce_bth *)(udp + 1);
	if ((const uint8_t *)(out->bth + 1) + ROCE_ICRC_BYTES > end)
		return false;
	addresses = addresses_of(f->bytes, family, &size);
	crc = check_of(addresses, size, udp, out->bth, NULL);
	if (out->bth->opcode == ROCE_RC_ACK || out->bth->opcode == ROCE_CNP) {
		rest = out->bth->opcode == ROCE_RC_ACK ? sizeof(*out->aeth) : 16;
		if ((const uint8_t *)(out->bth + 1) + rest + sizeof(found) > end)
			return false;
		memcpy(&found, (const uint8_t *)(out->bth + 1) + rest, sizeof(found));
		check = crc_of(out->bth + 1, rest, crc);
		out->aeth = (const struct roce_aeth *)(out->bth + 1);
		return check == be32_get(found);
	}
	if (!parse_data(end, be16_get(udp->length), out))
		return false;
	return check_of(addresses, size, udp, out->bth, out->mark) == be32_get(out->mark->check);
}
