/* SPDX-License-Identifier: BSD-3-Clause */
/* INTEGRITY objects (RFC 2747; docs/credit.md 1.9). Control lcore. */
#include "rsvp/rsvp_integrity.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "base/compiler.h"

#define WINDOW_WORDS (RSVP_WINDOW_MAX / 64)
#define DIGEST_AT (sizeof(struct rsvp_hdr) + sizeof(struct rsvp_obj) + sizeof(struct rsvp_integrity_hdr))

/* A sender under one of the keys. The bit of a number is set when it was received, or is too old to be accepted. */
struct sender {
	uint64_t key_id;
	struct ip_addr addr;
	uint32_t next; /* in the bucket, counted from 1 */
	bool synchronized;
	uint64_t cookie;	/* of the challenge under way; 0: none */
	uint64_t challenged_ns; /* next challenge not before */
	uint64_t greatest;
	uint64_t seen[WINDOW_WORDS];
};

struct rsvp_auth {
	struct rsvp_key key[RSVP_KEYS_MAX];
	unsigned int keys;
	uint64_t clock_s;
	uint32_t window, window_used;
	uint64_t sequence; /* last number sent */
	struct hmac_secret cookies;
	uint64_t cookies_made;
	uint32_t senders, senders_max, buckets;
	uint32_t *bucket; /* index into sender[], counted from 1 */
	struct sender *sender;
};

struct rsvp_auth *rsvp_auth_new(unsigned int senders, unsigned int window, const uint8_t seed[16], uint64_t unix_s)
{
	struct rsvp_auth *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->window = MIN_OF(MAX_OF(window, 1u), RSVP_WINDOW_MAX);
	a->sequence = unix_s << 32; /* greater than before a restart, unless 2^32 messages a second were sent */
	a->senders_max = MAX_OF(senders, 1u);
	for (a->buckets = 1; a->buckets < a->senders_max;)
		a->buckets *= 2;
	a->bucket = calloc(a->buckets, sizeof(*a->bucket));
	a->sender = calloc(a->senders_max, sizeof(*a->sender));
	hmac_secret_prepare(&a->cookies, HMAC_SHA256, seed, 16);
	if (!a->bucket || !a->sender) {
		rsvp_auth_free(a);
		return NULL;
	}
	return a;
}

void rsvp_auth_free(struct rsvp_auth *a)
{
	if (!a)
		return;
	free(a->bucket);
	free(a->sender);
	OPENSSL_cleanse(a, sizeof(*a));
	free(a);
}

void rsvp_auth_set_keys(struct rsvp_auth *a, const struct rsvp_key *keys, unsigned int n, uint64_t clock_s)
{
	a->clock_s = clock_s;
	a->keys = MIN_OF(n, RSVP_KEYS_MAX);
	memset(a->key, 0, sizeof(a->key));
	if (a->keys)
		memcpy(a->key, keys, a->keys * sizeof(*keys));
}

static bool is_valid(const struct rsvp_key *k, uint64_t unix_s)
{
	return k->from_s <= unix_s && unix_s < k->until_s;
}

static const struct rsvp_key *key_by_id(const struct rsvp_auth *a, uint64_t id)
{
	for (unsigned int i = 0; i < a->keys; i++)
		if (a->key[i].id == id)
			return &a->key[i];
	return NULL;
}

/* As is_valid, by a clock that may differ from this node's. */
static bool is_accepted(const struct rsvp_auth *a, const struct rsvp_key *k, uint64_t unix_s)
{
	return k->from_s <= unix_s + a->clock_s && (unix_s < a->clock_s || unix_s - a->clock_s < k->until_s);
}

/* The key that started last; of two, the one that is listed later. */
static const struct rsvp_key *key_to_sign(const struct rsvp_auth *a, uint64_t unix_s)
{
	const struct rsvp_key *newest = NULL;

	for (unsigned int i = 0; i < a->keys; i++)
		if (is_valid(&a->key[i], unix_s) && (!newest || a->key[i].from_s >= newest->from_s))
			newest = &a->key[i];
	return newest;
}

static void place(struct rsvp_auth *a, const struct rsvp_key *k, struct rsvp_message *m)
{
	m->integrity = (struct rsvp_integrity){.handshake = true,
		.digest_bytes = (uint8_t)hmac_digest_bytes(&k->secret),
		.key_id = k->id,
		.sequence = ++a->sequence};
	m->count[RSVP_O_INTEGRITY] = 1;
}

bool rsvp_auth_prepare(struct rsvp_auth *a, uint64_t unix_s, struct rsvp_message *m)
{
	const struct rsvp_key *k = key_to_sign(a, unix_s);

	if (!k)
		return !a->keys;
	place(a, k, m);
	return true;
}

