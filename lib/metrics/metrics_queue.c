/* SPDX-License-Identifier: BSD-3-Clause */
/* Locates the counters of egresses, queues and buffers. Management thread; the owners of ports write them. */
#include <stdio.h>

#include "metrics/metrics_priv.h"
#include "service/pfc/pfc_ctl.h"

static void each_egress(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < c->n->n_ports; i++) {
		snprintf(labels, sizeof(labels), "port=\"%s\"", c->n->port[i]->name);
		object(arg, labels, &c->n->egress[i], 0);
	}
}

/* Of 8 classes in 64 slices, most are never used. */
static bool was_used(const struct egress_queue *q)
{
	return stat_read(&q->entered) || stat_read(&q->dropped) || stat_read(&q->pauses);
}

static void each_queue_of(const struct metric_context *c, uint32_t port, uint32_t slice, metric_object object,
	void *arg)
{
	const char *name = c->n->snapshot->slice[slice].name;
	char labels[METRIC_LABELS];

	for (unsigned int class = 0; class < PFC_PRIORITIES; ++class) {
		const struct egress_queue *q = &c->n->egress[port].slice[slice].queue[class];

		if (!was_used(q))
			continue;
		snprintf(labels, sizeof(labels), "port=\"%s\",slice=\"%s\",class=\"%u\"", c->n->port[port]->name,
			name ? name : "(removed)", class);
		object(arg, labels, q, 0);
	}
}

static void each_queue(const struct metric_context *c, metric_object object, void *arg)
{
	for (uint32_t i = 0; i < c->n->n_ports; i++)
		for (uint32_t slice = 0; slice < c->n->snapshot->n_slices; slice++)
			each_queue_of(c, i, slice, object, arg);
}

static void each_buffer(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < c->n->n_ports; i++) {
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++) {
			if (!(c->n->snapshot->port[i].lossless >> k & 1))
				continue;
			snprintf(labels, sizeof(labels), "port=\"%s\",class=\"%u\"", c->n->port[i]->name, k);
			object(arg, labels, &service_pfc(c->n)->port[i].buffer[k], 0);
		}
	}
}

const struct metric_source metric_queues[] = {
	{&stat_egress, each_egress},
	{&stat_queue, each_queue},
	{&stat_buffer, each_buffer},
	{NULL, NULL},
};
