/* SPDX-License-Identifier: BSD-3-Clause */
/* Locates the counters of flow tables. Management thread; rx lcores write them. */
#include "metrics/metrics_priv.h"
#include "service/steer/service_steer.h"

static void each_node(const struct metric_context *c, metric_object object, void *arg)
{
	struct flow_counters sum = steer_counters(c->n);

	object(arg, "", &sum, 0);
}

const struct metric_source metric_flows[] = {
	{&stat_flow, each_node},
	{0},
};
