/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of the appliance, in stages; each is undone in reverse when a later one fails or the node ends.
 *
 *   options -> configuration -> memory plan -> EAL -> node -> ports -> snapshot -> links -> lcores
 *
 * After that the main thread is the management thread: signals, links, grace periods, idle exit.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app.h"
#include "base/log.h"
#include "capture/capture.h"
#include "command/command.h"
#include "command/docs.h"
#include "drivers/device_check.h"
#include "drivers/ethdev.h"
#include "node/node_ctl.h"

#define TICK_MS	       20
#define RECONNECT_MS   200 /* how long a handshake may take */
#define DRAIN_NS       (2 * NSEC_PER_SEC) /* how long packets inside may take to leave at the end */
#define EXIT_CONFIG    1		  /* configuration wrong */
#define EXIT_USAGE     2
#define EXIT_START     3 /* something the machine lacks */
#define EXIT_INVARIANT 4 /* packets unaccounted for, or buffers leaked: a bug */

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	/* before the EAL makes threads, so that all of them leave these signals to us */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static struct config *load(const char *file)
{
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_file(file, &diags);
	bool good = c && cfg_check(c, &diags) == 0;

	/* before cfg_free: the file's name is the configuration's */
	cfg_diags_print(&diags, stderr);
	cfg_diags_free(&diags);
	if (good)
		return c;
	cfg_free(c);
	return NULL;
}

static int open_ports(struct node *n, char *err, size_t size)
{
	for (uint16_t i = 0; i < n->n_ports; i++) {
		struct port *p = ethdev_open(&n->config->ports.items[i], n->pool, err, size);

		if (!p)
			return -ENODEV;
		node_attach_port(n, i, p);
	}
	return 0;
}

static int start_ports(struct node *n, char *err, size_t size)
{
	for (uint16_t i = 0; i < n->n_ports; i++) {
		int rc = n->port[i]->ops->start(n->port[i]);

		if (rc < 0) {
			snprintf(err, size, "port %s does not start: %s", n->port[i]->name, strerror(-rc));
			return rc;
		}
	}
	return 0;
}

/* Returns how many ports have a link. */
static unsigned int look_at_links(struct node *n)
{
	unsigned int up = 0;

	for (uint32_t i = 0; i < n->n_ports; i++) {
		struct port *p = n->port[i];
		bool now_up = p->ops->link_up(p);

		if (now_up != p->up)
			log_info(port, "%s: link %s", p->name, now_up ? "up" : "down");
		__atomic_store_n(&p->up, now_up, __ATOMIC_RELAXED);
		up += now_up;
	}
	return up;
}

static uint64_t packets_in(const struct node *n)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n->n_lcores; i++)
		for (uint32_t p = 0; p < n->n_ports; p++)
			sum += stat_read(&n->lcore[i]->stats.port[p].rx_packets);
	return sum;
}

static bool told_to_stop(int signals)
{
	struct signalfd_siginfo info;

	return read(signals, &info, sizeof(info)) == sizeof(info);
}

/* Copies of packets are on their way while a capture runs, and their rings are small. */
static void wait_tick(const struct node *n, int signals)
{
	struct pollfd p = {.fd = signals, .events = POLLIN};

	poll(&p, 1, capture_active(n->captures) ? 1 : TICK_MS);
}

/* True when told to stop meanwhile. */
static bool wait_for_links(struct node *n, const struct options *o, int signals)
{
	uint64_t until = clock_now() + o->wait_links_ms * NSEC_PER_MSEC;

	while (look_at_links(n) < n->n_ports && clock_now() < until) {
		for (uint32_t i = 0; i < n->n_ports; i++)
			if (!port_is_up(n->port[i]) && n->port[i]->ops->reconnect)
				n->port[i]->ops->reconnect(n->port[i]);
		usleep(RECONNECT_MS * 1000);
		if (told_to_stop(signals))
			return true;
	}
	for (uint32_t i = 0; i < n->n_ports && o->wait_links_ms; i++)
		if (!port_is_up(n->port[i]))
			log_warning(port, "%s: no link after %llu s; going on without", n->port[i]->name,
				(unsigned long long)o->wait_links_ms / 1000);
	return false;
}

/* Every port, both directions, and drops: one file for the life of the node. */
static int start_capture(struct node *n, const struct options *o, char *err, size_t size)
{
	struct capture_filter all = {.rx_ports = ~0ull, .tx_ports = ~0ull, .drops = 1};
	int rc;

	if (!o->capture_file)
		return 0;
	rc = capture_start(n->captures, &all, o->capture_file, err, size);
	return rc < 0 ? rc : 0;
}

static void manage(struct node *n, const struct options *o, int signals)
{
	uint64_t seen = packets_in(n), last = clock_now(), now, count;

	while (!told_to_stop(signals)) {
		wait_tick(n, signals);
		look_at_links(n);
		node_reclaim(n);
		capture_poll(n->captures);
		now = clock_now();
		count = packets_in(n);
		if (count != seen || node_held(n))
			last = now;
		seen = count;
		if (o->idle_exit_ms && now - last >= o->idle_exit_ms * NSEC_PER_MSEC)
			return;
	}
}

