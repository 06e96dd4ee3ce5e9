/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one line: finds its command, parses its arguments, prints what it returns. Management thread. */
#include "command/command.h"

#include <errno.h>
#include <string.h>

#include "command/parse.h"

static int print(const struct command *cmd, struct command_call *c, int rc, bool json, FILE *out)
{
	if (rc < 0) {
		fprintf(out, "%s: %s\n", cmd->words, c->error[0] ? c->error : strerror(-rc));
	} else if (c->result && json) {
		json_dumpf(c->result, out, JSON_INDENT(2) | JSON_ENCODE_ANY);
		fputc('\n', out);
	} else if (c->result) {
		command_print_text(c->result, out);
	}
	return rc;
}

int command_run(const struct command_host *host, const char *line, FILE *out)
{
	struct command_call c = {.host = host, .node = host->node};
	const struct command *cmd;
	char err[512];
	struct words w;
	unsigned int used;
	int rc;

	if (parse_words(line, &w, err, sizeof(err)) < 0) {
		fprintf(out, "%s\n", err);
		return -EINVAL;
	}
	if (!w.n)
		return 0;
	cmd = parse_command(&w, &used, err, sizeof(err));
	if (!cmd || parse_args(cmd, &w, used, &c, err, sizeof(err)) < 0) {
		fprintf(out, "%s%s%s\n", cmd ? cmd->words : "", cmd ? ": " : "", err);
		return cmd ? -EINVAL : -ENOENT;
	}
	rc = print(cmd, &c, cmd->run(&c), w.json, out);
	json_decref(c.result);
	return rc;
}
