/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The egress of a port: queues, the gates in front of them, the scheduler over them, and the bursts that are offered
 * to the device.
 *
 * One worker owns an egress, and only that worker touches it. A packet passes straight through to the device's burst
 * if its queue is empty, its gate is open and the device accepts frames; otherwise it is queued. A packet is rewritten
 * when it leaves its queue, never before.
 *
 *   control     one queue with strict priority, own buffers, no gate and its own burst
 *   data        one queue per (slice, traffic class); deficit round robin over the slices that may send, by
 *               weight, then over their classes. The cost of a packet does not depend on the number of slices
 *   gates       one per (slice, class), closed by any of several causes: a pause, the max-rate, the device (gate.h)
 *   watchdogs   one per queue; in a storm with action drop, the gate is closed, and queued and arriving packets are
 *               dropped
 */
#ifndef QUEUE_EGRESS_H
#define QUEUE_EGRESS_H

#include "base/limits.h"
#include "neigh/neigh_table.h"
#include "pfc/pfc_watchdog.h"
#include "pkt/fifo.h"
#include "port/port.h"
#include "queue/account.h"
#include "snapshot/snapshot.h"

/* Rewritten frames that the device has not accepted yet: limit for control and for data, each. */
#define EGRESS_TX_ROOM LIMIT_TX_ROOM
/*
 * Frames dequeued before they are offered to the device. It limits the frames that are already rewritten when the
 * device refuses.
 */
#define EGRESS_TX_BATCH 32
#define EGRESS_EPOCHS 64	 /* epochs of ids that queued packets may refer to at a time */
#define EGRESS_QUANTUM 9216	 /* bytes per class and round */
#define EGRESS_WEIGHT_BYTES 4096 /* bytes per slice and round, per unit of weight */
/* Bytes of line time per frame in addition to the frame: preamble, FCS, gap. Shares are shares of the line. */
#define EGRESS_LINE_BYTES 24
#define EGRESS_RETRY_NS 1000  /* ns until frames are offered again to a device that accepted none */
#define EGRESS_RETRY_FRAMES 8 /* on slow lines: time of this many shortest frames, if longer */
#define EGRESS_ALL_SLICES PFC_ALL_SLICES
/*
 * Binary places of a nanosecond in egress_slice.byte_time: a byte may take much less than 1 ns. At 3.2 Tb/s the error
 * is 0.02 %.
 */
#define EGRESS_TIME_SHIFT 20
/*
 * ns by which a device may be later than its line rate would have it: it fetches frames, and a pass takes time. What is
 * sent elsewhere after that does not overtake.
 */
#define EGRESS_DEVICE_NS 20000
#define EGRESS_SHAPE_BURST 32768 /* bytes that a slice may send ahead of its max-rate */
/*
 * A slice that is behind its min-rate catches up with what it lost in so many ns, and while others sent so many batches;
 * what it did not ask for before is not made up for.
 */
#define EGRESS_LATE_NS 100000
#define EGRESS_LATE_BATCHES 2

/* Counters that a queued packet changes (stats/counter.h). Packets that pass straight through are not counted. */
#define QUEUE_LEVELS(X) \
	X(gauge, bytes, "bytes", "bytes", "sluice_queue_bytes", "bytes in an egress queue") \
	X(gauge, user_bytes, "most_bytes", "bytes", NULL, "most bytes in the queue since 'clear watermarks'") \
	X(gauge, most_bytes, "ever_bytes", "bytes", "sluice_queue_most_bytes", \
		"most bytes in an egress queue; reset by 'clear watermarks persistent'") \
	X(counter, entered, "entered", "packets", "sluice_queue_entered_packets", \
		"packets that were queued in an egress queue")

/* Counters of events of a queue: drops, CE marks, pauses. */
#define QUEUE_EVENTS(X) \
	X(counter, dropped, "dropped", "packets", "sluice_queue_dropped_packets", \
		"packets dropped instead of being queued") \
	X(counter, marked, "marked", "packets", "sluice_queue_marked_packets", "packets marked CE in an egress queue") \
	X(counter, promised, "promised", "bytes", "sluice_queue_promised_bytes", \
		"bytes sent under the slice's min-rate, before other slices") \
	X(counter, pauses, "pauses", "times", "sluice_queue_pauses", "pauses of an egress queue: its gate closed") \
	X(counter, paused_ns, "paused_us", "ns", "sluice_queue_paused_ns", \
		"time an egress queue was paused, without the current pause")

