/* SPDX-License-Identifier: BSD-3-Clause */
/* The control lcore's neighbour state machine (RFC 4861 section 7.3, appendix C). */
#include "neigh/neigh_cache.h"

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>
#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"

#define DELAY_FIRST_PROBE_NS (5 * NSEC_PER_SEC) /* RFC 4861 DELAY_FIRST_PROBE_TIME */
#define FAILED_PAUSE_FACTOR 10			/* retransmit times between two attempts for a kept neighbour */
#define UNREACHABLE_SOLICITS 4			/* the last one waits for 27 retransmit times: 40 in total */
#define BACKOFF_MULTIPLE 3			/* RFC 7048 section 3: of the time between solicitations */
#define BACKOFF_MAX_NS (60 * NSEC_PER_SEC)	/* RFC 7048 MAX_RETRANS_TIMER */
#define ASKED_IN_VAIN UINT32_MAX		/* entry.asked: the link was down, no answer counts */

struct group;

struct entry {
	RB_ENTRY(entry) by_key;
	RB_ENTRY(entry) by_time;
	struct group *group;	    /* NULL: kept */
	TAILQ_ENTRY(entry) by_rank; /* in group->rank[] */
	struct neigh_info i;
	uint32_t asked; /* solicitations sent in this state */
};

/* What an entry is worth when the table is full, least first. */
enum rank { RANK_STALE, RANK_UNRESOLVED, RANK_USED, RANKS };

TAILQ_HEAD(entries, entry);

/* The learnt entries of a port. */
struct group {
	TAILQ_ENTRY(group) next;
	uint16_t port;
	unsigned int n;
	struct entries rank[RANKS]; /* in the order of the last change of state */
};

TAILQ_HEAD(groups, group);

RB_HEAD(key_tree, entry);
RB_HEAD(time_tree, entry);

struct neigh_cache {
	struct key_tree keys;
	struct time_tree times;
	struct neigh_ops ops;
	void *arg;
	struct neigh_limits limits;
	unsigned int n, kept;
	uint32_t random;
	struct groups groups; /* of ports with learnt entries */
	struct neigh_cache_stats stats;
};

static int compare_key(const struct entry *a, const struct entry *b)
{
	int d = (int)a->i.port - (int)b->i.port;

	if (!d)
		d = (int)a->i.addr.family - (int)b->i.addr.family;
	return d ? d : memcmp(a->i.addr.b, b->i.addr.b, ip_addr_bits(&a->i.addr) / 8);
}

static int compare_time(const struct entry *a, const struct entry *b)
{
	if (a->i.until_ns != b->i.until_ns)
		return a->i.until_ns < b->i.until_ns ? -1 : 1;
	return compare_key(a, b);
}

RB_GENERATE_INTERNAL(key_tree, entry, by_key, compare_key, static __attribute__((unused)))
RB_GENERATE_INTERNAL(time_tree, entry, by_time, compare_time, static __attribute__((unused)))

struct neigh_cache *neigh_cache_new(const struct neigh_ops *ops, void *arg)
{
	struct neigh_cache *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->ops = *ops;
	t->arg = arg;
	t->random = 0x2545f491;
	TAILQ_INIT(&t->groups);
	return t;
}

static enum rank rank_of(const struct entry *e)
{
	if (e->i.state == NEIGH_STALE)
		return RANK_STALE;
	return e->i.state == NEIGH_INCOMPLETE || e->i.state == NEIGH_FAILED ? RANK_UNRESOLVED : RANK_USED;
}

/* The group of a port; NULL: it has none. */
static struct group *group_of(const struct neigh_cache *t, uint16_t port)
{
	struct group *g;

	TAILQ_FOREACH(g, &t->groups, next)
		if (g->port == port)
			break;
	return g;
}

