/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: the console on standard input and connections to the unix socket. The management thread serves all of
 * them and never blocks: output that a peer does not read is buffered up to a limit, and meanwhile its input is not
 * read.
 *
 * A connection begins in line mode: the answer to "x COMMAND" is "STATUS LENGTH" and LENGTH bytes of text; that to "c LINE" the
 * completions of a line, as sluicectl's console asks for them. "i" starts
 * a terminal with editing, completion and history; the client's terminal must be in raw mode.
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
#include "lcores.h"
#include "machine.h"
#include "options.h"
#include "base/log.h"
#include "capture/capture.h"
#include "command/line.h"
#include "node/node_ctl.h"
#include "terminal.h"

#define SESSIONS_MAX 18		 /* the console, 16 connections, and one that is reserved for root */
#define IDLE_S 900		 /* a connection without a command, or whose peer does not read, ends */
#define MAY_GO_S 5		 /* when all are in use, root ends the one that is idle for longest, but for so long */
#define LISTEN_PAUSE_MS 200	 /* without a descriptor for a connection, none is accepted for so long */
#define OUTPUT_MAX (64u << 20)	 /* bytes of one answer */
#define OUTPUT_PAUSE (64u << 10) /* with more than this unread, the session's input is not read */
#define OUTPUT_KEEP (1u << 20)	 /* a larger buffer is freed when it is empty */
#define READ_MAX 4096
#define ACCEPT_MAX 64 /* connections per pass */
#define SCRIPT_WAIT_US 1000
#define LAST_WORD_MS 2000 /* for the console to read the remaining output when the node stops */

struct session {
	int in, out;		   /* -1: free; equal for connections */
	uint64_t active_ms;	   /* when something was last received or sent */
	bool ended;		   /* end of input */
	bool closing;		   /* close when all output is written */
	struct terminal *terminal; /* NULL: line mode */
	char input[READ_MAX];	   /* received; processed up to input_at, one command per pass */
	size_t input_at, input_n;
	struct line_reader line;
	char *output;
	size_t output_n, output_room;
	struct command_later later; /* what its last command still does; until that has ended, no input is processed */
};

struct server {
	struct app *app;
	uint64_t now_ms; /* of this pass */
	int listener;
	uint64_t listen_ms; /* from when on connections are accepted */
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
		if (s->out != STDOUT_FILENO)
			close(s->out);
	} else {
		close(s->in);
	}
	command_stop(v->app->node, &s->later);
	terminal_free(s->terminal);
	free(s->output);
	*s = (struct session){.in = -1, .out = -1};
}

static void put(struct session *s, const void *data, size_t n)
{
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

/* Write as much as the peer accepts without blocking. */
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
		s->active_ms = v->now_ms;
		done += (size_t)n;
	}
	memmove(s->output, s->output + done, s->output_n - done);
	s->output_n -= done;
	if (!s->output_n && s->output_room > OUTPUT_KEEP) {
		free(s->output);
		s->output = NULL;
		s->output_room = 0;
	}
	if (s->closing && !s->output_n)
		end_session(v, s);
}

/* Can this session process input without waiting? */
static bool is_pending(const struct session *s)
{
	return s->in >= 0 && !s->closing && !s->later.command && s->output_n <= OUTPUT_PAUSE &&
	       (s->ended || s->input_at < s->input_n);
}

static void quit_session(void *arg)
{
	((struct session *)arg)->closing = true;
}

/* Run a line, or go on with what the last one does if it is NULL. Returns its output, which the caller frees; NULL when out of memory. */
static char *run(struct server *v, struct session *s, const char *line, size_t *size, int *rc)
{
	struct command_host host = v->app->host;
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	*rc = -ENOMEM;
	*size = 0;
	if (!f)
		return NULL;
	host.later = &s->later;
	/* quit stops the node on the console, and only the session on a connection */
	if (s->in != STDIN_FILENO) {
		host.session = s;
		host.quit = quit_session;
	}
	*rc = line ? command_run(&host, line, f) : command_go_on(&host, f);
	fclose(f);
	if (text && *size > OUTPUT_MAX) {
		*rc = -EFBIG;
		*size = (size_t)sprintf(text, "the output has %zu bytes, more than the limit of %u; request less\n",
			*size, OUTPUT_MAX);
	}
	return text;
}

/* "STATUS LENGTH" and LENGTH bytes. */
static void put_answer(struct session *s, int rc, const char *text, size_t size)
{
	char head[48];

	put(s, head, (size_t)snprintf(head, sizeof(head), "%d %zu\n", -rc, size));
	put(s, text, size);
}

