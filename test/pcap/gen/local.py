# SPDX-License-Identifier: BSD-3-Clause
"""Packets to the node itself, and the errors it must not send."""

from scapy.layers.inet import ICMP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6PacketTooBig, ICMPv6ParamProblem, ICMPv6TimeExceeded, ICMPv6Unknown,
)
from scapy.packet import Raw

from gen.case import Case
from gen.node import LOOPBACK, neighbor
from gen.topology import (
    GATE_A, GATE_A4, MANY_ERRORS, P0_OWN, P0_OWN4, P0_PEER, P0_PEER4, P1_OWN, P1_OWN4, core, headend,
)
from gen.usid import usid_node
from gen.wire import (
    HOP_BY_HOP, HOST_A, HOST_A4, HOST_B, HOST_B4, IPPROTO_ICMPV6, PEER, ROUTING, dest_options, echo4, echo6,
    echo_reply4, echo_reply6, fragment, hop_by_hop, ip4, ip6, port_unreachable, protocol_unknown, roce4, roce6, set6, srh, time_exceeded,
    upper4, upper6,
)

LINK_LOCAL = "fe80::ff:fe00:d000"  # of p0's MAC (RFC 4291 appendix A)
NEIGHBOR_LINK_LOCAL = "fe80::ff:fe00:a000"


def local_node(**more):
    return core(neighbors=[neighbor("p0", NEIGHBOR_LINK_LOCAL)], **more)


def pings():
    case = Case(
        "ping",
        "ping of every address the node has, of the port it came in by and of others",
        "RFC 4443 4.2; RFC 792; RFC 1812 4.3.3.6",
        local_node(),
    )
    for src in (P0_PEER, HOST_A):
        for dst in (P0_OWN, P1_OWN, LOOPBACK):
            for ping in (echo6(src, dst), echo6(src, dst, tc=0xB8, fl=0xABCDE, hlim=1), echo6(src, dst, b"")):
                case.answered("p0", ping, "echo", echo_reply6(ping))
    for src in (P0_PEER4, HOST_A4):
        for dst in (P0_OWN4, P1_OWN4):
            for ping in (echo4(src, dst), echo4(src, dst, tos=0xB8, ttl=1), echo4(src, dst, bytes(999), id=0xFFFF)):
                case.answered("p0", ping, "echo", echo_reply4(ping))
    yield case
    case = Case(
        "ping_link_local",
        "ping from a link-local address, of a link-local one and of a global one",
        "RFC 4443 4.2; RFC 4291 2.5.6",
        local_node(),
    )
    for dst in (LINK_LOCAL, P0_OWN, LOOPBACK):
        ping = echo6(NEIGHBOR_LINK_LOCAL, dst)
        case.answered("p0", ping, "echo", echo_reply6(ping))
    ping = echo6(P0_PEER, LINK_LOCAL)
    case.answered("p0", ping, "echo", echo_reply6(ping))
    for dst in ("fe80::ff:fe00:d001", "fe80::1"):
        case.dropped("p0", echo6(NEIGHBOR_LINK_LOCAL, dst), "link_local")
    yield case
    case = Case(
        "ping_tenant",
        "a tenant pings its gateway; other tenants' and the node's addresses are not its own",
        "RFC 4443 4.2; RFC 792",
        headend(["5f00:0:500::"]),
    )
    case.answered("p0", echo6(HOST_A, GATE_A), "echo", echo_reply6(echo6(HOST_A, GATE_A)))
    case.answered("p0", echo4(HOST_A4, GATE_A4), "echo", echo_reply4(echo4(HOST_A4, GATE_A4)))
    yield case
    case = Case(
        "ping_headers",
        "ping with extension headers and options: the reply has none",
        "RFC 4443 4.2; RFC 8200 4",
        local_node(),
    )
    ping = echo6(PEER, P0_OWN)
    for nh, chain in (
        (HOP_BY_HOP, [hop_by_hop(IPPROTO_ICMPV6)]),
        (60, [dest_options(IPPROTO_ICMPV6, 40)]),
        (HOP_BY_HOP, [hop_by_hop(ROUTING), srh([P0_OWN], 0, IPPROTO_ICMPV6)]),
    ):
        case.answered("p0", ip6(PEER, P0_OWN, b"".join(chain) + ping[40:], nh), "echo", echo_reply6(ping))
    yield case
    case = Case(
        "ping_sid",
        "ping of SIDs, over other SIDs too: the reply comes from the SID that was pinged",
        "RFC 9800 6.5, 9.3; RFC 9259 A.1.2; RFC 4443 4.2",
        usid_node(),
    )
    for dst in ("5f00:0:100::", "5f00:0:e005::", "5f00:0:100:e006::", "5f00:0:e101::"):
        ping = echo6(PEER, dst)
        case.answered("p0", ping, "echo", echo_reply6(ping))
        packet = ip6(PEER, dst, srh([dst], 0, IPPROTO_ICMPV6) + ping[40:], ROUTING)
        case.answered("p0", packet, "echo", echo_reply6(ping))
    # the checksum is that of the last destination, which only comes up on the way
    for first, last in (
        ("5f00:0:100:e101::", "5f00:0:e101::"),
        ("5f00:0:100:200::", "5f00:0:200::"),
        ("5f00:0:200:100:e101::", "5f00:0:e101::"),
    ):
        ping = echo6(PEER, last)
        case.answered("p0", set6(ping, dst=first), "echo", echo_reply6(ping))
    ping = echo6(PEER, "5f00:0:e101::")
    packet = ip6(PEER, "5f00:0:100::", srh(["5f00:0:200:e101::"], 1, IPPROTO_ICMPV6) + ping[40:], ROUTING)
    case.answered("p0", packet, "echo", echo_reply6(ping))
    yield case
    case = Case(
        "ping_over_sid",
        "the last segment is an address of this node that is no SID",
        "RFC 8986 4.1 S15; RFC 9259 A.1.1",
        usid_node(),
    )
    for dst in (LOOPBACK, P0_OWN, P1_OWN):
        ping = echo6(PEER, dst)
        packet = ip6(PEER, "5f00:0:100::", srh([dst], 1, IPPROTO_ICMPV6) + ping[40:], ROUTING)
        case.answered("p0", packet, "echo", echo_reply6(ping))
    yield case


