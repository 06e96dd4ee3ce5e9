/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of events under virtual time. Pure apart from the memory of the queue; the lab is single-threaded. */
#include "lab/event.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"

void event_queue_fini(struct event_queue *q)
{
	free(q->slot);
	*q = (struct event_queue){0};
}

void event_init(struct event *e, void (*fire)(void *arg), void *arg, const char *kind, const char *name)
{
	*e = (struct event){.fire = fire, .arg = arg, .kind = kind, .name = name, .slot = EVENT_IDLE};
}

static unsigned int bucket_of(const struct event_queue *q, uint64_t at)
{
	return at <= q->last ? 0 : 64 - (unsigned int)__builtin_clzll(at ^ q->last);
}

/* Slot number i, counted from 1. */
static struct event_slot *slot_of(const struct event_queue *q, uint32_t i)
{
	return &q->slot[i - 1];
}

static void append(struct event_queue *q, unsigned int bucket, uint32_t i)
{
	struct event_bucket *b = &q->bucket[bucket];
	struct event_slot *s = slot_of(q, i);

	s->next = 0;
	s->prev = b->tail;
	if (b->tail)
		slot_of(q, b->tail)->next = i;
	else
		b->head = i;
	b->tail = i;
	q->filled |= bucket ? 1ull << (bucket - 1) : 0;
}

/* An event in the past fires before the others that are due, after those of its own time. */
static void insert_past(struct event_queue *q, uint32_t i)
{
	struct event_bucket *b = &q->bucket[0];
	struct event_slot *s = slot_of(q, i);
	uint32_t after = b->head;

	while (after && slot_of(q, after)->at <= s->at)
		after = slot_of(q, after)->next;
	if (!after) {
		append(q, 0, i);
		return;
	}
	s->next = after;
	s->prev = slot_of(q, after)->prev;
	slot_of(q, after)->prev = i;
	if (s->prev)
		slot_of(q, s->prev)->next = i;
	else
		b->head = i;
}

static void insert(struct event_queue *q, uint32_t i, uint64_t at)
{
	if (unlikely(at < q->last))
		insert_past(q, i);
	else
		append(q, bucket_of(q, at), i);
}

static void take_out(struct event_queue *q, uint32_t i)
{
	struct event_slot *s = slot_of(q, i);
	unsigned int bucket = bucket_of(q, s->at);
	struct event_bucket *b = &q->bucket[bucket];

	if (s->next)
		slot_of(q, s->next)->prev = s->prev;
	else
		b->tail = s->prev;
	if (s->prev)
		slot_of(q, s->prev)->next = s->next;
	else
		b->head = s->next;
	if (bucket && !b->head)
		q->filled &= ~(1ull << (bucket - 1));
}

/* A free slot, counted from 1; 0: out of memory. */
static uint32_t new_slot(struct event_queue *q)
{
	uint32_t i = q->unused;

	if (i) {
		q->unused = slot_of(q, i)->next;
		return i;
	}
	if (q->n == q->room) {
		uint32_t room = q->room ? q->room * 2 : 16;
		struct event_slot *slot = realloc(q->slot, room * sizeof(*slot));

		if (!slot)
			return 0;
		q->slot = slot;
		q->room = room;
	}
	return ++q->n;
}

int event_set(struct event_queue *q, struct event *e, uint64_t at)
{
	if (e->slot == EVENT_IDLE) {
		uint32_t i = new_slot(q);

		if (!i)
			return -ENOMEM;
		e->slot = i;
		slot_of(q, i)->event = e;
	} else {
		take_out(q, e->slot);
	}
	e->at = at;
	slot_of(q, e->slot)->at = at;
	insert(q, e->slot, at);
	return 0;
}

int event_set_by(struct event_queue *q, struct event *e, uint64_t at)
{
	return event_is_set(e) && e->at <= at ? 0 : event_set(q, e, at);
}

void event_clear(struct event_queue *q, struct event *e)
{
	if (e->slot == EVENT_IDLE)
		return;
	take_out(q, e->slot);
	slot_of(q, e->slot)->next = q->unused;
	q->unused = e->slot;
	e->slot = EVENT_IDLE;
}

/* The earliest time in a bucket that is not empty. */
static uint64_t earliest(const struct event_queue *q, unsigned int bucket)
{
	uint64_t first = TIME_NEVER;

	for (uint32_t i = q->bucket[bucket].head; i; i = slot_of(q, i)->next)
		first = MIN_OF(first, slot_of(q, i)->at);
	return first;
}

uint64_t event_first_at(const struct event_queue *q)
{
	if (q->bucket[0].head)
		return slot_of(q, q->bucket[0].head)->at;
	return q->filled ? earliest(q, (unsigned int)__builtin_ctzll(q->filled) + 1) : TIME_NEVER;
}

/* Time goes on to `first`, that of the first event of the lowest bucket: its events spread over the buckets below. */
static void advance(struct event_queue *q, unsigned int bucket, uint64_t first)
{
	uint32_t i = q->bucket[bucket].head, next;

	q->last = first;
	q->bucket[bucket] = (struct event_bucket){0};
	q->filled &= ~(1ull << (bucket - 1));
	for (; i; i = next) {
		next = slot_of(q, i)->next;
		append(q, bucket_of(q, slot_of(q, i)->at), i);
	}
}

struct event *event_next_before(struct event_queue *q, uint64_t end)
{
	struct event_slot *s;
	struct event *e;
	uint32_t i;

	if (!q->bucket[0].head) {
		unsigned int bucket = q->filled ? (unsigned int)__builtin_ctzll(q->filled) + 1 : 0;
		uint64_t first = bucket ? earliest(q, bucket) : TIME_NEVER;

		if (first >= end)
			return NULL;
		advance(q, bucket, first);
	}
	i = q->bucket[0].head;
	s = slot_of(q, i);
	if (s->at >= end)
		return NULL;
	q->bucket[0].head = s->next;
	if (s->next)
		slot_of(q, s->next)->prev = 0;
	else
		q->bucket[0].tail = 0;
	s->next = q->unused;
	q->unused = i;
	e = s->event;
	e->slot = EVENT_IDLE;
	return e;
}

struct event *event_next(struct event_queue *q)
{
	return event_next_before(q, TIME_NEVER);
}
