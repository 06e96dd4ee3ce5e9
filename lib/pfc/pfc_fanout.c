/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses which contributors of a full buffer are paused first (docs/protocol.md 5.7). Pure; control lcore. */
#include "pfc/pfc_fanout.h"

#define LOOKS_A_LOOP 8 /* at the buffer, once a decision has taken effect */

/* The contributor of `free` with the highest rate; -1: none is left with a rate above 0. */
static int largest(const uint64_t *rate, uint64_t free)
{
	int best = -1;

	FOR_EACH_BIT64(i, free)
	if (rate[i] && (best < 0 || rate[i] > rate[best]))
		best = (int)i;
	return best;
}

/* Pause contributors, largest share first, until the rest send no more than drains; at least `least` more of them. */
static uint64_t pick(uint64_t paused, const uint64_t *rate, uint64_t members, uint64_t drain, unsigned int least)
{
	uint64_t rest = 0;
	int next;

	FOR_EACH_BIT64(i, members & ~paused)
	rest += rate[i];
	while ((least || rest > drain) && (next = largest(rate, members & ~paused)) >= 0) {
		paused |= 1ull << next;
		rest -= rate[next];
		least -= least > 0;
	}
	return paused;
}

/*
 * Does the buffer fill although the last decision has taken effect? For one loop after it, what was under way still
 * arrives; only growth after that tells that others fill the buffer as well.
 */
static bool still_fills(struct pfc_fanout *f, uint64_t buffered, uint64_t now)
{
	if (now < f->decided_at + f->loop_ns)
		return false;
	f->least = f->settled ? MIN_OF(f->least, buffered) : buffered;
	f->settled = true;
	return buffered >= f->least + PFC_FANOUT_GROWTH;
}

uint64_t pfc_fanout_decide(struct pfc_fanout *f, enum pfc_level level, const uint64_t *rate, uint64_t members,
	uint64_t drain, uint64_t buffered, uint64_t now)
{
	uint64_t before = f->paused;

	switch (level) {
	case PFC_LEVEL_LOW:
		f->paused = 0;
		break;
	case PFC_LEVEL_FINE:
		break;
	case PFC_LEVEL_HIGH:
		if (!before)
			f->paused = pick(0, rate, members, drain, 1);
		else if (still_fills(f, buffered, now))
			f->paused = pick(before, rate, members, drain, 1);
		/* no contributor is known to send, yet the buffer fills */
		if (!f->paused)
			f->paused = members;
		break;
	case PFC_LEVEL_FULL:
		f->paused = members;
		break;
	}
	if (f->paused & ~before) {
		f->decided_at = now;
		f->settled = false;
	}
	return f->paused;
}

uint64_t pfc_fanout_next(const struct pfc_fanout *f, uint64_t now)
{
	return f->settled ? now + f->loop_ns / LOOKS_A_LOOP : f->decided_at + f->loop_ns;
}
