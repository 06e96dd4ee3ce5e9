/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Big-endian integers as they are on the wire.
 *
 * They are structs of bytes on purpose. A header made of them has no padding and no alignment, and the compiler refuses
 * to mix them with host integers.
 */
#ifndef WIRE_BYTES_H
#define WIRE_BYTES_H

#include <stdint.h>
#include <string.h>

typedef struct {
	uint8_t b[2];
} be16_t;

typedef struct {
	uint8_t b[4];
} be32_t;

typedef struct {
	uint8_t b[8];
} be64_t;

static inline uint16_t be16_get(be16_t v)
{
	uint16_t x;

	memcpy(&x, v.b, sizeof(x));
	return __builtin_bswap16(x);
}

static inline be16_t be16(uint16_t host)
{
	be16_t v;

	host = __builtin_bswap16(host);
	memcpy(v.b, &host, sizeof(host));
	return v;
}

static inline uint32_t be32_get(be32_t v)
{
	uint32_t x;

	memcpy(&x, v.b, sizeof(x));
	return __builtin_bswap32(x);
}

static inline be32_t be32(uint32_t host)
{
	be32_t v;

	host = __builtin_bswap32(host);
	memcpy(v.b, &host, sizeof(host));
	return v;
}

static inline uint64_t be64_get(be64_t v)
{
	uint64_t x;

	memcpy(&x, v.b, sizeof(x));
	return __builtin_bswap64(x);
}

static inline be64_t be64(uint64_t host)
{
	be64_t v;

	host = __builtin_bswap64(host);
	memcpy(v.b, &host, sizeof(host));
	return v;
}

/* The size and offsets of a wire format are part of its definition. */
#define WIRE_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has a wrong size")
#define WIRE_AT(type, member, offset) \
	_Static_assert(__builtin_offsetof(type, member) == (offset), #type "." #member " is misplaced")

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bytes.h is written for little-endian hosts");

#endif
