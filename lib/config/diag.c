/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of messages about a configuration, sorted by place. Management thread. */
#include "config/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static PRINTF_LIKE(5, 0) void diag_add_va(struct cfg_diags *d, bool warning, const char *file, struct cfg_mark at,
	const char *format, va_list args)
{
	struct cfg_diag *items, one = {.at = at, .warning = warning};

	if (d->n >= CFG_DIAGS_MAX) {
		d->suppressed += !warning;
		return;
	}
	if (vasprintf(&one.text, format, args) < 0)
		one.text = NULL;
	one.file = file ? strdup(file) : NULL;
	items = realloc(d->items, (d->n + 1) * sizeof(*items));
	if (items)
		d->items = items;
	if (!items || !one.text || (file && !one.file)) {
		d->suppressed += !warning;
		free(one.text);
		free(one.file);
		return;
	}
	items[d->n++] = one;
	d->n_warnings += warning;
}

void cfg_diag_add(struct cfg_diags *d, struct cfg_mark at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	diag_add_va(d, false, NULL, at, format, args);
	va_end(args);
}

void cfg_diag_warn(struct cfg_diags *d, struct cfg_mark at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	diag_add_va(d, true, NULL, at, format, args);
	va_end(args);
}

void cfg_diag_add_in(struct cfg_diags *d, const char *file, struct cfg_mark at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	diag_add_va(d, false, file, at, format, args);
	va_end(args);
}

static PRINTF_LIKE(5, 6) void diag_add_any(struct cfg_diags *d, bool warning, const char *file, struct cfg_mark at,
	const char *format, ...)
{
	va_list args;

	va_start(args, format);
	diag_add_va(d, warning, file, at, format, args);
	va_end(args);
}

int cfg_diags_move(struct cfg_diags *to, struct cfg_diags *from)
{
	int rc = cfg_diags_errors(from) ? -EINVAL : 0;

	for (unsigned int i = 0; i < from->n; i++)
		diag_add_any(to, from->items[i].warning, from->file, from->items[i].at, "%s", from->items[i].text);
	to->suppressed += from->suppressed;
	cfg_diags_free(from);
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct cfg_diag *x = a, *y = b;

	int d = strcmp(x->file ? x->file : "", y->file ? y->file : "");

	if (d)
		return d;
	if (x->at.line != y->at.line)
		return x->at.line < y->at.line ? -1 : 1;
	return x->at.column < y->at.column ? -1 : x->at.column > y->at.column;
}

void cfg_diags_print(struct cfg_diags *d, FILE *out)
{
	if (d->n)
		qsort(d->items, d->n, sizeof(*d->items), by_place);
	for (unsigned int i = 0; i < d->n; i++) {
		const struct cfg_diag *x = &d->items[i];
		const char *file = x->file ? x->file : d->file, *kind = x->warning ? "warning" : "error";

		if (x->at.line)
			fprintf(out, "%s:%u:%u: %s: %s\n", file, x->at.line, x->at.column, kind, x->text);
		else
			fprintf(out, "%s: %s: %s\n", file, kind, x->text);
	}
	if (d->suppressed)
		fprintf(out, "%s: %u more errors\n", d->file, d->suppressed);
}

void cfg_diags_free(struct cfg_diags *d)
{
	for (unsigned int i = 0; i < d->n; i++) {
		free(d->items[i].text);
		free(d->items[i].file);
	}
	free(d->items);
	*d = (struct cfg_diags){.file = d->file};
}
