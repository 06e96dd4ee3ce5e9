/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs many seeds: one process per seed, several in parallel. They share nothing, so each run is the same as a run
 * alone. Main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"

struct job {
	pid_t pid; /* 0: none */
	uint64_t seed;
	FILE *violation; /* its text, written by the child */
};

struct runs {
	const struct options *options;
	struct job job[256];
	uint64_t done, failed, first_failed;
	char first_why[600];
};

/* The child: prints nothing and writes a violation to `text`. */
static void child(const struct options *o, uint64_t seed, FILE *text)
{
	struct options own = *o;
	char *violation = NULL;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), status;

	own.quiet = true;
	own.out = own.messages = NULL;
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	status = run_once(&own, true, seed, &violation);
	if (violation)
		fprintf(text, "%.500s", violation);
	fflush(text);
	_exit(status);
}

static int start(struct runs *r, struct job *j, uint64_t seed)
{
	*j = (struct job){.seed = seed, .violation = tmpfile()};
	if (!j->violation)
		return -errno;
	fflush(NULL);
	j->pid = fork();
	if (j->pid < 0)
		return -errno;
	if (j->pid == 0)
		child(r->options, seed, j->violation);
	return 0;
}

static void finish(struct runs *r, struct job *j, int status)
{
	char why[600] = "";
	bool bad = !WIFEXITED(status) || WEXITSTATUS(status) != STATUS_OK;

	rewind(j->violation);
	if (!fgets(why, sizeof(why), j->violation) && bad)
		snprintf(why, sizeof(why), WIFSIGNALED(status) ? "killed by signal %d" : "ended with status %d",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fclose(j->violation);
	j->pid = 0;
	r->done++;
	if (bad && (!r->failed || j->seed < r->first_failed)) {
		r->first_failed = j->seed;
		memcpy(r->first_why, why, sizeof(why));
	}
	r->failed += bad;
	if (bad || !r->options->quiet)
		printf("seed %llu: %s\n", (unsigned long long)j->seed, bad ? why : "ok");
}

static void wait_one(struct runs *r)
{
	int status;
	pid_t pid = wait(&status);

	for (unsigned int i = 0; pid > 0 && i < r->options->jobs; i++)
		if (r->job[i].pid == pid)
			finish(r, &r->job[i], status);
}

int run_seeds(const struct options *o)
{
	static struct runs r;
	uint64_t next = o->first;
	unsigned int running;

	r.options = o;
	do {
		running = 0;
		for (unsigned int i = 0; i < o->jobs; i++) {
			if (!r.job[i].pid && next <= o->last && start(&r, &r.job[i], next++) < 0) {
				perror("sluice-lab");
				return STATUS_FAILED;
			}
			running += r.job[i].pid != 0;
		}
		if (running)
			wait_one(&r);
	} while (running);
	printf("%llu seeds, %llu failed\n", (unsigned long long)r.done, (unsigned long long)r.failed);
	if (!r.failed)
		return STATUS_OK;
	printf("first failure: seed %llu: %s\nreplay: sluice-lab --seed %llu %s\n", (unsigned long long)r.first_failed,
		r.first_why, (unsigned long long)r.first_failed, o->file);
	return STATUS_VIOLATION;
}
