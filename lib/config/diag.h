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
	char *file;   /* NULL: cfg_diags.file */
	bool warning; /* the configuration is valid all the same */
};

struct cfg_diags {
	const char *file;
	struct cfg_diag *items;
	unsigned int n, n_warnings; /* messages; those of them that are warnings */
	unsigned int suppressed;    /* errors after CFG_DIAGS_MAX, which are only counted */
};

#define CFG_DIAGS_MAX 200

/* Number of errors so far. */
static inline unsigned int cfg_diags_errors(const struct cfg_diags *d)
{
	return d->n - d->n_warnings + d->suppressed;
}

/* Has the list as many messages as it keeps? Further errors are counted only. */
static inline bool cfg_diag_is_full(const struct cfg_diags *d)
{
	return d->n >= CFG_DIAGS_MAX;
}

void cfg_diag_add(struct cfg_diags *d, struct cfg_mark at, const char *format, ...) PRINTF_LIKE(3, 4);

/*
 * The same for a configuration that is valid, but may not do what its author expects. The text says with which figure.
 * Warnings after CFG_DIAGS_MAX messages are left out.
 */
void cfg_diag_warn(struct cfg_diags *d, struct cfg_mark at, const char *format, ...) PRINTF_LIKE(3, 4);

/* An error in the file `file`; NULL: d->file. */
void cfg_diag_add_in(struct cfg_diags *d, const char *file, struct cfg_mark at, const char *format, ...)
	PRINTF_LIKE(4, 5);

/* Move all messages of `from`, which are about from->file, to `to`. 0, or -EINVAL if there was an error. */
int cfg_diags_move(struct cfg_diags *to, struct cfg_diags *from);

/* Print one line per message, "FILE:LINE:COLUMN: error: TEXT" or "...: warning: TEXT", sorted by place. */
void cfg_diags_print(struct cfg_diags *d, FILE *out);
void cfg_diags_free(struct cfg_diags *d);

#endif
