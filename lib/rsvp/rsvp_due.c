/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timers of a session: times at which something of it is due, and one timer in the wheel for all of them. What is put off or
 * cancelled leaves that timer as it is: it finds nothing due then, and is set for what is next. Control lcore.
 */
#include "rsvp/rsvp_node_priv.h"

/* 0 is kept for what is not set. */
static uint32_t steps_of(uint64_t at)
{
	return at == TIME_NEVER ? 0 : MAX_OF((uint32_t)(at >> RSVP_DUE_BITS), 1u);
}

static uint64_t ns_of(const struct rsvp_node *n, uint32_t due)
{
	uint64_t now = n->now >> RSVP_DUE_BITS;

	return (now + (uint64_t)(int64_t)(int32_t)(due - (uint32_t)now)) << RSVP_DUE_BITS;
}

static bool is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static void look_at(struct rsvp_due *first, uint32_t *due, enum rsvp_timer_kind kind, struct rsvp_path *p,
	struct rsvp_reservation *r)
{
	if (*due && (!first->due || is_before(*due, *first->due)))
		*first = (struct rsvp_due){due, kind, p, r};
}

/* Of several at the same time: selection, then paths, then what is given back. */
static struct rsvp_due first_of(struct rsvp_instance *s)
{
	struct rsvp_due first = {.due = NULL};

	look_at(&first, &s->due, RSVP_T_SELECT, NULL, NULL);
	for (struct rsvp_path *p = s->paths; p; p = p->next)
		for (unsigned int i = 0; i < RSVP_PATH_TIMERS; i++)
			look_at(&first, &p->due[i], (enum rsvp_timer_kind)i, p, NULL);
	for (struct rsvp_reservation *r = s->reservations; r; r = r->next)
		look_at(&first, &r->due, RSVP_T_FREE, NULL, r);
	return first;
}

void rsvp_due_set(struct rsvp_node *n, struct rsvp_instance *s, uint32_t *due, uint64_t at)
{
	uint32_t armed = timer_is_set(&s->timer) ? steps_of(s->timer.at) : 0;

	*due = steps_of(at);
	if (*due && (!armed || is_before(*due, armed)))
		timers_set(&n->wheel, &s->timer, ns_of(n, *due));
}

bool rsvp_due_take(struct rsvp_node *n, struct rsvp_instance *s, struct rsvp_due *out)
{
	struct rsvp_due next;
	bool due;

	*out = first_of(s);
	due = out->due && ns_of(n, *out->due) <= n->now;
	if (due)
		*out->due = 0;
	next = first_of(s);
	timers_set(&n->wheel, &s->timer, next.due ? ns_of(n, *next.due) : TIME_NEVER);
	return due;
}
