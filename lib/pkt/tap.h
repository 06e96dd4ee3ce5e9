/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an lcore's packets can be copied from: bursts received, bursts sent, packets dropped. Off, it costs one
 * predictable branch a burst; on, copies go through a ring to the management thread, which writes files
 * (capture/capture.h). Copies come from a pool of their own: capturing takes no buffer from forwarding.
 */
#ifndef PKT_TAP_H
#define PKT_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct rte_mbuf;
struct rte_mempool;
struct rte_ring;

enum tap_direction { TAP_RX, TAP_TX, TAP_DROP };

struct pkt_tap {
	/* written by the management thread (release, after ring and pool), read by the lcore (acquire) */
	uint64_t rx_ports, tx_ports; /* bit per port */
	uint64_t drops;		     /* not 0: dropped packets too */
	struct rte_ring *ring;	     /* producer: the lcore; consumer: management */
	struct rte_mempool *pool;
	/* written by the lcore */
	uint64_t now_ns CACHE_ALIGNED; /* of the pass under way */
	uint64_t lost;		       /* copies that found no buffer or no room; relaxed */
};

/* What a copy's private area says about it. */
struct tap_record {
	uint64_t time_ns;
	uint32_t length; /* of the packet; the copy may be shorter */
	uint16_t port;
	uint8_t direction; /* enum tap_direction */
	uint8_t reason;	   /* TAP_DROP: enum reason */
};

static inline bool pkt_tap_wants(const uint64_t *ports, uint16_t port)
{
	return __atomic_load_n(ports, __ATOMIC_ACQUIRE) >> port & 1;
}

static inline bool pkt_tap_wants_drops(const struct pkt_tap *t)
{
	return __atomic_load_n(&t->drops, __ATOMIC_ACQUIRE) != 0;
}

/* Copy packets; never fails, losses are counted. The lcore the tap belongs to. */
void pkt_tap_copy(struct pkt_tap *t, struct rte_mbuf **pkts, unsigned int n, uint16_t port,
	enum tap_direction direction, unsigned int reason);

#endif
