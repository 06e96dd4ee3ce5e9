/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capabilities (capabilities(7)) after the start. A process of root, or one with capabilities of its own, keeps those that
 * its devices need when they are restarted, and those with which it reads and writes an operator's files. A fault in code
 * that strangers reach then loads no module, traces no process and changes no address. Main thread.
 *
 * The kernel changes capabilities of the calling thread only, and the EAL has started threads long ago. So each thread gets
 * a signal and drops them itself, as libpsx of libcap does it.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_eal.h>

#include "base/log.h"
#include "base/text.h"
#include "machine.h"

#define BIT(cap) (1ull << (cap))
#define ROUNDS 10	   /* threads may start others meanwhile */
#define ROUND_WAIT_US 1000 /* for signals to be taken, so often */
#define ROUND_WAITS 100
#define WORDS 2 /* of 32 capabilities, _LINUX_CAPABILITY_VERSION_3 */

/* An operator's files: configurations in a home directory, captures. */
#define FILES (BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH))

/* What a device needs when it is set up again, by the start of its name. The rings of af_packet are locked memory. */
static const struct {
	const char *device;
	uint64_t needs;
} devices[] = {
	{"net_null", 0},
	{"net_ring", 0},
	{"net_memif", 0},
	{"net_tap", BIT(CAP_NET_ADMIN)},
	{"net_af_packet", BIT(CAP_NET_RAW) | BIT(CAP_NET_ADMIN) | BIT(CAP_IPC_LOCK)},
};
#define INTERFACE (BIT(CAP_NET_RAW) | BIT(CAP_NET_ADMIN)) /* net_pcap on an interface and not on files */

/* A NIC: memory that is mapped for it, port input and output of old virtio, flows of mlx5. */
#define NIC (BIT(CAP_IPC_LOCK) | BIT(CAP_SYS_RAWIO) | BIT(CAP_NET_RAW) | BIT(CAP_NET_ADMIN))

static uint64_t needs_of(const char *device)
{
	if (strncmp(device, "net_pcap", strlen("net_pcap")) == 0)
		return strstr(device, "iface=") ? INTERFACE : 0;
	for (size_t i = 0; i < ARRAY_LEN(devices); i++)
		if (strncmp(device, devices[i].device, strlen(devices[i].device)) == 0)
			return devices[i].needs;
	return cfg_device_is_pci(device) ? NIC : UINT64_MAX;
}

uint64_t privileges_needed(const struct config *c)
{
	uint64_t needs = FILES;

	for (uint32_t i = 0; i < c->ports.n; i++)
		needs |= needs_of(c->ports.items[i].device);
	/* without an IOMMU the EAL reads physical addresses of new memory from /proc/self/pagemap */
	if (rte_eal_has_hugepages() && rte_eal_iova_mode() == RTE_IOVA_PA)
		needs |= BIT(CAP_SYS_ADMIN);
	return needs;
}

static uint64_t kept;	  /* while the signal is sent; read by its handler */
static unsigned int done; /* threads that have taken it */

/* The calling thread keeps what it has of `kept`. System calls only: a signal handler calls it. */
static void drop_of_thread(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[WORDS];

	for (unsigned long cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (!(kept >> cap & 1))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); /* needs CAP_SETPCAP, which goes below */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_capget, &head, data) < 0)
		return;
	for (unsigned int i = 0; i < WORDS; i++) {
		data[i].permitted &= (uint32_t)(kept >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	syscall(SYS_capset, &head, data);
}

static void take_signal(int number)
{
	int saved = errno;

	(void)number;
	drop_of_thread();
	__atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
	errno = saved;
}

/* Capabilities that a thread may use, from its status. */
static uint64_t permitted_of(int tid)
{
	char path[64], line[128];
	uint64_t set = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "CapPrm:", 7) == 0)
			set = strtoull(line + 7, NULL, 16);
	if (f)
		fclose(f);
	return set;
}

/* Send the signal to all threads that still have more than `kept`. Returns their number; *last: one of them. */
static unsigned int tell_threads(int number, int *last)
{
	DIR *d = opendir("/proc/self/task");
	unsigned int n = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		int tid = atoi(e->d_name);

		if (tid <= 0 || !(permitted_of(tid) & ~kept))
			continue;
		*last = tid;
		n += syscall(SYS_tgkill, getpid(), tid, number) == 0;
	}
	if (d)
		closedir(d);
	return n;
}

void privileges_drop(uint64_t needed)
{
	struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART}, before;
	int number = SIGRTMAX;
	unsigned int told = 1;
	int last = 0;

	kept = needed;
	sigaction(number, &action, &before);
	drop_of_thread();
	for (unsigned int i = 0; i < ROUNDS && told; i++) {
		__atomic_store_n(&done, 0, __ATOMIC_RELAXED);
		told = tell_threads(number, &last);
		for (unsigned int k = 0; k < ROUND_WAITS && __atomic_load_n(&done, __ATOMIC_ACQUIRE) < told; k++)
			usleep(ROUND_WAIT_US);
	}
	/* the handler stays: a thread may take the signal later, and would end the process without it */
	if (told)
		log_warning(main, "thread %d keeps capabilities that the node does not need", last);
	else
		log_info(main, "capabilities: at most %#llx are left", (unsigned long long)kept);
}
