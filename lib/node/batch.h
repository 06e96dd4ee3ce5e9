/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many packets the roles of an lcore take from a queue at a time. A pass must be short against the time in which a
 * receive ring of a port with lossless classes fills (snapshot.pass_ns), however many cycles a packet costs. The cost
 * is not known, so the size follows from the duration of the passes under load. Pure; only the lcore touches it.
 */
#ifndef NODE_BATCH_H
#define NODE_BATCH_H

#include "base/compiler.h"
#include "base/limits.h"

#define BATCH_STEPS 7 /* sizes: 1, 2, 4 ... LIMIT_BURST */
_Static_assert(1 << (BATCH_STEPS - 1) == LIMIT_BURST, "the largest size is a whole burst");

struct batch {
	uint8_t step;		       /* log2 of the size */
	bool pressed;		       /* set by a role that found more packets than it took */
	uint64_t took_ns[BATCH_STEPS]; /* duration of the last pass under load, by step; 0: not known */
};

static inline uint16_t batch_size(const struct batch *b)
{
	return (uint16_t)(1u << b->step);
}

/*
 * limited: there are lossless classes. The lcore begins with few packets then, because whether it is slow shows only
 * when frames wait, and then it is too late for a long pass.
 */
static inline void batch_init(struct batch *b, bool limited)
{
	*b = (struct batch){.step = limited ? 2 : BATCH_STEPS - 1};
}

/*
 * A pass under load with the current size took `ns`; it should take `limit_ns` at most (0: any time). A pass that is
 * too long is halved, unless what it takes does not depend on the number of packets: a smaller size would then only
 * make the lcore slower. The same holds for doubling a short one.
 */
static inline void batch_passed(struct batch *b, uint64_t ns, uint64_t limit_ns)
{
	bool larger = b->step + 1 < BATCH_STEPS;

	if (!limit_ns) {
		b->step = BATCH_STEPS - 1;
		return;
	}
	b->took_ns[b->step] = ns;
	if (ns <= limit_ns / 2)
		b->step += larger;
	else if (ns <= limit_ns)
		return;
	else if (b->step && b->took_ns[b->step - 1] * 3 < ns * 2)
		b->step--;
	else if (larger && b->took_ns[b->step + 1] * 2 < ns * 3)
		b->step++;
}

#endif