static struct group *new_group(struct neigh_cache *t, uint16_t port)
{
	struct group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->port = port;
	for (unsigned int i = 0; i < RANKS; i++)
		TAILQ_INIT(&g->rank[i]);
	TAILQ_INSERT_TAIL(&t->groups, g, next);
	return g;
}

/* Take an entry out of the lists of learnt ones. Its state is that with which it got there. */
static void leave(struct neigh_cache *t, struct entry *e)
{
	struct group *g = e->group;

	if (!g)
		return;
	TAILQ_REMOVE(&g->rank[rank_of(e)], e, by_rank);
	e->group = NULL;
	if (--g->n)
		return;
	TAILQ_REMOVE(&t->groups, g, next);
	free(g);
}

/* Put a learnt entry at the end of its list. */
static int join(struct neigh_cache *t, struct entry *e)
{
	struct group *g = group_of(t, e->i.port);

	if (!g)
		g = new_group(t, e->i.port);
	if (!g)
		return -ENOMEM;
	e->group = g;
	g->n++;
	TAILQ_INSERT_TAIL(&g->rank[rank_of(e)], e, by_rank);
	return 0;
}

static void set_state(struct entry *e, enum neigh_state state)
{
	struct group *g = e->group;

	if (g)
		TAILQ_REMOVE(&g->rank[rank_of(e)], e, by_rank);
	e->i.state = state;
	if (g)
		TAILQ_INSERT_TAIL(&g->rank[rank_of(e)], e, by_rank);
}

static void unlink_entry(struct neigh_cache *t, struct entry *e)
{
	leave(t, e);
	RB_REMOVE(time_tree, &t->times, e);
	RB_REMOVE(key_tree, &t->keys, e);
	t->n--;
	t->kept -= e->i.keep;
	free(e);
}

void neigh_cache_free(struct neigh_cache *t)
{
	struct entry *e;

	if (!t)
		return;
	while ((e = RB_MIN(key_tree, &t->keys)))
		unlink_entry(t, e);
	free(t);
}

void neigh_cache_set_limits(struct neigh_cache *t, const struct neigh_limits *limits)
{
	t->limits = *limits;
}

static struct entry *find(const struct neigh_cache *t, uint16_t port, const struct ip_addr *addr)
{
	struct entry key = {.i = {.port = port, .addr = *addr}};
	struct entry *e = RB_ROOT(&t->keys);

	while (e) {
		int d = compare_key(&key, e);

		if (!d)
			break;
		e = d < 0 ? RB_LEFT(e, by_key) : RB_RIGHT(e, by_key);
	}
	return e;
}

static void set_timer(struct neigh_cache *t, struct entry *e, uint64_t until)
{
	RB_REMOVE(time_tree, &t->times, e);
	e->i.until_ns = until;
	RB_INSERT(time_tree, &t->times, e);
}

static void tell(struct neigh_cache *t, struct entry *e, int state)
{
	t->ops.update(t->arg, e->i.port, &e->i.addr, &e->i.mac, state);
}

/* Solicit by multicast or broadcast while the MAC is unknown, afterwards by unicast to the known MAC. */
static void solicit(struct neigh_cache *t, struct entry *e, uint64_t now)
{
	e->asked++;
	t->ops.solicit(t->arg, e->i.port, &e->i.addr, e->i.state == NEIGH_PROBE ? &e->i.mac : NULL);
	set_timer(t, e, now + t->limits.retransmit_ns);
}

/* Solicit an unreachable neighbour by multicast, each time after a longer wait (RFC 7048 section 3). */
static void solicit_again(struct neigh_cache *t, struct entry *e, uint64_t now)
{
	uint64_t wait = t->limits.retransmit_ns;

	for (uint32_t i = 0; i < e->asked && wait < BACKOFF_MAX_NS; i++)
		wait *= BACKOFF_MULTIPLE;
	solicit(t, e, now);
	set_timer(t, e, now + MAX_OF(t->limits.retransmit_ns, MIN_OF(wait, BACKOFF_MAX_NS)));
}

