/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One credit hop around the objects of lib/credit: data in a line, messages both ways, faults, restarts. A time that passes
 * is a step that is possible whenever the network's bounds allow it.
 */
#ifndef MODEL_HOP_H
#define MODEL_HOP_H

#include "credit/credit_grantor.h"
#include "credit/credit_user.h"
#include "test/model/explore.h"

/* What is taken out of the protocol to see that it was necessary (docs/credit.md 2.13). */
enum control {
	CONTROL_NONE,
	CONTROL_DELTA,	       /* updates carry increments */
	CONTROL_NOT_ZERO,      /* the gate lets a packet pass if there is any credit */
	CONTROL_IDLE_ANY_TIME, /* ABR := FCTBS: IDLE without an idle time */
	CONTROL_NO_FENCES,     /* D45 off */
	CONTROL_RING_BEHIND,   /* data is counted behind a ring that fences do not pass */
	CONTROL_LATE_SAMPLE,   /* RCVD is sampled later than the fence arrives */
	CONTROL_UNSIGNED,      /* D46 off: LOST never falls */
	CONTROL_KEPT_DROPS,    /* D47 off: what is dropped behind RCVD is not freed */
	CONTROL_SENT_AT_GATE,  /* D47, D48 off: units count as sent at the gate, and the frames wait behind it */
	CONTROL_NO_HOLD,       /* D48 off: D_idle leaves out how long the device may hold a frame */
	CONTROL_FORWARD_ALL,   /* D51 off: labelled data without a session is forwarded */
	CONTROL_NO_QUARANTINE, /* RESYNC without D_idle */
	CONTROL_NO_BACKLOG,    /* D63 off: FREED = 0 at RESYNC */
	CONTROL_FLOOR_ON_TOP,  /* a new epoch adds the floor to the backlog */
	CONTROL_NO_ECHO,       /* an S does not name the 28 that it answers */
};

#define HOP_LINE 6     /* places for data and fences between gate and grantor */
#define HOP_MESSAGES 2 /* each way */

struct hop_config {
	enum control control;
	const char *sought; /* the only promise to look at: "I2:", "I10"; NULL: all */
	/* bounds of what is explored */
	uint8_t window;	  /* BUF in units */
	uint8_t size;	  /* units of a packet */
	uint8_t sent;	  /* units that the user sends in all its lives */
	uint8_t line;	  /* data and fences on their way at once, at most HOP_LINE */
	uint8_t updates;  /* 29s */
	uint8_t markers;  /* CBFC_HOPs */
	uint8_t messages; /* on their way at once and each way, at most HOP_MESSAGES */
	/* faults: how many */
	uint8_t lost, doubled; /* packets of data */
	uint8_t stops, user_restarts, grantor_restarts;
	/* what there is */
	uint8_t fences; /* how many; they need data in order */
	bool reorders;	/* data arrives in any order */
	bool holds;	/* the device may hold frames that it has taken */
	bool pends;	/* frames wait between gate and device, and the device may refuse them */
	bool idles;	/* the user sends IDLE */
	bool late;	/* messages may be older than D_idle */
};

extern const struct model hop_model;

#endif
