/* SPDX-License-Identifier: BSD-3-Clause */
/* A DPDK Ethernet device as a port. Only drivers/ uses rte_ethdev. */
#ifndef DRIVERS_ETHDEV_H
#define DRIVERS_ETHDEV_H

#include "config/model.h"
#include "port/port.h"

struct rte_mempool;

/*
 * Open and configure the device of port `index` of the configuration; the EAL must have probed it. NULL with a message
 * in err that names the remedy. The caller frees with ops->close. Management thread.
 */
struct port *ethdev_open(const struct config *c, uint32_t index, struct rte_mempool *pool, char *err, size_t size);

#endif
