/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A controllable port: the test injects frames, and sent frames are kept as bytes. Accepted buffers are
 * overwritten before they are freed, so that touching one after handing it over shows.
 */
#ifndef SUPPORT_FAKE_PORT_H
#define SUPPORT_FAKE_PORT_H

#include <pthread.h>

#include "pkt/fifo.h"
#include "port/port.h"

struct sent_frame {
	struct sent_frame *next;
	uint32_t size;
	uint8_t bytes[];
};

#define FAKE_QUEUES 4

struct fake_port {
	struct port port; /* first: a struct port * is a struct fake_port * */
	struct rte_mempool *pool;
	pthread_mutex_t lock; /* tests with real threads */
	struct fifo_of_frames {
		struct rte_mbuf *frame[65536];
		uint32_t head, n;
	} rx[FAKE_QUEUES];
	struct sent_frame *sent, **sent_end;
	uint32_t n_sent;
	uint32_t tx_limit;   /* frames taken in one call; UINT32_MAX: all */
	uint64_t tx_allowed; /* frames taken altogether; UINT64_MAX: all */
	uint64_t tx_calls;
	bool counts;	    /* the device can say how many frames wait in its ring */
	uint32_t link_mbps; /* what the device says of its link; 0: unknown */
	uint64_t missed;    /* what the device says it lost (imissed) */
	/* restart of a device that does not work any more */
	const char *fails;	   /* why; NULL: it works */
	bool absent;		   /* no lcore may use it */
	int restart_result;	   /* of the next attempts */
	unsigned int restarts;	   /* attempts so far */
	struct eth_addr mac_after; /* its MAC address after a restart; zero: as before */
};

struct fake_port *fake_port_new(struct rte_mempool *pool, const char *name, const struct eth_addr *mac,
	uint16_t n_rx_queues);

/* A frame arrives; `first_segment`: bytes of its first buffer, 0 for as many as fit. */
void fake_port_receive(struct fake_port *p, uint16_t queue, const void *frame, uint32_t size, uint32_t first_segment);

/* The oldest sent frame, NULL when there is none; the caller frees it. */
struct sent_frame *fake_port_take(struct fake_port *p);

#endif
