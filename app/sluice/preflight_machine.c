/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the machine independently of a configuration. Main thread, before lcores start. */
#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "machine.h"
#include "base/sysfs.h"
#include "drivers/abilities.h"
#include "preflight.h"

#define NICS_MAX 64
#define PCI_TEXT 16
#define UPPER_MAX 8	  /* interfaces stacked on a NIC */
#define MB_SUGGESTED 2048 /* without a configuration */

static const unsigned int page_kb[] = {2048, 1048576};

static bool hugepages_of(struct findings *f, unsigned int node)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(page_kb); i++) {
		int64_t total = sysfs_number(0, "/sys/devices/system/node/node%u/hugepages/hugepages-%ukB/nr_hugepages",
			node, page_kb[i]);
		int64_t unused = sysfs_number(0,
			"/sys/devices/system/node/node%u/hugepages/hugepages-%ukB/free_hugepages", node, page_kb[i]);

		if (!total)
			continue;
		any = true;
		find(f, FINDING_OK, "hugepages", NULL, "NUMA node %u: %lld pages of %u MB, %lld free", node,
			(long long)total, page_kb[i] / 1024, (long long)unused);
	}
	return any;
}

static bool needs_node(const struct memory_plan *need, unsigned int node)
{
	for (unsigned int i = 0; i < need->n_nodes; i++)
		if (need->node[i] == node)
			return true;
	return false;
}

static void check_hugepages(struct findings *f, const struct memory_plan *need)
{
	bool any = false;
	char fix[160];

	for (unsigned int node = 0; node < NODES_MAX; node++) {
		uint64_t mb = need ? need->need_mb : MB_SUGGESTED;
		bool wanted = !need || (need->wants_hugepages && needs_node(need, node));

		if (!sysfs_exists("/sys/devices/system/node/node%u", node))
			continue;
		if (hugepages_of(f, node)) {
			any = true;
			continue;
		}
		if (!wanted)
			continue;
		snprintf(fix, sizeof(fix),
			"echo %llu > /sys/devices/system/node/node%u/hugepages/hugepages-2048kB/nr_hugepages",
			(unsigned long long)hugepages_for(node, mb), node);
		find(f, FINDING_WARNING, "hugepages", fix,
			"NUMA node %u has none; ordinary memory works, but costs TLB misses and excludes physical NICs",
			node);
	}
	if (any && !hugetlbfs_mounted())
		find(f, FINDING_WARNING, "hugepages",
			"mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages",
			"no hugetlbfs is mounted, so hugepages cannot be used");
}

/* The kernel module for a device by its PCI identity, whichever driver it is bound to; empty if there is none. */
static const char *native_driver(const char *pci, char *buf, size_t size)
{
	char alias[128], line[512], pattern[256], module[64];
	struct utsname kernel;
	FILE *f;

	buf[0] = '\0';
	sysfs_line(alias, sizeof(alias), "/sys/bus/pci/devices/%s/modalias", pci);
	if (!alias[0] || uname(&kernel) < 0)
		return buf;
	f = sysfs_open("/lib/modules/%s/modules.alias", kernel.release);
	while (f && !buf[0] && fgets(line, sizeof(line), f))
		if (sscanf(line, "alias %255s %63s", pattern, module) == 2 && strncmp(pattern, "pci:", 4) == 0 &&
			fnmatch(pattern, alias, 0) == 0)
			snprintf(buf, size, "%s", module);
	if (f)
		fclose(f);
	return buf;
}

/* scripts/bind-nic, or the name under which it is installed beside this program. */
static const char *bind_nic(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *slash;

	path[n < 0 ? 0 : n] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		strcpy(slash + 1, "sluice-bind-nic");
		if (access(path, X_OK) == 0)
			return "sluice-bind-nic";
	}
	return "scripts/bind-nic";
}

const char *nic_driver(const char *pci, char *buf, size_t size)
{
	sysfs_link(buf, size, "/sys/bus/pci/devices/%s/driver", pci);
	/* a device that is bound to vfio-pci still has a kernel driver by its identity */
	return strncmp(buf, "vfio", 4) == 0 || !buf[0] ? native_driver(pci, buf, size) : buf;
}

static void check_mac_control(struct findings *f, const char *pci)
{
	char name[64], known[160];
	const char *driver = nic_driver(pci, name, sizeof(name));

	abilities_of_kernel_driver(driver, known, sizeof(known));
	if (known[0])
		find(f, FINDING_OK, "NIC and PFC", NULL, "%s (%s): %s", pci, driver, known);
	else
		find(f, FINDING_WARNING, "NIC and PFC", NULL,
			"%s (%s): unknown whether MAC control frames reach software", pci,
			driver[0] ? driver : "no kernel driver");
}

/* The interface of a line of the kernel's route tables; empty: none. Routes that every IPv6 interface has do not count. */
static void read_route(const char *line, bool ipv6, char name[static 32])
{
	name[0] = '\0';
	if (!ipv6)
		sscanf(line, "%31s", name);
	else if (strncmp(line, "fe80", 4) != 0 && strncmp(line, "ff", 2) != 0)
		sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %31s", name);
}

