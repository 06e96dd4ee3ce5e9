/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffer of one lossless class of an ingress port: when the sender must stop, when it may resume, when the
 * headroom is used up. Also the PFC frames to the neighbour on the link for all classes of the port. Pure: no packets,
 * no clock. Only the owner of the ingress port touches it.
 *
 * Levels are counted in bytes and in buffers of the pool. Each threshold has both values, and the one reached first
 * counts. A class with dynamic thresholds also stops when it holds more than alpha times the shared buffers that are
 * left.
 */
#ifndef PFC_PFC_BUFFER_H
#define PFC_PFC_BUFFER_H

#include "pfc/pfc_frame.h"
#include "pfc/pfc_history.h"
#include "stats/counter.h"

struct pfc_threshold {
	uint64_t bytes, buffers; /* both count; reached when either is reached */
};

struct pfc_buffer_config {
	struct pfc_threshold xoff; /* send XOFF at or above */
	struct pfc_threshold xon;  /* send XON at or below; at most xoff */
	/*
	 * If there are several senders: below this threshold only those with the largest shares are paused, at or
	 * above it all of them. At least xoff; the room above it is headroom for all senders (docs/protocol.md 5.7).
	 */
	struct pfc_threshold urgent;
	struct pfc_threshold full; /* all headroom is used; further packets are dropped */
	/*
	 * Shares of slices in a class whose pauses go into PFC tunnels (pfc_slices.h): what each slice may hold whatever the
	 * others hold, at most xoff; and how much more of a slice arrives until all of its contributors are paused, and not
	 * only the largest ones.
	 */
	struct pfc_threshold floor, choice;
	uint32_t alpha; /* factor of the dynamic threshold, in 128ths; 0: static thresholds */
};

/* Counters of a lossless class of an ingress port. */
#define BUFFER_COUNTERS(X) \
	X(part_gauge, level.bytes, NULL, "bytes", "sluice_buffer_bytes", \
		"buffered bytes of a lossless class that were received on this port") \
	X(part_gauge, level.buffers, NULL, "buffers", "sluice_buffer_packets", "packet buffers that they occupy") \
	X(part_gauge, user.bytes, "most_bytes", "bytes", NULL, "most bytes in the buffer since 'clear watermarks'") \
	X(part_gauge, user.buffers, "most_buffers", "buffers", NULL, \
		"most packet buffers in use since 'clear watermarks'") \
	X(part_gauge, user_headroom.bytes, "most_headroom", "bytes", NULL, \
		"most headroom used since 'clear watermarks'") \
	X(part_gauge, most.bytes, "ever_bytes", "bytes", "sluice_buffer_most_bytes", \
		"most bytes in the buffer of a lossless class; reset by 'clear watermarks persistent'") \
	X(part_gauge, most_headroom.bytes, "ever_headroom", "bytes", "sluice_buffer_most_headroom_bytes", \
		"most headroom used by a lossless class; reset by 'clear watermarks persistent'") \
	X(counter, xoffs, "xoffs", "times", "sluice_buffer_xoffs", \
		"times that the buffer of a lossless class rose to XOFF") \
	X(counter, xons, NULL, "times", "sluice_buffer_xons", "times that the buffer of a lossless class fell to XON") \
	X(counter, exhausted_times, "exhausted", "times", "sluice_buffer_exhausted", \
		"times that the headroom of a lossless class was used up")

struct pfc_buffer {
	bool stopped;				  /* XOFF is in force */
	bool urgent;				  /* XOFF is in force for all senders, regardless of their shares */
	bool exhausted;				  /* the headroom is used up: further packets are dropped */
	struct pfc_threshold level;		  /* level at the last pfc_buffer_look */
	struct pfc_threshold most, most_headroom; /* highest level since start, and its highest part above xoff */
	struct pfc_threshold user, user_headroom; /* the same since the user last cleared the watermarks */
	BUFFER_COUNTERS(STAT_DECLARE)
};

/*
 * Update the buffer: the class holds `level`, and `shared_left` buffers are left of those that classes with alpha
 * share. Returns true when `stopped` has changed.
 */
bool pfc_buffer_look(struct pfc_buffer *b, const struct pfc_buffer_config *c, const struct pfc_threshold *level,
	uint64_t shared_left);

/* May a stopped class resume if it holds `level` and `shared_left` buffers are left? */
bool pfc_buffer_may_resume(const struct pfc_buffer_config *c, const struct pfc_threshold *level, uint64_t shared_left);

/*
 * Clear the user's watermarks, and with `persistent` also the permanent ones. They start again at the next
 * pfc_buffer_look.
 */
void pfc_buffer_clear(struct pfc_buffer *b, bool persistent);

/* Counters of PFC frames sent to the neighbour. */
#define PFC_TX_COUNTERS(X) \
	X(counter, frames, "tx", "frames", "sluice_pfc_tx_frames", "PFC frames sent to the neighbour") \
	X(priority_counter, xoff, "tx_xoff", "frames", "sluice_pfc_tx_xoff", \
		"PFC frames sent to pause this priority, refreshes included") \
	X(priority_counter, xon, "tx_xon", "frames", "sluice_pfc_tx_xon", "PFC frames sent to resume this priority")

/* State of the PFC frames that a port sends to its neighbour. */
struct pfc_speaker {
	uint8_t stopped;  /* bit per class stopped by the last frame */
	uint8_t fresh;	  /* bit per class of which the neighbour must be told, whatever it was told before */
	uint64_t said_ns; /* time in ns of the last frame */
	struct pfc_history history[PFC_PRIORITIES]; /* pauses of the neighbour, by priority */
	PFC_TX_COUNTERS(STAT_DECLARE)
};

/*
 * Returns true when a frame must be sent at `now` (ns) so that exactly the classes in `stopped` (a bit each) are
 * paused. A change is sent at once, in a frame with all stopped classes; so is the state of the classes in s->fresh,
 * which the caller sets when the link has come up, because frames sent before may not have arrived. A refresh is sent after half of the pause
 * time (65,535 quanta at `bps`, the line rate in bits per second). *out is the request to send; call pfc_speaker_said
 * once its frame is sent.
 */
bool pfc_speaker_want(const struct pfc_speaker *s, uint8_t stopped, uint64_t bps, uint64_t now,
	struct pfc_request *out);

/* Record that a frame with request `said` was sent at `now`. */
void pfc_speaker_said(struct pfc_speaker *s, const struct pfc_request *said, uint64_t bps, uint64_t now);

/* Time in ns at which the next refresh is due; TIME_NEVER: no class is stopped. */
uint64_t pfc_speaker_next(const struct pfc_speaker *s, uint64_t bps);

#endif
