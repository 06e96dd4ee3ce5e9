/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RSVP as it is on the wire: headers and objects of RFC 2205, 2210, 2747 and 2961, and the objects of credit flow control
 * (docs/credit.md 1.2 to 1.5 and 2.2). Bytes in network order; no DPDK. Any thread.
 */
#ifndef RSVP_RSVP_WIRE_H
#define RSVP_RSVP_WIRE_H

#include "wire/bytes.h"
#include "wire/ipv6.h"

#define RSVP_VERSION 1
#define RSVP_FLAG_REFRESH_REDUCTION 0x1 /* RFC 2961 section 2: "I understand Bundle, Srefresh and MESSAGE_ID" */

/* Common header (RFC 2205 section 3.1.1). */
struct rsvp_hdr {
	uint8_t version_flags;
	uint8_t type;
	be16_t checksum; /* over the whole message, without a pseudo-header; 0: none was computed */
	uint8_t send_ttl;
	uint8_t reserved;
	be16_t length; /* bytes, this header included */
};
WIRE_SIZE(struct rsvp_hdr, 8);
WIRE_AT(struct rsvp_hdr, send_ttl, 4);

/* Header of every object (RFC 2205 section 3.1.2). */
struct rsvp_obj {
	be16_t length; /* bytes, this header included; a multiple of 4 */
	uint8_t class_num;
	uint8_t c_type;
};
WIRE_SIZE(struct rsvp_obj, 4);
#define RSVP_OBJ_NULL 0 /* class_num of an object that means nothing, anywhere in a message (RFC 2205 appendix A) */

/* Objects whose address makes two C-Types of one layout: 1 for IPv4, 2 for IPv6. What follows the address: */
struct rsvp_session_tail {
	uint8_t protocol;
	uint8_t flags;
	be16_t port;
};
WIRE_SIZE(struct rsvp_session_tail, 4);

struct rsvp_error_tail {
	uint8_t flags;
	uint8_t code;
	be16_t value;
};
WIRE_SIZE(struct rsvp_error_tail, 4);

/* C-Types 1 and 2: 0 and the port. C-Type 3: the low 20 bits of `label` are the flow label. */
struct rsvp_sender_tail {
	uint8_t zero;
	uint8_t label[3];
};
WIRE_SIZE(struct rsvp_sender_tail, 4);

/* Head of INTEGRITY; the digest follows (RFC 2747 section 2). */
struct rsvp_integrity_hdr {
	uint8_t flags;
	uint8_t reserved;
	uint8_t key_id[6];
	be64_t sequence;
};
WIRE_SIZE(struct rsvp_integrity_hdr, 16);
WIRE_AT(struct rsvp_integrity_hdr, sequence, 8);
#define RSVP_INTEGRITY_HF 0x80	      /* "I answer challenges" */
#define RSVP_INTEGRITY_HF_TSHARK 0x01 /* accepted as well (D3) */

/* CHALLENGE (RFC 2747 section 4.3). */
struct rsvp_challenge_body {
	uint8_t reserved[2];
	uint8_t key_id[6];
	be64_t cookie;
};
WIRE_SIZE(struct rsvp_challenge_body, 16);

/* MESSAGE_ID, MESSAGE_ID_ACK, MESSAGE_ID_NACK; the head of MESSAGE_ID_LIST ends before `id` (RFC 2961 section 4). */
struct rsvp_id_body {
	uint8_t flags;
	uint8_t epoch[3];
	be32_t id;
};
WIRE_SIZE(struct rsvp_id_body, 8);
#define RSVP_ID_ACK_DESIRED 0x01

/* SENDER_TSPEC and FLOWSPEC of controlled load (RFC 2210 sections 3.1 and 3.2); rates in bytes/s as IEEE float32. */
struct rsvp_tspec_body {
	uint8_t version; /* 0 */
	uint8_t reserved;
	be16_t words; /* of all that follows */
	uint8_t service;
	uint8_t service_flags;
	be16_t service_words;
	uint8_t parameter; /* 127 */
	uint8_t parameter_flags;
	be16_t parameter_words;
	be32_t rate, depth, peak;
	be32_t least, most; /* m and M, bytes */
};
WIRE_SIZE(struct rsvp_tspec_body, 32);
WIRE_AT(struct rsvp_tspec_body, rate, 12);

/* FLOWSPEC of guaranteed service: parameter 130 follows. */
struct rsvp_rspec_body {
	uint8_t parameter; /* 130 */
	uint8_t parameter_flags;
	be16_t parameter_words;
	be32_t rate, slack;
};
WIRE_SIZE(struct rsvp_rspec_body, 12);
#define RSVP_SERVICE_TSPEC 1
#define RSVP_SERVICE_GUARANTEED 2
#define RSVP_SERVICE_CONTROLLED 5
#define RSVP_PARAMETER_TOKEN_BUCKET 127
#define RSVP_PARAMETER_RSPEC 130

#define RSVP_STYLE_WF 0x11
#define RSVP_STYLE_FF 0x0a
#define RSVP_STYLE_SE 0x12

/* The objects of credit flow control, from offset 8: the enterprise number is in front (docs/credit.md 2.2). */
struct rsvp_credit_body {
	uint8_t flags; /* RSVP_CREDIT_... */
	uint8_t traffic_class;
	uint8_t unit;
	uint8_t zero;
	be32_t epoch;
	be64_t fccl, abr;
	be32_t buffer, heartbeat_us, sequence;
};
WIRE_SIZE(struct rsvp_credit_body, 36);
WIRE_AT(struct rsvp_credit_body, fccl, 8);
struct rsvp_credit_of_body { /* C-Type 4 only */
	be32_t lih, echo;
};
WIRE_SIZE(struct rsvp_credit_of_body, 8);
#define RSVP_CREDIT_OFFER 0x80
#define RSVP_CREDIT_COMMIT 0x40
#define RSVP_CREDIT_UPDATE 0x20
#define RSVP_CREDIT_END 0x01
#define RSVP_CLASS_ALL 0xff

struct rsvp_cbfc_hop_body {
	uint8_t flags; /* RSVP_HOP_... */
	uint8_t traffic_class;
	uint8_t unit;
	uint8_t zero;
	be32_t epoch;
	be64_t fctbs;
	be32_t sequence, heartbeat_us;
};
WIRE_SIZE(struct rsvp_cbfc_hop_body, 24);
WIRE_AT(struct rsvp_cbfc_hop_body, sequence, 16);
struct rsvp_cbfc_hop_of_body { /* C-Type 2 only */
	be32_t lih, want;
	be64_t fence;
};
WIRE_SIZE(struct rsvp_cbfc_hop_of_body, 16);
#define RSVP_HOP_IDLE 0x80
#define RSVP_HOP_ASK 0x40
#define RSVP_HOP_FINAL 0x01

struct rsvp_cbfc_path_body { /* addresses follow */
	be32_t nonce;
	be16_t path;
	uint8_t hops, hops_max;
};
WIRE_SIZE(struct rsvp_cbfc_path_body, 8);

struct rsvp_cbfc_offer_body {
	be64_t buffer, rate;
	be32_t delay_us;
	be16_t path;
	uint8_t hops, flags;
};
WIRE_SIZE(struct rsvp_cbfc_offer_body, 24);
#define RSVP_OFFER_SELECTED 0x80

#endif
