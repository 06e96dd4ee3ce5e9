/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lab as a whole: build it, run it event by event, free it. Single-threaded: every file of the lab runs in the
 * thread that calls lab_run.
 */
#include "lab/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/host_priv.h"

#define PROGRESS_EVENTS 65536
#define FIT_IN_CACHE 64 /* nodes and hosts: when one has its turn again, what it touches is still in the cache */

const char *lab_violation(const struct lab *lab)
{
	return lab->violation;
}

uint64_t lab_now(const struct lab *lab)
{
	return lab->now;
}

uint64_t lab_events(const struct lab *lab)
{
	return lab->events;
}

uint64_t lab_hops(const struct lab *lab)
{
	return lab->hops;
}

double lab_share_done(const struct lab *lab)
{
	return MIN_OF((double)lab->now / (double)lab->topo->lab.run_ns, 1.0);
}

uint64_t lab_losses(const struct lab *lab)
{
	uint64_t lost = lab_hosts_lost(lab);

	for (uint32_t i = 0; i < lab->n_links; i++) {
		for (int w = 0; w < 2; w++) {
			const struct line_stats *s = line_stats(lab->link[i].way[w].line);

			lost += s->lost + s->cut + s->oversize + lab->link[i].end[w].into_void;
		}
	}
	for (uint32_t i = 0; i < lab->n_nodes; i++) {
		const struct lab_node *n = &lab->node[i];
		struct node_balance b = {0};

		if (n->node)
			node_balance(n->node, &b);
		lost += b.dropped + n->past.dropped;
		for (uint16_t p = 0; p < n->n_ports; p++) {
			lost += n->past.missed[p];
			if (n->node) {
				const struct virtual_port_stats *s = virtual_port_stats(n->node->port[p]);

				lost += s->imissed + s->nombuf + s->ierrors;
			}
		}
	}
	return lost;
}

/* Carry out a scheduled event. */
static void scheduled(void *arg)
{
	struct lab_scheduled *s = arg;
	struct lab *lab = s->lab;
	struct lab_node *n = lab->node;
	char line[COMMAND_LINE_MAX], *text = NULL;
	size_t size;
	FILE *f;
	int rc;

	while (strcmp(n->topo->name, s->topo->node) != 0)
		n++;
	if (s->topo->restart_ns != TIME_NEVER) {
		lab_node_restart(n, s->topo->restart_ns);
		return;
	}
	snprintf(line, sizeof(line), "%s%s", s->topo->reload ? "reload " : "",
		s->topo->reload ? s->topo->reload : s->topo->command);
	lab_record(lab, "command", n->topo->name, 0);
	f = open_memstream(&text, &size);
	if (!f)
		return;
	rc = lab_node_command(n, line, f);
	fclose(f);
	json_array_append_new(lab->commands, json_pack("{sI ss ss ss sb}", "at_ns", (json_int_t)lab->now, "node",
						     n->topo->name, "command", line, "output", text, "ok", rc == 0));
	if (lab->options.console)
		fprintf(lab->options.console, "%s> %s\n%s", n->topo->name, line, text);
	free(text);
}

static int init_schedule(struct lab *lab)
{
	lab->scheduled = calloc(lab->topo->schedule.n + 1, sizeof(*lab->scheduled));
	for (uint32_t i = 0; lab->scheduled && i < lab->topo->schedule.n; i++) {
		struct lab_scheduled *s = &lab->scheduled[i];

		s->lab = lab;
		s->topo = &lab->topo->schedule.items[i];
		event_init(&s->event, scheduled, s, "scheduled", s->topo->node);
		if (lab_trigger_or_set(lab, &s->topo->when, s->topo->time_ns, &s->event) < 0)
			return -ENOMEM;
	}
	return lab->scheduled ? 0 : -ENOMEM;
}

static int build(struct lab *lab, char *err, size_t size)
{
	int rc = 0;

	lab->n_nodes = lab->topo->nodes.n;
	lab->node = calloc(lab->n_nodes + 1, sizeof(*lab->node));
	lab->due = calloc(lab->n_nodes + lab->topo->hosts.n + 1, sizeof(struct timeline *));
	lab->commands = json_array();
	lab->broken = json_array();
	if (!lab->node || !lab->due || !lab->commands || !lab->broken || init_schedule(lab) < 0) {
		snprintf(err, size, "out of memory");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < lab->n_nodes && rc == 0; i++)
		rc = lab_node_init(lab, i, err, size);
	if (rc == 0)
		rc = lab_links_init(lab, err, size);
	if (rc == 0)
		rc = lab_captures_init(lab, err, size);
	if (rc == 0)
		rc = lab_hosts_init(lab, err, size);
	if (rc == 0)
		rc = lab_bounds_init(lab, err, size);
	for (uint32_t i = 0; i < lab->n_nodes && rc == 0; i++)
		rc = lab_node_start(&lab->node[i], err, size);
	if (rc == 0)
		rc = lab_samples_init(lab, err, size);
	return rc;
}

struct lab *lab_new(struct topology *t, const struct lab_options *options, char *err, size_t size)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	if (!lab) {
		snprintf(err, size, "out of memory");
		return NULL;
	}
	lab->topo = t;
	lab->options = *options;
	lab->seed = options->seed_given ? options->seed : t->lab.seed;
	lab->end_ns = t->lab.run_ns + t->lab.drain_ns;
	lab->large = t->nodes.n + t->hosts.n > FIT_IN_CACHE;
	lab->lossless = topo_lossless(t, &lab->lossless_required);
	if (build(lab, err, size) == 0)
		return lab;
	lab_free(lab);
	return NULL;
}

