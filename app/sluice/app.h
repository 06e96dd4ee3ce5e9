/* SPDX-License-Identifier: BSD-3-Clause */
/* The appliance as a process: its options, the stages of its life, and the services of its management thread. */
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
	const char *script_file;  /* commands to run after the start; NULL: none */
	const char *report_file;  /* final report as JSON; NULL: none */
	const char *capture_file; /* pcapng of all ports and drops; NULL: none */
	const char *print;	  /* name of a page; NULL: none */
	bool check;
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

/* How much memory the node needs, and its source; decided before the EAL starts. */
struct memory_plan {
	bool wants_hugepages, hugepages; /* the configuration allows them; all memory comes from them */
	unsigned int node;		 /* NUMA node of the memory */
	uint64_t need_mb, free_huge_mb;	 /* free: on that node */
};

/* 0, or -errno with a message that names the remedy. */
int memory_plan_make(const struct config *c, struct memory_plan *m, char *err, size_t size);

/* The number to write to a NUMA node's nr_hugepages (of 2 MB) to have `mb` MB free. */
uint64_t hugepages_for(unsigned int node, uint64_t mb);
bool hugetlbfs_mounted(void);

/* Do two lcores share a CPU, so that they may preempt each other? */
bool lcores_share_cpus(const struct config *c);

/* May this process use all CPUs of the configuration? 0, or -ENODEV with a message. */
int lcores_check(const struct config *c, char *err, size_t size);

/* Start the EAL for a configuration. 0, or -errno with a message. */
int eal_start(const struct config *c, const struct memory_plan *m, const struct options *o, char *err, size_t size);
void eal_stop(void);

/* The folder of pid files and sockets; created if missing. 0 or -errno. */
int instance_directory(char *buf, size_t size);

/* Lock the node's name for this process. NULL with a message if another process holds it. */
struct pidfh;
struct pidfh *instance_lock(const char *name, char *err, size_t size);
void instance_unlock(struct pidfh *lock); /* NULL is fine */

/* man.c: sluice(8) and sluicectl(1). */
void man_sluice(FILE *out);
void man_sluicectl(FILE *out);

/* --check: print what a start would do. */
void plan_print(const struct config *c, const struct memory_plan *m, FILE *out);

extern const struct cli_option preflight_options[];
extern const size_t n_preflight_options;
extern const struct cli_option plan_options[];
extern const size_t n_plan_options;

/* `sluice plan headroom ...`: compute headroom without a configuration. Exit status. */
int plan(int argc, char **argv);

/* Headroom of a configured port, as lines of the plan; nothing without PFC. */
void plan_headroom_print(const struct config *c, const struct cfg_port *p, const char *indent, FILE *out);

/* `sluice preflight [-c FILE]`: print what this machine has and lacks. Exit status. */
int preflight(int argc, char **argv);

/* Time of this process in ns, from the TSC. Never 0. Any thread. */
uint64_t clock_now(void);
void clock_init(void);

/* clock_now() plus this is ns since 1970. */
uint64_t clock_wall_offset(void);

/* Launch all lcores of a node (0 or -errno); stop them and wait until they have stopped. */
int lcores_launch(struct node *n, const struct config *c);
void lcores_stop(void);

/* Send log lines to stderr or syslog, with a level and a limit per module. */
void logging_start(const struct cfg_log *log);
/* Apply the log keys of a reload. Levels set by `set log` stay unless log.level has changed. */
void logging_change(const struct cfg_log *before, const struct cfg_log *log);
void logging_tick(void); /* report suppressed lines; call at least once a second */

/* Send a state such as "READY=1" to the service manager (sd_notify(3)). No effect without NOTIFY_SOCKET. */
void notify(const char *state);

/* State of the management thread. One per process. */
struct app {
	const struct options *options;
	struct node *node;
	struct command_host host;
	pthread_mutex_t lock; /* held by the management thread except while it waits; telemetry threads take it too */
	bool stop;
	/* reload.c */
	char *file;		    /* of the running configuration */
	char *previous;		    /* YAML before the last reload; NULL: none */
	char *previous_file;	    /* its file name */
	uint64_t confirm_before_ns; /* end of `commit confirmed`; 0: none pending */
	/* server.c */
	struct server *server;
	/* metrics.c */
	struct metrics *metrics;
};

/* reload.c: sets up app->host; tick ends an unconfirmed `commit confirmed`. */
void reload_init(struct app *app);
void reload_fini(struct app *app);
void reload_tick(struct app *app, uint64_t now);
void reload_on_signal(struct app *app);

/* server.c: console and socket. 0, or -errno with a message. */
int server_start(struct app *app, char *err, size_t size);
void server_stop(struct app *app);

struct pollfd;
/* Fill fds with at most `room` descriptors to wait for; then serve those that are ready. */
unsigned int server_poll_set(struct app *app, struct pollfd *fds, unsigned int room);
void server_serve(struct app *app, const struct pollfd *fds, unsigned int n);
bool server_is_busy(const struct app *app); /* input is pending: do not wait */

/* metrics.c: OpenMetrics over HTTP. 0, or -errno with a message. */
int metrics_start(struct app *app, char *err, size_t size);
void metrics_stop(struct app *app);
int metrics_fd(const struct app *app); /* descriptor to wait for; -1: none */
void metrics_serve(struct app *app);

/* telemetry.c: DPDK's telemetry socket. */
void telemetry_start(struct app *app);

/* manage.c: the loop of the management thread, until the node is stopped. Call with the lock held. */
void manage(struct app *app, int signals);

#endif
