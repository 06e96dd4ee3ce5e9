/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The console of sluicectl: libedit edits the line and keeps its history in a file, the node completes it and runs it. Here are
 * the pager, `| include TEXT` and `| exclude TEXT` behind a command, `watch COMMAND`, and `exit`. Single-threaded.
 */
#include <errno.h>
#include <histedit.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define HISTORY_LINES 1000
#define HELP_COLUMN 24
#define OFFERS_MAX 512
#define WATCH_S 2

struct console {
	struct client *client;
	EditLine *line;
	History *history;
	char prompt[64], file[PATH_MAX];
	bool ends, lost;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* --- completion --- */

struct offers {
	char *text; /* of the node; words point into it */
	char *word[OFFERS_MAX], *help[OFFERS_MAX];
	unsigned int n;
};

static void add_offer(struct offers *o, char *word, char *help)
{
	if (o->n == OFFERS_MAX)
		return;
	o->word[o->n] = word;
	o->help[o->n++] = help;
}

/* Ask the node for the completions of a line that ends at the cursor. */
static void find_offers(struct console *c, const char *line, struct offers *o)
{
	size_t size;
	char *save = NULL;

	*o = (struct offers){.n = 0};
	if (client_ask(c->client, 'c', line, &o->text, &size) != 0) {
		c->lost = !o->text;
		return;
	}
	for (char *row = strtok_r(o->text, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		char *help = strchr(row, '\t');

		if (help)
			*help++ = '\0';
		add_offer(o, row, help ? help : row + strlen(row));
	}
}

/* A word in capitals stands for a value: it is shown, but not filled in. */
static bool is_placeholder(const char *text)
{
	return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

static size_t common_prefix(const struct offers *o)
{
	size_t n = strlen(o->word[0]);

	for (unsigned int i = 1; i < o->n; i++) {
		size_t k = 0;

		while (k < n && o->word[i][k] == o->word[0][k])
			k++;
		n = k;
	}
	return n;
}

static void list_offers(const struct offers *o)
{
	printf("\n");
	for (unsigned int i = 0; i < o->n; i++)
		printf("%-*s %s\n", HELP_COLUMN, o->word[i], o->help[i]);
	fflush(stdout);
}

static struct console *console_of(EditLine *line)
{
	struct console *c;

	el_get(line, EL_CLIENTDATA, (void **)&c);
	return c;
}

/* The line up to the cursor; the caller frees it. */
static char *to_cursor(EditLine *line)
{
	const LineInfo *info = el_line(line);

	return strndup(info->buffer, (size_t)(info->cursor - info->buffer));
}

static unsigned char complete(EditLine *line, int key)
{
	char *text = to_cursor(line), *space = text ? strrchr(text, ' ') : NULL, add[256];
	size_t known, n;
	struct offers o;
	unsigned char rc = CC_REDISPLAY;

	(void)key;
	if (!text)
		return CC_ERROR;
	find_offers(console_of(line), text, &o);
	known = strlen(space ? space + 1 : text);
	n = o.n ? common_prefix(&o) : 0;
	if (!o.n) {
		rc = CC_ERROR;
	} else if ((n > known || o.n == 1) && n >= known && !is_placeholder(o.word[0])) {
		snprintf(add, sizeof(add), "%.*s%s", (int)(n - known), o.word[0] + known, o.n == 1 ? " " : "");
		rc = el_insertstr(line, add) == 0 ? CC_REFRESH : CC_ERROR;
	} else {
		list_offers(&o);
	}
	free(o.text);
	free(text);
	return rc;
}

static unsigned char help(EditLine *line, int key)
{
	char *text = to_cursor(line);
	struct offers o;

	(void)key;
	if (!text)
		return CC_ERROR;
	find_offers(console_of(line), text, &o);
	list_offers(&o);
	free(o.text);
	free(text);
	return CC_REDISPLAY;
}

/* Ctrl-C clears the line. */
static unsigned char clear_line(EditLine *line, int key)
{
	const LineInfo *info = el_line(line);

	(void)key;
	el_cursor(line, (int)(info->lastchar - info->cursor));
	el_deletestr(line, (int)(info->lastchar - info->buffer));
	return CC_REFRESH;
}

/* --- output --- */

/* Keep the lines that have the text, or those that have it not. In place. */
static void filter(char *text, const char *what, bool keep)
{
	char *to = text;

	for (char *at = text, *end; *at; at = end) {
		char c;

		end = at + strcspn(at, "\n");
		end += *end == '\n';
		c = *end;
		*end = '\0';
		if ((strstr(at, what) != NULL) == keep) {
			size_t n = strlen(at);

			memmove(to, at, n);
			to += n;
		}
		*end = c;
	}
	*to = '\0';
}

static bool fits_screen(const char *text)
{
	struct winsize size = {.ws_row = 0};
	unsigned int lines = 1;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row)
		return true;
	for (; *text; text++)
		lines += *text == '\n';
	return lines < size.ws_row;
}

/* Through $PAGER if it is longer than the screen; PAGER= turns that off. */
static void show(const char *text)
{
	const char *pager = getenv("PAGER");
	FILE *f = NULL;

	if (!pager)
		pager = access("/usr/bin/less", X_OK) == 0 ? "less -FRX" : "";
	if (*pager && !fits_screen(text))
		f = popen(pager, "w");
	fputs(text, f ? f : stdout);
	if (f)
		pclose(f);
	fflush(stdout);
}

/* Run a command on the node; its output goes through what stands behind the bar. 0, or the node's status. */
static int run(struct console *c, char *line)
{
	char *bar = strstr(line, " | "), *text, *word = NULL;
	bool keep = true;
	size_t size;
	int status;

	if (bar) {
		*bar = '\0';
		word = bar + 3 + strspn(bar + 3, " ");
		keep = strncmp(word, "include ", 8) == 0;
		if (!keep && strncmp(word, "exclude ", 8) != 0) {
			printf("after |, expected include TEXT or exclude TEXT, found '%s'\n", word);
			return EXIT_USAGE;
		}
		word += 8 + strspn(word + 8, " ");
	}
	status = client_ask(c->client, 'x', line, &text, &size);
	if (status < 0) {
		printf("the node closed the connection\n");
		c->lost = true;
		return EXIT_CONNECT;
	}
	if (word && status == 0)
		filter(text, word, keep);
	show(text);
	free(text);
	return status;
}

static void watch(struct console *c, const char *line)
{
	char clock[16];
	int status = 0;

	interrupted = 0;
	while (!interrupted && !status && !c->lost) {
		char *copy = strdup(line);
		time_t now = time(NULL);

		if (!copy)
			return;
		printf("\033[H\033[2J");
		if (strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now)))
			printf("%s  %s, every %d s; Ctrl-C ends it\n\n", clock, line, WATCH_S);
		setenv("PAGER", "", 1); /* each picture is one screen */
		status = run(c, copy);
		free(copy);
		if (!interrupted && !status)
			sleep(WATCH_S);
	}
}

