/* SPDX-License-Identifier: BSD-3-Clause */
/* Locates the counters of RSVP: of the node, and of its neighbours. Management thread; the control lcore writes them. */
#include <stdio.h>
#include <stdlib.h>

#include "metrics/metrics_priv.h"
#include "service/rsvp/service_rsvp.h"

static void each_node(const struct metric_context *c, metric_object object, void *arg)
{
	const struct rsvp_control *r = rsvp_shown(c->n);

	if (r)
		object(arg, "", &r->stats, 0);
}

static void each_machine(const struct metric_context *c, metric_object object, void *arg)
{
	const struct rsvp_control *r = rsvp_shown(c->n);

	if (r)
		object(arg, "", rsvp_node_stats_of(r->machines), 0);
}

static void each_letter(const struct metric_context *c, metric_object object, void *arg)
{
	const struct rsvp_control *r = rsvp_shown(c->n);

	if (r)
		object(arg, "", letter_stats_of(r->letter), 0);
}

static void each_neighbor(const struct metric_context *c, metric_object object, void *arg)
{
	const struct rsvp_control *r = rsvp_shown(c->n);
	char labels[METRIC_LABELS], text[IP_ADDR_TEXT];

	for (uint32_t i = 0; r && i < __atomic_load_n(&r->neighbors, __ATOMIC_ACQUIRE); i++) {
		const struct snap_interface *link = rsvp_link_of(c->n->snapshot, r->neighbor[i].zone);

		ip_addr_format(&r->neighbor[i].addr, text);
		if (link) /* a server: its address is one of that link only */
			snprintf(labels, sizeof(labels), "neighbor=\"%s\",port=\"%s\"", text, link->name);
		else
			snprintf(labels, sizeof(labels), "neighbor=\"%s\"", text);
		object(arg, labels, &r->neighbor[i], 0);
	}
}

static void each_session(const struct metric_context *c, metric_object object, void *arg)
{
	uint32_t n;
	struct rsvp_session_shown *all = rsvp_sessions_shown(c->n, &n);
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(c->session, "*") != 0 && strcmp(c->session, all[i].session->name) != 0)
			continue;
		snprintf(labels, sizeof(labels), "session=\"%s\"", all[i].session->name);
		object(arg, labels, &all[i], 0);
	}
	free(all);
}

const struct metric_source metric_sessions[] = {
	{&stat_rsvp_own, each_session},
	{0},
};

const struct metric_source metric_rsvp[] = {
	{&stat_rsvp, each_node},
	{&stat_rsvp_refused, each_node},
	{&stat_rsvp_session, each_machine},
	{&stat_rsvp_letter, each_letter},
	{&stat_rsvp_neighbor, each_neighbor},
	{0},
};
