/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SRv6 endpoint behaviours (RFC 8986 section 4, RFC 9800 section 4; order of work: docs/protocol.md 3.2).
 *
 * A packet whose destination is a local SID is worked on without being touched: the state below says what it
 * would look like, and the egress writes it. rx lcores.
 */
#ifndef SRV6_ENDPOINT_H
#define SRV6_ENDPOINT_H

#include "snapshot/snapshot.h"
#include "stats/reasons.h"
#include "wire/srh.h"

/* An IPv6 packet as it stands after what has been decided so far. */
struct srv6_packet {
	const uint8_t *frame;  /* first buffer of the frame */
	uint32_t readable;     /* its bytes that belong to the packet */
	uint32_t end;	       /* offset behind the packet, which may be in a later buffer */
	uint16_t at;	       /* offset of the IPv6 header; the header is readable */
	uint64_t da_hi, da_lo; /* destination, host order halves */
	uint8_t hop_limit;

	/* filled by srv6_walk */
	bool walked;
	uint8_t upper_type; /* first header that is no hop-by-hop, destination options or routing header */
	uint16_t upper;	    /* its offset */
	uint16_t srh;	    /* offset of the SRH; 0: none, or unlinked */
	uint16_t srh_bytes;
	uint16_t spent;	       /* offset of an SRH whose last segment was taken here, whatever the frame says; or 0 */
	uint8_t segments_left; /* of the SRH */
	uint8_t foreign_routing_left; /* Segments Left of a routing header that is not type 4; 0: none */
	uint16_t foreign_routing;     /* its offset */
	uint16_t option;	      /* offset of the first option that forbids to go on; 0: none */
	uint8_t option_type;
	enum reason failure; /* why srv6_walk gave up */
};

enum srv6_next {
	SRV6_LOOKUP,	      /* destination changed: look it up in the SID's table */
	SRV6_ADJACENCY,	      /* send over the SID's adjacency */
	SRV6_DECAP,	      /* what is at `upper` is the packet now, of family upper_type 41 or 4 */
	SRV6_DECAP_ADJACENCY, /* the same, but send it over the SID's adjacency */
	SRV6_DECAP_FRAME,     /* what is at `upper` is an Ethernet frame, for the SID's port */
	SRV6_PFC,	      /* what is at `upper` is an Ethernet frame that may only be PFC, for the SID's queues */
	SRV6_DELIVER,	      /* to the node itself: upper_type at `upper` */
	SRV6_DROP,	      /* for error.reason, with the ICMPv6 error described there if type is not 0 */
};

struct srv6_error {
	enum reason reason;
	uint8_t type, code;
	uint32_t pointer; /* from the start of the IPv6 header */
};

/* What changed on the wire, apart from the destination. */
struct srv6_change {
	bool segments_left; /* SRH has the new value of srv6_packet.segments_left */
	bool pop_srh;	    /* SRH at `srh_at` is to be unlinked */
	uint16_t srh_at;
};

/* Walk the extension headers once. False, with srv6_packet.failure, when the chain is truncated, split or too long. */
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

/* Is there a uSID behind this one? Never behind a SID that is not compressed. */
static inline bool srv6_has_argument(const struct snap_sid *sid, uint64_t hi, uint64_t lo)
{
	return ((hi & sid->arg_hi) | (lo & sid->arg_lo)) != 0;
}

/* RFC 9800 section 4.1.1 N04-N05: shift the argument up to the block of 32 bits, zeroes behind. */
static inline void srv6_shift(const struct snap_sid *sid, uint64_t *hi, uint64_t *lo)
{
	unsigned int bits = sid->shift_bits;

	*hi = (*hi >> 32 << 32) | (uint32_t)(*hi << bits) | *lo >> (64 - bits);
	*lo <<= bits;
}

/*
 * Slice id in a hop-by-hop option of this type (draft-ietf-6man-enhanced-vpn-vtn-id; docs/protocol.md 4.5); 0: there is none.
 * Walks.
 */
uint32_t srv6_slice_option(struct srv6_packet *p, uint8_t type);

/* After a walk: does an unknown option forbid to go on? What RFC 8200 section 4.2 then wants is in *e. */
bool srv6_option_error(const struct srv6_packet *p, struct srv6_error *e);
static inline bool srv6_bad_option(const struct srv6_packet *p, struct srv6_error *e)
{
	return p->option && srv6_option_error(p, e);
}

/* One SID's work on the packet. `e` is filled for SRV6_DROP. */
enum srv6_next srv6_endpoint(const struct snap_sid *sid, struct srv6_packet *p, struct srv6_change *change,
	struct srv6_error *e);

#endif
