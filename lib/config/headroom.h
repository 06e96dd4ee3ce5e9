/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes how many bytes may still arrive after a sender was asked to stop, over a link or over a WAN
 * (docs/protocol.md 5.4, D37). The rule of draft-he-rtgwg-wan-pfc section 3.2 is computed as well, for comparison. Pure
 * arithmetic. Bytes are those of frames without FCS; times are in ns.
 */
#ifndef CONFIG_HEADROOM_H
#define CONFIG_HEADROOM_H

#include "config/model.h"

#define HEADROOM_QUANTA_MAX 65535ull
#define HEADROOM_QUANTUM_BITS 512ull
#define HEADROOM_FRAME_BYTES 18 /* Ethernet header and a tag, beside the MTU */
#define HEADROOM_NS_PER_M 5	/* speed of light in fibre */
#define HEADROOM_LENGTH_M 100	/* of a link without `length` */

struct headroom_question {
	uint64_t in_bps;       /* highest rate at which data may arrive */
	uint64_t out_bps;      /* rate at which data certainly leaves meanwhile; 0: the next hop may pause us */
	uint64_t drain_bps;    /* rate at which data leaves after XON, for the XON threshold */
	uint64_t pfc_ns;       /* one-way delay of the PFC frame */
	uint64_t data_ns;      /* one-way delay of the data, queueing included */
	uint64_t jitter_ns;    /* delay variation, plus the time that lost PFC frames cost */
	uint64_t pe_ns;	       /* delay of encapsulation, decapsulation and the decision in the PEs */
	uint64_t response_ns;  /* reaction time of the sender that is asked to stop */
	uint64_t own_bytes;    /* frames ahead of the PFC frame at the node that sends it */
	uint64_t source_bytes; /* frames that the sender has begun, or given to its device, and cannot take back */
};

struct headroom_answer {
	uint64_t draft_he;   /* bytes: (in - out) * one-way delay of the PFC frame */
	uint64_t round_trip; /* bytes of the full rule, by reason: in flight both ways, minus those that leave */
	uint64_t reaction;   /* bytes that arrive at the rate in_bps during pe_ns and response_ns */
	uint64_t jitter;
	uint64_t frames; /* own_bytes + source_bytes */
	uint64_t full;	 /* the full rule: sum of the parts */
	uint64_t xon;	 /* bytes left in the queue when XON is sent, so that it does not run empty */
};

/* A rate of 0 is allowed and gives 0. Results that exceed 63 bits are capped. */
void headroom_compute(const struct headroom_question *q, struct headroom_answer *out);

/* Time within which a port of this speed must react to PFC (IEEE 802.3), in ns. */
uint64_t headroom_response_ns(uint64_t bps);

/* Time in ns between two PFC frames that renew a pause, at this line rate: half of the longest pause. bps: not 0. */
uint64_t headroom_refresh_ns(uint64_t bps);

/*
 * Input of the headroom formula for a port that uses `profile`. bps: speed of the port, not 0. `sluice plan headroom`,
 * headroom: auto and --check all take it from here.
 */
void headroom_of_port(const struct config *c, const struct cfg_port *port, const struct cfg_buffer_profile *profile,
	uint64_t bps, struct headroom_question *out);

/*
 * Time in ns that one lost PFC frame of the port costs: until the next one. Pause times count in bit times of the slowest
 * interface that is paused. bps: speed of the port, not 0.
 */
uint64_t headroom_loss_ns(const struct config *c, const struct cfg_port *port, uint64_t bps);

/* Whether PFC tunnels carry the pauses of this port, so that its control loop spans the WAN. */
bool cfg_port_has_tunnels(const struct config *c, const struct cfg_port *port);

/* One-way delay, us, of the link at a port, as configured; UINT32_MAX: unknown. */
uint32_t cfg_link_delay_us(const struct config *c, const struct cfg_port *port);

/* Time in ns from a request to the neighbour until it shows here: both ways, the reactions, and the frames before it. */
uint64_t headroom_loop_ns(const struct headroom_question *q);

/* The buffer profile that a port uses. A port that names none gets a profile of the defaults. */
struct cfg_buffer_profile cfg_port_profile(const struct config *c, const struct cfg_port *port);

/* RoCE's usual path MTU: memory that keeps slices apart is judged by frames of at least this length. */
#define HEADROOM_ROCE_BYTES 1024

/* Buffer that one lossless class of a port is guaranteed, with all defaults resolved. */
struct cfg_lossless {
	uint64_t xoff_bytes, xon_bytes, headroom_bytes;
	uint64_t xoff_buffers, xon_buffers, headroom_buffers;
	/*
	 * With tunnels: room above XOFF in which slices stop one by one, and all when it is full; the least of it that is
	 * reserved. It takes what is left of memory.buffers, up to choice_buffers (cfg_fit_lossless).
	 */
	uint64_t choice_bytes, choice_buffers, least_buffers;
	/*
	 * Of each slice (pfc/pfc_slices.h): what it may hold whatever the others hold, what still arrives of it after its own
	 * XOFF, and how much of that arrives until all its contributors are stopped.
	 */
	uint64_t floor_bytes, room_bytes, part_bytes;
	uint64_t floor_buffers, room_buffers, part_buffers;
	uint32_t n_slices; /* that tunnels may stop */
	uint32_t
		n_apart; /* of these, how many may stand still before the others stop, in frames of HEADROOM_ROCE_BYTES */
	struct headroom_answer rule; /* what the class needs; all 0 if the speed is unknown */
};

/* Has any port a lossless class? */
bool cfg_has_lossless(const struct config *c);

/*
 * Descriptors of each receive queue of a port. auto: 512, and for a port with lossless classes as many as the
 * shortest frames that arrive while this node is busy elsewhere (`response` of the profile).
 */
uint64_t cfg_rx_descriptors(const struct config *c, const struct cfg_port *port);

/* The least number that does. */
uint64_t cfg_rx_descriptors_least(const struct config *c, const struct cfg_port *port);

/* Time in ns in which frames of `frame` bytes, without FCS, fill so many descriptors at line rate; bps 0: for ever. */
uint64_t cfg_rx_ring_ns(uint64_t descriptors, uint64_t frame, uint64_t bps);

/* bps: speed of the port. 0: unknown; then headroom: auto gives 0, and xon: auto does not cover a round trip. */
void cfg_port_lossless(const struct config *c, const struct cfg_port *port, uint64_t bps, struct cfg_lossless *out);

#endif
