/* SPDX-License-Identifier: BSD-3-Clause */
#include "pfc/pfc_tunnel.h"

#include <stdio.h>

#define REPEAT_NS NSEC_PER_MSEC

/* Stops are renewed at half of the time that was sent (PROTOCOL.md 5.1). */
static uint64_t refresh_interval(const struct pfc_tunnel *x)
{
	return MAX_OF(pfc_quanta_ns(PFC_QUANTA_MAX, x->far_bps) / 2, 1);
}

static void tell(struct pfc_tunnels *t, struct pfc_tunnel *x, uint8_t about)
{
	struct pfc_request r = {.enable = about};

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (about & x->stopped & 1u << i)
			r.time[i] = PFC_QUANTA_MAX;
	t->send(t->arg, (uint32_t)(x - t->tunnel), &r);
}

static uint32_t place(struct pfc_tunnels *t)
{
	for (uint32_t i = 0; i < t->bound; i++)
		if (t->tunnel[i].origin == PFC_TUNNEL_FREE)
			return i;
	return t->bound < PFC_TUNNELS_MAX ? t->bound++ : PFC_TUNNEL_NONE;
}

static bool same_list(const struct pfc_list *a, const struct pfc_list *b)
{
	return a->n == b->n && memcmp(a->sid, b->sid, a->n * sizeof(a->sid[0])) == 0;
}

uint32_t pfc_tunnel_find(const struct pfc_tunnels *t, const char *name)
{
	for (uint32_t i = 0; i < t->bound; i++)
		if (t->tunnel[i].origin == PFC_TUNNEL_CONFIGURED && strcmp(t->tunnel[i].name, name) == 0)
			return i;
	return PFC_TUNNEL_NONE;
}

uint32_t pfc_tunnel_configure(struct pfc_tunnels *t, const char *name, uint8_t slice, uint8_t priorities,
	const struct pfc_list *list, uint64_t far_bps, uint64_t now)
{
	uint32_t i = pfc_tunnel_find(t, name);
	struct pfc_tunnel *x;
	uint8_t stopped;

	if (i == PFC_TUNNEL_NONE) {
		i = place(t);
		if (i == PFC_TUNNEL_NONE)
			return i;
		t->tunnel[i] = (struct pfc_tunnel){.origin = PFC_TUNNEL_CONFIGURED, .twice = t->config.repeat};
		snprintf(t->tunnel[i].name, sizeof(t->tunnel[i].name), "%s", name);
	}
	x = &t->tunnel[i];
	stopped = x->stopped;
	/* let go where it will not speak any more; the old list ends by its own time elsewhere */
	if (x->slice != slice)
		pfc_tunnel_want(t, i, 0, now);
	else
		pfc_tunnel_want(t, i, stopped & priorities, now);
	x->slice = slice;
	x->priorities = priorities;
	x->far_bps = far_bps;
	if (!same_list(&x->list, list)) {
		x->list = *list;
		if (x->stopped) {
			tell(t, x, x->stopped);
			x->stops++;
		}
	}
	if (x->stopped)
		x->refresh_at = now + refresh_interval(x);
	return i;
}

void pfc_tunnel_remove(struct pfc_tunnels *t, uint32_t i, uint64_t now)
{
	pfc_tunnel_want(t, i, 0, now);
	t->tunnel[i].origin = PFC_TUNNEL_FREE;
	while (t->bound && t->tunnel[t->bound - 1].origin == PFC_TUNNEL_FREE)
		t->bound--;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_list(const struct pfc_sighting *d)
{
	const uint8_t *bytes = (const uint8_t *)d->list;
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < d->n * sizeof(d->list[0]); i++)
		h = (h ^ bytes[i]) * 0x100000001b3ull;
	for (size_t i = 0; i < sizeof(d->source); i++)
		h = (h ^ d->source.b[i]) * 0x100000001b3ull;
	return h;
}

static struct pfc_tunnel *find_learnt(struct pfc_tunnels *t, uint8_t slice, uint64_t forward)
{
	for (uint32_t i = 0; i < t->bound; i++)
		if (t->tunnel[i].origin == PFC_TUNNEL_LEARNT && t->tunnel[i].forward == forward && t->tunnel[i].slice == slice)
			return &t->tunnel[i];
	return NULL;
}

static enum pfc_refusal reverse_of(const struct pfc_remotes *remotes, const struct pfc_sighting *d,
	struct pfc_list *out)
{
	enum pfc_refusal refusal;
	struct pfc_list forward;
	unsigned int own;