/* The answer to input that is not a command. */
static void put_message(struct session *s, int rc, const char *text, size_t size)
{
	if (s->in == STDIN_FILENO)
		put(s, text, size);
	else
		put_answer(s, rc, text, size);
}

/* Refuse the line that was read, in JSON if it asks for that. */
static void refuse(struct session *s, const char *why)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (f) {
		command_refuse(s->line.text, s->line.n, why, f);
		fclose(f);
	}
	put_message(s, -EINVAL, text ? text : "", size);
	free(text);
}

static void answer(struct server *v, struct session *s, const char *command)
{
	size_t size;
	int rc;
	char *text = run(v, s, command, &size, &rc);

	if (rc != -EINPROGRESS)
		put_answer(s, rc, text ? text : "", size);
	free(text);
}

static void offer(void *arg, const char *text, const char *help)
{
	fprintf(arg, "%s\t%s\n", text, help ? help : "");
}

/* The completions of a line that ends at the cursor: a word, a tab and its help, one a line. */
static void offer_all(struct server *v, struct session *s, const char *line)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (f) {
		command_complete(&v->app->host, line, offer, f);
		fclose(f);
	}
	put_answer(s, f ? 0 : -ENOMEM, text ? text : "", size);
	free(text);
}

/* Output of the line editor (terminal.c). */
static void show(void *arg, const char *data, size_t n)
{
	put(arg, data, n);
}

struct enter {
	struct server *v;
	struct session *s;
};

static bool entered(void *arg, const char *line)
{
	struct enter *e = arg;
	size_t size;
	int rc;
	char *text = run(e->v, e->s, line, &size, &rc);

	if (text)
		terminal_print(e->s->terminal, text, size);
	free(text);
	return rc != -EINPROGRESS;
}

/* Ask what the session waits for. */
static void go_on_later(struct server *v, struct session *s)
{
	bool answers = !s->terminal && s->in != STDIN_FILENO;
	size_t size;
	int rc;
	char *text = run(v, s, NULL, &size, &rc);

	if (rc != -EINPROGRESS && s->terminal) {
		terminal_print(s->terminal, text ? text : "", size);
		terminal_prompt(s->terminal);
	} else if (rc != -EINPROGRESS && answers) {
		put_answer(s, rc, text ? text : "", size);
	} else if (rc != -EINPROGRESS && text) {
		put(s, text, size);
	}
	free(text);
	flush(v, s);
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
	const char *line = s->line.text;

	if (s->in == STDIN_FILENO) {
		size_t size;
		int rc;
		char *text = run(v, s, line, &size, &rc);

		if (text)
			put(s, text, size);
		free(text);
	} else if (strcmp(line, "i") == 0) {
		begin_terminal(v, s);
	} else if (strncmp(line, "x ", 2) == 0) {
		answer(v, s, line + 2);
	} else if (strncmp(line, "c ", 2) == 0) {
		offer_all(v, s, line + 2);
	} else {
		static const char expected[] = "expected 'x COMMAND', 'c LINE' or 'i'\n";

		put_message(s, -EINVAL, expected, sizeof(expected) - 1);
		s->closing = true;
	}
}

/* Handle a line by its state. True when it is complete, so that other sessions get their turn. */
static bool take_state(struct server *v, struct session *s, enum line_state state)
{
	char text[64];

	switch (state) {
	case LINE_WHOLE:
		take_line(v, s);
		return true;
	case LINE_BINARY:
		refuse(s, "the line contains a NUL byte");
		return true;
	case LINE_TOO_LONG:
		snprintf(text, sizeof(text), "a line has at most %d bytes", COMMAND_LINE_MAX - 1);
		refuse(s, text);
		return false;
	case LINE_SKIPPED:
		return true;
	case LINE_MORE:
		break;
	}
	return false;
}

static bool take_byte(struct server *v, struct session *s, char byte)
{
	struct enter e = {v, s};

	if (!s->terminal)
		return take_state(v, s, line_take(&s->line, byte));
	if (terminal_input(s->terminal, byte, entered, &e)) { /* Ctrl-D */
		s->closing = true;
		if (s->in == STDIN_FILENO)
			v->app->stop = true;
	}
	return byte == '\r' || byte == '\n';
}

static void receive(struct server *v, struct session *s)
{
	ssize_t n = read(s->in, s->input, sizeof(s->input));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	s->active_ms = v->now_ms;
	s->ended = n <= 0;
	s->input_at = 0;
	s->input_n = n > 0 ? (size_t)n : 0;
}

