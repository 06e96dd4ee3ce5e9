/* SPDX-License-Identifier: BSD-3-Clause */
/* Small text helpers: numbers with unit suffixes, the nearest known word, humanised values. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/*
 * Parse a whole number, decimal or 0x hexadecimal, with an optional suffix K, M, G or T that multiplies by powers of
 * `base` (1000 or 1024). Returns 0, -EINVAL when malformed, or -ERANGE when the value exceeds 64 bits.
 */
int text_parse_number(const char *text, unsigned int base, uint64_t *out);

/* Format in the shortest exact form: 1048576 with base 1024 is "1M". buf has at least 24 bytes. Returns buf. */
const char *text_format_number(uint64_t value, unsigned int base, char *buf, size_t size);

/*
 * The word of `words` (`count` of them) that is nearest to `text` by the number of edits (insert, delete, replace,
 * swap). The number of edits is at most a third of its length plus one. NULL when no word is that near.
 */
const char *text_nearest(const char *text, const char *const *words, size_t count);

/* Number of single-character edits between two words. Words longer than 63 characters count as far apart. */
unsigned int text_distance(const char *a, const char *b);

/* Write a message to `err`, cut to `size` bytes, and return `rc`: "return text_fail(err, size, -ENOENT, ...)". */
int text_fail(char *err, size_t size, int rc, const char *format, ...) PRINTF_LIKE(4, 5);

#endif
