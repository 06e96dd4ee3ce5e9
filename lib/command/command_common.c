/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that all commands share: report a failure, and format the usage line of the table. Management thread. */
#include <stdarg.h>
#include <stdio.h>

#include "command/command_priv.h"
#include "node/node.h"

int command_fail(struct command_call *c, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->error, sizeof(c->error), format, args);
	va_end(args);
	return rc;
}

const char *command_value_of(const struct command_arg *a)
{
	return a->value ? a->value : "EXPRESSION";
}

void command_usage(const struct command *c, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, "%s", c->words);

	for (unsigned int i = 0; i < COMMAND_ARGS_MAX && c->args[i].name && n < size; i++) {
		const struct command_arg *a = &c->args[i];
		const char *name = a->kind == ARG_WORD ? a->words : a->name;
		const char *more = a->kind != ARG_WORD && a->words ? a->words : "";

		n += (size_t)snprintf(buf + n, size - n, a->optional ? " [%s%s%s%s%s]" : " %s%s%s%s%s", name,
			*more ? "|" : "", more, a->keyword ? " " : "", a->keyword ? command_value_of(a) : "");
	}
	for (unsigned int i = 0; i < COMMAND_FLAGS_MAX && c->flag[i].name && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? "|" : " [", c->flag[i].name);
	if (c->flag[0].name && n < size)
		snprintf(buf + n, size - n, "]");
}

int command_paths(struct command_call *c,
	json_t *(*row)(const struct command_call *c, const struct snap_policy *policy, uint32_t id))
{
	const struct snapshot *s = c->node->snapshot;

	c->result = json_array();
	for (uint32_t i = 0; i < s->n_policies; i++)
		for (uint32_t k = 0; k < s->policy[i].n_paths; k++)
			json_array_append_new(c->result, row(c, &s->policy[i], s->policy[i].path[k]));
	return 0;
}
