/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feedback: flows of policies that ask for it leave congested paths (D40, docs/path-placement.md).
 *
 *   control lcore   takes samples of what each path's egress shows, decides (steer/path_control.h), and orders rx roles how many
 *                   flows of a path go where (feedback_cp.c)
 *   rx role         chooses the flows as their packets come, at points where none overtakes another one (move_dp.c)
 *   management      makes and replaces the state, writes the log (feedback_ctl.c)
 *
 * A score is in permille of the limits of its signals: with 1,000 the worst one is at its limit, and the path is congested.
 */
#ifndef SERVICE_STEER_FEEDBACK_H
#define SERVICE_STEER_FEEDBACK_H

#include "snapshot/snapshot.h"
#include "steer/flow_table.h"
#include "steer/path_control.h"

#define FEEDBACK_AT_LIMIT 1000 /* the score of a path whose worst signal is at its limit */
#define FEEDBACK_SAMPLES 4     /* of an interval */
#define FEEDBACK_PATH_HOLD 2   /* intervals for which a path that flows left or came to takes no part */
#define FEEDBACK_FLOW_HOLD 10  /* intervals after a move before the flow may move again */
#define FEEDBACK_RECENT 100    /* intervals after a move for which a flow is among the first to move again */
#define FEEDBACK_JITTER 25     /* percent of an interval */
/*
 * ns for which packets may be on their way from the rx role into a queue, and from there out of the device: a flow that was
 * silent for so long after its queue had let its last packet go has nothing there.
 */
#define FEEDBACK_SLACK_NS 20000

/* An order to an rx role: so many flows of a class leave a path. Written by the control lcore before it is published. */
#define FEEDBACK_ORDERS 512 /* of a role */
#define FEEDBACK_DESTINATIONS 16
struct feedback_order {
	uint64_t at, until; /* ns: given, and in force up to */
	uint32_t path, round, score;
	uint8_t class, reason; /* enum path_reason */
	uint16_t n;
	struct {
		uint32_t path, score;
		uint32_t flows; /* that may still go there; the role's */
		uint8_t bucket; /* of the policy */
	} to[FEEDBACK_DESTINATIONS];
};

/* A flow that has moved, for the log. */
#define FEEDBACK_EVENTS 1024 /* a power of two */
struct feedback_event {
	uint64_t at; /* ns */
	struct steer_key key;
	uint32_t from, to;	       /* path ids */
	uint32_t from_score, to_score; /* permille */
	uint8_t class, reason;
};

struct feedback_rx {
	struct feedback_order order[FEEDBACK_ORDERS]; /* number + 1 is in flow_class.leaving */
	uint32_t next_order;			      /* control lcore */
	/* Events: a ring with one writer, the role, and one reader, the management thread. */
	struct feedback_event event[FEEDBACK_EVENTS];
	uint32_t written; /* release by the writer */
	uint32_t read;	  /* likewise by the reader */
	uint64_t missed;  /* events without room; relaxed */
};

/* Of the flows on a path: bytes at the last sample; means of bytes per second, and of flows. */
struct feedback_load {
	uint64_t bytes;
	double rate, flows;
};

/* A policy with feedback. The control lcore writes; others read what they show relaxed. */
struct feedback_policy {
	uint32_t index; /* of the policy in the snapshot */
	uint32_t n;	/* primary paths */
	uint32_t path[PATH_CONTROL_PATHS];
	uint8_t bucket[PATH_CONTROL_PATHS]; /* one that leads there; FLOW_BY_HASH: none does */
	struct {
		bool used; /* there were flows of the class */
		bool none_left;
		struct path_control control;
		struct feedback_load load[PATH_CONTROL_PATHS];
		uint64_t until[PATH_CONTROL_PATHS];	    /* of the order in force */
		uint32_t rescued[PATH_CONTROL_PATHS];	    /* flows that it moves off a failed path; 0: it does not */
		uint64_t blocked_since[PATH_CONTROL_PATHS]; /* its credit is used up; 0: it is not */
	} of[FLOW_CLASSES];
	bool told_none_left; /* management thread */
};

/* What the egress of a port shows for a class. Control lcore. */
struct feedback_signal {
	uint64_t queue_ns;  /* time that its queues take to send, at the rate at which they do */
	uint64_t queued;    /* bytes in them at the last sample */
	uint32_t paused;    /* permille of the time since the last sample */
	bool is_paused;	    /* now */
	uint64_t paused_ns; /* counter at the last sample */
	uint64_t out;	    /* what came before this time is out of the device */
	uint64_t left;	    /* what came before this time is out of it at out_ns */
	uint64_t out_ns;
};

/* A point of a queue: all that entered before it has left when `entered` packets have. */
struct feedback_mark {
	uint64_t at, entered;
	uint64_t before; /* the point before it: all of that has left */
};

/* The state for a snapshot: made and replaced by the management thread, the control lcore's while it is in force. */
struct feedback {
	uint64_t generation;
	uint64_t interval_ns, next;
	uint64_t last;				  /* time of the last sample; 0: none */
	uint32_t epoch;				  /* of struct liveness at the last sample */
	uint64_t queue_limit_ns, credit_limit_ns; /* 0: the signal is not looked at */
	uint32_t pause_limit;			  /* permille; likewise */
	struct feedback_signal signal[MAX_PORTS][FLOW_CLASSES];
	uint64_t sent[MAX_PORTS], packets[MAX_PORTS]; /* by port at the last sample: bytes, packets */
	uint8_t waits[MAX_PORTS]; /* bit per class of which packets wait for credit to leave by that port */
	struct feedback_mark (*mark)[SNAP_SLICE_MAX][FLOW_CLASSES]; /* by port */
	uint32_t n_policies;
	struct feedback_policy policy[];
};

#endif
