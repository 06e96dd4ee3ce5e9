/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reservations against the pool, and what is told and learnt about them: epochs and totals (docs/credit.md 2.2, 2.5, 2.11,
 * 2.12). Control lcore.
 */
#include <stdlib.h>

#include "rsvp/rsvp_node_priv.h"

#define KEPT_SHARE 16 /* of a shared pool, one part in so many is for sessions that begin */

static struct rsvp_reservation *reservation_of(struct rsvp_instance *s, const struct ip_addr *phop)
{
	struct rsvp_reservation *r = s->reservations;

	while (r && !ip_addr_equal(r->phop, phop))
		r = r->next;
	return r;
}

static struct rsvp_reservation *reservation_new(struct rsvp_node *n, struct rsvp_instance *s,
	const struct ip_addr *phop)
{
	struct rsvp_reservation *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->instance = s;
	r->phop = rsvp_addr_again(phop);
	r->number = n->ops->data ? n->ops->data->reserved(n->arg) : 0;
	r->next = s->reservations;
	s->reservations = r;
	return r;
}

/* More than the pool may be offered, because most offers are never committed (D14). */
struct rsvp_reservation *rsvp_reserve(struct rsvp_node *n, const struct rsvp_path *p)
{
	struct rsvp_instance *s = p->instance;
	struct rsvp_reservation *r = reservation_of(s, p->phop);
	uint32_t buffer = rsvp_first_buffer_of(n, s);
	uint64_t units = (uint64_t)buffer + n->config.margin;
	struct rsvp_limit *limit = &n->limit[s->limit];

	if (r && r->units) {
		rsvp_due_set(n, s, &r->due, TIME_NEVER);
		return r;
	}
	if (units > n->config.pool || n->stats.promised + units > n->config.pool * n->config.oversubscription)
		return NULL;
	if (units > limit->most || limit->promised + units > limit->most * n->config.oversubscription)
		return NULL;
	if (!r)
		r = reservation_new(n, s, p->phop);
	if (!r)
		return NULL;
	r->units = (uint32_t)units;
	r->buffer = buffer;
	n->stats.promised += units;
	limit->promised += units;
	return r;
}

static void count_reservation(const struct rsvp_node *n, struct rsvp_reservation *r)
{
	if (r->number && r->epoch)
		n->ops->data->counted(n->arg, r->number, &r->received, &r->lost, &r->freed);
}

uint64_t rsvp_pool_free(const struct rsvp_node *n)
{
	uint64_t kept = n->config.pool / KEPT_SHARE;

	return n->config.pool > n->stats.committed + kept ? n->config.pool - n->stats.committed - kept : 0;
}

static uint32_t grow(struct rsvp_node *n, struct rsvp_reservation *r, uint32_t want)
{
	struct rsvp_limit *limit = &n->limit[r->instance->limit];
	uint64_t to = MIN_OF(want, rsvp_buffer_of(n, r->instance)), more;

	if (!n->config.floor || !r->committed || r->buffer >= to)
		return 0;
	more = MIN_OF(to - r->buffer, rsvp_pool_free(n));
	more = MIN_OF(more, limit->most > limit->committed ? limit->most - limit->committed : 0);
	r->buffer += (uint32_t)more;
	r->units += (uint32_t)more;
	n->stats.promised += more;
	n->stats.committed += more;
	limit->promised += more;
	limit->committed += more;
	if (more && r->number)
		n->ops->data->resized(n->arg, r->number, r->buffer);
	return (uint32_t)more;
}

uint32_t rsvp_grow(struct rsvp_node *n, const struct rsvp_path *p, uint32_t want)
{
	return p->reservation ? grow(n, p->reservation, want) : 0;
}

bool rsvp_reservation_commit(struct rsvp_node *n, struct rsvp_reservation *r)
{
	struct rsvp_limit *limit = &n->limit[r->instance->limit];

	if (r->committed)
		return true;
	if (n->stats.committed + r->units > n->config.pool || limit->committed + r->units > limit->most)
		return false;
	n->stats.committed += r->units;
	limit->committed += r->units;
	r->committed = true;
	if (n->stats.committed + rsvp_buffer_of(n, r->instance) <= n->config.pool / 2)
		grow(n, r, UINT32_MAX); /* nobody is short of units */
	return true;
}

