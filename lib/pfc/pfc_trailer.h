/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trailer that makes a PFC frame in a tunnel genuine and new (docs/protocol.md 5.8, D65), and what a receiver
 * remembers in order to know what is new. No draft defines the format; only sluice nodes use it with each other. A node
 * that does not know it reads the frame before it.
 *
 * Pure: no packets, no clock, no digests. Control lcore.
 */
#ifndef PFC_PFC_TRAILER_H
#define PFC_PFC_TRAILER_H

#include "base/compiler.h"
#include "wire/bytes.h"
#include "wire/ipv6.h"
#include "wire/pfc.h"

#define PFC_TRAILER_VERSION 1
#define PFC_TRAILER_DIGEST_BYTES 32 /* HMAC-SHA-256 */

struct pfc_trailer {
	uint8_t version; /* PFC_TRAILER_VERSION */
	uint8_t zero[3];
	be32_t slice;		 /* id of the slice that the packet carries; 0: the SID tells it */
	be32_t key_id;		 /* of the digest */
	be32_t sent_hi, sent_lo; /* ns since 1970; it grows with every frame of the sender */
	/* over source and final destination of the packet, the PFC frame, and the trailer up to here */
	uint8_t digest[PFC_TRAILER_DIGEST_BYTES];
};
WIRE_SIZE(struct pfc_trailer, 52);
WIRE_AT(struct pfc_trailer, key_id, 8);
WIRE_AT(struct pfc_trailer, sent_hi, 12);
WIRE_AT(struct pfc_trailer, digest, 20);

/* A PFC frame with its trailer, as it follows the outer headers. */
struct pfc_sealed {
	struct pfc_frame frame;
	struct pfc_trailer trailer;
};
WIRE_SIZE(struct pfc_sealed, 112);

/* Contents of a trailer, in host byte order. */
struct pfc_seal {
	uint32_t slice, key_id;
	uint64_t sent_ns; /* since 1970 */
};

/* Read the trailer of a frame of `size` bytes. Returns 0, or -EINVAL: none, or of another version. */
int pfc_seal_read(const void *frame, size_t size, struct pfc_seal *out);

/* Write the trailer. The digest is 0: the caller computes it. */
void pfc_seal_write(struct pfc_trailer *out, const struct pfc_seal *seal);

#define PFC_SEEN_SETS 256
#define PFC_SEEN_WAYS 8

/* What was heard of one sender at one SID. */
struct pfc_seen {
	struct ipv6_addr source, destination;
	uint64_t sent_ns[PFC_PRIORITIES]; /* of the newest frame about each priority; 0: none */
	uint64_t newest_ns;		  /* of these; 0: a free entry */
};

/*
 * The newest frames that were heard, by sender and SID. The table is bounded: a new pair takes the place of the one whose
 * newest frame is the oldest. Only a frame that is newer than that can do so, so nothing which was heard counts again.
 */
struct pfc_seen_table {
	uint64_t floor_ns; /* frames sent until then are not new, if their pair has no entry */
	struct {
		struct pfc_seen way[PFC_SEEN_WAYS];
	} set[PFC_SEEN_SETS];
};

/* Nothing that was sent at `sent_ns` or before is new. */
void pfc_seen_start(struct pfc_seen_table *t, uint64_t sent_ns);

/*
 * Of the priorities `enable` (a bit each) of a genuine frame, those about which this sender has told this SID nothing
 * newer. They are remembered. Frames that overtake each other with different priorities all count.
 */
uint8_t pfc_seen_take(struct pfc_seen_table *t, const struct ipv6_addr *source, const struct ipv6_addr *destination,
	uint64_t sent_ns, uint8_t enable);

#endif
