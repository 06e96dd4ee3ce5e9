/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of pairs of hosts between which RoCEv2 goes: sender and receiver of data, in a VRF. What receivers send back (ACK,
 * NAK, CNP) names the sender's queue pair but not the flow, so it is counted for the pair (docs/protocol.md 6.2). A pair may be
 * in one of two buckets, as a flow in a flow table.
 *
 * One writer, the control lcore; rx lcores look pairs up. A place that becomes free is not used again for PAIR_GRACE_NS, so
 * that nobody who is counting at it counts for another pair. Pure.
 */
#ifndef STEER_PAIR_TABLE_H
#define STEER_PAIR_TABLE_H

#include "steer/flow_table.h"

#define PAIR_MAX 4096
#define PAIR_BUCKETS (PAIR_MAX * 9 / 8 / FLOW_WAYS)
#define PAIR_PLACES (PAIR_BUCKETS * FLOW_WAYS)
#define PAIR_NONE UINT32_MAX
#define PAIR_GRACE_NS 10000000

struct pair_table {
	uint32_t tag[PAIR_BUCKETS]
		    [FLOW_WAYS]; /* 0: free. Release by the writer. First, because flow_match wants 16 bytes aligned */
	struct steer_secret secret;
	uint32_t n;
	struct steer_key key[PAIR_PLACES];
	uint64_t since[PAIR_PLACES]; /* ns: it came, or its place became free; the writer's */
};

/* The pair of a flow, or, `back`, of a packet that answers one. */
static inline struct steer_key pair_key(const struct steer_key *flow, bool back)
{
	return (struct steer_key){.src = back ? flow->dst : flow->src,
		.dst = back ? flow->src : flow->dst,
		.vrf = flow->vrf,
		.proto = IP_PROTO_UDP,
		.kind = flow->kind & STEER_FAMILY};
}

/* The place of a pair, or PAIR_NONE. Any lcore. */
uint32_t pair_find(const struct pair_table *t, const struct steer_key *k);

/* A place for a pair that has none. PAIR_NONE: there is no room. The writer. */
uint32_t pair_insert(struct pair_table *t, const struct steer_key *k, uint64_t now);
void pair_remove(struct pair_table *t, uint32_t place, uint64_t now);

static inline bool pair_is_used(const struct pair_table *t, uint32_t place)
{
	return __atomic_load_n(&t->tag[place / FLOW_WAYS][place % FLOW_WAYS], __ATOMIC_ACQUIRE) != 0;
}

/* Copy the pair at a place. False: there is none. Any thread. */
bool pair_read(const struct pair_table *t, uint32_t place, struct steer_key *out);

#endif
