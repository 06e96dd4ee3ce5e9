/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which paths of a policy flows leave, for which others, and when (D40, docs/protocol.md 6.3). One control for each policy
 * and class: it is told what is known of each path, keeps a score, and decides at intervals how many flows go from where to
 * where. It knows neither packets nor flows; whoever forwards them chooses which flows go, by path_control_turn, and when
 * that keeps their order. Pure; times are ns.
 *
 *   score     how bad a path is: a weighted mean of what samples say (EWMA). A sample that comes dt after the one before
 *             has the weight dt / (dt + PATH_CONTROL_MEMORY * interval). The unit is the caller's
 *   dead      its flows leave at once, without regard to anything else
 *   barred    no flow may come, because credit is used up or a pause lasts: it is left as if its score were the worst
 *   better    by `margin` percent, and at least by half of `floor`
 *   hold      a path that flows have come to or left takes no part for `hold_ns`, until its score shows their effect; twice as
 *             long each time that flows go the other way than before, so that what does not settle by itself slows down
 *   share     percent of all flows that move in an interval, and of the flows of a path that leave it, at most; one flow always
 *             may
 *   full      the load that a path had when flows left it: for PATH_CONTROL_FULL intervals no flow comes that would make it as
 *             much again; for twice as long each time that it happens again soon after
 *
 * Flows leave a path only while its delay does not fall: a queue that drains is a move that has worked. They go to the path
 * with the least load of those that are not congested; if there is none, one flow goes to a path that is better.
 *
 *   jitter    intervals are longer or shorter by up to that many percent, at random: controls that see the same congestion
 *             do not act in step
 */
#ifndef STEER_PATH_CONTROL_H
#define STEER_PATH_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#define PATH_CONTROL_PATHS 64
#define PATH_CONTROL_MOVES 64 /* of a decision */
#define PATH_CONTROL_MEMORY 0.25
#define PATH_CONTROL_HOLDS 64 /* the longest hold, in multiples of hold_ns */
#define PATH_CONTROL_FULL 16  /* intervals for which the load with which a path was congested is remembered at first */
#define PATH_CONTROL_FULLS 64 /* and at most, in multiples of that */

struct path_control_rules {
	uint64_t interval_ns; /* above 0 */
	uint64_t hold_ns;
	uint64_t floor;			/* a path with a lower score is not congested */
	uint32_t margin, share, jitter; /* percent; jitter: 0 to 90 */
};

/* What is known of a path since the sample before. */
struct path_sample {
	uint64_t cost;	/* in the unit of the score; 0: as good as it can be */
	uint32_t flows; /* on the path now */
	uint64_t load;	/* of these flows, in any unit that is the same for all paths, such as bytes */
	bool dead, barred;
	bool closed; /* no flow may come now, but none need leave */
};

enum path_reason { PATH_REASON_NONE, PATH_REASON_CONGESTED, PATH_REASON_BARRED, PATH_REASON_DEAD };

struct path_score {
	struct path_sample last;
	uint64_t score;			     /* ns */
	uint64_t sampled;		     /* time of the last sample; 0: none */
	uint64_t changed;		     /* time at which flows last came or left; 0: never */
	uint64_t hold;			     /* ns from then on; 0: none */
	bool left;			     /* they left */
	uint64_t full;			     /* load with which it was congested; 0: never */
	uint64_t full_at, full_for;	     /* when it was, and for how long from then on it counts, ns */
	uint64_t reason_score, reason_other; /* of this path and of the other one at that time */
	uint32_t reason_path;		     /* the other one */
	uint8_t reason;			     /* enum path_reason */
};

struct path_control {
	struct path_control_rules rules;
	uint32_t n;
	uint32_t round; /* decisions so far */
	uint64_t next;	/* time of the next decision */
	uint64_t random;
	bool none_left; /* flows are on dead paths and cannot leave: all paths are dead */
	struct path_score path[PATH_CONTROL_PATHS];
};

/* So many flows go from a path to another one. */
struct path_move {
	uint32_t from, to, flows;
	uint8_t reason; /* enum path_reason; DEAD: without waiting for anything */
};

/* n: paths, at most PATH_CONTROL_PATHS. seed: controls that share paths have different ones. */
void path_control_init(struct path_control *c, const struct path_control_rules *rules, uint32_t n, uint64_t seed,
	uint64_t now);

/* Take what is known of path i into account. */
void path_control_sample(struct path_control *c, uint32_t i, const struct path_sample *s, uint64_t now);

/*
 * Decide, if it is time, or if a path with flows is dead. Returns the number of moves in out (PATH_CONTROL_MOVES), each with at
 * least one flow, no two for the same pair of paths. In path_score.last the flows have moved already.
 */
unsigned int path_control_decide(struct path_control *c, uint64_t now, struct path_move *out);

/*
 * Of the flows of a path, who moves first: a number for a flow in a round, lowest first. It is random, by the hash of the
 * flow, below UINT32_MAX / 2 for a flow that has moved within the last `recent` ns, above it for all others: who has stayed for
 * longest stays for longest.
 */
static inline uint32_t path_control_turn(uint32_t hash, uint32_t round, uint64_t since_moved_ns, uint64_t recent_ns)
{
	uint64_t x = ((uint64_t)hash << 32 | round) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
	return (uint32_t)(x >> 33) | (since_moved_ns < recent_ns ? 0 : 1u << 31);
}

#endif
