/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RoCEv2 transport headers after UDP (InfiniBand Architecture volume 1, chapter 9 and annex A17; docs/protocol.md 6.1).
 * The ICRC at the end of a packet is neither read nor written.
 */
#ifndef WIRE_ROCE_H
#define WIRE_ROCE_H

#include <stdbool.h>

#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

enum roce_opcode {
	ROCE_RC_WRITE_FIRST = 0x06,
	ROCE_RC_WRITE_MIDDLE = 0x07,
	ROCE_RC_WRITE_LAST = 0x08,
	ROCE_RC_WRITE_ONLY = 0x0a,
	ROCE_RC_READ_REQUEST = 0x0c,
	ROCE_RC_READ_FIRST = 0x0d,
	ROCE_RC_READ_ONLY = 0x10,
	ROCE_RC_ACK = 0x11,
	ROCE_RC_ATOMIC_ACK = 0x12,
	ROCE_RC_FETCH_ADD = 0x14,
	ROCE_UD_SEND_ONLY = 0x64,
	ROCE_CNP = 0x81,
};

#define ROCE_PSN_MASK 0x00ffffffu
#define ROCE_ACK_REQUEST 0x80000000u /* in bth.psn */
#define ROCE_ICRC_BYTES 4

/* Base transport header. */
struct roce_bth {
	uint8_t opcode;
	uint8_t flags; /* SE(1) M(1) pad(2) version(4) */
	be16_t pkey;
	be32_t qp;  /* FECN(1) BECN(1) reserved(6) destination queue pair(24) */
	be32_t psn; /* ACK request(1) reserved(7) PSN(24) */
};
WIRE_SIZE(struct roce_bth, 12);
WIRE_AT(struct roce_bth, qp, 4);
WIRE_AT(struct roce_bth, psn, 8);

/* RDMA extended transport header, in the first packet of a WRITE. */
struct roce_reth {
	be64_t address;
	be32_t key;
	be32_t length;
};
WIRE_SIZE(struct roce_reth, 16);
WIRE_AT(struct roce_reth, length, 12);

/* ACK extended transport header. */
struct roce_aeth {
	be32_t syndrome_msn; /* syndrome(8) message sequence number(24) */
};
WIRE_SIZE(struct roce_aeth, 4);

#define ROCE_SYNDROME_ACK 0x1fu		 /* ACK, no credit limit */
#define ROCE_SYNDROME_NAK_SEQUENCE 0x60u /* NAK, PSN sequence error */
#define ROCE_SYNDROME_KIND 0x60u	 /* bits of the syndrome: 0x00 ACK, 0x20 RNR NAK, 0x60 NAK (IBA 9.7.5.2.1) */
#define ROCE_CNP_RESERVED 16		 /* bytes behind the BTH of a CNP (IBA A17.9.3) */
#define ROCE_QP_MASK 0x00ffffffu	 /* in bth.qp */

/* What a RoCEv2 packet means to its flow. */
enum roce_kind {
	ROCE_NONE, /* not RoCEv2, or too short for its headers */
	ROCE_DATA, /* of a reliable connection: requests, and responses that carry data. Their PSNs follow each other */
	ROCE_ACKS, /* ACK or atomic ACK */
	ROCE_NAK_SEQUENCE, /* the receiver misses packets */
	ROCE_RNR,	   /* the receiver has no buffer yet */
	ROCE_NAK,	   /* any other NAK */
	ROCE_CONGESTION,   /* CNP */
	ROCE_OTHER,	   /* other transports */
};

struct roce {
	uint32_t qp, psn; /* destination queue pair, PSN */
	uint8_t kind;	  /* enum roce_kind */
	uint8_t opcode;
	bool ack_request;
};

/* Of an opcode below 0x20, a reliable connection: does it carry a PSN of its requester's or responder's data? */
static inline bool roce_is_data(uint8_t opcode)
{
	return opcode <= ROCE_RC_READ_ONLY || (opcode > ROCE_RC_ATOMIC_ACK && opcode <= ROCE_RC_FETCH_ADD);
}

/* Does a receiver send it back? */
static inline bool roce_is_answer(uint8_t kind)
{
	return kind >= ROCE_ACKS && kind <= ROCE_CONGESTION;
}

/* Of the syndrome of an AETH, without regard to its highest bit, which is reserved. */
static inline uint8_t roce_kind_of(uint32_t syndrome)
{
	switch (syndrome & ROCE_SYNDROME_KIND) {
	case 0x00:
		return ROCE_ACKS;
	case 0x20:
		return ROCE_RNR;
	case 0x60:
		return (syndrome & 0x7f) == ROCE_SYNDROME_NAK_SEQUENCE ? ROCE_NAK_SEQUENCE : ROCE_NAK;
	default:
		return ROCE_OTHER;
	}
}

/* Read the transport headers at `at`; `end`: offset of the first byte that does not belong to the packet or cannot be read. */
static inline struct roce roce_read(const uint8_t *frame, uint32_t at, uint32_t end)
{
	const struct roce_bth *bth = (const struct roce_bth *)(frame + at);
	struct roce r = {.kind = ROCE_NONE};
	uint32_t syndrome;

	if (at + sizeof(*bth) > end)
		return r;
	r.opcode = bth->opcode;
	r.qp = be32_get(bth->qp) & ROCE_QP_MASK;
	r.psn = be32_get(bth->psn) & ROCE_PSN_MASK;
	r.ack_request = be32_get(bth->psn) & ROCE_ACK_REQUEST;
	if (bth->flags & 0x0f) /* transport header version (IBA 9.2.5): only 0 is defined */
		return r;
	if (r.opcode == ROCE_CNP) {
		if (at + sizeof(*bth) + ROCE_CNP_RESERVED <= end)
			r.kind = ROCE_CONGESTION;
	} else if (r.opcode >= 0x20) {
		r.kind = ROCE_OTHER;
	} else if (roce_is_data(r.opcode)) {
		r.kind = ROCE_DATA;
	} else if (r.opcode == ROCE_RC_ACK || r.opcode == ROCE_RC_ATOMIC_ACK) {
		if (at + sizeof(*bth) + sizeof(struct roce_aeth) > end)
			return r;
		syndrome = be32_get(((const struct roce_aeth *)(bth + 1))->syndrome_msn) >> 24;
		r.kind = roce_kind_of(syndrome);
	} else {
		r.kind = ROCE_OTHER;
	}
	return r;
}

/*
 * Offset of the transport header of the IP packet at `at`; 0: it is not RoCEv2. The IP header has been checked. `end` as
 * above. A fragment is never RoCEv2: only the first one has the header, and the others belong to nothing that is known.
 */
static inline uint32_t roce_find(const uint8_t *frame, uint32_t at, uint8_t family, uint32_t end)
{
	const struct ipv4_hdr *four = (const struct ipv4_hdr *)(frame + at);
	const struct ipv6_hdr *six = (const struct ipv6_hdr *)(frame + at);
	const struct udp_hdr *udp;

	if (family == 4) {
		if (four->protocol != IP_PROTO_UDP || be16_get(four->fragment) & (IPV4_MF | IPV4_OFFSET_MASK))
			return 0;
		at += ipv4_header_bytes(four);
	} else {
		if (six->next_header != IP_PROTO_UDP)
			return 0;
		at += (uint32_t)sizeof(*six);
	}
	udp = (const struct udp_hdr *)(frame + at);
	if (at + sizeof(*udp) > end || be16_get(udp->dst_port) != UDP_PORT_ROCEV2)
		return 0;
	return at + (uint32_t)sizeof(*udp);
}

#endif
