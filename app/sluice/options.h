/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of sluice. Main thread, before lcores start. */
#ifndef SLUICE_OPTIONS_H
#define SLUICE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

struct options {
	const char *config_file;
	const char *script_file;  /* commands to run after the start; NULL: none */
	const char *report_file;  /* final report as JSON; NULL: none */
	const char *capture_file; /* pcapng of all ports and drops; NULL: none */
	const char *print;	  /* name of a page; NULL: none */
	bool check, strict;
	bool interactive;
	uint64_t idle_exit_ms;	/* 0: run until stopped */
	uint64_t wait_links_ms; /* 0: do not wait */
	int eal_argc;		/* the arguments after -- */
	char **eal_argv;
};

extern const struct cli_option sluice_options[];
extern const size_t n_sluice_options;

/* Parse the command line. 0: continue; otherwise the exit status + 1 (help and version return 1). */
int options_parse(struct options *o, int argc, char **argv);

#endif
