/* SPDX-License-Identifier: BSD-3-Clause */
/* show roce counters, pairs, watched; roce watch, unwatch. Management thread. */
#include <errno.h>
#include <stdlib.h>

#include "command/command_priv.h"
#include "command/json_row.h"
#include "node/node_ctl.h"
#include "service/steer/service_steer.h"

#define SHOWN_MAX 1000

int cmd_show_roce_counters(struct command_call *c)
{
	struct roce_counters sum = roce_counters(c->node);

	c->result = json_object();
	json_row(c->result, &stat_roce, &sum, 0);
	return 0;
}

static const char *address(const struct steer_key *k, const struct ipv6_addr *from, char *buf)
{
	struct ip_addr a = {.family = k->kind & STEER_FAMILY};

	memcpy(a.b, from, sizeof(*from));
	return ip_addr_format(&a, buf);
}

static json_t *pair_json(const struct node *n, const struct steer_key *k)
{
	char src[IP_ADDR_TEXT], dst[IP_ADDR_TEXT];

	return json_pack("{ss ss ss}", "vrf", steer_vrf_name(n->snapshot, k->vrf), "src", address(k, &k->src, src),
		"dst", address(k, &k->dst, dst));
}

/* The pairs that match the argument. NULL: it is no filter, or there is no memory. */
static struct pair_row *rows_of(struct command_call *c, uint32_t *n)
{
	struct steer_filter filter;

	if (steer_filter_parse(c->arg[0] ? c->arg[0] : "", &filter, c->error, sizeof(c->error)) < 0)
		return NULL;
	return pair_show(c->node, &filter, n);
}

int cmd_show_roce_pairs(struct command_call *c)
{
	uint64_t now = __atomic_load_n(&c->node->control->now, __ATOMIC_RELAXED);
	uint32_t n;
	struct pair_row *rows = rows_of(c, &n);

	if (!rows)
		return -EINVAL;
	c->result = json_array();
	for (uint32_t i = 0; i < MIN_OF(n, SHOWN_MAX); i++) {
		json_t *o = pair_json(c->node, &rows[i].key);

		json_row(o, &stat_pair, &rows[i].count, 0);
		json_object_set_new(o, "idle_ms",
			json_integer((json_int_t)((now - MIN_OF(now, rows[i].count.seen)) / NSEC_PER_MSEC)));
		json_array_append_new(c->result, o);
	}
	free(rows);
	return 0;
}

static void add_qp(void *arg, const struct pair_qp *q)
{
	json_array_append_new(arg,
		json_pack("{sI sI sI sI sI sI}", "qp", (json_int_t)q->qp, "acks", (json_int_t)q->acks, "nak_sequence",
			(json_int_t)q->nak_sequence, "rnr", (json_int_t)q->rnr, "other_naks", (json_int_t)q->naks,
			"cnps", (json_int_t)q->cnps));
}

/* A list of at most one pair. */
int cmd_show_roce_watched(struct command_call *c)
{
	json_t *rows = json_array(), *o;
	struct steer_key pair;
	uint64_t others;

	c->result = json_array();
	if (!pair_watched(c->node, &pair, &others, add_qp, rows)) {
		json_decref(rows);
		return 0;
	}
	o = pair_json(c->node, &pair);
	json_object_set_new(o, "packets_of_others", json_integer((json_int_t)others));
	json_object_set_new(o, "queue_pairs", rows);
	json_array_append_new(c->result, o);
	return 0;
}

int cmd_roce_watch(struct command_call *c)
{
	uint32_t n, place;
	struct pair_row *rows = rows_of(c, &n);

	if (!rows)
		return -EINVAL;
	place = rows[0].place;
	free(rows);
	if (n != 1)
		return command_fail(c, -ENOENT,
			"%u pairs of hosts match '%.80s', and one is needed; see: show roce pairs", n, c->arg[0]);
	pair_watch(c->node, place);
	return 0;
}

int cmd_roce_unwatch(struct command_call *c)
{
	pair_watch(c->node, PAIR_NONE);
	return 0;
}
