/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares topologies on one page: runs each in a process of its own and joins the reports. Main thread. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"
#include "base/compiler.h"

/* The folder of a topology's report: --out plus the file's name without its suffix. */
static void folder_of(const struct options *o, const char *file, char *out, size_t size)
{
	char path[1024], *name, *dot;

	snprintf(path, sizeof(path), "%s", file);
	name = basename(path);
	dot = strrchr(name, '.');
	if (dot)
		*dot = 0;
	snprintf(out, size, "%s/%s", o->out, name);
}

static void child(const struct options *o, const char *file)
{
	struct options own = *o;
	char folder[1024];

	folder_of(o, file, folder, sizeof(folder));
	own.file = file;
	own.out = folder;
	own.messages = NULL;
	own.quiet = true;
	own.json = false;
	if (mkdir(folder, 0755) < 0 && errno != EEXIST) {
		fprintf(stderr, "sluice-lab: %s: %s\n", folder, strerror(errno));
		_exit(STATUS_FAILED);
	}
	_exit(run_once(&own, own.seed_given, own.seed, NULL));
}

/* Run all files, o->jobs in parallel. Returns the worst exit status. */
static int run_all(const struct options *o)
{
	unsigned int running = 0;
	int worst = STATUS_OK, status;

	for (unsigned int i = 0; i < o->n_files || running;) {
		if (i < o->n_files && running < o->jobs) {
			pid_t pid;

			fflush(NULL);
			pid = fork();
			if (pid < 0)
				return STATUS_FAILED;
			if (pid == 0)
				child(o, o->files[i]);
			i++;
			running++;
		} else {
			if (wait(&status) < 0)
				return STATUS_FAILED;
			running--;
			worst = MAX_OF(worst, WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED);
		}
	}
	return worst;
}

static json_t *load(const struct options *o)
{
	json_t *variants = json_array();

	for (unsigned int i = 0; i < o->n_files; i++) {
		char path[1100];
		json_error_t e;
		json_t *report;

		folder_of(o, o->files[i], path, sizeof(path) - 16);
		strcat(path, "/report.json");
		report = json_load_file(path, 0, &e);
		if (!report) {
			fprintf(stderr, "sluice-lab: %s: %s\n", path, e.text);
			json_decref(variants);
			return NULL;
		}
		json_array_append_new(variants, report);
	}
	return json_pack("{so}", "variants", variants);
}

static json_int_t sum_of(const json_t *list, const char *key)
{
	json_int_t sum = 0;
	const json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
		sum += json_integer_value(json_object_get(x, key));
	return sum;
}

static void print_table(const json_t *all)
{
	const json_t *r, *f;
	size_t i, k;

	printf("%-32s %12s %12s %14s %14s\n", "", "Gb/s", "lost", "retransmitted", "starved, ms");
	json_array_foreach(json_object_get(all, "variants"), i, r) {
		double goodput = 0;

		json_array_foreach(json_object_get(r, "flows"), k, f)
			goodput += json_number_value(json_object_get(f, "goodput_gbps"));
		printf("%-32s %12.3f %12lld %14lld %14.3f\n", json_string_value(json_object_get(r, "name")), goodput,
			(long long)json_integer_value(json_object_get(r, "losses")),
			(long long)sum_of(json_object_get(r, "flows"), "retransmitted"),
			(double)sum_of(json_object_get(r, "hosts"), "starved_ns") / 1e6);
	}
}

int run_compared(const struct options *o)
{
	char path[1100];
	json_t *all;
	FILE *f;
	int worst;

	if (!o->out || o->many || o->check) {
		fputs("sluice-lab: to compare several topologies, add --out FOLDER and omit --seeds and --check\n",
			stderr);
		return STATUS_USAGE;
	}
	worst = run_all(o);
	if (worst == STATUS_FAILED || worst == STATUS_USAGE)
		return worst;
	all = load(o);
	if (!all)
		return STATUS_FAILED;
	snprintf(path, sizeof(path), "%s/compare.html", o->out);
	f = fopen(path, "we");
	if (!f) {
		fprintf(stderr, "sluice-lab: %s: %s\n", path, strerror(errno));
		json_decref(all);
		return STATUS_FAILED;
	}
	lab_report_html(all, f);
	fclose(f);
	if (!o->quiet) {
		print_table(all);
		printf("\nComparison with plots: %s\n", path);
	}
	json_decref(all);
	return worst;
}
