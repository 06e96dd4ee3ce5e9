/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC on Ethernet ports, both ways (docs/protocol.md 5.1, 5.2), and the buffers behind it.
 *
 *   heard   an rx role reads and judges a frame, and tells the owner of the port's egress, who sets a hold
 *   said    the owner of a port sums what all workers hold of what came in there, by class, and tells the
 *           neighbour to stop and to go on
 */
#ifndef NODE_NODE_PFC_H
#define NODE_NODE_PFC_H

#include "pfc/pfc_buffer.h"
#include "pfc/pfc_hold.h"
#include "queue/egress.h"

struct node;
struct rx_role;
struct worker_role;

/* From an rx role to the owner of a port: what a legal frame asks for. */
struct node_pfc_message {
	struct pfc_party party;
	uint8_t port;  /* whose queues */
	uint8_t slice; /* slice id, or PFC_ALL_SLICES */
	struct pfc_request request;
};
_Static_assert(sizeof(struct node_pfc_message) % 4 == 0, "node_pfc_message must fit its ring");

#define NODE_PFC_MESSAGES 256 /* slots from each rx role to each worker */
#define NODE_PFC_PEERS 8      /* learnt, of a port */

/* PFC frames received from the neighbour. */
#define PFC_RX_COUNTERS(X) \
	X(counter, frames, "rx", "frames", "sluice_pfc_rx_frames", "PFC frames received") \
	X(priority_counter, xoff, "rx_xoff", "frames", "sluice_pfc_rx_xoff", \
		"PFC frames received that stop this priority") \
	X(priority_counter, xon, "rx_xon", "frames", "sluice_pfc_rx_xon", "PFC frames received that end its pause")

#define PFC_COUNTERS(X) \
	X(counter, ignored, "ignored", "frames", "sluice_pfc_ignored", \
		"PFC frames received about priorities that are not lossless here") \
	X(counter, refused, "refused", "frames", "sluice_pfc_refused", \
		"PFC frames refused: too many parties pause the port already") \
	X(counter, no_buffer, "no_buffer", "frames", "sluice_pfc_no_buffer", \
		"PFC frames to send that found the buffer pool empty; tried again")

/* Of a port; the owner of its egress writes, relaxed readers. */
struct node_pfc_port {
	struct pfc_buffer buffer[PFC_PRIORITIES]; /* of what came in here */
	/* For the tunnels of the control role, which looks when `turns` has changed; relaxed, turns release. */
	uint8_t stopped; /* classes whose buffers say XOFF */
	uint8_t urgent;	 /* to everybody */
	uint32_t turns;
	struct pfc_speaker speaker;		  /* to the neighbour, about the own buffers */
	uint64_t relayed_until[PFC_PRIORITIES];	  /* end of pauses that a relay has asked for */
	struct pfc_history heard[PFC_PRIORITIES]; /* from it */
	PFC_RX_COUNTERS(STAT_DECLARE)
	PFC_COUNTERS(STAT_DECLARE)
};

/* MAC addresses that ND and ARP found on a port; the control role writes, rx roles read, relaxed. 0: free. */
struct node_pfc_peers {
	uint64_t mac[NODE_PFC_PEERS];
	uint32_t next;
};

/* rx role: a frame of PUNT_PFC. True: consumed. False: it is PUNT_PFC_RELAY now, for the control role. */
bool node_pfc_receive(struct rx_role *rx, struct rte_mbuf *m);

/* rx role: to the owner of message->port; false when its mailbox is full. */
bool node_pfc_tell(struct rx_role *rx, const struct node_pfc_message *message);

/* Control role: a neighbour's MAC is known. */
void node_pfc_learn(struct node *n, uint16_t port, const struct eth_addr *mac);

/*
 * Worker: a relay speaks to the gateway behind a port. Its frames and those about the own buffers look alike, so the owner
 * lets neither end a pause of the other: the relay's are left out while the own buffers stop a class, and their XON gives
 * what is left of a relay's pause.
 */
void node_pfc_relay(struct worker_role *w, uint16_t port, const struct pfc_request *request);

/* Worker: what was heard. Returns the number of messages. */
unsigned int node_pfc_read(struct worker_role *w);

/* Worker: levels of the ports it owns; XOFF, refresh, XON. */
void node_pfc_look(struct worker_role *w);

/* Worker: when node_pfc_look must run again though nothing arrives. */
uint64_t node_pfc_next(const struct worker_role *w, bool worked);

/* Worker: take over what a new snapshot says about lossless classes. */
void node_pfc_configure(struct worker_role *w);

#endif
