/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control lcore tells the management thread about RSVP: events, which become log lines, and, while users want it
 * (debug rsvp on), a record of each message. Control lcore.
 */
#include "service/rsvp/service_rsvp.h"

#define REPLAYS_TOLD_NS NSEC_PER_SEC /* a neighbour's replays are told at most that often */

void rsvp_post(struct control_role *c, const struct rsvp_event *e)
{
	struct rsvp_events *all = &node_rsvp(c->node)->events;
	uint32_t tail = __atomic_load_n(&all->tail, __ATOMIC_ACQUIRE);

	if (all->head - tail == RSVP_EVENTS) {
		stat_add(&all->missed, 1);
		return;
	}
	all->event[all->head % RSVP_EVENTS] = *e;
	__atomic_store_n(&all->head, all->head + 1, __ATOMIC_RELEASE);
}

/* --- neighbours --- */

void rsvp_neighbor_silent(void *arg, uint16_t zone, const struct ip_addr *addr)
{
	struct control_role *c = arg;
	struct rsvp_neighbor *n = rsvp_neighbor_of(rsvp_of(c), zone, addr);

	if (!n)
		return;
	stat_add(&n->unanswered, 1);
	if (!n->answers)
		return;
	stat_level(n->answers, 0);
	rsvp_post(c, &(struct rsvp_event){.kind = RSVP_EVENT_UNANSWERED, .neighbor = n->addr});
}

void rsvp_neighbor_heard(struct control_role *c, struct rsvp_neighbor *n)
{
	stat_add(&n->rx, 1);
	stat_level(n->heard, c->now);
	if (likely(n->answers))
		return;
	stat_level(n->answers, 1);
	rsvp_post(c, &(struct rsvp_event){.kind = RSVP_EVENT_ANSWERS, .neighbor = n->addr});
}

void rsvp_neighbor_replays(struct control_role *c, struct rsvp_neighbor *n)
{
	stat_add(&n->replayed, 1);
	if (c->now < n->told_ns)
		return;
	n->told_ns = c->now + REPLAYS_TOLD_NS;
	rsvp_post(c, &(struct rsvp_event){.kind = RSVP_EVENT_REPLAYED,
			     .neighbor = n->addr,
			     .count = n->replayed - n->replayed_told});
	n->replayed_told = n->replayed;
}

/* --- the record --- */

static void begin_write(struct rsvp_record *record)
{
	__atomic_store_n(&record->version, record->version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_write(struct rsvp_record *record)
{
	__atomic_store_n(&record->version, record->version + 1, __ATOMIC_RELEASE);
}

struct rsvp_record *rsvp_record_begin(struct control_role *c, const struct rsvp_about *about, const void *message)
{
	struct rsvp_journal *j = __atomic_load_n(&node_rsvp(c->node)->recording, __ATOMIC_ACQUIRE);
	struct rsvp_record *record;

	if (!j)
		return NULL;
	record = &j->record[j->last % RSVP_RECORDS];
	begin_write(record);
	record->number = j->last + 1;
	record->about = *about;
	record->about.time_ns = c->now;
	memcpy(record->message, message, MIN_OF(about->bytes, sizeof(record->message)));
	end_write(record);
	__atomic_store_n(&j->last, j->last + 1, __ATOMIC_RELEASE);
	return record;
}

void rsvp_record_end(struct rsvp_record *record, enum rsvp_verdict verdict, const char *why)
{
	if (!record)
		return;
	begin_write(record);
	record->about.verdict = (uint8_t)verdict;
	record->about.why = why;
	end_write(record);
}

static const char *refusal_name(const struct rsvp_service_stats *s, const uint64_t *counter)
{
#define X(kind, member, shown, unit, metric, help) \
	if (counter == &s->member) \
		return #member;
	RSVP_REFUSED_COUNTERS(X)
#undef X
	return "";
}

static const char *drop_name(const struct rsvp_node_stats *now, const struct rsvp_node_stats *before)
{
#define X(kind, member, shown, unit, metric, help) \
	if (now->member != before->member) \
		return #member;
	RSVP_NODE_DROPS(X)
#undef X
	return "";
}

static const char *letter_drop_name(const struct letter_stats *now, const struct letter_stats *before)
{
#define X(kind, member, shown, unit, metric, help) \
	if (now->member != before->member) \
		return #member;
	LETTER_DROPS(X)
#undef X
	return "";
}

enum rsvp_verdict rsvp_verdict_of(const struct rsvp_control *r, const struct rsvp_node_stats *before,
	const struct letter_stats *letter, const char **why)
{
	if (r->refused_by) {
		*why = refusal_name(&r->stats, r->refused_by);
		return RSVP_VERDICT_REFUSED;
	}
	*why = drop_name(rsvp_node_stats_of(r->machines), before);
	if (!**why)
		*why = letter_drop_name(letter_stats_of(r->letter), letter);
	return **why ? RSVP_VERDICT_NO_EFFECT : RSVP_VERDICT_ACCEPTED;
}
