/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's interface behind a port: what DPDK 22.11's af_packet driver does not ask it. By index, which a
 * renaming leaves as it is. Management thread, which is in the network namespace of the interface.
 */
#ifndef DRIVERS_KERNEL_IF_H
#define DRIVERS_KERNEL_IF_H

#include <stdbool.h>

/* Up, and with carrier. False for an interface that has gone. */
bool kernel_if_running(unsigned int index);

/* 0 or -errno. Frames longer than the interface's MTU are lost on their way out, without a word. */
int kernel_if_set_mtu(unsigned int index, unsigned int mtu);

#endif
