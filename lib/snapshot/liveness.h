/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which links, next hops and paths are alive. The snapshot says which ways exist and never changes; this table says
 * which of them work, and outlives snapshots. Indices are stable: ports, neighbour ids, path ids. A next hop is alive
 * if its link and the next hop itself are; a path is alive if it and one of its next hops are. So a failure is one
 * word, whatever hangs on it.
 *
 * One writer, the control lcore (service/nexthop); any lcore or thread may read. A word is a bit for each reason why
 * the object is not used; 0: alive. `epoch` is stored last, with release order: a reader that loads it with acquire
 * order sees all words that had changed by then.
 */
#ifndef SNAPSHOT_LIVENESS_H
#define SNAPSHOT_LIVENESS_H

#include "snapshot/snapshot.h"

/* name, word shown to users */
#define LIVENESS_CAUSES(X) \
	X(LINK, "link down") \
	X(STOPPED, "port stopped") \
	X(NEIGHBOR, "no answer to ND or ARP") \
	X(BFD, "BFD down") \
	X(ADMIN, "BFD administratively down there") \
	X(UNRESOLVED, "not resolved yet") \
	X(HELD, "hold-down") \
	X(DRAINED, "drained")

enum liveness_cause_bit {
#define X(name, word) LIVENESS_BIT_##name,
	LIVENESS_CAUSES(X)
#undef X
		LIVENESS_CAUSE_COUNT
};

/* One bit each. */
enum liveness_cause {
#define X(name, word) LIVENESS_##name = 1 << LIVENESS_BIT_##name,
	LIVENESS_CAUSES(X)
#undef X
};

/*
 * Reasons to prefer something else, though it may work: used when nothing else is alive. It has failed shortly before; it
 * has not answered yet; an operator wants it empty; or the neighbour has withdrawn BFD, perhaps because it is about to stop
 * (RFC 5882 section 3.2).
 */
#define LIVENESS_RESERVES (LIVENESS_HELD | LIVENESS_UNRESOLVED | LIVENESS_ADMIN | LIVENESS_DRAINED)

struct liveness {
	uint32_t epoch;			   /* incremented after each change */
	uint32_t dead_paths;		   /* paths whose own word is not 0 */
	uint64_t failed_ns;		   /* time in ns of the last failure */
	uint16_t dead_nexthops[MAX_PORTS]; /* next hops of a port whose own word is not 0 */
	uint8_t link[MAX_PORTS];	   /* by port */
	uint8_t nexthop[SNAP_NEIGH_MAX];   /* by neighbour id */
	uint8_t path[SNAP_PATH_MAX];	   /* by path id */
};

/* How good a way is. The order counts. */
enum liveness_grade {
	LIVENESS_IS_DEAD,
	LIVENESS_IS_HELD, /* not for sure: used when nothing else is alive */
	LIVENESS_IS_ALIVE,
};

static inline enum liveness_grade liveness_grade(unsigned int causes)
{
	if (likely(!causes))
		return LIVENESS_IS_ALIVE;
	return causes & ~LIVENESS_RESERVES ? LIVENESS_IS_DEAD : LIVENESS_IS_HELD;
}

/* Reasons why a next hop (TARGET_NEIGH or TARGET_LINK) is not used, as bits; 0: alive. */
static inline unsigned int liveness_of_nexthop(const struct snapshot *s, target_t t)
{
	uint32_t index = target_index(t);

	if (target_kind(t) == TARGET_NEIGH)
		return __atomic_load_n(&s->live->nexthop[index], __ATOMIC_RELAXED) |
		       __atomic_load_n(&s->live->link[s->neigh[index].port], __ATOMIC_RELAXED);
	return __atomic_load_n(&s->live->link[snap_interface_of(index)], __ATOMIC_RELAXED);
}

/* Reasons why a path itself is not used, apart from its next hops. */
static inline unsigned int liveness_of_path(const struct snapshot *s, uint32_t path)
{
	return __atomic_load_n(&s->live->path[path], __ATOMIC_RELAXED);
}

static inline uint32_t liveness_epoch(const struct snapshot *s)
{
	return __atomic_load_n(&s->live->epoch, __ATOMIC_ACQUIRE);
}

/* The best grade of the next hops of a way: a next hop, or an ECMP group. */
static inline enum liveness_grade liveness_of_way(const struct snapshot *s, target_t t)
{
	enum liveness_grade best = LIVENESS_IS_DEAD;
	const struct snap_group *g;

	if (!t)
		return LIVENESS_IS_DEAD;
	if (target_kind(t) != TARGET_GROUP)
		return liveness_grade(liveness_of_nexthop(s, t));
	g = &s->group[target_index(t)];
	for (unsigned int i = 0; i < g->n && best < LIVENESS_IS_ALIVE; i++)
		best = MAX_OF(best, liveness_grade(liveness_of_nexthop(s, g->member[i])));
	return best;
}

#endif
