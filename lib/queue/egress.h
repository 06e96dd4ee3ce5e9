/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The egress of a port: queues, the gates in front of them, the scheduler over them, and the bursts that are
 * offered to the device.
 *
 * One worker owns an egress and alone touches it. A packet that finds its queue empty, its gate open and a device that
 * takes all passes straight through to the device's burst; otherwise it waits in its queue. It is rewritten when its turn has come,
 * never before.
 *
 *   control     one queue of its own: strict priority, own buffers, no gate, a burst of its own
 *   data        one queue per (slice, traffic class); deficit round robin over the slices that may send, by
 *               weight, then over their classes. What a packet costs does not depend on how many slices there are
 *   gates       one per (slice, class), closed by any of several causes: a pause, the max-rate, the device (gate.h)
 *   watchdogs   one per queue; in a storm that drops, the gate is closed, and what is there or comes is dropped
 */
#ifndef QUEUE_EGRESS_H
#define QUEUE_EGRESS_H

#include "base/limits.h"
#include "neigh/nbr.h"
#include "pfc/pfc_watchdog.h"
#include "pkt/fifo.h"
#include "port/port.h"
#include "queue/account.h"
#include "snapshot/snapshot.h"

#define EGRESS_TX_ROOM \
	LIMIT_TX_ROOM	   /* rewritten frames that the device has not taken yet; of control and of data each */
#define EGRESS_TX_BATCH 32 /* frames dequeued before the device is asked again: what it refuses is not decided anew */
#define EGRESS_GENERATIONS 64	 /* snapshots that queued packets may stem from at a time */
#define EGRESS_QUANTUM 9216	 /* bytes per class and round */
#define EGRESS_WEIGHT_BYTES 4096 /* bytes per slice and round, for each unit of weight */
#define EGRESS_LINE_BYTES \
	24 /* what a frame takes of the line besides itself: preamble, FCS, gap. Shares are of the line */
#define EGRESS_RETRY_NS 1000  /* a device that took nothing is asked again after this */
#define EGRESS_RETRY_FRAMES 8 /* or, on slow lines, when it may have sent so many of the shortest frames */
#define EGRESS_ALL_SLICES PFC_ALL_SLICES
#define EGRESS_TIME_SHIFT 20	 /* a byte may take much less than a nanosecond; at 3.2 Tb/s still right to 0.02 % */
#define EGRESS_SHAPE_BURST 32768 /* bytes a slice may be ahead of its max-rate */

/* What a packet that waits changes (stats/counter.h); packets that pass straight through are not counted. */
#define QUEUE_LEVELS(X) \
	X(gauge, bytes, "bytes", "bytes", "sluice_queue_bytes", "waiting in an egress queue") \
	X(gauge, user_bytes, "most_bytes", "bytes", NULL, "that waited at most since 'clear watermarks'") \
	X(gauge, most_bytes, "ever_bytes", "bytes", "sluice_queue_most_bytes", "that ever waited in an egress queue") \
	X(counter, entered, "entered", "packets", "sluice_queue_entered_packets", "that had to wait in an egress queue")

/* What happens to queues. */
#define QUEUE_EVENTS(X) \
	X(counter, dropped, "dropped", "packets", "sluice_queue_dropped_packets", \
		"dropped in front of an egress queue") \
	X(counter, marked, "marked", "packets", "sluice_queue_marked_packets", "marked CE in an egress queue") \
	X(counter, pauses, "pauses", "times", "sluice_queue_pauses", "times that the gate of an egress queue closed") \
	X(counter, paused_ns, "paused_us", "ns", "sluice_queue_paused_ns", \
		"time that the gate of an egress queue was closed, without a pause under way")

