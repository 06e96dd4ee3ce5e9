/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters. Every lcore has one block, which only that lcore writes; readers sum the blocks. Counters only grow;
 * `clear` stores a baseline, and readers subtract the baseline.
 *
 * A packet is counted on two ports. The ingress port counts rx and one of drops, consumed and sent, so that every
 * received packet is accounted for. The egress port counts tx. The ingress port of packets that the node itself
 * creates is PORT_LOCAL.
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
	X(rx_packets, "packets", "packets received on this port") \
	X(rx_bytes, "bytes", "bytes received on this port, without FCS") \
	X(originated, "packets", "packets created by the node itself") \
	X(sent, "packets", "packets received on this port and transmitted") \
	X(tx_packets, "packets", "packets transmitted on this port") \
	X(tx_bytes, "bytes", "bytes transmitted on this port, without FCS")

/* name, unit, help */
#define LCORE_COUNTERS(X) \
	X(passes, "passes", "passes through the lcore's roles") \
	X(busy_passes, "passes", "passes that found work") \
	X(busy_ns, "ns", "time spent in passes that found work") \
	X(sleep_ns, "ns", "time slept because there was no work") \
	X(max_gap_ns, "ns", "longest time between the starts of two consecutive passes") \
	X(icmp_sent, "packets", "ICMP errors sent") \
	X(icmp_suppressed, "packets", \
		"ICMP errors not sent because of a rate limit, a full ring or a rule of RFC 4443") \
	X(ptb_taken, "packets", "Packet Too Big messages that lowered the MTU of a path") \
	X(ptb_ignored, "packets", \
		"Packet Too Big messages ignored: invalid, for no packet that the node can have sent, or no lower " \
		"MTU") \
	X(ptb_refused, "packets", \
		"Packet Too Big messages refused: not from a wan port of the underlay and an infrastructure source, " \
		"or icmp.path-mtu is fixed") \
	X(ptb_limited, "packets", "Packet Too Big messages above the rate limit of their source or of the node") \
	X(nd_sent, "packets", "Neighbor Discovery and ARP packets sent") \
	X(dscp_remapped, "packets", \
		"packets encapsulated with outer DSCP 40 (CS5) because the inner DSCP is 48 to 63") \
	X(dscp_mapped_in, "packets", "packets received on a port whose dscp-in changes their DSCP") \
	X(dscp_mapped_encap, "packets", \
		"packets encapsulated with another DSCP than theirs by the dscp-map of a policy") \
	X(dscp_mapped_decap, "packets", \
		"packets decapsulated at a SID with dscp: copy or map that changes their DSCP to that of the outer " \
		"header, " \
		"or to what dscp-map makes of it") \
	X(dscp_mapped_out, "packets", \
		"packets sent on a port whose dscp-out changes the DSCP of their outermost header") \
	X(control_policed, "packets", "packets in transit with DSCP 48 to 63 above control-rate; queued as data") \
	X(ecn_marked, "packets", "packets marked CE in an egress queue") \
	X(class_bounced, "packets", \
		"lossless packets queued in bounce-class because they leave by the port they arrived on") \
	X(ecn_unusual, "packets", \
		"packets decapsulated with an ECN combination that should not occur, (!) or (!!!) in RFC 6040 figure " \
		"4") \
	X(pfc_refused, "requests", "pause requests refused because too many parties already pause the port") \
	X(rx_backlogged, "packets", \
		"packets that waited for the lcore outside the device's receive ring, because it was too slow") \
	X(ring_refused, "packets", "packets parked because the ring to a worker was full")

struct port_stats {
#define X(name, unit, help) uint64_t name;
	PORT_COUNTERS(X)
#undef X
	uint64_t reason[REASON_COUNT];
} CACHE_ALIGNED;

/* stats/counter.h */
#define INTERFACE_COUNTERS(X) \
	X(counter, rx_packets, "rx", "packets", "sluice_interface_rx_packets", \
		"packets received on this VLAN interface") \
	X(counter, rx_bytes, "rx_bytes", "bytes", "sluice_interface_rx_bytes", \
		"bytes received on this VLAN interface, without FCS") \
	X(counter, tx_packets, "tx", "packets", "sluice_interface_tx_packets", \
		"packets sent on this VLAN interface, counted when they leave their queue") \
	X(counter, tx_bytes, "tx_bytes", "bytes", "sluice_interface_tx_bytes", \
		"bytes sent on this VLAN interface, without FCS, counted when they leave their queue")

/* A VLAN interface, by row of its number (snapshot/snapshot.h). The port counts the same packets as well. */
struct interface_stats {
	INTERFACE_COUNTERS(STAT_DECLARE)
};

/* stats/counter.h */
#define PATH_TRAFFIC(X) \
	X(counter, packets, "packets", "packets", "sluice_path_packets", \
		"packets encapsulated for the path, counted when they leave their queue") \
	X(counter, bytes, "bytes", "bytes", "sluice_path_bytes", \
		"bytes of these packets with their outer headers, without Ethernet header and FCS")

/* Packets that one lcore has sent along a path. */
struct path_traffic {
	PATH_TRAFFIC(STAT_DECLARE)
};

struct pkt_tap;

struct lcore_stats {
	struct pkt_tap *tap;	   /* receives copies of dropped packets (pkt/tap.h); set once, before lcores run */
	struct path_traffic *path; /* by path id (snapshot/snapshot.h); set once, too */
#define X(name, unit, help) uint64_t name;
	LCORE_COUNTERS(X)
#undef X
	struct port_stats port[PORT_SLOTS];
	struct interface_stats interface[INTERFACE_SLOTS];
} CACHE_ALIGNED;

/*
 * The owning lcore is the only writer, so a plain add is enough; any thread may read. Both sides are relaxed: a
 * counter orders nothing.
 */
static inline void stat_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Decrease a level, as opposed to a counter. The owning lcore only. */
static inline void stat_sub(uint64_t *level, uint64_t n)
{
	__atomic_store_n(level, *level - n, __ATOMIC_RELAXED);
}

static inline void stat_max(uint64_t *counter, uint64_t value)
{
	if (value > *counter)
		__atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

/* Set a level of any integer type that other threads read. The owning lcore only. */
#define stat_level(level, value) __atomic_store_n(&(level), (__typeof__(level))(value), __ATOMIC_RELAXED)

static inline uint64_t stat_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Add *block to *sum, member by member; max_gap_ns becomes the maximum of both. Any thread. */
void lcore_stats_add(struct lcore_stats *sum, const struct lcore_stats *block);

/* Counts since `base`: *out = *now - *base; max_gap_ns is taken from *now. */
void lcore_stats_since(struct lcore_stats *out, const struct lcore_stats *now, const struct lcore_stats *base);

/* All dropped, all consumed packets of a port, in one block or in a sum. Any thread. */
uint64_t port_stats_drops(const struct port_stats *p);
uint64_t port_stats_consumed(const struct port_stats *p);

#endif
