/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses which contributors of a full buffer are paused first (docs/protocol.md 5.7). Pure; control lcore. */
#include "pfc/pfc_fanout.h"

static uint64_t everybody(unsigned int n)
{
	return n >= 64 ? UINT64_MAX : (1ull << n) - 1;
}

/* The contributor with the highest rate that is not in `paused`; -1: none left with a rate above 0. */
static int largest(const uint64_t *rate, unsigned int n, uint64_t paused)
{
	int best = -1;

	for (unsigned int i = 0; i < n; i++)
		if (!(paused & 1ull << i) && rate[i] && (best < 0 || rate[i] > rate[best]))
			best = (int)i;
	return best;
}

/* Pause contributors, largest share first, until the rest send no more than drains; at least `least` more of them. */
static uint64_t pick(uint64_t paused, const uint64_t *rate, unsigned int n, uint64_t drain, unsigned int least)
{
	uint64_t rest = 0;
	int next;

	for (unsigned int i = 0; i < n; i++)
		if (!(paused & 1ull << i))
			rest += rate[i];
	while ((least || rest > drain) && (next = largest(rate, n, paused)) >= 0) {
		paused |= 1ull << next;
		rest -= rate[next];
		least -= least > 0;
	}
	return paused;
}

uint64_t pfc_fanout_decide(struct pfc_fanout *f, enum pfc_level level, const uint64_t *rate, unsigned int n,
	uint64_t drain, uint64_t buffered, uint64_t now)
{
	uint64_t before = f->paused;

	n = MIN_OF(n, PFC_CONTRIBUTORS_MAX);
	switch (level) {
	case PFC_LEVEL_LOW:
		f->paused = 0;
		break;
	case PFC_LEVEL_FINE:
		break;
	case PFC_LEVEL_HIGH:
		if (!before)
			f->paused = pick(0, rate, n, drain, 1);
		else if (now >= f->decided_at + f->loop_ns && buffered > f->bytes_then)
			f->paused = pick(before, rate, n, drain, 1);
		/* no contributor is known to send, yet the buffer fills */
		if (!f->paused)
			f->paused = everybody(n);
		break;
	case PFC_LEVEL_FULL:
		f->paused = everybody(n);
		break;
	}
	/* a decision takes effect after one loop only; decide again then, even if no contributor was added */
	if (f->paused & ~before || (level == PFC_LEVEL_HIGH && now >= f->decided_at + f->loop_ns)) {
		f->decided_at = now;
		f->bytes_then = buffered;
	}
	return f->paused;
}
