/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual port: a device whose transmit side feeds a line and whose receive side is filled by whoever owns the
 * other end. Like a NIC it has descriptors, one for each buffer of a frame: a transmit descriptor is in use until the frame's last
 * bit has left, a received frame without free descriptors is missed, one without free buffers, or longer than the MTU with
 * an Ethernet header and two tags, is lost; all are counted.
 *
 * The clock is the owner's; the owner also tells it what the link does. One thread.
 */
#ifndef VIRTUAL_PORT_H
#define VIRTUAL_PORT_H

#include "drivers/virtual/line.h"
#include "port/port.h"

struct virtual_port_config {
	const char *name;
	struct eth_addr mac;
	uint16_t rx_queues, rx_descriptors, tx_descriptors; /* descriptors: of each queue */
	uint64_t speed_bps;
	uint32_t mtu;
	struct rte_mempool *pool; /* of the node: buffers of received frames */
	struct line *line;	  /* to send to; outlives the port */
	const uint64_t *now;	  /* ns */
	/* Called after frames were handed to the line, and when the line has no memory left; may be NULL. */
	void (*sent)(void *arg, int rc);
	/* Every frame sent, and received into a buffer; for captures. NULL: none. */
	void (*seen)(void *arg, bool outbound, const void *bytes, uint32_t captured, uint32_t length);
	void *arg;
};

struct virtual_port_stats {
	uint64_t sent;			   /* handed to the line */
	uint64_t received;		   /* put into a buffer */
	uint64_t polled;		   /* of these, taken by the node */
	uint64_t imissed, nombuf, ierrors; /* see port_device_stats */
};

/* A port of the node. NULL when out of memory. It is freed by its close operation. */
struct port *virtual_port_new(const struct virtual_port_config *config);

/* A frame arrives. Returns the queue it went to, or -1 when it was lost. */
int virtual_port_receive(struct port *p, const struct line_frame *frame);

/* Frames that wait to be polled from a queue. */
uint32_t virtual_port_waiting(const struct port *p, uint16_t queue);

/* Buffers of the node that the device holds: received and not polled, sent and not left. Gives back those that left. */
uint64_t virtual_port_held(struct port *p);

/* Totals; they only grow. */
const struct virtual_port_stats *virtual_port_stats(const struct port *p);

/* What link_up says from now on. */
void virtual_port_set_link(struct port *p, bool up);

#endif
