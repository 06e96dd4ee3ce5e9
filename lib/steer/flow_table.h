/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of flows: what one rx role knows of the flows it has seen. A flow may be in one of two buckets of 16 places; the
 * tags of a bucket fill one cache line, and the entry of a flow another one. The sum of the shares of all policies fits: a
 * policy never takes more places than its own share, so its flows crowd out only each other.
 *
 * One writer, the rx role. Any thread may read entries with flow_table_read. Pure.
 */
#ifndef STEER_FLOW_TABLE_H
#define STEER_FLOW_TABLE_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/compiler.h"
#include "stats/stats.h"
#include "steer/placements.h"
#include "steer/steer_key.h"

#define FLOW_WAYS 16
#define FLOW_BY_HASH 0xff  /* flow.bucket: no placement */
#define FLOW_PATHS 65536   /* size of tables by path id */
#define FLOW_TICK_SHIFT 10 /* flow.seen counts units of 1,024 ns */

struct flow {
	struct steer_key key;
	uint16_t stamp; /* of the placements and the snapshot by which `bucket` was chosen */
	uint16_t share; /* whose place it takes: id of the first path of its policy */
	uint16_t path;	/* id of the path of its last packet */
	uint8_t bucket; /* of the policy that it is placed in; FLOW_BY_HASH: none */
	uint8_t packets_high;
	uint32_t seen;	  /* time of the last packet, in ticks; wraps after 73 minutes */
	uint32_t packets; /* low bits */
	uint64_t bytes;	  /* of the inner IP packets */
};
_Static_assert(sizeof(struct flow) == 64, "a flow is one cache line");

/* What RoCEv2 tells of a flow, of policies that ask for it. Numbers of packets, modulo 2^32. */
struct flow_roce {
	uint32_t next;	     /* PSN(24) that is expected; above: a packet of the flow was seen */
	uint32_t qp;	     /* of the last data packet */
	uint32_t gaps;	     /* PSNs that were left out */
	uint32_t duplicates; /* packets with a PSN that was seen before */
};
#define FLOW_ROCE_SEEN 0x80000000u

/* What feedback knows of a flow, of policies that ask for it. */
struct flow_move {
	uint32_t moved;	 /* time of the last move, in ticks */
	uint32_t placed; /* serial of its placement when `at` was chosen; 0: it had none */
	uint32_t at;	 /* path id that it was moved to; STEER_NO_PATH: it was not */
	uint16_t moves;	 /* since it got its place; UINT16_MAX: that or more */
	uint8_t class;	 /* of its last packet */
	bool pinned;	 /* by an operator: it does not move */
};
_Static_assert(sizeof(struct flow_move) == 16, "four fit a cache line");

/* The flows of a class on a path. */
struct flow_class {
	uint64_t bytes;	     /* of their inner packets, since start */
	uint64_t left, came; /* flows that feedback moved, since start */
	uint32_t flows;
	uint32_t leaving; /* flows are to leave: how is the caller's; 0: none are. Written by the control lcore */
};
_Static_assert(sizeof(struct flow_class) == 32, "what a packet touches is in one cache line");
#define FLOW_CLASSES 8

/* What a table keeps besides. */
#define FLOW_WITH_ROCE 1u
#define FLOW_WITH_MOVES 2u

#define FLOW_COUNTERS(X) \
	X(gauge, flows, "flows", "flows", "sluice_flows", "flows in the flow tables") \
	X(counter, inserted, "inserted", "flows", "sluice_flows_inserted", "flows that got a place in a flow table") \
	X(counter, expired, "expired", "flows", "sluice_flows_expired", \
		"flows whose place was freed because they were idle") \
	X(counter, evicted, "evicted", "flows", "sluice_flows_evicted", \
		"flows that another one of the same policy replaced, because the policy's share was used up") \
	X(counter, full, "full", "packets", "sluice_flow_table_full_packets", \
		"packets sent by hash because the share of their policy in the flow table was used up") \
	X(counter, crowded, "crowded", "packets", "sluice_flow_table_crowded_packets", \
		"packets sent by hash because both buckets of their flow were full") \
	X(counter, placed, "placed", "packets", "sluice_placed_packets", \
		"packets sent on the path that their flow is placed on") \
	X(counter, moved, "moved", "flows", "sluice_flows_moved", \
		"flows that feedback moved to another path, at a point that keeps their order") \
	X(counter, rescued, "rescued", "flows", "sluice_flows_rescued", \
		"flows that feedback moved at once, because their path had failed") \
	X(counter, not_safe, "not_safe", "packets", "sluice_flow_move_waits_packets", \
		"packets of flows whose turn to move it was, but that would have overtaken packets before them")

struct flow_counters {
	FLOW_COUNTERS(STAT_DECLARE)
};

struct flow_table {
	uint32_t n_buckets;
	uint32_t hand; /* bucket that is looked at next for idle flows */
	uint32_t idle; /* ticks without a packet after which a flow loses its place */
	struct steer_secret secret;
	uint32_t (*tag)[FLOW_WAYS];  /* by bucket; 0: free. Release by the writer */
	struct flow *flow;	     /* by bucket and place */
	struct flow_roce *roce;	     /* likewise; NULL: no policy asks for it */
	struct flow_move *move;	     /* likewise */
	struct flow_class *by_class; /* by path id * FLOW_CLASSES + class; NULL as `move` */
	uint32_t *on_path;	     /* flows by path id */
	uint32_t *in_share;	     /* flows by share */
	struct flow_counters count;
	uint64_t psn[2]; /* of all flows so far: duplicates, gaps */
	void *memory;	 /* owns all of the above */
};

