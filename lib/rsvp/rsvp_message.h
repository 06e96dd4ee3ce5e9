/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RSVP messages: read and written whole (RFC 2205 section 3.1; RFC 2210, 2747, 2961; docs/credit.md 1 and 2.1 to 2.3).
 * A message is checked to its last byte before a caller sees any part of it. Numbers are in host order. Nothing is
 * allocated. No clock, no DPDK. Any thread.
 *
 * INTEGRITY is only a place in a message here: rsvp_integrity.h fills and verifies it.
 */
#ifndef RSVP_RSVP_MESSAGE_H
#define RSVP_RSVP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rsvp/rsvp_wire.h"
#include "wire/addr.h"

#define RSVP_PROTOCOL 46
#define RSVP_BYTES_MAX 65535
#define RSVP_CREDITS_MAX 192   /* of an update: what 9,216 bytes hold */
#define RSVP_CBFC_HOPS_MAX 192 /* of a marker */
#define RSVP_OFFERS_MAX 16     /* docs/credit.md 2.2 */
#define RSVP_ACKS_MAX 128      /* of a message */
#define RSVP_ID_LISTS_MAX 8    /* of an Srefresh */
#define RSVP_FLOWS_MAX 16      /* flow descriptors */
#define RSVP_PASSED_MAX 16     /* objects that go on unexamined */
#define RSVP_DIGEST_MAX 32     /* bytes: HMAC-SHA-256 */

/*
 * Message types and classes that no registry assigns are configuration (D5, D6). RSVP_EXT and RSVP_LETTER are the
 * defaults of the two modes.
 */
struct rsvp_numbers {
	bool letter;	   /* the draft's text as it stands: CBFC_HOP, CBFC_PATH and CBFC_OFFER are unknown classes */
	uint8_t type_init; /* "28" in comments and pages, and so on */
	uint8_t type_reserve;
	uint8_t type_end;
	uint8_t type_end_ack;
	uint8_t class_credit, class_hop, class_path, class_offer;
	uint8_t letter_c_type;	/* of CREDIT in letter mode */
	bool letter_enterprise; /* CREDIT of letter mode has an enterprise word as well */
	uint32_t enterprise;	/* SMI number in front of the vendor-private objects */
};
extern const struct rsvp_numbers rsvp_ext, rsvp_letter;

/* What a message is. X(id, name): the forms that credit flow control adds come last. */
#define RSVP_KINDS(X) \
	X(PATH, "Path") \
	X(RESV, "Resv") \
	X(PATH_ERR, "PathErr") \
	X(RESV_ERR, "ResvErr") \
	X(PATH_TEAR, "PathTear") \
	X(RESV_TEAR, "ResvTear") \
	X(RESV_CONF, "ResvConf") \
	X(BUNDLE, "Bundle") \
	X(ACK, "Ack") \
	X(SREFRESH, "Srefresh") \
	X(CHALLENGE, "Integrity Challenge") \
	X(RESPONSE, "Integrity Response") \
	X(INIT, "Path init") \
	X(MARKER, "marker") \
	X(RESERVE, "Reserve") \
	X(UPDATE, "update") \
	X(END, "End") \
	X(END_ACK, "End ACK")

enum rsvp_kind {
#define X(id, name) RSVP_##id,
	RSVP_KINDS(X)
#undef X
		RSVP_KIND_COUNT
};

const char *rsvp_kind_name(unsigned int kind); /* "?" for others */

/* Objects that the codec knows. A class with several C-Types is one row. */
enum rsvp_object {
	RSVP_O_INTEGRITY,
	RSVP_O_ACK, /* and NACK */
	RSVP_O_ID,
	RSVP_O_ID_LIST,
	RSVP_O_CHALLENGE,
	RSVP_O_SESSION,
	RSVP_O_HOP,
	RSVP_O_TIME,
	RSVP_O_ERROR,
	RSVP_O_CONFIRM,
	RSVP_O_SCOPE,
	RSVP_O_CREDIT,
	RSVP_O_CBFC_HOP,
	RSVP_O_CBFC_PATH,
	RSVP_O_CBFC_OFFER,
	RSVP_O_POLICY, /* and unknown classes 11xxxxxx: what goes on unexamined */
	RSVP_O_TEMPLATE,
	RSVP_O_TSPEC,
	RSVP_O_ADSPEC,
	RSVP_O_STYLE,
	RSVP_O_FLOWSPEC,
	RSVP_O_FILTER,
	RSVP_OBJECT_COUNT
};

