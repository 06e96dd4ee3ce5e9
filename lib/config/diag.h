/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a configuration: all of it, in file order, each with its place. Control code only. */
#ifndef CONFIG_DIAG_H
#define CONFIG_DIAG_H

#include <stdio.h>

#include "base/compiler.h"
#include "config/model.h"

struct cfg_diag {
	struct cfg_mark at;
	char *text;
	char *file; /* NULL: cfg_diags.file */
};

struct cfg_diags {
	const char *file;
	struct cfg_diag *items;
	unsigned int n;
	unsigned int suppressed; /* beyond CFG_DIAGS_MAX: counted only */
};

#define CFG_DIAGS_MAX 200

void cfg_diag_add(struct cfg_diags *d, struct cfg_mark at, const char *format, ...) PRINTF_LIKE(3, 4);

/* The same about another file than the one of `d`; NULL: that one. */
void cfg_diag_add_in(struct cfg_diags *d, const char *file, struct cfg_mark at, const char *format, ...)
	PRINTF_LIKE(4, 5);

/* Messages about another file, from->file, to those of `to`; `from` is empty then. 0, or -EINVAL when there were any. */
int cfg_diags_move(struct cfg_diags *to, struct cfg_diags *from);

/* "FILE:LINE:COLUMN: error: TEXT" a line, sorted by place. */
void cfg_diags_print(struct cfg_diags *d, FILE *out);
void cfg_diags_free(struct cfg_diags *d);

#endif
