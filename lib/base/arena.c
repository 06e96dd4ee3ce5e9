/* SPDX-License-Identifier: BSD-3-Clause */
/* An allocator that frees all its blocks together. Pure; an arena belongs to one thread at a time. */
#include "base/arena.h"

#include <bsd/sys/queue.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (64u * 1024)

struct chunk {
	SLIST_ENTRY(chunk) next;
	size_t size, used;
	alignas(max_align_t) char data[];
};

struct secret {
	struct secret *next;
	size_t size;
	alignas(max_align_t) char data[];
};

struct arena {
	SLIST_HEAD(, chunk) chunks;
	struct secret *secrets; /* in chunks */
	size_t used;
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	struct chunk *c;

	if (!a)
		return;
	for (struct secret *s = a->secrets; s; s = s->next)
		explicit_bzero(s->data, s->size);
	while ((c = SLIST_FIRST(&a->chunks))) {
		SLIST_REMOVE_HEAD(&a->chunks, next);
		free(c);
	}
	free(a);
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct chunk *c = SLIST_FIRST(&a->chunks);
	void *p;

	if (size > SIZE_MAX / 2) /* a larger size would wrap in the arithmetic below */
		return NULL;
	size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (!c || c->size - c->used < size) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		c = calloc(1, sizeof(*c) + room);
		if (!c)
			return NULL;
		c->size = room;
		SLIST_INSERT_HEAD(&a->chunks, c, next);
	}
	p = c->data + c->used;
	c->used += size;
	a->used += size;
	return p;
}

void *arena_alloc_secret(struct arena *a, size_t size)
{
	struct secret *s = size > SIZE_MAX / 2 ? NULL : arena_alloc(a, sizeof(*s) + size);

	if (!s)
		return NULL;
	s->size = size;
	s->next = a->secrets;
	a->secrets = s;
	return s->data;
}

char *arena_strdup(struct arena *a, const char *text)
{
	size_t size = strlen(text) + 1;
	char *p = arena_alloc(a, size);

	return p ? memcpy(p, text, size) : NULL;
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}
