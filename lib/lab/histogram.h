/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram of times for percentiles: 32 buckets for each power of two, so that a value is known to 1.6 %. Pure.
 */
#ifndef LAB_HISTOGRAM_H
#define LAB_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEPS 32 /* buckets of a power of two */
#define HISTOGRAM_BITS 40  /* longer times (18 minutes) count as the longest */

struct histogram {
	uint32_t bucket[(HISTOGRAM_BITS - 4) * HISTOGRAM_STEPS];
	uint64_t n, least, most; /* values added; the smallest and the largest of them, in ns, exactly */
};

void histogram_add(struct histogram *h, uint64_t ns);

/* The value in ns that a share of all values, 0 to 1, does not exceed; 0 and 1 are exact. 0 if there are none. */
double histogram_quantile(const struct histogram *h, double share);

#endif
