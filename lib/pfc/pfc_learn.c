/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Learns tunnels from the segment lists of received data (draft-ruan section 3, scenario 2; docs/protocol.md 4.6).
 * Pure; control lcore.
 */
#include <stdio.h>

#include "pfc/pfc_tunnel_priv.h"

static uint64_t hash_list(const struct pfc_sighting *d)
{
	uint64_t h = PFC_TUNNEL_HASH;

	h = pfc_tunnel_hash(h, d->list, MIN_OF(d->n, PFC_LIST_MAX) * sizeof(d->list[0]));
	h = pfc_tunnel_hash(h, &d->source, sizeof(d->source));
	return pfc_tunnel_hash(h, &d->port, sizeof(d->port));
}

static struct pfc_tunnel *find_learnt(struct pfc_tunnels *t, uint8_t slice, uint64_t forward)
{
	uint32_t i = pfc_tunnel_first(t, PFC_TUNNELS_BY_KEY, forward);

	for (; i != PFC_TUNNEL_NONE; i = pfc_tunnel_next(t, PFC_TUNNELS_BY_KEY, i))
		if (t->tunnel[i].origin == PFC_TUNNEL_LEARNT && t->tunnel[i].forward == forward &&
			t->tunnel[i].slice == slice)
			return &t->tunnel[i];
	return NULL;
}

/* Reverse the part of the list up to the own SID; `own` is the prefix of that SID. */
static enum pfc_refusal reverse_of(const struct pfc_remotes *remotes, const struct ip_prefix *own,
	const struct ipv6_addr *list, unsigned int n, struct pfc_list *out)
{
	enum pfc_refusal refusal;
	struct pfc_list forward;

	if (!n)
		return PFC_REFUSED_no_srh;
	if (n > PFC_LIST_MAX)
		return PFC_REFUSED_too_long;
	refusal = pfc_expand(remotes, list, n, &forward);
	if (refusal)
		return refusal;
	for (unsigned int i = forward.n; i > 0; i--) {
		struct ip_addr a = ip_addr_from6(&forward.sid[i - 1]);

		if (ip_prefix_contains(own, &a))
			return pfc_reverse(remotes, &forward, i - 1, out);
	}
	return PFC_REFUSED_not_in_list;
}

static uint64_t hash_source(const struct pfc_tunnel *x)
{
	uint64_t h = pfc_tunnel_hash(PFC_TUNNEL_HASH, &x->contributor, sizeof(x->contributor));

	h = pfc_tunnel_hash(h, &x->slice, sizeof(x->slice));
	return pfc_tunnel_hash(h, &x->port, sizeof(x->port));
}

/*
 * Data of the same ingress node and slice arrives by another list: mark its other tunnels as superseded. Returns the
 * priorities that they hold stopped.
 */
static uint8_t supersede(struct pfc_tunnels *t, const struct pfc_tunnel *by, uint64_t now)
{
	uint32_t i = pfc_tunnel_first(t, PFC_TUNNELS_BY_SOURCE, hash_source(by));
	uint8_t stopped = 0;

	for (; i != PFC_TUNNEL_NONE; i = pfc_tunnel_next(t, PFC_TUNNELS_BY_SOURCE, i)) {
		struct pfc_tunnel *x = &t->tunnel[i];

		if (x == by || x->origin != PFC_TUNNEL_LEARNT || x->slice != by->slice || x->port != by->port ||
			memcmp(&x->contributor, &by->contributor, sizeof(x->contributor)) != 0)
			continue;
		if (!x->superseded)
			x->superseded = now;
		pfc_tunnel_arm(t, x);
		stopped |= x->stopped;
		/* tunnels that are still in use must be sighted again soon */
		t->changes++;
	}
	return stopped;
}

/* Tunnels learnt for a slice. */
static uint32_t share_of(const struct pfc_tunnels *t, uint8_t slice)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->bound; i++)
		n += t->tunnel[i].origin == PFC_TUNNEL_LEARNT && t->tunnel[i].slice == slice;
	return n;
}

/* Would the loss of a tunnel cost less than that of another one? It is of a slice with more tunnels, or idle for longer. */
static bool is_spared_easier(const struct pfc_tunnel *x, uint32_t share, const struct pfc_tunnel *than,
	uint32_t than_share)
{
	return !than || share > than_share || (share == than_share && x->used < than->used);
}

/*
 * The table is full: make room for a tunnel of `slice`, at the expense of a slice that has more tunnels than this one will
 * have then. A tunnel that holds a stop stays. Returns whether there is room.
 */
