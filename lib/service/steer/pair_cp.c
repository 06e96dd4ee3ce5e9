/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the table of pairs of hosts: takes what rx roles show, forgets what is idle (pairs.h). Control lcore. */
#include "node/control_send.h"
#include "node/service.h"
#include "service/steer/service_steer.h"

#define LOOK_NS (10 * NSEC_PER_MSEC) /* from one bucket to the next: each of them is looked at every three seconds */

/* Roles go on counting where others have: what they had counted before the pair came is not its own. */
static void set_base(const struct control_role *c, struct node_pairs *p, uint32_t place)
{
	uint64_t *base = (uint64_t *)&p->base[place];

	for (unsigned int k = 0; k < PAIR_COUNTS; k++) {
		uint64_t sum = 0;

		for (uint16_t i = 0; i < c->node->n_rx; i++)
			sum += stat_read((const uint64_t *)&p->rx[i]->count[place] + k);
		stat_level(base[k], sum);
	}
}

static void see(struct control_role *c, struct node_pairs *p, const struct pair_sighting *s)
{
	uint32_t place;

	if (pair_find(&p->table, &s->pair) != PAIR_NONE)
		return;
	place = pair_insert(&p->table, &s->pair, c->now);
	if (place == PAIR_NONE)
		stat_add(&p->full, 1);
	else
		set_base(c, p, place);
}

static uint64_t seen_at(const struct control_role *c, const struct node_pairs *p, uint32_t place)
{
	uint64_t last = p->table.since[place];

	for (uint16_t i = 0; i < c->node->n_rx; i++)
		last = MAX_OF(last, stat_read(&p->rx[i]->count[place].seen));
	return last;
}

static void forget_idle(struct control_role *c, struct node_pairs *p)
{
	uint64_t idle_ns = __atomic_load_n(&node_steer(c->node)->pair_idle_ns, __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < FLOW_WAYS; i++) {
		uint32_t place = p->hand * FLOW_WAYS + i;

		if (pair_is_used(&p->table, place) && c->now >= seen_at(c, p, place) + idle_ns)
			pair_remove(&p->table, place, c->now);
	}
	p->hand = (p->hand + 1) % PAIR_BUCKETS;
}

unsigned int pair_poll(struct control_role *c, uint64_t *next)
{
	struct node_pairs *p = __atomic_load_n(&node_steer(c->node)->pairs, __ATOMIC_ACQUIRE);
	struct pair_sighting s[CONTROL_BURST];
	unsigned int work = 0;

	for (uint16_t i = 0; i < c->node->n_rx; i++) {
		unsigned int n = mailbox_pop(&node_steer(c->node)->rx[i].sightings, s, sizeof(s[0]), CONTROL_BURST);

		for (unsigned int k = 0; k < n; k++)
			see(c, p, &s[k]);
		work += n;
	}
	if (!p->table.n)
		return work;
	if (c->now >= p->look_at) {
		forget_idle(c, p);
		p->look_at = c->now + LOOK_NS;
		work++;
	}
	*next = MIN_OF(*next, p->look_at);
	return work;
}
