/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands and metrics read of the credit of data (credit_shown.h). Management thread. */
#include <stdlib.h>

#include "service/rsvp/service_credit.h"

#define STALE_NS (2 * NSEC_PER_SEC) /* a row that old is of a session at rest: it has no updates */

const char *credit_why_name(enum credit_why why)
{
	static const char *const names[] = {[CREDIT_WHY_SENDS] = "sends",
		[CREDIT_WHY_QUEUE] = "waits for its queue",
		[CREDIT_WHY_WAITS] = "waits for credit",
		[CREDIT_WHY_STALLED] = "no credit comes",
		[CREDIT_WHY_SILENT] = "next hop is silent",
		[CREDIT_WHY_NO_CREDIT] = "has no credit",
		[CREDIT_WHY_UNCREDITED] = "sends without credit",
		[CREDIT_WHY_ENDED] = "drops: no credit"};

	return names[why];
}

/* A copy of a row, whose version is its first member. */
#define COPY(row, out) \
	({ \
		uint32_t before_; \
		do { \
			before_ = __atomic_load_n(&(row)->version, __ATOMIC_ACQUIRE); \
			*(out) = *(row); \
			__atomic_thread_fence(__ATOMIC_ACQUIRE); \
		} while (before_ & 1 || before_ != __atomic_load_n(&(row)->version, __ATOMIC_RELAXED)); \
		(out)->used; \
	})

static bool use_of(const struct node *n, const struct credit_control *k, uint32_t i, struct credit_use_row *out)
{
	if (!COPY(&k->use_row[i], out))
		return false;
	if (stat_read(&n->control->now) - out->at_ns >= STALE_NS)
		out->sent.heard_rate = 0;
	return true;
}

static bool grant_of(const struct node *n, const struct credit_control *k, uint32_t i, struct credit_grant_row *out)
{
	if (!COPY(&k->grant_row[i], out))
		return false;
	if (stat_read(&n->control->now) - out->at_ns >= STALE_NS)
		out->given.update_rate = 0;
	return true;
}

/* The place in `all`, from 1, of the use of each path. */
static uint32_t put_uses(const struct node *n, const struct credit_control *k, struct credit_session_shown *all,
	uint32_t *by_slot)
{
	const struct rsvp_control *r = rsvp_shown(n);
	uint32_t count = 0;

	for (uint32_t i = 1; i < k->numbers; i++) {
		struct credit_session_shown *x = &all[count];

		if (!use_of(n, k, i, &x->use))
			continue;
		x->sends = true;
		count++;
		if (x->use.slot < r->paths)
			by_slot[x->use.slot] = count;
	}
	return count;
}

struct credit_session_shown *credit_sessions_shown(const struct node *n, uint32_t *count)
{
	const struct credit_control *k = node_rsvp(n)->credit;
	const struct rsvp_control *r = rsvp_shown(n);
	struct credit_session_shown *all = k && r ? calloc(2 * (size_t)k->numbers, sizeof(*all)) : NULL;
	uint32_t *by_slot = all ? calloc(r->paths, sizeof(*by_slot)) : NULL;
	struct credit_grant_row row;

	*count = 0;
	if (!by_slot) {
		free(all);
		return NULL;
	}
	*count = put_uses(n, k, all, by_slot);
	for (uint32_t i = 1; i < k->numbers; i++) {
		struct credit_session_shown *x;

		if (!grant_of(n, k, i, &row))
			continue;
		x = row.slot < r->paths && by_slot[row.slot] ? &all[by_slot[row.slot] - 1] : &all[(*count)++];
		x->gives = true;
		x->grant = row;
	}
	free(by_slot);
	return all;
}

bool credit_sums_shown(const struct node *n, struct credit_sent *sent, struct credit_given *given)
{
	const struct credit_control *k = node_rsvp(n)->credit;
	struct credit_grant_row grant;
	struct credit_use_row use;
	uint32_t before;

	if (!k)
		return false;
	do {
		before = __atomic_load_n(&k->past.version, __ATOMIC_ACQUIRE);
		*sent = k->past.sent;
		*given = k->past.given;
		for (uint32_t i = 1; i < k->numbers; i++) {
			if (use_of(n, k, i, &use)) {
#define X(kind, member, ...) sent->member += use.sent.member;
				CREDIT_SENT_COUNTERS(X)
#undef X
			}
			if (grant_of(n, k, i, &grant)) {
#define X(kind, member, ...) given->member += grant.given.member;
				CREDIT_GIVEN_COUNTERS(X)
#undef X
			}
		}
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (before & 1 || before != __atomic_load_n(&k->past.version, __ATOMIC_RELAXED));
	return true;
}
