/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for ids of the forwarding state: VRFs, interfaces, neighbours, routes. Management thread. */
#include "command/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "config/model.h"

const char *describe_vrf(const struct snapshot *s, uint32_t vrf)
{
	if (vrf == VRF_UNDERLAY)
		return "underlay";
	return vrf < s->n_vrfs && s->vrf[vrf].name ? s->vrf[vrf].name : "(removed)";
}

uint32_t describe_find_vrf(const struct snapshot *s, const char *name)
{
	uint32_t i = 0;

	if (!name || !name[0])
		return VRF_UNDERLAY;
	while (i < s->n_vrfs && (!s->vrf[i].name || strcmp(describe_vrf(s, i), name) != 0))
		i++;
	return i;
}

const char *describe_dscp_map(const struct snapshot *s, const uint8_t *table)
{
	for (uint32_t i = 0; i < s->config->dscp_maps.n; i++)
		if (table == s->dscp_map[i])
			return s->config->dscp_maps.items[i].name;
	return NULL;
}

const char *describe_interface(const struct snapshot *s, uint32_t interface)
{
	const struct snap_interface *in = interface == PORT_LOCAL ? NULL : snap_interface(s, interface);

	return interface == PORT_LOCAL ? "the node" : in ? in->name : "(removed)";
}

const char *describe_neigh(const struct snapshot *s, uint32_t neigh, char *buf)
{
	char addr[IP_ADDR_TEXT];

	if (neigh >= s->n_neighs)
		snprintf(buf, DESCRIBE_TEXT, "(unknown)");
	else
		snprintf(buf, DESCRIBE_TEXT, "%s via %s", describe_interface(s, s->neigh[neigh].interface),
			ip_addr_format(&s->neigh[neigh].addr, addr));
	return buf;
}

static int by_prefix(const void *a, const void *b)
{
	return ip_prefix_compare(a, &((const struct fib_route *)b)->prefix);
}

const char *describe_route(const struct snapshot *s, uint32_t vrf, const struct ip_addr *addr, char *buf)
{
	const struct fib *f = vrf < s->n_vrfs ? (addr->family == 4 ? s->vrf[vrf].v4 : s->vrf[vrf].v6) : NULL;
	struct ip_prefix p = {.addr = *addr};
	size_t n;
	const struct fib_route *routes = fib_routes(f, &n);

	for (int len = (int)ip_addr_bits(addr); n && len >= 0; len--) {
		p.len = (uint8_t)len;
		p = ip_prefix_network(&p);
		if (bsearch(&p, routes, n, sizeof(*routes), by_prefix))
			return ip_prefix_format(&p, buf);
	}
	snprintf(buf, DESCRIBE_TEXT, "none");
	return buf;
}

static const char *describe_target(const struct node *n, target_t t, char *buf);

static void describe_group(const struct node *n, const struct snap_group *g, char *buf)
{
	char one[DESCRIBE_TEXT];
	size_t at = 0;

	for (unsigned int i = 0; i < g->n && at < DESCRIBE_TEXT; i++)
		at += (size_t)snprintf(buf + at, DESCRIBE_TEXT - at, "%s%s", i ? " | " : "",
			describe_target(n, g->member[i], one));
}

static const char *describe_target(const struct node *n, target_t t, char *buf)
{
	const struct snapshot *s = n->snapshot;
	uint32_t index = target_index(t);
	char text[IP_PREFIX_TEXT];

	switch (target_kind(t)) {
	case TARGET_NEIGH:
		return describe_neigh(s, index, buf);
	case TARGET_GROUP:
		describe_group(n, &s->group[index], buf);
		break;
	case TARGET_LINK:
		snprintf(buf, DESCRIBE_TEXT, "%s on-link", describe_interface(s, index));
		break;
	case TARGET_POLICY:
		snprintf(buf, DESCRIBE_TEXT, "policy %s", s->policy[index].name);
		break;
	case TARGET_LOCAL:
		snprintf(buf, DESCRIBE_TEXT, "own address of %s", describe_interface(s, index));
		break;
	case TARGET_SID:
		snprintf(buf, DESCRIBE_TEXT, "local SID %s", ip_prefix_format(&s->sid[index].prefix, text));
		break;
	case TARGET_BROADCAST:
		snprintf(buf, DESCRIBE_TEXT, "broadcast");
		break;
	default:
		snprintf(buf, DESCRIBE_TEXT, "nowhere");
	}
	return buf;
}

json_t *describe_neigh_json(const struct snapshot *s, uint32_t neigh)
{
	char addr[IP_ADDR_TEXT];

	if (neigh >= s->n_neighs)
		return json_pack("{ss}", "kind", "none");
	return json_pack("{ss ss ss}", "kind", "next-hop", "port", describe_interface(s, s->neigh[neigh].interface),
		"address", ip_addr_format(&s->neigh[neigh].addr, addr));
}

static json_t *describe_target_json(const struct node *n, target_t t);

static json_t *group_json(const struct node *n, const struct snap_group *g)
{
	json_t *ways = json_array();

	for (unsigned int i = 0; i < g->n; i++)
		json_array_append_new(ways, describe_target_json(n, g->member[i]));
	return json_pack("{ss so}", "kind", "group", "ways", ways);
}

static json_t *describe_target_json(const struct node *n, target_t t)
{
	const struct snapshot *s = n->snapshot;
	uint32_t index = target_index(t);
	char text[IP_PREFIX_TEXT];

	switch (target_kind(t)) {
	case TARGET_NEIGH:
		return describe_neigh_json(s, index);
	case TARGET_GROUP:
		return group_json(n, &s->group[index]);
	case TARGET_LINK:
		return json_pack("{ss ss}", "kind", "link", "port", describe_interface(s, index));
	case TARGET_POLICY:
		return json_pack("{ss ss}", "kind", "policy", "policy", s->policy[index].name);
	case TARGET_LOCAL:
		return json_pack("{ss ss*}", "kind", "own", "port",
			index == PORT_LOCAL ? NULL : describe_interface(s, index));
	case TARGET_SID:
		return json_pack("{ss ss}", "kind", "sid", "sid", ip_prefix_format(&s->sid[index].prefix, text));
	case TARGET_BROADCAST:
		return json_pack("{ss}", "kind", "broadcast");
	default:
		return json_pack("{ss}", "kind", "none");
	}
}

void describe_set_target(json_t *o, const char *key, const struct node *n, target_t t)
{
	char words[DESCRIBE_TEXT];

	command_set_worded(o, key, describe_target_json(n, t), describe_target(n, t, words));
}
