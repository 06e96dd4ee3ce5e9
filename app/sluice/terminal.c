/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line editor of the console, over DPDK's rdline. rdline is experimental in DPDK 22.11, so only this file is built
 * with ALLOW_EXPERIMENTAL_API. Management thread.
 */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

#include <cmdline_rdline.h>

#include "base/compiler.h"

#define LINE_MAX_RDLINE 512 /* rdline's limit; it ignores the rest of a longer line */
#define PROMPT_MAX 48
#define OFFERS_MAX 256
#define HELP_COLUMN 24
#define CTRL_A '\x01'
#define CTRL_K '\x0b'
#define CTRL_U '\x15'

struct offer {
	char text[64];
	char help[160];
};

struct terminal {
	struct rdline *line;
	const struct command_host *host;
	char prompt[PROMPT_MAX];
	void (*show)(void *arg, const char *data, size_t n);
	void *arg;
	char buffer[1024]; /* output not shown yet */
	size_t n;
	bool entered; /* the line in `text` is complete */
	char text[LINE_MAX_RDLINE + 1];
	struct offer *offers; /* of the current completion */
	unsigned int n_offers;
};

static void show_buffer(struct terminal *t)
{
	if (t->n)
		t->show(t->arg, t->buffer, t->n);
	t->n = 0;
}

static int write_char(struct rdline *line, char c)
{
	struct terminal *t = rdline_get_opaque(line);

	if (t->n == sizeof(t->buffer))
		show_buffer(t);
	t->buffer[t->n++] = c;
	return 0;
}

static void validate(struct rdline *line, const char *buf, unsigned int size)
{
	struct terminal *t = rdline_get_opaque(line);

	(void)size; /* counts only the characters left of the cursor */
	snprintf(t->text, sizeof(t->text), "%.*s", (int)strcspn(buf, "\r\n"), buf);
	t->entered = true;
}

static void take_offer(void *arg, const char *text, const char *help)
{
	struct terminal *t = arg;
	struct offer *o;

	if (t->n_offers == OFFERS_MAX)
		return;
	o = &t->offers[t->n_offers++];
	snprintf(o->text, sizeof(o->text), "%s", text);
	snprintf(o->help, sizeof(o->help), "%s", help ? help : "");
}

/* Length of the prefix that all offers share. */
static size_t common_prefix(const struct terminal *t)
{
	size_t n = strlen(t->offers[0].text);

	for (unsigned int i = 1; i < t->n_offers; i++) {
		size_t k = 0;

		while (k < n && t->offers[i].text[k] == t->offers[0].text[k])
			k++;
		n = k;
	}
	return n;
}

/* A word in capitals stands for a value: it is shown, but not filled in. */
static bool is_placeholder(const char *text)
{
	return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

/* The word under the cursor. */
static const char *last_word(const char *buf)
{
	const char *space = strrchr(buf, ' ');

	return space ? space + 1 : buf;
}

/*
 * rdline calls this with *state 0 for Tab and -1 for '?'. Returns RDLINE_RES_COMPLETE (2): append dst to the line; 1:
 * dst is one line of a list, call again for the next; 0: no more lines.
 */
static int complete(struct rdline *line, const char *buf, char *dst, unsigned int size, int *state)
{
	struct terminal *t = rdline_get_opaque(line);
	const char *partial = last_word(buf);
	int index;

	if (*state <= 0) {
		t->n_offers = 0;
		command_complete(t->host, buf, take_offer, t);
		if (!t->n_offers)
			return 0;
		if (*state == 0) {
			size_t known = strlen(partial), n = common_prefix(t);

			if ((n > known || t->n_offers == 1) && !is_placeholder(t->offers[0].text)) {
				snprintf(dst, size, "%.*s%s", (int)(n - known), t->offers[0].text + known,
					t->n_offers == 1 ? " " : "");
				return RDLINE_RES_COMPLETE;
			}
		}
		*state = 0;
	}
	index = *state;
	if ((unsigned int)index >= t->n_offers)
		return 0;
	snprintf(dst, size, "%-*s %s", HELP_COLUMN, t->offers[index].text, t->offers[index].help);
	*state = index + 1;
	return 1;
}

struct terminal *terminal_new(const struct command_host *host, const char *prompt,
	void (*show)(void *arg, const char *data, size_t n), void *arg)
{
	struct terminal *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->host = host;
	t->show = show;
	t->arg = arg;
	snprintf(t->prompt, sizeof(t->prompt), "%s", prompt);
	t->offers = calloc(OFFERS_MAX, sizeof(*t->offers));
	t->line = t->offers ? rdline_new(write_char, validate, complete, t) : NULL;
	if (!t->line) {
		terminal_free(t);
		return NULL;
	}
	rdline_newline(t->line, t->prompt);
	show_buffer(t);
	return t;
}

void terminal_free(struct terminal *t)
{
	if (!t)
		return;
	rdline_free(t->line);
	free(t->offers);
	free(t);
}

void terminal_prompt(struct terminal *t)
{
	rdline_newline(t->line, t->prompt);
	show_buffer(t);
}

bool terminal_input(struct terminal *t, char key, bool (*enter)(void *arg, const char *line), void *arg)
{
	bool done;
	int rc;

	/* rdline lacks Ctrl-U: go to the start of the line and cut to its end */
	if (key == CTRL_U) {
		rdline_char_in(t->line, CTRL_A);
		key = CTRL_K;
	}
	rc = rdline_char_in(t->line, key);

	if (t->entered) {
		t->entered = false;
		show_buffer(t);
		done = enter(arg, t->text);
		/* history omits repeated lines */
		if (t->text[0] && (!rdline_get_history_item(t->line, 0) ||
					  strcmp(rdline_get_history_item(t->line, 0), t->text) != 0))
			rdline_add_history(t->line, t->text);
		if (done)
			rdline_newline(t->line, t->prompt);
	}
	show_buffer(t);
	return rc == RDLINE_RES_EOF || rc == RDLINE_RES_EXITED;
}

void terminal_print(struct terminal *t, const char *text, size_t n)
{
	const char *end = text + n;

	/* a raw terminal needs a carriage return at each newline */
	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t part = nl ? (size_t)(nl - text) : (size_t)(end - text);

		t->show(t->arg, text, part);
		if (!nl)
			break;
		t->show(t->arg, "\r\n", 2);
		text = nl + 1;
	}
}
