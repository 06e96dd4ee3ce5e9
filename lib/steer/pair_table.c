/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and keeps pairs of hosts (pair_table.h). Pure. */
#include "steer/pair_table.h"

/* The two buckets of a pair, as those of a flow (flow_table.h). */
static void buckets_of(uint64_t hash, uint32_t *bucket)
{
	uint32_t h = (uint32_t)hash * 0x9e3779b1u;

	bucket[0] = (uint32_t)((hash >> 32) * PAIR_BUCKETS >> 32);
	bucket[1] = (uint32_t)((uint64_t)(h ^ h >> 15) * PAIR_BUCKETS >> 32);
}

static bool is_at(const struct pair_table *t, uint32_t place, const struct steer_key *k)
{
	uint64_t a[STEER_KEY_WORDS], differs = 0;

	steer_words(k, a);
	for (unsigned int i = 0; i < STEER_KEY_WORDS; i++)
		differs |= a[i] ^ __atomic_load_n((const uint64_t *)&t->key[place] + i, __ATOMIC_RELAXED);
	return !differs;
}

uint32_t pair_find(const struct pair_table *t, const struct steer_key *k)
{
	uint64_t hash = steer_hash(k, &t->secret);
	uint32_t bucket[2];

	buckets_of(hash, bucket);
	for (unsigned int i = 0; i < 2; i++)
		for (uint32_t bits = flow_match(t->tag[bucket[i]], flow_tag(hash)); bits; bits &= bits - 1) {
			uint32_t place = bucket[i] * FLOW_WAYS + (uint32_t)__builtin_ctz(bits);

			__atomic_thread_fence(__ATOMIC_ACQUIRE); /* the key after its tag */
			if (is_at(t, place, k))
				return place;
		}
	return PAIR_NONE;
}

static uint32_t free_in(const struct pair_table *t, uint32_t bucket, uint64_t now)
{
	for (unsigned int i = 0; i < FLOW_WAYS; i++) {
		uint32_t place = bucket * FLOW_WAYS + i;

		if (!t->tag[bucket][i] && (!t->since[place] || now >= t->since[place] + PAIR_GRACE_NS))
			return place;
	}
	return PAIR_NONE;
}

uint32_t pair_insert(struct pair_table *t, const struct steer_key *k, uint64_t now)
{
	uint64_t hash = steer_hash(k, &t->secret), w[STEER_KEY_WORDS];
	uint32_t bucket[2], place;

	buckets_of(hash, bucket);
	if (t->n == PAIR_MAX)
		return PAIR_NONE;
	if (__builtin_popcount(flow_match(t->tag[bucket[1]], 0)) >
		__builtin_popcount(flow_match(t->tag[bucket[0]], 0))) {
		uint32_t first = bucket[0];

		bucket[0] = bucket[1];
		bucket[1] = first;
	}
	place = free_in(t, bucket[0], now);
	if (place == PAIR_NONE)
		place = free_in(t, bucket[1], now);
	if (place == PAIR_NONE)
		return PAIR_NONE;
	steer_words(k, w);
	for (unsigned int i = 0; i < STEER_KEY_WORDS; i++)
		__atomic_store_n((uint64_t *)&t->key[place] + i, w[i], __ATOMIC_RELAXED);
	t->since[place] = now;
	__atomic_store_n(&t->tag[place / FLOW_WAYS][place % FLOW_WAYS], flow_tag(hash), __ATOMIC_RELEASE);
	stat_level(t->n, t->n + 1);
	return place;
}

void pair_remove(struct pair_table *t, uint32_t place, uint64_t now)
{
	__atomic_store_n(&t->tag[place / FLOW_WAYS][place % FLOW_WAYS], 0, __ATOMIC_RELEASE);
	t->since[place] = now;
	stat_level(t->n, t->n - 1);
}

bool pair_read(const struct pair_table *t, uint32_t place, struct steer_key *out)
{
	uint64_t w[STEER_KEY_WORDS];

	if (!pair_is_used(t, place))
		return false;
	for (unsigned int i = 0; i < STEER_KEY_WORDS; i++)
		w[i] = __atomic_load_n((const uint64_t *)&t->key[place] + i, __ATOMIC_RELAXED);
	memcpy(out, w, sizeof(*out));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return pair_is_used(t, place);
}
