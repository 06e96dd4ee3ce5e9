/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC on Ethernet ports in both directions (docs/protocol.md 5.1, 5.2), and its buffers.
 *
 *   received   an rx role checks a frame and sends a message to the owner of the port's egress, which sets a hold
 *   sent       the owner of a port adds up the buffers that all workers hold of packets received there, by class, and
 *              sends XOFF and XON to the neighbour
 */
#ifndef SERVICE_PFC_NODE_PFC_H
#define SERVICE_PFC_NODE_PFC_H

#include "node/node.h"
#include "service/pfc/service_learn.h"
#include "service/services.h"
#include "pfc/pfc_buffer.h"
#include "pfc/pfc_hold.h"
#include "pfc/pfc_slices.h"
#include "queue/egress.h"

/* From an rx role to the owner of a port: the request of a valid frame. */
struct service_pfc_message {
	struct pfc_party party;
	uint8_t port;  /* the port whose queues are paused */
	uint8_t slice; /* slice id, or PFC_ALL_SLICES */
	struct pfc_request request;
};
_Static_assert(PFC_SLICES_MAX == SNAP_SLICE_MAX, "a bit for each slice");
_Static_assert(sizeof(struct service_pfc_message) % 4 == 0, "service_pfc_message must fit its ring");

enum pfc_message_kind {
	PFC_PAUSE_QUEUES,   /* a party pauses or resumes queues of the port */
	PFC_TELL_NEIGHBOUR, /* a relay pauses or resumes the gateway behind the port */
};

/* From the control role to the owner of a port. */
struct pfc_message {
	uint8_t kind; /* enum pfc_message_kind */
	uint8_t port;
	uint8_t slice;		/* PFC_PAUSE_QUEUES: slice id, or PFC_ALL_SLICES */
	struct pfc_party party; /* PFC_PAUSE_QUEUES */
	union {
		struct pfc_pause pause;	    /* PFC_PAUSE_QUEUES */
		struct pfc_request request; /* PFC_TELL_NEIGHBOUR */
	};
};

_Static_assert(sizeof(struct pfc_message) % 4 == 0, "pfc_message must fit a ring");

#define NODE_PAUSES 4096      /* slots from the control role to each worker: a frame can pause all its ports */
#define NODE_PFC_MESSAGES 256 /* slots from each rx role to each worker */
/* PFC frames per second that a neighbour has to send: more than 8 classes of an 800G port refresh by half-life. */
#define NODE_PFC_RATE 500000
#define NODE_PFC_PEERS 8 /* learnt, of a port */

/* PFC frames received from the neighbour. */
#define PFC_RX_COUNTERS(X) \
	X(counter, frames, "rx", "frames", "sluice_pfc_rx_frames", "PFC frames received") \
	X(priority_counter, xoff, "rx_xoff", "frames", "sluice_pfc_rx_xoff", \
		"PFC frames received that pause this priority") \
	X(priority_counter, xon, "rx_xon", "frames", "sluice_pfc_rx_xon", \
		"PFC frames received that resume this priority")

#define PFC_COUNTERS(X) \
	X(counter, missed, "missed", "packets", "sluice_pfc_missed", \
		"packets of a port with lossless classes that the device lost before the node saw them (imissed, " \
		"rx_nombuf)") \
	X(counter, ignored, "ignored", "frames", "sluice_pfc_ignored", \
		"PFC frames received for priorities that are not lossless here") \
	X(counter, refused, "refused", "frames", "sluice_pfc_refused", \
		"PFC frames refused because too many parties already pause the port") \
	X(priority_counter, sid_xoff, "sid_xoff", "frames", "sluice_pfc_sid_xoff", \
		"PFC frames of tunnels, executed at End.X.PFC, that pause this priority of the port") \
	X(priority_counter, sid_xon, "sid_xon", "frames", "sluice_pfc_sid_xon", \
		"PFC frames of tunnels, executed at End.X.PFC, that resume this priority of the port") \
	X(counter, no_buffer, "no_buffer", "frames", "sluice_pfc_no_buffer", \
		"PFC frames delayed because the buffer pool was empty")