struct rsvp_session {
	struct ip_addr dst;
	uint8_t protocol, flags;
	uint16_t port;
};

struct rsvp_hop {
	struct ip_addr addr;
	uint32_t lih;
};

/* SENDER_TEMPLATE and FILTER_SPEC. */
struct rsvp_sender {
	struct ip_addr src;
	bool labelled; /* C-Type 3: `port` is a flow label of 20 bits */
	uint32_t port;
};

struct rsvp_error {
	struct ip_addr node;
	uint8_t flags, code;
	uint16_t value;
};

/* SENDER_TSPEC and FLOWSPEC. Rates in bytes/s, sizes in bytes; as received, also NaN and negative numbers. */
struct rsvp_tspec {
	float rate, depth, peak;
	uint32_t least, most;
	bool guaranteed; /* FLOWSPEC of guaranteed service, with: */
	float reserved_rate;
	uint32_t slack_us;
};

struct rsvp_integrity {
	bool handshake; /* HF: the sender answers challenges */
	uint8_t digest_bytes;
	uint64_t key_id; /* 48 bits */
	uint64_t sequence;
	const uint8_t *digest; /* in the message that was read */
};

struct rsvp_challenge {
	uint64_t key_id; /* 48 bits */
	uint64_t cookie;
};

struct rsvp_message_id {
	bool ack_desired; /* MESSAGE_ID */
	bool nack;	  /* MESSAGE_ID_ACK class: C-Type 2 */
	uint32_t epoch;	  /* 24 bits */
	uint32_t id;
};

/* MESSAGE_ID_LIST of an Srefresh. */
struct rsvp_id_list {
	bool ack_desired;
	uint32_t epoch; /* 24 bits */
	const be32_t *ids;
	uint16_t count;
};

enum rsvp_credit_form {
	RSVP_CREDIT_MEGABYTES = 1, /* as C-Types of ext mode */
	RSVP_CREDIT_BYTES = 2,
	RSVP_CREDIT_TOTALS = 3,
	RSVP_CREDIT_OF_CONTEXT = 4,
	RSVP_CREDIT_LETTER = 5, /* one word, whose meaning follows from the message (D8) */
};

struct rsvp_credit {
	uint8_t form;  /* enum rsvp_credit_form; for the first two and the last, only `amount` */
	uint8_t flags; /* RSVP_CREDIT_OFFER and so on */
	uint8_t traffic_class;
	uint8_t unit; /* log2 of bytes */
	uint32_t epoch;
	uint64_t fccl, abr; /* units */
	uint32_t buffer;    /* units */
	uint32_t heartbeat_us, sequence;
	uint32_t lih, echo; /* RSVP_CREDIT_OF_CONTEXT */
	uint32_t amount;
};

struct rsvp_cbfc_hop {
	bool of_context; /* C-Type 2: lih, want and fence are there */
	uint8_t flags;	 /* RSVP_HOP_IDLE and so on */
	uint8_t traffic_class, unit;
	uint32_t epoch;
	uint64_t fctbs; /* units */
	uint32_t sequence, heartbeat_us;
	uint32_t lih;
	uint32_t want; /* units */
	uint64_t fence;
};

struct rsvp_cbfc_path {
	uint32_t nonce;
	uint16_t path;
	uint8_t hops, hops_max;
	const struct ipv6_addr *addrs; /* `hops` of them; in the message that was read */
};

struct rsvp_cbfc_offer {
	uint64_t buffer;   /* bytes; all ones: no device passed yet */
	uint64_t rate;	   /* bit/s; all ones: no port passed yet */
	uint32_t delay_us; /* all ones: unknown */
	uint16_t path;
	uint8_t hops, flags;
};

/* An object that is passed on as it is; with its header, in the message that was read. */
struct rsvp_raw {
	const uint8_t *at;
	uint16_t bytes;
};

/* A flow descriptor. FF lists repeat the last FLOWSPEC where one is missing. */
struct rsvp_flow {
	bool has_spec, has_filter; /* as they are in the message */
	struct rsvp_tspec spec;
	struct rsvp_sender filter;
};

