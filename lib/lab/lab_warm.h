/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache lines that an object touches whenever it runs (lab_warm.c). The lab is single-threaded. */
#ifndef LAB_LAB_WARM_H
#define LAB_LAB_WARM_H

#include <stdint.h>

/* All zero: nothing is known yet. */
struct lab_warm {
	const void **line;
	uint32_t n, room;
	uint32_t turns; /* since the start of the object */
};

struct timeline;

/* The timeline has its turn soon: have the lines of its object fetched. */
void lab_warm(struct timeline *t);

/* The object is gone, or another one. */
void lab_warm_forget(struct lab_warm *w);

void lab_warm_fini(struct lab_warm *w);

#endif
