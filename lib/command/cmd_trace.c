/* SPDX-License-Identifier: BSD-3-Clause */
/* trace add, show trace, clear trace. Management thread. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "command/command_priv.h"
#include "command/describe.h"
#include "node/node_ctl.h"
#include "wire/ipv4.h"

int cmd_clear_trace(struct command_call *c)
{
	node_trace_clear(c->node);
	return 0;
}

/* Collects the steps of a packet. */
struct walk {
	struct command_call *c;
	json_t *steps; /* steps of the current packet */
	uint16_t id;
	uint64_t first_ns, last_ns;
};

/* words: of the step, if they are not its id */
static void add_worded_step(struct walk *w, const struct trace_event *e, const char *id, const char *words,
	json_t *more)
{
	json_t *step;

	/*
	 * In the lab a step has the time of its pass: a pass of another lcore may have begun before that lcore received the packet.
	 */
	w->last_ns = MAX_OF(w->last_ns, e->time_ns);
	step = json_pack("{sI}", "ns", (json_int_t)(w->last_ns - w->first_ns));
	command_set_worded(step, "step", json_string(id), words);

	if (more)
		json_object_update(step, more);
	json_decref(more);
	json_array_append_new(w->steps, step);
}

static void add_step(struct walk *w, const struct trace_event *e, const char *id, json_t *more)
{
	add_worded_step(w, e, id, id, more);
}

