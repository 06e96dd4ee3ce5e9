/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole node in a test: made from YAML like the real one, its ports fake, its lcores polled by the test at
 * times the test chooses. Only ports and clock differ from the appliance.
 */
#ifndef SUPPORT_TESTBED_H
#define SUPPORT_TESTBED_H

#include "node/node_ctl.h"
#include "test/support/fake_port.h"

/* The beginning of most configurations here: a node at fd00::d whose uN can be 5f00:0:100::/48, and one lcore for all. */
#define TESTBED_NODE \
	"node: {name: t, loopback: \"fd00::d\", usid: {block: \"5f00:0::/32\", node: 0x100},\n" \
	"  infrastructure: [\"fd00::/16\"]}\n"
#define TESTBED_ONE_LCORE \
	"lcores: {control: 0, rx: [0], worker: [0]}\n" \
	"memory: {buffers: 24K}\n"

/* Start the EAL once for the program: no hugepages, nothing on the bus, no files. */
void testbed_eal(void);

struct testbed {
	struct node *node;
	struct fake_port *port[MAX_PORTS];
	uint64_t now;
	bool overruns; /* a negative control: packets of lossless classes may find their headroom used up */
};

/* From YAML that must be valid, as must be the files it names, beside the working directory; every port gets 02:00:00:00:d0:NN unless it names a MAC. */
struct testbed *testbed_new(const char *yaml);

/* The same, but the node has just been started: it waits for those who may pause it (node_options.steady). */
struct testbed *testbed_started(const char *yaml);

/*
 * Ends the node; all packets must be accounted for and all buffers back in the pool, and no packet of a lossless class may
 * have been dropped unless t->overruns; nothing may stay charged to a buffer.
 */
void testbed_free(struct testbed *t);

/* Poll all lcores, 1 us of virtual time a round, until a whole round finds no work; at most `rounds`. */
void testbed_settle(struct testbed *t, unsigned int rounds);

/* One round. Returns the work done. */
unsigned int testbed_round(struct testbed *t);

/* Let time pass, polling every `step_ns`. */
void testbed_pass(struct testbed *t, uint64_t ns, uint64_t step_ns);

/* Drops and consumptions of a reason at a port (PORT_LOCAL for originated packets). */
uint64_t testbed_reason(struct testbed *t, unsigned int port, enum reason reason);

/* rx + originated = sent + dropped + consumed + held, now. */
void testbed_check_balance(struct testbed *t);

/*
 * A uN packet for the testbeds here: outer IPv6 fd00::1 > `da`, inner UDP from 2001:db8:1::11 with source port
 * `flow` and `sequence` in its payload, `size` bytes of frame at least. Returns its length.
 */
uint32_t testbed_frame(uint8_t *out, const struct eth_addr *to, const char *da, uint16_t flow, uint32_t sequence,
	uint32_t size);

/* A PFC frame out of a tunnel: from `source` to the SID `sid`. `out` has room for TESTBED_PFC_FRAME bytes, all of which it has. */
struct pfc_request;
#define TESTBED_PFC_FRAME (14 + 40 + 60)
void testbed_pfc_frame(uint8_t *out, const struct eth_addr *to, const char *source, const char *sid,
	const struct pfc_request *request);

/* A frame of testbed_frame arrives, of 120 bytes and a traffic class: the upper three bits of its octet. */
void testbed_receive(struct testbed *t, unsigned int port, const char *da, uint16_t flow, uint32_t sequence,
	unsigned int class);

/* One such packet arrives at port 0: does it get out of port `out` at once? */
bool testbed_passes(struct testbed *t, const char *da, unsigned int class, unsigned int out);

/* A PFC frame to a SID arrives at port 0; _pause: and is carried out; _stop: of one priority. */
void testbed_pfc_arrives(struct testbed *t, const char *sid, const char *source, const struct pfc_request *request);
void testbed_pfc_pause(struct testbed *t, const char *sid, const char *source, const struct pfc_request *request);
void testbed_pfc_stop(struct testbed *t, const char *sid, const char *source, unsigned int priority, uint16_t quanta);

/* Flow and sequence of a frame of testbed_frame, sent with or without outer header. */
void testbed_frame_read(const struct sent_frame *f, uint16_t *flow, uint32_t *sequence);

#endif