/* Of a port: all its queues, and what its device is offered. */
#define EGRESS_COUNTERS(X) \
	X(part_gauge, backlog, "queued_now", "packets", "sluice_port_queued_packets", \
		"waiting in the egress queues of the port") \
	X(part_gauge, lossy, "lossy_buffers", "buffers", "sluice_port_lossy_buffers", \
		"packet buffers held for lossy classes") \
	X(part_gauge, tx.n, "offered_to_device", "packets", "sluice_port_offered_packets", \
		"of data that the device has not taken yet") \
	X(part_gauge, control_tx.n, "control_offered", "packets", "sluice_port_control_offered_packets", \
		"of control traffic that the device has not taken yet") \
	X(counter, queued_packets, "queued_ever", "packets", "sluice_port_entered_packets", \
		"that had to wait in the egress queues of the port") \
	X(gauge, queued_most, "queued_most", "packets", "sluice_port_most_queued_packets", \
		"that ever waited in the egress queues of the port at a time")

/* One cache line is touched for a packet that waits, the other one by what happens to queues. Counters: relaxed readers. */
struct egress_queue {
	struct fifo packets;
	int32_t deficit; /* bytes the class may still send this round */
	QUEUE_LEVELS(STAT_DECLARE)
	uint64_t pause_until CACHE_ALIGNED; /* ns; in the past: open. Relaxed readers */
	QUEUE_EVENTS(STAT_DECLARE)
	uint64_t paused_since; /* of a pause under way */
};
_Static_assert(offsetof(struct egress_queue, pause_until) == CACHE_LINE_BYTES,
	"what a packet touches is one cache line");

/* Why the gate of a class of a slice may be closed (gate.h). The device closes the gate of all data: EGRESS_GATE_DEVICE. */
enum egress_cause {
	EGRESS_PAUSE, /* by PFC, of the link or of tunnels */
	EGRESS_RATE,  /* the slice is ahead of its max-rate; all its classes */
	EGRESS_CAUSES
};

struct egress_slice {
	uint8_t busy;		       /* bit per class with packets */
	uint8_t closed[EGRESS_CAUSES]; /* by cause: bit per class whose gate it keeps closed. Relaxed readers */
	uint8_t barred;		       /* bit per class whose gate is closed, for whatever cause */
	uint8_t turn;		       /* class whose turn it is */
	int32_t deficit;	       /* bytes it may still send this round */
	uint32_t quantum;
	uint32_t lossy;	    /* buffers held for lossy classes */
	uint64_t byte_time; /* what a byte takes at its max-rate, in 2^-EGRESS_TIME_SHIFT ns; 0: no limit */
	uint64_t burst_ns;  /* how far ahead of that it may be */
	uint64_t paid_ns;   /* time up to which its rate is used up, */
	uint64_t paid_part; /* and what is beyond that nanosecond, in 2^-EGRESS_TIME_SHIFT ns */
	struct egress_queue queue[PKT_CLASSES];
};

struct egress_burst {
	uint16_t n;
	uint16_t n_copied; /* of these, already captured */
	uint16_t n_traced; /* of these, already traced */
	struct rte_mbuf *pkts[EGRESS_TX_ROOM];
};

/* Why packets may not just pass: what submitting one has to look at. */
#define EGRESS_GATE_PAUSE 0x1  /* some class is paused */
#define EGRESS_GATE_RATE 0x2   /* some slice has a max-rate */
#define EGRESS_GATE_DEVICE 0x4 /* the device has not taken all it was offered */
#define EGRESS_GATE_STORM 0x8  /* some queue is in a PFC storm */

struct egress {
	struct port *port;
	uint16_t index;			      /* port */
	uint8_t gates;			      /* EGRESS_GATE_... */
	uint8_t first;			      /* slice whose turn it is, if it may send; else the one before it */
	uint64_t may[SNAP_SLICE_MAX / 64];    /* bit per slice that may send now */
	uint64_t barred[SNAP_SLICE_MAX / 64]; /* bit per slice of which some class may not, packets or none */
	uint32_t backlog;		      /* packets in all queues */
	uint32_t lossy;			      /* buffers held for lossy classes */
	uint32_t shared;		      /* all ones when slices share the buffers, else 0 */
	uint32_t control_buffers;
	uint32_t random;   /* of the marking */
	uint64_t wake_ns;  /* when a gate opens next by itself, or a watchdog is due; TIME_NEVER */
	uint64_t retry_ns; /* after which a device that took nothing is asked again */
	struct fifo control;
	EGRESS_COUNTERS(STAT_DECLARE) /* relaxed readers */
	uint32_t n_slices;
	uint32_t queue_limit, buffer_limit; /* of the snapshot's port, as are the classes whose queues mark */
	uint8_t ecn_classes;
	struct egress_burst control_tx, tx;
	struct pfc_holds holds;
	struct egress_slice slice[SNAP_SLICE_MAX]; /* by slice id */
	uint64_t watch_ns;			   /* when a watchdog is due; TIME_NEVER */
	uint64_t watch_events;			   /* alarms, storms and restorations so far; relaxed readers */
	struct pfc_watchdog watchdog[SNAP_SLICE_MAX][PFC_PRIORITIES]; /* relaxed readers */
} CACHE_ALIGNED;

