/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RSVP messages in outline: what makes one look different from another to a dissector. Captures hold one message of each
 * outline instead of millions (sluice-lab, unit tests). Pure, no memory. Any thread.
 */
#ifndef WIRE_OUTLINE_H
#define WIRE_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_OUTLINES_MAX 4096

/* Outlines that were seen; all 0 at the beginning. */
struct wire_outlines {
	uint64_t seen[WIRE_OUTLINES_MAX];
};

/*
 * Is there an RSVP message in this Ethernet frame of `size` readable bytes, in any number of tunnels, whose outline is new?
 * An outline has the IP protocols in front, type, flags, classes, C-Types and lengths of the objects (equal ones in a row
 * count once), and whether length and checksum are right. A Bundle is new if a message inside is. Nothing is new to a full
 * set.
 */
bool wire_outline_is_new(struct wire_outlines *o, const void *frame, size_t size);

#endif
