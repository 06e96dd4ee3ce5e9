/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the machine against the needs of a configuration. Main thread, before lcores start. */
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "base/sysfs.h"
#include "drivers/abilities.h"
#include "drivers/device_check.h"
#include "drivers/spread.h"
#include "preflight.h"

#define LCORES_MAX 127
#define CPUS_MAX 1024

/* A set of CPUs. */
struct cpus {
	bool has[CPUS_MAX];
};

/* "1-3,8"; empty for an empty set. */
static const char *cpu_list(const struct cpus *set, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned int first = 0; first < CPUS_MAX && n < size; first++) {
		unsigned int last = first;

		if (!set->has[first])
			continue;
		while (last + 1 < CPUS_MAX && set->has[last + 1])
			last++;
		n += (size_t)snprintf(buf + n, size - n, last > first ? "%s%u-%u" : "%s%u", n ? "," : "", first, last);
		first = last;
	}
	return buf;
}

static bool is_data(const struct config *c, uint64_t lcore)
{
	return cfg_is_rx(c, lcore) || cfg_is_worker(c, lcore);
}

static void data_cpus(const struct config *c, struct cpus *set)
{
	for (uint64_t l = 0; l < LCORES_MAX; l++)
		if (is_data(c, l) && cfg_cpu_of(c, l) < CPUS_MAX)
			set->has[cfg_cpu_of(c, l)] = true;
}

static void check_memory(struct findings *f, const struct config *c)
{
	struct memory_plan memory;
	char err[512];

	if (memory_plan_make(c, &memory, err, sizeof(err)) < 0)
		find_error(f, "memory", err);
	else
		find(f, FINDING_OK, "memory", NULL, "%llu MB needed%s, from %s", (unsigned long long)memory.need_mb,
			memory.n_nodes > 1 ? " on each NUMA node in use" : "",
			memory.hugepages ? "hugepages" : "ordinary memory");
}

/* One finding for all CPUs, because the kernel's command line takes one list. */
static void check_isolation(struct findings *f, const struct cpus *data)
{
	struct cpus missing = {0}, wanted = {0};
	char isolated[256], quiet[256], list[512], all[512], fix[2048];

	sysfs_line(isolated, sizeof(isolated), "/sys/devices/system/cpu/isolated");
	sysfs_line(quiet, sizeof(quiet), "/sys/devices/system/cpu/nohz_full");
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		bool good = sysfs_in_list(isolated, cpu) && sysfs_in_list(quiet, cpu);

		missing.has[cpu] = data->has[cpu] && !good;
		wanted.has[cpu] = data->has[cpu] || sysfs_in_list(isolated, cpu);
	}
	if (!*cpu_list(&missing, list, sizeof(list))) {
		find(f, FINDING_OK, "isolation", NULL, "CPUs %s are isolated and have no timer ticks",
			cpu_list(data, all, sizeof(all)));
		return;
	}
	cpu_list(&wanted, all, sizeof(all));
	snprintf(fix, sizeof(fix), "add to the kernel's command line: isolcpus=%s nohz_full=%s rcu_nocbs=%s", all, all,
		all);
	find(f, FINDING_WARNING, "isolation", fix, "CPU%s %s: other tasks and timer ticks interrupt the lcores",
		strpbrk(list, "-,") ? "s" : "", list);
}

static void check_governor(struct findings *f, const struct cpus *data)
{
	struct cpus slow = {0};
	char governor[64], list[512], fix[1024], first[64] = "";
	size_t n;

	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!data->has[cpu])
			continue;
		sysfs_line(governor, sizeof(governor), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
		slow.has[cpu] = governor[0] && strcmp(governor, "performance") != 0;
		if (slow.has[cpu] && !first[0])
			snprintf(first, sizeof(first), "%s", governor);
	}
	if (!first[0])
		return;
	n = (size_t)snprintf(fix, sizeof(fix), "for c in");
	for (unsigned int cpu = 0; cpu < CPUS_MAX && n < sizeof(fix); cpu++)
		if (slow.has[cpu])
			n += (size_t)snprintf(fix + n, sizeof(fix) - n, " %u", cpu);
	if (n < sizeof(fix))
		snprintf(fix + n, sizeof(fix) - n,
			"; do echo performance > /sys/devices/system/cpu/cpu$c/cpufreq/scaling_governor; done");
	find(f, FINDING_WARNING, "frequency", fix, "governor %s on CPU %s: a slowed-down core loses packets", first,
		cpu_list(&slow, list, sizeof(list)));
}

