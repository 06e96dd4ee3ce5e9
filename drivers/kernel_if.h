/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel interface of an af_packet port: functions that DPDK 22.11's driver lacks. The index identifies the
 * interface, because it survives renaming. Management thread, in the network namespace of the interface.
 */
#ifndef DRIVERS_KERNEL_IF_H
#define DRIVERS_KERNEL_IF_H

#include <stdbool.h>

/* Is the interface up, with carrier? False if it no longer exists. */
bool kernel_if_running(unsigned int index);

/* 0 or -errno. The kernel silently drops sent frames longer than the interface's MTU. */
int kernel_if_set_mtu(unsigned int index, unsigned int mtu);

#endif
