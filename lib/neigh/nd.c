/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes Neighbor Discovery (RFC 4861) and ARP (RFC 826) packets. Pure. */
#include "neigh/nd.h"

#include <errno.h>

#include "wire/arp.h"
#include "wire/checksum.h"
#include "wire/cursor.h"
#include "wire/icmp.h"

/* Options of RFC 4861 section 4.6. An option of length 0 is invalid. */
static int parse_options(struct wire_cursor *c, uint8_t wanted, struct nd_message *out)
{
	while (wire_left(c)) {
		const struct nd_opt_link *opt = wire_peek(c, 2);

		if (!opt || opt->length == 0 || !wire_pull(c, 8u * opt->length))
			return -EINVAL;
		if (opt->type != wanted)
			continue;
		/*
		 * one unit on Ethernet (RFC 2464 section 6); another length makes the message invalid, not one without
		 * the option
		 */
		if (opt->length != 1)
			return -EINVAL;
		out->mac = opt->mac;
		out->has_mac = true;
	}
	return 0;
}

static bool good_checksum(const struct ipv6_hdr *ip, const void *icmp, uint32_t size)
{
	uint32_t sum = checksum_pseudo6(&ip->src, &ip->dst, size, IP_PROTO_ICMP6);

	return be16_get(checksum_finish(checksum_add(sum, icmp, size))) == 0;
}

static bool is_solicited_node(const struct ipv6_addr *a)
{
	return ipv6_hi(a) == 0xff02000000000000ull && ipv6_lo(a) >> 24 == 0x00000001ff;
}

int nd_parse(const void *packet, size_t size, struct nd_message *out)
{
	struct wire_cursor c = wire_cursor(packet, size);
	const struct ipv6_hdr *ip = wire_pull(&c, sizeof(*ip));
	const struct nd_neighbor *nd;
	uint32_t length, flags;

	*out = (struct nd_message){.kind = ND_OTHER};
	if (!ip || ip->next_header != IP_PROTO_ICMP6 || ip->hop_limit != 255)
		return -EINVAL;
	length = be16_get(ip->payload_length);
	if (length > wire_left(&c) || length < 8 || !good_checksum(ip, c.at, length))
		return -EINVAL;
	c.end = c.at + length;
	if (c.at[0] != ICMP6_NEIGHBOR_SOLICIT && c.at[0] != ICMP6_NEIGHBOR_ADVERT)
		return c.at[1] ? -EINVAL : 0;
	nd = wire_pull(&c, sizeof(*nd));
	if (!nd || nd->code != 0 || ipv6_is_multicast(&nd->target) || ipv6_is_unspecified(&nd->target))
		return -EINVAL;
	out->kind = nd->type == ICMP6_NEIGHBOR_SOLICIT ? ND_SOLICIT : ND_ADVERT;
	out->target = ip_addr_from6(&nd->target);
	if (!ipv6_is_unspecified(&ip->src))
		out->sender = ip_addr_from6(&ip->src);
	if (parse_options(&c, out->kind == ND_SOLICIT ? ND_OPT_SOURCE_LINK : ND_OPT_TARGET_LINK, out) < 0)
		return -EINVAL;
	if (out->has_mac && (eth_is_multicast(&out->mac) || eth_is_zero(&out->mac)))
		return -EINVAL;
	if (out->kind == ND_SOLICIT)
		return !out->sender.family && (out->has_mac || !is_solicited_node(&ip->dst)) ? -EINVAL : 0;
	flags = be32_get(nd->flags);
	out->solicited = flags & ND_FLAG_SOLICITED;
	out->override = flags & ND_FLAG_OVERRIDE;
	return ipv6_is_multicast(&ip->dst) && out->solicited ? -EINVAL : 0;
}