/* Counters of a port: all its queues, and the frames offered to its device. */
#define EGRESS_COUNTERS(X) \
	X(part_gauge, backlog, "queued_now", "packets", "sluice_port_queued_packets", \
		"packets in the egress queues of the port") \
	X(part_gauge, waiting, "waiting_for_credit", "packets", "sluice_port_waiting_packets", \
		"packets that wait for the credit of their sessions") \
	X(part_gauge, lossy, "lossy_buffers", "buffers", "sluice_port_lossy_buffers", \
		"packet buffers in use by lossy classes") \
	X(part_gauge, tx.n, "offered_to_device", "packets", "sluice_port_offered_packets", \
		"data packets that the device has not accepted yet") \
	X(part_gauge, control_tx.n, "control_offered", "packets", "sluice_port_control_offered_packets", \
		"control packets that the device has not accepted yet") \
	X(counter, queued_packets, "queued_ever", "packets", "sluice_port_entered_packets", \
		"packets that were queued in the egress queues of the port") \
	X(counter, rebound, "rebound", "packets", "sluice_port_rebound_packets", \
		"packets of this port that left by another one because their way was not alive") \
	X(gauge, gap_ns, "gap_us", "ns", "sluice_port_failover_gap_ns", \
		"time from the last failure until a packet of this port took another way; 0: there was none, or no " \
		"packet") \
	X(gauge, gap_most_ns, "gap_most_us", "ns", "sluice_port_failover_gap_most_ns", \
		"longest time from a failure until a packet of this port took another way, since start") \
	X(gauge, queued_most, "queued_most", "packets", "sluice_port_most_queued_packets", \
		"most packets in the egress queues of the port since start")

/*
 * The first cache line is touched for each queued packet, the second one by events of the queue. The owner writes;
 * other threads read the counters relaxed.
 */
struct egress_queue {
	struct fifo packets; /* oldest first */
	int32_t deficit;     /* bytes that the class may still send in this round; negative: debt */
	QUEUE_LEVELS(STAT_DECLARE)
	/* Time in ns until which pauses close the gate; in the past: open. Relaxed readers. */
	uint64_t pause_until CACHE_ALIGNED;
	QUEUE_EVENTS(STAT_DECLARE)
	uint64_t paused_since; /* time in ns at which the current pause began */
};
_Static_assert(offsetof(struct egress_queue, pause_until) == CACHE_LINE_BYTES,
	"what a packet touches is one cache line");

/*
 * Causes that close the gate of a class of a slice (gate.h). The device closes the gate of all data:
 * EGRESS_GATE_DEVICE.
 */
enum egress_cause {
	EGRESS_PAUSE, /* PFC of the link or of tunnels */
	EGRESS_LINK,  /* the link is down, or has come up and the neighbour has not been heard yet (link.h) */
	EGRESS_RATE,  /* the slice is ahead of its max-rate; closes all its classes */
	EGRESS_CAUSES
};

struct egress_slice {
	uint8_t busy;		       /* bit per class that has queued packets */
	uint8_t closed[EGRESS_CAUSES]; /* bit per class whose gate this cause closes. Relaxed readers */
	uint8_t barred;		       /* bit per class whose gate is closed by any cause */
	uint8_t turn;		       /* class whose turn it is */
	int32_t deficit;	       /* bytes that the slice may still send in this round; negative: debt */
	uint32_t quantum;	       /* bytes added to deficit in each round */
	uint32_t lossy;		       /* buffers held for lossy classes */
	/* Time of a byte at the max-rate, in 2^-EGRESS_TIME_SHIFT ns; 0: no max-rate. */
	uint64_t byte_time;
	uint64_t burst_ns;  /* ns by which the slice may be ahead of its max-rate */
	uint64_t paid_ns;   /* time in ns up to which the max-rate is used */
	uint64_t paid_part; /* fraction beyond paid_ns, in 2^-EGRESS_TIME_SHIFT ns */
	/* The same of the min-rate: time of a byte of the line, and time in ns up to which the promise is kept. */
	uint64_t promise_time, kept_ns, kept_part;
	struct egress_queue queue[PKT_CLASSES]; /* by class */
};

struct egress_burst {
	uint16_t n;			       /* frames in pkts */
	uint16_t n_copied;		       /* first frames of pkts that are already captured */
	uint16_t n_traced;		       /* first frames of pkts that are already traced */
	struct rte_mbuf *pkts[EGRESS_TX_ROOM]; /* rewritten, oldest first; owned by the egress */
};

/* Lines of a queue that may send, in the order of their turns (line.h): numbers; 0: none. */
struct line_ring {
	uint32_t first, last;
};

