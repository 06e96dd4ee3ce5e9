/* SPDX-License-Identifier: BSD-3-Clause */
/* Leases between neighbours (docs/credit.md 2.10, 2.11). Pure; control lcore. */
#include "credit/credit_alive.h"

uint64_t credit_user_time(uint64_t hb_ns)
{
	return CREDIT_HB_MISSED * MAX_OF(hb_ns, CREDIT_HB_LEAST_NS);
}

enum credit_beat credit_alive_hear(struct credit_alive *a, uint32_t hb_us, uint64_t now)
{
	bool late = a->until_ns && now >= a->until_ns;

	a->heard_ns = now;
	a->hb_ns = MAX_OF(hb_us * NSEC_PER_USEC, CREDIT_HB_LEAST_NS);
	__atomic_store_n(&a->until_ns, now + credit_user_time(a->hb_ns), __ATOMIC_RELAXED);
	return late ? CREDIT_BEAT_LATE : CREDIT_BEAT;
}

bool credit_alive_ended(const struct credit_alive *a, uint64_t now)
{
	return a->until_ns && now >= a->until_ns;
}

uint64_t credit_lease_time(uint64_t hb_ns, const struct credit_way *way)
{
	uint64_t user = credit_user_time(hb_ns);

	if (way->hold_ns == TIME_NEVER)
		return TIME_NEVER;
	return user + user / 1000000 * CREDIT_CLOCK_DRIFT_PPM + way->rtt_ns + 2 * way->jitter_ns + way->hold_ns +
	       way->polls_ns;
}

void credit_lease_sent(struct credit_lease *l, uint64_t hb_ns, const struct credit_way *way, uint64_t now)
{
	uint64_t time = credit_lease_time(hb_ns, way);
	uint64_t ends = time == TIME_NEVER ? TIME_NEVER : now + time;

	l->sent_ns = now;
	l->ends_ns = MAX_OF(l->ends_ns, ends);
}

bool credit_lease_beat_due(const struct credit_lease *l, uint64_t hb_ns, uint64_t now)
{
	return now - l->sent_ns >= MAX_OF(hb_ns, CREDIT_HB_LEAST_NS);
}