def _icmp4(kind):
    """Any message; scapy would put the time of day into timestamps."""
    return ICMP(type=kind, ts_ori=0, ts_rx=0, ts_tx=0)


def bad_pings():
    case = Case(
        "ping_bad",
        "pings that are broken, and ICMP that nobody waits for",
        "RFC 4443 2.3, 4.1; RFC 792",
        local_node(),
    )
    good6, good4 = echo6(PEER, P0_OWN), echo4(P0_PEER4, P0_OWN4)
    for packet in (
        good6[:-1] + b"\0",
        good6[:41] + b"\1" + good6[42:],
        good4[:-1] + b"\0",
        good4[:21] + b"\1" + good4[22:],
        ip6(PEER, P0_OWN, b"\x81" + bytes(7), IPPROTO_ICMPV6),
        ip4(P0_PEER4, P0_OWN4, bytes(8), 1),
    ):
        case.dropped("p0", packet, "icmp_checksum")
    for packet in (
        upper6(PEER, P0_OWN, ICMPv6EchoRequest(code=1)),
        upper4(P0_PEER4, P0_OWN4, ICMP(type=8) / Raw(bytes(16)), flags="MF"),
        ip6(PEER, P0_OWN, good6[40:47], IPPROTO_ICMPV6),
        ip4(P0_PEER4, P0_OWN4, good4[20:27], 1),
    ):
        case.dropped("p0", packet, "not_served")
    for layer in (
        ICMPv6EchoReply(),
        ICMPv6DestUnreach() / Raw(roce6()),
        ICMPv6PacketTooBig(mtu=1280) / Raw(roce6()),
        ICMPv6Unknown(type=200) / Raw(bytes(4)),
    ):
        case.rx("p0", upper6(PEER, P0_OWN, layer))
        case.count("p0", "icmp")
    for kind in (0, 3, 11, 13, 15, 17):
        case.rx("p0", upper4(P0_PEER4, P0_OWN4, _icmp4(kind) / Raw(bytes(8))))
        case.count("p0", "icmp")
    yield case


