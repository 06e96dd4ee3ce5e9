/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine under a node: memory, CPUs, EAL and the lock of the node's name. Main thread. */
#ifndef SLUICE_MACHINE_H
#define SLUICE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/deal.h"

#define NODES_MAX 64 /* NUMA nodes of a machine */

struct options;

/* How much memory the node needs, and its source; decided before the EAL starts. */
struct memory_plan {
	bool wants_hugepages, hugepages; /* the configuration allows them; all memory comes from them */
	unsigned int
		node[NODES_MAX]; /* NUMA nodes of the memory: those of ports, and of rx and worker lcores; in order */
	uint64_t free_huge_mb[NODES_MAX]; /* on each of them */
	unsigned int n_nodes;
	uint64_t need_mb; /* on each of them */
};

/* NUMA nodes of the ports and of all lcores of a configuration. */
void machine_places(const struct config *c, struct cfg_places *out);

/* 0, or -errno with a message that names the remedy. */
int memory_plan_make(const struct config *c, struct memory_plan *m, char *err, size_t size);

/* The number to write to a NUMA node's nr_hugepages (of 2 MB) to have `mb` MB free. */
uint64_t hugepages_for(unsigned int node, uint64_t mb);
bool hugetlbfs_mounted(void);

/* Do two lcores share a CPU, so that they may preempt each other? */
bool lcores_share_cpus(const struct config *c);

/* May this process use all CPUs of the configuration? 0, or -ENODEV with a message. */
int lcores_check(const struct config *c, char *err, size_t size);

/* Start the EAL for a configuration. 0, or -errno with a message. */
int eal_start(const struct config *c, const struct memory_plan *m, const struct options *o, char *err, size_t size);
void eal_stop(void);

/* privileges.c: capabilities that a running node needs, a bit each; drop all others, in all threads, for good. */
uint64_t privileges_needed(const struct config *c);
void privileges_drop(uint64_t needed);

/* The folder of pid files and sockets; created if missing. 0 or -errno. */
int instance_directory(char *buf, size_t size);

/* Lock the node's name for this process. NULL with a message if another process holds it. */
struct pidfh;
struct pidfh *instance_lock(const char *name, char *err, size_t size);
void instance_unlock(struct pidfh *lock); /* NULL is fine */

#endif
