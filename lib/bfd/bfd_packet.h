/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BFD messages: control packets (RFC 5880 sections 4.1 to 4.4), of S-BFD as well (RFC 7880), and the echo packets of
 * this node, whose format is a local matter (RFC 5880 section 5). Bytes only; no clock, no DPDK. Any thread.
 */
#ifndef BFD_BFD_PACKET_H
#define BFD_BFD_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"

#define BFD_PORT_CONTROL 3784 /* RFC 5881 section 4 */
#define BFD_PORT_ECHO 3785
#define BFD_PORT_SBFD 7784	    /* RFC 7881 section 3 */
#define BFD_PORT_SOURCE_FIRST 49152 /* source ports are 49152 to 65535 (RFC 5881 section 4) */
#define BFD_HOP_LIMIT 255	    /* GTSM (RFC 5082), RFC 5881 section 5 */
#define BFD_SHA1_BYTES 20

struct bfd_hdr {
	uint8_t version_diag; /* version(3) diagnostic(5) */
	uint8_t state_flags;  /* state(2) P F C A D M */
	uint8_t multiplier;   /* Detect Mult */
	uint8_t length;	      /* bytes, the authentication section included */
	be32_t my_discr;
	be32_t your_discr;
	be32_t desired_tx; /* microseconds, as all intervals */
	be32_t required_rx;
	be32_t required_echo;
};
WIRE_SIZE(struct bfd_hdr, 24);
WIRE_AT(struct bfd_hdr, my_discr, 4);
WIRE_AT(struct bfd_hdr, required_echo, 20);

#define BFD_VERSION 1
#define BFD_FLAG_POLL 0x20
#define BFD_FLAG_FINAL 0x10
#define BFD_FLAG_INDEPENDENT 0x08
#define BFD_FLAG_AUTH 0x04
#define BFD_FLAG_DEMAND 0x02
#define BFD_FLAG_MULTIPOINT 0x01

/* Keyed SHA1 and Meticulous Keyed SHA1 (section 4.4). */
struct bfd_auth_sha1 {
	uint8_t type;
	uint8_t length; /* 28 */
	uint8_t key_id;
	uint8_t reserved;
	be32_t sequence;
	uint8_t hash[BFD_SHA1_BYTES];
};
WIRE_SIZE(struct bfd_auth_sha1, 28);

#define BFD_MESSAGE_MAX (sizeof(struct bfd_hdr) + sizeof(struct bfd_auth_sha1))

enum bfd_state { BFD_ADMIN_DOWN, BFD_DOWN, BFD_INIT, BFD_UP }; /* as on the wire */

/* Diagnostic codes (section 4.1; RFC 7880 adds none that this node sends). X(id, value, text) */
#define BFD_DIAGS(X) \
	X(NONE, 0, "no diagnostic") \
	X(EXPIRED, 1, "control detection time expired") \
	X(ECHO_FAILED, 2, "echo function failed") \
	X(NEIGHBOR, 3, "neighbor signaled session down") \
	X(FORWARDING, 4, "forwarding plane reset") \
	X(PATH_DOWN, 5, "path down") \
	X(CONCATENATED, 6, "concatenated path down") \
	X(ADMIN, 7, "administratively down") \
	X(REVERSE, 8, "reverse concatenated path down")

enum bfd_diag {
#define X(id, value, text) BFD_DIAG_##id = value,
	BFD_DIAGS(X)
#undef X
};

enum bfd_auth_type { BFD_AUTH_NONE, BFD_AUTH_SHA1 = 4, BFD_AUTH_METICULOUS_SHA1 = 5 }; /* as on the wire */

/* A control packet. Numbers are in host order, intervals in microseconds. */
struct bfd_packet {
	uint8_t diag;  /* enum bfd_diag, or a value up to 31 of a later standard */
	uint8_t state; /* enum bfd_state */
	uint8_t multiplier;
	bool poll, final, independent, demand;
	uint32_t my_discr, your_discr;
	uint32_t desired_tx_us, required_rx_us, required_echo_us;
	bool has_auth;
	uint8_t auth_type; /* any, if the packet was read */
	uint8_t key_id;
	uint32_t sequence; /* SHA1 types only */
	size_t bytes;	   /* Length field; what follows in the datagram is not part of the packet */
};

/*
 * Why a packet is refused, as rows of counters (stats/counter.h). One list for the enum, the counters and the events of
 * the log. A help completes "BFD packets refused: ".
 */
