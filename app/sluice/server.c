/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: the console on standard input and connections to the unix socket. All of them are served by the
 * management thread without ever blocking it: what a peer does not read is kept up to a limit, then the session
 * ends.
 *
 * A connection begins in line mode: "x COMMAND" is answered by "STATUS LENGTH" and so many bytes of text; "i" turns
 * it into a terminal with editing, completion and history, whose other end must be raw.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "app.h"
#include "base/log.h"
#include "node/node.h"
#include "terminal.h"

#define SESSIONS_MAX 17		  /* the console and 16 connections */
#define OUTPUT_MAX   (64u << 20) /* bytes a session may leave unread */
#define READ_MAX     4096

struct session {
	int in, out; /* -1: free; equal for connections */
	bool closing; /* once everything is written */
	struct terminal *terminal; /* NULL: line mode */
	char line[COMMAND_LINE_MAX + 1];
	size_t line_n;
	bool skipping; /* the rest of a line that was too long */
	char *output;
	size_t output_n, output_room;
};

struct server {
	struct app *app;
	int listener;
	char path[PATH_MAX];
	struct session session[SESSIONS_MAX];
	struct termios saved; /* of the console */
	bool console_is_tty;
};

static void end_session(struct server *v, struct session *s)
{
	if (s->in == STDIN_FILENO) {
		if (v->console_is_tty)
			tcsetattr(STDIN_FILENO, TCSANOW, &v->saved);
	} else {
		close(s->in);
	}
	terminal_free(s->terminal);
	free(s->output);
	*s = (struct session){.in = -1, .out = -1};
}

static void put(struct session *s, const void *data, size_t n)
{
	if (s->output_n + n > OUTPUT_MAX) {
		s->closing = true; /* a reader that does not read */
		s->output_n = 0;
		return;
	}
	if (s->output_n + n > s->output_room) {
		size_t room = (s->output_n + n) * 2;
		char *p = realloc(s->output, room);

		if (!p) {
			s->closing = true;
			return;
		}
		s->output = p;
		s->output_room = room;
	}
	memcpy(s->output + s->output_n, data, n);
	s->output_n += n;
}

/* Write what the peer takes now. */
static void flush(struct server *v, struct session *s)
{
	size_t done = 0;

	while (done < s->output_n) {
		ssize_t n = s->in == s->out ? send(s->out, s->output + done, s->output_n - done, MSG_NOSIGNAL)
					    : write(s->out, s->output + done, s->output_n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			end_session(v, s);
			return;
		}
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	memmove(s->output, s->output + done, s->output_n - done);
	s->output_n -= done;
	if (s->closing && !s->output_n)
		end_session(v, s);
}

/* Run a line; its output as text the caller frees. */
static char *run(struct server *v, const struct command_host *host, const char *line, size_t *size, int *rc)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	(void)v;
	if (!f) {
		*rc = -ENOMEM;
		return NULL;
	}
	*rc = command_run(host, line, f);
	fclose(f);
	return text;
}

static void quit_session(void *arg)
{
	((struct session *)arg)->closing = true;
}

/* The console's quit stops the node, a connection's ends itself. */
static struct command_host host_of(struct server *v, struct session *s)
{
	struct command_host host = v->app->host;

	if (s->in != STDIN_FILENO) {
		host.arg = v->app;
		host.quit = NULL;
	}
	return host;
}

static bool is_quit(const char *line)
{
	while (*line == ' ' || *line == '\t')
		line++;
	return strncmp(line, "quit", 4) == 0 && line[4 + strspn(line + 4, " \t\r\n")] == '\0';
}

static void answer(struct server *v, struct session *s, const char *command)
{
	struct command_host host = host_of(v, s);
	char head[48], *text;
	size_t size = 0;
	int rc, n;

	if (!host.quit && is_quit(command)) {
		quit_session(s);
		rc = 0;
		text = NULL;
	} else {
		text = run(v, &host, command, &size, &rc);
	}
	n = snprintf(head, sizeof(head), "%d %zu\n", -rc, text ? size : 0);
	put(s, head, (size_t)n);
	if (text)
		put(s, text, size);
	free(text);
}

