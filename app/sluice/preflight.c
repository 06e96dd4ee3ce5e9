/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sluice preflight: what this machine offers to a poll-mode appliance, without starting anything. Each finding that
 * should be mended comes with the command that does. Exit status 0: nothing must be mended; 1: something must.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "drivers/abilities.h"
#include "drivers/device_check.h"

enum severity { OK, ADVICE, MUST };

struct findings {
	json_t *list;
	int worst;
};

static void find(struct findings *f, enum severity severity, const char *about, const char *mend, const char *format, ...)
	PRINTF_LIKE(5, 6);
static void find(struct findings *f, enum severity severity, const char *about, const char *mend, const char *format, ...)
{
	static const char *const names[] = {"ok", "advice", "must"};
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_array_append_new(f->list,
		json_pack("{ss ss ss ss}", "verdict", names[severity], "about", about, "found", text, "mend", mend ? mend : ""));
	if ((int)severity > f->worst)
		f->worst = (int)severity;
}

/* First line of a file without its end; empty when it cannot be read. */
static const char *read_line(const char *path, char *buf, size_t size)
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

static void hugepages_of(struct findings *f, int node)
{
	char path[PATH_MAX], total[32], unused[32];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/nr_hugepages", node);
	read_line(path, total, sizeof(total));
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/free_hugepages", node);
	read_line(path, unused, sizeof(unused));
	if (!total[0])
		return;
	if (atoi(total))
		find(f, OK, "hugepages", NULL, "NUMA node %d: %s of 2 MB, %s free", node, total, unused);
	else
		find(f, ADVICE, "hugepages", "echo 1024 > /proc/sys/vm/nr_hugepages",
			"NUMA node %d has none of 2 MB; ordinary memory works, with more TLB misses and no physical NIC", node);
}

static void check_hugepages(struct findings *f)
{
	char path[PATH_MAX];

	for (int node = 0; node < 64; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", node);
		if (access(path, F_OK) == 0)
			hugepages_of(f, node);
	}
}

static bool is_ethernet(const char *pci)
{
	char path[PATH_MAX], class[32];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", pci);
	return strncmp(read_line(path, class, sizeof(class)), "0x0200", 6) == 0;
}

static void check_nic(struct findings *f, const char *pci)
{
	char path[PATH_MAX], link[PATH_MAX], mend[128];
	const char *driver;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", pci);
	n = readlink(path, link, sizeof(link) - 1);
	link[n < 0 ? 0 : n] = '\0';
	driver = strrchr(link, '/') ? strrchr(link, '/') + 1 : "none";
	snprintf(mend, sizeof(mend), "scripts/bind-nic %s", pci);
	if (strcmp(driver, "vfio-pci") == 0 || strncmp(driver, "mlx", 3) == 0)
		find(f, OK, "NIC", NULL, "%s: driver %s, usable by DPDK", pci, driver);
	else
		find(f, ADVICE, "NIC", mend, "%s: driver %s; to use it with sluice, bind it", pci, driver);
	abilities_of_kernel_driver(driver, link, sizeof(link));
	if (link[0])
		find(f, ADVICE, "NIC and PFC", NULL, "%s: %s", pci, link);
}

static void check_nics(struct findings *f)
{
	DIR *d = opendir("/sys/bus/pci/devices");
	unsigned int count = 0;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || !is_ethernet(e->d_name))
			continue;
		check_nic(f, e->d_name);
		count++;
	}
	if (d)
		closedir(d);
	if (!count)
		find(f, ADVICE, "NIC", NULL, "no PCI network controller; virtual devices work");
	if (access("/dev/vfio/vfio", F_OK) != 0)
		find(f, ADVICE, "VFIO", "modprobe vfio-pci", "vfio is not loaded: no NIC can be bound to it");
}

/* Is the CPU in a list like "2-5,8"? */
static bool in_list(const char *list, unsigned int cpu)
{
	while (*list) {
		char *end;
		unsigned long a = strtoul(list, &end, 10), b = a;

		if (end == list)
			return false;
		if (*end == '-')
			b = strtoul(end + 1, &end, 10);
		if (cpu >= a && cpu <= b)
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}

static void check_cpu(struct findings *f, unsigned int cpu, const char *isolated)
{
	char path[128], governor[64], about[32], mend[160];

	snprintf(about, sizeof(about), "CPU %u", cpu);
	snprintf(mend, sizeof(mend), "add to the kernel's command line: isolcpus=%u nohz_full=%u rcu_nocbs=%u", cpu, cpu, cpu);
	if (in_list(isolated, cpu))
		find(f, OK, about, NULL, "isolated from the scheduler");
	else
		find(f, ADVICE, about, mend, "not isolated: other tasks will interrupt its lcores");
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
	read_line(path, governor, sizeof(governor));
	snprintf(mend, sizeof(mend), "echo performance > %s", path);
	if (governor[0] && strcmp(governor, "performance") != 0)
		find(f, ADVICE, about, mend, "frequency governor %s", governor);
}

static void check_config(struct findings *f, const char *file)
{
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_file(file, &diags);
	char isolated[256], err[512];
	struct memory_plan memory;
	bool seen[1024] = {false};

	if (!c || cfg_check(c, &diags) < 0) {
		cfg_diags_print(&diags, stderr);
		cfg_diags_free(&diags);
		find(f, MUST, "configuration", NULL, "%s is not valid; its errors stand above", file);
		cfg_free(c);
		return;
	}
	if (memory_plan_make(c, &memory, err, sizeof(err)) < 0)
		find(f, MUST, "memory", NULL, "%s", err);
	else
		find(f, OK, "memory", NULL, "%llu MB needed, from %s", (unsigned long long)memory.need_mb,
			memory.hugepages ? "hugepages" : "ordinary memory");
	if (lcores_check(c, err, sizeof(err)) < 0)
		find(f, MUST, "CPUs", NULL, "%s", err);
	read_line("/sys/devices/system/cpu/isolated", isolated, sizeof(isolated));
	for (uint64_t l = 0; l <= 126; l++) {
		unsigned int cpu = cfg_cpu_of(c, l);

		if ((cfg_is_rx(c, l) || cfg_is_worker(c, l)) && cpu < 1024 && !seen[cpu]) {
			seen[cpu] = true;
			check_cpu(f, cpu, isolated);
		}
	}
	for (uint32_t i = 0; i < c->ports.n; i++)
		if (device_check(&c->ports.items[i], err, sizeof(err)) < 0)
			find(f, MUST, "device", NULL, "%s", err);
	cfg_free(c);
}

int preflight(int argc, char **argv)
{
	static const struct option longs[] = {{"config", required_argument, NULL, 'c'}, {"json", no_argument, NULL, 'j'}, {0}};
	struct findings f = {.list = json_array()};
	const char *file = NULL;
	bool json = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "c:j", longs, NULL)) != -1) {
		if (opt == 'c')
			file = optarg;
		else if (opt == 'j')
			json = true;
		else
			return 2;
	}
	check_hugepages(&f);
	check_nics(&f);
	if (file)
		check_config(&f, file);
	if (json) {
		json_dumpf(f.list, stdout, JSON_INDENT(2));
		printf("\n");
	} else {
		command_print_text(f.list, stdout);
	}
	json_decref(f.list);
	return f.worst == MUST;
}