/* Reasons why a submitted packet may not pass straight through; 0: nothing to check. */
#define EGRESS_GATE_PAUSE 0x1	/* some class is paused, or waits for the link */
#define EGRESS_GATE_RATE 0x2	/* some slice has a max-rate */
#define EGRESS_GATE_DEVICE 0x4	/* the device has not accepted all frames offered */
#define EGRESS_GATE_STORM 0x8	/* some queue is in a PFC storm */
#define EGRESS_GATE_REBIND 0x10 /* some way by this port is not alive, or packets are elsewhere (rebind.h) */
#define EGRESS_GATE_CREDIT 0x20 /* no gate of the egress: packets of sessions may come here (line.h) */

#define EGRESS_LINK_NOT_READY UINT32_MAX /* in place of a value of port.link */

/* What an egress knows of its link (link.h). Times are in ns; TIME_NEVER: nothing is due. */
struct egress_link {
	uint32_t seen;	     /* port.link when it was last looked at; EGRESS_LINK_NOT_READY: never */
	uint32_t ready;	     /* the same while the link is up, else EGRESS_LINK_NOT_READY */
	bool given_up;	     /* down for pfc.outage: lossless packets are dropped */
	uint8_t closed;	     /* bit per class whose gates are closed */
	uint8_t unheard;     /* bit per class that waits for the neighbour's word */
	uint64_t give_up_ns; /* end of pfc.outage */
	uint64_t go_on_ns;   /* end of the time for which holds stand still */
	uint64_t unheard_ns; /* end of the wait for the neighbour */
	uint64_t next_ns;    /* the earliest of these */
};

/* Packets that leave by another egress than their home (rebind.h). */
struct egress_rebind {
	uint32_t epoch;		 /* of struct liveness that was taken into account */
	bool scan;		 /* the queues of a port without link are searched; the place: */
	bool again;		 /* the search must be repeated */
	bool waits;		 /* packets of this home are not sent until those that are queued elsewhere have left */
	uint8_t slice, class;	 /* queue */
	struct rte_mbuf *before; /* last packet that was looked at; NULL: none */
	uint32_t held;		 /* bit per home whose oldest packet in this queue found no room elsewhere */
	uint32_t full;		 /* the same for an egress that is up: its packets are parked (park.h) */
	uint64_t full_until;	 /* time in ns at which they are tried again */
	bool drains;		 /* no data is sent until the device has sent what it has accepted */
	uint32_t drained_epoch;	 /* in which that was, or is, waited for */
	uint64_t drained_ns;	 /* time in ns at which the device has sent it; 0: it has not accepted all yet */
	uint64_t drains_until;	 /* time in ns at which the wait ends in any case */
	uint32_t parked;	 /* packets beside the queues */
	uint32_t park_left;	 /* packets that may still be parked in this pass */
	bool retry;		 /* packets that wait at their neighbours have their turn again */
	bool gave_up;		 /* dead_since is longer ago than pfc.outage */
	uint64_t quiet_ns;	 /* time in ns at which all had left their queues; 0: not yet */
	uint64_t waits_until;	 /* time in ns at which the wait ends in any case */
	uint64_t away;		 /* packets that were handed to other egresses, since start */
	uint32_t guests;	 /* packets of other egresses that are queued here */
	uint64_t failed_ns;	 /* time in ns of a failure after which no packet has taken another way yet; 0: none */
	uint64_t dead_since;	 /* time in ns since which packets have no living way; 0: they have */
	uint32_t gave_to;	 /* bit per port to which packets were handed while their home was dead */
	uint32_t links;		 /* sum of port.link of those ports at the last look */
	uint32_t deaths;	 /* what was dead of the ways of this egress and of those ports at the last look */
};

/* Packets beside a queue, which go before all that are in it (park.h). They count as queued. */
struct egress_parked {
	struct fifo home;  /* came home from elsewhere while the egress waits, oldest first; go before `later` */
	struct fifo later; /* may not leave yet, oldest first */
};