static bool make_room(struct pfc_tunnels *t, uint8_t slice, uint64_t now)
{
	uint32_t own = share_of(t, slice), most = own + 1;
	const struct pfc_tunnel *out = NULL;

	for (uint32_t i = 0; i < t->bound; i++) {
		const struct pfc_tunnel *x = &t->tunnel[i];
		uint32_t share;

		if (x->origin != PFC_TUNNEL_LEARNT || x->stopped || x->slice == slice ||
			(out && x->slice == out->slice && x->used >= out->used))
			continue;
		share = share_of(t, x->slice);
		if (share > own + 1 && is_spared_easier(x, share, out, most)) {
			out = x;
			most = share;
		}
	}
	if (!out)
		return false;
	t->evicted++;
	t->changes++; /* if its data still arrives, it must be sighted again */
	pfc_tunnel_remove(t, (uint32_t)(out - t->tunnel), now);
	return true;
}

static enum pfc_refusal learn(struct pfc_tunnels *t, const struct pfc_remotes *remotes, const struct pfc_sighting *d,
	uint64_t forward, uint64_t now, uint32_t *id)
{
	struct pfc_tunnel x = {.origin = PFC_TUNNEL_LEARNT,
		.port = d->port,
		.slice = d->slice,
		.priorities = d->priorities,
		.contributor = d->source,
		.own = d->own,
		.forward = forward,
		.far_bps = d->far_bps,
		.twice = t->config.repeat,
		.outage_ns = t->config.outage_ns,
		.used = now};
	enum pfc_refusal refusal = reverse_of(remotes, &d->own, d->list, d->n, &x.list);

	if (refusal)
		return refusal;
	if (t->n_learnt >= t->config.learnt_max && !make_room(t, d->slice, now))
		return PFC_REFUSED_table_full;
	*id = pfc_tunnel_place(t);
	if (*id == PFC_TUNNEL_NONE)
		return PFC_REFUSED_table_full;
	x.data.n = (uint8_t)d->n;
	memcpy(x.data.sid, d->list, d->n * sizeof(d->list[0]));
	snprintf(x.name, sizeof(x.name), "learnt-%016llx", (unsigned long long)forward);
	t->tunnel[*id] = x;
	pfc_tunnel_link(t, *id, PFC_TUNNELS_BY_KEY, forward);
	pfc_tunnel_link(t, *id, PFC_TUNNELS_BY_SOURCE, hash_source(&x));
	t->n_learnt++;
	refusal = t->made ? t->made(t->arg, *id) : PFC_REFUSED_none;
	if (refusal) {
		pfc_tunnel_remove(t, *id, now);
		return refusal;
	}
	t->learnt++;
	pfc_tunnel_lead(t, *id, &x.list, now);
	pfc_tunnel_want(t, *id, supersede(t, &t->tunnel[*id], now), now);
	return PFC_REFUSED_none;
}

/* Remember a recent refusal, one entry for each kind; a new kind replaces the oldest entry. */
static void remember(struct pfc_tunnels *t, const struct pfc_sighting *d, enum pfc_refusal reason, uint64_t now)
{
	struct pfc_refused *r = &t->recent[0];

	t->refused[reason]++;
	for (unsigned int i = 0; i < PFC_REFUSED_MAX; i++) {
		struct pfc_refused *x = &t->recent[i];

		if (x->reason == reason && x->port == d->port && x->slice == d->slice &&
			memcmp(&x->source, &d->source, sizeof(x->source)) == 0) {
			x->count++;
			x->last = now;
			return;
		}
		if (r->reason && (!x->reason || x->last < r->last))
			r = x;
	}
	*r = (struct pfc_refused){.reason = (uint8_t)reason,
		.port = d->port,
		.slice = d->slice,
		.source = d->source,
		.count = 1,
		.last = now};
}

enum pfc_refusal pfc_tunnel_learn(struct pfc_tunnels *t, const struct pfc_remotes *remotes,
	const struct pfc_sighting *data, uint64_t now, uint32_t *id)
{
	uint64_t forward = hash_list(data);
	struct pfc_tunnel *known = find_learnt(t, data->slice, forward);
	enum pfc_refusal refusal;

	if (known) {
		/* a list in use beside its successor is not superseded: flows are spread over both */
		known->superseded = 0;
		known->used = now;
		*id = (uint32_t)(known - t->tunnel);
		return PFC_REFUSED_none;
	}
	refusal = learn(t, remotes, data, forward, now, id);
	if (refusal)
		remember(t, data, refusal, now);
	return refusal;
}

bool pfc_tunnel_relearn(struct pfc_tunnels *t, const struct pfc_remotes *remotes, uint32_t i, uint64_t now)
{
	struct pfc_tunnel *x = &t->tunnel[i];
	struct pfc_list list, old = x->list;
	struct pfc_sighting d = {.port = x->port, .slice = x->slice, .source = x->contributor};
	enum pfc_refusal refusal = reverse_of(remotes, &x->own, x->data.sid, x->data.n, &list);

	if (!refusal && t->made) {
		x->list = list;
		refusal = t->made(t->arg, i);
		x->list = old;
	}
	if (refusal) {
		remember(t, &d, refusal, now);
		pfc_tunnel_remove(t, i, now);
		return false;
	}
	pfc_tunnel_lead(t, i, &list, now);
	return true;
}
