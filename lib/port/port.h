/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port as seen by the rest of sluice: a small table of functions. drivers/ implements it for any DPDK device and for
 * the virtual links of tests and the lab.
 */
#ifndef PORT_PORT_H
#define PORT_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/counter.h"
#include "wire/eth.h"

struct config;
struct rte_mbuf;
struct rte_mempool;
struct port;

/* The path of PFC frames between a port's neighbour and sluice. */
enum port_pfc {
	PORT_PFC_SOFTWARE, /* the device delivers received frames and sends those that software builds */
	PORT_PFC_HARDWARE, /* the device obeys them itself; software does not receive them */
	PORT_PFC_BLIND,	   /* the device consumes them and does not obey: the port cannot be paused */
};

/* How received packets reach the queues of a port, and what the user reads of it. */
#define PORT_SPREADS(X) \
	X(ONE, "one-queue", "one receive queue") \
	X(INNER, "rss-innermost", "RSS of the innermost headers: the flows of a tunnel reach all queues") \
	X(RULE, "rte-flow", "an rte_flow rule, RSS of inner headers: the flows of a tunnel reach all queues") \
	X(SOFTWARE, "software", \
		"by software at the rx lcores, by flow label: the flows of a tunnel reach all of them") \
	X(LABEL, "flow-label", "by flow label: the flows of a tunnel reach all queues") \
	X(OUTER, "rss-outer", "RSS of the outer addresses: the flows of one tunnel stay on one queue") \
	X(PEER, "peer", "as the peer or the files fill them") \
	X(NONE, "none", "no RSS: all packets are in queue 0")

enum port_spread {
#define X(name, id, words) PORT_SPREAD_##name,
	PORT_SPREADS(X)
#undef X
};

/* Capabilities of a port, found when it is opened (docs/design.md rule 10). */
struct port_abilities {
	bool set_mac; /* false: it sends from the configured MAC but cannot filter for it */
	bool set_mtu;
	bool promiscuous;
	uint16_t tx_queues, rx_queues; /* maximum */
	uint32_t speed_mbps;	       /* 0: not reported */
	uint8_t spread;		       /* enum port_spread */
	bool symmetric;		       /* both directions of a flow reach the same queue */
	bool timestamps;	       /* the device says when it received a packet */
	uint8_t pfc;		       /* enum port_pfc */
	bool pfc_queues;	       /* PORT_PFC_HARDWARE: a pause stops the queue of its priority alone */
	bool pfc_swallows;	       /* PFC frames that software sends do not leave the device */
	const char *driver;
};

/* Losses and errors that only the device knows, as totals. These frames never reached the node. */
#define DEVICE_COUNTERS(X) \
	X(counter, imissed, "imissed", "packets", "sluice_port_imissed_packets", \
		"packets lost by the device because no receive descriptor was free") \
	X(counter, rx_nombuf, "rx_nombuf", "packets", "sluice_port_rx_nombuf_packets", \
		"packets lost by the device because no buffer was free") \
	X(counter, ierrors, "ierrors", "packets", "sluice_port_ierrors_packets", \
		"packets received with errors, and frames longer than the port's MTU allows") \
	X(counter, oerrors, "oerrors", "packets", "sluice_port_oerrors_packets", \
		"packets not transmitted because of errors, as counted by the device") \
	X(counter, restarts, "restarts", "times", "sluice_port_restarts", \
		"times the device was started again because it did not work any more")

struct port_device_stats {
	DEVICE_COUNTERS(STAT_DECLARE)
};

/* The state and settings of an open port. */
struct port_details {
	char device[64];
	const char *driver;
	uint32_t link_mbps; /* 0: not reported */
	bool full_duplex, promiscuous, all_multicast;
	int socket;				 /* NUMA node; -1: any */
	uint16_t device_mtu;			 /* MTU that the device reports */
	uint16_t rx_descriptors, tx_descriptors; /* of each queue */
	char rx_offloads[128], tx_offloads[128]; /* in use, names separated by spaces */
};

struct port_ops {
	/*
	 * Receive one burst from a queue. The data of the frames is not shared. Called by the rx lcore that
	 * polls the queue.
	 */
	uint16_t (*rx)(struct port *p, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
	/*
	 * Frames that wait in the receive ring of a queue; negative: the device cannot say. NULL: no device of this
	 * kind can. May read many descriptors. Called by the rx lcore that polls the queue.
	 */
	int (*rx_waits)(struct port *p, uint16_t queue);
	/* Send up to n frames; the device owns the accepted ones. Never waits. Called by the owner of the egress. */
	uint16_t (*tx)(struct port *p, struct rte_mbuf **pkts, uint16_t n);
	/* The functions below: management thread. They return 0 or -errno. */
	int (*start)(struct port *p);
	void (*stop)(struct port *p);
	void (*close)(struct port *p); /* frees the port */
	bool (*link_up)(struct port *p);
	/*
	 * Must the device be restarted (node/node_ctl.h)? The reason, or NULL. After a reason was returned, lcores that
	 * begin a pass do not use the device, and link_up is false, until `restart` has succeeded. NULL: no device of
	 * this kind fails.
	 */
	const char *(*failed)(struct port *p, uint64_t now);
	/*
	 * Restart it while no lcore uses it, with the port of the configuration, which is the one it was opened with.
	 * -EAGAIN: what it needs is not there yet; other errors with a message. Then it can be called again. May set
	 * port.mac.
	 */
	int (*restart)(struct port *p, const struct config *c, struct rte_mempool *pool, char *err, size_t size);
	/* Receive frames to any MAC address, as circuits do, or not. NULL: it always does. */
	void (*receive_all)(struct port *p, bool all);
	void (*device_stats)(struct port *p, struct port_device_stats *out);
	/* NULL when the port does not support it. */
	void (*details)(struct port *p, struct port_details *out);
	void (*xstats)(struct port *p, void (*fn)(void *arg, const char *name, uint64_t value), void *arg);
};

struct port {
	const struct port_ops *ops; /* lcores: port_ops_of */
	void *driver;		    /* private to the driver */
	char name[32];
	uint16_t index; /* in the configuration */
	uint16_t n_rx_queues;
	struct eth_addr mac; /* source address of the node's frames and replies */
	struct port_abilities abilities;
	/*
	 * Changes of the link since start: odd while it is up, even while it is down. A reader that was away sees that
	 * the link has failed and returned. Written by port_set_link, read by lcores; relaxed, orders nothing.
	 */
	uint32_t link;
	bool stopped; /* for maintenance: its link counts as down. Written by the management thread; relaxed */
};

/* The functions of a port, which change while it is restarted. Lcores, in each pass anew. */
static inline const struct port_ops *port_ops_of(const struct port *p)
{
	return __atomic_load_n(&p->ops, __ATOMIC_ACQUIRE);
}

/* Return port.link. */
static inline uint32_t port_link(const struct port *p)
{
	return __atomic_load_n(&p->link, __ATOMIC_RELAXED);
}

static inline bool port_is_up(const struct port *p)
{
	return port_link(p) & 1;
}

static inline bool port_is_stopped(const struct port *p)
{
	return __atomic_load_n(&p->stopped, __ATOMIC_RELAXED);
}

/* Record the state of the link. Returns whether it has changed. The management thread, and threads of drivers. */
static inline bool port_set_link(struct port *p, bool up)
{
	uint32_t was = port_link(p);

	up = up && !__atomic_load_n(&p->stopped, __ATOMIC_RELAXED);
	while ((was & 1) != up)
		if (__atomic_compare_exchange_n(&p->link, &was, was + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return false;
}

#endif
