/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits a byte stream into command lines and rejects lines that are too long. Pure. */
#include "command/line.h"

#include <string.h>

static enum line_state finish(struct line_reader *l)
{
	l->text[l->n] = '\0';
	l->taken = true;
	return strlen(l->text) == l->n ? LINE_WHOLE : LINE_BINARY;
}

enum line_state line_take(struct line_reader *l, char byte)
{
	if (l->taken)
		l->n = 0;
	l->taken = false;
	if (byte == '\n') {
		if (!l->skipping)
			return finish(l);
		l->skipping = false;
		return LINE_SKIPPED;
	}
	if (l->skipping)
		return LINE_MORE;
	if (l->n == sizeof(l->text) - 1) {
		l->skipping = l->taken = true;
		return LINE_TOO_LONG;
	}
	l->text[l->n++] = byte;
	return LINE_MORE;
}

enum line_state line_end(struct line_reader *l)
{
	return l->n && !l->taken && !l->skipping ? finish(l) : LINE_MORE;
}
