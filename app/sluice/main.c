/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of the appliance, in stages. They are undone in reverse order when one fails or when the node stops.
 *
 *   options -> configuration -> machine -> EAL -> node -> ports -> snapshot -> links -> lcores -> sessions
 *
 * After that the main thread is the management thread (manage.c).
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app.h"
#include "lcores.h"
#include "logging.h"
#include "machine.h"
#include "man.h"
#include "notify.h"
#include "options.h"
#include "plan.h"
#include "preflight.h"
#include "base/log.h"
#include "base/text.h"
#include "capture/capture.h"
#include "reference/docs.h"
#include "reference/man.h"
#include "drivers/abilities.h"
#include "drivers/device_check.h"
#include "drivers/ethdev.h"
#include "manage.h"
#include "node/node_ctl.h"
#include "service/services.h"

#define WAIT_LINKS_MS 20
#define DRAIN_NS (2 * NSEC_PER_SEC) /* for held packets to leave at the end */
#define EXIT_CONFIG 1		    /* invalid configuration, or --strict and a start would fail */
#define EXIT_COMMAND 1		    /* a command of --script failed */
#define EXIT_USAGE 2
#define EXIT_START 3	 /* the machine lacks a requirement */
#define EXIT_INVARIANT 4 /* packets unaccounted for, or buffers leaked: a bug */

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	/* before the EAL creates threads: they inherit the mask, so that these signals reach the signalfd only */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_ports(struct node *n, char *err, size_t size)
{
	for (uint16_t i = 0; i < n->n_ports; i++) {
		struct port *p = ethdev_open(n->config, i, n->pool_of_port[i], err, size);

		if (!p)
			return -ENODEV;
		node_attach_port(n, i, p);
	}
	return 0;
}

static int start_ports(struct node *n, char *err, size_t size)
{
	for (uint16_t i = 0; i < n->n_ports; i++) {
		const struct cfg_port *config = &n->config->ports.items[i];
		struct cfg_relayed relayed = cfg_relayed(n->config, config->name);
		int rc = n->port[i]->ops->start(n->port[i]);

		if (rc < 0) {
			snprintf(err, size, "port %s: cannot start: %s", n->port[i]->name, strerror(-rc));
			return rc;
		}
		rc = abilities_lossless(config, &n->port[i]->abilities, &relayed, err, size);
		if (rc < 0)
			return rc;
		if (config->pfc.priorities.n)
			log_notice(port, "%s: %s", n->port[i]->name, abilities_pfc(&n->port[i]->abilities));
	}
	return 0;
}

/* --capture: every port in both directions, and drops, in one file until the node stops. */
static int start_capture(struct node *n, const struct options *o, char *err, size_t size)
{
	struct capture_filter all = {.rx_ports = ~0ull, .tx_ports = ~0ull, .drops = 1};
	int rc;

	if (!o->capture_file)
		return 0;
	rc = capture_start(n->captures, &all, o->capture_file, err, size);
	return rc < 0 ? rc : 0;
}

/* True if a signal stopped the node meanwhile. */
static bool wait_for_links(struct app *app, int signals)
{
	const struct options *o = app->options;
	uint64_t until = clock_now() + o->wait_links_ms * NSEC_PER_MSEC;
	struct node *n = app->node;

	while (look_at_links(n) < n->n_ports && clock_now() < until) {
		node_restart_ports(n, clock_now());
		usleep(WAIT_LINKS_MS * 1000);
		if (told_to_stop(app, signals))
			return true;
	}
	for (uint32_t i = 0; i < n->n_ports && o->wait_links_ms; i++)
		if (!port_is_up(n->port[i]))
			log_warning(port, "%s: no link after %llu s; starting without it", n->port[i]->name,
				(unsigned long long)o->wait_links_ms / 1000);
	return false;
}

/* Go on forwarding until neighbours send elsewhere, then stop receiving and let the held packets leave. */
static void drain(struct node *n)
{
	uint64_t until = clock_now() + node_announce_stop(n);

	while (clock_now() < until) {
		usleep(1000);
		capture_poll(n->captures);
	}
	until = clock_now() + DRAIN_NS;
	node_set_receiving(n, false);
	usleep(20000);
	while (node_held(n) && clock_now() < until) {
		usleep(1000);
		capture_poll(n->captures);
	}
}

