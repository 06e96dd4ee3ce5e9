/* SPDX-License-Identifier: BSD-3-Clause */
/* Locates the objects of a table and gives the labels of their samples. */
#ifndef METRICS_METRICS_PRIV_H
#define METRICS_METRICS_PRIV_H

#include "metrics/tables.h"
#include "node/node_ctl.h"
#include "snapshot/liveness.h"

#define METRIC_LABELS 512 /* bytes of an object's labels, the NUL included */

struct metric_context {
	const struct node *n;
	const struct lcore_stats *sum; /* sum over all lcores */
	const char *session;	       /* struct openmetrics_how */
};

/*
 * An object with labels like 'port="wan0"'. `priorities`: the priorities to export from rows with one value for each.
 */
typedef void (*metric_object)(void *arg, const char *labels, const void *object, uint8_t priorities);

struct metric_source {
	const struct stat_table *table;
	void (*each)(const struct metric_context *c, metric_object object, void *arg);
};

/* The last element has no table. */
extern const struct metric_source metric_ports[];    /* metrics_port.c: ports, devices, interfaces, lcores, SIDs */
extern const struct metric_source metric_queues[];   /* metrics_queue.c: egresses, queues, buffers */
extern const struct metric_source metric_pfc[];	     /* metrics_pfc.c */
extern const struct metric_source metric_flows[];    /* metrics_flow.c */
extern const struct metric_source metric_rsvp[];     /* metrics_rsvp.c */
extern const struct metric_source metric_sessions[]; /* metrics_rsvp.c; only on demand */
extern const struct metric_source metric_credit[];   /* metrics_credit.c: sums over sessions */
extern const struct metric_source metric_credits[];  /* metrics_credit.c: of each session; only on demand */
extern const struct metric_source metric_bfd[];	     /* metrics_bfd.c */
extern const struct metric_source metric_ways[];     /* metrics_way.c: next hops and paths */

/* Samples of each next hop or path: at most of so many of each, so that a page stays small. */
#define METRIC_WAYS 1024

/* Next hops (with links), or paths, of each grade. */
void metric_count_nexthops(const struct node *n, uint32_t count[LIVENESS_IS_ALIVE + 1]);
void metric_count_paths(const struct node *n, uint32_t count[LIVENESS_IS_ALIVE + 1]);

/* Name of a port, or of the node itself. */
const char *metric_port_name(const struct node *n, unsigned int port);

#endif
