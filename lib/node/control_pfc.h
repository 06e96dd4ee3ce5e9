/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control role knows about PFC across the WAN. It alone writes; others read counters, relaxed. */
#ifndef NODE_CONTROL_PFC_H
#define NODE_CONTROL_PFC_H

#include "node/node.h"
#include "pfc/pfc_fanout.h"
#include "pfc/pfc_relay.h"
#include "pfc/pfc_tunnel.h"

struct control_pfc_outer {
	uint8_t port; /* where the data comes in: source MAC of the frames inside */
	struct snap_pfc_outer outer;
};

struct control_pfc {
	struct bucket frames[PORT_SLOTS]; /* out of tunnels, by the port they came in by */
	struct pfc_relay_port relay[MAX_PORTS]; /* gateways */
	struct pfc_thinner thinner[MAX_PORTS];
	uint64_t generation; /* of the snapshot whose tunnels these are */
	struct pfc_fanout fanout[MAX_PORTS][PFC_PRIORITIES];
	uint16_t id_of[PFC_CONTRIBUTORS_MAX]; /* tunnel id by place in the snapshot */
	uint8_t want[PFC_CONTRIBUTORS_MAX];   /* by place: priorities it is to hold stopped */
	uint32_t turns[MAX_PORTS];	      /* of node_pfc_port.turns, seen */
	uint64_t look_at[MAX_PORTS]; /* when whom to stop must be thought over again; TIME_NEVER */
	struct control_pfc_outer outer[PFC_TUNNELS_MAX]; /* by tunnel id */
	struct pfc_tunnels tunnels;
};

#endif
