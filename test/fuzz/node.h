/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node with one of everything on fake ports, for targets that need its tables or its lcores. Its addresses, SIDs
 * and MACs are those of the pcap cases, whose frames are the seeds.
 * With FUZZ_BLOCK=16, 48 or 64 in the environment its uSIDs are behind a block of that length instead of 5f00:0::/32
 * (RFC 9800), and fuzz_block moves those of an input there.
 */
#ifndef FUZZ_NODE_H
#define FUZZ_NODE_H

#include "test/support/testbed.h"

/* p0 and p1 are inside the domain, p2 and p3 belong to a tenant each, p4 is for frames. Made once, and ended when the program ends. */
struct testbed *fuzz_node(void);

/*
 * Give a frame the values that the fuzzer could not guess: addressed to the port; with the checksums of IPv4, ICMP and ICMPv6
 * correct where these directly follow the Ethernet or IP header.
 */
void fuzz_address(uint8_t *frame, size_t size, const struct port *p);
void fuzz_seal(uint8_t *frame, size_t size);

/* Move all addresses of 5f00:0::/32 in the input to the block of the node; ids without room are left out. */
void fuzz_block(uint8_t *bytes, size_t size);

#endif