/* Process received input, at most one command. */
static void go_on(struct server *v, struct session *s)
{
	bool line = false;

	while (!line && !s->closing && !s->later.command && s->input_at < s->input_n)
		line = take_byte(v, s, s->input[s->input_at++]);
	if (s->ended && !s->later.command && s->input_at == s->input_n) {
		if (s->in == STDIN_FILENO) {
			if (!v->console_is_tty)
				take_state(v, s, line_end(&s->line));
			if (s->later.command) /* it is told at its end */
				return;
			v->app->stop = true; /* with -i the node stops at end of input */
		}
		s->closing = true;
	}
	flush(v, s);
}

/* The connection that is idle for longest, and at least for `ms`; NULL: none. */
static struct session *idlest(struct server *v, uint64_t ms)
{
	struct session *s = NULL;

	for (unsigned int i = 1; i < SESSIONS_MAX; i++)
		if (v->session[i].in >= 0 && v->now_ms - v->session[i].active_ms >= ms &&
			(!s || v->session[i].active_ms < s->active_ms))
			s = &v->session[i];
	return s;
}

static bool is_root(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == 0;
}

/* Session 0 is the console, the last one is reserved for root; if that is in use, an idle connection ends for root. */
static struct session *free_session(struct server *v, bool root)
{
	struct session *s;

	for (unsigned int i = 1; i < SESSIONS_MAX - (root ? 0u : 1u); i++)
		if (v->session[i].in < 0)
			return &v->session[i];
	s = root ? idlest(v, MAY_GO_S * 1000) : NULL;
	if (s)
		end_session(v, s);
	return s;
}

static void take_connection(struct server *v, int fd)
{
	struct session *s = free_session(v, is_root(fd));

	if (!s) {
		static const char busy[] = "too many sessions; end one first\n";
		char text[64];
		int n = snprintf(text, sizeof(text), "%d %zu\n%s", EBUSY, sizeof(busy) - 1, busy);

		send(fd, text, (size_t)n, MSG_NOSIGNAL);
		close(fd);
		return;
	}
	s->in = s->out = fd;
	s->active_ms = v->now_ms;
}

static void accept_connections(struct server *v)
{
	int fd;

	for (unsigned int i = 0; i < ACCEPT_MAX; i++) {
		fd = accept4(v->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
			/* the connection stays in the queue: without a pause poll would return at once, again and again */
			v->listen_ms = v->now_ms + LISTEN_PAUSE_MS;
			log_warning(console, "cannot accept a session: %s", strerror(errno));
		}
		if (fd < 0)
			return;
		take_connection(v, fd);
	}
}

static int cannot_listen(const char *path, char *err, size_t size)
{
	int rc = -errno;

	snprintf(err, size, "cannot listen on %s: %s", path, strerror(-rc));
	return rc;
}

static int listen_on(struct server *v, char *err, size_t size)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char dir[PATH_MAX - 64];
	mode_t mask;
	int rc;

	rc = instance_directory(dir, sizeof(dir));
	if (rc < 0) {
		errno = -rc;
		return cannot_listen(dir, err, size);
	}
	snprintf(v->path, sizeof(v->path), "%s/%s.sock", dir, v->app->node->name);
	if (strlen(v->path) >= sizeof(addr.sun_path)) {
		snprintf(err, size, "socket path too long: %s; shorten node.name", v->path);
		return -ENAMETOOLONG;
	}
	strcpy(addr.sun_path, v->path);
	v->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (v->listener < 0)
		return cannot_listen(v->path, err, size);
	unlink(v->path); /* this process holds the lock of the node's name, so an existing socket is stale */
	mask = umask(0177);
	rc = bind(v->listener, (struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (rc < 0 || listen(v->listener, SOMAXCONN) < 0)
		return cannot_listen(v->path, err, size);
	return 0;
}

/*
 * Standard output, opened again without blocking, so that a stopped terminal or a slow reader cannot block the
 * management thread. O_NONBLOCK on the inherited descriptor would affect other processes that share it.
 */
static int open_output(void)
{
	struct stat st;
	int fd = -1;

	if (fstat(STDOUT_FILENO, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)))
		fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? STDOUT_FILENO : fd;
}

static void begin_console(struct server *v)
{
	struct session *s = &v->session[0];
	struct termios raw;

	s->in = STDIN_FILENO;
	s->out = open_output();
	v->console_is_tty = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &v->saved) == 0;
	if (v->console_is_tty) {
		raw = v->saved;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
		begin_terminal(v, s);
		flush(v, s);
	}
}

