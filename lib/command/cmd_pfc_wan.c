/* SPDX-License-Identifier: BSD-3-Clause */
/* show pfc tunnels, show pfc history. Management thread. */
#include "command/command_priv.h"
#include "command/json_row.h"
#include "service/pfc/pfc_cp.h"
#include "node/node_ctl.h"
#include "service/pfc/pfc_ctl.h"

static json_t *mask_of(uint8_t mask)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (mask >> i & 1)
			json_array_append_new(list, json_integer(i));
	return list;
}

static json_t *list_of(const struct pfc_list *list)
{
	json_t *out = json_array();
	char text[IP_ADDR_TEXT];

	for (unsigned int i = 0; i < MIN_OF(list->n, PFC_LIST_MAX); i++)
		json_array_append_new(out, json_string(ipv6_addr_format(&list->sid[i], text)));
	return out;
}

static const char *slice_of(const struct node *n, uint8_t id)
{
	const char *slice = id < n->snapshot->n_slices ? n->snapshot->slice[id].name : NULL;

	return !slice ? "(removed)" : *slice ? slice : "(none)";
}

static uint64_t ms_since(const struct node *n, uint64_t then)
{
	uint64_t now = stat_read(&n->control->now);

	return now > then ? (now - then) / NSEC_PER_MSEC : 0;
}

static void add_tunnel(json_t *out, const struct node *n, uint32_t id)
{
	static const char *const origins[] = {"", "configured", "learnt"};
	const struct pfc_tunnel *t = &service_pfc(n)->control->tunnels.tunnel[id];
	const struct control_party *p;
	char source[IP_ADDR_TEXT];
	uint8_t port;
	json_t *o;

	if (t->origin == PFC_TUNNEL_FREE)
		return;
	port = service_pfc(n)->control->tunnel[id].port;
	p = &service_pfc(n)->control->party[port][service_pfc(n)->control->tunnel[id].party];
	o = json_pack("{ss ss ss ss ss sI so so so}", "tunnel", t->name, "origin", origins[t->origin], "port",
		n->port[port]->name, "slice", slice_of(n, t->slice), "source",
		p->has_source ? ipv6_addr_format(&p->source, source) : "", "seen_ms",
		(json_int_t)(t->origin == PFC_TUNNEL_LEARNT ? ms_since(n, t->used) : 0), "priorities",
		mask_of(t->priorities), "stopped", mask_of(t->stopped), "segments", list_of(&t->list));
	json_row(o, &stat_tunnel, t, 0);
	json_array_append_new(out, o);
}

static void add_relay(json_t *out, const struct node *n, uint32_t i)
{
	static const char *const modes[] = {CFG_RELAY_MODES(CFG_TEXT)};
	const struct snap_relay *r = &n->snapshot->relay[i];
	const struct pfc_relay_port *p = &service_pfc(n)->control->relay[r->port];
	json_t *o = json_pack("{ss ss ss ss so}", "relay", r->name, "port", n->port[r->port]->name, "mode",
		modes[r->mode], "carrier", r->udp_port ? "state" : "frames", "stopped", mask_of(p->stopped));

	json_row(o, &stat_relay, p, 0);
	json_row(o, &stat_thinner, &service_pfc(n)->control->thinner[r->port], 0);
	json_row(o, &stat_carrier, &service_pfc(n)->control->carrier[r->port], 0);
	json_array_append_new(out, o);
}

/* Data from which no tunnel could be learnt, with the reason. */
static json_t *refused_of(const struct node *n)
{
	const struct pfc_tunnels *t = &service_pfc(n)->control->tunnels;
	json_t *list = json_array();
	char source[IP_ADDR_TEXT];

	for (unsigned int i = 0; i < PFC_REFUSED_MAX; i++) {
		const struct pfc_refused *r = &t->recent[i];

		if (r->reason && r->port < n->n_ports)
			json_array_append_new(list,
				json_pack("{ss ss ss sI sI ss ss}", "source", ipv6_addr_format(&r->source, source),
					"port", n->port[r->port]->name, "slice", slice_of(n, r->slice), "seen_ms",
					(json_int_t)ms_since(n, r->last), "times", (json_int_t)stat_read(&r->count),
					"reason", pfc_refusal_name((enum pfc_refusal)r->reason), "means",
					pfc_refusal_help((enum pfc_refusal)r->reason)));
	}
	return list;
}

static json_t *learning_of(const struct node *n)
{
	const struct pfc_tunnels *t = &service_pfc(n)->control->tunnels;
	json_t *o = json_object();
	uint64_t refused = 0;

	for (unsigned int i = 0; i < PFC_REFUSAL_COUNT; i++)
		refused += stat_read(&t->refused[i]);
	json_row(o, &stat_learning, t, 0);
	json_object_set_new(o, "refused", json_integer((json_int_t)refused));
	json_object_set_new(o, "at_most", json_integer((json_int_t)n->snapshot->pfc_learning.max));
	for (uint16_t i = 0; i < n->n_rx; i++)
		json_row_add(o, &stat_learner, service_pfc(n)->rx[i].learner);
	return o;
}

int cmd_show_pfc_tunnels(struct command_call *c)
{
	const struct node *n = c->node;
	json_t *tunnels = json_array(), *relays = json_array();
	uint32_t bound = __atomic_load_n(&service_pfc(n)->control->tunnels.bound, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < bound; i++)
		add_tunnel(tunnels, n, i);
	for (uint32_t i = 0; i < n->snapshot->n_relays; i++)
		add_relay(relays, n, i);
	c->result = json_pack("{so so so so}", "tunnels", tunnels, "learning", learning_of(n), "refused", refused_of(n),
		"relays", relays);
	return 0;
}

/* Pauses of one queue in one direction. */
static void add_pauses(void *out, const struct node_pauses *p)
{
	const struct pfc_history *h = &p->history;
	json_t *lengths = json_object(), *o;

	for (unsigned int i = 0; i < PFC_HISTOGRAM; i++) {
		char key[32];

		if (!h->length[i])
			continue;
		snprintf(key, sizeof(key), "%s%u us", i == 0 ? "<" : ">=", i == 0 ? 2 : 1u << i);
		json_object_set_new(lengths, key, json_integer((json_int_t)h->length[i]));
	}
	o = json_pack("{ss ss si}", "direction", p->direction, "name", p->name, "priority", (int)p->priority);
	json_row(o, &stat_pauses, p, 0);
	json_object_set_new(o, "lengths", lengths);
	json_array_append_new(out, o);
}

int cmd_show_pfc_history(struct command_call *c)
{
	c->result = json_array();
	node_pauses_shown(c->node, __atomic_load_n(&c->node->control->now, __ATOMIC_RELAXED), add_pauses, c->result);
	return 0;
}
