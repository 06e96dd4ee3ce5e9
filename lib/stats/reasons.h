/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a packet went no further. One list feeds the enum, the console, JSON, OpenMetrics and docs/counters.md.
 *
 * A packet that is received or originated ends in exactly one of three ways: sent, dropped for one of the
 * reasons of DROP_REASONS, or consumed by the node itself (CONSUME_REASONS). Until then it is held.
 */
#ifndef STATS_REASONS_H
#define STATS_REASONS_H

#include <stdbool.h>
#include <stdint.h>

/* name, what it means */
#define DROP_REASONS(X) \
	X(truncated, "frame ends inside the headers it announces") \
	X(headers_split, "headers reach past the first buffer of a chained frame") \
	X(mac_not_ours, "unicast destination MAC of another station") \
	X(mac_source, "source MAC is a group address or the port's own") \
	X(ether_type, "ether type not handled") \
	X(vlan, "VLAN tags that no interface and no attachment circuit takes") \
	X(mac_control, "MAC control frame (PAUSE, PFC) not expected here") \
	X(pause_frame, "802.3x PAUSE, which would stop control traffic too; only PFC is obeyed") \
	X(pfc_short, "PFC frame of less than 60 bytes (34 with lenient-pad)") \
	X(pfc_bad_da, "MAC control frame, or frame to a PFC SID, not to 01-80-C2-00-00-01") \
	X(pfc_bad_opcode, "MAC control opcode neither PFC nor PAUSE; at a PFC SID anything but PFC") \
	X(pfc_bad_slice, "PFC frame for a slice that is not known here") \
	X(pfc_bad_cev, "PFC frame with a class enable vector above 255") \
	X(pfc_bad_peer, "PFC frame from a station or tunnel source that may not pause this port") \
	X(pfc_busy, "PFC frame that found the way to the owner of its port full") \
	X(ip_version, "IP version does not fit the ether type or next header") \
	X(ip_header, "IPv4 header length or checksum wrong") \
	X(ip_length, "IP length runs past the end of the frame") \
	X(ip_source, "source address no host may have") \
	X(own_source, "source address is the node's own: a loop or a forgery") \
	X(multicast, "multicast or broadcast destination that the node does not listen to") \
	X(link_local, "link-local destination or source that may not be forwarded") \
	X(hop_limit, "hop limit or TTL used up") \
	X(no_route, "no route to the destination") \
	X(too_big, "larger than the MTU of the egress port") \
	X(not_served, "own address, but nothing listens there") \
	X(boundary_drop, "packet to the SID space from outside the domain (RFC 8754 5.1)") \
	X(boundary_source, "to a local SID from no infrastructure source, or from outside with one (RFC 8754 5.1)") \
	X(hmac, "HMAC TLV missing or wrong where one is required (RFC 8754 2.1.2)") \
	X(host_sid, "packet of a host to a SID that its port does not allow (RFC 8754 5.2)") \
	X(srh_bounds, "Segments Left or Last Entry beyond the segment list") \
	X(srh_segments_left, "Segments Left is not 0 at a SID that must be the last") \
	X(routing_type, "routing header not of type 4, or SRH to an address that is no SID") \
	X(ext_chain, "extension headers truncated or too many") \
	X(option, "unknown option whose type asks to discard the packet (RFC 8200 4.2)") \
	X(upper_layer, "upper layer not allowed at this SID") \
	X(fragment, "fragment at the last SID; sluice does not reassemble") \
	X(sid_loop, "one packet names too many local SIDs or nested tunnels") \
	X(ecn_ce_not_ect, "outer CE over inner Not-ECT (RFC 6040)") \
	X(neighbor_failed, "neighbour did not answer ND or ARP") \
	X(neighbor_hold, "too many packets already wait for that neighbour") \
	X(queue_full, "egress queue at its limit (tail drop)") \
	X(headroom_exceeded, "buffer of a lossless class full: its headroom is too small") \
	X(control_full, "queue of control traffic at its limit") \
	X(pfc_state_invalid, "state message between PFC relays that is none: length, checksum, version, lease, slice") \
	X(pfc_state_stale, "state message between PFC relays that is older than the last one, or came twice") \
	X(pfc_storm, "queue paused without end, or a neighbour that pauses so: pfc.watchdog drops") \
	X(pfc_limited, "PFC frames beyond what a port takes in a second") \
	X(port_down, "egress port has no link") \
	X(no_buffer, "packet buffer pool empty") \
	X(punt_full, "ring to or from the control lcore is full") \
	X(nd_invalid, "Neighbor Discovery or ARP packet that RFC 4861 or RFC 826 forbids") \
	X(echo_limited, "ping beyond the rate of icmp.echo") \
	X(stopped, "still held when the node was stopped")

#define CONSUME_REASONS(X) \
	X(nd, "Neighbor Discovery taken by the node") \
	X(pfc, "PFC frame or state message obeyed, or about other priorities") \
	X(arp, "ARP taken by the node") \
	X(echo, "ping answered") \
	X(icmp, "ICMP message to the node") \
	X(fragmented, "IPv4 packet that went on in fragments")

/* Drops come first, so that `reason < DROP_COUNT` tells the kinds apart. */
enum reason {
#define X(name, help) DROP_##name,
	DROP_REASONS(X)
#undef X
		DROP_COUNT,
	CONSUME_FIRST = DROP_COUNT,
	CONSUME_BEFORE_FIRST = DROP_COUNT - 1,
#define X(name, help) CONSUME_##name,
	CONSUME_REASONS(X)
#undef X
		REASON_COUNT
};

_Static_assert(REASON_COUNT <= UINT8_MAX, "struct pkt and trace events hold a reason in one byte");

const char *reason_name(enum reason r);
const char *reason_help(enum reason r);

static inline bool reason_is_drop(enum reason r)
{
	return r < DROP_COUNT;
}

#endif
