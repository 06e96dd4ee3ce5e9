/* SPDX-License-Identifier: BSD-3-Clause */
/* Locates the counters of RSVP: of the node, and of its neighbours. Management thread; the control lcore writes them. */
#include <stdio.h>

#include "metrics/metrics_priv.h"
#include "service/rsvp/service_rsvp.h"

static void each_node(const struct metric_context *c, metric_object object, void *arg)
{
	const struct rsvp_control *r = rsvp_shown(c->n);

	if (r)
		object(arg, "", &r->stats, 0);
}

static void each_machine(const struct metric_context *c, metric_object object, void *arg)
{
	const struct rsvp_control *r = rsvp_shown(c->n);

	if (r)
		object(arg, "", rsvp_node_stats_of(r->machines), 0);
}

static void each_neighbor(const struct metric_context *c, metric_object object, void *arg)
{
	const struct rsvp_control *r = rsvp_shown(c->n);
	char labels[METRIC_LABELS], text[IP_ADDR_TEXT];

	for (uint32_t i = 0; r && i < __atomic_load_n(&r->neighbors, __ATOMIC_ACQUIRE); i++) {
		snprintf(labels, sizeof(labels), "neighbor=\"%s\"", ip_addr_format(&r->neighbor[i].addr, text));
		object(arg, labels, &r->neighbor[i], 0);
	}
}

const struct metric_source metric_rsvp[] = {
	{&stat_rsvp, each_node},
	{&stat_rsvp_refused, each_node},
	{&stat_rsvp_session, each_machine},
	{&stat_rsvp_neighbor, each_neighbor},
	{0},
};
