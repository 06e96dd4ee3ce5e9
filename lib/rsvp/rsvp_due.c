/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timers of a session: times at which something of it is due, of which the earliest is in the wheel. One timer for a session
 * instead of one for each path and reservation takes a third of the memory. Control lcore.
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

	return due ? (now + (uint64_t)(int64_t)(int32_t)(due - (uint32_t)now)) << RSVP_DUE_BITS : TIME_NEVER;
}

static void look_at(const struct rsvp_node *n, struct rsvp_due *first, uint32_t *due, struct rsvp_due this)
{
	this.at = ns_of(n, *due);
	this.due = due;
	if (this.at < first->at)
		*first = this;
}

/* Of several at the same time: selection, then paths, then what is given back. */
static struct rsvp_due first_of(const struct rsvp_node *n, struct rsvp_instance *s)
{
	struct rsvp_due first = {.at = TIME_NEVER};

	look_at(n, &first, &s->due, (struct rsvp_due){.kind = RSVP_T_SELECT});
	for (struct rsvp_path *p = s->paths; p; p = p->next)
		for (unsigned int i = 0; i < RSVP_PATH_TIMERS; i++)
			if (p->due[i])
				look_at(n, &first, &p->due[i],
					(struct rsvp_due){.kind = (enum rsvp_timer_kind)i, .path = p});
	for (struct rsvp_reservation *r = s->reservations; r; r = r->next)
		look_at(n, &first, &r->due, (struct rsvp_due){.kind = RSVP_T_FREE, .reservation = r});
	return first;
}

void rsvp_due_again(struct rsvp_node *n, struct rsvp_instance *s)
{
	timers_set(&n->wheel, &s->timer, first_of(n, s).at);
}

void rsvp_due_set(struct rsvp_node *n, struct rsvp_instance *s, uint32_t *due, uint64_t at)
{
	uint64_t before = ns_of(n, *due), armed = timer_is_set(&s->timer) ? s->timer.at : TIME_NEVER, after;

	*due = steps_of(at);
	after = ns_of(n, *due);
	if (after < armed)
		timers_set(&n->wheel, &s->timer, after);
	else if (before <= armed && before != after)
		rsvp_due_again(n, s);
}

bool rsvp_due_take(struct rsvp_node *n, struct rsvp_instance *s, struct rsvp_due *out)
{
	*out = first_of(n, s);
	if (out->at <= n->now)
		*out->due = 0;
	rsvp_due_again(n, s);
	return out->at <= n->now;
}
