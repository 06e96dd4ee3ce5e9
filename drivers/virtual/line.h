/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a link under virtual time: a serialiser of a given rate, and behind it a propagation line that
 * holds every frame on its way, a full bandwidth-delay product and more if need be. Faults are drawn from the
 * line's own random numbers, so that one line's luck does not change another's.
 *
 * A frame is so many bytes on the wire of which the first `captured` are carried: simulating 400 Gb/s over 10 ms
 * would else take half a gigabyte for payload that nobody reads.
 *
 * Time comes from the caller, in ns; inside, departures are kept in ps, lest rounding changes the rate. One thread.
 */
#ifndef VIRTUAL_LINE_H
#define VIRTUAL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On the wire beside the frame: preamble and start 8, frame check sequence 4, inter-packet gap 12 (IEEE 802.3). */
#define LINE_OVERHEAD 24
#define LINE_FRAME_MIN 60
#define LINE_SNAP_MAX 16384 /* bytes of a frame that can be carried */

struct line_config {
	uint64_t rate_bps;   /* >= 1 Mbit/s */
	uint64_t delay_ns;   /* propagation */
	uint64_t jitter_ns;  /* up to so much more, evenly; never overtakes */
	uint64_t reorder_ns; /* a reordered frame comes so much later, others overtake it */
	double loss, corruption, duplication, reordering; /* of each frame, 0 to 1 */
	bool deliver_corrupt; /* a bit flips and nobody notices; else the receiver's FCS check does */
	uint32_t frame_max;   /* longest frame without FCS; longer ones are lost */
	uint64_t seed;
	uint64_t memory_max;				       /* bytes for frames on their way */
	bool (*watched)(const void *bytes, uint32_t captured); /* frames that are counted apart; NULL: none */
};

/* Frames; bytes without overhead. sent + duplicated = delivered + corrupt + lost + cut + oversize + on the line. */
struct line_stats {
	uint64_t sent, sent_bytes;
	uint64_t delivered, delivered_bytes;
	uint64_t lost;	  /* by `loss` */
	uint64_t cut;	  /* on the line, or entering it, when it was down */
	uint64_t corrupt; /* handed over with a wrong FCS */
	uint64_t flipped; /* delivered with a flipped bit */
	uint64_t duplicated, reordered, oversize;
	uint64_t most_bytes, most_frames; /* on the line at a time */
	/* of the frames watched: how many were sent, how many of them `loss` took, and how many of those in a row at most */
	uint64_t watched, watched_lost, watched_run;
};

struct line_frame {
	uint64_t departure_ns; /* its last bit left the sender */
	uint64_t arrival_ns;
	uint32_t length;   /* bytes of the frame without FCS */
	uint16_t captured; /* of these, bytes[] */
	bool corrupt;	   /* the FCS is wrong: a MAC drops it and counts an error */
	uint8_t bytes[];
};

struct line;

struct line *line_new(const struct line_config *config); /* NULL when out of memory */
void line_free(struct line *l);				 /* NULL is fine */

/*
 * Send a frame after all that were sent before. Returns when its last bit has left (ns, rounded up). -ENOBUFS in *rc
 * when memory_max does not suffice (the frame is counted as lost), else 0; rc may be NULL.
 */
uint64_t line_send(struct line *l, uint64_t now, const void *bytes, uint32_t captured, uint32_t length, int *rc);

/* When the serialiser has nothing left to do: the last ns before, for a sender who wants to waste none of it. */
uint64_t line_free_at(const struct line *l);

/* When the next frame arrives, or dies; TIME_NEVER when none is on the line. */
uint64_t line_next(const struct line *l);

/*
 * The next frame that has arrived by `now`, NULL when there is none. It is valid until the next call on this line.
 */
const struct line_frame *line_receive(struct line *l, uint64_t now);

/* Down: everything on the line and everything sent from now on is cut, until it is up again. */
void line_set_up(struct line *l, uint64_t now, bool up);

/* Frames and bytes (of frames, without overhead) on the line. */
uint64_t line_frames(const struct line *l);
uint64_t line_bytes(const struct line *l);
const struct line_stats *line_stats(const struct line *l);

/* Does the sum of line_stats' comment hold? */
bool line_conserves(const struct line *l);

/* Bytes of memory that a frame of which `captured` bytes are carried takes on a line. */
size_t line_frame_memory(uint32_t captured);

/* Random numbers for everything in the lab (splitmix64, Steele et al. 2014): the same in every run. */
static inline uint64_t line_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Evenly distributed, 0 <= x < 1. */
static inline double line_random_share(uint64_t *state)
{
	return (double)(line_random(state) >> 11) * 0x1p-53;
}

#endif
