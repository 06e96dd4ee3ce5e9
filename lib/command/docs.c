/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/docs.h"

#include "command/command.h"
#include "stats/stats.h"

struct row {
	const char *name, *unit, *help;
};

static void table(FILE *out, const struct row *rows, size_t n)
{
	fprintf(out, "| name | unit | what |\n|---|---|---|\n");
	for (size_t i = 0; i < n; i++)
		fprintf(out, "| `%s` | %s | %s |\n", rows[i].name, rows[i].unit, rows[i].help);
}

static void reasons(FILE *out, unsigned int first, unsigned int end)
{
	fprintf(out, "| reason | meaning |\n|---|---|\n");
	for (unsigned int r = first; r < end; r++)
		fprintf(out, "| `%s` | %s |\n", reason_name((enum reason)r), reason_help((enum reason)r));
}

void docs_counters(FILE *out)
{
#define X(name, unit, help) {#name, unit, help},
	static const struct row ports[] = {PORT_COUNTERS(X)};
	static const struct row lcores[] = {LCORE_COUNTERS(X)};
#undef X

	fprintf(out, "# Counters\n\n"
		     "Generated from the lists in `lib/stats` by `sluice --print counters`; do not edit.\n\n"
		     "A packet that is received or originated ends in exactly one way: sent, dropped for one named reason,\n"
		     "or consumed by the node. Until then it is held. So at any time, per port it came in by and in total:\n\n"
		     "    rx + originated = sent + dropped + consumed + held\n\n"
		     "`show conservation` prints the sum; a node that ends with another sum exits with status 4.\n\n"
		     "## Per port\n\n");
	table(out, ports, ARRAY_LEN(ports));
	fprintf(out, "\nWhat the device itself lost is shown beside them: `imissed` (no descriptor was free) and\n"
		     "`rx_nombuf` (the buffer pool was empty). These packets never reached the node.\n\n"
		     "## Per lcore\n\n");
	table(out, lcores, ARRAY_LEN(lcores));
	fprintf(out, "\n## Reasons to drop\n\n");
	reasons(out, 0, DROP_COUNT);
	fprintf(out, "\n## Ways to be consumed\n\n");
	reasons(out, CONSUME_FIRST, REASON_COUNT);
}

void docs_commands(FILE *out)
{
	fprintf(out, "# Commands\n\n"
		     "Generated from the command table in `lib/command` by `sluice --print commands`; do not edit.\n\n"
		     "Every command takes `-j` for JSON.\n\n| command | what |\n|---|---|\n");
	for (unsigned int i = 0; i < n_commands; i++)
		fprintf(out, "| `%s%s%s` | %s |\n", commands[i].words, commands[i].args[0] ? " " : "", commands[i].args,
			commands[i].help);
}
