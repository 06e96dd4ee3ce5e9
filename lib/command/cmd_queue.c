/* SPDX-License-Identifier: BSD-3-Clause */
/* show queues, rings */
#include "command/command_priv.h"
#include "node/node_ctl.h"

static void add_queues(json_t *list, const struct node *n, uint32_t port)
{
	const struct egress *e = &n->egress[port];

	for (unsigned int class = 0; class < EGRESS_CLASSES; class++) {
		uint32_t packets = __atomic_load_n(&e->queue[class].n, __ATOMIC_RELAXED);
		char name[16];

		snprintf(name, sizeof(name), class == PKT_CLASS_CONTROL ? "control" : "%u", class);
		json_array_append_new(list,
			json_pack("{ss ss si si}", "port", n->port[port]->name, "class", name, "packets", (int)packets, "limit",
				(int)__atomic_load_n(&e->limit, __ATOMIC_RELAXED)));
	}
}

int cmd_show_queues(struct command_call *c)
{
	const struct node *n = c->node;
	json_t *queues = json_array(), *ports = json_array();

	for (uint32_t i = 0; i < n->n_ports; i++) {
		const struct egress *e = &n->egress[i];

		if (c->arg[0] && c->number[0] != i)
			continue;
		add_queues(queues, n, i);
		json_array_append_new(ports,
			json_pack("{ss sI sI sI sI}", "port", n->port[i]->name, "queued_now",
				(json_int_t)__atomic_load_n(&e->backlog, __ATOMIC_RELAXED), "offered_to_device",
				(json_int_t)__atomic_load_n(&e->n_tx, __ATOMIC_RELAXED), "queued_ever",
				(json_int_t)stat_read(&e->queued_packets), "queued_most",
				(json_int_t)stat_read(&e->queued_most)));
	}
	c->result = json_pack("{so so}", "ports", ports, "queues", queues);
	return 0;
}

static void add_ring(json_t *list, const char *from, unsigned int a, const char *to, unsigned int b,
	const struct node_ring *r)
{
	char name[48];

	if (!r->ring)
		return;
	snprintf(name, sizeof(name), "%s %u -> %s %u", from, a, to, b);
	json_array_append_new(list,
		json_pack("{ss si si sI sI sI}", "ring", name, "size", (int)rte_ring_get_capacity(r->ring), "used",
			(int)rte_ring_count(r->ring), "pushed", (json_int_t)stat_read(&r->pushed), "refused",
			(json_int_t)stat_read(&r->refused), "popped", (json_int_t)stat_read(&r->popped)));
}

int cmd_show_rings(struct command_call *c)
{
	const struct node *n = c->node;

	c->result = json_array();
	for (uint16_t i = 0; i < n->n_rx; i++) {
		for (uint16_t w = 0; w < n->n_workers; w++)
			add_ring(c->result, "rx", n->rx[i].lcore->id, "worker", n->worker[w].lcore->id, &n->rx[i].to_worker[w]);
		add_ring(c->result, "rx", n->rx[i].lcore->id, "control", n->control->lcore->id, &n->rx[i].to_control);
	}
	for (uint16_t w = 0; w < n->n_workers; w++)
		add_ring(c->result, "control", n->control->lcore->id, "worker", n->worker[w].lcore->id,
			&n->control->to_worker[w]);
	return 0;
}
