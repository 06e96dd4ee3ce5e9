/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP for IPv4 over Ethernet (RFC 826). */
#ifndef WIRE_ARP_H
#define WIRE_ARP_H

#include "wire/eth.h"

#define ARP_HTYPE_ETHERNET 1
#define ARP_OP_REQUEST 1
#define ARP_OP_REPLY 2

struct arp_ipv4 {
	be16_t htype;
	be16_t ptype;
	uint8_t hlen;
	uint8_t plen;
	be16_t op;
	struct eth_addr sender_mac;
	be32_t sender_ip;
	struct eth_addr target_mac;
	be32_t target_ip;
};
WIRE_SIZE(struct arp_ipv4, 28);
WIRE_AT(struct arp_ipv4, op, 6);
WIRE_AT(struct arp_ipv4, sender_ip, 14);
WIRE_AT(struct arp_ipv4, target_mac, 18);
WIRE_AT(struct arp_ipv4, target_ip, 24);

#endif
