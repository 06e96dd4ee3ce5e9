# SPDX-License-Identifier: BSD-3-Clause
"""Routing headers and chains of headers that are wrong, or that this node may not act upon."""

from gen.case import Case
from gen.node import LOOPBACK, sid
from gen.topology import MANY_ERRORS, P0_OWN, P1_OWN, tail
from gen.usid import FAR, TLV, usid_node
from gen.wire import (
    DEST_OPTIONS, FRAGMENT, HOP_BY_HOP, IPPROTO_IPV4, IPPROTO_IPV6, IPPROTO_TCP, IPPROTO_UDP, NO_NEXT, PEER,
    ROUTING, decap, dest_options, echo6, echo_reply6, fragment, hop_by_hop, ip6, next_segment, param_problem,
    pop_srh, roce4, roce6, routing, set6, srh, time_exceeded, tunnel, upper_layer_error,
)

UN_DST, UA_DST, UDT_DST = "5f00:0:100::", "5f00:0:e005::", "5f00:0:e101::"


def _bounds():
    """Segments Left, Last Entry and length of SRHs that contradict themselves."""
    yield from (srh(FAR[:1], left, lastentry=0) for left in (2, 3, 255))
    yield from (srh(FAR[:1], left, lastentry=1) for left in (1, 2))
    yield srh(FAR, 1, lastentry=255)
    yield srh(FAR, 4)
    # as long as Hdr Ext Len requires, but too short for its Last Entry
    yield srh([], 1, lastentry=0)
    yield srh([], 1, lastentry=0, tlvs=TLV)
    yield srh(FAR[:1], 2, lastentry=1, tlvs=TLV)


def bounds():
    case = Case(
        "srh_bounds",
        "Last Entry beyond the header, Segments Left beyond Last Entry + 1: pointer at Segments Left",
        "RFC 8986 4.1 S09-S10; docs/protocol.md 3.2",
        usid_node(icmp=MANY_ERRORS),
    )
    for header in _bounds():
        for dst in (UN_DST, UA_DST, "5f00:0:100:e006::"):
            packet = ip6(PEER, dst, header + roce6(), ROUTING)
            case.dropped("p0", packet, "srh_bounds", param_problem(packet, 43))
    for header in (
        hop_by_hop(ROUTING) + srh(FAR, 4),
        hop_by_hop(DEST_OPTIONS) + dest_options(ROUTING, 16) + srh(FAR, 4),
    ):
        packet = ip6(PEER, UN_DST, header + roce6(), HOP_BY_HOP)
        case.dropped("p0", packet, "srh_bounds", param_problem(packet, 40 + len(header) - len(srh(FAR)) + 3))
    packet = ip6(PEER, UN_DST, srh(FAR, 4) + roce6(), ROUTING, hlim=1)
    case.dropped("p0", packet, "hop_limit", time_exceeded(packet))
    yield case
    case = Case(
        "srh_bounds_met",
        "full and reduced lists, odd lengths: within bounds",
        "RFC 8986 4.1 S09; RFC 8754 2, 4.1.1",
        usid_node(),
    )
    full = ["5f00:0:100::"] + FAR
    for header in (srh(full, 2), srh(FAR, 2), srh(full, 1), srh(FAR, 1, tlvs=TLV), srh(FAR, 2, tlvs=TLV)):
        packet = ip6(PEER, UN_DST, header + roce6(), ROUTING)
        expected = next_segment(packet)
        case.passes("p0", packet, "p1", pop_srh(expected) if header[3] == 1 else expected)
    yield case


def not_last():
    case = Case(
        "udt_segments_left",
        "uDT46 must be the last segment: pointer at Segments Left, whatever the hop limit",
        "RFC 8986 4.8 S02-S03",
        usid_node(),
    )
    for left, hlim in ((1, 60), (2, 60), (200, 60), (1, 1), (1, 0)):
        packet = tunnel(UDT_DST, roce6(), segments=FAR, left=left, hlim=hlim)
        case.dropped("p0", packet, "srh_segments_left", param_problem(packet, 43))
    packet = ip6(PEER, UDT_DST, hop_by_hop(ROUTING) + srh(FAR, 1) + roce6(), HOP_BY_HOP)
    case.dropped("p0", packet, "srh_segments_left", param_problem(packet, 51))
    yield case


