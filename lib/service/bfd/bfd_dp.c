/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BFD on rx lcores: a flood must not occupy the control lcore. Packets that cannot be from the link (GTSM, RFC 5082)
 * have a small share, so that strangers who are far away do not use up that of the neighbours. Rx lcores.
 */
#include "node/service.h"
#include "service/bfd/service_bfd.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

#define FAR_RATE 1000 /* packets per second that are counted by the reason for which they are refused */

/* Can the packet be from the link? S-BFD packets come from afar, but only to nodes that take part. */
static bool is_near(const struct rte_mbuf *m, const struct pkt *x)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *) + x->strip;
	const struct ipv4_hdr *four = (const struct ipv4_hdr *)ip;
	const struct ipv6_hdr *six = (const struct ipv6_hdr *)ip;
	const struct udp_hdr *udp = (const struct udp_hdr *)(ip +
							     (x->family == 6 ? sizeof(*six) : ipv4_header_bytes(four)));
	uint16_t to = be16_get(udp->dst_port);

	if (to != BFD_PORT_CONTROL && to != BFD_PORT_ECHO)
		return true;
	return (x->family == 6 ? six->hop_limit : four->ttl) >= BFD_HOP_LIMIT - 1;
}

static bool take(struct rx_role *rx, struct rte_mbuf *m)
{
	struct bfd_rx *state = &node_bfd(rx->node)->rx[rx->index];
	uint64_t rate = rx->classifier.s->bfd_rate[m->port], now = rx->classifier.now;
	bool near = is_near(m, pkt_of(m));
	struct bucket *b = near ? &state->port[m->port] : &state->far[m->port];

	/* no session on the port: strangers, who are counted */
	if (!near || !rate)
		rate = FAR_RATE;
	if (bucket_take(b, now, rate, rate / 10 + 32) || (near && rx_punt_spared(rx, m, rate)))
		return false;
	rx_punt_limited(rx, m, DROP_bfd_limited);
	return true;
}

const struct rx_hooks bfd_rx_hooks = {.takes = SERVICE_TAKES(PUNT_BFD), .take = take};
