/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines what detectors report about links, next hops and paths, with hold-down. Control lcore. */
#include <errno.h>
#include <stdlib.h>

#include "base/aligned.h"
#include "node/service.h"
#include "service/nexthop/nexthop.h"

#define NO_FAILURES (LIVENESS_UNRESOLVED | LIVENESS_DRAINED) /* causes without event and hold-down */
#define SET(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static struct node_nexthops *of(const struct control_role *c)
{
	return node_nexthops(c->node);
}

static struct liveness *table(const struct control_role *c)
{
	return c->node->registry.live;
}

static void post(struct control_role *c, uint32_t object, enum nexthop_event_kind kind, uint8_t causes, uint64_t ns)
{
	struct node_nexthops *s = of(c);
	uint32_t at = s->written;

	if (at - __atomic_load_n(&s->read, __ATOMIC_ACQUIRE) == NEXTHOP_EVENTS) {
		SET(s->missed, s->missed + 1);
		return;
	}
	s->event[at % NEXTHOP_EVENTS] = (struct nexthop_event){.at = c->now,
		.ns = ns,
		.object = object,
		.kind = (uint8_t)kind,
		.causes = causes};
	__atomic_store_n(&s->written, at + 1, __ATOMIC_RELEASE);
}

/* The next hop is one of a port: count those that are not alive, so that its owner looks at packets only if it must. */
static void count_nexthop(struct control_role *c, uint32_t neigh, bool dead)
{
	struct liveness *live = table(c);
	uint16_t port = snap_interface_of(of(c)->owner[neigh].interface);

	SET(live->dead_nexthops[port], (uint16_t)(live->dead_nexthops[port] + (dead ? 1 : -1)));
}

/* Publish new causes of an object. */
static void publish(struct control_role *c, uint32_t object, uint8_t causes)
{
	struct liveness *live = table(c);
	struct nexthop_life *l = &of(c)->life[object];
	bool dead = causes != 0, was_dead = l->causes != 0;

	for (unsigned int i = 0; i < LIVENESS_CAUSE_COUNT; i++)
		of(c)->dead[i] += (uint32_t)(causes >> i & 1) - (uint32_t)(l->causes >> i & 1);
	SET(l->causes, causes);
	switch (nexthop_kind(object)) {
	case NEXTHOP_PORT:
		SET(live->link[object], causes);
		break;
	case NEXTHOP_NEIGH:
		SET(live->nexthop[object - NEXTHOP_FIRST_NEIGH], causes);
		if (dead != was_dead)
			count_nexthop(c, object - NEXTHOP_FIRST_NEIGH, dead);
		break;
	case NEXTHOP_PATH:
		SET(live->path[object - NEXTHOP_FIRST_PATH], causes);
		if (dead != was_dead)
			SET(live->dead_paths, live->dead_paths + (dead ? 1u : -1u));
		break;
	}
	__atomic_store_n(&live->epoch, live->epoch + 1, __ATOMIC_RELEASE);
}

static void unhold(struct node_nexthops *s, uint32_t object)
{
	for (uint32_t i = 0; i < s->n_held; i++)
		if (s->held[i] == object) {
			s->held[i] = s->held[--s->n_held];
			return;
		}
}

/* Hold-down of the next return: doubled for an object that flaps. */
static uint64_t next_hold(const struct control_role *c, const struct nexthop_life *l)
{
	const struct snap_failover *f = &c->s->failover;
	bool flaps = l->returned && c->now - l->returned < f->window_ns;

	return MIN_OF(flaps ? MAX_OF(2 * l->hold_ns, f->hold_ns) : f->hold_ns, f->hold_max_ns);
}

/* Publish causes of a failure, or that it is over. */
static void publish_failure(struct control_role *c, uint32_t object, unsigned int causes)
{
	publish(c, object, (uint8_t)(causes | (of(c)->life[object].causes & NO_FAILURES)));
}

static void fail(struct control_role *c, uint32_t object, uint8_t causes)
{
	struct nexthop_life *l = &of(c)->life[object];

	if (l->causes & LIVENESS_HELD)
		unhold(of(c), object);
	else
		SET(l->failed, c->now);
	SET(l->hold_ns, next_hold(c, l));
	SET(l->downs, l->downs + 1);
	SET(l->since, c->now);
	SET(l->last, causes);
	SET(table(c)->failed_ns, c->now);
	publish_failure(c, object, causes);
	post(c, object, NEXTHOP_DOWN, causes, 0);
}

static void use_again(struct control_role *c, uint32_t object)
{
	struct nexthop_life *l = &of(c)->life[object];

	SET(l->since, c->now);
	SET(l->down_ns, l->down_ns + c->now - l->failed);
	publish_failure(c, object, 0);
	post(c, object, NEXTHOP_UP, l->last, c->now - l->failed);
}

static void come_back(struct control_role *c, uint32_t object)
{
	struct nexthop_life *l = &of(c)->life[object];

	SET(l->returned, c->now);
	if (!l->downs || !l->hold_ns) {
		use_again(c, object);
		return;
	}
	SET(l->held_until, c->now + l->hold_ns);
	SET(l->since, c->now);
	of(c)->held[of(c)->n_held++] = object;
	publish_failure(c, object, LIVENESS_HELD);
	post(c, object, NEXTHOP_RETURNS, l->last, l->hold_ns);
}

static void report(struct control_role *c, uint32_t object, enum liveness_cause cause, bool up)
{
	const struct nexthop_life *l = &of(c)->life[object];
	uint8_t hard = (uint8_t)(l->causes & ~(LIVENESS_HELD | NO_FAILURES));
	uint8_t now = (uint8_t)(up ? hard & ~cause : hard | cause);

	if (cause & NO_FAILURES) {
		if (up == !!(l->causes & cause))
			publish(c, object, (uint8_t)(l->causes ^ cause));
		return;
	}
	if (now == hard)
		return;
	if (!hard)
		fail(c, object, now);
	else if (!now)
		come_back(c, object);
	else
		publish_failure(c, object, now); /* one more cause, or one less */
}

