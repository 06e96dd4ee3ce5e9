/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the gates of an egress, by cause (gate.h). Worker lcores; the owner of the egress. */
#include "queue/turn.h"

#include "queue/watch.h"

/* Set the classes (a bit each) of a slice whose gates `cause` closes, and update the union of all causes. */
static void gate_set(struct egress *e, struct egress_slice *s, enum egress_cause cause, uint8_t closed)
{
	uint8_t id = (uint8_t)(s - e->slice);
	uint64_t bit = 1ull << id % 64;

	__atomic_store_n(&s->closed[cause], closed, __ATOMIC_RELAXED);
	s->barred = s->closed[EGRESS_PAUSE] | s->closed[EGRESS_LINK] | s->closed[EGRESS_RATE];
	e->barred[id / 64] = s->barred ? e->barred[id / 64] | bit : e->barred[id / 64] & ~bit;
	sched_list(e, s, id);
	sched_unlist(e, s, id);
}

/* --- rate --- */

/* Divide here once instead of for every packet. */
void gate_set_rate(struct egress_slice *s, uint64_t bps)
{
	s->byte_time = bps ? MAX_OF((8 * NSEC_PER_SEC << EGRESS_TIME_SHIFT) / bps, 1) : 0;
	s->burst_ns = bps ? EGRESS_SHAPE_BURST * 8 * NSEC_PER_SEC / bps : 0;
}

/*
 * Close the gate of a slice that is ahead of its max-rate; open the gate of one that is not, or that has no max-rate.
 */
static void gate_rate(struct egress *e, const struct egress_context *c, struct egress_slice *s)
{
	uint64_t next = s->byte_time ? s->paid_ns - MIN_OF(s->paid_ns, s->burst_ns) : 0;
	uint8_t closed = next > c->now ? UINT8_MAX : 0;

	if (closed)
		e->wake_ns = MIN_OF(e->wake_ns, next);
	if (closed != s->closed[EGRESS_RATE])
		gate_set(e, s, EGRESS_RATE, closed);
}

void gate_pay(struct egress *e, const struct egress_context *c, struct egress_slice *s, uint64_t time)
{
	s->paid_ns = MAX_OF(s->paid_ns, c->now) + (time >> EGRESS_TIME_SHIFT);
	s->paid_part = time & ((1ull << EGRESS_TIME_SHIFT) - 1);
	gate_rate(e, c, s);
}

/* --- time --- */

/*
 * Iterate over the slices with a closed gate; NULL at the end. The number of steps does not depend on the other
 * slices.
 */
static struct egress_slice *gate_next_barred(struct egress *e, uint64_t left[static SNAP_SLICE_MAX / 64])
{
	unsigned int word = left[0] ? 0 : 1, id;

	if (!left[word])
		return NULL;
	id = (unsigned int)__builtin_ctzll(left[word]);
	left[word] &= left[word] - 1;
	return &e->slice[word * 64 + id];
}

/* Find out whether any class is paused and when the first gate opens. Gates by rate are updated on the way. */
static void gate_look_ahead(struct egress *e, const struct egress_context *c)
{
	uint64_t left[] = {e->barred[0], e->barred[1]};
	struct egress_slice *s;

	e->gates &= (uint8_t)~EGRESS_GATE_PAUSE;
	e->wake_ns = MIN_OF(e->watch_ns, e->link.next_ns);
	while ((s = gate_next_barred(e, left))) {
		FOR_EACH_BIT(k, s->closed[EGRESS_PAUSE])
			e->wake_ns = MIN_OF(e->wake_ns, s->queue[k].pause_until);
		if (s->closed[EGRESS_PAUSE] | s->closed[EGRESS_LINK])
			e->gates |= EGRESS_GATE_PAUSE;
		if (s->closed[EGRESS_RATE])
			gate_rate(e, c, s);
	}
}

/* --- pause --- */

static void gate_pause_class(struct egress *e, const struct egress_context *c, uint32_t slice, unsigned int class)
{
	struct egress_slice *s = &e->slice[slice];
	struct egress_queue *q = &s->queue[class];
	uint64_t until = watch_pause(e, c, slice, class);
	uint8_t was = s->closed[EGRESS_PAUSE];
	uint8_t is = (uint8_t)(until > c->now ? was | 1u << class : was & ~(1u << class));

	__atomic_store_n(&q->pause_until, until, __ATOMIC_RELAXED);
	if (is == was)
		return;
	if (is > was) {
		q->paused_since = c->now;
		stat_add(&q->pauses, 1);
	} else {
		stat_add(&q->paused_ns, c->now - q->paused_since);
	}
	gate_set(e, s, EGRESS_PAUSE, is);
}

void gate_pause(struct egress *e, const struct egress_context *c, uint8_t slice, uint8_t classes)
{
	uint32_t first = slice == EGRESS_ALL_SLICES ? 0 : slice;
	uint32_t end = slice == EGRESS_ALL_SLICES ? e->n_slices : slice + 1u;

	for (uint32_t id = first; id < end; id++)
		FOR_EACH_BIT(k, classes)
			gate_pause_class(e, c, id, k);
	gate_look_ahead(e, c);
}

void gate_link(struct egress *e, const struct egress_context *c, uint8_t closed)
{
	uint64_t left[] = {e->barred[0], e->barred[1]};
	struct egress_slice *s;

	for (uint32_t id = 0; id < e->n_slices; id++)
		if (e->slice[id].closed[EGRESS_LINK] != closed)
			gate_set(e, &e->slice[id], EGRESS_LINK, closed);
	/* a slice that is gone may still have packets and a closed gate */
	while ((s = gate_next_barred(e, left)))
		if (s >= &e->slice[e->n_slices] && s->closed[EGRESS_LINK])
			gate_set(e, s, EGRESS_LINK, 0);
	e->link.closed = closed;
	gate_pause(e, c, EGRESS_ALL_SLICES, UINT8_MAX);
}

void gate_watch(struct egress *e, const struct egress_context *c)
{
	uint64_t next, first = TIME_NEVER;

	if (c->now < e->watch_ns)
		return;
	for (uint32_t id = 0; id < e->n_slices; id++) {
		for (unsigned int k = 0; k < PKT_CLASSES; k++) {
			if (!e->watchdog[id][k].paused && !e->watchdog[id][k].stormed)
				continue;
			while (watch_poll(e, c, id, k, &next))
				gate_pause_class(e, c, id, k);
			first = MIN_OF(first, next);
		}
	}
	e->watch_ns = first;
	watch_publish(e, c);
}

void gate_wake(struct egress *e, const struct egress_context *c)
{
	uint64_t left[SNAP_SLICE_MAX / 64];
	struct egress_slice *s;

	/* before pauses end: a pause may have lasted long enough for a storm */
	gate_watch(e, c);
	memcpy(left, e->barred, sizeof(left));
	while ((s = gate_next_barred(e, left)))
		FOR_EACH_BIT(k, s->closed[EGRESS_PAUSE])
			if (s->queue[k].pause_until <= c->now)
				gate_pause_class(e, c, (uint32_t)(s - e->slice), k);
	gate_look_ahead(e, c);
}
