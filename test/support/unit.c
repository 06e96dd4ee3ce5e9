/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <ctype.h>
#include <stdlib.h>

#define BYTES_MAX 4096

void unit_fail(const char *file, int line, const char *what, const char *format, ...)
{
	char row[512];
	va_list args;

	va_start(args, format);
	vsnprintf(row, sizeof(row), format, args);
	va_end(args);
	print_error("%s: %s\n", row, what);
	_fail(file, line);
	abort(); /* cmocka's jump is not declared as such */
}

static size_t line_length(const char *text)
{
	return strcspn(text, "\n");
}

void unit_check_text(const char *file, int line, const char *row, const char *got, const char *want)
{
	unsigned int at = 1;

	if (strcmp(got, want) == 0)
		return;
	while (line_length(got) == line_length(want) && got[line_length(got)] == want[line_length(want)] &&
		memcmp(got, want, line_length(got)) == 0) {
		got += line_length(got) + 1;
		want += line_length(want) + 1;
		at++;
	}
	print_error("%s: texts differ in line %u\n  got  '%.*s'\n  want '%.*s'\n", row, at,
		(int)MIN_OF(line_length(got), 300), got, (int)MIN_OF(line_length(want), 300), want);
	_fail(file, line);
}

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

size_t unit_bytes(const char *hex, void *out, size_t room)
{
	uint8_t *bytes = out;
	size_t n = 0;

	for (const char *p = hex; *p; p++) {
		if (isspace((unsigned char)*p))
			continue;
		if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]) || n == room)
			fail_msg("byte %zu of '%.60s' is no byte or does not fit", n, hex);
		bytes[n++] = (uint8_t)(digit(p[0]) << 4 | digit(p[1]));
		p++;
	}
	return n;
}

void unit_check_bytes(const char *file, int line, const char *row, const void *got, size_t size, const char *want)
{
	uint8_t expected[BYTES_MAX];
	const uint8_t *bytes = got;
	size_t n = unit_bytes(want, expected, sizeof(expected));

	for (size_t i = 0; i < MIN_OF(n, size); i++) {
		if (bytes[i] != expected[i]) {
			print_error("%s: byte %zu is 0x%02x, expected 0x%02x\n", row, i, bytes[i], expected[i]);
			_fail(file, line);
		}
	}
	if (n != size) {
		print_error("%s: %zu bytes, expected %zu\n", row, size, n);
		_fail(file, line);
	}
}

uint32_t unit_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32);
}
