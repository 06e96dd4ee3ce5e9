/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locates the counters of PFC: ports, pauses, watchdogs, tunnels, relays. Management thread; owners and the control
 * lcore write them.
 */
#include <stdio.h>

#include "metrics/metrics_priv.h"
#include "service/pfc/pfc_cp.h"
#include "service/pfc/service_learn.h"
#include "service/pfc/pfc_ctl.h"

struct listener {
	metric_object object;
	void *arg;
};

static void each_rx(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < c->n->n_ports; i++) {
		snprintf(labels, sizeof(labels), "port=\"%s\"", c->n->port[i]->name);
		object(arg, labels, &service_pfc(c->n)->port[i], c->n->snapshot->port[i].lossless);
	}
}

static void each_tx(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < c->n->n_ports; i++) {
		snprintf(labels, sizeof(labels), "port=\"%s\"", c->n->port[i]->name);
		object(arg, labels, &service_pfc(c->n)->port[i].speaker, c->n->snapshot->port[i].lossless);
	}
}

/* Names of ports (heard, said, executed), relays (relayed) and tunnels (tunnel). */
static void add_pauses(void *arg, const struct node_pauses *p)
{
	const struct listener *l = arg;
	char labels[METRIC_LABELS];

	snprintf(labels, sizeof(labels), "direction=\"%s\",name=\"%s\",priority=\"%u\"", p->direction, p->name,
		p->priority);
	l->object(l->arg, labels, p, 0);
}

static void each_pauses(const struct metric_context *c, metric_object object, void *arg)
{
	struct listener l = {object, arg};

	node_pauses(c->n, stat_read(&c->n->control->now), add_pauses, &l);
}

static void watchdog_labels(const struct service_watchdog *w, char *labels)
{
	snprintf(labels, METRIC_LABELS, "port=\"%s\",relay=\"%s\",slice=\"%s\",priority=\"%u\"", w->port,
		w->relay ? w->relay : "", w->slice, w->priority);
}

static void add_watchdog(void *arg, const struct service_watchdog *w)
{
	const struct listener *l = arg;
	char labels[METRIC_LABELS];

	watchdog_labels(w, labels);
	l->object(l->arg, labels, &w->state, 0);
}

static void add_storm(void *arg, const struct service_watchdog *w)
{
	const struct listener *l = arg;
	char labels[METRIC_LABELS];

	watchdog_labels(w, labels);
	l->object(l->arg, labels, w, 0);
}

static void each_watchdog(const struct metric_context *c, metric_object object, void *arg)
{
	service_watchdogs(c->n, add_watchdog, &(struct listener){object, arg});
}

static void each_storm(const struct metric_context *c, metric_object object, void *arg)
{
	service_watchdogs(c->n, add_storm, &(struct listener){object, arg});
}

static void each_tunnel(const struct metric_context *c, metric_object object, void *arg)
{
	const struct pfc_tunnels *t = &service_pfc(c->n)->control->tunnels;
	uint32_t bound = __atomic_load_n(&t->bound, __ATOMIC_RELAXED);
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < bound; i++) {
		if (t->tunnel[i].origin == PFC_TUNNEL_FREE)
			continue;
		snprintf(labels, sizeof(labels), "tunnel=\"%s\"", t->tunnel[i].name);
		object(arg, labels, &t->tunnel[i], 0);
	}
}

static void each_learning(const struct metric_context *c, metric_object object, void *arg)
{
	object(arg, "", &service_pfc(c->n)->control->tunnels, 0);
}

static void each_learner(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint16_t i = 0; i < c->n->n_rx; i++) {
		snprintf(labels, sizeof(labels), "lcore=\"%u\"", c->n->rx[i].lcore->id);
		object(arg, labels, service_pfc(c->n)->rx[i].learner, 0);
	}
}

static void relay_labels(const struct node *n, uint32_t i, char *labels)
{
	const struct snap_relay *r = &n->snapshot->relay[i];

	snprintf(labels, METRIC_LABELS, "relay=\"%s\",port=\"%s\"", r->name, n->port[r->port]->name);
}

static void each_relay(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < c->n->snapshot->n_relays; i++) {
		relay_labels(c->n, i, labels);
		object(arg, labels, &service_pfc(c->n)->control->relay[c->n->snapshot->relay[i].port], 0);
	}
}

static void each_thinner(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < c->n->snapshot->n_relays; i++) {
		relay_labels(c->n, i, labels);
		object(arg, labels, &service_pfc(c->n)->control->thinner[c->n->snapshot->relay[i].port], 0);
	}
}

static void each_carrier(const struct metric_context *c, metric_object object, void *arg)
{
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < c->n->snapshot->n_relays; i++) {
		relay_labels(c->n, i, labels);
		object(arg, labels, &service_pfc(c->n)->control->carrier[c->n->snapshot->relay[i].port], 0);
	}
}

const struct metric_source metric_pfc[] = {
	{&stat_pfc_rx, each_rx},
	{&stat_pfc_tx, each_tx},
	{&stat_pfc, each_rx},
	{&stat_pauses, each_pauses},
	{&stat_watchdog, each_watchdog},
	{&stat_storm, each_storm},
	{&stat_tunnel, each_tunnel},
	{&stat_learning, each_learning},
	{&stat_learner, each_learner},
	{&stat_relay, each_relay},
	{&stat_thinner, each_thinner},
	{&stat_carrier, each_carrier},
	{NULL, NULL},
};
