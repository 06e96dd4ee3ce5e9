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

void machine_places(const struct config *c, struct cfg_places *out)
{
	cfg_places_init(out);
	for (uint64_t l = 0; l < DEAL_LCORES; l++)
		if (l == c->lcores.control || cfg_is_rx(c, l) || cfg_is_worker(c, l))
			out->lcore[l] = (int)sysfs_node_of_cpu(cfg_cpu_of(c, l));
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const char *device = c->ports.items[i].device;

		if (cfg_device_is_pci(device))
			out->port[i] = (int)sysfs_number(DEAL_ANYWHERE, "/sys/bus/pci/devices/%.*s/numa_node",
				(int)strcspn(device, ","), device);
	}
}

/* The nodes of buffers, and of rings, which are where their readers are. */
static void find_nodes(const struct config *c, struct memory_plan *m)
{
	bool used[NODES_MAX] = {false};
	struct cfg_places places;
	struct cfg_deal deal;

	machine_places(c, &places);
	cfg_deal(c, &places, &deal);
	for (uint32_t i = 0; i < c->ports.n; i++)
		used[cfg_node_of_port(c, &places, &deal, i) % NODES_MAX] = true;
	for (uint64_t l = 0; l < DEAL_LCORES; l++)
		if (cfg_is_rx(c, l) || cfg_is_worker(c, l))
			used[places.lcore[l] % NODES_MAX] = true;
	m->n_nodes = 0;
	for (unsigned int node = 0; node < NODES_MAX; node++)
		if (used[node])
			m->node[m->n_nodes++] = node;
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
	uint64_t each = pkt_buffer_memory(c->memory.buffer_size), bytes = cfg_pool(c) * each;

	/* no buffer spans two hugepages */
	bytes += (bytes >> 21) * each;
	/* DPDK rounds a ring up to a power of two, to less than twice its size */
	bytes += (uint64_t)cfg_packet_rings(c) * 2 * c->memory.ring * sizeof(void *);
	return (bytes >> 20) + FIXED_MB;
}

int memory_plan_make(const struct config *c, struct memory_plan *m, char *err, size_t size)
{
	int poor = -1;

	find_nodes(c, m);
	m->need_mb = need_mb(c);
	for (unsigned int i = 0; i < m->n_nodes; i++) {
		m->free_huge_mb[i] = free_hugepages_mb(m->node[i]);
		if (poor < 0 && m->free_huge_mb[i] < m->need_mb)
			poor = (int)i;
	}
	m->wants_hugepages = c->memory.hugepages != HUGEPAGES_OFF;
	m->hugepages = m->wants_hugepages && poor < 0 && hugetlbfs_mounted();
	if (c->memory.hugepages != HUGEPAGES_ON || m->hugepages)
		return 0;
	if (poor >= 0)
		snprintf(err, size,
			"memory.hugepages is on, but NUMA node %u has %llu MB of free hugepages and %llu MB are "
			"needed; "
			"run: echo %llu > /sys/devices/system/node/node%u/hugepages/hugepages-2048kB/nr_hugepages",
			m->node[poor], (unsigned long long)m->free_huge_mb[poor], (unsigned long long)m->need_mb,
			(unsigned long long)hugepages_for(m->node[poor], m->need_mb), m->node[poor]);
	else
		snprintf(err, size,
			"memory.hugepages is on, but no hugetlbfs is mounted; run: "
			"mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages");
	return -ENOMEM;
}