static void enter(struct neigh_cache *t, struct entry *e, enum neigh_state state, uint64_t now)
{
	set_state(e, state);
	e->asked = 0;
	switch (state) {
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
		solicit(t, e, now);
		break;
	case NEIGH_REACHABLE:
		/* between 0.5 and 1.5 times the mean (RFC 4861 section 6.3.2), so that probes do not synchronise */
		t->random = t->random * 1664525u + 1013904223u;
		set_timer(t, e, now + t->limits.reachable_ns / 2 + t->limits.reachable_ns / 65536 * (t->random >> 16));
		break;
	case NEIGH_STALE:
		set_timer(t, e, now + t->limits.stale_ns);
		break;
	case NEIGH_DELAY:
		set_timer(t, e, now + MIN_OF(DELAY_FIRST_PROBE_NS, t->limits.reachable_ns));
		break;
	case NEIGH_FAILED:
		set_timer(t, e, now + FAILED_PAUSE_FACTOR * t->limits.retransmit_ns);
		break;
	case NEIGH_UNREACHABLE:
		solicit_again(t, e, now);
		break;
	}
}

/* The entry that goes for a new one of `port`, or NULL. */
static struct entry *greediest_entry(const struct neigh_cache *t, uint16_t port)
{
	struct group *g, *most = NULL;
	const struct group *own = group_of(t, port);

	TAILQ_FOREACH(g, &t->groups, next)
		if (g != own && (!most || g->n > most->n))
			most = g;
	/* the port itself has as many as any other: one that nobody uses goes, or nothing is learnt */
	if (own && (!most || own->n >= most->n))
		return TAILQ_FIRST(&own->rank[RANK_STALE]);
	for (unsigned int i = 0; most && i < RANKS; i++)
		if (TAILQ_FIRST(&most->rank[i]))
			return TAILQ_FIRST(&most->rank[i]);
	return NULL;
}

/* Return whether a port may learn an address; at the limit, another one goes. */
static bool make_room(struct neigh_cache *t, uint16_t port)
{
	struct entry *e;

	if (t->n - t->kept < t->limits.max)
		return true;
	e = greediest_entry(t, port);
	if (!e) {
		t->stats.refused++;
		return false;
	}
	t->stats.evicted++;
	tell(t, e, -1);
	unlink_entry(t, e);
	return true;
}

static struct entry *create(struct neigh_cache *t, uint64_t now, uint16_t port, const struct ip_addr *addr,
	enum neigh_state state, bool keep)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->i.port = port;
	e->i.addr = *addr;
	e->i.state = state;
	e->i.until_ns = now;
	if (!keep && join(t, e) < 0) {
		free(e);
		return NULL;
	}
	RB_INSERT(key_tree, &t->keys, e);
	RB_INSERT(time_tree, &t->times, e);
	t->n++;
	return e;
}

int neigh_cache_keep(struct neigh_cache *t, uint64_t now, uint16_t port, const struct ip_addr *addr, bool keep)
{
	struct entry *e = find(t, port, addr);

	if (!keep) {
		if (!e || !e->i.keep || join(t, e) < 0)
			return 0;
		e->i.keep = false;
		t->kept--;
		return 0;
	}
	if (!e) {
		e = create(t, now, port, addr, NEIGH_INCOMPLETE, true);
		if (!e)
			return -ENOMEM;
		enter(t, e, NEIGH_INCOMPLETE, now);
	} else if (!e->i.keep && e->i.state == NEIGH_STALE) {
		enter(t, e, NEIGH_PROBE, now);
	}
	leave(t, e);
	t->kept += !e->i.keep;
	e->i.keep = true;
	return 0;
}

bool neigh_cache_has_mac(const struct neigh_cache *t, uint16_t port, const struct ip_addr *addr)
{
	const struct entry *e = find(t, port, addr);

	return e && e->i.state != NEIGH_INCOMPLETE && e->i.state != NEIGH_FAILED;
}

