/* SPDX-License-Identifier: BSD-3-Clause */
/* All counters as a page for Prometheus. Names, units and help come from the tables (metrics/tables.h). */
#ifndef METRICS_OPENMETRICS_H
#define METRICS_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>

struct node;

/* open: OpenMetrics 1.0 (units, _total only on samples, # EOF); else Prometheus' text format 0.0.4. */
void openmetrics_print(const struct node *n, bool open, FILE *out);

#endif
