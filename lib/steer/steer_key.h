/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a flow is found by: its VRF, and its 5-tuple or, of RoCEv2, its addresses and destination queue pair. The hash is
 * keyed, so that nobody who sends packets can choose flows that share a place in a table. Pure.
 */
#ifndef STEER_STEER_KEY_H
#define STEER_STEER_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/ipv6.h"

#define STEER_FAMILY 0x0f /* in kind: 4 or 6 */
#define STEER_PAIR 0x10	  /* in kind: `ports` is a queue pair */

struct steer_key {
	struct ipv6_addr src, dst; /* an IPv4 address is in the first four bytes, the rest is 0 */
	/*
	 * UDP and TCP: both ports as they are in the header, source port first; a tunnel: the flow label; with STEER_PAIR the
	 * destination queue pair; else 0. Fragments of IPv4 have no ports.
	 */
	uint32_t ports;
	uint16_t vrf; /* id */
	uint8_t proto;
	uint8_t kind;
};
_Static_assert(sizeof(struct steer_key) == 40, "five words");

#define STEER_KEY_WORDS 5

struct steer_secret {
	uint64_t a, b;
};

__extension__ typedef unsigned __int128 steer_wide;

static inline uint64_t steer_fold(uint64_t a, uint64_t b)
{
	steer_wide product = (steer_wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A key as words, to be compared and hashed. */
static inline void steer_words(const struct steer_key *k, uint64_t *w)
{
	memcpy(w, k, sizeof(*k));
}

static inline uint64_t steer_hash(const struct steer_key *k, const struct steer_secret *s)
{
	uint64_t w[STEER_KEY_WORDS];

	steer_words(k, w);
	return steer_fold(steer_fold(w[0] ^ s->a, w[1] ^ s->b) ^ w[4] ^ s->b,
		steer_fold(w[2] ^ s->b, w[3] ^ s->a) ^ 0x9e3779b97f4a7c15ull);
}

static inline bool steer_same(const struct steer_key *a, const struct steer_key *b)
{
	uint64_t x[STEER_KEY_WORDS], y[STEER_KEY_WORDS];

	steer_words(a, x);
	steer_words(b, y);
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4]));
}

#define STEER_NAME 64	  /* bytes of a name, NUL included */
#define STEER_TEXT 256	  /* bytes of a flow as text, NUL included */
#define STEER_UNDERLAY "" /* name of the VRF of the underlay's table */

/*
 * steer_text.c: a flow as text: "vrf=blue,src=10.0.0.1,dst=10.0.1.1,sport=49152,dport=4791", "src=...,dst=...,qp=0x11".
 * proto is udp unless given; dport is 4791 unless given; without vrf the flow is one of the underlay's table. The VRF's
 * name goes to `vrf` (STEER_NAME bytes), key.vrf is 0. 0, or -EINVAL with a message: a flow that is not whole is refused.
 */
int steer_key_parse(const char *text, struct steer_key *out, char *vrf, char *err, size_t size);

/* The text of a flow; `vrf` is the name of its VRF. Returns buf, of STEER_TEXT bytes. */
const char *steer_key_format(const struct steer_key *k, const char *vrf, char *buf);

/*
 * A filter of flows, as text "key=value,...": keys of a flow, of which any may be missing, and policy and path. Fields
 * that were not given match everything.
 */
struct steer_filter {
	struct steer_key key;
	bool has_src, has_dst, has_proto, has_sport, has_dport, has_qp, has_vrf;
	char vrf[STEER_NAME], policy[STEER_NAME], path[STEER_NAME];
};

int steer_filter_parse(const char *text, struct steer_filter *out, char *err, size_t size);
bool steer_filter_matches(const struct steer_filter *f, const struct steer_key *k, const char *vrf, const char *policy,
	const char *path);

static inline uint16_t steer_sport(const struct steer_key *k)
{
	const uint8_t *b = (const uint8_t *)&k->ports;

	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint16_t steer_dport(const struct steer_key *k)
{
	const uint8_t *b = (const uint8_t *)&k->ports;

	return (uint16_t)(b[2] << 8 | b[3]);
}

#endif
