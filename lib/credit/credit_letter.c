/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit by the letter of draft-hu: grants in MB and increments (docs/credit.md 2.4, D59). Pure; control lcore. */
#include "credit/credit_letter.h"

#include <string.h>

#define LETTER_BURST 32 /* 29s that the bucket holds */

/* Forget the ids that the window leaves when it moves to `id`. */
static void advance(struct credit_letter_ids *ids, uint32_t id)
{
	uint32_t steps = id - ids->newest;

	if (steps >= CREDIT_LETTER_IDS)
		memset(ids->seen, 0, sizeof(ids->seen));
	for (uint32_t i = 1; i <= steps && steps < CREDIT_LETTER_IDS; i++) {
		uint32_t bit = (ids->newest + i) % CREDIT_LETTER_IDS;

		ids->seen[bit / 64] &= ~(1ull << bit % 64);
	}
	ids->newest = id;
}

bool credit_letter_accept(struct credit_letter_ids *ids, uint32_t epoch, uint32_t id)
{
	uint32_t bit = id % CREDIT_LETTER_IDS;

	if (!ids->any || ids->epoch != epoch)
		*ids = (struct credit_letter_ids){.epoch = epoch, .newest = id, .any = true};
	else if (credit_newer(id, ids->newest))
		advance(ids, id);
	else if (ids->newest - id >= CREDIT_LETTER_IDS)
		return false;
	if (ids->seen[bit / 64] >> bit % 64 & 1)
		return false;
	ids->seen[bit / 64] |= 1ull << bit % 64;
	return true;
}

bool credit_letter_grant(struct credit_letter_gate *g, uint32_t mb, bool queued, uint64_t idle_ns, uint64_t now)
{
	uint64_t sent = __atomic_load_n(&g->sent, __ATOMIC_RELAXED);

	if (mb < CREDIT_LETTER_LEAST_MB || (g->open && (queued || now - g->given_ns < idle_ns)))
		return false;
	__atomic_store_n(&g->limit, sent + (uint64_t)mb * CREDIT_LETTER_MB, __ATOMIC_RELAXED);
	__atomic_store_n(&g->open, true, __ATOMIC_RELEASE);
	return true;
}

void credit_letter_return(struct credit_letter_gate *g, uint32_t value, enum credit_letter_unit unit)
{
	uint64_t bytes = unit == CREDIT_LETTER_UNIT_MB ? (uint64_t)value * CREDIT_LETTER_MB : value;

	__atomic_store_n(&g->limit, g->limit + bytes, __ATOMIC_RELAXED);
}

bool credit_letter_grantable(uint32_t mb, uint64_t buffer)
{
	return mb >= CREDIT_LETTER_LEAST_MB && (uint64_t)mb * CREDIT_LETTER_RESERVE <= buffer;
}

void credit_letter_granted(struct credit_letter_grantor *g, uint64_t freed)
{
	g->returned = freed;
}

bool credit_letter_due(struct credit_letter_grantor *g, uint64_t freed, enum credit_letter_unit unit, uint64_t rate,
	uint64_t now, uint32_t *value)
{
	uint64_t size = unit == CREDIT_LETTER_UNIT_MB ? CREDIT_LETTER_MB : 1;
	uint64_t n = MIN_OF((freed - g->returned) / size, (uint64_t)UINT32_MAX);

	if (!n || !bucket_take(&g->bucket, now, rate, LETTER_BURST))
		return false;
	g->returned += n * size;
	*value = (uint32_t)n;
	return true;
}
