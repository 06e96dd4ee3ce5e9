/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that the node creates for a station on a link: no lookup is needed. Control lcore. */
#include "classify/classify.h"

void classify_to_neighbor(struct classifier *c, struct rte_mbuf *m, uint8_t family, uint16_t interface)
{
	struct pkt *x = pkt_of(m);

	memset(x, 0, sizeof(*x));
	x->verdict = PKT_FORWARD;
	x->neigh = PKT_NEIGH_LINK + interface;
	x->egress = snap_interface_of(interface);
	x->tclass = PKT_CLASS_CONTROL;
	x->family = family;
	x->epoch = (uint16_t)c->s->epoch;
	x->sid = PKT_SID_NONE;
	x->vrf = PKT_VRF_NONE;
	x->l3_bytes = (uint16_t)m->pkt_len;
}

void classify_to_next_hop(struct classifier *c, struct rte_mbuf *m, uint8_t family, uint32_t neigh)
{
	classify_to_neighbor(c, m, family, c->s->neigh[neigh].interface);
	pkt_of(m)->neigh = neigh;
}
