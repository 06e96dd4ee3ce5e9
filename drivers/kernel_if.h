/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel interface of an af_packet port: functions that DPDK 22.11's driver lacks. The index identifies the
 * interface, because it survives renaming. In the network namespace of the interface.
 */
#ifndef DRIVERS_KERNEL_IF_H
#define DRIVERS_KERNEL_IF_H

#include <stdbool.h>

#include <net/if.h>

struct kernel_if {
	unsigned int index;	/* 0: none */
	char name[IF_NAMESIZE]; /* when it was opened */
	/*
	 * A packet socket that receives nothing. The kernel detaches it, as it does the driver's sockets, when the
	 * interface is deleted or leaves the namespace, even if the same index returns. -1: none.
	 */
	int guard;
};

/* Management thread. 0: none. */
void kernel_if_open(struct kernel_if *k, unsigned int index);
void kernel_if_close(struct kernel_if *k);

/* Is the interface up, with carrier? False if it no longer exists. Any thread. */
bool kernel_if_running(const struct kernel_if *k);

/* Do sockets that were bound to the interface receive nothing any more, for good? Any thread. */
bool kernel_if_is_gone(const struct kernel_if *k);

/* Is there an interface of that name, perhaps a new one? */
bool kernel_if_exists(const struct kernel_if *k);

/* 0 or -errno. The kernel silently drops sent frames longer than the interface's MTU. */
int kernel_if_set_mtu(const struct kernel_if *k, unsigned int mtu);

#endif
