/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises state messages of PFC relays (docs/protocol.md 5.6) from PEs that may send them. They have a punt code of
 * their own, so that other packets to the node do not delay them. Only packets that are delivered come here. rx lcores.
 */
#include "classify/classify_priv.h"
#include "wire/udp.h"

bool classify_is_state(const struct walk *w, const struct srv6_packet *p)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(w->frame + p->at);
	const struct udp_hdr *udp = (const struct udp_hdr *)(w->frame + p->upper);
	const struct snap_relay *r;

	if (p->upper_type != IP_PROTO_UDP || p->upper + sizeof(*udp) > w->readable || !be16_get(udp->dst_port))
		return false;
	r = snap_relay_at(w->s, be16_get(udp->dst_port));
	return r && snap_relay_trusts(w->s, r, w->port, w->x->strip, w->x->vrf, &ip->src);
}
