/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control role knows of leased state messages (docs/protocol.md 5.6). It alone writes; others read counters, relaxed. */
#ifndef SERVICE_PFC_CONTROL_CARRIER_H
#define SERVICE_PFC_CONTROL_CARRIER_H

#include "node/node.h"
#include "pfc/pfc_state.h"

#define CARRIER_PEERS 16 /* far PEs heard of by one relay; a silent one makes room for a new one */

/* A far PE. */
struct carrier_peer {
	struct ipv6_addr source;
	uint64_t heard_ns; /* 0: a free place */
	struct pfc_state_receiver receiver;
};

/* Leased state messages. */
#define CARRIER_COUNTERS(X) \
	X(counter, sent, "states_sent", "messages", "sluice_pfc_relay_states_sent", "state messages sent") \
	X(counter, taken, "states_taken", "messages", "sluice_pfc_relay_states_received", "state messages obeyed") \
	X(counter, stale, "states_stale", "messages", "sluice_pfc_relay_states_stale", \
		"state messages older than the last one, or received twice")

/* Of a port with a gateway behind it. */
struct carrier {
	struct pfc_state_sender sender; /* epoch 0: not yet used */
	uint64_t until[PFC_PRIORITIES]; /* what the gateway asks for */
	CARRIER_COUNTERS(STAT_DECLARE)
	struct carrier_peer peer[CARRIER_PEERS];
};

#endif
