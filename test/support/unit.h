/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included by every unit test: cmocka after the headers it requires, and checks that say which
 * row of a table failed, because in a loop a line number does not.
 */
#ifndef SUPPORT_UNIT_H
#define SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"

/* check(condition, "row %d", i): the text names the row. */
#define check(cond, ...) \
	do { \
		if (!(cond)) \
			unit_fail(__FILE__, __LINE__, #cond, __VA_ARGS__); \
	} while (0)

/* Equal text; a failure shows the first line that differs. */
#define check_text(row, got, want) unit_check_text(__FILE__, __LINE__, row, got, want)

/* Equal bytes, `want` in hexadecimal with blanks wherever they help; a failure shows the first difference. */
#define check_bytes(row, got, size, want) unit_check_bytes(__FILE__, __LINE__, row, got, size, want)

void unit_fail(const char *file, int line, const char *what, const char *format, ...) PRINTF_LIKE(4, 5)
	__attribute__((noreturn));
void unit_check_text(const char *file, int line, const char *row, const char *got, const char *want);
void unit_check_bytes(const char *file, int line, const char *row, const void *got, size_t size, const char *want);

/* Hexadecimal text with blanks to bytes; returns how many. Fails the test when they do not fit `room`. */
size_t unit_bytes(const char *hex, void *out, size_t room);

/* The same numbers in every run, for tests that try many inputs (xorshift; the state must not be 0). */
uint32_t unit_random(uint64_t *state);

#endif
