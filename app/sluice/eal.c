/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the EAL's command line from the configuration. The EAL probes only the devices that the configuration names:
 * each is passed explicitly, and --no-pci is added when none of them is a PCI device.
 * Main thread, before lcores start.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_pdump.h>

#include "drivers/device_check.h"
#include "drivers/memif_server.h"
#include "machine.h"
#include "options.h"

#define MAIN_LCORE 127 /* the management thread; configured lcores end at 126 */
#define ARGS_MAX 256

static bool pdump; /* dpdk-dumpcap may attach */

struct args {
	char *v[ARGS_MAX];
	int n;
};

static void add(struct args *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct args *a, const char *format, ...)
{
	va_list args;

	if (a->n == ARGS_MAX)
		return;
	va_start(args, format);
	if (vasprintf(&a->v[a->n], format, args) >= 0)
		a->n++;
	va_end(args);
}

static unsigned int cpu_use(const struct config *c, unsigned int cpu, bool data_only)
{
	unsigned int n = 0;

	for (uint64_t l = 0; l < MAIN_LCORE; l++) {
		bool data = cfg_is_rx(c, l) || cfg_is_worker(c, l);

		if ((data || (!data_only && l == c->lcores.control)) && cfg_cpu_of(c, l) == cpu)
			n++;
	}
	return n;
}

bool lcores_share_cpus(const struct config *c)
{
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu_use(c, cpu, false) > 1)
			return true;
	return false;
}

int lcores_check(const struct config *c, char *err, size_t size)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (uint64_t l = 0; l < MAIN_LCORE; l++) {
		unsigned int cpu = cfg_cpu_of(c, l);

		if (!cfg_is_rx(c, l) && !cfg_is_worker(c, l) && l != c->lcores.control)
			continue;
		if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &set)) {
			snprintf(err, size,
				"lcores: lcore %llu is placed on CPU %u, which is not one of the %d CPUs that this "
				"process may use; choose another with lcores.cpus, for example cpus: \"%llu@0\"",
				(unsigned long long)l, cpu, CPU_COUNT(&set), (unsigned long long)l);
			return -ENODEV;
		}
	}
	return 0;
}

/* The management thread avoids the CPUs of rx and worker lcores if there are others. */
static void add_lcores(struct args *a, const struct config *c)
{
	char list[4096], *at = list;
	bool first = true;
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (uint64_t l = 0; l < MAIN_LCORE; l++)
		if (cfg_is_rx(c, l) || cfg_is_worker(c, l) || l == c->lcores.control)
			at += sprintf(at, "%llu@%u,", (unsigned long long)l, cfg_cpu_of(c, l));
	at += sprintf(at, "%u@(", MAIN_LCORE);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && at < list + sizeof(list) - 64; cpu++) {
		if (!CPU_ISSET(cpu, &set) || cpu_use(c, cpu, true))
			continue;
		at += sprintf(at, "%s%u", first ? "" : ",", cpu);
		first = false;
	}
	if (first)
		at += sprintf(at, "%u", cfg_cpu_of(c, c->lcores.control));
	sprintf(at, ")");
	add(a, "--lcores=%s", list);
	add(a, "--main-lcore=%d", MAIN_LCORE);
}

struct bond_args {
	struct args *a;
	bool pci; /* a member is a PCI device */
};

/* Members of a bond are probed before it. */
static void add_member(void *arg, const char *name)
{
	struct bond_args *b = arg;

	b->pci = b->pci || cfg_device_is_pci(name);
	add(b->a, cfg_device_is_pci(name) ? "--allow=%s" : "--vdev=%s", name);
}

static void add_devices(struct args *a, const struct config *c)
{
	struct bond_args members = {.a = a};
	bool pci = false;

	for (uint32_t i = 0; i < c->ports.n; i++)
		device_each_member(c->ports.items[i].device, add_member, &members);

	for (uint32_t i = 0; i < c->ports.n; i++) {
		const char *device = c->ports.items[i].device;

		pci = pci || cfg_device_is_pci(device);
		memif_server_remove_stale(device);
		add(a, cfg_device_is_pci(device) ? "--allow=%s" : "--vdev=%s", device);
	}
	if (!pci && !members.pci)
		add(a, "--no-pci");
}

/* --socket-mem takes one number per NUMA node. */
static void add_socket_memory(struct args *a, const struct memory_plan *m)
{
	char list[8 * NODES_MAX + 32] = "";
	unsigned int node = 0;
	size_t n = 0;

	for (unsigned int i = 0; i < m->n_nodes; i++, node++) {
		for (; node < m->node[i] && n < sizeof(list); node++)
			n += (size_t)snprintf(list + n, sizeof(list) - n, "0,");
		if (n < sizeof(list))
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%llu%s", (unsigned long long)m->need_mb,
				i + 1 < m->n_nodes ? "," : "");
	}
	add(a, "--socket-mem=%s", list);
}

int eal_start(const struct config *c, const struct memory_plan *m, const struct options *o, char *err, size_t size)
{
	static struct args a; /* static: the EAL keeps pointers to these words */
	char *argv[ARGS_MAX];
	int rc;

	add(&a, "sluice");
	add_lcores(&a, c);
	add_devices(&a, c);
	add(&a, "--file-prefix=sluice-%s", c->node.name);
	/* The first pattern that matches a name counts. Errors of the EAL stay quiet: main.c has checked the machine
	 * before, with clearer messages. */
	add(&a, "--log-level=lib.telemetry:error");
	add(&a, "--log-level=lib.eal:error");
	add(&a, "--log-level=*:warning");
	if (m->hugepages) {
		add_socket_memory(&a, m);
		add(&a, "--huge-unlink=existing");
	} else {
		add(&a, "--no-huge");
		add(&a, "-m");
		add(&a, "%llu", (unsigned long long)(m->need_mb * m->n_nodes));
	}
	for (int i = 0; i < o->eal_argc; i++)
		add(&a, "%s", o->eal_argv[i]);
	memcpy(argv, a.v, sizeof(argv)); /* a copy, because the EAL reorders its argv */
	rc = rte_eal_init(a.n, argv);
	if (rc >= 0) {
		/* dpdk-dumpcap can map only hugepages */
		pdump = m->hugepages && rte_pdump_init() == 0;
		return 0;
	}
	rc = rte_errno ? -rte_errno : -EIO;
	snprintf(err, size, "cannot start the EAL (%s); see its message above", strerror(-rc));
	return rc;
}

/* The EAL does not remove its runtime directory. */
static void remove_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

void eal_stop(void)
{
	char *path = strdup(rte_eal_get_runtime_dir());

	if (pdump)
		rte_pdump_uninit();
	rte_eal_cleanup();
	if (path)
		remove_directory(path);
	free(path);
}