static void enter(struct console *c, char *line)
{
	const char *pager = getenv("PAGER");
	char *before = pager ? strdup(pager) : NULL;

	if (strcmp(line, "exit") == 0 || strcmp(line, "quit") == 0)
		c->ends = true;
	else if (strncmp(line, "watch ", 6) == 0)
		watch(c, line + 6);
	else if (*line)
		run(c, line);
	if (before)
		setenv("PAGER", before, 1);
	else
		unsetenv("PAGER");
	free(before);
}

/* --- life --- */

static char *prompt_of(EditLine *line)
{
	return console_of(line)->prompt;
}

/* The name of the node is that of its socket. */
static void make_prompt(struct console *c)
{
	struct sockaddr_un peer = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(peer);
	const char *name = "sluice";
	char *slash;

	if (getpeername(c->client->fd, (struct sockaddr *)&peer, &size) == 0 && peer.sun_path[0]) {
		slash = strrchr(peer.sun_path, '/');
		name = slash ? slash + 1 : peer.sun_path;
	}
	snprintf(c->prompt, sizeof(c->prompt), "%.*s> ", (int)strcspn(name, "."), name);
}

/* $XDG_STATE_HOME/sluice/history, or ~/.local/state/sluice/history; no home: no file. */
static void find_history(struct console *c)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *at;

	if (state && *state)
		snprintf(c->file, sizeof(c->file), "%s/sluice/history", state);
	else if (home && *home)
		snprintf(c->file, sizeof(c->file), "%s/.local/state/sluice/history", home);
	for (at = c->file[0] ? strchr(c->file + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(c->file, 0700);
		*at = '/';
	}
}

static int begin(struct console *c)
{
	struct sigaction action = {.sa_handler = interrupt};
	HistEvent event;

	sigaction(SIGINT, &action, NULL);
	make_prompt(c);
	find_history(c);
	c->line = el_init("sluicectl", stdin, stdout, stderr);
	c->history = history_init();
	if (!c->line || !c->history)
		return -1;
	history(c->history, &event, H_SETSIZE, HISTORY_LINES);
	history(c->history, &event, H_SETUNIQUE, 1);
	if (c->file[0])
		history(c->history, &event, H_LOAD, c->file);
	el_set(c->line, EL_CLIENTDATA, c);
	el_set(c->line, EL_PROMPT, prompt_of);
	el_set(c->line, EL_EDITOR, "emacs");
	el_set(c->line, EL_HIST, history, c->history);
	el_set(c->line, EL_ADDFN, "sluice-complete", "complete a word", complete);
	el_set(c->line, EL_ADDFN, "sluice-help", "list what may follow", help);
	el_set(c->line, EL_ADDFN, "sluice-clear", "clear the line", clear_line);
	el_set(c->line, EL_SETTY, "-d", "-isig", NULL);
	el_set(c->line, EL_BIND, "^I", "sluice-complete", NULL);
	el_set(c->line, EL_BIND, "?", "sluice-help", NULL);
	el_set(c->line, EL_BIND, "^C", "sluice-clear", NULL);
	el_set(c->line, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_set(c->line, EL_BIND, "^U", "em-kill-line", NULL);
	el_set(c->line, EL_BIND, "\\e[H", "ed-move-to-beg", NULL);
	el_set(c->line, EL_BIND, "\\e[F", "ed-move-to-end", NULL);
	el_set(c->line, EL_BIND, "\\e[1~", "ed-move-to-beg", NULL);
	el_set(c->line, EL_BIND, "\\e[4~", "ed-move-to-end", NULL);
	el_set(c->line, EL_BIND, "\\e[3~", "ed-delete-next-char", NULL);
	return 0;
}

int console_run(struct client *client)
{
	struct console c = {.client = client};
	HistEvent event;
	int n;

	if (begin(&c) < 0)
		return EXIT_CONNECT;
	while (!c.ends && !c.lost) {
		const char *text = el_gets(c.line, &n);
		char *line;

		if (!text || n <= 0)
			break;
		line = strndup(text, strcspn(text, "\r\n"));
		if (!line)
			break;
		if (line[strspn(line, " ")]) {
			history(c.history, &event, H_ENTER, line);
			if (c.file[0])
				history(c.history, &event, H_SAVE, c.file);
		}
		enter(&c, line + strspn(line, " "));
		free(line);
	}
	if (!c.ends)
		printf("\n");
	history_end(c.history);
	el_end(c.line);
	return c.lost ? EXIT_CONNECT : 0;
}
