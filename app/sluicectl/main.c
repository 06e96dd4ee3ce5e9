/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sluicectl: sends commands to a running node over its unix socket: one command from the command line, commands from
 * standard input, or, on a terminal, a console. Single-threaded.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "client.h"

#define SECONDS_MAX 86400 /* between two runs of a watched command */

static void usage(FILE *out)
{
	fprintf(out, "usage: sluicectl [-n NODE | -s SOCKET] [-j] [-w SECONDS] [COMMAND...]\n\n");
	cli_print_options(sluicectl_options, n_sluicectl_options, out);
	fprintf(out, "\n"
		     "Without COMMAND, sluicectl opens a console if standard input is a terminal (exit or Ctrl-D "
		     "leaves it).\n"
		     "Otherwise it reads commands from standard input, one per line.\n"
		     "Exit status: 0 success, 1 a command failed, 2 wrong usage, 3 no connection.\n");
}

static const char *runtime_directory(char *buf, size_t size)
{
	const char *user = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		snprintf(buf, size, "/run/sluice");
	else if (user)
		snprintf(buf, size, "%s/sluice", user);
	else
		snprintf(buf, size, "/tmp/sluice-%u", (unsigned int)geteuid());
	return buf;
}

/* A connection, or -1 with errno set. */
static int connect_to(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, why;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

/* A connection to the only running node; -1 with a message. */
static int connect_to_only(bool json)
{
	char dir[PATH_MAX / 2], path[PATH_MAX], names[1024] = "";
	DIR *d = opendir(runtime_directory(dir, sizeof(dir)));
	int only = -1, found = 0, why = ENOENT;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name), used = strlen(names);
		int fd;

		if (n < 6 || strcmp(e->d_name + n - 5, ".sock") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		fd = connect_to(path);
		if (fd < 0) {
			/* a killed node leaves a stale socket */
			why = errno == ECONNREFUSED ? why : errno;
			continue;
		}
		snprintf(names + used, sizeof(names) - used, " %.*s", (int)(n - 5), e->d_name);
		if (found++ == 0)
			only = fd;
		else
			close(fd);
	}
	if (d)
		closedir(d);
	if (found == 1)
		return only;
	if (found)
		client_error(json, "several nodes are running; choose one with -n:%s", names);
	else
		client_error(json, "found no running node that this user may connect to (%s: %s)", dir, strerror(why));
	if (only >= 0)
		close(only);
	return -1;
}

/* Does the line have the word -j, with which a node answers in JSON? */
static bool asks_for_json(const char *line)
{
	for (const char *at = line; (at = strstr(at, "-j")) != NULL; at += 2)
		if ((at == line || strchr(" \t", at[-1])) && strchr(" \t", at[2]))
			return true;
	return false;
}

/*
 * Print the answer of a node. A node that has no place for a session refuses it before it reads -j, in plain text: that
 * becomes an object here. Exit status.
 */
static int print_answer(FILE *from, int status, unsigned long size, bool json)
{
	char buf[8192];

	if (status == EBUSY && json && size < sizeof(buf) && fread(buf, 1, size, from) == size) {
		if (buf[0] == '{') {
			fwrite(buf, 1, size, stderr);
			return EXIT_COMMAND;
		}
		buf[size] = '\0';
		buf[strcspn(buf, "\n")] = '\0';
		client_error(json, "%s", buf);
		return EXIT_COMMAND;
	}
	while (size) {
		size_t n = fread(buf, 1, size < sizeof(buf) ? size : sizeof(buf), from);

		if (!n) {
			client_error(json, "the node closed the connection in the middle of the answer");
			return EXIT_CONNECT;
		}
		fwrite(buf, 1, n, status ? stderr : stdout);
		size -= n;
	}
	return status ? EXIT_COMMAND : 0;
}

