/* SPDX-License-Identifier: BSD-3-Clause */
/* Locates the counters of ports, devices, VLAN interfaces, lcores and local SIDs. Management thread. */
#include <stdio.h>

#include "config/behavior.h"
#include "metrics/metrics_priv.h"

const char *metric_port_name(const struct node *n, unsigned int port)
{
	return port == PORT_LOCAL ? "(local)" : n->port[port]->name;
}

static void each_port(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (unsigned int i = 0; i < PORT_SLOTS; i++) {
		if (i >= c->n->n_ports && i != PORT_LOCAL)
			continue;
		snprintf(labels, sizeof(labels), "port=\"%s\"", metric_port_name(c->n, i));
		object(arg, labels, &c->sum->port[i], 0);
	}
}

static void each_device(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (unsigned int i = 0; i < c->n->n_ports; i++) {
		struct port_device_stats d;

		c->n->port[i]->ops->device_stats(c->n->port[i], &d);
		snprintf(labels, sizeof(labels), "port=\"%s\"", c->n->port[i]->name);
		object(arg, labels, &d, 0);
	}
}

static void each_interface(const struct metric_context *c, metric_object object, void *arg)
{
	const struct snapshot *s = c->n->snapshot;
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < s->n_interfaces; i++) {
		if (!s->interface[i])
			continue;
		snprintf(labels, sizeof(labels), "port=\"%s\",interface=\"%s\"",
			metric_port_name(c->n, snap_interface_of(s->interface[i]->interface)), s->interface[i]->name);
		object(arg, labels, &c->sum->interface[i], 0);
	}
}

static void each_lcore(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint16_t i = 0; i < c->n->n_lcores; i++) {
		snprintf(labels, sizeof(labels), "lcore=\"%u\"", c->n->lcore[i]->id);
		object(arg, labels, &c->n->lcore[i]->stats, 0);
	}
}

static void each_punt(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < c->n->n_ports; i++) {
		for (unsigned int k = 0; k < PUNT_KIND_COUNT; k++) {
			struct punt_stats sum = node_punt(c->n, i, (enum punt_kind)k);

			snprintf(labels, sizeof(labels), "port=\"%s\",kind=\"%s\"", metric_port_name(c->n, i),
				punt_kind_name((enum punt_kind)k));
			object(arg, labels, &sum, 0);
		}
	}
}

static void each_sid(const struct metric_context *c, metric_object object, void *arg)
{
	const struct snapshot *s = c->n->snapshot;
	char labels[METRIC_LABELS], text[IP_PREFIX_TEXT];

	for (uint32_t i = 0; i < s->n_sids; i++) {
		struct sid_counter sum;

		if (!s->sid[i].used)
			continue;
		sum = node_sid(c->n, i);
		snprintf(labels, sizeof(labels), "sid=\"%s\",behavior=\"%s\"",
			ip_prefix_format(&s->sid[i].prefix, text),
			behavior_info((enum cfg_behavior)s->sid[i].behavior)->name);
		object(arg, labels, &sum, 0);
	}
}

const struct metric_source metric_ports[] = {
	{&stat_port, each_port},
	{&stat_device, each_device},
	{&stat_interface, each_interface},
	{&stat_lcore, each_lcore},
	{&stat_punt, each_punt},
	{&stat_sid, each_sid},
	{NULL, NULL},
};
