/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/shown.h"

#include <stdlib.h>

#include "command/command.h"
#include "metrics/openmetrics.h"
#include "test/support/unit.h"

/* line NULL: the metrics, with the samples of a session. */
static char *said(struct testbed *t, const char *line, const char *session)
{
	struct command_host host = {.node = t->node, .version = "0"};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	if (line)
		assert_int_equal(command_run(&host, line, f), 0);
	else
		openmetrics_print(t->node, &(struct openmetrics_how){.open = true, .session = session}, f);
	fclose(f);
	return text;
}

static void check_part(struct testbed *t, const char *line, const char *part)
{
	char *text = said(t, line, NULL);

	check(strstr(text, part), "%s: no '%s' in:\n%s", line ? line : "metrics", part, text);
	free(text);
}

void check_shown(struct testbed *t, const char *line, const char *part)
{
	check_part(t, line, part);
}

json_t *shown_json(struct testbed *t, const char *line)
{
	char *text = said(t, line, NULL);
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	check(json, "%s: %s", line, text);
	free(text);
	return json;
}

void check_metrics(struct testbed *t, const char *part)
{
	check_part(t, NULL, part);
}

void check_metrics_of(struct testbed *t, const char *session, const char *part)
{
	char *text = said(t, NULL, session);

	check(strstr(text, part), "metrics of %s: no '%s' in:\n%s", session, part, text);
	free(text);
}

bool metrics_have(struct testbed *t, const char *session, const char *part)
{
	char *text = said(t, NULL, session);
	bool has = strstr(text, part);

	free(text);
	return has;
}