/* What the owner works with in this pass. */
struct egress_context {
	const struct snapshot *s;
	uint64_t now; /* ns */
	struct lcore_stats *stats;
	struct nbr_table *nbrs;
	struct accounts *accounts;
	/* By ingress port: classes whose packets are never dropped for want of room, and those of them whose buffer is
	 * used up all the same. Written by the owner of that port, who may be another worker; relaxed. */
	const uint8_t *lossless, *exhausted;
	/* By port: priorities whose neighbour is the cause of a storm that drops: what arrives there in them is dropped as
	 * well. Written by the owner of the port, relaxed readers; NULL: nobody reads it. */
	uint8_t *storming;
	/* Tell the control lcore; false when its mailbox is full. */
	bool (*ask)(void *arg, struct nbr_message *message);
	/* Hand a packet to the control lcore, as pkt.punt says; false when its ring is full. */
	bool (*punt)(void *arg, struct rte_mbuf *m);
	void *ask_arg;
	/* Waiting packets by the generation of their snapshot; written by the owner, relaxed readers. */
	uint64_t held[EGRESS_GENERATIONS];
};

_Static_assert(SNAP_SLICE_MAX == 128, "two words hold a bit per slice");
_Static_assert(PKT_CLASSES == PFC_PRIORITIES, "PFC pauses a class by the priority of the same number");

/* An empty egress of a port; *e is all zero. Before its owner starts. */
void egress_init(struct egress *e, struct port *port);

/* Take over weights and rates from a new snapshot. */
void egress_configure(struct egress *e, const struct egress_context *c);

/* The user's watermarks of the queues, and the persistent ones too or not, begin with what is queued now. */
void egress_clear_watermarks(struct egress *e, bool persistent);

/* Packets for this egress, in order; they are sent, queued, held for a neighbour or dropped. */
void egress_submit(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n);

/* Serve the queues while the device has room, then offer it what is ready. Returns frames it took. */
unsigned int egress_run(struct egress *e, struct egress_context *c);

/* When to run again though nothing arrives: soon if packets may go, else when a gate opens. */
uint64_t egress_next(const struct egress *e, const struct egress_context *c);

/*
 * A party pauses or resumes classes of a slice (or of all). The gates then are where all holds together say: closed
 * until the latest of them ends. Frames of a class that is closed now go back from the device's burst to the front of
 * their queue. False when there are too many parties (pfc_hold.h).
 */
bool egress_pause(struct egress *e, struct egress_context *c, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause);

/* May some packet of data go? */
static inline bool egress_may_send(const struct egress *e)
{
	return e->may[0] | e->may[1];
}

/* Packets in queues and in the device's bursts. */
static inline uint32_t egress_held(const struct egress *e)
{
	return e->backlog + e->tx.n + e->control_tx.n;
}

/* A neighbour has its MAC: what waits for it goes out ahead of everything that comes after it. */
void egress_nbr_resolved(struct egress *e, struct egress_context *c, uint32_t id);

/* A neighbour was resolved (its packets go out now), aged, failed or is no longer needed. */
void egress_nbr_update(struct egress *e, struct egress_context *c, const struct nbr_message *message);

/* The oldest packet that waits for a neighbour waits no more: it is the caller's. */
struct rte_mbuf *egress_nbr_pop(struct egress_context *c, struct nbr *n);

/* Drop everything held, for a reason. */
void egress_drain(struct egress *e, struct egress_context *c, enum reason reason);

#endif