static void write_report_file(struct app *app, const char *file)
{
	static const char *const parts[] = {"ports", "lcores", "drops", "conservation", "sids", "neighbors", "rings",
		"rsvp counters"};
	size_t n = ARRAY_LEN(parts) - !app->node->snapshot->credit.on;
	char line[64];
	FILE *f = fopen(file, "we");

	if (!f) {
		log_error(main, "cannot write %s: %s", file, strerror(errno));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%s\"%s\": ", i ? ", " : "{", parts[i]);
		snprintf(line, sizeof(line), "show %s -j", parts[i]);
		command_run(&app->host, line, f);
	}
	fprintf(f, "}\n");
	if (ferror(f) | fclose(f))
		log_error(main, "cannot write %s: %s", file, strerror(errno));
}

static int report(struct app *app)
{
	struct node *n = app->node;
	struct node_balance b;

	node_drain(n);
	/* the report covers the whole run: ignore `clear stats` */
	free(n->cleared);
	n->cleared = NULL;
	printf("\nnode %s has stopped\n\n", n->name);
	command_run(&app->host, "show ports", stdout);
	printf("\n");
	command_run(&app->host, "show drops", stdout);
	printf("\n");
	command_run(&app->host, "show conservation", stdout);
	fflush(stdout);
	if (app->options->report_file)
		write_report_file(app, app->options->report_file);
	node_balance(n, &b);
	if (!b.missing)
		return 0;
	log_error(main, "%lld packets are unaccounted for; please report this", (long long)b.missing);
	return EXIT_INVARIANT;
}

static int close_all(struct node *n)
{
	uint64_t leaked;

	for (uint32_t i = 0; i < n->n_ports; i++) {
		if (n->port[i])
			n->port[i]->ops->close(n->port[i]);
		n->port[i] = NULL;
	}
	leaked = node_buffers_used(n);
	node_free(n);
	if (!leaked)
		return 0;
	log_error(main, "%llu packet buffers leaked; please report this", (unsigned long long)leaked);
	return EXIT_INVARIANT;
}

/* With lcores running: serve until the node is stopped, then drain and report. Exit status. */
static int serve(struct app *app, int signals)
{
	char err[512] = "";
	int rc;

	rc = server_start(app, err, sizeof(err));
	if (rc == 0)
		rc = metrics_start(app, err, sizeof(err));
	if (rc < 0) {
		log_error(main, "%s", err);
		server_stop(app);
		lcores_stop();
		node_drain(app->node);
		return EXIT_START;
	}
	telemetry_start(app);
	privileges_drop(privileges_needed(app->node->config));
	log_notice(main, "node %s is running: %u ports, %u lcores", app->node->name, app->node->n_ports,
		app->node->n_lcores);
	notify("READY=1");
	manage(app, signals);
	notify("STOPPING=1");
	server_stop(app);
	metrics_stop(app);
	drain(app->node);
	lcores_stop();
	return report(app);
}

/* From a started EAL to the end of the node, which takes ownership of `config`. Exit status. */
static int run(struct config *config, const struct options *o, int signals)
{
	struct cfg_places places;
	struct node_options options = {.services = node_services,
		.shared_cpu = lcores_share_cpus(config),
		.socket = -1,
		.places = &places,
		.clock = clock_now,
		.wall_offset_ns = clock_wall_offset()};
	/* static: telemetry threads may take its lock until the process ends */
	static struct app app = {.lock = PTHREAD_MUTEX_INITIALIZER};
	char err[512] = "";
	int status = EXIT_START, leaks;

	machine_places(config, &places);
	app.options = o;
	app.node = node_new(config, &options, err, sizeof(err));
	if (!app.node) {
		log_error(main, "%s", err);
		return EXIT_START;
	}
	if (open_ports(app.node, err, sizeof(err)) < 0 || node_commit(app.node, err, sizeof(err)) < 0 ||
		start_ports(app.node, err, sizeof(err)) < 0 || start_capture(app.node, o, err, sizeof(err)) < 0) {
		log_error(main, "%s", err);
		node_free(app.node);
		return EXIT_START;
	}
	pthread_mutex_lock(&app.lock);
	reload_init(&app);
	if (wait_for_links(&app, signals)) {
		status = 0;
	} else if (lcores_launch(app.node, app.node->config) < 0) {
		log_error(main, "cannot launch the lcores");
	} else {
		status = serve(&app, signals);
	}
	lcores_stop();
	/* keep the lock: telemetry must not read a node that is being freed */
	leaks = close_all(app.node);
	reload_fini(&app);
	if (status || leaks)
		return status ? status : leaks;
	return app.script_failed ? EXIT_COMMAND : 0;
}

