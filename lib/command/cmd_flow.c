/* SPDX-License-Identifier: BSD-3-Clause */
/* show flows, placements. Management thread. */
#include <errno.h>

#include "command/command_priv.h"
#include "command/json_row.h"
#include "config/placing.h"
#include "node/node_ctl.h"
#include "service/steer/service_steer.h"

#define SHOWN_MAX 1000

/* A list of at most SHOWN_MAX rows, of those that match. */
struct listing {
	const struct node *n;
	struct steer_filter filter;
	json_t *rows;
	uint32_t now; /* ticks */
};

static int begin(struct command_call *c, struct listing *l)
{
	l->n = c->node;
	l->now = flow_ticks(__atomic_load_n(&c->node->control->now, __ATOMIC_RELAXED));
	if (steer_filter_parse(c->arg[0] ? c->arg[0] : "", &l->filter, c->error, sizeof(c->error)) < 0)
		return -EINVAL;
	l->rows = c->result = json_array();
	return 0;
}

static const char *policy_of(const struct snapshot *s, uint32_t path)
{
	return path < s->n_paths && s->path[path].policy ? s->path[path].policy : "";
}

static const char *path_of(const struct snapshot *s, uint32_t path)
{
	return path < s->n_paths && s->path[path].name ? s->path[path].name : "";
}

static bool add_flow(void *arg, uint16_t rx, const struct flow_seen *seen, unsigned int with)
{
	const struct flow *f = &seen->flow;
	const struct flow_roce *r = &seen->roce;
	struct listing *l = arg;
	const struct snapshot *s = l->n->snapshot;
	const char *vrf = steer_vrf_name(s, f->key.vrf), *policy = policy_of(s, f->path), *path = path_of(s, f->path);
	uint64_t idle_ns = (uint64_t)(l->now - f->seen) << FLOW_TICK_SHIFT;
	char text[STEER_TEXT];
	json_t *o;

	if (!steer_filter_matches(&l->filter, &f->key, vrf, policy, path))
		return true;
	o = json_pack("{ss ss ss sb sI sI sI si}", "flow", steer_key_format(&f->key, vrf, text), "policy", policy,
		"path", path, "placed", f->bucket != FLOW_BY_HASH, "packets", (json_int_t)flow_packets(f), "bytes",
		(json_int_t)f->bytes, "idle_ms",
		(json_int_t)((int32_t)(l->now - f->seen) < 0 ? 0 : idle_ns / NSEC_PER_MSEC), "rx_lcore", (int)rx);
	if (with & FLOW_WITH_MOVES) {
		json_object_set_new(o, "moves", json_integer(seen->move.moves));
		json_object_set_new(o, "moved_ms_ago",
			json_integer((
				json_int_t)((seen->move.moves ? (uint64_t)(l->now - seen->move.moved) << FLOW_TICK_SHIFT
							      : 0) /
					    NSEC_PER_MSEC)));
	}
	if (with & FLOW_WITH_ROCE && r->next & FLOW_ROCE_SEEN) {
		json_object_set_new(o, "qp", json_integer((json_int_t)r->qp));
		json_object_set_new(o, "psn_gaps", json_integer((json_int_t)r->gaps));
		json_object_set_new(o, "psn_duplicates", json_integer((json_int_t)r->duplicates));
	}
	json_array_append_new(l->rows, o);
	return json_array_size(l->rows) < SHOWN_MAX;
}

int cmd_show_flows(struct command_call *c)
{
	struct listing l;
	int rc = begin(c, &l);

	if (rc == 0)
		steer_each_flow(c->node, add_flow, &l);
	return rc;
}

int cmd_show_flow_counters(struct command_call *c)
{
	struct flow_counters sum = steer_counters(c->node);

	c->result = json_object();
	json_row(c->result, &stat_flow, &sum, 0);
	json_object_set_new(c->result, "room", json_integer((json_int_t)(node_steer(c->node)->flows * c->node->n_rx)));
	json_object_set_new(c->result, "placements", json_integer((json_int_t)node_steer(c->node)->store.n));
	return 0;
}

/* Why a placement has no effect now; "": it has. */
static const char *idle_because(const struct node *n, const struct place_wish *w, char *err, size_t size)
{
	return cfg_may_place(n->config, &w->key, w->vrf, w->policy, w->path, err, size) < 0 ? err : "";
}

int cmd_show_placements(struct command_call *c)
{
	const struct place_store *store = &node_steer(c->node)->store;
	struct place_wish w;
	struct listing l;
	char text[STEER_TEXT], err[256];
	int rc = begin(c, &l);

	for (uint32_t i = 0; rc == 0 && i < store->rows && json_array_size(l.rows) < SHOWN_MAX; i++) {
		if (!place_store_at(store, i, &w) || !steer_filter_matches(&l.filter, &w.key, w.vrf, w.policy, w.path))
			continue;
		json_array_append_new(l.rows,
			json_pack("{ss ss ss sb ss}", "flow", steer_key_format(&w.key, w.vrf, text), "policy", w.policy,
				"path", w.path, "pinned", w.pinned, "not_in_force",
				idle_because(c->node, &w, err, sizeof(err))));
	}
	return rc;
}