#define BFD_REFUSAL(X, name, help) \
	X(counter, name, "refused_" #name, "packets", "sluice_bfd_refused_" #name, "BFD packets refused: " help)
#define BFD_REFUSALS(X) \
	BFD_REFUSAL(X, hop_limit, \
		"hop limit or TTL is not 255 (RFC 5881 section 5), so the sender may be off the link") \
	BFD_REFUSAL(X, udp, "UDP length or checksum is wrong, or the checksum is missing over IPv6") \
	BFD_REFUSAL(X, length, "Length below 24, below 26 with authentication, or above the bytes of the datagram") \
	BFD_REFUSAL(X, version, "version is not 1") \
	BFD_REFUSAL(X, multiplier, "Detect Mult is 0") \
	BFD_REFUSAL(X, multipoint, "Multipoint bit is set") \
	BFD_REFUSAL(X, my_discriminator, "My Discriminator is 0") \
	BFD_REFUSAL(X, state, "Your Discriminator is 0 and the state is neither Down nor AdminDown") \
	BFD_REFUSAL(X, unknown_discriminator, "Your Discriminator is of no session and not the reflector's") \
	BFD_REFUSAL(X, no_session, "Your Discriminator is 0 and no session is configured with the sender") \
	BFD_REFUSAL(X, sender, \
		"Your Discriminator is of a session with another neighbour or interface, or of another kind") \
	BFD_REFUSAL(X, source, "S-BFD packet to the reflector from outside node.infrastructure") \
	BFD_REFUSAL(X, limit, "S-BFD packet to the reflector above bfd.reflector-rate") \
	BFD_REFUSAL(X, auth_missing, "the session requires authentication and the packet has none") \
	BFD_REFUSAL(X, auth_unexpected, "the packet is authenticated and the session has no key") \
	BFD_REFUSAL(X, auth_type, "authentication type differs from that of the session") \
	BFD_REFUSAL(X, auth_length, "authentication section has a wrong length") \
	BFD_REFUSAL(X, auth_key, "key id differs from that of the session") \
	BFD_REFUSAL(X, auth_sequence, "sequence number is outside the window: replayed or too old") \
	BFD_REFUSAL(X, auth_digest, "digest is wrong") \
	BFD_REFUSAL(X, demand, "S-BFD packet with the Demand bit of the other direction (RFC 7880 section 7.2.2)") \
	BFD_REFUSAL(X, echo, "echo packet that no session of this node has sent lately")

enum bfd_refusal {
	BFD_ACCEPTED,
#define X(kind, name, shown, unit, metric, help) BFD_REFUSED_##name,
	BFD_REFUSALS(X)
#undef X
		BFD_REFUSAL_COUNT
};

/* Read `size` readable bytes. Returns BFD_ACCEPTED, or the first rule of RFC 5880 section 6.8.6 that they break. */
enum bfd_refusal bfd_packet_read(const void *data, size_t size, struct bfd_packet *out);

/*
 * Write a packet into BFD_MESSAGE_MAX bytes, with the authentication section if has_auth is set and the type is one of
 * the SHA1 types; its hash is then still 0. Returns the number of bytes.
 */
size_t bfd_packet_write(void *out, const struct bfd_packet *p);

/* A key of the SHA1 types: 1 to 20 bytes, padded with 0. */
struct bfd_key {
	uint8_t id;
	uint8_t key[BFD_SHA1_BYTES];
};

/* Compute the hash of a message with an authentication section and write it there (section 6.7.4). */
void bfd_packet_sign(void *message, size_t bytes, const struct bfd_key *key);

/* Return whether the hash is right; constant time. The packet was read and is authenticated by an SHA1 type. */
bool bfd_packet_is_signed(const void *message, size_t bytes, const struct bfd_key *key);

/* An echo packet of this node. */
struct bfd_echo {
	be32_t discr;	 /* of the session that sent it */
	be32_t sequence; /* of its echo packets */
	be64_t cookie;	 /* secret of the session */
	be64_t sent;	 /* ns */
};
WIRE_SIZE(struct bfd_echo, 24);

const char *bfd_state_name(unsigned int state);		/* "AdminDown", "Down", "Init", "Up" */
const char *bfd_diag_text(unsigned int diag);		/* "reserved" for unknown codes */
const char *bfd_refusal_name(enum bfd_refusal refusal); /* "accepted" for BFD_ACCEPTED */

#endif
