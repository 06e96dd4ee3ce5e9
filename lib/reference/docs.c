/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates docs/counters.md and docs/commands.md from the lists in the code. Main thread. */
#include "reference/docs.h"

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
	static const struct row interfaces[] = {INTERFACE_COUNTERS(X)};
	static const struct row lcores[] = {LCORE_COUNTERS(X)};
#undef X

	fprintf(out,
		"# Counters\n\n"
		"Generated from the lists in `lib/stats` by `sluice --print counters`; do not edit.\n\n"
		"A packet that is received or originated ends in exactly one way: sent, dropped for one named reason,\n"
		"or consumed by the node. Until then it is held. So at any time, per port it came in by and in "
		"total:\n\n"
		"    rx + originated = sent + dropped + consumed + held\n\n"
		"`show conservation` prints the sum; a node that ends with another sum exits with status 4.\n\n"
		"## Per port\n\n");
	table(out, ports, ARRAY_LEN(ports));
	fprintf(out, "\nWhat the device itself lost is shown beside them: `imissed` (no descriptor was free) and\n"
		     "`rx_nombuf` (the buffer pool was empty). These packets never reached the node.\n\n"
		     "## Per VLAN interface\n\n"
		     "Its packets are among those of its port, too.\n\n");
	table(out, interfaces, ARRAY_LEN(interfaces));
	fprintf(out, "\n## Per lcore\n\n");
	table(out, lcores, ARRAY_LEN(lcores));
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
		"asks for\n"
		"JSON. `#` begins a comment. Words with spaces stand in double quotes.\n");
	for (unsigned int i = 0; i < n_commands; i++) {
		const struct command *c = &commands[i];

		command_usage(c, usage, sizeof(usage));
		fprintf(out, "\n## `%s`\n\n%s\n", usage, c->help);
		for (unsigned int k = 0; k < COMMAND_ARGS_MAX && c->args[k].name; k++)
			fprintf(out, "%s* `%s`: %s%s\n", k ? "" : "\n", c->args[k].name, c->args[k].help,
				c->args[k].optional ? " (optional)" : "");
		if (c->flag)
			fprintf(out, "* `%s`: %s (optional)\n", c->flag, c->flag_help);
	}
}
