/* SPDX-License-Identifier: BSD-3-Clause */
/* show pfc counters, show buffers, clear watermarks. Management thread. */
#include "command/command_priv.h"
#include "command/json_row.h"
#include "config/model.h"
#include "node/node_ctl.h"
#include "service/pfc/pfc_ctl.h"

static json_t *priorities_of(uint8_t mask)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (mask >> i & 1)
			json_array_append_new(list, json_integer(i));
	return list;
}

/* How this node sends and receives PFC frames on the port: a property of the port's driver, found at the start. */
static const char *mode_of(const struct node *n, uint32_t port)
{
	static const char *const names[] = {"software", "hardware", "blind"};

	return names[n->port[port]->abilities.pfc];
}

static bool was_paused_by_sids(const struct service_pfc_port *c)
{
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (c->sid_xoff[i])
			return true;
	return false;
}

static void add_port(json_t *ports, json_t *times, const struct node *n, uint32_t i)
{
	const struct snap_interface *p = &n->snapshot->port[i];
	const struct service_pfc_port shown = service_pfc_shown(n, i), *c = &shown;
	uint64_t now = __atomic_load_n(&n->control->now, __ATOMIC_RELAXED);
	json_t *o;

	if (!p->lossless && !c->frames && !c->speaker.frames && !was_paused_by_sids(c))
		return;
	o = json_pack("{ss ss so}", "port", n->port[i]->name, "by", mode_of(n, i), "priorities",
		priorities_of(p->lossless));
	json_row(o, &stat_pfc_rx, c, now);
	json_row(o, &stat_pfc_tx, &c->speaker, now);
	json_row(o, &stat_pfc, c, now);
	json_array_append_new(ports, o);
	for (unsigned int k = 0; k < PFC_PRIORITIES; k++) {
		const struct pfc_history heard = pfc_history_at(&c->heard[k], now);
		const struct pfc_history executed = pfc_history_at(&c->sid[k], now);
		const struct pfc_history said = pfc_history_at(&c->speaker.history[k], now);

		if (!heard.transitions && !executed.transitions && !said.transitions &&
			!pfc_history_is_paused(&heard, now) && !pfc_history_is_paused(&executed, now) &&
			!pfc_history_is_paused(&said, now))
			continue;
		json_array_append_new(times,
			json_pack("{ss si sI sI sI sI sI sI sI sI sI}", "port", n->port[i]->name, "priority", (int)k,
				"rx_pauses", (json_int_t)heard.transitions, "rx_paused_us",
				(json_int_t)(pfc_history_total(&heard, now) / NSEC_PER_USEC), "rx_last_us",
				(json_int_t)(heard.last_ns / NSEC_PER_USEC), "sid_pauses",
				(json_int_t)executed.transitions, "sid_paused_us",
				(json_int_t)(pfc_history_total(&executed, now) / NSEC_PER_USEC), "sid_last_us",
				(json_int_t)(executed.last_ns / NSEC_PER_USEC), "tx_pauses",
				(json_int_t)said.transitions, "tx_paused_us",
				(json_int_t)(pfc_history_total(&said, now) / NSEC_PER_USEC), "tx_last_us",
				(json_int_t)(said.last_ns / NSEC_PER_USEC)));
	}
}

int cmd_show_pfc_counters(struct command_call *c)
{
	json_t *ports = json_array(), *times = json_array();

	for (uint32_t i = 0; i < c->node->n_ports; i++)
		if (!c->arg[0] || c->number[0] == i)
			add_port(ports, times, c->node, i);
	c->result = json_pack("{so so}", "ports", ports, "pauses", times);
	return 0;
}

static void add_buffer(json_t *list, const struct node *n, uint32_t port, unsigned int class)
{
	const struct snap_interface *p = &n->snapshot->port[port];
	const struct pfc_buffer *b = &service_pfc(n)->port[port].buffer[class];
	bool lossless = p->lossless >> class & 1;
	struct pfc_threshold level = service_pfc_level(n, port, class);
	json_t *o;

	if (!lossless && !level.buffers)
		return;
	o = json_pack("{ss si ss sI sI}", "port", n->port[port]->name, "class", (int)class, "kind",
		lossless ? "lossless" : "lossy", "bytes", (json_int_t)level.bytes, "buffers",
		(json_int_t)level.buffers);
	if (lossless) {
		json_object_update_new(o,
			json_pack("{ss sI sI sI sI}", "sender", b->stopped ? "stopped" : "free", "xoff_bytes",
				(json_int_t)p->buffer.xoff.bytes, "xon_bytes", (json_int_t)p->buffer.xon.bytes,
				"headroom_bytes", (json_int_t)(p->buffer.full.bytes - p->buffer.xoff.bytes),
				"promised_buffers", (json_int_t)p->buffer.full.buffers));
		json_row(o, &stat_buffer, b, 0);
	} else {
		json_object_update_new(o, json_pack("{sn sn sn sn sn}", "sender", "xoff_bytes", "xon_bytes",
						  "headroom_bytes", "promised_buffers"));
		json_row_null(o, &stat_buffer);
	}
	json_array_append_new(list, o);
}

int cmd_show_buffers(struct command_call *c)
{
	const struct node *n = c->node;
	json_t *classes = json_array();

	for (uint32_t i = 0; i < n->n_ports; i++)
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
			if (!c->arg[0] || c->number[0] == i)
				add_buffer(classes, n, i, k);
	c->result = json_pack("{s{sI sI sI sI} so}", "pool", "buffers", (json_int_t)node_buffers(n), "size",
		(json_int_t)(rte_pktmbuf_data_room_size(n->pool) - RTE_PKTMBUF_HEADROOM), "free",
		(json_int_t)node_buffers_free(n), "shared_lossless", (json_int_t)n->config->memory.lossless, "classes",
		classes);
	return 0;
}

int cmd_clear_watermarks(struct command_call *c)
{
	if (c->arg[0])
		__atomic_store_n(&c->node->persistent_epoch, c->node->persistent_epoch + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->node->watermark_epoch, c->node->watermark_epoch + 1, __ATOMIC_RELEASE);
	return 0;
}
