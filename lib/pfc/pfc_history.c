/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts pauses and their total, longest and distribution of lengths. Pure; one lcore writes a history. */
#include "pfc/pfc_history.h"

#include "base/compiler.h"
#include "stats/stats.h"

static unsigned int bucket_of(uint64_t ns)
{
	uint64_t us = ns / NSEC_PER_USEC;
	unsigned int bucket = us ? 63u - (unsigned int)__builtin_clzll(us) : 0;

	return MIN_OF(bucket, PFC_HISTOGRAM - 1);
}

static void end(struct pfc_history *h, uint64_t at)
{
	stat_level(h->last_ns, at - h->last_began);
	stat_add(&h->total_ns, h->last_ns);
	stat_add(&h->length[bucket_of(h->last_ns)], 1);
	stat_level(h->until, 0);
}

void pfc_history_settle(struct pfc_history *h, uint64_t now)
{
	if (h->until && h->until < now)
		end(h, h->until);
}

void pfc_history_set(struct pfc_history *h, uint64_t until, uint64_t now)
{
	/* a pause renewed at the moment it ends has no gap */
	pfc_history_settle(h, now);
	if (until > now) {
		if (!h->until) {
			stat_add(&h->transitions, 1);
			stat_level(h->last_began, now);
		}
		stat_level(h->until, until);
	} else if (h->until) {
		end(h, now);
	}
}

struct pfc_history pfc_history_at(const struct pfc_history *from, uint64_t now)
{
	struct pfc_history h = {
		.transitions = stat_read(&from->transitions),
		.total_ns = stat_read(&from->total_ns),
		.last_ns = stat_read(&from->last_ns),
		.last_began = stat_read(&from->last_began),
		.until = stat_read(&from->until),
	};

	for (unsigned int i = 0; i < PFC_HISTOGRAM; i++)
		h.length[i] = stat_read(&from->length[i]);
	pfc_history_settle(&h, now);
	return h;
}

struct pfc_history pfc_history_since(const struct pfc_history *h, const struct pfc_history *base, uint64_t base_now)
{
	struct pfc_history out = *h;

	out.transitions -= base->transitions;
	out.total_ns -= pfc_history_total(base, base_now);
	for (unsigned int i = 0; i < PFC_HISTOGRAM; i++)
		out.length[i] -= base->length[i];
	return out;
}

uint64_t pfc_history_total(const struct pfc_history *h, uint64_t now)
{
	uint64_t to = MIN_OF(h->until, now);

	/* a reader's `now` may be slightly older than the last update */
	return h->total_ns + (h->until && to > h->last_began ? to - h->last_began : 0);
}
