/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of links, next hops and paths, as samples. Management thread; the control lcore writes it. */
#include <stdio.h>

#include "metrics/metrics_priv.h"
#include "service/nexthop/nexthop.h"

static void add_nexthop(const struct metric_context *c, metric_object object, void *arg, uint32_t number, target_t t,
	const char *labels)
{
	struct nexthop_life l;
	struct nexthop_shown shown;

	nexthop_life_copy(c->n, number, &l);
	shown = (struct nexthop_shown){.up = liveness_grade(liveness_of_nexthop(c->n->snapshot, t)) != LIVENESS_IS_DEAD,
		.downs = l.downs,
		.down_ns = l.down_ns};
	object(arg, labels, &shown, 0);
}

static void each_nexthop(const struct metric_context *c, metric_object object, void *arg)
{
	const struct snapshot *s = c->n->snapshot;
	char labels[METRIC_LABELS], addr[IP_ADDR_TEXT];
	uint32_t left = METRIC_WAYS;

	for (uint32_t i = 0; i < c->n->n_ports; i++) {
		snprintf(labels, sizeof(labels), "port=\"%s\",interface=\"%s\",address=\"(link)\"", c->n->port[i]->name,
			c->n->port[i]->name);
		add_nexthop(c, object, arg, i, target(TARGET_LINK, i), labels);
	}
	for (uint32_t i = 0; i < s->n_neighs && left; i++) {
		if (!s->neigh[i].used || !snap_interface(s, s->neigh[i].interface))
			continue;
		snprintf(labels, sizeof(labels), "port=\"%s\",interface=\"%s\",address=\"%s\"",
			c->n->port[s->neigh[i].port]->name, snap_interface(s, s->neigh[i].interface)->name,
			ip_addr_format(&s->neigh[i].addr, addr));
		add_nexthop(c, object, arg, NEXTHOP_FIRST_NEIGH + i, target(TARGET_NEIGH, i), labels);
		left--;
	}
}

static void each_path(const struct metric_context *c, metric_object object, void *arg)
{
	const struct snapshot *s = c->n->snapshot;
	char labels[METRIC_LABELS];
	uint32_t left = METRIC_WAYS;

	for (uint32_t i = 0; i < s->n_policies; i++) {
		const struct snap_policy *p = &s->policy[i];

		for (uint32_t k = 0; k < p->n_paths && left; k++, left--) {
			struct path_traffic sent = node_path(c->n, p->path[k]);
			struct path_shown shown = {.up = nexthop_path_grade(s, p->path[k]) != LIVENESS_IS_DEAD,
				.carries = nexthop_path_carries(s, p, p->path[k]),
				.packets = sent.packets,
				.bytes = sent.bytes};

			snprintf(labels, sizeof(labels), "policy=\"%s\",path=\"%s\"", p->name,
				s->path[p->path[k]].name);
			object(arg, labels, &shown, 0);
		}
	}
}

void metric_count_nexthops(const struct node *n, uint32_t count[LIVENESS_IS_ALIVE + 1])
{
	const struct snapshot *s = n->snapshot;

	for (uint32_t i = 0; i < s->n_neighs; i++)
		if (s->neigh[i].used)
			count[liveness_grade(liveness_of_nexthop(s, target(TARGET_NEIGH, i)))]++;
}

void metric_count_paths(const struct node *n, uint32_t count[LIVENESS_IS_ALIVE + 1])
{
	const struct snapshot *s = n->snapshot;

	for (uint32_t i = 0; i < s->n_policies; i++)
		for (uint32_t k = 0; k < s->policy[i].n_paths; k++)
			count[nexthop_path_grade(s, s->policy[i].path[k])]++;
}

const struct metric_source metric_ways[] = {
	{&stat_nexthop, each_nexthop},
	{&stat_path, each_path},
	{0},
};
