/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters. Every lcore has one block that it alone writes; readers sum the blocks. Counters only grow;
 * "clear" remembers a base line and subtracts it.
 *
 * Ports are counted twice over: as the port a packet came in by (rx, drops, consumed, sent: together they
 * tell what became of it) and as the port it left by (tx). Packets the node makes itself come in by
 * PORT_LOCAL.
 */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/limits.h"
#include "stats/counter.h"
#include "stats/reasons.h"

/* name, unit, help */
#define PORT_COUNTERS(X) \
	X(rx_packets, "packets", "received") \
	X(rx_bytes, "bytes", "received, without FCS") \
	X(originated, "packets", "made by the node itself") \
	X(sent, "packets", "that came in here and were handed to a device") \
	X(tx_packets, "packets", "handed to this device") \
	X(tx_bytes, "bytes", "handed to this device, without FCS")

/* name, unit, help */
#define LCORE_COUNTERS(X) \
	X(passes, "passes", "through the lcore's roles") \
	X(busy_passes, "passes", "that found work") \
	X(busy_ns, "ns", "spent in passes that found work") \
	X(sleep_ns, "ns", "slept because there was no work") \
	X(max_gap_ns, "ns", "longest time between the beginnings of two passes") \
	X(icmp_sent, "packets", "ICMP errors sent") \
	X(icmp_suppressed, "packets", "ICMP errors not sent: rate limit or a rule of RFC 4443") \
	X(ptb_taken, "packets", "Packet Too Big about own tunnels that lowered what a path takes") \
	X(ptb_ignored, "packets", "Packet Too Big to the node that say nothing new or true about its tunnels") \
	X(nd_sent, "packets", "Neighbor Discovery and ARP packets sent") \
	X(dscp_remapped, "packets", "outer DSCP 48-63 of a tenant lowered") \
	X(control_policed, "packets", "of DSCP 48-63 in transit, beyond control-rate: queued with the data") \
	X(ecn_marked, "packets", "marked CE in an egress queue") \
	X(class_bounced, "packets", "lossless, queued in bounce-class: they leave by the port they came in by") \
	X(ecn_unusual, "packets", "decapsulated with an ECN combination that RFC 6040 marks (!)") \
	X(pfc_refused, "requests", "to pause that were refused: too many parties pause the port already") \
	X(ring_refused, "packets", "that found the ring to a worker full and were parked")

struct port_stats {
#define X(name, unit, help) uint64_t name;
	PORT_COUNTERS(X)
#undef X
	uint64_t reason[REASON_COUNT];
} CACHE_ALIGNED;

/* stats/counter.h */
#define INTERFACE_COUNTERS(X) \
	X(counter, rx_packets, "rx", "packets", "sluice_interface_rx_packets", "received") \
	X(counter, rx_bytes, "rx_bytes", "bytes", "sluice_interface_rx_bytes", "received, without FCS") \
	X(counter, tx_packets, "tx", "packets", "sluice_interface_tx_packets", "that leave here") \
	X(counter, tx_bytes, "tx_bytes", "bytes", "sluice_interface_tx_bytes", "that leave here, without FCS")

/* VLAN interfaces, by row of their number (snapshot/snapshot.h); their packets are among those of the port, too. */
struct interface_stats {
	INTERFACE_COUNTERS(STAT_DECLARE)
};

struct pkt_tap;

struct lcore_stats {
	struct pkt_tap *tap; /* where copies of dropped packets go (pkt/tap.h); set once, before lcores run */
#define X(name, unit, help) uint64_t name;
	LCORE_COUNTERS(X)
#undef X
	struct port_stats port[PORT_SLOTS];
	struct interface_stats interface[INTERFACE_SLOTS];
} CACHE_ALIGNED;

/*
 * Written by the owning lcore with a plain add (it is the only writer), read by anyone. Relaxed on both
 * sides: a counter orders nothing.
 */
static inline void stat_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* For a level, which may fall; the same writer. */
static inline void stat_sub(uint64_t *level, uint64_t n)
{
	__atomic_store_n(level, *level - n, __ATOMIC_RELAXED);
}

static inline void stat_max(uint64_t *counter, uint64_t value)
{
	if (value > *counter)
		__atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

static inline uint64_t stat_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* *sum += *block, member by member; max_gap_ns is a maximum. Any thread. */
void lcore_stats_add(struct lcore_stats *sum, const struct lcore_stats *block);

/* What was counted since `base`: *out = *now - *base; max_gap_ns stays as it is now. */
void lcore_stats_since(struct lcore_stats *out, const struct lcore_stats *now, const struct lcore_stats *base);

/* All drops, all consumed packets of a port, in one block or summed. Any thread. */
uint64_t port_stats_drops(const struct port_stats *p);
uint64_t port_stats_consumed(const struct port_stats *p);

#endif
