/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who does PFC on a port: sluice, if the device hands MAC control frames to software; else the device, if its driver
 * can; else nobody, which is said. What drivers are known to do is a table, because some take the request and ignore it.
 * None of this has met a NIC yet; it is tested against a device of functions.
 */
#ifndef DRIVERS_PFC_SETUP_H
#define DRIVERS_PFC_SETUP_H

#include <rte_ethdev.h>

#include "port/port.h"

/* The three calls it takes, so that tests can stand in for a device. */
struct pfc_device {
	int (*fc_get)(uint16_t id, struct rte_eth_fc_conf *conf);
	int (*fc_set)(uint16_t id, struct rte_eth_fc_conf *conf);
	int (*pfc_set)(uint16_t id, struct rte_eth_pfc_conf *conf);
};
extern const struct pfc_device pfc_ethdev;

/* What pfc_setup has changed; all zero: nothing. */
struct pfc_changes {
	bool fc; /* flow control; it was `before` */
	struct rte_eth_fc_conf before;
	uint8_t obeys; /* bit per priority that the device was told to obey */
};

/*
 * Set up a started device; driver: its name in DPDK ("net_ixgbe"); hardware: the device may do it. Fills abilities->pfc
 * and ->pfc_swallows, and *changes. A port without priorities is left as it is. Management thread.
 */
void pfc_setup(const struct pfc_device *d, uint16_t id, const char *driver, uint8_t priorities, bool hardware,
	struct port_abilities *abilities, struct pfc_changes *changes);

/* Before the device is stopped: as it was found, for whoever uses it next. Clears *changes. Management thread. */
void pfc_restore(const struct pfc_device *d, uint16_t id, struct pfc_changes *changes);

#endif