/* Does the machine meet the needs of this configuration? 0, or -errno with a message that names the remedy. */
static int check_machine(const struct config *c, struct memory_plan *memory, char *err, size_t size)
{
	int rc = lcores_check(c, err, size);

	for (uint32_t i = 0; i < c->ports.n && rc == 0; i++)
		rc = device_check(c, &c->ports.items[i], err, size);
	return rc ? rc : memory_plan_make(c, memory, err, size);
}

static int check(struct config *c, bool strict)
{
	struct memory_plan memory;
	char err[512];
	int rc;

	memory_plan_make(c, &memory, err, sizeof(err)); /* the plan prints it even if a check fails */
	rc = check_machine(c, &memory, err, sizeof(err));
	if (rc == 0)
		rc = preflight_pfc(c, err, sizeof(err));
	plan_print(c, &memory, stdout);
	printf("%s is valid\n", c->file);
	if (rc < 0)
		printf("a start on this machine would fail: %s\n", err);
	cfg_free(c);
	return strict && rc < 0 ? EXIT_CONFIG : 0;
}

static int print_page(const char *what)
{
	static const struct {
		const char *name;
		void (*print)(FILE *out);
	} pages[] = {{"reference", cfg_emit_reference}, {"counters", docs_counters}, {"commands", docs_commands},
		{"sluice.8", man_sluice}, {"sluicectl.1", man_sluicectl}, {"sluice.yaml.5", man_yaml}};
	const char *names[ARRAY_LEN(pages)], *near;

	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		names[i] = pages[i].name;
		if (strcmp(what, pages[i].name) == 0) {
			pages[i].print(stdout);
			return 0;
		}
	}
	near = text_nearest(what, names, ARRAY_LEN(names));
	if (near)
		fprintf(stderr, "sluice: --print: unknown page '%s'; did you mean '%s'?\n", what, near);
	else
		fprintf(stderr, "sluice: --print: unknown page '%s'; sluice --help lists them\n", what);
	return EXIT_USAGE;
}

/* From a checked configuration to the end of the process; frees it. Exit status. */
static int start(struct config *c, const struct options *o)
{
	int signals = open_signals(), status = EXIT_START;
	struct memory_plan memory;
	char err[512];
	struct pidfh *lock;

	logging_start(&c->log);
	if (check_machine(c, &memory, err, sizeof(err)) < 0 ||
		!(lock = instance_lock(c->node.name, err, sizeof(err)))) {
		log_error(main, "%s", err);
		cfg_free(c);
		return EXIT_START;
	}
	if (eal_start(c, &memory, o, err, sizeof(err)) == 0) {
		clock_init();
		status = run(c, o, signals);
		eal_stop();
	} else {
		log_error(main, "%s", err);
		cfg_free(c);
	}
	instance_unlock(lock);
	return status;
}

int main(int argc, char **argv)
{
	struct options o;
	struct config *c;
	int rc;

	if (argc > 1 && strcmp(argv[1], "preflight") == 0)
		return preflight(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "plan") == 0)
		return plan(argc - 1, argv + 1);
	rc = options_parse(&o, argc, argv);
	if (rc)
		return rc - 1;
	if (o.print)
		return print_page(o.print);
	c = cfg_load_checked(o.config_file, stderr);
	if (!c)
		return EXIT_CONFIG;
	return o.check ? check(c, o.strict) : start(c, &o);
}
