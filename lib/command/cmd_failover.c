/* SPDX-License-Identifier: BSD-3-Clause */
/* show nexthops, paths; port stop, start. Management thread. */
#include <errno.h>
#include <string.h>

#include "command/command_priv.h"
#include "command/describe.h"
#include "command/json_row.h"
#include "node/node_ctl.h"
#include "service/nexthop/nexthop.h"
#include "service/steer/service_steer.h"

static uint64_t now_of(const struct node *n)
{
	return __atomic_load_n(&n->control->now, __ATOMIC_RELAXED);
}

static const char *grade_name(enum liveness_grade grade)
{
	static const char *const names[] = {"down", "held", "up"};

	return names[grade];
}

/* What is known of a link, a next hop or a path, with the causes that apply to it from elsewhere. */
static json_t *life_json(const struct node *n, uint32_t object, unsigned int causes)
{
	struct nexthop_life l;
	uint64_t now = now_of(n), hold;
	char why[96];

	nexthop_life_copy(n, object, &l);
	hold = l.causes == LIVENESS_HELD && l.held_until > now ? l.held_until - now : 0;
	return json_pack("{ss ss sI sI sI sI sI}", "state", grade_name(liveness_grade(causes)), "why",
		nexthop_causes(causes, why, sizeof(why)), "since_ms",
		(json_int_t)((l.since ? now - MIN_OF(now, l.since) : now) / NSEC_PER_MSEC), "downs",
		(json_int_t)l.downs, "last_out_us",
		(json_int_t)(l.downs && !l.causes ? (l.since - l.failed) / NSEC_PER_USEC : 0), "hold_ms",
		(json_int_t)(l.hold_ns / NSEC_PER_MSEC), "held_for_ms", (json_int_t)(hold / NSEC_PER_MSEC));
}

static json_t *nexthop_json(const struct node *n, uint32_t port, const char *interface, const char *address,
	uint32_t object, unsigned int causes)
{
	json_t *o = json_pack("{ss ss ss}", "port", n->port[port]->name, "interface", interface, "address", address);

	json_object_update_new(o, life_json(n, object, causes));
	return o;
}

int cmd_show_nexthops(struct command_call *c)
{
	const struct node *n = c->node;
	const struct snapshot *s = n->snapshot;
	char addr[IP_ADDR_TEXT];

	c->result = json_array();
	for (uint32_t i = 0; i < n->n_ports; i++)
		json_array_append_new(c->result, nexthop_json(n, i, n->port[i]->name, "(link)", i,
							 liveness_of_nexthop(s, target(TARGET_LINK, i))));
	for (uint32_t i = 0; i < s->n_neighs; i++)
		if (s->neigh[i].used)
			json_array_append_new(c->result,
				nexthop_json(n, s->neigh[i].port, describe_interface(s, s->neigh[i].interface),
					ip_addr_format(&s->neigh[i].addr, addr), NEXTHOP_FIRST_NEIGH + i,
					liveness_of_nexthop(s, target(TARGET_NEIGH, i))));
	return 0;
}

static json_t *path_json(const struct command_call *c, const struct snap_policy *policy, uint32_t id)
{
	const struct snapshot *s = c->node->snapshot;
	const struct snap_path *p = &s->path[id];
	unsigned int causes = liveness_of_path(s, id) | (p->via ? nexthop_causes_of_way(s, p->via) : 0);
	struct path_traffic sent = node_path_shown(c->node, id);
	struct path_shown shown = {.packets = sent.packets, .bytes = sent.bytes};
	char way[DESCRIBE_TEXT], why[96];
	json_t *o, *life;

	o = json_pack("{ss ss sb sb ss}", "policy", policy->name, "path", p->name, "backup", p->backup, "carries",
		nexthop_path_carries(s, policy, id), "way_out", describe_target(c->node, p->via, way));
	json_row(o, &stat_path, &shown, 0);
	if (policy->flows)
		json_object_set_new(o, "flows", json_integer((json_int_t)steer_flows_on(c->node, id)));
	/* times are those of the next hop, unless the path itself has failed */
	if (p->via && target_kind(p->via) == TARGET_NEIGH && !liveness_of_path(s, id))
		life = life_json(c->node,
			s->live->link[s->neigh[target_index(p->via)].port] ? s->neigh[target_index(p->via)].port
									   : NEXTHOP_FIRST_NEIGH + target_index(p->via),
			causes);
	else
		life = life_json(c->node, NEXTHOP_FIRST_PATH + id, causes);
	json_object_update_new(o, life);
	json_object_set_new(o, "state", json_string(grade_name(nexthop_path_grade(s, id))));
	json_object_set_new(o, "why", json_string(p->via ? nexthop_causes(causes, why, sizeof(why)) : "no route"));
	return o;
}

int cmd_show_paths(struct command_call *c)
{
	return command_paths(c, path_json);
}

static json_t *way_json(const struct node *n, const char *path, target_t via, unsigned int causes)
{
	char way[DESCRIBE_TEXT], why[96];

	return json_pack("{ss* ss ss ss}", "path", path, "way", describe_target(n, via, way), "state",
		grade_name(via ? liveness_grade(causes) : LIVENESS_IS_DEAD), "why",
		via ? nexthop_causes(causes, why, sizeof(why)) : "no route");
}

json_t *failover_ways(const struct node *n, target_t t)
{
	const struct snapshot *s = n->snapshot;
	uint32_t index = target_index(t);
	json_t *ways = json_array();

	if (target_kind(t) == TARGET_NEIGH || target_kind(t) == TARGET_LINK)
		json_array_append_new(ways, way_json(n, NULL, t, liveness_of_nexthop(s, t)));
	for (unsigned int i = 0; target_kind(t) == TARGET_GROUP && i < s->group[index].n; i++)
		json_array_append_new(ways, way_json(n, NULL, s->group[index].member[i],
						    liveness_of_nexthop(s, s->group[index].member[i])));
	for (uint32_t i = 0; target_kind(t) == TARGET_POLICY && i < s->policy[index].n_paths; i++) {
		uint32_t id = s->policy[index].path[i];
		const struct snap_path *p = &s->path[id];

		json_array_append_new(ways,
			way_json(n, p->name, p->via,
				liveness_of_path(s, id) | (p->via ? nexthop_causes_of_way(s, p->via) : 0)));
	}
	return ways;
}

static int set_stopped(struct command_call *c, bool stopped)
{
	struct port *p = NULL;

	for (uint32_t i = 0; i < c->node->n_ports; i++)
		if (strcmp(c->node->port[i]->name, c->arg[0]) == 0)
			p = c->node->port[i];
	if (!p)
		return command_fail(c, -ENOENT, "there is no port '%.40s'; see: show ports", c->arg[0]);
	__atomic_store_n(&p->stopped, stopped, __ATOMIC_RELAXED);
	port_set_link(p, p->ops->link_up(p));
	return 0;
}

int cmd_port_stop(struct command_call *c)
{
	return set_stopped(c, true);
}

int cmd_port_start(struct command_call *c)
{
	return set_stopped(c, false);
}
