/* SPDX-License-Identifier: BSD-3-Clause */
/* show rsvp sessions, paths, neighbors, counters; session start, stop. Management thread. */
#include <errno.h>

#include "command/command_priv.h"
#include "command/json_row.h"
#include "service/rsvp/service_rsvp.h"

static const char *const roles[] = {[RSVP_HEADEND] = "headend", [RSVP_TRANSIT] = "transit", [RSVP_FAR] = "far gateway"};

static json_t *address(const struct ip_addr *a)
{
	char text[IP_ADDR_TEXT];

	return json_string(a->family ? ip_addr_format(a, text) : "");
}

static uint64_t ms_since(const struct node *n, uint64_t then)
{
	uint64_t now = stat_read(&n->control->now);

	return now > then ? (now - then) / NSEC_PER_MSEC : 0;
}

/* The machine that says more: the user's where the session begins or passes, the grantor's where it ends. */
static const char *state_of(const struct rsvp_path_view *v)
{
	return v->role == RSVP_FAR ? rsvp_grantor_state_name(v->grantor) : rsvp_user_state_name(v->user);
}

/* --- sessions --- */

static json_t *of_configured(const struct snap_rsvp_session *s)
{
	return json_pack("{ss ss so si ss ss so si sI sI si}", "session", s->name, "state", "stopped", "to",
		address(&s->to), "class", (int)s->traffic_class, "path", "", "port", "", "next_hop", json_string(""),
		"units", 0, "epoch", (json_int_t)0, "since_ms", (json_int_t)0, "candidates", 0);
}

/* How much a state says about the session: the path that carries data, then the best of the others. */
static int weight(const char *state)
{
	static const char *const order[] = {"refused", "ending", "waiting", "offered", "down", "resync", "committed"};

	for (unsigned int i = 0; i < ARRAY_LEN(order); i++)
		if (strcmp(state, order[i]) == 0)
			return (int)i + 1;
	return 0;
}

static void add_path(const struct node *n, json_t *o, const struct rsvp_row *row)
{
	const struct rsvp_path_view *v = &row->view;
	const char *state = state_of(v);
	json_t *candidates = json_object_get(o, "candidates");

	json_integer_set(candidates, json_integer_value(candidates) + 1);
	if (weight(state) < weight(json_string_value(json_object_get(o, "state"))) && !v->current)
		return;
	json_object_set_new(o, "state", json_string(state));
	json_object_set_new(o, "path", json_string(row->path));
	json_object_set_new(o, "port", json_string(v->port < n->n_ports ? n->port[v->port]->name : ""));
	json_object_set_new(o, "next_hop", address(&v->nhop));
	json_object_set_new(o, "units", json_integer(v->user == RSVP_U_COMMITTED ? v->credit_units : 0));
	json_object_set_new(o, "epoch", json_integer(v->user == RSVP_U_COMMITTED ? v->credit_epoch : 0));
	json_object_set_new(o, "since_ms", json_integer((json_int_t)ms_since(n, row->since_ns)));
}

int cmd_show_rsvp_sessions(struct command_call *c)
{
	const struct rsvp_control *r = rsvp_shown(c->node);
	const struct snap_credit *s = &c->node->snapshot->credit;
	json_t *by_name = json_object();
	struct rsvp_row row;

	c->result = json_array();
	for (uint32_t i = 0; s->on && i < s->n_sessions; i++) {
		json_t *o = of_configured(&s->session[i]);

		json_object_set_new(by_name, s->session[i].name, o);
		if (!c->arg[0] || strcmp(c->arg[0], s->session[i].name) == 0)
			json_array_append(c->result, o);
	}
	for (uint32_t i = 0; r && i < r->rows; i++) {
		json_t *o = rsvp_row_copy(r, i, &row) && row.session[0] ? json_object_get(by_name, row.session) : NULL;

		if (o)
			add_path(c->node, o, &row);
	}
	json_decref(by_name);
	if (c->arg[0] && !json_array_size(c->result))
		return command_fail(c, -ENOENT, "there is no session '%.40s' in credit.sessions", c->arg[0]);
	return 0;
}

