/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of the process. Tables of a node that are mostly empty are mappings of their own, and take only the pages
 * that are written to. What a run touches all the time is in the heap, in few large pages: with 80 nodes, small ones
 * would be more than the TLB holds. Main thread.
 */
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app.h"

#define TABLE_BYTES (128 * 1024)
#define HUGE_PAGE (2ul << 20)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

static uintptr_t heap;

/* glibc raises the size from which memory is a mapping whenever one is freed, unless it is told the size. */
void memory_begin(void)
{
	heap = ((uintptr_t)sbrk(0) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, TABLE_BYTES);
#endif
}

/* Where the kernel cannot, the run is only slower. */
void memory_join_pages(void)
{
	uintptr_t end = (uintptr_t)sbrk(0) & ~(HUGE_PAGE - 1);

	if (end > heap)
		(void)madvise((void *)heap, end - heap, MADV_COLLAPSE);
}
