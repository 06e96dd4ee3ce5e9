/* SPDX-License-Identifier: BSD-3-Clause */
/* What is shown of the flow tables of all rx roles. Any thread that may read the node. */
#include "node/service.h"
#include "service/steer/service_steer.h"

uint64_t steer_flows_on(const struct node *n, uint32_t path)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n->n_rx && path < FLOW_PATHS; i++)
		if (node_steer(n)->rx[i].table)
			sum += __atomic_load_n(&node_steer(n)->rx[i].table->on_path[path], __ATOMIC_RELAXED);
	return sum;
}

struct flow_counters steer_counters(const struct node *n)
{
	struct flow_counters sum = {0};

	for (uint16_t i = 0; i < n->n_rx; i++) {
		const struct flow_table *t = node_steer(n)->rx[i].table;

		for (size_t k = 0; t && k < sizeof(sum) / sizeof(uint64_t); k++)
			((uint64_t *)&sum)[k] += stat_read((const uint64_t *)&t->count + k);
	}
	return sum;
}

void steer_each_flow(const struct node *n,
	bool (*fn)(void *arg, uint16_t rx, const struct flow_seen *f, unsigned int with), void *arg)
{
	struct flow_seen f;

	for (uint16_t i = 0; i < n->n_rx; i++) {
		const struct flow_table *t = node_steer(n)->rx[i].table;

		for (uint32_t k = 0; t && k < flow_table_places(t); k++)
			if (flow_table_read(t, k, &f) && !fn(arg, i, &f, node_steer(n)->with))
				return;
	}
}
