/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC tunnels of a congested node: configures, refreshes and ages them, and sends pauses into them (draft-ruan section
 * 3; docs/protocol.md 4.6). Pure; control lcore.
 */
#include <stdio.h>

#include "pfc/pfc_tunnel_priv.h"

#define REPEAT_NS NSEC_PER_MSEC		    /* until the first two repeats */
#define REPEAT_LATER_NS (5 * NSEC_PER_MSEC) /* until each later one of XON */
#define POLL_BUDGET 4096		    /* timers processed in one pass: a few for each possible tunnel */

/* Interval in ns at which stops are refreshed: half of the pause time sent (docs/protocol.md 5.1). */
static uint64_t refresh_interval(const struct pfc_tunnel *x)
{
	return MAX_OF(pfc_quanta_ns(PFC_QUANTA_MAX, x->far_bps) / 2, 1);
}

/* Do both lists end at the same SID of the same node? */
static bool same_end(const struct pfc_list *a, const struct pfc_list *b)
{
	if (!a->n || !b->n || memcmp(&a->sid[a->n - 1], &b->sid[b->n - 1], sizeof(a->sid[0])) != 0)
		return false;
	if (!a->local && !b->local)
		return true;
	return a->n > 1 && b->n > 1 && memcmp(&a->sid[a->n - 2], &b->sid[b->n - 2], sizeof(a->sid[0])) == 0;
}

static uint64_t hash_end(const struct pfc_list *list)
{
	return pfc_tunnel_hash(PFC_TUNNEL_HASH, &list->sid[list->n - 1], sizeof(list->sid[0]));
}

/* The first tunnel that may end at the same SID as this one. */
static uint32_t first_peer(const struct pfc_tunnels *t, const struct pfc_tunnel *x)
{
	return x->list.n ? pfc_tunnel_first(t, PFC_TUNNELS_BY_END, hash_end(&x->list)) : PFC_TUNNEL_NONE;
}

/*
 * Priorities that other tunnels to the same SID hold stopped. The far end sees all these tunnels as one party (D42).
 */
static uint8_t held_by_others(const struct pfc_tunnels *t, const struct pfc_tunnel *x)
{
	uint8_t stopped = 0;

	for (uint32_t i = first_peer(t, x); i != PFC_TUNNEL_NONE; i = pfc_tunnel_next(t, PFC_TUNNELS_BY_END, i)) {
		const struct pfc_tunnel *y = &t->tunnel[i];

		if (y == x || (x->carries && y->carries && x->slice != y->slice))
			continue;
		if (y->stopped && same_end(&x->list, &y->list))
			stopped |= y->stopped;
	}
	return stopped;
}

static void tell(struct pfc_tunnels *t, struct pfc_tunnel *x, uint8_t about)
{
	struct pfc_request r = {.enable = about};

	/* an XON of this tunnel would cancel the XOFF of another one */
	if (about & ~x->stopped) {
		r.enable = (uint8_t)(about & ~(held_by_others(t, x) & ~x->stopped));
		if (!r.enable)
			return;
	}
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (about & x->stopped & 1u << i)
			r.time[i] = PFC_QUANTA_MAX;
	t->send(t->arg, (uint32_t)(x - t->tunnel), &r);
}

/*
 * Time in ns at which the tunnel is removed if no data arrives. It stays as long as it alone holds a stop: the data
 * has stopped because of it, and its successor may lead to another interface.
 */
static uint64_t end_of(const struct pfc_tunnels *t, const struct pfc_tunnel *x)
{
	uint64_t end = x->used + t->config.idle_ns;

	if (x->origin != PFC_TUNNEL_LEARNT)
		return TIME_NEVER;
	if (x->stopped && (!x->superseded || x->stopped & ~held_by_others(t, x)))
		return TIME_NEVER;
	return x->superseded ? MIN_OF(end, x->superseded + t->config.max_rtt_ns) : end;
}

void pfc_tunnel_arm(struct pfc_tunnels *t, struct pfc_tunnel *x)
{
	uint64_t at = end_of(t, x);

	if (x->stopped)
		at = MIN_OF(at, x->refresh_at);
	if (x->repeat)
		at = MIN_OF(at, x->repeat_at);
	timers_set(&t->timers, &x->timer, at);
}