/* terminal.c wants to show something. */
static void show(void *arg, const char *data, size_t n)
{
	put(arg, data, n);
}

struct enter {
	struct server *v;
	struct session *s;
};

static void entered(void *arg, const char *line)
{
	struct enter *e = arg;
	struct command_host host = host_of(e->v, e->s);
	size_t size = 0;
	char *text;
	int rc;

	if (!host.quit && is_quit(line)) {
		quit_session(e->s);
		return;
	}
	text = run(e->v, &host, line, &size, &rc);
	if (text)
		terminal_print(e->s->terminal, text, size);
	free(text);
}

static void begin_terminal(struct server *v, struct session *s)
{
	char prompt[48];

	snprintf(prompt, sizeof(prompt), "%s> ", v->app->node->name);
	s->terminal = terminal_new(&v->app->host, prompt, show, s);
	if (!s->terminal)
		s->closing = true;
}

static void take_line(struct server *v, struct session *s)
{
	s->line[s->line_n] = '\0';
	if (s->in == STDIN_FILENO) {
		struct command_host host = host_of(v, s);
		size_t size = 0;
		int rc;
		char *text = run(v, &host, s->line, &size, &rc);

		if (text)
			put(s, text, size);
		free(text);
	} else if (strcmp(s->line, "i") == 0) {
		begin_terminal(v, s);
	} else if (strncmp(s->line, "x ", 2) == 0) {
		answer(v, s, s->line + 2);
	} else {
		put(s, "22 30\nexpected 'x COMMAND' or 'i'\n\n", 36);
		s->closing = true;
	}
	s->line_n = 0;
}

static void too_long(struct session *s)
{
	static const char text[] = "a line has at most 4095 bytes\n";
	char head[32];

	if (s->in != STDIN_FILENO) {
		int n = snprintf(head, sizeof(head), "%d %zu\n", EINVAL, sizeof(text) - 1);

		put(s, head, (size_t)n);
	}
	put(s, text, sizeof(text) - 1);
	s->skipping = true;
	s->line_n = 0;
}

static void take_bytes(struct server *v, struct session *s, const char *data, size_t n)
{
	struct enter e = {v, s};

	for (size_t i = 0; i < n && !s->closing; i++) {
		if (s->terminal) {
			if (terminal_input(s->terminal, data[i], entered, &e))
				s->closing = true; /* Ctrl-D */
			continue;
		}
		if (data[i] == '\n') {
			if (!s->skipping)
				take_line(v, s);
			s->skipping = false;
		} else if (!s->skipping) {
			if (s->line_n == COMMAND_LINE_MAX)
				too_long(s);
			else
				s->line[s->line_n++] = data[i];
		}
	}
}

static void receive(struct server *v, struct session *s)
{
	char data[READ_MAX];
	ssize_t n = read(s->in, data, sizeof(data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		if (s->in == STDIN_FILENO) {
			if (n == 0 && !v->console_is_tty && s->line_n)
				take_line(v, s);
			v->app->stop = true; /* the console is the node's life line */
		}
		s->closing = true;
	} else {
		take_bytes(v, s, data, (size_t)n);
	}
	flush(v, s);
}

static struct session *free_session(struct server *v)
{
	for (unsigned int i = 0; i < SESSIONS_MAX; i++)
		if (v->session[i].in < 0)
			return &v->session[i];
	return NULL;
}

static void accept_connection(struct server *v)
{
	int fd = accept4(v->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct session *s = fd < 0 ? NULL : free_session(v);

	if (fd < 0)
		return;
	if (!s) {
		static const char busy[] = "16 30\ntoo many sessions; end one first\n";

		send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL);
		close(fd);
		return;
	}
	s->in = s->out = fd;
}

static int listen_on(struct server *v, char *err, size_t size)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char dir[PATH_MAX - 64];
	mode_t mask;
	int rc;

	if (instance_directory(dir, sizeof(dir)) < 0)
		return -errno;
	snprintf(v->path, sizeof(v->path), "%s/%s.sock", dir, v->app->node->name);
	if (strlen(v->path) >= sizeof(addr.sun_path)) {
		snprintf(err, size, "the path of the socket is too long: %s", v->path);
		return -ENAMETOOLONG;
	}
	strcpy(addr.sun_path, v->path);
	v->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (v->listener < 0)
		return -errno;
	unlink(v->path); /* the node's name is ours, so a socket that is there is stale */
	mask = umask(0177);
	rc = bind(v->listener, (struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (rc < 0 || listen(v->listener, 8) < 0) {
		rc = -errno;
		snprintf(err, size, "cannot listen on %s: %s", v->path, strerror(-rc));
		return rc;
	}
	return 0;
}

static void begin_console(struct server *v)
{
	struct session *s = &v->session[0];
	struct termios raw;

	s->in = STDIN_FILENO;
	s->out = STDOUT_FILENO;
	v->console_is_tty = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &v->saved) == 0;
	if (v->console_is_tty) {
		raw = v->saved;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
		begin_terminal(v, s);
		flush(v, s);
	}
}

/* Commands of a file, in order; what they say goes to standard output, what fails is named with its line. */
static void run_script(struct app *app, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	unsigned int number = 0;

	if (!f) {
		log_error(console, "%s: %s", path, strerror(errno));
		return;
	}
	while (getline(&line, &room, f) >= 0 && !app->stop) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (command_run(&app->host, line, stdout) < 0)
			printf("%s:%u: failed: %s\n", path, number, line);
		fflush(stdout);
	}
	free(line);
	fclose(f);
}

