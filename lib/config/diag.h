/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages about a configuration, each with its place, printed in file order. Management thread. */
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
	unsigned int suppressed; /* messages after CFG_DIAGS_MAX, which are only counted */
};

#define CFG_DIAGS_MAX 200

void cfg_diag_add(struct cfg_diags *d, struct cfg_mark at, const char *format, ...) PRINTF_LIKE(3, 4);

/* Same for the file `file`; NULL: d->file. */
void cfg_diag_add_in(struct cfg_diags *d, const char *file, struct cfg_mark at, const char *format, ...)
	PRINTF_LIKE(4, 5);

/* Move all messages of `from`, which are about from->file, to `to`. 0, or -EINVAL if there were any. */
int cfg_diags_move(struct cfg_diags *to, struct cfg_diags *from);

/* Print one line per message, "FILE:LINE:COLUMN: error: TEXT", sorted by place. */
void cfg_diags_print(struct cfg_diags *d, FILE *out);
void cfg_diags_free(struct cfg_diags *d);

#endif