/* The id belongs to another next hop now, or to none: it begins alive, and what is known of the old one is forgotten. */
static void forget(struct control_role *c, uint32_t neigh, const struct snap_neigh *want)
{
	uint32_t object = NEXTHOP_FIRST_NEIGH + neigh;
	struct nexthop_owner *o = &of(c)->owner[neigh];
	struct nexthop_life *l = &of(c)->life[object];

	if (l->causes & LIVENESS_HELD)
		unhold(of(c), object);
	if (l->causes)
		publish(c, object, 0);
	SET(l->downs, 0);
	SET(l->since, c->now);
	SET(l->down_ns, 0);
	SET(l->returned, 0);
	SET(l->hold_ns, 0);
	*o = (struct nexthop_owner){0};
	if (want)
		*o = (struct nexthop_owner){.addr = want->addr, .interface = want->interface, .used = true};
}

/* Compare the ids of a new snapshot with those known. */
static void take_snapshot(struct control_role *c)
{
	struct node_nexthops *s = of(c);

	if (likely(s->generation == c->s->generation))
		return;
	s->generation = c->s->generation;
	for (uint32_t i = 0; i < SNAP_NEIGH_MAX; i++) {
		const struct snap_neigh *want = i < c->s->n_neighs && c->s->neigh[i].used ? &c->s->neigh[i] : NULL;
		const struct nexthop_owner *o = &s->owner[i];

		if (!want && !o->used)
			continue;
		if (!want || !o->used || o->interface != want->interface || !ip_addr_equal(&o->addr, &want->addr))
			forget(c, i, want);
	}
}

void nexthop_report(struct control_role *c, uint32_t neigh, enum liveness_cause cause, bool up)
{
	take_snapshot(c);
	if (neigh < SNAP_NEIGH_MAX && of(c)->owner[neigh].used)
		report(c, NEXTHOP_FIRST_NEIGH + neigh, cause, up);
}

void nexthop_report_path(struct control_role *c, uint32_t path, enum liveness_cause cause, bool up)
{
	if (path < SNAP_PATH_MAX)
		report(c, NEXTHOP_FIRST_PATH + path, cause, up);
}

void nexthop_report_address(struct control_role *c, uint16_t interface, const struct ip_addr *addr,
	enum liveness_cause cause, bool up)
{
	if (up && !of(c)->dead[__builtin_ctz(cause)])
		return;
	/* without a link nobody answers, which is no failure of its own */
	if (!up && table(c)->link[snap_interface_of(interface)] & ~LIVENESS_HELD)
		return;
	for (uint32_t i = 0; i < c->s->n_neighs; i++)
		if (c->s->neigh[i].used && c->s->neigh[i].interface == interface &&
			ip_addr_equal(&c->s->neigh[i].addr, addr))
			nexthop_report(c, i, cause, up);
}

/* A link may have failed and returned since the last pass: that is a failure, too. */
static unsigned int look_at_links(struct control_role *c)
{
	struct node_nexthops *s = of(c);
	unsigned int work = 0;

	for (uint32_t i = 0; i < c->s->n_ports; i++) {
		uint32_t was = s->link[i], is = port_link(c->node->port[i]);
		bool stopped = port_is_stopped(c->node->port[i]);

		if (unlikely(stopped != !!(s->life[i].causes & LIVENESS_STOPPED)))
			report(c, i, LIVENESS_STOPPED, !stopped);
		if (likely(was == is && s->started))
			continue;
		s->link[i] = is;
		work++;
		if (!s->started && !(is & 1))
			publish(c, i, LIVENESS_LINK); /* it has not failed: it has never been up */
		else if (s->started && was & 1)
			report(c, i, LIVENESS_LINK, false);
		if (s->started && is & 1)
			report(c, i, LIVENESS_LINK, true);
	}
	s->started = true;
	return work;
}

static unsigned int end_holds(struct control_role *c, uint64_t *next)
{
	struct node_nexthops *s = of(c);
	unsigned int work = 0;

	for (uint32_t i = 0; i < s->n_held;) {
		uint32_t object = s->held[i];

		if (s->life[object].held_until > c->now) {
			*next = MIN_OF(*next, s->life[object].held_until);
			i++;
			continue;
		}
		s->held[i] = s->held[--s->n_held];
		use_again(c, object);
		work++;
	}
	return work;
}

static unsigned int poll_nexthops(struct control_role *c, uint64_t *next)
{
	return look_at_links(c) + end_holds(c, next);
}

static int init(struct control_role *c, int socket)
{
	struct node_nexthops *s = new_aligned(sizeof(*s));

	(void)socket;
	c->node->state[SERVICE_NEXTHOP] = s;
	if (!s)
		return -ENOMEM;
	s->life = calloc(NEXTHOP_OBJECTS, sizeof(*s->life));
	s->owner = calloc(SNAP_NEIGH_MAX, sizeof(*s->owner));
	s->held = calloc(NEXTHOP_OBJECTS, sizeof(*s->held));
	return s->life && s->owner && s->held ? 0 : -ENOMEM;
}

static void fini(struct control_role *c)
{
	if (!of(c))
		return;
	free(of(c)->life);
	free(of(c)->owner);
	free(of(c)->held);
	free(of(c));
}

const struct control_service nexthop_service = {
	.name = "nexthop",
	.init = init,
	.fini = fini,
	.tick = nexthop_tick,
	.snapshot = take_snapshot,
	.poll = poll_nexthops,
};