/* --- paths --- */

static json_t *of_path(const struct node *n, const struct rsvp_row *row)
{
	const struct rsvp_path_view *v = &row->view;
	json_t *o = json_pack("{ss ss ss so so sI si ss ss so so}", "session", row->session, "path", row->path, "role",
		roles[v->role], "to", address(&v->session.dst), "source", address(&v->sender.src), "label",
		(json_int_t)v->sender.port, "class", (int)v->traffic_class, "grantor",
		rsvp_grantor_state_name(v->grantor), "user", rsvp_user_state_name(v->user), "previous_hop",
		address(&v->phop), "next_hop", address(&v->nhop));

	json_object_set_new(o, "port",
		json_string(v->role != RSVP_FAR && v->port < n->n_ports ? n->port[v->port]->name : ""));
	json_object_set_new(o, "granted", json_integer(v->grant_units));
	json_object_set_new(o, "granted_epoch", json_integer(v->grant_epoch));
	json_object_set_new(o, "credit", json_integer(v->credit_units));
	json_object_set_new(o, "credit_epoch", json_integer(v->credit_epoch));
	json_object_set_new(o, "since_ms", json_integer((json_int_t)ms_since(n, row->since_ns)));
	json_object_set_new(o, "error",
		v->error.code ? json_sprintf("%u/0x%04x", v->error.code, v->error.value) : json_string(""));
	return o;
}

int cmd_show_rsvp_paths(struct command_call *c)
{
	const struct rsvp_control *r = rsvp_shown(c->node);
	struct rsvp_row row;

	c->result = json_array();
	for (uint32_t i = 0; r && i < r->rows; i++)
		if (rsvp_row_copy(r, i, &row))
			json_array_append_new(c->result, of_path(c->node, &row));
	return 0;
}

/* --- neighbours, counters --- */

int cmd_show_rsvp_neighbors(struct command_call *c)
{
	const struct rsvp_control *r = rsvp_shown(c->node);

	c->result = json_array();
	for (uint32_t i = 0; r && i < __atomic_load_n(&r->neighbors, __ATOMIC_ACQUIRE); i++) {
		const struct snap_interface *link = rsvp_link_of(c->node->snapshot, r->neighbor[i].zone);
		json_t *o = json_pack("{so ss}", "neighbor", address(&r->neighbor[i].addr), "port",
			link ? link->name : "");

		json_row(o, &stat_rsvp_neighbor, &r->neighbor[i], stat_read(&c->node->control->now));
		json_array_append_new(c->result, o);
	}
	return 0;
}

int cmd_show_rsvp_counters(struct command_call *c)
{
	static const struct rsvp_service_stats no_messages;
	static const struct rsvp_node_stats no_sessions;
	const struct rsvp_control *r = rsvp_shown(c->node);

	c->result = json_object();
	json_row(c->result, &stat_rsvp, r ? &r->stats : &no_messages, 0);
	json_row(c->result, &stat_rsvp_refused, r ? &r->stats : &no_messages, 0);
	json_row(c->result, &stat_rsvp_session, r ? rsvp_node_stats_of(r->machines) : &no_sessions, 0);
	return 0;
}

/* --- orders --- */

static int order(struct command_call *c, bool stop)
{
	const struct snap_credit *s = &c->node->snapshot->credit;

	for (uint32_t i = 0; s->on && i < s->n_sessions; i++) {
		if (strcmp(s->session[i].name, c->arg[0]) != 0)
			continue;
		if (rsvp_order(c->node, c->arg[0], stop) < 0)
			return command_fail(c, -EBUSY,
				"the control lcore has not carried out earlier orders yet; try again");
		c->result = json_pack("{ss ss}", "session", c->arg[0], "order", stop ? "stop" : "start");
		return 0;
	}
	return command_fail(c, -ENOENT, "there is no session '%.40s' in credit.sessions", c->arg[0]);
}

int cmd_session_start(struct command_call *c)
{
	return order(c, false);
}

int cmd_session_stop(struct command_call *c)
{
	return order(c, true);
}
