/* SPDX-License-Identifier: BSD-3-Clause */
/* show pfc watchdog. Management thread. */
#include "command/command_priv.h"
#include "node/node_ctl.h"

struct shown {
	json_t *queues;
	uint64_t now;
};

static const char *const actions[] = {"release", "drop", "forward", "alert", "off"};

static const char *status_of(const struct pfc_watchdog *w)
{
	return w->stormed ? "storm" : w->alarmed ? "alarm" : w->paused ? "paused" : "operational";
}

/* ms since then on the node's clock; never: null */
static json_t *ago(uint64_t then, uint64_t now)
{
	return then ? json_integer((json_int_t)((now > then ? now - then : 0) / NSEC_PER_MSEC)) : json_null();
}

static void add_queue(void *arg, const struct node_watchdog *w)
{
	const struct pfc_watchdog *s = &w->state;
	struct shown *shown = arg;

	json_array_append_new(shown->queues,
		json_pack("{ss ss ss si ss sI sI sI so so sI sI sI sI sI sI sI}", "port", w->port, "of",
			w->relay ? w->relay : "queue", "slice",
			*w->slice  ? w->slice
			: w->relay ? ""
				   : "(none)",
			"priority", (int)w->priority, "status", status_of(s), "alarms", (json_int_t)s->alarms,
			"detected", (json_int_t)s->detections, "restored", (json_int_t)s->restorations,
			"detected_ms_ago", ago(s->detected_at, shown->now), "restored_ms_ago",
			ago(s->restored_at, shown->now), "storm_ms",
			(json_int_t)(pfc_watchdog_storm_ns(s, MAX_OF(shown->now, s->detected_at)) / NSEC_PER_MSEC),
			"ignored", (json_int_t)s->ignored, "sent", (json_int_t)s->sent, "dropped",
			(json_int_t)s->dropped, "last_sent", (json_int_t)s->last_sent, "last_dropped",
			(json_int_t)s->last_dropped, "rx_dropped", (json_int_t)w->dropped_from));
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
	node_watchdogs(n, add_queue, &shown);
	c->result = json_pack("{so so}", "config", config, "queues", shown.queues);
	return 0;
}
