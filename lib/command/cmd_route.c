/* SPDX-License-Identifier: BSD-3-Clause */
/* show routes, neighbors. Management thread. */
#include <errno.h>
#include <string.h>

#include "command/command_priv.h"
#include "command/describe.h"
#include "node/node_ctl.h"

static void add_table(struct command_call *c, uint32_t vrf, const struct fib *f)
{
	char prefix[IP_PREFIX_TEXT], way[DESCRIBE_TEXT];
	const struct fib_route *routes;
	size_t n;

	routes = fib_routes(f, &n);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(c->result, json_pack("{ss ss ss}", "vrf", describe_vrf(c->node->snapshot, vrf),
							 "prefix", ip_prefix_format(&routes[i].prefix, prefix), "to",
							 describe_target(c->node, routes[i].target, way)));
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

			if (!nb->used_id)
				continue;
			json_array_append_new(c->result,
				json_pack("{ss ss ss ss si}", "port", describe_interface(n->snapshot, nb->interface),
					"address", ip_addr_format(&nb->addr, addr), "mac",
					state >= NEIGH_ENTRY_RESOLVED ? eth_addr_format(&nb->mac.dst, mac) : "",
					"state", is_static ? "static" : neigh_entry_state_name(state), "waiting",
					(int)__atomic_load_n(&nb->waiting.n, __ATOMIC_RELAXED)));
		}
	}
	return 0;
}
