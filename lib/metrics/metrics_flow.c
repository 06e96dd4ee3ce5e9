/* SPDX-License-Identifier: BSD-3-Clause */
/* Locates the counters of flow tables. Management thread; rx lcores write them. */
#include "metrics/metrics_priv.h"
#include "service/steer/service_steer.h"

static void each_node(const struct metric_context *c, metric_object object, void *arg)
{
	struct flow_counters sum = steer_counters(c->n);

	object(arg, "", &sum, 0);
}

static void each_roce(const struct metric_context *c, metric_object object, void *arg)
{
	struct roce_counters sum = roce_counters(c->n);

	object(arg, "", &sum, 0);
}

static void each_path(const struct metric_context *c, metric_object object, void *arg)
{
	const struct snapshot *s = c->n->snapshot;
	char labels[METRIC_LABELS];
	struct feedback_shown f;
	uint32_t left = METRIC_WAYS;

	for (uint32_t i = 0; i < s->n_policies; i++) {
		const struct snap_policy *p = &s->policy[i];

		for (uint32_t k = 0; p->feedback && k < p->n_paths && left; k++) {
			if (!feedback_show(c->n, p->path[k], &f))
				continue;
			snprintf(labels, sizeof(labels), "policy=\"%s\",path=\"%s\"", p->name,
				s->path[p->path[k]].name);
			object(arg, labels, &f, 0);
			left--;
		}
	}
}

const struct metric_source metric_flows[] = {
	{&stat_flow, each_node},
	{&stat_roce, each_roce},
	{&stat_feedback, each_path},
	{0},
};
