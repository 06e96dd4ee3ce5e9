/* SPDX-License-Identifier: BSD-3-Clause */
/* Tracks of the report (lab_track.h). Pure apart from memory; every other file of the lab may call this one. */
#include "lab/lab_track.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/compiler.h"

const char *track_name(enum track_kind kind)
{
	static const char *const names[] = {
#define X(name, text, help) text,
		TRACK_KINDS(X)
#undef X
	};

	return names[kind];
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The largest gap that is to be closed so that `most` intervals are left; *equal: how many gaps of that length are. */
static uint64_t widest_gap(const struct track *t, uint32_t most, uint32_t *equal)
{
	uint64_t gap[TRACK_INTERVALS];
	uint32_t n = t->n - 1, close = t->n - most;

	for (uint32_t i = 0; i < n; i++)
		gap[i] = t->interval[i + 1].from - t->interval[i].to;
	qsort(gap, n, sizeof(gap[0]), by_length);
	*equal = 0;
	for (uint32_t i = 0; i < close; i++)
		*equal += gap[i] == gap[close - 1];
	return gap[close - 1];
}

void track_join(struct track *t, uint32_t most)
{
	uint32_t equal, kept = 0;
	uint64_t widest;

	if (t->n <= most)
		return;
	widest = widest_gap(t, most, &equal);
	for (uint32_t i = 1; i < t->n; i++) {
		struct track_interval *last = &t->interval[kept];
		const struct track_interval *next = &t->interval[i];
		uint64_t gap = next->from - last->to;

		if (gap < widest || (gap == widest && equal)) {
			equal -= gap == widest;
			last->to = next->to;
			last->on_ns += next->on_ns;
			last->n += next->n;
		} else {
			t->interval[++kept] = *next;
		}
	}
	t->n = kept + 1;
}

static struct track *find(struct tracks *t, const struct track_id *id)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct track *k = &t->item[i];

		if (k->kind == id->kind && k->port == id->port && k->slice == id->slice && k->class == id->class)
			return k;
	}
	return NULL;
}

static struct track *add(struct tracks *t, const struct track_id *id)
{
	if (t->n == TRACKS_MAX)
		return NULL;
	if (t->n == t->room) {
		struct track *more = realloc(t->item, (t->room * 2 + 4) * sizeof(*more));

		if (!more)
			return NULL;
		t->item = more;
		t->room = t->room * 2 + 4;
	}
	t->item[t->n] = (struct track){.kind = id->kind, .port = id->port, .slice = id->slice, .class = id->class};
	return &t->item[t->n++];
}

/* Room for one more interval. */
static bool has_room(struct track *k)
{
	struct track_interval *more;

	if (k->n < k->room)
		return true;
	if (k->room == TRACK_INTERVALS) {
		track_join(k, TRACK_INTERVALS / 2);
		return true;
	}
	more = realloc(k->interval, (k->room * 2 + 8) * sizeof(*more));
	if (!more)
		return false;
	k->interval = more;
	k->room = MIN_OF(k->room * 2 + 8, (uint32_t)TRACK_INTERVALS);
	return true;
}

/* Move the end of an interval whose last part begins at or before `now`. */
static void move_end(struct track_interval *last, uint64_t until)
{
	if (until >= last->to)
		last->on_ns += until - last->to;
	else
		last->on_ns -= MIN_OF(last->to - until, last->on_ns);
	last->to = until;
}

void track_set(struct tracks *t, const struct track_id *id, uint64_t now, uint64_t until)
{
	struct track *k = find(t, id);
	struct track_interval *last = k && k->n ? &k->interval[k->n - 1] : NULL;

	if (last && last->to >= now) {
		move_end(last, MAX_OF(until, now));
		return;
	}
	if (until <= now)
		return;
	k = k ? k : add(t, id);
	if (!k || !has_room(k)) {
		t->left_out++;
		return;
	}
	k->interval[k->n++] = (struct track_interval){.from = now, .to = until, .on_ns = until - now, .n = 1};
}

void tracks_end(struct tracks *t, uint64_t now)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct track *k = &t->item[i];

		if (k->n && k->interval[k->n - 1].to > now)
			move_end(&k->interval[k->n - 1], now);
	}
}

void tracks_fini(struct tracks *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->item[i].interval);
	free(t->item);
	*t = (struct tracks){0};
}
