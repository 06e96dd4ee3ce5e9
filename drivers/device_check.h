/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks devices before the EAL starts, so that errors are clear. Main thread. */
#ifndef DRIVERS_DEVICE_CHECK_H
#define DRIVERS_DEVICE_CHECK_H

#include <stddef.h>

#include "config/model.h"

/* 0, or -errno with a message that names port, problem and remedy. Opens no device. */
int device_check(const struct config *c, const struct cfg_port *port, char *err, size_t size);

/* Call fn with the name of each member of a bonding device of DPDK ("net_bonding0,mode=4,slave=..."); nothing for others. */
void device_each_member(const char *device, void (*fn)(void *arg, const char *name), void *arg);

#endif
