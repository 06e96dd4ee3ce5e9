/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spreads received packets over the queues of a device. Between two nodes all packets of a path have the same outer
 * addresses, so that RSS of these leaves them on one queue. In order of preference: RSS of the innermost headers, rules of
 * rte_flow with RSS of inner headers, RSS of the outer addresses. Tested with a fake device; not yet on a NIC.
 */
#ifndef DRIVERS_SPREAD_H
#define DRIVERS_SPREAD_H

#include <rte_ethdev.h>

#include "config/words.h"
#include "port/port.h"

#define SPREAD_KEY 52	 /* bytes of the longest RSS key */
#define SPREAD_RULES 2	 /* inner IPv6, inner IPv4 */
#define SPREAD_QUEUES 64 /* receive queues of a port */

struct rte_flow;

struct spread {
	uint8_t key[SPREAD_KEY]; /* symmetric */
	uint8_t key_len;
	uint8_t who; /* enum cfg_rx_spread */
	struct rte_flow *rule[SPREAD_RULES];
	char why[128]; /* there are no rules: the driver's words */
};

/*
 * Fill in the RSS part of a device's configuration, which refers to *s, and the abilities spread and symmetric. Before the
 * device is configured. Management thread.
 */
void spread_configure(struct spread *s, const struct rte_eth_dev_info *info, uint16_t n_queues, bool symmetric,
	struct rte_eth_conf *conf, struct port_abilities *a);

/*
 * Try rules on a started device whose RSS sees outer addresses only; remove them before it is stopped. If there are none
 * either, and spread.who does not leave it to the device, software spreads.
 */
void spread_start(struct spread *s, uint16_t id, uint16_t n_queues, struct port_abilities *a);
void spread_stop(struct spread *s, uint16_t id);

/* How the port is spread whose device does it like this, and whose configuration says `who`. */
uint8_t spread_with_software(uint8_t device, enum cfg_rx_spread who);

/* Words for what users read of it. */
const char *spread_words(enum port_spread spread);

#endif
