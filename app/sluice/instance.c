/* SPDX-License-Identifier: BSD-3-Clause */
/* One process a node: a locked pid file in the runtime directory. Main thread, before lcores start. */
#include <bsd/libutil.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"

/* /run/sluice as root, else below the user's runtime directory. */
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
		snprintf(err, size, "cannot make %s: %s", dir, strerror(errno));
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/%s.pid", dir, name);
	lock = pidfile_open(path, 0644, &other);
	if (lock) {
		pidfile_write(lock);
		return lock;
	}
	if (errno == EEXIST)
		snprintf(err, size, "node %s runs already, as process %d; stop it, or give this node another name",
			name, (int)other);
	else
		snprintf(err, size, "cannot lock %s: %s", path, strerror(errno));
	return NULL;
}

void instance_unlock(struct pidfh *lock)
{
	if (lock)
		pidfile_remove(lock);
}
