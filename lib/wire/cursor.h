/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounds-checked read position. Every parser of received bytes reads through a cursor, so that a length from the wire
 * is compared with the bytes left before anything is read.
 */
#ifndef WIRE_CURSOR_H
#define WIRE_CURSOR_H

#include <stddef.h>
#include <stdint.h>

struct wire_cursor {
	const uint8_t *at;
	const uint8_t *end; /* one past the last readable byte */
};

static inline struct wire_cursor wire_cursor(const void *data, size_t size)
{
	return (struct wire_cursor){.at = data, .end = (const uint8_t *)data + size};
}

static inline size_t wire_left(const struct wire_cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* The next `size` bytes, without moving; NULL when fewer are left. */
static inline const void *wire_peek(const struct wire_cursor *c, size_t size)
{
	return wire_left(c) < size ? NULL : c->at;
}

/* The next `size` bytes, moving past them; NULL, without moving, when fewer are left. */
static inline const void *wire_pull(struct wire_cursor *c, size_t size)
{
	const void *p = wire_peek(c, size);

	if (p)
		c->at += size;
	return p;
}

#endif
