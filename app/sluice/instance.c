/* SPDX-License-Identifier: BSD-3-Clause */
/* One process per node: a locked pid file in the runtime directory. Main thread, before lcores start. */
#include <bsd/libutil.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine.h"

/*
 * Is a directory one in which nobody else can put a link or another file in place of ours? Not a link itself, of this
 * user or of root, and writable for nobody else.
 */
static int check_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rc = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		rc = -errno;
	else if ((st.st_uid != geteuid() && st.st_uid != 0) || st.st_mode & (S_IWGRP | S_IWOTH))
		rc = -EPERM;
	close(fd);
	return rc;
}

/* /run/sluice for root, a folder in $XDG_RUNTIME_DIR for other users, or one of their own in /tmp. */
int instance_directory(char *buf, size_t size)
{
	const char *user = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		snprintf(buf, size, "/run/sluice");
	else if (user)
		snprintf(buf, size, "%s/sluice", user);
	else
		snprintf(buf, size, "/tmp/sluice-%u", (unsigned int)geteuid());
	if (mkdir(buf, 0755) < 0 && errno != EEXIST)
		return -errno;
	return check_directory(buf);
}

static void cannot_use(const char *dir, int rc, char *err, size_t size)
{
	if (rc == -EPERM || rc == -ENOTDIR || rc == -ELOOP)
		snprintf(err, size,
			"%s: expected a directory, no link, that belongs to root or to this user and that nobody else "
			"can "
			"write to; remove it, or set XDG_RUNTIME_DIR",
			dir);
	else
		snprintf(err, size, "cannot create %s: %s", dir, strerror(-rc));
}

/* A link in place of the pid file would have another file truncated. */
static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

struct pidfh *instance_lock(const char *name, char *err, size_t size)
{
	char path[PATH_MAX], dir[PATH_MAX - 64];
	struct pidfh *lock;
	pid_t other = 0;
	int rc = instance_directory(dir, sizeof(dir));

	if (rc < 0) {
		cannot_use(dir, rc, err, size);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/%s.pid", dir, name);
	if (is_link(path)) {
		snprintf(err, size, "%s: expected a regular file, no link; remove it", path);
		return NULL;
	}
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