/* Receive nothing more and let what is inside leave. */
static void drain(struct node *n)
{
	uint64_t until = clock_now() + DRAIN_NS;

	node_set_receiving(n, false);
	usleep(TICK_MS * 1000);
	while (node_held(n) && clock_now() < until) {
		usleep(1000);
		capture_poll(n->captures);
	}
}

static void write_report_file(struct node *n, const char *file)
{
	static const char *const parts[] = {"ports", "lcores", "drops", "conservation", "sids", "neighbors"};
	char line[64];
	FILE *f = fopen(file, "we");

	if (!f) {
		log_error(main, "cannot write %s: %s", file, strerror(errno));
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		fprintf(f, "%s\"%s\": ", i ? ", " : "{", parts[i]);
		snprintf(line, sizeof(line), "show %s -j", parts[i]);
		command_run(n, line, f);
	}
	fprintf(f, "}\n");
	fclose(f);
}

static int report(struct node *n, const struct options *o)
{
	struct node_balance b;

	node_drain(n);
	printf("\nnode %s has stopped\n\n", n->name);
	command_run(n, "show ports", stdout);
	printf("\n");
	command_run(n, "show drops", stdout);
	printf("\n");
	command_run(n, "show conservation", stdout);
	fflush(stdout);
	if (o->report_file)
		write_report_file(n, o->report_file);
	node_balance(n, &b);
	if (!b.missing)
		return 0;
	log_error(main, "%lld packets are unaccounted for; please report this", (long long)b.missing);
	return EXIT_INVARIANT;
}

static int close_all(struct node *n)
{
	unsigned int leaked;

	for (uint32_t i = 0; i < n->n_ports; i++) {
		if (n->port[i])
			n->port[i]->ops->close(n->port[i]);
		n->port[i] = NULL;
	}
	leaked = rte_mempool_in_use_count(n->pool);
	node_free(n);
	if (!leaked)
		return 0;
	log_error(main, "%u packet buffers leaked; please report this", leaked);
	return EXIT_INVARIANT;
}

/* From an EAL that runs to the end. `config` belongs to the node from here on. */
static int run(struct config *config, const struct options *o, int signals)
{
	struct node_options options = {
		.shared_cpu = lcores_share_cpus(config), .socket = -1, .wall_offset_ns = clock_wall_offset()};
	char err[512] = "";
	struct node *n = node_new(config, &options, err, sizeof(err));
	int status = EXIT_START, leaks;

	if (!n) {
		log_error(main, "%s", err);
		return EXIT_START;
	}
	if (open_ports(n, err, sizeof(err)) < 0 || node_commit(n, err, sizeof(err)) < 0 ||
		start_ports(n, err, sizeof(err)) < 0 || start_capture(n, o, err, sizeof(err)) < 0) {
		log_error(main, "%s", err);
		node_free(n);
		return EXIT_START;
	}
	if (wait_for_links(n, o, signals)) {
		status = 0;
	} else if (lcores_launch(n, n->config) < 0) {
		log_error(main, "lcores cannot be launched");
	} else {
		log_notice(main, "node %s runs: %u ports, %u lcores", n->name, n->n_ports, n->n_lcores);
		manage(n, o, signals);
		drain(n);
		lcores_stop();
		status = report(n, o);
	}
	lcores_stop();
	leaks = close_all(n);
	return status ? status : leaks;
}

/* What the machine must have for this configuration. 0, or -errno with a message that names the cure. */
static int check_machine(const struct config *c, struct memory_plan *memory, char *err, size_t size)
{
	int rc = lcores_check(c, err, size);

	for (uint32_t i = 0; i < c->ports.n && rc == 0; i++)
		rc = device_check(&c->ports.items[i], err, size);
	return rc ? rc : memory_plan_make(c, memory, err, size);
}

static int check(struct config *c)
{
	struct memory_plan memory;
	char err[512];
	int rc;

	memory_plan_make(c, &memory, err, sizeof(err)); /* for the plan, whatever else is wrong */
	rc = check_machine(c, &memory, err, sizeof(err));
	plan_print(c, &memory, stdout);
	printf("%s is valid\n", c->file);
	if (rc < 0)
		printf("a start on this machine would fail: %s\n", err);
	cfg_free(c);
	return 0;
}

static int print_page(const char *what)
{
	static const struct {
		const char *name;
		void (*print)(FILE *out);
	} pages[] = {{"reference", cfg_emit_reference}, {"counters", docs_counters}, {"commands", docs_commands}};

	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		if (strcmp(what, pages[i].name) == 0) {
			pages[i].print(stdout);
			return 0;
		}
	}
	fprintf(stderr, "sluice: --print: expected reference, counters or commands, found '%s'\n", what);
	return EXIT_USAGE;
}

/* From a checked configuration to the end; consumes it. */
static int start(struct config *c, const struct options *o)
{
	int signals = open_signals(), status = EXIT_START;
	struct memory_plan memory;
	char err[512];
	struct pidfh *lock;

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
	int rc = options_parse(&o, argc, argv);

	if (rc)
		return rc - 1;
	if (o.print)
		return print_page(o.print);
	c = load(o.config_file);
	if (!c)
		return EXIT_CONFIG;
	return o.check ? check(c) : start(c, &o);
}