int neigh_cache_ask(struct neigh_cache *t, uint64_t now, uint16_t port, const struct ip_addr *addr)
{
	struct entry *e = find(t, port, addr);

	if (!e) {
		if (!make_room(t, port))
			return -ENOSPC;
		e = create(t, now, port, addr, NEIGH_INCOMPLETE, false);
		if (!e)
			return -ENOMEM;
		enter(t, e, NEIGH_INCOMPLETE, now);
	} else if (e->i.state == NEIGH_FAILED) {
		enter(t, e, NEIGH_INCOMPLETE, now);
	} else if (e->i.state != NEIGH_INCOMPLETE) {
		/* the worker missed the earlier update, or the entry was learnt without a request */
		tell(t, e, NEIGH_REACHABLE);
		if (e->i.state == NEIGH_UNREACHABLE)
			tell(t, e, NEIGH_UNREACHABLE);
		if (e->i.state == NEIGH_STALE)
			enter(t, e, NEIGH_DELAY, now);
	}
	return 0;
}

void neigh_cache_used(struct neigh_cache *t, uint64_t now, uint16_t port, const struct ip_addr *addr)
{
	struct entry *e = find(t, port, addr);

	if (e && e->i.state == NEIGH_STALE)
		enter(t, e, NEIGH_DELAY, now);
}

/* RFC 4861 section 7.2.5, and appendix C. */
void neigh_cache_heard(struct neigh_cache *t, uint64_t now, const struct neigh_news *news)
{
	struct entry *e = find(t, news->port, &news->addr);
	bool differs;

	if (!e) {
		if (!news->create || !news->has_mac || !make_room(t, news->port))
			return;
		e = create(t, now, news->port, &news->addr, NEIGH_STALE, false);
		if (!e)
			return;
		e->i.mac = news->mac;
		enter(t, e, NEIGH_STALE, now);
		return;
	}
	if (e->i.state == NEIGH_INCOMPLETE || e->i.state == NEIGH_FAILED || e->i.state == NEIGH_UNREACHABLE) {
		if (!news->has_mac && (e->i.state != NEIGH_UNREACHABLE || !news->solicited))
			return;
		if (news->has_mac)
			e->i.mac = news->mac;
		tell(t, e, NEIGH_REACHABLE);
		enter(t, e, news->solicited ? NEIGH_REACHABLE : NEIGH_STALE, now);
		if (!news->solicited)
			tell(t, e, NEIGH_STALE);
		return;
	}
	differs = news->has_mac && !eth_equal(&news->mac, &e->i.mac);
	if (differs && !news->override) {
		if (e->i.state == NEIGH_REACHABLE) {
			enter(t, e, NEIGH_STALE, now);
			tell(t, e, NEIGH_STALE);
		}
		return;
	}
	if (differs) {
		e->i.mac = news->mac;
		tell(t, e, NEIGH_REACHABLE);
	}
	if (news->solicited) {
		enter(t, e, NEIGH_REACHABLE, now);
	} else if (differs) {
		enter(t, e, NEIGH_STALE, now);
		tell(t, e, NEIGH_STALE);
	}
}

/*
 * No answer. A next hop that was known keeps its MAC while it is asked again (RFC 7048): its answers may only have been
 * lost, and for some time a wrong MAC costs no more than none. Other ways take over all the same. When the link was down,
 * the MAC may be that of a station that is no longer there.
 */
static void give_up(struct neigh_cache *t, struct entry *e, uint64_t now)
{
	if (e->i.keep && e->i.state == NEIGH_PROBE && e->asked != ASKED_IN_VAIN) {
		tell(t, e, NEIGH_UNREACHABLE);
		enter(t, e, NEIGH_UNREACHABLE, now);
		return;
	}
	tell(t, e, NEIGH_FAILED);
	if (e->i.keep)
		enter(t, e, NEIGH_FAILED, now);
	else
		unlink_entry(t, e);
}