def no_sid():
    """A routing header in a packet to an address of the node that is not a SID."""
    case = Case(
        "srh_to_interface",
        "SRH with segments left to an own address that is no SID: pointer at the routing type",
        "RFC 8754 4.3.2; docs/protocol.md 3.5",
        usid_node(),
    )
    for dst in (P0_OWN, P1_OWN, LOOPBACK):
        packet = tunnel(dst, roce6(), segments=FAR, left=1)
        case.dropped("p0", packet, "routing_type", param_problem(packet, 42))
    packet = ip6(PEER, LOOPBACK, hop_by_hop(ROUTING) + srh(FAR, 1) + roce6(), HOP_BY_HOP)
    case.dropped("p0", packet, "routing_type", param_problem(packet, 50))
    packet = ip6(PEER, LOOPBACK, routing(0, 1, ROUTING) + srh(FAR, 1) + roce6(), ROUTING)
    case.dropped("p0", packet, "routing_type", param_problem(packet, 42))
    yield case
    case = Case(
        "srh_to_interface_done",
        "SRH without segments left to an own address: no obstacle",
        "RFC 8754 4.3.2; RFC 8200 4.4",
        usid_node(),
    )
    ping = echo6(PEER, LOOPBACK)
    packet = ip6(PEER, LOOPBACK, srh([LOOPBACK], 0, ping[6]) + ping[40:], ROUTING)
    case.answered("p0", packet, "echo", echo_reply6(ping))
    yield case


def other_types():
    case = Case(
        "routing_type",
        "routing header of another type: with segments left an error, without none",
        "RFC 8200 4.4; RFC 5095",
        usid_node(icmp=MANY_ERRORS),
    )
    for kind in (0, 2, 3, 5, 253):
        for dst in (UN_DST, UA_DST, UDT_DST, LOOPBACK):
            packet = ip6(PEER, dst, routing(kind, 1) + roce6(), ROUTING)
            case.dropped("p0", packet, "routing_type", param_problem(packet, 42))
    packet = ip6(PEER, UN_DST, hop_by_hop(ROUTING) + routing(0, 2) + roce6(), HOP_BY_HOP)
    case.dropped("p0", packet, "routing_type", param_problem(packet, 50))
    for dst in (UN_DST, UDT_DST):
        packet = ip6(PEER, dst, routing(0, 0) + roce6(), ROUTING)
        case.passes("p0", packet, "p1", decap(packet))
    yield case
    case = Case(
        "routing_headers_in_order",
        "two routing headers: the first one with segments left decides",
        "RFC 8200 4.1; RFC 8986 4.1",
        usid_node(),
    )
    for second in (routing(0, 1), srh(FAR, 1)):
        packet = ip6(PEER, UN_DST, srh(FAR, 1, ROUTING) + second + roce6(), ROUTING)
        case.passes("p0", packet, "p1", pop_srh(next_segment(packet)))
    packet = ip6(PEER, UN_DST, routing(0, 0, ROUTING) + srh(FAR, 2) + roce6(), ROUTING)
    case.passes("p0", packet, "p1", next_segment(packet))
    packet = ip6(PEER, UN_DST, routing(0, 1, ROUTING) + srh(FAR, 2) + roce6(), ROUTING)
    case.dropped("p0", packet, "routing_type", param_problem(packet, 42))
    packet = ip6(PEER, UN_DST, srh(FAR, 0, ROUTING) + routing(0, 1) + roce6(), ROUTING)
    case.dropped("p0", packet, "routing_type", param_problem(packet, 40 + len(srh(FAR)) + 2))
    yield case


