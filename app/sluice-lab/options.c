/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of sluice-lab and its help. Main thread. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app.h"
#include "base/text.h"

static const char usage[] =
	"usage: sluice-lab [OPTIONS] TOPOLOGY.yaml\n"
	"       sluice-lab --out FOLDER [OPTIONS] TOPOLOGY.yaml TOPOLOGY.yaml...\n"
	"\n"
	"Run a network of complete sluice nodes under virtual time (docs/lab.md). Needs no root, no hugepages, no "
	"NIC.\n"
	"With several topologies, run each and compare them in FOLDER/compare.html.\n"
	"\n"
	"  --out FOLDER          write report.html, report.json and captures to FOLDER\n"
	"  --messages FILE       write the RSVP messages that are sent to FILE, one of each form (pcapng)\n"
	"  --json                print the report as JSON instead of text\n"
	"  --seed N              use seed N instead of the file's\n"
	"  --seeds A..B          run seeds A to B in parallel processes; print the first that fails\n"
	"  --jobs N              run N processes in parallel; default: the number of CPUs\n"
	"  --check               check the file and print the memory that a run needs\n"
	"  --check-every-event   check all invariants after every event (slow)\n"
	"  --quiet               print no progress bar, and with --seeds no line for each seed\n"
	"  --print reference     print every key of a topology file\n"
	"  --help                print this help\n"
	"  --version             print the version\n"
	"\n"
	"Exit status: 0 success, 1 the run failed, 2 wrong usage or invalid file, 3 an invariant or the promise of a "
	"lossless class was violated.\n";

enum {
	OPT_OUT = 256,
	OPT_MESSAGES,
	OPT_JSON,
	OPT_SEED,
	OPT_SEEDS,
	OPT_JOBS,
	OPT_CHECK,
	OPT_EVERY,
	OPT_QUIET,
	OPT_PRINT,
	OPT_HELP,
	OPT_VERSION
};

static const struct option table[] = {
	{"out", required_argument, NULL, OPT_OUT},
	{"messages", required_argument, NULL, OPT_MESSAGES},
	{"json", no_argument, NULL, OPT_JSON},
	{"seed", required_argument, NULL, OPT_SEED},
	{"seeds", required_argument, NULL, OPT_SEEDS},
	{"jobs", required_argument, NULL, OPT_JOBS},
	{"check", no_argument, NULL, OPT_CHECK},
	{"check-every-event", no_argument, NULL, OPT_EVERY},
	{"quiet", no_argument, NULL, OPT_QUIET},
	{"print", required_argument, NULL, OPT_PRINT},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static int wrong(const char *what, const char *found)
{
	fprintf(stderr, "sluice-lab: %s, found '%s'\n", what, found);
	return STATUS_USAGE + 1;
}

static int take(struct options *o, int opt, const char *arg)
{
	unsigned long long a, b;
	uint64_t n;
	int used = 0;

	switch (opt) {
	case OPT_OUT:
		o->out = arg;
		return 0;
	case OPT_MESSAGES:
		o->messages = arg;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_SEED:
		o->seed_given = true;
		return text_parse_number(arg, 1000, &o->seed) < 0 ? wrong("--seed: expected a number", arg) : 0;
	case OPT_SEEDS:
		if (sscanf(arg, "%llu..%llu%n", &a, &b, &used) != 2 || arg[used] || a > b)
			return wrong("--seeds: expected FIRST..LAST", arg);
		o->many = true;
		o->first = a;
		o->last = b;
		return 0;
	case OPT_JOBS:
		if (text_parse_number(arg, 1000, &n) < 0 || n < 1 || n > 256)
			return wrong("--jobs: expected a number from 1 to 256", arg);
		o->jobs = (unsigned int)n;
		return 0;
	case OPT_CHECK:
		o->check = true;
		return 0;
	case OPT_EVERY:
		o->check_every_event = true;
		return 0;
	case OPT_QUIET:
		o->quiet = true;
		return 0;
	case OPT_PRINT:
		o->print = arg;
		return 0;
	case OPT_HELP:
		fputs(usage, stdout);
		return STATUS_OK + 1;
	case OPT_VERSION:
		printf("sluice-lab %s\n", SLUICE_VERSION);
		return STATUS_OK + 1;
	default:
		fputs("see sluice-lab --help\n", stderr);
		return STATUS_USAGE + 1;
	}
}

int options_parse(struct options *o, int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int opt, rc;

	o->jobs = cpus > 0 ? (unsigned int)cpus : 1;
	while ((opt = getopt_long(argc, argv, "", table, NULL)) != -1) {
		rc = take(o, opt, optarg);
		if (rc)
			return rc;
	}
	if (o->print)
		return 0;
	if (optind >= argc) {
		fputs(usage, stderr);
		return STATUS_USAGE + 1;
	}
	o->file = argv[optind];
	o->files = argv + optind;
	o->n_files = (unsigned int)(argc - optind);
	return 0;
}
