/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ordinary memory is. Control code. */
#ifndef BASE_NUMA_H
#define BASE_NUMA_H

#include <stddef.h>

/*
 * Move the whole pages of an array to a NUMA node, as far as there is room. 0, or -errno: it stays where it is, and reading it
 * takes longer there, no more.
 */
int numa_bind(void *at, size_t bytes, int node);

#endif
