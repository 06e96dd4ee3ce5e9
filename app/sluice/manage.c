/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of the management thread: signals, links, sessions, HTTP, captures, reclaiming of snapshots, systemd's
 * watchdog, idle exit.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "lcores.h"
#include "logging.h"
#include "notify.h"
#include "options.h"
#include "base/log.h"
#include "capture/capture.h"
#include "manage.h"
#include "node/node_ctl.h"

#define TICK_MS 20
#define FDS_MAX 48

#define LINK_POLL_NS NSEC_PER_MSEC

/* The thread that looks at links. `stop` is written by the management thread; relaxed. */
static struct {
	pthread_t thread;
	bool runs, stop;
	struct node *node;
	uint32_t said[MAX_PORTS]; /* port.link when it was last logged; management thread */
} watch;

static void poll_links(struct node *n)
{
	for (uint32_t i = 0; i < n->n_ports; i++)
		port_set_link(n->port[i], n->port[i]->ops->link_up(n->port[i]));
}

unsigned int look_at_links(struct node *n)
{
	unsigned int up = 0;
	char err[256] = "";

	if (!watch.runs)
		poll_links(n);
	for (uint32_t i = 0; i < n->n_ports; i++) {
		uint32_t link = port_link(n->port[i]);

		if (link != watch.said[i])
			log_notice(port, "%s: link %s", n->port[i]->name, link & 1 ? "up" : "down");
		watch.said[i] = link;
		up += link & 1;
	}
	if (node_read_speeds(n, err, sizeof(err)) < 0)
		log_error(port, "a link has another speed, which cannot be applied: %s", err);
	return up;
}

/*
 * Devices without an interrupt for it are asked about their link every millisecond, in a thread of its own: the management
 * thread may be busy for longer, with a reload or an answer.
 */
static void *watch_links(void *arg)
{
	const struct timespec t = {.tv_nsec = (long)LINK_POLL_NS};

	(void)arg;
	while (!__atomic_load_n(&watch.stop, __ATOMIC_RELAXED)) {
		poll_links(watch.node);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	}
	return NULL;
}

static void begin_watch(struct node *n)
{
	watch.node = n;
	watch.stop = false;
	watch.runs = pthread_create(&watch.thread, NULL, watch_links, NULL) == 0;
	if (!watch.runs)
		log_warning(port, "no thread to look at links: they are looked at every %d ms", TICK_MS);
}

static void end_watch(void)
{
	__atomic_store_n(&watch.stop, true, __ATOMIC_RELAXED);
	if (watch.runs)
		pthread_join(watch.thread, NULL);
	watch.runs = false;
}

static uint64_t packets_in(const struct node *n)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n->n_lcores; i++)
		for (uint32_t p = 0; p < n->n_ports; p++)
			sum += stat_read(&n->lcore[i]->stats.port[p].rx_packets);
	return sum;
}

static void take_signal(struct app *app, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload_on_signal(app);
		else
			app->stop = true;
	}
}

bool told_to_stop(struct app *app, int signals)
{
	take_signal(app, signals);
	return app->stop;
}

/* Wait for events with the lock released, then serve them. */
static void wait_and_serve(struct app *app, int signals)
{
	struct pollfd fds[FDS_MAX] = {{.fd = signals, .events = POLLIN},
		{.fd = metrics_fd(app, clock_now()), .events = POLLIN}};
	unsigned int n = 2 + server_poll_set(app, fds + 2, FDS_MAX - 2, clock_now());

	pthread_mutex_unlock(&app->lock);
	/* a running capture or trace has small rings that must be emptied often */
	poll(fds, n, server_is_busy(app) ? 0 : capture_active(app->node->captures) || app->node->traces ? 1 : TICK_MS);
	pthread_mutex_lock(&app->lock);
	if (fds[0].revents)
		take_signal(app, signals);
	metrics_serve(app, fds[1].revents, clock_now());
	server_serve(app, fds + 2, n - 2, clock_now());
}

void manage(struct app *app, int signals)
{
	struct node *n = app->node;
	uint64_t seen = packets_in(n), last = clock_now(), now, count;

	watchdog_start(app, last);
	begin_watch(n);
	while (!app->stop) {
		wait_and_serve(app, signals);
		now = clock_now();
		look_at_links(n);
		node_restart_ports(n, now);
		node_reclaim(n);
		node_tick(n, now);
		capture_poll(n->captures);
		reload_tick(app, now);
		logging_tick();
		watchdog_feed(app, now);
		count = packets_in(n);
		if (count != seen || node_held(n))
			last = now;
		seen = count;
		if (app->options->idle_exit_ms && now - last >= app->options->idle_exit_ms * NSEC_PER_MSEC)
			break;
	}
	end_watch();
}
