/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The leased state message of `regenerate` (docs/protocol.md 5.6). Instead of PFC frames a PE sends which priorities
 * must stop, and for how long the message is valid. Messages are idempotent: loss, duplicates and reordering do no
 * harm. No draft defines the format; only sluice nodes use it with each other.
 *
 * Pure: no packets, no clock.
 */
#ifndef PFC_PFC_STATE_H
#define PFC_PFC_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "wire/bytes.h"

#define PFC_STATE_VERSION 1
#define PFC_STATE_VERSION_KEYED 2
/* Longest lease; well below the watchdog times of data-centre switches. */
#define PFC_STATE_LEASE_MAX_NS (100 * NSEC_PER_MSEC)
#define PFC_STATE_REPEATS 2		  /* repeats of a change */
#define PFC_STATE_REPEAT_NS NSEC_PER_MSEC /* interval of the repeats */

struct pfc_state_msg {
	uint8_t version;    /* PFC_STATE_VERSION */
	uint8_t flags;	    /* reserved, 0 */
	uint8_t speaks_for; /* bit per priority that the message covers */
	uint8_t stopped;    /* bit per priority: XOFF; always the whole state, never a change */
	be32_t epoch;	    /* random, chosen at each start of the sender */
	be32_t sequence;    /* of the message in its epoch */
	be32_t lease;	    /* time of validity in us */
	be32_t slice;	    /* slice id; 0: slice of the tunnel */
};
WIRE_SIZE(struct pfc_state_msg, 20);
WIRE_AT(struct pfc_state_msg, epoch, 4);
WIRE_AT(struct pfc_state_msg, sequence, 8);
WIRE_AT(struct pfc_state_msg, lease, 12);
WIRE_AT(struct pfc_state_msg, slice, 16);

#define PFC_STATE_DIGEST_BYTES 32 /* HMAC-SHA-256 */

/* The same with a digest (D64). */
struct pfc_state_keyed_msg {
	uint8_t version; /* PFC_STATE_VERSION_KEYED */
	uint8_t flags, speaks_for, stopped;
	be32_t epoch_hi, epoch_lo; /* ms since 1970 at the start of the sender: it only grows */
	be32_t sequence, lease, slice;
	be32_t key_id;
	/* over the source and destination address of the packet, and the message up to here */
	uint8_t digest[PFC_STATE_DIGEST_BYTES];
};
WIRE_SIZE(struct pfc_state_keyed_msg, 60);
WIRE_AT(struct pfc_state_keyed_msg, sequence, 12);
WIRE_AT(struct pfc_state_keyed_msg, key_id, 24);
WIRE_AT(struct pfc_state_keyed_msg, digest, 28);

#define PFC_STATE_BYTES_MAX sizeof(struct pfc_state_keyed_msg)

/* Contents of a message, in host byte order. */
struct pfc_state {
	bool keyed;		     /* it has a digest */
	uint8_t speaks_for, stopped; /* bit per priority: covered by the message; XOFF */
	uint64_t epoch;		     /* as in the message; 32 bits if not keyed */
	uint32_t sequence, slice;    /* as in the message */
	uint32_t key_id;	     /* if keyed */
	uint64_t lease_ns;	     /* time of validity in ns */
};

/*
 * Check and read a message of `size` bytes. Returns 0, or -EINVAL if it is too short, has another version or a flag,
 * lacks a necessary lease, or has a lease that is too long. The caller checks the digest.
 */
int pfc_state_read(const void *data, size_t size, struct pfc_state *out);

/* Write a message. Returns its bytes, at most PFC_STATE_BYTES_MAX. The digest is 0: the caller computes it. */
size_t pfc_state_write(void *out, const struct pfc_state *state);

struct pfc_state_sender {
	struct pfc_state state; /* set all members except stopped and sequence before use */
	uint8_t repeats;	/* repeats of the last change that are still to be sent */
	uint64_t quiet_until;	/* time in ns until which nothing is said: the state is not known yet */
	uint64_t send_at;	/* time in ns of the next message; TIME_NEVER: none */
};

/* Initialize a sender. speaks_for: bit per priority that its messages cover. lease_ns: validity of each message. */
void pfc_state_sender_init(struct pfc_state_sender *s, uint8_t speaks_for, uint64_t epoch, uint64_t lease_ns,
	uint32_t slice);

/*
 * The state is not known before `at` (ns), because the node has just started. It is said then, and nothing before it.
 */
void pfc_state_sender_start(struct pfc_state_sender *s, uint64_t at);

/* A receiver has started, and must hear the state: say it at `now` (ns), or as soon as it is known. */
void pfc_state_sender_greet(struct pfc_state_sender *s, uint64_t now);

/* Set the state: bit per stopped priority. True: send *out at once; two repeats follow. */
bool pfc_state_sender_set(struct pfc_state_sender *s, uint8_t stopped, uint64_t now, struct pfc_state *out);

/* Send what is due at `now` (ns). True: send *out. s->send_at is the time of the next call. */
bool pfc_state_sender_poll(struct pfc_state_sender *s, uint64_t now, struct pfc_state *out);

/* State of a receiver for one sender. All zero: no message received yet. */
struct pfc_state_receiver {
	uint64_t epoch[4];     /* recent epochs, [0] is the current one */
	uint8_t n_epochs;      /* epochs in use */
	uint32_t sequence;     /* sequence number of the last message accepted in the current epoch */
	uint64_t taken, stale; /* messages accepted; messages rejected as not new */
};

/*
 * Epochs of keyed messages grow with time, so that a message of an earlier start of the sender is never new. Of other
 * messages an epoch is new that is not among the last four.
 */

/* Would the message begin a new epoch? Its sender has just started, then, or has never been heard. */
bool pfc_state_receiver_is_new(const struct pfc_state_receiver *r, const struct pfc_state *state);

/* Accept a message if it is new. False: it is older, a duplicate, or of a previous epoch. */
bool pfc_state_receiver_take(struct pfc_state_receiver *r, const struct pfc_state *state);

#endif