void lab_free(struct lab *lab)
{
	if (!lab)
		return;
	for (uint32_t i = 0; lab->node && i < lab->n_nodes; i++)
		if (lab->node[i].lab)
			lab_node_fini(&lab->node[i]);
	lab_samples_fini(lab);
	lab_bounds_fini(lab);
	lab_hosts_fini(lab);
	lab_captures_fini(lab);
	lab_links_fini(lab);
	event_queue_fini(&lab->queue);
	event_queue_fini(&lab->turns);
	free(lab->scheduled);
	free(lab->due);
	free(lab->node);
	free(lab->violation);
	json_decref(lab->commands);
	json_decref(lab->broken);
	lab_losses_fini(lab);
	lab_triggers_fini(lab);
	free(lab);
}

/* No frame or event is pending. */
static bool quiet(const struct lab *lab)
{
	if (!lab_hosts_idle(lab))
		return false;
	for (uint32_t i = 0; i < lab->n_links; i++)
		if (line_frames(lab->link[i].way[0].line) || line_frames(lab->link[i].way[1].line))
			return false;
	for (uint32_t i = 0; i < lab->n_nodes; i++) {
		const struct lab_node *n = &lab->node[i];

		if (!n->node || node_held(n->node))
			return false;
		for (uint16_t p = 0; p < n->n_ports; p++)
			if (virtual_port_held(n->node->port[p]))
				return false;
	}
	return true;
}

static void fire(struct lab *lab, struct event *e)
{
	lab->now = MAX_OF(lab->now, e->at);
	lab->latest = MAX_OF(lab->latest, lab->now);
	lab->events++;
	lab_record(lab, e->kind, e->name, 0);
	e->fire(e->arg);
	if (unlikely(lab->options.check_every_event))
		lab_check(lab);
	if (unlikely(lab->events % PROGRESS_EVENTS == 0) && lab->options.progress)
		lab->options.progress(lab, lab->options.progress_arg);
}

/*
 * Each timeline that has events before `end` runs until then. Nothing that one of them does before then affects
 * another one, so that the order among them does not matter; it is that of their first events. If there are many
 * objects, what the next one touches is fetched while one runs.
 */
static void run_timelines(struct lab *lab, uint64_t end)
{
	uint64_t begin = lab->now;
	uint32_t n = 0;
	struct event *e;

	lab->in_turns = true;
	while (event_first_at(&lab->turns) < end) {
		lab->due[n] = event_next(&lab->turns)->arg;
		timeline_begin(lab->due[n++]);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct timeline *t = lab->due[i];

		if (lab->large && i + 1 < n)
			lab_warm(lab->due[i + 1]);
		lab->now = begin;
		while (!lab->violation && (e = timeline_next(t, end)))
			fire(lab, e);
		timeline_end(t);
	}
	lab->in_turns = false;
	lab->now = lab->latest;
	if (unlikely(lab->options.check_every_event))
		lab_check(lab);
}

/* When turns that begin at `from` end. An event that waits for a pause may concern all objects at once. */
static uint64_t end_of_turns(const struct lab *lab, uint64_t from)
{
	uint64_t end = from + (lab->trigger ? 1 : lab->apart_ns);

	return MIN_OF(end, lab->ending ? lab->end_ns + 1 : lab->topo->lab.run_ns);
}

/* Senders stop at the end of the run. */
static void end_run(struct lab *lab)
{
	lab->now = lab->topo->lab.run_ns;
	lab->ending = true;
	lab_hosts_stop(lab);
}

/* An event of the whole network: all timelines have run until then. True: the run is over. */
static bool step(struct lab *lab, bool *drained)
{
	struct event *e = event_next(&lab->queue);

	fire(lab, e);
	if (!lab->ending || e != &lab->sample || !quiet(lab))
		return false;
	*drained = true;
	return !lab_gates_closed(lab);
}

int lab_run(struct lab *lab)
{
	bool drained = false;

	while (!lab->violation) {
		uint64_t common = event_first_at(&lab->queue), own = event_first_at(&lab->turns);
		uint64_t first = MIN_OF(common, own);

		if (first > lab->end_ns)
			break;
		if (!lab->ending && first >= lab->topo->lab.run_ns)
			end_run(lab);
		else if (common > own)
			run_timelines(lab, MIN_OF(end_of_turns(lab, own), common));
		else if (step(lab, &drained))
			break;
	}
	lab_check(lab);
	lab_judge_lossless(lab, drained);
	return lab->violation ? -EPROTO : 0;
}

/* The `show` commands that explain a violation. */
static void show_node(struct lab_node *n, FILE *out)
{
	static const char *const lines[] = {"show ports", "show queues", "show rings", "show drops",
		"show conservation", "show neighbors", "show lcores"};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		fprintf(out, "%s> %s\n", n->topo->name, lines[i]);
		lab_node_command(n, lines[i], out);
	}
}

void lab_dump(struct lab *lab, FILE *out)
{
	uint64_t n = MIN_OF(lab->recorded, (uint64_t)LAB_HISTORY);

	if (json_array_size(lab->broken))
		return; /* found at the end of the run, where events no longer tell why */
	fprintf(out, "The last %llu events:\n", (unsigned long long)n);
	for (uint64_t i = lab->recorded - n; i < lab->recorded; i++) {
		const struct lab_record *r = &lab->history[i % LAB_HISTORY];

		fprintf(out, "%16llu ns  %-16s %s", (unsigned long long)r->at, r->kind, r->name);
		if (r->value)
			fprintf(out, "  %llu", (unsigned long long)r->value);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		show_node(&lab->node[i], out);
}
