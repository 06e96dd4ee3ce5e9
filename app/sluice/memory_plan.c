/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the memory that a configuration needs, and whether hugepages suffice. Main thread, before lcores start. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "base/sysfs.h"
#include "config/budget.h"
#include "pkt/pkt.h"

#define FIXED_MB 48 /* neighbour hashes, message rings, DPDK itself */

bool hugetlbfs_mounted(void)
{
	FILE *f = sysfs_open("/proc/mounts");
	char line[1024];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found = found || strstr(line, " hugetlbfs ");
	if (f)
		fclose(f);
	return found;
}

/* All memory comes from one NUMA node: that of the first rx lcore, where packets are written first. */
static unsigned int memory_node(const struct config *c)
{
	return c->lcores.rx.n ? sysfs_node_of_cpu(cfg_cpu_of(c, c->lcores.rx.items[0])) : 0;
}

static uint64_t free_hugepages_mb(unsigned int node)
{
	static const unsigned int page_mb[] = {2, 1024};
	uint64_t mb = 0;

	for (size_t i = 0; i < ARRAY_LEN(page_mb); i++)
		mb += page_mb[i] * (uint64_t)sysfs_number(0,
					   "/sys/devices/system/node/node%u/hugepages/hugepages-%ukB/free_hugepages",
					   node, page_mb[i] * 1024);
	return mb;
}

uint64_t hugepages_for(unsigned int node, uint64_t mb)
{
	int64_t total = sysfs_number(0, "/sys/devices/system/node/node%u/hugepages/hugepages-2048kB/nr_hugepages",
		node);
	int64_t unused = sysfs_number(0, "/sys/devices/system/node/node%u/hugepages/hugepages-2048kB/free_hugepages",
		node);

	return (uint64_t)MAX_OF(total - unused, 0) + (mb + 1) / 2;
}

static uint64_t need_mb(const struct config *c)
{
	uint64_t each = pkt_buffer_memory(c->memory.buffer_size), bytes = c->memory.buffers * each;

	/* no buffer spans two hugepages */
	bytes += (bytes >> 21) * each;
	/* DPDK rounds a ring up to a power of two, to less than twice its size */
	bytes += (uint64_t)cfg_packet_rings(c) * 2 * c->memory.ring * sizeof(void *);
	return (bytes >> 20) + FIXED_MB;
}

int memory_plan_make(const struct config *c, struct memory_plan *m, char *err, size_t size)
{
	m->need_mb = need_mb(c);
	m->node = memory_node(c);
	m->free_huge_mb = free_hugepages_mb(m->node);
	m->wants_hugepages = c->memory.hugepages != HUGEPAGES_OFF;
	m->hugepages = m->wants_hugepages && m->free_huge_mb >= m->need_mb && hugetlbfs_mounted();
	if (c->memory.hugepages != HUGEPAGES_ON || m->hugepages)
		return 0;
	if (m->free_huge_mb < m->need_mb)
		snprintf(err, size,
			"memory.hugepages is on, but NUMA node %u has %llu MB of free hugepages and %llu MB are "
			"needed; "
			"run: echo %llu > /sys/devices/system/node/node%u/hugepages/hugepages-2048kB/nr_hugepages",
			m->node, (unsigned long long)m->free_huge_mb, (unsigned long long)m->need_mb,
			(unsigned long long)hugepages_for(m->node, m->need_mb), m->node);
	else
		snprintf(err, size,
			"memory.hugepages is on, but no hugetlbfs is mounted; run: "
			"mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages");
	return -ENOMEM;
}
