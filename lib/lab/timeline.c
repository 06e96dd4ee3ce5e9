/* SPDX-License-Identifier: BSD-3-Clause */
/* Timelines: a queue of events for each object, and one queue of these queues. The lab is single-threaded. */
#include "lab/timeline.h"

#include "base/compiler.h"

void timeline_init(struct timeline *t, struct event_queue *turns, const char *name)
{
	*t = (struct timeline){.turns = turns};
	event_init(&t->turn, NULL, t, "turn", name);
}

void timeline_fini(struct timeline *t)
{
	event_queue_fini(&t->queue);
	lab_warm_fini(&t->warm);
}

static int get_in_line(struct timeline *t, uint64_t at)
{
	return t->runs ? 0 : event_set_by(t->turns, &t->turn, at);
}

int timeline_set(struct timeline *t, struct event *e, uint64_t at)
{
	int rc = event_set(&t->queue, e, at);

	return rc < 0 ? rc : get_in_line(t, at);
}

int timeline_set_by(struct timeline *t, struct event *e, uint64_t at)
{
	return event_is_set(e) && e->at <= at ? 0 : timeline_set(t, e, at);
}

void timeline_clear(struct timeline *t, struct event *e)
{
	event_clear(&t->queue, e);
}

void timeline_begin(struct timeline *t)
{
	t->runs = true;
}

struct event *timeline_next(struct timeline *t, uint64_t end)
{
	return event_next_before(&t->queue, end);
}

void timeline_end(struct timeline *t)
{
	uint64_t first = event_first_at(&t->queue);

	t->runs = false;
	if (first != TIME_NEVER)
		event_set(t->turns, &t->turn, first); /* its slot is free since the turn began */
}
