/* SPDX-License-Identifier: BSD-3-Clause */
/* What may come next on a line: words of commands, and values of arguments. */
#include <string.h>

#include "command/parse.h"
#include "node/node.h"

struct completion {
	const struct command_host *host;
	command_complete_fn fn;
	void *arg;
	const char *partial; /* what stands of the last word */
	char last[64];	     /* to leave out repetitions; the table is in order */
};

static void offer(struct completion *c, const char *text, const char *help)
{
	if (strncmp(text, c->partial, strlen(c->partial)) != 0 || strcmp(text, c->last) == 0)
		return;
	snprintf(c->last, sizeof(c->last), "%s", text);
	c->fn(c->arg, text, help);
}

static void offer_arg(struct completion *c, const struct command_arg *a)
{
	char word[64];

	for (unsigned int i = 0; a->words && parse_word_at(a->words, i, word, sizeof(word)); i++)
		offer(c, word, a->help);
	for (uint32_t i = 0; a->kind == ARG_PORT && i < c->host->node->n_ports; i++)
		offer(c, c->host->node->port[i]->name, a->help);
	/* what cannot be completed is at least named */
	if (a->kind != ARG_WORD && a->kind != ARG_PORT && !*c->partial)
		c->fn(c->arg, a->name, a->help);
}

/* Next word of a command whose first `n` words stand on the line; false when they do not fit. */
static bool next_word(const struct command *cmd, const struct words *w, unsigned int n, char *buf, size_t size,
	unsigned int *count)
{
	const char *at = cmd->words;
	unsigned int k = 0;

	buf[0] = '\0';
	for (; *at; k++) {
		size_t len = strcspn(at, " ");

		if (k == n)
			snprintf(buf, size, "%.*s", (int)len, at);
		else if (k < n && strncmp(at, w->word[k], strlen(w->word[k])) != 0)
			return false;
		at += len;
		at += *at == ' ';
	}
	*count = k;
	return true;
}

void command_complete(const struct command_host *host, const char *line, command_complete_fn fn, void *arg)
{
	struct completion c = {.host = host, .fn = fn, .arg = arg, .partial = ""};
	struct words w;
	char err[128], word[64];
	unsigned int before, count;
	size_t len = strlen(line);

	if (parse_words(line, &w, err, sizeof(err)) < 0)
		return;
	/* the word under the cursor is not finished unless a space follows it */
	before = w.n;
	if (w.n && len && line[len - 1] != ' ' && line[len - 1] != '\t') {
		before--;
		c.partial = w.word[before];
	}
	for (unsigned int i = 0; i < n_commands; i++) {
		const struct command *cmd = &commands[i];

		if (!next_word(cmd, &w, before, word, sizeof(word), &count))
			continue;
		if (word[0])
			offer(&c, word, before + 1 == count ? cmd->help : "");
		else if (before - count < COMMAND_ARGS_MAX && cmd->args[before - count].name)
			offer_arg(&c, &cmd->args[before - count]);
	}
}
