/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends lines to a node and reads its answers (client.h). Single-threaded. */
#include "client.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void client_error(bool json, const char *format, ...)
{
	char text[2 * PATH_MAX];
	json_t *error;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!json) {
		fprintf(stderr, "sluicectl: %s\n", text);
		return;
	}
	error = json_pack("{ss}", "error", text);
	if (error)
		json_dumpf(error, stderr, JSON_INDENT(2));
	else /* a path has bytes that are not UTF-8 */
		fputs("{\"error\": \"invalid UTF-8\"}", stderr);
	fputc('\n', stderr);
	json_decref(error);
}

int client_send(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t done = send(fd, data, n, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		data += done;
		n -= (size_t)done;
	}
	return 0;
}

int client_ask(struct client *c, char kind, const char *line, char **text, size_t *size)
{
	char head[64], start[3] = {kind, ' ', '\0'};
	int status;

	*text = NULL;
	*size = 0;
	/* a node that refuses a connection sends the reason and closes: sending may fail, reading succeeds */
	if (client_send(c->fd, start, 2) == 0 && client_send(c->fd, line, strlen(line)) == 0)
		client_send(c->fd, "\n", 1);
	if (!fgets(head, sizeof(head), c->from) || sscanf(head, "%d %zu", &status, size) != 2 || status < 0)
		return -1;
	*text = calloc(1, *size + 1);
	if (*text && fread(*text, 1, *size, c->from) == *size)
		return status;
	free(*text);
	*text = NULL;
	return -1;
}
