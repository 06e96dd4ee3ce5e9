/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the EAL for the lab: one lcore, no hugepages, no devices. Main thread. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "app.h"
#include "base/compiler.h"

/* One lcore on any CPU that this process may use, so that several labs can run in parallel. */
static void name_cpus(char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, "0@(");
	bool first = true;
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && n + 16 < size; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%u", first ? "" : ",", cpu);
		first = false;
	}
	snprintf(buf + n, size - n, ")");
}

int eal_start(uint64_t bytes)
{
	static char prefix[64], lcores[2048], memory[32];
	static const char *args[] = {"sluice-lab", "--no-huge", "-m", memory, "--no-pci", "--no-shconf",
		"--no-telemetry", "--lcores", lcores, "--log-level=*:error", prefix};
	char *argv[ARRAY_LEN(args)];

	name_cpus(lcores, sizeof(lcores));
	snprintf(prefix, sizeof(prefix), "--file-prefix=sluice-lab-%d", (int)getpid());
	snprintf(memory, sizeof(memory), "%llu", (unsigned long long)(bytes >> 20) + 1);
	memcpy(argv, args, sizeof(argv));
	return rte_eal_init(ARRAY_LEN(args), argv) < 0 ? -rte_errno : 0;
}

void eal_stop(void)
{
	char folder[256];

	snprintf(folder, sizeof(folder), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	rmdir(folder);
}
