/* SPDX-License-Identifier: BSD-3-Clause */
/* show config, reload, commit, rollback. Management thread. */
#include <errno.h>
#include <stdlib.h>

#include "command/command_priv.h"
#include "config/config.h"
#include "node/node_ctl.h"

/* The placements in force stand for those of the file. */
static void emit_with_placements(const struct node *n, FILE *f)
{
	struct config c = *n->config;

	c.placements.n = 0;
	cfg_emit(&c, f, false);
	path_write_placements(n, f);
}

int cmd_show_config(struct command_call *c)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	if (c->arg[0] && c->arg[0][0] == 'p')
		emit_with_placements(c->node, f);
	else
		cfg_emit(c->node->config, f, c->arg[0] != NULL);
	fclose(f);
	/* the text form prints a string unchanged, so the output is YAML */
	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	c->result = json_string(text);
	free(text);
	return c->result ? 0 : -EINVAL;
}

static int not_here(struct command_call *c)
{
	return command_fail(c, -ENOTSUP, "not available here");
}

int cmd_reload(struct command_call *c)
{
	static const enum apply_how how[] = {APPLY_SAFELY, APPLY_DRY, APPLY_FORCED};

	if (!c->host->reload)
		return not_here(c);
	return c->host->reload(c->host->arg, c->arg[0], how[c->flag], &c->result, c->error, sizeof(c->error));
}

int cmd_commit(struct command_call *c)
{
	return c->host->commit ? c->host->commit(c->host->arg, c->error, sizeof(c->error)) : not_here(c);
}

int cmd_commit_confirmed(struct command_call *c)
{
	if (!c->host->commit_confirmed)
		return not_here(c);
	return c->host->commit_confirmed(c->host->arg, c->arg[1], c->number[0], c->flag ? APPLY_FORCED : APPLY_SAFELY,
		&c->result, c->error, sizeof(c->error));
}

int cmd_rollback(struct command_call *c)
{
	if (!c->host->rollback)
		return not_here(c);
	return c->host->rollback(c->host->arg, c->flag ? APPLY_FORCED : APPLY_SAFELY, &c->result, c->error,
		sizeof(c->error));
}
