/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sluice preflight: checks a machine for a poll-mode appliance without starting anything. Each warning and error comes
 * with the command that fixes it. Exit status 0: no errors; 1: errors. Main thread, before lcores start.
 */
#include "preflight.h"

#include "machine.h"
#include "base/sysfs.h"

enum { OPT_ROOT = 256 };

const struct cli_option preflight_options[] = {
	{'c', "config", "FILE", "also check the machine for the configuration in FILE"},
	{'j', "json", NULL, "print the findings as JSON"},
	{OPT_ROOT, "root", "DIR", "read /sys and /proc below DIR, for example a copy from another machine"},
	{'h', "help", NULL, "print this help"},
};
const size_t n_preflight_options = ARRAY_LEN(preflight_options);

static struct config *load(struct findings *f, const char *file)
{
	struct config *c = cfg_load_checked(file, stderr);

	if (!c)
		find(f, FINDING_ERROR, "configuration", NULL, "%s is not valid; standard error has the details", file);
	return c;
}

static int usage(FILE *out, int status)
{
	fprintf(out, "usage: sluice preflight [-c FILE] [-j]\n\n");
	cli_print_options(preflight_options, n_preflight_options, out);
	return status;
}

int preflight(int argc, char **argv)
{
	struct findings f = {.list = NULL};
	struct config *c = NULL;
	struct memory_plan memory = {0};
	const char *file = NULL;
	struct cli_getopt table;
	bool json = false;
	char err[512];
	int opt;

	cli_getopt_init(&table, preflight_options, n_preflight_options);
	while ((opt = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		if (opt == 'c')
			file = optarg;
		else if (opt == 'j')
			json = true;
		else if (opt == OPT_ROOT)
			sysfs_set_root(optarg);
		else
			return usage(opt == 'h' ? stdout : stderr, opt == 'h' ? 0 : 2);
	}
	if (optind < argc)
		return usage(stderr, 2);
	f.list = json_array();
	if (file)
		c = load(&f, file);
	if (c)
		memory_plan_make(c, &memory, err, sizeof(err));
	preflight_machine(&f, c ? &memory : NULL);
	if (c)
		preflight_config(&f, c);
	cfg_free(c);
	if (json) {
		json_dumpf(f.list, stdout, JSON_INDENT(2));
		printf("\n");
	} else {
		findings_print(f.list);
	}
	json_decref(f.list);
	return f.worst == FINDING_ERROR;
}