int server_start(struct app *app, char *err, size_t size)
{
	struct server *v = calloc(1, sizeof(*v));
	int rc;

	if (!v) {
		snprintf(err, size, "out of memory");
		return -ENOMEM;
	}
	v->app = app;
	v->listener = -1;
	for (unsigned int i = 0; i < SESSIONS_MAX; i++)
		v->session[i].in = v->session[i].out = -1;
	app->server = v;
	rc = listen_on(v, err, size);
	if (rc < 0) {
		server_stop(app);
		return rc;
	}
	if (app->options->script_file)
		run_script(app, app->options->script_file);
	if (app->options->interactive && !app->stop)
		begin_console(v);
	return 0;
}

void server_stop(struct app *app)
{
	struct server *v = app->server;

	if (!v)
		return;
	for (unsigned int i = 0; i < SESSIONS_MAX; i++) {
		if (v->session[i].in < 0)
			continue;
		flush(v, &v->session[i]);
		if (v->session[i].in >= 0)
			end_session(v, &v->session[i]);
	}
	if (v->listener >= 0) {
		close(v->listener);
		unlink(v->path);
	}
	free(v);
	app->server = NULL;
}

unsigned int server_poll_set(struct app *app, struct pollfd *fds, unsigned int room)
{
	struct server *v = app->server;
	unsigned int n = 0;

	if (!v)
		return 0;
	fds[n++] = (struct pollfd){.fd = v->listener, .events = POLLIN};
	for (unsigned int i = 0; i < SESSIONS_MAX && n + 1 < room; i++) {
		const struct session *s = &v->session[i];

		if (s->in < 0)
			continue;
		/* a peer that leaves much unread is not listened to until it reads */
		fds[n++] = (struct pollfd){.fd = s->in, .events = s->output_n > OUTPUT_MAX / 2 ? 0 : POLLIN};
		if (s->output_n)
			fds[n++] = (struct pollfd){.fd = s->out, .events = POLLOUT};
	}
	return n;
}

static struct session *session_of(struct server *v, int fd)
{
	for (unsigned int i = 0; i < SESSIONS_MAX; i++)
		if (v->session[i].in >= 0 && (v->session[i].in == fd || v->session[i].out == fd))
			return &v->session[i];
	return NULL;
}

void server_serve(struct app *app, const struct pollfd *fds, unsigned int n)
{
	struct server *v = app->server;

	for (unsigned int i = 0; v && i < n; i++) {
		struct session *s;

		if (!fds[i].revents)
			continue;
		if (fds[i].fd == v->listener) {
			accept_connection(v);
			continue;
		}
		s = session_of(v, fds[i].fd);
		if (s && fds[i].revents & POLLOUT)
			flush(v, s);
		s = session_of(v, fds[i].fd);
		if (s && fds[i].revents & (POLLIN | POLLHUP | POLLERR))
			receive(v, s);
	}
}
