/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours of credit: their silence, their return, and heartbeats to them (docs/credit.md 2.10). Control lcore. */
#include "node/service.h"
#include "service/rsvp/service_credit.h"

/* No word came for T_user: the credit of that neighbour has ended, and its paths are down (D49). */
static void neighbor_ended(struct control_role *c, struct credit_neighbor *n)
{
	struct credit_control *k = credit_of(c->node);
	uint32_t alive = (uint32_t)(n - k->neighbor);

	n->alive.until_ns = 0;
	n->silent = true;
	n->again_ns = c->now + c->s->credit.config.idle_ms * NSEC_PER_MSEC;
	__atomic_store_n(&k->data->alive[alive], 0, __ATOMIC_RELAXED);
	for (uint32_t line = 1; line < k->numbers; line++) {
		struct credit_use *u = &k->use[line];

		if (u->used && u->slot != CREDIT_NO_SLOT && u->binding.alive == alive && !u->ending)
			rsvp_user_silent(rsvp_of(c)->machines, c->now, rsvp_path_at(rsvp_of(c)->machines, u->slot));
	}
}

/*
 * Its paths ask for new epochs: all of them, as soon as it is heard again, because each of its heartbeats names one path only;
 * or after D_idle, because one that has restarted knows no path that a heartbeat could name. While no way to it is alive they
 * wait for that.
 */
static void neighbor_again(struct control_role *c, struct credit_neighbor *n)
{
	const struct rsvp_neighbor *row = rsvp_neighbor_of(rsvp_of(c), n->zone, &n->addr);

	n->again_ns = 0;
	if (row && row->reachable)
		rsvp_neighbor(rsvp_of(c)->machines, c->now, n->zone, &n->addr, true);
}

/* A heartbeat names one context, each in its turn. */
static void beat(struct control_role *c, struct credit_neighbor *n)
{
	struct credit_control *k = credit_of(c->node);
	uint32_t number = n->beat;

	for (uint32_t i = 0; i < k->numbers; i++) {
		number = number + 1 < k->numbers ? number + 1 : 1;
		if (k->grant[number].used && k->grant[number].on && k->grant[number].neighbor == n)
			break;
	}
	n->beat = number;
	credit_update_due(c, number);
}

void credit_neighbors_poll(struct control_role *c, uint64_t *due)
{
	struct credit_control *k = credit_of(c->node);
	uint64_t hb = c->s->credit.config.heartbeat_us * NSEC_PER_USEC;

	for (uint32_t i = 0; i < k->neighbors; i++) {
		struct credit_neighbor *n = &k->neighbor[i];

		if (credit_alive_ended(&n->alive, c->now))
			neighbor_ended(c, n);
		if (n->again_ns && c->now >= n->again_ns)
			neighbor_again(c, n);
		if (n->again_ns)
			*due = MIN_OF(*due, n->again_ns);
		if (n->granted && !n->due && credit_lease_beat_due(&n->lease, hb / 2, c->now))
			beat(c, n);
		if (n->alive.until_ns)
			*due = MIN_OF(*due, n->alive.until_ns);
		if (n->granted)
			*due = MIN_OF(*due, MAX_OF(n->lease.sent_ns + hb / 2, c->now + CREDIT_SYNC_SHORT_NS));
	}
}
