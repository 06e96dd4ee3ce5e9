/* SPDX-License-Identifier: BSD-3-Clause */
/* show lcores, stats, drops, conservation; clear stats */
#include <errno.h>
#include <stdlib.h>

#include "command/command_priv.h"
#include "command/json_row.h"
#include "node/node_ctl.h"

static const char *port_name(const struct node *n, unsigned int port)
{
	return port == PORT_LOCAL ? "(local)" : n->port[port]->name;
}

/* Existing ports, and the node itself. */
static bool port_exists(const struct node *n, unsigned int port)
{
	return port < n->n_ports || port == PORT_LOCAL;
}

static json_t *roles_of(const struct node_lcore *l)
{
	json_t *roles = json_array();

	if (l->control)
		json_array_append_new(roles, json_string("control"));
	if (l->rx)
		json_array_append_new(roles, json_string("rx"));
	if (l->worker)
		json_array_append_new(roles, json_string("worker"));
	return roles;
}

int cmd_show_lcores(struct command_call *c)
{
	const struct node *n = c->node;

	c->result = json_array();
	for (uint16_t i = 0; i < n->n_lcores; i++) {
		const struct node_lcore *l = n->lcore[i];
		const struct lcore_stats *st = &l->stats;
		json_t *owns = json_array();

		for (uint16_t k = 0; l->worker && k < l->worker->n_egress; k++)
			json_array_append_new(owns, json_string(n->port[l->worker->egress[k]->index]->name));
		json_array_append_new(c->result,
			json_pack("{si si so so sI sI sI sI sI}", "lcore", (int)l->id, "cpu", (int)l->cpu, "roles",
				roles_of(l), "owns", owns, "passes", (json_int_t)stat_read(&st->passes), "busy_passes",
				(json_int_t)stat_read(&st->busy_passes), "busy_ms",
				(json_int_t)(stat_read(&st->busy_ns) / NSEC_PER_MSEC), "sleep_ms",
				(json_int_t)(stat_read(&st->sleep_ns) / NSEC_PER_MSEC), "max_gap_us",
				(json_int_t)(stat_read(&st->max_gap_ns) / NSEC_PER_USEC)));
	}
	return 0;
}

static void put_reasons(json_t *o, const struct port_stats *p, unsigned int first, unsigned int end)
{
	for (unsigned int r = first; r < end; r++)
		if (p->reason[r])
			json_object_set_new(o, reason_name((enum reason)r), json_integer((json_int_t)p->reason[r]));
}

int cmd_show_stats(struct command_call *c)
{
	const struct node *n = c->node;
	struct lcore_stats *sum = node_stats_shown(n);
	json_t *ports = json_object(), *node = json_object();

	if (!sum)
		return -ENOMEM;
	for (unsigned int i = 0; i < PORT_SLOTS; i++) {
		json_t *o = json_object(), *dropped = json_object(), *consumed = json_object();

		if (port_exists(n, i)) {
			json_row(o, &stat_port, &sum->port[i], 0);
			put_reasons(dropped, &sum->port[i], 0, DROP_COUNT);
			put_reasons(consumed, &sum->port[i], CONSUME_FIRST, REASON_COUNT);
			json_object_set(o, "dropped", dropped);
			json_object_set(o, "consumed", consumed);
			json_object_set(ports, port_name(n, i), o);
		}
		json_decref(o);
		json_decref(dropped);
		json_decref(consumed);
	}
	json_row(node, &stat_lcore, sum, 0);
	c->result = json_pack("{so so}", "ports", ports, "lcores_together", node);
	free(sum);
	return 0;
}

int cmd_show_drops(struct command_call *c)
{
	const struct node *n = c->node;
	struct lcore_stats *sum = node_stats_shown(n);

	if (!sum)
		return -ENOMEM;
	c->result = json_array();
	for (unsigned int i = 0; i < PORT_SLOTS; i++) {
		for (unsigned int r = 0; r < REASON_COUNT; r++) {
			if (!sum->port[i].reason[r])
				continue;
			json_array_append_new(c->result,
				json_pack("{ss ss ss sI ss}", "port", port_name(n, i), "what",
					reason_is_drop((enum reason)r) ? "dropped" : "consumed", "reason",
					reason_name((enum reason)r), "packets", (json_int_t)sum->port[i].reason[r],
					"meaning", reason_help((enum reason)r)));
		}
	}
	free(sum);
	return 0;
}

/* Packets that devices have lost: they are not among those received. */
static uint64_t unseen(const struct node *n)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < n->n_ports; i++) {
		struct port_device_stats d;

		n->port[i]->ops->device_stats(n->port[i], &d);
		lost += d.imissed + d.rx_nombuf + d.ierrors;
	}
	return lost;
}

int cmd_show_conservation(struct command_call *c)
{
	struct node_balance b;

	node_balance(c->node, &b);
	c->result = json_pack("{sI sI sI sI sI sI sI sI}", "rx", (json_int_t)b.rx, "originated",
		(json_int_t)b.originated, "sent", (json_int_t)b.sent, "dropped", (json_int_t)b.dropped, "consumed",
		(json_int_t)b.consumed, "held", (json_int_t)b.held, "missing", (json_int_t)b.missing, "unseen",
		(json_int_t)unseen(c->node));
	return 0;
}

int cmd_clear_stats(struct command_call *c)
{
	node_clear_stats(c->node);
	return 0;
}
