/* SPDX-License-Identifier: BSD-3-Clause */
/* Locates the counters of the credit of data: sums, whatever the number of sessions. Management thread. */
#include <stdio.h>
#include <stdlib.h>

#include "metrics/metrics_priv.h"
#include "service/rsvp/credit_shown.h"

static void each_sent(const struct metric_context *c, metric_object object, void *arg)
{
	struct credit_given given;
	struct credit_sent sent;

	if (credit_sums_shown(c->n, &sent, &given))
		object(arg, "", &sent, 0);
}

static void each_given(const struct metric_context *c, metric_object object, void *arg)
{
	struct credit_given given;
	struct credit_sent sent;

	if (credit_sums_shown(c->n, &sent, &given))
		object(arg, "", &given, 0);
}

static void each_session(const struct metric_context *c, metric_object object, void *arg)
{
	uint32_t n;
	struct credit_session_shown *all = credit_sessions_shown(c->n, &n);
	char labels[METRIC_LABELS];

	for (uint32_t i = 0; i < n; i++) {
		const char *name = all[i].use.session;

		if (!all[i].sends || !*name || (strcmp(c->session, "*") != 0 && strcmp(c->session, name) != 0))
			continue;
		snprintf(labels, sizeof(labels), "session=\"%s\"", name);
		object(arg, labels, &all[i].use.sent, 0);
	}
	free(all);
}

const struct metric_source metric_credit[] = {
	{&stat_credit_sent, each_sent},
	{&stat_credit_given, each_given},
	{0},
};

const struct metric_source metric_credits[] = {
	{&stat_credit_of, each_session},
	{0},
};
