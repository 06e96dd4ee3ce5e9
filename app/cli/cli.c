/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command-line options from their table: the arguments of getopt_long(3), and the list that --help prints. Main thread.
 */
#include "cli/cli.h"

#define HELP_COLUMN 22 /* width of option and argument */

void cli_getopt_init(struct cli_getopt *g, const struct cli_option *options, size_t n)
{
	char *s = g->shorts;

	*g = (struct cli_getopt){0};
	*s++ = '+';
	for (size_t i = 0; i < n; i++) {
		const struct cli_option *o = &options[i];

		g->longs[i] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL, o->value};
		if (o->value > 255)
			continue;
		*s++ = (char)o->value;
		if (o->arg)
			*s++ = ':';
	}
}

void cli_print_options(const struct cli_option *options, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct cli_option *o = &options[i];
		char text[64];

		snprintf(text, sizeof(text), "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
		if (o->value > 255)
			fprintf(out, "      %-*s%s\n", HELP_COLUMN, text, o->help);
		else
			fprintf(out, "  -%c, %-*s%s\n", o->value, HELP_COLUMN, text, o->help);
	}
}