def ports():
    case = Case(
        "port_unreachable",
        "UDP and TCP to an own address: port unreachable",
        "RFC 4443 3.1; RFC 1122 3.2.2.1; docs/protocol.md 3.5",
        local_node(icmp=MANY_ERRORS),
    )
    for layer in (UDP(sport=1000, dport=33434) / Raw(b"trace"), TCP(sport=1000, dport=179), UDP(dport=4791)):
        for dst in (P0_OWN, P1_OWN, LOOPBACK):
            packet = upper6(PEER, dst, layer)
            case.dropped("p0", packet, "not_served", port_unreachable(packet))
    for layer in (UDP(sport=1000, dport=33434) / Raw(b"trace"), TCP(sport=1000, dport=179)):
        packet = upper4(P0_PEER4, P0_OWN4, layer)
        case.dropped("p0", packet, "not_served", port_unreachable(packet, P0_OWN4))
    packet = upper6(NEIGHBOR_LINK_LOCAL, LINK_LOCAL, UDP(dport=9))
    case.dropped("p0", packet, "not_served", port_unreachable(packet))
    yield case


def unknown_layers():
    case = Case(
        "protocol_unknown",
        "an upper layer that the node does not have: Parameter Problem at the byte that names it; IPv4: protocol unreachable",
        "RFC 4443 3.4; RFC 8200 4; RFC 1122 3.2.2.1",
        local_node(icmp=MANY_ERRORS),
    )
    for dst in (P0_OWN, LOOPBACK):
        for nh in (46, 47, 50, 51, 89, 132, 143, 253, 255, 1):
            packet = ip6(PEER, dst, bytes(16), nh)
            case.dropped("p0", packet, "not_served", protocol_unknown(packet, 6))
            packet = ip6(PEER, dst, hop_by_hop(60) + dest_options(nh, 16) + bytes(16), HOP_BY_HOP)
            case.dropped("p0", packet, "not_served", protocol_unknown(packet, 48))
        # no next header: nothing follows, no error; a fragment is not reassembled
        case.dropped("p0", ip6(PEER, dst, b"", 59), "not_served")
        case.dropped("p0", ip6(PEER, dst, fragment(58, 0, 1) + bytes(16), 44), "fragment")
    for proto in (2, 46, 47, 50, 89, 253, 58):
        packet = ip4(P0_PEER4, P0_OWN4, bytes(16), proto)
        case.dropped("p0", packet, "not_served", protocol_unknown(packet, 9, P0_OWN4))
    yield case


def quotes():
    case = Case(
        "error_sizes",
        "an error quotes as much as fits 1280 bytes, 576 of IPv4; the packet as received",
        "RFC 4443 2.4 c; RFC 1812 4.3.2.3",
        local_node(icmp=MANY_ERRORS),
    )
    for size in (0, 1, 1231 - 72, 1232 - 72, 1233 - 72, 1400 - 72):
        packet = roce6(hlim=1, size=size)
        case.dropped("p0", packet, "hop_limit", time_exceeded(packet))
    for size in (0, 1, 547 - 60, 548 - 60, 549 - 60, 1300):
        packet = roce4(ttl=1, size=size)
        case.dropped("p0", packet + bytes(7), "hop_limit", time_exceeded(packet, P0_OWN4))
    yield case


def _errors6():
    """Messages about which no error may be sent."""
    quoted = Raw(roce6())
    yield ICMPv6DestUnreach(code=4) / quoted
    yield ICMPv6PacketTooBig(mtu=1280) / quoted
    yield ICMPv6TimeExceeded() / quoted
    yield ICMPv6ParamProblem(ptr=42) / quoted
    yield ICMPv6Unknown(type=127)
    yield ICMPv6Unknown(type=137)


