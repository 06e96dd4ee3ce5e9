/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds flows to a table, ages them and counts what they send (flow_table.h). Rx lcores. */
#include "steer/flow_table.h"

#include "wire/roce.h"

#define EVICT_TICKS (1000000000u >> FLOW_TICK_SHIFT) /* a flow that has sent within this time keeps its place */

/* Times wrap: a flow is as old as the difference. */
static uint32_t age_of(const struct flow *f, uint32_t now)
{
	return now - f->seen;
}

static void count_in_class(struct flow_table *t, uint32_t path, uint8_t class, int by)
{
	struct flow_class *c = flow_class(t, path, class);

	stat_level(c->flows, c->flows + (uint32_t)by);
}

static void leave(struct flow_table *t, struct flow *f)
{
	if (t->move)
		count_in_class(t, f->path, t->move[f - t->flow].class, -1);
	stat_level(t->in_share[f->share], t->in_share[f->share] - 1);
	stat_level(t->on_path[f->path], t->on_path[f->path] - 1);
	stat_sub(&t->count.flows, 1);
}

static void set_tag(struct flow_table *t, uint32_t bucket, unsigned int way, uint32_t tag)
{
	__atomic_store_n(&t->tag[bucket][way], tag, __ATOMIC_RELEASE);
}

static void free_place(struct flow_table *t, uint32_t bucket, unsigned int way)
{
	leave(t, &t->flow[bucket * FLOW_WAYS + way]);
	set_tag(t, bucket, way, 0);
}

/* A candidate for the place of a new flow. */
struct place {
	uint32_t bucket;
	unsigned int way;
	bool found;
};

static unsigned int used_in(const struct flow_table *t, uint32_t bucket)
{
	return FLOW_WAYS - (unsigned int)__builtin_popcount(flow_match(t->tag[bucket], 0));
}

static struct place free_in(const struct flow_table *t, uint32_t bucket)
{
	uint32_t bits = flow_match(t->tag[bucket], 0);

	return (struct place){.bucket = bucket,
		.way = bits ? (unsigned int)__builtin_ctz(bits) : 0,
		.found = bits != 0};
}

/* The flow that has been silent for longest among those that may go, in a bucket. */
static void oldest_in(const struct flow_table *t, uint32_t bucket, uint32_t now, uint32_t least, const uint16_t *share,
	struct place *best, uint32_t *age)
{
	for (unsigned int way = 0; way < FLOW_WAYS; way++) {
		const struct flow *f = &t->flow[bucket * FLOW_WAYS + way];

		if (!t->tag[bucket][way] || age_of(f, now) < least || age_of(f, now) < *age)
			continue;
		if (share && (f->share != *share || f->bucket != FLOW_BY_HASH))
			continue;
		*best = (struct place){.bucket = bucket, .way = way, .found = true};
		*age = age_of(f, now);
	}
}

static struct place oldest(const struct flow_table *t, const uint32_t *bucket, uint32_t now, uint32_t least,
	const uint16_t *share)
{
	struct place best = {0};
	uint32_t age = 0;

	for (unsigned int i = 0; i < 2; i++)
		oldest_in(t, bucket[i], now, least, share, &best, &age);
	return best;
}

/*
 * Both buckets of a new flow are full: one of the flows there goes to its own other bucket, if that has room (Pagh and
 * Rodler's cuckoo hashing, one step).
 */
static struct place make_room(struct flow_table *t, uint32_t bucket)
{
	for (unsigned int way = 0; way < FLOW_WAYS; way++) {
		uint32_t from = bucket * FLOW_WAYS + way, at;
		uint64_t hash = steer_hash(&t->flow[from].key, &t->secret);
		uint32_t first = flow_bucket(t, hash);
		struct place p = free_in(t, first == bucket ? flow_other(t, hash) : first);

		if (!p.found)
			continue;
		at = p.bucket * FLOW_WAYS + p.way;
		t->flow[at] = t->flow[from];
		if (t->roce)
			t->roce[at] = t->roce[from];
		if (t->move)
			t->move[at] = t->move[from];
		set_tag(t, p.bucket, p.way, flow_tag(hash));
		set_tag(t, bucket, way, 0);
		return (struct place){.bucket = bucket, .way = way, .found = true};
	}
	return (struct place){0};
}

static struct place choose(struct flow_table *t, uint64_t hash, uint16_t share, bool used_up, uint32_t now)
{
	uint32_t bucket[2] = {flow_bucket(t, hash), flow_other(t, hash)};
	struct place p = {0};

