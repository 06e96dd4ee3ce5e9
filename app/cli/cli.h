/* SPDX-License-Identifier: BSD-3-Clause */
/* Command-line options as a table. getopt, --help and the manual pages read it. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#define CLI_OPTIONS_MAX 24

struct cli_option {
	int value;	  /* returned by getopt: the letter of the short form, or a number above 255 for none */
	const char *name; /* long form, without -- */
	const char *arg;  /* name of the argument; NULL: none */
	const char *help;
};

/* Arguments of getopt_long(3). */
struct cli_getopt {
	struct option longs[CLI_OPTIONS_MAX + 1];
	/* begins with +: parsing stops at the first word that is not an option */
	char shorts[2 * CLI_OPTIONS_MAX + 2];
};

/* n: at most CLI_OPTIONS_MAX. */
void cli_getopt_init(struct cli_getopt *g, const struct cli_option *options, size_t n);

/* Print one line per option: "  -c, --config FILE   help". */
void cli_print_options(const struct cli_option *options, size_t n, FILE *out);

/* The options of sluicectl; sluice prints them in the manual page. */
extern const struct cli_option sluicectl_options[];
extern const size_t n_sluicectl_options;

#endif
