/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one line: finds its command, parses its arguments, prints what it returns. Management thread. */
#include "command/command.h"

#include <errno.h>
#include <string.h>

#include "command/parse.h"

static void print_json(const json_t *value, FILE *out)
{
	json_dumpf(value, out, JSON_INDENT(2) | JSON_ENCODE_ANY);
	fputc('\n', out);
}

/* cmd: NULL when the line names no command. With `json`, an error is an object, too, beside what the command returned. */
static void print_error(const struct command *cmd, json_t *result, const char *text, bool json, FILE *out)
{
	json_t *error;

	if (!json_array_size(result) && !json_object_size(result))
		result = NULL; /* nothing was found out before the error */
	command_choose_form(result, !json);
	if (!json) {
		if (result)
			command_print_text(result, out);
		fprintf(out, "%s%s%s\n", cmd ? cmd->words : "", cmd ? ": " : "", text);
		return;
	}
	error = json_pack("{ss* ss sO*}", "command", cmd ? cmd->words : NULL, "error", text, "result", result);
	if (error) {
		print_json(error, out);
		json_decref(error);
	} else { /* the text has bytes that are not UTF-8 */
		fputs("{\"error\": \"invalid UTF-8\"}\n", out);
	}
}

void command_refuse(const char *line, size_t len, const char *text, FILE *out)
{
	print_error(NULL, NULL, text, parse_asks_for_json(line, len), out);
}

static int print(const struct command *cmd, struct command_call *c, int rc, bool json, FILE *out)
{
	if (rc >= 0)
		command_choose_form(c->result, !json);
	if (rc < 0)
		print_error(cmd, c->result, c->error[0] ? c->error : strerror(-rc), json, out);
	else if (c->result && json)
		print_json(c->result, out);
	else if (c->result)
		command_print_text(c->result, out);
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
		print_error(NULL, NULL, err, w.json, out);
		return -EINVAL;
	}
	if (!w.n)
		return 0;
	cmd = parse_command(&w, &used, err, sizeof(err));
	if (!cmd || parse_args(cmd, &w, used, &c, err, sizeof(err)) < 0) {
		print_error(cmd, NULL, err, w.json, out);
		return cmd ? -EINVAL : -ENOENT;
	}
	c.command = cmd;
	rc = cmd->run(&c);
	if (rc == -EINPROGRESS) {
		*host->later = c.later;
		host->later->command = cmd;
		host->later->json = w.json;
		return rc;
	}
	rc = print(cmd, &c, rc, w.json, out);
	json_decref(c.result);
	return rc;
}

int command_go_on(const struct command_host *host, FILE *out)
{
	struct command_later *later = host->later;
	struct command_call c = {.host = host, .node = host->node, .command = later->command, .later = *later};
	int rc = later->go_on(&c);

	if (rc == -EINPROGRESS)
		return rc;
	command_stop(host->node, later);
	rc = print(c.command, &c, rc, c.later.json, out);
	json_decref(c.result);
	return rc;
}

void command_stop(struct node *node, struct command_later *later)
{
	if (later->command)
		later->stop(node, later->id);
	json_decref(later->head);
	*later = (struct command_later){0};
}
