/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two questions of the EAL to the system, which take longer than a short run, are answered here. DPDK as shared
 * libraries loads each driver that is installed, some 150 libraries, unless librte_eal.so is not loaded; and it looks
 * for each of 128 CPUs in each of 32 memory nodes. The lab has no devices, and its memory is not of huge pages. Main
 * thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app.h"

#define EAL_LIBRARY "librte_eal.so"
#define MEMORY_NODES "/sys/devices/system/node/"

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

void *dlopen(const char *file, int mode)
{
	static void *(*next)(const char *file, int mode);

	if (file && (mode & RTLD_NOLOAD) && begins_with(file, EAL_LIBRARY))
		return NULL;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	return next ? next(file, mode) : NULL;
}

int access(const char *path, int mode)
{
	if (begins_with(path, MEMORY_NODES)) {
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}
