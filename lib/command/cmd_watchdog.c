/* SPDX-License-Identifier: BSD-3-Clause */
/* show pfc watchdog. Management thread. */
#include "command/command_priv.h"
#include "command/json_row.h"
#include "node/node_ctl.h"
#include "service/pfc/pfc_ctl.h"

struct shown {
	json_t *queues;
	uint64_t now;
};

static const char *const actions[] = {CFG_WATCHDOG_ACTIONS(CFG_TEXT)};

static const char *status_of(const struct pfc_watchdog *w)
{
	return w->stormed ? "storm" : w->alarmed ? "alarm" : w->paused ? "paused" : "operational";
}

static void add_queue(void *arg, const struct service_watchdog *w)
{
	struct pfc_watchdog state = w->state;
	struct shown *shown = arg;
	json_t *o = json_pack("{ss ss ss si ss}", "port", w->port, "of", w->relay ? w->relay : "queue", "slice",
		*w->slice  ? w->slice
		: w->relay ? ""
			   : "(none)",
		"priority", (int)w->priority, "status", status_of(&state));

	state.storm_ns = pfc_watchdog_storm_ns(&w->state, MAX_OF(shown->now, w->state.detected_at));
	json_row(o, &stat_watchdog, &state, shown->now);
	json_row(o, &stat_storm, w, shown->now);
	json_array_append_new(shown->queues, o);
}

static void add_config(json_t *list, const char *port, const char *relay, const struct pfc_watchdog_config *w)
{
	json_array_append_new(list,
		json_pack("{ss ss ss sI sI sI}", "port", port, "of", relay ? relay : "queues", "action",
			actions[w->action], "alarm_ms", (json_int_t)(w->alarm_ns / NSEC_PER_MSEC), "detect_ms",
			(json_int_t)(w->detect_ns / NSEC_PER_MSEC), "restore_ms",
			(json_int_t)(w->restore_ns / NSEC_PER_MSEC)));
}

int cmd_show_pfc_watchdog(struct command_call *c)
{
	const struct node *n = c->node;
	struct shown shown = {json_array(), __atomic_load_n(&n->control->now, __ATOMIC_RELAXED)};
	json_t *config = json_array();

	for (uint32_t i = 0; i < n->n_ports; i++)
		add_config(config, n->port[i]->name, NULL, &n->snapshot->port[i].watchdog);
	for (uint32_t i = 0; i < n->snapshot->n_relays; i++)
		add_config(config, n->port[n->snapshot->relay[i].port]->name, n->snapshot->relay[i].name,
			&n->snapshot->relay[i].watchdog);
	service_watchdogs(n, add_queue, &shown);
	c->result = json_pack("{so so}", "config", config, "queues", shown.queues);
	return 0;
}
