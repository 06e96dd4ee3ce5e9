/* SPDX-License-Identifier: BSD-3-Clause */
/* Page of all counters for Prometheus. Names, units and help come from the tables (metrics/tables.h). */
#ifndef METRICS_OPENMETRICS_H
#define METRICS_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>

struct node;

struct openmetrics_how {
	bool open; /* OpenMetrics 1.0 (units, _total only on samples, # EOF); otherwise the text format 0.0.4 of Prometheus */
	const char *session; /* name of a credit session whose samples are wanted, too; "*": of all; NULL: of none */
};

void openmetrics_print(const struct node *n, const struct openmetrics_how *how, FILE *out);

#endif
