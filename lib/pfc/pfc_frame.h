/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes PFC frames, and converts pause quanta (docs/protocol.md 5.1, 5.2). No packets, no clock; any lcore
 * may call.
 */
#ifndef PFC_PFC_FRAME_H
#define PFC_PFC_FRAME_H

#include <stddef.h>

#include "base/compiler.h"
#include "wire/pfc.h"

/* Faults of a PFC frame, in the order in which pfc_read checks them. */
enum pfc_fault {
	PFC_LEGAL,	/* no fault */
	PFC_SHORT,	/* shorter than 60 bytes; with PFC_UNPADDED shorter than 34 */
	PFC_BAD_DA,	/* destination is not 01-80-C2-00-00-01 */
	PFC_BAD_TYPE,	/* EtherType is not 0x8808: no MAC control frame, or a VLAN tag */
	PFC_IS_PAUSE,	/* 802.3x PAUSE: same address and EtherType, another opcode */
	PFC_BAD_OPCODE, /* another MAC control opcode */
	PFC_BAD_ENABLE, /* high octet of the class enable vector is not 0 (D35) */
};

/* Faults that the caller of pfc_read accepts. */
#define PFC_UNPADDED 0x1u   /* frames that end after the last pause time, without padding */
#define PFC_ANY_ENABLE 0x2u /* a high enable octet that is not 0: IEEE 802.1Q requires receivers to ignore it (D35) */

/* Contents of a legal frame. */
struct pfc_request {
	uint8_t enable;		       /* bit per priority that the frame pauses or resumes */
	uint16_t time[PFC_PRIORITIES]; /* pause time in quanta, 0: resume; 0 where not enabled */
};

/*
 * Check and read a frame of `size` bytes without FCS. pass: faults to accept (PFC_UNPADDED, PFC_ANY_ENABLE). The
 * source address is not checked. *out is written only when the frame is legal.
 */
enum pfc_fault pfc_read(const void *frame, size_t size, unsigned int pass, struct pfc_request *out);

/* Write a whole frame, padded to the minimum length, without FCS. */
void pfc_write(struct pfc_frame *out, const struct eth_addr *source, const struct pfc_request *request);

/* Priorities that the request pauses, a bit each; it resumes the other enabled ones. */
static inline uint8_t pfc_stops(const struct pfc_request *r)
{
	uint8_t stops = 0;

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (r->enable & 1u << i && r->time[i])
			stops = (uint8_t)(stops | 1u << i);
	return stops;
}

/* Duration of `quanta` at a line rate in bits per second, in ns, rounded up. The rate must not be 0. */
static inline uint64_t pfc_quanta_ns(uint16_t quanta, uint64_t bps)
{
	/* at most 65535 * 512 * 10^9 = 3.4 * 10^16 */
	return (quanta * PFC_QUANTUM_BITS * NSEC_PER_SEC + bps - 1) / bps;
}

/* Number of quanta that cover `ns` at a line rate in bits per second, at most 65,535. */
static inline uint16_t pfc_ns_quanta(uint64_t ns, uint64_t bps)
{
	uint64_t unit = PFC_QUANTUM_BITS * NSEC_PER_SEC;

	/* below that limit the product fits 64 bits */
	if (ns >= pfc_quanta_ns(PFC_QUANTA_MAX, bps))
		return PFC_QUANTA_MAX;
	return (uint16_t)((ns * bps + unit - 1) / unit);
}

/* Convert quanta to the rate of another port, same duration: min(65535, ceil(quanta * to / from)) (D38). */
static inline uint16_t pfc_scale(uint16_t quanta, uint64_t from_bps, uint64_t to_bps)
{
	unsigned __int128 scaled = ((unsigned __int128)quanta * to_bps + from_bps - 1) / from_bps;

	return scaled > PFC_QUANTA_MAX ? PFC_QUANTA_MAX : (uint16_t)scaled;
}

#endif
