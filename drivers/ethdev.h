/* SPDX-License-Identifier: BSD-3-Clause */
/* Any DPDK Ethernet device as a port. The only place that knows rte_ethdev. */
#ifndef DRIVERS_ETHDEV_H
#define DRIVERS_ETHDEV_H

#include "config/model.h"
#include "port/port.h"

struct rte_mempool;

/*
 * Open and configure the device of a configuration's port; the EAL was told about it at start. NULL with a message in err
 * that names the cure. The caller frees with ops->close. Management thread.
 */
struct port *ethdev_open(const struct config *c, uint32_t index, struct rte_mempool *pool, char *err, size_t size);

/* "net_pcap0,rx_pcap=..." -> "net_pcap0": the name under which the EAL knows a device. */
void ethdev_name_of(const char *device, char *buf, size_t size);

#endif
