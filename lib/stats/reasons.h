/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reasons for which packets are dropped or consumed. One list feeds the enum, the console, JSON, OpenMetrics and
 * docs/counters.md.
 *
 * A packet that is received or originated ends in exactly one of three ways: it is sent, dropped for one of the
 * DROP_REASONS, or consumed by the node itself (CONSUME_REASONS). Until then it is held.
 */
#ifndef STATS_REASONS_H
#define STATS_REASONS_H

#include <stdbool.h>
#include <stdint.h>

/* name, help: completes "dropped (or consumed) packets: ..." */
#define DROP_REASONS(X) \
	X(truncated, "frame ends before the end of its headers (Ethernet, VLAN, IP)") \
	X(headers_split, "headers continue in the second buffer of a chained frame; they must fit the first one") \
	X(mac_not_ours, "unicast destination MAC address of another station") \
	X(mac_source, "source MAC address is a group address or the port's own address") \
	X(ether_type, "EtherType not supported") \
	X(vlan, "VLAN tags match no VLAN interface and no attachment circuit of the port") \
	X(mac_control, "MAC control frame (PAUSE, PFC) received on a port without PFC or from a tunnel") \
	X(pause_frame, "IEEE 802.3 PAUSE frame; ignored because it would stop control traffic too, only PFC " \
		       "is obeyed") \
	X(pfc_short, "PFC frame shorter than 60 bytes (34 bytes with lenient-pad)") \
	X(pfc_bad_da, "MAC control frame with a destination other than 01-80-C2-00-00-01, or a frame too " \
		      "short for PFC at a PFC SID") \
	X(pfc_bad_opcode, "MAC control opcode is neither PFC nor PAUSE; at a PFC SID: frame is not PFC") \
	X(pfc_bad_slice, "PFC frame names a slice that is not configured on this node") \
	X(pfc_bad_cev, "PFC frame with a class enable vector above 255") \
	X(pfc_bad_peer, "PFC frame or state message from a station or tunnel source that may not pause this port") \
	X(pfc_busy, "PFC frame dropped because the ring to the worker that owns the port was full") \
	X(ip_version, "IP version does not match the EtherType or the next header") \
	X(ip_header, "IPv4 header length or checksum is wrong") \
	X(ip_length, "IP length exceeds the frame") \
	X(ip_source, "source address is not valid for a host: multicast, unspecified, loopback or broadcast") \
	X(own_source, "source address is one of the node's own: a forwarding loop or a forged packet") \
	X(multicast, "multicast or broadcast destination that the node neither receives nor forwards") \
	X(link_local, "source or destination must not be forwarded: link-local, loopback or unspecified") \
	X(hop_limit, "hop limit or TTL exceeded") \
	X(no_route, "no route to the destination") \
	X(too_big, "packet or frame exceeds the MTU of its egress interface or path") \
	X(not_served, "addressed to the node, but no service of the node handles it") \
	X(icmp_checksum, "ICMP packet to the node with a wrong checksum") \
	X(boundary_drop, "packet from outside the domain to the SID space (RFC 8754 section 5.1)") \
	X(boundary_source, "source is outside the infrastructure prefixes and destination is a local SID, or " \
			   "packet from outside the domain has an infrastructure source (RFC 8754 section 5.1)") \
	X(hmac, "required HMAC TLV is missing or wrong (RFC 8754 section 2.1.2)") \
	X(host_sid, "packet from a host to a SID that is not allowed on its port (RFC 8754 section 5.2)") \
	X(srh_bounds, "Segments Left or Last Entry of the SRH exceeds the segment list") \
	X(srh_segments_left, "Segments Left is not 0 at a SID that must be the last segment") \
	X(routing_type, "Segments Left is not 0 in a routing header of a type other than 4, or in an SRH at " \
			"an address that is no SID") \
	X(ext_chain, "extension headers truncated, malformed or too many") \
	X(option, "unknown IPv6 option of a type that requires discarding the packet (RFC 8200 section 4.2)") \
	X(upper_layer, "upper-layer protocol not allowed at this SID (RFC 8986 section 4.1.1)") \
	X(fragment, "IPv6 fragment for the node or one of its SIDs; the node does not reassemble") \
	X(sid_loop, "packet visits more than 8 local SIDs or nested tunnels") \
	X(ecn_ce_not_ect, "outer ECN is CE and inner ECN is Not-ECT on decapsulation (RFC 6040)") \
	X(neighbor_failed, "neighbour did not answer Neighbor Solicitations or ARP requests") \
	X(neighbor_hold, "too many packets are already waiting for the resolution of the neighbour") \
	X(queue_full, "egress queue or lossy buffer is full (tail drop)") \
	X(headroom_exceeded, "buffer of a lossless class is full because its headroom is too small") \
	X(rx_overload, "lossy packet dropped because the rx lcore, or the worker that it is for, is too slow for " \
		       "what the port receives") \
	X(control_full, "queue of control traffic is full") \
	X(pfc_state_invalid, "malformed PFC relay state message (length, checksum, version, lease or slice)") \
	X(pfc_state_forged, \
		"PFC relay state message without the digest that message-keys demands, with a wrong one, or by an " \
		"unknown key") \
	X(pfc_state_stale, "PFC relay state message older than the last one, or a duplicate") \
	X(pfc_frame_forged, \
		"PFC frame out of a tunnel without the digest that message-keys demands, with a wrong one, or by an " \
		"unknown key") \
	X(pfc_frame_stale, "PFC frame out of a tunnel with a digest that was used before, or older than the last one") \
	X(pfc_storm, \
		"dropped by pfc.watchdog: the queue was paused for too long, or a gateway sent pauses for too long") \
	X(pfc_limited, "PFC frames or state messages above the rate limit of a port, or from too many sources") \
	X(port_down, "egress port has no link, and nothing else leads there") \
	X(path_down, "BFD says that every path or next hop to the destination is down") \
	X(no_buffer, "packet buffer pool is empty") \
	X(punt_limited, "packet to the node above the rate limit of its port and kind, and of the share of its VLAN " \
			"or station; `show punts` counts them by kind") \
	X(punt_full, "ring to or from the control lcore is full") \
	X(nd_invalid, "Neighbor Discovery or ARP packet that is invalid (RFC 4861, RFC 826) or not from the " \
		      "local subnet") \
	X(bfd_refused, "BFD packet refused: malformed, not from the link, of no session, or not authentic; `show bfd " \
		       "counters` has the reasons") \
	X(bfd_limited, "BFD packet above the rate that the sessions of the port need") \
	X(rsvp_refused, \
		"RSVP packet refused: malformed, from a stranger, not authentic, or not permitted; `show rsvp " \
		"counters` has the reasons") \
	X(rsvp_limited, "RSVP packet above the rate of its neighbour") \
	X(echo_limited, "ICMP echo request above the rate limit icmp.echo") \
	X(credit_no_session, "label of a credit session that has been granted nothing here") \
	X(credit_ended, "its credit session has ended, or had no credit for longer than credit.wait") \
	X(session_overrun, "its credit session held more than twice its share of the buffer of its port, and " \
			   "credit.overrun is drop") \
	X(credit_moved, "its credit session moved to a port of another worker while the packet was on its way there") \
	X(stopped, "still held when the node stopped")

#define CONSUME_REASONS(X) \
	X(nd, "Neighbor Discovery packet processed by the node") \
	X(pfc, "PFC frame or state message accepted") \
	X(arp, "ARP packet processed by the node") \
	X(bfd, "BFD packet accepted") \
	X(rsvp, "RSVP packet accepted") \
	X(credit, "fence of a credit session") \
	X(echo, "ICMP echo request answered") \
	X(icmp, "other ICMP message addressed to the node") \
	X(fragmented, "IPv4 packet forwarded as fragments")

/* Drops come first, so that `reason < DROP_COUNT` is true for drops only. */
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
