/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of events under virtual time. Pure apart from the memory of the queue; the lab is single-threaded. */
#include "lab/event.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"

/* A heap of degree 4 is flatter than a binary one, and the children of a node share one or two cache lines. */
#define DEGREE 4

void event_queue_fini(struct event_queue *q)
{
	free(q->slot);
	*q = (struct event_queue){0};
}

void event_init(struct event *e, void (*fire)(void *arg), void *arg, const char *kind, const char *name)
{
	*e = (struct event){.fire = fire, .arg = arg, .kind = kind, .name = name, .slot = EVENT_IDLE};
}

static bool before(const struct event_slot *a, const struct event_slot *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void place(struct event_queue *q, uint32_t i, struct event_slot s)
{
	q->slot[i] = s;
	s.event->slot = i;
}

static void rise(struct event_queue *q, uint32_t i, struct event_slot s)
{
	while (i && before(&s, &q->slot[(i - 1) / DEGREE])) {
		place(q, i, q->slot[(i - 1) / DEGREE]);
		i = (i - 1) / DEGREE;
	}
	place(q, i, s);
}

static void sink(struct event_queue *q, uint32_t i, struct event_slot s)
{
	for (;;) {
		uint32_t first = DEGREE * i + 1, best = first;

		if (first >= q->n)
			break;
		for (uint32_t c = first + 1; c < q->n && c < first + DEGREE; c++)
			if (before(&q->slot[c], &q->slot[best]))
				best = c;
		if (!before(&q->slot[best], &s))
			break;
		place(q, i, q->slot[best]);
		i = best;
	}
	place(q, i, s);
}

int event_set(struct event_queue *q, struct event *e, uint64_t at)
{
	struct event_slot s = {.at = at, .order = q->order++, .event = e};

	if (e->slot == EVENT_IDLE) {
		if (q->n == q->room) {
			uint32_t room = q->room ? q->room * 2 : 256;
			struct event_slot *slot = realloc(q->slot, room * sizeof(*slot));

			if (!slot)
				return -ENOMEM;
			q->slot = slot;
			q->room = room;
		}
		e->at = at;
		rise(q, q->n++, s);
		return 0;
	}
	if (at < e->at) {
		e->at = at;
		rise(q, e->slot, s);
	} else {
		e->at = at;
		sink(q, e->slot, s);
	}
	return 0;
}

int event_set_by(struct event_queue *q, struct event *e, uint64_t at)
{
	return event_is_set(e) && e->at <= at ? 0 : event_set(q, e, at);
}

void event_clear(struct event_queue *q, struct event *e)
{
	uint32_t i = e->slot;
	struct event_slot last;

	if (i == EVENT_IDLE)
		return;
	e->slot = EVENT_IDLE;
	last = q->slot[--q->n];
	if (i == q->n)
		return;
	if (i && before(&last, &q->slot[(i - 1) / DEGREE]))
		rise(q, i, last);
	else
		sink(q, i, last);
}

struct event *event_next(struct event_queue *q)
{
	struct event *e;

	if (!q->n)
		return NULL;
	e = q->slot[0].event;
	event_clear(q, e);
	return e;
}

uint64_t event_next_at(const struct event_queue *q)
{
	return q->n ? q->slot[0].at : TIME_NEVER;
}
