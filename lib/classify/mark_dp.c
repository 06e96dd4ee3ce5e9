/* SPDX-License-Identifier: BSD-3-Clause */
/* DSCP and ECN of packets that arrive on a port with dscp-in, or leave a tunnel (RFC 2983, RFC 6040). Rx lcores. */
#include "classify/classify_priv.h"

bool classify_combine_ecn(struct walk *w, uint8_t outer, uint8_t tos)
{
	enum { NOT_ECT, ECT1, ECT0, CE };
	uint8_t ecn, inner = tos & 3;
	struct pkt *x = w->x;

	outer &= 3;
	if (likely(inner == outer))
		return true;
	ecn = inner;
	if (inner == NOT_ECT && outer != NOT_ECT)
		stat_add(&w->c->stats->ecn_unusual, 1);
	if (inner == NOT_ECT && outer == CE)
		return false;
	if (inner != NOT_ECT && outer == CE)
		ecn = CE;
	else if (inner == ECT0 && outer == ECT1)
		ecn = ECT1;
	else if ((inner == ECT1 && outer == ECT0) || (inner == CE && outer == ECT1))
		stat_add(&w->c->stats->ecn_unusual, 1);
	if (ecn != inner) {
		x->ops |= PKT_OP_TOS;
		x->tos = (uint8_t)((tos & ~3) | ecn);
	}
	return true;
}

void classify_copy_dscp(struct walk *w, const struct snap_sid *sid, uint8_t outer, uint8_t inner)
{
	uint8_t dscp = sid->dscp_of[outer >> 2], ecn = (w->x->ops & PKT_OP_TOS ? w->x->tos : inner) & 3;

	if (dscp == inner >> 2)
		return;
	w->x->ops |= PKT_OP_TOS;
	w->x->tos = (uint8_t)(dscp << 2 | ecn);
	stat_add(&w->c->stats->dscp_mapped_decap, 1);
}

void classify_map_dscp(struct walk *w, uint16_t type, uint32_t at)
{
	const uint8_t *ip = w->frame + at;
	uint8_t tos, dscp;

	if (at + 2 > w->readable || w->x->tclass == PKT_CLASS_CONTROL ||
		(type != ETH_TYPE_IPV6 && type != ETH_TYPE_IPV4))
		return;
	tos = type == ETH_TYPE_IPV6 ? (uint8_t)(ip[0] << 4 | ip[1] >> 4) : ip[1];
	dscp = w->in->dscp_in[tos >> 2];
	if (dscp == tos >> 2)
		return;
	w->x->ops |= PKT_OP_TOS;
	w->x->tos = (uint8_t)(dscp << 2 | (tos & 3));
	stat_add(&w->c->stats->dscp_mapped_in, 1);
}