/* What is still buffered stays reserved: it came under the promise that ends. */
void rsvp_reservation_shrink(struct rsvp_node *n, struct rsvp_reservation *r, uint32_t keep)
{
	struct rsvp_limit *limit = &n->limit[r->instance->limit];
	uint64_t least = MAX_OF(keep, n->config.floor), less;

	if (!n->config.floor || !keep || !r->committed)
		return;
	count_reservation(n, r);
	least = MAX_OF(least, (uint64_t)MAX_OF((int64_t)r->received - r->freed, 0));
	if (least >= r->buffer)
		return;
	less = r->buffer - least;
	r->buffer -= (uint32_t)less;
	r->units -= (uint32_t)less;
	n->stats.promised -= less;
	n->stats.committed -= less;
	limit->promised -= less;
	limit->committed -= less;
}

/* The units go back to the pool, and the counters of the epoch end. */
void rsvp_give_back(struct rsvp_node *n, struct rsvp_reservation *r)
{
	struct rsvp_limit *limit = &n->limit[r->instance->limit];

	n->stats.promised -= r->units;
	limit->promised -= r->units;
	if (r->committed) {
		n->stats.committed -= r->units;
		limit->committed -= r->units;
	}
	r->units = 0;
	r->committed = false;
	rsvp_due_set(n, r->instance, &r->due, TIME_NEVER);
}

void rsvp_release(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint32_t delay_ms)
{
	struct rsvp_reservation *r = p->reservation;

	if (!r || !r->units)
		return;
	for (const struct rsvp_path *q = r->instance->paths; q; q = q->next)
		if (q->reservation == r && rsvp_path_holds(q))
			return;
	if (delay_ms && r->committed)
		rsvp_due_set(n, r->instance, &r->due, now + rsvp_ms(delay_ms));
	else
		rsvp_give_back(n, r);
}

void rsvp_reservation_free(struct rsvp_node *n, struct rsvp_reservation *r)
{
	struct rsvp_reservation **at = &r->instance->reservations;

	rsvp_give_back(n, r);
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	if (r->number)
		n->ops->data->released(n->arg, r->number);
	rsvp_addr_clear(n, &r->phop);
	free(r);
}

void rsvp_context_count(const struct rsvp_node *n, const struct rsvp_path *p)
{
	struct rsvp_context *x = p->context;
	uint64_t pending, queued;

	if (x && n->ops->data && n->ops->data->used(n->arg, p, &x->sent, &pending, &queued))
		x->rest = pending || queued;
}

/* What is still buffered of the old epoch is counted as a debt of the new one (D63). */
void rsvp_epoch_open(struct rsvp_node *n, struct rsvp_reservation *r, uint32_t hop_sequence)
{
	int64_t backlog;

	count_reservation(n, r);
	backlog = (int64_t)r->received - r->freed;
	r->epoch = r->epoch ? r->epoch + 1 : rsvp_random(n);
	if (!r->epoch)
		r->epoch = 1;
	r->opened_by = hop_sequence;
	r->sequence = 0;
	r->received = 0;
	r->lost = 0;
	r->freed = -backlog;
	r->fccl = r->abr = 0;
	if (r->number)
		n->ops->data->opened(n->arg, r->number, r->epoch, r->buffer);
}

void rsvp_credit_of(const struct rsvp_node *n, struct rsvp_reservation *r, uint8_t flags, struct rsvp_credit *out)
{
	int64_t limit, arrived;

	count_reservation(n, r);
	limit = r->freed + r->lost + (int64_t)r->buffer;
	arrived = (int64_t)r->received + r->lost;
	r->fccl = MAX_OF(r->fccl, (uint64_t)MAX_OF(limit, 0));
	r->abr = MAX_OF(r->abr, (uint64_t)MAX_OF(arrived, 0));
	*out = (struct rsvp_credit){.form = RSVP_CREDIT_TOTALS,
		.flags = flags,
		.traffic_class = r->instance->traffic_class,
		.unit = r->instance->unit,
		.epoch = r->epoch,
		.fccl = r->fccl,
		.abr = r->abr,
		.buffer = flags & RSVP_CREDIT_END ? 0 : r->buffer,
		.heartbeat_us = n->config.heartbeat_us,
		.sequence = ++r->sequence};
	if (r->number)
		n->ops->data->filled(n->arg, r->number, out);
}

bool rsvp_lend(struct rsvp_node *n, uint64_t lent)
{
	if (lent > n->config.pool || n->stats.committed > n->config.pool - lent)
		return false;
	n->stats.committed += lent;
	n->stats.promised += lent;
	return true;
}

