/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The leased state message of `regenerate` (docs/protocol.md 5.6): instead of PFC frames a PE sends which priorities are to stop
 * and for how long that holds. Idempotent: it survives loss, duplicates and reordering. No draft defines it; it is spoken
 * between two sluice nodes only.
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
#define PFC_STATE_LEASE_MAX_NS (100 * NSEC_PER_MSEC) /* well below the watchdog of a DC switch */
#define PFC_STATE_REPEATS 2
#define PFC_STATE_REPEAT_NS NSEC_PER_MSEC

struct pfc_state_msg {
	uint8_t version;
	uint8_t flags;	    /* 0 */
	uint8_t speaks_for; /* bit per priority */
	uint8_t stopped;    /* bit per priority: XOFF; the whole state, never a change */
	be32_t epoch;	    /* random at every start of the sender */
	be32_t sequence;
	be32_t lease; /* us */
	be32_t slice; /* 0: that of the tunnel */
};
WIRE_SIZE(struct pfc_state_msg, 20);
WIRE_AT(struct pfc_state_msg, epoch, 4);
WIRE_AT(struct pfc_state_msg, sequence, 8);
WIRE_AT(struct pfc_state_msg, lease, 12);
WIRE_AT(struct pfc_state_msg, slice, 16);

/* What a message says. */
struct pfc_state {
	uint8_t speaks_for, stopped;
	uint32_t epoch, sequence, slice;
	uint64_t lease_ns;
};

/* 0, or -EINVAL: too short, another version, a flag, no lease where one is needed, or one that is too long. */
int pfc_state_read(const void *data, size_t size, struct pfc_state *out);
void pfc_state_write(struct pfc_state_msg *out, const struct pfc_state *state);

struct pfc_state_sender {
	struct pfc_state state; /* set all but stopped and sequence before use */
	uint8_t repeats;	/* still to send after the last change */
	uint64_t send_at;	/* TIME_NEVER: nothing is due */
};

void pfc_state_sender_init(struct pfc_state_sender *s, uint8_t speaks_for, uint32_t epoch, uint64_t lease_ns,
	uint32_t slice);

/* The state is this now. True: *out is to be sent at once; two repeats follow. */
bool pfc_state_sender_set(struct pfc_state_sender *s, uint8_t stopped, uint64_t now, struct pfc_state *out);

/* True: *out is to be sent. s->send_at says when to call again. */
bool pfc_state_sender_poll(struct pfc_state_sender *s, uint64_t now, struct pfc_state *out);

/* What a receiver knows of one sender. All zero: nothing. */
struct pfc_state_receiver {
	uint32_t epoch[4]; /* the last ones, [0] the current one */
	uint8_t n_epochs;
	uint32_t sequence; /* of the current epoch, the last one taken */
	uint64_t taken, stale;
};

/* Is the message news? Older ones, duplicates and ones of an epoch that is over are not. */
bool pfc_state_receiver_take(struct pfc_state_receiver *r, const struct pfc_state *state);

#endif
