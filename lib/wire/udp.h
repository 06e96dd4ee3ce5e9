/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP (RFC 768), and the two ports, which TCP and SCTP have at the same offset. */
#ifndef WIRE_UDP_H
#define WIRE_UDP_H

#include "wire/bytes.h"

#define UDP_PORT_ROCEV2 4791

struct udp_hdr {
	be16_t src_port;
	be16_t dst_port;
	be16_t length;
	be16_t checksum;
};
WIRE_SIZE(struct udp_hdr, 8);
WIRE_AT(struct udp_hdr, dst_port, 2);

#endif
