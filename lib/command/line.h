/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits a byte stream into command lines. Any input is allowed. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "command/command.h"

enum line_state {
	LINE_MORE,     /* the line is not complete */
	LINE_WHOLE,    /* `text` is a complete line, without its end */
	LINE_BINARY,   /* the line is complete, but contains a zero byte; `text` has `n` bytes of it */
	LINE_TOO_LONG, /* reported once, with the first `n` bytes in `text`; the rest of the line is skipped */
	LINE_SKIPPED,  /* end of a line that was too long */
};

struct line_reader {
	char text[COMMAND_LINE_MAX];
	size_t n;
	bool skipping, taken; /* skipping the rest of a long line; `text` was returned to the caller */
};

/* Process one byte. The byte after LINE_WHOLE begins a new line. Initialize the struct with zeroes. */
enum line_state line_take(struct line_reader *l, char byte);

/* End of the stream: returns the last line if it has no line end. LINE_MORE: there is none. */
enum line_state line_end(struct line_reader *l);

#endif
