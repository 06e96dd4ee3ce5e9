/* SPDX-License-Identifier: BSD-3-Clause */
/* One run: loads the topology, runs the lab with a progress bar, writes the report. Main thread. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app.h"

struct progress {
	struct timespec began, shown;
	struct timespec cpu_began;
	bool shows; /* somebody sees it */
};

static double seconds_since(const struct timespec *t, clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) / 1e9;
}

/* At intervals: overwrite one line with the position of the run and its speed. */
static void show_progress(const struct lab *lab, void *arg)
{
	struct progress *p = arg;
	double took = seconds_since(&p->began, CLOCK_MONOTONIC);
	int done = (int)(lab_share_done(lab) * 30);

	if (!p->shows || seconds_since(&p->shown, CLOCK_MONOTONIC) < 0.2)
		return;
	clock_gettime(CLOCK_MONOTONIC, &p->shown);
	fprintf(stderr, "\r[%.*s%*s] %9.3f ms  %6.2f M events/s  %6.2f M hops/s  %llu packets  %llu lost ", done,
		"##############################", 30 - done, "", (double)lab_now(lab) / 1e6,
		(double)lab_events(lab) / took / 1e6, (double)lab_hops(lab) / took / 1e6,
		(unsigned long long)lab_hops(lab), (unsigned long long)lab_losses(lab));
}

static struct topology *load(const struct options *o)
{
	struct cfg_diags diags = {0};
	struct topology *t = topo_load_file(o->file, &diags);

	/* only --check prints the warnings of the nodes' configurations: a run shows their effect */
	if (!t || o->check)
		cfg_diags_print(&diags, stderr);
	cfg_diags_free(&diags);
	return t;
}

static void print_memory(const struct topology *t)
{
	struct topo_memory m;

	topo_memory(t, &m);
	printf("%s: %u nodes, %u hosts, %u links, %u flows\n", t->lab.name, t->nodes.n, t->hosts.n, t->links.n,
		t->flows.n);
	printf("memory: %llu MB for node buffers and tables + %llu MB for links + %llu MB for hosts + %llu MB fixed, "
	       "of "
	       "%llu MB\n",
		(unsigned long long)(m.nodes >> 20), (unsigned long long)(m.lines >> 20),
		(unsigned long long)(m.hosts >> 20), (unsigned long long)(m.eal >> 20),
		(unsigned long long)(t->lab.memory >> 20));
	if (m.widest[0])
		printf("widest: %s\n", m.widest);
}

static int write_file(const char *folder, const char *name, json_t *report, void (*print)(json_t *report, FILE *out))
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	if (f) {
		print(report, f);
		if (fclose(f) == 0)
			return 0;
	}
	fprintf(stderr, "sluice-lab: %s: %s\n", path, strerror(errno));
	return -EIO;
}

static void print_json(json_t *report, FILE *out)
{
	json_dumpf(report, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	fputc('\n', out);
}

/* The speed goes to stderr only, so that reports do not depend on the machine. Rates are per second of CPU time. */
static void show_speed(const struct options *o, const struct lab *lab, const struct progress *p)
{
	double cpu = seconds_since(&p->cpu_began, CLOCK_PROCESS_CPUTIME_ID);

	if (!o->quiet)
		fprintf(stderr, "%s%.2f s, %.2f s of CPU: %.2f M events/s, %.2f M packet hops/s\n",
			isatty(STDERR_FILENO) ? "\r\033[K" : "", seconds_since(&p->began, CLOCK_MONOTONIC), cpu,
			(double)lab_events(lab) / cpu / 1e6, (double)lab_hops(lab) / cpu / 1e6);
}

static int report(const struct options *o, struct lab *lab)
{
	json_t *r = lab_report(lab);
	int rc = 0;

	if (!r) {
		fprintf(stderr, "sluice-lab: out of memory for the report\n");
		return STATUS_FAILED;
	}
	if (o->json)
		print_json(r, stdout);
	else if (!o->quiet)
		lab_report_text(r, stdout);
	if (o->out) {
		rc = write_file(o->out, "report.json", r, print_json);
		rc = rc ? rc : write_file(o->out, "report.html", r, lab_report_html);
		if (rc == 0 && !o->quiet && !o->json)
			printf("\nReport with plots: %s/report.html\n", o->out);
	}
	json_decref(r);
	return rc ? STATUS_FAILED : STATUS_OK;
}

static int run(const struct options *o, struct topology *t, bool seed_given, uint64_t seed, char **violation)
{
	struct progress progress = {.shows = !o->quiet && isatty(STDERR_FILENO)};
	struct lab_options options = {.seed = seed,
		.seed_given = seed_given,
		.out = o->out,
		.messages = o->messages,
		.check_every_event = o->check_every_event,
		.progress = show_progress,
		.progress_arg = &progress};
	char err[512];
	struct lab *lab = lab_new(t, &options, err, sizeof(err));
	int status;

	if (!lab) {
		fprintf(stderr, "sluice-lab: %s: %s\n", o->file, err);
		return STATUS_FAILED;
	}
	clock_gettime(CLOCK_MONOTONIC, &progress.began);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &progress.cpu_began);
	lab_run(lab);
	show_speed(o, lab, &progress);
	status = report(o, lab);
	if (lab_violation(lab)) {
		status = STATUS_VIOLATION;
		if (violation)
			*violation = strdup(lab_violation(lab));
		fprintf(stderr, "sluice-lab: %s\n", lab_violation(lab));
		lab_dump(lab, stderr);
	}
	lab_free(lab);
	return status;
}

int run_once(const struct options *o, bool seed_given, uint64_t seed, char **violation)
{
	struct topology *t = load(o);
	struct topo_memory m;
	int status;

	if (!t)
		return STATUS_USAGE;
	if (o->check) {
		print_memory(t);
		topo_free(t);
		return STATUS_OK;
	}
	topo_memory(t, &m);
	if (eal_start(m.nodes + m.eal) < 0) {
		fprintf(stderr, "sluice-lab: cannot start the EAL; see its message above\n");
		topo_free(t);
		return STATUS_FAILED;
	}
	status = run(o, t, seed_given, seed, violation);
	topo_free(t);
	eal_stop();
	return status;
}