/* Two hardware threads share a core: work on one slows down the other. */
static void check_siblings(struct findings *f, const struct cpus *data)
{
	char siblings[64], isolated[256], fix[128];

	sysfs_line(isolated, sizeof(isolated), "/sys/devices/system/cpu/isolated");
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!data->has[cpu])
			continue;
		sysfs_line(siblings, sizeof(siblings), "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
			cpu);
		for (unsigned int other = 0; other < CPUS_MAX; other++) {
			if (other == cpu || !sysfs_in_list(siblings, other))
				continue;
			if (data->has[other] && other > cpu)
				find(f, FINDING_WARNING, "CPUs", "choose a CPU of another core in lcores.cpus",
					"CPUs %u and %u are threads of one core and both run lcores", cpu, other);
			if (data->has[other] || sysfs_in_list(isolated, other))
				continue;
			snprintf(fix, sizeof(fix), "echo 0 > /sys/devices/system/cpu/cpu%u/online", other);
			find(f, FINDING_WARNING, "CPUs", fix,
				"CPU %u shares its core with CPU %u, which runs other tasks", cpu, other);
		}
	}
}

static void check_shared(struct findings *f, const struct config *c)
{
	unsigned int lcores[CPUS_MAX] = {0};

	for (uint64_t l = 0; l < LCORES_MAX; l++)
		if ((is_data(c, l) || l == c->lcores.control) && cfg_cpu_of(c, l) < CPUS_MAX)
			lcores[cfg_cpu_of(c, l)]++;
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (lcores[cpu] > 1)
			find(f, FINDING_WARNING, "CPUs", "give each lcore a CPU of its own in lcores.cpus",
				"%u lcores share CPU %u and delay each other", lcores[cpu], cpu);
}

/* CPUs of the rx lcores that poll a port, and of the worker that owns it, on another node than the port. */
static void far_cpus(const struct config *c, const struct cfg_places *places, const struct cfg_deal *deal,
	uint32_t port, struct cpus *set)
{
	uint64_t owner = c->lcores.worker.items[deal->owner[port]];

	for (uint64_t q = 0; q < c->ports.items[port].rx_queues; q++) {
		uint64_t rx = c->lcores.rx.items[deal->rx[port][q]];

		if (cfg_is_far(places, port, rx) && cfg_cpu_of(c, rx) < CPUS_MAX)
			set->has[cfg_cpu_of(c, rx)] = true;
	}
	if (cfg_is_far(places, port, owner) && cfg_cpu_of(c, owner) < CPUS_MAX)
		set->has[cfg_cpu_of(c, owner)] = true;
}

/* Packets that cross the link between sockets cost more cycles and arrive later. */
static void check_nodes(struct findings *f, const struct config *c)
{
	char there[256], fix[512], list[512];
	struct cfg_places places;
	struct cfg_deal deal;

	machine_places(c, &places);
	cfg_deal(c, &places, &deal);
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *p = &c->ports.items[i];
		struct cpus far = {0};

		far_cpus(c, &places, &deal, i, &far);
		if (!*cpu_list(&far, list, sizeof(list)))
			continue;
		snprintf(fix, sizeof(fix), "choose CPUs of node %d in lcores.cpus: %s", places.port[i],
			sysfs_line(there, sizeof(there), "/sys/devices/system/node/node%d/cpulist", places.port[i]));
		find(f, FINDING_WARNING, "NUMA", fix,
			"port %s (%.*s) is on node %d, the CPU%s that serve%s it on another: %s", p->name,
			(int)strcspn(p->device, ","), p->device, places.port[i], strpbrk(list, "-,") ? "s" : "",
			strpbrk(list, "-,") ? "" : "s", list);
	}
}

/* A port with lossless classes, or with a relay, on a NIC whose kernel driver tells what DPDK's will do. */
static bool needs_pfc(const struct cfg_port *p, const struct cfg_relayed *relayed)
{
	return (p->pfc.priorities.n || relayed->reads || relayed->writes) && cfg_device_is_pci(p->device);
}

/* What is known of PFC on the NIC of a port; known: empty if nothing is. */
static void expected(const struct cfg_port *p, char pci[static 64], char driver[static 64], char known[static 160],
	struct port_abilities *a)
{
	snprintf(pci, 64, "%.*s", (int)strcspn(p->device, ","), p->device);
	nic_driver(pci, driver, 64);
	abilities_of_kernel_driver(driver, known, 160);
	*a = abilities_expected(driver, p);
}

