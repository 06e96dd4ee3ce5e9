/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of the process. Tables of a node that are mostly empty are mappings of their own, and take only the pages
 * that are written to. Main thread.
 */
#include <malloc.h>

#include "app.h"

#define TABLE_BYTES (128 * 1024)

/* glibc raises the size from which memory is a mapping whenever one is freed, unless it is told the size. */
void memory_begin(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, TABLE_BYTES);
#endif
}
