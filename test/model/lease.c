/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of leases and of a shared pool; see lease.h. */
#include "test/model/lease.h"

#include <string.h>

#include "credit/credit_alive.h"
#include "credit/credit_grantor.h"
#include "credit/credit_pool.h"
#include "credit/credit_user.h"

#define TICK NSEC_PER_MSEC
#define NOW (1000 * TICK) /* time stands still: a tick makes everything else older */
#define OLDEST 2	  /* ticks that anything may be on its way */
#define MOST 100
#define POOL 3
#define WINDOW 2
#define FLOOR 1
#define PLACES 3
#define HB TICK

struct on_its_way {
	uint8_t valid, age;
	uint8_t sequence, fccl, abr; /* of a 29 */
};

struct lease {
	struct credit_user user;
	struct credit_gate gate;
	struct credit_grantor grantor;
	struct credit_intake intake;
	struct credit_release release;
	struct credit_alive alive;
	struct credit_lease lease;
	struct credit_pool pool;
	uint64_t held;	/* by the first session */
	uint64_t other; /* by the second one, which may fill all of it at once */
	struct on_its_way data[PLACES], up[2];
	uint8_t down;	/* the grantor takes the neighbour for down: it sends no more 29s */
	uint8_t closed; /* the lease is over */
	uint8_t sent, updates, unused[3];
};
_Static_assert(sizeof(struct lease) % 8 == 0, "words");

static struct credit_totals totals(const struct lease *l)
{
	return (struct credit_totals){.freed = l->release.freed, .rcvd = l->intake.rcvd};
}

static struct credit_way way_of(const struct lease_config *c)
{
	return (struct credit_way){.rtt_ns = c->control == LEASE_OF_THE_USER ? 0
					     : c->control == LEASE_ONE_WAY   ? OLDEST * TICK
									     : 2 * OLDEST * TICK};
}

static void put_in_order(struct on_its_way *m, int n)
{
	for (int i = 1; i < n; i++)
		for (int j = i; j && memcmp(&m[j - 1], &m[j], sizeof(m[0])) < 0; j--) {
			struct on_its_way swap = m[j];

			m[j] = m[j - 1];
			m[j - 1] = swap;
		}
}

static bool place(struct on_its_way *m, int n, struct on_its_way new)
{
	if (m[n - 1].valid)
		return false;
	m[n - 1] = new;
	put_in_order(m, n);
	return true;
}

static void settle(struct lease *l)
{
	credit_pool_settle(&l->pool, &l->held, credit_grantor_held(&l->grantor, totals(l), !l->closed));
	l->other += credit_pool_take(&l->pool, 0, POOL);
}

static void begin(void *state, const void *config)
{
	const struct credit_way way = way_of(config);
	struct lease *l = state;
	struct credit_hop hello;
	struct credit_update m;

	l->pool.size = POOL;
	l->held = credit_pool_take(&l->pool, FLOOR, WINDOW);
	l->grantor.floor = FLOOR;
	credit_user_init(&l->user, &l->gate, 1);
	credit_user_hello(&l->user, 0, &hello);
	credit_grantor_open(&l->grantor, &hello, 1, (uint32_t)l->held, totals(l));
	credit_grantor_update(&l->grantor, totals(l), &m);
	m.commit = true;
	credit_user_hear(&l->user, &l->gate, &m, MOST, NOW);
	credit_alive_hear(&l->alive, 0, NOW);
	credit_lease_sent(&l->lease, HB, &way, NOW);
	settle(l);
}

static void say(struct explorer *x, const struct lease *l, const struct lease_config *c)
{
	const struct credit_way way = way_of(c);
	struct lease n = *l;
	struct credit_update m;

	if (l->down || l->updates >= c->updates)
		return;
	credit_grantor_update(&n.grantor, totals(l), &m);
	credit_lease_sent(&n.lease, HB, &way, NOW);
	n.updates++;
	if (place(n.up, ARRAY_LEN(n.up),
		    (struct on_its_way){.valid = 1,
			    .sequence = (uint8_t)m.sequence,
			    .fccl = (uint8_t)m.fccl,
			    .abr = (uint8_t)m.abr}))
		explore_step(x, &n, "the grantor sends a 29", (int)m.sequence);
}

static void hear(struct lease *l, struct on_its_way u)
{
	struct credit_update m = {.epoch = 1, .sequence = u.sequence, .buf = WINDOW, .fccl = u.fccl, .abr = u.abr};

	if (credit_user_hear(&l->user, &l->gate, &m, MOST, NOW) == CREDIT_TAKEN &&
		credit_alive_hear(&l->alive, (uint32_t)(HB / NSEC_PER_USEC), NOW) == CREDIT_BEAT_LATE)
		credit_user_stop(&l->user, &l->gate);
}

