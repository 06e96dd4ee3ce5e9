/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with unit suffixes, edit distance and the nearest known word, error texts. Pure. */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

int text_parse_number(const char *text, unsigned int base, uint64_t *out)
{
	static const char suffixes[] = "KMGT";
	const char *s;
	uint64_t value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
	if (errno == ERANGE)
		return -ERANGE;
	if (*end) {
		s = strchr(suffixes, toupper((unsigned char)*end));
		if (!s || end[1])
			return -EINVAL;
		for (long i = 0; i <= s - suffixes; i++)
			if (__builtin_mul_overflow(value, (uint64_t)base, &value))
				return -ERANGE;
	}
	*out = value;
	return 0;
}

const char *text_format_number(uint64_t value, unsigned int base, char *buf, size_t size)
{
	static const char suffixes[] = "KMGT";
	int power = 0;

	while (value && value % base == 0 && power < 4) {
		value /= base;
		power++;
	}
	if (power)
		snprintf(buf, size, "%llu%c", (unsigned long long)value, suffixes[power - 1]);
	else
		snprintf(buf, size, "%llu", (unsigned long long)value);
	return buf;
}

/* Optimal string alignment distance, three rows at a time. */
unsigned int text_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned int rows[3][65];

	if (n > 63 || m > 63)
		return 1000;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned int *row = rows[i % 3], *up = rows[(i - 1) % 3], *up2 = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= m; j++) {
			int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
			unsigned int best = up[j - 1] + !same;

			best = MIN_OF(best, up[j] + 1);
			best = MIN_OF(best, row[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN_OF(best, up2[j - 2] + 1);
			row[j] = best;
		}
	}
	return rows[n % 3][m];
}

const char *text_nearest(const char *text, const char *const *words, size_t count)
{
	unsigned int best = (unsigned int)strlen(text) / 3 + 2;
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		unsigned int d = text_distance(text, words[i]);

		if (d < best) {
			best = d;
			found = words[i];
		}
	}
	return found;
}

int text_fail(char *err, size_t size, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, size, format, args);
	va_end(args);
	return rc;
}