/*
 * The tunnel holds more priorities, or ends at another SID. Superseded tunnels that stay only because no other tunnel
 * holds the same stop may now be removed.
 */
static void arm_peers(struct pfc_tunnels *t, const struct pfc_tunnel *x)
{
	for (uint32_t i = first_peer(t, x); i != PFC_TUNNEL_NONE; i = pfc_tunnel_next(t, PFC_TUNNELS_BY_END, i))
		if (&t->tunnel[i] != x && t->tunnel[i].superseded)
			pfc_tunnel_arm(t, &t->tunnel[i]);
}

static bool same_list(const struct pfc_list *a, const struct pfc_list *b)
{
	return a->n == b->n && memcmp(a->sid, b->sid, a->n * sizeof(a->sid[0])) == 0;
}

static uint64_t hash_name(const char *name)
{
	return pfc_tunnel_hash(PFC_TUNNEL_HASH, name, strlen(name));
}

uint32_t pfc_tunnel_find(const struct pfc_tunnels *t, const char *name)
{
	uint32_t i = pfc_tunnel_first(t, PFC_TUNNELS_BY_KEY, hash_name(name));

	while (i != PFC_TUNNEL_NONE &&
		(t->tunnel[i].origin != PFC_TUNNEL_CONFIGURED || strcmp(t->tunnel[i].name, name) != 0))
		i = pfc_tunnel_next(t, PFC_TUNNELS_BY_KEY, i);
	return i;
}

uint32_t pfc_tunnel_configure(struct pfc_tunnels *t, const char *name, uint8_t slice, uint8_t priorities,
	const struct pfc_list *list, uint64_t far_bps, uint64_t now)
{
	uint32_t i = pfc_tunnel_find(t, name);
	struct pfc_tunnel *x;
	uint8_t stopped;

	if (i == PFC_TUNNEL_NONE) {
		i = pfc_tunnel_place(t);
		if (i == PFC_TUNNEL_NONE)
			return i;
		t->tunnel[i] = (struct pfc_tunnel){.origin = PFC_TUNNEL_CONFIGURED,
			.twice = t->config.repeat,
			.outage_ns = t->config.outage_ns};
		snprintf(t->tunnel[i].name, sizeof(t->tunnel[i].name), "%s", name);
		pfc_tunnel_link(t, i, PFC_TUNNELS_BY_KEY, hash_name(name));
	}
	x = &t->tunnel[i];
	stopped = x->stopped;
	/* release stops that the tunnel no longer covers; elsewhere, pauses by the old list expire by themselves */
	if (x->slice != slice)
		pfc_tunnel_want(t, i, 0, now);
	else
		pfc_tunnel_want(t, i, stopped & priorities, now);
	x->slice = slice;
	x->priorities = priorities;
	x->far_bps = far_bps;
	pfc_tunnel_lead(t, i, list, now);
	return i;
}

void pfc_tunnel_lead(struct pfc_tunnels *t, uint32_t i, const struct pfc_list *list, uint64_t now)
{
	struct pfc_tunnel *x = &t->tunnel[i];
	bool same = same_list(&x->list, list);

	x->list = *list;
	if (list->n)
		pfc_tunnel_link(t, i, PFC_TUNNELS_BY_END, hash_end(list));
	if (x->stopped) {
		if (!same) {
			tell(t, x, x->stopped);
			x->stops++;
		}
		x->refresh_at = now + refresh_interval(x);
		arm_peers(t, x);
	}
	pfc_tunnel_arm(t, x);
}

void pfc_tunnel_remove(struct pfc_tunnels *t, uint32_t i, uint64_t now)
{
	pfc_tunnel_want(t, i, 0, now);
	t->n_learnt -= t->tunnel[i].origin == PFC_TUNNEL_LEARNT;
	timers_cancel(&t->timers, &t->tunnel[i].timer);
	pfc_tunnel_free(t, i);
}

