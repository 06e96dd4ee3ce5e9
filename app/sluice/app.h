/* SPDX-License-Identifier: BSD-3-Clause */
/* The appliance as a process: its options, the stages of its life, and what its management thread serves. */
#ifndef SLUICE_APP_H
#define SLUICE_APP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"
#include "command/command.h"
#include "config/config.h"

struct node;

struct options {
	const char *config_file;
	const char *script_file;  /* commands run after the start; NULL: none */
	const char *report_file;  /* JSON of the last report; NULL: none */
	const char *capture_file; /* pcapng of all ports; NULL: none */
	const char *print;	  /* name of a page; NULL: nothing */
	bool check;
	bool interactive;
	uint64_t idle_exit_ms;	/* 0: run until told to stop */
	uint64_t wait_links_ms; /* 0: do not wait */
	int eal_argc;		/* what followed -- */
	char **eal_argv;
};

extern const struct cli_option sluice_options[];
extern const size_t n_sluice_options;

/* Parse the command line. 0: go on; else the exit status + 1 (help and version end with 1). */
int options_parse(struct options *o, int argc, char **argv);

/* Where memory comes from; found out before the EAL starts. */
struct memory_plan {
	bool wants_hugepages, hugepages; /* may have some; gets all of it from them */
	unsigned int node;		 /* NUMA node it comes from */
	uint64_t need_mb, free_huge_mb;	 /* free: on that node */
};

/* 0, or -errno with a message that names the cure. */
int memory_plan_make(const struct config *c, struct memory_plan *m, char *err, size_t size);

/* What to write to a node's nr_hugepages (of 2 MB) so that so many MB are free. */
uint64_t hugepages_for(unsigned int node, uint64_t mb);
bool hugetlbfs_mounted(void);

/* May lcores preempt each other: two of them on one CPU? */
bool lcores_share_cpus(const struct config *c);

/* Do all CPUs of the configuration exist here? 0, or -ENODEV with a message. */
int lcores_check(const struct config *c, char *err, size_t size);

/* Start the EAL for a configuration. 0 or -errno with a message. */
int eal_start(const struct config *c, const struct memory_plan *m, const struct options *o, char *err, size_t size);
void eal_stop(void);

/* Where pid files and sockets are; made if need be. 0 or -errno. */
int instance_directory(char *buf, size_t size);

/* Lock the node's name for this process. NULL with a message when another one has it. */
struct pidfh;
struct pidfh *instance_lock(const char *name, char *err, size_t size);
void instance_unlock(struct pidfh *lock); /* NULL is fine */

/* man.c: sluice(8) and sluicectl(1). */
void man_sluice(FILE *out);
void man_sluicectl(FILE *out);

/* --check: what a start would do. */
void plan_print(const struct config *c, const struct memory_plan *m, FILE *out);

extern const struct cli_option preflight_options[];
extern const size_t n_preflight_options;
extern const struct cli_option plan_options[];
extern const size_t n_plan_options;

/* `sluice plan headroom ...`: buffer arithmetic without a configuration. Exit status. */
int plan(int argc, char **argv);

/* The same for a port with PFC, as lines of the plan. */
void plan_headroom_print(const struct config *c, const struct cfg_port *p, const char *indent, FILE *out);

/* `sluice preflight [-c FILE]`: what this machine offers and lacks. Exit status. */
int preflight(int argc, char **argv);

/* Time of this process in ns, from the TSC; any thread. Never 0. */
uint64_t clock_now(void);
void clock_init(void);

/* What to add to clock_now() for ns since 1970. */
uint64_t clock_wall_offset(void);

/* Launch all lcores of a node; stop them and wait for them. */
int lcores_launch(struct node *n, const struct config *c);
void lcores_stop(void);

/* Log lines to stderr or syslog, with levels and a limit per module. */
void logging_start(const struct cfg_log *log);
/* After a reload. What `set log` has set since stays, unless the file's level is another one now. */
void logging_change(const struct cfg_log *before, const struct cfg_log *log);
void logging_tick(void); /* now and then: says what the limit left out */

/* Tell systemd (or whoever started us) "READY=1" and the like; nothing when nobody listens. */
void notify(const char *state);

/* Everything the management thread holds. One per process. */
struct app {
	const struct options *options;
	struct node *node;
	struct command_host host;
	pthread_mutex_t lock; /* held by the management thread except while it waits; telemetry takes it too */
	bool stop;
	/* reload.c */
	char *file;		    /* the running configuration's */
	char *previous;		    /* YAML before the last reload; NULL: none */
	char *previous_file;	    /* the file it came from */
	uint64_t confirm_before_ns; /* 0: nothing to confirm */
	/* server.c */
	struct server *server;
	/* metrics.c */
	struct metrics *metrics;
};

/* reload.c: fills the members of host, and the timer of commit confirmed. */
void reload_init(struct app *app);
void reload_fini(struct app *app);
void reload_tick(struct app *app, uint64_t now);
void reload_on_signal(struct app *app);

/* server.c: console and socket. 0 or -errno with a message. */
int server_start(struct app *app, char *err, size_t size);
void server_stop(struct app *app);

struct pollfd;
/* Descriptors to wait for, at most `room`; and serving those that are ready. */
unsigned int server_poll_set(struct app *app, struct pollfd *fds, unsigned int room);
void server_serve(struct app *app, const struct pollfd *fds, unsigned int n);
bool server_is_busy(const struct app *app); /* more to do at once, without waiting */

/* metrics.c: OpenMetrics over HTTP. 0 or -errno with a message. */
int metrics_start(struct app *app, char *err, size_t size);
void metrics_stop(struct app *app);
int metrics_fd(const struct app *app); /* to wait for; -1: none */
void metrics_serve(struct app *app);

/* telemetry.c: DPDK's telemetry socket. */
void telemetry_start(struct app *app);

/* manage.c: the management thread's loop, until told to stop. Holds the lock. */
void manage(struct app *app, int signals);

#endif
