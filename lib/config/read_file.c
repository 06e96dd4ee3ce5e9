/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a whole file into memory without waiting for a writer, and finds files that another file names. Management
 * thread, and the start of the program before there are other threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "config/config.h"
#include "config/remote_sids.h"
#include "config/schema.h"

static char *read_whole(FILE *f, size_t *size)
{
	size_t room = 64 * 1024, n = 0;
	char *buf = NULL, *p;

	for (;;) {
		p = realloc(buf, room);
		if (!p)
			break;
		buf = p;
		n += fread(buf + n, 1, room - n, f);
		if (n < room || n > CFG_FILE_MAX) {
			*size = n;
			return buf;
		}
		room *= 2;
	}
	free(buf);
	return NULL;
}

char *cfg_read_file(const char *path, size_t *size, struct cfg_diags *diags)
{
	struct cfg_mark none = {0, 0};
	char *text;
	FILE *f;
	int fd;

	diags->file = path;
	/* opening a FIFO without a writer would block; reading from a FIFO with a writer is allowed to block */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	f = fd < 0 || fcntl(fd, F_SETFL, 0) < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		cfg_diag_add(diags, none, "cannot open: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	text = read_whole(f, size);
	if (text && !ferror(f) && *size <= CFG_FILE_MAX) {
		fclose(f);
		return text;
	}
	if (!text || ferror(f))
		cfg_diag_add(diags, none, "cannot read: %s", text ? strerror(errno) : "out of memory");
	else
		cfg_diag_add(diags, none, "the file is larger than %u MB", CFG_FILE_MAX >> 20);
	free(text);
	fclose(f);
	return NULL;
}

char *cfg_path_beside(struct arena *arena, const char *beside, const char *name)
{
	const char *slash = name[0] == '/' ? NULL : strrchr(beside, '/');
	size_t folder = slash ? (size_t)(slash - beside) + 1 : 0, size = folder + strlen(name) + 1;
	char *path = arena_alloc(arena, size);

	if (path)
		snprintf(path, size, "%.*s%s", (int)folder, beside, name);
	return path;
}
