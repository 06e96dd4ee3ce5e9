/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracks: the exact intervals in which something was paused, stopped, stalled or down, for the plots of the report.
 * Each node, host and direction of a link has tracks of its own, so nothing here is shared. Memory is bounded: a track
 * that is full joins its closest intervals and keeps the time that they cover. The lab is single-threaded.
 */
#ifndef LAB_LAB_TRACK_H
#define LAB_LAB_TRACK_H

#include <stdint.h>

#include <jansson.h>

#define TRACK_INTERVALS 256 /* of a track; must be even */
#define TRACKS_MAX 128	    /* of a node, a host or a direction of a link */
#define TRACK_NO_INDEX 0xff /* the track is not about a port, a slice or a class */

/* What the intervals of a track mean, and its name in the report. */
#define TRACK_KINDS(X) \
	X(TRACK_STALL, "stalled", "a host takes nothing from its receive buffer") \
	X(TRACK_LINK, "link down", "a link loses all frames in this direction") \
	X(TRACK_NODE, "node down", "a node restarts") \
	X(TRACK_XOFF, "xoff", "the buffer of a class has its senders paused: XOFF until XON") \
	X(TRACK_GATE, "gate", "a class may not be sent, because PFC pauses it") \
	X(TRACK_STORM, "storm", "the watchdog discards the packets of a port")

enum track_kind {
#define X(name, text, help) name,
	TRACK_KINDS(X)
#undef X
};

struct track_interval {
	uint64_t from, to; /* ns of virtual time */
	uint64_t on_ns;	   /* covered part; less than to - from if intervals were joined */
	uint64_t n;	   /* intervals joined into this one */
};

struct track {
	enum track_kind kind;
	uint8_t port, slice, class; /* or TRACK_NO_INDEX */
	uint32_t n, room;
	struct track_interval *interval;
};

struct tracks {
	struct track *item;
	uint32_t n, room;
	uint64_t left_out; /* intervals without a track: TRACKS_MAX are in use, or memory is short */
};

struct track_id {
	enum track_kind kind;
	uint8_t port, slice, class; /* or TRACK_NO_INDEX */
};

/*
 * From `now` (ns) the state of a track lasts until `until`: now ends it, TIME_NEVER leaves the end open. A later call
 * replaces an end that is not reached yet. Calls of a track are in order of time.
 */
void track_set(struct tracks *t, const struct track_id *id, uint64_t now, uint64_t until);

/* End all intervals at `now`. */
void tracks_end(struct tracks *t, uint64_t now);

/* Join the closest intervals of a track until at most `most` (at least 1) are left. */
void track_join(struct track *t, uint32_t most);

void tracks_fini(struct tracks *t);

const char *track_name(enum track_kind kind);

#endif
