/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks whether a memif server answers (memif_server.h). Management thread. */
#include "drivers/memif_server.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET_DEFAULT "/run/memif.sock" /* of the driver */

/* The value of an argument; "" if it is not there. */
static void argument(const char *device, const char *key, char *out, size_t size)
{
	const char *at = strchr(device, ',');

	out[0] = '\0';
	for (; at; at = strchr(at + 1, ','))
		if (strncmp(at + 1, key, strlen(key)) == 0 && at[1 + strlen(key)] == '=') {
			at += 2 + strlen(key);
			snprintf(out, size, "%.*s", (int)strcspn(at, ","), at);
			return;
		}
}

void memif_server_init(struct memif_server *s, const char *device)
{
	char path[sizeof(s->addr.sun_path) - 1], abstract[8];

	*s = (struct memif_server){.addr = {.sun_family = AF_UNIX}, .size = sizeof(s->addr), .fd = -1};
	argument(device, "socket", path, sizeof(path));
	argument(device, "socket-abstract", abstract, sizeof(abstract));
	if (!path[0])
		snprintf(path, sizeof(path), "%s", SOCKET_DEFAULT);
	if (strcmp(abstract, "no") == 0) {
		memcpy(s->addr.sun_path, path, strlen(path) + 1);
		return;
	}
	/* the driver's length of an abstract address */
	memcpy(s->addr.sun_path + 1, path, strlen(path) + 1);
	s->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(path));
}

static bool is_accepted(struct memif_server *s)
{
	char hello[256];
	ssize_t n = recv(s->fd, hello, sizeof(hello), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	memif_server_close(s);
	return n > 0;
}

bool memif_server_answers(struct memif_server *s)
{
	if (s->fd >= 0)
		return is_accepted(s);
	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return false;
	if (connect(s->fd, (const struct sockaddr *)&s->addr, s->size) < 0)
		memif_server_close(s);
	return false; /* it needs some time */
}

void memif_server_remove_stale(const char *device)
{
	struct memif_server s;
	struct stat st;
	char role[16];
	int fd;

	argument(device, "role", role, sizeof(role));
	if (strncmp(device, "net_memif", strlen("net_memif")) != 0 || strcmp(role, "server") != 0)
		return;
	memif_server_init(&s, device);
	/* an abstract one went with its process */
	if (!s.addr.sun_path[0] || lstat(s.addr.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&s.addr, s.size) < 0 && errno == ECONNREFUSED)
		unlink(s.addr.sun_path);
	close(fd);
}

void memif_server_close(struct memif_server *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
