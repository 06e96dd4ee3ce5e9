/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises BFD packets to the node itself. They have a punt code of their own, so that other packets to the node do
 * not delay them. Only packets that are delivered, or would be dropped, come here. rx lcores.
 */
#include "classify/classify_priv.h"
#include "wire/udp.h"

/*
 * The UDP header that follows the IP header at pkt.strip; NULL: none, or it is not readable. BFD packets have no
 * extension headers.
 */
static const struct udp_hdr *udp_of(const struct walk *w)
{
	const uint8_t *ip = w->frame + w->x->strip;
	bool six = w->x->family == 6;
	uint32_t bytes = six ? sizeof(struct ipv6_hdr) : ipv4_header_bytes((const struct ipv4_hdr *)ip);
	uint8_t type = six ? ((const struct ipv6_hdr *)ip)->next_header : ((const struct ipv4_hdr *)ip)->protocol;

	if (type != IP_PROTO_UDP || w->x->strip + bytes + sizeof(struct udp_hdr) > w->readable)
		return NULL;
	if (!six && be16_get(((const struct ipv4_hdr *)ip)->fragment) & (IPV4_MF | IPV4_OFFSET_MASK))
		return NULL;
	return (const struct udp_hdr *)(ip + bytes);
}

bool classify_is_bfd(const struct walk *w)
{
	const struct udp_hdr *udp = w->s->takes_bfd ? udp_of(w) : NULL;
	uint16_t to = udp ? be16_get(udp->dst_port) : 0;

	return to == BFD_PORT_CONTROL || to == BFD_PORT_ECHO || to == BFD_PORT_SBFD ||
	       (to >= BFD_PORT_SOURCE_FIRST && be16_get(udp->src_port) == BFD_PORT_SBFD);
}

static bool is_to_itself(const struct walk *w)
{
	const uint8_t *ip = w->frame + w->x->strip;
	const struct ipv6_hdr *six = (const struct ipv6_hdr *)ip;
	const struct ipv4_hdr *four = (const struct ipv4_hdr *)ip;

	return w->x->family == 6 ? ipv6_equal(&six->src, &six->dst) : be32_get(four->src) == be32_get(four->dst);
}

bool classify_takes_echo(struct walk *w)
{
	const struct udp_hdr *udp = w->s->takes_bfd && w->rounds == 0 ? udp_of(w) : NULL;

	if (!udp || be16_get(udp->dst_port) != BFD_PORT_ECHO || !is_to_itself(w))
		return false;
	classify_punt(w, PUNT_BFD);
	return true;
}
