/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/fuzz/scarce.h"

#include <stdbool.h>
#include <stdint.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static uint64_t left = UINT64_MAX;

void scarce_begin(unsigned int n)
{
	left = n;
}

void scarce_end(void)
{
	left = UINT64_MAX;
}

static bool refused(void)
{
	if (left == UINT64_MAX)
		return false;
	if (left == 0) {
		left = UINT64_MAX;
		return true;
	}
	left--;
	return false;
}

void *__wrap_malloc(size_t size)
{
	return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return refused() ? NULL : __real_realloc(old, size);
}
