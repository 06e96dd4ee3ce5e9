/* SPDX-License-Identifier: BSD-3-Clause */
/* show sids, remote-sids, policies. Management thread. */
#include <errno.h>

#include "command/command_priv.h"
#include "command/describe.h"
#include "command/json_row.h"
#include "config/behavior.h"
#include "config/program.h"
#include "config/remote_sids.h"
#include "node/node_ctl.h"
#include "snapshot/path_mtu.h"
#include "wire/srh.h"

static json_t *flavors_of(const struct snap_sid *sid)
{
	json_t *list = json_array();

	if (sid->psp)
		json_array_append_new(list, json_string("psp"));
	if (sid->usp)
		json_array_append_new(list, json_string("usp"));
	if (sid->usd)
		json_array_append_new(list, json_string("usd"));
	return list;
}

/* Where the SID sends, if it says so itself; else null. */
static void set_adjacency(json_t *o, const struct node *n, const struct snap_sid *sid)
{
	if (sid->decap2)
		command_set_worded(o, "adjacency",
			json_pack("{ss ss}", "kind", "port", "port", n->port[sid->port]->name),
			n->port[sid->port]->name);
	else if (sid->adjacency)
		describe_set_target(o, "adjacency", n, sid->adjacency);
	else
		json_object_set_new(o, "adjacency", json_null());
}

/* The inner DSCP of packets that the SID decapsulates: "keep", "copy", or "map" with the name of the map. */
static void add_inner_dscp(json_t *o, const struct snapshot *s, const struct snap_sid *sid)
{
	const char *map = describe_dscp_map(s, sid->dscp_of);

	json_object_set_new(o, "dscp", json_string(map ? "map" : sid->dscp_of ? "copy" : "keep"));
	json_object_set_new(o, "dscp_map", map ? json_string(map) : json_null());
}

int cmd_show_sids(struct command_call *c)
{
	const struct snapshot *s = c->node->snapshot;
	char text[IP_PREFIX_TEXT];

	c->result = json_array();
	for (uint32_t i = 0; i < s->n_sids; i++) {
		struct sid_counter counter;
		json_t *o;

		if (!s->sid[i].used)
			continue;
		counter = node_sid_shown(c->node, i);
		o = json_pack("{ss ss so si ss}", "sid", ip_prefix_format(&s->sid[i].prefix, text), "behavior",
			behavior_info((enum cfg_behavior)s->sid[i].behavior)->name, "flavors", flavors_of(&s->sid[i]),
			"code", (int)s->sid[i].code, "vrf", describe_vrf(s, s->sid[i].vrf));
		set_adjacency(o, c->node, &s->sid[i]);
		add_inner_dscp(o, s, &s->sid[i]);
		json_row(o, &stat_sid, &counter, 0);
		json_array_append_new(c->result, o);
	}
	return 0;
}

int cmd_show_remote_sids(struct command_call *c)
{
	c->result = cfg_remote_json(c->node->config);
	return c->result ? 0 : -ENOMEM;
}

static json_t *addresses_of(const struct snap_path *p)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)p->header;
	size_t fixed = sizeof(*ip) + (p->slice_at ? CFG_SLICE_OPTION_BYTES : 0);
	const struct srh *srh = (const struct srh *)(p->header + fixed);
	json_t *list = json_array();
	char text[IP_ADDR_TEXT];

	json_array_append_new(list, json_string(ipv6_addr_format(&ip->dst, text)));
	/* own SIDs at the head of a full list have been executed and are no destinations */
	for (int i = p->bytes > fixed ? srh->segments_left - 1 : -1; i >= 0; i--)
		json_array_append_new(list, json_string(ipv6_addr_format(&srh->segment[i], text)));
	return list;
}

/* The outer DSCP: "copy", "set" with its value, or "map" with the name of the map. */
static void add_outer_dscp(json_t *o, const struct snapshot *s, const struct snap_path *p)
{
	const char *mode = p->dscp == SNAP_DSCP_COPY ? "copy" : p->dscp == SNAP_DSCP_MAP ? "map" : "set";

	json_object_set_new(o, "dscp", json_string(mode));
	json_object_set_new(o, "dscp_value", p->dscp < SNAP_DSCPS ? json_integer(p->dscp) : json_null());
	json_object_set_new(o, "dscp_map", p->dscp_of ? json_string(describe_dscp_map(s, p->dscp_of)) : json_null());
}

static struct path_traffic policy_traffic(const struct node *n, const struct snap_policy *policy)
{
	struct path_traffic all = {0};

	for (uint32_t k = 0; k < policy->n_paths; k++) {
		struct path_traffic one = node_path_shown(n, policy->path[k]);

		all.packets += one.packets;
		all.bytes += one.bytes;
	}
	return all;
}

static json_t *path_json(const struct command_call *c, const struct snap_policy *policy, uint32_t id)
{
	const struct snap_path *p = &c->node->snapshot->path[id];
	struct path_traffic all = policy_traffic(c->node, policy);
	unsigned int buckets = 0;
	json_t *o;

	for (unsigned int b = 0; b < SNAP_POLICY_BUCKETS; b++)
		buckets += policy->bucket[b] == id;
	o = json_pack("{ss ss si si sb si si sI sI}", "policy", policy->name, "path", p->name, "share_percent",
		(int)(buckets * 100 / SNAP_POLICY_BUCKETS), "overhead", (int)p->bytes, "backup", p->backup, "inner_mtu",
		(int)path_mtu_of(p), "policy_mtu", p->via ? (int)path_mtu_of_policy(policy) : 0, "policy_packets",
		(json_int_t)all.packets, "policy_bytes", (json_int_t)all.bytes);
	describe_set_target(o, "way_out", c->node, p->via);
	json_object_set_new(o, "addresses", addresses_of(p));
	add_outer_dscp(o, c->node->snapshot, p);
	return o;
}

int cmd_show_policies(struct command_call *c)
{
	return command_paths(c, path_json);
}