const char *preflight_spread(const struct cfg_port *p)
{
	char pci[64], driver[64], known[160];
	struct port_abilities a;

	if (!cfg_device_is_pci(p->device))
		return p->rx_spread == RX_SPREAD_SOFTWARE ? spread_words(PORT_SPREAD_SOFTWARE) : "";
	expected(p, pci, driver, known, &a);
	return known[0] ? spread_words((enum port_spread)a.spread) : "";
}

/* Do the flows of a tunnel reach all receive queues of a NIC? */
static void check_spread(struct findings *f, const struct cfg_port *p)
{
	const char *words = preflight_spread(p);
	bool bad = strcmp(words, spread_words(PORT_SPREAD_OUTER)) == 0;
	char pci[64], driver[64], known[160];
	struct port_abilities a;

	if (p->rx_queues == 1 || !cfg_device_is_pci(p->device))
		return;
	expected(p, pci, driver, known, &a);
	if (!words[0])
		find(f, FINDING_WARNING, "RSS", "start the node once: 'show port' says it",
			"port %s (%s): how driver '%s' fills %llu receive queues is unknown", p->name, pci, driver,
			(unsigned long long)p->rx_queues);
	else
		find(f, bad ? FINDING_WARNING : FINDING_OK, "RSS",
			bad ? "remove rx-spread: device, or use a NIC of another driver (docs/nics.md)" : NULL,
			"port %s (%s, %s): %s", p->name, pci, driver, words);
}

int preflight_pfc(const struct config *c, char *err, size_t size)
{
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *p = &c->ports.items[i];
		struct cfg_relayed relayed = cfg_relayed(c, p->name);
		char pci[64], driver[64], known[160];
		struct port_abilities a;
		int rc = 0;

		if (!needs_pfc(p, &relayed))
			continue;
		expected(p, pci, driver, known, &a);
		if (known[0])
			rc = abilities_lossless(p, &a, &relayed, err, size);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* What a start would find on each port that needs PFC, as far as it is known before the device is opened. */
static void check_pfc(struct findings *f, const struct config *c, const struct cfg_port *p)
{
	struct cfg_relayed relayed = cfg_relayed(c, p->name);
	char pci[64], driver[64], known[160];
	struct port_abilities a;
	const char *problem;

	if (!needs_pfc(p, &relayed))
		return;
	expected(p, pci, driver, known, &a);
	problem = abilities_problem(p, &a, &relayed);
	if (!known[0])
		find(f, FINDING_WARNING, "PFC", "start the node once: it refuses to run without PFC",
			"port %s (%s): whether driver '%s' has PFC is unknown", p->name, pci, driver);
	else if (!problem)
		find(f, FINDING_OK, "PFC", NULL, "port %s (%s, %s): %s", p->name, pci, driver, known);
	else if (p->pfc.blind == PFC_BLIND_ACCEPT)
		find(f, FINDING_WARNING, "PFC", "use a NIC of another driver (docs/queues.md)",
			"port %s (%s, %s): %s; pfc.blind: accept lets the node start, and lossless classes can lose "
			"packets",
			p->name, pci, driver, known);
	else
		find(f, FINDING_ERROR, "PFC",
			"use a NIC of another driver (docs/queues.md), remove pfc.priorities, or set pfc.blind to "
			"accept",
			"port %s (%s, %s): %s; the node would not start, because lossless classes would lose packets: "
			"%s",
			p->name, pci, driver, known, problem);
	if (strcmp(driver, "mlx5_core") == 0)
		find(f, FINDING_WARNING, "RoCE",
			"devlink dev param set pci/DEVICE name enable_roce value false cmode driverinit, then devlink "
			"dev reload",
			"port %s (%s): while enable_roce is on, the NIC takes RoCEv2 (UDP port 4791) to its own "
			"addresses itself "
			"and sluice does not see it",
			p->name, pci);
}

void preflight_config(struct findings *f, const struct config *c)
{
	struct cpus data = {0};
	char err[512];

	check_memory(f, c);
	if (lcores_check(c, err, sizeof(err)) < 0)
		find_error(f, "CPUs", err);
	data_cpus(c, &data);
	check_isolation(f, &data);
	check_governor(f, &data);
	check_siblings(f, &data);
	check_shared(f, c);
	check_nodes(f, c);
	for (uint32_t i = 0; i < c->ports.n; i++)
		if (device_check(c, &c->ports.items[i], err, sizeof(err)) < 0)
			find_error(f, "device", err);
	for (uint32_t i = 0; i < c->ports.n; i++)
		check_pfc(f, c, &c->ports.items[i]);
	for (uint32_t i = 0; i < c->ports.n; i++)
		check_spread(f, &c->ports.items[i]);
}
