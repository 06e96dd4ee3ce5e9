/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragmentation of IPv4 packets that exceed the MTU of their path and have DF clear. Packets are fragmented before
 * encapsulation, never after it (docs/protocol.md 3.4, D29). This is rare, because RDMA and TCP set DF, so the control
 * lcore does it instead of the rx lcores.
 */
#include "icmp/fragment.h"
#include "service/icmp/icmp_cp.h"
#include "wire/checksum.h"
#include "wire/ipv4.h"

/* Make the changes of the egress: TTL, and DSCP and ECN of a mapped or decapsulated packet. */
static void change(struct ipv4_hdr *ip, const struct pkt *x)
{
	ip->ttl = (uint8_t)(ip->ttl - x->hops);
	if (x->ops & PKT_OP_TOS)
		ip->tos = x->tos;
}

void control_fragment(struct control_role *c, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	uint8_t *packet = c->scratch, *out = control_icmp(c)->fragment;
	size_t mtu = MIN_OF(x->icmp_arg, sizeof(control_icmp(c)->fragment)), done = 0, n;
	uint32_t size = pkt_copy_out(m, x->strip, packet, MIN_OF(x->l3_bytes, sizeof(c->scratch)));

	if (size < x->l3_bytes || !fragment_possible(packet, mtu)) {
		pkt_end(m, DROP_too_big, &c->lcore->stats);
		return;
	}
	change((struct ipv4_hdr *)packet, x);
	while ((n = fragment_next(packet, size, mtu, &done, out)) > 0) {
		struct rte_mbuf *f = control_packet(c, out, (uint32_t)n);

		if (f)
			control_send_again(c, f, x);
	}
	pkt_end(m, CONSUME_fragmented, &c->lcore->stats);
}