def silences():
    case = Case(
        "no_error_about_error",
        "no error about an ICMP error or a redirect, behind extension headers neither; about a ping there is one",
        "RFC 4443 2.4 e; RFC 1122 3.2.2; RFC 1812 4.3.2.7",
        local_node(icmp=MANY_ERRORS),
    )
    for layer in _errors6():
        packet = upper6(HOST_A, HOST_B, layer, hlim=1)
        case.dropped("p0", packet, "hop_limit")
        behind = ip6(HOST_A, HOST_B, dest_options(IPPROTO_ICMPV6, 16) + packet[40:], 60, hlim=1)
        case.dropped("p0", behind, "hop_limit")
        case.dropped("p0", set6(packet, dst="2001:db8:dead::1", hlim=9), "no_route")
    for kind in (3, 4, 5, 11, 12):
        packet = upper4(HOST_A4, HOST_B4, _icmp4(kind) / Raw(roce4()), ttl=1)
        case.dropped("p0", packet, "hop_limit")
    for kind in (0, 8, 13):
        packet = upper4(HOST_A4, HOST_B4, _icmp4(kind) / Raw(roce4()), ttl=1)
        case.dropped("p0", packet, "hop_limit", time_exceeded(packet, P0_OWN4))
    packet = echo6(HOST_A, HOST_B, hlim=1)
    case.dropped("p0", packet, "hop_limit", time_exceeded(packet))
    yield case
    case = Case(
        "no_error_about_fragment",
        "IPv4: only the first fragment is reported",
        "RFC 1122 3.2.2; RFC 1812 4.3.2.7",
        local_node(),
    )
    for offset in (1, 100, 8191):
        case.dropped("p0", ip4(HOST_A4, HOST_B4, bytes(8), ttl=1, frag=offset), "hop_limit")
        case.dropped("p0", ip4(P0_PEER4, P0_OWN4, bytes(8), 17, frag=offset), "not_served")
    first = ip4(HOST_A4, HOST_B4, bytes(8), ttl=1, flags="MF")
    case.dropped("p0", first, "hop_limit", time_exceeded(first, P0_OWN4))
    yield case
    case = Case(
        "no_error_about_broadcast",
        "IPv4: a directed broadcast is neither delivered nor sent on nor reported",
        "RFC 2644 2; RFC 1812 4.3.2.7",
        local_node(),
    )
    for dst in ("10.0.0.255", "10.1.0.255"):
        case.dropped("p0", roce4(dst=dst), "multicast")
        case.dropped("p0", echo4(HOST_A4, dst), "multicast")
    yield case


def limits():
    case = Case(
        "error_limit",
        "errors of one port: ten at once when the rate is low, the rest is silence",
        "RFC 4443 2.4 f; config/reference.yaml icmp.errors-per-port",
        local_node(icmp={"errors-per-port": 1}),
    )
    for n in range(30):
        packet = roce6(psn=n, hlim=1)
        case.dropped("p0", packet, "hop_limit", time_exceeded(packet) if n < 10 else None)
    for n in range(12):
        packet = roce6(HOST_B, HOST_A, psn=n, hlim=1)
        case.dropped("p1", packet, "hop_limit", time_exceeded(packet) if n < 10 else None)
    yield case
    case = Case(
        "error_limit_node",
        "errors of the whole node, however many its ports",
        "RFC 4443 2.4 f; config/reference.yaml icmp.errors",
        local_node(icmp={"errors": 0}),
    )
    for packet in (roce6(hlim=1), roce4(ttl=1)):
        case.dropped("p0", packet, "hop_limit")
    yield case
    case = Case(
        "echo_limit",
        "pings beyond the rate are counted, not answered",
        "RFC 4443 5.2; config/reference.yaml icmp.echo",
        local_node(icmp={"echo": 1}),
    )
    for n in range(14):
        ping = echo6(PEER, P0_OWN, seq=n)
        if n < 10:
            case.answered("p0", ping, "echo", echo_reply6(ping))
        else:
            case.dropped("p0", ping, "echo_limited")
    yield case


def cases():
    for family in (pings, bad_pings, ports, unknown_layers, quotes, silences, limits):
        yield from family()