static void say(char *words, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
static void say(char *words, size_t size, const char *format, ...)
{
	size_t n = strlen(words);
	va_list args;

	n += (size_t)snprintf(words + n, size - n, "%s", n ? ", " : "");
	va_start(args, format);
	if (n < size)
		vsnprintf(words + n, size - n, format, args);
	va_end(args);
}

static json_t *frame_text(const struct trace_event *e)
{
	char hex[2 * TRACE_BYTES + 1];

	for (uint32_t i = 0; i < e->captured; i++)
		snprintf(hex + 2 * i, 3, "%02x", e->bytes[i]);
	hex[2 * e->captured] = '\0';
	return json_string(hex);
}

/* What is changed in a packet at its egress, as members of an object and in words. */
static void set_changes(json_t *step, const struct pkt *x)
{
	json_t *o = json_object();
	char words[256] = "", text[IP_ADDR_TEXT];

	if (x->strip > sizeof(struct eth_hdr)) {
		json_object_set_new(o, "strip_bytes", json_integer((json_int_t)(x->strip - sizeof(struct eth_hdr))));
		say(words, sizeof(words), "strip %u bytes", (unsigned int)(x->strip - sizeof(struct eth_hdr)));
	}
	if (x->hops) {
		json_object_set_new(o, "hop_limit_less", json_integer(x->hops));
		say(words, sizeof(words), "hop limit - %u", x->hops);
	}
	if (x->ops & PKT_OP_DA) {
		json_object_set_new(o, "destination", json_string(ipv6_addr_format(&x->da, text)));
		say(words, sizeof(words), "destination %s", text);
	}
	if (x->ops & PKT_OP_SL) {
		json_object_set_new(o, "segments_left", json_integer(x->segments_left));
		say(words, sizeof(words), "segments left %u", x->segments_left);
	}
	if (x->ops & PKT_OP_SPENT) {
		json_object_set_new(o, "srh_before", json_string(x->ops & PKT_OP_POP_SPENT ? "unlink" : "used-up"));
		say(words, sizeof(words), "%s",
			x->ops & PKT_OP_POP_SPENT ? "unlink the SRH before" : "segments left 0 in the SRH before");
	}
	if (x->ops & PKT_OP_POP_SRH) {
		json_object_set_new(o, "unlink_srh", json_true());
		say(words, sizeof(words), "unlink the SRH");
	}
	if (x->ops & PKT_OP_TOS) {
		json_object_set_new(o, "dscp", json_integer(x->tos >> 2));
		json_object_set_new(o, "ecn", json_integer(x->tos & 3));
		say(words, sizeof(words), "DSCP %u, ECN %u", x->tos >> 2, x->tos & 3u);
	}
	command_set_worded(step, "changes", o, words);
}

/* The address of the last lookup: the destination after the SIDs were executed. False if too few bytes were kept. */
static bool looked_up(const struct trace_event *received, const struct pkt *x, struct ip_addr *out)
{
	size_t at = x->strip + (x->family == 4 ? offsetof(struct ipv4_hdr, dst) : offsetof(struct ipv6_hdr, dst));

	*out = (struct ip_addr){.family = x->family};
	if (x->ops & PKT_OP_DA)
		out->v6 = x->da;
	else if (at + ip_addr_bits(out) / 8 <= received->captured)
		memcpy(out->b, received->bytes + at, ip_addr_bits(out) / 8);
	else
		return false;
	return x->family == 4 || x->family == 6;
}

static const char *on_link(const struct snapshot *s, const struct pkt *x, char *text)
{
	uint32_t interface = x->neigh - PKT_NEIGH_LINK;

	if (!snap_is_vlan(interface))
		return "on-link";
	snprintf(text, DESCRIBE_TEXT, "%s on-link", describe_interface(s, interface));
	return text;
}

/* The way that a packet takes, by the snapshot that chose it. */
static void add_way(json_t *o, const struct node *n, const struct snapshot *s, const struct pkt *x)
{
	char text[DESCRIBE_TEXT];

	if (x->ops & PKT_OP_ENCAP && x->path < s->n_paths && s->path[x->path].name)
		json_object_set_new(o, "path", json_sprintf("%s/%s", s->path[x->path].policy, s->path[x->path].name));
	json_object_set_new(o, "port", json_string(n->port[x->egress]->name));
	if (x->neigh >= PKT_NEIGH_LINK)
		command_set_worded(o, "next_hop",
			json_pack("{ss ss}", "kind", "link", "port", describe_interface(s, x->neigh - PKT_NEIGH_LINK)),
			on_link(s, x, text));
	else
		command_set_worded(o, "next_hop", describe_neigh_json(s, x->neigh), describe_neigh(s, x->neigh, text));
}

static json_t *placed(const struct node *n, const struct snapshot *s, const struct pkt *x)
{
	json_t *o = json_object();

	add_way(o, n, s, x);
	return o;
}

/* What became of a packet, by the snapshot that resolved it. */
static json_t *resolved(const struct trace_event *received, const struct node *n, const struct snapshot *s,
	const struct pkt *x)
{
	static const char *const verdicts[] = {"forward", "punt", "drop", "forward-with-credit"};
	char text[DESCRIBE_TEXT];
	struct ip_addr to;
	json_t *o = json_pack("{ss ss}", "verdict", verdicts[x->verdict], "vrf", describe_vrf(s, x->vrf));

	if (x->verdict == PKT_DROP || (x->verdict == PKT_PUNT && x->punt == PUNT_ERROR))
		json_object_set_new(o, "reason", json_string(reason_name((enum reason)x->reason)));
	if (x->verdict == PKT_PUNT)
		json_object_set_new(o, "kind", json_string(punt_kind_name(punt_kind_of(x->punt))));
	if (x->verdict != PKT_FORWARD)
		return o;
	if (x->sid < s->n_sids && s->sid[x->sid].used)
		json_object_set_new(o, "sid", json_string(ip_prefix_format(&s->sid[x->sid].prefix, text)));
	/* an adjacency SID has a next hop of its own */
	if (!(x->sid < s->n_sids && s->sid[x->sid].used && s->sid[x->sid].adjacency) && looked_up(received, x, &to))
		json_object_set_new(o, "route", json_string(describe_route(s, x->vrf, &to, text)));
	add_way(o, n, s, x);
	json_object_set_new(o, "class", json_integer(x->tclass));
	set_changes(o, x);
	return o;
}

static void *tell(const struct node *n, const struct snapshot *s, const struct trace_event *received,
	const struct trace_event *e)
{
	struct pkt x;

	memcpy(&x, e->bytes, sizeof(x));
	return e->kind == TRACE_PLACED ? placed(n, s, &x) : resolved(received, n, s, &x);
}

static void forget(void *told)
{
	json_decref(told);
}

int cmd_trace_add(struct command_call *c)
{
	struct node_trace trace = {.count = (uint32_t)c->number[0],
		.filter = c->arg[1],
		.tell = tell,
		.forget = forget};

	return node_trace_start(c->node, &trace, c->error, sizeof(c->error));
}

static void take(void *arg, const struct trace_event *e, void *told)
{
	struct walk *w = arg;
	const struct node *n = w->c->node;
	const char *port = e->port < n->n_ports ? n->port[e->port]->name : "(local)";
	struct trace_stamp stamp;

	if (e->id != w->id) {
		w->id = e->id;
		w->first_ns = w->last_ns = e->time_ns;
		w->steps = json_array();
		json_array_append_new(w->c->result, json_pack("{si so}", "packet", (int)e->id, "steps", w->steps));
	}
	switch ((enum trace_kind)e->kind) {
	case TRACE_RECEIVED:
		add_step(w, e, "received",
			json_pack("{ss si so}", "port", port, "bytes", (int)e->length, "frame", frame_text(e)));
		break;
	case TRACE_RESOLVED:
		add_step(w, e, "resolved", json_incref(told));
		break;
	case TRACE_STAMPED:
		memcpy(&stamp, e->bytes, sizeof(stamp));
		add_worded_step(w, e, "stamped", "stamped by the device",
			json_pack("{ss sI}", "port", port, "device_time", (json_int_t)stamp.time));
		break;
	case TRACE_PLACED:
		add_step(w, e, "placed", json_incref(told));
		break;
	case TRACE_SERVED:
		add_step(w, e, "served", json_pack("{ss%}", "what", (const char *)e->bytes, (size_t)e->captured));
		break;
	case TRACE_QUEUED:
		add_step(w, e, "queued", json_pack("{ss si}", "port", port, "before_it", (int)e->value));
		break;
	case TRACE_CREDIT:
		add_worded_step(w, e, "waits-for-credit", "waits for credit",
			json_pack("{ss si}", "port", port, "before_it", (int)e->value));
		break;
	case TRACE_WAITS:
		add_worded_step(w, e, "waits-for-neighbor", "waits for its neighbour",
			json_pack("{ss si}", "port", port, "before_it", (int)e->value));
		break;
	case TRACE_SENT:
		add_step(w, e, "sent",
			json_pack("{ss si so}", "port", port, "bytes", (int)e->length, "frame", frame_text(e)));
		break;
	case TRACE_ENDED:
		add_step(w, e, reason_is_drop((enum reason)e->value) ? "dropped" : "consumed",
			json_pack("{ss}", "reason", reason_name((enum reason)e->value)));
		break;
	}
}

int cmd_show_trace(struct command_call *c)
{
	struct walk w = {.c = c};

	c->result = json_array();
	node_trace_each(c->node, take, &w);
	return 0;
}
