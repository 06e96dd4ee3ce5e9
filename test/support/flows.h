/* SPDX-License-Identifier: BSD-3-Clause */
/* A node of two ports and two routes, and numbered flows through it: for tests that check the order of packets. */
#ifndef TEST_SUPPORT_FLOWS_H
#define TEST_SUPPORT_FLOWS_H

#include <stdlib.h>

#include "test/support/testbed.h"
#include "test/support/unit.h"

#define NODE_OF(lcores) \
	TESTBED_NODE \
	"lcores: " lcores "\n" \
	"memory: {buffers: 48K, ring: 256}\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, rx-queues: 2, queue-limit: 2K, addresses: " \
	"[\"2001:db8:a::2/64\"]}\n" \
	"  - {name: p1, device: net_null1, side: wan, queue-limit: 1K, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"neighbors:\n" \
	"  - {port: p0, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:03\"}\n" \
	"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:400::/48\", port: p0, nexthop: \"2001:db8:a::3\"}\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

#define TWO_BY_TWO NODE_OF("{control: 0, rx: [1, 2], worker: [3, 4]}")
#define FLOWS 64

static const char *const out_of[2] = {"5f00:0:100:400:300::", "5f00:0:100:500:300::"};

/* Flow f is received on queue f % 2 of p0 and leaves by port f / 2 % 2. */
static void receive(struct testbed *t, uint16_t flow, uint32_t sequence)
{
	uint8_t frame[256];
	uint32_t n = testbed_frame(frame, &t->port[0]->port.mac, out_of[flow / 2 % 2], flow, sequence, 100);

	fake_port_receive(t->port[0], flow % 2, frame, n, 0);
}

/* Order of every flow, and its port; returns frames taken. */
static uint32_t take_all(struct testbed *t, uint32_t *next)
{
	struct sent_frame *f;
	uint32_t n = 0;

	for (uint16_t port = 0; port < 2; port++) {
		while ((f = fake_port_take(t->port[port]))) {
			uint16_t flow;
			uint32_t sequence;

			testbed_frame_read(f, &flow, &sequence);
			check(flow / 2 % 2 == port, "flow %u left by port %u", flow, port);
			check(sequence == next[flow], "flow %u: %u came, %u was due", flow, sequence, next[flow]);
			next[flow]++;
			n++;
			free(f);
		}
	}
	return n;
}

#endif
