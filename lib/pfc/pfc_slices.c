/* SPDX-License-Identifier: BSD-3-Clause */
/* Which slices of a full buffer stop (docs/queues.md, docs/protocol.md 5.7). Pure; the owner of the buffer calls. */
#include "pfc/pfc_slices.h"

#include "base/compiler.h"

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static bool has(const uint64_t *bits, unsigned int i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void put(uint64_t *bits, unsigned int i, bool on)
{
	uint64_t bit = 1ull << i % 64, word = on ? bits[i / 64] | bit : bits[i / 64] & ~bit;

	__atomic_store_n(&bits[i / 64], word, __ATOMIC_RELAXED);
}

/* What a slice takes from the others: no more than it held when it stopped. */
static struct pfc_threshold counts(const struct pfc_slices *s, const struct pfc_threshold *level, unsigned int i)
{
	if (!has(s->stopped, i))
		return level[i];
	return (struct pfc_threshold){MIN_OF(level[i].bytes, s->then[i].bytes),
		MIN_OF(level[i].buffers, s->then[i].buffers)};
}

static struct pfc_threshold sum_of(const struct pfc_slices *s, const struct pfc_threshold *level, unsigned int n,
	const struct pfc_threshold *rest)
{
	struct pfc_threshold sum = *rest;

	for (unsigned int i = 0; i < n; i++) {
		struct pfc_threshold x = counts(s, level, i);

		sum.bytes += x.bytes;
		sum.buffers += x.buffers;
	}
	return sum;
}

/* XOFF of the class less what the others hold, but no less than the floor. */
static struct pfc_threshold limit_of(const struct pfc_buffer_config *c, const struct pfc_threshold *sum,
	const struct pfc_threshold *own)
{
	return (struct pfc_threshold){MAX_OF(c->floor.bytes, less(c->xoff.bytes, sum->bytes - own->bytes)),
		MAX_OF(c->floor.buffers, less(c->xoff.buffers, sum->buffers - own->buffers))};
}

/* A slice resumes as far below its limit as XON of the class is below XOFF, or at half of a limit smaller than that. */
static uint64_t resume_at(uint64_t limit, uint64_t xoff, uint64_t xon)
{
	return MAX_OF(less(limit, xoff - xon), limit < xoff ? limit / 2 : 0);
}

static bool look_at_slice(struct pfc_slices *s, const struct pfc_buffer_config *c, const struct pfc_threshold *level,
	const struct pfc_threshold *limit, unsigned int i)
{
	bool was = has(s->stopped, i), is = was, was_full = has(s->full, i), full;

	if (level->bytes >= limit->bytes || level->buffers >= limit->buffers)
		is = true;
	else if (level->bytes <= resume_at(limit->bytes, c->xoff.bytes, c->xon.bytes) &&
		 level->buffers <= resume_at(limit->buffers, c->xoff.buffers, c->xon.buffers))
		is = false;
	full = is &&
	       (level->bytes >= limit->bytes + c->choice.bytes || level->buffers >= limit->buffers + c->choice.buffers);
	if (is && !was)
		s->then[i] = *level;
	if (is != was)
		put(s->stopped, i, is);
	if (full != was_full)
		put(s->full, i, full);
	return is != was || full != was_full;
}

/* Slices from number n on are gone. */
static bool forget_from(struct pfc_slices *s, unsigned int n)
{
	bool changed = false;

	for (unsigned int word = 0; word < PFC_SLICES_WORDS; word++) {
		uint64_t left = n >= 64 * (word + 1) ? UINT64_MAX : n > 64 * word ? (1ull << n % 64) - 1 : 0;

		changed |= (s->stopped[word] & ~left) != 0;
		__atomic_store_n(&s->stopped[word], s->stopped[word] & left, __ATOMIC_RELAXED);
		__atomic_store_n(&s->full[word], s->full[word] & left, __ATOMIC_RELAXED);
	}
	return changed;
}

void pfc_slices_forget(struct pfc_slices *s)
{
	if (!pfc_slices_any(s))
		return;
	forget_from(s, 0);
	__atomic_store_n(&s->all, false, __ATOMIC_RELAXED);
}

bool pfc_slices_look(struct pfc_slices *s, const struct pfc_buffer_config *c, const struct pfc_threshold *level,
	unsigned int n, const struct pfc_threshold *rest)
{
	struct pfc_threshold sum = sum_of(s, level, n, rest), own, limit;
	bool changed = false, all = s->all;

	if (rest->bytes >= c->xoff.bytes || rest->buffers >= c->xoff.buffers)
		all = true;
	else if (rest->bytes <= c->xon.bytes && rest->buffers <= c->xon.buffers)
		all = false;
	changed = all != s->all;
	__atomic_store_n(&s->all, all, __ATOMIC_RELAXED);
	changed |= forget_from(s, n);
	for (unsigned int i = 0; i < n; i++) {
		if (!level[i].buffers && !has(s->stopped, i))
			continue;
		own = counts(s, level, i);
		limit = limit_of(c, &sum, &own);
		changed |= look_at_slice(s, c, &level[i], &limit, i);
	}
	return changed;
}
