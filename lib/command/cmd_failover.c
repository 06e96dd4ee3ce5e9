/* SPDX-License-Identifier: BSD-3-Clause */
/* show nexthops, paths; port stop, start. Management thread. */
#include <ctype.h>
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

static const char *const cause_ids[] = {
#define X(name, word) #name,
	LIVENESS_CAUSES(X)
#undef X
};

/* Set `why` to the list of causes; no way out: "no-route" alone. */
static void set_why(json_t *o, unsigned int causes, bool has_way)
{
	char words[96], id[24];
	json_t *list = json_array();

	for (unsigned int i = 0; i < ARRAY_LEN(cause_ids) && has_way; i++) {
		if (!(causes >> i & 1))
			continue;
		snprintf(id, sizeof(id), "%s", cause_ids[i]);
		for (char *at = id; *at; at++)
			*at = (char)tolower((unsigned char)*at);
		json_array_append_new(list, json_string(id));
	}
	if (!has_way)
		json_array_append_new(list, json_string("no-route"));
	command_set_worded(o, "why", list, has_way ? nexthop_causes(causes, words, sizeof(words)) : "no route");
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
	json_t *o;

	nexthop_life_copy(n, object, &l);
	hold = l.causes == LIVENESS_HELD && l.held_until > now ? l.held_until - now : 0;
	o = json_pack("{ss}", "state", grade_name(liveness_grade(causes)));
	set_why(o, causes, true);
	json_object_update_new(o,
		json_pack("{sI sI sI sI sI}", "since_ms",
			(json_int_t)((l.since ? now - MIN_OF(now, l.since) : now) / NSEC_PER_MSEC), "downs",
			(json_int_t)l.downs, "last_out_us",
			(json_int_t)(l.downs && !l.causes ? (l.since - l.failed) / NSEC_PER_USEC : 0), "hold_ms",
			(json_int_t)(l.hold_ns / NSEC_PER_MSEC), "held_for_ms", (json_int_t)(hold / NSEC_PER_MSEC)));
	return o;
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

/* What feedback knows of a path: its score, and why flows last left it or came. */
static void add_feedback(const struct node *n, uint32_t id, json_t *o)
{
	struct feedback_shown f;
	char why[160] = "";
	uint64_t now = now_of(n);

	if (!feedback_show(n, id, &f))
		return;
	json_row(o, &stat_feedback, &f, 0);
	if (f.last_path != STEER_NO_PATH)
		snprintf(why, sizeof(why), "%s %s: %s, score %llu, there %llu, %llu ms ago",
			f.last.left ? "to" : "from", n->snapshot->path[f.last_path].name,
			feedback_reason(f.last.reason), (unsigned long long)f.last.reason_score,
			(unsigned long long)f.last.reason_other,
			(unsigned long long)((now - MIN_OF(now, f.last.changed)) / NSEC_PER_MSEC));
	json_object_set_new(o, "last_move", json_string(why));
}

static json_t *path_json(const struct command_call *c, const struct snap_policy *policy, uint32_t id)
{
	const struct snapshot *s = c->node->snapshot;
	const struct snap_path *p = &s->path[id];
	unsigned int causes = liveness_of_path(s, id) | (p->via ? nexthop_causes_of_way(s, p->via) : 0);
	struct path_traffic sent = node_path_shown(c->node, id);
	struct path_shown shown = {.packets = sent.packets, .bytes = sent.bytes};
	json_t *o, *life;

	o = json_pack("{ss ss sb sb}", "policy", policy->name, "path", p->name, "backup", p->backup, "carries",
		nexthop_path_carries(s, policy, id));
	describe_set_target(o, "way_out", c->node, p->via);
	json_row(o, &stat_path, &shown, 0);
	if (policy->flows)
		json_object_set_new(o, "flows", json_integer((json_int_t)steer_flows_on(c->node, id)));
	add_feedback(c->node, id, o);
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
	set_why(o, causes, p->via);
	return o;
}

int cmd_show_paths(struct command_call *c)
{
	return command_paths(c, path_json);
}

static json_t *way_json(const struct node *n, const char *path, target_t via, unsigned int causes)
{
	json_t *o = json_pack("{ss*}", "path", path);

	describe_set_target(o, "way", n, via);
	json_object_set_new(o, "state", json_string(grade_name(via ? liveness_grade(causes) : LIVENESS_IS_DEAD)));
	set_why(o, causes, via);
	return o;
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