int arp_parse(const void *arp, size_t size, struct nd_message *out)
{
	struct wire_cursor c = wire_cursor(arp, size);
	const struct arp_ipv4 *a = wire_pull(&c, sizeof(*a));
	uint16_t op;

	*out = (struct nd_message){.kind = ND_OTHER};
	if (!a || be16_get(a->htype) != ARP_HTYPE_ETHERNET || be16_get(a->ptype) != ETH_TYPE_IPV4 || a->hlen != 6 ||
		a->plen != 4)
		return -EINVAL;
	op = be16_get(a->op);
	if (op != ARP_OP_REQUEST && op != ARP_OP_REPLY)
		return -EINVAL;
	if (eth_is_multicast(&a->sender_mac) || eth_is_zero(&a->sender_mac))
		return -EINVAL;
	out->mac = a->sender_mac;
	out->has_mac = true;
	if (be32_get(a->sender_ip))
		out->sender = ip_addr_from4(be32_get(a->sender_ip));
	else if (op == ARP_OP_REPLY)
		return -EINVAL; /* no address to learn */
	out->kind = op == ARP_OP_REQUEST ? ND_SOLICIT : ND_ADVERT;
	/* a reply describes its sender; a request asks about its target */
	out->target = op == ARP_OP_REQUEST ? ip_addr_from4(be32_get(a->target_ip)) : out->sender;
	out->override = op == ARP_OP_REPLY;
	/*
	 * a gratuitous reply is only an announcement: it does not show that the station receives our frames (RFC 5227
	 * section 3)
	 */
	out->solicited = op == ARP_OP_REPLY && be32_get(a->target_ip) &&
			 be32_get(a->target_ip) != be32_get(a->sender_ip);
	return 0;
}

static size_t finish(struct ipv6_hdr *ip, const struct ipv6_addr *src, const struct ipv6_addr *dst, size_t payload)
{
	struct nd_neighbor *nd = (struct nd_neighbor *)(ip + 1);
	uint32_t sum;

	ip->vtc_flow = ipv6_vtc_flow(0xc0, 0); /* CS6, like other network control */
	ip->payload_length = be16((uint16_t)payload);
	ip->next_header = IP_PROTO_ICMP6;
	ip->hop_limit = 255;
	ip->src = *src;
	ip->dst = *dst;
	nd->checksum = be16(0);
	sum = checksum_pseudo6(src, dst, (uint32_t)payload, IP_PROTO_ICMP6);
	nd->checksum = checksum_finish(checksum_add(sum, nd, payload));
	return sizeof(*ip) + payload;
}

static size_t write_message(void *out, const struct ipv6_addr *src, const struct ipv6_addr *dst,
	const struct ipv6_addr *target, const struct eth_addr *mac, uint8_t type, uint32_t flags, uint8_t option)
{
	struct ipv6_hdr *ip = out;
	struct nd_neighbor *nd = (struct nd_neighbor *)(ip + 1);
	struct nd_opt_link *opt = (struct nd_opt_link *)(nd + 1);

	*nd = (struct nd_neighbor){.type = type, .flags = be32(flags), .target = *target};
	*opt = (struct nd_opt_link){.type = option, .length = 1, .mac = *mac};
	return finish(ip, src, dst, sizeof(*nd) + sizeof(*opt));
}

size_t nd_write_solicit(void *out, const struct ipv6_addr *src, const struct ipv6_addr *dst,
	const struct ipv6_addr *target, const struct eth_addr *mac)
{
	return write_message(out, src, dst, target, mac, ICMP6_NEIGHBOR_SOLICIT, 0, ND_OPT_SOURCE_LINK);
}

size_t nd_write_advert(void *out, const struct ipv6_addr *src, const struct ipv6_addr *dst,
	const struct ipv6_addr *target, const struct eth_addr *mac, bool solicited)
{
	return write_message(out, src, dst, target, mac, ICMP6_NEIGHBOR_ADVERT,
		ND_FLAG_ROUTER | ND_FLAG_OVERRIDE | (solicited ? ND_FLAG_SOLICITED : 0), ND_OPT_TARGET_LINK);
}

size_t arp_write(void *out, uint16_t op, const struct eth_addr *sender_mac, uint32_t sender_ip,
	const struct eth_addr *target_mac, uint32_t target_ip)
{
	struct arp_ipv4 *a = out;

	*a = (struct arp_ipv4){
		.htype = be16(ARP_HTYPE_ETHERNET),
		.ptype = be16(ETH_TYPE_IPV4),
		.hlen = 6,
		.plen = 4,
		.op = be16(op),
		.sender_mac = *sender_mac,
		.sender_ip = be32(sender_ip),
		.target_ip = be32(target_ip),
	};
	if (target_mac)
		a->target_mac = *target_mac;
	return sizeof(*a);
}