/* As command_run, and wait for what the command does. The lcores run. */
static int run_whole(struct app *app, const char *line)
{
	struct command_later later = {0};
	struct command_host host = app->host;
	int rc;

	host.later = &later;
	rc = command_run(&host, line, stdout);
	while (rc == -EINPROGRESS) {
		usleep(SCRIPT_WAIT_US);
		node_tick(app->node, clock_now());
		capture_poll(app->node->captures);
		rc = command_go_on(&host, stdout);
	}
	return rc;
}

/* Run the commands of a file in order. Output goes to standard output; a failed command is reported with its line. */
static void run_script(struct app *app, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	unsigned int number = 0;
	ssize_t n;

	if (!f) {
		log_error(console, "%s: %s", path, strerror(errno));
		app->script_failed = true;
		return;
	}
	while (!app->stop && (n = getline(&line, &room, f)) >= 0) {
		bool text = strlen(line) == (size_t)n;

		number++;
		line[strcspn(line, "\n")] = '\0';
		if (!text)
			printf("the line contains a NUL byte\n");
		if (!text || run_whole(app, line) < 0) {
			printf("%s:%u: failed: %s\n", path, number, line);
			app->script_failed = true;
		}
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

/* Wait for the console to read the answers to its last commands. */
static void finish_console(struct server *v)
{
	struct session *s = &v->session[0];
	struct pollfd p = {.fd = s->out, .events = POLLOUT};

	while (s->in >= 0 && s->output_n && poll(&p, 1, LAST_WORD_MS) == 1)
		flush(v, s);
}

void server_stop(struct app *app)
{
	struct server *v = app->server;

	if (!v)
		return;
	finish_console(v);
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

unsigned int server_poll_set(struct app *app, struct pollfd *fds, unsigned int room, uint64_t now)
{
	struct server *v = app->server;
	unsigned int n = 0;

	if (!v)
		return 0;
	v->now_ms = now / NSEC_PER_MSEC;
	if (v->now_ms >= v->listen_ms)
		fds[n++] = (struct pollfd){.fd = v->listener, .events = POLLIN};
	for (unsigned int i = 0; i < SESSIONS_MAX && n + 1 < room; i++) {
		const struct session *s = &v->session[i];
		bool listens = !s->ended && !s->closing && s->output_n <= OUTPUT_PAUSE && s->input_at == s->input_n;

		if (s->in < 0)
			continue;
		if (s->later.command) { /* its input waits; a peer that has gone is noticed */
			if (s->in != STDIN_FILENO)
				fds[n++] = (struct pollfd){.fd = s->in};
			continue;
		}
		if (listens)
			fds[n++] = (struct pollfd){.fd = s->in, .events = POLLIN};
		if (s->output_n)
			fds[n++] = (struct pollfd){.fd = s->out, .events = POLLOUT};
	}
	return n;
}

bool server_is_busy(const struct app *app)
{
	for (unsigned int i = 0; app->server && i < SESSIONS_MAX; i++)
		if (is_pending(&app->server->session[i]))
			return true;
	return false;
}

static struct session *session_of(struct server *v, int fd)
{
	for (unsigned int i = 0; i < SESSIONS_MAX; i++)
		if (v->session[i].in >= 0 && (v->session[i].in == fd || v->session[i].out == fd))
			return &v->session[i];
	return NULL;
}

static void serve_fd(struct server *v, const struct pollfd *p)
{
	struct session *s = session_of(v, p->fd);

	if (!p->revents)
		return;
	if (p->fd == v->listener)
		accept_connections(v);
	else if (s && !p->events)
		end_session(v, s);
	else if (s && p->events & POLLOUT)
		flush(v, s);
	else if (s)
		receive(v, s);
}

void server_serve(struct app *app, const struct pollfd *fds, unsigned int n, uint64_t now)
{
	struct server *v = app->server;
	struct session *idle;

	if (!v)
		return;
	v->now_ms = now / NSEC_PER_MSEC;
	for (unsigned int i = 0; i < n; i++)
		serve_fd(v, &fds[i]);
	for (unsigned int i = 0; i < SESSIONS_MAX; i++)
		if (v->session[i].later.command)
			go_on_later(v, &v->session[i]);
	for (unsigned int i = 0; i < SESSIONS_MAX && !app->stop; i++)
		if (is_pending(&v->session[i]))
			go_on(v, &v->session[i]);
	idle = idlest(v, IDLE_S * 1000);
	if (idle)
		end_session(v, idle);
}
