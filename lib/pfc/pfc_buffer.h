/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffer of one lossless class of an ingress port: when its sender must stop, when it may go on, when the headroom
 * is used up; and what is said to a neighbour on the link about all classes of the port. Pure: no packets, no clock.
 * The owner of the ingress port alone touches it.
 *
 * Levels are counted in bytes and in buffers of the pool; each threshold has both, and whichever is reached first
 * counts. A class whose thresholds are dynamic stops as well when it holds more than alpha times what is left of the
 * shared buffers.
 */
#ifndef PFC_PFC_BUFFER_H
#define PFC_PFC_BUFFER_H

#include "pfc/pfc_frame.h"
#include "pfc/pfc_history.h"
#include "stats/counter.h"

struct pfc_threshold {
	uint64_t bytes, buffers;
};

struct pfc_buffer_config {
	struct pfc_threshold xoff; /* stop from here on */
	struct pfc_threshold xon;  /* go on below; at most xoff */
	/*
	 * Where there is a choice of senders: up to here those with the largest shares are told, from here on all of them.
	 * At least xoff; what lies above is headroom enough for all (docs/protocol.md 5.7).
	 */
	struct pfc_threshold urgent;
	struct pfc_threshold full; /* all headroom used */
	uint32_t alpha;		   /* in 128ths; 0: static */
};

/* Of a lossless class of the port that its packets came in by. */
#define BUFFER_COUNTERS(X) \
	X(part_gauge, level.bytes, NULL, "bytes", "sluice_buffer_bytes", \
		"held of what came in here in a lossless class") \
	X(part_gauge, level.buffers, NULL, "buffers", "sluice_buffer_packets", "packet buffers held by it") \
	X(part_gauge, user.bytes, "most_bytes", "bytes", NULL, "held at most since 'clear watermarks'") \
	X(part_gauge, user.buffers, "most_buffers", "buffers", NULL, "held at most since 'clear watermarks'") \
	X(part_gauge, user_headroom.bytes, "most_headroom", "bytes", NULL, \
		"of its headroom used at most since 'clear watermarks'") \
	X(part_gauge, most.bytes, "ever_bytes", "bytes", "sluice_buffer_most_bytes", "ever held by it") \
	X(part_gauge, most_headroom.bytes, "ever_headroom", "bytes", "sluice_buffer_most_headroom_bytes", \
		"of its headroom ever used") \
	X(counter, xoffs, "xoffs", "times", "sluice_buffer_xoffs", "times that it rose to XOFF") \
	X(counter, xons, NULL, "times", "sluice_buffer_xons", "times that it fell to XON") \
	X(counter, exhausted_times, "exhausted", "times", "sluice_buffer_exhausted", \
		"times that its headroom was used up")

struct pfc_buffer {
	bool stopped;				  /* XOFF is in force */
	bool urgent;				  /* for all senders, whatever their share */
	bool exhausted;				  /* the headroom is used up: further packets are dropped */
	struct pfc_threshold level;		  /* as last seen */
	struct pfc_threshold most, most_headroom; /* ever; the part above xoff */
	struct pfc_threshold user, user_headroom; /* the same since the user cleared them */
	BUFFER_COUNTERS(STAT_DECLARE)
};

/*
 * The class holds `level`; `shared_left` buffers are left of those shared by classes with alpha. `force`: stop
 * whatever the level (rings are full). Returns true when stopped has changed.
 */
bool pfc_buffer_look(struct pfc_buffer *b, const struct pfc_buffer_config *c, const struct pfc_threshold *level,
	uint64_t shared_left, bool force);

/* Would a class that is stopped go on if it held `level` and `shared_left` buffers were left? */
bool pfc_buffer_may_resume(const struct pfc_buffer_config *c, const struct pfc_threshold *level, uint64_t shared_left);

/* Forget the user's watermarks, and the persistent ones too or not; they begin with the next look. */
void pfc_buffer_clear(struct pfc_buffer *b, bool persistent);

/* PFC frames sent to the neighbour. */
#define PFC_TX_COUNTERS(X) \
	X(counter, frames, "tx", "frames", "sluice_pfc_tx_frames", "PFC frames sent to the neighbour") \
	X(priority_counter, xoff, "tx_xoff", "frames", "sluice_pfc_tx_xoff", \
		"PFC frames sent that stop this priority, refreshes included") \
	X(priority_counter, xon, "tx_xon", "frames", "sluice_pfc_tx_xon", "PFC frames sent that end its pause")

/* What a port tells its neighbour. */
struct pfc_speaker {
	uint8_t stopped;  /* classes that were last told to stop */
	uint64_t said_ns; /* when they were told last */
	struct pfc_history history[PFC_PRIORITIES];
	PFC_TX_COUNTERS(STAT_DECLARE)
};

/*
 * At `now` these classes are to be stopped. True when a frame must go out: a change, at once and with everything that
 * is stopped in it, or a refresh, when half of the time is over that was given (65535 quanta of `bps`). *out is what to
 * send; tell pfc_speaker_said when it is really on its way.
 */
bool pfc_speaker_want(const struct pfc_speaker *s, uint8_t stopped, uint64_t bps, uint64_t now,
	struct pfc_request *out);
void pfc_speaker_said(struct pfc_speaker *s, const struct pfc_request *said, uint64_t bps, uint64_t now);

/* When the next refresh is due; TIME_NEVER: nothing is stopped. */
uint64_t pfc_speaker_next(const struct pfc_speaker *s, uint64_t bps);

#endif