/* Bytes of a table for so many flows. */
uint64_t flow_table_memory(uint64_t flows, unsigned int with);

/* Make a table for `flows`; with: FLOW_WITH_... NULL: out of memory. flow_table_free: t may be NULL. Management thread. */
struct flow_table *flow_table_new(uint64_t flows, unsigned int with, const struct steer_secret *secret,
	uint64_t idle_ns);
void flow_table_free(struct flow_table *t);

/* Copy the flow at place i of the table, and what else is kept of it. False: there is none. Any thread. */
struct flow_seen {
	struct flow flow;
	struct flow_roce roce;
	struct flow_move move;
};
bool flow_table_read(const struct flow_table *t, uint32_t i, struct flow_seen *out);

static inline uint32_t flow_table_places(const struct flow_table *t)
{
	return t->n_buckets * FLOW_WAYS;
}

static inline uint32_t flow_ticks(uint64_t now)
{
	return (uint32_t)(now >> FLOW_TICK_SHIFT);
}

static inline uint64_t flow_packets(const struct flow *f)
{
	return (uint64_t)f->packets_high << 32 | f->packets;
}

static inline uint32_t flow_tag(uint64_t hash)
{
	return (uint32_t)hash | 1;
}

static inline uint32_t flow_bucket(const struct flow_table *t, uint64_t hash)
{
	return (uint32_t)((hash >> 32) * t->n_buckets >> 32);
}

/* The other bucket of a flow. */
static inline uint32_t flow_other(const struct flow_table *t, uint64_t hash)
{
	uint32_t h = (uint32_t)hash * 0x9e3779b1u;

	return (uint32_t)((uint64_t)(h ^ h >> 15) * t->n_buckets >> 32);
}

/* Bit per place of a bucket with that tag. */
static inline uint32_t flow_match(const uint32_t *tag, uint32_t want)
{
#ifdef __SSE2__
	const __m128i *four = (const __m128i *)(const void *)tag, w = _mm_set1_epi32((int)want);
	__m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(four[0], w), _mm_cmpeq_epi32(four[1], w));
	__m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(four[2], w), _mm_cmpeq_epi32(four[3], w));

	_Static_assert(FLOW_WAYS == 16, "a byte of the mask for each place");
	return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#else
	uint32_t bits = 0;

	for (unsigned int i = 0; i < FLOW_WAYS; i++)
		bits |= (uint32_t)(tag[i] == want) << i;
	return bits;
#endif
}

static inline struct flow *flow_in(const struct flow_table *t, uint32_t bucket, const struct steer_key *k, uint32_t tag)
{
	for (uint32_t bits = flow_match(t->tag[bucket], tag); bits; bits &= bits - 1) {
		struct flow *f = &t->flow[bucket * FLOW_WAYS + (uint32_t)__builtin_ctz(bits)];

		if (likely(steer_same(&f->key, k)))
			return f;
	}
	return NULL;
}

/* The flow of a key, or NULL. */
static inline struct flow *flow_find(const struct flow_table *t, const struct steer_key *k, uint64_t hash)
{
	struct flow *f = flow_in(t, flow_bucket(t, hash), k, flow_tag(hash));

	return likely(f) ? f : flow_in(t, flow_other(t, hash), k, flow_tag(hash));
}

/*
 * flow_table_dp.c. A place for a new flow of a share with at most `most` flows: a free one, that of an idle flow, or that of
 * another flow of the share, which is not placed and has been silent for a second. NULL: none, counted. The caller fills
 * stamp, path and bucket; on_path is the caller's.
 */
struct flow *flow_insert(struct flow_table *t, const struct steer_key *k, uint64_t hash, uint16_t share, uint32_t most,
	uint32_t now);

/* Free the places of idle flows in the next bucket. */
void flow_pass(struct flow_table *t, uint32_t now);

/* The flow takes a place of another share from now on: its policy has another first path. */
void flow_change_share(struct flow_table *t, struct flow *f, uint16_t share);

/* The path of a flow has changed. */
void flow_change_path(struct flow_table *t, struct flow *f, uint16_t path);

/* Its class has changed. Tables with moves. */
void flow_change_class(struct flow_table *t, struct flow *f, uint8_t class);

static inline struct flow_class *flow_class(const struct flow_table *t, uint32_t path, unsigned int class)
{
	return &t->by_class[path * FLOW_CLASSES + class];
}

/*
 * Count a data packet with a PSN of queue pair `qp`. Returns FLOW_PSN_NEXT, or a number: bit 0 is the counter of
 * flow_table.psn, the rest is what to add to it.
 */
#define FLOW_PSN_NEXT 0u
#define FLOW_PSN_AGAIN 2u
unsigned int flow_count_psn(struct flow_roce *r, uint32_t qp, uint32_t psn);

#endif
