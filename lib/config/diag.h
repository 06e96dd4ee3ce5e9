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
};

struct cfg_diags {
	const char *file;
	struct cfg_diag *items;
	unsigned int n;
	unsigned int suppressed; /* beyond CFG_DIAGS_MAX: counted only */
};

#define CFG_DIAGS_MAX 200

void cfg_diag_add(struct cfg_diags *d, struct cfg_mark at, const char *format, ...) PRINTF_LIKE(3, 4);

/* "FILE:LINE:COLUMN: error: TEXT" a line, sorted by place. */
void cfg_diags_print(struct cfg_diags *d, FILE *out);
void cfg_diags_free(struct cfg_diags *d);

#endif
