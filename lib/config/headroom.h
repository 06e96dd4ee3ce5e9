/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much may still arrive once a sender has been told to stop, over a link or a WAN (docs/protocol.md 5.4, D37), beside
 * the rule of draft-he-rtgwg-wan-pfc section 3.2. Pure arithmetic; bytes are those of frames without FCS, times are ns.
 */
#ifndef CONFIG_HEADROOM_H
#define CONFIG_HEADROOM_H

#include "config/model.h"

#define HEADROOM_NS_PER_M 5 /* light in fibre */

struct headroom_question {
	uint64_t in_bps;       /* most that may arrive */
	uint64_t out_bps;      /* what surely leaves meanwhile; 0: the next hop may pause us */
	uint64_t drain_bps;    /* what leaves after XON, for the XON side */
	uint64_t pfc_ns;       /* one way of the PFC frame */
	uint64_t data_ns;      /* one way of the data, with queueing */
	uint64_t jitter_ns;    /* delay variation, and the time that lost PFC frames cost */
	uint64_t pe_ns;	       /* encapsulation and decapsulation, decision */
	uint64_t response_ns;  /* of the sender that is told to stop */
	uint64_t own_bytes;    /* frames in front of the PFC frame where it starts */
	uint64_t source_bytes; /* frames that the sender has begun, or given to its device, and cannot take back */
};

struct headroom_answer {
	uint64_t draft_he;   /* bytes: (in - out) * one way of the PFC frame */
	uint64_t round_trip; /* bytes of the full rule, by reason: in flight both ways, less what leaves */
	uint64_t reaction;   /* pe_ns and response_ns at the rate in */
	uint64_t jitter;
	uint64_t frames; /* own_bytes + source_bytes */
	uint64_t full;	 /* their sum */
	uint64_t xon;	 /* bytes to be left in the queue when XON is sent, or it runs dry */
};

/* A rate of 0 is allowed and gives 0. Results that do not fit 63 bits are capped. */
void headroom_compute(const struct headroom_question *q, struct headroom_answer *out);

/* Time in which IEEE 802.3 wants a port of this speed to react to PFC, ns. */
uint64_t headroom_response_ns(uint64_t bps);

/* The question for a port under `profile`; its speed must be known. */
void headroom_of_port(const struct cfg_port *port, const struct cfg_buffer_profile *profile, uint64_t bps,
	struct headroom_question *out);

/* The profile a port uses; one with the defaults when it names none. */
struct cfg_buffer_profile cfg_port_profile(const struct config *c, const struct cfg_port *port);

/* What one lossless class of a port is promised, all resolved. */
struct cfg_lossless {
	uint64_t xoff_bytes, xon_bytes, headroom_bytes;
	/* above XOFF, where PFC tunnels leave a choice of whom to stop: filled before all are; else 0 */
	uint64_t choice_bytes;
	uint64_t xoff_buffers, xon_buffers, headroom_buffers, choice_buffers;
};

/* bps: speed of the port; 0 if unknown, then headroom: auto gives 0. */
void cfg_port_lossless(const struct config *c, const struct cfg_port *port, uint64_t bps, struct cfg_lossless *out);

#endif
