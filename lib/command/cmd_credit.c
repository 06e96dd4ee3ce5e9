/* SPDX-License-Identifier: BSD-3-Clause */
/* show credit, show credit pools. Management thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/command_priv.h"
#include "command/json_row.h"
#include "service/rsvp/credit_shown.h"

static json_t *address(const struct ip_addr *a)
{
	char text[IP_ADDR_TEXT];

	return json_string(a->family ? ip_addr_format(a, text) : "");
}

static const struct rsvp_sender *sender_of(const struct credit_session_shown *x)
{
	return x->sends ? &x->use.sender : &x->grant.sender;
}

/* A session that begins here by its name, each by its flow label. */
static bool is_named(const struct credit_session_shown *x, const char *name)
{
	char label[16];

	snprintf(label, sizeof(label), "0x%05x", sender_of(x)->port);
	return (x->sends && *name && strcmp(x->use.session, name) == 0) || strcasecmp(label, name) == 0;
}

static json_t *names_of(const struct credit_session_shown *x)
{
	json_t *o = json_pack("{ss so so}", "session", x->use.session, "source", address(&sender_of(x)->src), "label",
		json_sprintf("0x%05x", sender_of(x)->port));

	json_object_set_new(o, "state", json_string(x->sends ? credit_why_name((enum credit_why)x->use.why) : ""));
	return o;
}

/* A line of the list. */
static json_t *brief(const struct credit_session_shown *x)
{
	const struct credit_sent *s = &x->use.sent;
	const struct credit_given *g = &x->grant.given;
	json_t *o = names_of(x);

	json_object_set_new(o, "granted", json_integer((json_int_t)s->granted));
	json_object_set_new(o, "used", json_integer((json_int_t)s->used));
	json_object_set_new(o, "in_flight", json_integer((json_int_t)s->in_flight));
	json_object_set_new(o, "pending", json_integer((json_int_t)s->pending));
	json_object_set_new(o, "queued", json_integer((json_int_t)s->queued));
	json_object_set_new(o, "leaked", json_integer((json_int_t)s->leaked));
	json_object_set_new(o, "stalled_ms", json_integer((json_int_t)(s->stalled_ns / NSEC_PER_MSEC)));
	json_object_set_new(o, "given", json_integer((json_int_t)g->given));
	json_object_set_new(o, "buffered", json_integer((json_int_t)g->buffered));
	json_object_set_new(o, "healed", json_integer((json_int_t)g->healed));
	json_object_set_new(o, "doubled", json_integer((json_int_t)g->doubled));
	return o;
}

static json_t *in_full(const struct node *n, const struct credit_session_shown *x)
{
	const struct credit_use_row *u = &x->use;
	json_t *o = names_of(x);

	json_object_set_new(o, "class", json_integer(x->sends ? u->traffic_class : x->grant.traffic_class));
	json_object_set_new(o, "next_hop", address(&u->next_hop));
	json_object_set_new(o, "port", json_string(x->sends && u->port < n->n_ports ? n->port[u->port]->name : ""));
	json_object_set_new(o, "previous_hop", address(&x->grant.previous_hop));
	if (x->sends) {
		json_row(o, &stat_credit_sent, &u->sent, 0);
		json_object_set_new(o, "loop_p50_us", json_integer((json_int_t)(u->loop_ns[0] / NSEC_PER_USEC)));
		json_object_set_new(o, "loop_p999_us", json_integer((json_int_t)(u->loop_ns[1] / NSEC_PER_USEC)));
	}
	if (x->gives)
		json_row(o, &stat_credit_given, &x->grant.given, 0);
	return o;
}

int cmd_show_credit(struct command_call *c)
{
	uint32_t n;
	struct credit_session_shown *all = credit_sessions_shown(c->node, &n);

	c->result = json_array();
	for (uint32_t i = 0; i < n; i++) {
		if (c->arg[0] && !is_named(&all[i], c->arg[0]))
			continue;
		json_array_append_new(c->result, c->arg[0] ? in_full(c->node, &all[i]) : brief(&all[i]));
	}
	free(all);
	if (c->arg[0] && !json_array_size(c->result))
		return command_fail(c, -ENOENT, "no session with credit here has the name or label '%.40s'", c->arg[0]);
	return 0;
}

int cmd_show_credit_pools(struct command_call *c)
{
	const struct rsvp_control *r = rsvp_shown(c->node);
	const struct snap_credit *s = &c->node->snapshot->credit;
	struct credit_given given = {0};
	struct credit_sent sent;
	uint64_t committed, promised, units;

	c->result = json_array();
	if (!r || !s->on)
		return 0;
	units = s->config.pool;
	committed = stat_read(&rsvp_node_stats_of(r->machines)->committed);
	promised = stat_read(&rsvp_node_stats_of(r->machines)->promised);
	credit_sums_shown(c->node, &sent, &given);
	json_array_append_new(c->result,
		json_pack("{ss sI sI sI sI sI sI}", "pool", "node", "unit_bytes", (json_int_t)1 << s->config.unit,
			"units", (json_int_t)units, "committed", (json_int_t)committed, "offered",
			(json_int_t)(promised > committed ? promised - committed : 0), "free",
			(json_int_t)(units > committed ? units - committed : 0), "buffered",
			(json_int_t)given.buffered));
	return 0;
}
