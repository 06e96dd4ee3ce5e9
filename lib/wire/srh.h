/* SPDX-License-Identifier: BSD-3-Clause */
/* Segment Routing Header (RFC 8754 section 2; docs/protocol.md 3.1). */
#ifndef WIRE_SRH_H
#define WIRE_SRH_H

#include "wire/ipv6.h"

#define SRH_ROUTING_TYPE 4
#define SRH_FLAG_O 0x20 /* RFC 9259 */

struct srh {
	uint8_t next_header;
	uint8_t length; /* 8-byte units after the first 8 bytes */
	uint8_t routing_type;
	uint8_t segments_left;
	uint8_t last_entry;
	uint8_t flags;
	be16_t tag;
	struct ipv6_addr segment[]; /* [0] is the ultimate segment */
};
WIRE_SIZE(struct srh, 8);
WIRE_AT(struct srh, segments_left, 3);
WIRE_AT(struct srh, last_entry, 4);
WIRE_AT(struct srh, flags, 5);
WIRE_AT(struct srh, tag, 6);
WIRE_AT(struct srh, segment, 8);

static inline unsigned int srh_bytes(const struct srh *h)
{
	return 8u * (h->length + 1u);
}

/*
 * Last Entry as the header's own length allows: the number of segments minus one (RFC 8754 section 4.3.1.1); -1: none.
 */
static inline int srh_max_last_entry(const struct srh *h)
{
	return h->length / 2 - 1;
}

#endif