/*
 * A message. count[] says how often an object is there; members without a count are meaningless. For lists, the arrays
 * at the end have count[] entries; they are not cleared. What has pointers points into the bytes that were read.
 */
struct rsvp_message {
	uint8_t kind;	  /* enum rsvp_kind */
	uint8_t flags;	  /* RSVP_FLAG_... */
	uint8_t send_ttl; /* hop limit with which the message was sent */
	uint16_t bytes;
	/* not of the message, but of its packet: */
	uint16_t zone; /* the caller's number of the network that it came from; 0: the domain */
	bool routed; /* it came by routing, not along a list of segments: its previous hop may be another one than before */
	uint16_t count[RSVP_OBJECT_COUNT];
	struct rsvp_integrity integrity;
	struct rsvp_challenge challenge;
	struct rsvp_message_id id;
	struct rsvp_session session;
	struct rsvp_hop hop;
	uint32_t refresh_ms; /* TIME_VALUES */
	struct rsvp_error error;
	struct ip_addr confirm;
	struct rsvp_sender sender; /* SENDER_TEMPLATE */
	struct rsvp_tspec tspec;   /* SENDER_TSPEC */
	struct rsvp_cbfc_path path;
	struct rsvp_raw adspec;
	uint32_t style;	      /* RSVP_STYLE_... */
	uint16_t flows;	      /* descriptors in flow[] */
	struct rsvp_raw body; /* RSVP_BUNDLE: the messages inside */
	/* lists */
	struct rsvp_message_id ack[RSVP_ACKS_MAX]; /* the first of the lists: rsvp_clear stops here */
	struct rsvp_id_list id_list[RSVP_ID_LISTS_MAX];
	struct rsvp_credit credit[RSVP_CREDITS_MAX];
	struct rsvp_cbfc_hop cbfc_hop[RSVP_CBFC_HOPS_MAX];
	struct rsvp_cbfc_offer offer[RSVP_OFFERS_MAX];
	struct rsvp_raw passed[RSVP_PASSED_MAX]; /* POLICY_DATA and unknown classes 11xxxxxx */
	struct rsvp_flow flow[RSVP_FLOWS_MAX];
};

/*
 * Why a message is refused, as rows of counters (stats/counter.h). A help completes "RSVP messages refused: ".
 */