/* Does the kernel route by an interface, or by one above it (bond, bridge, VLAN)? Any route counts: it may carry a session. */
static bool is_routed(const char *interface, unsigned int depth)
{
	static const char *const tables[] = {"/proc/net/route", "/proc/net/ipv6_route"};
	char line[512], name[32];
	bool found = false;
	struct dirent *e;
	DIR *d;

	for (unsigned int i = 0; i < ARRAY_LEN(tables) && !found; i++) {
		FILE *f = sysfs_open("%s", tables[i]);

		while (f && !found && fgets(line, sizeof(line), f)) {
			read_route(line, i == 1, name);
			found = strcmp(name, interface) == 0;
		}
		if (f)
			fclose(f);
	}
	d = found || !depth ? NULL : sysfs_opendir("/sys/class/net/%s", interface);
	while (d && !found && (e = readdir(d)))
		found = strncmp(e->d_name, "upper_", 6) == 0 && is_routed(e->d_name + 6, depth - 1);
	if (d)
		closedir(d);
	return found;
}

/* The interface of a NIC by which the kernel routes, as the management NIC does; empty: none. */
static const char *routed_interface(const char *pci, char *buf, size_t size)
{
	DIR *d = sysfs_opendir("/sys/bus/pci/devices/%s/net", pci);
	struct dirent *e;

	buf[0] = '\0';
	while (d && !buf[0] && (e = readdir(d)))
		if (e->d_name[0] != '.' && is_routed(e->d_name, UPPER_MAX))
			snprintf(buf, size, "%.31s", e->d_name);
	if (d)
		closedir(d);
	return buf;
}

static void check_nic(struct findings *f, const char *pci)
{
	char driver[64], fix[128], interface[64];

	if (*routed_interface(pci, interface, sizeof(interface))) {
		find(f, FINDING_OK, "NIC", NULL,
			"%s (%s): the kernel routes by it, as by a management NIC; leave it to the kernel", pci,
			interface);
		return;
	}

	sysfs_link(driver, sizeof(driver), "/sys/bus/pci/devices/%s/driver", pci);
	snprintf(fix, sizeof(fix), "%s bind %.*s", bind_nic(), PCI_TEXT, pci);
	if (strcmp(driver, "vfio-pci") == 0 || strncmp(driver, "mlx", 3) == 0)
		find(f, FINDING_OK, "NIC", NULL, "%s: driver %s, usable by DPDK", pci, driver);
	else
		find(f, FINDING_WARNING, "NIC", fix, "%s: driver %s; bind the NIC to vfio-pci to use it with sluice",
			pci, driver[0] ? driver : "none");
	check_mac_control(f, pci);
}

static bool is_network_controller(const char *pci)
{
	char class[32];

	return strncmp(sysfs_line(class, sizeof(class), "/sys/bus/pci/devices/%s/class", pci), "0x02", 4) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* PCI network controllers in order of address, at most `room`. Returns their number. */
static unsigned int list_nics(char (*pci)[PCI_TEXT], unsigned int room)
{
	DIR *d = sysfs_opendir("/sys/bus/pci/devices");
	unsigned int n = 0;
	struct dirent *e;

	while (d && n < room && (e = readdir(d)))
		if (e->d_name[0] != '.' && strlen(e->d_name) < sizeof(*pci) && is_network_controller(e->d_name))
			strcpy(pci[n++], e->d_name);
	if (d)
		closedir(d);
	qsort(pci, n, sizeof(*pci), by_name);
	return n;
}

static bool has_entries(const char *path)
{
	DIR *d = sysfs_opendir("%s", path);
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)))
		found = e->d_name[0] != '.';
	if (d)
		closedir(d);
	return found;
}

static void check_vfio(struct findings *f)
{
	FILE *cpus = sysfs_open("/proc/cpuinfo");
	char line[256];
	bool amd = false;

	while (cpus && fgets(line, sizeof(line), cpus))
		amd = amd || strstr(line, "AuthenticAMD");
	if (cpus)
		fclose(cpus);
	if (has_entries("/sys/kernel/iommu_groups"))
		find(f, FINDING_OK, "IOMMU", NULL, "enabled");
	else
		find(f, FINDING_WARNING, "IOMMU",
			amd ? "add to the kernel's command line: amd_iommu=on iommu=pt"
			    : "add to the kernel's command line: intel_iommu=on iommu=pt",
			"disabled: a NIC bound to vfio-pci could write anywhere in memory");
	if (sysfs_exists("/sys/bus/pci/drivers/vfio-pci"))
		find(f, FINDING_OK, "VFIO", NULL, "vfio-pci is loaded");
	else
		find(f, FINDING_WARNING, "VFIO", "modprobe vfio-pci",
			"vfio-pci is not loaded, so no NIC can be bound to it");
}

void preflight_machine(struct findings *f, const struct memory_plan *need)
{
	char pci[NICS_MAX][PCI_TEXT];
	unsigned int n = list_nics(pci, NICS_MAX);

	check_hugepages(f, need);
	if (!n) {
		find(f, FINDING_OK, "NIC", NULL, "no PCI network controller; virtual devices work");
		return;
	}
	check_vfio(f);
	for (unsigned int i = 0; i < n; i++)
		check_nic(f, pci[i]);
}