	if (!d->n)
		return PFC_REFUSED_no_srh;
	refusal = pfc_expand(remotes, d->list, d->n, &forward);
	if (refusal)
		return refusal;
	for (own = forward.n; own > 0; own--) {
		struct ip_addr a = ip_addr_from6(&forward.sid[own - 1]);

		if (ip_prefix_contains(&d->own, &a))
			return pfc_reverse(remotes, &forward, own - 1, out);
	}
	return PFC_REFUSED_not_in_list;
}

/* Data of the same ingress node and slice now comes another way as well: is told what the others were told. */
static uint8_t supersede(struct pfc_tunnels *t, const struct pfc_tunnel *by, uint64_t now)
{
	uint8_t stopped = 0;

	for (uint32_t i = 0; i < t->bound; i++) {
		struct pfc_tunnel *x = &t->tunnel[i];

		if (x == by || x->origin != PFC_TUNNEL_LEARNT || x->slice != by->slice ||
			memcmp(&x->contributor, &by->contributor, sizeof(x->contributor)) != 0)
			continue;
		if (!x->superseded)
			x->superseded = now;
		stopped |= x->stopped;
	}
	return stopped;
}

static enum pfc_refusal learn(struct pfc_tunnels *t, const struct pfc_remotes *remotes, const struct pfc_sighting *d,
	uint64_t forward, uint64_t now, uint32_t *id)
{
	struct pfc_tunnel x = {.origin = PFC_TUNNEL_LEARNT,
		.slice = d->slice,
		.priorities = d->priorities,
		.contributor = d->source,
		.forward = forward,
		.far_bps = d->far_bps,
		.twice = t->config.repeat,
		.used = now};
	enum pfc_refusal refusal = reverse_of(remotes, d, &x.list);

	if (refusal)
		return refusal;
	*id = place(t);
	if (*id == PFC_TUNNEL_NONE)
		return PFC_REFUSED_table_full;
	snprintf(x.name, sizeof(x.name), "learnt-%016llx", (unsigned long long)forward);
	t->tunnel[*id] = x;
	t->learnt++;
	pfc_tunnel_want(t, *id, supersede(t, &t->tunnel[*id], now), now);
	return PFC_REFUSED_none;
}

enum pfc_refusal pfc_tunnel_learn(struct pfc_tunnels *t, const struct pfc_remotes *remotes,
	const struct pfc_sighting *data, uint64_t now, uint32_t *id)
{
	uint64_t forward = hash_list(data);
	struct pfc_tunnel *known = find_learnt(t, data->slice, forward);
	enum pfc_refusal refusal;

	if (known) {
		/* a list that is still used beside its successor is no old one: flows are spread over both */
		known->superseded = 0;
		known->used = now;
		*id = (uint32_t)(known - t->tunnel);
		return PFC_REFUSED_none;
	}
	refusal = learn(t, remotes, data, forward, now, id);
	if (refusal)
		t->refused[refusal]++;
	return refusal;
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
	if (x->twice) {
		x->repeat = changed;
		x->repeat_at = now + REPEAT_NS;
	}
	for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
		if (changed & 1u << k)
			pfc_history_set(&x->history[k], want & 1u << k ? TIME_NEVER : 0, now);
}

/* When the tunnel goes if no data comes; TIME_NEVER while it holds a stop. */
static uint64_t end_of(const struct pfc_tunnels *t, const struct pfc_tunnel *x)
{
	uint64_t end = x->used + t->config.idle_ns;

	if (x->origin != PFC_TUNNEL_LEARNT)
		return TIME_NEVER;
	if (x->superseded)
		end = MIN_OF(end, x->superseded + t->config.max_rtt_ns);
	else if (x->stopped)
		return TIME_NEVER;
	return end;
}

static unsigned int serve(struct pfc_tunnels *t, uint32_t i, uint64_t now, uint64_t *next)
{
	struct pfc_tunnel *x = &t->tunnel[i];
	unsigned int sent = 0;

	if (now >= end_of(t, x)) {
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
		x->repeat = 0;
		sent++;
	}
	*next = MIN_OF(*next, end_of(t, x));
	if (x->stopped)
		*next = MIN_OF(*next, x->refresh_at);
	if (x->repeat)
		*next = MIN_OF(*next, x->repeat_at);
	return sent;
}

unsigned int pfc_tunnels_poll(struct pfc_tunnels *t, uint64_t now, uint64_t *next)
{
	unsigned int sent = 0;

	*next = TIME_NEVER;
	for (uint32_t i = 0; i < t->bound; i++)
		if (t->tunnel[i].origin != PFC_TUNNEL_FREE)
			sent += serve(t, i, now, next);
	return sent;
}
