/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The priority queue of events under virtual time. Each event belongs to one object (a line, an lcore, a port of a
 * host) and is in the queue at most once. The size of the queue is therefore bounded by the topology. Events of the
 * same time fire in the order in which they were set, so that a run is reproducible.
 *
 * It is a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, 1990): a bucket for each highest bit in which the time of an
 * event differs from the time of the last one that fired. Time goes forward, so that an event only moves to lower
 * buckets, at most once per bit of its delay: the cost does not depend on the number of events.
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
	uint32_t slot;		 /* in the queue, or EVENT_IDLE */
};

#define EVENT_BUCKETS 65 /* no bit differs, or one of 64 is the highest */

/* Together in one array, so that moving an event does not touch its object. */
struct event_slot {
	uint64_t at;
	struct event *event;
	uint32_t next, prev; /* in the bucket, or of the unused slots: slot plus 1; 0: none */
};

/* A queue that is all zero is empty. */
struct event_queue {
	struct event_slot *slot;
	uint32_t n, room; /* slots that were ever used */
	uint32_t unused;  /* the first of those that are free, plus 1 */
	uint64_t last;	  /* time of the last event removed; no bit of it differs in bucket 0 */
	uint64_t filled;  /* bit per bucket from 1 on */
	struct event_bucket {
		uint32_t head, tail; /* slots plus 1; 0: empty */
	} bucket[EVENT_BUCKETS];
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

/* When the next event is due; TIME_NEVER when the queue is empty. */
uint64_t event_first_at(const struct event_queue *q);

/* Remove the next event and return it; NULL when the queue is empty. */
struct event *event_next(struct event_queue *q);

/* The same if it is due before `end`, else NULL. */
struct event *event_next_before(struct event_queue *q, uint64_t end);

#endif
