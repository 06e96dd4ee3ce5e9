/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is allocated piece by piece and freed as a whole: a configuration and everything in it. Pieces are zeroed
 * and aligned for any type. Only control code may use it.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void);	  /* NULL when out of memory */
void arena_free(struct arena *a); /* NULL is fine */

void *arena_alloc(struct arena *a, size_t size); /* NULL when out of memory */
/* As arena_alloc. The bytes are overwritten before they are freed. */
void *arena_alloc_secret(struct arena *a, size_t size);

char *arena_strdup(struct arena *a, const char *text);

/* Bytes allocated so far. */
size_t arena_used(const struct arena *a);

#endif
