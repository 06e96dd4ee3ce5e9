/* SPDX-License-Identifier: BSD-3-Clause */
/* show ports, lcores, drops, conservation, version */
#include <errno.h>
#include <stdlib.h>

#include <rte_version.h>

#include "command/command_priv.h"
#include "node/node_ctl.h"

static const char *port_name(const struct node *n, unsigned int port)
{
	return port == PORT_LOCAL ? "(local)" : n->port[port]->name;
}

static struct lcore_stats *sum_stats(const struct node *n)
{
	struct lcore_stats *sum = aligned_alloc(CACHE_LINE_BYTES, sizeof(*sum));

	if (sum)
		node_stats(n, sum);
	return sum;
}

static json_t *address_list(const struct snap_port *p)
{
	json_t *list = json_array();
	char text[IP_PREFIX_TEXT];

	for (unsigned int i = 0; i < p->n_own; i++)
		json_array_append_new(list, json_string(ip_prefix_format(&p->own[i], text)));
	return list;
}

int cmd_show_ports(struct command_call *c)
{
	const struct node *n = c->node;
	const struct snapshot *s = n->snapshot;
	struct lcore_stats *sum = sum_stats(n);

	if (!sum)
		return -ENOMEM;
	c->result = json_array();
	for (uint32_t i = 0; i < n->n_ports; i++) {
		struct port_device_stats d;
		const struct port_stats *p = &sum->port[i];
		char mac[ETH_ADDR_TEXT];

		n->port[i]->ops->device_stats(n->port[i], &d);
		json_array_append_new(c->result,
			json_pack("{ss ss ss si sI sI sI sI sI sI so ss}", "port", n->port[i]->name, "side",
				s->port[i].side == SIDE_DC ? "dc" : "wan", "link",
				port_is_up(n->port[i]) ? "up" : "down", "mtu", s->port[i].mtu, "rx",
				(json_int_t)p->rx_packets, "rx_bytes", (json_int_t)p->rx_bytes, "tx",
				(json_int_t)p->tx_packets, "tx_bytes", (json_int_t)p->tx_bytes, "imissed",
				(json_int_t)d.imissed, "rx_nombuf", (json_int_t)d.rx_nombuf, "addresses",
				address_list(&s->port[i]), "mac", eth_addr_format(&n->port[i]->mac, mac)));
	}
	free(sum);
	return 0;
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

int cmd_show_drops(struct command_call *c)
{
	const struct node *n = c->node;
	struct lcore_stats *sum = sum_stats(n);

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

int cmd_show_conservation(struct command_call *c)
{
	struct node_balance b;

	node_balance(c->node, &b);
	c->result = json_pack("{sI sI sI sI sI sI sI}", "rx", (json_int_t)b.rx, "originated",
		(json_int_t)b.originated, "sent", (json_int_t)b.sent, "dropped", (json_int_t)b.dropped, "consumed",
		(json_int_t)b.consumed, "held", (json_int_t)b.held, "missing", (json_int_t)b.missing);
	return 0;
}

int cmd_show_version(struct command_call *c)
{
	c->result = json_pack("{ss ss}", "sluice", SLUICE_VERSION, "dpdk", rte_version());
	return 0;
}
