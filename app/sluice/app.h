/* SPDX-License-Identifier: BSD-3-Clause */
/* The management thread: its state and its services. */
#ifndef SLUICE_APP_H
#define SLUICE_APP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "command/command.h"
#include "node/node.h"

struct options;

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
	bool script_failed; /* a command of --script failed */
	/* metrics.c */
	struct metrics *metrics;
	/* watchdog.c */
	struct watchdog {
		uint64_t period_ns, fed_ns; /* period 0: not requested, or not started yet */
		uint64_t passes[2 * NODE_MAX_ROLES + 1];
	} watchdog;
};

/* watchdog.c: systemd's watchdog. Feed it if it is time, also between the steps of something long. */
void watchdog_start(struct app *app, uint64_t now);
void watchdog_feed(struct app *app, uint64_t now);

/* reload.c: sets up app->host; tick ends an unconfirmed `commit confirmed`. */
void reload_init(struct app *app);
void reload_fini(struct app *app);
void reload_tick(struct app *app, uint64_t now);
void reload_on_signal(struct app *app);

/* server.c: console and socket. 0, or -errno with a message. */
int server_start(struct app *app, char *err, size_t size);
void server_stop(struct app *app);

struct pollfd;
/* Fill fds with at most `room` descriptors to wait for; then serve those that are ready. now: ns, of any steady clock. */
unsigned int server_poll_set(struct app *app, struct pollfd *fds, unsigned int room, uint64_t now);
void server_serve(struct app *app, const struct pollfd *fds, unsigned int n, uint64_t now);
bool server_is_busy(const struct app *app); /* input is pending: do not wait */

/* metrics.c: OpenMetrics over HTTP. 0, or -errno with a message. */
int metrics_start(struct app *app, char *err, size_t size);
void metrics_stop(struct app *app);
int metrics_fd(const struct app *app, uint64_t now); /* descriptor to wait for; -1: none */
void metrics_serve(struct app *app, bool ready, uint64_t now);

/* telemetry.c: DPDK's telemetry socket. */
void telemetry_start(struct app *app);

/* manage.c: the loop of the management thread, until the node is stopped. Call with the lock held. */
void manage(struct app *app, int signals);

#endif
