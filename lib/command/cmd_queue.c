/* SPDX-License-Identifier: BSD-3-Clause */
/* show queues, rings, punts. Management thread. */
#include "command/command_priv.h"
#include "command/json_row.h"
#include "node/node_ctl.h"

static const char *slice_name(const struct node *n, uint32_t id)
{
	const char *name = n->snapshot->slice[id].name;

	return !name ? "(removed)" : *name ? name : "(none)";
}

static void add_control(json_t *list, const struct node *n, uint32_t port)
{
	const struct egress *e = &n->egress[port];
	uint32_t packets = __atomic_load_n(&e->control.n, __ATOMIC_RELAXED);
	json_t *o = json_pack("{ss sn ss si si ss}", "port", n->port[port]->name, "slice", "class", "control",
		"packets", (int)packets, "limit", (int)n->snapshot->port[port].control_limit, "gate", "none");

	json_row_null(o, &stat_queue);
	json_array_append_new(list, o);
}

/* Why a queue does not send; the queue may contain packets all the same. */
static const char *gate_of(const struct egress_slice *s, unsigned int class)
{
	if (__atomic_load_n(&s->closed[EGRESS_PAUSE], __ATOMIC_RELAXED) >> class & 1)
		return "closed";
	if (__atomic_load_n(&s->closed[EGRESS_LINK], __ATOMIC_RELAXED) >> class & 1)
		return "link";
	return __atomic_load_n(&s->closed[EGRESS_RATE], __ATOMIC_RELAXED) ? "max-rate" : "open";
}

static void add_queue(json_t *list, const struct node *n, uint32_t port, uint32_t slice, unsigned int class)
{
	const struct egress_queue *q = &n->egress[port].slice[slice].queue[class];
	char name[4];
	json_t *o;

	/* of 8 classes in 64 slices, most are never used */
	if (!stat_read(&q->entered) && !stat_read(&q->dropped) && !stat_read(&q->pauses))
		return;
	snprintf(name, sizeof(name), "%u", class);
	o = json_pack("{ss ss ss si si ss}", "port", n->port[port]->name, "slice", slice_name(n, slice), "class", name,
		"packets", (int)__atomic_load_n(&q->packets.n, __ATOMIC_RELAXED), "limit",
		(int)n->snapshot->port[port].queue_limit, "gate", gate_of(&n->egress[port].slice[slice], class));
	json_row(o, &stat_queue, q, 0);
	json_array_append_new(list, o);
}

static void add_port(json_t *list, const struct node *n, uint32_t port)
{
	json_t *o = json_pack("{ss sI}", "port", n->port[port]->name, "lossy_limit",
		(json_int_t)n->snapshot->port[port].buffer_limit);

	json_row(o, &stat_egress, &n->egress[port], 0);
	json_array_append_new(list, o);
}

int cmd_show_queues(struct command_call *c)
{
	const struct node *n = c->node;
	json_t *queues = json_array(), *ports = json_array();

	for (uint32_t i = 0; i < n->n_ports; i++) {
		if (c->arg[0] && c->number[0] != i)
			continue;
		add_port(ports, n, i);
		add_control(queues, n, i);
		for (uint32_t slice = 0; slice < n->snapshot->n_slices; slice++)
			for (unsigned int class = 0; class < PKT_CLASSES; ++class)
				add_queue(queues, n, i, slice, class);
	}
	c->result = json_pack("{so so}", "ports", ports, "queues", queues);
	return 0;
}

/* "pfc packets" as a word: "pfc-packets". */
static json_t *carried(const char *words)
{
	char id[48];

	snprintf(id, sizeof(id), "%s", words);
	for (char *at = id; *at; at++)
		if (*at == ' ')
			*at = '-';
	return json_string(id);
}

int cmd_show_rings(struct command_call *c)
{
	char name[48];
	json_t *o;

	c->result = json_array();
	for (const struct mailbox *b = c->node->mailboxes.first; b; b = b->next) {
		snprintf(name, sizeof(name), "%s %u -> %s %u", mailbox_role_name(b->from.role), b->from.lcore->id,
			mailbox_role_name(b->to.role), b->to.lcore->id);
		o = json_object();
		command_set_worded(o, "ring",
			json_pack("{ss si ss si}", "from", mailbox_role_name(b->from.role), "from_lcore",
				(int)b->from.lcore->id, "to", mailbox_role_name(b->to.role), "to_lcore",
				(int)b->to.lcore->id),
			name);
		command_set_worded(o, "carries", carried(b->carries), b->carries);
		json_object_update_new(o,
			json_pack("{si si sI sI sI}", "size", (int)rte_ring_get_capacity(b->ring), "used",
				(int)mailbox_used(b), "pushed", (json_int_t)stat_read(&b->pushed), "refused",
				(json_int_t)stat_read(&b->refused), "popped", (json_int_t)stat_read(&b->popped)));
		json_array_append_new(c->result, o);
	}
	return 0;
}

int cmd_show_punts(struct command_call *c)
{
	c->result = json_array();
	for (uint32_t i = 0; i < c->node->n_ports; i++) {
		for (unsigned int k = 0; k < PUNT_KIND_COUNT; k++) {
			struct punt_stats sum = node_punt_shown(c->node, i, (enum punt_kind)k);
			const struct punt_limit *l = &c->node->snapshot->punt[k];
			json_t *o;

			if (c->arg[0] && c->number[0] != i)
				continue;
			o = json_pack("{ss ss so}", "port", c->node->port[i]->name, "kind",
				punt_kind_name((enum punt_kind)k), "rate",
				l->rate ? json_integer((json_int_t)l->rate) : json_null());
			json_row(o, &stat_punt, &sum, 0);
			json_array_append_new(c->result, o);
		}
	}
	return 0;
}
