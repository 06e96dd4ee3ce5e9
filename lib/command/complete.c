/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion of a line: words of commands, and values of arguments. Management thread. */
#include <string.h>

#include "command/parse.h"
#include "node/node.h"

struct completion {
	const struct command_host *host;
	command_complete_fn fn;
	void *arg;
	const char *partial; /* the part of the last word before the cursor */
	char last[64];	     /* last text offered: skips duplicates, which are adjacent in the table */
};

static void offer(struct completion *c, const char *text, const char *help)
{
	if (strncmp(text, c->partial, strlen(c->partial)) != 0 || strcmp(text, c->last) == 0)
		return;
	snprintf(c->last, sizeof(c->last), "%s", text);
	c->fn(c->arg, text, help);
}

static void offer_value(struct completion *c, const struct command_arg *a)
{
	char word[64];

	for (unsigned int i = 0; a->words && parse_word_at(a->words, i, word, sizeof(word)); i++)
		offer(c, word, a->help);
	for (uint32_t i = 0; a->kind == ARG_PORT && i < c->host->node->n_ports; i++)
		offer(c, c->host->node->port[i]->name, a->help);
	/* an argument without completions is shown by its name, in capitals */
	if (a->kind != ARG_WORD && a->kind != ARG_PORT && !*c->partial)
		c->fn(c->arg, a->keyword ? command_value_of(a) : a->name, a->help);
}

/* The arguments that may come next, given the arguments on the line. */
static void offer_args(struct completion *c, const struct command *cmd, const struct words *w, unsigned int used)
{
	bool given[COMMAND_ARGS_MAX] = {false};

	while (used < w->n) {
		int i = parse_place(cmd, w->word[used], given);
		const struct command_arg *a = i < 0 ? NULL : &cmd->args[i];

		if (!a)
			return;
		given[i] = true;
		used += a->keyword;
		if (used == w->n) {
			offer_value(c, a);
			return;
		}
		used = a->kind == ARG_TEXT ? w->n : used + 1;
	}
	for (unsigned int i = 0; i < COMMAND_ARGS_MAX && cmd->args[i].name; i++) {
		if (given[i])
			continue;
		if (!cmd->args[i].keyword) {
			offer_value(c, &cmd->args[i]);
			return;
		}
		offer(c, cmd->args[i].name, cmd->args[i].help);
	}
}

/* Whether the k-th word on the line is that of some command in full, so that it abbreviates no other. */
static bool in_full(const struct words *w, unsigned int k)
{
	const char *own;
	size_t len;

	for (unsigned int i = 0; i < n_commands; i++) {
		own = parse_word_of(&commands[i], k, &len);
		if (own && strlen(w->word[k]) == len && strncmp(own, w->word[k], len) == 0)
			return true;
	}
	return false;
}

/* Whether the words on the line match the command's own words. *count: number of the command's words. */
static bool fits(const struct command *cmd, const struct words *w, unsigned int *count)
{
	const char *own;
	size_t len;

	for (*count = 0; (own = parse_word_of(cmd, *count, &len)); ++*count) {
		const char *word = *count < w->n ? w->word[*count] : "";

		if (strlen(word) > len || strncmp(own, word, strlen(word)) != 0)
			return false;
		if (*word && strlen(word) < len && in_full(w, *count))
			return false;
	}
	return true;
}

static void offer_next(struct completion *c, const struct command *cmd, const struct words *w)
{
	unsigned int count;
	char word[64];
	size_t len;

	if (!fits(cmd, w, &count))
		return;
	if (*c->partial == '-') {
		offer(c, "-j", "print the result as JSON");
		for (unsigned int i = 0; i < COMMAND_FLAGS_MAX && cmd->flag[i].name && w->n >= count; i++)
			offer(c, cmd->flag[i].name, cmd->flag[i].help);
	} else if (w->n < count) {
		snprintf(word, sizeof(word), "%s", parse_word_of(cmd, w->n, &len));
		word[len] = '\0';
		offer(c, word, w->n + 1 == count ? cmd->help : "");
	} else {
		offer_args(c, cmd, w, count);
	}
}

void command_complete(const struct command_host *host, const char *line, command_complete_fn fn, void *arg)
{
	struct completion c = {.host = host, .fn = fn, .arg = arg};
	size_t len = strlen(line), finished = len;
	char text[COMMAND_LINE_MAX], err[128];
	struct words w;

	if (len >= sizeof(text))
		return;
	/* the word under the cursor is not finished unless a space follows it */
	while (finished && line[finished - 1] != ' ' && line[finished - 1] != '\t')
		finished--;
	c.partial = line + finished;
	memcpy(text, line, finished);
	text[finished] = '\0';
	/* no completion inside quotes and comments */
	if (strchr(c.partial, '"') || strchr(c.partial, '#') || parse_words(text, &w, err, sizeof(err)) < 0 ||
		w.comment)
		return;
	for (unsigned int i = 0; i < n_commands; i++)
		offer_next(&c, &commands[i], &w);
}
