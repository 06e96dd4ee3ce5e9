/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of all counters, made from the lists beside the structs (stats/counter.h). JSON, OpenMetrics and
 * docs/counters.md use them. A counter is a line of its list; a new list is a line of STAT_TABLES.
 */
#ifndef METRICS_TABLES_H
#define METRICS_TABLES_H

#include "stats/counter.h"

/* id, title, about, list */
#define STAT_TABLES(X) \
	X(port, "Per port", "", PORT_COUNTERS) \
	X(device, "Per port: losses of the device", "These packets never reached the node.", DEVICE_COUNTERS) \
	X(interface, "Per VLAN interface", "The counters of its port include these packets.", INTERFACE_COUNTERS) \
	X(lcore, "Per lcore", "", LCORE_COUNTERS) \
	X(punt, "Per port and kind of packets to the node", "`show punts`: sum over all rx lcores.", PUNT_COUNTERS) \
	X(egress, "Per port: egress queues and device", "`show queues`.", EGRESS_COUNTERS) \
	X(queue, "Per egress queue", \
		"`show queues`: port, slice and class. Packets that bypass the queue are not counted.", \
		QUEUE_COUNTERS) \
	X(buffer, "Per buffer of a lossless class", "`show buffers`: ingress port and class.", BUFFER_COUNTERS) \
	X(pfc_rx, "PFC received", "`show pfc counters`: port, and priority for frames that name one.", \
		PFC_RX_COUNTERS) \
	X(pfc_tx, "PFC sent", "`show pfc counters`: port, and priority for frames that name one.", PFC_TX_COUNTERS) \
	X(pfc, "PFC refused", "`show pfc counters`: port.", PFC_COUNTERS) \
	X(pauses, "Pauses", "`show pfc history`: direction, name of the port, relay or tunnel, and priority.", \
		PAUSE_COUNTERS) \
	X(watchdog, "PFC watchdogs", \
		"`show pfc watchdog`: queue of a port, or gateway of a relay. The command's `storm_ms` includes " \
		"the current storm.", \
		WATCHDOG_COUNTERS) \
	X(storm, "PFC storms: the neighbour", "`show pfc watchdog`: port and priority.", STORM_COUNTERS) \
	X(tunnel, "PFC tunnels", "`show pfc tunnels`.", TUNNEL_COUNTERS) \
	X(learning, "PFC tunnels learnt", "`show pfc tunnels`.", LEARNING_COUNTERS) \
	X(learner, "Learning of PFC tunnels", "`show pfc tunnels` shows the sum of all rx lcores.", LEARNER_COUNTERS) \
	X(relay, "PFC relays", "`show pfc tunnels`.", RELAY_COUNTERS) \
	X(thinner, "PFC relays: into the tunnel", "`show pfc tunnels`.", THINNER_COUNTERS) \
	X(carrier, "PFC relays: state messages", "`show pfc tunnels`.", CARRIER_COUNTERS) \
	X(nexthop, "Per link and next hop", \
		"`show nexthops`: port, interface and address; the first 1,024 next hops.", NEXTHOP_COUNTERS) \
	X(path, "Per path of a policy", "`show paths`: policy and path; the first 1,024 paths.", PATH_COUNTERS) \
	X(feedback, "Per path of a policy with feedback", \
		"`show paths`: policy and path; in the class with most of its flows.", FEEDBACK_COUNTERS) \
	X(bfd, "BFD", "`show bfd counters`.", BFD_COUNTERS) \
	X(bfd_session, "Per BFD session", "`show bfd sessions`: neighbour and interface, or policy and path.", \
		BFD_SESSION_COUNTERS) \
	X(rsvp, "RSVP: messages", "`show rsvp counters`.", RSVP_SERVICE_COUNTERS) \
	X(rsvp_refused, "RSVP: messages refused", "`show rsvp counters`.", RSVP_REFUSED_COUNTERS) \
	X(rsvp_session, "RSVP: sessions", "`show rsvp counters`.", RSVP_NODE_COUNTERS) \
	X(rsvp_letter, "RSVP: sessions of letter mode", "`show rsvp counters`.", LETTER_COUNTERS) \
	X(rsvp_neighbor, "Per RSVP neighbour", "`show rsvp neighbors`.", RSVP_NEIGHBOR_COUNTERS) \
	X(rsvp_own, "Per credit session", \
		"`show rsvp sessions`: sessions that begin at this node. In metrics only on demand: " \
		"`/metrics?session=NAME`, or " \
		"`*` for all.", \
		RSVP_SESSION_COUNTERS) \
	X(credit_sent, "Credit: what this node has from next hops", \
		"`show credit`. In metrics the sum over sessions.", CREDIT_SENT_COUNTERS) \
	X(credit_given, "Credit: what this node gives to previous hops", \
		"`show credit`. In metrics the sum over sessions.", CREDIT_GIVEN_COUNTERS) \
	X(credit_of, "Credit per session", \
		"`show credit SESSION`: sessions that begin at this node. In metrics only on demand: " \
		"`/metrics?session=NAME`, or `*` for all.", \
		CREDIT_SENT_BY_SESSION) \
	X(flow, "Flow tables", "`show flows counters`: sum over all rx lcores.", FLOW_COUNTERS) \
	X(roce, "RoCEv2 between hosts", \
		"`show roce counters`: sum over all rx lcores and pairs of hosts, of policies with `roce`.", \
		ROCE_COUNTERS) \
	X(pair, "RoCEv2: per pair of hosts", "`show roce pairs`. In metrics the sum over all pairs.", \
		PAIR_SHOWN_COUNTERS) \
	X(sid, "Per local SID", "`show sids`.", SID_COUNTERS)

struct stat_table {
	const char *title, *about;
	const struct stat_row *rows;
	unsigned int n;
};

#define X(id, title, about, list) extern const struct stat_table stat_##id;
STAT_TABLES(X)
#undef X

/* All tables, in order; the last element is NULL. */
extern const struct stat_table *const stat_tables[];

#endif