/* The digest of a message in which INTEGRITY comes first, with checksum and digest taken as 0. */
static size_t digest_of(const struct rsvp_key *k, const uint8_t *message, size_t bytes, uint8_t out[HMAC_BYTES])
{
	static const uint8_t zero[HMAC_BYTES];
	struct rsvp_hdr header;
	size_t digest = hmac_digest_bytes(&k->secret);
	struct hmac_chunk chunk[] = {{&header, sizeof(header)}, {message + sizeof(header), DIGEST_AT - sizeof(header)},
		{zero, digest}, {message + DIGEST_AT + digest, bytes - DIGEST_AT - digest}};

	memcpy(&header, message, sizeof(header));
	header.checksum = be16(0);
	return hmac_of_chunks(&k->secret, chunk, ARRAY_LEN(chunk), out);
}

void rsvp_auth_sign(const struct rsvp_auth *a, void *message, size_t bytes)
{
	const struct rsvp_integrity_hdr *h = (const struct rsvp_integrity_hdr *)((uint8_t *)message +
										 sizeof(struct rsvp_hdr) +
										 sizeof(struct rsvp_obj));
	const struct rsvp_key *k;
	uint64_t id = 0;
	uint8_t digest[HMAC_BYTES];
	size_t n;

	for (unsigned int i = 0; i < sizeof(h->key_id); i++)
		id = id << 8 | h->key_id[i];
	k = key_by_id(a, id);
	if (!k)
		return;
	n = digest_of(k, message, bytes, digest);
	memcpy((uint8_t *)message + DIGEST_AT, digest, n);
	rsvp_checksum(message, bytes);
}

static bool is_signed(const struct rsvp_key *k, const struct rsvp_received *r)
{
	uint8_t digest[HMAC_BYTES];
	size_t n;

	if (r->m->integrity.digest_bytes != hmac_digest_bytes(&k->secret))
		return false;
	n = digest_of(k, r->data, r->m->bytes, digest);
	return hmac_equal(digest, r->m->integrity.digest, n);
}

static uint32_t *bucket_of(const struct rsvp_auth *a, uint64_t key_id, const struct ip_addr *addr)
{
	uint64_t h = key_id * 0x9e3779b97f4a7c15ull ^ addr->family;

	for (unsigned int i = 0; i < sizeof(addr->b); i++)
		h = (h ^ addr->b[i]) * 0x100000001b3ull;
	return &a->bucket[(h ^ h >> 32) & (a->buckets - 1)];
}

static struct sender *sender_of(struct rsvp_auth *a, uint64_t key_id, const struct ip_addr *addr)
{
	for (uint32_t i = *bucket_of(a, key_id, addr); i; i = a->sender[i - 1].next)
		if (a->sender[i - 1].key_id == key_id && ip_addr_equal(&a->sender[i - 1].addr, addr))
			return &a->sender[i - 1];
	return NULL;
}

/* A sender that has proved that it has the key. A place whose key is gone is used again. */
static struct sender *sender_add(struct rsvp_auth *a, uint64_t key_id, const struct ip_addr *addr)
{
	uint32_t i = a->senders, *at;

	if (i == a->senders_max) {
		for (i = 0; i < a->senders_max && key_by_id(a, a->sender[i].key_id);)
			i++;
		if (i == a->senders_max)
			return NULL;
		for (at = bucket_of(a, a->sender[i].key_id, &a->sender[i].addr); *at != i + 1;)
			at = &a->sender[*at - 1].next;
		*at = a->sender[i].next;
	} else {
		a->senders++;
	}
	at = bucket_of(a, key_id, addr);
	a->sender[i] = (struct sender){.key_id = key_id, .addr = *addr, .next = *at};
	*at = i + 1;
	return &a->sender[i];
}

static void bit_set(struct sender *s, uint64_t number)
{
	s->seen[number % RSVP_WINDOW_MAX / 64] |= 1ull << number % 64;
}

static bool bit_is_set(const struct sender *s, uint64_t number)
{
	return s->seen[number % RSVP_WINDOW_MAX / 64] >> number % 64 & 1;
}

/* Move the maximum up. The numbers in between were not received. */
static void window_advance(struct sender *s, uint64_t number)
{
	uint64_t steps = number - s->greatest;

	if (steps >= RSVP_WINDOW_MAX)
		memset(s->seen, 0, sizeof(s->seen));
	else
		for (uint64_t n = s->greatest + 1; n != number; n++)
			s->seen[n % RSVP_WINDOW_MAX / 64] &= ~(1ull << n % 64);
	s->greatest = number;
	bit_set(s, number);
}

/* Start at a number: every smaller one counts as received. */
static void window_start(struct sender *s, uint64_t number)
{
	s->synchronized = true;
	s->cookie = 0;
	s->greatest = number;
	memset(s->seen, 0xff, sizeof(s->seen));
}

static bool is_ahead(const struct sender *s, uint64_t number)
{
	return (int64_t)(number - s->greatest) > 0;
}

static enum rsvp_refusal window_check(const struct rsvp_auth *a, const struct sender *s, uint64_t number)
{
	if (is_ahead(s, number))
		return RSVP_ACCEPTED;
	if (s->greatest - number >= a->window)
		return RSVP_REFUSED_integrity_window;
	return bit_is_set(s, number) ? RSVP_REFUSED_integrity_replayed : RSVP_ACCEPTED;
}