def upper_layers():
    case = Case(
        "upper_layer",
        "what a SID does not take as upper layer: SR Upper-layer Header Error, pointer at that header",
        "RFC 8986 4.1.1, 10.2; docs/protocol.md 3.5",
        usid_node(icmp=MANY_ERRORS),
    )
    for dst in (UN_DST, UA_DST, UDT_DST):
        for nh in (IPPROTO_UDP, IPPROTO_TCP, NO_NEXT, 46, 50, 51, 143, 255):
            packet = ip6(PEER, dst, bytes(16), nh)
            case.dropped("p0", packet, "upper_layer", upper_layer_error(packet, 40))
        packet = ip6(PEER, dst, srh(FAR, 0, IPPROTO_UDP) + bytes(16), ROUTING)
        case.dropped("p0", packet, "upper_layer", upper_layer_error(packet, 80))
        packet = ip6(PEER, dst, hop_by_hop(DEST_OPTIONS) + dest_options(IPPROTO_UDP, 16) + bytes(16), HOP_BY_HOP)
        case.dropped("p0", packet, "upper_layer", upper_layer_error(packet, 64))
    yield case
    case = Case(
        "udt_family",
        "uDT4 takes IPv4 only, uDT6 IPv6 only",
        "RFC 8986 4.6, 4.7, 4.1.1",
        tail(sid("5f00:0:e104::/48", "uDT4", vrf="tenant"), sid("5f00:0:e106::/48", "uDT6", vrf="tenant")),
    )
    for dst, good, bad in (("5f00:0:e104::", roce4(), roce6()), ("5f00:0:e106::", roce6(), roce4())):
        packet = tunnel(dst, good)
        case.passes("p0", packet, "p1", decap(packet))
        packet = tunnel(dst, bad)
        case.dropped("p0", packet, "upper_layer", upper_layer_error(packet, 40))
        packet = tunnel(dst, bad, segments=[dst], left=0)
        case.dropped("p0", packet, "upper_layer", upper_layer_error(packet, 64))
    yield case
    case = Case(
        "fragment_at_sid",
        "a fragment at its last SID: dropped, counted, not reported",
        "docs/protocol.md 3.2, D27",
        usid_node(),
    )
    for dst in (UN_DST, UA_DST, UDT_DST):
        for header in (fragment(IPPROTO_IPV6, 0, 1), fragment(IPPROTO_IPV4, 6, 0)):
            case.dropped("p0", ip6(PEER, dst, header + roce6()[:48], FRAGMENT), "fragment")
            packet = ip6(PEER, dst, srh(FAR, 0, FRAGMENT) + header + roce6()[:48], ROUTING)
            case.dropped("p0", packet, "fragment")
    yield case


def chains():
    case = Case(
        "ext_chain",
        "extension headers that run past the end of their packet, or do not end",
        "RFC 8200 4; docs/design.md 2 rule 7",
        usid_node(),
    )
    whole = ip6(PEER, UN_DST, srh(FAR, 1) + roce6(), ROUTING)
    for dst in (UN_DST, UDT_DST, LOOPBACK):
        for nh, payload in (
            (ROUTING, b""),
            (ROUTING, bytes([IPPROTO_IPV6])),
            (ROUTING, srh(FAR, 1)[:-1]),
            (HOP_BY_HOP, bytes([IPPROTO_IPV6, 1]) + bytes(13)),
            (HOP_BY_HOP, hop_by_hop(ROUTING) + srh(FAR, 1)[:8]),
            (DEST_OPTIONS, b"".join(dest_options(DEST_OPTIONS) for _ in range(9))),
        ):
            case.dropped("p0", ip6(PEER, dst, payload, nh), "ext_chain")
        # the frame goes on, the packet does not
        for size in (0, 8, 24, 39):
            case.dropped("p0", set6(whole, dst=dst, plen=size), "ext_chain")
    packet = ip6(PEER, UN_DST, b"".join(dest_options(DEST_OPTIONS) for _ in range(7)) + dest_options() + roce6(), 60)
    case.passes("p0", packet, "p1", decap(packet))
    yield case


def cases():
    for family in (bounds, not_last, no_sid, other_types, upper_layers, chains):
        yield from family()
