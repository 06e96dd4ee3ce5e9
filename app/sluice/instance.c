/* SPDX-License-Identifier: BSD-3-Clause */
/* One process per node: a locked pid file in the runtime directory. Main thread, before lcores start. */
#include <bsd/libutil.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine.h"

/* /run/sluice for root, a folder in $XDG_RUNTIME_DIR for other users. */
int instance_directory(char *buf, size_t size)
{
	const char *user = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		snprintf(buf, size, "/run/sluice");
	else
		snprintf(buf, size, "%s/sluice", user ? user : "/tmp");
	return mkdir(buf, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

struct pidfh *instance_lock(const char *name, char *err, size_t size)
{
	char path[PATH_MAX], dir[PATH_MAX - 64];
	struct pidfh *lock;
	pid_t other = 0;

	if (instance_directory(dir, sizeof(dir)) < 0) {
		snprintf(err, size, "cannot create %s: %s", dir, strerror(errno));
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/%s.pid", dir, name);
	lock = pidfile_open(path, 0644, &other);
	if (lock) {
		pidfile_write(lock);
		return lock;
	}
	if (errno == EEXIST)
		snprintf(err, size, "node %s is already running as process %d; stop it, or change node.name", name,
			(int)other);
	else
		snprintf(err, size, "cannot lock %s: %s", path, strerror(errno));
	return NULL;
}

void instance_unlock(struct pidfh *lock)
{
	if (lock)
		pidfile_remove(lock);
}