/* Of a port; the owner of its egress writes, relaxed readers. */
struct service_pfc_port {
	struct pfc_buffer buffer[PFC_PRIORITIES]; /* packets received on this port */
	/* For the tunnels of the control role, which reads them after a change of `turns`. Relaxed; turns: release. */
	uint8_t stopped; /* classes whose buffers are above XOFF */
	uint8_t urgent;	 /* classes that pause all contributors */
	uint8_t looked;	 /* classes whose buffers were looked at with these thresholds: not again at the same level */
	uint32_t turns;
	uint32_t link;				  /* port.link when the owner last looked */
	struct pfc_speaker speaker;		  /* to the neighbour, about the own buffers */
	uint64_t relayed_until[PFC_PRIORITIES];	  /* ns: end of the pauses of a relay */
	uint64_t start_until;			  /* ns: end of the wait for far nodes after the start */
	struct pfc_history heard[PFC_PRIORITIES]; /* from it */
	struct pfc_history sid[PFC_PRIORITIES];	  /* from tunnels, executed at End.X.PFC */
	PFC_RX_COUNTERS(STAT_DECLARE)
	PFC_COUNTERS(STAT_DECLARE) /* missed: written by the management thread */
	uint64_t missed_seen;	   /* management: losses of the device that were looked at */
};

/* MAC addresses that ND and ARP found on a port; the control role writes, rx roles read, relaxed. 0: free. */
struct service_pfc_peers {
	uint64_t mac[NODE_PFC_PEERS];
	uint32_t next;
};

/* State of an rx role. Only this role writes it. */
struct service_pfc_rx {
	struct mailbox to_worker[NODE_MAX_ROLES]; /* struct service_pfc_message; by worker, not open: same lcore */
	struct mailbox sightings;		  /* struct node_sighting; to the control role */
	struct bucket link[MAX_PORTS];		  /* frames of neighbours */
	uint64_t storm_dropped[MAX_PORTS][PFC_PRIORITIES]; /* packets of a storming neighbour; relaxed readers */
	struct service_learner *learner;
} CACHE_ALIGNED;

/* State of a worker. Only this worker writes it. */
struct service_pfc_worker {
	struct mailbox pauses; /* struct pfc_message, from the control role */
	uint16_t n_lossless;   /* of its ports, those with lossless classes */
	bool configured;       /* a snapshot has been adopted */
	uint64_t shared_held;  /* buffers that lossless classes with alpha of its ports hold; relaxed readers */
} CACHE_ALIGNED;

struct control_pfc;
struct node_cleared_pfc;
struct node_storms;

/* The state of the service. */
struct service_pfc {
	struct service_pfc_rx rx[NODE_MAX_ROLES];
	struct service_pfc_worker worker[NODE_MAX_ROLES];
	struct service_pfc_port port[MAX_PORTS];
	/* By port and class, of classes whose pauses go into tunnels; like service_pfc_port.stopped. Owned, never NULL. */
	struct pfc_slices (*slices)[PFC_PRIORITIES];
	struct service_pfc_peers peers[MAX_PORTS];
	/* Incremented by the control lcore to receive all sightings again; read by rx roles, relaxed. */
	uint32_t sight_epoch;
	struct control_pfc *control; /* the control lcore's */
	/* management thread only */
	uint64_t missed_next;		       /* ns: when devices are asked again for what they lost */
	struct node_cleared_pfc *cleared;      /* pauses_ctl.c */
	struct node_storms *storms[MAX_PORTS]; /* watchdog events that were logged */
};

static inline struct service_pfc *service_pfc(const struct node *n)
{
	return n->state[SERVICE_PFC];
}

static inline struct service_pfc_rx *service_pfc_rx(const struct rx_role *rx)
{
	return &service_pfc(rx->node)->rx[rx->index];
}

static inline struct service_pfc_worker *service_pfc_worker(const struct worker_role *w)
{
	return &service_pfc(w->node)->worker[w->index];
}

extern const struct rx_hooks pfc_rx_hooks;
extern const struct worker_hooks pfc_worker_hooks;

/*
 * What came in on a port in a class and has not left: in egress queues, and in the backlogs of receive queues. Any
 * thread; exact only while lcores do not run.
 */
struct pfc_threshold service_pfc_level(const struct node *n, uint16_t port, unsigned int class);

/* Record the MAC of a neighbour. Caller: the control role. */
void service_pfc_learn(struct node *n, uint16_t port, const struct eth_addr *mac);

#endif