static void due(struct neigh_cache *t, struct entry *e, uint64_t now)
{
	switch (e->i.state) {
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
		if (e->asked < t->limits.probes)
			solicit(t, e, now);
		else
			give_up(t, e, now);
		break;
	case NEIGH_REACHABLE:
		/* a kept entry is confirmed before it is used */
		enter(t, e, e->i.keep ? NEIGH_PROBE : NEIGH_STALE, now);
		if (!e->i.keep)
			tell(t, e, NEIGH_STALE);
		break;
	case NEIGH_DELAY:
		enter(t, e, NEIGH_PROBE, now);
		break;
	case NEIGH_STALE:
		if (e->i.keep) {
			enter(t, e, NEIGH_PROBE, now);
			break;
		}
		tell(t, e, -1);
		unlink_entry(t, e);
		break;
	case NEIGH_FAILED:
		if (e->i.keep) {
			enter(t, e, NEIGH_INCOMPLETE, now);
			break;
		}
		tell(t, e, -1);
		unlink_entry(t, e);
		break;
	case NEIGH_UNREACHABLE:
		if (e->i.keep && e->asked < UNREACHABLE_SOLICITS) {
			solicit_again(t, e, now);
			break;
		}
		give_up(t, e, now);
		break;
	}
}

void neigh_cache_link_down(struct neigh_cache *t, uint64_t now, uint16_t port, uint16_t mask)
{
	struct entry *e;

	RB_FOREACH(e, key_tree, &t->keys) {
		if ((e->i.port & mask) != (port & mask) || e->i.state == NEIGH_FAILED)
			continue;
		/* no answer to the last solicitation */
		if (e->i.state != NEIGH_INCOMPLETE)
			set_state(e, NEIGH_PROBE);
		e->asked = ASKED_IN_VAIN;
		set_timer(t, e, now);
	}
}

void neigh_cache_link_up(struct neigh_cache *t, uint64_t now, uint16_t port, uint16_t mask)
{
	struct entry *e;

	RB_FOREACH(e, key_tree, &t->keys) {
		if ((e->i.port & mask) != (port & mask))
			continue;
		/* one that is stale was heard just before the link was seen to be up */
		if ((e->i.state == NEIGH_FAILED || e->i.state == NEIGH_STALE) && e->i.keep)
			set_timer(t, e, now);
		if (e->i.state == NEIGH_INCOMPLETE && e->asked != ASKED_IN_VAIN) {
			e->asked = 0; /* nobody could hear those solicitations */
			set_timer(t, e, now);
		}
	}
}

unsigned int neigh_cache_poll(struct neigh_cache *t, uint64_t now, unsigned int budget, uint64_t *next)
{
	unsigned int done = 0;
	struct entry *e;

	while ((e = RB_MIN(time_tree, &t->times)) && e->i.until_ns <= now && done < budget) {
		due(t, e, now);
		done++;
	}
	e = RB_MIN(time_tree, &t->times);
	*next = e ? e->i.until_ns : TIME_NEVER;
	return done;
}

void neigh_cache_each(const struct neigh_cache *t, void (*fn)(void *arg, const struct neigh_info *info), void *arg)
{
	struct entry *e;

	for (e = RB_MIN(key_tree, (struct key_tree *)(uintptr_t)&t->keys); e; e = RB_NEXT(key_tree, 0, e))
		fn(arg, &e->i);
}

unsigned int neigh_cache_count(const struct neigh_cache *t)
{
	return t->n;
}

const struct neigh_cache_stats *neigh_cache_stats(const struct neigh_cache *t)
{
	return &t->stats;
}

const char *neigh_state_name(enum neigh_state state)
{
	static const char *const names[] = {"incomplete", "reachable", "stale", "delay", "probe", "failed",
		"unreachable"};

	return names[state];
}