/* Send a line and print its answer. Exit status. */
static int execute(FILE *from, int fd, const char *line, bool json)
{
	char head[64];
	unsigned long size;
	int status;

	if (strchr(line, '\n')) {
		client_error(json, "a command must be a single line");
		return EXIT_USAGE;
	}
	/* a node that refuses a connection sends the reason and closes: sending may fail, reading succeeds */
	if (client_send(fd, "x ", 2) == 0 && (!json || client_send(fd, "-j ", 3) == 0) &&
		client_send(fd, line, strlen(line)) == 0)
		client_send(fd, "\n", 1);
	json = json || asks_for_json(line);
	if (!fgets(head, sizeof(head), from) || sscanf(head, "%d %lu", &status, &size) != 2) {
		client_error(json, "the node closed the connection");
		return EXIT_CONNECT;
	}
	return print_answer(from, status, size, json);
}

/* Run a line every `seconds`, on a cleared screen if it is one, until the user types Ctrl-C or the command fails. */
static int watch(FILE *from, int fd, const char *line, bool json, unsigned long seconds)
{
	bool screen = isatty(STDOUT_FILENO);
	char clock[16];
	int status;

	for (;;) {
		time_t now = time(NULL);

		if (screen)
			printf("\033[H\033[2J");
		if (screen && strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now)))
			printf("%s  %s, every %lu s; Ctrl-C ends it\n\n", clock, line, seconds);
		status = execute(from, fd, line, json);
		if (status || fflush(stdout) != 0)
			return status ? status : EXIT_CONNECT;
		sleep((unsigned int)seconds);
	}
}

static int from_input(int fd, bool json)
{
	FILE *from = fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	int status = 0, rc;

	while (from && getline(&line, &room, stdin) >= 0 && status != EXIT_CONNECT) {
		line[strcspn(line, "\r\n")] = '\0';
		rc = execute(from, fd, line, json);
		status = rc ? rc : status;
	}
	free(line);
	return status;
}

/* Join the words of the command line, with quotes around words with spaces. A single word may be a whole line. */
static char *join(int argc, char **argv)
{
	char *line = NULL;
	size_t size;
	FILE *f;

	if (argc == 1)
		return strdup(argv[0]);
	f = open_memstream(&line, &size);

	for (int i = 0; f && i < argc; i++)
		fprintf(f, strpbrk(argv[i], " \t#") || !*argv[i] ? "%s\"%s\"" : "%s%s", i ? " " : "", argv[i]);
	if (f)
		fclose(f);
	return line;
}

static int console(int fd)
{
	struct client c = {.fd = fd, .from = fdopen(fd, "r")};

	return c.from ? console_run(&c) : EXIT_CONNECT;
}

int main(int argc, char **argv)
{
	struct cli_getopt table;
	char path[PATH_MAX] = "", dir[PATH_MAX / 2], *line, *end;
	unsigned long seconds = 0;
	bool json = false;
	int opt, fd, status;
	FILE *from;

	cli_getopt_init(&table, sluicectl_options, n_sluicectl_options);
	while ((opt = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		if (opt == 'n')
			snprintf(path, sizeof(path), "%s/%s.sock", runtime_directory(dir, sizeof(dir)), optarg);
		else if (opt == 's')
			snprintf(path, sizeof(path), "%s", optarg);
		else if (opt == 'j')
			json = true;
		else if (opt == 'w' && (seconds = strtoul(optarg, &end, 10)) > 0 && seconds <= SECONDS_MAX && !*end)
			continue;
		else {
			usage(opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : EXIT_USAGE;
		}
	}
	fd = path[0] ? connect_to(path) : connect_to_only(json);
	if (fd < 0 && path[0])
		client_error(json, "%s: %s", path, strerror(errno));
	if (fd < 0)
		return EXIT_CONNECT;
	if (seconds && optind == argc) {
		client_error(json, "--watch needs a COMMAND");
		return EXIT_USAGE;
	}
	if (optind == argc)
		return isatty(STDIN_FILENO) ? console(fd) : from_input(fd, json);
	line = join(argc - optind, argv + optind);
	from = fdopen(fd, "r");
	if (!line || !from)
		return EXIT_CONNECT;
	status = seconds ? watch(from, fd, line, json, seconds) : execute(from, fd, line, json);
	free(line);
	return status;
}
