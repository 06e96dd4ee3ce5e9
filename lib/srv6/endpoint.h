/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SRv6 endpoint behaviours (RFC 8986 section 4, RFC 9800 section 4; order of work: docs/protocol.md 3.2).
 *
 * The behaviours do not write to the packet. They work on a description of it (struct srv6_packet) and on a list of
 * changes (struct srv6_change); the egress applies the changes when it sends the packet. rx lcores.
 */
#ifndef SRV6_ENDPOINT_H
#define SRV6_ENDPOINT_H

#include "snapshot/snapshot.h"
#include "stats/reasons.h"
#include "wire/srh.h"

/* An IPv6 packet, with all changes decided so far applied. */
struct srv6_packet {
	const uint8_t *frame;  /* first buffer of the frame */
	uint32_t readable;     /* bytes of the first buffer that belong to the packet */
	uint32_t end;	       /* offset of the first byte after the packet, which may be in a later buffer */
	uint16_t at;	       /* offset of the IPv6 header; the header is readable */
	uint64_t da_hi, da_lo; /* destination, host order halves */
	uint8_t hop_limit;

	/* filled by srv6_walk */
	bool walked;
	uint8_t upper_type; /* first header other than hop-by-hop options, destination options and routing */
	uint16_t upper;	    /* its offset */
	uint16_t srh;	    /* offset of the SRH; 0: none, or unlinked */
	uint16_t srh_bytes;
	uint16_t spent; /* offset of the last SRH whose last segment became the destination on this node; 0: none */
	uint8_t segments_left;	      /* of the SRH */
	uint8_t foreign_routing_left; /* Segments Left of a routing header that is not type 4; 0: none */
	uint16_t foreign_routing;     /* its offset */
	uint16_t option;	      /* offset of the first option that requires a discard; 0: none */
	uint8_t option_type;
	enum reason failure; /* why srv6_walk failed */
};

enum srv6_next {
	SRV6_LOOKUP,	      /* look up the new destination in the SID's table */
	SRV6_ADJACENCY,	      /* send over the SID's adjacency */
	SRV6_DECAP,	      /* continue with the inner IP packet at `upper`; upper_type 41: IPv6, 4: IPv4 */
	SRV6_DECAP_ADJACENCY, /* send the inner IP packet at `upper` over the SID's adjacency */
	SRV6_DECAP_FRAME,     /* send the inner Ethernet frame at `upper` by the SID's port */
	SRV6_PFC,	      /* the inner Ethernet frame at `upper` must be PFC; it pauses the SID's queues */
	SRV6_DELIVER,	      /* deliver to the node itself: upper_type at `upper` */
	SRV6_DROP,	      /* drop for error.reason; send the ICMPv6 error described there if its type is not 0 */
};

struct srv6_error {
	enum reason reason;
	uint8_t type, code;
	uint32_t pointer; /* from the start of the IPv6 header */
};

/* Changes to the frame, apart from the destination and the hop limit. */
struct srv6_change {
	bool segments_left; /* write srv6_packet.segments_left to the SRH at srh_at */
	bool pop_srh;	    /* remove the SRH at srh_at (PSP) */
	uint16_t srh_at;
	/*
	 * The headers after an SRH that was used up here belong to the next SID. That one is local as well, and has changed a
	 * second SRH, at srh_at. The bytes of the first one, and whether it is removed.
	 */
	uint16_t spent_bytes; /* 0: there is none */
	bool pop_spent;
};

/* Walk the extension headers, once. False: the chain is truncated, split or too long; see srv6_packet.failure. */
bool srv6_walk_chain(struct srv6_packet *p);
static inline bool srv6_walk(struct srv6_packet *p)
{
	uint8_t type = ((const struct ipv6_hdr *)(p->frame + p->at))->next_header;

	if (type == IP_PROTO_HOPOPTS || type == IP_PROTO_DSTOPTS || type == IP_PROTO_ROUTING)
		return p->walked || srv6_walk_chain(p);
	p->upper_type = type;
	p->upper = (uint16_t)(p->at + sizeof(struct ipv6_hdr));
	return true;
}

/* Is this uSID followed by another one? Always false for a SID that is not compressed. */
static inline bool srv6_has_argument(const struct snap_sid *sid, uint64_t hi, uint64_t lo)
{
	return ((hi & sid->arg_hi) | (lo & sid->arg_lo)) != 0;
}

/*
 * RFC 9800 section 4.1.1 N04-N05: remove the active uSID from the container, here one of a /32, the most common block.
 * srv6_endpoint does it for all blocks. The argument moves left to the end of the 32-bit block, over the active uSID, and zeroes fill the end of the address.
 *
 *   bits       32          16      16      16             shift_bits = 16
 *   before  | block       | 0100  | 0200  | 0300 ... | 0000 |
 *                           active  argument
 *   after   | block       | 0200  | 0300  | ...      | 0000 |
 *                           active  argument
 *
 * fcbb:bb01:100:200:300:: becomes fcbb:bb01:200:300::. A SID of two 16-bit ids (node and function) has shift_bits = 32
 * and removes both. The masks arg_hi and arg_lo of the SID select the argument; an argument of 0 means that the active
 * uSID is the last one.
 */
static inline void srv6_shift32(const struct snap_sid *sid, uint64_t *hi, uint64_t *lo)
{
	unsigned int bits = sid->shift_bits;

	*hi = (*hi >> 32 << 32) | (uint32_t)(*hi << bits) | *lo >> (64 - bits);
	*lo <<= bits;
}

/*
 * Slice id in a hop-by-hop option of this type (draft-ietf-6man-enhanced-vpn-vtn-id; docs/protocol.md 4.5); 0: no such
 * option. Walks the extension headers.
 */
uint32_t srv6_slice_option(struct srv6_packet *p, uint8_t type);

/* After a walk: fill *e for the unknown option that requires a discard (RFC 8200 section 4.2). Returns true. */
bool srv6_option_error(const struct srv6_packet *p, struct srv6_error *e);
static inline bool srv6_bad_option(const struct srv6_packet *p, struct srv6_error *e)
{
	return p->option && srv6_option_error(p, e);
}

/* Execute the behaviour of one SID. *change is updated; *e is filled for SRV6_DROP. */
enum srv6_next srv6_endpoint(const struct snap_sid *sid, struct srv6_packet *p, struct srv6_change *change,
	struct srv6_error *e);

#endif