/* What has changed must be said again. An XON that is lost costs time, and one frame is soon lost. */
static void repeat_later(struct pfc_tunnel *x, uint8_t changed, uint64_t now)
{
	uint8_t resumed = changed & (uint8_t)~x->stopped;

	x->repeat &= (uint8_t)~changed;
	if (x->twice)
		x->repeat |= changed;
	if (x->outage_ns)
		x->repeat |= resumed;
	if (resumed)
		x->resumed_at = now;
	if (x->repeat)
		x->repeat_at = now + REPEAT_NS;
}

/* Repeats were sent: XOFF, which refreshes repeat from now on, needs no further one, XON does until a way that was cut is back. */
static void repeat_on(struct pfc_tunnel *x, uint64_t now)
{
	x->repeat &= (uint8_t)~x->stopped;
	x->repeat_at = now + (now < x->resumed_at + 2 * REPEAT_NS ? REPEAT_NS : REPEAT_LATER_NS);
	if (now >= x->resumed_at + x->outage_ns)
		x->repeat = 0;
}

void pfc_tunnel_want(struct pfc_tunnels *t, uint32_t i, uint8_t stopped, uint64_t now)
{
	struct pfc_tunnel *x = &t->tunnel[i];
	uint8_t want = stopped & x->priorities, changed = want ^ x->stopped;

	if (!changed)
		return;
	x->stopped = want;
	tell(t, x, changed | want);
	if (changed & want)
		x->stops++;
	else
		x->resumes++;
	x->refresh_at = now + refresh_interval(x);
	repeat_later(x, changed, now);
	for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
		if (changed & 1u << k)
			pfc_history_set(&x->history[k], want & 1u << k ? TIME_NEVER : 0, now);
	pfc_tunnel_arm(t, x);
	if (changed & want)
		arm_peers(t, x);
}

void pfc_tunnel_begin(struct pfc_tunnels *t, uint32_t i, uint64_t now)
{
	struct pfc_tunnel *x = &t->tunnel[i];
	uint8_t free = x->priorities & (uint8_t)~x->stopped;

	if (!free)
		return;
	tell(t, x, free);
	x->resumes++;
	repeat_later(x, free, now);
	pfc_tunnel_arm(t, x);
}

/* Do what is due for a tunnel. Returns the number of frames sent. */
static unsigned int serve(struct pfc_tunnels *t, uint32_t i, uint64_t now)
{
	struct pfc_tunnel *x = &t->tunnel[i];
	unsigned int sent = 0;

	/* data may have arrived meanwhile, or another tunnel that holds the same stop may have been removed */
	if (now >= end_of(t, x)) {
		t->changes += x->superseded != 0;
		*(x->superseded ? &t->replaced : &t->aged) += 1;
		sent += x->stopped != 0;
		pfc_tunnel_remove(t, i, now);
		return sent;
	}
	if (x->stopped && now >= x->refresh_at) {
		tell(t, x, x->stopped);
		x->refreshes++;
		x->refresh_at = now + refresh_interval(x);
		sent++;
	}
	if (x->repeat && now >= x->repeat_at) {
		tell(t, x, x->repeat);
		x->repeats++;
		repeat_on(x, now);
		sent++;
	}
	pfc_tunnel_arm(t, x);
	return sent;
}

unsigned int pfc_tunnels_poll(struct pfc_tunnels *t, uint64_t now, uint64_t *next)
{
	unsigned int sent = 0, budget = POLL_BUDGET;
	uint64_t due[PFC_TUNNELS_MAX / 64];
	struct timer *timer;

	*next = timers_next(&t->timers);
	if (now < *next)
		return 0;
	memset(due, 0, sizeof(due));
	while ((timer = timers_pop(&t->timers, now, &budget))) {
		uint32_t i = (uint32_t)(TIMER_OWNER(timer, struct pfc_tunnel, timer) - t->tunnel);

		due[i / 64] |= 1ull << i % 64;
	}
	for (uint32_t w = 0; w < ARRAY_LEN(due); w++)
		for (; due[w]; due[w] &= due[w] - 1)
			sent += serve(t, w * 64 + (uint32_t)__builtin_ctzll(due[w]), now);
	*next = timers_next(&t->timers);
	return sent;
}