	if (!used_up) {
		p = free_in(t, used_in(t, bucket[0]) <= used_in(t, bucket[1]) ? bucket[0] : bucket[1]);
		if (p.found)
			return p;
		p = oldest(t, bucket, now, t->idle, NULL);
		if (p.found) {
			free_place(t, p.bucket, p.way);
			stat_add(&t->count.expired, 1);
			return p;
		}
		p = make_room(t, bucket[0]);
		if (!p.found)
			p = make_room(t, bucket[1]);
		if (p.found)
			return p;
	}
	p = oldest(t, bucket, now, MIN_OF(EVICT_TICKS, t->idle), &share);
	if (p.found) {
		free_place(t, p.bucket, p.way);
		stat_add(&t->count.evicted, 1);
	}
	return p;
}

/* Readers of other threads see the tag last. */
static void write_key(struct flow *f, const struct steer_key *k)
{
	uint64_t w[STEER_KEY_WORDS];

	steer_words(k, w);
	for (unsigned int i = 0; i < STEER_KEY_WORDS; i++)
		__atomic_store_n((uint64_t *)f + i, w[i], __ATOMIC_RELAXED);
}

struct flow *flow_insert(struct flow_table *t, const struct steer_key *k, uint64_t hash, uint16_t share, uint32_t most,
	uint32_t now)
{
	bool used_up = t->in_share[share] >= most;
	struct place p = choose(t, hash, share, used_up, now);
	struct flow *f;

	if (!p.found) {
		stat_add(used_up ? &t->count.full : &t->count.crowded, 1);
		return NULL;
	}
	f = &t->flow[p.bucket * FLOW_WAYS + p.way];
	write_key(f, k);
	f->share = share;
	f->path = 0;
	f->bucket = FLOW_BY_HASH;
	f->packets_high = 0;
	f->seen = now;
	f->packets = 0;
	f->bytes = 0;
	if (t->roce)
		t->roce[p.bucket * FLOW_WAYS + p.way] = (struct flow_roce){0};
	if (t->move) {
		t->move[p.bucket * FLOW_WAYS + p.way] = (struct flow_move){.at = STEER_NO_PATH};
		count_in_class(t, 0, 0, 1);
	}
	stat_level(t->in_share[share], t->in_share[share] + 1);
	stat_level(t->on_path[0], t->on_path[0] + 1);
	stat_add(&t->count.flows, 1);
	stat_add(&t->count.inserted, 1);
	set_tag(t, p.bucket, p.way, flow_tag(hash));
	return f;
}

void flow_pass(struct flow_table *t, uint32_t now)
{
	uint32_t bucket = t->hand;

	t->hand = bucket + 1 < t->n_buckets ? bucket + 1 : 0;
	for (unsigned int way = 0; way < FLOW_WAYS; way++) {
		if (!t->tag[bucket][way] || likely(age_of(&t->flow[bucket * FLOW_WAYS + way], now) < t->idle))
			continue;
		free_place(t, bucket, way);
		stat_add(&t->count.expired, 1);
	}
}

void flow_change_share(struct flow_table *t, struct flow *f, uint16_t share)
{
	stat_level(t->in_share[f->share], t->in_share[f->share] - 1);
	f->share = share;
	stat_level(t->in_share[share], t->in_share[share] + 1);
}

void flow_change_class(struct flow_table *t, struct flow *f, uint8_t class)
{
	struct flow_move *m = &t->move[f - t->flow];

	count_in_class(t, f->path, m->class, -1);
	stat_level(m->class, class);
	count_in_class(t, f->path, class, 1);
}

void flow_change_path(struct flow_table *t, struct flow *f, uint16_t path)
{
	if (t->move) {
		count_in_class(t, f->path, t->move[f - t->flow].class, -1);
		count_in_class(t, path, t->move[f - t->flow].class, 1);
	}
	stat_level(t->on_path[f->path], t->on_path[f->path] - 1);
	stat_level(f->path, path);
	stat_level(t->on_path[path], t->on_path[path] + 1);
}

unsigned int flow_count_psn(struct flow_roce *r, uint32_t qp, uint32_t psn)
{
	uint32_t ahead = (psn - r->next) & ROCE_PSN_MASK;
	unsigned int news = FLOW_PSN_NEXT;

	if (unlikely(!(r->next & FLOW_ROCE_SEEN) || r->qp != qp)) {
		stat_level(r->qp, qp);
	} else if (likely(!ahead)) {
		/* the next one */
	} else if (ahead < (ROCE_PSN_MASK + 1) / 2) {
		stat_level(r->gaps, r->gaps + ahead);
		news = ahead << 1 | 1;
	} else {
		stat_level(r->duplicates, r->duplicates + 1);
		return FLOW_PSN_AGAIN;
	}
	r->next = ((psn + 1) & ROCE_PSN_MASK) | FLOW_ROCE_SEEN;
	return news;
}
