/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What commands and metrics read of RSVP: sessions put together from their paths, counters since they were cleared, and
 * the record of messages. Management thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "service/rsvp/service_rsvp.h"

/* --- sessions --- */

static int by_name(const void *a, const void *b)
{
	const struct rsvp_session_shown *const *x = a, *const *y = b;

	return strcmp((*x)->session->name, (*y)->session->name);
}

static struct rsvp_session_shown *named(struct rsvp_session_shown **sorted, uint32_t n, const char *name)
{
	const struct snap_rsvp_session session = {.name = name};
	const struct rsvp_session_shown key = {.session = &session}, *p = &key;
	struct rsvp_session_shown **found = bsearch(&p, sorted, n, sizeof(*sorted), by_name);

	return found ? *found : NULL;
}

/* How much a state says about the session: the path that carries data, then the best of the others. */
static int weight_of(const struct rsvp_path_view *v)
{
	static const uint8_t order[] = {RSVP_U_OUT, RSVP_U_ENDING, RSVP_U_WAIT, RSVP_U_OFFER, RSVP_U_DOWN,
		RSVP_U_RESYNC, RSVP_U_COMMITTED};

	for (unsigned int i = 0; i < ARRAY_LEN(order); i++)
		if (v->user == order[i])
			return (int)i + 1 + (v->current ? (int)ARRAY_LEN(order) : 0);
	return 0;
}

static void add_path(struct rsvp_session_shown *x, const struct rsvp_row *row, uint32_t place)
{
	int weight = weight_of(&row->view);

	x->candidates++;
	if (weight < x->weight)
		return;
	x->weight = weight;
	x->row = place;
	x->up = row->view.user == RSVP_U_COMMITTED;
	x->units = x->up ? row->view.credit_units : 0;
}

struct rsvp_session_shown *rsvp_sessions_shown(const struct node *n, uint32_t *count)
{
	const struct snap_credit *s = &n->snapshot->credit;
	const struct rsvp_control *r = rsvp_shown(n);
	struct rsvp_session_shown *all, **sorted;
	struct rsvp_row row;

	*count = s->on ? s->n_sessions : 0;
	all = *count ? calloc(*count, sizeof(*all)) : NULL;
	sorted = *count ? calloc(*count, sizeof(struct rsvp_session_shown *)) : NULL;
	if (!all || !sorted) {
		*count = 0;
		free(sorted);
		free(all);
		return NULL;
	}
	for (uint32_t i = 0; i < *count; i++) {
		all[i] = (struct rsvp_session_shown){.session = &s->session[i], .row = RSVP_NO_ROW};
		sorted[i] = &all[i];
	}
	qsort(sorted, *count, sizeof(*sorted), by_name);
	for (uint32_t i = 0; r && i < r->rows; i++) {
		struct rsvp_session_shown *x = rsvp_row_copy(r, i, &row) && row.session[0]
						       ? named(sorted, *count, row.session)
						       : NULL;

		if (x)
			add_path(x, &row, i);
	}
	free(sorted);
	return all;
}

/* --- counters --- */

void rsvp_stats_shown(const struct node *n, struct rsvp_service_stats *service, struct rsvp_node_stats *machines,
	struct letter_stats *letter)
{
	const struct rsvp_control *r = rsvp_shown(n);
	const struct rsvp_base *base = node_rsvp(n)->base;

	*service = r ? r->stats : (struct rsvp_service_stats){0};
	*machines = r ? *rsvp_node_stats_of(r->machines) : (struct rsvp_node_stats){0};
	*letter = r ? *letter_stats_of(r->letter) : (struct letter_stats){0};
	if (!base)
		return;
#define X(kind, member, ...) STAT_SINCE(kind, service->member, base->service.member)
	RSVP_SERVICE_COUNTERS(X)
	RSVP_REFUSED_COUNTERS(X)
#undef X
#define X(kind, member, ...) STAT_SINCE(kind, machines->member, base->machines.member)
	RSVP_NODE_COUNTERS(X)
#undef X
#define X(kind, member, ...) STAT_SINCE(kind, letter->member, base->letter.member)
	LETTER_COUNTERS(X)
#undef X
}

struct rsvp_neighbor rsvp_neighbor_shown(const struct node *n, uint32_t i)
{
	struct rsvp_neighbor shown = rsvp_shown(n)->neighbor[i];
	const struct rsvp_base *base = node_rsvp(n)->base;

	for (uint32_t k = 0; base && k < base->neighbors; k++) {
		if (base->neighbor[k].number != shown.number)
			continue;
#define X(kind, member, ...) STAT_SINCE(kind, shown.member, base->neighbor[k].member)
		RSVP_NEIGHBOR_COUNTERS(X)
#undef X
	}
	return shown;
}

void rsvp_clear_shown(struct node *n)
{
	const struct rsvp_control *r = rsvp_shown(n);
	struct node_rsvp *s = node_rsvp(n);

	if (s->journal)
		s->forgotten = __atomic_load_n(&s->journal->last, __ATOMIC_ACQUIRE);
	if (!r)
		return;
	if (!s->base)
		s->base = calloc(1, sizeof(*s->base));
	if (!s->base)
		return;
	s->base->service = r->stats;
	s->base->machines = *rsvp_node_stats_of(r->machines);
	s->base->letter = *letter_stats_of(r->letter);
	s->base->neighbors = __atomic_load_n(&r->neighbors, __ATOMIC_ACQUIRE);
	memcpy(s->base->neighbor, r->neighbor, s->base->neighbors * sizeof(r->neighbor[0]));
}

/* --- messages --- */

int rsvp_debug(struct node *n, bool on)
{
	struct node_rsvp *s = node_rsvp(n);

	if (on && !s->journal)
		s->journal = calloc(1, sizeof(*s->journal));
	if (on && !s->journal)
		return -ENOMEM;
	__atomic_store_n(&s->recording, on ? s->journal : NULL, __ATOMIC_RELEASE);
	return 0;
}

static void copy_record(const struct rsvp_record *record, struct rsvp_record *out)
{
	uint32_t before;

	do {
		before = __atomic_load_n(&record->version, __ATOMIC_ACQUIRE);
		*out = *record;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (before & 1 || before != __atomic_load_n(&record->version, __ATOMIC_RELAXED));
}

bool rsvp_record_next(const struct node *n, uint32_t after, struct rsvp_record *out)
{
	const struct rsvp_journal *j = node_rsvp(n)->journal;
	uint32_t last = j ? __atomic_load_n(&j->last, __ATOMIC_ACQUIRE) : 0;

	after = MAX_OF(after, MAX_OF(node_rsvp(n)->forgotten, last > RSVP_RECORDS ? last - RSVP_RECORDS : 0));
	if (!j || after >= last)
		return false;
	copy_record(&j->record[after % RSVP_RECORDS], out);
	return out->number > after; /* it is a newer one if the control lcore was faster */
}
