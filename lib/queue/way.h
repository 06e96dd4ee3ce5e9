/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways of packets: the choice among the paths of a policy and the members of an ECMP group by what is alive
 * (snapshot/liveness.h). Reads only. Worker lcores.
 */
#ifndef QUEUE_WAY_H
#define QUEUE_WAY_H

#include "queue/egress.h"
#include "snapshot/liveness.h"

/* A way by which a packet can leave. */
struct way {
	target_t to;   /* next hop: TARGET_NEIGH or TARGET_LINK; 0: none */
	uint32_t path; /* PKT_OP_ENCAP */
};

/* Port of a next hop. */
static inline uint8_t way_port(const struct snapshot *s, target_t t)
{
	return target_kind(t) == TARGET_NEIGH ? (uint8_t)s->neigh[target_index(t)].port
					      : snap_interface_of(target_index(t));
}

/* How good is the way that a packet has? */
enum liveness_grade way_grade(const struct egress_context *c, const struct pkt *x);

/*
 * May it take no other way? Frames of attachment circuits without tunnel, messages to a neighbour, and packets whose credit
 * is that of a next hop: the control lcore moves their session.
 */
bool way_is_bound(const struct pkt *x);

/*
 * The best way that is better than `than`; .to 0: none. *shorter: then the bytes of a packet for which there would be
 * one; 0: none.
 */
struct way way_find(const struct egress_context *c, struct rte_mbuf *m, enum liveness_grade than, uint16_t *shorter);

#endif
