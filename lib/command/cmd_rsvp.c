/* SPDX-License-Identifier: BSD-3-Clause */
/* show rsvp sessions, paths, neighbors, counters; clear rsvp; session start, stop. Management thread. */
#include <errno.h>
#include <stdlib.h>

#include "command/command_priv.h"
#include "command/json_row.h"
#include "service/rsvp/service_rsvp.h"

static const char *const roles[] = {[RSVP_HEADEND] = "headend", [RSVP_TRANSIT] = "transit", [RSVP_FAR] = "far-gateway"};

static json_t *address(const struct ip_addr *a)
{
	char text[IP_ADDR_TEXT];

	return a->family ? json_string(ip_addr_format(a, text)) : json_null();
}

static uint64_t ms_since(const struct node *n, uint64_t then)
{
	uint64_t now = stat_read(&n->control->now);

	return now > then ? (now - then) / NSEC_PER_MSEC : 0;
}

/* --- sessions --- */

static json_t *of_session(const struct node *n, const struct rsvp_session_shown *x)
{
	const struct rsvp_control *r = rsvp_shown(n);
	struct rsvp_row row;
	bool any = r && x->row != RSVP_NO_ROW && rsvp_row_copy(r, x->row, &row);
	const struct rsvp_path_view *v = &row.view;
	json_t *o = json_pack("{ss ss so si}", "session", x->session->name, "state",
		any		     ? rsvp_user_state_name(v->user)
		: x->session->demand ? "on demand"
				     : "stopped",
		"to", address(&x->session->to), "class", (int)x->session->traffic_class);

	json_object_set_new(o, "path", any ? json_string(row.path) : json_null());
	json_object_set_new(o, "port", any && v->port < n->n_ports ? json_string(n->port[v->port]->name) : json_null());
	json_object_set_new(o, "next_hop", any ? address(&v->nhop) : json_null());
	json_object_set_new(o, "units", json_integer((json_int_t)x->units));
	json_object_set_new(o, "epoch", json_integer(any && x->up ? v->credit_epoch : 0));
	json_object_set_new(o, "since_ms", json_integer(any ? (json_int_t)ms_since(n, row.since_ns) : 0));
	json_object_set_new(o, "candidates", json_integer((json_int_t)x->candidates));
	return o;
}

int cmd_show_rsvp_sessions(struct command_call *c)
{
	uint32_t n;
	struct rsvp_session_shown *all = rsvp_sessions_shown(c->node, &n);

	c->result = json_array();
	for (uint32_t i = 0; i < n; i++)
		if (!c->arg[0] || strcmp(c->arg[0], all[i].session->name) == 0)
			json_array_append_new(c->result, of_session(c->node, &all[i]));
	free(all);
	if (c->arg[0] && !json_array_size(c->result))
		return command_fail(c, -ENOENT, "there is no session '%.40s' in credit.sessions", c->arg[0]);
	return 0;
}

/* --- paths --- */

static json_t *of_path(const struct node *n, const struct rsvp_row *row)
{
	const struct rsvp_path_view *v = &row->view;
	char error[16];
	json_t *o = json_pack("{ss ss ss so so sI si ss ss so so}", "session", row->session, "path", row->path, "role",
		roles[v->role], "to", address(&v->session.dst), "source", address(&v->sender.src), "label",
		(json_int_t)v->sender.port, "class", (int)v->traffic_class, "grantor",
		rsvp_grantor_state_name(v->grantor), "user", rsvp_user_state_name(v->user), "previous_hop",
		address(&v->phop), "next_hop", address(&v->nhop));

	json_object_set_new(o, "port",
		v->role != RSVP_FAR && v->port < n->n_ports ? json_string(n->port[v->port]->name) : json_null());
	json_object_set_new(o, "granted", json_integer(v->grant_units));
	json_object_set_new(o, "granted_epoch", json_integer(v->grant_epoch));
	json_object_set_new(o, "credit", json_integer(v->credit_units));
	json_object_set_new(o, "credit_epoch", json_integer(v->credit_epoch));
	json_object_set_new(o, "since_ms", json_integer((json_int_t)ms_since(n, row->since_ns)));
	if (v->error.code) {
		snprintf(error, sizeof(error), "%u/0x%04x", v->error.code, v->error.value);
		command_set_worded(o, "error",
			json_pack("{si si}", "code", (int)v->error.code, "value", (int)v->error.value), error);
	} else {
		json_object_set_new(o, "error", json_null());
	}
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
		struct rsvp_neighbor x = rsvp_neighbor_shown(c->node, i);
		const struct snap_interface *link = rsvp_link_of(c->node->snapshot, x.zone);
		json_t *o = json_pack("{so ss}", "neighbor", address(&x.addr), "port", link ? link->name : "");

		json_row(o, &stat_rsvp_neighbor, &x, stat_read(&c->node->control->now));
		json_array_append_new(c->result, o);
	}
	return 0;
}

int cmd_show_rsvp_counters(struct command_call *c)
{
	struct rsvp_service_stats service;
	struct rsvp_node_stats machines;
	struct letter_stats letter;

	rsvp_stats_shown(c->node, &service, &machines, &letter);
	c->result = json_object();
	json_row(c->result, &stat_rsvp, &service, 0);
	json_row(c->result, &stat_rsvp_refused, &service, 0);
	json_row(c->result, &stat_rsvp_session, &machines, 0);
	json_row(c->result, &stat_rsvp_letter, &letter, 0);
	return 0;
}

int cmd_clear_rsvp(struct command_call *c)
{
	rsvp_clear_shown(c->node);
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
