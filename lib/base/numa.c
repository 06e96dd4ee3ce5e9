/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves memory to a NUMA node by mbind(2), without libnuma. Control code. */
#include "base/numa.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int numa_bind(void *at, size_t bytes, int node)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)at + page - 1) / page * page,
		  end = ((uintptr_t)at + bytes) / page * page;
	unsigned long mask = node >= 0 && node < 64 ? 1ul << node : 0;

	if (!mask || first >= end)
		return 0;
	/* preferred, not bound: a node without free memory must not end a reload */
	if (syscall(SYS_mbind, first, end - first, MPOL_PREFERRED, &mask, 8 * sizeof(mask) + 1, MPOL_MF_MOVE) == 0)
		return 0;
	return -errno;
}
