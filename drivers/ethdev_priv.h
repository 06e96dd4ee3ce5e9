/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of a DPDK Ethernet device. Calls go in one direction: ethdev.c (packets, what users see),
 * ethdev_restart.c, ethdev_start.c (start, stop, link, events), ethdev_setup.c (configuration).
 */
#ifndef DRIVERS_ETHDEV_PRIV_H
#define DRIVERS_ETHDEV_PRIV_H

#include <pthread.h>

#include "config/model.h"
#include "drivers/kernel_if.h"
#include "drivers/memif_server.h"
#include "drivers/pfc_setup.h"
#include "drivers/spread.h"
#include "port/port.h"

/* Why a device must be restarted: bit, words for the log. */
#define ETHDEV_FAULTS(X) \
	X(SERVER, "not connected to its memif server") \
	X(RESET, "the device was reset") \
	X(ERROR, "the device did not recover from an error") \
	X(REMOVED, "the device was removed") \
	X(INTERFACE, "its kernel interface was deleted")

enum ethdev_fault_bit {
#define X(name, words) ETHDEV_FAULT_BIT_##name,
	ETHDEV_FAULTS(X)
#undef X
};

enum ethdev_fault {
#define X(name, words) ETHDEV_FAULT_##name = 1 << ETHDEV_FAULT_BIT_##name,
	ETHDEV_FAULTS(X)
#undef X
};

struct ethdev {
	uint16_t id;
	bool open; /* id is a device; false: it is gone, and not back yet */
	bool started;
	bool restarts;				 /* it is being opened again: it keeps its MAC address */
	bool own_mac;				 /* the port has a configured MAC address */
	bool reports_link;			 /* by an interrupt */
	uint16_t rx_descriptors, tx_descriptors; /* wanted, then set up */
	uint16_t rx_least;			 /* receive descriptors that lossless classes need */
	uint64_t rx_offloads, tx_offloads;
	uint8_t pfc_priorities;
	bool pfc_hardware; /* the device may obey PFC itself */
	struct pfc_changes pfc_changes;
	struct spread spread;
	bool receives_all;	       /* frames to any MAC address are wanted, because the port has circuits */
	uint16_t n_tx;		       /* transmit queues: 1, or one more for each lossless priority */
	bool connects;		       /* memif client: tries to connect once, when it is started */
	struct memif_server server;    /* of such a client */
	struct kernel_if kernel_if;    /* below an af_packet device */
	uint16_t frame_buffers;	       /* buffers of the longest configured frame */
	uint64_t too_long;	       /* frames of more buffers; atomic: the lcore of each receive queue adds */
	const struct port_ops *in_use; /* while lcores use the device */
	const struct port_ops *absent; /* else: these functions do not touch it */
	/*
	 * Written by threads of the EAL in events, too. Atomic. recovering: the device handles an error by itself, and
	 * must not be configured or asked for anything meanwhile.
	 */
	bool detached, recovering;
	uint32_t faults; /* enum ethdev_fault, a bit each */
	uint32_t recoveries;
	/* management thread: */
	uint32_t recoveries_said;
	uint32_t due;		/* faults for which the device is being restarted */
	uint64_t connect_again; /* time in ns from which a client that is not connected is restarted */
	uint64_t connect_ns;	/* time that the last attempt was given */
	uint32_t n_restarts;
	struct port_device_stats before, last; /* of the device before it was restarted; when it was last asked */
	/* Held while the device is restarted, and by those who ask for the link. */
	pthread_mutex_t lock;
};

static inline struct ethdev *dev_of(const struct port *p)
{
	return p->driver;
}

/* The EAL's name of a device: "net_pcap0,rx_pcap=..." -> "net_pcap0". */
void ethdev_name(const char *device, char *buf, size_t size);

/* Configure a device that is not started, as the port of the configuration. 0, or -errno with a message. */
int ethdev_set_up(struct port *p, const struct cfg_port *config, struct rte_mempool *pool, char *err, size_t size);

/* Pass all frames, if that is wanted or the device cannot filter as the port needs it. */
void ethdev_set_up_filters(struct port *p);

/* struct port_ops */
void ethdev_receive_all(struct port *p, bool all);
int ethdev_start(struct port *p);
void ethdev_stop(struct port *p);
bool ethdev_link_up(struct port *p);
const char *ethdev_failed(struct port *p, uint64_t now);
int ethdev_restart(struct port *p, const struct config *c, struct rte_mempool *pool, char *err, size_t size);
void ethdev_stats(struct port *p, struct port_device_stats *out);

/* May the device be asked for anything? */
static inline bool ethdev_answers(const struct ethdev *dev)
{
	return dev->open && !__atomic_load_n(&dev->recovering, __ATOMIC_RELAXED);
}

#endif
