/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects who obeys PFC on a port: sluice, if the device passes MAC control frames to software; otherwise the device,
 * if its driver can; otherwise nobody, which is logged. A table lists the behaviour of drivers, because some accept the
 * request and ignore it. Tested with a mock device; not yet on a NIC.
 */
#ifndef DRIVERS_PFC_SETUP_H
#define DRIVERS_PFC_SETUP_H

#include <rte_ethdev.h>

#include "port/port.h"

/* The calls to a device; tests provide their own. */
struct pfc_device {
	int (*fc_get)(uint16_t id, struct rte_eth_fc_conf *conf);
	int (*fc_set)(uint16_t id, struct rte_eth_fc_conf *conf);
	int (*pfc_set)(uint16_t id, struct rte_eth_pfc_conf *conf);
	/* PFC of single transmit queues, DPDK 22.03 and later */
	int (*queue_info)(uint16_t id, struct rte_eth_pfc_queue_info *info);
	int (*queue_set)(uint16_t id, struct rte_eth_pfc_queue_conf *conf);
};
extern const struct pfc_device pfc_ethdev;

/* Changes by pfc_setup; all zero: none. */
struct pfc_changes {
	bool fc; /* flow control was changed; `before` has the original */
	struct rte_eth_fc_conf before;
	uint8_t obeys; /* bit per priority that the device obeys */
	/* Transmit queue of each priority; not 0: a pause stops that queue alone. Queue 0 has all other frames. */
	uint8_t queue_of[8];
};

/*
 * Transmit queues to configure for a device of `most`: 1, or one more for each of the priorities (a bit each), if the device
 * keeps PFC frames to itself and can stop single queues. hardware: it may obey PFC. Before the device is started.
 */
uint16_t pfc_tx_queues(const struct pfc_device *d, uint16_t id, const char *driver, uint8_t priorities, bool hardware,
	uint16_t most);

/*
 * Set up a started device with n_tx transmit queues, as pfc_tx_queues says. driver: its DPDK name ("net_ixgbe"); hardware: the device may obey PFC itself. Fills
 * abilities->pfc, abilities->pfc_swallows and *changes. A port without priorities is not changed. Management thread.
 */
void pfc_setup(const struct pfc_device *d, uint16_t id, const char *driver, uint8_t priorities, bool hardware,
	uint16_t n_tx, struct port_abilities *abilities, struct pfc_changes *changes);

/* Restore the original settings; call before the device is stopped. Clears *changes. Management thread. */
void pfc_restore(const struct pfc_device *d, uint16_t id, struct pfc_changes *changes);

#endif
