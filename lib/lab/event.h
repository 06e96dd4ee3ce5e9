/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens when, under virtual time: a priority queue of events, each of which belongs to a thing (a line, an
 * lcore, a port of a host) and stands in the queue once at most. So the queue's size is that of the topology, and the
 * cost of an event does not grow with the length of the run. Events of the same time fire in the order in which they
 * were set: a run is the same every time.
 */
#ifndef LAB_EVENT_H
#define LAB_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define EVENT_IDLE UINT32_MAX

struct event {
	void (*fire)(void *arg);
	void *arg;
	const char *kind, *name; /* for people */
	uint64_t at;		 /* ns; valid while it is set */
	uint32_t slot;		 /* place in the queue, or EVENT_IDLE */
};

struct event_slot {
	uint64_t at, order;
	struct event *event;
};

struct event_queue {
	struct event_slot *slot;
	uint32_t n, room;
	uint64_t order;
};

void event_queue_fini(struct event_queue *q);

/* An event of one thing, not set. */
void event_init(struct event *e, void (*fire)(void *arg), void *arg, const char *kind, const char *name);

/* Set it, or move it, to a time. -ENOMEM, or 0. */
int event_set(struct event_queue *q, struct event *e, uint64_t at);

/* The same unless it is set to an earlier time already. */
int event_set_by(struct event_queue *q, struct event *e, uint64_t at);

void event_clear(struct event_queue *q, struct event *e);

static inline bool event_is_set(const struct event *e)
{
	return e->slot != EVENT_IDLE;
}

/* The next one, taken out; NULL when there is none. */
struct event *event_next(struct event_queue *q);

/* When that is; TIME_NEVER. */
uint64_t event_next_at(const struct event_queue *q);

#endif
