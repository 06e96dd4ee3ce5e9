/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual port: a device that transmits to a line; its owner passes in the frames that arrive. Like a NIC it has
 * one descriptor for each buffer of a frame. A transmit descriptor is in use until the last bit of the frame has left.
 * A received frame is lost and counted if descriptors or buffers are missing, or if it is longer than the MTU plus an
 * Ethernet header and two tags.
 *
 * The owner supplies the clock and the link state. Single-threaded.
 */
#ifndef VIRTUAL_PORT_H
#define VIRTUAL_PORT_H

#include "drivers/virtual/line.h"
#include "port/port.h"

struct virtual_port_config {
	const char *name;
	struct eth_addr mac;
	uint16_t rx_queues, rx_descriptors, tx_descriptors; /* descriptors per queue */
	uint64_t speed_bps;
	uint32_t mtu;
	struct rte_mempool *pool; /* the node's; buffers for received frames */
	struct line *line;	  /* to transmit to; outlives the port */
	const uint64_t *now;	  /* ns */
	/* Called after frames were put on the line; rc -ENOBUFS: the line is out of memory. May be NULL. */
	void (*sent)(void *arg, int rc);
	/* Called for every frame sent, or received into a buffer, for captures. May be NULL. */
	void (*seen)(void *arg, bool outbound, const void *bytes, uint32_t captured, uint32_t length);
	void *arg;
};

struct virtual_port_stats {
	uint64_t sent;			   /* put on the line */
	uint64_t received;		   /* put into a buffer */
	uint64_t polled;		   /* of these, polled by the node */
	uint64_t imissed, nombuf, ierrors; /* see port_device_stats */
};

/* A port of the node; NULL when out of memory. The caller frees with ops->close. */
struct port *virtual_port_new(const struct virtual_port_config *config);

/* Why an arriving frame was lost, and counted: it has an error, no descriptor was free, no buffer was free. */
enum virtual_port_loss { VIRTUAL_PORT_ERROR = -1, VIRTUAL_PORT_MISSED = -2, VIRTUAL_PORT_NO_BUFFER = -3 };

/* Deliver an arriving frame. Returns its receive queue, or one of enum virtual_port_loss. */
int virtual_port_receive(struct port *p, const struct line_frame *frame);

/* Number of frames in a receive queue. */
uint32_t virtual_port_waiting(const struct port *p, uint16_t queue);

/* Number of the node's buffers in the device: received and not polled, or sent and not left. Frees those that left. */
uint64_t virtual_port_held(struct port *p);

/* Totals; they only grow. */
const struct virtual_port_stats *virtual_port_stats(const struct port *p);

/* Name the memory of a port that nearly every frame touches, part by part. */
void virtual_port_lines(const struct port *p, void (*found)(void *arg, const void *at, size_t bytes), void *arg);

/* Set the link state. */
void virtual_port_set_link(struct port *p, bool up);

#endif
