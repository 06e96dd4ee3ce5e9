/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC frames, read and written, and the arithmetic of pause quanta (docs/protocol.md 5.1, 5.2). No packets, no
 * clock; any lcore.
 */
#ifndef PFC_PFC_FRAME_H
#define PFC_PFC_FRAME_H

#include <stddef.h>

#include "base/compiler.h"
#include "wire/pfc.h"

/* What is wrong with a frame that should be PFC, in the order in which it is looked for. */
enum pfc_fault {
	PFC_LEGAL,
	PFC_SHORT,	/* less than 60 bytes; with PFC_UNPADDED less than 34 */
	PFC_BAD_DA,	/* destination is not 01-80-C2-00-00-01 */
	PFC_BAD_TYPE,	/* ether type is not 0x8808: no MAC control, or a VLAN tag */
	PFC_IS_PAUSE,	/* 802.3x PAUSE: same address and ether type, another opcode */
	PFC_BAD_OPCODE, /* some other MAC control opcode */
	PFC_BAD_ENABLE, /* high octet of the class enable vector is not 0 (D35) */
};

/* What may be let pass. */
#define PFC_UNPADDED 0x1u   /* frames that end behind the last pause time */
#define PFC_ANY_ENABLE 0x2u /* a high enable octet that is not 0: 802.1Q has receivers ignore it (D35) */

/* What a legal frame asks for. */
struct pfc_request {
	uint8_t enable;		       /* priorities it speaks about */
	uint16_t time[PFC_PRIORITIES]; /* quanta, 0 where not enabled */
};

/*
 * Judge and read `size` bytes of a frame without FCS; `pass` is what is let pass. Source addresses are the
 * caller's business. *out is written when the frame is legal.
 */
enum pfc_fault pfc_read(const void *frame, size_t size, unsigned int pass, struct pfc_request *out);

/* A whole frame, padded. */
void pfc_write(struct pfc_frame *out, const struct eth_addr *source, const struct pfc_request *request);

/* Priorities that are asked to stop; the other enabled ones are asked to resume. */
static inline uint8_t pfc_stops(const struct pfc_request *r)
{
	uint8_t stops = 0;

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (r->enable & 1u << i && r->time[i])
			stops = (uint8_t)(stops | 1u << i);
	return stops;
}

/* Time of `quanta` at a line rate, in ns, rounded up; the rate must not be 0. */
static inline uint64_t pfc_quanta_ns(uint16_t quanta, uint64_t bps)
{
	/* at most 65535 * 512 * 10^9 = 3.4 * 10^16 */
	return (quanta * PFC_QUANTUM_BITS * NSEC_PER_SEC + bps - 1) / bps;
}

/* Quanta that cover `ns` at a line rate, at most 65535. */
static inline uint16_t pfc_ns_quanta(uint64_t ns, uint64_t bps)
{
	uint64_t unit = PFC_QUANTUM_BITS * NSEC_PER_SEC;

	/* below that the product fits 64 bits */
	if (ns >= pfc_quanta_ns(PFC_QUANTA_MAX, bps))
		return PFC_QUANTA_MAX;
	return (uint16_t)((ns * bps + unit - 1) / unit);
}

/* The same time at another rate: min(65535, ceil(quanta * to / from)) (D38). */
static inline uint16_t pfc_scale(uint16_t quanta, uint64_t from_bps, uint64_t to_bps)
{
	unsigned __int128 scaled = ((unsigned __int128)quanta * to_bps + from_bps - 1) / from_bps;

	return scaled > PFC_QUANTA_MAX ? PFC_QUANTA_MAX : (uint16_t)scaled;
}

#endif