static void message_steps(struct explorer *x, const struct lease *l)
{
	for (size_t i = 0; i < ARRAY_LEN(l->up) && l->up[i].valid; i++) {
		struct lease n = *l;

		hear(&n, l->up[i]);
		explore_step(x, &n, "the user receives a copy of 29", l->up[i].sequence);
		n = *l;
		n.up[i] = (struct on_its_way){0};
		put_in_order(n.up, ARRAY_LEN(n.up));
		explore_step(x, &n, "a message is lost: 29", l->up[i].sequence);
		hear(&n, l->up[i]);
		explore_step(x, &n, "the user receives 29", l->up[i].sequence);
	}
}

static void data_steps(struct explorer *x, const struct lease *l, const struct lease_config *c)
{
	struct lease n = *l;

	if (l->sent < c->sent && credit_gate_passes(&l->gate, l->alive.until_ns, NOW, 1) &&
		place(n.data, PLACES, (struct on_its_way){.valid = 1})) {
		n.sent++;
		credit_gate_pass(&n.gate, 1);
		credit_gate_taken(&n.gate, 1, NOW);
		explore_step(x, &n, "the user sends a packet", -1);
	}
	for (int i = 0; i < PLACES && l->data[i].valid; i++) {
		n = *l;
		n.data[i] = (struct on_its_way){0};
		put_in_order(n.data, PLACES);
		credit_intake_count(&n.intake, 1);
		settle(&n);
		explore_step(x, &n, "data arrives", -1);
	}
	if (credit_backlog(totals(l))) {
		n = *l;
		credit_release_count(&n.release, 1);
		settle(&n);
		explore_step(x, &n, "the grantor forwards a packet", -1);
	}
}

/* Times far in the past are all the same. */
static void older(uint64_t *time)
{
	*time -= *time > NOW - 20 * TICK ? TICK : 0;
}

static void time_steps(struct explorer *x, const struct lease *l, const struct lease_config *c)
{
	struct lease n = *l;
	bool young = true;

	if (!l->down) {
		n.down = 1;
		n.closed = c->control == LEASE_FROM_DATA;
		settle(&n);
		explore_step(x, &n, "the grantor takes the neighbour for down", -1);
		n = *l;
	}
	if (l->down && !l->closed && NOW >= l->lease.ends_ns) {
		n.closed = 1;
		settle(&n);
		explore_step(x, &n, "the lease ends: the second session gets the buffer", -1);
		n = *l;
	}
	for (size_t i = 0; i < ARRAY_LEN(n.up); i++)
		young = young && (!n.up[i].valid || n.up[i].age++ < OLDEST);
	for (size_t i = 0; i < PLACES; i++)
		young = young && (!n.data[i].valid || n.data[i].age++ < OLDEST);
	if (!young)
		return;
	older(&n.alive.until_ns);
	older(&n.alive.heard_ns);
	older(&n.lease.ends_ns);
	older(&n.lease.sent_ns);
	older(&n.gate.given_ns);
	n.user.heard_ns = n.user.moved_ns = NOW;
	put_in_order(n.up, ARRAY_LEN(n.up));
	put_in_order(n.data, PLACES);
	explore_step(x, &n, "1 ms passes", -1);
}

static void next(struct explorer *x, const void *state, const void *config)
{
	data_steps(x, state, config);
	say(x, state, config);
	message_steps(x, state);
	time_steps(x, state, config);
}

static const char *broken(const void *from, const void *to, const void *config)
{
	const struct lease *l = to;

	(void)from, (void)config;
	if (credit_backlog(totals(l)) + l->other > POOL)
		return "I9: a buffer is promised twice";
	if (l->pool.held > POOL)
		return "I4: the sum of what is held is more than the pool";
	return NULL;
}

/* If the first session is idle, the second one gets what it does not need. */
static const char *stuck(void *state, const void *config)
{
	const struct lease_config *c = config;
	struct lease *l = state;
	struct credit_hop hello;

	if (l->down || l->user.state != CREDIT_OPEN)
		return NULL;
	for (int i = 0; i < PLACES; i++)
		credit_intake_count(&l->intake, l->data[i].valid);
	credit_release_count(&l->release, (uint32_t)credit_backlog(totals(l)));
	l->user.buf_now = WINDOW;
	if (c->control != LEASE_NO_RETURN &&
		credit_user_returns(&l->user, &l->gate, false, FLOOR, 2 * OLDEST * TICK, NOW + 2 * OLDEST * TICK)) {
		credit_user_stop(&l->user, &l->gate);
		credit_user_hello(&l->user, FLOOR, &hello);
		credit_grantor_hear(&l->grantor, &hello, totals(l), NULL, 0, NOW);
	}
	settle(l);
	return l->other == POOL - FLOOR ? NULL : "I7: the second session never gets what the first one does not use";
}

const struct model lease_model = {.size = sizeof(struct lease),
	.init = begin,
	.next = next,
	.broken = broken,
	.stuck = stuck};
