/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of a stream to command lines, whatever comes. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "command/command.h"

enum line_state {
	LINE_MORE,     /* not finished */
	LINE_WHOLE,    /* `text` is one, without its end */
	LINE_BINARY,   /* finished, but it held a zero byte */
	LINE_TOO_LONG, /* said once; the rest of it is skipped */
	LINE_SKIPPED,  /* the end of one that was too long */
};

struct line_reader {
	char text[COMMAND_LINE_MAX];
	size_t n;
	bool skipping, taken; /* the rest of a long line; `text` was handed out */
};

/* One byte. What follows LINE_WHOLE begins anew. A struct of zeroes is a fresh one. */
enum line_state line_take(struct line_reader *l, char byte);

/* The stream has ended: was there a last line without its end? LINE_MORE: none. */
enum line_state line_end(struct line_reader *l);

#endif
