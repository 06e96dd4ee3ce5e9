/* SPDX-License-Identifier: BSD-3-Clause */
/* show ports, show port ... Management thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/command_priv.h"
#include "command/describe.h"
#include "command/json_row.h"
#include "config/model.h"
#include "node/node_ctl.h"

static json_t *address_list(const struct snap_interface *p)
{
	json_t *list = json_array();
	char text[IP_PREFIX_TEXT];

	for (unsigned int i = 0; i < p->n_own; i++)
		json_array_append_new(list, json_string(ip_prefix_format(&p->own[i], text)));
	return list;
}

static const char *side_name(uint8_t side)
{
	static const char *const names[] = {CFG_SIDES(CFG_TEXT)};

	return names[side];
}

/* Filters of RFC 8754 section 5.1: which ones are off. In words: "on", "off: sids, sources". */
static void set_boundary(json_t *o, const struct snap_interface *s)
{
	bool no_sids = s->side == SIDE_DC && !s->sids_closed;
	json_t *off = json_array();

	if (no_sids)
		json_array_append_new(off, json_string("sids"));
	if (s->any_source)
		json_array_append_new(off, json_string("sources"));
	command_set_worded(o, "boundary_off", off,
		no_sids && s->any_source ? "sids, sources"
		: no_sids		 ? "sids"
		: s->any_source		 ? "sources"
					 : "-");
}

/* Names that are separated by spaces, as a list. */
static json_t *names_in(const char *text)
{
	json_t *list = json_array();
	size_t n;

	for (; *text; text += n) {
		text += strspn(text, " ");
		n = strcspn(text, " ");
		if (n)
			json_array_append_new(list, json_stringn(text, n));
	}
	return list;
}

int cmd_show_ports(struct command_call *c)
{
	const struct node *n = c->node;
	struct lcore_stats *sum = node_stats_shown(n);

	if (!sum)
		return -ENOMEM;
	c->result = json_array();
	for (uint32_t i = 0; i < n->n_ports; i++) {
		const struct port_stats *p = &sum->port[i];
		const struct port_rate *r = &n->rates.port[i];
		struct port_device_stats d;
		json_t *o;

		n->port[i]->ops->device_stats(n->port[i], &d);
		o = json_pack("{ss ss}", "port", n->port[i]->name, "side", side_name(n->snapshot->port[i].side));
		set_boundary(o, &n->snapshot->port[i]);
		json_object_update_new(o,
			json_pack("{ss sI sI sI sI sI sI sI sI sI sI sI}", "link",
				port_is_up(n->port[i]) ? "up" : "down", "rx", (json_int_t)p->rx_packets, "rx_bytes",
				(json_int_t)p->rx_bytes, "rx_pps", (json_int_t)r->rx_pps, "rx_bps",
				(json_int_t)r->rx_bps, "tx", (json_int_t)p->tx_packets, "tx_bytes",
				(json_int_t)p->tx_bytes, "tx_pps", (json_int_t)r->tx_pps, "tx_bps",
				(json_int_t)r->tx_bps, "imissed", (json_int_t)d.imissed, "rx_nombuf",
				(json_int_t)d.rx_nombuf, "ierrors", (json_int_t)d.ierrors));
		json_array_append_new(c->result, o);
	}
	free(sum);
	return 0;
}

static json_t *counters(const struct node *n, uint32_t i, const struct lcore_stats *sum)
{
	const struct port_stats *p = &sum->port[i];
	struct port_device_stats d;
	json_t *o = json_object();

	n->port[i]->ops->device_stats(n->port[i], &d);
	json_row(o, &stat_port, p, 0);
	json_object_set_new(o, "dropped", json_integer((json_int_t)port_stats_drops(p)));
	json_object_set_new(o, "consumed", json_integer((json_int_t)port_stats_consumed(p)));
	json_row(o, &stat_device, &d, 0);
	return o;
}

