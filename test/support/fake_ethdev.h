/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An Ethernet device without DPDK's: the functions of ethdev that drivers/ calls, as a program with this file sees them.
 * The test sets the answers and reads the calls, one letter each, in order.
 */
#ifndef SUPPORT_FAKE_ETHDEV_H
#define SUPPORT_FAKE_ETHDEV_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/eth.h"

struct fake_ethdev {
	const char *driver; /* "net_iavf" */
	unsigned int index; /* of the kernel interface below it */
	bool plugged, started, up;
	uint16_t id;	     /* of the device when it is plugged in next */
	struct eth_addr mac; /* of a new device */
	bool keeps_mac;	     /* it refuses another one */
	int reset_result, start_result, plug_result;
	uint64_t imissed;	   /* since the device was plugged in or reset */
	uint16_t rx_queues;	   /* that it has; 0: 1 */
	uint64_t rss, rx_offloads; /* that it can */
	uint8_t key_size;	   /* of RSS */
	int rules;		   /* rte_flow: rules that it takes; further ones are refused */
	int n_rules;		   /* that are set up */
	uint8_t rule_level;	   /* of RSS, in the last rule */
	uint16_t rule_queues;
	bool promiscuous, no_multicast;
	/* what it was configured with */
	uint64_t rss_hf, offloads;
	uint8_t key[52], key_len;
	/* reset R, start S, stop s, close C, plugged in P, unplugged U, configured c, MAC address set m */
	char calls[128];
};
extern struct fake_ethdev fake_ethdev;

/* As good as new: plugged in, without calls. */
void fake_ethdev_init(const char *driver);

/* The device reports an event; for what is registered, which must be something. */
#include <rte_ethdev.h>
void fake_ethdev_event(enum rte_eth_event_type event);

#endif