struct egress {
	struct port *port;			/* the port; outlives the egress */
	uint16_t index;				/* index of the port */
	uint8_t gates;				/* EGRESS_GATE_... */
	uint8_t first;				/* slice whose turn it is if it may send; else the slice before it */
	uint8_t last_promised;			/* slice that was behind its min-rate and served last */
	bool promises;				/* some slice has a min-rate */
	uint64_t may[SNAP_SLICE_MAX / 64];	/* bit per slice that may send */
	uint64_t barred[SNAP_SLICE_MAX / 64];	/* bit per slice with a closed gate, with or without packets */
	uint64_t promised[SNAP_SLICE_MAX / 64]; /* bit per slice with a min-rate */
	uint64_t late_ns;			/* by which such a slice may be behind and catches up */
	uint32_t backlog;			/* packets in all queues */
	uint32_t waiting;			/* packets in lines (line.h) */
	uint32_t lossy;				/* buffers held for lossy classes */
	uint32_t shared;			/* all ones if several slices share the buffers, else 0 */
	uint32_t control_buffers;		/* buffers held by queue control */
	uint32_t random;			/* state of the random generator for ECN marks */
	uint64_t wake_ns; /* time in ns at which the next gate opens by itself or a watchdog is due; TIME_NEVER: none */
	struct egress_link link;
	uint64_t retry_ns; /* ns until frames are offered again to a device that accepted none */
	/* Time in ns by which the device has sent what it was given, with a fraction; and of a byte, in 2^-EGRESS_TIME_SHIFT ns. */
	uint64_t drained_ns, drained_part, line_time;
	struct egress_rebind rebind;
	struct fifo control;	      /* control traffic, oldest first */
	EGRESS_COUNTERS(STAT_DECLARE) /* relaxed readers */
	uint32_t n_slices;	      /* slices of the snapshot */
	/* Limits of the snapshot's port: packets in a queue, and buffers of all lossy classes. */
	uint32_t queue_limit, buffer_limit;
	uint8_t ecn_classes;		    /* bit per class whose queues mark CE; from the snapshot's port */
	uint64_t watch_ns;		    /* time in ns at which a watchdog is due; TIME_NEVER: none */
	uint64_t watch_events;		    /* alarms, storms and restorations since start; relaxed readers */
	struct egress_burst control_tx, tx; /* frames for the device: control traffic, data */
	/* Slices beyond n_slices, and pauses that nobody asks for, are never touched and take no memory. */
	struct egress_slice slice[SNAP_SLICE_MAX];		      /* by slice id */
	struct egress_parked parked[SNAP_SLICE_MAX][PKT_CLASSES];     /* the same */
	struct pfc_holds holds;					      /* of all parties that pause queues of the port */
	struct pfc_watchdog watchdog[SNAP_SLICE_MAX][PFC_PRIORITIES]; /* relaxed readers */
	/* Lines with credit (line.h): bit per slice, bit per class, rings. */
	uint64_t lines_may[SNAP_SLICE_MAX / 64];
	uint8_t lines_listed[SNAP_SLICE_MAX];
	struct line_ring lines[SNAP_SLICE_MAX][PKT_CLASSES];
} CACHE_ALIGNED;

/* Guests that have left. The worker writes, the owner of their home reads. */
struct egress_left {
	uint64_t n;	  /* since start; release and acquire */
	uint64_t gone_ns; /* time in ns by which devices have sent them; written before n */
};

/* The egresses of a node and their owners. Constant while lcores run, except for `left`. */
struct egress_peers {
	struct egress *egress; /* by port */
	const uint16_t *owner; /* worker by port */
	uint16_t n_workers;
	/* By worker and port of the home: [worker * MAX_PORTS + port]. */
	struct egress_left *left;
};

/* The owner's environment in the current pass. */
struct egress_context {
	const struct snapshot *s; /* the newest snapshot */
	uint64_t now;		  /* time of the pass in ns */
	uint32_t touched;	  /* bit per egress that was changed, or had packets submitted; cleared by the caller */
	uint32_t run_limit;	  /* egress_run ends when it has sent so many frames */
	struct lcore_stats *stats;  /* of the owner's lcore */
	struct neigh_table *neighs; /* of the owner */
	struct accounts *accounts;  /* block of the owner */
	/*
	 * By ingress port, a bit per class. lossless: packets are never dropped for lack of room. exhausted: lossless
	 * classes whose buffer is used up, headroom included. The owner of the ingress port, possibly another worker,
	 * writes them; relaxed.
	 */
	const uint16_t
		*lossless; /* above the classes, the bits of PKT_GRANTED are set: what was granted is never dropped */
	const uint8_t *exhausted;
	/*
	 * By port, a bit per priority: the neighbour causes a storm with action drop, so packets that arrive there in
	 * that priority are dropped too. Written by the owner of the port, relaxed readers; NULL: no reader.
	 */
	uint8_t *storming;
	/* Send a message to the control lcore; false when its mailbox is full. */
	bool (*ask)(void *arg, struct neigh_message *message);
	/* Punt a packet to the control lcore for the reason in pkt.punt; false when its ring is full. */
	bool (*punt)(void *arg, struct rte_mbuf *m);
	struct egress_peers *peers; /* NULL: packets are never bound again */
	uint16_t self;		    /* worker */
	uint64_t given;		    /* packets handed to other egresses */
	/* Is there room for a packet in the mailbox to another worker, `home`: which comes home there? Put it there. */
	bool (*give_room)(void *arg, uint16_t worker, bool home);
	void (*give)(void *arg, uint16_t worker, struct rte_mbuf *m);
	/* Take over a packet at another egress of this owner: egress_take. */
	void (*take)(struct egress *e, struct egress_context *c, struct rte_mbuf *m);
	void *ask_arg; /* first argument of the functions */
	/* Queued packets by epoch of their snapshot; written by the owner, relaxed readers. */
	uint64_t held[EGRESS_EPOCHS];
	/* Credit (line.h); NULL: this node takes no part in it. Constant while lcores run. */
	struct credit_data *credit;
	bool (*credit_told)(void *arg,
		uint32_t what);		  /* tell the control lcore: LINE_TELLS...; false: no room, tell again */
	void (*credit_orders)(void *arg); /* obey the orders that wait in the mailbox of the control lcore */
};

