/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Authentication of RSVP messages by INTEGRITY objects (RFC 2747; docs/credit.md 1.9): keys with times of validity, one
 * sequence of numbers for all that this node sends, a replay window for each (key, sender), and the handshake by which a
 * window starts.
 *
 * Times: `now` is the caller's clock (ns), `unix_s` the time of day (s), because keys and the first sequence number
 * depend on it. Pure; control lcore only. One table per node. All memory is allocated when the table is made.
 */
#ifndef RSVP_RSVP_INTEGRITY_H
#define RSVP_RSVP_INTEGRITY_H

#include "hmac/hmac.h"
#include "rsvp/rsvp_message.h"

#define RSVP_KEYS_MAX 16
#define RSVP_WINDOW_MAX 8192	       /* sequence numbers (D58) */
#define RSVP_CHALLENGE_NS 500000000ull /* a sender is challenged at most that often */

struct rsvp_key {
	uint64_t id;		  /* 48 bits */
	uint64_t from_s, until_s; /* UNIX times; signs at from_s <= t < until_s */
	struct hmac_secret secret;
};

struct rsvp_auth;

/*
 * `senders`: (key, sender) pairs that can be remembered; each takes about 1.1 KB. `window`: 1 (strict order) to
 * RSVP_WINDOW_MAX. `seed`: unpredictable, because cookies follow from it. NULL when out of memory.
 */
struct rsvp_auth *rsvp_auth_new(unsigned int senders, unsigned int window, const uint8_t seed[16], uint64_t unix_s);
void rsvp_auth_free(struct rsvp_auth *a);

/*
 * Replace the keys, at most RSVP_KEYS_MAX; none: nothing is signed, and INTEGRITY is not looked at. Windows stay.
 * `clock_s`: by how much the clocks of two nodes may differ. A key is accepted that much earlier and later than it signs,
 * because a sender whose clock is ahead changes to it, or one whose clock is behind leaves it.
 */
void rsvp_auth_set_keys(struct rsvp_auth *a, const struct rsvp_key *keys, unsigned int n, uint64_t clock_s);

/*
 * Give a message its INTEGRITY object: newest key that has started, next sequence number. Returns false when no key is
 * valid at this time; the message must not be sent then. Without keys it does nothing and returns true.
 */
bool rsvp_auth_prepare(struct rsvp_auth *a, uint64_t unix_s, struct rsvp_message *m);

/* Compute digest and checksum of the message as it was written. */
void rsvp_auth_sign(const struct rsvp_auth *a, void *message, size_t bytes);

/* A message that was read, and its bytes. */
struct rsvp_received {
	const struct rsvp_message *m;
	const void *data;
	struct ip_addr source; /* of the IP header */
};

/*
 * Verify a message, and take note of its sequence number. After integrity_handshake and integrity_window, *challenge may
 * say with which cookie the sender must be challenged now (key_id and cookie not 0); else it is all 0.
 */
enum rsvp_refusal rsvp_auth_check(struct rsvp_auth *a, uint64_t now, uint64_t unix_s, const struct rsvp_received *r,
	struct rsvp_challenge *challenge);

/* Make the answer to a Challenge: `out` is a Response, to be written and signed. */
enum rsvp_refusal rsvp_auth_answer(struct rsvp_auth *a, uint64_t unix_s, const struct rsvp_message *challenge,
	struct rsvp_message *out);

/* The window that the messages really needed, for `show`: largest distance of an accepted number below the maximum. */
uint32_t rsvp_auth_window_used(const struct rsvp_auth *a);
unsigned int rsvp_auth_senders(const struct rsvp_auth *a);

#endif
