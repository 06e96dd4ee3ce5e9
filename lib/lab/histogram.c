/* SPDX-License-Identifier: BSD-3-Clause */
/* Percentiles of times (histogram.h). Pure. */
#include "lab/histogram.h"

#include "base/compiler.h"

/* Values below 2 * HISTOGRAM_STEPS have a bucket each; above, the width of a bucket doubles with every power of two. */
static uint32_t bucket_of(uint64_t ns)
{
	unsigned int shift;

	ns = MIN_OF(ns, (1ull << HISTOGRAM_BITS) - 1);
	if (ns < HISTOGRAM_STEPS)
		return (uint32_t)ns;
	shift = (unsigned int)(63 - __builtin_clzll(ns)) - 5;
	return (shift << 5) + (uint32_t)(ns >> shift);
}

/* The middle of a bucket. */
static double middle(uint32_t bucket)
{
	unsigned int shift = bucket < 2 * HISTOGRAM_STEPS ? 0 : (bucket >> 5) - 1;
	uint64_t low = (uint64_t)(bucket - (shift << 5)) << shift;

	return (double)low + (double)((1ull << shift) - 1) / 2;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	h->bucket[bucket_of(ns)]++;
	h->least = h->n ? MIN_OF(h->least, ns) : ns;
	h->most = MAX_OF(h->most, ns);
	h->n++;
}

double histogram_quantile(const struct histogram *h, double share)
{
	uint64_t seen = 0, rank = (uint64_t)(share * (double)h->n);

	if (share >= 1 || !h->n)
		return (double)h->most;
	for (uint32_t i = 0; i < ARRAY_LEN(h->bucket) && share > 0; i++) {
		seen += h->bucket[i];
		if (seen > rank) {
			double value = middle(i);

			return value < (double)h->least ? (double)h->least : MIN_OF(value, (double)h->most);
		}
	}
	return (double)h->least;
}