static void window_take(struct rsvp_auth *a, struct sender *s, uint64_t number)
{
	if (is_ahead(s, number)) {
		window_advance(s, number);
		return;
	}
	bit_set(s, number);
	a->window_used = MAX_OF(a->window_used, (uint32_t)(s->greatest - number));
}

/* A cookie that nobody can guess (section 4.3): the HMAC of a counter. */
static uint64_t cookie_new(struct rsvp_auth *a)
{
	struct hmac_chunk chunk = {&a->cookies_made, sizeof(a->cookies_made)};
	uint8_t out[HMAC_BYTES];
	uint64_t cookie;

	a->cookies_made++;
	hmac_of_chunks(&a->cookies, &chunk, 1, out);
	memcpy(&cookie, out, sizeof(cookie));
	return cookie ? cookie : 1;
}

static void challenge_sender(struct rsvp_auth *a, uint64_t now, struct sender *s, struct rsvp_challenge *challenge)
{
	if (now < s->challenged_ns)
		return;
	if (!s->cookie)
		s->cookie = cookie_new(a);
	s->challenged_ns = now + RSVP_CHALLENGE_NS;
	*challenge = (struct rsvp_challenge){.key_id = s->key_id, .cookie = s->cookie};
}

/* The system that signed: the RSVP_HOP or, in messages without one, the source. */
static const struct ip_addr *system_of(const struct rsvp_received *r)
{
	return r->m->count[RSVP_O_HOP] ? &r->m->hop.addr : &r->source;
}

static enum rsvp_refusal check_response(const struct rsvp_key *k, struct sender *s, const struct rsvp_received *r)
{
	const struct rsvp_message *m = r->m;

	if (!s || !s->cookie || m->challenge.cookie != s->cookie || m->challenge.key_id != s->key_id ||
		m->integrity.key_id != s->key_id)
		return RSVP_REFUSED_integrity_cookie;
	if (!is_signed(k, r))
		return RSVP_REFUSED_integrity_digest;
	if (s->synchronized && is_ahead(s, m->integrity.sequence))
		window_advance(s, m->integrity.sequence);
	else
		window_start(s, m->integrity.sequence);
	s->cookie = 0;
	return RSVP_ACCEPTED;
}

/* The first message of a sender. One that does not answer challenges starts its window by itself. */
static enum rsvp_refusal check_first(struct rsvp_auth *a, uint64_t now, struct sender *s, const struct rsvp_message *m,
	struct rsvp_challenge *challenge)
{
	if (!m->integrity.handshake) {
		window_start(s, m->integrity.sequence);
		return RSVP_ACCEPTED;
	}
	challenge_sender(a, now, s, challenge);
	return RSVP_REFUSED_integrity_handshake;
}

enum rsvp_refusal rsvp_auth_check(struct rsvp_auth *a, uint64_t now, uint64_t unix_s, const struct rsvp_received *r,
	struct rsvp_challenge *challenge)
{
	const struct rsvp_message *m = r->m;
	enum rsvp_refusal refusal = RSVP_ACCEPTED;
	const struct rsvp_key *k;
	struct sender *s;

	*challenge = (struct rsvp_challenge){0};
	if (!a->keys || m->kind == RSVP_CHALLENGE)
		return RSVP_ACCEPTED;
	if (!m->count[RSVP_O_INTEGRITY])
		return RSVP_REFUSED_integrity_missing;
	k = key_by_id(a, m->integrity.key_id);
	if (!k || !is_accepted(a, k, unix_s))
		return RSVP_REFUSED_integrity_key;
	s = sender_of(a, k->id, system_of(r));
	if (m->kind == RSVP_RESPONSE)
		return check_response(k, s, r);
	if (s && s->synchronized)
		refusal = window_check(a, s, m->integrity.sequence);
	if (refusal == RSVP_REFUSED_integrity_replayed)
		return refusal;
	if (!is_signed(k, r))
		return RSVP_REFUSED_integrity_digest;
	if (!s)
		s = sender_add(a, k->id, system_of(r));
	if (!s)
		return RSVP_REFUSED_integrity_senders;
	if (!s->synchronized)
		return check_first(a, now, s, m, challenge);
	if (!refusal)
		window_take(a, s, m->integrity.sequence);
	else if (m->integrity.handshake) /* it may have restarted with a clock that is behind */
		challenge_sender(a, now, s, challenge);
	return refusal;
}

enum rsvp_refusal rsvp_auth_answer(struct rsvp_auth *a, uint64_t unix_s, const struct rsvp_message *challenge,
	struct rsvp_message *out)
{
	const struct rsvp_key *k = key_by_id(a, challenge->challenge.key_id);

	if (!k || !is_accepted(a, k, unix_s))
		return RSVP_REFUSED_integrity_key;
	rsvp_clear(out, RSVP_RESPONSE);
	place(a, k, out);
	out->challenge = challenge->challenge;
	out->count[RSVP_O_CHALLENGE] = 1;
	return RSVP_ACCEPTED;
}

uint32_t rsvp_auth_window_used(const struct rsvp_auth *a)
{
	return a->window_used;
}

unsigned int rsvp_auth_senders(const struct rsvp_auth *a)
{
	return a->senders;
}
