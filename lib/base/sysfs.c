/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads single values of /sys and /proc below a root directory, which tests may change. Main thread and management
 * thread.
 */
#include "base/sysfs.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODES_MAX 64

static const char *root = "";

void sysfs_set_root(const char *new_root)
{
	root = new_root;
}

/* Put root and path into `path`, an array of PATH_MAX bytes. The caller's variable arguments follow `format`. */
#define MAKE_PATH(path, format) \
	do { \
		va_list args; \
\
		va_start(args, format); \
		make_path(path, format, args); \
		va_end(args); \
	} while (0)

static void make_path(char *path, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
static void make_path(char *path, const char *format, va_list args)
{
	size_t n = (size_t)snprintf(path, PATH_MAX, "%s", root);

	if (n < PATH_MAX)
		vsnprintf(path + n, PATH_MAX - n, format, args);
}

bool sysfs_exists(const char *format, ...)
{
	char path[PATH_MAX];

	MAKE_PATH(path, format);
	return access(path, F_OK) == 0;
}

FILE *sysfs_open(const char *format, ...)
{
	char path[PATH_MAX];

	MAKE_PATH(path, format);
	return fopen(path, "re");
}

DIR *sysfs_opendir(const char *format, ...)
{
	char path[PATH_MAX];

	MAKE_PATH(path, format);
	return opendir(path);
}

static const char *first_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	if (f) {
		if (!fgets(buf, (int)size, f))
			buf[0] = '\0';
		fclose(f);
	}
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

const char *sysfs_line(char *buf, size_t size, const char *format, ...)
{
	char path[PATH_MAX];

	MAKE_PATH(path, format);
	return first_line(path, buf, size);
}

int64_t sysfs_number(int64_t otherwise, const char *format, ...)
{
	char path[PATH_MAX];
	char line[64], *end;
	long long v;

	MAKE_PATH(path, format);
	first_line(path, line, sizeof(line));
	v = strtoll(line, &end, 10);
	return end == line || *end ? otherwise : v;
}

const char *sysfs_link(char *buf, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	char to[PATH_MAX];
	ssize_t n;

	MAKE_PATH(path, format);
	n = readlink(path, to, sizeof(to) - 1);
	to[n < 0 ? 0 : n] = '\0';
	snprintf(buf, size, "%s", strrchr(to, '/') ? strrchr(to, '/') + 1 : to);
	return buf;
}

bool sysfs_in_list(const char *list, unsigned int n)
{
	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			return false;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list)
				return false;
		}
		if (n >= first && n <= last)
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}

unsigned int sysfs_node_of_cpu(unsigned int cpu)
{
	for (unsigned int node = 0; node < NODES_MAX; node++)
		if (sysfs_exists("/sys/devices/system/node/node%u/cpu%u", node, cpu))
			return node;
	return 0;
}