#define RSVP_REFUSAL(X, name, help) \
	X(counter, name, "refused_" #name, "messages", "sluice_rsvp_refused_" #name, "RSVP messages refused: " help)
#define RSVP_READ_REFUSALS(X) \
	RSVP_REFUSAL(X, length, "RSVP length below 8, or not the length of the datagram") \
	RSVP_REFUSAL(X, version, "version is not 1") \
	RSVP_REFUSAL(X, bad_checksum, "checksum is wrong") \
	RSVP_REFUSAL(X, unknown_type, "message type is unknown") \
	RSVP_REFUSAL(X, recovery_path, "type 30 without an IPv4 or IPv6 SESSION, so it is a RecoveryPath (RFC 5063)") \
	RSVP_REFUSAL(X, object_length, "length of an object is wrong, or the object runs past the end") \
	RSVP_REFUSAL(X, object_content, "contents of an object contradict each other") \
	RSVP_REFUSAL(X, object_order, "INTEGRITY is not the first object, or an object follows the flow descriptors") \
	RSVP_REFUSAL(X, object_repeated, "an object is there more often than the message may have it") \
	RSVP_REFUSAL(X, object_misplaced, "an object does not belong into this message") \
	RSVP_REFUSAL(X, object_missing, "an object is missing") \
	RSVP_REFUSAL(X, unknown_class, "class of an object is unknown and must be understood (error 13)") \
	RSVP_REFUSAL(X, unknown_c_type, "C-Type of an object is unknown and must be understood (error 14)") \
	RSVP_REFUSAL(X, unknown_style, "reservation style is unknown (error 6)") \
	RSVP_REFUSAL(X, ports, "SESSION has no port and the sender has one (error 8)") \
	RSVP_REFUSAL(X, family, "addresses of one message are of both families") \
	RSVP_REFUSAL(X, bundle, "a Bundle that is empty, has a Bundle inside, or does not end with a message")
#define RSVP_INTEGRITY_REFUSALS(X) \
	RSVP_REFUSAL(X, integrity_missing, "no INTEGRITY, although keys are configured") \
	RSVP_REFUSAL(X, integrity_key, "key id of INTEGRITY is unknown, or not valid at this time") \
	RSVP_REFUSAL(X, integrity_digest, "digest of INTEGRITY is wrong") \
	RSVP_REFUSAL(X, integrity_replayed, "sequence number of INTEGRITY was received before") \
	RSVP_REFUSAL(X, integrity_window, "sequence number of INTEGRITY is below the window") \
	RSVP_REFUSAL(X, integrity_handshake, "the sender has not answered the integrity challenge yet") \
	RSVP_REFUSAL(X, integrity_cookie, "an integrity response to no challenge of this node") \
	RSVP_REFUSAL(X, integrity_senders, "more senders with INTEGRITY than the node has room for")
#define RSVP_REFUSALS(X) \
	RSVP_READ_REFUSALS(X) \
	RSVP_INTEGRITY_REFUSALS(X)

enum rsvp_refusal {
	RSVP_ACCEPTED,
#define X(kind, name, shown, unit, metric, help) RSVP_REFUSED_##name,
	RSVP_REFUSALS(X)
#undef X
		RSVP_REFUSAL_COUNT
};

const char *rsvp_refusal_name(enum rsvp_refusal refusal); /* "accepted" for RSVP_ACCEPTED */

/* Error codes of ERROR_SPEC (RFC 2205 appendix B). */
#define RSVP_ERROR_ADMISSION 1
#define RSVP_ERROR_POLICY 2
#define RSVP_ERROR_NO_PATH 3
#define RSVP_ERROR_STYLE 6
#define RSVP_ERROR_PORTS 8
#define RSVP_ERROR_CLASS 13
#define RSVP_ERROR_C_TYPE 14

/*
 * Read `size` readable bytes, the payload of one datagram or a message inside a Bundle. After a refusal by unknown_class,
 * unknown_c_type, unknown_style or ports, `out` has all objects that could be read, so that an error can be sent, and
 * out->error has its code and value; `out` may have no SESSION and no RSVP_HOP. After any other refusal `out` is of no
 * use. A checksum of 0 is none (section 3.1.1), in a Bundle and outside.
 */
enum rsvp_refusal rsvp_read(const struct rsvp_numbers *numbers, const void *data, size_t size,
	struct rsvp_message *out);

/* The address in RSVP_HOP of a message that may be anything. False: it has none that could be read. */
bool rsvp_peek_hop(const void *data, size_t size, struct ip_addr *out);

/*
 * The messages inside a Bundle, one after the other: `rest` begins as out->body. Returns false at the end. rsvp_read has
 * checked that they fill the Bundle exactly.
 */
bool rsvp_bundle_next(struct rsvp_raw *rest, struct rsvp_raw *message);

/*
 * Write a message with the objects that count[] and `flows` name, in the order that RFC 2205 and docs/credit.md 2.3
 * recommend, and its checksum. The digest of INTEGRITY is written as 0, integrity.digest_bytes long. Returns the bytes
 * written, 0 when they are more than `room` or an object does not belong into this kind of message.
 */
size_t rsvp_write(const struct rsvp_numbers *numbers, const struct rsvp_message *m, void *out, size_t room);

/* Begin a message of that kind: without objects, Send_TTL 255. The lists are left as they are. */
void rsvp_clear(struct rsvp_message *m, enum rsvp_kind kind);

/* A Bundle that is being written (RFC 2961 section 3): begin, add complete messages, end. */
struct rsvp_bundle {
	uint8_t *at;
	size_t room, bytes;
};
void rsvp_bundle_begin(struct rsvp_bundle *b, void *out, size_t room);
bool rsvp_bundle_add(struct rsvp_bundle *b, const void *message, size_t bytes); /* false: no room */
size_t rsvp_bundle_end(struct rsvp_bundle *b, uint8_t send_ttl);		/* 0: nothing was added */

/* Compute the checksum of a message of `bytes` bytes and store it. */
void rsvp_checksum(void *message, size_t bytes);

/* FLOWSPEC of controlled load that asks for what a SENDER_TSPEC describes. */
static inline struct rsvp_tspec rsvp_flowspec_of(const struct rsvp_tspec *tspec)
{
	struct rsvp_tspec f = *tspec;

	f.guaranteed = false;
	return f;
}

#endif