void rsvp_return(struct rsvp_node *n, uint64_t lent)
{
	n->stats.committed -= lent;
	n->stats.promised -= lent;
}

void rsvp_limit_set(struct rsvp_node *n, uint8_t limit, uint64_t units)
{
	n->limit[limit].most = MIN_OF(units, RSVP_UNLIMITED);
}

uint64_t rsvp_limit_promised(const struct rsvp_node *n, uint8_t limit)
{
	return n->limit[limit].promised;
}

/* There is one for each path, and a path has one at most. */
static struct rsvp_context *context_new(struct rsvp_node *n)
{
	uint32_t i = n->context_free ? n->context_free - 1 : n->contexts++;

	n->context_free = n->context[i].next;
	n->context[i] = (struct rsvp_context){.paths = 0};
	return &n->context[i];
}

void rsvp_context_leave(struct rsvp_node *n, struct rsvp_path *p)
{
	struct rsvp_context *x = p->context;

	p->context = NULL;
	rsvp_addr_clear(n, &p->nhop);
	if (!x || --x->paths)
		return;
	x->next = n->context_free;
	n->context_free = (uint32_t)(x - n->context) + 1;
}

void rsvp_context_remember(struct rsvp_node *n, struct rsvp_path *p)
{
	struct rsvp_former *f = p->context ? rsvp_former_of(n, p) : NULL;
	unsigned int i = 0;

	if (!f)
		return;
	while (i < ARRAY_LEN(f->known) && !ip_addr_equal(&f->known[i].nhop, p->nhop))
		i++;
	if (i == ARRAY_LEN(f->known))
		i = f->known_next++ % ARRAY_LEN(f->known);
	f->known[i].nhop = *p->nhop;
	memcpy(f->known[i].left, p->context->left, sizeof(f->known[i].left));
}

static void recall(struct rsvp_path *p, const struct ip_addr *nhop)
{
	const struct rsvp_former *f = p->former;

	for (unsigned int i = 0; f && i < ARRAY_LEN(f->known); i++)
		if (ip_addr_equal(&f->known[i].nhop, nhop))
			memcpy(p->context->left, f->known[i].left, sizeof(f->known[i].left));
}

bool rsvp_context_join(struct rsvp_node *n, struct rsvp_path *p, const struct ip_addr *nhop)
{
	rsvp_context_leave(n, p);
	if (!rsvp_addr_set(n, &p->nhop, nhop))
		return false;
	for (const struct rsvp_path *q = p->instance->paths; q && !p->context; q = q->next)
		if (q->context && ip_addr_equal(q->nhop, nhop))
			p->context = q->context;
	if (!p->context) {
		p->context = context_new(n);
		recall(p, nhop);
	}
	p->context->paths++;
	return true;
}

static void take(struct rsvp_context *x, const struct rsvp_credit *c)
{
	x->sequence = c->sequence;
	x->fccl = MAX_OF(x->fccl, c->fccl);
	x->abr = MAX_OF(x->abr, c->abr);
	x->buffer = c->buffer;
}

enum rsvp_credit_answer rsvp_context_take(struct rsvp_context *x, const struct rsvp_credit *c)
{
	for (unsigned int i = 0; i < RSVP_LEFT; i++)
		if (x->left[i] == c->epoch)
			return RSVP_CREDIT_LEFT;
	if (c->epoch != x->epoch)
		return RSVP_CREDIT_OTHER;
	if ((int32_t)(c->sequence - x->sequence) <= 0)
		return RSVP_CREDIT_OLD;
	take(x, c);
	return RSVP_CREDIT_NEW;
}

void rsvp_context_start(struct rsvp_context *x, const struct rsvp_credit *c)
{
	if (x->epoch)
		x->left[x->left_next++ % RSVP_LEFT] = x->epoch;
	x->epoch = c->epoch;
	x->fccl = x->abr = x->sent = 0;
	x->stale = c->abr || c->fccl > c->buffer;
	take(x, c);
}

/* BUF, then delay where both are known, then hops, then path id. */
bool rsvp_offer_is_better(const struct rsvp_cbfc_offer *a, const struct rsvp_cbfc_offer *b)
{
	if (a->buffer != b->buffer)
		return a->buffer > b->buffer;
	if (a->delay_us != b->delay_us && a->delay_us != UINT32_MAX && b->delay_us != UINT32_MAX)
		return a->delay_us < b->delay_us;
	if (a->hops != b->hops)
		return a->hops < b->hops;
	return a->path < b->path;
}
