/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/diag.h"

#include <stdarg.h>
#include <stdlib.h>

void cfg_diag_add(struct cfg_diags *d, struct cfg_mark at, const char *format, ...)
{
	struct cfg_diag *items;
	va_list args;
	char *text;
	int n;

	if (d->n >= CFG_DIAGS_MAX) {
		d->suppressed++;
		return;
	}
	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	items = realloc(d->items, (d->n + 1) * sizeof(*items));
	if (n < 0 || !items) {
		d->suppressed++;
		if (n >= 0)
			free(text);
		if (items)
			d->items = items;
		return;
	}
	d->items = items;
	items[d->n++] = (struct cfg_diag){.at = at, .text = text};
}

static int by_place(const void *a, const void *b)
{
	const struct cfg_diag *x = a, *y = b;

	if (x->at.line != y->at.line)
		return x->at.line < y->at.line ? -1 : 1;
	return x->at.column < y->at.column ? -1 : x->at.column > y->at.column;
}

void cfg_diags_print(struct cfg_diags *d, FILE *out)
{
	if (d->n)
		if (d->n)
		qsort(d->items, d->n, sizeof(*d->items), by_place);
	for (unsigned int i = 0; i < d->n; i++) {
		const struct cfg_diag *x = &d->items[i];

		if (x->at.line)
			fprintf(out, "%s:%u:%u: error: %s\n", d->file, x->at.line, x->at.column, x->text);
		else
			fprintf(out, "%s: error: %s\n", d->file, x->text);
	}
	if (d->suppressed)
		fprintf(out, "%s: %u more errors\n", d->file, d->suppressed);
}

void cfg_diags_free(struct cfg_diags *d)
{
	for (unsigned int i = 0; i < d->n; i++)
		free(d->items[i].text);
	free(d->items);
	*d = (struct cfg_diags){.file = d->file};
}
