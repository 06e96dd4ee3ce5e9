/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates docs/counters.md and docs/commands.md from the lists in the code. Main thread. */
#include "reference/docs.h"

#include "command/command.h"
#include "metrics/tables.h"
#include "stats/reasons.h"

static void table(FILE *out, const struct stat_table *t)
{
	char metric[STAT_METRIC];

	fprintf(out, "\n## %s\n\n%s%s| name | metric | unit | meaning |\n|---|---|---|---|\n", t->title, t->about,
		*t->about ? "\n\n" : "");
	for (unsigned int i = 0; i < t->n; i++) {
		const struct stat_row *r = &t->rows[i];

		fprintf(out, "| %s%s%s |", r->name ? "`" : "", r->name ? r->name : "", r->name ? "`" : "");
		if (r->metric)
			fprintf(out, " `%s%s` |", stat_metric(r, metric), r->kind == STAT_COUNTER ? "_total" : "");
		else
			fprintf(out, " |");
		fprintf(out, " %s | %s |\n", r->unit, r->help);
	}
}

static void reasons(FILE *out, unsigned int first, unsigned int end)
{
	fprintf(out, "| reason | meaning |\n|---|---|\n");
	for (unsigned int r = first; r < end; r++)
		fprintf(out, "| `%s` | %s |\n", reason_name((enum reason)r), reason_help((enum reason)r));
}

void docs_counters(FILE *out)
{
	fprintf(out,
		"# Counters\n\n"
		"Generated from the lists in the code (`lib/metrics/tables.h` names them all) by `sluice --print "
		"counters`;\n"
		"do not edit.\n\n"
		"A packet that is received or originated ends in exactly one way: sent, dropped for one named reason,\n"
		"or consumed by the node. Until then it is held. So at any time, for each ingress port and in "
		"total:\n\n"
		"    rx + originated = sent + dropped + consumed + held\n\n"
		"`show conservation` prints the sum; a node that ends with another sum exits with status 4.\n\n"
		"JSON and the console use the name, OpenMetrics the metric. Counters in ns are shown in the unit at "
		"the end "
		"of\ntheir name and exported in seconds.\n");
	for (const struct stat_table *const *t = stat_tables; *t; t++)
		table(out, *t);
	fprintf(out, "\n## Reasons to drop\n\n");
	reasons(out, 0, DROP_COUNT);
	fprintf(out, "\n## Ways to be consumed\n\n");
	reasons(out, CONSUME_FIRST, REASON_COUNT);
}

void docs_commands(FILE *out)
{
	char usage[256];

	fprintf(out,
		"# Commands\n\n"
		"Generated from the command table in `lib/command/commands.c` by `sluice --print commands`; do not "
		"edit.\n\n"
		"The same commands work at the console (`sluice -i`), in script files (`sluice -f`) and over the "
		"socket\n"
		"(`sluicectl`). Words may be abbreviated as long as they are unique. `-j` anywhere on the line "
		"selects\n"
		"JSON output; an error is then an object with `error`, the `command` and, if there is one, the "
		"`result` so far.\n"
		"Errors of `sluicectl` itself have `error` alone: no connection, or one that the node refused or "
		"closed.\n"
		"`schema` of `show version` is the version of the JSON of all commands. It rises when a member is "
		"removed, "
		"renamed, or\n"
		"changes its type, unit or meaning; new members do not change it.\n"
		"`#` begins a comment. Put words with spaces in double quotes.\n");
	for (unsigned int i = 0; i < n_commands; i++) {
		const struct command *c = &commands[i];

		command_usage(c, usage, sizeof(usage));
		fprintf(out, "\n## `%s`\n\n%s\n", usage, c->help);
		for (unsigned int k = 0; k < COMMAND_ARGS_MAX && c->args[k].name; k++)
			fprintf(out, "%s* `%s`: %s%s\n", k ? "" : "\n", c->args[k].name, c->args[k].help,
				c->args[k].optional ? " (optional)" : "");
		for (unsigned int k = 0; k < COMMAND_FLAGS_MAX && c->flag[k].name; k++)
			fprintf(out, "* `%s`: %s (optional)\n", c->flag[k].name, c->flag[k].help);
	}
}
