/* SPDX-License-Identifier: BSD-3-Clause */
/* sluice-lab as a process: options, the EAL, one run or many. */
#ifndef SLUICE_LAB_APP_H
#define SLUICE_LAB_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/lab.h"

struct options {
	const char *file;
	char *const *files; /* all files to compare, `file` first */
	unsigned int n_files;
	const char *out;      /* folder for report.json, report.html and captures; NULL: write none */
	const char *messages; /* file for RSVP messages; NULL: write none */
	const char *print;    /* "reference"; NULL: run */
	bool check;	      /* load and check only */
	bool quiet;	      /* no progress bar, no text */
	bool json;	      /* the report as JSON on stdout instead of text */
	bool check_every_event;
	bool seed_given;
	uint64_t seed;
	bool many;
	uint64_t first, last; /* seeds */
	unsigned int jobs;    /* processes in parallel */
};

/* Parse the command line. 0: continue; otherwise the exit status + 1. */
int options_parse(struct options *o, int argc, char **argv);

/* Start the EAL with `bytes` of memory, without hugepages, files or buses. 0 or -errno. */
int eal_start(uint64_t bytes);
void eal_stop(void);

/* Before anything else allocates. */
void memory_begin(void);

/* Run the topology once. Exit status; *violation: text of a violated invariant, the caller frees it. NULL is fine. */
int run_once(const struct options *o, bool seed_given, uint64_t seed, char **violation);

/* Run all seeds, in parallel processes. Exit status. */
int run_seeds(const struct options *o);

/* Run all files and write compare.html to the folder, beside a folder for each report. Exit status. */
int run_compared(const struct options *o);

enum { STATUS_OK, STATUS_FAILED, STATUS_USAGE, STATUS_VIOLATION };

#endif
