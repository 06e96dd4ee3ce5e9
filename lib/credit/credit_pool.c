/* SPDX-License-Identifier: BSD-3-Clause */
/* Sharing of a pool by demand (docs/credit.md 2.12, D52). Pure; control lcore. */
#include "credit/credit_pool.h"

uint32_t credit_pool_take(struct credit_pool *p, uint32_t least, uint32_t want)
{
	uint64_t free = credit_pool_free(p);
	uint32_t got = (uint32_t)MIN_OF(free, (uint64_t)MAX_OF(want, least));

	if (got < least)
		return 0;
	p->held += got;
	return got;
}

void credit_pool_settle(struct credit_pool *p, uint64_t *held, uint64_t now)
{
	p->held += now - *held;
	*held = now;
}

/* Units that it takes to raise every demand to `level`, as far as it wants. */
static uint64_t cost_of(struct credit_demand *const *demands, size_t n, uint64_t level)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t to = MIN_OF((uint64_t)demands[i]->want, level);

		sum += to > demands[i]->buf ? to - demands[i]->buf : 0;
	}
	return sum;
}

/* The largest level that `free` units pay for. */
static uint32_t level_of(struct credit_demand *const *demands, size_t n, uint64_t free)
{
	uint64_t low = 0, high = UINT32_MAX;

	while (low < high) {
		uint64_t middle = (low + high + 1) / 2;

		if (cost_of(demands, n, middle) <= free)
			low = middle;
		else
			high = middle - 1;
	}
	return (uint32_t)low;
}

bool credit_pool_serve(struct credit_pool *p, struct credit_demand *const *demands, size_t n)
{
	uint64_t free = credit_pool_free(p);
	uint32_t level = level_of(demands, n, free);
	uint64_t rest = free - cost_of(demands, n, level);
	bool all = true;

	for (size_t i = 0; i < n; i++) {
		struct credit_demand *d = demands[i];
		uint32_t to = MIN_OF(d->want, level);

		to = MAX_OF(to, d->buf);
		if (rest && to == level && to < d->want) {
			to++;
			rest--;
		}
		p->held += to - d->buf;
		d->buf = to;
		all = all && to >= d->want;
	}
	return all;
}
