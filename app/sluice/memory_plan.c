/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory a configuration takes, and whether hugepages can give it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "config/budget.h"
#include "pkt/pkt.h"
#include "snapshot/build.h"

#define FIXED_MB 48 /* hashes of neighbours, message rings, DPDK's own */

static uint64_t read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long long v = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &v) != 1)
		v = 0;
	fclose(f);
	return v;
}

/* Some hugetlbfs must be mounted for the EAL to use pages that others can attach to. */
static bool hugetlbfs_mounted(void)
{
	FILE *f = fopen("/proc/mounts", "re");
	char line[1024];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found = found || strstr(line, " hugetlbfs ");
	if (f)
		fclose(f);
	return found;
}

static uint64_t free_hugepages_mb(void)
{
	return read_number("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") * 2 +
	       read_number("/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages") * 1024;
}

static uint64_t need_mb(const struct config *c)
{
	uint64_t bytes = c->memory.buffers * PKT_BUFFER_BYTES;

	/* a ring is rounded up to a power of two, so to less than twice its size */
	bytes += (uint64_t)cfg_packet_rings(c) * 2 * c->memory.ring * sizeof(void *);
	/* a reload builds the new tables while the old ones are in use */
	bytes += 2 * snapshot_table_bytes(c);
	return (bytes >> 20) + FIXED_MB;
}

int memory_plan_make(const struct config *c, struct memory_plan *m, char *err, size_t size)
{
	m->need_mb = need_mb(c);
	m->free_huge_mb = free_hugepages_mb();
	m->hugepages = c->memory.hugepages != HUGEPAGES_OFF && m->free_huge_mb >= m->need_mb && hugetlbfs_mounted();
	if (c->memory.hugepages != HUGEPAGES_ON || m->hugepages)
		return 0;
	if (m->free_huge_mb < m->need_mb)
		snprintf(err, size, "memory.hugepages is on, but %llu MB of hugepages are free and %llu are needed; run: "
				    "echo %llu > /proc/sys/vm/nr_hugepages",
			(unsigned long long)m->free_huge_mb, (unsigned long long)m->need_mb,
			(unsigned long long)(m->need_mb + 1) / 2);
	else
		snprintf(err, size, "memory.hugepages is on, but no hugetlbfs is mounted; run: "
				    "mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages");
	return -ENOMEM;
}
