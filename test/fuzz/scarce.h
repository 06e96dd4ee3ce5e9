/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that runs out: the n-th allocation from now on fails, counted from 0. Only in programs linked with
 * --wrap for malloc, calloc and realloc, and only for calls from our own code.
 */
#ifndef FUZZ_SCARCE_H
#define FUZZ_SCARCE_H

#include <stddef.h>

void scarce_begin(unsigned int n);
void scarce_end(void);

#endif