static json_t *details_of(const struct node *n, uint32_t i)
{
	const struct snap_interface *s = &n->snapshot->port[i];
	const struct port_rate *r = &n->rates.port[i];
	const struct port_abilities *a = &n->port[i]->abilities;
	struct port_details d = {.driver = "", .socket = -1};

	if (n->port[i]->ops->details)
		n->port[i]->ops->details(n->port[i], &d);
	return json_pack("{ss ss ss ss ss ss si si sI so si si si si si si sb sb so so sb sb si sI sI sI sI}", "port",
		n->port[i]->name, "device", d.device, "driver", d.driver ? d.driver : "", "side", side_name(s->side),
		"vrf", s->vrf ? n->snapshot->vrf[s->vrf].name : "underlay", "link",
		port_is_up(n->port[i]) ? "up" : "down", "mtu", (int)s->mtu, "device_mtu", (int)d.device_mtu,
		"speed_mbps",
		(json_int_t)(n->config->ports.items[i].speed_bps ? n->config->ports.items[i].speed_bps / 1000000
								 : d.link_mbps),
		"addresses", address_list(s), "rx_queues", (int)n->port[i]->n_rx_queues, "tx_queues", 1,
		"rx_queues_max", (int)a->rx_queues, "tx_queues_max", (int)a->tx_queues, "rx_descriptors",
		(int)d.rx_descriptors, "tx_descriptors", (int)d.tx_descriptors, "promiscuous", d.promiscuous,
		"all_multicast", d.all_multicast, "rx_offloads", names_in(d.rx_offloads), "tx_offloads",
		names_in(d.tx_offloads), "sets_mac", a->set_mac, "sets_mtu", a->set_mtu, "owner_lcore",
		(int)n->worker[n->owner[i]].lcore->id, "rx_pps", (json_int_t)r->rx_pps, "rx_bps", (json_int_t)r->rx_bps,
		"tx_pps", (json_int_t)r->tx_pps, "tx_bps", (json_int_t)r->tx_bps);
}

/* One object for one port, a list for "all". */
static int each_port(struct command_call *c, json_t *(*make)(const struct node *n, uint32_t i, void *arg), void *arg)
{
	if (!c->is_word[0]) {
		c->result = make(c->node, (uint32_t)c->number[0], arg);
		return c->result ? 0 : -ENOMEM;
	}
	c->result = json_array();
	for (uint32_t i = 0; i < c->node->n_ports; i++)
		json_array_append_new(c->result, make(c->node, i, arg));
	return 0;
}

/* Name of a DSCP map; null: none. */
static json_t *dscp_map_of(const struct node *n, const uint8_t *table)
{
	return table ? json_string(describe_dscp_map(n->snapshot, table)) : json_null();
}

static void set_spread(json_t *o, const struct port *p)
{
	static const char *const ids[] =
		{
#define X(name, id, text) id,
			PORT_SPREADS(X)
#undef X
		},
				 *const words[] = {
#define X(name, id, text) text,
					 PORT_SPREADS(X)
#undef X
				 };

	command_set_worded(o, "queues_filled", json_string(ids[p->abilities.spread]), words[p->abilities.spread]);
}

static json_t *make_details(const struct node *n, uint32_t i, void *arg)
{
	json_t *o = details_of(n, i);
	char mac[ETH_ADDR_TEXT];

	json_object_set_new(o, "mac", json_string(eth_addr_format(&n->port[i]->mac, mac)));
	set_spread(o, n->port[i]);
	json_object_set_new(o, "rss_symmetric", json_boolean(n->port[i]->abilities.symmetric));
	json_object_set_new(o, "timestamps", json_boolean(n->port[i]->abilities.timestamps));
	json_object_set_new(o, "numa_node", n->places.port[i] < 0 ? json_null() : json_integer(n->places.port[i]));
	json_object_set_new(o, "dscp_in", dscp_map_of(n, n->snapshot->port[i].dscp_in));
	json_object_set_new(o, "dscp_out", dscp_map_of(n, n->snapshot->port[i].dscp_out));
	json_object_set_new(o, "counters", counters(n, i, arg));
	return o;
}

int cmd_show_port(struct command_call *c)
{
	struct lcore_stats *sum = node_stats_shown(c->node);
	int rc = sum ? each_port(c, make_details, sum) : -ENOMEM;

	free(sum);
	return rc;
}

static json_t *make_stats(const struct node *n, uint32_t i, void *arg)
{
	json_t *o = json_pack("{ss}", "port", n->port[i]->name), *more = counters(n, i, arg);

	json_object_update(o, more);
	json_decref(more);
	return o;
}

int cmd_show_port_stats(struct command_call *c)
{
	struct lcore_stats *sum = node_stats_shown(c->node);
	int rc = sum ? each_port(c, make_stats, sum) : -ENOMEM;

	free(sum);
	return rc;
}

static void add_xstat(void *arg, const char *name, uint64_t value)
{
	json_object_set_new(arg, name, json_integer((json_int_t)value));
}

static json_t *make_xstats(const struct node *n, uint32_t i, void *arg)
{
	json_t *o = json_pack("{ss}", "port", n->port[i]->name);

	(void)arg;
	if (n->port[i]->ops->xstats)
		n->port[i]->ops->xstats(n->port[i], add_xstat, o);
	return o;
}

int cmd_show_port_xstats(struct command_call *c)
{
	return each_port(c, make_xstats, NULL);
}
