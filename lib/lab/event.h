/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The priority queue of events under virtual time. Each event belongs to one object (a line, an lcore, a port of a
 * host) and is in the queue at most once. The size of the queue is therefore bounded by the topology, and the cost of
 * an event does not grow with the length of the run. Events of the same time fire in the order in which they were set,
 * so that a run is reproducible.
 */
#ifndef LAB_EVENT_H
#define LAB_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define EVENT_IDLE UINT32_MAX

struct event {
	void (*fire)(void *arg);
	void *arg;
	const char *kind, *name; /* shown to people */
	uint64_t at;		 /* ns; valid while the event is set */
	uint32_t slot;		 /* index in the queue, or EVENT_IDLE */
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

/* Initialize the event of an object; it is not set. */
void event_init(struct event *e, void (*fire)(void *arg), void *arg, const char *kind, const char *name);

/* Set the event to a time, or move it there. 0, or -ENOMEM. */
int event_set(struct event_queue *q, struct event *e, uint64_t at);

/* Like event_set, but an event that is already set to an earlier time stays there. */
int event_set_by(struct event_queue *q, struct event *e, uint64_t at);

void event_clear(struct event_queue *q, struct event *e);

static inline bool event_is_set(const struct event *e)
{
	return e->slot != EVENT_IDLE;
}

/* Remove the next event and return it; NULL when the queue is empty. */
struct event *event_next(struct event_queue *q);

/* Time of the next event; TIME_NEVER when the queue is empty. */
uint64_t event_next_at(const struct event_queue *q);

#endif
