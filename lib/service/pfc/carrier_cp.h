/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of leased state messages (docs/protocol.md 5.6). Written by the control lcore only; others read counters,
 * relaxed.
 */
#ifndef SERVICE_PFC_CONTROL_CARRIER_H
#define SERVICE_PFC_CONTROL_CARRIER_H

#include "node/node.h"
#include "pfc/pfc_state.h"

#define CARRIER_PEERS 16 /* far PEs of one relay; a new one replaces a silent one */

/* A far PE. */
struct carrier_peer {
	struct ipv6_addr source;
	uint64_t heard_ns; /* time of the last message; 0: free entry */
	struct pfc_state_receiver receiver;
};

/* Leased state messages. */
#define CARRIER_COUNTERS(X) \
	X(counter, sent, "states_sent", "messages", "sluice_pfc_relay_states_sent", \
		"state messages sent to other relays") \
	X(counter, taken, "states_taken", "messages", "sluice_pfc_relay_states_received", \
		"state messages received and applied") \
	X(counter, forged, "states_forged", "messages", "sluice_pfc_relay_states_forged", \
		"state messages refused: no digest, a wrong one, or one by an unknown key") \
	X(counter, stale, "states_stale", "messages", "sluice_pfc_relay_states_stale", \
		"state messages ignored: older than the last one, or a duplicate")

/* State of a port to a gateway. */
struct carrier {
	struct pfc_state_sender sender; /* epoch 0: not yet used */
	uint64_t until[PFC_PRIORITIES]; /* ns: end of the gateway's pause */
	CARRIER_COUNTERS(STAT_DECLARE)
	struct carrier_peer peer[CARRIER_PEERS];
};

#endif