_Static_assert(SNAP_SLICE_MAX == 128, "two words hold a bit per slice");
_Static_assert(PKT_CLASSES == PFC_PRIORITIES, "PFC pauses a class by the priority of the same number");

/* Initialize an empty egress of a port; *e must be all zero. Call before the owner starts. */
void egress_init(struct egress *e, struct port *port);

/*
 * The link has been in its present state for long, and the neighbour does not pause: an egress that begins like this
 * does not wait for neighbours. Call after egress_init.
 */
void egress_know_link(struct egress *e);

/* Apply weights, rates, limits and watchdogs of a new snapshot, c->s. This and all functions below: owner only. */
void egress_configure(struct egress *e, const struct egress_context *c);

/*
 * Reset the user's watermarks of the queues, and with `persistent` also the permanent ones, to the bytes queued now.
 */
void egress_clear_watermarks(struct egress *e, bool persistent);

/*
 * Submit packets to this egress, in order. The egress takes them over: it sends, queues, holds for a neighbour or
 * drops each one.
 */
void egress_submit(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n);

/*
 * Take over a packet that another egress hands on (rebind.h). egress_can_take: is there room for it, so that it is not
 * dropped?
 */
void egress_take(struct egress *e, struct egress_context *c, struct rte_mbuf *m);
bool egress_can_take(struct egress *e, const struct egress_context *c, struct rte_mbuf *m);

/*
 * Serve the queues while the device has room, then offer it the frames that are ready. Returns the number of frames
 * that it accepted.
 */
unsigned int egress_run(struct egress *e, struct egress_context *c);

/* Time in ns of the next egress_run if no packet arrives: soon if packets may be sent, else when a gate opens. */
uint64_t egress_next(const struct egress *e, const struct egress_context *c);

/*
 * A party pauses or resumes classes of a slice (or of all slices: EGRESS_ALL_SLICES). A gate is closed until the
 * latest of its holds ends. Frames of a class that is now closed go back from the device's burst to the front of their
 * queue. Returns false when there are too many parties (pfc_hold.h).
 */
bool egress_pause(struct egress *e, struct egress_context *c, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause);

/* May any data packet be sent? */
static inline bool egress_may_send(const struct egress *e)
{
	return e->may[0] | e->may[1];
}

/* Is there anything to offer to the device, now or when it has room again? */
static inline bool egress_has_ready(const struct egress *e)
{
	return e->tx.n || e->control_tx.n || e->control.n || egress_may_send(e);
}

/* Packets in queues and in the device's bursts. Any thread. */
static inline uint32_t egress_held(const struct egress *e)
{
	return __atomic_load_n(&e->backlog, __ATOMIC_RELAXED) + __atomic_load_n(&e->tx.n, __ATOMIC_RELAXED) +
	       __atomic_load_n(&e->control_tx.n, __ATOMIC_RELAXED) + __atomic_load_n(&e->waiting, __ATOMIC_RELAXED);
}

/* The MAC of neighbour `id` is known. Packets held for the neighbour are sent before all later packets. */
void egress_neigh_resolved(struct egress *e, struct egress_context *c, uint32_t id);

/* Apply an update of a neighbour: resolved (its held packets are sent), aged, failed, or no longer needed. */
void egress_neigh_update(struct egress *e, struct egress_context *c, const struct neigh_message *message);

/* Remove the oldest packet held for a neighbour, at least one; the caller owns it. */
struct rte_mbuf *egress_neigh_pop(struct egress_context *c, struct neigh_entry *n);

/* Drop all packets in queues and bursts, counted under `reason`. */
void egress_drain(struct egress *e, struct egress_context *c, enum reason reason);

#endif
