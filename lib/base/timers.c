/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchical timing wheel (timers.h). The lcore or thread that owns the wheel. */
#include "base/timers.h"

_Static_assert(TIMERS_SLOTS == 64, "a word has a bit per slot");
_Static_assert(TIMERS_LEVELS *TIMERS_SLOTS < UINT16_MAX, "timer.slot counts them from 1");

/* Slot of a time that is not before the wheel's position. */
static unsigned int timers_slot_of(const struct timers *t, uint64_t at)
{
	uint64_t differs = at ^ t->position;
	unsigned int level = differs ? (unsigned int)(63 - __builtin_clzll(differs)) / TIMERS_BITS : 0;

	return level * TIMERS_SLOTS + (unsigned int)(at >> level * TIMERS_BITS) % TIMERS_SLOTS;
}

/* Does the time fall into the slot whose timers are being moved? That slot contains the position on its level. */
static bool timers_is_moving(const struct timers *t, uint64_t at)
{
	unsigned int shift;

	if (!t->moving)
		return false;
	shift = (t->moving - 1u) / TIMERS_SLOTS * TIMERS_BITS;
	return at >> shift == t->position >> shift;
}

static void timers_link(struct timers *t, struct timer *x, unsigned int i)
{
	struct timers_slot *s = &t->slot[i];
	unsigned int level = i / TIMERS_SLOTS;

	x->slot = (uint16_t)(i + 1);
	x->next = NULL;
	x->prev = s->last;
	if (s->last) {
		s->last->next = x;
		if (x->at <= s->earliest) {
			s->earliest = x->at;
			s->stale = false;
		}
	} else {
		s->first = x;
		s->earliest = x->at;
		s->stale = false;
		t->levels = (uint16_t)(t->levels | 1u << level);
		t->used[level] |= 1ull << i % TIMERS_SLOTS;
	}
	s->last = x;
}

static void timers_unlink(struct timers *t, struct timer *x)
{
	unsigned int i = x->slot - 1u, level = i / TIMERS_SLOTS;
	struct timers_slot *s = &t->slot[i];

	*(x->prev ? &x->prev->next : &s->first) = x->next;
	*(x->next ? &x->next->prev : &s->last) = x->prev;
	x->slot = 0;
	if (s->first) {
		s->stale |= x->at == s->earliest;
		return;
	}
	t->used[level] &= ~(1ull << i % TIMERS_SLOTS);
	if (!t->used[level])
		t->levels = (uint16_t)(t->levels & ~(1u << level));
	if (t->moving == i + 1)
		t->moving = 0;
}

void timers_set(struct timers *t, struct timer *x, uint64_t at)
{
	if (at == TIME_NEVER) {
		timers_cancel(t, x);
		return;
	}
	at = MAX_OF(at, t->position);
	if (timer_is_set(x)) {
		if (x->at == at)
			return;
		timers_unlink(t, x);
	}
	x->at = at;
	/* after the timers of the same time that have not been moved yet */
	timers_link(t, x, timers_is_moving(t, at) ? t->moving - 1u : timers_slot_of(t, at));
}

void timers_cancel(struct timers *t, struct timer *x)
{
	if (timer_is_set(x))
		timers_unlink(t, x);
}

/* The slot whose timers expire first. The wheel is not empty, and no timers are being moved. */
static unsigned int timers_first(const struct timers *t)
{
	unsigned int level = (unsigned int)__builtin_ctz(t->levels);

	return level * TIMERS_SLOTS + (unsigned int)__builtin_ctzll(t->used[level]);
}

struct timer *timers_pop(struct timers *t, uint64_t now, unsigned int *budget)
{
	while (*budget) {
		struct timers_slot *s;
		struct timer *x;
		unsigned int i;

		if (t->moving) {
			x = t->slot[t->moving - 1].first;
			timers_unlink(t, x);
			timers_link(t, x, timers_slot_of(t, x->at));
		} else {
			if (!t->levels)
				return NULL;
			i = timers_first(t);
			s = &t->slot[i];
			if (s->earliest > now)
				return NULL;
			t->position = s->earliest;
			if (i >= TIMERS_SLOTS) {
				t->moving = (uint16_t)(i + 1);
				continue;
			}
			x = s->first;
			timers_unlink(t, x);
		}
		t->visited++;
		--*budget;
		if (!timer_is_set(x))
			return x;
	}
	return NULL;
}

/*
 * Find the time at which a slot's first timer expires. With too many timers to scan, the known lower bound is good
 * enough.
 */
static void timers_scan(struct timers *t, struct timers_slot *s)
{
	uint64_t earliest = TIME_NEVER;
	unsigned int n = 0;

	s->stale = false;
	for (const struct timer *x = s->first; x; x = x->next) {
		if (n++ == TIMERS_SCAN)
			return;
		t->visited++;
		earliest = MIN_OF(earliest, x->at);
	}
	s->earliest = earliest;
}

uint64_t timers_next(struct timers *t)
{
	struct timers_slot *s;

	if (t->moving)
		return t->position;
	if (!t->levels)
		return TIME_NEVER;
	s = &t->slot[timers_first(t)];
	if (s->stale)
		timers_scan(t, s);
	return s->earliest;
}
