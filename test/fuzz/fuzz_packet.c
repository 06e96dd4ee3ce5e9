/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames through a whole node: rx, rings, worker, rewrite, control. The input is a list of records: a byte of
 * flags, two of length (low first), the frame.
 *
 *   bits 0-1  port it arrives at
 *   bit 2     addressed to that port          bit 3     checksums set right
 *   bit 4     one second passes before it     bits 5-7  first buffer ends after that many times 16 bytes; 0: full
 */
#include "test/support/unit.h"

#include <rte_mempool.h>

#include "test/fuzz/fuzz.h"
#include "test/fuzz/node.h"
#include "test/support/packet.h"
#include "wire/eth.h"

#define FRAMES_MAX 16
#define FRAME_MAX 4096
#define FRAME_PORT 4 /* egress of decapsulated DX2 frames */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_node();
	return 0;
}

/* A transmitted frame is valid for other nodes. */
static void check_sent(const struct sent_frame *f, const struct fake_port *p)
{
	const uint8_t *b = f->bytes, *ip;
	unsigned int at, type;
	size_t size;

	must(f->size >= 14, "%u bytes sent", f->size);
	if (p == fuzz_node()->port[FRAME_PORT])
		return; /* frames for other stations */
	at = eth_header_bytes(b, f->size);
	ip = b + at;
	size = f->size - at;
	type = (unsigned int)ip[-2] << 8 | ip[-1];
	must(memcmp(b + 6, &p->port.mac, 6) == 0, "source MAC of another port");
	if (type == ETH_TYPE_IPV6) {
		must(size >= 40 && ip[0] >> 4 == 6, "no IPv6 header");
		must(40u + ((unsigned int)ip[4] << 8 | ip[5]) == size, "payload length of %zu bytes", size);
		must(ip[7] > 0, "hop limit 0");
	} else if (type == ETH_TYPE_IPV4) {
		must(size >= 20 && ip[0] >> 4 == 4, "no IPv4 header");
		must(((unsigned int)ip[2] << 8 | ip[3]) == size, "total length of %zu bytes", size);
		must(packet_sum(ip, (ip[0] & 15u) * 4) == 0, "header checksum");
		must(ip[8] > 0, "TTL 0");
	} else if (type == ETH_TYPE_MAC_CONTROL) {
		must(f->size == 60 && b[14] == 1 && b[15] == 1, "no PFC frame");
	} else {
		must(type == ETH_TYPE_ARP, "ether type %04x", type);
	}
}

static void take_sent(struct testbed *t)
{
	struct sent_frame *f;

	for (uint32_t i = 0; i < t->node->n_ports; i++) {
		while ((f = fake_port_take(t->port[i]))) {
			check_sent(f, t->port[i]);
			free(f);
		}
	}
}

static uint64_t check_books(struct testbed *t)
{
	struct node_balance b;

	node_balance(t->node, &b);
	must(b.missing == 0, "%lld packets missing", (long long)b.missing);
	/* a split frame is two buffers */
	must(rte_mempool_in_use_count(t->node->pool) >= b.held && rte_mempool_in_use_count(t->node->pool) <= 2 * b.held,
		"%u buffers in use, %llu packets held", rte_mempool_in_use_count(t->node->pool),
		(unsigned long long)b.held);
	return b.held;
}

/* Everything learnt from an input is forgotten before the next one, and nothing waits any more. */
static void forget(struct testbed *t)
{
	for (unsigned int i = 0; i < 4; i++) {
		t->now += 3600ull * NSEC_PER_SEC;
		testbed_settle(t, 100);
	}
	take_sent(t);
	must(check_books(t) == 0, "packets are held after hours");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct testbed *t = fuzz_node();

	for (unsigned int n = 0; in.left > 3 && n < FRAMES_MAX; n++) {
		uint8_t flags = fuzz_byte(&in), low = fuzz_byte(&in), copy[FRAME_MAX];
		struct fake_port *p = t->port[flags & 3u];
		size_t bytes, wanted = (size_t)fuzz_byte(&in) << 8 | low;
		const uint8_t *from = fuzz_bytes(&in, MIN_OF(wanted, sizeof(copy)), &bytes);

		if (!bytes)
			break;
		memcpy(copy, from, bytes);
		fuzz_block(copy, bytes);
		if (flags & 4)
			fuzz_address(copy, bytes, &p->port);
		if (flags & 8)
			fuzz_seal(copy, bytes);
		if (flags & 16)
			testbed_pass(t, NSEC_PER_SEC, 100 * NSEC_PER_MSEC);
		fake_port_receive(p, 0, copy, (uint32_t)bytes, (flags >> 5) * 16u);
		testbed_settle(t, 100);
		take_sent(t);
	}
	check_books(t);
	forget(t);
	return 0;
}
