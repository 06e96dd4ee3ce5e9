/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a link under virtual time: a serialiser of a given rate, followed by a propagation line that holds
 * every frame in flight, a full bandwidth-delay product or more. Each line draws faults from its own random numbers, so
 * that lines do not affect each other.
 *
 * A frame occupies `length` bytes of the link, but only its first `captured` bytes are stored: 400 Gb/s over 10 ms
 * would otherwise take half a gigabyte for payload that nobody reads.
 *
 * Time comes from the caller, in ns. Departures are computed in ps, so that rounding does not change the rate.
 * Single-threaded.
 */
#ifndef VIRTUAL_LINE_H
#define VIRTUAL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes on the wire around a frame: preamble and SFD 8, FCS 4, inter-packet gap 12 (IEEE 802.3). */
#define LINE_OVERHEAD 24
#define LINE_FRAME_MIN 60
#define LINE_SNAP_MAX 16384 /* stored bytes of a frame */

/* Frames that faults concern. */
enum line_faults { LINE_FAULTS_ALL, LINE_FAULTS_CONTROL, LINE_FAULTS_DATA };

struct line_config {
	uint64_t rate_bps;   /* >= 1 Mbit/s */
	uint64_t delay_ns;   /* propagation */
	uint64_t jitter_ns;  /* additional delay, uniform from 0 to this; keeps the order */
	uint64_t reorder_ns; /* additional delay of a reordered frame; others overtake it */
	double loss, corruption, duplication, reordering; /* probability per frame, 0 to 1 */
	enum line_faults faults;			  /* the frames that these concern */
	bool deliver_corrupt; /* corruption flips a bit with a valid FCS; otherwise the FCS is wrong */
	uint32_t frame_max;   /* longest frame without FCS; longer ones are lost */
	uint64_t seed;
	uint64_t memory_max;				       /* bytes for frames in flight */
	bool (*watched)(const void *bytes, uint32_t captured); /* frames to count separately; NULL: none */
	bool (*control)(const void *bytes, uint32_t captured); /* control frames; NULL: none */
	/* Called for every frame that is lost, cut or oversize; NULL: never. `why` is a constant. */
	void (*gone)(void *arg, const char *why, const void *bytes, uint32_t captured);
	void *arg;
};

/* Frames; bytes without overhead. sent + duplicated = delivered + corrupt + lost + cut + oversize + on the line. */
struct line_stats {
	uint64_t sent, sent_bytes;
	uint64_t delivered, delivered_bytes;
	uint64_t lost;	  /* by `loss` */
	uint64_t cut;	  /* on the line, or sent, while it was down; or not sent yet when the port went down */
	uint64_t corrupt; /* returned with a wrong FCS */
	uint64_t flipped; /* delivered with a flipped bit */
	uint64_t duplicated, reordered, oversize;
	uint64_t most_bytes, most_frames; /* maxima on the line */
	/* watched frames: sent, lost by `loss`, and most consecutive losses */
	uint64_t watched, watched_lost, watched_run;
};

struct line_frame {
	uint64_t departure_ns; /* when the last bit left the sender */
	uint64_t arrival_ns;
	uint32_t length;   /* bytes of the frame without FCS */
	uint16_t captured; /* stored bytes of these, in bytes[] */
	bool corrupt;	   /* the FCS is wrong: a MAC drops it and counts an error */
	bool stopped;	   /* the sender's port went down before it had left */
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

/* When the serialiser becomes idle, rounded down to ns, so that a sender can use all of its time. */
uint64_t line_free_at(const struct line *l);

/* When the next frame arrives or is cut; TIME_NEVER when the line is empty. */
uint64_t line_next(const struct line *l);

/*
 * The next frame that has arrived by `now`, NULL when there is none. It is valid until the next call on this line.
 */
const struct line_frame *line_receive(struct line *l, uint64_t now);

/* While down, all frames on the line and all frames sent are cut. */
void line_set_up(struct line *l, uint64_t now, bool up);

/* The sender's port goes down: it sends no more of what it was given, which is cut. */
void line_stop(struct line *l, uint64_t now);

/* An outage of control frames, or of all others: frames sent meanwhile are cut. */
void line_set_outage(struct line *l, bool control, bool others);

/* Frames sent from now on are serialised at another rate, at least 1 Mbit/s. */
void line_set_rate(struct line *l, uint64_t rate_bps);

/* Name the memory of a line that nearly every frame touches, part by part: its ring begins anew whenever it is empty. */
void line_lines(const struct line *l, void (*found)(void *arg, const void *at, size_t bytes), void *arg);

/* Frames and bytes (of frames, without overhead) on the line. */
uint64_t line_frames(const struct line *l);
uint64_t line_bytes(const struct line *l);
const struct line_stats *line_stats(const struct line *l);

/* Does the sum in the comment of struct line_stats hold? */
bool line_conserves(const struct line *l);

/* Bytes of memory of a frame on a line with `captured` stored bytes. */
size_t line_frame_memory(uint32_t captured);

/* Random numbers for the lab (splitmix64, Steele et al. 2014), reproducible from the seed. */
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
