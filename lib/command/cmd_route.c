/* SPDX-License-Identifier: BSD-3-Clause */
/* show routes, route lookup, neighbors. Management thread. */
#include <errno.h>
#include <string.h>

#include "command/command_priv.h"
#include "command/describe.h"
#include "node/node_ctl.h"

static void add_table(struct command_call *c, uint32_t vrf, const struct fib *f)
{
	char prefix[IP_PREFIX_TEXT];
	const struct fib_route *routes;
	size_t n;

	routes = fib_routes(f, &n);
	for (size_t i = 0; i < n; i++) {
		json_t *o = json_pack("{ss ss}", "vrf", describe_vrf(c->node->snapshot, vrf), "prefix",
			ip_prefix_format(&routes[i].prefix, prefix));

		describe_set_target(o, "to", c->node, routes[i].target);
		json_array_append_new(c->result, o);
	}
}

int cmd_show_routes(struct command_call *c)
{
	const struct snapshot *s = c->node->snapshot;
	bool found = !c->arg[0];

	c->result = json_array();
	for (uint32_t i = 0; i < s->n_vrfs; i++) {
		if (!s->vrf[i].name || (c->arg[0] && strcmp(describe_vrf(s, i), c->arg[0]) != 0))
			continue;
		found = true;
		add_table(c, i, s->vrf[i].v4);
		add_table(c, i, s->vrf[i].v6);
	}
	return found ? 0 : command_fail(c, -ENOENT, "there is no VRF '%.40s'; see: show routes", c->arg[0]);
}

/* What a packet with that destination gets: the route, what it leads to, and which ways out of it are alive. */
int cmd_show_route_lookup(struct command_call *c)
{
	const struct snapshot *s = c->node->snapshot;
	char text[IP_ADDR_TEXT], route[DESCRIBE_TEXT];
	uint32_t vrf = describe_find_vrf(s, c->arg[1]);
	struct ip_addr addr;
	target_t t;

	if (ip_addr_parse(c->arg[0], &addr) < 0)
		return command_fail(c, -EINVAL, "ADDRESS: expected an IPv4 or IPv6 address, found '%.60s'", c->arg[0]);
	if (vrf == s->n_vrfs)
		return command_fail(c, -ENOENT, "there is no VRF '%.40s'; see: show routes", c->arg[1]);
	t = addr.family == 4 ? fib_lookup4(s->vrf[vrf].v4, ip_addr_v4(&addr)) : fib_lookup6(s->vrf[vrf].v6, &addr.v6);
	describe_route(s, vrf, &addr, route);
	c->result = json_pack("{ss ss}", "vrf", describe_vrf(s, vrf), "address", ip_addr_format(&addr, text));
	command_set_worded(c->result, "route", target_kind(t) == TARGET_NONE ? json_null() : json_string(route), route);
	describe_set_target(c->result, "to", c->node, t);
	json_object_set_new(c->result, "ways", failover_ways(c->node, t));
	return 0;
}

static const char *neigh_entry_state_name(uint8_t state)
{
	static const char *const names[] = {"unknown", "asked", "resolved", "stale"};

	return names[state];
}

int cmd_show_neighbors(struct command_call *c)
{
	const struct node *n = c->node;
	char addr[IP_ADDR_TEXT], mac[ETH_ADDR_TEXT];

	c->result = json_array();
	for (uint16_t w = 0; w < n->n_workers; w++) {
		for (uint32_t i = 0; i < n->worker[w].neighs.n; i++) {
			const struct neigh_entry *nb = &n->worker[w].neighs.neigh[i];
			bool is_static = i < n->snapshot->n_neighs && n->snapshot->neigh[i].used &&
					 n->snapshot->neigh[i].is_static;
			uint8_t state = __atomic_load_n(&nb->state, __ATOMIC_RELAXED);

			if (!__atomic_load_n(&nb->used_id, __ATOMIC_RELAXED))
				continue;
			json_array_append_new(c->result,
				json_pack("{ss ss ss? ss si}", "port", describe_interface(n->snapshot, nb->interface),
					"address", ip_addr_format(&nb->addr, addr), "mac",
					state >= NEIGH_ENTRY_RESOLVED ? eth_addr_format(&nb->mac.dst, mac) : NULL,
					"state", is_static ? "static" : neigh_entry_state_name(state), "waiting",
					(int)__atomic_load_n(&nb->waiting.n, __ATOMIC_RELAXED)));
		}
	}
	return 0;
}
