/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions for every file: branch hints, array lengths, cache line size. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <stddef.h>

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* Iterate over the bits that are set, lowest first; i is the bit number. */
#define FOR_EACH_BIT(i, set) \
	for (unsigned int left_##i = (set), i; left_##i && ((i = (unsigned int)__builtin_ctz(left_##i)), 1); \
		left_##i &= left_##i - 1)
/* The same for a set of 64 bits. */
#define FOR_EACH_BIT64(i, set) \
	for (uint64_t left_##i = (set), i; left_##i && ((i = (uint64_t)__builtin_ctzll(left_##i)), 1); \
		left_##i &= left_##i - 1)
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))
#define CACHE_LINE_BYTES 64
#define CACHE_ALIGNED __attribute__((aligned(CACHE_LINE_BYTES)))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
/*
 * For functions of the data path that hand on the address of a struct and have no array on their stack: nothing there can be
 * overrun, and a canary would cost each packet five instructions.
 */
#define NO_CANARY __attribute__((no_stack_protector))
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_USEC 1000ull
#define TIME_NEVER UINT64_MAX /* ns: no deadline */

#endif
