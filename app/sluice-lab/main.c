/* SPDX-License-Identifier: BSD-3-Clause */
/* The program sluice-lab: runs topologies under virtual time. Main thread. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"

/* Create a folder and its parents. 0 or -errno. */
static int make_folder(const char *path)
{
	char part[1024];

	for (size_t i = 1; path[i - 1] && i < sizeof(part); i++) {
		if (path[i] && path[i] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {0};
	int rc;

	memory_begin();
	rc = options_parse(&o, argc, argv);
	if (rc)
		return rc - 1;
	if (o.print) {
		if (strcmp(o.print, "reference") != 0) {
			fprintf(stderr, "sluice-lab: --print: expected reference, found '%s'\n", o.print);
			return STATUS_USAGE;
		}
		topo_emit_reference(stdout);
		return STATUS_OK;
	}
	if (o.out && make_folder(o.out) < 0) {
		fprintf(stderr, "sluice-lab: %s: %s\n", o.out, strerror(errno));
		return STATUS_FAILED;
	}
	if (o.n_files > 1)
		return run_compared(&o);
	return o.many ? run_seeds(&o) : run_once(&o, o.seed_given, o.seed, NULL);
}
