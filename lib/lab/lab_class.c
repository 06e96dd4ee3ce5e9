/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue pair that a frame belongs to, whatever tunnels carry it: what a frame is must not be asked of the node that
 * has lost it. Pure; the lab is single-threaded.
 */
#include "lab/host_priv.h"
#include "wire/ipv4.h"
#include "wire/srh.h"
#include "wire/udp.h"

struct walk {
	const uint8_t *at, *end;
};

/* The next `size` bytes, which the walk then has passed; NULL: there are not that many. */
static const void *pass(struct walk *w, size_t size)
{
	const uint8_t *at = w->at;

	if ((size_t)(w->end - at) < size)
		return NULL;
	w->at += size;
	return at;
}

/* The IP protocol number that stands for the next header; -1: none. */
static int pass_ethernet(struct walk *w)
{
	uint32_t size = w->end - w->at >= (long)sizeof(struct eth_hdr)
				? eth_header_bytes(w->at, (size_t)(w->end - w->at))
				: (uint32_t)sizeof(struct eth_hdr);
	const uint8_t *eth = pass(w, size);
	uint16_t type = eth ? (uint16_t)(eth[size - 2] << 8 | eth[size - 1]) : 0;

	return type == ETH_TYPE_IPV4 ? IP_PROTO_IPV4 : type == ETH_TYPE_IPV6 ? IP_PROTO_IPV6 : -1;
}

static int pass_header(struct walk *w, int kind)
{
	const struct ipv4_hdr *v4;
	const struct ipv6_hdr *v6;
	const struct srh *rest;

	switch (kind) {
	case IP_PROTO_ETHERNET:
		return pass_ethernet(w);
	case IP_PROTO_IPV4:
		v4 = pass(w, sizeof(*v4));
		return v4 && v4->version_ihl == 0x45 ? v4->protocol : -1;
	case IP_PROTO_IPV6:
		v6 = pass(w, sizeof(*v6));
		return v6 ? v6->next_header : -1;
	case IP_PROTO_ROUTING:
	case IP_PROTO_DSTOPTS:
	case IP_PROTO_HOPOPTS: /* these begin alike */
		rest = pass(w, sizeof(*rest));
		return rest && pass(w, srh_bytes(rest) - sizeof(*rest)) ? rest->next_header : -1;
	default:
		return -1;
	}
}

struct lab_qp *lab_flow_of(const struct lab *lab, const void *bytes, uint32_t captured, bool *reply, uint8_t *priority)
{
	struct walk w = {bytes, (const uint8_t *)bytes + captured};
	const struct udp_hdr *udp;
	const struct roce_bth *bth;
	int kind = IP_PROTO_ETHERNET;
	struct lab_qp *q;
	uint32_t number;

	while (kind >= 0 && kind != IP_PROTO_UDP)
		kind = pass_header(&w, kind);
	udp = kind >= 0 ? pass(&w, sizeof(*udp)) : NULL;
	bth = udp && be16_get(udp->dst_port) == UDP_PORT_ROCEV2 ? pass(&w, sizeof(*bth)) : NULL;
	if (!bth)
		return NULL;
	number = be32_get(bth->qp) & ROCE_PSN_MASK;
	*reply = number & HOST_QP_SENDER;
	number &= ~HOST_QP_SENDER;
	if (number >= lab->n_qps)
		return NULL;
	q = lab->qp[number];
	*priority = (uint8_t)(bth->opcode == ROCE_CNP ? q->flow->cnp_priority : q->flow->priority);
	return q;
}
