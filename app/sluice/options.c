/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of sluice and its help. Main thread, before the EAL starts. */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "base/compiler.h"
#include "base/text.h"

enum { OPT_CHECK = 256, OPT_STRICT, OPT_IDLE, OPT_WAIT, OPT_REPORT, OPT_CAPTURE, OPT_PRINT, OPT_VERSION };

const struct cli_option sluice_options[] = {
	{'c', "config", "FILE", "read the configuration from FILE; sluice.yaml(5) has its keys"},
	{'i', "interactive", NULL, "run a console on standard input; the node stops at end of input"},
	{'f', "script", "FILE", "run the commands in FILE after the start"},
	{OPT_CHECK, "check", NULL, "check the configuration and print the plan; start nothing"},
	{OPT_STRICT, "strict", NULL, "with --check: exit with 1 if a start on this machine would fail, too"},
	{OPT_IDLE, "exit-when-idle", "MS", "drain and stop after MS milliseconds without packets"},
	{OPT_WAIT, "wait-for-links", "S", "wait at most S seconds for all links before receiving"},
	{OPT_REPORT, "report", "FILE", "write the final report to FILE as JSON"},
	{OPT_CAPTURE, "capture", "FILE", "write all packets of all ports, and all drops, to FILE as pcapng"},
	{OPT_PRINT, "print", "PAGE",
		"print PAGE and exit: reference (all configuration keys), counters, commands, sluice.8, sluicectl.1, "
		"sluice.yaml.5"},
	{OPT_VERSION, "version", NULL, "print the version"},
	{'h', "help", NULL, "print this help"},
};
const size_t n_sluice_options = ARRAY_LEN(sluice_options);

static void usage(FILE *out)
{
	fprintf(out, "usage: sluice -c FILE [options] [-- EAL options]\n"
		     "       sluice preflight [-c FILE] [-j]\n"
		     "       sluice plan headroom --rate 100G --distance 1000km [options] [-j]\n"
		     "       sluice plan credit --rate 100G --distance 1000km [options] [-j]\n"
		     "\n");
	cli_print_options(sluice_options, n_sluice_options, out);
}

static int bad(const char *what, const char *value)
{
	fprintf(stderr, "sluice: %s: expected a whole number, found '%s'; see sluice --help\n", what, value);
	return 2 + 1;
}

int options_parse(struct options *o, int argc, char **argv)
{
	struct cli_getopt table;
	int opt;

	*o = (struct options){0};
	cli_getopt_init(&table, sluice_options, n_sluice_options);
	while ((opt = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		switch (opt) {
		case 'c':
			o->config_file = optarg;
			break;
		case 'i':
			o->interactive = true;
			break;
		case 'f':
			o->script_file = optarg;
			break;
		case OPT_CHECK:
			o->check = true;
			break;
		case OPT_STRICT:
			o->strict = true;
			break;
		case OPT_IDLE:
			if (text_parse_number(optarg, 1000, &o->idle_exit_ms) < 0 || !o->idle_exit_ms)
				return bad("--exit-when-idle", optarg);
			break;
		case OPT_WAIT:
			if (text_parse_number(optarg, 1000, &o->wait_links_ms) < 0 || o->wait_links_ms > 86400)
				return bad("--wait-for-links", optarg);
			o->wait_links_ms *= 1000;
			break;
		case OPT_REPORT:
			o->report_file = optarg;
			break;
		case OPT_CAPTURE:
			o->capture_file = optarg;
			break;
		case OPT_PRINT:
			o->print = optarg;
			break;
		case OPT_VERSION:
			printf("sluice %s\n", SLUICE_VERSION);
			return 0 + 1;
		case 'h':
			usage(stdout);
			return 0 + 1;
		default:
			usage(stderr);
			return 2 + 1;
		}
	}
	o->eal_argc = argc - optind;
	o->eal_argv = argv + optind;
	/* getopt consumes the first --; without one, no argument may remain */
	if (o->eal_argc && (optind == 0 || strcmp(argv[optind - 1], "--") != 0)) {
		fprintf(stderr, "sluice: unexpected argument '%s'; put EAL options after --\n", argv[optind]);
		return 2 + 1;
	}
	if (o->strict && !o->check) {
		fprintf(stderr, "sluice: --strict is for --check\n");
		return 2 + 1;
	}
	if (!o->config_file && !o->print) {
		usage(stderr);
		return 2 + 1;
	}
	return 0;
}
