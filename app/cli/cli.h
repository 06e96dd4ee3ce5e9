/* SPDX-License-Identifier: BSD-3-Clause */
/* Command-line options as a table: getopt, --help and the manual pages follow from it. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#define CLI_OPTIONS_MAX 24

struct cli_option {
	int value;	  /* what getopt answers: a letter, which is the short form too, or a number above 255 */
	const char *name; /* long form, without -- */
	const char *arg;  /* name of its argument; NULL: takes none */
	const char *help;
};

/* What getopt_long wants. */
struct cli_getopt {
	struct option longs[CLI_OPTIONS_MAX + 1];
	/* begins with +: what follows the first word that is no option is left alone */
	char shorts[2 * CLI_OPTIONS_MAX + 2];
};

/* n of at most CLI_OPTIONS_MAX. */
void cli_getopt_init(struct cli_getopt *g, const struct cli_option *options, size_t n);

/* "  -c, --config FILE   help", a line for each. */
void cli_print_options(const struct cli_option *options, size_t n, FILE *out);

/* sluicectl's, for its manual page too. */
extern const struct cli_option sluicectl_options[];
extern const size_t n_sluicectl_options;

#endif
